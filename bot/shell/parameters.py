"""Parameter expansion: `$x`, `${x op word}` and their lists."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from botlint.documents import bash
from botlint.shell import arithmetic_values, expansion, formatting, variables
from botlint.shell.patterns import (
    PatternError,
    SubstituteMode,
    match_prefix_longest,
    match_prefix_shortest,
    match_suffix_longest,
    match_suffix_shortest,
    substitute,
)
from botlint.shell.patterns import (
    change_case as change_case_text,
)
from botlint.shell.signals import DiscardFlow, ExitFlow
from botlint.shell.values import Budget, Text, Value, concat, derive, hole, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


def list_of(shell: Shell, part: bash.Param, in_quotes: bool) -> list[Value] | None:
    """The values of an expansion that is a list (`$@`, `${a[@]}`, `${!a[@]}`, `${!p@}`); None if it is one text."""
    name, index = part.name, part.index
    if part.indirect and not part.keys:
        resolved = _indirect(shell, part)
        if resolved is None:
            return None
        name, index = resolved
        if name not in ("@", "*") and index not in ("@", "*"):
            return None
        part = bash.Param(name, part.pos, index, part.op, part.arg, part.arg2)
    values: list[Value]
    if part.keys:
        values = [str(k) for k in variables.table(shell, name)]
        if index == "*" and in_quotes:
            return None
        return values
    if part.prefix:
        names = sorted(n for n in {*shell.vars, *()} if n.startswith(name))
        return [*names] if not (index == "*" and in_quotes) else None
    star = name == "*" or index == "*"
    if name in ("@", "*"):
        values = list(shell.positional)
    elif index in ("@", "*"):
        values = variables.elements(shell, name)
    else:
        return None
    if part.length:
        return None
    if star and in_quotes:
        return None
    return _list_operation(shell, part, values, name, index)


def _list_operation(
    shell: Shell, part: bash.Param, values: list[Value], name: str, index: object
) -> list[Value] | None:
    op = part.op
    if op == "":
        if (
            not values
            and shell.options.get("nounset")
            and name not in ("@", "*")
            and shell.get(name) is None
            and index not in ("@", "*")
        ):
            _unbound(shell, name)
        return values
    if op in ("-", ":-"):
        if values and not (op == ":-" and len(values) == 1 and shell.nonempty(values[0]) is False):
            return values
        return expansion.word_values(shell, part.arg)
    if op in ("+", ":+"):
        if values and not (op == ":+" and len(values) == 1 and shell.nonempty(values[0]) is False):
            return expansion.word_values(shell, part.arg)
        return []
    if op in ("=", ":=", "?", ":?"):
        if values:
            return values
        return None
    if op == ":":
        return _slice_list(shell, part, values, name)
    if op == "@":
        how = part.arg.text if part.arg is not None else ""
        if how in "AK":
            return None
        if how == "k":
            pairs: list[Value] = []
            for key, value in variables.table(shell, name).items():
                pairs.extend([str(key), value])
            return pairs
        return [transform(shell, how, v, name) for v in values]
    return [_modify(shell, part, v) for v in values]


def _slice_list(shell: Shell, part: bash.Param, values: list[Value], name: str) -> list[Value]:
    assert part.arg is not None
    offset = arithmetic_values.number(shell, part.arg)
    count = None if part.arg2 is None else arithmetic_values.number(shell, part.arg2)
    if offset is None or (part.arg2 is not None and count is None):
        return [hole(f"slice of {name}")]
    if name in ("@", "*"):
        values = [shell.name, *values]
        if offset < 0:
            offset += len(values)
            if offset < 0:
                return []
        picked = values[offset:]
    else:
        cells = variables.table(shell, name)
        if offset < 0:
            offset += max((k for k in cells if isinstance(k, int)), default=-1) + 1
            if offset < 0:
                return []
        picked = [v for k, v in cells.items() if isinstance(k, str) or k >= offset]
    if count is None:
        return picked
    if count < 0:
        raise shell.discard(f"{count}: substring expression < 0")
    return picked[:count]


def _indirect(shell: Shell, part: bash.Param) -> tuple[str, str | bash.Word | None] | None:
    """What `${!name}` names: (variable, index)."""
    var = shell.vars.get(part.name)
    if var is not None and var.nameref:
        return None
    value = _plain(shell, part.name, part.index)
    if value is None:
        raise shell.discard(f"{part.name}: invalid indirect expansion")
    text = shell.concrete(value)
    if text is None:
        return None
    match = re.fullmatch(r"([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[(.*)\])?", text, re.DOTALL)
    if match is None:
        raise shell.discard(f"{text}: invalid variable name")
    name, index = match.groups()
    if index in ("@", "*") or index is None:
        return name, index
    return name, bash.Word((bash.Quoted(index),), index)


def _plain(shell: Shell, name: str, index: str | bash.Word | None) -> Value | None:
    """The value without any operator, None if unset."""
    if index is None:
        return variables.scalar(shell, name)
    if isinstance(index, str):
        values = variables.elements(shell, name)
        return variables.join(shell, values, index == "*") if values else None
    return variables.element(shell, name, expansion.string(shell, index))


def _unbound(shell: Shell, name: str) -> None:
    message = shell.complain(f"{'$' if name.isdigit() else ''}{name}: unbound variable")
    raise ExitFlow(_fatal_status(shell), shell.place(), message)


def _fatal_status(shell: Shell) -> int:
    """The status of a shell that an unset variable ends."""
    return 127 if shell.dash_c and not shell.options.get("errexit") else 1


def _is_set_value(shell: Shell, part: bash.Param) -> Value | None:
    if part.indirect:
        var = shell.vars.get(part.name)
        if var is not None and var.nameref and isinstance(var.value, (str, Text)):
            return var.value
        target = _indirect(shell, part)
        if target is None:
            value = _plain(shell, part.name, part.index)
            if value is None or text_of(value) is not None:
                return None
            return hole(f"variable named by {part.name}")
        return _plain(shell, target[0], target[1])
    if part.name in ("@", "*"):
        return variables.join(shell, shell.positional, part.name == "*") if shell.positional else None
    return _plain(shell, part.name, part.index)


def use_word(shell: Shell, part: bash.Param) -> tuple[bool, Value]:
    """For `- :- + :+`: (whether the word is used, the value otherwise)."""
    value = _is_set_value(shell, part)
    present: bool | None = value is not None
    if part.op[0] == ":" and value is not None:
        present = shell.nonempty(value)
        if present is None:
            # An unknown text is taken to be set: the default is for a missing one.
            present = True
    wants = not present if part.op[-1] == "-" else bool(present)
    return wants, "" if value is None else value


def param(shell: Shell, part: bash.Param, in_quotes: bool) -> Value:
    """A parameter expansion that gives one text."""
    name, op = part.name, part.op
    if op == "" and not part.length and not part.indirect and part.index is None and not part.keys and not part.prefix:
        value = variables.scalar(shell, name)
        if value is None:
            if shell.options.get("nounset") and name not in ("@", "*"):
                _unbound(shell, name)
            return ""
        return value
    if part.keys:
        return variables.join(shell, [str(k) for k in variables.table(shell, name)], part.index == "*")
    if part.prefix:
        names = sorted(n for n in shell.vars if n.startswith(name))
        return variables.join(shell, [*names], part.index == "*")
    if part.length:
        return _length(shell, part)
    operation = _OPERATIONS.get(op)
    if operation is not None:
        return operation(shell, part, in_quotes)
    return _transformed(shell, part, in_quotes)


def _transformed(shell: Shell, part: bash.Param, in_quotes: bool) -> Value:
    """`${x#a}`, `${x:1:2}`, `${x@Q}` and the like, and `${!x}`."""
    name, op = part.name, part.op
    how = part.arg.text if op == "@" and part.arg is not None else ""
    if part.index in ("@", "*") and how and how in "AK":
        return _whole_array(shell, how, name)
    if (name == "*" or part.index == "*") and in_quotes:
        values = list(shell.positional) if name == "*" else variables.elements(shell, name)
        listed = _list_operation(shell, part, values, name, part.index)
        if listed is not None:
            return variables.join(shell, listed, True)
    value = _is_set_value(shell, part)
    if value is None:
        if shell.options.get("nounset"):
            _unbound(shell, _shown(part))
        return transform(shell, how, "", name) if how and how in "aA" else ""
    if op == "":
        return value
    if how:
        return transform(shell, how, value, name)
    return _substring(shell, part, value) if op == ":" else _modify(shell, part, value)


def _bad(shell: Shell, part: bash.Param, _: bool) -> Value:
    assert part.arg is not None
    raise shell.discard(f"{part.arg.text}: bad substitution")


def _with_word(shell: Shell, part: bash.Param, in_quotes: bool) -> Value:
    """`${x:-word}` and `${x:+word}`."""
    use, current = use_word(shell, part)
    if use:
        assert part.arg is not None
        return _operand(shell, part.arg, in_quotes)
    return current if part.op[-1] == "-" else ""


def _assigned(shell: Shell, part: bash.Param, in_quotes: bool) -> Value:
    """`${x:=word}`."""
    value = _is_set_value(shell, part)
    if value is not None and not (part.op == ":=" and shell.nonempty(value) is False):
        return value
    assert part.arg is not None
    value = _operand(shell, part.arg, in_quotes)
    index = expansion.string(shell, part.index) if isinstance(part.index, bash.Word) else None
    if not shell.assign(part.name, value, False, index):
        raise DiscardFlow
    return variables.scalar(shell, part.name) or value if index is None else value


def _required(shell: Shell, part: bash.Param, in_quotes: bool) -> Value:
    """`${x:?message}`."""
    value = _is_set_value(shell, part)
    if value is not None and not (part.op == ":?" and shell.nonempty(value) is False):
        return value
    assert part.arg is not None
    text = _operand(shell, part.arg, in_quotes)
    default = "parameter null or not set" if part.op == ":?" else "parameter not set"
    message = shell.complain(concat([f"{part.name}: ", text or default]))
    raise ExitFlow(_fatal_status(shell), shell.place(), message)


_OPERATIONS: dict[str, Callable[[Shell, bash.Param, bool], Value]] = {
    "bad": _bad,
    "-": _with_word,
    ":-": _with_word,
    "+": _with_word,
    ":+": _with_word,
    "=": _assigned,
    ":=": _assigned,
    "?": _required,
    ":?": _required,
}


def _shown(part: bash.Param) -> str:
    if isinstance(part.index, bash.Word):
        return f"{part.name}[{part.index.text}]"
    return f"!{part.name}" if part.indirect else part.name


def _operand(shell: Shell, word: bash.Word, in_quotes: bool) -> Value:
    if in_quotes:
        return expansion.quoted(shell, word.parts)
    return expansion.string(shell, word)


def _length(shell: Shell, part: bash.Param) -> Value:
    if part.name in ("@", "*"):
        return str(len(shell.positional))
    if part.index in ("@", "*"):
        values = variables.elements(shell, part.name)
        if not values and shell.options.get("nounset") and shell.get(part.name) is None:
            raise shell.discard(f"{part.name}: unbound variable")
        return str(len(values))
    value = _plain(shell, part.name, part.index)
    if value is None:
        if shell.options.get("nounset"):
            _unbound(shell, part.name)
        return "0"
    return derive(_len, value)


def _len(text: str) -> str:
    return str(len(text))


def _substring(shell: Shell, part: bash.Param, value: Value) -> Value:
    assert part.arg is not None
    offset = arithmetic_values.number(shell, part.arg)
    count = None if part.arg2 is None else arithmetic_values.number(shell, part.arg2)
    if offset is None or (part.arg2 is not None and count is None):
        return hole(f"part of {part.name}")
    if count is not None and count < 0:
        length = shell.observe(_span, value, str(offset), str(count))
        if length is False:
            raise shell.discard(f"{part.arg2.text if part.arg2 else count}: substring expression < 0")
    return derive(partial(_cut, offset, count), value)


def _span(text: str, offset: str, count: str) -> bool:
    start = int(offset)
    start = start + len(text) if start < 0 else start
    return len(text) + int(count) >= start


def _cut(offset: int, count: int | None, text: str) -> str:
    if offset < 0:
        offset += len(text)
        if offset < 0:
            return ""
    if count is None:
        return text[offset:]
    return text[offset : len(text) + count] if count < 0 else text[offset : offset + count]


def _modify(shell: Shell, part: bash.Param, value: Value) -> Value:
    op = part.op
    assert part.arg is not None
    extglob = shell.shopt.get("extglob", False)
    glob_text = expansion.pattern(shell, part.arg)
    if op[0] in "#%":
        return derive(partial(_remove, op, extglob), value, glob_text)
    if op[0] == "/":
        replacement, ampersand = _replacement(shell, part.arg2)
        return derive(partial(_replace, op, extglob, ampersand), value, glob_text, replacement)
    return derive(partial(_case, op, extglob), value, glob_text)


def _replacement(shell: Shell, word: bash.Word | None) -> tuple[Value, bool]:
    """The replacement of `${x/a/b}`, and whether an `&` in it stands for what was matched; quotes protect one."""
    if word is None:
        return "", False
    if "&" not in word.text and "$" not in word.text and "`" not in word.text:
        return expansion.string(shell, word), False
    if not shell.shopt.get("patsub_replacement", True):
        return expansion.string(shell, word), False
    out: list[Value] = []
    for part in word.parts:
        value = expansion.single(shell, part, False)
        if isinstance(part, (bash.Quoted, bash.DoubleQuoted)):
            value = derive(_protect_ampersand, value)
        out.append(value)
    return concat(out), True


def _protect_ampersand(text: str) -> str:
    return text.replace("\\", "\\\\").replace("&", "\\&")


_REMOVERS = {
    "#": match_prefix_shortest,
    "##": match_prefix_longest,
    "%": match_suffix_shortest,
    "%%": match_suffix_longest,
}


def _remove(op: str, extglob: bool, text: str, glob_text: str) -> str:
    try:
        at = _REMOVERS[op](glob_text, text, extglob=extglob)
    except PatternError:
        raise Budget("a pattern that costs too much") from None
    if at is None:
        return text
    return text[at:] if op[0] == "#" else text[:at]


_MODES: dict[str, SubstituteMode] = {"/": "first", "//": "all", "/#": "prefix", "/%": "suffix"}


def _replace(op: str, extglob: bool, ampersand: bool, text: str, glob_text: str, replacement: str) -> str:
    try:
        return substitute(text, glob_text, replacement, _MODES[op], extglob=extglob, ampersand=ampersand)
    except PatternError:
        raise Budget("a pattern that costs too much") from None


def _case(op: str, extglob: bool, text: str, glob_text: str) -> str:
    return change_case_text(text, op, glob_text, extglob=extglob)  # type: ignore[arg-type]


def transform(shell: Shell, how: str, value: Value, name: str) -> Value:
    """`${x@Q}` and its like."""
    if how == "Q":
        return derive(formatting.quote_at_Q, value)
    if how == "E":
        return derive(bash.ansi_c, value)
    if how == "U":
        return derive(str.upper, value)
    if how == "L":
        return derive(str.lower, value)
    if how == "u":
        return derive(_first_upper, value)
    if how == "P":
        return derive(_prompt, value)
    var = shell.get(name)
    if how == "a":
        return "" if var is None else variables.attributes(var)
    if how == "A":
        return "" if var is None else derive(partial(_declared, name, variables.attributes(var)), value)
    return value


def _whole_array(shell: Shell, how: str, name: str) -> Value:
    """`${a[@]@A}` and `${a[@]@K}`."""
    cells = variables.table(shell, name)
    var = shell.get(name)
    texts = {key: shell.concrete(value) for key, value in cells.items()}
    if any(text is None for text in texts.values()):
        return hole(f"declaration of {name}")
    form = formatting.declare_form(name, variables.attributes(var) if var is not None else "a", texts)  # type: ignore[arg-type]
    if how == "A":
        return form
    inner = re.findall(r"\[((?:[^]\\]|\\.)*)\]=", form)
    quoted_texts = [formatting.declare_value(t or "") for t in texts.values()]
    return " ".join(f"{key} {text}" for key, text in zip(inner, quoted_texts, strict=False))


def _prompt(text: str) -> str:
    """The escapes of a prompt that stand for fixed text."""
    return re.sub(r"\\([\\nre])", lambda m: {"\\": "\\", "n": "\n", "r": "\r", "e": "\x1b"}[m.group(1)], text)


def _first_upper(text: str) -> str:
    return text[:1].upper() + text[1:]


def _declared(name: str, flags: str, text: str) -> str:
    quoted_text = formatting.quote_at_Q(text)
    return f"declare -{flags} {name}={quoted_text}" if flags else f"{name}={quoted_text}"

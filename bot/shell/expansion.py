"""Word expansion: parameters, commands, arithmetic, splitting, pathnames, quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from botlint.documents import bash
from botlint.shell import arithmetic_values, parameters, pathnames, variables
from botlint.shell.braces import expand_braces
from botlint.shell.marks import words_of
from botlint.shell.patterns import (
    quote_pattern,
)
from botlint.shell.process import Place
from botlint.shell.values import Either, Hole, Input, Text, Value, concat, derive, hole

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

_GLOB = re.compile(r"[*?\[]|[+@!]\(")
_PLAIN_FIELD = re.compile(r"[^\s*?\[\]\\]+")
HOLE_START, HOLE_END = "\ue000", "\ue001"


class _Fields:
    """Collects the fields of one word: a field is a list of (value, whether quotes protect it)."""

    __slots__ = ("current", "done", "shell")

    def __init__(self, shell: Shell) -> None:
        self.shell = shell
        self.done: list[list[tuple[Value, bool]]] = []
        self.current: list[tuple[Value, bool]] | None = None

    def add(self, value: Value, quoted: bool) -> None:
        if self.current is None:
            self.current = []
        self.current.append((value, quoted))

    def cut(self) -> None:
        if self.current is not None:
            self.done.append(self.current)
            self.current = None

    def split(self, value: Value) -> None:
        """Adds an unquoted expansion, split at IFS."""
        shell = self.shell
        if isinstance(value, Text):
            if not value.known:
                self.split_partly(value)
                return
            if shell.observe(_is_plain, value):
                self.add(value, False)
                return
            text = shell.concrete(value)
            assert text is not None
        else:
            text = value
        if not text:
            return
        ifs = variables.ifs_of(shell)
        if ifs == "":
            self.add(text, False)
            return
        first, pieces, last = split_text(text, ifs)
        if first:
            self.cut()
        for number, piece in enumerate(pieces):
            if number:
                self.cut()
            self.add(piece, False)
        if last:
            self.cut()

    def split_partly(self, value: Text) -> None:
        """Splits a partly unknown expansion at the separators that are known, if each unknown part is one word."""
        ifs = variables.ifs_of(self.shell)
        literal = any(isinstance(p, str) and any(c in ifs for c in p) for p in value.pieces)
        found = words_of(self.shell, value) if literal or not isinstance(value.pieces[0], Hole) else None
        if found is None or ifs == "":
            self.add(value, False)
            return
        text, marks = found
        first, pieces, last = split_text(text, ifs)
        if first:
            self.cut()
        for number, piece in enumerate(pieces):
            if number:
                self.cut()
            self.add(marks.unmark(piece), False)
        if last:
            self.cut()

    def finish(self) -> list[Value]:
        self.cut()
        out: list[Value] = []
        for field in self.done:
            if any(
                not quoted and isinstance(v, str) and _GLOB.search(v) for v, quoted in field
            ) and not self.shell.options.get("noglob"):
                out.extend(pathnames.glob(self.shell, field))
            elif len(field) == 1:
                out.append(field[0][0])
            else:
                out.append(concat([v for v, _ in field]))
        return out


def _is_plain(text: str) -> bool:
    return _PLAIN_FIELD.fullmatch(text) is not None


def split_text(text: str, ifs: str) -> tuple[bool, list[str], bool]:
    """Splits as bash does: (a separator leads, fields, a separator ends)."""
    space = "".join(c for c in ifs if c in " \t\n")
    other = "".join(c for c in ifs if c not in " \t\n")
    if not other:
        pieces = re.split(f"[{re.escape(space)}]+", text.strip(space)) if text.strip(space) else []
        return text[:1] in space, pieces, text[-1:] in space
    out: list[str] = []
    i, n = 0, len(text)
    while i < n and text[i] in space:
        i += 1
    lead = i > 0
    start = i
    ended = False
    while i < n:
        c = text[i]
        if c in ifs:
            out.append(text[start:i])
            seen_other = c in other
            i += 1
            while i < n and (text[i] in space or (text[i] in other and not seen_other)):
                seen_other = seen_other or text[i] in other
                i += 1
            start = i
            ended = i >= n
        else:
            i += 1
            ended = False
    if not ended and start < n:
        out.append(text[start:])
    return lead, out, ended or (bool(text) and text[-1] in ifs)


def fields(shell: Shell, word: bash.Word) -> list[Value]:
    """All fields of a word: braces, tilde, parameters, commands, arithmetic, splitting, pathnames, quote removal."""
    if word.literal is not None:
        return [_filled(shell, word.literal)] if HOLE_START in word.literal else [word.literal]
    if word.braces and shell.options.get("braceexpand", True):
        expanded = _braced(word)
        if expanded is not None:
            out: list[Value] = []
            for parts in expanded:
                out.extend(_fields(shell, parts))
            return out
    return _fields(shell, word.parts)


def _fields(shell: Shell, parts: tuple[bash.Part, ...]) -> list[Value]:
    if len(parts) == 1:
        only = parts[0]
        if isinstance(only, bash.DoubleQuoted) and not only.lists:
            return [quoted(shell, only.parts)]
    builder = _Fields(shell)
    _add_parts(shell, builder, parts, True)
    return builder.finish()


def _add_parts(
    shell: Shell, builder: _Fields, parts: tuple[bash.Part, ...], tilde: bool, operand: bool = False
) -> None:
    """Adds unquoted parts; in the operand of an expansion literal text is split like what an expansion gives."""
    for number, part in enumerate(parts):
        if isinstance(part, str):
            text: Value = part
            if tilde and "~" in part:
                text, protected = _leading_tilde(shell, part, number, len(parts) == 1)
                for value, is_protected in protected:
                    builder.add(value, is_protected)
            if isinstance(text, str) and HOLE_START in text:
                text = _filled(shell, text)
            if operand:
                builder.split(text)
            elif text:
                builder.add(text, False)
        elif isinstance(part, bash.Quoted):
            builder.add(_filled(shell, part.text) if HOLE_START in part.text else part.text, True)
        elif isinstance(part, bash.DoubleQuoted):
            _add_quoted(shell, builder, part.parts)
        elif isinstance(part, bash.Param):
            _add_param(shell, builder, part)
        elif isinstance(part, bash.CommandSub):
            builder.split(shell.capture(part.body))
        elif isinstance(part, bash.ArithSub):
            builder.split(arithmetic(shell, part))
        else:
            builder.add(process_substitution(shell, part), True)


_ASSIGNED_TILDE = re.compile(r"([A-Za-z_]\w*=)(~.*)", re.DOTALL)


def _leading_tilde(shell: Shell, text: str, number: int, alone: bool) -> tuple[Value, list[tuple[Value, bool]]]:
    """(rest of a literal, what its tilde gives): a tilde counts at the start of a word and after `name=`."""
    if number:
        return text, []
    before: list[tuple[Value, bool]] = []
    match = _ASSIGNED_TILDE.fullmatch(text)
    if match is not None:
        before.append((match.group(1), False))
        text = match.group(2)
    if not text.startswith("~"):
        return text, []
    rest, protected = _tilde(shell, text, alone, match is not None)
    if protected is None:
        return rest if match is None else match.group(), []
    return rest, [*before, (protected, True)]


def _add_quoted(shell: Shell, builder: _Fields, parts: tuple[bash.Part, ...]) -> None:
    """Adds the parts of a double-quoted string, which is at least one field unless it is only an empty list."""
    lists = False
    before = len(builder.done), builder.current, 0 if builder.current is None else len(builder.current)
    for part in parts:
        if isinstance(part, bash.DoubleQuoted):
            _add_quoted(shell, builder, part.parts)
        elif isinstance(part, bash.Param) and part.lists:
            lists = _add_quoted_param(shell, builder, part) or lists
        else:
            builder.add(quoted(shell, (part,)), True)
    after = len(builder.done), builder.current, 0 if builder.current is None else len(builder.current)
    if before == after and not (lists and len(parts) == 1):
        builder.add("", True)


def _add_quoted_param(shell: Shell, builder: _Fields, part: bash.Param) -> bool:
    """Adds an expansion in double quotes that may be a list; whether it was one."""
    if part.op in ("-", ":-", "+", ":+") and part.arg is not None:
        use, _ = parameters.use_word(shell, part)
        if use:
            if part.arg.parts:
                _add_quoted(shell, builder, part.arg.parts)
            elif _is_list(part):
                return True
            else:
                builder.add("", True)
            return _is_list(part)
        if part.op[-1] == "+":
            if not _is_list(part):
                builder.add("", True)
            return _is_list(part)
    values = parameters.list_of(shell, part, True)
    if values is None:
        builder.add(parameters.param(shell, part, True), True)
        return False
    for number, value in enumerate(values):
        if number:
            builder.cut()
        builder.add(value, True)
    return True


def _is_list(part: bash.Param) -> bool:
    return part.name == "@" or part.index == "@"


def _add_param(shell: Shell, builder: _Fields, part: bash.Param) -> None:
    if part.op in ("-", ":-", "+", ":+") and part.arg is not None:
        use, current = parameters.use_word(shell, part)
        if use:
            _add_parts(shell, builder, part.arg.parts, True, operand=True)
            return
        if part.op[-1] == "+":
            return
        if not part.lists:
            builder.split(current)
            return
    values = parameters.list_of(shell, part, False) if part.lists else None
    if values is None:
        builder.split(parameters.param(shell, part, False))
        return
    separator = variables.ifs_of(shell)[:1]
    if separator and separator not in variables.DEFAULT_IFS and len(values) > 1:
        # Joined and split again, an empty element between two others stays.
        builder.split(variables.join(shell, values, True))
        return
    for number, value in enumerate(values):
        if number:
            builder.cut()
        builder.split(value)


def string(shell: Shell, word: bash.Word, assignment: bool = False) -> Value:
    """A word as one text: no splitting, no pathnames."""
    if word.literal is not None:
        return _filled(shell, word.literal) if HOLE_START in word.literal else word.literal
    parts = word.parts
    if len(parts) == 1 and isinstance(parts[0], bash.DoubleQuoted):
        return quoted(shell, parts[0].parts)
    out: list[Value] = []
    for number, part in enumerate(parts):
        if isinstance(part, str):
            text: Value = part
            if part.startswith("~") and number == 0:
                text, protected = _tilde(shell, part, len(parts) == 1, assignment)
                if protected is not None:
                    out.append(protected)
            if assignment and isinstance(text, str) and ":~" in text:
                text = _colon_tilde(shell, text)
            if isinstance(text, str) and HOLE_START in text:
                text = _filled(shell, text)
            out.append(text)
        else:
            out.append(single(shell, part, False))
    return concat(out)


def quoted(shell: Shell, parts: Iterable[bash.Part]) -> Value:
    """The parts of a double-quoted string as one text."""
    out: list[Value] = []
    for part in parts:
        if isinstance(part, str):
            out.append(_filled(shell, part) if HOLE_START in part else part)
        else:
            out.append(single(shell, part, True))
    if len(out) == 1:
        return out[0]
    return concat(out)


def single(shell: Shell, part: bash.Part, in_quotes: bool) -> Value:
    if isinstance(part, bash.Quoted):
        return _filled(shell, part.text) if HOLE_START in part.text else part.text
    if isinstance(part, bash.DoubleQuoted):
        return quoted(shell, part.parts)
    if isinstance(part, bash.Param):
        values = parameters.list_of(shell, part, in_quotes)
        if values is not None:
            star = part.name == "*" or part.index == "*"
            return variables.join(shell, values, star)
        return parameters.param(shell, part, in_quotes)
    if isinstance(part, bash.CommandSub):
        return shell.capture(part.body)
    if isinstance(part, bash.ArithSub):
        return arithmetic(shell, part)
    if isinstance(part, bash.ProcessSub):
        return process_substitution(shell, part)
    return part


def pattern(shell: Shell, word: bash.Word) -> Value:
    """A word as a pattern: what was quoted is escaped."""
    out: list[Value] = []
    for part in word.parts:
        if isinstance(part, str):
            if part.startswith("~") and not out:
                text, protected = _tilde(shell, part, len(word.parts) == 1)
                if protected is not None:
                    out.append(derive(quote_pattern, protected))
                out.append(text)
            else:
                out.append(part)
        elif isinstance(part, bash.Quoted):
            out.append(quote_pattern(part.text))
        elif isinstance(part, bash.DoubleQuoted):
            value = quoted(shell, part.parts)
            out.append(value if variables.is_number(value) else derive(quote_pattern, value))
        else:
            out.append(single(shell, part, False))
    return concat(out)


def arithmetic(shell: Shell, part: bash.ArithSub) -> Value:
    """`$(( ))`."""
    keep, shell.pos = shell.pos, part.pos
    try:
        return arithmetic_values.evaluate(shell, part.expr)
    except arithmetic_values.ArithmeticProblem as problem:
        raise shell.discard(str(problem)) from None
    finally:
        shell.pos = keep


def process_substitution(shell: Shell, part: bash.ProcessSub) -> Value:
    """`<( )` as a word: a file whose content is the output."""
    if part.write:
        return hole("a process substitution", nonempty=True)
    content = shell.capture_raw(part.body)
    path = f"/dev/fd/{63 - len(shell.files.entries) % 40}"
    shell.write_file(path, content, False)
    return path


def strip_newlines(shell: Shell, value: Value) -> Value:
    """Without trailing newlines."""
    if isinstance(value, str):
        return value.rstrip("\n")
    pieces = list(value.pieces)
    while pieces and isinstance(pieces[-1], str):
        last = pieces[-1].rstrip("\n")
        if last:
            pieces[-1] = last
            return Text(tuple(pieces)) if len(pieces) > 1 or not isinstance(pieces[0], str) else pieces[0]
        pieces.pop()
    if not pieces:
        return ""
    if isinstance(last_piece := pieces[-1], Either):
        inner = strip_newlines(shell, last_piece.value)
        before = concat([p if isinstance(p, str) else Text((p,)) for p in pieces[:-1]])
        return concat([before if inner else strip_newlines(shell, before), Text((Either(inner, last_piece.asked),))])
    rest = Text(tuple(pieces))
    if not rest.known or not shell.observe(_ends_in_newline, rest):
        return rest
    return derive(_without_newlines, rest)


def _without_newlines(text: str) -> str:
    return text.rstrip("\n")


def _ends_in_newline(text: str) -> bool:
    return text.endswith("\n")


def _tilde(shell: Shell, text: str, alone: bool, assignment: bool = False) -> tuple[Value, Value | None]:
    """(rest of the text, expanded prefix or None)."""
    end = len(text)
    for index, character in enumerate(text):
        if character == "/" or (character == ":" and assignment):
            end = index
            break
    if end == len(text) and not alone:
        return text, None
    name = text[1:end]
    if name == "":
        return text[end:], variables.variable_text(shell, "HOME")
    if name == "+":
        return text[end:], variables.variable_text(shell, "PWD")
    if name in ("-", "root"):
        return text[end:], "/root" if name == "root" else variables.variable_text(shell, "OLDPWD")
    return text, None


def _colon_tilde(shell: Shell, text: str) -> Value:
    out: list[Value] = []
    for number, piece in enumerate(text.split(":")):
        if number:
            out.append(":")
        if number and piece.startswith("~"):
            rest, prefix = _tilde(shell, piece, True)
            if prefix is not None:
                out.append(prefix)
            out.append(rest)
        else:
            out.append(piece)
    return concat(out)


def _braced(word: bash.Word) -> list[tuple[bash.Part, ...]] | None:
    items: list[str | object] = list(word.parts)
    expanded = expand_braces(items)
    if (
        len(expanded) == 1
        and len(expanded[0]) == len(items)
        and all(a is b for a, b in zip(expanded[0], items, strict=True))
    ):
        return None
    return [tuple(p for p in _renamed(parts) if p != "") or ("",) for parts in expanded]


def _renamed(parts: list[str | object]) -> list[bash.Part]:
    """Braces are expanded before parameters: `$a{x,y}` is `$ax $ay`."""
    out: list[bash.Part] = []
    for part in parts:
        before = out[-1] if out else None
        if isinstance(part, str) and isinstance(before, bash.Param) and before.bare:
            match = _NAME_START.match(part)
            assert match is not None
            if match.group():
                out[-1] = bash.Param(before.name + match.group(), before.pos, bare=True)
                part = part[match.end() :]
        out.append(part)  # type: ignore[arg-type]
    return out


_NAME_START = re.compile(r"[A-Za-z0-9_]*")


def brace_words(shell: Shell, word: bash.Word) -> list[bash.Word]:
    """The words that braces make of the value of a declaration."""
    if not word.braces or not shell.options.get("braceexpand", True):
        return [word]
    expanded = _braced(word)
    return [word] if expanded is None else [bash.Word(parts, word.text) for parts in expanded]


def _filled(shell: Shell, text: str) -> Value:
    """Literal text of an evaluated string in which holes stand for values that were not literal."""
    out: list[Value] = []
    while HOLE_START in text:
        before, _, rest = text.partition(HOLE_START)
        number, _, text = rest.partition(HOLE_END)
        out.append(before)
        if number.isdigit() and int(number) < len(shell.world.holes):
            out.append(shell.world.holes[int(number)])
    out.append(text)
    return concat(out)


def script_of(shell: Shell, text: Value, place: Place) -> bash.Script | None:
    """The script that a text is, for `eval` and the like; values in it that are plain words stay templates."""
    if isinstance(text, str):
        return shell.world.parse(text, place)
    source: list[str] = []
    for piece in text.pieces:
        if isinstance(piece, str):
            source.append(piece)
            continue
        value = Text((piece,))
        if value.known and not shell.observe(_is_plain_word, value):
            known = shell.concrete(value)
            assert known is not None
            source.append(known)
            continue
        if not value.known and not isinstance(piece, (Hole, Input)) and len(text.pieces) == 1:
            return None
        if not value.known and len(text.pieces) == 1:
            return None
        source.append(f"{HOLE_START}{shell.world.hole_number(value)}{HOLE_END}")
    return shell.world.parse("".join(source), place)


_PLAIN_WORD = re.compile(r"[A-Za-z0-9_./:,@%+^-]+")


def _is_plain_word(text: str) -> bool:
    return _PLAIN_WORD.fullmatch(text) is not None


def word_values(shell: Shell, word: bash.Word | None) -> list[Value]:
    if word is None:
        return []
    builder = _Fields(shell)
    _add_parts(shell, builder, word.parts, False)
    return builder.finish()

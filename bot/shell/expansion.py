"""Word expansion: parameters, commands, arithmetic, splitting, pathnames, quotes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache, partial
from typing import TYPE_CHECKING

from botlint.core.unknown import Unknown
from botlint.documents import bash
from botlint.shell import arithmetic_values, formatting
from botlint.shell.braces import expand_braces
from botlint.shell.paths import WORKSPACE, WORKSPACE_VARIABLE, normal, relative_to_workspace
from botlint.shell.patterns import (
    change_case as change_case_text,
)
from botlint.shell.patterns import (
    PatternError,
    SubstituteMode,
    match_prefix_longest,
    match_prefix_shortest,
    match_suffix_longest,
    match_suffix_shortest,
    matches,
    quote_pattern,
    substitute,
)
from botlint.shell.process import Place, Variable
from botlint.shell.signals import DiscardFlow, ExitFlow, StopFlow, Undecided
from botlint.shell.values import Budget, Hole, Input, Resolved, Text, Value, concat, derive, hole, reason_of, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

DEFAULT_IFS = " \t\n"
_SPECIAL = frozenset("?#@*$!-_0123456789")
_GLOB = re.compile(r"[*?\[]|[+@!]\(")
_PLAIN_FIELD = re.compile(r"[^\s*?\[\]\\]+")
HOLE_START, HOLE_END = "\ue000", "\ue001"


# ------------------------------------------------------------------------------------------------------------ builder


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
                self.add(value, False)
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
        ifs = ifs_of(shell)
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

    def finish(self) -> list[Value]:
        self.cut()
        out: list[Value] = []
        for field in self.done:
            if any(not quoted and isinstance(v, str) and _GLOB.search(v) for v, quoted in field) and not self.shell.options.get("noglob"):
                out.extend(glob(self.shell, field))
            elif len(field) == 1:
                out.append(field[0][0])
            else:
                out.append(concat([v for v, _ in field]))
        return out


def _is_plain(text: str) -> bool:
    return _PLAIN_FIELD.fullmatch(text) is not None


def ifs_of(shell: Shell) -> str:
    """The current field separators."""
    var = shell.vars.get("IFS")
    if var is None or not isinstance(var.value, (str, Text)):
        return DEFAULT_IFS
    return text_of(var.value) or ""


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


# ------------------------------------------------------------------------------------------------------------ entries


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
    if len(parts) == 1 and parts[0].__class__ is bash.DoubleQuoted:
        inner = parts[0].parts  # type: ignore[union-attr]
        if not parts[0].lists:  # type: ignore[union-attr]
            return [quoted(shell, inner)]
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
            builder.add(part.text, True)
        elif isinstance(part, bash.DoubleQuoted):
            _add_quoted(shell, builder, part.parts)
        elif isinstance(part, bash.Param):
            _add_param(shell, builder, part)
        elif isinstance(part, bash.CommandSub):
            builder.split(shell.capture(part.body, part.pos))
        elif isinstance(part, bash.ArithSub):
            builder.split(arithmetic(shell, part))
        else:
            builder.add(process_substitution(shell, part), True)


_ASSIGNED_TILDE = re.compile(r"([A-Za-z_]\w*=)(~.*)", re.S)


def _leading_tilde(
    shell: Shell, text: str, number: int, alone: bool
) -> tuple[Value, list[tuple[Value, bool]]]:
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
        use, _ = _use_word(shell, part)
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
    values = list_of(shell, part, True)
    if values is None:
        builder.add(param(shell, part, True), True)
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
        use, current = _use_word(shell, part)
        if use:
            _add_parts(shell, builder, part.arg.parts, True, operand=True)
            return
        if part.op[-1] == "+":
            return
        if not part.lists:
            builder.split(current)
            return
    values = list_of(shell, part, False) if part.lists else None
    if values is None:
        builder.split(param(shell, part, False))
        return
    separator = ifs_of(shell)[:1]
    if separator and separator not in DEFAULT_IFS and len(values) > 1:
        # Joined and split again, an empty element between two others stays.
        builder.split(join(shell, values, True))
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
            out.append(_single(shell, part, False))
    return concat(out)


def quoted(shell: Shell, parts: Iterable[bash.Part]) -> Value:
    """The parts of a double-quoted string as one text."""
    out: list[Value] = []
    for part in parts:
        if isinstance(part, str):
            out.append(_filled(shell, part) if HOLE_START in part else part)
        else:
            out.append(_single(shell, part, True))
    if len(out) == 1:
        return out[0]
    return concat(out)


def _single(shell: Shell, part: bash.Part, in_quotes: bool) -> Value:
    if isinstance(part, bash.Quoted):
        return part.text
    if isinstance(part, bash.DoubleQuoted):
        return quoted(shell, part.parts)
    if isinstance(part, bash.Param):
        values = list_of(shell, part, in_quotes)
        if values is not None:
            star = part.name == "*" or part.index == "*"
            return join(shell, values, star)
        return param(shell, part, in_quotes)
    if isinstance(part, bash.CommandSub):
        return shell.capture(part.body, part.pos)
    if isinstance(part, bash.ArithSub):
        return arithmetic(shell, part)
    if isinstance(part, bash.ProcessSub):
        return process_substitution(shell, part)
    return part


def join(shell: Shell, values: list[Value], star: bool) -> Value:
    """Values in one text: `"$*"` joins with the first character of IFS, `$@` in a text context with a space."""
    separator = ifs_of(shell)[:1] if star and "IFS" in shell.vars else " "
    out: list[Value] = []
    for number, value in enumerate(values):
        if number:
            out.append(separator)
        out.append(value)
    return concat(out)


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
            out.append(value if _is_number(value) else derive(quote_pattern, value))
        else:
            out.append(_single(shell, part, False))
    return concat(out)


NUMBERS = frozenset({"process id", "job id", "SLURM_JOB_ID"})
"""Unknown texts that are decimal numbers."""


def _is_number(value: Value) -> bool:
    return isinstance(value, Text) and all(isinstance(p, Hole) and p.reason in NUMBERS for p in value.pieces)


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
    rest = Text(tuple(pieces))
    if not rest.known or not shell.observe(_ends_in_newline, rest):
        return rest
    text = shell.concrete(rest)
    assert text is not None
    return text.rstrip("\n")


def _ends_in_newline(text: str) -> bool:
    return text.endswith("\n")


# ------------------------------------------------------------------------------------------------------- tilde, braces


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
        return text[end:], variable_text(shell, "HOME")
    if name == "+":
        return text[end:], variable_text(shell, "PWD")
    if name in ("-", "root"):
        return text[end:], "/root" if name == "root" else variable_text(shell, "OLDPWD")
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
    if len(expanded) == 1 and len(expanded[0]) == len(items) and all(a is b for a, b in zip(expanded[0], items, strict=True)):
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


# ---------------------------------------------------------------------------------------------------------- parameters


def variable_text(shell: Shell, name: str) -> Value:
    """The text of a variable, empty if unset."""
    value = scalar(shell, name)
    return "" if value is None else value


def scalar(shell: Shell, name: str) -> Value | None:
    """The value of a parameter or variable (element 0 of an array), None if unset."""
    var = shell.get(name)
    if var is not None:
        value = var.value
        if value is None:
            return None
        if isinstance(value, dict):
            return value.get(0) if var.kind == "array" else value.get("0")  # type: ignore[call-overload,no-any-return]
        return value
    if name[0] in _SPECIAL or name[0].isupper() or name in shell.vars:
        return special(shell, name)
    return None


def special(shell: Shell, name: str) -> Value | None:
    """Parameters that the shell itself sets."""
    if name.isdigit():
        number = int(name)
        if number == 0:
            return shell.name
        return shell.positional[number - 1] if number <= len(shell.positional) else None
    function = _SPECIALS.get(name)
    if function is not None:
        return function(shell)
    var = shell.vars.get(name)
    if var is not None and var.nameref and isinstance(var.value, (str, Text)):
        target = text_of(var.value)
        if target and "[" in target and target.endswith("]"):
            base, _, index = target[:-1].partition("[")
            return element(shell, base, index)
    return None


def _status(shell: Shell) -> Value:
    return hole(f"exit status ({shell.status.reason})", True) if isinstance(shell.status, Undecided) else str(shell.status)


def _flags(shell: Shell) -> Value:
    letters = "hB"
    for option, letter in (("errexit", "e"), ("nounset", "u"), ("xtrace", "x"), ("noglob", "f"), ("allexport", "a")):
        if shell.options.get(option):
            letters += letter
    return "".join(sorted(letters, key=str.swapcase))


def _pwd(shell: Shell) -> Value:
    return path_value(shell, shell.context.cwd)


def path_value(shell: Shell, path: str) -> Value:
    """A canonical path as the process sees it; the checkout's own place is not known, in a container either."""
    if path.startswith(WORKSPACE) and shell.world.machine is None:
        return concat([Text((Hole(WORKSPACE_VARIABLE, True),)), path[len(WORKSPACE) :]])
    for mount in shell.context.mounts or ():
        if path == mount.outside or path.startswith(mount.outside.rstrip("/") + "/"):
            return mount.inside.rstrip("/") + path[len(mount.outside.rstrip("/")) :]
    return path


_ON = frozenset({"braceexpand", "hashall", "interactive-comments"})


def command_text(shell: Shell, node: bash.Statement) -> Value:
    """A command as bash writes it: words and redirections with single spaces."""
    text = shell.trapped.text if shell.in_trap else shell.source.text
    if not isinstance(node, bash.Command):
        return " ".join(text[node.pos : node.end].split())
    out = [text[a.pos : a.end] for a in node.assigns]
    for number, word in enumerate(node.words):
        assign = (node.declares or {}).get(number)
        out.append(word.text if assign is None else text[assign.pos : assign.end])
    for item in node.redirects:
        fd = "" if item.fd is None else f"{{{item.fd}}}" if isinstance(item.fd, str) else str(item.fd)
        out.append(f"{fd}{item.op}{'' if item.op in ('<&', '>&') else ' '}{item.target.text}")
    return " ".join(out)


_SPECIALS = {
    "?": _status,
    "#": lambda shell: str(len(shell.positional)),
    "$": lambda shell: Text((shell.ids[0],)),
    "BASHPID": lambda shell: Text((shell.ids[-1],)),
    "PPID": lambda _: hole("process id", True),
    "!": lambda shell: shell.last_background,
    "-": _flags,
    "_": lambda shell: shell.last_argument,
    "@": lambda shell: concat(spaced(shell.positional)) if shell.positional else None,
    "*": lambda shell: join(shell, shell.positional, True) if shell.positional else None,
    "LINENO": lambda shell: str(shell.line()),
    "RANDOM": lambda _: hole("RANDOM", True),
    "SRANDOM": lambda _: hole("SRANDOM", True),
    "SECONDS": lambda _: hole("SECONDS", True),
    "EPOCHSECONDS": lambda _: hole("the time", True),
    "EPOCHREALTIME": lambda _: hole("the time", True),
    "HOSTNAME": lambda _: hole("HOSTNAME", True),
    "UID": lambda _: hole("UID", True),
    "EUID": lambda _: hole("EUID", True),
    "BASH": lambda _: "/bin/bash",
    "BASH_VERSION": lambda _: hole("BASH_VERSION", True),
    "SHELLOPTS": lambda shell: ":".join(sorted(n for n in {*_ON, *shell.options} if shell.options.get(n, n in _ON))),
    "BASHOPTS": lambda _: hole("BASHOPTS", True),
    "BASH_COMMAND": lambda shell: "" if shell.running is None else command_text(shell, shell.running),
    "BASH_VERSINFO": lambda _: "5",
    "DIRSTACK": _pwd,
    "BASH_SUBSHELL": lambda shell: str(shell.subshells),
    "OSTYPE": lambda _: "linux-gnu",
    "HOSTTYPE": lambda _: hole("HOSTTYPE", True),
    "MACHTYPE": lambda _: hole("MACHTYPE", True),
    "PWD": _pwd,
    "OPTIND": lambda _: "1",
    "IFS": lambda _: DEFAULT_IFS,
    "PS4": lambda _: "+ ",
    "BASH_SOURCE": lambda shell: (_array(shell, "BASH_SOURCE") or {}).get(0),
    "FUNCNAME": lambda shell: (_array(shell, "FUNCNAME") or {}).get(0),
    "BASH_LINENO": lambda shell: (_array(shell, "BASH_LINENO") or {}).get(0),
    "PIPESTATUS": lambda shell: (_array(shell, "PIPESTATUS") or {}).get(0),
}


def spaced(values: list[Value]) -> list[Value]:
    out: list[Value] = []
    for number, value in enumerate(values):
        if number:
            out.append(" ")
        out.append(value)
    return out


def hole_name(value: Value) -> str:
    """A short name for an unknown value."""
    return reason_of(value) if isinstance(value, Text) else value[:40]


def _array(shell: Shell, name: str) -> dict[int, Value] | None:
    """Arrays that the shell itself keeps."""
    if name == "PIPESTATUS":
        return {
            k: hole(s.reason, True) if isinstance(s, Undecided) else str(s) for k, s in enumerate(shell.pipestatus)
        }
    if name == "BASH_SOURCE":
        paths = [f.source.path for f in reversed(shell.frames)]
        main = shell.main_name
        sources: list[Value] = [*[shell.shown_path(p) for p in paths]]
        if main is not None:
            sources.append(main)
        return dict(enumerate(sources))
    if name == "BASH_VERSINFO":
        return {0: "5", 1: hole("BASH_VERSINFO", True), 2: hole("BASH_VERSINFO", True)}
    if name == "FUNCNAME":
        if not any(f.function for f in shell.frames):
            return {}
        return dict(enumerate([*[f.name if f.function else "source" for f in reversed(shell.frames)], "main"]))
    if name == "BASH_LINENO":
        return dict(enumerate([*[str(f.call.line) for f in reversed(shell.frames)], "0"]))
    return None


def elements(shell: Shell, name: str) -> list[Value]:
    """All elements of an array (a plain variable is an array of one), in order."""
    return list(table(shell, name).values())


def table(shell: Shell, name: str) -> dict[int, Value] | dict[str, Value]:
    """Keys and elements of an array."""
    var = shell.get(name)
    if var is None:
        return _array(shell, name) or ({0: value} if (value := special(shell, name)) is not None and name in _SPECIALS else {})
    value = var.value
    if value is None:
        return {}
    if isinstance(value, dict):
        if var.kind == "array":
            return {k: value[k] for k in sorted(value)}  # type: ignore[type-var,index]
        return value
    return {0: value}


def element(shell: Shell, name: str, index: Value) -> Value | None:
    """One element, None if unset."""
    var = shell.get(name)
    if var is not None and var.kind == "assoc":
        key = shell.concrete(index)
        if key is None:
            return hole(f"element of {name}")
        return var.value.get(key) if isinstance(var.value, dict) else None  # type: ignore[call-overload,no-any-return]
    number = arithmetic_values.index_number(shell, index)
    if number is None:
        return hole(f"element of {name}")
    cells = table(shell, name)
    if number < 0:
        number += max((k for k in cells if isinstance(k, int)), default=-1) + 1
    return cells.get(number)  # type: ignore[call-overload,no-any-return]


def list_of(shell: Shell, part: bash.Param, in_quotes: bool) -> list[Value] | None:
    """The values of an expansion that is a list (`$@`, `${a[@]}`, `${!a[@]}`, `${!p@}`); None if it is a single text."""
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
        values = [str(k) for k in table(shell, name)]
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
        values = elements(shell, name)
    else:
        return None
    if part.length:
        return None
    if star and in_quotes:
        return None
    return _list_operation(shell, part, values, name, index)


def _list_operation(shell: Shell, part: bash.Param, values: list[Value], name: str, index: object) -> list[Value] | None:
    op = part.op
    if op == "":
        if not values and shell.options.get("nounset") and name not in ("@", "*") and shell.get(name) is None and index not in ("@", "*"):
            _unbound(shell, name)
        return values
    if op in ("-", ":-"):
        if values and not (op == ":-" and len(values) == 1 and shell.nonempty(values[0]) is False):
            return values
        return _word_values(shell, part.arg)
    if op in ("+", ":+"):
        if values and not (op == ":+" and len(values) == 1 and shell.nonempty(values[0]) is False):
            return _word_values(shell, part.arg)
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
            for key, value in table(shell, name).items():
                pairs.extend([str(key), value])
            return pairs
        return [transform(shell, how, v, name) for v in values]
    return [_modify(shell, part, v) for v in values]


def _word_values(shell: Shell, word: bash.Word | None) -> list[Value]:
    if word is None:
        return []
    builder = _Fields(shell)
    _add_parts(shell, builder, word.parts, False)
    return builder.finish()


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
        cells = table(shell, name)
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
    match = re.fullmatch(r"([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(?:\[(.*)\])?", text, re.S)
    if match is None:
        raise shell.discard(f"{text}: invalid variable name")
    name, index = match.groups()
    if index in ("@", "*") or index is None:
        return name, index
    return name, bash.Word((bash.Quoted(index),), index)


def _plain(shell: Shell, name: str, index: str | bash.Word | None) -> Value | None:
    """The value without any operator, None if unset."""
    if index is None:
        return scalar(shell, name)
    if isinstance(index, str):
        values = elements(shell, name)
        return join(shell, values, index == "*") if values else None
    return element(shell, name, string(shell, index))


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
        return join(shell, shell.positional, part.name == "*") if shell.positional else None
    return _plain(shell, part.name, part.index)


def _use_word(shell: Shell, part: bash.Param) -> tuple[bool, Value]:
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
        value = scalar(shell, name)
        if value is None:
            if shell.options.get("nounset") and name not in ("@", "*"):
                _unbound(shell, name)
            return ""
        return value
    if op == "bad":
        assert part.arg is not None
        raise shell.discard(f"{part.arg.text}: bad substitution")
    if part.keys:
        return join(shell, [str(k) for k in table(shell, name)], part.index == "*")
    if part.prefix:
        return join(shell, [*sorted(n for n in shell.vars if n.startswith(name))], part.index == "*")
    if part.length:
        return _length(shell, part)
    if op == "@" and part.index in ("@", "*") and part.arg is not None and part.arg.text in "AK":
        return _whole_array(shell, part.arg.text, name)
    if (name == "*" or part.index == "*") and in_quotes and op not in ("-", ":-", "+", ":+", "=", ":=", "?", ":?"):
        values = list(shell.positional) if name == "*" else elements(shell, name)
        listed = _list_operation(shell, part, values, name, part.index)
        if listed is not None:
            return join(shell, listed, True)
    value = _is_set_value(shell, part)
    if op == "":
        if value is None:
            if shell.options.get("nounset"):
                _unbound(shell, _shown(part))
            return ""
        return value
    if op in ("-", ":-", "+", ":+"):
        use, current = _use_word(shell, part)
        if use:
            assert part.arg is not None
            return _operand(shell, part.arg, in_quotes)
        return current if op[-1] == "-" else ""
    if op in ("=", ":="):
        if value is None or (op == ":=" and shell.nonempty(value) is False):
            assert part.arg is not None
            value = _operand(shell, part.arg, in_quotes)
            index = string(shell, part.index) if isinstance(part.index, bash.Word) else None
            if not shell.assign(name, value, False, index):
                raise DiscardFlow
            return scalar(shell, name) or value if index is None else value
        return value
    if op in ("?", ":?"):
        if value is None or (op == ":?" and shell.nonempty(value) is False):
            assert part.arg is not None
            text = _operand(shell, part.arg, in_quotes)
            default = "parameter null or not set" if op == ":?" else "parameter not set"
            message = shell.complain(concat([f"{name}: ", text or default]))
            raise ExitFlow(_fatal_status(shell), shell.place(), message)
        return value
    if value is None:
        if shell.options.get("nounset"):
            _unbound(shell, _shown(part))
        if op == "@" and part.arg is not None and part.arg.text in "aA":
            return transform(shell, part.arg.text, "", name)
        return ""
    if op == "@":
        assert part.arg is not None
        return transform(shell, part.arg.text, value, name)
    if op == ":":
        return _substring(shell, part, value)
    return _modify(shell, part, value)


def _shown(part: bash.Param) -> str:
    if isinstance(part.index, bash.Word):
        return f"{part.name}[{part.index.text}]"
    return f"!{part.name}" if part.indirect else part.name


def _operand(shell: Shell, word: bash.Word, in_quotes: bool) -> Value:
    if in_quotes:
        return quoted(shell, word.parts)
    return string(shell, word)


def _length(shell: Shell, part: bash.Param) -> Value:
    if part.name in ("@", "*"):
        return str(len(shell.positional))
    if part.index in ("@", "*"):
        values = elements(shell, part.name)
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
    glob_text = pattern(shell, part.arg)
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
        return string(shell, word), False
    if not shell.shopt.get("patsub_replacement", True):
        return string(shell, word), False
    out: list[Value] = []
    for part in word.parts:
        value = _single(shell, part, False)
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


def change_case(value: Value, how: str) -> Value:
    """The effect of `declare -l` and `declare -u`."""
    return derive({"lower": str.lower, "upper": str.upper, "capital": str.capitalize}[how], value)


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
        return "" if var is None else attributes(var)
    if how == "A":
        return "" if var is None else derive(partial(_declared, name, attributes(var)), value)
    return value


def _whole_array(shell: Shell, how: str, name: str) -> Value:
    """`${a[@]@A}` and `${a[@]@K}`."""
    cells = table(shell, name)
    var = shell.get(name)
    texts = {key: shell.concrete(value) for key, value in cells.items()}
    if any(text is None for text in texts.values()):
        return hole(f"declaration of {name}")
    form = formatting.declare_form(name, attributes(var) if var is not None else "a", texts)  # type: ignore[arg-type]
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


def attributes(var: Variable) -> str:
    """The letters of `declare -p`."""
    letters = ""
    if var.kind == "array":
        letters += "a"
    if var.kind == "assoc":
        letters += "A"
    if var.integer:
        letters += "i"
    if var.case == "capital":
        letters += "c"
    if var.case == "lower":
        letters += "l"
    if var.nameref:
        letters += "n"
    if var.readonly:
        letters += "r"
    if var.case == "upper":
        letters += "u"
    if var.exported:
        letters += "x"
    return letters


# ----------------------------------------------------------------------------------------------------------- pathnames


def glob(shell: Shell, field: list[tuple[Value, bool]]) -> list[Value]:
    """Pathname expansion of one field against the known files; what only the machine knows stays a hole."""
    plain = concat([v for v, _ in field])
    escaped = concat([derive(quote_pattern, v) if q else v for v, q in field])
    text = shell.concrete(escaped)
    if text is None:
        return [plain]
    literal = text_of(plain)
    assert literal is not None
    if not _really_globs(text, shell.shopt.get("extglob", False)):
        return [re.sub(r"\\(.)", r"\1", text) if "\\" in text else literal]
    found = _find(shell, text)
    if found is None:
        return [hole(f"files matching {literal}")]
    if found:
        return [*found]
    if shell.shopt.get("failglob"):
        raise shell.discard(f"no match: {literal}")
    return [] if shell.shopt.get("nullglob") else [literal]


@lru_cache(maxsize=1024)
def _really_globs(text: str, extglob: bool = False) -> bool:
    bare = re.sub(r"\\.", "", text)
    return "*" in bare or "?" in bare or ("[" in bare and "]" in bare) or (extglob and re.search(r"[+@!]\(", bare) is not None)


def _find(shell: Shell, text: str) -> list[str] | None:
    """The paths that match a pattern, None if only the machine knows."""
    prefix = "/" if text.startswith("/") else ""
    where = shell.canonical(prefix or ".")
    assert where is not None
    results = [(prefix, where)]
    components = [c for c in text.split("/") if c]
    for number, component in enumerate(components):
        last = number == len(components) - 1
        only_directories = not last or text.endswith("/")
        following: list[tuple[str, str]] = []
        for shown, at in results:
            found = _matching(shell, component, at, only_directories)
            if found is None:
                return None
            following.extend((f"{shown}{name}{'' if last or not name else '/'}", path) for name, path in found)
        results = following
    shown_paths = sorted({shown for shown, _ in results if shown})
    return [f"{f}/" if not f.endswith("/") else f for f in shown_paths] if text.endswith("/") else shown_paths


def _matching(shell: Shell, component: str, at: str, only_directories: bool) -> list[tuple[str, str]] | None:
    """(name, canonical path) of what matches one component in a directory; '' is the directory itself (of `**`)."""
    extglob = shell.shopt.get("extglob", False)
    if not _really_globs(component, extglob):
        name = re.sub(r"\\(.)", r"\1", component)
        path = normal(f"{at.rstrip('/')}/{name}")
        kind = shell.kind_at(path)
        return [(name, path)] if kind == "dir" or (kind == "file" and not only_directories) or kind == "unknown" else []
    if component == "**" and shell.shopt.get("globstar"):
        return _below(shell, at, only_directories)
    names = _names(shell, at)
    if names is None:
        return None
    hidden = component.startswith(".") or shell.shopt.get("dotglob", False)
    ignore = shell.shopt.get("nocaseglob", False)
    found = [
        (name, f"{at.rstrip('/')}/{name}")
        for name in names
        if (hidden or not name.startswith(".")) and matches(component, name, extglob=extglob, ignore_case=ignore)
    ]
    return [f for f in found if shell.kind_at(f[1]) == "dir"] if only_directories else found


MAX_BELOW = 5_000


def _below(shell: Shell, at: str, only_directories: bool) -> list[tuple[str, str]] | None:
    """Everything below a directory, which itself counts as ''."""
    found: list[tuple[str, str]] = [("", at)]
    todo = [("", at)]
    while todo:
        shown, directory = todo.pop()
        names = _names(shell, directory)
        if names is None:
            return None
        for name in names:
            if name.startswith(".") and not shell.shopt.get("dotglob"):
                continue
            path = f"{directory.rstrip('/')}/{name}"
            below = f"{shown}/{name}" if shown else name
            is_directory = shell.kind_at(path) == "dir"
            if is_directory:
                todo.append((below, path))
            if is_directory or not only_directories:
                found.append((below, path))
        if len(found) > MAX_BELOW:
            return None
    return found


def _names(shell: Shell, directory: str) -> list[str] | None:
    """Names in a canonical directory, None if only the machine knows."""
    names: set[str] = set()
    inner = relative_to_workspace(directory)
    own = shell.files.own(directory)
    if inner is None and (own is None or own.kind != "dir"):
        return None
    if inner is not None and shell.files.base.is_dir(inner):
        names.update(shell.files.base.list_dir(inner))
    for where, _, entry in shell.files.entries:
        if where.startswith(directory.rstrip("/") + "/"):
            name = where[len(directory.rstrip("/")) + 1 :].partition("/")[0]
            direct = where == f"{directory.rstrip('/')}/{name}"
            if entry.kind in ("file", "dir"):
                names.add(name)
            elif entry.kind == "missing" and direct:
                names.discard(name)
    return sorted(names)


__all__ = ["StopFlow", "fields", "string"]

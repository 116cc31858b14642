"""The values of parameters and variables, and of those that the shell itself sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, cast

from botlint.documents import bash
from botlint.shell import arithmetic_values
from botlint.shell.files import NAMED, token_of
from botlint.shell.paths import WORKSPACE, WORKSPACE_VARIABLE
from botlint.shell.process import Variable
from botlint.shell.signals import Undecided
from botlint.shell.state import Recording
from botlint.shell.values import Hole, Text, Value, concat, derive, hole, reason_of, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


DEFAULT_IFS = " \t\n"
_SPECIAL = frozenset("?#@*$!-_0123456789")


def ifs_of(shell: Shell) -> str:
    """The current field separators."""
    var = shell.vars.get("IFS")
    if var is None or not isinstance(var.value, (str, Text)):
        return DEFAULT_IFS
    return text_of(var.value) or ""


def join(shell: Shell, values: list[Value], star: bool) -> Value:
    """Values in one text: `"$*"` joins with the first character of IFS, `$@` in a text context with a space."""
    separator = ifs_of(shell)[:1] if star and "IFS" in shell.vars else " "
    out: list[Value] = []
    for number, value in enumerate(values):
        if number:
            out.append(separator)
        out.append(value)
    return concat(out)


NUMBERS = frozenset({"process id", "job id", "SLURM_JOB_ID"})
"""Unknown texts that are decimal numbers."""


def is_number(value: Value) -> bool:
    return isinstance(value, Text) and all(isinstance(p, Hole) and p.reason in NUMBERS for p in value.pieces)


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
            cells = cast("dict[object, Value]", value)
            return cells.get(0) if var.kind == "array" else cells.get("0")
        return value
    if name[0] in _SPECIAL or name[0].isupper() or name in shell.vars:
        return special(shell, name)
    return None


def special(shell: Shell, name: str) -> Value | None:
    """Parameters that the shell itself sets."""
    if name.isdigit():
        number = int(name)
        if number == 0:
            return shell.shown_name
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
    if isinstance(shell.vars, Recording):
        shell.vars.names.add("?")
    return (
        hole(f"exit status ({shell.status.reason})", True) if isinstance(shell.status, Undecided) else str(shell.status)
    )


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
    named = shell.files.by_token(token_of(path))
    if named is not None:
        start: Value = named.path
        if not named.absolute:
            start = concat([path_value(shell, named.base), "/", start])
        elif isinstance(first := named.path.pieces[0], str) and first.startswith((WORKSPACE, NAMED)):
            start = concat(
                [path_value(shell, first.rstrip("/")), "/" if first.endswith("/") else "", Text(named.path.pieces[1:])]
            )
        return concat([start, path[len(named.token) :]])
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


_SPECIALS: dict[str, Callable[[Shell], Value | None]] = {
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


def cells_of(var: Variable | None) -> dict[int, Value]:
    """A copy of the elements of an indexed array; a plain variable is element 0."""
    if var is None or var.value is None:
        return {}
    return cast("dict[int, Value]", dict(var.value)) if isinstance(var.value, dict) else {0: var.value}


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
        return {k: hole(s.reason, True) if isinstance(s, Undecided) else str(s) for k, s in enumerate(shell.pipestatus)}
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
        kept = _array(shell, name)
        if kept:
            return kept
        own = special(shell, name) if name in _SPECIALS else None
        return {} if own is None else {0: own}
    value = var.value
    if value is None:
        return {}
    if isinstance(value, dict):
        if var.kind == "array":
            return dict(sorted(cast("dict[int, Value]", value).items()))
        return value
    return {0: value}


def element(shell: Shell, name: str, index: Value) -> Value | None:
    """One element, None if unset."""
    var = shell.get(name)
    if var is not None and var.kind == "assoc":
        key = shell.concrete(index)
        if key is None:
            return hole(f"element of {name}")
        return cast("dict[str, Value]", var.value).get(key) if isinstance(var.value, dict) else None
    number = arithmetic_values.index_number(shell, index)
    if number is None:
        return hole(f"element of {name}")
    cells = table(shell, name)
    if number < 0:
        number += max((k for k in cells if isinstance(k, int)), default=-1) + 1
    return cast("dict[int, Value]", cells).get(number)


def change_case(value: Value, how: str) -> Value:
    """The effect of `declare -l` and `declare -u`."""
    return derive({"lower": str.lower, "upper": str.upper, "capital": str.capitalize}[how], value)


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

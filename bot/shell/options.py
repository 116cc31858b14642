"""Options and arguments of the shell: `set`, `shopt`, `shift`, `getopts`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from botlint.shell import variables
from botlint.shell.signals import (
    Status,
    StopFlow,
)
from botlint.shell.values import Value

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


OPTIONS = {
    "a": "allexport",
    "e": "errexit",
    "f": "noglob",
    "u": "nounset",
    "x": "xtrace",
    "v": "verbose",
    "n": "noexec",
    "C": "noclobber",
    "m": "monitor",
    "h": "hashall",
    "E": "errtrace",
    "T": "functrace",
    "b": "notify",
    "B": "braceexpand",
    "p": "privileged",
    "H": "histexpand",
    "k": "keyword",
    "t": "onecmd",
    "P": "physical",
}


def set_options(shell: Shell, args: list[Value]) -> Status:
    """`set`."""
    at = 0
    while at < len(args):
        text = shell.concrete(args[at])
        if text is None or text == "" or text[0] not in "-+":
            break
        if text in ("--", "-"):
            at += 1
            if text == "--" or at < len(args):
                _set_arguments(shell, args[at:])
            return 0
        on = text[0] == "-"
        for letter in text[1:]:
            if letter == "o":
                at += 1
                if at >= len(args):
                    _print_options(shell, _LONG_OPTIONS, shell.options, "set" if not on else "")
                    return 0
                option = shell.concrete(args[at]) or ""
                if option not in _LONG_OPTIONS:
                    shell.complain(f"set: {option}: invalid option name")
                    return 2
                shell.options[option] = on
            elif letter in OPTIONS:
                shell.options[OPTIONS[letter]] = on
            else:
                shell.complain(f"set: {text}: invalid option")
                return 2
        shell.version += 1
        at += 1
    if at < len(args):
        _set_arguments(shell, args[at:])
    return 0


def _set_arguments(shell: Shell, values: list[Value]) -> None:
    shell.positional = list(values)
    shell.version += 1
    if shell.frames and not shell.frames[-1].function:
        shell.frames[-1].keeps_arguments = True


def _print_options(shell: Shell, names: Iterable[str], table: dict[str, bool], form: str) -> None:
    """Lists options: as a table, or as the `set` or `shopt` commands that bring them back."""
    for name in sorted(names):
        on = table.get(name, name in _OPTIONS_ON)
        if form == "set":
            shell.write(f"set {'-' if on else '+'}o {name}\n")
        elif form == "shopt":
            shell.write(f"shopt {'-s' if on else '-u'} {name}\n")
        else:
            shell.write(f"{name:<15}\t{'on' if on else 'off'}\n")


_LONG_OPTIONS = frozenset(
    [
        "allexport",
        "braceexpand",
        "emacs",
        "errexit",
        "errtrace",
        "functrace",
        "hashall",
        "histexpand",
        "history",
        "ignoreeof",
        "interactive-comments",
        "keyword",
        "monitor",
        "noclobber",
        "noexec",
        "noglob",
        "nolog",
        "notify",
        "nounset",
        "onecmd",
        "physical",
        "pipefail",
        "posix",
        "privileged",
        "verbose",
        "vi",
        "xtrace",
    ]
)


def shift(shell: Shell, args: list[Value]) -> Status:
    """`shift`."""
    count = 1
    if args:
        text = shell.concrete(args[0])
        if text is None:
            raise StopFlow("shift by an unknown number", shell.place())
        if not re.fullmatch(r"-?\d+", text):
            shell.complain(f"shift: {text}: numeric argument required")
            return 1
        count = int(text)
    if count < 0 or count > len(shell.positional):
        return 1
    shell.positional = shell.positional[count:]
    shell.version += 1
    return 0


def shopt(shell: Shell, args: list[Value]) -> Status:
    """`shopt`."""
    flags = ""
    names: list[str] = []
    for arg in args:
        text = shell.concrete(arg) or ""
        if text.startswith("-") and not names:
            flags += text[1:]
        else:
            names.append(text)
    table, known = (shell.options, _LONG_OPTIONS) if "o" in flags else (shell.shopt, _SHOPT)
    form = ("set" if "o" in flags else "shopt") if "p" in flags else ""
    if not names:
        _print_options(shell, known, table, form)
        return 0
    status: Status = 0
    for name in names:
        if name not in known:
            shell.complain(f"shopt: {name}: invalid shell option name")
            status = 1
        elif "s" in flags or "u" in flags:
            table[name] = "s" in flags
            shell.version += 1
        else:
            if not table.get(name, name in _OPTIONS_ON):
                status = 1
            if "q" not in flags:
                _print_options(shell, [name], table, form)
    return status


_OPTIONS_ON = frozenset(
    [
        "braceexpand",
        "hashall",
        "interactive-comments",
        "checkwinsize",
        "cmdhist",
        "complete_fullquote",
        "extquote",
        "force_fignore",
        "globasciiranges",
        "globskipdots",
        "hostcomplete",
        "interactive_comments",
        "patsub_replacement",
        "progcomp",
        "promptvars",
        "sourcepath",
    ]
)
"""Options that are on in a shell that runs a script."""
_SHOPT = frozenset(
    [
        "autocd",
        "assoc_expand_once",
        "cdable_vars",
        "cdspell",
        "checkhash",
        "checkjobs",
        "checkwinsize",
        "cmdhist",
        "compat31",
        "compat32",
        "compat40",
        "compat41",
        "compat42",
        "compat43",
        "compat44",
        "complete_fullquote",
        "direxpand",
        "dirspell",
        "dotglob",
        "execfail",
        "expand_aliases",
        "extdebug",
        "extglob",
        "extquote",
        "failglob",
        "force_fignore",
        "globasciiranges",
        "globskipdots",
        "globstar",
        "gnu_errfmt",
        "histappend",
        "histreedit",
        "histverify",
        "hostcomplete",
        "huponexit",
        "inherit_errexit",
        "interactive_comments",
        "lastpipe",
        "lithist",
        "localvar_inherit",
        "localvar_unset",
        "login_shell",
        "mailwarn",
        "no_empty_cmd_completion",
        "nocaseglob",
        "nocasematch",
        "noexpand_translation",
        "nullglob",
        "patsub_replacement",
        "progcomp",
        "progcomp_alias",
        "promptvars",
        "restricted_shell",
        "shift_verbose",
        "sourcepath",
        "varredir_close",
        "xpg_echo",
    ]
)


def getopts(shell: Shell, args: list[Value]) -> Status:
    """`getopts`."""
    spec = shell.concrete(args[0]) if args else None
    name = shell.concrete(args[1]) if len(args) > 1 else None
    if spec is None or name is None:
        return 2
    words = args[2:] if len(args) > 2 else list(shell.positional)
    index_text = shell.concrete(variables.variable_text(shell, "OPTIND")) or "1"
    index = int(index_text) if index_text.isdigit() else 1
    offset = shell.getopts_offset if shell.getopts_index == index else 1
    if index > len(words):
        shell.assign(name, "?")
        return 1
    word = shell.concrete(words[index - 1])
    if word is None:
        raise StopFlow("getopts over an unknown argument", shell.place())
    if offset == 1 and (not word.startswith("-") or word == "-" or word == "--"):
        shell.assign("OPTIND", str(index + 1 if word == "--" else index))
        shell.assign(name, "?")
        return 1
    letter = word[offset]
    silent = spec.startswith(":")
    place = spec.find(letter) if letter != ":" else -1
    more = offset + 1 < len(word)
    result, argument = letter, None
    if place < 0:
        result = "?"
        argument = letter if silent else None
        if not silent:
            shell.complain(f"illegal option -- {letter}")
    elif spec[place + 1 : place + 2] == ":":
        if more:
            argument = word[offset + 1 :]
            more = False
        elif index < len(words):
            index += 1
            value = words[index - 1]
            shell.assign("OPTARG", value)
            shell.assign("OPTIND", str(index + 1))
            shell.getopts_index, shell.getopts_offset = index + 1, 1
            shell.assign(name, letter)
            return 0
        else:
            result = ":" if silent else "?"
            argument = letter if silent else None
            if not silent:
                shell.complain(f"option requires an argument -- {letter}")
    if argument is None:
        shell.unset("OPTARG")
    else:
        shell.assign("OPTARG", argument)
    if more:
        shell.getopts_index, shell.getopts_offset = index, offset + 1
        shell.assign("OPTIND", str(index))
    else:
        shell.getopts_index, shell.getopts_offset = index + 1, 1
        shell.assign("OPTIND", str(index + 1))
    shell.assign(name, result)
    return 0

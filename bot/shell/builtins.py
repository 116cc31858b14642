"""The builtins of bash, as functions of the shell and the expanded arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

from botlint.shell import (
    arithmetic_values,
    conditions,
    declarations,
    formatting,
    jobs,
    options,
    reading,
    segments,
    variables,
)
from botlint.shell.files import NAMED
from botlint.shell.names import ELEMENT, NAME
from botlint.shell.process import Variable
from botlint.shell.signals import (
    BreakFlow,
    ContinueFlow,
    ExitFlow,
    ReturnFlow,
    Status,
    StopFlow,
    Undecided,
)
from botlint.shell.streams import Out
from botlint.shell.values import Text, Value, concat, derive, hole, later, text_of, undecided

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell
Builtin = Callable[["Shell", list[Value]], Status]


def _true(_: Shell, __: list[Value]) -> Status:
    return 0


def _false(_: Shell, __: list[Value]) -> Status:
    return 1


def _echo(shell: Shell, args: list[Value]) -> Status:
    newline, escapes = True, False
    at = 0
    while at < len(args):
        text = text_of(args[at]) if isinstance(args[at], str) else None
        if text is None or not re.fullmatch(r"-[neE]+", text):
            break
        for letter in text[1:]:
            if letter == "n":
                newline = False
            else:
                escapes = letter == "e"
        at += 1
    out: list[Value] = []
    for number, value in enumerate(args[at:]):
        if number:
            out.append(" ")
        out.append(value)
    text_value = concat(out)
    if escapes:
        stops = shell.observe(_echo_stops, text_value)
        text_value = derive(_echo_text, text_value)
        if stops:
            newline = False
    return 0 if shell.write(concat([text_value, "\n"]) if newline else text_value) else 1


def _echo_text(text: str) -> str:
    return formatting.echo_escapes(text)[0]


def _echo_stops(text: str) -> bool:
    return bool(formatting.echo_escapes(text)[1])


def _printf(shell: Shell, args: list[Value]) -> Status:
    target: Value | None = None
    if args and args[0] == "-v":
        if len(args) < 2:
            return 2
        target, args = args[1], args[2:]
    if args and args[0] == "--":
        args = args[1:]
    elif args and isinstance(args[0], str) and args[0].startswith("-") and len(args[0]) > 1:
        shell.complain(f"printf: {args[0][:2]}: invalid option")
        return 2
    if not args:
        shell.complain("printf: usage: printf [-v var] format [arguments]")
        return 2
    out = shell.fds.get(1)
    if target is None and _never_fails(args[0]) and not (isinstance(out, Out) and out.chunks is not None):
        # What goes to a file or nowhere is seldom read: it is formatted when somebody does.
        return 0 if shell.write(later(_printf_text, *args)) else 1
    value, status = format_values(shell, args)
    if target is None:
        return status if shell.write(value) else 1
    name = shell.concrete(target)
    if name is None:
        raise StopFlow("printf -v into an unknown name", shell.place())
    element = ELEMENT.fullmatch(name)
    if element:
        return status if shell.assign(element.group(1), value, False, element.group(2)) else 1
    if not NAME.fullmatch(name):
        shell.complain(f"printf: `{name}': not a valid identifier")
        return 2
    return status if shell.assign(name, value) else 1


_SIMPLE_FORMAT = re.compile(r"(%s|%%|\\n|\\t|\\\\)")


def _never_fails(template: Value) -> bool:
    """Whether a format has text conversions only, for which any argument will do."""
    return isinstance(template, str) and _TEXT_FORMAT.fullmatch(template) is not None


_TEXT_FORMAT = re.compile(r"(?:[^%]|%%|%-?\d*[sq])*")


def format_values(shell: Shell, args: list[Value]) -> tuple[Value, Status]:
    """`printf FORMAT ARGS`: text and status; plain `%s` keeps templates."""
    template = args[0]
    if isinstance(template, str) and all(isinstance(a, str) for a in args):
        printed = formatting.bash_printf(template, [text_of(a) or "" for a in args[1:]])
        return (printed.text, printed.status) if printed is not None else (hole("printf"), 0)
    if isinstance(template, str):
        pieces = _SIMPLE_FORMAT.split(template)
        if not any("%" in p or "\\" in p for p in pieces[::2]):
            return _format_plain(pieces, args[1:]), 0
        if _never_fails(template):
            return derive(_printf_text, *args), 0
    known = shell.observe(_printf_status, *args)
    if known is None:
        return hole("printf of " + (text_of(template) or "something unknown")[:40]), 0
    if known == -1:
        return hole("printf"), 0
    assert isinstance(known, int)
    return derive(_printf_text, *args), known


def _format_plain(pieces: list[str], args: list[Value]) -> Value:
    escapes = {"\\n": "\n", "\\t": "\t", "\\\\": "\\", "%%": "%"}
    out: list[Value] = []
    rest = list(args)
    uses = pieces.count("%s")
    while True:
        for piece in pieces:
            if piece == "%s":
                out.append(rest.pop(0) if rest else "")
            else:
                out.append(escapes.get(piece, piece))
        if not rest or not uses:
            return concat(out)


def _printf_status(template: str, *args: str) -> int:
    printed = formatting.bash_printf(template, list(args))
    return -1 if printed is None else printed.status


def _printf_text(template: str, *args: str) -> str:
    printed = formatting.bash_printf(template, list(args))
    return "" if printed is None else printed.text


def _cd(shell: Shell, args: list[Value]) -> Status:
    while args and isinstance(args[0], str) and re.fullmatch(r"-[PLe@]+|--", args[0]):
        args = args[1:]
    if len(args) > 1:
        shell.complain("cd: too many arguments")
        return 1
    target: Value = args[0] if args else variables.variable_text(shell, "HOME")
    printed = False
    if target == "-":
        target = variables.variable_text(shell, "OLDPWD")
        printed = True
    if target == "":
        return 0
    where, entry = shell.entry(target)
    if entry.kind in ("missing", "file"):
        problem = "Not a directory" if entry.kind == "file" else "No such file or directory"
        shell.complain(f"cd: {text_of(target) or where}: {problem}")
        return 1
    before = variables.path_value(shell, shell.context.cwd)
    if not where or where.startswith(NAMED):
        # A directory that is not the same for all jobs, or not known, has a name of its own.
        where = shell.place_of(target) or f"/unknown/{variables.hole_name(target)}"
    elif isinstance(target, Text):
        shell.pin(target)
    shell.version += 1
    shell.context = replace(shell.context, cwd=where)
    exported = (shell.vars.get("PWD") or Variable("", True)).exported
    shell.put("OLDPWD", Variable(before, exported, shell.place(), shell.guard))
    now = target if isinstance(target, str) and target.startswith("/") else variables.path_value(shell, where)
    if where.startswith("/unknown/"):
        now = target
    shell.put("PWD", Variable(now, exported, shell.place(), shell.guard))
    if printed:
        shell.write(concat([now, "\n"]))
    return 0


def _pwd(shell: Shell, _: list[Value]) -> Status:
    shell.write(concat([variables.variable_text(shell, "PWD"), "\n"]))
    return 0


def _pushd(shell: Shell, args: list[Value]) -> Status:
    stack = shell.vars.get("DIRSTACK")
    cells = variables.cells_of(stack)
    before = variables.variable_text(shell, "PWD")
    status = _cd(shell, args)
    if status == 0:
        shell.put("DIRSTACK", Variable({**cells, len(cells): before}, kind="array"))
        shell.write(concat([variables.variable_text(shell, "PWD"), " ", before, "\n"]))
    return status


def _popd(shell: Shell, _: list[Value]) -> Status:
    stack = shell.vars.get("DIRSTACK")
    cells = variables.cells_of(stack)
    if not cells:
        shell.complain("popd: directory stack empty")
        return 1
    target = cells.pop(max(cells))
    shell.put("DIRSTACK", Variable(cells, kind="array"))
    status = _cd(shell, [target])
    shell.write(concat([variables.variable_text(shell, "PWD"), "\n"]))
    return status


def _number(shell: Shell, args: list[Value], name: str) -> int | None:
    if not args:
        return None
    text = shell.concrete(args[0])
    if text is None:
        return None
    if not re.fullmatch(r"\s*[-+]?\d+\s*", text):
        shell.complain(f"{name}: {text}: numeric argument required")
        return -1
    return int(text)


def _exit(shell: Shell, args: list[Value]) -> Status:
    if args and text_of(args[0]) is None:
        raise ExitFlow(Undecided("exit status"), shell.place(), shell.message(), shell.failed_call)
    number = _number(shell, args, "exit")
    if number == -1 and not re.fullmatch(r"\s*[-+]?\d+\s*", text_of(args[0]) or ""):
        number = 2
    before = shell.status if shell.exit_status is None else shell.exit_status
    code: Status = before if number is None else number & 255
    raise ExitFlow(code, shell.place(), shell.message(), shell.failed_call)


def _return(shell: Shell, args: list[Value]) -> Status:
    if not shell.frames:
        shell.complain("return: can only `return' from a function or sourced script")
        return 2
    if args and text_of(args[0]) is None:
        raise ReturnFlow(Undecided("return status"))
    number = _number(shell, args, "return")
    if number == -1 and not re.fullmatch(r"\s*[-+]?\d+\s*", text_of(args[0]) or ""):
        number = 2
    raise ReturnFlow(shell.status if number is None else number & 255)


def _break(shell: Shell, args: list[Value]) -> Status:
    if shell.loops == 0:
        return 0
    number = _levels(shell, args, "break")
    raise BreakFlow(number) if number > 0 else BreakFlow(shell.loops, 1)


def _levels(shell: Shell, args: list[Value], name: str) -> int:
    number = _number(shell, args, name)
    if number is not None and number < 1:
        shell.complain(f"{name}: {number}: loop count out of range")
    return 1 if number is None else number


def _continue(shell: Shell, args: list[Value]) -> Status:
    if shell.loops == 0:
        return 0
    number = _levels(shell, args, "continue")
    raise ContinueFlow(number) if number > 0 else BreakFlow(shell.loops, 1)


def _eval(shell: Shell, args: list[Value]) -> Status:
    text = concat(variables.spaced(args))
    place = shell.place()
    if isinstance(text, Text) and not text.known and len(text.pieces) == 1:
        shell.note_unknown(text)
        shell.lose("eval of an unknown text")
        return Undecided("eval of an unknown text")
    return shell.run_text(text, place)


def _source(shell: Shell, args: list[Value]) -> Status:
    if not args:
        shell.complain("source: filename argument required")
        return 2
    path = args[0]
    script, shown = shell.sourced(path)
    if script is None:
        text = text_of(path) or shown
        if shown == "unknown":
            shell.note_unknown(path)
            return Undecided(f"source of {text or 'an unknown file'}")
        shell.complain(f"{text}: No such file or directory")
        return 1

    def read() -> Status:
        frame = shell.enter_source(script, path, args[1:])
        try:
            status = shell.run_lines(script)
        except ReturnFlow as flow:
            shell.status = status = flow.status
        finally:
            shell.leave_source(frame, bool(args[1:]))
        if "RETURN" in shell.traps:
            shell.run_trap("RETURN")
        return status

    if args[1:] or shell.positional or not (isinstance(path, str) or path.known) or undecided(path):
        return read()
    shell.source_names[script.source.path] = path
    return segments.run(shell, id(script), [path], read)


def _exec(shell: Shell, args: list[Value]) -> Status:
    overlay: dict[str, Variable] = {}
    while args and isinstance(args[0], str) and args[0] in ("-c", "-l", "-cl", "-a", "--"):
        if args[0].startswith("-c"):
            overlay = {name: Variable(None, True) for name in shell.environment()}
        args = args[2:] if args[0] == "-a" else args[1:]
    if not args:
        return 0
    place = shell.place()
    name = args[0]
    shown = name if isinstance(name, str) else shell.command_text(name)
    status = shell.external(shown, args, overlay)
    shell.traps.pop("EXIT", None)
    raise ExitFlow(status, place, shell.message(), shell.failed_call)


def _command(shell: Shell, args: list[Value]) -> Status:
    verbose = ""
    while args and isinstance(args[0], str) and re.fullmatch(r"-[pvV]+|--", args[0]):
        verbose += args[0].strip("-p")
        args = args[1:]
    if not args:
        return 0
    if verbose:
        status: Status = 0
        for arg in args:
            status = _find_command(shell, arg, "v" in verbose)
        return status
    name = shell.concrete(args[0]) or ""
    builtin = BUILTINS.get(name)
    if builtin is not None:
        return builtin(shell, args[1:])
    return shell.external(name, args, {})


def _find_command(shell: Shell, arg: Value, short: bool) -> Status:
    name = shell.concrete(arg)
    if name is None:
        return Undecided("command -v of an unknown name")
    for kind, names in (("a shell keyword", _KEYWORDS), ("a function", shell.functions), ("a shell builtin", BUILTINS)):
        if name in names:
            shell.write(f"{name}\n" if short else f"{name} is {kind}\n")
            return 0
    return _print_program(shell, name, "" if short else f"{name} is ", "" if short else "command")


def _print_program(shell: Shell, name: str, before: str, complainer: str) -> Status:
    """Prints where a programme lies, if it is installed."""
    known, path = shell.find_program(name)
    if known is False:
        if complainer:
            shell.complain(f"{complainer}: {name}: not found")
        return 1
    shell.write(concat([before, path, "\n"]))
    return 0 if known else Undecided(f"whether {name} is installed")


def _builtin(shell: Shell, args: list[Value]) -> Status:
    if not args:
        return 0
    name = shell.concrete(args[0]) or ""
    function = BUILTINS.get(name)
    if function is None:
        shell.complain(f"builtin: {name}: not a shell builtin")
        return 1
    return function(shell, args[1:])


_KEYWORDS = frozenset(
    [
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "case",
        "esac",
        "for",
        "select",
        "while",
        "until",
        "do",
        "done",
        "in",
        "function",
        "time",
        "{",
        "}",
        "!",
        "[[",
        "]]",
        "coproc",
    ]
)


def _type(shell: Shell, args: list[Value]) -> Status:
    flags = ""
    status: Status = 0
    while args and isinstance(args[0], str) and re.fullmatch(r"-[aftpP]+", args[0]):
        flags += args[0][1:]
        args = args[1:]
    for arg in args:
        one = _type_one(shell, shell.concrete(arg) or "", flags)
        status = one if one != 0 else status
    return status


def _type_one(shell: Shell, name: str, flags: str) -> Status:
    if "P" not in flags:
        for kind, shown, names in (
            ("keyword", "a shell keyword", _KEYWORDS),
            ("function", "a function", {} if "f" in flags else shell.functions),
            ("builtin", "a shell builtin", BUILTINS),
        ):
            if name in names:
                if "p" not in flags:
                    shell.write(f"{kind}\n" if "t" in flags else f"{name} is {shown}\n")
                return 0
    if "t" not in flags:
        quiet = "p" in flags or "P" in flags
        return _print_program(shell, name, "" if quiet else f"{name} is ", "" if quiet else "type")
    known, _ = shell.find_program(name)
    if known is False:
        return 1
    shell.write("file\n" if known else hole(f"type of {name}"))
    return 0 if known else Undecided(f"whether {name} is installed")


def _let(shell: Shell, args: list[Value]) -> Status:
    truth: bool | None = False
    try:
        for arg in args:
            value = arithmetic_values.evaluate_plain(shell, arg)
            truth = arithmetic_values.truth(shell, value)
    except arithmetic_values.ArithmeticProblem as problem:
        shell.complain(f"let: {problem}")
        return 1
    return Undecided("let") if truth is None else int(not truth)


def _test(shell: Shell, args: list[Value]) -> Status:
    outcome = conditions.test_command(shell, args, "test")
    return Undecided(_joined("test", args)) if outcome is None else outcome


def _bracket(shell: Shell, args: list[Value]) -> Status:
    if not args or args[-1] != "]":
        shell.complain("[: missing `]'")
        return 2
    outcome = conditions.test_command(shell, args[:-1], "[")
    return Undecided(_joined("[", args)) if outcome is None else outcome


def _joined(name: str, args: list[Value]) -> str:
    return " ".join([name, *[text_of(a) or "?" for a in args]])[:120]


def _hash(shell: Shell, args: list[Value]) -> Status:
    status: Status = 0
    for arg in args:
        name = shell.concrete(arg)
        if name is None or name.startswith("-") or name in BUILTINS or name in shell.functions:
            continue
        known, _ = shell.find_program(name)
        if known is None:
            status = Undecided(f"whether {name} is installed")
        elif not known:
            shell.complain(f"hash: {name}: not found")
            status = 1
    return status


def _alias(shell: Shell, args: list[Value]) -> Status:
    status: Status = 0
    for arg in args or [*sorted(shell.aliases)]:
        text = shell.concrete(arg) or ""
        name, equals, value = text.partition("=")
        if text == "-p":
            continue
        if equals:
            shell.aliases[name] = value
        elif name in shell.aliases:
            shell.write(f"alias {name}={formatting.single_quote(shell.aliases[name])}\n")
        else:
            shell.complain(f"alias: {name}: not found")
            status = 1
    return status


def _unalias(shell: Shell, args: list[Value]) -> Status:
    status: Status = 0
    for arg in args:
        text = shell.concrete(arg) or ""
        if text == "-a":
            shell.aliases.clear()
        elif shell.aliases.pop(text, None) is None:
            shell.complain(f"unalias: {text}: not found")
            status = 1
    return status


def _caller(shell: Shell, args: list[Value]) -> Status:
    text = shell.concrete(args[0]) if args else None
    number = int(text) if text is not None and text.isdigit() else 0
    frames = list(reversed(shell.frames))
    if number >= len(frames):
        if args:
            return 1
        shell.write("0 NULL\n")
        return 0
    line = frames[number].call.line
    outer = frames[number + 1] if number + 1 < len(frames) else None
    path: Value = shell.name if outer is None else shell.shown_path(outer.source.path)
    name = "main" if outer is None else outer.name
    shell.write(concat([f"{line} {name} " if args else f"{line} ", path, "\n"]))
    return 0


def _umask(shell: Shell, args: list[Value]) -> Status:
    symbolic = bool(args) and args[0] == "-S"
    rest = args[1:] if symbolic or (args and args[0] == "-p") else args
    if rest:
        text = shell.concrete(rest[0]) or ""
        if re.fullmatch(r"[0-7]{1,4}", text):
            shell.umask = int(text, 8)
            return 0
        return Undecided("umask")
    if shell.umask is None:
        shell.write(concat([hole("umask", True), "\n"]))
    elif symbolic:
        modes = [7 & ~(shell.umask >> shift) for shift in (6, 3, 0)]
        shown = ["".join(c for c, bit in (("r", 4), ("w", 2), ("x", 1)) if mode & bit) for mode in modes]
        shell.write(f"u={shown[0]},g={shown[1]},o={shown[2]}\n")
    else:
        shell.write(f"{shell.umask:04o}\n")
    return 0


def _compgen(shell: Shell, args: list[Value]) -> Status:
    """`compgen -v|-e|-A function|... PREFIX`: the names that the shell itself knows."""
    kinds = {
        "-v": "variable",
        "-b": "builtin",
        "-k": "keyword",
        "-e": "export",
        "-A": shell.concrete(args[1]) if len(args) > 1 else "",
    }
    option = args[0] if args and isinstance(args[0], str) else ""
    kind = kinds.get(option)
    names: Iterable[str]
    if kind in ("variable", "export"):
        names = [n for n, v in shell.vars.items() if kind == "variable" or v.exported]
    elif kind == "function":
        names = shell.functions
    elif kind in ("builtin", "keyword"):
        names = [*BUILTINS] if kind == "builtin" else _KEYWORDS
    else:
        shell.write(hole("compgen"))
        return Undecided("compgen finds something")
    rest = args[2:] if option == "-A" else args[1:]
    prefix = (shell.concrete(rest[0]) or "") if rest else ""
    found = sorted(n for n in names if n.startswith(prefix))
    shell.write("".join(f"{n}\n" for n in found))
    return 0 if found else 1


def _help(shell: Shell, args: list[Value]) -> Status:
    known = all(a in BUILTINS or a in _KEYWORDS for a in args if isinstance(a, str))
    if known:
        shell.write(hole("help"))
    return 0 if known else 1


BUILTINS: dict[str, Builtin] = {
    ":": _true,
    "true": _true,
    "false": _false,
    "echo": _echo,
    "printf": _printf,
    "cd": _cd,
    "pwd": _pwd,
    "pushd": _pushd,
    "popd": _popd,
    "dirs": _true,
    "export": declarations.declare_plain("export"),
    "local": declarations.declare_plain("local"),
    "declare": declarations.declare_plain("declare"),
    "typeset": declarations.declare_plain("typeset"),
    "readonly": declarations.declare_plain("readonly"),
    "unset": declarations.unset,
    "set": options.set_options,
    "shift": options.shift,
    "shopt": options.shopt,
    "getopts": options.getopts,
    "exit": _exit,
    "return": _return,
    "break": _break,
    "continue": _continue,
    "eval": _eval,
    "source": _source,
    ".": _source,
    "exec": _exec,
    "command": _command,
    "builtin": _builtin,
    "type": _type,
    "let": _let,
    "test": _test,
    "[": _bracket,
    "read": reading.read,
    "mapfile": reading.mapfile,
    "readarray": reading.mapfile,
    "trap": jobs.trap,
    "wait": jobs.wait,
    "kill": jobs.kill,
    "hash": _hash,
    "umask": _umask,
    "help": _help,
    "compgen": _compgen,
    "ulimit": _true,
    "times": _true,
    "alias": _alias,
    "unalias": _unalias,
    "enable": _true,
    "disown": jobs.disown,
    "jobs": jobs.jobs,
    "bg": _true,
    "fg": _true,
    "history": _true,
    "suspend": _true,
    "logout": _exit,
    "caller": _caller,
    "complete": _true,
    "bind": _true,
}

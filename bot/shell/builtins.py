"""The builtins of bash, as functions of the shell and the expanded arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from botlint.documents import bash
from botlint.shell import arithmetic_values, conditions, expansion, formatting
from botlint.shell.paths import canonical
from botlint.shell.process import Place, Variable
from botlint.shell.signals import (
    BreakFlow,
    ContinueFlow,
    ExitFlow,
    ReturnFlow,
    Status,
    StopFlow,
    Undecided,
)
from botlint.shell.streams import In
from botlint.shell.values import Text, Value, concat, derive, hole, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

Builtin = Callable[["Shell", list[Value]], Status]

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
_NAME = re.compile(r"[A-Za-z_]\w*")
_ELEMENT = re.compile(r"([A-Za-z_]\w*)\[(.*)\]", re.S)


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
    shell.write(concat([text_value, "\n"]) if newline else text_value)
    return 0


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
    if not args:
        shell.complain("printf: usage: printf [-v var] format [arguments]")
        return 2
    value, status = format_values(shell, args)
    if target is None:
        shell.write(value)
        return status
    name = shell.concrete(target)
    if name is None:
        raise StopFlow("printf -v into an unknown name", shell.place())
    element = _ELEMENT.fullmatch(name)
    if element:
        return status if shell.assign(element.group(1), value, False, element.group(2)) else 1
    return status if shell.assign(name, value) else 1


_SIMPLE_FORMAT = re.compile(r"(%s|%%|\\n|\\t|\\\\)")


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
    args = [a for a in args if a not in ("-P", "-L", "--")]
    target: Value = args[0] if args else expansion.variable_text(shell, "HOME")
    printed = False
    if target == "-":
        target = expansion.variable_text(shell, "OLDPWD")
        printed = True
    if target == "":
        return 0
    where, entry = shell.entry(target)
    if entry.kind in ("missing", "file"):
        shell.complain(f"cd: {text_of(target) or where}: No such file or directory")
        return 1
    before = expansion.path_value(shell, shell.context.cwd)
    if not where:
        # An unknown directory: give it a name of its own, so that relative paths in it are unknown too.
        where = f"/unknown/{expansion.hole_name(target)}"
    shell.version += 1
    shell.context = replace(shell.context, cwd=where)
    exported = (shell.vars.get("PWD") or Variable("", True)).exported
    shell.put("OLDPWD", Variable(before, exported, shell.place(), shell.guard))
    now = target if isinstance(target, str) and target.startswith("/") else expansion.path_value(shell, where)
    if where.startswith("/unknown/"):
        now = target
    shell.put("PWD", Variable(now, exported, shell.place(), shell.guard))
    if printed:
        shell.write(concat([now, "\n"]))
    return 0


def _pwd(shell: Shell, _: list[Value]) -> Status:
    shell.write(concat([expansion.variable_text(shell, "PWD"), "\n"]))
    return 0


def _pushd(shell: Shell, args: list[Value]) -> Status:
    stack = shell.vars.get("DIRSTACK")
    cells = dict(stack.value) if stack is not None and isinstance(stack.value, dict) else {}
    before = expansion.variable_text(shell, "PWD")
    status = _cd(shell, args)
    if status == 0:
        shell.put("DIRSTACK", Variable({**cells, len(cells): before}, kind="array"))
        shell.write(concat([expansion.variable_text(shell, "PWD"), " ", before, "\n"]))
    return status


def _popd(shell: Shell, _: list[Value]) -> Status:
    stack = shell.vars.get("DIRSTACK")
    cells: dict[int, Value] = dict(stack.value) if stack is not None and isinstance(stack.value, dict) else {}  # type: ignore[arg-type]
    if not cells:
        shell.complain("popd: directory stack empty")
        return 1
    target = cells.pop(max(cells))
    shell.put("DIRSTACK", Variable(cells, kind="array"))
    status = _cd(shell, [target])
    shell.write(concat([expansion.variable_text(shell, "PWD"), "\n"]))
    return status


# ------------------------------------------------------------------------------------------------------- declarations


@dataclass(slots=True)
class Declared:
    """An assignment word of a declaration: its value is expanded before the builtin runs, an array's when it is assigned."""

    assign: bash.Assign
    value: Value | None


def declare(shell: Shell, words: Sequence[Value | Declared]) -> Status:
    """`declare`, `local`, `export`, `readonly`, `typeset` with assignment words already read."""
    command = words[0]
    rest = list(words[1:])
    if command in ("builtin", "command") and rest:
        command, rest = rest[0], rest[1:]
    assert isinstance(command, str)
    flags: set[str] = set()
    off: set[str] = set()
    items: list[Value | Declared] = []
    seen_end = False
    for word in rest:
        text = word if isinstance(word, str) else None
        if text is not None and not seen_end and not items and re.fullmatch(r"[-+][A-Za-z]+", text):
            (flags if text[0] == "-" else off).update(text[1:])
        elif text == "--" and not items:
            seen_end = True
        else:
            items.append(word)
    if command == "export":
        if "n" in flags:
            off.add("x")
            flags.discard("n")
        elif "f" in flags:
            return 0
        else:
            flags.add("x")
    elif command == "readonly":
        flags.add("r")
    if command == "local" and not any(f.function for f in shell.frames):
        shell.complain("local: can only be used in a function")
        return 1
    if "p" in flags or (not items and command != "local"):
        return _declare_print(shell, command, flags, items)
    if ("f" in flags or "F" in flags) and command != "export":
        return _declare_functions(shell, flags, items)
    status: Status = 0
    local = command in ("local", "declare", "typeset") and any(f.function for f in shell.frames) and "g" not in flags
    for item in items:
        if not _declare_one(shell, command, item, flags, off, local):
            status = 1
    return status


def _declare_one(
    shell: Shell, command: str, item: Value | Declared, flags: set[str], off: set[str], local: bool
) -> bool:
    assign: bash.Assign | None = None
    value: Value | None = None
    append = False
    if isinstance(item, Declared):
        assign = item.assign
        name, append, value = assign.name, assign.append, item.value
    else:
        text = shell.concrete(item)
        if text is None:
            raise StopFlow(f"{command} of an unknown name", shell.place())
        name, equals, right = text.partition("=")
        if equals:
            value = right
            if name.endswith("+"):
                name, append = name[:-1], True
    element = _ELEMENT.fullmatch(name)
    base = element.group(1) if element else name
    if not _NAME.fullmatch(base):
        shell.complain(f"{command}: `{name}': not a valid identifier")
        return False
    if "n" not in flags and not local:
        base = shell.target(base)
    old = shell.vars.get(base)
    if local:
        shadowed = any(base in f.saved for f in shell.frames[-1:] if f.function)
        if old is not None and old.readonly and not shadowed:
            shell.complain(f"{command}: {base}: readonly variable")
            return False
        fresh = not any(base in f.saved for f in _innermost(shell))
        shell.declare_local(base)
        if fresh:
            keep_export = old is not None and old.exported and False
            old = Variable(None, local=True, exported=keep_export or bool(old and old.exported and shell.options.get("allexport")))
            if "I" not in flags:
                shell.put(base, old)
    if old is None:
        old = Variable(None)
    if old.readonly and (value is not None or (assign is not None and assign.array is not None) or "r" in off):
        shell.complain(f"{command}: {base}: readonly variable" if command != "readonly" else f"{base}: readonly variable")
        return False
    new = _with_flags(shell, old, flags, off)
    global_scope = "g" in flags and any(base in f.saved for f in shell.frames)
    shadow: Variable | None = None
    if global_scope:
        shadow = shell.vars.get(base)
        outermost = next(f for f in shell.frames if base in f.saved)
        new = _with_flags(shell, outermost.saved[base] or Variable(None), flags, off)
    shell.put(base, replace(new, readonly=False))
    if assign is not None and assign.array is not None:
        if new.kind == "":
            shell.put(base, replace(new, kind="array", readonly=False))
        if not shell.assign_array(base, assign.array, append):
            return False
    elif value is not None:
        index: Value | None = element.group(2) if element else None
        if assign is not None and assign.index is not None:
            index = expansion.string(shell, assign.index)
        if new.nameref:
            shell.put(base, replace(new, value=value, readonly=False, place=shell.place(), guard=shell.guard))
        elif not shell.assign(base, value, append, index):
            return False
    done = shell.vars[base]
    if new.readonly:
        done = replace(done, readonly=True)
    if done.place is None or "x" in flags:
        done = replace(done, place=done.place or shell.place(), guard=done.guard or shell.guard)
    shell.put(base, done)
    if global_scope:
        outermost = next(f for f in shell.frames if base in f.saved)
        outermost.saved[base] = shell.vars[base]
        assert shadow is not None or True
        if shadow is not None:
            shell.put(base, shadow)
        else:
            shell.unset(base)
    return True


def _innermost(shell: Shell) -> list[object]:
    for frame in reversed(shell.frames):
        if frame.function:
            return [frame]
    return []


def _with_flags(shell: Shell, var: Variable, flags: set[str], off: set[str]) -> Variable:
    kind: Literal["", "array", "assoc"] = var.kind
    value = var.value
    if "A" in flags:
        kind = "assoc"
        if not isinstance(value, dict):
            value = {} if value is None else {"0": value}
    elif "a" in flags and kind == "":
        kind = "array"
        if not isinstance(value, dict):
            value = {} if value is None else {0: value}
    if kind and value is None:
        value = {}
    exported = (var.exported or "x" in flags) and "x" not in off
    case: Literal["", "lower", "upper"] = var.case
    if "l" in flags:
        case = "lower"
    if "u" in flags:
        case = "upper"
    if ("l" in off and case == "lower") or ("u" in off and case == "upper"):
        case = ""
    place = var.place
    if "x" in flags and not var.exported and place is None:
        place = shell.place()
    return replace(
        var,
        value=value,
        kind=kind,
        exported=exported,
        integer=(var.integer or "i" in flags) and "i" not in off,
        case=case,
        readonly=var.readonly or "r" in flags,
        nameref=(var.nameref or "n" in flags) and "n" not in off,
        place=place,
    )


def _declare_print(shell: Shell, command: str, flags: set[str], items: list[Value | Declared]) -> Status:
    status: Status = 0
    names: list[str] = []
    for item in items:
        if isinstance(item, Declared):
            continue
        name = shell.concrete(item)
        if name is None:
            continue
        if "f" in flags or "F" in flags:
            if name not in shell.functions:
                status = 1
            continue
        if name not in shell.vars:
            shell.complain(f"{command}: {name}: not found")
            status = 1
            continue
        names.append(name)
    if not items:
        names = sorted(
            n for n, v in shell.vars.items()
            if ("x" not in flags or v.exported) and ("r" not in flags or v.readonly)
        )  # fmt: skip
        if command in ("declare", "typeset") and not flags:
            return 0
    for name in names:
        shell.write(_declaration_text(shell, name))
    return status


def _declaration_text(shell: Shell, name: str) -> Value:
    var = shell.vars[name]
    letters = expansion.attributes(var)
    value = var.value
    if isinstance(value, dict):
        texts = {}
        for key, item in value.items():
            text = shell.concrete(item)
            if text is None:
                return hole(f"declaration of {name}")
            texts[key] = text
        return formatting.declare_form(name, letters, texts) + "\n"  # type: ignore[arg-type]
    if value is None:
        return formatting.declare_form(name, letters, None) + "\n"
    return derive(partial(_declare_line, name, letters), value)


def _declare_line(name: str, letters: str, text: str) -> str:
    return formatting.declare_form(name, letters, text) + "\n"


def _declare_functions(shell: Shell, flags: set[str], items: list[Value | Declared]) -> Status:
    status: Status = 0
    for item in items:
        name = shell.concrete(item) if not isinstance(item, Declared) else item.assign.name
        if name not in shell.functions:
            status = 1
        elif "F" in flags:
            shell.write(f"{name}\n")
    return status


def _declare_plain(command: str) -> Builtin:
    def run(shell: Shell, args: list[Value]) -> Status:
        return declare(shell, [command, *args])

    return run


def _unset(shell: Shell, args: list[Value]) -> Status:
    functions_only = variables_only = namerefs = False
    status: Status = 0
    for arg in args:
        text = shell.concrete(arg)
        if text is None:
            raise StopFlow("unset of an unknown name", shell.place())
        if text in ("-f", "-v", "-n", "--"):
            functions_only = functions_only or text == "-f"
            variables_only = variables_only or text == "-v"
            namerefs = namerefs or text == "-n"
            continue
        if functions_only:
            shell.version += 1
            shell.functions.pop(text, None)
            continue
        element = _ELEMENT.fullmatch(text)
        if element:
            _unset_element(shell, element.group(1), element.group(2))
            continue
        if not _NAME.fullmatch(text):
            shell.complain(f"unset: `{text}': not a valid identifier")
            status = 1
            continue
        name = text if namerefs else shell.target(text)
        var = shell.vars.get(name)
        if var is None:
            if not variables_only and name in shell.functions:
                del shell.functions[name]
            continue
        if var.readonly:
            shell.complain(f"unset: {name}: cannot unset: readonly variable")
            status = 1
            continue
        shell.get(name)
        shell.unset(name)
        for frame in reversed(shell.frames):
            if frame.function and name in frame.saved:
                if frame is not _innermost(shell)[0]:
                    # Unsetting a caller's local uncovers the variable that it hid.
                    uncovered = frame.saved.pop(name)
                    if uncovered is not None:
                        shell.put(name, uncovered)
                break
    return status


def _unset_element(shell: Shell, name: str, index: str) -> None:
    name = shell.target(name)
    var = shell.vars.get(name)
    if var is None or not isinstance(var.value, dict):
        return
    if index in ("@", "*"):
        shell.put(name, replace(var, value={}))
        return
    if var.kind == "assoc":
        table = {k: v for k, v in var.value.items() if k != index.strip("'\"")}
        shell.put(name, replace(var, value=table))  # type: ignore[arg-type]
        return
    number = arithmetic_values.index_number(shell, index)
    if number is not None and number < 0:
        number += max((k for k in var.value if isinstance(k, int)), default=-1) + 1
    cells = {k: v for k, v in var.value.items() if k != number}
    shell.put(name, replace(var, value=cells))  # type: ignore[arg-type]


# ------------------------------------------------------------------------------------------------- options, arguments


def _set(shell: Shell, args: list[Value]) -> Status:
    at = 0
    while at < len(args):
        text = shell.concrete(args[at])
        if text is None or text == "" or text[0] not in "-+":
            break
        if text in ("--", "-"):
            at += 1
            if text == "--" or at < len(args):
                shell.positional = list(args[at:])
                shell.version += 1
            return 0
        on = text[0] == "-"
        for letter in text[1:]:
            if letter == "o":
                at += 1
                if at >= len(args):
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
        shell.positional = list(args[at:])
        shell.version += 1
    return 0


_LONG_OPTIONS = frozenset([*OPTIONS.values(), "pipefail", "posix", "vi", "emacs", "history", "ignoreeof", "nolog", "interactive-comments"])


def _shift(shell: Shell, args: list[Value]) -> Status:
    count = 1
    if args:
        text = shell.concrete(args[0])
        if text is None:
            raise StopFlow("shift by an unknown number", shell.place())
        if not re.fullmatch(r"-?\d+", text):
            shell.complain(f"shift: {text}: numeric argument required")
            raise ExitFlow(1, shell.place(), shell.message())
        count = int(text)
    if count < 0 or count > len(shell.positional):
        return 1
    shell.positional = shell.positional[count:]
    shell.version += 1
    return 0


def _shopt(shell: Shell, args: list[Value]) -> Status:
    flags = ""
    names: list[str] = []
    for arg in args:
        text = shell.concrete(arg) or ""
        if text.startswith("-"):
            flags += text[1:]
        else:
            names.append(text)
    status: Status = 0
    for name in names:
        table = shell.options if "o" in flags else shell.shopt
        if "s" in flags:
            table[name] = True
            shell.version += 1
        elif "u" in flags:
            table[name] = False
            shell.version += 1
        else:
            on = table.get(name, name in _SHOPT_ON)
            if not on:
                status = 1
            if "q" not in flags:
                shell.write(f"{name:<15}\t{'on' if on else 'off'}\n")
    return status


_SHOPT_ON = frozenset(
    "checkwinsize cmdhist complete_fullquote extquote force_fignore globasciiranges globskipdots hostcomplete "
    "interactive_comments patsub_replacement progcomp promptvars sourcepath".split()
)


def _getopts(shell: Shell, args: list[Value]) -> Status:
    spec = shell.concrete(args[0]) if args else None
    name = shell.concrete(args[1]) if len(args) > 1 else None
    if spec is None or name is None:
        return 2
    words = args[2:] if len(args) > 2 else list(shell.positional)
    index_text = shell.concrete(expansion.variable_text(shell, "OPTIND")) or "1"
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


# ---------------------------------------------------------------------------------------------------------------- flow


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
    code: Status = shell.status if number is None else number & 255
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
    number = _number(shell, args, "break")
    raise BreakFlow(1 if number is None else max(number, 1))


def _continue(shell: Shell, args: list[Value]) -> Status:
    if shell.loops == 0:
        return 0
    number = _number(shell, args, "continue")
    raise ContinueFlow(1 if number is None else max(number, 1))


def _eval(shell: Shell, args: list[Value]) -> Status:
    text = concat(expansion.spaced(args))
    place = shell.place()
    if isinstance(text, Text) and text.text is None and len(text.pieces) == 1:
        shell.note_unknown(text)
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
    frame = shell.enter_source(script, path, args[1:])
    try:
        status: Status = 0
        for statement in script:
            status = shell.execute(statement)
    except ReturnFlow as flow:
        status = flow.status
    finally:
        shell.leave_source(frame, bool(args[1:]))
    return status


def _exec(shell: Shell, args: list[Value]) -> Status:
    while args and isinstance(args[0], str) and args[0] in ("-c", "-l", "--"):
        args = args[1:]
    if args and args[0] == "-a":
        args = args[2:]
    if not args:
        return 0
    place = shell.place()
    name = args[0]
    shown = name if isinstance(name, str) else shell.command_text(name)
    status = shell.external(shown, args, {})
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
    if name in shell.functions:
        shell.write(f"{name}\n" if short else f"{name} is a function\n")
        return 0
    if name in BUILTINS:
        shell.write(f"{name}\n" if short else f"{name} is a shell builtin\n")
        return 0
    known = shell.world.has_command(name)
    if known is False:
        if not short:
            shell.complain(f"{name}: not found")
        return 1
    shell.write(concat([hole(f"path of {name}", True), "\n"]))
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


_KEYWORDS = frozenset("if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc".split())


def _type(shell: Shell, args: list[Value]) -> Status:
    flags = ""
    status: Status = 0
    while args and isinstance(args[0], str) and re.fullmatch(r"-[aftpP]+", args[0]):
        flags += args[0][1:]
        args = args[1:]
    for arg in args:
        name = shell.concrete(arg) or ""
        if name in _KEYWORDS:
            shell.write("keyword\n" if "t" in flags else f"{name} is a shell keyword\n")
        elif name in shell.functions:
            shell.write("function\n" if "t" in flags else f"{name} is a function\n")
        elif name in BUILTINS:
            shell.write("builtin\n" if "t" in flags else f"{name} is a shell builtin\n")
        else:
            known = shell.world.has_command(name)
            if known is False:
                status = 1
                if "t" not in flags:
                    shell.complain(f"type: {name}: not found")
            else:
                shell.write("file\n" if "t" in flags else concat([f"{name} is ", hole(f"path of {name}"), "\n"]))
                if known is None:
                    status = Undecided(f"whether {name} is installed")
    return status


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


# ------------------------------------------------------------------------------------------------------------- reading


def _take_line(shell: Shell, source: In, delimiter: str) -> tuple[str | None, bool]:
    """(line, whether it ended with the delimiter); None when the input is unknown."""
    value = source.value
    if value is None:
        return None, True
    text = shell.concrete(value)
    if text is None:
        source.value = ""
        source.pos = 0
        return None, True
    source.value = text
    rest = text[source.pos :]
    line, found, _ = rest.partition(delimiter) if delimiter else (rest, "", "")
    source.pos += len(line) + len(found)
    return line, bool(found)


def _read(shell: Shell, args: list[Value]) -> Status:
    raw = False
    array: str | None = None
    delimiter = "\n"
    count: int | None = None
    exact = False
    fd = 0
    at = 0
    while at < len(args):
        text = args[at] if isinstance(args[at], str) else None
        if text is None or not text.startswith("-") or text == "-":
            break
        at += 1
        if text == "--":
            break
        letters = text[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter == "r":
                raw = True
            elif letter in "es":
                continue
            elif letter in "adniNptu":
                operand: Value
                if letters:
                    operand, letters = letters, ""
                else:
                    operand = args[at] if at < len(args) else ""
                    at += 1
                known = shell.concrete(operand) or ""
                if letter == "a":
                    array = known
                elif letter == "d":
                    delimiter = known[:1] if known else "\0"
                elif letter in "nN":
                    count = int(known) if known.isdigit() else None
                    exact = letter == "N"
                elif letter == "u":
                    fd = int(known) if known.isdigit() else 0
            else:
                shell.complain(f"read: -{letter}: invalid option")
                return 2
    names = [shell.concrete(a) or "" for a in args[at:]]
    source = shell.fds.get(fd)
    if not isinstance(source, In):
        return 1
    if isinstance(source.value, Text) and source.value.text is None or source.value is None:
        return _read_unknown(shell, source, names, array, delimiter, raw)
    line, ended = _read_text(shell, source, delimiter, count, exact, raw)
    status: Status = 0 if ended else 1
    _store_read(shell, line, names, array, raw, exact)
    return status


def _read_text(shell: Shell, source: In, delimiter: str, count: int | None, exact: bool, raw: bool) -> tuple[str, bool]:
    """The characters of one `read`, with backslash-protected ones marked by a leading backslash unless raw."""
    out: list[str] = []
    taken = 0
    while True:
        text = shell.concrete(source.value or "")
        assert text is not None
        source.value = text
        if count is not None:
            if taken >= count:
                return "".join(out), True
            if source.pos >= len(text):
                return "".join(out), False
            character = text[source.pos]
            source.pos += 1
            if character == delimiter and not exact:
                return "".join(out), True
            if character == "\\" and not raw:
                following = text[source.pos : source.pos + 1]
                source.pos += 1
                if following == "\n":
                    continue
                out.append("\\" + following)
            else:
                out.append(character)
            taken += 1
            continue
        line, found = _take_line(shell, source, delimiter)
        assert line is not None
        out.append(line)
        if not raw and found and delimiter == "\n" and re.search(r"(?<!\\)(?:\\\\)*\\$", line):
            out[-1] = line[:-1]
            continue
        return "".join(out), found


def _read_unknown(
    shell: Shell, source: In, names: list[str], array: str | None, delimiter: str, raw: bool
) -> Status:
    """A line of an input that is not wholly known: its known first line if it has one, else a hole."""
    value = source.value
    if isinstance(value, Text) and delimiter == "\n":
        line, rest = _first_line(value)
        if line is not None:
            source.value = rest
            _store_values(shell, line, names, array)
            return 0
    reason = "input"
    if isinstance(value, Text):
        from botlint.shell.values import reason_of

        reason = reason_of(value)
    source.value = ""
    source.pos = 0
    _store_values(shell, hole(reason), names, array)
    return Undecided(f"read from {reason}")


def _first_line(value: Text) -> tuple[Value | None, Value]:
    for number, piece in enumerate(value.pieces):
        if isinstance(piece, str) and "\n" in piece:
            head, _, tail = piece.partition("\n")
            line = concat([*[p if isinstance(p, str) else Text((p,)) for p in value.pieces[:number]], head])
            rest = concat([tail, *[p if isinstance(p, str) else Text((p,)) for p in value.pieces[number + 1 :]]])
            return line, rest
    return None, value


def _store_values(shell: Shell, value: Value, names: list[str], array: str | None) -> None:
    if array is not None:
        shell.put(array, Variable({0: value}, kind="array", place=shell.place(), guard=shell.guard))
        return
    targets = names or ["REPLY"]
    for number, name in enumerate(targets):
        shell.assign(name, value if number == 0 else (hole(expansion.hole_name(value)) if len(targets) > 1 else ""))
    if len(targets) > 1:
        shell.assign(targets[0], hole(expansion.hole_name(value)))


def _store_read(shell: Shell, line: str, names: list[str], array: str | None, raw: bool, exact: bool) -> None:
    ifs = expansion.ifs_of(shell)
    if array is not None:
        pieces = _read_fields(line, ifs, raw, None)
        shell.put(array, Variable(dict(enumerate(pieces)), kind="array", place=shell.place(), guard=shell.guard))
        return
    if not names:
        shell.assign("REPLY", line if raw else re.sub(r"\\(.)", r"\1", line, flags=re.S))
        return
    if exact:
        shell.assign(names[0], line if raw else re.sub(r"\\(.)", r"\1", line, flags=re.S))
        for name in names[1:]:
            shell.assign(name, "")
        return
    pieces = _read_fields(line, ifs, raw, len(names))
    for number, name in enumerate(names):
        shell.assign(name, pieces[number] if number < len(pieces) else "")


def _read_fields(line: str, ifs: str, raw: bool, limit: int | None) -> list[str]:
    """Splits a line as `read` does: the last name takes the rest."""
    marked: list[tuple[str, bool]] = []
    i = 0
    while i < len(line):
        if line[i] == "\\" and not raw and i + 1 < len(line):
            marked.append((line[i + 1], True))
            i += 2
        elif line[i] == "\\" and not raw:
            i += 1
        else:
            marked.append((line[i], False))
            i += 1
    space = {c for c in ifs if c in " \t\n"}
    other = {c for c in ifs if c not in " \t\n"}

    def is_space(k: int) -> bool:
        return marked[k][0] in space and not marked[k][1]

    def is_other(k: int) -> bool:
        return marked[k][0] in other and not marked[k][1]

    n = len(marked)
    at = 0
    while at < n and is_space(at):
        at += 1
    out: list[str] = []
    while at < n:
        if limit is not None and len(out) == limit - 1:
            end = n
            while end > at and is_space(end - 1):
                end -= 1
            rest = "".join(c for c, _ in marked[at:end])
            # One trailing separator that only ends the last field is dropped.
            if end > at and is_other(end - 1) and not any(is_other(k) or is_space(k) for k in range(at, end - 1)):
                rest = rest[:-1]
            out.append(rest)
            return out
        end = at
        while end < n and not is_space(end) and not is_other(end):
            end += 1
        out.append("".join(c for c, _ in marked[at:end]))
        at = end
        seen = False
        while at < n and (is_space(at) or (is_other(at) and not seen)):
            seen = seen or is_other(at)
            at += 1
    return out


def _mapfile(shell: Shell, args: list[Value]) -> Status:
    strip = False
    delimiter = "\n"
    limit = 0
    origin = 0
    skip = 0
    keep = False
    name = "MAPFILE"
    fd = 0
    at = 0
    while at < len(args):
        text = shell.concrete(args[at]) or ""
        at += 1
        if text.startswith("-") and len(text) > 1:
            letter = text[1]
            if letter == "t":
                strip = True
                continue
            operand = text[2:]
            if not operand:
                operand = shell.concrete(args[at]) or "" if at < len(args) else ""
                at += 1
            if letter == "d":
                delimiter = operand[:1] or "\0"
            elif letter == "n":
                limit = int(operand or 0)
            elif letter == "O":
                origin, keep = int(operand or 0), True
            elif letter == "s":
                skip = int(operand or 0)
            elif letter == "u":
                fd = int(operand or 0)
        else:
            name = text
    source = shell.fds.get(fd)
    if not isinstance(source, In):
        return 1
    value = source.value
    text_value = None if value is None else shell.concrete(value)
    old = shell.vars.get(shell.target(name))
    cells: dict[int, Value] = dict(old.value) if keep and old is not None and isinstance(old.value, dict) else {}  # type: ignore[arg-type]
    if text_value is None:
        lines: list[Value] = _known_lines(value)
        source.value, source.pos = "", 0
    else:
        rest = text_value[source.pos :]
        pieces = rest.split(delimiter)
        ended = [p + delimiter for p in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
        ended = ended[skip:]
        if limit:
            ended = ended[:limit]
        source.pos = len(text_value) if not limit else source.pos + sum(map(len, ended))
        lines = [p[:-1] if strip and p.endswith(delimiter) else p for p in ended]
    for number, line in enumerate(lines):
        cells[origin + number] = line
    base = old if old is not None and keep else Variable(None)
    shell.put(
        shell.target(name), replace(base, value=cells, kind="array", place=shell.place(), guard=shell.guard)
    )
    return 0


def _known_lines(value: Value | None) -> list[Value]:
    """Lines of an input that is partly unknown; a hole is taken to be one line."""
    if value is None:
        return [hole("input")]
    lines: list[Value] = []
    rest: Value = value
    while isinstance(rest, Text):
        line, following = _first_line(rest)
        if line is None:
            lines.append(rest)
            return lines
        lines.append(line)
        rest = following
    lines.extend(rest.split("\n") if not rest.endswith("\n") else rest[:-1].split("\n")) if rest else None
    return lines


# ----------------------------------------------------------------------------------------------------- jobs and traps


def _trap(shell: Shell, args: list[Value]) -> Status:
    if args and args[0] == "--":
        args = args[1:]
    if not args or args[0] in ("-p", "-l"):
        if not args or args[0] == "-p":
            for name, text in shell.traps.items():
                shown = name if name in ("EXIT", "ERR", "DEBUG", "RETURN") else f"SIG{name}"
                shell.write(f"trap -- {formatting.single_quote(text)} {shown}\n")
        return 0
    if len(args) == 1:
        names, action = args, None
    else:
        first = args[0]
        text = shell.concrete(first)
        action = None if text == "-" else text
        if text is None:
            action = ":"
        names = args[1:]
    shell.version += 1
    for arg in names:
        name = (shell.concrete(arg) or "").upper().removeprefix("SIG")
        name = {"0": "EXIT", "2": "INT", "15": "TERM", "1": "HUP", "3": "QUIT"}.get(name, name)
        if action is None:
            shell.traps.pop(name, None)
        else:
            shell.traps[name] = action
    return 0


def _wait(shell: Shell, args: list[Value]) -> Status:
    return Undecided("wait") if args else 0


def _kill(shell: Shell, _: list[Value]) -> Status:
    return Undecided("kill")


def _hash(_: Shell, args: list[Value]) -> Status:
    return 0 if not args or args[0] == "-r" else Undecided("hash")


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
    "export": _declare_plain("export"),
    "local": _declare_plain("local"),
    "declare": _declare_plain("declare"),
    "typeset": _declare_plain("typeset"),
    "readonly": _declare_plain("readonly"),
    "unset": _unset,
    "set": _set,
    "shift": _shift,
    "shopt": _shopt,
    "getopts": _getopts,
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
    "read": _read,
    "mapfile": _mapfile,
    "readarray": _mapfile,
    "trap": _trap,
    "wait": _wait,
    "kill": _kill,
    "hash": _hash,
    "umask": _true,
    "ulimit": _true,
    "times": _true,
    "alias": _true,
    "unalias": _true,
    "enable": _true,
    "disown": _true,
    "jobs": _true,
    "bg": _true,
    "fg": _true,
    "history": _true,
    "suspend": _true,
    "logout": _exit,
    "caller": _true,
    "complete": _true,
    "bind": _true,
}

__all__ = ["BUILTINS", "Place", "canonical", "declare"]

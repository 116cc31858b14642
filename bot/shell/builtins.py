"""The builtins of bash, as functions of the shell and the expanded arguments."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Literal

from botlint.documents import bash
from botlint.shell import arithmetic_values, conditions, expansion, formatting
from botlint.shell.paths import canonical
from botlint.shell.process import Place, Variable
from botlint.shell.signals import (
    SIGNALS,
    BreakFlow,
    ContinueFlow,
    ExitFlow,
    ReturnFlow,
    Status,
    StopFlow,
    Undecided,
)
from botlint.shell.streams import In, Out
from botlint.shell.values import Hole, Text, Value, concat, derive, hole, later, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Frame, Job, Shell

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
    element = _ELEMENT.fullmatch(name)
    if element:
        return status if shell.assign(element.group(1), value, False, element.group(2)) else 1
    if not _NAME.fullmatch(name):
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
    target: Value = args[0] if args else expansion.variable_text(shell, "HOME")
    printed = False
    if target == "-":
        target = expansion.variable_text(shell, "OLDPWD")
        printed = True
    if target == "":
        return 0
    where, entry = shell.entry(target)
    if entry.kind in ("missing", "file"):
        problem = "Not a directory" if entry.kind == "file" else "No such file or directory"
        shell.complain(f"cd: {text_of(target) or where}: {problem}")
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
            return _export_functions(shell, items)
        else:
            flags.add("x")
    elif command == "readonly":
        flags.add("r")
    if command == "local" and items == ["-"] and shell.frames:
        frame = _innermost(shell)
        if frame is not None and frame.options is None:
            frame.options = dict(shell.options)
        return 0
    if command == "local" and not any(f.function for f in shell.frames):
        shell.complain("local: can only be used in a function")
        return 1
    if flags & {"f", "F"} and command != "export":
        return _declare_functions(shell, flags, items)
    if "p" in flags or (not items and command != "local"):
        return _declare_print(shell, command, flags, items)
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
        frame = _innermost(shell)
        assert frame is not None
        fresh = base not in frame.saved
        if old is not None and old.readonly and (fresh or value is not None):
            shell.complain(f"{command}: {base}: readonly variable")
            return False
        shell.declare_local(base)
        if fresh:
            # In a call `a=1 f` the function's own `local a` starts with that value.
            inherits = "I" in flags or any(base in t for t in shell.temporaries)
            kept = old if old is not None and inherits else Variable(None)
            old = replace(kept, local=True, exported=old is not None and old.exported)
            shell.put(base, old)
    if old is None:
        old = Variable(None)
    if old.readonly and (value is not None or (assign is not None and assign.array is not None) or "r" in off):
        shell.complain(f"{command}: {base}: readonly variable" if command != "readonly" else f"{base}: readonly variable")
        return False
    new = _with_flags(shell, old, flags, off)
    outermost = next((layer for layer in _layers(shell) if base in layer), None) if "g" in flags else None
    shadow: Variable | None = None
    if outermost is not None:
        shadow = shell.vars.get(base)
        new = _with_flags(shell, outermost[base] or Variable(None), flags, off)
    shell.put(base, replace(new, readonly=False))
    array = assign.array if assign is not None else None
    if array is None and new.kind and element is None and isinstance(value, str) and value[:1] == "(" and value[-1:] == ")":
        array = _array_text(shell, value)
    if array is not None:
        if new.kind == "":
            shell.put(base, replace(new, kind="array", readonly=False))
        if not shell.assign_array(base, array, append):
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
    if outermost is not None:
        outermost[base] = shell.vars[base]
        for frame in shell.frames:
            if frame.temporary is outermost and base in frame.saved:
                frame.saved[base] = shell.vars[base]
        if shadow is not None:
            shell.put(base, shadow)
        else:
            shell.unset(base)
    return True


def _export_functions(shell: Shell, items: list[Value | Declared]) -> Status:
    status: Status = 0
    for item in items:
        name = item.assign.name if isinstance(item, Declared) else shell.concrete(item)
        if name is None or name not in shell.functions:
            shell.complain(f"export: {name}: not a function")
            status = 1
        else:
            shell.exported_functions.add(name)
    return status


def _array_text(shell: Shell, text: str) -> list[tuple[bash.Word | None, bool, bash.Word]] | None:
    """The elements that the text `(a b)` stands for when it is assigned to an array that is declared as one."""
    for statement in shell.world.parse(f"array={text}", shell.place()):
        if isinstance(statement, bash.Command) and len(statement.assigns) == 1 and not statement.words:
            return statement.assigns[0].array
    return None


def _innermost(shell: Shell) -> Frame | None:
    """The function call that runs, if any."""
    return next((f for f in reversed(shell.frames) if f.function), None)


_CASES: dict[str, Literal["lower", "upper", "capital"]] = {"l": "lower", "u": "upper", "c": "capital"}


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
    case: Literal["", "lower", "upper", "capital"] = var.case
    for letter, name in _CASES.items():
        if letter in flags:
            case = name
        elif letter in off and case == name:
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
        for key, item in expansion.table(shell, name).items():
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
        function = shell.functions.get(name or "")
        if function is None:
            status = 1
        elif "F" in flags:
            shell.write(f"{name}\n")
        else:
            shell.write(function_text(function, name or ""))
    return status


def function_text(function: bash.Function, name: str) -> str:
    """A function as text that defines it."""
    body = function.body
    return f"{name} () \n{function.source.text[body.pos : body.end]}\n"


def _declare_plain(command: str) -> Builtin:
    def run(shell: Shell, args: list[Value]) -> Status:
        return declare(shell, [command, *args])

    return run


def _unset(shell: Shell, args: list[Value]) -> Status:
    mode = ""
    status: Status = 0
    for arg in args:
        text = shell.concrete(arg)
        if text is None:
            raise StopFlow("unset of an unknown name", shell.place())
        if text in ("-f", "-v", "-n", "--"):
            mode = text if text != "--" else mode
            continue
        element = _ELEMENT.fullmatch(text)
        if element and mode != "-f":
            _unset_element(shell, element.group(1), element.group(2))
        elif mode == "-v" and not _NAME.fullmatch(text):
            shell.complain(f"unset: `{text}': not a valid identifier")
            status = 1
        elif not _unset_one(shell, text, mode):
            status = 1
    return status


def _unset_one(shell: Shell, text: str, mode: str) -> bool:
    name = text if mode == "-n" else shell.target(text)
    var = None if mode == "-f" else shell.vars.get(name)
    if var is None:
        if mode in ("", "-f"):
            shell.version += 1
            shell.functions.pop(text, None)
        return True
    if var.readonly:
        shell.complain(f"unset: {name}: cannot unset: readonly variable")
        return False
    shell.get(name)
    shell.unset(name)
    hidden = _hiding(shell, name)
    if hidden is not None:
        # Unsetting a caller's local uncovers the variable that it hid.
        uncovered = hidden.pop(name)
        if uncovered is not None:
            shell.put(name, uncovered)
    return True


def _layers(shell: Shell) -> list[dict[str, Variable | None]]:
    """Where hidden variables are kept, from the outermost call to the innermost."""
    layers: list[dict[str, Variable | None]] = []
    for frame in shell.frames:
        if frame.temporary is not None:
            layers.append(frame.temporary)
        layers.append(frame.saved)
    return layers


def _hiding(shell: Shell, name: str) -> dict[str, Variable | None] | None:
    """Where the variable that `name` hides is kept, None if it stays hidden (a local of the running function) or there is none."""
    calls = [f for f in reversed(shell.frames) if f.function]
    if shell.temporaries and name in shell.temporaries[-1] and all(f.temporary is not shell.temporaries[-1] for f in calls):
        return shell.temporaries[-1]
    for frame in calls:
        if name in frame.saved:
            return None if frame is calls[0] else frame.saved
        if frame.temporary is not None and name in frame.temporary:
            return frame.temporary
    return None


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
    "allexport braceexpand emacs errexit errtrace functrace hashall histexpand history ignoreeof interactive-comments "
    "keyword monitor noclobber noexec noglob nolog notify nounset onecmd physical pipefail posix privileged verbose vi "
    "xtrace".split()
)


def _shift(shell: Shell, args: list[Value]) -> Status:
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


def _shopt(shell: Shell, args: list[Value]) -> Status:
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
    "braceexpand hashall interactive-comments checkwinsize cmdhist complete_fullquote extquote force_fignore "
    "globasciiranges globskipdots hostcomplete interactive_comments patsub_replacement progcomp promptvars sourcepath".split()
)
"""Options that are on in a shell that runs a script."""

_SHOPT = frozenset(
    "autocd assoc_expand_once cdable_vars cdspell checkhash checkjobs checkwinsize cmdhist compat31 compat32 compat40 "
    "compat41 compat42 compat43 compat44 complete_fullquote direxpand dirspell dotglob execfail expand_aliases extdebug "
    "extglob extquote failglob force_fignore globasciiranges globskipdots globstar gnu_errfmt histappend histreedit "
    "histverify hostcomplete huponexit inherit_errexit interactive_comments lastpipe lithist localvar_inherit "
    "localvar_unset login_shell mailwarn no_empty_cmd_completion nocaseglob nocasematch noexpand_translation nullglob "
    "patsub_replacement progcomp progcomp_alias promptvars restricted_shell shift_verbose sourcepath varredir_close "
    "xpg_echo".split()
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
    text = concat(expansion.spaced(args))
    place = shell.place()
    if isinstance(text, Text) and not text.known and len(text.pieces) == 1:
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
        status = shell.run_lines(script)
    except ReturnFlow as flow:
        shell.status = status = flow.status
    finally:
        shell.leave_source(frame, bool(args[1:]))
    if "RETURN" in shell.traps:
        shell.run_trap("RETURN")
    return status


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


_KEYWORDS = frozenset("if then else elif fi case esac for select while until do done in function time { } ! [[ ]] coproc".split())


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
    for name in names:
        if not _NAME.fullmatch(name) and not _ELEMENT.fullmatch(name):
            shell.complain(f"read: `{name}': not a valid identifier")
            return 1
    source = shell.fds.get(fd)
    if not isinstance(source, In):
        return 1
    if isinstance(source.value, Text) and not source.value.known or source.value is None:
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
            # A separator that only ends the last field is dropped.
            word = at
            while word < n and not is_space(word) and not is_other(word):
                word += 1
            after = word
            seen = False
            while after < n and (is_space(after) or (is_other(after) and not seen)):
                seen = seen or is_other(after)
                after += 1
            out.append("".join(c for c, _ in marked[at : word if after >= n else end]))
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
    every, callback = 5000, ""
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
            elif letter == "c":
                every = int(operand or 1)
            elif letter == "C":
                callback = operand
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
        if callback and (number + 1) % every == 0:
            shell.run_text(concat([f"{callback} {origin + number} ", derive(formatting.shell_quote, line)]), shell.place())
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


def _signal_name(text: str) -> str | None:
    """The name of a signal or pseudo-signal, without SIG; None if there is none."""
    name = text.upper().removeprefix("SIG")
    if name.isdigit():
        number = int(name)
        return "EXIT" if number == 0 else next((n for n, k in SIGNALS.items() if k == number), None)
    return name if name in SIGNALS or name in _PSEUDO else None


_PSEUDO = {"EXIT": 0, "DEBUG": 100, "ERR": 101, "RETURN": 102}


def _trap(shell: Shell, args: list[Value]) -> Status:
    if args and args[0] == "--":
        args = args[1:]
    if not args or args[0] in ("-p", "-l"):
        if not args or args[0] == "-p":
            _print_traps(shell, args[1:])
        return 0
    first = shell.concrete(args[0])
    names = args[1:]
    if not names or (first is not None and first.isdigit()):
        action: str | None = None
        names = args
    else:
        action = None if first == "-" else ":" if first is None else first
    shell.version += 1
    status: Status = 0
    for arg in names:
        text = shell.concrete(arg) or ""
        name = _signal_name(text)
        if name is None:
            shell.complain(f"trap: {text}: invalid signal specification")
            status = 1
        elif action is None:
            shell.traps.pop(name, None)
        else:
            shell.traps[name] = action
    return status


def _print_traps(shell: Shell, wanted: list[Value]) -> None:
    names = [_signal_name(shell.concrete(a) or "") for a in wanted]
    for name, text in sorted(shell.traps.items(), key=lambda item: {**SIGNALS, **_PSEUDO}.get(item[0], 0)):
        if not wanted or name in names:
            shell.write(f"trap -- {formatting.single_quote(text)} {name if name in _PSEUDO else 'SIG' + name}\n")


def _job(shell: Shell, value: Value) -> Job | None:
    """The background job that `$!`, a number of a job or a copy of it stands for."""
    if isinstance(value, str):
        match = re.fullmatch(r"%([0-9]+|%|\+)?", value)
        jobs = list(shell.jobs.values())
        if match is None or not jobs:
            return None
        number = int(match.group(1)) if match.group(1) and match.group(1).isdigit() else len(jobs)
        return jobs[number - 1] if 0 < number <= len(jobs) else None
    piece = value.pieces[0] if len(value.pieces) == 1 else None
    return shell.jobs.get(piece) if isinstance(piece, Hole) else None


def _wait(shell: Shell, args: list[Value]) -> Status:
    following = False
    while args and isinstance(args[0], str) and re.fullmatch(r"-[fnp]+", args[0]):
        following = following or "n" in args[0]
        args = args[2:] if "p" in args[0] else args[1:]
    if not args:
        left = [j for j in shell.jobs.values() if not j.waited]
        if following:
            left = left[:1]
        for job in left:
            job.waited = True
        if following:
            return left[0].status if left else 127
        return 0
    status: Status = 0
    for arg in args:
        found = _job(shell, arg)
        if found is not None:
            found.waited = True
            status = found.status
        elif text_of(arg) is not None:
            shell.complain(f"wait: pid {text_of(arg)} is not a child of this shell")
            status = 127
        else:
            status = Undecided("wait")
    return status


def _kill(shell: Shell, args: list[Value]) -> Status:
    name: str | None = "TERM"
    while args and isinstance(args[0], str) and args[0].startswith("-") and len(args[0]) > 1:
        option = args[0]
        args = args[1:]
        if option == "--":
            break
        if option in ("-l", "-L"):
            return Undecided("kill -l")
        if option in ("-s", "-n"):
            option = "-" + (shell.concrete(args[0]) or "" if args else "")
            args = args[1:]
        name = "0" if option == "-0" else _signal_name(option[1:])
    if name is None or not args:
        shell.complain("kill: invalid signal specification")
        return 1 if args else 2
    status: Status = 0
    for arg in args:
        one = _kill_one(shell, arg, name)
        status = one if one != 0 else status
    return status


def _kill_one(shell: Shell, arg: Value, name: str) -> Status:
    piece = arg.pieces[0] if isinstance(arg, Text) and len(arg.pieces) == 1 else None
    if isinstance(piece, Hole) and piece in shell.ids:
        if name == "0":
            return 0
        if piece is shell.ids[-1]:
            return shell.receive(name)
        shell.killed = name
        return 0
    job = _job(shell, arg)
    if job is None:
        if isinstance(arg, str) and shell.world.machine is not None:
            shell.complain(f"kill: ({arg}) - No such process")
            return 1
        return Undecided("kill")
    if job.waited:
        return 1
    if name != "0":
        job.status = 128 + SIGNALS[name] if job.lasting else Undecided("a background job that was sent a signal")
    return 0 if job.lasting else Undecided("kill")


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
    kinds = {"-v": "variable", "-b": "builtin", "-k": "keyword", "-e": "export", "-A": shell.concrete(args[1]) if len(args) > 1 else ""}
    option = args[0] if args and isinstance(args[0], str) else ""
    kind = kinds.get(option)
    names: Iterable[str]
    if kind in ("variable", "export"):
        names = [n for n, v in shell.vars.items() if kind == "variable" or v.exported]
    elif kind in ("function", "builtin", "keyword"):
        names = {"function": shell.functions, "builtin": BUILTINS, "keyword": _KEYWORDS}[kind]
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


def _disown(shell: Shell, args: list[Value]) -> Status:
    named = [a for a in args if not (isinstance(a, str) and a.startswith("-"))]
    gone = [_job(shell, a) for a in named] if named else list(shell.jobs.values())[-1:]
    if "-a" in args:
        gone = list(shell.jobs.values())
    shell.jobs = {k: v for k, v in shell.jobs.items() if v not in gone}
    return 0


def _jobs(shell: Shell, args: list[Value]) -> Status:
    if any(not job.waited for job in shell.jobs.values()):
        shell.write(hole("jobs"))
    return 0


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
    "umask": _umask,
    "help": _help,
    "compgen": _compgen,
    "ulimit": _true,
    "times": _true,
    "alias": _alias,
    "unalias": _unalias,
    "enable": _true,
    "disown": _disown,
    "jobs": _jobs,
    "bg": _true,
    "fg": _true,
    "history": _true,
    "suspend": _true,
    "logout": _exit,
    "caller": _caller,
    "complete": _true,
    "bind": _true,
}

__all__ = ["BUILTINS", "Place", "canonical", "declare"]

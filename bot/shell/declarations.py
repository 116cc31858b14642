"""`declare`, `local`, `export`, `readonly`, `typeset` and `unset`."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from botlint.documents import bash
from botlint.shell import arithmetic_values, expansion, formatting, variables
from botlint.shell.names import ELEMENT, NAME
from botlint.shell.process import Place, Variable
from botlint.shell.signals import (
    Status,
    StopFlow,
)
from botlint.shell.values import Value, derive, hole

if TYPE_CHECKING:
    from botlint.shell.interpreter import Frame, Shell


Elements = list[tuple[bash.Word | None, bool, bash.Word]]


@dataclass(slots=True)
class Declared:
    """An assignment word of a declaration; its value is expanded before the builtin runs, an array only then."""

    assign: bash.Assign
    value: Value | None


def declare(shell: Shell, words: Sequence[Value | Declared]) -> Status:
    """`declare`, `local`, `export`, `readonly`, `typeset` with assignment words already read."""
    command = words[0] if isinstance(words[0], str) else "declare"
    if command == "export" and _export_plainly(shell, words):
        return 0
    rest = list(words[1:])
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


def _export_plainly(shell: Shell, words: Sequence[Value | Declared]) -> bool:
    """`export NAME=text ...` of plain variables, by far the commonest declaration; False (nothing done) for others."""
    for word in words[1:]:
        if not isinstance(word, Declared) or word.value is None or word.assign.append or word.assign.index is not None:
            return False
        old = shell.vars.get(word.assign.name)
        if old is not None and (old.readonly or old.kind or old.integer or old.case or old.nameref):
            return False
    for word in words[1:]:
        assert isinstance(word, Declared)
        name = word.assign.name
        old = shell.vars.get(name)
        place, guard = Place(shell.source, word.assign.pos), shell.guard
        if old is None:
            shell.put(name, Variable(word.value, True, place, guard))
        else:
            shell.put(name, old.changed(value=word.value, exported=True, place=place, guard=guard, inherited=False))
    return len(words) > 1


@dataclass(slots=True)
class _Item:
    """One name of a declaration with what is assigned to it."""

    name: str
    base: str
    index: Value | None
    append: bool
    value: Value | None
    array: Elements | None


def _item(shell: Shell, command: str, word: Value | Declared) -> _Item:
    if isinstance(word, Declared):
        assign = word.assign
        index = None if assign.index is None else expansion.string(shell, assign.index)
        return _Item(assign.name, assign.name, index, assign.append, word.value, assign.array)
    text = shell.concrete(word)
    if text is None:
        raise StopFlow(f"{command} of an unknown name", shell.place())
    name, equals, right = text.partition("=")
    append = bool(equals) and name.endswith("+")
    name = name[:-1] if append else name
    element = ELEMENT.fullmatch(name)
    base, index = element.groups() if element else (name, None)
    return _Item(name, base, index, append, right if equals else None, None)


def _declare_one(
    shell: Shell, command: str, word: Value | Declared, flags: set[str], off: set[str], local: bool
) -> bool:
    item = _item(shell, command, word)
    if not NAME.fullmatch(item.base):
        shell.complain(f"{command}: `{item.name}': not a valid identifier")
        return False
    base = item.base if "n" in flags or local else shell.target(item.base)
    assigns = item.value is not None or item.array is not None
    before = shell.vars.get(base)
    refused = before is not None and before.readonly and (assigns or "r" in off or (local and _is_new(shell, base)))
    if refused:
        shell.complain(f"{'' if command == 'readonly' else command + ': '}{base}: readonly variable")
        return False
    if local:
        before = _make_local(shell, base, "I" in flags)
    old = Variable(None) if before is None else before
    outermost = next((layer for layer in _layers(shell) if base in layer), None) if "g" in flags else None
    if outermost is not None:
        old = outermost[base] or Variable(None)
    new = _with_flags(shell, old, flags, off)
    shell.put(base, new.changed(readonly=False))
    if not _assign_declared(shell, base, new, item):
        return False
    done = shell.vars[base].changed(readonly=new.readonly)
    if done.place is None or "x" in flags:
        done = done.changed(place=done.place or shell.place(), guard=done.guard or shell.guard)
    shell.put(base, done)
    if outermost is not None:
        _move_out(shell, base, outermost, before)
    return True


def _is_new(shell: Shell, name: str) -> bool:
    """Whether a name is not yet local to the running function."""
    frame = _innermost(shell)
    return frame is not None and name not in frame.saved


def _make_local(shell: Shell, name: str, inherit: bool) -> Variable | None:
    fresh = _is_new(shell, name)
    old = shell.vars.get(name)
    shell.declare_local(name)
    if fresh:
        # In a call `a=1 f` the function's own `local a` starts with that value.
        inherits = inherit or any(name in t for t in shell.temporaries)
        kept = old if old is not None and inherits else Variable(None)
        old = kept.changed(local=True, exported=old is not None and old.exported)
        shell.put(name, old)
    return old


def _assign_declared(shell: Shell, base: str, new: Variable, item: _Item) -> bool:
    array, value = item.array, item.value
    if (
        array is None
        and new.kind
        and item.index is None
        and isinstance(value, str)
        and re.fullmatch(r"(?s)\(.*\)", value)
    ):
        array = _array_text(shell, value)
    if array is not None:
        if new.kind == "":
            shell.put(base, new.changed(kind="array", readonly=False))
        return shell.assign_array(base, array, item.append)
    if value is None:
        return True
    if new.nameref:
        shell.put(base, new.changed(value=value, readonly=False, place=shell.place(), guard=shell.guard))
        return True
    return shell.assign(base, value, item.append, item.index)


def _move_out(shell: Shell, name: str, outermost: dict[str, Variable | None], inner: Variable | None) -> None:
    """After `declare -g` of a name that a local hides: the new variable is the hidden one, the local is back."""
    made = shell.vars[name]
    outermost[name] = made
    for frame in shell.frames:
        if frame.temporary is outermost and name in frame.saved:
            frame.saved[name] = made
    if inner is None:
        shell.unset(name)
    else:
        shell.put(name, inner)


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


def _array_text(shell: Shell, text: str) -> Elements | None:
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
    return var.changed(
        value=value,
        kind=kind,
        exported=exported,
        inherited=var.inherited and "x" not in flags,
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
    letters = variables.attributes(var)
    value = var.value
    if isinstance(value, dict):
        texts = {}
        for key, item in variables.table(shell, name).items():
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


def declare_plain(command: str) -> Callable[[Shell, list[Value]], Status]:
    """A declaration builtin that is called by a name which the parser did not see."""

    def run(shell: Shell, args: list[Value]) -> Status:
        return declare(shell, [command, *args])

    return run


def unset(shell: Shell, args: list[Value]) -> Status:
    """`unset`."""
    mode = ""
    status: Status = 0
    for arg in args:
        text = shell.concrete(arg)
        if text is None:
            raise StopFlow("unset of an unknown name", shell.place())
        if text in ("-f", "-v", "-n", "--"):
            mode = text if text != "--" else mode
            continue
        element = ELEMENT.fullmatch(text)
        if element and mode != "-f":
            _unset_element(shell, element.group(1), element.group(2))
        elif mode == "-v" and not NAME.fullmatch(text):
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
    """Where the variable that `name` hides is kept; None if there is none or the running function's local hides it."""
    calls = [f for f in reversed(shell.frames) if f.function]
    if (
        shell.temporaries
        and name in shell.temporaries[-1]
        and all(f.temporary is not shell.temporaries[-1] for f in calls)
    ):
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
        shell.put(name, var.changed(value={}))
        return
    if var.kind == "assoc":
        table = {k: v for k, v in var.value.items() if k != index.strip("'\"")}
        shell.put(name, var.changed(value=table))
        return
    number = arithmetic_values.index_number(shell, index)
    if number is not None and number < 0:
        number += max((k for k in var.value if isinstance(k, int)), default=-1) + 1
    cells = {k: v for k, v in var.value.items() if k != number}
    shell.put(name, var.changed(value=cells))

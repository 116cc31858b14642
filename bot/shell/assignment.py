"""Assignments to variables and arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botlint.documents import bash
from botlint.shell import arithmetic_values, expansion, variables
from botlint.shell.process import (
    Place,
    Variable,
)
from botlint.shell.signals import (
    StopFlow,
)
from botlint.shell.values import Budget, Text, Value, concat

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


def assign(shell: Shell, name: str, value: Value, append: bool = False, index: Value | None = None) -> bool:
    """`name=value`; False if the variable is read-only."""
    name = shell.target(name)
    if "[" in name and name.endswith("]"):
        name, _, inner = name[:-1].partition("[")
        index = inner
    old = shell.vars.get(name)
    if old is None:
        if index is None:
            shell.vars[name] = Variable(
                value, shell.options.get("allexport", False), Place(shell.source, shell.pos), shell.guard
            )
            shell.version += 1
            return True
        old = Variable(None)
    if old.readonly:
        shell.complain(f"{name}: readonly variable")
        return False
    if append and (isinstance(old.value, (str, Text))) and index is None and not old.integer:
        value = concat([old.value, value])
    if old.integer:
        value = arithmetic_values.evaluate_text(
            shell, concat(["(", text_or_zero(old, append), ")+(", value, ")"]) if append else value
        )
    if old.case:
        value = variables.change_case(value, old.case)
    if index is not None or old.kind:
        new = _assign_element(shell, name, old, value, append, index)
        if new is None:
            return False
        shell.put(name, new)
        return True
    exporting = shell.options.get("allexport", False)
    shell.put(
        name,
        old.changed(
            value=value,
            place=shell.place(),
            guard=shell.guard,
            exported=old.exported or exporting,
            inherited=old.inherited and not exporting,
        ),
    )
    return True


def _assign_element(
    shell: Shell, name: str, old: Variable, value: Value, append: bool, index: Value | None
) -> Variable | None:
    place, guard = shell.place(), shell.guard
    if old.kind == "assoc":
        table: dict[str, Value] = dict(old.value) if isinstance(old.value, dict) else {}  # type: ignore[arg-type]
        key = shell.concrete(index) if index is not None else "0"
        if key is None:
            raise StopFlow(f"unknown key of {name}", place)
        table[key] = concat([table.get(key, ""), value]) if append else value
        return old.changed(value=table, place=place, guard=guard)
    cells = variables.cells_of(old)
    number = 0 if index is None else arithmetic_values.index_number(shell, index)
    if number is None:
        raise StopFlow(f"unknown subscript of {name}", place)
    if number < 0:
        number += max(cells, default=-1) + 1
        if number < 0:
            shell.complain(f"{name}: bad array subscript")
            return None
    cells[number] = concat([cells.get(number, ""), value]) if append and number in cells else value
    return old.changed(value=cells, kind="array", place=place, guard=guard)


def assign_array(shell: Shell, name: str, items: list[tuple[bash.Word | None, bool, bash.Word]], append: bool) -> bool:
    """`name=( ... )`."""
    name = shell.target(name)
    old = shell.vars.get(name)
    if old is not None and old.readonly:
        shell.complain(f"{name}: readonly variable")
        return False
    base = Variable(None) if old is None else old
    place, guard = shell.place(), shell.guard
    if base.kind == "assoc":
        table: dict[str, Value] = dict(base.value) if append and isinstance(base.value, dict) else {}  # type: ignore[arg-type]
        pending: Value | None = None
        for index, add, word in items:
            if index is None:
                for value in expansion.fields(shell, word):
                    if pending is None:
                        pending = value
                    else:
                        table[_key(shell, name, pending)] = value
                        pending = None
                continue
            key = _key(shell, name, expansion.string(shell, index))
            value = expansion.string(shell, word, assignment=True)
            table[key] = concat([table.get(key, ""), value]) if add else value
        if pending is not None:
            table[_key(shell, name, pending)] = ""
        shell.put(name, base.changed(value=table, place=place, guard=guard))
        return True
    cells = variables.cells_of(base) if append else {}
    at = max(cells, default=-1) + 1
    for index, add, word in items:
        if index is None:
            for value in expansion.fields(shell, word):
                cells[at] = _shaped(shell, base, value)
                at += 1
            continue
        number = arithmetic_values.index_number(shell, expansion.string(shell, index))
        if number is None:
            raise StopFlow(f"unknown subscript of {name}", place)
        at = number if number >= 0 else max(cells, default=-1) + 1 + number
        value = expansion.string(shell, word, assignment=True)
        cells[at] = concat([cells.get(at, ""), value]) if add else _shaped(shell, base, value)
        at += 1
    if len(cells) > 100_000:
        raise Budget("an array of more than 100,000 elements")
    shell.put(name, base.changed(value=cells, kind="array", place=place, guard=guard))
    return True


def _shaped(shell: Shell, var: Variable, value: Value) -> Value:
    if var.integer:
        return arithmetic_values.evaluate_text(shell, value)
    return variables.change_case(value, var.case) if var.case else value


def _key(shell: Shell, name: str, value: Value) -> str:
    key = shell.concrete(value)
    if key is None:
        raise StopFlow(f"unknown key of {name}", shell.place())
    return key


def text_or_zero(var: Variable, append: bool) -> Value:
    """The old value of an integer variable for `+=`."""
    if append and isinstance(var.value, (str, Text)):
        return var.value or "0"
    return "0"

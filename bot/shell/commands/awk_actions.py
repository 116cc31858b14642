"""What the parts of an awk program do, as functions of the machine."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from botlint.shell.commands.awk_machine import (
    MAX_INTEGER,
    Expression,
    Input,
    Machine,
    Statement,
    Value,
    looks_numeric,
    number_text,
    to_number,
)
from botlint.shell.commands.base import Unmodelled
from botlint.shell.regex import Regex, Scanner


class Next(Exception):  # noqa: N818 (not an error)
    """`next`: the record is done."""


class Exit(Exception):  # noqa: N818 (not an error)
    """`exit`: the program is done."""


class Break(Exception):  # noqa: N818 (not an error)
    """`break`: the loop is done."""


class Continue(Exception):  # noqa: N818 (not an error)
    """`continue`: this round of the loop is done."""


@dataclass(frozen=True, slots=True)
class Place:
    """Something that can be assigned to."""

    get: Expression
    set: Callable[[Machine, Value], None]


_Constant = TypeVar("_Constant")


def constantly(value: _Constant) -> Callable[[Machine], _Constant]:
    """The same value each time."""

    def run(machine: Machine) -> _Constant:
        del machine
        return value

    return run


def always(machine: Machine) -> bool:
    """The condition of a rule without a pattern."""
    del machine
    return True


def variable_of(name: str) -> Expression:
    """The value of a variable."""
    return lambda machine: machine.get(name)


def is_true(condition: Expression) -> Callable[[Machine], bool]:
    """Whether an expression holds."""
    return lambda machine: machine.truth(condition(machine))


def evaluated(expression: Expression) -> Statement:
    """An expression as a statement."""

    def run(machine: Machine) -> None:
        machine.step()
        expression(machine)

    return run


def raising(kind: type[Exception]) -> Statement:
    """A jump."""

    def run(machine: Machine) -> None:
        del machine
        raise kind

    return run


def exiting(status: Expression | None) -> Statement:
    """`exit`, with a status when one is given."""

    def run(machine: Machine) -> None:
        if status is not None:
            machine.status = int(to_number(status(machine))) & 255
        raise Exit

    return run


def print_record(machine: Machine) -> None:
    """What a rule without an action does."""
    machine.emit(machine.whole() + machine.text(machine.variables["ORS"]))


def range_rule(first: Expression, second: Expression, name: str) -> Callable[[Machine], bool]:
    """`first, second`: holds from a record to another; `name` keeps the state."""

    def selects(machine: Machine) -> bool:
        active = bool(machine.variables.get(name))
        if not active and not machine.truth(first(machine)):
            return False
        machine.variables[name] = 0.0 if machine.truth(second(machine)) else 1.0
        return True

    return selects


def looped(condition: Expression, body: Statement, change: Statement | None) -> Statement:
    """while, and the rest of do and for."""

    def run(machine: Machine) -> None:
        while machine.truth(condition(machine)):
            machine.step()
            try:
                body(machine)
            except Break:
                return
            except Continue:
                pass
            if change is not None:
                change(machine)

    return run


def for_in(variable: str, array: str, body: Statement) -> Statement:
    """`for (variable in array)`; raises Unmodelled where the order would count."""

    def run(machine: Machine) -> None:
        keys = list(machine.array(array))
        if len(keys) > 1:
            raise Unmodelled("the order of an array")
        for key in keys:
            machine.set(variable, Input(key))
            try:
                body(machine)
            except Break:
                return
            except Continue:
                continue

    return run


def output_text(machine: Machine, value: Value) -> str:
    """The text of a value in print."""
    if isinstance(value, float):
        return number_text(value, str(machine.variables["OFMT"]))
    return machine.text(value)


def assigned(place: Place, operator: str, value: Expression) -> Expression:
    """`place = value`, or with an operator."""

    def run(machine: Machine) -> Value:
        result = value(machine)
        if operator:
            result = _calculate(operator, to_number(place.get(machine)), to_number(result))
        place.set(machine, result)
        return result

    return run


def incremented(place: Place, amount: float, *, before: bool) -> Expression:
    """`++` and `--`."""

    def run(machine: Machine) -> Value:
        old = to_number(place.get(machine))
        place.set(machine, old + amount)
        return old + amount if before else old

    return run


def either_of(left: Expression, right: Expression) -> Expression:
    """`left || right`."""
    return lambda machine: float(machine.truth(left(machine)) or machine.truth(right(machine)))


def both_of(left: Expression, right: Expression) -> Expression:
    """`left && right`."""
    return lambda machine: float(machine.truth(left(machine)) and machine.truth(right(machine)))


def membership_of(index: Expression, array: str) -> Expression:
    """`index in array`."""
    return lambda machine: float(machine.text(index(machine)) in machine.array(array))


def joined_index(items: Sequence[Expression]) -> Expression:
    """The subscript of several values."""
    if not items:
        raise Unmodelled("an empty subscript")
    if len(items) == 1:
        return items[0]
    return lambda machine: machine.text(machine.variables["SUBSEP"]).join(machine.text(item(machine)) for item in items)


def search_in(machine: Machine, regex: Regex, text: str) -> tuple[int, int] | None:
    """The span of the first match."""
    machine.step(1 + len(text) // 64)
    found = regex.search(text, budget=machine.budget)
    return None if found is None else (found.start, found.end)


def matched(left: Expression, regex: Callable[[Machine], Regex], negated: bool) -> Expression:
    """`left ~ regex`, or `!~`."""

    def run(machine: Machine) -> Value:
        text = machine.text(left(machine))
        return float((search_in(machine, regex(machine), text) is None) == negated)

    return run


def compared(operator: str, left: Expression, right: Expression) -> Expression:
    """A comparison: of numbers where both sides look like some."""

    def run(machine: Machine) -> Value:
        first, second = left(machine), right(machine)
        if looks_numeric(first) and looks_numeric(second):
            return float(_ordered(operator, to_number(first), to_number(second)))
        return float(_ordered(operator, machine.text(first), machine.text(second)))

    return run


def _ordered(operator: str, first: float | str, second: float | str) -> bool:
    order = (first > second) - (first < second)  # type: ignore[operator]
    return {
        "<": order < 0,
        "<=": order <= 0,
        "==": order == 0,
        "!=": order != 0,
        ">=": order >= 0,
        ">": order > 0,
    }[operator]


def concatenated(left: Expression, right: Expression) -> Expression:
    """One text after the other."""

    def run(machine: Machine) -> Value:
        machine.step()
        first = machine.text(left(machine))
        return first + machine.text(right(machine))

    return run


def calculated(operator: str, left: Expression, right: Expression) -> Expression:
    """An arithmetic operator."""

    def run(machine: Machine) -> Value:
        machine.step()
        first = to_number(left(machine))
        return _calculate(operator, first, to_number(right(machine)))

    return run


def _calculate(operator: str, first: float, second: float) -> float:
    try:
        match operator:
            case "+":
                return first + second
            case "-":
                return first - second
            case "*":
                return first * second
            case "/":
                return first / second
            case "%":
                return math.fmod(first, second)
            case _:
                result = first**second
                if isinstance(result, complex):
                    raise Unmodelled("a root of a negative number")
                return float(result)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        # mawk gives infinity where gawk stops.
        raise Unmodelled("a division by zero, or a number that is too large") from error


def field_place(index: Expression) -> tuple[Expression, Place]:
    """`$index` as a value and as a place."""

    def number(machine: Machine) -> int:
        result = int(to_number(index(machine)))
        if result < 0:
            raise Unmodelled("a negative field")
        return result

    place = Place(
        lambda machine: machine.get_field(number(machine)),
        lambda machine, value: machine.set_field(number(machine), value),
    )
    return place.get, place


def substitution_of(
    regex: Callable[[Machine], Regex], replacement: Expression, place: Place, *, every: bool
) -> Expression:
    """`sub` and `gsub`; the value is the number of replacements."""

    def run(machine: Machine) -> Value:
        used = regex(machine)
        template = machine.text(replacement(machine))
        text = machine.text(place.get(machine))
        if "\\\\" in template:
            raise Unmodelled("backslashes in a replacement")
        scanner = Scanner(used, text, machine.budget)
        pieces: list[str] = []
        at = copied = count = 0
        previous = -1
        while at <= len(text) and (found := scanner.search(at)) is not None:
            machine.step()
            empty = found.start == found.end
            if not (empty and found.start == previous):
                count += 1
                matched = found.group(0)
                pieces += [text[copied : found.start], _with_ampersands(template, matched)]
                copied = previous = found.end
                if not every:
                    break
            at = found.end + 1 if empty else found.end
        if count:
            place.set(machine, "".join(pieces) + text[copied:])
        return float(count)

    return run


def _with_ampersands(template: str, matched: str) -> str:
    return re.sub(r"\\?&", lambda found: matched if found[0] == "&" else "&", template)


_NUMBER_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "int": lambda number: float(int(number)),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
}

_ARGUMENTS = {"length": (0, 1), "substr": (2, 3), "index": (2, 2), "sprintf": (1, 100), "atan2": (2, 2)}


def function_of(name: str, items: Sequence[Expression]) -> Expression:
    """A call of a built-in function."""
    low, high = _ARGUMENTS.get(name, (1, 1))
    if not low <= len(items) <= high:
        raise Unmodelled(f"the arguments of {name}")

    def run(machine: Machine) -> Value:
        machine.step()
        values = [item(machine) for item in items]
        match name:
            case "length":
                return float(len(machine.text(values[0]) if values else machine.whole()))
            case "substr":
                return _substr(machine.text(values[0]), [to_number(value) for value in values[1:]])
            case "index":
                return float(machine.text(values[0]).find(machine.text(values[1])) + 1)
            case "sprintf":
                return formatted(machine, machine.text(values[0]), values[1:])
            case "toupper" | "tolower":
                text = machine.text(values[0])
                if not text.isascii():
                    raise Unmodelled("the case of characters that are not ASCII")
                return text.upper() if name == "toupper" else text.lower()
            case "atan2":
                return math.atan2(to_number(values[0]), to_number(values[1]))
            case _:
                try:
                    return _NUMBER_FUNCTIONS[name](to_number(values[0]))
                except (ValueError, OverflowError) as error:
                    raise Unmodelled(f"the result of {name}") from error

    return run


def _substr(text: str, numbers: Sequence[float]) -> str:
    if any(number != int(number) for number in numbers) or (len(numbers) == 2 and numbers[0] < 1):
        raise Unmodelled("numbers of substr that awks read in different ways")
    start = int(numbers[0])
    stop = start + int(numbers[1]) if len(numbers) == 2 else len(text) + 1
    return text[max(start, 1) - 1 : max(stop, 1) - 1]


_DIRECTIVE = re.compile(r"%(?:(%)|([-+ #0]*)([0-9]{0,4})(?:\.([0-9]{0,4}))?([a-zA-Z]))")


def formatted(machine: Machine, template: str, values: Sequence[Value]) -> str:
    """The text of printf; raises Unmodelled where awks differ."""
    pieces: list[str] = []
    at = used = 0
    while True:
        percent = template.find("%", at)
        if percent < 0:
            return "".join(pieces) + template[at:]
        pieces.append(template[at:percent])
        found = _DIRECTIVE.match(template, percent)
        if found is None:
            raise Unmodelled("a format")
        at = found.end()
        if found[1]:
            pieces.append("%")
            continue
        if used >= len(values):
            raise Unmodelled("a format without its value")
        machine.step()
        pieces.append(_directive(machine, found, values[used]))
        used += 1


def _directive(machine: Machine, found: re.Match[str], value: Value) -> str:
    flags, width, precision, letter = found[2], found[3], found[4], found[5]
    form = f"%{flags}{width}" + (f".{precision or 0}" if precision is not None else "")
    if letter in "di":
        number = to_number(value)
        if abs(number) > MAX_INTEGER:
            raise Unmodelled("a number that is too large for %d")
        return f"{form}d" % int(number)
    if letter in "ouxX":
        number = to_number(value)
        if not 0 <= number <= MAX_INTEGER or "#" in flags:
            raise Unmodelled("a number for %x")
        return f"{form}{letter.replace('u', 'd')}" % int(number)
    if letter in "eEfFgG":
        return f"{form}{letter}" % to_number(value)
    if letter == "s":
        return f"{form.replace('0', '', 1) if flags.startswith('0') else form}s" % machine.text(value)
    if letter == "c":
        if isinstance(value, float) or looks_numeric(value):
            raise Unmodelled("a character by its number")
        return f"{form}s" % machine.text(value)[:1]
    raise Unmodelled("a format")

"""JSON values as jq orders, adds and writes them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping

from botlint.shell.commands.base import (
    MAX_STEPS,
    MAX_TEXT,
    Unmodelled,
)

_MAX_INTEGER = 2**53

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class Failure(Exception):  # noqa: N818 (jq's own word is error)
    """An error of the running filter, which `?`, `//` and `try` catch."""


class Environment:
    """Variables and the budget; a binding makes a child that shares the budget."""

    def __init__(self, variables: Mapping[str, Json], counter: list[int]) -> None:
        self.variables = variables
        self.counter = counter

    def bind(self, name: str, value: Json) -> Environment:
        return Environment({**self.variables, name: value}, self.counter)

    def step(self, amount: int = 1) -> None:
        self.counter[0] += amount
        if self.counter[0] > MAX_STEPS:
            raise Unmodelled("the filter takes too many steps")


Filter = Callable[[Environment, Json], Iterator[Json]]


def number_of(text: str) -> Json:
    """The value of a number in a filter."""
    number = float(text)
    return int(number) if number == int(number) and abs(number) <= _MAX_INTEGER else number


def is_true(value: Json) -> bool:
    """False for null and false only."""
    return value is not None and value is not False


def indexed(base: Json, key: Json) -> Json:
    """`base[key]`; raises Failure where jq does."""
    if isinstance(base, dict) and isinstance(key, str):
        return base.get(key)
    if isinstance(base, list) and isinstance(key, int) and not isinstance(key, bool):
        return base[key] if -len(base) <= key < len(base) else None
    if base is None and (isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool))):
        return None
    if isinstance(base, list) and isinstance(key, float | list | dict):
        raise Unmodelled("an index")
    raise Failure("cannot index")


def is_number(value: Json) -> bool:
    """True for numbers, which booleans are not."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def type_name(value: Json) -> str:
    """jq's name for the type of a value."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def sort_key(value: Json) -> tuple[object, ...]:
    """jq's order of all values: null, false, true, numbers, strings, arrays, objects."""
    if value is None:
        return (0,)
    if isinstance(value, bool):
        return (2,) if value else (1,)
    if isinstance(value, int | float):
        return (3, value)
    if isinstance(value, str):
        return (4, value)
    if isinstance(value, list):
        return (5, [sort_key(item) for item in value])
    keys = sorted(value)
    return (6, keys, [sort_key(value[key]) for key in keys])


def plain_number(number: float) -> Json:
    """A result as an integer where it is one; raises Unmodelled when it is not finite."""
    if not math.isfinite(number):
        raise Unmodelled("a number that is too large")
    return int(number) if number == int(number) and abs(number) <= _MAX_INTEGER else number


def calculate(environment: Environment, operator: str, first: Json, second: Json) -> Json:
    """The value of a binary operator; raises Failure where jq does."""
    if operator in ("==", "!=", "<", "<=", ">", ">="):
        left, right = sort_key(first), sort_key(second)
        order = (left > right) - (left < right)
        return {
            "==": order == 0,
            "!=": order != 0,
            "<": order < 0,
            "<=": order <= 0,
            ">": order > 0,
            ">=": order >= 0,
        }[operator]
    if operator == "+":
        return added(environment, first, second)
    if isinstance(first, int | float) and isinstance(second, int | float) and is_number(first) and is_number(second):
        return _arithmetic(operator, first, second)
    if operator == "-" and isinstance(first, list) and isinstance(second, list):
        environment.step(len(first) * max(len(second), 1))
        removed = [sort_key(item) for item in second]
        return [item for item in first if sort_key(item) not in removed]
    if operator == "/" and isinstance(first, str) and isinstance(second, str):
        return split_text(first, second)
    if operator == "*" and (isinstance(first, str | dict) or isinstance(second, str | dict)):
        raise Unmodelled("a product of texts or objects")
    raise Failure("cannot calculate")


def _arithmetic(operator: str, first: float, second: float) -> Json:
    if operator == "-":
        return plain_number(first - second)
    if operator == "*":
        return plain_number(first * second)
    if not second or (operator == "%" and not int(second)):
        raise Failure("division by zero")
    if operator == "/":
        return plain_number(first / second)
    if first < 0 or second < 0:
        raise Unmodelled("the remainder of a negative number")
    return int(first) % int(second)


def added(environment: Environment, first: Json, second: Json) -> Json:
    """`first + second`; raises Failure where jq does."""
    if first is None:
        return second
    if second is None:
        return first
    if isinstance(first, str) and isinstance(second, str):
        if len(first) + len(second) > MAX_TEXT:
            raise Unmodelled("a text is too long")
        environment.step((len(first) + len(second)) // 256)
        return first + second
    if isinstance(first, list) and isinstance(second, list):
        environment.step(len(first) + len(second))
        return first + second
    if isinstance(first, dict) and isinstance(second, dict):
        environment.step(len(first) + len(second))
        return {**first, **second}
    if is_number(first) and is_number(second) and isinstance(first, int | float) and isinstance(second, int | float):
        return plain_number(first + second)
    raise Failure("cannot add")


def split_text(text: str, separator: str) -> Json:
    """The parts of a text."""
    if not text:
        return []
    return list[Json](text.split(separator) if separator else text)


def text_of(value: Json) -> str:
    """A text itself, or another value as JSON."""
    return value if isinstance(value, str) else dumped(value)


def dumped(value: Json, indent: int | None = None, *, sort_keys: bool = False) -> str:
    """A value as JSON; raises Unmodelled where versions of jq differ."""
    _check_numbers(value)
    separators = (",", ": ") if indent else (",", ":")
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, separators=separators, sort_keys=sort_keys)
    except (RecursionError, ValueError) as error:
        raise Unmodelled("a value that is nested too deeply") from error
    return text.replace("\x7f", "\\u007f")


def _check_numbers(value: Json) -> None:
    """Versions write large and small numbers, and wholes with a fraction of zero, in different ways."""
    if isinstance(value, float):
        if not math.isfinite(value) or value == int(value) or not 1e-5 < abs(value) < 1e16:
            raise Unmodelled("a number that versions write in different ways")
    elif isinstance(value, int):
        if abs(value) > _MAX_INTEGER:
            raise Unmodelled("a number that versions write in different ways")
    elif isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            _check_numbers(item)


def as_list(value: Json) -> list[Json]:
    """An array, or Failure."""
    if not isinstance(value, list):
        raise Failure("not an array")
    return value


def as_text(value: Json) -> str:
    """A text, or Failure."""
    if not isinstance(value, str):
        raise Failure("not a string")
    return value


def documents_of(text: str) -> list[Json]:
    """The JSON values of a text; raises Unmodelled on what is not JSON."""
    decoder = json.JSONDecoder(parse_constant=_no_constant, parse_int=_whole)
    documents: list[Json] = []
    at = 0
    space = re.compile(r"[ \t\r\n]*")
    while True:
        gap = space.match(text, at)
        at = gap.end() if gap else at
        if at >= len(text):
            return documents
        try:
            value, at = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            raise Unmodelled("a text that is not JSON") from error
        documents.append(value)


def _whole(text: str) -> int:
    if text == "-0" or len(text) > 17:
        raise Unmodelled("a number that versions write in different ways")
    return int(text)


def _no_constant(name: str) -> Json:
    raise ValueError(name)

"""jq's named functions and formats."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice

from botlint.shell.commands.base import (
    Unmodelled,
)
from botlint.shell.commands.jq_filters import (
    binary_of,
    collected,
    constantly,
    identity,
    iterated,
    per_value,
    piped,
    recurse,
    to_string,
)
from botlint.shell.commands.jq_values import (
    Environment,
    Failure,
    Filter,
    Json,
    added,
    as_list,
    as_text,
    documents_of,
    dumped,
    indexed,
    is_number,
    is_true,
    plain_number,
    sort_key,
    split_text,
    text_of,
    type_name,
)


def _length(value: Json) -> Json:
    if value is None:
        return 0
    if isinstance(value, bool):
        raise Failure("boolean has no length")
    if isinstance(value, int | float):
        return abs(value)
    return len(value)


def _keys(value: Json) -> Json:
    if isinstance(value, dict):
        return list[Json](sorted(value))
    if isinstance(value, list):
        return list[Json](range(len(value)))
    raise Failure("no keys")


def _keys_unsorted(value: Json) -> Json:
    return list[Json](value) if isinstance(value, dict) else _keys(value)


def _to_number(value: Json) -> Json:
    if is_number(value):
        return value
    text = as_text(value)
    if not re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", text):
        if re.fullmatch(r"[A-Za-z_/ :]*", text):
            raise Failure("not a number")
        raise Unmodelled("a number in an unusual form")
    return plain_number(float(text))


def _to_entries(value: Json) -> Json:
    if not isinstance(value, dict | list):
        raise Failure("no keys")
    items: Iterable[tuple[Json, Json]] = value.items() if isinstance(value, dict) else enumerate(value)
    return [{"key": key, "value": item} for key, item in items]


def _from_entries(value: Json) -> Json:
    result: dict[str, Json] = {}
    for entry in as_list(value):
        if not isinstance(entry, dict) or not isinstance(entry.get("key", entry.get("name")), str):
            raise Unmodelled("entries in an unusual form")
        result[str(entry.get("key", entry.get("name")))] = entry.get("value")
    return result


def _add(value: Json) -> Json:
    if isinstance(value, dict):
        raise Unmodelled("the sum of an object")
    environment = Environment({}, [0])
    total: Json = None
    for item in as_list(value):
        total = added(environment, total, item)
    return total


def _unique(value: Json) -> Json:
    result: list[Json] = []
    for item in sorted(as_list(value), key=sort_key):
        if not result or sort_key(result[-1]) != sort_key(item):
            result.append(item)
    return result


def _extreme(value: Json, pick: Callable[[Sequence[Json]], Json]) -> Json:
    items = as_list(value)
    return pick(items) if items else None


def _reverse(value: Json) -> Json:
    if value is None:
        return []
    if isinstance(value, str):
        raise Unmodelled("a reversed string")
    return list(reversed(as_list(value)))


def _flatten(value: Json) -> Json:
    result: list[Json] = []
    for item in as_list(value):
        result += as_list(_flatten(item)) if isinstance(item, list) else [item]
    return result


def _floor(value: Json) -> Json:
    if not is_number(value) or not isinstance(value, int | float):
        raise Failure("not a number")
    return math.floor(value)


def _from_json(value: Json) -> Json:
    documents = documents_of(as_text(value))
    if len(documents) != 1:
        raise Unmodelled("a text that is not one value")
    return documents[0]


def _ascii_case(value: Json, *, upper: bool) -> Json:
    text = as_text(value)
    if not text.isascii():
        raise Unmodelled("the case of characters that are not ASCII")
    return text.upper() if upper else text.lower()


LITERALS: dict[str, Json] = {"null": None, "true": True, "false": False}

PLAIN: dict[str, Callable[[Json], Json]] = {
    "length": _length,
    "keys": _keys,
    "keys_unsorted": _keys_unsorted,
    "not": lambda value: not is_true(value),
    "type": type_name,
    "tostring": text_of,
    "tonumber": _to_number,
    "tojson": dumped,
    "fromjson": _from_json,
    "to_entries": _to_entries,
    "from_entries": _from_entries,
    "add": _add,
    "sort": lambda value: sorted(as_list(value), key=sort_key),
    "unique": _unique,
    "min": lambda value: _extreme(value, lambda items: min(items, key=sort_key)),
    "max": lambda value: _extreme(value, lambda items: max(reversed(items), key=sort_key)),
    "first": lambda value: indexed(as_list(value), 0),
    "last": lambda value: indexed(as_list(value), -1),
    "reverse": _reverse,
    "flatten": _flatten,
    "floor": _floor,
    "any": lambda value: any(is_true(item) for item in as_list(value)),
    "all": lambda value: all(is_true(item) for item in as_list(value)),
    "ascii_downcase": lambda value: _ascii_case(value, upper=False),
    "ascii_upcase": lambda value: _ascii_case(value, upper=True),
}


def _select(condition: Filter) -> Filter:
    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for result in condition(environment, value):
            if is_true(result):
                yield value

    return run


def _map(body: Filter) -> Filter:
    return collected(piped(iterated, body))


def _empty(environment: Environment, value: Json) -> Iterator[Json]:
    del environment, value
    return iter(())


def _error(environment: Environment, value: Json) -> Iterator[Json]:
    del environment, value
    raise Failure("error")


def _error_with(message: Filter) -> Filter:
    # The message goes to the error output, which nobody reads here.
    return piped(message, _error)


def _with_argument(function: Callable[[Json, Json], Json]) -> Callable[[Filter], Filter]:
    def make(argument: Filter) -> Filter:
        def run(environment: Environment, value: Json) -> Iterator[Json]:
            for given in argument(environment, value):
                environment.step()
                yield function(value, given)

        return run

    return make


def _by(function: Callable[[list[tuple[tuple[object, ...], Json]]], Json]) -> Callable[[Filter], Filter]:
    """A function of an array that looks at each item through a filter."""

    def make(key: Filter) -> Filter:
        def run(environment: Environment, value: Json) -> Iterator[Json]:
            pairs = [(sort_key(list(key(environment, item))), item) for item in as_list(value)]
            environment.step(len(pairs))
            yield function(sorted(pairs, key=lambda pair: pair[0]))

        return run

    return make


def _groups(pairs: list[tuple[tuple[object, ...], Json]]) -> list[list[Json]]:
    groups: list[list[Json]] = []
    before: tuple[object, ...] | None = None
    for key, item in pairs:
        if key != before:
            groups.append([])
        before = key
        groups[-1].append(item)
    return groups


def _has(value: Json, key: Json) -> Json:
    if isinstance(value, dict) and isinstance(key, str):
        return key in value
    if isinstance(value, list) and type(key) is int:
        return 0 <= key < len(value)
    raise Failure("cannot check for a key")


def _join(value: Json, glue: Json) -> Json:
    items = as_list(value)
    if any(isinstance(item, list | dict) for item in items):
        raise Failure("cannot join")
    return as_text(glue).join("" if item is None else text_of(item) for item in items)


def _starts(value: Json, other: Json) -> Json:
    return as_text(value).startswith(as_text(other))


def _ends(value: Json, other: Json) -> Json:
    return as_text(value).endswith(as_text(other))


def _left_trimmed(value: Json, other: Json) -> Json:
    return value.removeprefix(other) if isinstance(value, str) and isinstance(other, str) else value


def _right_trimmed(value: Json, other: Json) -> Json:
    return value.removesuffix(other) if isinstance(value, str) and isinstance(other, str) else value


def _contains(value: Json, other: Json) -> Json:
    if isinstance(value, str) and isinstance(other, str):
        return other in value
    if isinstance(value, dict) and isinstance(other, dict):
        return all(key in value and _contains(value[key], item) for key, item in other.items())
    if isinstance(value, list) and isinstance(other, list):
        if len(value) * len(other) > 10_000:
            raise Unmodelled("large arrays")
        return all(any(type_name(one) == type_name(item) and _contains(one, item) for one in value) for item in other)
    if type_name(value) == type_name(other):
        return sort_key(value) == sort_key(other)
    raise Failure("cannot check containment")


def _quantified(*, every: bool, items: Filter = iterated) -> Callable[[Filter], Filter]:
    def make(condition: Filter) -> Filter:
        def run(environment: Environment, value: Json) -> Iterator[Json]:
            results = (is_true(result) for item in items(environment, value) for result in condition(environment, item))
            yield all(results) if every else any(results)

        return run

    return make


def _first_of(body: Filter) -> Filter:
    return lambda environment, value: islice(body(environment, value), 1)


def _limit(count: Filter, body: Filter) -> Filter:
    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for amount in count(environment, value):
            if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
                raise Unmodelled("the count of limit")
            yield from islice(body(environment, value), amount)

    return run


def _of_type(name: str) -> Callable[[], Filter]:
    return lambda: _select(binary_of("==", per_value(type_name), constantly(name)))


def _range(*arguments: Filter) -> Filter:
    def run(environment: Environment, value: Json) -> Iterator[Json]:
        bounds = [list(argument(environment, value)) for argument in arguments]
        numbers = [bound[0] for bound in bounds if len(bound) == 1 and type(bound[0]) is int]
        if len(numbers) != len(bounds):
            raise Unmodelled("the bounds of a range")
        for number in range(*[int(number) for number in numbers if isinstance(number, int)]):
            environment.step()
            yield number

    return run


def _with_entries(body: Filter) -> Filter:
    return piped(piped(per_value(_to_entries), _map(body)), per_value(_from_entries))


MAKERS: dict[tuple[str, int], Callable[..., Filter]] = {
    ("select", 1): _select,
    ("map", 1): _map,
    ("empty", 0): lambda: _empty,
    ("error", 0): lambda: _error,
    ("error", 1): _error_with,
    ("has", 1): _with_argument(_has),
    ("join", 1): _with_argument(_join),
    ("split", 1): _with_argument(lambda value, separator: split_text(as_text(value), as_text(separator))),
    ("startswith", 1): _with_argument(_starts),
    ("endswith", 1): _with_argument(_ends),
    ("ltrimstr", 1): _with_argument(_left_trimmed),
    ("rtrimstr", 1): _with_argument(_right_trimmed),
    ("contains", 1): _with_argument(_contains),
    ("any", 1): _quantified(every=False),
    ("all", 1): _quantified(every=True),
    ("any", 2): lambda items, condition: _quantified(every=False, items=items)(condition),
    ("all", 2): lambda items, condition: _quantified(every=True, items=items)(condition),
    ("first", 1): _first_of,
    ("limit", 2): _limit,
    **{(f"{name}s", 0): _of_type(name) for name in ("number", "string", "boolean", "array", "object", "null")},
    ("range", 1): _range,
    ("range", 2): _range,
    ("with_entries", 1): _with_entries,
    ("values", 0): lambda: _select(binary_of("!=", identity, constantly(None))),
    ("sort_by", 1): _by(lambda pairs: [item for _, item in pairs]),
    ("group_by", 1): _by(lambda pairs: list[Json](_groups(pairs))),
    ("unique_by", 1): _by(lambda pairs: [group[0] for group in _groups(pairs)]),
    ("min_by", 1): _by(lambda pairs: pairs[0][1] if pairs else None),
    ("recurse", 0): lambda: recurse,
}


def format_of(name: str) -> Filter:
    """The filter of a format such as `@csv`; raises Unmodelled on one that is not known."""
    match name:
        case "@text":
            return to_string
        case "@json":
            return per_value(dumped)
        case "@tsv":
            return per_value(lambda value: "\t".join(_tsv(item) for item in as_list(value)))
        case "@csv":
            return per_value(lambda value: ",".join(_csv(item) for item in as_list(value)))
        case "@sh":
            return per_value(lambda value: " ".join(map(_shell, value if isinstance(value, list) else [value])))
        case "@base64":
            return per_value(lambda value: base64.b64encode(text_of(value).encode()).decode())
        case _:
            raise Unmodelled(f"the format {name}")


def _row_item(value: Json) -> str:
    if isinstance(value, list | dict):
        raise Failure("not valid in a row")
    return "" if value is None else text_of(value)


def _tsv(value: Json) -> str:
    return _row_item(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _csv(value: Json) -> str:
    text = _row_item(value)
    return '"' + text.replace('"', '""') + '"' if isinstance(value, str) else text


def _shell(value: Json) -> str:
    if isinstance(value, list | dict):
        raise Failure("cannot be quoted")
    return "'" + value.replace("'", "'\\''") + "'" if isinstance(value, str) else text_of(value)

"""jq's filters as functions from a value to values, and how they combine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain

from botlint.shell.commands.base import (
    Unmodelled,
)
from botlint.shell.commands.jq_values import Environment, Failure, Filter, Json, calculate, indexed, is_true, text_of


def identity(environment: Environment, value: Json) -> Iterator[Json]:
    """`.`."""
    environment.step()
    yield value


def constantly(constant: Json) -> Filter:
    """A filter that gives one value."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        del value
        environment.step()
        yield constant

    return run


def variable_of(name: str) -> Filter:
    """`$name`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        del value
        if name not in environment.variables:
            raise Unmodelled(f"the variable {name}")
        yield environment.variables[name]

    return run


def piped(left: Filter, right: Filter) -> Filter:
    """`left | right`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for item in left(environment, value):
            environment.step()
            yield from right(environment, item)

    return run


def bound(source: Filter, name: str, body: Filter) -> Filter:
    """`source as $name | body`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for item in source(environment, value):
            environment.step()
            yield from body(environment.bind(name, item), value)

    return run


def both_of(left: Filter, right: Filter) -> Filter:
    """`left, right`."""
    return lambda environment, value: chain(left(environment, value), right(environment, value))


def alternative_to(left: Filter, right: Filter) -> Filter:
    """`left // right`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        found = False
        try:
            for item in left(environment, value):
                if is_true(item):
                    found = True
                    yield item
        except Failure:
            pass
        if not found:
            yield from right(environment, value)

    return run


def logical_of(left: Filter, right: Filter, *, stop: bool) -> Filter:
    """`and` (`stop` is false) and `or`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for first in left(environment, value):
            if is_true(first) == stop:
                yield stop
                continue
            for second in right(environment, value):
                yield is_true(second)

    return run


def binary_of(operator: str, left: Filter, right: Filter) -> Filter:
    """An operator on every pair of results, as jq orders them."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for second in right(environment, value):
            for first in left(environment, value):
                environment.step()
                yield calculate(environment, operator, first, second)

    return run


def negated_of(operand: Filter) -> Filter:
    """`-operand`."""
    return binary_of("-", constantly(0), operand)


def caught(body: Filter, handler: Filter | None) -> Filter:
    """`body?` and `try body catch handler`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        try:
            yield from body(environment, value)
        except Failure as error:
            if handler is not None:
                raise Unmodelled("the text of an error") from error

    return run


def conditional_of(test: Filter, then: Filter, otherwise: Filter) -> Filter:
    """`if test then ... else ... end`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for result in test(environment, value):
            yield from (then if is_true(result) else otherwise)(environment, value)

    return run


def reduced(source: Filter, name: str, start: Filter, update: Filter) -> Filter:
    """`reduce source as $name (start; update)`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for state in start(environment, value):
            current = state
            for item in source(environment, value):
                results = list(update(environment.bind(name, item), current))
                if not results:
                    raise Unmodelled("a reduction to nothing")
                current = results[-1]
            yield current

    return run


def collected(inner: Filter) -> Filter:
    """`[inner]`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        yield list(inner(environment, value))

    return run


def with_entry(objects: Filter, key: Filter, item: Filter) -> Filter:
    """An object with one more entry."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for base in objects(environment, value):
            for name in key(environment, value):
                if not isinstance(name, str) or not isinstance(base, dict):
                    raise Failure("object keys must be strings")
                for content in item(environment, value):
                    yield {**base, name: content}

    return run


def pipe_index(subject: Filter, index: Filter) -> Filter:
    """`subject[index]`."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for base in subject(environment, value):
            for key in index(environment, value):
                environment.step()
                yield indexed(base, key)

    return run


def sliced(subject: Filter, low: Filter | None, high: Filter | None) -> Filter:
    """`subject[low:high]`."""

    def bounds(filter_: Filter | None, environment: Environment, value: Json) -> Iterator[Json]:
        return iter((None,)) if filter_ is None else filter_(environment, value)

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        for base in subject(environment, value):
            for end in bounds(high, environment, value):
                for start in bounds(low, environment, value):
                    if base is None:
                        yield None
                    elif not isinstance(base, list | str):
                        raise Failure("cannot slice")
                    else:
                        yield base[_edge(start) : _edge(end)]

    return run


def _edge(value: Json) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise Unmodelled("the bounds of a slice")


def iterated(environment: Environment, value: Json) -> Iterator[Json]:
    """`.[]`."""
    if not isinstance(value, list | dict):
        raise Failure("cannot iterate")
    for item in value.values() if isinstance(value, dict) else value:
        environment.step()
        yield item


def recurse(environment: Environment, value: Json) -> Iterator[Json]:
    """`..`."""
    environment.step()
    yield value
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from recurse(environment, item)


def to_string(environment: Environment, value: Json) -> Iterator[Json]:
    """`tostring`."""
    environment.step()
    yield text_of(value)


def per_value(function: Callable[[Json], Json]) -> Filter:
    """A function of one value as a filter."""

    def run(environment: Environment, value: Json) -> Iterator[Json]:
        environment.step(1 + (len(value) if isinstance(value, list | dict) else 0))
        yield function(value)

    return run

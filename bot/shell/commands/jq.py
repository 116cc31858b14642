"""The model of `jq` (1.6 and later, where they agree) on known JSON."""

from __future__ import annotations

import base64
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain, islice

from botlint.shell.commands.base import (
    MAX_DEPTH,
    MAX_STEPS,
    MAX_TEXT,
    Call,
    Options,
    Output,
    Unmodelled,
    read_options,
)

MAX_PROGRAM = 10_000
_MAX_INTEGER = 2**53

Json = None | bool | int | float | str | list["Json"] | dict[str, "Json"]


class _Failure(Exception):  # noqa: N818 (jq's own word is error)
    """An error of the running filter, which `?`, `//` and `try` catch."""


class _Environment:
    """Variables and the budget; a binding makes a child that shares the budget."""

    def __init__(self, variables: Mapping[str, Json], counter: list[int]) -> None:
        self.variables = variables
        self.counter = counter

    def bind(self, name: str, value: Json) -> _Environment:
        return _Environment({**self.variables, name: value}, self.counter)

    def step(self, amount: int = 1) -> None:
        self.counter[0] += amount
        if self.counter[0] > MAX_STEPS:
            raise Unmodelled("the filter takes too many steps")


Filter = Callable[[_Environment, Json], Iterator[Json]]

_TOKEN = re.compile(
    r"""(?:\s|\#[^\n]*)*(?:
    (?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    |(?P<field>\.[A-Za-z_][A-Za-z0-9_]*)
    |(?P<variable>\$[A-Za-z_][A-Za-z0-9_]*)
    |(?P<format>@[a-z0-9]+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<quote>")
    |(?P<operator>\?//|//=|//|\|=|\+=|-=|\*=|/=|%=|==|!=|<=|>=|\.\.|[-+*/%|,<>=?.:;(){}\[\]])
    |(?P<end>\Z)
    )""",
    re.VERBOSE,
)
_KEYWORDS = frozenset(
    {
        "if",
        "then",
        "elif",
        "else",
        "end",
        "and",
        "or",
        "as",
        "reduce",
        "foreach",
        "try",
        "catch",
        "def",
        "label",
        "import",
    }
)


class _Reader:
    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.kind = ""
        self.word = ""
        self.depth = 0
        self.advance()

    def advance(self) -> None:
        found = _TOKEN.match(self.source, self.at)
        if found is None:
            raise Unmodelled("a character in the filter")
        self.at = found.end()
        self.kind = found.lastgroup or ""
        self.word = found[self.kind]
        if self.kind == "name" and self.word in _KEYWORDS:
            self.kind = "keyword"

    def accept(self, word: str) -> bool:
        if self.word == word and self.kind in ("operator", "keyword"):
            self.advance()
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise Unmodelled(f"the filter lacks {word}")

    def whole(self) -> Filter:
        if self.kind == "end":
            return _identity
        result = self.pipe()
        if self.kind != "end":
            raise Unmodelled("the rest of the filter")
        return result

    def pipe(self, *, comma: bool = True) -> Filter:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unmodelled("the filter is nested too deeply")
        if self.kind == "keyword" and self.word in ("def", "label", "import", "foreach"):
            raise Unmodelled(f"the filter's {self.word}")
        left = self.comma() if comma else self.alternative()
        if self.accept("as"):
            name = self.variable()
            self.expect("|")
            left = _binding(left, name, self.pipe(comma=comma))
        elif self.accept("|"):
            left = _pipe(left, self.pipe(comma=comma))
        self.depth -= 1
        return left

    def variable(self) -> str:
        if self.kind != "variable":
            raise Unmodelled("a pattern")
        name = self.word[1:]
        self.advance()
        return name

    def comma(self) -> Filter:
        left = self.alternative()
        while self.accept(","):
            left = _comma(left, self.alternative())
        return left

    def alternative(self) -> Filter:
        left = self.either()
        if self.word in ("=", "|=", "+=", "-=", "*=", "/=", "%=", "//=", "?//") and self.kind == "operator":
            raise Unmodelled("an update")
        if self.accept("//"):
            return _alternative(left, self.alternative())
        return left

    def either(self) -> Filter:
        left = self.both()
        while self.accept("or"):
            left = _logical(left, self.both(), stop=True)
        return left

    def both(self) -> Filter:
        left = self.comparison()
        while self.accept("and"):
            left = _logical(left, self.comparison(), stop=False)
        return left

    def comparison(self) -> Filter:
        left = self.sum()
        if self.kind == "operator" and self.word in ("==", "!=", "<", "<=", ">", ">="):
            operator = self.word
            self.advance()
            return _binary(operator, left, self.sum())
        return left

    def sum(self) -> Filter:
        left = self.product()
        while self.kind == "operator" and self.word in ("+", "-"):
            operator = self.word
            self.advance()
            left = _binary(operator, left, self.product())
        return left

    def product(self) -> Filter:
        left = self.postfix()
        while self.kind == "operator" and self.word in ("*", "/", "%"):
            operator = self.word
            self.advance()
            left = _binary(operator, left, self.postfix())
        return left

    def postfix(self) -> Filter:
        if self.kind == "keyword" and self.word == "reduce":
            return self.reduce()
        if self.accept("-"):
            return _negated(self.postfix())
        if self.accept("try"):
            body = self.postfix()
            return _caught(body, self.postfix() if self.accept("catch") else None)
        result = self.term()
        while True:
            if self.kind == "field":
                result = _pipe_index(result, _constant(self.word[1:]))
                self.advance()
            elif self.kind == "operator" and self.word == "." and self.source.startswith(('"', "["), self.at):
                self.advance()
                if self.kind == "quote":
                    result = _pipe_index(result, self.string())
            elif self.accept("["):
                result = self.index(result)
            elif self.accept("?"):
                result = _caught(result, None)
            else:
                return result

    def index(self, subject: Filter) -> Filter:
        if self.accept("]"):
            return _pipe(subject, _iterate)
        if self.accept(":"):
            high = self.pipe()
            self.expect("]")
            return _slice(subject, None, high)
        low = self.pipe()
        if self.accept(":"):
            high_or_none = None if self.word == "]" else self.pipe()
            self.expect("]")
            return _slice(subject, low, high_or_none)
        self.expect("]")
        return _pipe_index(subject, low)

    def term(self) -> Filter:
        kind, word = self.kind, self.word
        match kind:
            case "number":
                self.advance()
                return _constant(_number(word))
            case "quote":
                return self.string()
            case "format":
                self.advance()
                if self.kind == "quote":
                    raise Unmodelled("a formatted string")
                return _format(word)
            case "field":
                self.advance()
                return _pipe_index(_identity, _constant(word[1:]))
            case "variable":
                name = self.variable()
                if name in ("ENV", "__loc__"):
                    raise Unmodelled(f"the variable {name}")
                return _variable(name)
            case "name":
                return self.call(word)
            case "keyword" if word == "if":
                return self.condition()
            case _:
                return self.punctuation(word)

    def punctuation(self, word: str) -> Filter:
        self.advance()
        match word:
            case ".":
                return self.string_index() if self.kind == "quote" else _identity
            case "..":
                return _recurse
            case "(":
                inner = self.pipe()
                self.expect(")")
                return inner
            case "[":
                if self.accept("]"):
                    return _constant([])
                inner = self.pipe()
                self.expect("]")
                return _collected(inner)
            case "{":
                return self.object()
            case _:
                raise Unmodelled("a part of the filter")

    def string_index(self) -> Filter:
        return _pipe_index(_identity, self.string())

    def string(self) -> Filter:
        """A string with its interpolations; the current word is its opening quote."""
        parts: list[Filter] = []
        pieces: list[str] = []
        while True:
            character = self.source[self.at : self.at + 1]
            self.at += 1
            if character == '"':
                break
            if not character:
                raise Unmodelled("a string without an end")
            if character != "\\":
                pieces.append(character)
                continue
            if self.source.startswith("(", self.at):
                parts.append(_constant("".join(pieces)))
                pieces.clear()
                self.at += 1
                self.advance()
                parts.append(_pipe(self.pipe(), _to_string))
                if self.word != ")" or self.kind != "operator":
                    raise Unmodelled("an interpolation without an end")
                continue
            pieces.append(self.escape())
        self.advance()
        parts.append(_constant("".join(pieces)))
        result = parts[0]
        for part in parts[1:]:
            result = _binary("+", result, part)
        return result

    def escape(self) -> str:
        found = re.compile(r'["\\/bfnrt]|u[0-9a-fA-F]{4}(?:\\u[0-9a-fA-F]{4})?').match(self.source, self.at)
        if found is None:
            raise Unmodelled("an escape in a string")
        self.at = found.end()
        decoded: str = json.loads(f'"\\{found[0]}"')
        if any(0xD800 <= ord(one) < 0xE000 for one in decoded):
            raise Unmodelled("half a character")
        return decoded

    def condition(self) -> Filter:
        self.advance()
        test = self.pipe()
        self.expect("then")
        then = self.pipe()
        if self.kind == "keyword" and self.word == "elif":
            return _conditional(test, then, self.condition())
        # An if without else arrived with 1.7.
        self.expect("else")
        otherwise = self.pipe()
        self.expect("end")
        return _conditional(test, then, otherwise)

    def reduce(self) -> Filter:
        self.advance()
        source = self.postfix()
        self.expect("as")
        name = self.variable()
        self.expect("(")
        start = self.pipe()
        self.expect(";")
        update = self.pipe()
        self.expect(")")
        return _reduced(source, name, start, update)

    def object(self) -> Filter:
        result: Filter = _constant({})
        while not self.accept("}"):
            result = _with_entry(result, *self.entry())
            if not self.accept(","):
                self.expect("}")
                break
        return result

    def entry(self) -> tuple[Filter, Filter]:
        if self.kind == "variable":
            name = self.variable()
            return _constant(name), _variable(name)
        if self.accept("("):
            key = self.pipe()
            self.expect(")")
            self.expect(":")
            return key, self.entry_value()
        if self.kind == "quote":
            key = self.string()
        elif self.kind in ("name", "keyword"):
            key = _constant(self.word)
            self.advance()
        else:
            raise Unmodelled("the key of an object")
        if self.accept(":"):
            return key, self.entry_value()
        return key, _pipe_index(_identity, key)

    def entry_value(self) -> Filter:
        result = self.postfix()
        while self.accept("|"):
            result = _pipe(result, self.postfix())
        if self.kind == "operator" and self.word not in (",", "}"):
            raise Unmodelled("an operator in an object without parentheses")
        return result

    def call(self, name: str) -> Filter:
        self.advance()
        arguments: list[Filter] = []
        if self.accept("("):
            arguments.append(self.pipe())
            while self.accept(";"):
                arguments.append(self.pipe())
            self.expect(")")
        if name in _LITERALS and not arguments:
            return _constant(_LITERALS[name])
        if name in _PLAIN and not arguments:
            return _plain(_PLAIN[name])
        maker = _MAKERS.get((name, len(arguments)))
        if maker is None:
            raise Unmodelled(f"the function {name}/{len(arguments)}")
        return maker(*arguments)


def _number(text: str) -> Json:
    number = float(text)
    return int(number) if number == int(number) and abs(number) <= _MAX_INTEGER else number


def _identity(environment: _Environment, value: Json) -> Iterator[Json]:
    environment.step()
    yield value


def _constant(constant: Json) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        del value
        environment.step()
        yield constant

    return run


def _variable(name: str) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        del value
        if name not in environment.variables:
            raise Unmodelled(f"the variable {name}")
        yield environment.variables[name]

    return run


def _pipe(left: Filter, right: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for item in left(environment, value):
            environment.step()
            yield from right(environment, item)

    return run


def _binding(source: Filter, name: str, body: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for item in source(environment, value):
            environment.step()
            yield from body(environment.bind(name, item), value)

    return run


def _comma(left: Filter, right: Filter) -> Filter:
    return lambda environment, value: chain(left(environment, value), right(environment, value))


def _truth(value: Json) -> bool:
    return value is not None and value is not False


def _alternative(left: Filter, right: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        found = False
        try:
            for item in left(environment, value):
                if _truth(item):
                    found = True
                    yield item
        except _Failure:
            pass
        if not found:
            yield from right(environment, value)

    return run


def _logical(left: Filter, right: Filter, *, stop: bool) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for first in left(environment, value):
            if _truth(first) == stop:
                yield stop
                continue
            for second in right(environment, value):
                yield _truth(second)

    return run


def _binary(operator: str, left: Filter, right: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for second in right(environment, value):
            for first in left(environment, value):
                environment.step()
                yield _calculate(environment, operator, first, second)

    return run


def _negated(operand: Filter) -> Filter:
    return _binary("-", _constant(0), operand)


def _caught(body: Filter, handler: Filter | None) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        try:
            yield from body(environment, value)
        except _Failure as error:
            if handler is not None:
                raise Unmodelled("the text of an error") from error

    return run


def _conditional(test: Filter, then: Filter, otherwise: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for result in test(environment, value):
            yield from (then if _truth(result) else otherwise)(environment, value)

    return run


def _reduced(source: Filter, name: str, start: Filter, update: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for state in start(environment, value):
            current = state
            for item in source(environment, value):
                results = list(update(environment.bind(name, item), current))
                if not results:
                    raise Unmodelled("a reduction to nothing")
                current = results[-1]
            yield current

    return run


def _collected(inner: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        yield list(inner(environment, value))

    return run


def _with_entry(objects: Filter, key: Filter, item: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for base in objects(environment, value):
            for name in key(environment, value):
                if not isinstance(name, str) or not isinstance(base, dict):
                    raise _Failure("object keys must be strings")
                for content in item(environment, value):
                    yield {**base, name: content}

    return run


def _pipe_index(subject: Filter, index: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for base in subject(environment, value):
            for key in index(environment, value):
                environment.step()
                yield _indexed(base, key)

    return run


def _indexed(base: Json, key: Json) -> Json:
    if isinstance(base, dict) and isinstance(key, str):
        return base.get(key)
    if isinstance(base, list) and isinstance(key, int) and not isinstance(key, bool):
        return base[key] if -len(base) <= key < len(base) else None
    if base is None and (isinstance(key, str) or (isinstance(key, int) and not isinstance(key, bool))):
        return None
    if isinstance(base, list) and isinstance(key, float | list | dict):
        raise Unmodelled("an index")
    raise _Failure("cannot index")


def _slice(subject: Filter, low: Filter | None, high: Filter | None) -> Filter:
    def bounds(filter_: Filter | None, environment: _Environment, value: Json) -> Iterator[Json]:
        return iter((None,)) if filter_ is None else filter_(environment, value)

    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for base in subject(environment, value):
            for end in bounds(high, environment, value):
                for start in bounds(low, environment, value):
                    if base is None:
                        yield None
                    elif not isinstance(base, list | str):
                        raise _Failure("cannot slice")
                    else:
                        yield base[_edge(start) : _edge(end)]

    return run


def _edge(value: Json) -> int | None:
    if value is None or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    raise Unmodelled("the bounds of a slice")


def _iterate(environment: _Environment, value: Json) -> Iterator[Json]:
    if not isinstance(value, list | dict):
        raise _Failure("cannot iterate")
    for item in value.values() if isinstance(value, dict) else value:
        environment.step()
        yield item


def _recurse(environment: _Environment, value: Json) -> Iterator[Json]:
    environment.step()
    yield value
    if isinstance(value, list | dict):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _recurse(environment, item)


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _type(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, str):
        return "string"
    if isinstance(value, list):
        return "array"
    return "object" if isinstance(value, dict) else "number"


def _order(value: Json) -> tuple[object, ...]:
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
        return (5, [_order(item) for item in value])
    keys = sorted(value)
    return (6, keys, [_order(value[key]) for key in keys])


def _simple(number: float) -> Json:
    if not math.isfinite(number):
        raise Unmodelled("a number that is too large")
    return int(number) if number == int(number) and abs(number) <= _MAX_INTEGER else number


def _calculate(environment: _Environment, operator: str, first: Json, second: Json) -> Json:
    if operator in ("==", "!=", "<", "<=", ">", ">="):
        left, right = _order(first), _order(second)
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
        return _added(environment, first, second)
    if isinstance(first, int | float) and isinstance(second, int | float) and _is_number(first) and _is_number(second):
        return _arithmetic(operator, first, second)
    if operator == "-" and isinstance(first, list) and isinstance(second, list):
        environment.step(len(first) * max(len(second), 1))
        removed = [_order(item) for item in second]
        return [item for item in first if _order(item) not in removed]
    if operator == "/" and isinstance(first, str) and isinstance(second, str):
        return _split(first, second)
    if operator == "*" and (isinstance(first, str | dict) or isinstance(second, str | dict)):
        raise Unmodelled("a product of texts or objects")
    raise _Failure("cannot calculate")


def _arithmetic(operator: str, first: float, second: float) -> Json:
    if operator == "-":
        return _simple(first - second)
    if operator == "*":
        return _simple(first * second)
    if not second or (operator == "%" and not int(second)):
        raise _Failure("division by zero")
    if operator == "/":
        return _simple(first / second)
    if first < 0 or second < 0:
        raise Unmodelled("the remainder of a negative number")
    return int(first) % int(second)


def _added(environment: _Environment, first: Json, second: Json) -> Json:
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
    if _is_number(first) and _is_number(second) and isinstance(first, int | float) and isinstance(second, int | float):
        return _simple(first + second)
    raise _Failure("cannot add")


def _split(text: str, separator: str) -> Json:
    if not text:
        return []
    return list[Json](text.split(separator) if separator else text)


def _text_of(value: Json) -> str:
    return value if isinstance(value, str) else _dumped(value)


def _to_string(environment: _Environment, value: Json) -> Iterator[Json]:
    environment.step()
    yield _text_of(value)


def _dumped(value: Json, indent: int | None = None, *, sort_keys: bool = False) -> str:
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


def _plain(function: Callable[[Json], Json]) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        environment.step(1 + (len(value) if isinstance(value, list | dict) else 0))
        yield function(value)

    return run


def _length(value: Json) -> Json:
    if value is None:
        return 0
    if isinstance(value, bool):
        raise _Failure("boolean has no length")
    if isinstance(value, int | float):
        return abs(value)
    return len(value)


def _keys(value: Json) -> Json:
    if isinstance(value, dict):
        return list[Json](sorted(value))
    if isinstance(value, list):
        return list[Json](range(len(value)))
    raise _Failure("no keys")


def _keys_unsorted(value: Json) -> Json:
    return list[Json](value) if isinstance(value, dict) else _keys(value)


def _as_list(value: Json) -> list[Json]:
    if not isinstance(value, list):
        raise _Failure("not an array")
    return value


def _as_text(value: Json) -> str:
    if not isinstance(value, str):
        raise _Failure("not a string")
    return value


def _to_number(value: Json) -> Json:
    if _is_number(value):
        return value
    text = _as_text(value)
    if not re.fullmatch(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", text):
        if re.fullmatch(r"[A-Za-z_/ :]*", text):
            raise _Failure("not a number")
        raise Unmodelled("a number in an unusual form")
    return _simple(float(text))


def _to_entries(value: Json) -> Json:
    if not isinstance(value, dict | list):
        raise _Failure("no keys")
    items: Iterable[tuple[Json, Json]] = value.items() if isinstance(value, dict) else enumerate(value)
    return [{"key": key, "value": item} for key, item in items]


def _from_entries(value: Json) -> Json:
    result: dict[str, Json] = {}
    for entry in _as_list(value):
        if not isinstance(entry, dict) or not isinstance(entry.get("key", entry.get("name")), str):
            raise Unmodelled("entries in an unusual form")
        result[str(entry.get("key", entry.get("name")))] = entry.get("value")
    return result


def _add(value: Json) -> Json:
    if isinstance(value, dict):
        raise Unmodelled("the sum of an object")
    environment = _Environment({}, [0])
    total: Json = None
    for item in _as_list(value):
        total = _added(environment, total, item)
    return total


def _unique(value: Json) -> Json:
    result: list[Json] = []
    for item in sorted(_as_list(value), key=_order):
        if not result or _order(result[-1]) != _order(item):
            result.append(item)
    return result


def _extreme(value: Json, pick: Callable[[Sequence[Json]], Json]) -> Json:
    items = _as_list(value)
    return pick(items) if items else None


def _reverse(value: Json) -> Json:
    if value is None:
        return []
    if isinstance(value, str):
        raise Unmodelled("a reversed string")
    return list(reversed(_as_list(value)))


def _flatten(value: Json) -> Json:
    result: list[Json] = []
    for item in _as_list(value):
        result += _as_list(_flatten(item)) if isinstance(item, list) else [item]
    return result


def _floor(value: Json) -> Json:
    if not _is_number(value) or not isinstance(value, int | float):
        raise _Failure("not a number")
    return math.floor(value)


def _from_json(value: Json) -> Json:
    documents = _documents(_as_text(value))
    if len(documents) != 1:
        raise Unmodelled("a text that is not one value")
    return documents[0]


def _ascii_case(value: Json, *, upper: bool) -> Json:
    text = _as_text(value)
    if not text.isascii():
        raise Unmodelled("the case of characters that are not ASCII")
    return text.upper() if upper else text.lower()


_LITERALS: dict[str, Json] = {"null": None, "true": True, "false": False}
_PLAIN: dict[str, Callable[[Json], Json]] = {
    "length": _length,
    "keys": _keys,
    "keys_unsorted": _keys_unsorted,
    "not": lambda value: not _truth(value),
    "type": _type,
    "tostring": _text_of,
    "tonumber": _to_number,
    "tojson": _dumped,
    "fromjson": _from_json,
    "to_entries": _to_entries,
    "from_entries": _from_entries,
    "add": _add,
    "sort": lambda value: sorted(_as_list(value), key=_order),
    "unique": _unique,
    "min": lambda value: _extreme(value, lambda items: min(items, key=_order)),
    "max": lambda value: _extreme(value, lambda items: max(reversed(items), key=_order)),
    "first": lambda value: _indexed(_as_list(value), 0),
    "last": lambda value: _indexed(_as_list(value), -1),
    "reverse": _reverse,
    "flatten": _flatten,
    "floor": _floor,
    "any": lambda value: any(_truth(item) for item in _as_list(value)),
    "all": lambda value: all(_truth(item) for item in _as_list(value)),
    "ascii_downcase": lambda value: _ascii_case(value, upper=False),
    "ascii_upcase": lambda value: _ascii_case(value, upper=True),
}


def _select(condition: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for result in condition(environment, value):
            if _truth(result):
                yield value

    return run


def _map(body: Filter) -> Filter:
    return _collected(_pipe(_iterate, body))


def _empty(environment: _Environment, value: Json) -> Iterator[Json]:
    del environment, value
    return iter(())


def _error(environment: _Environment, value: Json) -> Iterator[Json]:
    del environment, value
    raise _Failure("error")


def _error_with(message: Filter) -> Filter:
    # The message goes to the error output, which nobody reads here.
    return _pipe(message, _error)


def _with_argument(function: Callable[[Json, Json], Json]) -> Callable[[Filter], Filter]:
    def make(argument: Filter) -> Filter:
        def run(environment: _Environment, value: Json) -> Iterator[Json]:
            for given in argument(environment, value):
                environment.step()
                yield function(value, given)

        return run

    return make


def _by(function: Callable[[list[tuple[tuple[object, ...], Json]]], Json]) -> Callable[[Filter], Filter]:
    """A function of an array that looks at each item through a filter."""

    def make(key: Filter) -> Filter:
        def run(environment: _Environment, value: Json) -> Iterator[Json]:
            pairs = [(_order(list(key(environment, item))), item) for item in _as_list(value)]
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
    raise _Failure("cannot check for a key")


def _join(value: Json, glue: Json) -> Json:
    items = _as_list(value)
    if any(isinstance(item, list | dict) for item in items):
        raise _Failure("cannot join")
    return _as_text(glue).join("" if item is None else _text_of(item) for item in items)


def _starts(value: Json, other: Json) -> Json:
    return _as_text(value).startswith(_as_text(other))


def _ends(value: Json, other: Json) -> Json:
    return _as_text(value).endswith(_as_text(other))


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
        return all(any(_type(one) == _type(item) and _contains(one, item) for one in value) for item in other)
    if _type(value) == _type(other):
        return _order(value) == _order(other)
    raise _Failure("cannot check containment")


def _quantified(*, every: bool, items: Filter = _iterate) -> Callable[[Filter], Filter]:
    def make(condition: Filter) -> Filter:
        def run(environment: _Environment, value: Json) -> Iterator[Json]:
            results = (_truth(result) for item in items(environment, value) for result in condition(environment, item))
            yield all(results) if every else any(results)

        return run

    return make


def _first_of(body: Filter) -> Filter:
    return lambda environment, value: islice(body(environment, value), 1)


def _limit(count: Filter, body: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        for amount in count(environment, value):
            if not isinstance(amount, int) or isinstance(amount, bool) or amount < 1:
                raise Unmodelled("the count of limit")
            yield from islice(body(environment, value), amount)

    return run


def _of_type(name: str) -> Callable[[], Filter]:
    return lambda: _select(_binary("==", _plain(_type), _constant(name)))


def _range(*arguments: Filter) -> Filter:
    def run(environment: _Environment, value: Json) -> Iterator[Json]:
        bounds = [list(argument(environment, value)) for argument in arguments]
        numbers = [bound[0] for bound in bounds if len(bound) == 1 and type(bound[0]) is int]
        if len(numbers) != len(bounds):
            raise Unmodelled("the bounds of a range")
        for number in range(*[int(number) for number in numbers if isinstance(number, int)]):
            environment.step()
            yield number

    return run


def _with_entries(body: Filter) -> Filter:
    return _pipe(_pipe(_plain(_to_entries), _map(body)), _plain(_from_entries))


_MAKERS: dict[tuple[str, int], Callable[..., Filter]] = {
    ("select", 1): _select,
    ("map", 1): _map,
    ("empty", 0): lambda: _empty,
    ("error", 0): lambda: _error,
    ("error", 1): _error_with,
    ("has", 1): _with_argument(_has),
    ("join", 1): _with_argument(_join),
    ("split", 1): _with_argument(lambda value, separator: _split(_as_text(value), _as_text(separator))),
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
    ("values", 0): lambda: _select(_binary("!=", _identity, _constant(None))),
    ("sort_by", 1): _by(lambda pairs: [item for _, item in pairs]),
    ("group_by", 1): _by(lambda pairs: list[Json](_groups(pairs))),
    ("unique_by", 1): _by(lambda pairs: [group[0] for group in _groups(pairs)]),
    ("min_by", 1): _by(lambda pairs: pairs[0][1] if pairs else None),
    ("recurse", 0): lambda: _recurse,
}


def _format(name: str) -> Filter:
    match name:
        case "@text":
            return _to_string
        case "@json":
            return _plain(_dumped)
        case "@tsv":
            return _plain(lambda value: "\t".join(_tsv(item) for item in _as_list(value)))
        case "@csv":
            return _plain(lambda value: ",".join(_csv(item) for item in _as_list(value)))
        case "@sh":
            return _plain(lambda value: " ".join(map(_shell, value if isinstance(value, list) else [value])))
        case "@base64":
            return _plain(lambda value: base64.b64encode(_text_of(value).encode()).decode())
        case _:
            raise Unmodelled(f"the format {name}")


def _row_item(value: Json) -> str:
    if isinstance(value, list | dict):
        raise _Failure("not valid in a row")
    return "" if value is None else _text_of(value)


def _tsv(value: Json) -> str:
    return _row_item(value).replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n").replace("\r", "\\r")


def _csv(value: Json) -> str:
    text = _row_item(value)
    return '"' + text.replace('"', '""') + '"' if isinstance(value, str) else text


def _shell(value: Json) -> str:
    if isinstance(value, list | dict):
        raise _Failure("cannot be quoted")
    return "'" + value.replace("'", "'\\''") + "'" if isinstance(value, str) else _text_of(value)


_LONG = {
    "raw-output": "r",
    "compact-output": "c",
    "null-input": "n",
    "exit-status": "e",
    "slurp": "s",
    "join-output": "j",
    "sort-keys": "S",
    "monochrome-output": "M",
    "raw-input": "R",
}


@lru_cache(maxsize=256)
def _compiled(source: str) -> Filter:
    if len(source) > MAX_PROGRAM:
        raise Unmodelled("the filter is too long")
    return _Reader(source).whole()


def _documents(text: str) -> list[Json]:
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


def _arguments(args: Sequence[str]) -> tuple[list[str], dict[str, Json]]:
    """The arguments without --arg and --argjson, and the variables that those set."""
    rest: list[str] = []
    variables: dict[str, Json] = {}
    queue = list(reversed(args))
    while queue:
        arg = queue.pop()
        if arg in ("--arg", "--argjson"):
            if len(queue) < 2:
                raise Unmodelled(f"the option {arg}")
            name, text = queue.pop(), queue.pop()
            if arg == "--arg":
                variables[name] = text
            else:
                values = _documents(text)
                if len(values) != 1:
                    raise Unmodelled("the value of --argjson")
                variables[name] = values[0]
        else:
            rest.append(arg)
    return rest, variables


def jq(call: Call) -> Output:
    """What a filter writes for the input's values."""
    args, variables = _arguments(call.args)
    options = read_options(args, "rcnesjSMR", _LONG)
    if not options.operands:
        raise Unmodelled("no filter")
    program = _compiled(options.operands[0])
    inputs = _inputs(call, options)
    environment = _Environment(variables, [0])
    pieces: list[str] = []
    size = 0
    last: Json = None
    status = 0
    for value in inputs:
        try:
            for result in program(environment, value):
                pieces.append(_written(result, options))
                size += len(pieces[-1])
                if size > MAX_TEXT:
                    raise Unmodelled("the output is too long")
                last = result
        except _Failure:
            status = 5
    if not status and options.has("e"):
        status = (0 if _truth(last) else 1) if pieces else 4
    return status, "".join(pieces)


def _inputs(call: Call, options: Options) -> list[Json]:
    if options.has("n"):
        return [None]
    text = call.text(options.operands[1:])
    if options.has("R"):
        lines = text.split("\n")
        if not lines[-1]:
            lines.pop()
        return [text] if options.has("s") else list[Json](lines)
    documents = _documents(text)
    return [documents] if options.has("s") else documents


def _written(value: Json, options: Options) -> str:
    raw = options.has("r") or options.has("j")
    if raw and isinstance(value, str):
        text = value
    else:
        text = _dumped(value, None if options.has("c") else 2, sort_keys=options.has("S"))
    return text if options.has("j") else text + "\n"

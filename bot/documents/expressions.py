"""GitHub Actions `${{ }}` expressions: read into a tree, compiled once into closures, evaluated without ever raising.

The semantics (coercions, case-insensitive strings, value-returning `&&` and `||`, filtered arrays, the layout of
`toJSON`) are those of the expression SDK in the public runner (github.com/actions/runner, `src/Sdk/DTExpressions2`) and
of GitHub's page "Evaluate expressions in workflows and actions". What cannot be known before a run is an `Unknown`; it
spreads as in Kleene logic, so `unknown && false` is still known to be falsy. What GitHub would refuse at run time is a
`Failure`, an `Unknown` that says why.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown

# Limits of the runner's own parser (ExpressionConstants: MaxDepth, MaxLength); results are held far below its 10 MB.
MAX_LENGTH = 21_000
MAX_DEPTH = 50
MAX_RESULT = 1_000_000
MAX_PARTS = 10_000
MAX_REMEMBERED = 1_000
MAX_TEXT = 2_000_000
MAX_JSON_DEPTH = 100


@dataclass(frozen=True, slots=True)
class Partial:
    """A text of which some pieces are not known: strings and `Unknown`s in order, with at least one of the latter."""

    parts: tuple[str | Unknown, ...]


@dataclass(frozen=True, slots=True)
class Failure(Unknown):
    """An evaluation that GitHub refuses at run time (`fromJSON` of no JSON, a wrong `format`); `reason` says why."""


Value: TypeAlias = bool | int | float | str | Unknown | Partial | list[Any] | dict[str, Any] | None
Text: TypeAlias = str | Unknown | Partial
Evaluator: TypeAlias = Callable[[Mapping[str, Any]], Any]
Locate: TypeAlias = Callable[[int, int], Span]
Truth: TypeAlias = Callable[[Mapping[str, Any]], "bool | None"]


class Context(dict[str, Any]):
    """An object of which only some properties are known: a missing one is `Unknown('name.property')`, not null."""

    __slots__ = ("name",)

    def __init__(self, name: str, known: Mapping[str, Any] | None = None) -> None:
        super().__init__(known or {})
        self.name = name


class _Filtered(list[Any]):
    """The result of `.*`: a later property access applies to each item."""

    __slots__ = ()


_MISSING = object()


# --- coercions -------------------------------------------------------------------------------------------------------


def to_text(value: Any) -> Text:
    """The string that GitHub makes of a value: null is '', 1.0 is '1', an object is 'Object', an array is 'Array'."""
    kind = value.__class__
    if kind is str:
        return value  # type: ignore[no-any-return]
    if value is None:
        return ""
    if kind is bool:
        return "true" if value else "false"
    if kind is int and -1_000_000_000_000_000 < value < 1_000_000_000_000_000:
        return str(value)
    if kind is int or kind is float:
        return _number_text(value)
    if isinstance(value, Unknown | Partial):
        return value
    return "Array" if isinstance(value, list) else "Object"


def _number_text(value: float) -> str:
    """.NET's "G15" in the invariant culture."""
    try:
        number = float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    return f"{number:.15g}".replace("e", "E")


_DECIMAL = re.compile(r"[+-]?(?:\d{1,400}\.?\d{0,400}|\.\d{1,400})(?:[eE][+-]?\d{1,400})?", re.ASCII)
_HEXADECIMAL = re.compile(r"0x[0-9a-fA-F]{1,8}")
_OCTAL = re.compile(r"0o[0-7]{1,11}")


def parse_number(text: str) -> float:
    """The number that GitHub reads from a string (as JavaScript's `Number`): '' is 0, what is no number is NaN."""
    text = text.strip()
    if not text:
        return 0.0
    if _DECIMAL.fullmatch(text):
        return float(text)
    if _HEXADECIMAL.fullmatch(text):
        return float(_signed(int(text, 0)))
    if _OCTAL.fullmatch(text) and int(text, 0) < 1 << 32:
        return float(_signed(int(text, 0)))
    return {"Infinity": math.inf, "-Infinity": -math.inf}.get(text, math.nan)


def _signed(number: int) -> int:
    """The runner reads hexadecimal and octal digits into 32 bits with a sign."""
    return number - (1 << 32) if number >= 1 << 31 else number


def to_number(value: Any) -> float:
    """The number that GitHub makes of a known value in a comparison; an object is NaN."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        return parse_number(value)
    if isinstance(value, bool | int | float):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    return math.nan


def truthy(value: Any) -> bool | None:
    """Whether a value counts as true; None where that is not known."""
    kind = value.__class__
    if kind is str or kind is bool or kind is int or value is None:
        return bool(value)
    if kind is float:
        return bool(value) and not math.isnan(value)
    if isinstance(value, Partial):
        return True if any(isinstance(part, str) and part for part in value.parts) else None
    return None if isinstance(value, Unknown) else True


def _upper(text: str) -> str:
    """Text as .NET's OrdinalIgnoreCase sees it: each character upper-cased on its own."""
    if text.isascii():
        return text.upper()
    return "".join(up if len(up := char.upper()) == 1 else char for char in text)


def _reason(value: Unknown | Partial) -> str:
    if isinstance(value, Unknown):
        return value.reason
    return next(part.reason for part in value.parts if isinstance(part, Unknown))


def _unknown(value: Unknown | Partial) -> Unknown:
    return value if isinstance(value, Unknown) else Unknown(_reason(value))


def _coerce(left: Any, right: Any) -> tuple[Any, Any]:
    if isinstance(left, bool | None) and not isinstance(right, left.__class__):
        left = to_number(left)
    if isinstance(right, bool | None) and not isinstance(left, right.__class__):
        right = to_number(right)
    if isinstance(left, str) and _is_number(right):
        left = parse_number(left)
    elif isinstance(right, str) and _is_number(left):
        right = parse_number(right)
    return left, right


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def equals(left: Any, right: Any) -> bool | Unknown:
    """GitHub's `==`: loose over types, case-insensitive over strings, by identity over objects."""
    if left.__class__ is str and right.__class__ is str:
        return left == right or _upper(left) == _upper(right)
    if isinstance(left, Unknown | Partial) or isinstance(right, Unknown | Partial):
        return _equals_unknown(left, right)
    left, right = _coerce(left, right)
    if isinstance(left, str) and isinstance(right, str):
        return _upper(left) == _upper(right)
    if isinstance(left, list | dict) or isinstance(right, list | dict):
        return left is right
    if left is None and right is None:
        return True
    if isinstance(left, bool) and isinstance(right, bool):
        return left == right
    return bool(_is_number(left) and _is_number(right) and left == right)


def _equals_unknown(left: Any, right: Any) -> bool | Unknown:
    if isinstance(left, Partial) and isinstance(right, str):
        return _partial_equals(left, right)
    if isinstance(right, Partial) and isinstance(left, str):
        return _partial_equals(right, left)
    return _unknown(left) if isinstance(left, Unknown | Partial) else _unknown(right)


def _partial_equals(partial: Partial, text: str) -> bool | Unknown:
    """False where the known ends of a partly known text already differ."""
    first, last = partial.parts[0], partial.parts[-1]
    known = sum(len(part) for part in partial.parts if isinstance(part, str))
    upper = _upper(text)
    if isinstance(first, str) and not upper.startswith(_upper(first)):
        return False
    if isinstance(last, str) and not upper.endswith(_upper(last)):
        return False
    return False if known > len(text) else _unknown(partial)


def _less(left: Any, right: Any) -> bool | Unknown:
    for value in (left, right):
        if isinstance(value, Unknown | Partial):
            return _unknown(value)
    left, right = _coerce(left, right)
    if isinstance(left, str) and isinstance(right, str):
        return _upper(left) < _upper(right)
    if isinstance(left, bool) and isinstance(right, bool):
        return not left and right
    return bool(_is_number(left) and _is_number(right) and left < right)


def _either(first: bool | Unknown, second: bool | Unknown) -> bool | Unknown:
    if first is True or second is True:
        return True
    if isinstance(first, Unknown):
        return first
    return second


def _negate(value: bool | Unknown) -> bool | Unknown:
    return value if isinstance(value, Unknown) else not value


_COMPARE: dict[str, Callable[[Any, Any], bool | Unknown]] = {
    "==": equals,
    "!=": lambda left, right: _negate(equals(left, right)),
    "<": _less,
    ">": lambda left, right: _less(right, left),
    "<=": lambda left, right: _either(equals(left, right), _less(left, right)),
    ">=": lambda left, right: _either(equals(left, right), _less(right, left)),
}


def concat(pieces: Sequence[Any]) -> Text:
    """The text of several values one after another: partly known where one is not known, a `Failure` if one is that."""
    texts: list[Any] = [piece if piece.__class__ is str else to_text(piece) for piece in pieces]
    if all(text.__class__ is str for text in texts):
        joined = "".join(texts)
        return joined if len(joined) <= MAX_RESULT else Failure(f"a text longer than {MAX_RESULT} characters")
    parts: list[str | Unknown] = []
    length = 0
    for text in texts:
        if isinstance(text, Failure):
            return text
        for part in text.parts if isinstance(text, Partial) else (text,):
            length += len(part) if isinstance(part, str) else 1
            if isinstance(part, str) and parts and isinstance(parts[-1], str):
                parts[-1] += part
            elif part != "":
                parts.append(part)
        if length > MAX_RESULT or len(parts) > MAX_PARTS:
            return Failure(f"a text longer than {MAX_RESULT} characters or {MAX_PARTS} pieces")
    return parts[0] if len(parts) == 1 else Partial(tuple(parts))


# --- properties ------------------------------------------------------------------------------------------------------


def lookup(base: Mapping[str, Any], name: str) -> Any:
    """The property of an object by its case-insensitive name: null where there is none (unknown in a `Context`)."""
    value = base.get(name, _MISSING)
    if value is not _MISSING:
        return value
    folded = name.lower()
    try:
        present = folded in map(str.lower, base)
    except TypeError:  # a key that is not a text
        present = True
    if present:
        for key, item in base.items():
            if isinstance(key, str) and key.lower() == folded:
                return item
    return Unknown(f"{base.name}.{name}") if isinstance(base, Context) else None


def index(base: Any, key: Any) -> Any:
    """GitHub's `base[key]`: null where there is no such thing."""
    if base is None:
        return None
    if isinstance(base, Unknown):
        return Unknown(f"{base.reason}.{key}") if isinstance(key, str) else base
    if not isinstance(base, dict | list):
        return None
    if isinstance(key, Unknown | Partial):
        return _unknown(key)
    if isinstance(base, _Filtered):
        return _Filtered(item for element in base for item in _of_element(element, key))
    if isinstance(base, list):
        return next(iter(_of_element(base, key)), None)
    return None if isinstance(key, list | dict) else lookup(base, str(to_text(key)))


def _of_element(element: Any, key: Any) -> list[Any]:
    if isinstance(element, Unknown):
        return [index(element, key)]
    if isinstance(element, list):
        number = to_number(key)
        return [element[int(number)]] if 0 <= number < len(element) else []
    if isinstance(element, dict) and not isinstance(key, list | dict):
        value = lookup(element, name := str(to_text(key)))
        return [value] if value is not None or any(str(own).lower() == name.lower() for own in element) else []
    return []


def spread(base: Any) -> Any:
    """GitHub's `base.*`: the items of an array or the values of an object, as a filtered array."""
    if isinstance(base, Unknown):
        return Unknown(f"{base.reason}.*")
    if isinstance(base, Context):
        return Unknown(f"{base.name}.*")
    if isinstance(base, _Filtered):
        return _Filtered(item for element in base for item in spread(element) if isinstance(element, list | dict))
    if isinstance(base, dict):
        return _Filtered(base.values())
    return _Filtered(base if isinstance(base, list) else ())


# --- functions -------------------------------------------------------------------------------------------------------


def _blocked(values: Sequence[Any]) -> Unknown | None:
    """The first value that is not known."""
    return next((_unknown(value) for value in values if isinstance(value, Unknown | Partial)), None)


def _primitive(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _contains(search: Any, item: Any) -> bool | Unknown:
    if isinstance(search, list):
        found: bool | Unknown = False
        for element in search:
            found = _either(found, equals(element, item))
            if found is True:
                break
        return found
    if (blocked := _blocked((search, item))) is not None:
        return blocked
    if not (_primitive(search) and _primitive(item)):
        return False
    return _upper(str(to_text(item))) in _upper(str(to_text(search)))


def _starts_with(search: Any, item: Any) -> bool | Unknown:
    if isinstance(search, Partial) and isinstance(search.parts[0], str):
        search = search.parts[0]
        if isinstance(item, str) and len(item) > len(search) and _upper(item).startswith(_upper(search)):
            return Unknown("the rest of a partly known text")
    if (blocked := _blocked((search, item))) is not None:
        return blocked
    if not (_primitive(search) and _primitive(item)):
        return False
    return _upper(str(to_text(search))).startswith(_upper(str(to_text(item))))


def _ends_with(search: Any, item: Any) -> bool | Unknown:
    if (blocked := _blocked((search, item))) is not None:
        return blocked
    if not (_primitive(search) and _primitive(item)):
        return False
    return _upper(str(to_text(search))).endswith(_upper(str(to_text(item))))


_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\d{1,3})\}|[{}]", re.ASCII)


def _format(pattern: Any, *values: Any) -> Text:
    if isinstance(pattern, Unknown | Partial):
        return _unknown(pattern)
    text = str(to_text(pattern))
    pieces: list[Any] = []
    position = 0
    for match in _PLACEHOLDER.finditer(text):
        pieces.append(text[position : match.start()])
        position = match.end()
        token = match.group()
        if token in ("{{", "}}"):
            pieces.append(token[0])
        elif match.group(1) is None:
            return Failure(f"format: {text[:80]!r} has a brace that belongs to no placeholder")
        elif int(match.group(1)) >= len(values):
            return Failure(f"format: {text[:80]!r} asks for argument {match.group(1)} of {len(values)}")
        else:
            pieces.append(values[int(match.group(1))])
    pieces.append(text[position:])
    return concat(pieces)


def _join(items: Any, separator: Any = ",") -> Text:
    if not isinstance(items, list):
        return to_text(items) if _primitive(items) else ""
    if not _primitive(separator):
        separator = ","
    pieces: list[Any] = []
    for number, item in enumerate(items):
        if number:
            pieces.append(separator)
        pieces.append(item)
    return concat(pieces)


class _UnwritableError(Exception):
    """A value that has no known JSON text; carried inside this module only."""

    def __init__(self, unknown: Unknown) -> None:
        super().__init__(unknown.reason)
        self.unknown = unknown


_quote = json.encoder.encode_basestring
_LATE_ESCAPES = {0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"}


def _quoted(text: str) -> str:
    quoted = _quote(text)
    return quoted if quoted.isascii() else quoted.translate(_LATE_ESCAPES)


def _write(value: Any, indent: str, depth: int) -> str:
    if isinstance(value, str):
        return _quoted(value)
    if value is None:
        return "null"
    if isinstance(value, Unknown | Partial):
        raise _UnwritableError(_unknown(value))
    if isinstance(value, Context):
        raise _UnwritableError(Unknown(f"toJSON({value.name})"))
    if not isinstance(value, list | dict):
        return str(to_text(value))
    if not value:
        return "[]" if isinstance(value, list) else "{}"
    if depth > MAX_JSON_DEPTH:
        raise _UnwritableError(Failure("toJSON: nested too deeply"))
    inner = indent + "  "
    if isinstance(value, list):
        return "[" + ",".join([inner + _write(item, inner, depth + 1) for item in value]) + indent + "]"
    pairs = [f"{inner}{_quoted(str(key))}: {_write(item, inner, depth + 1)}" for key, item in value.items()]
    return "{" + ",".join(pairs) + indent + "}"


def to_json(value: Any) -> str | Unknown:
    """The text of `toJSON`: two spaces of indent, a line feed between items, `[]` and `{}` for empty ones."""
    try:
        text = _write(value, "\n", 0)
    except _UnwritableError as error:
        return error.unknown
    return text if len(text) <= MAX_RESULT else Failure(f"toJSON: longer than {MAX_RESULT} characters")


_DECODER = json.JSONDecoder()


def from_json(value: Any) -> Any:
    """The value of `fromJSON`; a `Failure` where the text is not JSON."""
    if isinstance(value, Unknown | Partial):
        return Unknown(f"fromJSON({_reason(value)})")
    text = str(to_text(value)).lstrip()
    try:
        return _DECODER.raw_decode(text)[0]
    except (ValueError, RecursionError):
        return Failure(f"fromJSON: {text[:80]!r} is not JSON" if text else "fromJSON: the text is empty")


def _hash_files(*patterns: Any) -> Unknown:
    return Unknown(f"hashFiles({', '.join(str(to_text(pattern)) for pattern in patterns)})")


# A plan is that of a job that starts, after jobs and steps that went well: success, neither failure nor cancellation.
_FUNCTIONS: dict[str, tuple[int, int, Callable[..., Any]]] = {
    "contains": (2, 2, _contains),
    "startswith": (2, 2, _starts_with),
    "endswith": (2, 2, _ends_with),
    "format": (1, 255, _format),
    "join": (1, 2, _join),
    "tojson": (1, 1, to_json),
    "fromjson": (1, 1, from_json),
    "hashfiles": (1, 255, _hash_files),
    "always": (0, 0, lambda: True),
    "success": (0, 0, lambda: True),
    "failure": (0, 0, lambda: False),
    "cancelled": (0, 0, lambda: False),
}
_BOOLEAN_FUNCTIONS = frozenset({"contains", "startswith", "endswith", "always", "success", "failure", "cancelled"})
CONTEXTS = frozenset(
    {"github", "env", "vars", "job", "jobs", "steps", "runner", "secrets", "strategy", "matrix", "needs", "inputs"}
)


# --- the tree --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Literal:
    """null, true, false, a number or a string."""

    value: Value


@dataclass(frozen=True, slots=True)
class Name:
    """A context such as `github`, in lower case."""

    name: str


@dataclass(frozen=True, slots=True)
class Index:
    """`base.x`, `base['x']`, `base[0]`; with no key it is the object filter `base.*`."""

    base: Node
    key: Node | None


@dataclass(frozen=True, slots=True)
class Call:
    """A function call, the name in lower case."""

    name: str
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """`!operand`."""

    operand: Node


@dataclass(frozen=True, slots=True)
class Logic:
    """`a && b && c` or `a || b || c`."""

    operator: str
    operands: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Compare:
    """`left == right` and its relatives."""

    operator: str
    left: Node
    right: Node


Node: TypeAlias = Literal | Name | Index | Call | Not | Logic | Compare


def static_path(node: Node) -> tuple[str, ...] | None:
    """The path that a chain of fixed properties names (`matrix.config['tp']`: matrix, config, tp); None for others."""
    keys: list[str] = []
    while isinstance(node, Index):
        if not isinstance(node.key, Literal) or not isinstance(node.key.value, str):
            return None
        keys.append(node.key.value)
        node = node.base
    return (node.name, *reversed(keys)) if isinstance(node, Name) else None


def children(node: Node) -> tuple[Node, ...]:
    """The nodes directly inside a node, in source order."""
    if isinstance(node, Index):
        return (node.base,) if node.key is None else (node.base, node.key)
    if isinstance(node, Call):
        return node.arguments
    if isinstance(node, Not):
        return (node.operand,)
    if isinstance(node, Logic):
        return node.operands
    return (node.left, node.right) if isinstance(node, Compare) else ()


def references(node: Node) -> Iterator[tuple[str, ...]]:
    """The longest fixed paths that a tree reads, in source order (`inputs[matrix.x]` reads `inputs` and `matrix.x`)."""
    path = static_path(node)
    if path is not None:
        yield path
        return
    for child in children(node):
        yield from references(child)


# --- reading ---------------------------------------------------------------------------------------------------------


class _ExpressionSyntaxError(Exception):
    """A text that is no expression; caught where the reading of one expression starts."""

    def __init__(self, message: str, start: int, end: int) -> None:
        super().__init__(message)
        self.start, self.end = start, end


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    start: int
    end: int


_TOKEN = re.compile(
    r"(?P<space>\s+)|(?P<string>'(?:[^']|'')*')|(?P<operator>&&|\|\||[!=<>]=|[!<>()\[\],])"
    r"|(?P<word>[A-Za-z_][A-Za-z0-9_-]*)|(?P<number>[+-]?\.?[0-9][A-Za-z0-9_.]*(?:(?<=[eE])[+-][0-9]+)?|[+-]Infinity)"
    r"|(?P<dot>\.)|(?P<star>\*)"
)
_CONSTANTS: dict[str, Value] = {"null": None, "true": True, "false": False, "NaN": math.nan, "Infinity": math.inf}
_PRECEDENCE = {"||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, "<=": 4, ">": 4, ">=": 4}


def _tokens(text: str) -> list[_Token]:
    found: list[_Token] = []
    position = 0
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is not None and match.lastgroup == "number" and match.group()[0] == "." and _ends_operand(found):
            found.append(_Token("dot", ".", position, position + 1))
            position += 1
            continue
        if match is None or match.lastgroup is None:
            raise _ExpressionSyntaxError(_unexpected(text, position), position, position + 1)
        position = match.end()
        if match.lastgroup != "space":
            found.append(_Token(match.lastgroup, match.group(), match.start(), position))
    found.append(_Token("end", "", len(text), len(text)))
    return found


def _ends_operand(tokens: Sequence[_Token]) -> bool:
    return bool(tokens) and (tokens[-1].kind in ("word", "string", "number", "star") or tokens[-1].text in (")", "]"))


def _unexpected(text: str, position: int) -> str:
    char = text[position]
    if char == "'":
        return "the string is not closed"
    if char == '"':
        return "strings are written in single quotes"
    return f"unexpected {char!r}"


class _Parser:
    """A Pratt parser over the tokens of one expression."""

    def __init__(self, text: str) -> None:
        self.tokens = _tokens(text)
        self.at = 0
        self.depth = 0

    def parse(self) -> Node:
        if self.tokens[0].kind == "end":
            raise _ExpressionSyntaxError("the expression is empty", 0, 0)
        node = self.expression(0)
        if self.token.kind != "end":
            self.fail()
        return node

    @property
    def token(self) -> _Token:
        return self.tokens[self.at]

    def fail(self, message: str | None = None) -> None:
        token = self.token
        where = "end of the expression" if token.kind == "end" else repr(token.text)
        raise _ExpressionSyntaxError(message or f"unexpected {where}", token.start, token.end)

    def take(self, text: str) -> bool:
        if self.token.kind != "string" and self.token.text == text:
            self.at += 1
            return True
        return False

    def expect(self, text: str) -> None:
        if not self.take(text):
            self.fail()

    def expression(self, floor: int) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(f"nested more than {MAX_DEPTH} deep")
        node = self.operand()
        while self.token.kind == "operator" and _PRECEDENCE.get(self.token.text, 0) > floor:
            operator = self.token.text
            self.at += 1
            right = self.expression(_PRECEDENCE[operator])
            if operator not in ("&&", "||"):
                node = Compare(operator, node, right)
            elif isinstance(node, Logic) and node.operator == operator:
                node = Logic(operator, (*node.operands, right))
            else:
                node = Logic(operator, (node, right))
        self.depth -= 1
        return node

    def operand(self) -> Node:
        if self.take("!"):
            self.depth += 1
            if self.depth > MAX_DEPTH:
                self.fail(f"nested more than {MAX_DEPTH} deep")
            node: Node = Not(self.operand())
            self.depth -= 1
            return node
        return self.suffixes(self.primary())

    def primary(self) -> Node:
        token = self.token
        if self.take("("):
            node = self.expression(0)
            self.expect(")")
            return node
        self.at += 1
        if token.kind == "string":
            return Literal(token.text[1:-1].replace("''", "'"))
        if token.kind == "number":
            number = parse_number(token.text.removeprefix("+"))
            if math.isnan(number):
                raise _ExpressionSyntaxError(f"{token.text!r} is not a number", token.start, token.end)
            return Literal(int(number) if number.is_integer() and abs(number) < 1e15 else number)
        if token.kind == "word":
            return self.word(token)
        self.at -= 1
        self.fail()
        raise AssertionError("unreachable")

    def word(self, token: _Token) -> Node:
        if self.take("("):
            return self.call(token)
        if token.text in _CONSTANTS:
            return Literal(_CONSTANTS[token.text])
        name = token.text.lower()
        if name not in CONTEXTS:
            raise _ExpressionSyntaxError(f"unknown context {token.text!r}", token.start, token.end)
        return Name(name)

    def call(self, token: _Token) -> Node:
        name = token.text.lower()
        arguments: list[Node] = []
        if not self.take(")"):
            arguments.append(self.expression(0))
            while self.take(","):
                arguments.append(self.expression(0))
            self.expect(")")
        if name == "case":
            if len(arguments) < 3 or len(arguments) % 2 == 0:
                raise _ExpressionSyntaxError(
                    "case takes pairs of condition and value, then a default", token.start, token.end
                )
        elif name not in _FUNCTIONS:
            raise _ExpressionSyntaxError(f"unknown function {token.text!r}", token.start, token.end)
        elif not _FUNCTIONS[name][0] <= len(arguments) <= _FUNCTIONS[name][1]:
            raise _ExpressionSyntaxError(f"wrong number of arguments to {token.text!r}", token.start, token.end)
        return Call(name, tuple(arguments))

    def suffixes(self, node: Node) -> Node:
        count = 0
        while self.token.kind == "dot" or self.token.text == "[":
            count += 1
            if count > MAX_DEPTH:
                self.fail(f"nested more than {MAX_DEPTH} deep")
            if self.take("["):
                key = None if self.take("*") else self.expression(0)
                self.expect("]")
                node = Index(node, key)
                continue
            self.at += 1
            token = self.token
            if token.kind not in ("word", "star"):
                self.fail()
            self.at += 1
            node = Index(node, None if token.kind == "star" else Literal(token.text))
        return node


# --- compiling -------------------------------------------------------------------------------------------------------


def _path_getter(path: tuple[str, ...]) -> Evaluator:
    """The value of a fixed path, with the common case (exact names in plain objects) first."""
    context, *keys = path

    def whole(contexts: Mapping[str, Any]) -> Any:
        value = contexts.get(context, _MISSING)
        return Unknown(context) if value is _MISSING else value

    if not keys:
        return whole
    if len(keys) == 1:
        (only,) = keys

        def single(contexts: Mapping[str, Any]) -> Any:
            base = contexts.get(context)
            if base.__class__ is dict:
                value = base.get(only, _MISSING)
                if value is not _MISSING:
                    return value
            return index(whole(contexts), only)

        return single

    def walk(contexts: Mapping[str, Any]) -> Any:
        value = contexts.get(context, _MISSING)
        if value is _MISSING:
            value = Unknown(context)
        for key in keys:
            if value.__class__ is dict:
                found = value.get(key, _MISSING)
                value = lookup(value, key) if found is _MISSING else found
            elif value is None:
                return None
            else:
                value = index(value, key)
        return value

    return walk


def _compile_index(node: Index) -> Evaluator:
    path = static_path(node)
    if path is not None:
        return _path_getter(path)
    base = _compile(node.base)
    if node.key is None:
        return lambda contexts: spread(base(contexts))
    if isinstance(node.key, Literal):
        fixed = node.key.value
        return lambda contexts: index(base(contexts), fixed)
    key = _compile(node.key)
    return lambda contexts: index(base(contexts), key(contexts))


def _compile_call(node: Call) -> Evaluator:
    arguments = [_compile(argument) for argument in node.arguments]
    if node.name == "case":
        return _compile_case(arguments)
    first_argument = node.arguments[0] if node.arguments else None
    if node.name == "join" and isinstance(first_argument, Call) and first_argument.name == "fromjson":
        return _compile_json_join(_compile(first_argument.arguments[0]), arguments[1:])
    function = _FUNCTIONS[node.name][2]
    if not arguments:
        return _constant(function())
    if len(arguments) == 1:
        (single,) = arguments
        return lambda contexts: function(single(contexts))
    if len(arguments) == 2:
        first, second = arguments
        return lambda contexts: function(first(contexts), second(contexts))
    return lambda contexts: function(*[argument(contexts) for argument in arguments])


def _compile_json_join(text_of: Evaluator, separator: list[Evaluator]) -> Evaluator:
    """`join(fromJSON(text), separator)`: remembers its results, since jobs of one entry pass the same lists."""
    known: dict[tuple[str, str], Text] = {}

    def run(contexts: Mapping[str, Any]) -> Any:
        text = text_of(contexts)
        between = separator[0](contexts) if separator else ","
        if text.__class__ is not str or between.__class__ is not str:
            return _join(from_json(text), between)
        found = known.get((text, between))
        if found is None:
            if len(known) >= MAX_REMEMBERED:
                known.clear()
            items = from_json(text)
            found = known[text, between] = _join(items, between)
        return found

    return run


def _compile_case(arguments: list[Evaluator]) -> Evaluator:
    pairs = list(zip(arguments[:-1:2], arguments[1:-1:2], strict=True))
    default = arguments[-1]

    def run(contexts: Mapping[str, Any]) -> Any:
        for condition, value in pairs:
            met = condition(contexts)
            if met is True:
                return value(contexts)
            if isinstance(met, Unknown | Partial):
                return _unknown(met)
            if met is not False:
                return Failure("case: a condition is not a boolean")
        return default(contexts)

    return run


def _boolean(node: Node) -> bool:
    """Whether a node gives true or false whatever its operands are."""
    if isinstance(node, Literal):
        return isinstance(node.value, bool)
    if isinstance(node, Logic):
        return all(_boolean(operand) for operand in node.operands)
    return isinstance(node, Compare | Not) or (isinstance(node, Call) and node.name in _BOOLEAN_FUNCTIONS)


def _compile_logic(node: Logic) -> Evaluator:
    """`&&` gives its first falsy operand, `||` its first truthy one, each else its last."""
    stop = node.operator == "||"
    *firsts, last = node.operands
    steps = [(_compile(first), _compile_truth(first) if isinstance(first, Logic | Not) else None) for first in firsts]
    boolean = [_boolean(first) for first in firsts]
    final = _compile(last)

    def run(contexts: Mapping[str, Any]) -> Any:
        undecided: Unknown | None = None
        plain = True
        for (value_of, truth_of), is_boolean in zip(steps, boolean, strict=True):
            value = value_of(contexts)
            truth = truthy(value)
            if truth is None and truth_of is not None:
                truth = truth_of(contexts)
            if truth is stop:
                return value if undecided is None or (plain and value is stop) else undecided
            if truth is None:
                undecided = undecided or _unknown(value)
                plain = plain and is_boolean
        value = final(contexts)
        return value if undecided is None or (plain and value is stop) else undecided

    return run


def _compile(node: Node) -> Evaluator:
    if isinstance(node, Literal):
        return _constant(node.value)
    if isinstance(node, Name):
        return _path_getter((node.name,))
    if isinstance(node, Index):
        return _compile_index(node)
    if isinstance(node, Call):
        return _compile_call(node)
    if isinstance(node, Logic):
        return _compile_logic(node)
    if isinstance(node, Compare):
        left, right, compare = _compile(node.left), _compile(node.right), _COMPARE[node.operator]
        return lambda contexts: compare(left(contexts), right(contexts))
    value_of, truth_of = _compile(node.operand), _compile_truth(node.operand)

    def negated(contexts: Mapping[str, Any]) -> Any:
        truth = truth_of(contexts)
        return _unknown(value_of(contexts)) if truth is None else not truth

    return negated


def _compile_truth(node: Node) -> Truth:
    """Whether a node is truthy: decided more often than its value is (`unknown && ''` is falsy)."""
    if isinstance(node, Not):
        inner = _compile_truth(node.operand)

        def negated(contexts: Mapping[str, Any]) -> bool | None:
            truth = inner(contexts)
            return None if truth is None else not truth

        return negated
    if isinstance(node, Logic):
        stop = node.operator == "||"
        truths = [_compile_truth(operand) for operand in node.operands]

        def run(contexts: Mapping[str, Any]) -> bool | None:
            result: bool | None = not stop
            for truth_of in truths:
                truth = truth_of(contexts)
                if truth is stop:
                    return stop
                if truth is None:
                    result = None
            return result

        return run
    value_of = _compile(node)
    return lambda contexts: truthy(value_of(contexts))


class Expression:
    """One expression: `evaluate(contexts)` gives its value, `truth(contexts)` whether that counts as true.

    `contexts` maps lower-case context names to values; a context that is absent is unknown. `references` are the fixed
    paths that it reads. The closures are made when they are first asked for: most expressions are only looked at.
    """

    __slots__ = ("_evaluate", "_truth", "node", "references", "source")

    def __init__(self, source: str, node: Node) -> None:
        self.source = source
        self.node = node
        self.references = tuple(references(node))
        self._evaluate: Evaluator | None = None
        self._truth: Truth | None = None

    def __repr__(self) -> str:
        return f"Expression({self.source!r})"

    @property
    def evaluate(self) -> Evaluator:
        """The function from contexts to the value."""
        if self._evaluate is None:
            self._evaluate = _compile(self.node)
        return self._evaluate

    @property
    def truth(self) -> Truth:
        """The function from contexts to whether the value counts as true (None: not known)."""
        if self._truth is None:
            self._truth = _compile_truth(self.node)
        return self._truth


@dataclass(frozen=True, slots=True)
class SyntaxProblem:
    """Why a text is no expression, and where in it."""

    message: str
    start: int
    end: int


def compile_expression(text: str) -> Expression | SyntaxProblem:
    """Compile the text between `${{` and `}}`; a `SyntaxProblem` where GitHub would refuse it."""
    if len(text) > MAX_LENGTH:
        return SyntaxProblem(f"the expression is longer than {MAX_LENGTH} characters", 0, len(text))
    try:
        node = _Parser(text).parse()
    except _ExpressionSyntaxError as error:
        return SyntaxProblem(str(error), error.start, error.end)
    return Expression(text.strip(), node)


# --- texts with expressions ------------------------------------------------------------------------------------------


class Template:
    """A text with embedded expressions.

    `evaluate(contexts)` keeps the value of a text that is one single expression; `text(contexts)` makes it a string. An
    expression that could not be read is a `Failure` among the `parts`.
    """

    __slots__ = ("_evaluate", "parts", "problems", "source")

    def __init__(
        self, source: str, parts: Sequence[str | Expression | Failure], problems: Sequence[Problem] = ()
    ) -> None:
        self.source = source
        self.parts = tuple(parts)
        self.problems = tuple(problems)
        self._evaluate: Evaluator | None = None

    def __repr__(self) -> str:
        return f"Template({self.source!r})"

    @property
    def evaluate(self) -> Evaluator:
        """The function from contexts to the value."""
        if self._evaluate is None:
            self._evaluate = _joiner(self.parts)
        return self._evaluate

    @property
    def constant(self) -> bool:
        """Whether there is no expression in the text."""
        return not any(isinstance(part, Expression) for part in self.parts)

    @property
    def single(self) -> Expression | None:
        """The expression that is the whole text, if it is one."""
        only = self.parts[0] if len(self.parts) == 1 else None
        return only if isinstance(only, Expression) else None

    @property
    def expressions(self) -> tuple[Expression, ...]:
        """The expressions in the text, in order."""
        return tuple(part for part in self.parts if isinstance(part, Expression))

    def references(self) -> Iterator[tuple[str, ...]]:
        """The fixed paths that the expressions read, in order."""
        for part in self.expressions:
            yield from part.references

    def text(self, contexts: Mapping[str, Any]) -> Text:
        """The text with every expression replaced by its string; partly known where an expression is not known."""
        return to_text(self.evaluate(contexts))


def closing(text: str, start: int) -> int:
    """Where the `}}` of the expression that is open at `start` is, strings skipped; -1 where there is none."""
    position = start
    while True:
        close = text.find("}}", position)
        quote = text.find("'", position, close if close >= 0 else len(text))
        if quote < 0 or close < 0:
            return close
        end = text.find("'", quote + 1)
        if end < 0:
            return -1
        position = end + 1


def compile_template(text: str, locate: Locate) -> Template:
    """Compile a text of a workflow file; an expression that cannot be read is a `Failure` there, and a `Problem`.

    `locate(start, end)` gives the span of the characters `start` to `end` of the text.
    """
    if "${{" not in text:
        return Template(text, (text,))
    if len(text) > MAX_TEXT:
        problem = Problem(f"a text longer than {MAX_TEXT} characters", locate(0, len(text)), "expression")
        return Template(text, (Failure(problem.message),), (problem,))
    parts: list[str | Expression | Failure] = []
    problems: list[Problem] = []
    position = 0
    while (start := text.find("${{", position)) >= 0:
        if start > position:
            parts.append(text[position:start])
        close = closing(text, start + 3)
        compiled = (
            SyntaxProblem("the expression is not closed", 0, 0)
            if close < 0
            else compile_expression(text[start + 3 : close])
        )
        position = len(text) if close < 0 else close + 2
        if isinstance(compiled, Expression):
            parts.append(compiled)
        else:
            where = locate(start + 3 + compiled.start, start + 3 + max(compiled.end, compiled.start + 1))
            problems.append(Problem(f"cannot read an expression: {compiled.message}", where, "expression"))
            parts.append(Failure(compiled.message))
    if position < len(text):
        parts.append(text[position:])
    return Template(text, parts, problems)


def compile_condition(text: str, locate: Locate) -> Template:
    """Compile the text of an `if:`, which is an expression even without `${{ }}`."""
    if "${{" in text:
        return compile_template(text, locate)
    return compile_template(f"${{{{{text}}}}}", lambda start, end: locate(max(start - 3, 0), max(end - 3, 0)))


def _constant(value: Any) -> Evaluator:
    def constant(_contexts: Mapping[str, Any]) -> Any:
        return value

    return constant


def _joiner(parts: Sequence[str | Expression | Failure]) -> Evaluator:
    if len(parts) == 1:
        (only,) = parts
        return only.evaluate if isinstance(only, Expression) else _constant(only)
    pieces: list[Any] = [part.evaluate if isinstance(part, Expression) else part for part in parts]
    dynamic = [number for number, part in enumerate(parts) if isinstance(part, Expression)]

    def join(contexts: Mapping[str, Any]) -> Text:
        texts = pieces.copy()
        for number in dynamic:
            texts[number] = texts[number](contexts)
        return concat(texts)

    return join

"""YAML as the site reads it: texts know where they are written, everything else follows JavaScript's rules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias, TypeGuard

from botlint.core.span import Span
from botlint.documents.yaml import Mapping as Block
from botlint.documents.yaml import Node, Scalar

Value: TypeAlias = Any
"""A text, number, truth value or None, a tuple of these, or a `Table`."""

MAX_DEPTH = 40
"""Nesting that is read."""

MAX_NUMBER = 1_000_000_000
"""Largest size that is worked with."""


class Text(str):
    """A text with the node in which it is written; None for one that the site makes."""

    __slots__ = ("node",)
    node: Node | None


def said(text: str, node: Node | None) -> Text:
    """A text and where it comes from."""
    made = Text(text)
    made.node = node
    return made


def node_of(value: Value) -> Node | None:
    """Where a text is written; None for other values."""
    return value.node if isinstance(value, Text) else None


class Table(dict[str, Value]):
    """A mapping of a file; `block` is where it is written."""

    __slots__ = ("block",)
    block: Block

    def __hash__(self) -> int:  # type: ignore[override]
        return id(self)

    def key(self, name: str) -> Node | None:
        """The key of a value."""
        return self.block.key_node(name) or self.block.get(name)


def read(node: Node | None, skip: frozenset[str] = frozenset()) -> Value:
    """The value of a node; `skip` names keys of the outermost mapping that nobody needs."""
    return _read(node, skip, 0)


def _read(node: Node | None, skip: frozenset[str], depth: int) -> Value:
    if isinstance(node, Scalar):
        if isinstance(node.value, str):
            return said(node.value, node)
        return node.value
    if node is None or depth > MAX_DEPTH:
        return None
    if isinstance(node, Block):
        table = Table()
        table.block = node
        for key, value in node.pairs():
            name = key.value if isinstance(key.value, str) else js_text(key.value)
            if depth or name not in skip:
                table[name] = _read(value, skip, depth + 1)
        return table
    return tuple(_read(item, skip, depth + 1) for item in node)


def at(value: Value, *keys: str) -> Value:
    """The value under keys; None where one is not there."""
    for key in keys:
        if value.__class__ is not Table:
            return None
        value = value.get(key)
    return value


def table(value: Value) -> Mapping[str, Value]:
    """A mapping; an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def items(value: Value) -> tuple[Value, ...]:
    """A list; an empty one for anything else."""
    return value if isinstance(value, tuple) else ()


def size_of(value: Value) -> int:
    """How many values a value holds, itself included."""
    inner: Iterable[Value] = value.values() if isinstance(value, dict) else items(value)
    return 1 + sum(map(size_of, inner))


def truthy(value: Value) -> bool:
    """Whether JavaScript takes a value for true: empty lists and mappings are."""
    return isinstance(value, (tuple, dict)) or bool(value)


def either(first: Value, second: Value) -> Value:
    """`first || second`."""
    return first if truthy(first) else second


def is_number(value: Value) -> TypeGuard[int | float]:
    """Whether a value is a number that sizes can have; truth values are none."""
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) <= MAX_NUMBER


def number(value: Value) -> int | float:
    """A number; 0 for anything else."""
    return value if is_number(value) else 0


def js_text(value: Value) -> str:
    """What `String(value)` gives for a plain value."""
    if isinstance(value, str):
        return str(value)
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e21:
        return str(int(value))
    if isinstance(value, (int, float)):
        return repr(value)
    return "[object Object]" if isinstance(value, dict) else ",".join(js_text(one) for one in value)


def span_of(node: Node | None, otherwise: Span) -> Span:
    """The place of a node."""
    return otherwise if node is None else node.span

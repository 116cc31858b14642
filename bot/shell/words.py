"""Words of command lines: options and their values, assignments, lists in one word; unknown parts stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botlint.shell.values import Text, Value, concat, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


def valued(text: str) -> frozenset[str]:
    return frozenset(text.split())


def start_of(value: Value) -> str:
    """The text of an argument, of a partly unknown one its literal start."""
    text = text_of(value)
    if text is not None:
        return text
    assert isinstance(value, Text)
    first = value.pieces[0]
    return first if isinstance(first, str) else "?"


def split_assignment(value: Value) -> tuple[str, Value]:
    if isinstance(value, str):
        name, _, rest = value.partition("=")
        return name, rest
    first = value.pieces[0]
    assert isinstance(first, str)
    name, _, head = first.partition("=")
    return name, concat([head, Text(value.pieces[1:])]) if len(value.pieces) > 1 else head


def split_options(arguments: list[Value], valued: frozenset[str]) -> tuple[dict[str, list[Value]], list[Value]]:
    """Splits an option line: ({option: values}, the rest)."""
    found: dict[str, list[Value]] = {}
    at = 0
    while at < len(arguments):
        value = arguments[at]
        first = value if isinstance(value, str) else value.pieces[0]
        text = first if isinstance(first, str) else ""
        if text == "--":
            at += 1
            break
        if not text.startswith("-") or text == "-":
            break
        at += 1
        option, equals, _ = text.partition("=")
        if equals:
            found.setdefault(option, []).append(after(value, len(option) + 1))
        elif text in valued and at < len(arguments):
            found.setdefault(text, []).append(arguments[at])
            at += 1
        elif len(text) > 2 and text[1] != "-" and text[:2] in valued:
            found.setdefault(text[:2], []).append(after(value, 2))
        else:
            found.setdefault(text, [])
    return found, arguments[at:]


def after(value: Value, count: int) -> Value:
    if isinstance(value, str):
        return value[count:]
    first = value.pieces[0]
    assert isinstance(first, str)
    return concat([first[count:], Text(value.pieces[1:])]) if len(value.pieces) > 1 else first[count:]


def split_value(shell: Shell, value: Value, separator: str) -> list[Value]:
    """A list in one text, split at literal separators; templates in between stay whole."""
    if isinstance(value, str):
        return [*value.split(separator)]
    parts: list[list[Value]] = [[]]
    for piece in value.pieces:
        if isinstance(piece, str):
            head, *rest = piece.split(separator)
            parts[-1].append(head)
            parts.extend([part] for part in rest)
        else:
            item = Text((piece,))
            if item.known and item.symbolic and shell.observe(_Has(separator), item):
                known = shell.concrete(item) or ""
                head, *rest = known.split(separator)
                parts[-1].append(head)
                parts.extend([part] for part in rest)
            else:
                parts[-1].append(item)
    return [concat(p) for p in parts]


class _Has:
    """Whether a text contains a fixed one."""

    __slots__ = ("needle",)

    def __init__(self, needle: str) -> None:
        self.needle = needle

    def __call__(self, text: str) -> bool:
        return self.needle in text

"""Words of command lines: options and their values, assignments, lists in one word; unknown parts stay."""

from __future__ import annotations

from collections.abc import Container
from typing import TYPE_CHECKING

from botlint.shell.values import Either, Text, Value, concat, text_of

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


class AllBut:
    """The options that take a value where it is easier to say which do not; single letters may stand together."""

    __slots__ = ("_flags", "_letters")

    def __init__(self, text: str) -> None:
        self._flags = valued(text)
        self._letters = {flag[1] for flag in self._flags if len(flag) == 2}

    def __contains__(self, option: object) -> bool:
        text = str(option)
        if text.startswith("--"):
            return text not in self._flags
        return not set(text[1:]) <= self._letters


def split_options(arguments: list[Value], valued: Container[str]) -> tuple[dict[str, list[Value]], list[Value]]:
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
            if first is not text and at + 1 < len(arguments) and start_of(arguments[at + 1]).startswith("-"):
                # Something unknown between options is one of them.
                at += 1
                continue
            break
        at += 1
        option, equals, _ = text.partition("=")
        if equals and (text.startswith("--") or text[:2] not in valued):
            found.setdefault(option, []).append(after(value, len(option) + 1))
        elif len(text) > 2 and text[1] != "-" and text[:2] in valued:
            found.setdefault(text[:2], []).append(after(value, 2))
        elif text in valued and at < len(arguments):
            found.setdefault(text, []).append(arguments[at])
            at += 1
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
        elif isinstance(piece, Either):
            piece.asked()
            first, *others = split_value(shell, piece.value, separator)
            parts[-1].append(first)
            parts.extend([part] for part in others)
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

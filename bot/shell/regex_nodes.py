"""The parts of a POSIX expression or a shell pattern."""

from __future__ import annotations

from dataclasses import dataclass

MAX_PATTERN = 10_000

MAX_TEXT = 1 << 20

MAX_REPEAT = 255

MAX_NODES = 5_000

MAX_DEPTH = 50

POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


class PatternError(Exception):
    """A pattern that its tool would refuse, or one whose match costs more than the budget."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A run of characters that stand for themselves."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set, written as a Python character class."""

    source: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on a position, written as a Python zero-width expression."""

    source: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts that follow each other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several alternatives."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Star:
    """Zero or more repetitions."""

    item: Node


@dataclass(frozen=True, slots=True)
class Group:
    """A numbered part whose text is reported."""

    index: int
    item: Node


@dataclass(frozen=True, slots=True)
class Not:
    """Any text that the item does not match as a whole (`!(...)`)."""

    item: Node


@dataclass(frozen=True, slots=True)
class BackReference:
    """The text that an earlier group matched."""

    index: int


Node = Literal | Chars | Anchor | Sequence | Choice | Star | Group | Not | BackReference

ANY = Chars(".")

EMPTY = Sequence(())


def optional(item: Node) -> Node:
    """The item or nothing."""
    return Choice((item, EMPTY))


def sequence(items: list[Node]) -> Node:
    """The items in order, with adjacent literals joined."""
    joined: list[Node] = []
    for item in items:
        last = joined[-1] if joined else None
        if isinstance(item, Literal) and isinstance(last, Literal):
            joined[-1] = Literal(last.text + item.text)
        else:
            joined.append(item)
    return joined[0] if len(joined) == 1 else Sequence(tuple(joined))


def read_bracket(text: str, start: int, *, glob: bool = False, escapes: bool = False) -> tuple[Chars, int] | None:
    """Reads the bracket expression whose `[` is at `start`: the set and the place after it, or None (no end)."""
    at = start + 1
    negated = text[at : at + 1] in (("^", "!") if glob else ("^",)) and at < len(text)
    at += negated
    first = at
    pieces: list[str] = []
    while at < len(text) and (text[at] != "]" or at == first):
        if text.startswith("[:", at):
            close = text.find(":]", at + 2)
            if close >= 0 and text[at + 2 : close] in POSIX_CLASSES:
                pieces.append(POSIX_CLASSES[text[at + 2 : close]])
                at = close + 2
                continue
            if close >= 0 and text[at + 2 : close].isalpha():
                if not glob:
                    raise PatternError("invalid character class")
                at = close + 2
                continue
        low, at = _bracket_character(text, at, glob or escapes)
        if text[at : at + 1] == "-" and at + 1 < len(text) and text[at + 1] != "]":
            high, at = _bracket_character(text, at + 1, glob or escapes)
            if low <= high:
                pieces.append(f"{_in_class(low)}-{_in_class(high)}")
            elif not glob:
                raise PatternError("invalid range end")
        else:
            pieces.append(_in_class(low))
    if at >= len(text):
        return None
    inside = "".join(pieces)
    if not inside:
        return Chars("." if negated else "[^\\s\\S]"), at + 1
    return Chars(f"[{'^' if negated else ''}{inside}]"), at + 1


def _bracket_character(text: str, at: int, escapes: bool) -> tuple[str, int]:
    if escapes and text[at] == "\\" and at + 1 < len(text):
        return text[at + 1], at + 2
    if text[at] == "[" and text[at + 1 : at + 2] in ("=", ".") and text[at + 3 : at + 5] == text[at + 1 : at + 2] + "]":
        return text[at + 2], at + 5
    return text[at], at + 1


def _in_class(character: str) -> str:
    return f"\\U{ord(character):08x}" if not character.isalnum() or not character.isascii() else character


TEXT_START = Anchor("\\A")

TEXT_END = Anchor("\\Z")

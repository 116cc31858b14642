"""Texts of which parts are unknown, as texts: a character of its own stands for each unknown part."""

from __future__ import annotations

from typing import TYPE_CHECKING

from botlint.core.unknown import Unknown
from botlint.shell.values import Hole, Input, Resolved, Text, Value, concat

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

FIRST = 0xE100
"""From here on, characters stand for unknown parts."""
MAX_PARTS = 0x500


class Marks:
    """Unknown parts of values, each with the character that stands for it."""

    __slots__ = ("parts",)

    def __init__(self) -> None:
        self.parts: list[Text] = []

    def mark(self, value: Value) -> Value:
        """The value with a character for each part that is not known."""
        if isinstance(value, str) or value.known:
            return value
        pieces: list[Value] = []
        for piece in value.pieces:
            part = piece if isinstance(piece, str) else Text((piece,))
            if isinstance(part, str) or part.known:
                pieces.append(part)
            else:
                pieces.append(chr(FIRST + len(self.parts)))
                self.parts.append(part)
        return concat(pieces)

    def within(self, text: str) -> bool:
        """Whether a text has such a character."""
        return bool(self.parts) and any(FIRST <= ord(c) < FIRST + len(self.parts) for c in text)

    def unmark(self, text: str) -> Value:
        """The value that a text with such characters is."""
        if not self.within(text):
            return text
        pieces: list[Value] = []
        for character in text:
            number = ord(character) - FIRST
            pieces.append(self.parts[number] if 0 <= number < len(self.parts) else character)
        return concat(pieces)

    def disguise(self, text: str) -> str:
        """The text with longer words, which begin like numbers, in the place of the characters."""
        return "".join(f"4{c}z" if FIRST <= ord(c) < FIRST + len(self.parts) else c for c in text)

    def reveal(self, text: str) -> str:
        """The text behind a disguised one."""
        for number in range(len(self.parts)):
            text = text.replace(f"4{chr(FIRST + number)}z", chr(FIRST + number))
        return text


def words_of(shell: Shell, value: Text) -> tuple[str, Marks] | None:
    """A text in which each unknown part is one word, for the current job; None if a part may be empty or longer.

    The decision tree depends on the whole of it from here on.
    """
    marks = Marks()
    out: list[str] = []
    for piece in value.pieces:
        if isinstance(piece, str):
            out.append(piece)
            continue
        parts: Resolved = (Unknown(piece.reason, piece.nonempty),) if isinstance(piece, Hole) else ()
        if not isinstance(piece, Hole):
            single = Text((piece,))
            if single.known:
                out.append(shell.concrete(single) or "")
                continue
            if not isinstance(piece, Input):
                return None
            found = shell.observe(_same, single, partly=_same)
            parts = found if isinstance(found, tuple) else (str(found),)
        for part in parts:
            if isinstance(part, str):
                out.append(part)
            elif not part.nonempty or len(marks.parts) >= MAX_PARTS:
                return None
            else:
                out.append(chr(FIRST + len(marks.parts)))
                hole = piece if isinstance(piece, Hole) else Hole(part.reason, True)
                marks.parts.append(Text((hole,)))
    return "".join(out), marks


def _same(value: Resolved) -> Resolved:
    return value

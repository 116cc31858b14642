"""From the lines of an edited text back to the lines of the file that it was copied from."""

from __future__ import annotations

from difflib import SequenceMatcher

from botlint.core.span import Span

# Above this many changed lines the alignment inside the changed part is not searched for.
MAX_ALIGNED_LINES = 2_000


class LineMap:
    """Maps spans of `edited` to `path`, whose text is `original`; an inserted line maps to the line before it."""

    __slots__ = ("_edited", "_lines", "_original", "path")

    def __init__(self, path: str, original: str, edited: str) -> None:
        self.path = path
        self._original = original
        self._edited = edited
        self._lines: list[tuple[int, bool]] | None = None

    def original(self, span: Span) -> Span:
        """The same place in the original file; a line that only the edited text has gives the whole line before it."""
        if self._lines is None:
            self._lines = _align(self._original.split("\n"), self._edited.split("\n"))
        first, same = self._lines[min(span.line, len(self._lines)) - 1]
        last, same_end = self._lines[min(span.end_line, len(self._lines)) - 1]
        if same and same_end:
            return Span(self.path, first, span.column, last, span.end_column)
        text = self._original.split("\n")[max(first, last) - 1]
        return Span(self.path, first, 1, max(first, last), len(text) + 1)


def _align(original: list[str], edited: list[str]) -> list[tuple[int, bool]]:
    """For each edited line the number of its original line, and whether the line is unchanged."""
    limit = min(len(original), len(edited))
    head = 0
    while head < limit and original[head] == edited[head]:
        head += 1
    tail = 0
    while tail < limit - head and original[-1 - tail] == edited[-1 - tail]:
        tail += 1
    lines = [(number, True) for number in range(1, head + 1)]
    before, after = original[head : len(original) - tail], edited[head : len(edited) - tail]
    if len(before) + len(after) > MAX_ALIGNED_LINES:
        lines += [(min(head + number, max(len(original), 1)), False) for number in range(1, len(after) + 1)]
    else:
        for _, low, high, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
            same = before[low:high] == after[start:end]
            for position in range(end - start):
                # A replaced line stands for the line at the same place of the replaced ones.
                number = head + min(low + position, high - 1) + 1 if high > low else head + low
                lines.append((max(number, 1), same))
    return lines + [(len(original) - tail + number, True) for number in range(1, tail + 1)]

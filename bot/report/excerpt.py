"""Lines of a source file with a mark under what a span covers; safe and short whatever the file holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from botlint.core.span import Span
from botlint.core.visible import ELLIPSIS, visible, width
from botlint.report.options import Sources

MAX_LINES = 6
"""Lines of one excerpt; of a longer span the first and the last ones are shown."""

MAX_WIDTH = 160
"""Characters of one shown line; of a longer one the part around the span is shown."""

_TAB = "    "


@dataclass(frozen=True, slots=True)
class Row:
    """One line of an excerpt: its number (0 for a gap), its text and the mark under it (empty without one)."""

    number: int
    text: str
    mark: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One line of an excerpt: its number (0 for a gap) and its text before, in and after what a span covers."""

    number: int
    before: str
    covered: str = ""
    after: str = ""


def excerpt(span: Span, sources: Sources, max_lines: int = MAX_LINES) -> list[Row]:
    """The lines that a span covers, the first one marked; empty if the file or the line is not there."""
    rows = []
    for piece in pieces(span, sources, max_lines=max_lines):
        if piece.number == span.line:
            text, lead = piece.before + piece.covered + piece.after, width(piece.before)
            mark = " " * lead + "^" * max(1, width(piece.covered))
        else:
            text, mark = piece.before + piece.covered + piece.after, ""
        rows.append(Row(piece.number, text.rstrip(), mark))
    return rows


def pieces(span: Span, sources: Sources, *, context: int = 0, max_lines: int = MAX_LINES) -> list[Piece]:
    """The lines that a span covers, and some around them; empty if the file or the line is not there."""
    if not span.path:
        return []
    lines = sources(span.path)
    if lines is None or not 1 <= span.line <= len(lines):
        return []
    last = max(span.line, min(_last_line(span), len(lines)))
    numbers = [
        *range(max(1, span.line - context), span.line),
        *_numbers(span.line, last, max_lines),
        *range(last + 1, min(last + context, len(lines)) + 1),
    ]
    return [
        Piece(0, "...") if number == 0 else _piece(number, lines[number - 1], span, number <= last)
        for number in numbers
    ]


def _last_line(span: Span) -> int:
    """The last line with a covered character: a span that ends before a line's first character ends above it."""
    return span.end_line - 1 if span.end_column == 1 and span.end_line > span.line else span.end_line


def _numbers(first: int, last: int, limit: int) -> Iterator[int]:
    if last - first < limit:
        yield from range(first, last + 1)
        return
    yield from range(first, first + limit - 2)
    yield 0
    yield last


def _piece(number: int, line: str, span: Span, inside: bool) -> Piece:
    line = line.rstrip("\r\n")
    if number == span.line:
        start, end = _covered(line, span)
    elif inside and number > span.line:
        start = _indent(line)
        end = max(start, len(line.rstrip()) if number < span.end_line else min(span.end_column - 1, len(line)))
    else:
        start, end = 0, 0
    before, line, start, end = _window(line, start, end)
    after = _shown(line[end:MAX_WIDTH]) + (ELLIPSIS if len(line) > MAX_WIDTH else "")
    return Piece(number, before + _shown(line[:start]), _shown(line[start:end]), after)


def _covered(line: str, span: Span) -> tuple[int, int]:
    """Which characters of the first line a span covers, at least one; all of them if only the line is known."""
    start = min(span.column - 1, len(line))
    empty = (span.end_line, span.end_column) <= (span.line, span.column)
    if empty and span.column == 1:
        return _indent(line), max(len(line.rstrip()), _indent(line) + 1)
    if empty:
        return start, start + 1
    end = len(line.rstrip()) if span.end_line > span.line else min(span.end_column - 1, len(line))
    return start, max(end, start + 1)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _window(line: str, start: int, end: int) -> tuple[str, str, int, int]:
    """The part of a long line around the covered characters, with what stands for the part before it."""
    cut = max(0, min(start - MAX_WIDTH // 4, len(line) - MAX_WIDTH))
    return ELLIPSIS if cut else "", line[cut:], start - cut, min(end - cut, MAX_WIDTH)


def _shown(text: str) -> str:
    return visible(text.replace("\t", _TAB))

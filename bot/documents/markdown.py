"""The blocks of a Markdown text that may hold commands: fenced and indented code, and paragraphs.

Follows CommonMark as far as it decides what is code: fences of backticks and tildes, in quotes and list items too, and
code that is indented by four columns. What stands before a line's content (quote marks, indentation) is left out, and
the line says how much that was, so that places in a block are places in the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Kind = Literal["fence", "indented", "paragraph"]

MAX_TEXT = 2_000_000
"""Characters of a text that are read."""

CODE = 4
"""Columns of indentation that make code."""

_FENCE = re.compile(r"(?P<marks>`{3,}|~{3,})[ \t]*(?P<info>[^`]*|(?<=~)[^\n]*)$")
_HEADING = re.compile(r"(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*?))?(?:[ \t]+#+)?[ \t]*$")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_ITEM = re.compile(r"(?:[-*+]|[0-9]{1,9}[.)])(?P<blank>[ \t]+)(?=\S)")
_QUOTE = re.compile(r"[ ]{0,3}>[ ]?")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of a block: its number in the text, the characters before its content, and the content."""

    number: int
    before: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """Code or a paragraph; `headings` are those above it, the outermost first; `language` that of a fence."""

    kind: Kind
    lines: tuple[Line, ...]
    headings: tuple[str, ...] = ()
    language: str = ""
    heading_line: int = 0
    """The line of the last heading above it, 0 without one."""


def markdown_blocks(text: str) -> list[Block]:
    """The blocks of a text in their order."""
    return list(_Reader(text[:MAX_TEXT]).blocks())


class _Reader:
    def __init__(self, text: str) -> None:
        self.lines = [line.removesuffix("\r") for line in text.split("\n")]
        self.headings: list[tuple[int, str]] = []
        self.heading_line = 0
        self.paragraph: list[Line] = []
        self.code: list[Line] = []

    def blocks(self) -> Iterator[Block]:
        number = 0
        after_blank = True
        while number < len(self.lines):
            line, quote = _unquoted(self.lines[number])
            content = line.lstrip(" \t")
            indent = len(line) - len(content)
            if not content:
                if self.code:
                    self.code.append(Line(number + 1, len(self.lines[number]), ""))
                else:
                    yield from self._end()
                after_blank = True
                number += 1
                continue
            fence, within = _fence(content)
            if fence is not None and (indent < CODE or not self.code):
                yield from self._end()
                block, number = self._fenced(fence, number, quote, indent + within)
                yield block
                after_blank = True
                continue
            if _width(line) >= CODE and (self.code or after_blank):
                before = _columns(line, CODE)
                self.code.append(Line(number + 1, quote + before, line[before:]))
            else:
                if self.code:
                    yield from self._end()
                yield from self._prose(number, quote, indent, content)
            after_blank = False
            number += 1
        yield from self._end()

    def _fenced(self, fence: re.Match[str], number: int, quote: int, indent: int) -> tuple[Block, int]:
        """A fenced block, and the number of the line after it: its closing fence, or the end of what it stands in."""
        marks = fence["marks"]
        close = re.compile(rf"[ \t]*{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$")
        # A closing fence behind the last line of the code closes nothing, but that is what was meant.
        slipped = re.compile(rf"(?<=\S)[ \t]+{re.escape(marks[0])}{{{len(marks)},}}[ \t]*$")
        found: list[Line] = []
        number += 1
        while number < len(self.lines):
            raw = self.lines[number]
            line, before = _unquoted(raw) if quote else (raw, 0)
            if quote and not before:
                break
            number += 1
            if close.match(line):
                break
            cut = min(_columns(line, indent), len(line) - len(line.lstrip(" \t")))
            slip = slipped.search(line)
            found.append(Line(number, before + cut, line[cut : slip.start() if slip is not None else None]))
            if slip is not None:
                break
        words = fence["info"].strip().split()
        language = words[0].strip("{}.").lower() if words else ""
        return self._block("fence", found, language), number

    def _prose(self, number: int, quote: int, indent: int, content: str) -> Iterator[Block]:
        heading = _HEADING.match(content)
        if heading is not None:
            yield from self._end()
            self._head(len(heading["marks"]), heading["text"] or "", number + 1)
            return
        if _UNDERLINE.match(content) and len(self.paragraph) == 1:
            title = self.paragraph.pop().text
            self._head(1 if content[0] == "=" else 2, title, number)
            return
        item = _ITEM.match(content)
        if item is not None:
            yield from self._end()
            indent, content = indent + item.end(), content[item.end() :]
        self.paragraph.append(Line(number + 1, quote + indent, content))

    def _head(self, level: int, text: str, line: int) -> None:
        self.headings = [one for one in self.headings if one[0] < level]
        self.headings.append((level, text.strip()))
        self.heading_line = line

    def _end(self) -> Iterator[Block]:
        """What was read of a paragraph or of indented code."""
        if self.paragraph:
            found, self.paragraph = self.paragraph, []
            yield self._block("paragraph", found)
        if self.code:
            found, self.code = self.code, []
            while found and not found[-1].text.strip():
                found.pop()
            yield self._block("indented", found)

    def _block(self, kind: Kind, lines: Sequence[Line], language: str = "") -> Block:
        headings = tuple(text for _, text in self.headings)
        return Block(kind, tuple(lines), headings, language, self.heading_line)


def _fence(content: str) -> tuple[re.Match[str] | None, int]:
    """The fence that a line opens, also behind the mark of a list item, and the columns before it."""
    item = _ITEM.match(content)
    found = _FENCE.match(content)
    if found is not None or item is None:
        return found, 0
    return _FENCE.match(content[item.end() :]), item.end()


def _unquoted(line: str) -> tuple[str, int]:
    """A line without its quote marks, and how many characters they take."""
    start = 0
    while (mark := _QUOTE.match(line, start)) is not None:
        start = mark.end()
    return line[start:], start


def _width(line: str) -> int:
    """The columns of a line's indentation."""
    columns = 0
    for char in line:
        if char == " ":
            columns += 1
        elif char == "\t":
            columns += CODE - columns % CODE
        else:
            break
    return columns


def _columns(line: str, wanted: int) -> int:
    """The characters that make up this many columns of a line's indentation, or all of it if it is less."""
    columns = 0
    for index, char in enumerate(line):
        if columns >= wanted or char not in " \t":
            return index
        columns += 1 if char == " " else CODE - columns % CODE
    return len(line)

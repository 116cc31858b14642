"""What people write about a pull request, in Markdown: boxes to tick, other pull requests it depends on, sign-offs.

Code, quotes and hidden comments say nothing of their own: templates and reminders show words there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_TEXT = 100_000
"""Characters of one text that are looked at; GitHub takes 65,536 UTF-16 units."""

MAX_ITEMS = 500

_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}|~{3,})")
_TICKS = re.compile(r"(`+)")
_QUOTE = re.compile(r" {0,3}>")
_HEADING = re.compile(r" {0,3}(?P<marks>#{1,6})[ \t]+(?P<text>[^\n]*)")
_BOX = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[ xX])\](?:[ \t]+(?P<text>.*))?$")
_DEPENDS = re.compile(r"\bdepends[ -]on\b[ \t]*:?(?P<rest>[^\n]*)", re.IGNORECASE)
_REFERENCE = re.compile(
    r"https://[\w.-]+/(?P<where>[\w.-]+/[\w.-]+)/pull/(?P<number>\d{1,9})(?!\d)"
    r"|(?<![\w/&])(?P<named>[\w.-]{1,100}/[\w.-]{1,100})?#(?P<short>\d{1,9})\b"
)
_WIP = re.compile(
    r"[\[(]\s*(?:wip|work in progress|do not merge|dnm)\s*[\])]|^\s*(?:wip|draft|dnm)\b\s*[:\-]", re.IGNORECASE
)
_SIGNED = re.compile(r"(?m)^[ \t]*Signed-off-by:[ \t]*\S[^<>\n]*<[^<>\s@]+@[^<>\s]+>[ \t]*\r?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Box:
    """A box to tick: its text, and the headings that it is below, the innermost last."""

    text: str
    done: bool
    headings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reference:
    """Another pull request that is named; `repository` is empty where it is the same one."""

    number: int
    repository: str = ""


def plain_lines(text: str, *, code: bool = False) -> Iterator[str]:
    """The lines that say something: without blocks of code, quotes and hidden comments, and without `code` in them."""
    fence = ""
    for line in _without_comments(text[:MAX_TEXT].replace("\r\n", "\n")).split("\n"):
        match = _FENCE.match(line)
        if fence:
            if match is not None and match["fence"].startswith(fence) and not line.strip(" \t`~"):
                fence = ""
        elif match is not None:
            fence = match["fence"]
        elif not _QUOTE.match(line):
            yield line if code else _without_code(line)


def _without_code(line: str) -> str:
    """The line without what stands between as many backticks."""
    parts = _TICKS.split(line)
    ends = {ticks: number for number, ticks in enumerate(parts) if number % 2}
    kept = []
    number = 0
    while number < len(parts):
        if number % 2 and ends[parts[number]] > number:
            number = parts.index(parts[number], number + 1)
        else:
            kept.append(parts[number])
        number += 1
    return "".join(kept)


def _without_comments(text: str) -> str:
    parts = []
    while True:
        before, begun, rest = text.partition("<!--")
        parts.append(before)
        _, ended, text = rest.partition("-->")
        if not begun or not ended:
            return "".join(parts)


def boxes(text: str) -> list[Box]:
    """The boxes of a description."""
    found: list[Box] = []
    above: list[tuple[int, str]] = []
    for line in plain_lines(text, code=True):
        heading = _HEADING.match(line)
        if heading is not None:
            depth = len(heading["marks"])
            above = [one for one in above if one[0] < depth]
            above.append((depth, heading["text"].rstrip("# \t").strip()))
            continue
        match = _BOX.match(line)
        if match is not None and len(found) < MAX_ITEMS:
            said = (match["text"] or "").strip()
            found.append(Box(said, match["mark"] != " ", tuple(name for _, name in above)))
    return found


def dependencies(text: str) -> list[Reference]:
    """The pull requests that a description says it depends on (`depends on #12`, `Depends-On: URL`)."""
    found: dict[Reference, None] = {}
    for line in plain_lines(text):
        match = _DEPENDS.search(line)
        if match is not None:
            found.update(dict.fromkeys(references(match["rest"])))
    return list(found)[:MAX_ITEMS]


def references(text: str) -> Iterator[Reference]:
    """The pull requests and issues that a text names."""
    for match in _REFERENCE.finditer(text[:MAX_TEXT]):
        yield Reference(int(match["number"] or match["short"]), match["where"] or match["named"] or "")


def says(text: str, phrase: str) -> bool:
    """Whether a text has a phrase, however its words are spaced."""
    return " ".join(phrase.split()) in " ".join(" ".join(plain_lines(text)).split())


def in_progress(title: str) -> bool:
    """Whether a title says that the work goes on: `[WIP]`, `WIP:`, `[do not merge]`."""
    return _WIP.search(title[:1_000]) is not None


def is_signed_off(message: str) -> bool:
    """Whether a commit's message has a line `Signed-off-by: NAME <ADDRESS>`."""
    return _SIGNED.search(message[:MAX_TEXT]) is not None

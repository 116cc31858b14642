"""Where each finding is told: on lines of the diff, on a changed file, or in the summary.

The first of these that is in the diff is the place: the finding's own lines if they were added; deleted lines of that
file which held what the finding says is missing; the finding's own lines, unchanged; the added lines of a related
place; a deleted or renamed file that the finding names; deleted lines of other files which held what is missing; the
unchanged lines of a related place; the added lines of a step of the proof. Else it is the file of the finding or of a
related place, if it was changed, and else the summary.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from botlint.core.finding import SEVERITIES, Finding
from botlint.core.span import Span
from botlint.github.models import Side
from botlint.github.patches import Diff, FileDiff

MAX_INLINE = 30
"""Comments of one review by default: GitHub slows accounts down that post more at once."""

MAX_RANGE = 12
"""Lines of one comment; of a longer span the first changed line is commented."""

MAX_HEAD = 200_000
"""Lines of a file's head in which a deleted word is looked for."""

Lines = Callable[[str], Sequence[str] | None]
"""The lines of a file of the head, without line feeds; None if it cannot be read."""

Kind = Literal["inline", "file", "summary"]
Reason = Literal["span", "cause", "related", "step", "file", "outside", "capped"]

STEP = re.compile(r"(?P<path>\S[^:\n]*):(?P<line>\d{1,9})  ")
_WORD = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+/-]*[A-Za-z0-9_]")
_LETTER = re.compile(r"[A-Za-z]")
_MARK = re.compile(r"[_\d.+/-]")
_CAPITALS = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class Anchor:
    """Lines of one hunk that a comment is on, all of one side; deleted ones have their numbers in the base."""

    path: str
    side: Side
    first: int
    last: int


@dataclass(frozen=True, slots=True)
class Placement:
    """Where a finding is told, and why there; `path` is the changed file of a comment, empty in the summary."""

    finding: Finding
    kind: Kind
    reason: Reason
    path: str = ""
    anchor: Anchor | None = None


def place_all(findings: Iterable[Finding], diff: Diff, lines: Lines, limit: int = MAX_INLINE) -> tuple[Placement, ...]:
    """The places of all findings that count, worst finding first; those over the limit are in the summary."""
    placer = Placer(diff, lines)
    placed: list[Placement] = []
    commented = 0
    for finding in sorted((one for one in findings if one.counts), key=rank):
        placement = placer.place(finding)
        if placement.kind != "summary":
            if commented >= limit:
                placement = Placement(finding, "summary", "capped")
            else:
                commented += 1
        placed.append(placement)
    return tuple(placed)


def rank(finding: Finding) -> tuple[object, ...]:
    """The order of what to tell first: certain errors, then by severity, certainty, and the number of jobs."""
    sure = finding.certainty == "certain"
    severity = SEVERITIES.index(finding.severity)
    return not (sure and severity == 0), severity, not sure, -len(finding.jobs), *finding.order


def last_line(span: Span) -> int:
    """The last line with a covered character: a span that ends before a line's first character ends above it."""
    return span.end_line - (span.end_column == 1 and span.end_line > span.line)


def step_spans(finding: Finding) -> Iterator[Span]:
    """The places that the steps of the proof begin with."""
    for step in finding.steps:
        if (match := STEP.match(step)) is not None:
            line = int(match["line"])
            yield Span(match["path"], line, 1, line, 1)


def _spans(finding: Finding) -> list[Span]:
    return [finding.span, *(related.span for related in finding.related)]


def _words(text: str) -> list[str]:
    return [word for word in _WORD.findall(text) if len(word) > 2]


def _is_name(word: str) -> bool:
    """Whether a word is no plain one: letters with digits or signs, or capitals. Words may be very long."""
    if _CAPITALS.search(word) is not None:
        return True
    return _LETTER.search(word) is not None and _MARK.search(word) is not None


@dataclass(frozen=True)
class Placer:
    """Places findings in one diff; what is searched in the changed files is read once."""

    diff: Diff
    lines: Lines

    def place(self, finding: Finding) -> Placement:
        """The place of one finding; one about the pull request as a whole is told of no file."""
        if not any(span.path for span in _spans(finding)):
            return Placement(finding, "summary", "outside")
        for reason, anchor in self._anchors(finding):
            if anchor is not None:
                return Placement(finding, "inline", reason, anchor.path, anchor)
        for span in _spans(finding):
            if (changed := self.diff.files.get(span.path)) is not None:
                return Placement(finding, "file", "file", changed.path)
        gone = self._gone(finding)
        if gone is not None:
            return Placement(finding, "file", "cause", gone.path)
        return Placement(finding, "summary", "outside")

    def _anchors(self, finding: Finding) -> Iterator[tuple[Reason, Anchor | None]]:
        own, *related = _spans(finding)
        yield "span", self._on_span(own, added=True)
        wanted = self._wanted(finding)
        yield "cause", self._missing(wanted, [own.path], near=own)
        yield "span", self._on_span(own, added=False)
        for span in related:
            yield "related", self._on_span(span, added=True)
        gone = self._gone(finding)
        if gone is not None and gone.removed:
            yield "cause", Anchor(gone.path, "LEFT", min(gone.removed), min(gone.removed))
        yield "cause", self._missing(wanted, [span.path for span in related])
        yield "cause", self._missing(wanted, sorted({path for word in wanted for path in self._holders.get(word, ())}))
        for span in related:
            yield "related", self._on_span(span, added=False)
        for span in step_spans(finding):
            yield "step", self._on_span(span, added=True)

    def _on_span(self, span: Span, *, added: bool) -> Anchor | None:
        """The lines of a span that can be commented, of the hunk with the first of them that was added (or of any)."""
        changed = self.diff.files.get(span.path)
        if changed is None:
            return None
        last = last_line(span)
        if last - span.line < len(changed.right):
            found = [line for number in range(span.line, last + 1) if (line := changed.right.get(number)) is not None]
        else:
            found = [line for number, line in changed.right.items() if span.line <= number <= last]
        first = next((line for line in found if line.kind == "added" or not added), None)
        if first is None or first.new is None:
            return None
        numbers = [line.new for line in found if line.hunk == first.hunk and line.new is not None]
        if (numbers[0], numbers[-1]) != (span.line, last):
            # Of a span that sticks out of the hunk, the part that is new.
            numbers = [number for number in numbers if not added or changed.right[number].kind == "added"]
        lines = range(numbers[0], numbers[-1] + 1)
        if len(lines) > MAX_RANGE or any(number not in changed.right for number in lines):
            return Anchor(changed.path, "RIGHT", first.new, first.new)
        return Anchor(changed.path, "RIGHT", numbers[0], numbers[-1])

    # ------------------------------------------------------------------------------------------- what is not there

    def _gone(self, finding: Finding) -> FileDiff | None:
        """A deleted file that the finding names, or a renamed one by its former name."""
        if not self._former:
            return None
        texts = (finding.message, *(one.message for one in finding.related), *finding.steps)
        named = self._former.keys() & {word for text in texts for word in _words(text)}
        return self._former[min(named)] if named else None

    @cached_property
    def _former(self) -> Mapping[str, FileDiff]:
        removed = {path: one for path, one in self.diff.files.items() if one.status == "removed"}
        return {**self.diff.renamed, **removed}

    def _wanted(self, finding: Finding) -> set[str]:
        """The words by which a deleted line is known as the one that is missing.

        A name (`KV_BACKEND`, `native-2`) counts wherever the message has it; a plain word only if the line of a related
        place has it too, for messages are made of plain words.
        """
        said = set(_words(finding.message))
        seen = {word for span in _spans(finding) for word in _words(self._text(span))}
        return {word for word in said if _is_name(word)} | (said & seen)

    def _text(self, span: Span) -> str:
        lines = self.lines(span.path) if span.path else None
        return lines[span.line - 1] if lines is not None and 1 <= span.line <= len(lines) else ""

    def _missing(self, wanted: set[str], paths: Iterable[str], near: Span | None = None) -> Anchor | None:
        """The deleted line with the most of the words that its file no longer has, in the first file that has one.

        Of several lines it is the first one, if possible of the hunk that is near.
        """
        for path in dict.fromkeys(paths):
            lost = self._lost(path)
            words = wanted & lost.keys()
            if words and self.diff.files[path].status != "removed":
                words -= self._head_words(path)
            found = Counter(old for word in words for old in lost[word])
            if found:
                changed = self.diff.files[path]
                home = None if near is None else changed.right.get(near.line)
                hunk = -1 if home is None else home.hunk
                best = min(found, key=lambda old: (-found[old], changed.removed[old].hunk != hunk, old))
                return Anchor(path, "LEFT", best, best)
        return None

    @cached_property
    def _holders(self) -> Mapping[str, Sequence[str]]:
        """The files whose patch loses a word, by the word."""
        found: dict[str, list[str]] = {}
        for path, changed in self.diff.files.items():
            for word in {} if changed.local else self._lost(path):
                found.setdefault(word, []).append(path)
        return found

    def _lost(self, path: str) -> Mapping[str, Sequence[int]]:
        """The words that of a file's diff only deleted lines have, with the lines' numbers in the base."""
        known = self._cache.get(path)
        if known is None:
            known = self._cache[path] = _lost_words(self.diff.files.get(path))
        return known

    def _head_words(self, path: str) -> set[str]:
        """The words of a file of the head; it is read for those alone that a deleted line may have held."""
        known = self._heads.get(path)
        if known is None:
            lines = (self.lines(path) or ())[:MAX_HEAD]
            known = self._heads[path] = {word for line in lines for word in _words(line)}
        return known

    @cached_property
    def _cache(self) -> dict[str, Mapping[str, Sequence[int]]]:
        return {}

    @cached_property
    def _heads(self) -> dict[str, set[str]]:
        return {}


def _lost_words(changed: FileDiff | None) -> Mapping[str, Sequence[int]]:
    if changed is None or not changed.removed:
        return {}
    kept = {word for line in changed.lines if line.kind != "removed" for word in _words(line.text)}
    found: dict[str, list[int]] = {}
    for old, line in changed.removed.items():
        for word in dict.fromkeys(_words(line.text)):
            if word not in kept:
                found.setdefault(word, []).append(old)
    return found

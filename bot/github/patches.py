"""Which lines of a pull request's diff can be commented: from GitHub's patches, or from both texts where it gives none.

GitHub takes a comment on a line of a hunk only: on the right side for added lines and context, on the left side (with
the old line number) for deleted lines. One line that is not there makes it refuse the whole review.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from botlint.github.models import ChangedFile, FileStatus

CONTEXT = 3
"""Unchanged lines around a change that belong to its hunk, in git and here."""

MAX_COMPARED = 4_000_000
"""Old lines times new lines between the equal ends of two texts that are compared here."""

LineKind = Literal["context", "added", "removed"]
TextOf = Callable[[str], str | None]
"""The text of a file of one revision; None where there is none, or it is not read."""

_HEADER = re.compile(r"@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@")
_KINDS: Mapping[str, LineKind] = {" ": "context", "+": "added", "-": "removed"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line of a hunk: its numbers in the old and the new file (None where it is not in it), and its text.

    The text has no line feed; a carriage return before it is left out and told by `carriage`.
    """

    kind: LineKind
    old: int | None
    new: int | None
    text: str
    hunk: int
    carriage: bool = False


@dataclass(frozen=True)
class FileDiff:
    """What can be commented of a changed file.

    Where GitHub gives no patch, `compare` compares the texts, when the lines are first asked for. Git may align
    unchanged lines otherwise, so of such `local` lines only changed ones are safe to comment.
    """

    path: str
    previous_path: str | None
    status: FileStatus
    patch: str | None = None
    compare: Callable[[], tuple[DiffLine, ...] | None] | None = None

    @property
    def base_path(self) -> str:
        """The file's name in the base."""
        return self.previous_path or self.path

    @property
    def local(self) -> bool:
        """Whether the lines are compared here."""
        return self.compare is not None

    @property
    def lines(self) -> tuple[DiffLine, ...]:
        """The lines of all hunks, as far as they are known."""
        return self._read[0]

    @property
    def known(self) -> bool:
        """Whether the lines are all there are."""
        return self._read[1]

    @property
    def missed(self) -> bool:
        """Whether lines were asked for that are not known."""
        return "_read" in self.__dict__ and not self.known

    @cached_property
    def _read(self) -> tuple[tuple[DiffLine, ...], bool]:
        if self.patch is not None:
            return parse_patch(self.patch)
        compared = () if self.compare is None else self.compare()
        return ((), False) if compared is None else (compared, True)

    @cached_property
    def right(self) -> Mapping[int, DiffLine]:
        """Lines of the head that can be commented, by number."""
        return {
            line.new: line
            for line in self.lines
            if line.new is not None and not (self.local and line.kind == "context")
        }

    @cached_property
    def removed(self) -> Mapping[int, DiffLine]:
        """Deleted lines, by their number in the base."""
        return {line.old: line for line in self.lines if line.kind == "removed" and line.old is not None}


@dataclass(frozen=True)
class Diff:
    """The changed files of a pull request by their name in the head (of deleted ones, in the base)."""

    files: Mapping[str, FileDiff]

    @cached_property
    def renamed(self) -> Mapping[str, FileDiff]:
        """Renamed files by their name in the base."""
        return {one.previous_path: one for one in self.files.values() if one.previous_path and one.status == "renamed"}

    @property
    def unknown(self) -> tuple[str, ...]:
        """Files whose lines were asked for and are not all known, for neither GitHub nor the texts tell them."""
        return tuple(path for path, one in self.files.items() if one.missed)


def read_diff(files: Iterable[ChangedFile], base: TextOf | None = None, head: TextOf | None = None) -> Diff:
    """The diff of a pull request; the texts stand in for patches that GitHub leaves out."""
    return Diff({one.path: _file(one, base, head) for one in files})


def _file(one: ChangedFile, base: TextOf | None, head: TextOf | None) -> FileDiff:
    same = one.status in ("renamed", "copied", "unchanged") and not one.additions and not one.deletions
    if one.patch is not None or same:
        return FileDiff(one.path, one.previous_path, one.status, one.patch)

    def compared() -> tuple[DiffLine, ...] | None:
        old = "" if one.status == "added" else base(one.previous_path or one.path) if base else None
        new = "" if one.status == "removed" else head(one.path) if head else None
        return None if old is None or new is None else compare(old, new)

    return FileDiff(one.path, one.previous_path, one.status, compare=compared)


def parse_patch(patch: str) -> tuple[tuple[DiffLine, ...], bool]:
    """The lines of a patch, and whether it is whole: of one that breaks off, the lines before are there."""
    lines: list[DiffLine] = []
    hunk = -1
    old = new = old_left = new_left = 0
    texts = patch.split("\n")
    if texts and not texts[-1]:
        texts.pop()
    for text in texts:
        if not old_left and not new_left:
            if text.startswith("\\"):
                continue
            header = _HEADER.match(text)
            if header is None:
                return tuple(lines), False
            hunk += 1
            old, new = int(header[1]), int(header[3])
            old_left = 1 if header[2] is None else int(header[2])
            new_left = 1 if header[4] is None else int(header[4])
            continue
        if text.startswith("\\"):
            # "\ No newline at end of file" is no line.
            continue
        # An empty context line may have lost its space.
        kind = _KINDS.get(text[:1] or " ")
        in_old, in_new = kind != "added", kind != "removed"
        if kind is None or (in_old and not old_left) or (in_new and not new_left):
            return tuple(lines), False
        content = text[1:]
        lines.append(
            DiffLine(
                kind,
                old if in_old else None,
                new if in_new else None,
                content.removesuffix("\r"),
                hunk,
                content.endswith("\r"),
            )
        )
        old, old_left = old + in_old, old_left - in_old
        new, new_left = new + in_new, new_left - in_new
    return tuple(lines), not old_left and not new_left


def compare(old: str, new: str) -> tuple[DiffLine, ...] | None:
    """The diff of two texts as hunks; None where they are too different to compare here."""
    before, after = _split(old), _split(new)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    start = max(0, head - CONTEXT)
    left = before[start : len(before) - max(0, tail - CONTEXT)]
    right = after[start : len(after) - max(0, tail - CONTEXT)]
    if len(left) * len(right) > MAX_COMPARED:
        return None
    lines: list[DiffLine] = []
    groups = difflib.SequenceMatcher(None, left, right, autojunk=False).get_grouped_opcodes(CONTEXT)
    for hunk, group in enumerate(groups):
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines.extend(_line("context", start + at, start + at - i1 + j1, left[at], hunk) for at in range(i1, i2))
                continue
            lines.extend(_line("removed", start + at, None, left[at], hunk) for at in range(i1, i2))
            lines.extend(_line("added", None, start + at, right[at], hunk) for at in range(j1, j2))
    return tuple(lines)


def _line(kind: LineKind, old: int | None, new: int | None, text: str, hunk: int) -> DiffLine:
    ended = text.removesuffix("\n")
    return DiffLine(
        kind,
        None if old is None else old + 1,
        None if new is None else new + 1,
        ended.removesuffix("\r"),
        hunk,
        ended.endswith("\r"),
    )


def _split(text: str) -> Sequence[str]:
    """The lines with their ends: a last line with a line feed differs from one without, as in git."""
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended

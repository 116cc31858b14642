"""What changes between two trees, as GitHub tells it: files with status and patch, and which lines take a comment."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher

from fakehub.git import Entry, Objects

_CONTEXT = 3
_SIMILAR = 0.5
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


@dataclass(frozen=True, slots=True)
class Limits:
    """Above these a file is listed without its patch."""

    patch_lines: int = 20_000
    patch_bytes: int = 1_000_000
    files: int = 3_000
    """More files than these are not listed."""


@dataclass(frozen=True, slots=True)
class Changed:
    """One file of a diff."""

    path: str
    previous: str | None
    status: str
    old: Entry | None
    new: Entry | None
    patch: str | None
    additions: int
    deletions: int


@dataclass(frozen=True, slots=True)
class Anchors:
    """The lines of a file's diff that take a comment, each with the number of its hunk."""

    left: Mapping[int, int] = field(default_factory=dict)
    right: Mapping[int, int] = field(default_factory=dict)

    def side(self, name: str) -> Mapping[int, int]:
        """The lines of `LEFT` or `RIGHT`."""
        return self.left if name == "LEFT" else self.right


def changed_files(objects: Objects, old: str | None, new: str, limits: Limits) -> list[Changed]:
    """The files that differ between two trees, sorted by path."""
    before = objects.flat(old) if old is not None else {}
    after = objects.flat(new)
    removed = {path: entry for path, entry in before.items() if path not in after}
    added = {path: entry for path, entry in after.items() if path not in before}
    renamed = dict(_renames(objects, removed, added))
    found = []
    for path in sorted({*removed, *added, *(one for one in before if before[one] != after.get(one))}):
        if path in renamed.values():
            continue
        previous = renamed.get(path)
        source = before.get(previous or path)
        found.append(_changed(objects, path, previous, source, after.get(path), limits))
    return found


def _renames(objects: Objects, removed: Mapping[str, Entry], added: Mapping[str, Entry]) -> Iterator[tuple[str, str]]:
    """New and old path of what was moved: the same content, else the most similar one."""
    left = {path: entry for path, entry in removed.items() if entry.kind == "blob"}
    for path, entry in added.items():
        same = [one for one in left if left[one].sha == entry.sha]
        if same:
            del left[same[0]]
            yield path, same[0]
    for path, entry in added.items():
        if entry.kind != "blob" or entry.sha in {one.sha for one in removed.values()} or len(left) > 100:
            continue
        lines = text_lines(objects, entry)
        ratios = [(_similarity(text_lines(objects, left[one]), lines), one) for one in left]
        best = max(ratios, default=(0.0, ""))
        if best[0] >= _SIMILAR:
            del left[best[1]]
            yield path, best[1]


def _similarity(old: Sequence[str] | None, new: Sequence[str] | None) -> float:
    if not old or not new or not 0.3 < len(old) / len(new) < 3:
        return 0.0
    return SequenceMatcher(None, old, new, autojunk=False).quick_ratio()


def _changed(
    objects: Objects, path: str, previous: str | None, old: Entry | None, new: Entry | None, limits: Limits
) -> Changed:
    status = "added" if old is None else "removed" if new is None else "renamed" if previous else "modified"
    if old is not None and new is not None and old.sha == new.sha:
        return Changed(path, previous, status if previous else "changed", old, new, None, 0, 0)
    lines_old = text_lines(objects, old) if old is not None else []
    lines_new = text_lines(objects, new) if new is not None else []
    if lines_old is None or lines_new is None:
        return Changed(path, previous, status, old, new, None, 0, 0)
    if len(lines_old) + len(lines_new) > 4 * limits.patch_lines:
        # Never shown, and not worth a comparison.
        return Changed(path, previous, status, old, new, None, len(lines_new), len(lines_old))
    text = patch(lines_old, lines_new)
    body = [line for line in text.split("\n") if not line.startswith("@@")]
    additions = sum(line.startswith("+") for line in body)
    deletions = sum(line.startswith("-") for line in body)
    shown = additions + deletions <= limits.patch_lines and len(text) <= limits.patch_bytes
    return Changed(path, previous, status, old, new, text if shown and text else None, additions, deletions)


def text_lines(objects: Objects, entry: Entry) -> list[str] | None:
    """The lines of an entry with their ends; a submodule as git shows it; None for binary content."""
    if entry.kind == "commit":
        return [f"Subproject commit {entry.sha}\n"]
    data = objects.blobs[entry.sha]
    if b"\0" in data[:8000]:
        return None
    lines = [line + "\n" for line in data.decode("utf-8", "replace").split("\n")]
    lines[-1] = lines[-1][:-1]
    return lines if lines[-1] else lines[:-1]


def patch(old: Sequence[str], new: Sequence[str]) -> str:
    """The hunks between two texts, with three lines of context and without a newline at the end."""
    out: list[str] = []
    for group in _groups(old, new):
        first, last = group[0], group[-1]
        span_old, span_new = _range(first[1], last[2]), _range(first[3], last[4])
        out.append(f"@@ -{span_old} +{span_new} @@{_heading(old, first[1])}")
        for tag, a, b, c, d in group:
            if tag == "equal":
                out += [" " + _shown(line) for line in old[a:b]]
            else:
                out += ["-" + _shown(line) for line in old[a:b]]
                out += ["+" + _shown(line) for line in new[c:d]]
    return "\n".join(out)


def _groups(old: Sequence[str], new: Sequence[str]) -> Iterator[list[tuple[str, int, int, int, int]]]:
    """The grouped differences; of what both begin and end with only the context is looked at: large files are fast."""
    start, end = _common(old, new)
    start = max(0, start - _CONTEXT)
    end = max(0, end - _CONTEXT)
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    for group in matcher.get_grouped_opcodes(_CONTEXT):
        yield [(tag, a + start, b + start, c + start, d + start) for tag, a, b, c, d in group]


def _common(old: Sequence[str], new: Sequence[str]) -> tuple[int, int]:
    """How many lines two texts begin with and end with alike."""
    shortest = min(len(old), len(new))
    start = 0
    while start < shortest and old[start] == new[start]:
        start += 1
    end = 0
    while end < shortest - start and old[-1 - end] == new[-1 - end]:
        end += 1
    return start, end


def _range(start: int, end: int) -> str:
    length = end - start
    if length == 0:
        return f"{start},0"
    return f"{start + 1}" if length == 1 else f"{start + 1},{length}"


def _heading(old: Sequence[str], start: int) -> str:
    """The line above a hunk that git takes for the name of its function."""
    for line in reversed(old[:start]):
        if re.match(r"[A-Za-z_$]", line):
            return " " + line.rstrip()[:80].rstrip()
    return ""


def _shown(line: str) -> str:
    return line[:-1] if line.endswith("\n") else line + "\n\\ No newline at end of file"


def anchors(text: str | None) -> Anchors:
    """The lines of a patch that take a comment."""
    left: dict[int, int] = {}
    right: dict[int, int] = {}
    hunk = old = new = 0
    for line in (text or "").split("\n"):
        match = _HUNK.match(line)
        if match:
            hunk += 1
            old, new = int(match[1]), int(match[3])
        elif line.startswith("-"):
            left[old] = hunk
            old += 1
        elif line.startswith("+"):
            right[new] = hunk
            new += 1
        elif line.startswith(" "):
            left[old] = right[new] = hunk
            old, new = old + 1, new + 1
    return Anchors(left, right)


def hunk_until(text: str | None, side: str, line: int) -> str:
    """The hunk of a line, cut after it, as GitHub shows it with a comment."""
    shown: list[str] = []
    old = new = 0
    for one in (text or "").split("\n"):
        match = _HUNK.match(one)
        if match:
            shown, old, new = [], int(match[1]), int(match[3])
        shown.append(one)
        if match or not one:
            continue
        if (side == "LEFT" and one[0] in "- " and old == line) or (side == "RIGHT" and one[0] in "+ " and new == line):
            return "\n".join(shown)
        old += one[0] in "- "
        new += one[0] in "+ "
    return ""


def mapped_line(old: Sequence[str], new: Sequence[str], line: int) -> int | None:
    """Where a line of one text is in a later one; None if it was changed."""
    start, end = _common(old, new)
    if line <= start:
        return line
    if line > len(old) - end:
        return line - len(old) + len(new)
    matcher = SequenceMatcher(None, old[start : len(old) - end], new[start : len(new) - end], autojunk=False)
    for tag, a, b, c, _ in matcher.get_opcodes():
        if tag == "equal" and a + start < line <= b + start:
            return c + line - a
    return None

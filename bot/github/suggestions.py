"""Fixes as suggestions that a reader applies with a click, and as a diff where that is not possible.

A suggestion replaces exactly the lines that its comment is on: they have to be lines of the head, in one hunk.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from botlint.core.finding import Finding, Fix
from botlint.core.visible import visible
from botlint.fixes.diff import shown_diff
from botlint.fixes.edits import RefusedEdit, apply_edits
from botlint.github.limits import units
from botlint.github.patches import Diff, TextOf
from botlint.github.placing import MAX_RANGE, Anchor, Placement, last_line

MAX_SUGGESTION = 6_000
"""UTF-16 units of a suggestion."""

MAX_DIFF_LINES = 60
"""Lines of a fix that is shown as a diff."""

MAX_WIDTH = 300


@dataclass(frozen=True, slots=True)
class Suggestion:
    """New lines for those that a comment is on; none deletes them."""

    anchor: Anchor
    lines: tuple[str, ...]

    @property
    def markdown(self) -> list[str]:
        """The block that GitHub offers to apply, in lines."""
        ticks = max((len(run) for line in self.lines for run in re.findall("`+", line)), default=0)
        fence = "`" * max(3, ticks + 1)
        return [f"{fence}suggestion", *self.lines, fence]


def suggest(placement: Placement, diff: Diff, head: TextOf) -> Suggestion | None:
    """The fix of a finding as a suggestion; None where the comment's place or the fix does not allow it.

    The comment has to be on lines of the head, and moves so that it covers the lines of the fix too. Files whose lines
    end with carriage returns get none, for GitHub may commit mixed ends.
    """
    anchor, fix = placement.anchor, placement.finding.fix
    if anchor is None or anchor.side == "LEFT" or fix is None or not fix.edits:
        return None
    if any(edit.span.path != anchor.path for edit in fix.edits):
        return None
    text = head(anchor.path)
    if text is None or "\r" in text:
        return None
    before = _lines(text)
    first = min(anchor.first, *(min(edit.span.line, len(before)) for edit in fix.edits))
    last = max(anchor.last, *(min(last_line(edit.span), len(before)) for edit in fix.edits))
    if (
        not 1 <= first <= last
        or last - first >= MAX_RANGE
        or not _are_of_one_hunk(diff, anchor.path, first, last, before)
    ):
        return None
    try:
        changed = apply_edits(text, fix.edits)
    except RefusedEdit:
        return None
    after = _lines(changed)
    kept_below = len(before) - last
    new = after[first - 1 : len(after) - kept_below]
    if before[: first - 1] + new + before[last:] != after or changed.endswith("\n") != text.endswith("\n"):
        return None
    if new == before[first - 1 : last] or not all(map(_is_plain, new)) or sum(map(units, new)) > MAX_SUGGESTION:
        return None
    return Suggestion(Anchor(anchor.path, "RIGHT", first, last), tuple(new))


def _are_of_one_hunk(diff: Diff, path: str, first: int, last: int, text: Sequence[str]) -> bool:
    """Whether the diff has all lines, as they are in the text: in one that was pushed since they may not be."""
    changed = diff.files.get(path)
    found = [None if changed is None else changed.right.get(number) for number in range(first, last + 1)]
    return all(
        line is not None and found[0] is not None and line.hunk == found[0].hunk and line.text == text[number]
        for number, line in enumerate(found, first - 1)
    )


def _is_plain(line: str) -> bool:
    """Whether a line has nothing that a reader would not see."""
    bare = line.replace("\t", " ")
    return visible(bare) == bare


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return lines if lines[-1] else lines[:-1]


def shown_fix(finding: Finding, head: TextOf) -> list[str]:
    """The fix of a finding as the lines of a diff, to read; empty if it has none or cannot be applied."""
    if finding.fix is None:
        return []
    lines = _diff(finding.fix, head)
    if len(lines) > MAX_DIFF_LINES:
        return [*lines[: MAX_DIFF_LINES - 1], "..."]
    return lines


def _diff(fix: Fix, head: TextOf) -> list[str]:
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    for path in dict.fromkeys(edit.span.path for edit in fix.edits):
        text = head(path)
        if text is None:
            return []
        try:
            after[path] = apply_edits(text, [edit for edit in fix.edits if edit.span.path == path])
        except RefusedEdit:
            return []
        before[path] = text
    return [visible(line, MAX_WIDTH) for _, line in shown_diff(before, after)]

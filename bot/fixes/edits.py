"""Text edits by span, applied so that every other character stays, line ends and byte order marks included."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from botlint.core.finding import Edit, Fix
from botlint.core.span import Span
from botlint.repo.files import is_safe_path


class RefusedEdit(Exception):  # noqa: N818 (named after what happened to the edit)
    """Edits that cannot be applied as they are; the message says why."""


@dataclass(frozen=True, slots=True)
class _Replacement:
    start: int
    end: int
    text: str


def apply_edits(text: str, edits: Iterable[Edit]) -> str:
    """The text after edits of one file; equal edits count once.

    A line break in the new text becomes the one that the file has there. Raises RefusedEdit for places that do not
    exist and for edits that overlap or insert at the same place.
    """
    lines = _Lines(text)
    replacements = sorted(
        {_Replacement(*lines.range(edit.span), lines.with_ends(edit.text, edit.span.line)) for edit in edits},
        key=lambda one: (one.start, one.end, one.text),
    )
    for before, after in pairwise(replacements):
        if after.start < before.end or after.start == before.start:
            raise RefusedEdit(f"edits overlap in line {lines.line(after.start)}")
    parts: list[str] = []
    at = 0
    for one in replacements:
        parts += (text[at : one.start], one.text)
        at = one.end
    return "".join([*parts, text[at:]])


def apply_fixes(texts: Mapping[str, str], fixes: Iterable[Fix]) -> dict[str, str]:
    """The texts, by path, that differ after all fixes.

    Raises RefusedEdit as `apply_edits` does, and for files that are not among the texts.
    """
    by_path: dict[str, list[Edit]] = {}
    for fix in fixes:
        for edit in fix.edits:
            by_path.setdefault(edit.span.path, []).append(edit)
    changed: dict[str, str] = {}
    for path, edits in sorted(by_path.items()):
        if not is_safe_path(path) or path not in texts:
            raise RefusedEdit(f"no file {path!r} to edit")
        after = apply_edits(texts[path], edits)
        if after != texts[path]:
            changed[path] = after
    return changed


def apply_fix(fix: Fix, texts: Mapping[str, str]) -> dict[str, str]:
    """All texts after one fix. Raises RefusedEdit as `apply_fixes` does."""
    return {**texts, **apply_fixes(texts, [fix])}


def compatible(texts: Mapping[str, str], fixes: Sequence[Fix]) -> tuple[list[Fix], list[tuple[Fix, str]]]:
    """The fixes that can be applied together, earlier ones first, and the others with the reason."""
    kept: list[Fix] = []
    refused: list[tuple[Fix, str]] = []
    held: dict[str, list[Edit]] = {}
    for fix in fixes:
        trial = {path: list(held.get(path, ())) for path in {edit.span.path for edit in fix.edits}}
        for edit in fix.edits:
            trial[edit.span.path].append(edit)
        try:
            for path, edits in trial.items():
                if path not in texts:
                    raise RefusedEdit(f"no file {path!r} to edit")
                apply_edits(texts[path], edits)
        except RefusedEdit as refusal:
            refused.append((fix, str(refusal)))
        else:
            held.update(trial)
            kept.append(fix)
    return kept, refused


class _Lines:
    """Where the lines of a text start; they end at "\\n" only, as spans count them."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.starts = [0, *(match.end() for match in re.finditer("\n", text))]

    def line(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    def range(self, span: Span) -> tuple[int, int]:
        start = self.offset(span.line, span.column)
        end = self.offset(span.end_line, span.end_column)
        if end < start:
            raise RefusedEdit(f"a span that ends before it starts, in line {span.line}")
        return start, end

    def offset(self, line: int, column: int) -> int:
        if line == len(self.starts) + 1 and column == 1:
            # The end of a last line without a line break, as the start of the line after it.
            return len(self.text)
        if not 1 <= line <= len(self.starts) or column < 1:
            raise RefusedEdit(f"there is no line {line}, column {column}")
        start = self.starts[line - 1]
        end = self.starts[line] - 1 if line < len(self.starts) else len(self.text)
        if start + column - 1 > end:
            raise RefusedEdit(f"line {line} has no column {column}")
        return start + column - 1

    def with_ends(self, text: str, line: int) -> str:
        if "\n" not in text or not self._crlf(line):
            return text
        return re.sub("\r?\n", "\r\n", text)

    def _crlf(self, line: int) -> bool:
        """Whether the line, or the one before a last line without an end, ends with carriage return and line feed."""
        number = min(line, len(self.starts) - 1)
        return number >= 1 and self.text.endswith("\r\n", 0, self.starts[number])

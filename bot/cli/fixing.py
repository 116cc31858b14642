"""Fixes applied to texts."""

from __future__ import annotations

from collections.abc import Mapping

from botlint.core.finding import Fix


def apply_fix(fix: Fix, texts: Mapping[str, str]) -> Mapping[str, str]:
    """The texts after a fix."""
    done = dict(texts)
    for edit in sorted(fix.edits, key=lambda one: (one.span.path, one.span.line, one.span.column), reverse=True):
        text = done.get(edit.span.path)
        if text is None:
            continue
        start, end = (
            _offset(text, edit.span.line, edit.span.column),
            _offset(text, edit.span.end_line, edit.span.end_column),
        )
        done[edit.span.path] = text[:start] + edit.text + text[end:]
    return done


def _offset(text: str, line: int, column: int) -> int:
    lines = text.split("\n")
    return min(len(text), sum(len(one) + 1 for one in lines[: line - 1]) + column - 1)

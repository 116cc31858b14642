"""Where an option or a variable of a server is written among the values of its job's row."""

from __future__ import annotations

import re

from botlint.core.span import Span
from botlint.engine.context import Context
from botlint.engine.views.job import JobSource
from botlint.layouts.base import CommandJob

MAX_LINE = 20_000
"""Characters of a line that are searched."""


def row_place(context: Context, source: object, name: str) -> Span | None:
    """The name of an option, with its dashes, or of a variable in the text of a row's value; None if none has it."""
    job = source.job if isinstance(source, JobSource) else None
    if not isinstance(job, CommandJob) or job.start.commands:
        return None
    if name.startswith("-"):
        pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    else:
        pattern = re.compile(rf"(?<![\w$]){re.escape(name)}(?==)")
    for span in dict.fromkeys(job.places.values()):
        if span.line == span.end_line:
            # Written newlines separate words, as those in a text do.
            text = _line(context, span).replace("\\n", "  ")
            found = pattern.search(text, span.column - 1, span.end_column - 1)
            if found is not None:
                return Span(span.path, span.line, found.start() + 1, span.line, found.end() + 1)
    return None


def _line(context: Context, span: Span) -> str:
    lines = context.kept(("lines", span.path), lambda context: _lines(context, span.path))
    return lines[span.line - 1][:MAX_LINE] if span.line <= len(lines) else ""


def _lines(context: Context, path: str) -> list[str]:
    source = context.files.text(path)
    return [] if source is None else source.text.split("\n")

"""Where an option or a variable of a server is written among the values of its job's row."""

from __future__ import annotations

import re
from collections.abc import Callable

from botlint.core.span import Span
from botlint.layouts.base import CommandJob, Job

MAX_LINE = 20_000
"""Characters of a line that are searched."""


def row_place(job: Job, name: str, line_of: Callable[[Span], str]) -> Span | None:
    """The name of an option, with its dashes, or of a variable in the text of a row's value; None if none has it.

    `line_of` gives the line on which a span starts, with its indentation.
    """
    if not isinstance(job, CommandJob) or job.start.commands:
        return None
    if name.startswith("-"):
        pattern = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
    else:
        pattern = re.compile(rf"(?<![\w$]){re.escape(name)}(?==)")
    for span in dict.fromkeys(job.places.values()):
        if span.line == span.end_line:
            # Written newlines separate words, as those in a text do.
            text = line_of(span)[:MAX_LINE].replace("\\n", "  ")
            found = pattern.search(text, span.column - 1, span.end_column - 1)
            if found is not None:
                return Span(span.path, span.line, found.start() + 1, span.line, found.end() + 1)
    return None

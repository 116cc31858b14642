"""Where an option or a variable of a server is written among the values of its job's row."""

from __future__ import annotations

from botlint.core.span import Span
from botlint.engine.context import Context
from botlint.engine.views.job import JobSource
from botlint.plan import rowplaces


def row_place(context: Context, source: object, name: str) -> Span | None:
    """The name of an option, with its dashes, or of a variable in the text of a row's value; None if none has it."""
    if not isinstance(source, JobSource):
        return None
    return rowplaces.row_place(source.job, name, lambda span: _line(context, span))


def _line(context: Context, span: Span) -> str:
    lines = context.kept(("lines", span.path), lambda context: _lines(context, span.path))
    return lines[span.line - 1] if span.line <= len(lines) else ""


def _lines(context: Context, path: str) -> list[str]:
    source = context.files.text(path)
    return [] if source is None else source.text.split("\n")

"""One door to all formats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, get_args

from botlint.core.errors import UsageError
from botlint.core.finding import Report
from botlint.core.visible import without_commands
from botlint.report.options import Options, Sources, no_sources

Format = Literal["text", "json", "sarif", "github", "junit", "markdown", "html"]
FORMATS: tuple[Format, ...] = get_args(Format)


def render(
    report: Report,
    form: str = "text",
    sources: Sources = no_sources,
    color: bool = False,
    options: Options | None = None,
) -> Iterator[str]:
    """The text of a report in one of `FORMATS`, in chunks; only `text` has colours.

    Raises UsageError for another format.
    """
    options = replace(options or Options(), color=color)
    chunks = _chunks(report, form, sources, options)
    if form in ("github", "html"):
        return chunks
    if form in ("json", "sarif"):
        # Only a string has this, and there an escape says the same.
        return (chunk.replace("##[", "#\\u0023[") for chunk in chunks)
    return map(without_commands, chunks)


def _chunks(report: Report, form: str, sources: Sources, options: Options) -> Iterator[str]:
    if form == "text":
        from botlint.report.text import render_text

        return render_text(report, sources, options)
    if form == "json":
        from botlint.report.json import render_json

        return render_json(report)
    if form == "sarif":
        from botlint.report.sarif import render_sarif

        return render_sarif(report, options)
    if form == "github":
        from botlint.report.github import render_github

        return render_github(report, options)
    if form == "junit":
        from botlint.report.junit import render_junit

        return render_junit(report, options)
    if form == "markdown":
        from botlint.report.markdown import render_markdown

        return render_markdown(report, sources, options)
    if form == "html":
        from botlint.report.html.page import render_html

        return render_html(report, options.page.plans, options.page.diff, sources, options)
    raise UsageError(f"no format {form!r} (there are: {', '.join(FORMATS)})")

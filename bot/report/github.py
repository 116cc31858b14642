"""Workflow commands that GitHub turns into annotations of the changed files.

A line that begins with `::` is a command to the runner, so everything is escaped as the runner's own toolkit does
(actions/toolkit, `packages/core/src/command.ts`), after hidden characters were made visible.
"""

from __future__ import annotations

from collections.abc import Iterator

from botlint.core.finding import Finding, Report, Severity
from botlint.core.visible import visible, visible_lines
from botlint.report.options import Options, counted, jobs_by_entry
from botlint.report.summary import summary_text

MAX_PER_LEVEL = 10
"""Annotations of one level that GitHub shows of a step."""

MAX_LINE = 1_000
MAX_STEPS = 10

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice"}


def render_github(report: Report, options: Options) -> Iterator[str]:
    """One command per finding that counts, worst first within the limit of its level, and the summary as text."""
    left = 0
    counting = [finding for finding in report.findings if finding.counts]
    for severity, level in _LEVELS.items():
        found = [finding for finding in counting if finding.severity == severity]
        limit = MAX_PER_LEVEL - 1 if level == "notice" else MAX_PER_LEVEL
        yield from (_command(level, finding) for finding in found[:limit])
        left += max(0, len(found) - limit)
    for failure in report.failures[:MAX_PER_LEVEL]:
        yield f"::error title=botlint::{_data(visible(failure, MAX_LINE))}\n"
    if left:
        text = f"{counted(left, 'finding')} more than GitHub shows of one step; the log or another format has all"
        yield f"::notice title=botlint::{_data(text)}\n"
    yield f"botlint: {summary_text(report, options.today)}\n"


def _command(level: str, finding: Finding) -> str:
    span = finding.span
    properties = {}
    if span.path:
        properties = {"file": span.path, "line": str(span.line)}
        empty = (span.end_line, span.end_column) <= (span.line, span.column)
        if not empty:
            properties["endLine"] = str(span.end_line - (span.end_column == 1 and span.end_line > span.line))
            if span.end_line == span.line:
                # GitHub refuses columns of several lines.
                properties["col"] = str(span.column)
                properties["endColumn"] = str(span.end_column - 1)
    properties["title"] = f"{finding.rule}" + (" (possible)" if finding.certainty == "possible" else "")
    written = ",".join(f"{name}={_property(visible(value, MAX_LINE))}" for name, value in properties.items())
    return f"::{level} {written}::{_data(_message(finding))}\n"


def _message(finding: Finding) -> str:
    lines = visible_lines(finding.message, MAX_LINE)
    for related in finding.related[:MAX_STEPS]:
        lines.append(visible(f"{related.span.path}:{related.span.line}: {related.message}", MAX_LINE))
    entries = jobs_by_entry(finding)
    if entries:
        jobs = f"{counted(len(finding.jobs), 'job')} of " if finding.jobs else ""
        first = next(iter(entries))
        more = f" and {counted(len(entries) - 1, 'other')}" if len(entries) > 1 else ""
        lines.append(visible(f"{jobs}{first}{more}", MAX_LINE))
    for number, step in enumerate(finding.steps[:MAX_STEPS], 1):
        lines.extend(visible_lines(f"{number}. {step}", MAX_LINE))
    if finding.remedy:
        lines.extend(visible_lines(f"Remedy: {finding.remedy}", MAX_LINE))
    return "\n".join(lines)


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")

"""The report for people at a terminal: each finding with its lines and its proof, and a last line that counts."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.core.finding import Finding, Note, Report, Severity
from botlint.core.visible import ELLIPSIS, visible, visible_lines
from botlint.plan.style import Style
from botlint.report.excerpt import excerpt
from botlint.report.options import Options, Sources, counted, jobs_by_entry
from botlint.report.summary import summary_text

MAX_TEXT = 2_000
"""Characters of one line that a finding says."""

MAX_STEPS = 40
MAX_RELATED = 12
MAX_ENTRIES = 8
MAX_ARMS = 6
"""Steps, places, entries and arms that are shown of one finding; JSON has all."""


def render_text(report: Report, sources: Sources, options: Options) -> Iterator[str]:
    """The whole report. Suppressed and baselined findings are only counted, unless asked for all."""
    style = Style(options.color)
    for finding in report.findings:
        if finding.counts:
            yield "\n".join([*_finding(finding, sources, style), "", ""])
        elif options.verbose:
            yield "\n".join([*_allowed(finding, style), "", ""])
    if options.verbose:
        for note in report.notes:
            yield _note(note, style) + "\n"
    for failure in report.failures:
        yield f"{style.bad('failure')}: {visible(failure, MAX_TEXT)}\n"
    yield _paint_summary(report, summary_text(report, options.today), style) + "\n"


def _finding(finding: Finding, sources: Sources, style: Style) -> Iterator[str]:
    yield _heading(finding, style)
    margin = _margin(finding)
    if finding.span.path:
        yield f"{' ' * margin} {style.faint('-->')} {_place(finding.span.path, finding.span.line, finding.span.column)}"
        yield from _rows(finding, 0, sources, margin, style)
    for number, related in enumerate(finding.related[:MAX_RELATED]):
        span = related.span
        place = _place(span.path, span.line, span.column)
        yield f"{' ' * margin} {style.faint(':::')} {place}  {visible(related.message, MAX_TEXT)}"
        yield from _rows(finding, number + 1, sources, margin, style)
    yield from _more(len(finding.related) - MAX_RELATED, "place", "places", style)
    yield from _jobs(finding, style)
    yield from _steps(finding, style)
    if finding.remedy:
        first, *rest = visible_lines(finding.remedy, MAX_TEXT)
        yield f"  {style.good('remedy')}: {first}"
        yield from (f"          {line}" for line in rest)
    if finding.fix is not None:
        kind = "safe" if finding.fix.safe else "unsafe"
        how = f"({kind}: botlint fix --apply{'' if finding.fix.safe else ' --unsafe'})"
        yield f"  {style.good('fix')}: {visible(finding.fix.title, MAX_TEXT)} {style.faint(how)}"


def _heading(finding: Finding, style: Style) -> str:
    word = _severity(finding.severity, style)
    sure = style.faint(" (possible)") if finding.certainty == "possible" else ""
    first, *rest = visible_lines(finding.message, MAX_TEXT)
    head = f"{word}{style.strong(f'[{visible(finding.rule)}]')}{sure}: {style.strong(first)}"
    return "\n".join([head, *(f"  {line}" for line in rest)])


def _severity(severity: Severity, style: Style) -> str:
    paint = {"error": style.bad, "warning": style.unsure, "info": style.name}[severity]
    return paint(severity)


def _place(path: str, line: int, column: int) -> str:
    return f"{visible(path)}:{line}:{column}"


def _margin(finding: Finding) -> int:
    spans = [finding.span, *(one.span for one in finding.related[:MAX_RELATED])]
    return max(len(str(max(span.line, span.end_line))) for span in spans)


def _rows(finding: Finding, number: int, sources: Sources, margin: int, style: Style) -> Iterator[str]:
    span = finding.span if number == 0 else finding.related[number - 1].span
    rows = excerpt(span, sources) if number == 0 else excerpt(span, sources, max_lines=3)
    if not rows:
        return
    bar = style.faint("|")
    paint = style.bad if number == 0 else style.name
    yield f"{' ' * margin} {bar}"
    for row in rows:
        label = str(row.number) if row.number else ""
        yield f"{style.faint(label.rjust(margin))} {bar} {row.text}".rstrip()
        if row.mark:
            lead = row.mark[: len(row.mark) - len(row.mark.lstrip())]
            yield f"{' ' * margin} {bar} {lead}{paint(row.mark.lstrip())}"


def _jobs(finding: Finding, style: Style) -> Iterator[str]:
    by_entry = jobs_by_entry(finding)
    if not by_entry:
        return
    label = style.faint("jobs" if finding.jobs else "entries")
    total = counted(len(finding.jobs), "job") + " of " if finding.jobs else ""
    yield f"  {label}: {total}{counted(len(by_entry), 'entry', 'entries')}"
    for entry, jobs in list(by_entry.items())[:MAX_ENTRIES]:
        listed = "; ".join(visible(job, MAX_TEXT) for job in jobs[:MAX_ARMS])
        more = f"; {ELLIPSIS} {len(jobs) - MAX_ARMS:,} more" if len(jobs) > MAX_ARMS else ""
        yield f"    {visible(entry, MAX_TEXT)}" + (f": {listed}{more}" if jobs else "")
    yield from _more(len(by_entry) - MAX_ENTRIES, "entry", "entries", style)


def _steps(finding: Finding, style: Style) -> Iterator[str]:
    if not finding.steps:
        return
    yield f"  {style.faint('proof')}:"
    for number, step in enumerate(finding.steps[:MAX_STEPS], 1):
        first, *rest = visible_lines(step, MAX_TEXT)
        yield f"  {number:>4}. {first}"
        yield from (f"        {line}" for line in rest)
    yield from _more(len(finding.steps) - MAX_STEPS, "step", "steps", style)


def _more(number: int, one: str, many: str, style: Style) -> Iterator[str]:
    if number > 0:
        yield style.faint(f"    {ELLIPSIS} {counted(number, f'more {one}', f'more {many}')}")


def _allowed(finding: Finding, style: Style) -> Iterator[str]:
    if finding.suppressed is not None:
        why = f"suppressed: {visible(finding.suppressed, MAX_TEXT) or 'no reason given'}"
    else:
        why = f"in the baseline since {visible(finding.baselined or '', 40)}"
    span = finding.span
    yield f"{style.faint('allowed')}[{visible(finding.rule)}]: {visible(finding.message, MAX_TEXT)}"
    yield f"  {style.faint('-->')} {_place(span.path, span.line, span.column)}  {style.faint(why)}"


def _note(note: Note, style: Style) -> str:
    place = f" {visible(note.path)}" + (f":{note.line}" if note.line else "") if note.path else ""
    return f"{style.faint('note')}[{note.kind}]{place}: {visible(note.message, MAX_TEXT)}"


def _paint_summary(report: Report, text: str, style: Style) -> str:
    if report.summary.errors or report.failures:
        return style.bad(text)
    return style.unsure(text) if report.summary.warnings else style.good(text)

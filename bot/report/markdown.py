"""The report as GitHub-flavoured Markdown, for a job summary or a comment."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.core.finding import Finding, Report, Severity
from botlint.core.markdown import MAX_TEXT, block, code, prose
from botlint.core.visible import visible_lines
from botlint.report.excerpt import excerpt
from botlint.report.options import Options, Sources, counted, jobs_by_entry
from botlint.report.summary import note_text, summary_text

MAX_FINDINGS = 100
"""Findings that are written out; the rest is counted. GitHub cuts a job summary at 1 MiB."""

MAX_ENTRIES = 12

_WORDS: dict[Severity, str] = {"error": "Error", "warning": "Warning", "info": "Info"}


def render_markdown(report: Report, sources: Sources, options: Options) -> Iterator[str]:
    """A heading with the counts, one section per finding that counts, and what is allowed or could not be read."""
    yield f"## botlint\n\n{prose(summary_text(report, options.today))}\n"
    counting = [finding for finding in report.findings if finding.counts]
    for finding in counting[:MAX_FINDINGS]:
        yield "\n" + "\n".join(_finding(finding, sources)) + "\n"
    if len(counting) > MAX_FINDINGS:
        yield f"\n{counted(len(counting) - MAX_FINDINGS, 'more finding')} not shown here.\n"
    allowed = [finding for finding in report.findings if not finding.counts]
    if allowed:
        yield "\n" + "\n".join(_allowed(allowed)) + "\n"
    if report.notes:
        yield "\n" + "\n".join(_notes(report)) + "\n"
    if report.failures:
        lines = [f"- {prose(failure)}" for failure in report.failures]
        yield "\n" + "\n".join(["**botlint itself failed:**", "", *lines]) + "\n"


def _finding(finding: Finding, sources: Sources) -> Iterator[str]:
    sure = " (possible)" if finding.certainty == "possible" else ""
    first, *rest = visible_lines(finding.message, MAX_TEXT)
    yield f"### {_WORDS[finding.severity]}{sure}: {prose(first)}"
    yield ""
    for line in rest:
        yield f"{prose(line)}  "
    place = f" at {code(f'{finding.span.path}:{finding.span.line}')}" if finding.span.path else ""
    yield f"{code(finding.rule)}{place}"
    rows = excerpt(finding.span, sources)
    if rows:
        margin = max(len(str(row.number)) for row in rows)
        lines = []
        for row in rows:
            lines.append(f"{str(row.number or '').rjust(margin)} | {row.text}".rstrip())
            if row.mark:
                lines.append(f"{' ' * margin} | {row.mark}")
        yield ""
        yield from block(lines)
    if finding.related:
        yield ""
        for related in finding.related:
            yield f"- {code(f'{related.span.path}:{related.span.line}')} {prose(related.message)}"
    yield from _jobs(finding)
    if finding.steps:
        yield ""
        for number, step in enumerate(finding.steps, 1):
            yield f"{number}. " + "<br>".join(prose(line) for line in visible_lines(step, MAX_TEXT))
    if finding.remedy:
        yield ""
        yield "**Remedy:** " + "  \n".join(prose(line) for line in visible_lines(finding.remedy, MAX_TEXT))
    if finding.fix is not None:
        yield ""
        kind = "safe" if finding.fix.safe else "unsafe"
        yield f"**Fix** ({kind}): {prose(finding.fix.title)}"


def _jobs(finding: Finding) -> Iterator[str]:
    by_entry = jobs_by_entry(finding)
    if not by_entry:
        return
    jobs = f"{counted(len(finding.jobs), 'job')} of " if finding.jobs else ""
    yield ""
    yield f"<details><summary>{jobs}{counted(len(by_entry), 'entry', 'entries')}</summary>"
    yield ""
    for entry, listed in list(by_entry.items())[:MAX_ENTRIES]:
        yield f"- {code(entry)}" + (f": {prose('; '.join(listed))}" if listed else "")
    if len(by_entry) > MAX_ENTRIES:
        yield f"- and {len(by_entry) - MAX_ENTRIES:,} more"
    yield ""
    yield "</details>"


def _allowed(findings: list[Finding]) -> Iterator[str]:
    yield f"<details><summary>{counted(len(findings), 'allowed finding')}</summary>"
    yield ""
    for finding in findings[:MAX_FINDINGS]:
        if finding.suppressed is not None:
            why = f"suppressed: {prose(finding.suppressed) or 'no reason given'}"
        else:
            why = f"in the baseline since {prose(finding.baselined or '', 40)}"
        yield f"- {code(finding.rule)} at {code(f'{finding.span.path}:{finding.span.line}')}, {why}"
    if len(findings) > MAX_FINDINGS:
        yield f"- and {len(findings) - MAX_FINDINGS:,} more"
    yield ""
    yield "</details>"


def _notes(report: Report) -> Iterator[str]:
    listed = ", ".join(note_text(kind, number) for kind, number in report.summary.notes)
    yield f"<details><summary>Not fully looked at: {prose(listed)}</summary>"
    yield ""
    for note in report.notes[:MAX_FINDINGS]:
        place = code(note.path + (f":{note.line}" if note.line else "")) + " " if note.path else ""
        yield f"- {place}{prose(note.message)}"
    if len(report.notes) > MAX_FINDINGS:
        yield f"- and {len(report.notes) - MAX_FINDINGS:,} more"
    yield ""
    yield "</details>"

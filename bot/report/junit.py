"""The report as JUnit XML, which most CI systems read: one test case per finding."""

from __future__ import annotations

from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from botlint.core.finding import SEVERITIES, Finding, Report
from botlint.core.visible import visible, visible_lines
from botlint.report.options import Options, jobs_by_entry

MAX_LINE = 2_000


def render_junit(report: Report, options: Options) -> Iterator[str]:
    """Certain findings at or above the fail level are failures, others pass with a text, allowed ones are skipped."""
    levels = SEVERITIES[: SEVERITIES.index(options.fail_level) + 1]
    failing = [one for one in report.findings if one.counts and one.severity in levels and one.certainty == "certain"]
    cases = [_case(finding, finding in failing) for finding in report.findings]
    cases += [_failure(failure) for failure in report.failures]
    skipped = sum(not one.counts for one in report.findings)
    if not cases:
        cases = ['    <testcase classname="botlint" name="no findings"/>\n']
    counts = f'tests="{len(cases)}" failures="{len(failing)}" errors="{len(report.failures)}" skipped="{skipped}"'
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f'<testsuites name="botlint" {counts}>\n  <testsuite name="botlint check" {counts}>\n'
    yield from cases
    yield "  </testsuite>\n</testsuites>\n"


def _case(finding: Finding, failing: bool) -> str:
    span = finding.span
    name = f"{finding.rule} {span.path}:{span.line}:{span.column}"
    attributes = (
        f'classname={_attribute(finding.rule)} name={_attribute(name)} file={_attribute(span.path)} line="{span.line}"'
    )
    opening = f"    <testcase {attributes}>"
    if finding.suppressed is not None:
        return f"{opening}<skipped message={_attribute('suppressed: ' + finding.suppressed)}/></testcase>\n"
    if finding.baselined is not None:
        return f"{opening}<skipped message={_attribute('in the baseline since ' + finding.baselined)}/></testcase>\n"
    text = escape("\n".join(_body(finding)))
    if failing:
        kind = f"type={_attribute(finding.severity)}"
        message = _attribute(finding.message)
        return f"{opening}\n      <failure message={message} {kind}>{text}</failure>\n    </testcase>\n"
    return f"{opening}\n      <system-out>{text}</system-out>\n    </testcase>\n"


def _failure(failure: str) -> str:
    message = _attribute(failure)
    return f'    <testcase classname="botlint" name={message}><error message={message}/></testcase>\n'


def _body(finding: Finding) -> Iterator[str]:
    span = finding.span
    yield visible(f"{span.path}:{span.line}:{span.column}: {finding.severity} ({finding.certainty})", MAX_LINE)
    yield from visible_lines(finding.message, MAX_LINE)
    for related in finding.related:
        yield visible(f"{related.span.path}:{related.span.line}: {related.message}", MAX_LINE)
    for entry, jobs in jobs_by_entry(finding).items():
        yield visible(f"{entry}: {'; '.join(jobs)}" if jobs else entry, MAX_LINE)
    for number, step in enumerate(finding.steps, 1):
        yield visible(f"{number}. {step}", MAX_LINE)
    if finding.remedy:
        yield from visible_lines(f"remedy: {finding.remedy}", MAX_LINE)


def _attribute(text: str) -> str:
    return quoteattr(visible(text, MAX_LINE))

"""The check run of a commit: its conclusion, what it shows, and its annotations."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from botlint.core.finding import Finding, Severity
from botlint.core.visible import visible_lines
from botlint.engine.settings import Language
from botlint.github.limits import MAX_TITLE, cut, units
from botlint.github.links import Links
from botlint.github.models import Annotation, AnnotationLevel, CheckOutput, Conclusion
from botlint.github.placing import last_line, rank
from botlint.github.summary import Reviewed, Verdict, summary_markdown, title
from botlint.github.wording import EN, WORDINGS, Wording
from botlint.report.options import jobs_by_entry

NAME = "botlint"
"""What branch protection knows the check by: it never changes, and nothing is added to it."""

MAX_ANNOTATIONS = 500
"""Annotations of one check run; the worst findings have one."""

MAX_MESSAGE = 16_000
MAX_LINE = 1_000

_LEVELS: Mapping[Severity, AnnotationLevel] = {"error": "failure", "warning": "warning", "info": "notice"}
_CONCLUSIONS: Mapping[Verdict, Conclusion] = {
    "fails": "failure",
    "failed": "neutral",
    "may-fail": "neutral",
    "informs": "success",
    "clean": "success",
    "irrelevant": "success",
}


def conclusion(reviewed: Reviewed, *, fail_closed: bool = False) -> Conclusion:
    """The conclusion: `failure` only for certain findings at the fail level, or if a check that failed has to block.

    What does not satisfy a required check keeps a pull request from being merged; `neutral` satisfies it.
    """
    if reviewed.report.failures and fail_closed:
        return when_failed(fail_closed=True)
    return _CONCLUSIONS[reviewed.verdict]


def when_failed(*, fail_closed: bool) -> Conclusion:
    """The conclusion where botlint itself failed and knows of no certain finding."""
    return "failure" if fail_closed else "neutral"


def external_id(subject: str, head: str, state: object) -> str:
    """By what a check run is found again: the pull request (or merge group), the commit, and what it depends on."""
    known = json.dumps(state, sort_keys=True, default=repr)
    return f"{subject}:{head}:{hashlib.sha256(known.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


def output(
    reviewed: Reviewed,
    links: Links,
    languages: Sequence[Language] = ("en",),
    known: Callable[[str], bool] | None = None,
) -> CheckOutput:
    """What the check run shows; findings of files that are not `known` to the head have no annotation."""
    wording = WORDINGS[languages[0]] if languages else EN
    return CheckOutput(
        title(reviewed, wording),
        summary_markdown(reviewed, links, languages),
        "",
        tuple(annotations_of(reviewed.report.findings, known, wording)),
    )


def failed_output(wording: Wording = EN) -> CheckOutput:
    """What a check run shows whose review ended by a fault of botlint; it says nothing of the fault."""
    return CheckOutput(wording.failed_title, wording.failed)


def annotations_of(
    findings: Iterable[Finding], known: Callable[[str], bool] | None = None, wording: Wording = EN
) -> Iterator[Annotation]:
    """One annotation for each finding that counts and has a place in the head, the worst first."""
    placed = [one for one in findings if one.counts and one.span.path and one.span.line > 0]
    if known is not None:
        placed = [one for one in placed if known(one.span.path)]
    for finding in sorted(placed, key=rank)[:MAX_ANNOTATIONS]:
        sure = f" ({wording.possible})" if finding.certainty == "possible" else ""
        yield Annotation(
            finding.span.path,
            finding.span.line,
            max(finding.span.line, last_line(finding.span)),
            _LEVELS[finding.severity],
            _text(_message(finding, wording)),
            cut(f"{finding.rule}{sure}", MAX_TITLE),
            _text(_details(finding)),
        )


def _message(finding: Finding, wording: Wording) -> Iterator[str]:
    yield from visible_lines(finding.message, MAX_LINE)
    for related in finding.related:
        yield from visible_lines(f"{related.span.path}:{related.span.line}: {related.message}", MAX_LINE)
    if finding.jobs:
        entries = jobs_by_entry(finding)
        first = next(iter(entries))
        more = f" + {len(entries) - 1:,}" if len(entries) > 1 else ""
        yield from visible_lines(f"{wording.count(len(finding.jobs), wording.jobs)}: {first}{more}", MAX_LINE)
    if finding.remedy:
        yield from visible_lines(f"{wording.remedy} {finding.remedy}", MAX_LINE)


def _details(finding: Finding) -> Iterator[str]:
    for number, step in enumerate(finding.steps, 1):
        yield from visible_lines(f"{number}. {step}", MAX_LINE)


def _text(lines: Iterable[str]) -> str:
    """Plain text that is short enough; lines that do not fit are left out."""
    kept: list[str] = []
    left = MAX_MESSAGE
    for line in lines:
        left -= units(line) + 1
        if left < 0:
            kept.append("…")
            break
        kept.append(line)
    return "\n".join(kept)

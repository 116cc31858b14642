"""The report as SARIF 2.1.0 (OASIS standard), which code scanning services read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

from botlint import __version__
from botlint.core.finding import Certainty, Edit, Finding, Fix, Related, Report, Severity
from botlint.core.ruleinfo import RuleInfo
from botlint.core.span import Span
from botlint.core.visible import visible_lines
from botlint.report.json import summary_form
from botlint.report.options import Options

SCHEMA_URI = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "botlint/v1"

MAX_TEXT = 2_000

_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note"}
_PRECISION: dict[Certainty, str] = {"certain": "very-high", "possible": "medium"}
# Explained steps begin with the place that they are about.
_STEP_PLACE = re.compile(r"([^\s:][^:\n]{0,300}):(\d{1,7})(?::\d{1,7})?(?=\s|$)")


def render_sarif(report: Report, options: Options) -> Iterator[str]:
    """One run; suppressed and baselined findings are results with a suppression, as the standard has it."""
    encode = json.JSONEncoder(ensure_ascii=True, check_circular=False).encode
    names = sorted({finding.rule for finding in report.findings})
    index = {name: number for number, name in enumerate(names)}
    driver = {
        "name": "botlint",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(name, options.rules) for name in names],
    }
    yield f'{{"$schema": {encode(SCHEMA_URI)}, "version": "2.1.0", "runs": [{{"tool": {encode({"driver": driver})}'
    yield f', "columnKind": "unicodeCodePoints", "invocations": {encode([_invocation(report)])}, "results": ['
    for number, finding in enumerate(report.findings):
        yield f"{',' if number else ''}\n{encode(_result(finding, index[finding.rule]))}"
    yield f'\n], "properties": {encode({"summary": summary_form(report.summary)})}}}]}}\n'


def _rule(name: str, rules: Mapping[str, RuleInfo]) -> dict[str, Any]:
    info = rules.get(name)
    title = name.replace("-", " ")
    # A name is an identifier in Pascal case by the standard's advice; the stable name is the id that results refer to.
    form: dict[str, Any] = {
        "id": name,
        "name": "".join(word.capitalize() for word in name.split("-")),
        "shortDescription": {"text": title},
    }
    if info is None:
        return form
    if info.why:
        form["fullDescription"] = _message(info.why)
    # A remedy with values is that of a finding, whose message has it.
    remedy = "" if "{" in info.remedy else info.remedy
    help_text = "\n\n".join(part.strip() for part in (info.why, remedy) if part.strip())
    if help_text:
        form["help"] = _message(help_text)
    form["defaultConfiguration"] = {"level": _LEVELS[info.severity]}
    form["properties"] = {
        "id": info.id,
        "tags": [info.family],
        "precision": _PRECISION[info.certainty],
        "problem.severity": "recommendation" if info.severity == "info" else info.severity,
        "sources": list(info.sources),
    }
    return form


def _invocation(report: Report) -> dict[str, Any]:
    notifications = [{"level": "error", "message": _message(failure)} for failure in report.failures]
    for note in report.notes:
        form: dict[str, Any] = {
            "level": "note",
            "message": _message(note.message),
            "descriptor": {"id": f"not-looked-at/{note.kind}"},
        }
        if note.path:
            line = note.line or 1
            span = Span(note.path, line, 1, line, 1)
            form["locations"] = [{"physicalLocation": _place(span) if note.line else {"artifactLocation": _file(span)}}]
        notifications.append(form)
    return {"executionSuccessful": not report.failures, "toolExecutionNotifications": notifications}


def _result(finding: Finding, rule_index: int) -> dict[str, Any]:
    text = finding.message if not finding.remedy else f"{finding.message}\n\n{finding.remedy}"
    form: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule_index,
        "level": _LEVELS[finding.severity],
        "message": _message(text),
        "locations": [_location(finding.span)] if finding.span.path else [],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        "properties": {
            "certainty": finding.certainty,
            "subject": finding.subject,
            "entries": list(finding.entries),
            "jobs": [f"{job.entry} {job.scenario} {job.arm} {job.conc}" for job in finding.jobs],
        },
    }
    related = [one for one in finding.related if one.span.path]
    if related:
        form["relatedLocations"] = [_related(number, one) for number, one in enumerate(related, 1)]
    if finding.steps and finding.span.path:
        form["codeFlows"] = [{"threadFlows": [{"locations": [_step(step, finding.span) for step in finding.steps]}]}]
    if finding.suppressed is not None:
        form["suppressions"] = [{"kind": "inSource", "justification": _plain(finding.suppressed)}]
    elif finding.baselined is not None:
        since = f"in the baseline since {_plain(finding.baselined)}"
        form["suppressions"] = [{"kind": "external", "justification": since}]
    else:
        # An empty list says that there is none, where its absence would say that nobody looked.
        form["suppressions"] = []
    if finding.fix is not None and finding.fix.edits:
        form["fixes"] = [_fix(finding.fix)]
    return form


def _plain(text: str) -> str:
    return "\n".join(visible_lines(text, MAX_TEXT))


def _message(text: str) -> dict[str, str]:
    # `[text](target)` in a message is a link by the standard; a space keeps a repository's text from making one.
    return {"text": _plain(text).replace("](", "] (")}


def _file(span: Span) -> dict[str, str]:
    return {"uri": quote(span.path.encode("utf-8", "surrogateescape"), safe="/"), "uriBaseId": "%SRCROOT%"}


def _region(span: Span) -> dict[str, int]:
    line = max(1, span.line)
    if (span.end_line, span.end_column) <= (span.line, span.column):
        return {"startLine": line} if span.column <= 1 else {"startLine": line, "startColumn": span.column}
    return {
        "startLine": line,
        "startColumn": max(1, span.column),
        "endLine": max(line, span.end_line),
        "endColumn": max(1, span.end_column),
    }


def _place(span: Span) -> dict[str, Any]:
    return {"artifactLocation": _file(span), "region": _region(span)}


def _location(span: Span) -> dict[str, Any]:
    return {"physicalLocation": _place(span)}


def _related(number: int, one: Related) -> dict[str, Any]:
    return {"id": number, "message": _message(one.message), **_location(one.span)}


def _step(step: str, fallback: Span) -> dict[str, Any]:
    match = _STEP_PLACE.match(step)
    span = fallback if match is None else Span(match[1], int(match[2]), 1, int(match[2]), 1)
    return {"location": {"message": _message(step), **_location(span)}}


def _fix(fix: Fix) -> dict[str, Any]:
    by_path: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        by_path.setdefault(edit.span.path, []).append(edit)
    return {
        "description": _message(f"{fix.title} ({'safe' if fix.safe else 'unsafe'})"),
        "artifactChanges": [
            {"artifactLocation": _file(edits[0].span), "replacements": [_replacement(edit) for edit in edits]}
            for edits in by_path.values()
        ],
    }


def _replacement(edit: Edit) -> dict[str, Any]:
    span = edit.span
    region = {
        "startLine": span.line,
        "startColumn": span.column,
        "endLine": span.end_line,
        "endColumn": span.end_column,
    }
    form: dict[str, Any] = {"deletedRegion": region}
    if edit.text:
        form["insertedContent"] = {"text": edit.text}
    return form

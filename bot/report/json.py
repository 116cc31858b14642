"""The report for programs: `botlint.report/1` (schemas/report.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from botlint.core.finding import Finding, Fix, JobRef, Note, Report, Summary

SCHEMA = "botlint.report/1"


def render_json(report: Report) -> Iterator[str]:
    """The text of the document in chunks, one finding per line; half surrogate pairs stay readable by any parser."""
    encode = json.JSONEncoder(ensure_ascii=True, check_circular=False).encode
    yield f'{{"schema": {encode(SCHEMA)}, "findings": ['
    for number, finding in enumerate(report.findings):
        yield f"{',' if number else ''}\n{encode(finding_form(finding))}"
    yield "\n]"
    yield f', "notes": {encode([note_form(note) for note in report.notes])}'
    yield f', "failures": {encode(list(report.failures))}'
    yield f', "summary": {encode(summary_form(report.summary))}}}\n'


def finding_form(finding: Finding) -> dict[str, Any]:
    """One finding."""
    span = finding.span
    return {
        "rule": finding.rule,
        "severity": finding.severity,
        "certainty": finding.certainty,
        "message": finding.message,
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "subject": finding.subject,
        "fingerprint": finding.fingerprint,
        "entries": list(finding.entries),
        "jobs": [_job(job) for job in finding.jobs],
        "related": [
            {
                "path": one.span.path,
                "line": one.span.line,
                "column": one.span.column,
                "end_line": one.span.end_line,
                "end_column": one.span.end_column,
                "message": one.message,
            }
            for one in finding.related
        ],
        "steps": list(finding.steps),
        "remedy": finding.remedy,
        "fix": None if finding.fix is None else _fix(finding.fix),
        "suppressed": None if finding.suppressed is None else {"reason": finding.suppressed},
        "baselined": None if finding.baselined is None else {"since": finding.baselined},
    }


def _job(job: JobRef) -> dict[str, Any]:
    # A multi-node job has several concurrencies, written as one text.
    number = job.conc.isascii() and job.conc.isdecimal() and len(job.conc) < 10
    conc: int | str = int(job.conc) if number else job.conc
    return {"entry": job.entry, "scenario": job.scenario, "arm": job.arm, "conc": conc}


def _fix(fix: Fix) -> dict[str, Any]:
    return {
        "title": fix.title,
        "safe": fix.safe,
        "edits": [
            {
                "path": edit.span.path,
                "start": [edit.span.line, edit.span.column],
                "end": [edit.span.end_line, edit.span.end_column],
                "text": edit.text,
            }
            for edit in fix.edits
        ],
    }


def note_form(note: Note) -> dict[str, Any]:
    """Something that could not be looked at; `line` is 0 where none is known."""
    return {"kind": note.kind, "message": note.message, "path": note.path, "line": note.line}


def summary_form(summary: Summary) -> dict[str, Any]:
    """What was counted."""
    return {
        "jobs": summary.jobs,
        "serves": summary.serves,
        "exits": summary.exits,
        "undecided": summary.undecided,
        "errors": summary.errors,
        "warnings": summary.warnings,
        "infos": summary.infos,
        "suppressed": summary.suppressed,
        "baselined": summary.baselined,
        "oldest_baselined": summary.oldest_baselined,
        "notes": dict(summary.notes),
    }

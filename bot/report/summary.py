"""The last line of a report: what was found, what is allowed, what was looked at and what could not be."""

from __future__ import annotations

from datetime import date

from botlint.core.finding import NoteKind, Report
from botlint.report.options import counted, days_since

NOTE_WORDS: dict[NoteKind, tuple[str, str]] = {
    "unread": ("file not fully read", "files not fully read"),
    "framework": ("unknown framework", "unknown frameworks"),
    "version": ("unknown version", "unknown versions"),
    "model": ("unknown model", "unknown models"),
    "budget": ("exceeded budget", "exceeded budgets"),
    "undecided": ("reason why jobs are undecided", "reasons why jobs are undecided"),
    "rule": ("rule that could not look", "rules that could not look"),
    "suppression": ("unclear suppression", "unclear suppressions"),
}


def summary_text(report: Report, today: date | None) -> str:
    """Everything that is counted, on one line."""
    parts = [_findings(report, today)]
    summary = report.summary
    if summary.jobs:
        outcomes = [("serve", summary.serves), ("exit", summary.exits), ("undecided", summary.undecided)]
        shown = ", ".join(f"{number:,} {word}" for word, number in outcomes if number)
        parts.append(counted(summary.jobs, "job") + (f" ({shown})" if shown else ""))
    notes = [note_text(kind, number) for kind, number in summary.notes if number]
    if notes:
        parts.append(", ".join(notes))
    if report.failures:
        parts.append(counted(len(report.failures), "failure") + " of botlint")
    return "; ".join(parts)


def note_text(kind: str, number: int) -> str:
    """How many notes of a kind there are, in words."""
    one, many = next((words for known, words in NOTE_WORDS.items() if known == kind), (kind, kind))
    return f"{number:,} {one if number == 1 else many}"


def _findings(report: Report, today: date | None) -> str:
    summary = report.summary
    numbers = [
        counted(number, word)
        for number, word in ((summary.errors, "error"), (summary.warnings, "warning"), (summary.infos, "info"))
        if number
    ]
    parts = [", ".join(numbers) or "no findings"]
    if summary.suppressed:
        parts.append(f"{summary.suppressed:,} suppressed")
    if summary.baselined:
        oldest = summary.oldest_baselined
        age = None if oldest is None else days_since(oldest, today)
        since = (
            "" if oldest is None else f" (oldest {oldest}" + ("" if age is None else f", {counted(age, 'day')}") + ")"
        )
        parts.append(f"{summary.baselined:,} baselined{since}")
    return ", ".join(parts)

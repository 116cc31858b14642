"""The page as a whole: head, summary, filter, and the sections in their order."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from importlib.resources import files

from botlint import __version__
from botlint.core.finding import SEVERITIES, Note, Report
from botlint.plan.diff import PlanDiff
from botlint.plan.model import LaunchPlan
from botlint.report.html.changes import render_changes
from botlint.report.html.findings import render_findings
from botlint.report.html.jobs import Entries, entries_of, jobs_data, render_jobs
from botlint.report.html.markup import data, lines, place, text
from botlint.report.options import Options, Page, Sources, counted
from botlint.report.summary import note_text, summary_text

MAX_NOTES = 500
"""Notes that are listed."""

SHORT = 12
"""Characters of an object's name that are shown."""

_OBJECT = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")

ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 16 16'%3E%3Crect width='16' height='16' "
    "rx='3' fill='%230a58b0'/%3E%3Cpath d='M4 8.5l2.5 2.5L12 5.5' fill='none' stroke='%23fff' stroke-width='2'/%3E"
    "%3C/svg%3E"
)

HELP = (
    ("/", "go to the filter"),
    ("j", "next item (also k: the one before)"),
    ("Enter", "open or close the item"),
    ("e", "open or close all findings and changes that are shown"),
    ("t", "another theme"),
    ("Esc", "clear the filter, close this help"),
    ("?", "this help"),
)


def render_html(
    report: Report, plans: Sequence[LaunchPlan], diff: PlanDiff | None, sources: Sources, options: Options
) -> Iterator[str]:
    """A report with the plans of all jobs, and what a change makes different in them, as one page without any network.

    Nothing of a repository is markup or script in it: a policy in the page allows its own style and script alone.
    """
    page = replace(options.page, plans=plans, diff=diff)
    options = replace(options, page=page)
    entries = entries_of(plans, report.findings)
    yield from _head(page)
    yield '<body>\n<a class="skip" href="#content">Skip to the content</a>\n'
    yield from _header(page)
    yield '<main id="content">\n'
    yield from _summary(report, options)
    yield from _tools(report, page, entries)
    yield from render_findings(report, sources, options, entries.numbers)
    yield from render_changes(page, entries.numbers)
    yield from render_jobs(entries, page)
    yield from _notes(report, options)
    yield "</main>\n"
    yield f"<footer><p>Made by botlint {text(__version__)}. Nothing of the repository was executed.</p></footer>\n"
    yield from _help()
    if plans:
        yield f'<script type="application/json" id="plans">{data(jobs_data(entries, page, sources))}</script>\n'
    yield f"<script>{asset('page.js')}</script>\n</body>\n</html>\n"


@cache
def asset(name: str) -> str:
    """A style or script of the page."""
    return files("botlint.report.html").joinpath(name).read_text(encoding="utf-8")


def _hash(name: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(asset(name).encode()).digest()).decode()}'"


@cache
def policy() -> str:
    """What the page may load and run (Content Security Policy, level 3): its own style and scripts, nothing else."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {_hash('theme.js')} {_hash('page.js')}",
            f"style-src {_hash('page.css')}",
            "img-src data:",
            "base-uri 'none'",
            "form-action 'none'",
            "require-trusted-types-for 'script'",
            "trusted-types 'none'",
        )
    )


def _head(page: Page) -> Iterator[str]:
    title = " · ".join(part for part in (_subject(page), "botlint") if part)
    yield '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy()}">\n'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    yield '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
    yield '<meta name="robots" content="noindex">\n'
    yield f'<title>{text(title, 300)}</title>\n<link rel="icon" href="{ICON}">\n'
    yield f"<script>{asset('theme.js')}</script>\n<style>{asset('page.css')}</style>\n</head>\n"


def _subject(page: Page) -> str:
    return " ".join(part for part in (page.subject, " → ".join(map(_revision, _revisions(page)))) if part)


def _revisions(page: Page) -> list[str]:
    return [one for one in (page.base, page.head) if one]


def _revision(name: str) -> str:
    """A revision for people: of a full object name the start."""
    return name[:SHORT] if _OBJECT.fullmatch(name) else name


def _header(page: Page) -> Iterator[str]:
    change = " → ".join(f"<code>{text(_revision(one), 120)}</code>" for one in _revisions(page))
    subject = f"<b>{text(page.subject, 200)}</b>" if page.subject else ""
    yield f'<header><h1>botlint</h1><p class="subject">{subject} {change}</p>'
    yield '<div class="buttons" data-script hidden><button type="button" id="theme">Theme: auto</button>'
    yield '<button type="button" id="help-button" aria-haspopup="dialog">Keys</button></div></header>\n'


# ------------------------------------------------------------------------------------------------------------- summary


def _summary(report: Report, options: Options) -> Iterator[str]:
    bad = sum(
        one.counts
        and one.certainty == "certain"
        and SEVERITIES.index(one.severity) <= SEVERITIES.index(options.fail_level)
        for one in report.findings
    )
    if report.failures:
        kind, word = "fail", "Not finished"
    else:
        kind, word = ("fail", "Fails") if bad else ("pass", "Passes")
    yield f'<div class="verdict {kind}"><b>{word}</b> {text(summary_text(report, options.today))}.</div>\n'
    summary = report.summary
    yield '<div class="tiles">\n'
    yield '<section class="tile"><h2>Findings that count</h2><p>'
    yield _figure(summary.errors, "error", "errors" if summary.errors != 1 else "error")
    yield _figure(summary.warnings, "warning", "warnings" if summary.warnings != 1 else "warning")
    yield _figure(summary.infos, "info", "info")
    yield "</p></section>\n"
    if summary.jobs:
        yield f'<section class="tile"><h2>{counted(summary.jobs, "job")}</h2><p>'
        yield _figure(summary.serves, "serves", "serve" if summary.serves != 1 else "serves")
        yield _figure(summary.exits, "exits", "exit" if summary.exits != 1 else "exits")
        yield _figure(summary.undecided, "undecided", "undecided")
        yield "</p>" + _bar(summary.serves, summary.exits, summary.undecided) + "</section>\n"
    diff = options.page.diff
    if diff is not None:
        yield '<section class="tile"><h2>What the change launches differently</h2><p>'
        yield _figure(diff.changed, "info", "changed")
        yield _figure(len(diff.added), "serves", "added")
        yield _figure(len(diff.removed), "exits", "removed")
        yield "</p></section>\n"
    yield "</div>\n"


def _figure(number: int, kind: str, word: str) -> str:
    zero = "" if number else " zero"
    return f'<span class="figure {kind}{zero}"><b>{number:,}</b> {word}</span> '


def _bar(serves: int, exits: int, undecided: int) -> str:
    total = serves + exits + undecided
    if not total:
        return ""
    parts, at = [], 0.0
    for kind, number in (("serves", serves), ("exits", exits), ("undecided", undecided)):
        if number:
            width = 100 * number / total
            parts.append(f'<rect class="{kind}" x="{at:.2f}" width="{width:.2f}" height="6"/>')
            at += width
    return f'<svg class="bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">{"".join(parts)}</svg>'


# -------------------------------------------------------------------------------------------------- navigation, filter


def _tools(report: Report, page: Page, entries: Entries) -> Iterator[str]:
    parts = [("findings", "Findings", len(report.findings))]
    if page.diff is not None:
        parts.append(("changes", "Plan diff", page.diff.changed + len(page.diff.added) + len(page.diff.removed)))
    if page.plans:
        parts.append(("jobs", "Jobs", len(page.plans)))
    if report.notes or report.failures:
        parts.append(("notes", "Notes", len(report.notes) + len(report.failures)))
    yield '<div class="tools"><nav aria-label="Parts of the page"><ul>'
    for name, label, number in parts:
        yield f'<li><a href="#{name}">{label} <span class="number">{number:,}</span></a></li>'
    yield '</ul></nav>\n<form id="tools" class="filter" role="search" aria-label="Filter" data-script hidden>'
    yield '<label class="vh" for="filter">Filter by words, or by NAME=VALUE of a job</label>'
    yield '<input type="search" id="filter" autocomplete="off" spellcheck="false" '
    yield 'placeholder="Filter, such as lmcache or tp=2">'
    severities = [one for one in SEVERITIES if any(finding.severity == one for finding in report.findings)]
    allowed = any(not finding.counts for finding in report.findings)
    yield from _boxes("Findings", [*severities, *(["allowed"] if allowed else [])])
    if entries.plans or page.diff is not None:
        yield from _boxes("Outcomes", ["serves", "exits", "undecided"])
    yield '<output id="shown" for="filter" aria-live="polite"></output></form></div>\n'


def _boxes(legend: str, names: Sequence[str]) -> Iterator[str]:
    if not names:
        return
    yield f'<fieldset><legend class="vh">{legend}</legend>'
    for name in names:
        yield f'<label class="chip"><input type="checkbox" value="{name}" checked>{name}</label>'
    yield "</fieldset>"


# ------------------------------------------------------------------------------------------------------ notes and help


def _notes(report: Report, options: Options) -> Iterator[str]:
    if not report.notes and not report.failures:
        return
    number = len(report.notes) + len(report.failures)
    yield '<section id="notes" class="part" aria-labelledby="notes-title">\n'
    yield f'<h2 id="notes-title">What could not be looked at <span class="number">{number:,}</span></h2>\n'
    if report.failures:
        yield '<p><b>botlint itself failed:</b></p><ul class="notes">'
        yield "".join(f"<li>{lines(failure)}</li>" for failure in report.failures[:MAX_NOTES])
        yield "</ul>\n"
    if report.summary.notes:
        listed = ", ".join(note_text(kind, count) for kind, count in report.summary.notes)
        yield f'<p class="lead">{text(listed)}</p>\n'
    if report.notes:
        yield '<ul class="notes">'
        for note in report.notes[:MAX_NOTES]:
            yield f"<li>{_note(note, options.page)}</li>\n"
        yield "</ul>\n"
    if len(report.notes) > MAX_NOTES:
        yield f'<p class="more">and {counted(len(report.notes) - MAX_NOTES, "more note")}</p>\n'
    yield "</section>\n"


def _note(note: Note, page: Page) -> str:
    where = f"{place(note.path, note.line, page.head_url)} " if note.path else ""
    return f"{where}{lines(note.message)}"


def _help() -> Iterator[str]:
    yield '<dialog id="help" aria-labelledby="help-title"><form method="dialog"><h2 id="help-title">Keys</h2><dl>'
    for key, words in HELP:
        yield f"<dt><kbd>{key}</kbd></dt><dd>{words}</dd>"
    yield "</dl><p>The filter shows what has all of its words. <code>NAME=VALUE</code> finds jobs by a value of their "
    yield "row, a variable or an option.</p>"
    yield '<p><label><input type="checkbox" id="keys" checked> Keys of one letter</label></p>'
    yield '<button value="close">Close</button></form></dialog>\n'

"""The jobs of a page by entry: a line for each entry, and the plans as data that a script shows on request.

Equal texts, places and lists of places are written once; what the jobs of a group have in common too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botlint.core.finding import SEVERITIES, Finding
from botlint.core.visible import visible, visible_lines
from botlint.plan.model import Launch, LaunchPlan
from botlint.plan.origins import Mark
from botlint.plan.show import Group, collapse, describe_jobs, flatten, group_plans, varying_keys
from botlint.report.html.changes import outcome_words
from botlint.report.html.findings import finding_id
from botlint.report.html.markup import place, safe_url, tag, text
from botlint.report.options import Page, Sources, counted

MAX_TEXT = 4_000
"""Characters of one value."""

MAX_LINE = 200
"""Characters of one line of a source."""

MAX_LABELS = 6
MAX_FINDINGS = 40
"""Texts that describe a group, and findings of an entry that its jobs lead to."""

KINDS = ("row", "workflow", "test", "script", "maybe", "recipe")
"""Kinds of marks by their numbers in the data."""

FACTS = ("model", "framework", "precision", "runner")
"""Row keys that say in short what an entry measures."""

ROW = "row of the matrix"
"""The section that holds the values of a job's row."""


@dataclass
class Entries:
    """The plans of a page by entry, with the findings of each."""

    plans: dict[str, list[tuple[int, LaunchPlan]]]
    findings: Mapping[str, Sequence[Finding]]

    @property
    def numbers(self) -> dict[str, int]:
        """The entries by number, as their elements are called."""
        return {entry: number for number, entry in enumerate(self.plans)}


def entries_of(plans: Sequence[LaunchPlan], findings: Sequence[Finding]) -> Entries:
    """The entries of some plans in their order."""
    found: dict[str, list[tuple[int, LaunchPlan]]] = {}
    for number, plan in enumerate(plans):
        found.setdefault(plan.entry, []).append((number, plan))
    by_entry: dict[str, list[Finding]] = {}
    for finding in findings:
        if finding.counts:
            for entry in dict.fromkeys((*finding.entries, *(job.entry for job in finding.jobs))):
                by_entry.setdefault(entry, []).append(finding)
    return Entries(found, by_entry)


def render_jobs(entries: Entries, page: Page) -> Iterator[str]:
    """The section with a line for each entry; nothing without plans."""
    total = len(page.plans)
    if not total:
        return
    yield '<section id="jobs" class="part" aria-labelledby="jobs-title">\n'
    yield f'<h2 id="jobs-title">Jobs <span class="number">{total:,}</span></h2>\n'
    yield f'<p class="lead">{counted(len(entries.plans), "entry", "entries")}: {outcome_words(page.plans)}</p>\n'
    yield "<noscript><p>This browser runs no script. <code>botlint plan ENTRY</code> prints the plans of an entry."
    yield "</p></noscript>\n"
    diff = page.diff
    pairs = () if diff is None else [pair.new for group in diff.groups for pair in group.pairs]
    changed = {plan.entry for plan in (*pairs, *(() if diff is None else diff.added))}
    for number, (entry, members) in enumerate(entries.plans.items()):
        plans = [plan for _, plan in members]
        badges = [*_badges(entries.findings.get(entry, ())), *([tag("changed")] if entry in changed else [])]
        yield "".join(_entry(number, entry, plans, badges))
    yield "</section>\n"


def _entry(number: int, entry: str, plans: Sequence[LaunchPlan], badges: Sequence[str]) -> Iterator[str]:
    first = plans[0]
    outcomes = dict.fromkeys(plan.launch.outcome for plan in plans)
    facts = [text(value, 80) for key in FACTS if isinstance(value := first.job.get(key), str) and value]
    yield f'<details class="item entry" id="e-{number}" data-outcomes="{" ".join(outcomes)}"><summary>'
    yield f'<span class="outcomes">{outcome_words(plans)}</span>'
    yield f'<span class="message"><b>{text(entry, 300)}</b> <span class="faint">{" · ".join(facts)}</span></span>'
    yield f'<span class="where">{" ".join(badges)} {place(first.config.path, first.config.line)}</span>'
    yield '</summary><div class="body"></div></details>\n'


def _badges(findings: Sequence[Finding]) -> Iterator[str]:
    for severity in SEVERITIES:
        count = sum(finding.severity == severity for finding in findings)
        if count:
            yield tag(severity, counted(count, severity, severity if severity == "info" else ""))


# ---------------------------------------------------------------------------------------------------------------- data


@dataclass
class _Tables:
    """What the data refers to by number."""

    sources: Sources
    strings: dict[str, int] = field(default_factory=dict)
    places: dict[tuple[str, int], int] = field(default_factory=dict)
    marks: dict[tuple[Mark, ...], int] = field(default_factory=dict)
    rows: dict[tuple[tuple[str, tuple[str, int]], ...], int] = field(default_factory=dict)
    lines: dict[tuple[int | tuple[int, ...], ...], int] = field(default_factory=dict)

    def string(self, value: str) -> int:
        return self.strings.setdefault(value, len(self.strings))

    def place(self, path: str, line: int) -> int:
        return self.places.setdefault((path, line), len(self.places))

    def mark_list(self, marks: tuple[Mark, ...]) -> int:
        return self.marks.setdefault(marks, len(self.marks))

    def row(self, places: Mapping[str, tuple[str, int]]) -> int:
        return self.rows.setdefault(tuple(places.items()), len(self.rows))

    def line(self, *parts: int | tuple[int, ...]) -> int:
        return self.lines.setdefault(parts, len(self.lines))

    def form(self) -> dict[str, Any]:
        """The tables; those that refer to others first, so that the others are whole when they are written."""
        rows = [[[self.string(key), self.place(*at)] for key, at in row] for row in self.rows]
        marks = [
            [[KINDS.index(kind), self.place(path, line) if line else self.string(path)] for kind, path, line in listed]
            for listed in self.marks
        ]
        places = [[self.string(path), line, self.string(self._line(path, line))] for path, line in self.places]
        strings = [_shown(value) for value in self.strings]
        return {"strings": strings, "places": places, "marks": marks, "rows": rows, "lines": list(self.lines)}

    def _line(self, path: str, line: int) -> str:
        lines = self.sources(path)
        return lines[line - 1].strip()[:MAX_LINE] if lines is not None and 0 < line <= len(lines) else ""


def _shown(value: str) -> str:
    if "\n" not in value:
        return visible(value, MAX_TEXT)
    return "\n".join(visible_lines(value[:MAX_TEXT]))


def jobs_data(entries: Entries, page: Page, sources: Sources) -> dict[str, Any]:
    """The plans of all entries in the order of their lines."""
    tables = _Tables(sources)
    forms = [
        {
            "groups": _groups(members, page, tables),
            "findings": [
                [finding.severity, tables.string(finding.message.partition("\n")[0]), finding_id(finding)]
                for finding in entries.findings.get(entry, ())[:MAX_FINDINGS]
            ],
        }
        for entry, members in entries.plans.items()
    ]
    return {"entries": forms, **tables.form(), "url": safe_url(page.head_url)}


def _groups(members: Sequence[tuple[int, LaunchPlan]], page: Page, tables: _Tables) -> list[dict[str, Any]]:
    plans = [plan for _, plan in members]
    numbers = {id(plan): number for number, plan in members}
    keys = varying_keys([plan.job for plan in plans])
    return [
        _group(group, keys, [_row_places(page, numbers[id(plan)], plan) for plan in group.plans], tables)
        for group in group_plans(plans)
    ]


def _row_places(page: Page, number: int, plan: LaunchPlan) -> Mapping[str, tuple[str, int]]:
    """Where the values of a row are written; where that is not told, in the arm."""
    if number < len(page.row_places):
        return page.row_places[number]
    return dict.fromkeys(flatten(plan.job), (plan.arm.path, plan.arm.line))


def _group(
    group: Group, keys: Sequence[str], row_places: Sequence[Mapping[str, tuple[str, int]]], tables: _Tables
) -> dict[str, Any]:
    plans = group.plans
    rows = [flatten(plan.job) for plan in plans]
    inner = varying_keys([plan.job for plan in plans])
    lines: list[int] = []
    for at, (section, name, _) in enumerate(group.lines[0]):
        if section == "outcome":
            continue
        marks = [_marks(plan.launch, section, name) for plan in plans]
        lines.append(_line(section, name, [line[at][2] for line in group.lines], marks, (rows, inner), tables))
    names = dict.fromkeys(name for row in rows for name in row)
    for name in names:
        marks = [(("row", name, 0),)] * len(plans)
        lines.append(_line(ROW, name, [row.get(name, "") for row in rows], marks, (rows, inner), tables))
    described = [describe_jobs([plan], inner or keys) for plan in plans]
    return {
        "outcome": plans[0].launch.outcome,
        "labels": [tables.string(label) for label in describe_jobs(plans, keys, MAX_LABELS)],
        "jobs": [
            [tables.string("; ".join(words) or plan.scenario), tables.row(places)]
            for plan, words, places in zip(plans, described, row_places, strict=True)
        ],
        "lines": lines,
    }


def _line(
    section: str,
    name: str,
    values: Sequence[str],
    marks: Sequence[tuple[Mark, ...]],
    jobs: tuple[Sequence[Mapping[str, str]], Sequence[str]],
    tables: _Tables,
) -> int:
    """The number of `[section, name, text, why it varies, marks, texts of the jobs]`; the last one if they differ."""
    rows, keys = jobs
    alike = len(set(values)) == 1
    shown, why = (values[0], "") if alike else collapse(rows, values, keys)
    numbers = tuple(tables.mark_list(one) if one else -1 for one in marks)
    parts = [*map(tables.string, (section, name, shown, why)), numbers[0] if len(set(numbers)) == 1 else numbers]
    if not alike:
        parts.append(tuple(map(tables.string, values)))
    return tables.line(*parts)


def _marks(launch: Launch, section: str, name: str) -> tuple[Mark, ...]:
    """The places of one line of a plan."""
    server = launch.server
    if section == "exit":
        at = launch.exit or launch.reason_at
        return (("script", at.path, at.line),) if at is not None and name != "message" else ()
    if server is None:
        return ()
    here: tuple[Mark, ...] = (("script", server.path, server.line),)
    if section in ("environment", "runtime", "argv"):
        return server.origins.get(name.rstrip("=")) or (here if section == "argv" else ())
    if section == "script" and name == "server":
        return here
    for role in server.roles:
        if section.startswith(f"role {role.name} ") or section == f"role {role.name}":
            own: tuple[Mark, ...] = (("recipe", role.path, role.line),)
            return server.origins.get(f"{role.name} {name.rstrip('=')}") or (own if name or " argv" in section else ())
    return ()

"""A plan diff as text for people and as JSON: `botlint.diff/1` (schemas/diff.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from botlint.core.span import Problem
from botlint.plan.diff import DiffGroup, PlanDiff, SharedChange
from botlint.plan.jsonform import exit_form, problem_form
from botlint.plan.model import Exit, LaunchPlan
from botlint.plan.show import CONCURRENCY, describe_jobs, first_line, varying_keys
from botlint.plan.style import Style

SCHEMA = "botlint.diff/1"

LONG = 56
"""Longest value that is shown on one line with the one that it replaces."""

MAX_ENTRIES = 12
"""Entries of one group that are listed."""

Rows = Mapping[str, Sequence[Mapping[str, object]]]

# ---------------------------------------------------------------------------------------------------------------- text


def render_diff(diff: PlanDiff, old_rows: Rows, new_rows: Rows, style: Style) -> Iterator[str]:
    """The lines of a diff; the rows of all jobs by entry say what tells the jobs of an entry apart."""
    for old_name, new_name in diff.renamed:
        yield f"{style.unsure('renamed')}  {old_name} -> {style.strong(new_name)}"
        yield ""
    for group in diff.groups:
        yield from _render_group(group, new_rows, style)
        yield ""
    yield from _render_jobs("added", diff.added, new_rows, old_rows, style)
    yield from _render_jobs("removed", diff.removed, old_rows, new_rows, style)
    yield summary_text(diff)


def summary_text(diff: PlanDiff) -> str:
    """The last line."""
    total = diff.changed + diff.unchanged
    noun = "job" if total == 1 else "jobs"
    return f"{diff.changed} of {total} {noun} changed, {len(diff.added)} added, {len(diff.removed)} removed"


def _by_entry(plans: Iterable[LaunchPlan]) -> dict[str, list[LaunchPlan]]:
    entries: dict[str, list[LaunchPlan]] = {}
    for plan in plans:
        entries.setdefault(plan.entry, []).append(plan)
    return entries


def _render_group(group: DiffGroup, rows: Rows, style: Style) -> Iterator[str]:
    entries = _by_entry(pair.new for pair in group.pairs)
    if len(entries) > 1:
        yield style.strong(f"{len(group.pairs)} jobs of {len(entries)} entries")
    shown = list(entries.items())[:MAX_ENTRIES]
    for entry, plans in shown:
        yield from _heading(entry, plans, rows, style, "  " if len(entries) > 1 else "")
    if len(entries) > len(shown):
        yield f"  and {len(entries) - len(shown)} more entries"
    for shared in group.changes:
        yield from _render_change(shared, style)


def _heading(entry: str, plans: Sequence[LaunchPlan], rows: Rows, style: Style, indent: str) -> Iterator[str]:
    total = len(rows.get(entry, ()))
    of = f"{len(plans)} of {total} jobs" if total != len(plans) else f"{total} job{'' if total == 1 else 's'}"
    name = entry if indent else style.strong(entry)
    described = describe_jobs(plans, varying_keys(rows.get(entry, ())), limit=4) if total != len(plans) else []
    if len(described) == 1:
        yield f"{indent}{name}  {of}: {described[0]}"
        return
    yield f"{indent}{name}  {of}"
    yield from (f"{indent}    {text}" for text in described)


def _render_change(shared: SharedChange, style: Style) -> Iterator[str]:
    change = shared.change
    where = f"{change.role}: " if change.role else ""
    label = f"{where}{change.name or change.kind}"
    if change.kind == "job":
        label = f"{where}{change.name}:"
    elif change.kind == "possible":
        label = f"possible: {change.name}"
    elif change.kind == "runtime-variable":
        label = f"{where}{change.name} (set by the runtime)"
    if change.runners:
        label += f" (on {change.runners})"
    if all(value is None for value in shared.old):
        yield f"    {style.good('+')} {style.name(label)}{_value(shared.new, change.kind)}"
        return
    if all(value is None for value in shared.new):
        yield f"    {style.bad('-')} {style.name(label)}{_value(shared.old, change.kind)}"
        return
    old, new = _alternatives(shared.old), _alternatives(shared.new)
    if change.kind == "outcome":
        yield f"    {style.unsure('~')} {style.name(label)}  {old} -> {style.bad(new) if 'exits' in new else new}"
        yield from _ends("was", shared.old_exits)
        yield from _ends("now", shared.new_exits)
    elif len(old) > LONG or len(new) > LONG:
        yield f"    {style.unsure('~')} {style.name(label)}"
        yield f"        {style.bad(f'- {old}')}"
        yield f"        {style.good(f'+ {new}')}"
    else:
        yield f"    {style.unsure('~')} {style.name(label)}  {old or nothing()} -> {new or nothing()}"


def nothing() -> str:
    """How an empty value is shown."""
    return '""'


def _ends(label: str, exits: Sequence[Exit]) -> Iterator[str]:
    for end in exits:
        yield f"        {label} at {end.path}:{end.line}: {first_line(end.message)}".rstrip(": ")


def _value(values: Sequence[str | None], kind: str) -> str:
    text = _alternatives(values)
    if not text and kind in ("flag", "command"):
        return ""
    joint = "=" if kind in ("variable", "runtime-variable") else " "
    return f"{joint}{text}"


def _alternatives(values: Sequence[str | None]) -> str:
    distinct = list(dict.fromkeys("" if value is None else value for value in values))
    if len(distinct) == 1:
        return distinct[0]
    more = f", ... {len(distinct)} in all" if len(distinct) > MAX_ENTRIES else ""
    return f"{{{', '.join(distinct[:MAX_ENTRIES])}{more}}}"


def _render_jobs(label: str, plans: Sequence[LaunchPlan], rows: Rows, others: Rows, style: Style) -> Iterator[str]:
    colour = style.good if label == "added" else style.bad
    for entry, members in _by_entry(plans).items():
        total = len(rows.get(entry, ()))
        if entry not in others:
            yield f"{colour(label)}  {style.strong(entry)}  the entry with {total} job{'' if total == 1 else 's'}"
        else:
            yield f"{colour(label)}  {style.strong(entry)}  {len(members)} of {total} jobs"
            yield from (f"    {text}" for text in describe_jobs(members, varying_keys(rows.get(entry, ()))))
        outcomes = dict.fromkeys(plan.launch.outcome for plan in members)
        if label == "added" and list(outcomes) != ["serves"]:
            yield f"    outcome: {', '.join(outcomes)}"
        yield ""


# ---------------------------------------------------------------------------------------------------------------- JSON


def job_form(plan: LaunchPlan) -> dict[str, Any]:
    """Which job: its entry, scenario and arm, and its row."""
    return {
        "entry": plan.entry,
        "scenario": plan.scenario,
        "arm": plan.arm_index,
        CONCURRENCY: plan.job.get(CONCURRENCY),
        "config": {"path": plan.config.path, "line": plan.config.line},
        "job": dict(plan.job),
    }


def change_form(shared: SharedChange) -> dict[str, Any]:
    """One change of a group: `values` are the pairs of old and new values, null for what is not there."""
    change = shared.change
    added = all(value is None for value in shared.old)
    removed = all(value is None for value in shared.new)
    form: dict[str, Any] = {
        "kind": change.kind,
        "name": change.name,
        "action": "added" if added else "removed" if removed else "changed",
        "values": [{"old": old, "new": new} for old, new in zip(shared.old, shared.new, strict=True)],
    }
    if change.role:
        form["role"] = change.role
    if change.runners:
        form["runners"] = change.runners
    if change.kind == "outcome":
        form["old-exits"] = [exit_form(end) for end in shared.old_exits]
        form["new-exits"] = [exit_form(end) for end in shared.new_exits]
    return form


def diff_document(
    diff: PlanDiff, base: str, head: str, old_problems: Iterable[Problem], new_problems: Iterable[Problem]
) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "base": base,
        "head": head,
        "groups": [
            {
                "jobs": [job_form(pair.new) for pair in group.pairs],
                "changes": [change_form(shared) for shared in group.changes],
            }
            for group in diff.groups
        ],
        "added": [{**job_form(plan), "outcome": plan.launch.outcome} for plan in diff.added],
        "removed": [{**job_form(plan), "outcome": plan.launch.outcome} for plan in diff.removed],
        "renamed": [{"old": old, "new": new} for old, new in diff.renamed],
        "problems": {
            "base": [problem_form(problem) for problem in old_problems],
            "head": [problem_form(problem) for problem in new_problems],
        },
        "summary": {
            "changed": diff.changed,
            "unchanged": diff.unchanged,
            "added": len(diff.added),
            "removed": len(diff.removed),
        },
    }


def diff_text(document: Mapping[str, Any]) -> str:
    """The text of a document."""
    return json.dumps(document, ensure_ascii=False, indent=2) + "\n"

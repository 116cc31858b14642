"""A check: rules over one revision, and what a change brings against its base."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from botlint.core.finding import Finding, Report, Summary, summarize, with_fingerprints
from botlint.engine.context import Context
from botlint.engine.keep import KeptParts
from botlint.engine.notes import notes_of
from botlint.engine.parts import evaluate_all
from botlint.engine.rules import Rule

MAX_ERROR = 300
"""Characters of an internal error that a report holds."""

MAX_ALL = 50_000
"""Findings of one revision."""

MAX_ENTRIES = 50
"""Entries that a finding about a file names."""

Adjust = Callable[[list[Finding], Context], list[Finding]]
"""What settings, suppressions and the baseline make of findings."""


def check(
    context: Context, rules: Sequence[Rule], adjust: Adjust | None = None, parts: KeptParts | None = None
) -> Report:
    """All findings of the rules on the context's revision, or, with a base, those that it does not have.

    A rule that fails is named in `failures`; the others finish. `parts` are results that are known; new ones are added.
    """
    failures: dict[str, None] = {}
    parts = KeptParts() if parts is None else parts
    base = context.base
    before: list[Finding] = []
    if base is not None:
        # What only a change can break is looked at once, in the change.
        standing = [rule for rule in rules if rule.scope != "pull-request"]
        key = ("findings", tuple(rule.name for rule in standing), adjust)
        before = base.kept(key, lambda revision: _findings(revision, standing, failures, adjust, parts))
    findings = _findings(context, rules, failures, adjust, parts)
    if base is not None:
        # A finding that the base allowed and the head does not is brought by the change.
        counting = brought([one for one in before if one.counts], [one for one in findings if one.counts])
        allowed = brought(before, [one for one in findings if not one.counts])
        findings = sorted([*counting, *allowed], key=lambda one: one.order)
    for error in context.planner.failures if context.planner is not None else ():
        failures[f"plan: {type(error).__name__}: {error}"[:MAX_ERROR]] = None
    notes = tuple(notes_of(context))
    summary = summarize(findings, _counts(context), notes)
    return Report(tuple(findings), summary, notes, tuple(failures))


def _findings(
    context: Context,
    rules: Sequence[Rule],
    failures: dict[str, None],
    adjust: Adjust | None,
    parts: KeptParts,
) -> list[Finding]:
    found, failed = evaluate_all(context, rules, parts)
    failures.update(dict.fromkeys(failed))
    if len(found) > MAX_ALL:
        context.note("budget", f"{len(found):,} findings: only {MAX_ALL:,} are kept")
    done = with_fingerprints(_with_entries(found[:MAX_ALL], context))
    return done if adjust is None else adjust(done, context)


def _with_entries(findings: Sequence[Finding], context: Context) -> Iterator[Finding]:
    """The findings; one about no job says of which entry its lines of a config are, or which run its recipe."""
    starts: dict[str, list[tuple[int, int, str]]] = {}
    if any(not one.entries for one in findings):
        for entry in context.configs.entries.values():
            starts.setdefault(entry.span.path, []).append((entry.span.line, entry.node.span.end_line, entry.name))
    for ones in starts.values():
        ones.sort()
    users: dict[str, dict[str, None]] = {}
    for plan in context.planned:
        for launch in (plan.launch, *plan.others):
            if launch.recipe:
                users.setdefault(launch.recipe, {})[plan.entry] = None
    for one in findings:
        at = starts.get(one.span.path, ()) if not one.entries else ()
        index = bisect_right(at, (one.span.line, sys.maxsize, "")) - 1
        if index >= 0 and one.span.end_line <= at[index][1]:
            one = replace(one, entries=(at[index][2],))
        elif not one.entries and one.span.path in users:
            one = replace(one, entries=tuple(users[one.span.path])[:MAX_ENTRIES])
        yield one


def brought(base: Iterable[Finding], head: Iterable[Finding]) -> list[Finding]:
    """The findings of the head that the base does not have.

    Two are the same if they say the same about the same subject of a file, wherever it stands now. What is left is the
    same as what is left of the base as long as there is as much of it: a value in the message changed, not the fact.
    """
    base, head = list(base), list(head)
    said = Counter(_statement(one) for one in base)
    left = []
    for one in head:
        if said[_statement(one)] > 0:
            said[_statement(one)] -= 1
        else:
            left.append(one)
    subjects = Counter(statement[:3] for statement in said.elements())
    new = []
    for one in left:
        key = _statement(one)[:3]
        if subjects[key] > 0:
            subjects[key] -= 1
        else:
            new.append(one)
    return new


def _statement(one: Finding) -> tuple[str, str, str, str]:
    return one.rule, one.span.path, one.subject, one.message


def _counts(context: Context) -> Summary:
    outcomes = Counter(plan.launch.outcome for plan in context.planned)
    return Summary(
        jobs=len(context.planned),
        serves=outcomes["serves"],
        exits=outcomes["exits"],
        undecided=outcomes["undecided"],
    )

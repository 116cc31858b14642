"""A check: rules over one revision, and what a change brings against its base."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from botlint.core.finding import Finding, Report, Summary, summarize, with_fingerprints
from botlint.engine.context import Context
from botlint.engine.evaluate import Records, evaluate
from botlint.engine.notes import notes_of
from botlint.engine.rules import Rule

MAX_ERROR = 300
"""Characters of an internal error that a report holds."""

MAX_ALL = 50_000
"""Findings of one revision; rules that come later do not run."""

Adjust = Callable[[list[Finding], Context], list[Finding]]
"""What settings, suppressions and the baseline make of findings."""


def check(context: Context, rules: Sequence[Rule], adjust: Adjust | None = None) -> Report:
    """All findings of the rules on the context's revision, or, with a base, those that it does not have.

    A rule that fails is named in `failures`; the others finish.
    """
    failures: dict[str, None] = {}
    findings = _findings(context, rules, failures, adjust)
    if context.base is not None:
        # What only a change can break is looked at once, in the change.
        standing = [rule for rule in rules if rule.scope != "pull-request"]
        key = ("findings", tuple(rule.name for rule in standing), adjust)
        base = context.base.kept(key, lambda revision: _findings(revision, standing, failures, adjust))
        # A finding that the base allowed and the head does not is brought by the change.
        counting = brought([one for one in base if one.counts], [one for one in findings if one.counts])
        allowed = brought(base, [one for one in findings if not one.counts])
        findings = sorted([*counting, *allowed], key=lambda one: one.order)
    for error in context.planner.failures if _planned(context) else ():
        failures[f"plan: {type(error).__name__}: {error}"[:MAX_ERROR]] = None
    notes = tuple(notes_of(context))
    summary = summarize(findings, _counts(context), notes)
    return Report(tuple(findings), summary, notes, tuple(failures))


def _findings(
    context: Context, rules: Iterable[Rule], failures: dict[str, None], adjust: Adjust | None
) -> list[Finding]:
    records = Records(context)
    found: list[Finding] = []
    for rule in rules:
        if len(found) >= MAX_ALL:
            context.note("budget", f"{rule.name}: not looked at, for there are {len(found):,} findings of other rules")
            continue
        try:
            found.extend(evaluate(rule, records))
        except Exception as error:
            failures[f"rule {rule.name}: {type(error).__name__}: {error}"[:MAX_ERROR]] = None
    done = with_fingerprints(found)
    return done if adjust is None else adjust(done, context)


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


def _planned(context: Context) -> bool:
    return "planner" in context.__dict__


def _counts(context: Context) -> Summary:
    if "plans" not in context.__dict__:
        return Summary()
    outcomes = Counter(plan.launch.outcome for plan in context.plans)
    return Summary(
        jobs=len(context.plans),
        serves=outcomes["serves"],
        exits=outcomes["exits"],
        undecided=outcomes["undecided"],
    )

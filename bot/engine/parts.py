"""Rules over a revision in parts: the jobs of an entry are one, the records of every other outermost view another.

A part is kept with the answers to all that it asked. It holds for another revision, or another day, if they are the
same; only the other parts are done again. Findings of a part say where they are in the entry, so that an entry that
only moved in its file is not done again.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from botlint.core.finding import Edit, Finding, Note, Related
from botlint.core.processes import can_spread, spread
from botlint.core.span import Span
from botlint.engine.context import Context
from botlint.engine.evaluate import MAX_FINDINGS, Records, evaluate
from botlint.engine.keep import Kept, KeptParts, Place
from botlint.engine.rules import Rule
from botlint.engine.views.registry import lineage
from botlint.engine.watch import digest
from botlint.layouts.commands import looked_at_with

MAX_ERROR = 300
"""Characters of an internal error that a report holds."""

MIN_PARALLEL = 24
"""Fewer entries are looked at in one process."""

_LINE = re.compile(r"(?:\blines? |:)([0-9]{1,8})\b")
"""How texts say a line: facts of jobs have none of a config, explanations may."""

_STEP_PLACE = re.compile(r"(?P<path>.+?):(?P<line>[0-9]+)(?=  )")


@dataclass(frozen=True, slots=True)
class Part:
    """Some rules over some records: those below an outermost view, of jobs those of one entry."""

    view: str
    entry: str | None
    rules: tuple[Rule, ...]

    @property
    def name(self) -> str:
        """What the part is called, whatever its rules are."""
        return self.view if self.entry is None else f"{self.view} {self.entry}"


@dataclass(frozen=True, slots=True)
class Made:
    """What a part gave: the findings of each rule, what was noted, and the rules that failed."""

    findings: Mapping[str, Sequence[Finding]]
    notes: Sequence[Note]
    failures: Sequence[str] = ()


def evaluate_all(context: Context, rules: Sequence[Rule], parts: KeptParts | None) -> tuple[list[Finding], list[str]]:
    """The findings of the rules in the order of the rules, without fingerprints, and the rules that failed.

    Raises CannotFinish if a process that helped was ended from outside.
    """
    parts = KeptParts() if parts is None else parts
    todo = list(_parts(context, rules))
    keys = [_key(part) for part in todo]
    done: list[Made | None] = []
    for part, key in zip(todo, keys, strict=True):
        kept = parts.find(key, context.answer)
        done.append(None if kept is None else _placed(kept, part, context))
    missing = [index for index, made in enumerate(done) if made is None]
    for index, (made, kept) in zip(missing, _make(context, [todo[index] for index in missing]), strict=True):
        done[index] = made
        if kept is not None:
            parts.keep(keys[index], kept)
    whole = [made for made in done if made is not None]
    for made in whole:
        for note in made.notes:
            context.note(note.kind, note.message, note.path, note.line)
    findings = [one for rule in rules for one in _merged(rule, whole, context)]
    return findings, list(dict.fromkeys(failure for made in whole for failure in made.failures))


def _parts(context: Context, rules: Sequence[Rule]) -> Iterator[Part]:
    views: dict[str, list[Rule]] = {}
    for rule in rules:
        views.setdefault(lineage(rule.view)[0].name, []).append(rule)
    for view, ones in views.items():
        if view != "job":
            yield Part(view, None, tuple(ones))
            continue
        for entry in dict.fromkeys(looked_at_with(job.entry, job.scenario) for job in context.every_job):
            yield Part(view, entry, tuple(ones))


def _key(part: Part) -> str:
    return digest("\0".join((part.name, *(rule.digest for rule in part.rules))))


# ----------------------------------------------------------------------------------------------------------- one part


def _make(context: Context, parts: Sequence[Part]) -> list[tuple[Made, Kept | None]]:
    """What parts give, each with what is to be kept of it: nothing, if a rule failed."""
    entries = [part for part in parts if part.entry is not None]
    processes = can_spread(len(entries)) if len(entries) >= MIN_PARALLEL else 1
    if processes > 1:
        # What all entries share is made before the others start.
        Records(context).roots("job")
    made, _ = spread(parts, lambda part: _make_one(context, part), processes)
    return made


def _make_one(context: Context, part: Part) -> tuple[Made, Kept | None]:
    findings: dict[str, tuple[Finding, ...]] = {}
    failures: list[str] = []
    with context.watch() as watch:
        if part.entry is not None:
            context.ask_for_entry(part.entry)
        records = Records(context, part.entry)
        for rule in part.rules:
            try:
                found = evaluate(rule, records)
            except Exception as error:
                failures.append(f"rule {rule.name}: {type(error).__name__}: {error}"[:MAX_ERROR])
                continue
            if found:
                findings[rule.name] = tuple(found)
        place = None if part.entry is None else context.place_of_entry(part.entry)
        if part.entry is not None and place is not None and _is_bound(findings.values(), place):
            context.ask(("line", part.entry))
    notes = tuple(watch.notes)
    kept = Kept(findings, notes, place, {one: context.answer(one) for one in watch.asked}) if not failures else None
    return Made(findings, notes, failures), kept


def _is_bound(findings: Iterable[Sequence[Finding]], place: Place) -> bool:
    """Whether a finding says where in its file the entry is, other than by spans and steps inside of the entry."""
    path, first, last = place
    for one in (one for ones in findings for one in ones):
        texts = [one.message, one.remedy, *(related.message for related in one.related)]
        for step in one.steps:
            match = _STEP_PLACE.match(step)
            inside = match is not None and match["path"] == path and first <= int(match["line"]) <= last
            texts.append(step[match.end() :] if match is not None and (inside or match["path"] != path) else step)
        if one.fix is not None:
            texts += [one.fix.title, *(edit.text for edit in one.fix.edits)]
        if any(first <= int(number) <= last for text in texts for number in _LINE.findall(text)):
            return True
        if any(span.path == path and not first <= span.line <= span.end_line <= last + 1 for span in _spans(one)):
            return True
    return False


def _spans(one: Finding) -> Iterator[Span]:
    yield one.span
    for related in one.related:
        yield related.span
    if one.fix is not None:
        for edit in one.fix.edits:
            yield edit.span


def _placed(kept: Kept, part: Part, context: Context) -> Made:
    """A result with its places where the entry is now."""
    now = None if part.entry is None else context.place_of_entry(part.entry)
    if kept.place is None or now is None or kept.place == now:
        return Made(kept.findings, kept.notes)
    path, first, last = kept.place
    by = now[1] - first

    def span(old: Span) -> Span:
        if old.path != path or not first <= old.line <= last:
            return old
        return replace(old, line=old.line + by, end_line=old.end_line + by)

    def step(old: str) -> str:
        match = _STEP_PLACE.match(old)
        if match is None or match["path"] != path or not first <= int(match["line"]) <= last:
            return old
        return f"{path}:{int(match['line']) + by}{old[match.end() :]}"

    def finding(old: Finding) -> Finding:
        fix = old.fix
        if fix is not None:
            fix = replace(fix, edits=tuple(Edit(span(edit.span), edit.text) for edit in fix.edits))
        return replace(
            old,
            span=span(old.span),
            related=tuple(Related(span(one.span), one.message) for one in old.related),
            steps=tuple(map(step, old.steps)),
            fix=fix,
        )

    moved = {rule: tuple(map(finding, ones)) for rule, ones in kept.findings.items()}
    notes = [
        replace(note, line=note.line + by) if note.path == path and first <= note.line <= last else note
        for note in kept.notes
    ]
    return Made(moved, notes)


# -------------------------------------------------------------------------------------------------------- all of them


def _merged(rule: Rule, parts: Sequence[Made], context: Context) -> Iterator[Finding]:
    """A rule's findings of all parts; those that say the same of the same place are one, with the jobs of all."""
    merged: dict[tuple[object, ...], list[Finding]] = {}
    for made in parts:
        for one in made.findings.get(rule.name, ()):
            merged.setdefault((one.span, one.message, one.certainty), []).append(one)
    if len(merged) > MAX_FINDINGS:
        context.note("budget", f"{rule.name}: only {MAX_FINDINGS:,} findings of a rule are kept")
    for ones in list(merged.values())[:MAX_FINDINGS]:
        if len(ones) == 1:
            yield ones[0]
            continue
        jobs = tuple(sorted({job for one in ones for job in one.jobs}))
        yield replace(ones[0], jobs=jobs, entries=tuple(dict.fromkeys(job.entry for job in jobs)))

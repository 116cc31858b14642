"""Rules over the records of a revision: who violates them, merged over jobs into findings."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache

from botlint.core.finding import Certainty, Edit, Finding, Fix, JobRef, Related
from botlint.core.span import Span
from botlint.engine.context import Context
from botlint.engine.predicates import MAX_KNOWN, MAX_TEXT, Part, full_names, value_part
from botlint.engine.rules import Rule
from botlint.engine.versions import VersionRange
from botlint.engine.views.base import Chain, Core, no_place
from botlint.engine.views.job import JobSource
from botlint.engine.views.registry import lineage
from botlint.layouts.commands import is_described, looked_at_with
from botlint.plan.explain import Step

MAX_RELATED = 12
"""Related places of one finding."""

MAX_STEPS = 40
"""Steps of one proof."""

MAX_WAY = 6
"""Lines on the way to an exit that a finding points at."""

ENDING = "ending"
"""The proof that shows why a job ends without a server."""

MAX_FINDINGS = 2_000
"""Findings of one rule."""


@dataclass(slots=True)
class Group:
    """Records for which a rule's facts are the same: one of them, and the outermost cores of all."""

    chain: Chain
    outer: list[Core]


@dataclass
class Records:
    """The records of one revision, made when a rule needs them and grouped by what a rule looks at."""

    context: Context
    entry: str | None = None
    """The entry whose jobs are looked at; None: those of all."""
    _roots: dict[str, list[Core]] = field(default_factory=dict)
    _groups: dict[tuple[str, tuple[str, ...]], list[Group]] = field(default_factory=dict)
    _members: dict[tuple[str, tuple[str, ...]], list[tuple[Core, list[Group]]]] = field(default_factory=dict)

    def roots(self, view: str) -> list[Core]:
        """The records of a view that is below no other."""
        found = self._roots.get(view)
        if found is None:
            found = self._roots[view] = self._jobs() if view == "job" and self.entry is not None else self._all(view)
        return found

    def _all(self, view: str) -> list[Core]:
        build = lineage(view)[0].build
        return self.context.kept(("records", view), lambda context: [_named(view, core) for core in build(context, ())])

    def _jobs(self) -> list[Core]:
        """The jobs of the entry; that they depend on no other one is known."""
        found: dict[str, list[Core]] = self.context.apart(_by_entry)
        return found.get(self.entry or "", [])

    def groups(self, rule: Rule) -> Iterable[Group]:
        """The groups of records that a rule tells apart."""
        path = lineage(rule.view)
        used = _outermost(rule, rule.verdict_names)
        if len(path) == 1:
            return self._grouped(path[0].name, used)
        found: Iterable[Group] = self._below(path[0].name, path[1].name, used)
        for view in path[2:]:
            found = self._descend(found, view.name)
        return found

    def members(self, rule: Rule) -> list[tuple[Core, list[Group]]]:
        """The innermost records, each once with the groups above it: servers share the records of equal options."""
        path = lineage(rule.view)
        used = _outermost(rule, rule.verdict_names)
        key = (rule.view, used)
        found = self._members.get(key)
        if found is None:
            above: Iterable[Group] = self._below(path[0].name, path[1].name, used)
            for view in path[2:-1]:
                above = self._descend(above, view.name)
            members: dict[int, tuple[Core, list[Group]]] = {}
            for group in above:
                for child in self.children(group.chain, rule.view):
                    known = members.get(id(child))
                    if known is None:
                        members[id(child)] = (child, [group])
                    else:
                        known[1].append(group)
            found = self._members[key] = list(members.values())
        return found

    def _grouped(self, view: str, used: tuple[str, ...]) -> list[Group]:
        key = (view, used)
        found = self._groups.get(key)
        if found is None:
            groups: dict[object, Group] = {}
            for core in self.roots(view):
                facts = _identity(core, used) if view == "job" else id(core)
                group = groups.setdefault(facts, Group((core,), []))
                group.outer.append(core)
            found = self._groups[key] = list(groups.values())
        return found

    def _below(self, top: str, view: str, used: tuple[str, ...]) -> list[Group]:
        key = (view, used)
        found = self._groups.get(key)
        if found is None:
            groups: dict[object, Group] = {}
            for core in self.roots(top):
                facts = _identity(core, used)
                for child in self.children((core,), view):
                    group = groups.setdefault((facts, id(child)), Group((core, child), []))
                    group.outer.append(core)
            found = self._groups[key] = list(groups.values())
        return found

    def _descend(self, groups: Iterable[Group], view: str) -> Iterator[Group]:
        for group in groups:
            for child in self.children(group.chain, view):
                yield Group((*group.chain, child), group.outer)

    def children(self, chain: Chain, view: str) -> tuple[Core, ...]:
        """The records of a view below one record."""
        core = chain[-1]
        found = core.children.get(view)
        if found is None:
            with self.context.watch() as watch:
                made = lineage(view)[-1].build(self.context, chain)
                found = core.children[view] = (tuple(_named(view, one) for one in made), watch)
        else:
            self.context.again(found[1])
        return found[0]


def _by_entry(context: Context) -> dict[str, list[Core]]:
    found: dict[str, list[Core]] = {}
    for core in Records(context).roots("job"):
        name = looked_at_with(core.key, str(core.values["job.scenario"]))
        found.setdefault(name, []).append(core)
    return found


def _named(view: str, core: Core) -> Core:
    """The core with the full names of its facts, as rules write them."""
    if core.named:
        return core
    core.named = True
    core.values = {name if "." in name else f"{view}.{name}": value for name, value in core.values.items()}
    core.unknown = {name if "." in name else f"{view}.{name}": keys for name, keys in core.unknown.items()}
    return core


def _outermost(rule: Rule, names: Sequence[str]) -> tuple[str, ...]:
    """Those of the facts that belong to the outermost view of a rule."""
    return _outer_names(lineage(rule.view)[0].name, tuple(names))


@cache
def _outer_names(view: str, names: tuple[str, ...]) -> tuple[str, ...]:
    """Those of some facts that belong to a view itself."""
    own = _fact_names(view)
    return tuple(sorted(name for name in names if name in own))


@cache
def _fact_names(view: str) -> frozenset[str]:
    """The full names of the facts of a view itself."""
    return frozenset(full_names(view, lineage(view)[-1].facts))


def _identity(core: Core, used: Sequence[str]) -> object:
    """The values of these facts, in a form that can be compared; facts that are not known count too."""
    values = tuple(map(core.values.get, used))
    try:
        hash(values)
    except TypeError:
        return tuple([_frozen(value) for value in values])
    return values


def _frozen(value: object) -> object:
    # A fact is always of the same type: a number is never compared with a truth value.
    return json.dumps(value, sort_keys=True, default=str) if isinstance(value, (dict, list)) else value


def evaluate(rule: Rule, records: Records) -> list[Finding]:
    """The findings of a rule over a revision, jobs merged, without fingerprints.

    Raises RuleFault when an expression of the rule cannot be evaluated.
    """
    context = records.context
    outer = [(name, allowed) for level, name, allowed in rule.guards if level == 0]
    if outer and not any(_has(core, outer) for core in records.roots(lineage(rule.view)[0].name)):
        return []
    merged: dict[tuple[object, ...], _Merged] = {}
    for group in _candidates(rule, records):
        certainty = _violation(rule, group.chain)
        if certainty is None:
            continue
        for told in _told_apart(rule, group):
            values, unknown = _facts(told.chain, rule.names)
            message = rule.message.render(values, unknown)
            subject = rule.subject.render(values, unknown) if rule.subject is not None else told.chain[-1].key
            for core, span in _places(rule, told, context):
                key = (span, message, certainty)
                found = merged.get(key)
                if found is None:
                    if len(merged) >= MAX_FINDINGS:
                        context.note("budget", f"{rule.name}: only {MAX_FINDINGS:,} findings of a rule are kept")
                        break
                    chain = (core, *told.chain[1:])
                    found = merged[key] = _Merged(chain, message, subject, certainty, values, unknown, [])
                if isinstance(core.source, JobSource):
                    found.jobs.append(core.source)
    return [_finding(rule, span, one, context) for (span, *_), one in merged.items() if isinstance(span, Span)]


def _has(core: Core, wanted: Sequence[tuple[str, frozenset[object] | None]]) -> bool:
    """Whether a record has facts with these values."""
    for name, allowed in wanted:
        value = core.values.get(name)
        if value is None or (allowed is not None and value not in allowed):
            return False
    return True


def _violation(rule: Rule, chain: Chain) -> Certainty | None:
    """How sure it is that a record violates a rule; None where it does not, or where that is not known.

    Raises RuleFault when an expression of the rule cannot be evaluated.
    """
    for level, name, allowed in rule.guards:
        value = chain[level].values.get(name)
        if value is None or (allowed is not None and value not in allowed):
            return None
    key = None if rule.verdict_parts is None else _verdict_key(rule.verdict_parts, chain)
    known = None if key is None else rule.known_verdicts.get(key)
    if known is False:
        return None
    certainty = _applies(rule, chain)
    if known or certainty is None:
        return certainty
    values, unknown = _facts(chain, rule.verdict_names)
    asked = rule.when is None or rule.when.evaluate(values, unknown) is True
    violated = asked and rule.require.evaluate(values, unknown) is False
    if key is not None and len(rule.known_verdicts) < MAX_KNOWN:
        rule.known_verdicts[key] = violated
    return certainty if violated else None


def _verdict_key(parts: Sequence[tuple[int, str, Part]], chain: Chain) -> tuple[object, ...] | None:
    """The values on which a verdict depends; None where one of them is not known."""
    key: list[object] = []
    for level, name, part in parts:
        core = chain[level]
        value = core.values.get(name)
        if part != "whole":
            unknown = core.unknown.get(name)
            if unknown and not unknown.isdisjoint(part):
                return None
            value = value_part(value, part)
        key.append(value)
    return tuple(key)


def _candidates(rule: Rule, records: Records) -> Iterator[Group]:
    """The groups that a rule has to look at: what the innermost record alone rules out is decided once for all."""
    path = lineage(rule.view)
    facts = _fact_names(path[-1].name)
    if len(path) < 3 or rule.when is None or not all(name in facts for name in rule.when.names):
        yield from records.groups(rule)
        return
    for core, above in records.members(rule):
        if rule.when.evaluate(core.values, core.unknown) is True:
            for group in above:
                yield Group((*group.chain, core), group.outer)


@dataclass(slots=True)
class _Merged:
    chain: Chain
    message: str
    subject: str
    certainty: Certainty
    values: Mapping[str, object]
    unknown: Mapping[str, frozenset[str]]
    jobs: list[JobSource]


def _told_apart(rule: Rule, group: Group) -> Iterable[Group]:
    """The records of a group by what the texts of a finding say of them."""
    used = _outermost(rule, rule.names)
    apart: dict[object, Group] = {}
    for core in group.outer:
        apart.setdefault(_identity(core, used), Group((core, *group.chain[1:]), [])).outer.append(core)
    return apart.values()


def _facts(chain: Chain, names: Sequence[str]) -> tuple[dict[str, object], Mapping[str, frozenset[str]]]:
    """These facts of a record, and the keys of map facts whose value is not known."""
    values: dict[str, object] = {}
    unknown: dict[str, frozenset[str]] = {}
    for core in chain:
        own = core.values
        for name in names:
            if name in own:
                values[name] = own[name]
        if core.unknown:
            unknown.update(core.unknown)
    return values, unknown


def _applies(rule: Rule, chain: Chain) -> Certainty | None:
    """How sure a finding of the rule would be for the version of the record's server; None outside of the range."""
    if rule.versions is None:
        return rule.certainty
    server = chain[1].values
    wanted = rule.versions.get(str(server.get("server.engine", "")))
    if wanted is None:
        return None
    exact = server.get("server.version")
    versions = [exact] if isinstance(exact, str) else server.get("server.versions")
    if not isinstance(versions, list) or not versions or not _holds(wanted, versions):
        return None
    sure = isinstance(exact, str) or server.get("server.all_versions") is True
    return rule.certainty if sure else "possible"


def _holds(wanted: VersionRange, versions: Sequence[str]) -> bool:
    return not wanted.terms or _all_hold(wanted, tuple(versions))


@lru_cache(maxsize=1_000)
def _all_hold(wanted: VersionRange, versions: tuple[str, ...]) -> bool:
    return all(wanted.holds(version) is True for version in versions)


def _places(rule: Rule, group: Group, context: Context) -> Iterator[tuple[Core, Span]]:
    """The primary place for each outermost core; the places of inner records are the same for all."""
    names = rule.at or tuple(lineage(rule.view)[-1].anchors)
    inner: dict[str, Span | None] = {}
    for core in group.outer:
        chain = (core, *group.chain[1:])
        for name in names:
            owner = _owner(rule, name)
            if owner == 0:
                span = core.span(name, chain, context)
            elif name in inner:
                span = inner[name]
            else:
                span = inner[name] = chain[owner].span(name, chain, context)
            if span is not None:
                # What a description says is in no file.
                yield core, span if span.path else no_place()
                break


def _owner(rule: Rule, anchor: str) -> int:
    """Which record of the chain has an anchor: the innermost that knows the name."""
    path = lineage(rule.view)
    for index in range(len(path) - 1, -1, -1):
        if path[index].has_anchor(anchor):
            return index
    return 0


def _span(rule: Rule, name: str, chain: Chain, context: Context) -> Span | None:
    return chain[_owner(rule, name)].span(name, chain, context)


def _finding(rule: Rule, span: Span, one: _Merged, context: Context) -> Finding:
    refs = sorted({_reference(source) for source in one.jobs})
    # What a description shows is not what runs: it is told, and blocks nothing.
    shown = bool(refs) and all(is_described(ref.entry) for ref in refs)
    related = []
    for name, template in rule.related:
        where = _span(rule, name, one.chain, context)
        if where is not None and where != span and where.path:
            related.append(Related(where, template.render(one.values, one.unknown)))
    steps = _proof(rule, one, context)
    if ENDING in rule.proof_texts:
        # Where the way to the exit leads through the file, a change of any of these lines may be what ends the job.
        here = [step for step in steps if step.kind in ("script", "test") and step.span.path == span.path]
        way = [step for step in here if step.span.line != span.line]
        related.extend(Related(step.span, step.note or "on the way") for step in way[-MAX_WAY:])
    return Finding(
        rule=rule.name,
        severity=rule.severity,
        certainty="possible" if shown else one.certainty,
        message=one.message,
        span=span,
        subject=one.subject,
        entries=tuple(dict.fromkeys(ref.entry for ref in refs)),
        jobs=tuple(refs),
        related=tuple(related[:MAX_RELATED]),
        steps=tuple(dict.fromkeys(map(_step_text, steps)))[:MAX_STEPS],
        remedy=rule.remedy.render(one.values, one.unknown),
        fix=_fix(rule, one, context),
    )


def _reference(source: JobSource) -> JobRef:
    conc = source.job.facts.get("conc", "")
    text = ",".join(map(str, conc)) if isinstance(conc, list) else str(conc)
    return JobRef(source.job.entry, source.job.scenario, source.job.arm_index, text)


def _proof(rule: Rule, one: _Merged, context: Context) -> list[Step]:
    """The steps from the cause to the effect for the first of the jobs."""
    if not rule.proof or not one.jobs:
        return []
    source = one.jobs[0]
    steps: list[Step] = []
    for template in rule.proof:
        name = template.render(one.values, one.unknown)
        runner = source.launch.runners[0]
        if name == ENDING:
            steps.extend(context.explainer.ending(source.job, runner))
        else:
            steps.extend(context.explainer.explain(source.job, name, runner).steps)
    return steps


def _step_text(step: Step) -> str:
    text = " ".join(step.text.split())
    return f"{step.span.path or 'description'}:{step.span.line}  {text}{f'  ({step.note})' if step.note else ''}"


def _fix(rule: Rule, one: _Merged, context: Context) -> Fix | None:
    if rule.fix_form is None or rule.fix_title is None:
        return None
    edits = []
    for name, template, line in rule.fix:
        where = _span(rule, name, one.chain, context)
        if where is None:
            return None
        text = template.render(one.values, one.unknown)
        if len(text) > MAX_TEXT:
            return None
        edits.append(Edit(_lines(where) if line else where, text))
    return Fix(rule.fix_title.render(one.values, one.unknown), rule.fix_form.safe, tuple(edits))


def _lines(span: Span) -> Span:
    """The whole lines that a span touches, the end of the last one included."""
    last = span.end_line if span.end_column > 1 or span.end_line == span.line else span.end_line - 1
    return Span(span.path, span.line, 1, last + 1, 1)

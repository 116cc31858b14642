"""Which jobs deserve a smoke run: the fewest that show everything that a change leaves open, on the fewest GPUs.

A change leaves open what each group of jobs that it changes alike does now, what each arm that it adds does, and
whether each finding that is not certain holds. One job of a group stands for all of it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Literal, Self

from botlint.core.finding import Finding
from botlint.plan.diff import DiffGroup, PlanDiff
from botlint.plan.jsonform import plan_form
from botlint.plan.model import Launch, LaunchPlan
from botlint.plan.select import Condition, matches_plan, parse_condition, plain
from botlint.smoke.adapt import DIALECTS
from botlint.smoke.model import SmokeRequest

FRAMEWORKS = frozenset(DIALECTS)
"""Engines whose servers a smoke run can start."""

MAX_JOBS = 2
MAX_GPUS = 8
"""The budget without another word: jobs of one run, and GPUs of one job."""

ANY = ("*",)

MAX_TARGETS = 200
MAX_STEPS = 40_000
"""Sets of jobs that are looked at for the smallest one; beyond, the best next job is taken again and again."""

MAX_TOLD = 4
"""Changes of a group, and reasons against its jobs, that are told."""

MAX_TEXT = 300

TargetKind = Literal["finding", "changed", "added", "asked"]

_ID = re.compile(r"[0-9a-f]{16}")
_WEIGHTS = {"error": 8, "warning": 4, "info": 1}


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may take, on which runners its node can stand in for a job's own, and which images may run there."""

    jobs: int = MAX_JOBS
    gpus: int = MAX_GPUS
    runners: Sequence[str] = ANY
    images: Sequence[str] = ANY


@dataclass(frozen=True, slots=True)
class Selector:
    """Jobs that somebody asks for by name: by ids, else by globs of entries and by conditions (`tp=8`)."""

    ids: tuple[str, ...] = ()
    entries: tuple[str, ...] = ()
    conditions: tuple[Condition, ...] = ()

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        """The selector that words mean. Raises UsageError for a word that means nothing."""
        ids: list[str] = []
        entries: list[str] = []
        conditions: list[Condition] = []
        for word in words:
            if "=" in word:
                conditions.append(parse_condition(word))
            elif _ID.fullmatch(word):
                ids.append(word)
            else:
                entries.append(word)
        return cls(tuple(ids), tuple(entries), tuple(conditions))


@dataclass(frozen=True, slots=True)
class Target:
    """Something that a run of one of its jobs (numbers in the list of plans) shows; `text` tells people what."""

    kind: TargetKind
    text: str
    jobs: frozenset[int]
    weight: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """A job to run, on which GPUs, and what it shows."""

    id: str
    plan: LaunchPlan
    gpus: int
    shows: tuple[str, ...]
    smallest_concurrency: int | None


@dataclass(frozen=True, slots=True)
class Left:
    """Something that no chosen job shows, and why."""

    text: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Selection:
    """The jobs to run, first ones first, and what they leave open."""

    chosen: tuple[Chosen, ...]
    left: tuple[Left, ...]


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A job that can run: `mask` has a bit for each target that it shows."""

    number: int
    launch: Launch
    gpus: int
    conc: int
    mask: int

    @property
    def cost(self) -> tuple[int, int, int]:
        return self.gpus, self.conc, self.number


def job_id(plan: LaunchPlan) -> str:
    """The name of a job that says nothing else: 16 hexadecimal digits of its entry, scenario and row."""
    known = json.dumps([plan.entry, plan.scenario, plan.job], sort_keys=True, default=repr)
    return hashlib.sha256(known.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def gpus_of(plan: LaunchPlan) -> int | None:
    """The GPUs of a job on one node: its sizes of tensor, pipeline and prefill context parallelism; None if unknown."""
    sizes = [plan.job.get(key, 1) for key in ("tp", "pp", "pcp-size")]
    if "tp" not in plan.job:
        return None
    count = 1
    for size in sizes:
        if type(size) is not int or size < 1:
            return None
        count *= size
    return count


def select(
    plans: Sequence[LaunchPlan],
    diff: PlanDiff | None,
    findings: Iterable[Finding],
    budget: Budget,
    only: Sequence[Condition] = (),
    entries: Sequence[str] = (),
) -> Selection:
    """The jobs of a revision that deserve a run.

    `only` and `entries` (globs) are what somebody asked for by name: then the others are left aside, and one of those
    runs even where the change leaves nothing open about them.
    """
    asked = frozenset(number for number, plan in enumerate(plans) if _is_asked(plan, only, entries))
    targets = [replace(one, jobs=one.jobs & asked) for one in _targets(plans, diff, findings)]
    targets = [one for one in targets if one.jobs]
    if (only or entries) and not targets and asked:
        targets = [Target("asked", "what was asked for", asked, 1)]
    targets = sorted(targets, key=lambda one: -one.weight)[:MAX_TARGETS]
    reasons: dict[int, str] = {}
    candidates: list[_Candidate] = []
    for number in sorted(frozenset().union(*(one.jobs for one in targets))):
        found = _candidate(number, plans[number], targets, budget)
        if isinstance(found, str):
            reasons[number] = found
        else:
            candidates.append(found)
    picked = _cover(_useful(candidates), [one.weight for one in targets], budget.jobs)
    left = dict.fromkeys(_left(picked, targets, reasons, budget))
    return Selection(_chosen(picked, plans, targets), tuple(left))


def find(plans: Iterable[LaunchPlan], ids: Sequence[str], budget: Budget) -> Selection:
    """The jobs with these ids, in this order; an id that no job has, or whose job cannot run, is left."""
    listed = list(plans)
    known = {job_id(plan): number for number, plan in reversed(list(enumerate(listed)))}
    chosen: list[Chosen] = []
    left: list[Left] = []
    for one in dict.fromkeys(ids):
        number = known.get(one)
        found = (
            "no job of this revision has this id" if number is None else _candidate(number, listed[number], (), budget)
        )
        if number is None or isinstance(found, str):
            left.append(Left(one, (str(found),)))
        else:
            chosen.extend(_chosen([found], listed, ()))
    return Selection(tuple(chosen), tuple(left))


def request(chosen: Chosen, head: str | None = None, base: str | None = None, nonce: str | None = None) -> SmokeRequest:
    """What a run of a chosen job is asked."""
    plan = plan_form(chosen.plan)
    return SmokeRequest(plan, head, base, nonce, smallest_concurrency=chosen.smallest_concurrency)


# ------------------------------------------------------------------------------------------------------------- targets


def _is_asked(plan: LaunchPlan, only: Sequence[Condition], entries: Sequence[str]) -> bool:
    if entries and not any(fnmatchcase(plan.entry, one) for one in entries):
        return False
    return all(_holds(plan, condition) for condition in only)


def _holds(plan: LaunchPlan, condition: Condition) -> bool:
    match condition.key:
        case "outcome" | "launcher" | "recipe" | "runner":
            return matches_plan(plan, [condition])
        case "entry":
            return condition.holds(plan.entry)
        case "scenario":
            return condition.holds(plan.scenario)
        case "arm":
            return condition.holds(plan.arm_index)
    value: object = plan.job
    for part in condition.key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return False
        value = value[part]
    return condition.holds(value)


def _targets(plans: Sequence[LaunchPlan], diff: PlanDiff | None, findings: Iterable[Finding]) -> list[Target]:
    numbers = {id(plan): number for number, plan in enumerate(plans)}
    targets = list(_open_findings(plans, findings))
    if diff is None:
        return targets
    for group in diff.groups:
        jobs = frozenset(numbers[id(pair.new)] for pair in group.pairs if id(pair.new) in numbers)
        targets.append(Target("changed", _group_text(group), jobs, 4))
    arms: dict[tuple[str, str, int], list[int]] = {}
    for plan in diff.added:
        if id(plan) in numbers:
            arms.setdefault((plan.entry, plan.scenario, plan.arm_index), []).append(numbers[id(plan)])
    for (entry, scenario, _), added in arms.items():
        text = f"added: {_count(len(added))} of {entry} ({scenario})"
        targets.append(Target("added", text[:MAX_TEXT], frozenset(added), 2))
    return targets


def _open_findings(plans: Sequence[LaunchPlan], findings: Iterable[Finding]) -> Iterable[Target]:
    by_job: dict[tuple[str, str, int, str], list[int]] = {}
    for number, plan in enumerate(plans):
        key = plan.entry, plan.scenario, plan.arm_index, plain(plan.job.get("conc", ""))
        by_job.setdefault(key, []).append(number)
    for one in findings:
        if one.counts and one.certainty == "possible" and one.jobs:
            jobs = (by_job.get((job.entry, job.scenario, job.arm, job.conc), ()) for job in one.jobs)
            text = f"possible {one.severity}: {one.message.splitlines()[0]} ({one.rule})"
            numbers = frozenset(number for found in jobs for number in found)
            yield Target("finding", text[:MAX_TEXT], numbers, _WEIGHTS[one.severity])


def _group_text(group: DiffGroup) -> str:
    names = list(dict.fromkeys(shared.change.name or shared.change.kind for shared in group.changes))
    shown = ", ".join(names[:MAX_TOLD]) + (f" and {len(names) - MAX_TOLD} more" if len(names) > MAX_TOLD else "")
    entries = list(dict.fromkeys(pair.new.entry for pair in group.pairs))
    of = entries[0] if len(entries) == 1 else f"{len(entries)} entries"
    return f"changed: {_count(len(group.pairs))} of {of}: {shown}"[:MAX_TEXT]


def _count(number: int) -> str:
    return f"{number} job" if number == 1 else f"{number} jobs"


# ---------------------------------------------------------------------------------------------------------- candidates


def _candidate(number: int, plan: LaunchPlan, targets: Sequence[Target], budget: Budget) -> _Candidate | str:
    """A job that can run; else why it cannot."""
    runner = plain(plan.job.get("runner", ""))
    by_label = _matches(runner, budget.runners)
    launches = (plan.launch, *plan.others)
    launch = next(
        (one for one in launches if by_label or any(_matches(name, budget.runners) for name in one.runners)), None
    )
    if launch is None:
        return f"its runner is {runner or 'unknown'}"
    if launch.outcome != "serves" or launch.server is None:
        return "it starts no server" if launch.outcome == "exits" else "what it starts is undecided"
    if launch.server.roles or "prefill" in plan.job or "decode" in plan.job:
        return "it takes several nodes or servers"
    if launch.server.framework not in FRAMEWORKS:
        return f"servers of {launch.server.framework} are not started by smoke runs"
    image = plain(plan.job.get("image", ""))
    if not _matches(image, budget.images):
        return "its image is none of those that may run here"
    gpus = gpus_of(plan)
    if gpus is None:
        return "its number of GPUs is unknown"
    if gpus > budget.gpus:
        return f"it takes {gpus} GPUs, more than {budget.gpus}"
    conc = plan.job.get("conc")
    mask = sum(1 << place for place, target in enumerate(targets) if number in target.jobs)
    return _Candidate(number, launch, gpus, conc if type(conc) is int else 0, mask)


def _matches(name: str, globs: Sequence[str]) -> bool:
    return any(fnmatchcase(name, one) for one in globs)


def _useful(candidates: Iterable[_Candidate]) -> list[_Candidate]:
    """The cheapest candidate for each set of targets; none that shows less than another one for as much."""
    cheapest: dict[int, _Candidate] = {}
    for one in sorted(candidates, key=lambda one: one.cost):
        cheapest.setdefault(one.mask, one)
    kept: list[_Candidate] = []
    for one in sorted(cheapest.values(), key=lambda one: (-one.mask.bit_count(), one.cost)):
        if not any(one.mask & ~other.mask == 0 and other.cost <= one.cost for other in kept):
            kept.append(one)
    return sorted(kept, key=lambda one: one.cost)


# ------------------------------------------------------------------------------------------------------------ covering


def _cover(candidates: Sequence[_Candidate], weights: Sequence[int], most: int) -> list[_Candidate]:
    """The smallest set of at most so many candidates that shows all that any of them shows, of these the one with the
    fewest GPUs; the heaviest targets where that takes more."""
    whole = 0
    for one in candidates:
        whole |= one.mask
    if not whole:
        return []
    found = _smallest(candidates, whole, most)
    return _greedy(candidates, whole, weights, most) if found is None else found


def _smallest(candidates: Sequence[_Candidate], whole: int, most: int) -> list[_Candidate] | None:
    """The best set by search, None if there is none or it takes too long."""
    steps = 0
    best: tuple[tuple[int, int, int], list[_Candidate]] | None = None

    def price(chosen: Sequence[_Candidate]) -> tuple[int, int, int]:
        return len(chosen), sum(one.gpus for one in chosen), sum(one.conc for one in chosen)

    def search(chosen: list[_Candidate], shown: int) -> bool:
        nonlocal steps, best
        steps += 1
        if steps > MAX_STEPS:
            return False
        if shown == whole:
            if best is None or price(chosen) < best[0]:
                best = price(chosen), list(chosen)
            return True
        limit = most if best is None else best[0][0]
        if len(chosen) >= limit or (best is not None and price(chosen) >= best[0]):
            return True
        rest = whole & ~shown
        bits = [place for place in range(rest.bit_length()) if rest >> place & 1]
        place = min(bits, key=lambda bit: sum(one.mask >> bit & 1 for one in candidates))
        return all(search([*chosen, one], shown | one.mask) for one in candidates if one.mask >> place & 1)

    finished = search([], 0)
    return sorted(best[1], key=lambda one: one.cost) if finished and best is not None else None


def _greedy(candidates: Sequence[_Candidate], whole: int, weights: Sequence[int], most: int) -> list[_Candidate]:
    chosen: list[_Candidate] = []
    left = whole
    while left and len(chosen) < most:
        best = max(candidates, key=lambda one: (_weight(one.mask & left, weights), -one.gpus, -one.conc, -one.number))
        if not best.mask & left:
            break
        chosen.append(best)
        left &= ~best.mask
    return sorted(chosen, key=lambda one: one.cost)


def _weight(mask: int, weights: Sequence[int]) -> int:
    return sum(weight for place, weight in enumerate(weights) if mask >> place & 1)


# ------------------------------------------------------------------------------------------------------------- results


def _chosen(picked: Iterable[_Candidate], plans: Sequence[LaunchPlan], targets: Sequence[Target]) -> tuple[Chosen, ...]:
    smallest: dict[tuple[str, str, int], int] = {}
    for plan in plans:
        conc = plan.job.get("conc")
        if type(conc) is int:
            key = plan.entry, plan.scenario, plan.arm_index
            smallest[key] = min(conc, smallest.get(key, conc))
    found = []
    for one in picked:
        plan = plans[one.number]
        key = plan.entry, plan.scenario, plan.arm_index
        shows = tuple(target.text for place, target in enumerate(targets) if one.mask >> place & 1)
        launched = replace(plan, launch=one.launch, others=())
        found.append(Chosen(job_id(plan), launched, one.gpus, shows, smallest.get(key)))
    return tuple(found)


def _left(
    picked: Sequence[_Candidate], targets: Sequence[Target], reasons: Mapping[int, str], budget: Budget
) -> Iterable[Left]:
    shown = 0
    for one in picked:
        shown |= one.mask
    for place, target in enumerate(targets):
        if shown >> place & 1:
            continue
        told = list(dict.fromkeys(reasons[number] for number in sorted(target.jobs) if number in reasons))
        if any(number not in reasons for number in target.jobs):
            told = [f"more than {_count(budget.jobs)} would be needed"]
        yield Left(target.text, tuple(told[:MAX_TOLD]))

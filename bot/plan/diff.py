"""What a change makes different in what is launched: the plans of two revisions, grouped by what changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from botlint.plan.changes import Change, launch_changes
from botlint.plan.model import Exit, Launch, LaunchPlan
from botlint.plan.select import plain
from botlint.plan.show import arm_key, runners_text

PROPERTIES = frozenset(
    {
        "image",
        "model",
        "model-prefix",
        "precision",
        "framework",
        "runner",
        "exp-name",
        "run-eval",
        "eval-only",
        "eval-conc",
        "max-model-len",
        "duration",
        "dram-utilization",
        "total-cpu-dram-gb",
        "recipe-fingerprint",
        "router",
        "kv-p2p-transfer",
        "additional-settings",
        "docker_image",
        "shown_for",
    }
)
"""Row keys that do not make a job the job that it is: where one changes, the job is still the same one."""

_DERIVED = frozenset({"exp-name", "recipe-fingerprint"})
"""Row keys that follow from others; their change alone is nothing that a reader wants to know."""

_SHAPE = frozenset(
    {"isl", "osl", "tp", "pp", "ep", "dp-attn", "dcp-size", "pcp-size", "conc", "disagg", "prefill", "decode"}
)
"""Row keys by which a job is known again when its other values change, if they leave no choice."""

_UNCOUNTED = frozenset({"conc", *_DERIVED})


@dataclass(frozen=True, slots=True)
class Pair:
    """One job in both revisions, and what is different."""

    old: LaunchPlan
    new: LaunchPlan
    changes: tuple[Change, ...]


@dataclass(frozen=True, slots=True)
class SharedChange:
    """A change of several jobs: `old` and `new` hold their different values in the order of the jobs."""

    change: Change
    old: tuple[str | None, ...]
    new: tuple[str | None, ...]
    old_exits: tuple[Exit, ...] = ()
    new_exits: tuple[Exit, ...] = ()


@dataclass(frozen=True, slots=True)
class DiffGroup:
    """Jobs that change alike."""

    pairs: tuple[Pair, ...]
    changes: tuple[SharedChange, ...]


@dataclass(frozen=True, slots=True)
class PlanDiff:
    """All differences between the plans of two revisions; jobs whose plans are equal are only counted."""

    groups: tuple[DiffGroup, ...]
    added: tuple[LaunchPlan, ...]
    removed: tuple[LaunchPlan, ...]
    renamed: tuple[tuple[str, str], ...]
    unchanged: int

    @property
    def changed(self) -> int:
        """How many jobs are in both revisions and differ."""
        return sum(len(group.pairs) for group in self.groups)

    @property
    def empty(self) -> bool:
        """Whether nothing is different."""
        return not (self.groups or self.added or self.removed or self.renamed)


def diff_plans(old: Iterable[LaunchPlan], new: Iterable[LaunchPlan]) -> PlanDiff:
    """The difference of two revisions' plans.

    A job is known again by its entry, its scenario and the values of its row that tell it from the other jobs of the
    entry, not by its position.
    """
    before, after = _by_entry(old), _by_entry(new)
    renamed = _renamed(before, after)
    matched: list[tuple[LaunchPlan, LaunchPlan]] = []
    added: list[LaunchPlan] = []
    removed: list[LaunchPlan] = []
    names = {new_name: old_name for old_name, new_name in renamed}
    for name, plans in after.items():
        couples, lost, found = match_jobs(before.get(names.get(name, name), ()), plans)
        matched.extend(couples)
        removed.extend(lost)
        added.extend(found)
    gone = before.keys() - after.keys() - {old_name for old_name, _ in renamed}
    removed.extend(plan for name, plans in before.items() if name in gone for plan in plans)
    pairs = [Pair(left, right, tuple(plan_changes(left, right))) for left, right in matched]
    changed = [pair for pair in pairs if pair.changes]
    return PlanDiff(
        tuple(group_pairs(changed)), tuple(added), tuple(removed), tuple(renamed), len(pairs) - len(changed)
    )


def _by_entry(plans: Iterable[LaunchPlan]) -> dict[str, list[LaunchPlan]]:
    entries: dict[str, list[LaunchPlan]] = {}
    for plan in plans:
        entries.setdefault(plan.entry, []).append(plan)
    return entries


# ------------------------------------------------------------------------------------------------------------ matching


def identity(plan: LaunchPlan, keys: Iterable[str]) -> tuple[object, ...]:
    """What makes a job the job that it is, as far as some row keys say."""
    values = (f"{key}={_distinguishing(plan.job.get(key))}" for key in sorted(keys) if key not in PROPERTIES)
    return (plan.scenario, *values)


def _distinguishing(value: object) -> str:
    if isinstance(value, Mapping):
        if "name" in value:
            return plain(value["name"])
        inner = {key: item for key, item in value.items() if key not in PROPERTIES}
        return plain(inner)
    return plain(value)


def match_jobs(
    old: Sequence[LaunchPlan], new: Sequence[LaunchPlan]
) -> tuple[list[tuple[LaunchPlan, LaunchPlan]], list[LaunchPlan], list[LaunchPlan]]:
    """The jobs of one entry that are the same in two revisions; those that only the old and only the new one has.

    Row keys that only one revision knows say nothing: fields are added to all rows of a repository now and then.
    """
    known = {key for plan in old for key in plan.job} & {key for plan in new for key in plan.job}
    lists = {key for plan in (*old, *new) for key, value in plan.job.items() if isinstance(value, list)}
    left, right = list(old), list(new)
    couples: list[tuple[LaunchPlan, LaunchPlan]] = []
    for keys, exactly in ((known, True), (known, False), (known - (lists & _UNCOUNTED), False)):
        waiting: dict[object, list[LaunchPlan]] = {}
        for plan in left:
            waiting.setdefault(_match_key(plan, keys, exactly), []).append(plan)
        rest: list[LaunchPlan] = []
        for plan in right:
            candidates = waiting.get(_match_key(plan, keys, exactly))
            if candidates:
                couples.append((candidates.pop(0), plan))
            else:
                rest.append(plan)
        right = rest
        left = [plan for plans in waiting.values() for plan in plans]
    for pair in _only_choices(left, right, known & _SHAPE):
        couples.append(pair)
        left = [plan for plan in left if plan is not pair[0]]
        right = [plan for plan in right if plan is not pair[1]]
    order = {id(plan): number for number, plan in enumerate(new)}
    couples.sort(key=lambda couple: order[id(couple[1])])
    return couples, left, right


def _only_choices(
    old: Sequence[LaunchPlan], new: Sequence[LaunchPlan], keys: Iterable[str]
) -> list[tuple[LaunchPlan, LaunchPlan]]:
    """Jobs that only one on each side can be, going by some row keys."""
    sides: list[dict[object, list[LaunchPlan]]] = [{}, {}]
    for plans, found in zip((old, new), sides, strict=True):
        for plan in plans:
            found.setdefault(identity(plan, keys), []).append(plan)
    before, after = sides
    return [(before[key][0], plans[0]) for key, plans in after.items() if len(plans) == 1 == len(before.get(key, ()))]


def _match_key(plan: LaunchPlan, keys: Iterable[str], exactly: bool) -> object:
    return (plan.scenario, repr(sorted(plan.job.items()))) if exactly else identity(plan, keys)


def _renamed(
    before: Mapping[str, Sequence[LaunchPlan]], after: Mapping[str, Sequence[LaunchPlan]]
) -> list[tuple[str, str]]:
    """Entries that only have another name: the same jobs of the same model on the same runners."""
    gone = {_entry_key(plans): name for name, plans in reversed(list(before.items())) if name not in after}
    found = []
    for name, plans in after.items():
        if name not in before and (old_name := gone.pop(_entry_key(plans), None)) is not None:
            found.append((old_name, name))
    return found


def _entry_key(plans: Sequence[LaunchPlan]) -> object:
    job = plans[0].job
    keys = {key for plan in plans for key in plan.job}
    shared = tuple(plain(job.get(key)) for key in ("model", "framework", "precision", "runner"))
    return shared, tuple(sorted(repr(identity(plan, keys)) for plan in plans))


# ------------------------------------------------------------------------------------------------------------- changes


def plan_changes(old: LaunchPlan, new: LaunchPlan) -> list[Change]:
    """What is different between two plans of one job: on the first runner, and on others where it is not the same."""
    if old.launch == new.launch and old.others == new.others and old.job == new.job:
        return []
    changes = [*_row_changes(old.job, new.job)]
    main = launch_changes(old.launch, new.launch)
    changes.extend(main)
    if _first_runners(old) != _first_runners(new):
        changes.append(Change("runners", "", _first_runners(old), _first_runners(new)))
    for before, after in _other_couples(old, new):
        runners = runners_text((after or before or new.launch).runners)
        if before is None or after is None:
            texts = [None if one is None else str(one.launcher or one.outcome) for one in (before, after)]
            changes.append(Change("launcher", "", texts[0], texts[1], runners=runners))
            continue
        here = launch_changes(before, after)
        changes.extend(replace(change, runners=runners) for change in here if change not in main)
    return changes


def _row_changes(old: Mapping[str, object], new: Mapping[str, object]) -> Iterator[Change]:
    for key in [*old, *(key for key in new if key not in old)]:
        if key in _DERIVED or old.get(key) == new.get(key):
            continue
        yield Change("job", key, plain(old[key]) if key in old else None, plain(new[key]) if key in new else None)


def _first_runners(plan: LaunchPlan) -> str:
    """The kinds of runners that may take a job: their names up to the underscore that numbers them."""
    names = [name for launch in (plan.launch, *plan.others) for name in launch.runners]
    return ", ".join(sorted({name.partition("_")[0] for name in names}))


def _other_couples(old: LaunchPlan, new: LaunchPlan) -> Iterator[tuple[Launch | None, Launch | None]]:
    """Launches on other runners in both revisions: by common runners, else by launcher."""
    waiting = list(old.others)
    for launch in new.others:
        runners = set(launch.runners)
        found = next((one for one in waiting if runners & set(one.runners)), None)
        if found is None:
            found = next((one for one in waiting if one.launcher == launch.launcher), None)
        if found is not None:
            waiting.remove(found)
        yield found, launch
    yield from ((launch, None) for launch in waiting)


# ------------------------------------------------------------------------------------------------------------ grouping


def group_pairs(pairs: Sequence[Pair]) -> list[DiffGroup]:
    """Jobs that change alike: those of one arm in the same things, others in the same things to the same values."""
    arms: dict[object, list[Pair]] = {}
    for pair in pairs:
        shape = tuple((c.kind, c.name, c.role, c.runners, c.action) for c in pair.changes)
        arms.setdefault((pair.new.entry, arm_key(pair.new.job), shape), []).append(pair)
    groups: dict[tuple[SharedChange, ...], list[Pair]] = {}
    for members in arms.values():
        groups.setdefault(_shared(members), []).extend(members)
    return [DiffGroup(tuple(members), changes) for changes, members in groups.items()]


def _shared(pairs: Sequence[Pair]) -> tuple[SharedChange, ...]:
    shared = []
    for number, change in enumerate(pairs[0].changes):
        all_of_it = [pair.changes[number] for pair in pairs]
        values = list(dict.fromkeys((one.old, one.new) for one in all_of_it))
        exits = [tuple(dict.fromkeys(end for one in all_of_it if (end := one.ends[side]))) for side in (0, 1)]
        plain_change = replace(change, old=None, new=None, ends=(None, None))
        shared.append(
            SharedChange(plain_change, tuple(v[0] for v in values), tuple(v[1] for v in values), exits[0], exits[1])
        )
    return tuple(shared)

"""Which jobs a command looks at: entries by name or glob, and conditions on rows and plans."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from botlint.core.errors import UsageError
from botlint.layouts.base import Job
from botlint.plan.model import LaunchPlan

PLAN_KEYS = frozenset({"outcome", "launcher", "recipe"})
"""Conditions that only a plan can answer."""

JOB_KEYS = frozenset({"entry", "scenario", "arm"})
"""Conditions that a job answers beside its row."""

_GLOB = frozenset("*?[")


@dataclass(frozen=True, slots=True)
class Condition:
    """`key=value`: `key` is a row key (`tp`, `prefill.tp`) or a property of the job or plan, `value` a text or glob."""

    key: str
    value: str

    def holds(self, value: object) -> bool:
        """Whether a value meets the condition; one of several is enough."""
        if isinstance(value, (list, tuple)):
            return any(self.holds(item) for item in value) or plain(value) == self.value
        if isinstance(value, Mapping):
            return "name" in value and self.holds(value["name"])
        return fnmatchcase(plain(value), self.value) or plain(value) == self.value


def plain(value: object) -> str:
    """A value of a row as a condition spells it."""
    if value.__class__ is str or value.__class__ is int:
        return str(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return ""
    if isinstance(value, (list, tuple)):
        return ",".join(plain(item) for item in value)
    if isinstance(value, Mapping):
        return ",".join(f"{key}:{plain(item)}" for key, item in value.items())
    return str(value)


def parse_condition(text: str) -> Condition:
    """`key=value` as a condition.

    Raises UsageError for anything else.
    """
    key, separator, value = text.partition("=")
    if not separator or not key.strip():
        raise UsageError(f"{text!r} is no condition; write KEY=VALUE, as in tp=2 or prefill.tp=4")
    return Condition(key.strip(), value.strip())


def choose_entries(known: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """The known entries that some names or globs mean, in the order in which they are known; all for none.

    Raises UsageError for a name or glob that means no entry.
    """
    if not wanted:
        return list(known)
    chosen: set[str] = set()
    for pattern in wanted:
        found = {pattern} if pattern in known else {name for name in known if fnmatchcase(name, pattern)}
        if not found:
            raise UsageError(_no_entry(pattern, known))
        chosen |= found
    return [name for name in known if name in chosen]


def _no_entry(pattern: str, known: Sequence[str]) -> str:
    if _GLOB & set(pattern):
        return f"no entry matches {pattern!r}"
    close = difflib.get_close_matches(pattern, known, n=1, cutoff=0.5)
    return f"no entry {pattern!r}" + (f"; did you mean {close[0]!r}?" if close else "")


def choose_jobs(jobs: Iterable[Job], entries: Iterable[str], conditions: Sequence[Condition]) -> list[Job]:
    """The jobs of some entries that meet all conditions which can be decided before planning.

    Raises UsageError for a key that no job of these entries has.
    """
    names = set(entries)
    of_entries = [job for job in jobs if job.entry in names]
    for condition in conditions:
        if condition.key not in PLAN_KEYS | JOB_KEYS and of_entries:
            _check_key(condition.key, of_entries)
    early = [condition for condition in conditions if condition.key not in PLAN_KEYS and condition.key != "runner"]
    return [job for job in of_entries if all(condition.holds(_of_job(job, condition.key)) for condition in early)]


def _check_key(key: str, jobs: Sequence[Job]) -> None:
    known: set[str] = set()
    for job in jobs:
        for name, value in job.row.items():
            known.add(name)
            if isinstance(value, Mapping):
                known.update(f"{name}.{inner}" for inner in value)
    if key not in known and not any(lookup(job.row, key) is not None for job in jobs):
        close = difflib.get_close_matches(key, sorted(known | PLAN_KEYS | JOB_KEYS), n=1, cutoff=0.5)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"no selected job has {key!r} (--where){hint}")


def _of_job(job: Job, key: str) -> object:
    if key == "entry":
        return job.entry
    if key == "scenario":
        return job.scenario
    if key == "arm":
        return job.arm_index
    return lookup(job.row, key)


def lookup(row: Mapping[str, object], key: str) -> object:
    """The value at a dotted key of a row; None where there is none."""
    value: object = row
    for part in key.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


def matches_plan(plan: LaunchPlan, conditions: Sequence[Condition]) -> bool:
    """Whether a plan meets the conditions that only a plan can answer."""
    return all(
        any(condition.holds(value) for value in _of_plan(plan, condition.key))
        for condition in conditions
        if condition.key in PLAN_KEYS or condition.key == "runner"
    )


def _of_plan(plan: LaunchPlan, key: str) -> list[object]:
    if key == "outcome":
        return [plan.launch.outcome]
    launches = (plan.launch, *plan.others)
    if key == "runner":
        return [plan.job.get("runner"), *(name for launch in launches for name in launch.runners)]
    return [launch.launcher if key == "launcher" else launch.recipe for launch in launches]

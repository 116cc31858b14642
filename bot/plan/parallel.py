"""Planning on several processors: whoever is free plans the jobs of the next label, which share what they interpret."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from botlint.core.processes import can_spread, spread
from botlint.layouts.base import Job
from botlint.plan.build import Planner
from botlint.plan.files import Question
from botlint.plan.model import LaunchPlan

MIN_JOBS = 150
"""Fewer jobs are planned in one process: starting another one costs more than it saves."""

Progress = Callable[[int], None]

P = TypeVar("P")

Make = Callable[[Planner, Sequence[Job]], Iterable[P]]
"""Plans jobs in one process."""


def plan_jobs(planner: Planner, jobs: Sequence[Job], progress: Progress | None = None) -> list[LaunchPlan]:
    """The plans of the jobs in their order.

    Raises CannotFinish if a process that helped was ended from outside.
    """
    return _spread(planner, jobs, progress, Planner.plans)


def plan_jobs_with_questions(
    planner: Planner, jobs: Sequence[Job], progress: Progress | None = None
) -> list[tuple[LaunchPlan, frozenset[Question] | None]]:
    """The plans of the jobs in their order, each with what it depends on.

    Raises CannotFinish if a process that helped was ended from outside.
    """
    return _spread(planner, jobs, progress, Planner.plans_with_questions)


def _spread(planner: Planner, jobs: Sequence[Job], progress: Progress | None, make: Make[P]) -> list[P]:
    count = can_spread(len({_share(job) for job in jobs}))
    if count < 2 or len(jobs) < MIN_JOBS:
        return list(_with_progress(make(planner, jobs), progress))
    groups = _groups(jobs)
    own: list[int] = []

    def work(group: list[int]) -> list[P]:
        made = list(_with_progress(make(planner, [jobs[k] for k in group]), progress))
        own.append(len(group))
        return made

    made, ends = spread(groups, work, count, rest=planner.findings_of_own)
    plans: dict[int, P] = {}
    for group, ones in zip(groups, made, strict=True):
        plans.update(zip(group, ones, strict=True))
    for failures, problems in ends:
        planner.absorb(failures, problems)
    if progress is not None:
        progress(len(jobs) - sum(own))
    return [plans[index] for index in range(len(jobs))]


def _share(job: Job) -> str:
    """Jobs with the same label run the same launchers."""
    return str(job.facts.get("runner", ""))


def _groups(jobs: Sequence[Job]) -> list[list[int]]:
    """Indices of the jobs of each label, those that take longest first."""
    labels: dict[str, list[int]] = {}
    for index, job in enumerate(jobs):
        labels.setdefault(_share(job), []).append(index)
    return sorted(labels.values(), key=lambda indices: (-_work(jobs, indices), indices))


def _work(jobs: Sequence[Job], indices: Sequence[int]) -> float:
    """A measure of the work: every entry is a recipe to interpret, every job a plan to fill in; nodes multiply it."""
    work = 4.0 * len({jobs[k].entry for k in indices}) + len(indices)
    return work * (8.0 if "prefill" in jobs[indices[0]].row else 1.0)


def _with_progress(plans: Iterable[P], progress: Progress | None) -> Iterator[P]:
    for plan in plans:
        if progress is not None:
            progress(1)
        yield plan

"""Planning on several processors: whoever is free plans the jobs of the next label, which share what they interpret."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, TypeVar

from botlint.core.errors import CannotFinish
from botlint.core.span import Problem
from botlint.layouts.inferencex.jobs import Job
from botlint.plan.build import Planner
from botlint.plan.files import Question
from botlint.plan.model import LaunchPlan

MIN_JOBS = 150
"""Fewer jobs are planned in one process: starting another one costs more than it saves."""

MAX_PROCESSES = 4

MAX_GROUPS = 1000
"""Groups of jobs that are handed out one by one: their numbers fit into a pipe at once."""

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
    count = min(_processors(), MAX_PROCESSES, len({_share(job) for job in jobs}))
    if count < 2 or len(jobs) < MIN_JOBS or not hasattr(os, "fork"):
        return list(_with_progress(make(planner, jobs), progress))
    groups = _groups(jobs)
    reading, writing = os.pipe()
    os.write(writing, b"".join(number.to_bytes(2, "big") for number in range(count, len(groups))))
    os.close(writing)
    # What was loaded so far is never freed: a collection in a child would copy its pages for nothing.
    gc.freeze()
    children = [_start(planner, jobs, _Share(groups, number, reading), make) for number in range(1, count)]
    plans: list[P | None] = [None] * len(jobs)
    try:
        for group in _Share(groups, 0, reading):
            own = make(planner, [jobs[k] for k in group])
            for index, plan in zip(group, _with_progress(own, progress), strict=True):
                plans[index] = plan
        for pid, stream in children:
            made, failures, problems = _result(pid, stream)
            planner.absorb(failures, problems)
            for index, plan in made:
                plans[index] = plan
            if progress is not None:
                progress(len(made))
    finally:
        os.close(reading)
        for pid, _ in children:
            _end(pid)
    return [plan for plan in plans if plan is not None]


class _Share:
    """The groups of jobs that one process plans: a first one, and then each that nobody else has taken yet."""

    def __init__(self, groups: list[list[int]], first: int, rest: int) -> None:
        self.groups = groups
        self.first = first
        self.rest = rest
        """The pipe on which the numbers of the other groups wait; each is read by one process."""

    def __iter__(self) -> Iterator[list[int]]:
        yield self.groups[self.first]
        while number := os.read(self.rest, 2):
            yield self.groups[int.from_bytes(number, "big")]


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _share(job: Job) -> str:
    """Jobs with the same label run the same launchers."""
    return str(job.row.get("runner", ""))


def _groups(jobs: Sequence[Job]) -> list[list[int]]:
    """Indices of the jobs of each label, those that take longest first; the last group has what is left of many."""
    labels: dict[str, list[int]] = {}
    for index, job in enumerate(jobs):
        labels.setdefault(_share(job), []).append(index)
    groups = sorted(labels.values(), key=lambda indices: (-_work(jobs, indices), indices))
    return [
        *groups[:MAX_GROUPS],
        *([[k for group in groups[MAX_GROUPS:] for k in group]] if len(groups) > MAX_GROUPS else []),
    ]


def _work(jobs: Sequence[Job], indices: Sequence[int]) -> float:
    """A measure of the work: every entry is a recipe to interpret, every job a plan to fill in; nodes multiply it."""
    work = 4.0 * len({jobs[k].entry for k in indices}) + len(indices)
    return work * (8.0 if "prefill" in jobs[indices[0]].row else 1.0)


def _with_progress(plans: Iterable[P], progress: Progress | None) -> Iterator[P]:
    for plan in plans:
        if progress is not None:
            progress(1)
        yield plan


def _start(planner: Planner, jobs: Sequence[Job], share: _Share, make: Make[P]) -> tuple[int, int]:
    """Plans jobs in a child; (its process id, the descriptor on which the pickled plans come)."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        plans = [
            (index, plan)
            for group in share
            for index, plan in zip(group, make(planner, [jobs[k] for k in group]), strict=True)
        ]
        data = pickle.dumps((plans, *planner.findings_of_own()), protocol=pickle.HIGHEST_PROTOCOL)
        with os.fdopen(writing, "wb") as stream:
            stream.write(data)
        status = 0
    finally:
        # The child leaves without the parent's exit handlers and buffers.
        os._exit(status)


def _result(pid: int, stream: int) -> tuple[list[tuple[int, Any]], list[str], list[Problem]]:
    with os.fdopen(stream, "rb") as reader:
        data = reader.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise CannotFinish("a process that planned some of the jobs ended early")
    result: tuple[list[tuple[int, Any]], list[str], list[Problem]] = pickle.loads(data)  # noqa: S301 (our own child's)
    return result


def _end(pid: int) -> None:
    """Ends a child that is still there."""
    try:
        done, _ = os.waitpid(pid, os.WNOHANG)
        if done == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    except (ChildProcessError, ProcessLookupError):
        return

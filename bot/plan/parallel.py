"""Planning on several processors: jobs are split by label, so that each process interprets what its jobs share once."""

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
    parts = _split(jobs, count)
    # What was loaded so far is never freed: a collection in a child would copy its pages for nothing.
    gc.freeze()
    children = [_start(planner, [jobs[k] for k in part], make) for part in parts[1:]]
    plans: list[P | None] = [None] * len(jobs)
    try:
        own = make(planner, [jobs[k] for k in parts[0]])
        for index, plan in zip(parts[0], _with_progress(own, progress), strict=True):
            plans[index] = plan
        for part, (pid, stream) in zip(parts[1:], children, strict=True):
            made, failures, problems = _result(pid, stream)
            planner.absorb(failures, problems)
            for index, plan in zip(part, made, strict=True):
                plans[index] = plan
            if progress is not None:
                progress(len(part))
    finally:
        for pid, _ in children:
            _end(pid)
    return [plan for plan in plans if plan is not None]


def _processors() -> int:
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def _share(job: Job) -> str:
    """Jobs with the same label run the same launchers."""
    return str(job.row.get("runner", ""))


def _split(jobs: Sequence[Job], count: int) -> list[list[int]]:
    """Indices of the jobs for each process: whole labels, the largest first, to the process with the least work."""
    labels: dict[str, list[int]] = {}
    for index, job in enumerate(jobs):
        labels.setdefault(_share(job), []).append(index)
    parts: list[list[int]] = [[] for _ in range(count)]
    loads = [0.0] * count
    for indices in sorted(labels.values(), key=lambda i: (-_work(jobs, i), i)):
        least = loads.index(min(loads))
        parts[least].extend(indices)
        loads[least] += _work(jobs, indices)
    return [sorted(part) for part in parts]


def _work(jobs: Sequence[Job], indices: Sequence[int]) -> float:
    """A measure of the work: every entry is a recipe to interpret, every job a plan to fill in."""
    return 4.0 * len({jobs[k].entry for k in indices}) + len(indices)


def _with_progress(plans: Iterable[P], progress: Progress | None) -> Iterator[P]:
    for plan in plans:
        if progress is not None:
            progress(1)
        yield plan


def _start(planner: Planner, jobs: list[Job], make: Make[P]) -> tuple[int, int]:
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
        plans = list(make(planner, jobs))
        data = pickle.dumps((plans, *planner.findings_of_own()), protocol=pickle.HIGHEST_PROTOCOL)
        with os.fdopen(writing, "wb") as stream:
            stream.write(data)
        status = 0
    finally:
        # The child leaves without the parent's exit handlers and buffers.
        os._exit(status)


def _result(pid: int, stream: int) -> tuple[list[Any], list[str], list[Problem]]:
    with os.fdopen(stream, "rb") as reader:
        data = reader.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise CannotFinish("a process that planned some of the jobs ended early")
    result: tuple[list[Any], list[str], list[Problem]] = pickle.loads(data)  # noqa: S301 (our own child's)
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

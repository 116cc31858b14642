"""Planning on several processors gives what planning on one gives."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
from plan_fixtures import EXAMPLES, RECIPE, make_repository

from botlint.core import processes
from botlint.core.errors import CannotFinish
from botlint.layouts.inferencex.jobs import Job
from botlint.plan import parallel
from botlint.plan.build import Planner
from botlint.plan.model import LaunchPlan
from botlint.repo.open import open_files

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="plans in one process only")


@pytest.fixture(autouse=True)
def small_work_is_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "MIN_JOBS", 2)


def _use(monkeypatch: pytest.MonkeyPatch, processors: int) -> list[int]:
    """Pretends to have so many processors; gives the process ids of the children that are started from now on."""
    started: list[int] = []
    start = processes._start

    def noted(make: Callable[[], object]) -> tuple[int, int]:
        child = start(make)
        started.append(child[0])
        return child

    monkeypatch.setattr(processes, "processors", lambda: processors)
    monkeypatch.setattr(processes, "_start", noted)
    return started


def _is_gone(pid: int) -> bool:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


@pytest.mark.parametrize(("processors", "children"), [(1, 0), (2, 1), (3, 2), (64, processes.MAX_PROCESSES - 1)])
def test_plans_and_problems_are_those_of_one_process(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, processors: int, children: int
) -> None:
    repository = make_repository(tmp_path / "repository", {RECIPE: b"#!/bin/bash\nserve \xff\n"})
    with open_files(repository) as files:
        alone = Planner(files)
        expected, problems = list(alone.plans()), alone.all_problems
    started = _use(monkeypatch, processors)
    told: list[int] = []
    with open_files(repository) as files:
        planner = Planner(files)
        plans = parallel.plan_jobs(planner, planner.jobs, told.append)
        assert planner.all_problems == problems
        assert planner.failures == []
    assert plans == expected
    assert sum(told) == len(plans)
    assert len(started) == children
    assert all(map(_is_gone, started))


def test_plans_come_in_the_order_of_the_jobs(monkeypatch: pytest.MonkeyPatch) -> None:
    _use(monkeypatch, 2)
    with open_files(EXAMPLES) as files:
        planner = Planner(files)
        # Neighbours have different labels, so that the jobs of the processes alternate.
        jobs = sorted(planner.jobs, key=lambda job: (job.arm_index, str(job.row["runner"])), reverse=True)
        assert [plan.job for plan in parallel.plan_jobs(planner, jobs)] == [job.row for job in jobs]


def test_each_label_is_planned_in_one_process() -> None:
    with open_files(EXAMPLES) as files:
        jobs = Planner(files).jobs
    parts = parallel._groups(jobs)
    assert sorted(index for part in parts for index in part) == list(range(len(jobs)))
    labels = [{str(jobs[index].row["runner"]) for index in part} for part in parts]
    assert sum(map(len, labels)) == len(set().union(*labels))


def _in_child(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Does something before a child plans its first job."""
    here = os.getpid()
    plans = Planner.plans

    def plans_after_act(self: Planner, jobs: Iterable[Job] | None = None) -> Iterator[LaunchPlan]:
        if os.getpid() != here:
            act()
        yield from plans(self, jobs)

    monkeypatch.setattr(Planner, "plans", plans_after_act)


def _raise() -> None:
    raise MemoryError


ENDINGS: dict[str, Callable[[], None]] = {
    "is killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    "raises": _raise,
    "leaves": lambda: os._exit(3),
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_process_that_ends_early_is_told(monkeypatch: pytest.MonkeyPatch, ending: str) -> None:
    started = _use(monkeypatch, 3)
    _in_child(monkeypatch, ENDINGS[ending])
    with open_files(EXAMPLES) as files:
        planner = Planner(files)
        with pytest.raises(CannotFinish, match="ended early"):
            parallel.plan_jobs(planner, planner.jobs)
    assert len(started) == 2
    assert all(map(_is_gone, started))


def test_processes_end_with_the_one_that_started_them(monkeypatch: pytest.MonkeyPatch) -> None:
    started = _use(monkeypatch, 2)
    _in_child(monkeypatch, signal.pause)

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    with open_files(EXAMPLES) as files:
        planner = Planner(files)
        with pytest.raises(KeyboardInterrupt):
            parallel.plan_jobs(planner, planner.jobs, interrupt)
    assert len(started) == 1
    assert all(map(_is_gone, started))


def test_errors_of_ours_in_another_process_cost_one_plan_each(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Planner.plan

    def failing(self: Planner, job: Job) -> LaunchPlan:
        if job.arm_index == 0:
            raise ValueError(str(job.row["runner"]))
        return plan(self, job)

    monkeypatch.setattr(Planner, "plan", failing)
    _use(monkeypatch, 3)
    with open_files(EXAMPLES) as files:
        planner = Planner(files)
        plans = parallel.plan_jobs(planner, planner.jobs)
    broken = [one for one in plans if (one.launch.reason or "").startswith("internal error")]
    assert len(broken) == sum(job.arm_index == 0 for job in planner.jobs) == len(planner.failures)
    told = " ".join(map(str, planner.failures))
    assert all(str(one.job["runner"]) in told for one in broken)

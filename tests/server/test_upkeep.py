"""What the App does without being asked."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hub import APP, Hub, Memory, a_pull

from botlint.github.app import Delivery
from botlint.github.models import CheckRun
from botlint.github.port import GitHubError
from botlint.server.events import Task
from botlint.server.upkeep import MOST_ATTEMPTS, Duty, Upkeep, run, undelivered


def delivery(number: int, guid: str, status: int, event: str = "pull_request", age: float = 60.0) -> Delivery:
    at = (datetime.now(UTC) - timedelta(seconds=age)).isoformat()
    return Delivery(number, guid, event, "opened", status, at, False, 77, 1001)


@pytest.mark.parametrize(
    ("deliveries", "wanted"),
    [
        ([delivery(1, "a", 202)], []),
        ([delivery(1, "a", 503)], [1]),
        ([delivery(1, "a", 0)], [1]),
        ([delivery(2, "a", 202), delivery(1, "a", 503)], []),
        ([delivery(1, "a", 202), delivery(2, "a", 503)], []),
        ([delivery(3, "a", 502), delivery(1, "a", 503)], [3]),
        ([delivery(n, "a", 503) for n in range(MOST_ATTEMPTS)], []),
        ([delivery(1, "a", 503, "push")], []),
        ([delivery(2, "b", 500), delivery(1, "a", 500)], [1, 2]),
        ([], []),
    ],
)
def test_deliveries_that_no_attempt_brought_are_asked_for(deliveries: list[Delivery], wanted: list[int]) -> None:
    assert [one.id for one in undelivered(deliveries)] == wanted


class World:
    """An upkeep over one repository, and the tasks that it submits."""

    def __init__(self, **options: object) -> None:
        self.memory = Memory()
        self.hub = Hub({1001: self.memory})
        self.tasks: dict[str, Task] = {}
        self.upkeep = Upkeep(APP, self.hub, self.hub.open, self._submit, **options)  # type: ignore[arg-type]

    def _submit(self, identifier: str, task: Task, _delay: float) -> None:
        self.tasks.setdefault(identifier, task)

    def check(self, head: str, status: str, age: float = 0.0, app: int = APP) -> None:
        started = (datetime.now(UTC) - timedelta(seconds=age)).isoformat().replace("+00:00", "Z")
        conclusion = "success" if status == "completed" else None
        self.memory.runs.append(CheckRun(1, "botlint", head, status, conclusion, "", app, started))  # type: ignore[arg-type]


def test_catching_up_reaches_back_not_quite_three_days() -> None:
    world = World()
    world.hub.sent = [delivery(1, "a", 503), delivery(2, "b", 503, age=4 * 86_400), delivery(3, "c", 200)]
    assert world.upkeep.catch_up() == 1
    assert world.hub.again == [1]


def test_an_open_head_without_a_check_is_reviewed_once() -> None:
    world = World()
    world.memory.pulls = {7: a_pull(7, "7" * 40), 8: a_pull(8, "8" * 40), 9: a_pull(9, "9" * 40, state="closed")}
    world.check("8" * 40, "completed")
    assert world.upkeep.reconcile() == 1
    world.upkeep.reconcile()
    (task,) = world.tasks.values()
    assert (task.kind, task.number, task.lane, task.installation) == ("review", 7, "1001#7", 77)


@pytest.mark.parametrize(
    ("status", "age", "app", "asked"),
    [
        ("in_progress", 10, APP, 0),
        ("in_progress", 3600, APP, 1),
        ("queued", 3600, APP, 1),
        ("completed", 3600, APP, 0),
        ("completed", 3600, 1, 1),  # a run of that name by another App is not ours
    ],
)
def test_a_check_left_open_is_concluded_by_a_review(status: str, age: float, app: int, asked: int) -> None:
    world = World()
    world.memory.pulls = {7: a_pull(7)}
    world.check("a" * 40, status, age, app)
    assert world.upkeep.reconcile() == asked


@pytest.mark.parametrize(
    ("status", "age", "smoke", "asked"),
    [("queued", 3600, True, 1), ("queued", 60, True, 0), ("completed", 3600, True, 0), ("queued", 3600, False, 0)],
)
def test_a_smoke_run_that_nobody_looks_at_is_looked_at(status: str, age: float, smoke: bool, asked: int) -> None:
    world = World(smoke=smoke)
    world.memory.pulls = {7: a_pull(7)}
    world.check("a" * 40, "completed")
    world.check("a" * 40, status, age)
    mark = f"smoke:7:{'a' * 40}:{'f' * 16}:5:2"
    world.memory.runs[-1] = replace(world.memory.runs[-1], name="botlint / smoke", external_id=mark)
    world.upkeep.reconcile()
    looks = [task for task in world.tasks.values() if task.kind == "smoke-look"]
    assert [(task.number, task.head, task.reason) for task in looks] == [(7, "a" * 40, "polled")] * asked


def test_accounts_that_are_not_served_are_left_alone() -> None:
    world = World(accounts=frozenset({"other"}))
    world.memory.pulls = {7: a_pull(7)}
    assert world.upkeep.reconcile() == 0
    world = World(accounts=frozenset({"acme"}))
    world.memory.pulls = {7: a_pull(7)}
    assert world.upkeep.reconcile() == 1
    world.hub.suspended = True
    assert world.upkeep.reconcile() == 0


def test_one_repository_that_fails_does_not_stop_the_pass() -> None:
    world = World()

    def fails(_name: str) -> None:
        raise GitHubError("this repository is disabled")

    world.memory.before = fails
    world.hub.repos[1002] = Memory(pulls={7: a_pull(7)}, repository="acme/other")
    assert world.upkeep.reconcile() == 1
    assert [task.repository for task in world.tasks.values()] == ["acme/other"]


def test_duties_are_done_when_they_are_due_and_fail_alone() -> None:
    stop = threading.Event()
    done: list[str] = []
    taken: dict[str, float] = {}

    def take(name: str, period: float) -> bool:
        due = time.monotonic() - taken.get(name, -1e9) >= period
        if due:
            taken[name] = time.monotonic()
        return due

    def fails() -> None:
        done.append("fails")
        raise ValueError("broken")

    def last() -> None:
        done.append("last")
        if done.count("last") == 3:
            stop.set()

    duties = [Duty("once", 60, lambda: done.append("once")), Duty("fails", 0, fails), Duty("last", 0, last)]
    thread = threading.Thread(target=run, args=(duties, take, stop, 0.01))
    thread.start()
    thread.join(10)
    assert not thread.is_alive()
    assert (done.count("once"), done.count("fails"), done.count("last")) == (1, 3, 3)

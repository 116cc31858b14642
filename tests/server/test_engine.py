"""The queue: nothing is lost, tasks of one pull request come one after the other, on both databases."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from cluster import Cluster, dump, programs
from dbos._dbos import _get_dbos_instance
from sqlalchemy.exc import SQLAlchemyError

from botlint.server import engine as engine_module
from botlint.server.beats import Beats, Outlived
from botlint.server.database import Database
from botlint.server.engine import Body, Engine

PROCESS = Path(__file__).with_name("queue_process.py")


def wait_for(condition: Callable[[], bool], seconds: float = 15.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, "it did not happen in time"
        time.sleep(0.02)


class Recorder:
    """Does tasks and remembers when each began and ended."""

    def __init__(self, seconds: float = 0.0) -> None:
        self.events: list[tuple[str, str, str]] = []
        self._seconds = seconds
        self._lock = threading.Lock()

    def __call__(self, task: str, body: Body) -> Body:
        self._note("begin", task, body)
        time.sleep(self._seconds)
        if body.get("fails"):
            raise ValueError("it went wrong")
        self._note("end", task, body)
        return {"ok": True}

    def _note(self, what: str, task: str, body: Body) -> None:
        with self._lock:
            self.events.append((what, task, str(body.get("lane", ""))))

    def ended(self) -> list[str]:
        with self._lock:
            return [task for what, task, _ in self.events if what == "end"]


def overlaps(events: list[tuple[str, str, str]]) -> int:
    """How often a task of a lane began while another one of it ran."""
    inside: dict[str, int] = {}
    count = 0
    for what, _, lane in events:
        inside[lane] = inside.get(lane, 0) + (1 if what == "begin" else -1)
        count += inside[lane] > 1
    return count


@pytest.mark.usefixtures("engines")
def test_tasks_of_a_lane_run_in_order_and_alone(database: Database) -> None:
    record = Recorder(0.01)
    engine = Engine(database.url, "one", slots=8, poll=0.02)
    engine.start(record)
    wanted = [(lane, number) for number in range(4) for lane in "abc"]
    for lane, number in wanted:
        assert engine.submit(f"{lane}-{number}", lane, {"lane": lane}) == "new"
    wait_for(lambda: len(record.ended()) == len(wanted))
    for lane in "abc":
        assert [task for task in record.ended() if task.startswith(lane)] == [f"{lane}-{n}" for n in range(4)]
    assert overlaps(record.events) == 0


@pytest.mark.usefixtures("engines")
def test_a_known_task_runs_once_and_a_failed_one_again_when_it_comes_again(database: Database) -> None:
    record = Recorder()
    engine = Engine(database.url, "one", poll=0.02)
    engine.start(record)
    assert engine.submit("good", "a", {"lane": "a"}) == "new"
    assert engine.submit("good", "a", {"lane": "a"}) == "known"
    assert engine.submit("bad", "b", {"lane": "b", "fails": True}) == "new"
    wait_for(lambda: engine.state("good") == "done" and engine.state("bad") == "failed")
    assert engine.submit("good", "a", {"lane": "a"}) == "known"
    assert engine.submit("bad", "b", {"lane": "b"}) == "again"
    assert engine.submit("bad", "b", {"lane": "b"}) == "known"
    wait_for(lambda: len(record.ended()) == 2)
    assert engine.state("never heard of") is None


@pytest.mark.usefixtures("engines")
def test_a_task_may_submit_another_one(database: Database) -> None:
    record = Recorder()
    engine = Engine(database.url, "one", poll=0.02)

    def run(task: str, body: Body) -> Body:
        if body["left"]:
            assert engine.submit(f"{task}+", "a", {"lane": "a", "left": body["left"] - 1}) == "new"
        return record(task, body)

    engine.start(run)
    engine.submit("a", "a", {"lane": "a", "left": 2})
    wait_for(lambda: record.ended() == ["a", "a+", "a++"])


@pytest.mark.usefixtures("engines")
def test_a_delayed_task_waits_without_keeping_its_lane(database: Database) -> None:
    record = Recorder()
    engine = Engine(database.url, "one", poll=0.02)
    engine.start(record)
    engine.submit("later", "a", {"lane": "a"}, delay=3.0)
    engine.submit("now", "a", {"lane": "a"})
    assert engine.waiting() >= 1
    wait_for(lambda: len(record.ended()) == 2)
    assert record.ended() == ["now", "later"]


@pytest.mark.usefixtures("engines")
def test_what_is_kept_is_json_and_is_forgotten_in_time(database: Database) -> None:
    record = Recorder()
    engine = Engine(database.url, "one", poll=0.02)
    engine.start(record)
    engine.submit("old", "a", {"lane": "a"})
    wait_for(lambda: engine.state("old") == "done")
    everything = dump(database)
    assert "portable_json" in everything
    assert '{"lane":"a"}' in everything
    assert "pickle" not in everything
    assert engine.forget(3600) == 0
    time.sleep(0.05)
    assert engine.forget(0.01) == 1
    assert engine.state("old") is None


@pytest.mark.usefixtures("engines")
def test_stopping_waits_for_what_runs_and_leaves_the_rest_in_the_queue(database: Database) -> None:
    record = Recorder(0.5)
    engine = Engine(database.url, "one", slots=1, poll=0.02)
    engine.start(record)
    engine.submit("first", "a", {"lane": "a"})
    wait_for(lambda: engine.running() == 1)
    engine.submit("second", "a", {"lane": "a"})
    assert engine.stop(5)
    assert record.ended() == ["first"]
    engine = Engine(database.url, "one", poll=0.02)
    engine.start(record)
    wait_for(lambda: record.ended() == ["first", "second"])


@pytest.mark.usefixtures("engines")
def test_what_does_not_end_in_time_is_done_again(database: Database) -> None:
    released = threading.Event()

    def breaks(task: str, body: Body) -> Body:
        released.wait(30)
        raise ValueError("its tools were taken away")

    engine = Engine(database.url, "one", poll=0.02)
    engine.start(breaks)
    engine.submit("long", "a", {"lane": "a"})
    wait_for(lambda: engine.running() == 1)
    assert not engine.stop(0)
    released.set()
    time.sleep(0.3)
    record = Recorder()
    engine = Engine(database.url, "one", poll=0.02)
    engine.start(record)
    wait_for(lambda: record.ended() == ["long"])
    assert engine.submit("long", "a", {"lane": "a"}) == "known"


@pytest.mark.postgres
@pytest.mark.usefixtures("engines")
def test_a_database_that_goes_away_and_comes_back(tmp_path: Path) -> None:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    cluster = Cluster()  # one of its own: it breaks
    try:
        database = Database(cluster.database())
        database.prepare()
        record = Recorder(0.1)
        engine = Engine(database.url, "one", slots=4, poll=0.05)
        engine.start(record)
        wanted = {f"{lane}-{number}" for number in range(6) for lane in "abcd"}
        for task in sorted(wanted, key=lambda task: task[-1]):
            engine.submit(task, task[0], {"lane": task[0]})
        wait_for(lambda: len(record.ended()) > 4)
        cluster.restart()

        def all_done() -> bool:
            with suppress(SQLAlchemyError):
                engine.take_up_lost()
            return set(record.ended()) == wanted

        wait_for(all_done, 60)
        assert database.take("duty", 1)
        engine.stop(5)
        database.close()
    finally:
        cluster.close()


@pytest.mark.usefixtures("engines")
def test_a_task_that_nobody_does_any_more_is_taken_up(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_module, "_LOST_AFTER", 0.5)
    record = Recorder()
    engine = Engine(database.url, "one", poll=0.02)
    engine.start(record)
    # As when the database goes away at the moment at which a task ends: its thread is gone, the task is not done.
    database_of_dbos = _get_dbos_instance()._sys_db
    write = database_of_dbos.update_workflow_outcome
    failed: list[str] = []

    def fail_once(task: str, *arguments: object, **others: object) -> object:
        if not failed:
            failed.append(task)
            raise SQLAlchemyError("the database went away")
        return write(task, *arguments, **others)

    monkeypatch.setattr(database_of_dbos, "update_workflow_outcome", fail_once)
    engine.submit("first", "a", {"lane": "a"})
    wait_for(lambda: failed == ["first"])
    engine.submit("other", "a", {"lane": "a"})
    assert engine.take_up_lost() == set()
    wait_for(lambda: engine.take_up_lost() == {"first"})
    wait_for(lambda: engine.state("first") == engine.state("other") == "done")
    time.sleep(0.6)
    assert engine.take_up_lost() == set()


def spawn(url: str, executor: str, log: Path, seconds: float) -> subprocess.Popen[bytes]:
    command = [sys.executable, str(PROCESS), url, executor, str(log), str(seconds)]
    return subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)


def kill(process: subprocess.Popen[bytes]) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def lines(log: Path) -> list[list[str]]:
    return [line.split() for line in log.read_text().splitlines()] if log.exists() else []


def ended(log: Path) -> set[tuple[str, str]]:
    return {(words[1], words[2]) for words in lines(log) if words[0] == "end"}


@pytest.mark.usefixtures("engines")
def test_a_killed_process_goes_on_where_it_was(database: Database, url: str, tmp_path: Path) -> None:
    log = tmp_path / "log"
    submitter = Engine(database.url, "submitter", works=False)
    submitter.start(Recorder())
    wanted = {(lane, str(number)) for number in range(4) for lane in "abcd"}
    for lane, number in sorted(wanted, key=lambda pair: pair[1]):
        submitter.submit(f"{lane}-{number}", lane, {"lane": lane, "number": number})
    for round_ in range(2):
        process = spawn(url, "worker", log, 0.1)
        try:
            before = len(ended(log))
            wait_for(lambda before=before: len(ended(log)) > before + 2)
        finally:
            kill(process)
        assert len(ended(log)) < len(wanted), f"round {round_}: killed too late to show anything"
    process = spawn(url, "worker", log, 0.01)
    try:
        wait_for(lambda: ended(log) == wanted)
    finally:
        kill(process)
    for lane in "abcd":
        numbers = [int(words[2]) for words in lines(log) if words[0] == "end" and words[1] == lane]
        assert sorted(set(numbers)) == list(dict.fromkeys(numbers)), f"lane {lane} out of order: {numbers}"
    submitter.stop(0)


@pytest.mark.postgres
@pytest.mark.usefixtures("engines")
def test_another_process_takes_over_from_a_killed_one(cluster: Cluster, tmp_path: Path) -> None:
    url = cluster.database()
    database = Database(url)
    database.prepare()
    log = tmp_path / "log"
    first, second = spawn(url, "first", log, 0.15), spawn(url, "second", log, 0.15)
    submitter = Engine(database.url, "submitter", works=False)
    submitter.start(Recorder())
    try:
        wait_for(lambda: sum(words[0] == "up" for words in lines(log)) == 2)
        wanted = {(f"l{lane}", str(number)) for lane in range(8) for number in range(3)}
        for lane, number in sorted(wanted, key=lambda pair: pair[1]):
            submitter.submit(f"{lane}-{number}", lane, {"lane": lane, "number": number})
        wait_for(lambda: any(words[0] == "begin" and words[3] == "first" for words in lines(log)))
        kill(first)
        wait_for(lambda: ended(log) == wanted, 30)
    finally:
        for process in (first, second):
            if process.poll() is None:
                kill(process)
        submitter.stop(0)
        database.close()


def test_a_duty_is_taken_up_by_one(database: Database) -> None:
    other = Database(database.url.render_as_string(hide_password=False))
    assert database.take("reconcile", 60)
    assert not other.take("reconcile", 60)
    assert other.take("catch up", 60)
    assert other.take("reconcile", 0)
    other.close()


def test_a_silent_process_is_dead_and_does_not_trust_itself(database: Database) -> None:
    silent = Beats(database, "silent", dead=0.3, doubt=0.1)
    with pytest.raises(Outlived):
        silent.ensure()
    silent.beat()
    silent.ensure()
    assert silent.alive() == {"silent"}
    time.sleep(0.35)
    with pytest.raises(Outlived):
        silent.ensure()
    assert Beats(database, "other", dead=0.3).alive() == set()
    silent.beat()
    assert silent.alive() == {"silent"}
    silent.leave()
    assert silent.alive() == set()

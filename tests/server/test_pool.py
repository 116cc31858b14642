"""Reviewing processes: they may do what the port allows, and nothing that they do harms the App."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hub import Memory, a_pull

from botlint.core.errors import CannotFinish
from botlint.github.models import Refusal
from botlint.github.port import NotFound, RateLimited, Unprocessable
from botlint.server import pool as pool_module
from botlint.server.pool import METHODS, Pool
from botlint.server.wire import WireError, packed, unpacked

EVIL = Path(__file__).with_name("evil_process.py")


def command(how: str) -> tuple[str, ...]:
    return (sys.executable, str(EVIL), how)


@pytest.fixture
def memory() -> Memory:
    return Memory(pulls={7: a_pull(7)}, roles={"ada": "write"})


@pytest.fixture
def good(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pool]:
    monkeypatch.setenv("BOTLINT_PRIVATE_KEY", "a key")
    pool = Pool(2, command=command("good"), seconds=20, memory=1 << 32)
    yield pool
    pool.close()


def test_a_process_asks_for_everything_and_knows_no_secret(good: Pool, memory: Memory) -> None:
    assert good.work(memory.port(), "echo", {"number": 7}, {}) == [a_pull(7), "write", ""]


def test_errors_of_the_port_go_there_and_back(good: Pool, memory: Memory) -> None:
    with pytest.raises(NotFound, match="no such pull request"):
        good.work(memory.port(), "echo", {"number": 8}, {})

    def limited(_name: str) -> None:
        raise RateLimited("wait", 33.0)

    memory.before = limited
    with pytest.raises(RateLimited) as caught:
        good.work(memory.port(), "error", {}, {})
    assert caught.value.wait_seconds == 33.0


def test_a_fault_in_a_review_is_told_and_the_process_goes_on(good: Pool, memory: Memory) -> None:
    before = good.work(memory.port(), "kept", {}, {})
    with pytest.raises(CannotFinish, match="ZeroDivisionError: a fault of ours"):
        good.work(memory.port(), "fault", {}, {})
    assert good.work(memory.port(), "kept", {}, {}) == before


def test_a_process_without_memory_is_replaced(good: Pool, memory: Memory) -> None:
    before = good.work(memory.port(), "kept", {}, {})
    with pytest.raises(CannotFinish, match="not enough memory"):
        good.work(memory.port(), "memory", {}, {})
    assert good.work(memory.port(), "kept", {}, {}) != before


def test_a_repository_goes_to_the_process_that_knows_it(good: Pool, memory: Memory) -> None:
    other = Memory(repository="acme/other")
    first = good.work(memory.port(), "kept", {}, {})
    second = good.work(other.port(), "kept", {}, {})
    assert first != second
    assert [good.work(one.port(), "kept", {}, {}) for one in (other, memory, memory)] == [second, first, first]


@pytest.mark.parametrize("kind", ["token", "attribute"])
def test_only_the_port_may_be_asked_for(good: Pool, memory: Memory, kind: str) -> None:
    with pytest.raises(CannotFinish):
        good.work(memory.port(), kind, {}, {})


def test_the_port_has_no_way_to_a_token() -> None:
    assert "create_review" in METHODS
    assert not {name for name in METHODS if "token" in name or "request" in name or name == "close"}


@pytest.mark.parametrize("how", ["bomb", "garbage", "huge", "odd", "dies", "silent", "chatty"])
def test_a_process_that_misbehaves_is_ended(
    memory: Memory, how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(pool_module, "MOST_CALLS", 50)
    pool = Pool(1, command=command(how), seconds=20)
    try:
        with pytest.raises(CannotFinish):
            pool.work(memory.port(), "echo", {}, {})
    finally:
        pool.close()
    assert not (tmp_path / "broken-out").exists()


def test_a_process_that_takes_too_long_is_ended(memory: Memory) -> None:
    pool = Pool(1, command=command("slow"), seconds=1.0)
    began = time.monotonic()
    with pytest.raises(CannotFinish, match="more than 1 seconds"):
        pool.work(memory.port(), "echo", {}, {})
    assert time.monotonic() - began < 10
    pool.close()


def test_closing_ends_what_works_and_who_waits(memory: Memory) -> None:
    pool = Pool(1, command=command("slow"), seconds=60)
    failed: list[Exception] = []

    def work() -> None:
        try:
            pool.work(memory.port(), "echo", {}, {})
        except CannotFinish as error:
            failed.append(error)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    time.sleep(1.0)
    pool.close()
    for thread in threads:
        thread.join(10)
    assert len(failed) == 2


@pytest.mark.parametrize(
    "error", [NotFound("x"), RateLimited("x", 5.0), Unprocessable("x", [Refusal("line must be part of the diff")])]
)
def test_errors_keep_what_they_say(error: Any) -> None:
    again: Any = unpacked(*packed(error))
    assert type(again) is type(error)
    assert str(again) == str(error)
    assert getattr(again, "refusals", None) == getattr(error, "refusals", None)
    assert isinstance(unpacked("SystemExit", "x", None), WireError)

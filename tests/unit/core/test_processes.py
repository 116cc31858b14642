"""Work that is spread over processes gives what one process gives."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from botlint.core import processes
from botlint.core.errors import CannotFinish


@pytest.mark.parametrize("items", [0, 1, 5, 40])
@pytest.mark.parametrize("most", [1, 3, 1000])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_results_come_in_the_order_of_the_items(
    items: int, most: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "MAX_ITEMS", most)
    found, ends = processes.spread(range(items), lambda item: item * item, count, rest=os.getpid)
    assert found == [item * item for item in range(items)]
    assert len(ends) == count - 1
    assert os.getpid() not in ends


def test_an_error_in_another_process_is_told() -> None:
    home = os.getpid()

    def work(item: int) -> int:
        if os.getpid() != home:
            raise MemoryError
        return item

    with pytest.raises(CannotFinish):
        processes.spread(range(4), work, 2)


def test_an_error_of_its_own_ends_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    home = os.getpid()
    started: list[int] = []
    start = processes._start

    def noted(make: Callable[[], object]) -> tuple[int, int]:
        child = start(make)
        started.append(child[0])
        return child

    monkeypatch.setattr(processes, "_start", noted)

    def work(item: int) -> int:
        if os.getpid() == home:
            raise ValueError("own")
        return item

    with pytest.raises(ValueError, match="own"):
        processes.spread(range(4), work, 2)
    assert len(started) == 1
    with pytest.raises(ChildProcessError):
        os.waitpid(started[0], os.WNOHANG)

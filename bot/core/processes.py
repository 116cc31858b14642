"""Work on several processors: forked processes take the next item as soon as they are free."""

from __future__ import annotations

import gc
import os
import pickle
import signal
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, TypeVar

from botlint.core.errors import CannotFinish

MAX_PROCESSES = 4

MAX_ITEMS = 1000
"""Items that are handed out one by one: their numbers fit into a pipe at once."""

T = TypeVar("T")
R = TypeVar("R")


def processors() -> int:
    """Processors that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def can_spread(items: int) -> int:
    """How many processes so many items are worth, this one included."""
    return min(processors(), MAX_PROCESSES, items) if hasattr(os, "fork") else 1


def spread(
    items: Sequence[T],
    work: Callable[[T], R],
    processes: int,
    *,
    rest: Callable[[], object] | None = None,
) -> tuple[list[R], list[Any]]:
    """What `work` gives for each item, in the order of the items, and what `rest` gives at the end of each helper.

    Results of other processes are pickled. Items should come with those that take longest first.
    Raises CannotFinish if a process that helped was ended from outside.
    """
    if processes < 2:
        return [work(item) for item in items], []
    groups = [[number] for number in range(min(len(items), MAX_ITEMS))]
    if len(items) > MAX_ITEMS:
        groups[-1].extend(range(MAX_ITEMS, len(items)))
    reading, writing = os.pipe()
    os.write(writing, b"".join(number.to_bytes(2, "big") for number in range(processes, len(groups))))
    os.close(writing)
    # While the others work, what was loaded so far is not looked at: a collection in a child would copy its pages.
    gc.freeze()

    def share(first: int) -> Iterator[tuple[int, R]]:
        if first >= len(groups):
            return
        for number in groups[first]:
            yield number, work(items[number])
        while data := os.read(reading, 2):
            for number in groups[int.from_bytes(data, "big")]:
                yield number, work(items[number])

    def helper(first: int) -> tuple[list[tuple[int, R]], object]:
        return list(share(first)), None if rest is None else rest()

    children = [_start(partial(helper, number)) for number in range(1, processes)]
    found: dict[int, R] = {}
    ends: list[Any] = []
    try:
        found.update(share(0))
        for pid, stream in children:
            made, end = _result(pid, stream)
            ends.append(end)
            found.update(made)
    finally:
        gc.unfreeze()
        os.close(reading)
        for pid, _ in children:
            _end(pid)
    return [found[number] for number in range(len(items))], ends


def _start(make: Callable[[], object]) -> tuple[int, int]:
    """Works in a child; (its process id, the descriptor on which the pickled result comes)."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid:
        os.close(writing)
        return pid, reading
    status = 1
    try:
        os.close(reading)
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        data = pickle.dumps(make(), protocol=pickle.HIGHEST_PROTOCOL)
        with os.fdopen(writing, "wb") as stream:
            stream.write(data)
        status = 0
    finally:
        # The child leaves without the parent's exit handlers and buffers.
        os._exit(status)


def _result(pid: int, stream: int) -> Any:
    with os.fdopen(stream, "rb") as reader:
        data = reader.read()
    _, status = os.waitpid(pid, 0)
    if status != 0:
        raise CannotFinish("a process that helped ended early")
    return pickle.loads(data)  # noqa: S301 (our own child's)


def _end(pid: int) -> None:
    """Ends a child that is still there."""
    try:
        done, _ = os.waitpid(pid, os.WNOHANG)
        if done == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    except (ChildProcessError, ProcessLookupError):
        return

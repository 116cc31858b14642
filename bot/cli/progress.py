"""A progress bar on a terminal, for work that takes longer than a second."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds before the bar appears."""

INTERVAL = 0.1
"""Seconds between two drawings."""


Step = Callable[[int], None]
"""Told of so many steps more."""


class Bar:
    """A bar that is told of steps; it appears after a second and is wiped by `close`."""

    def __init__(self, total: int, label: str, *, show: bool) -> None:
        self.total = total
        self.label = label
        self.show = show
        self.done = 0
        self.shown = False
        self.started = self.drawn = time.monotonic()

    def step(self, count: int) -> None:
        """Says that `count` more things are done."""
        self.done += count
        now = time.monotonic()
        if self.show and now - self.started >= PATIENCE and now - self.drawn >= INTERVAL:
            self.drawn, self.shown = now, True
            _draw(self.label, self.done, self.total)

    def close(self) -> None:
        """Wipes the bar."""
        if self.shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def with_progress(items: Iterable[T], total: int, label: str, *, show: bool) -> Iterator[T]:
    """The items, with a bar on stderr that says how many of them were asked for; it is wiped at the end."""
    bar = Bar(total, label, show=show)
    try:
        for item in items:
            yield item
            bar.step(1)
    finally:
        bar.close()


def _draw(label: str, number: int, total: int) -> None:
    columns = shutil.get_terminal_size().columns
    width = max(10, min(40, columns - len(label) - 20))
    filled = width * number // max(total, 1)
    sys.stderr.write(f"\r\x1b[K{label} [{'#' * filled}{'.' * (width - filled)}] {number}/{total}"[: columns + 4])
    sys.stderr.flush()


def with_bar(work: Callable[[Step], T], total: int, label: str, *, show: bool) -> T:
    """What some work gives that tells of its steps, with a bar meanwhile."""
    bar = Bar(total, label, show=show)
    try:
        return work(bar.step)
    finally:
        bar.close()

"""A progress bar on a terminal, for work that takes longer than a second."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from typing import TypeVar

T = TypeVar("T")

PATIENCE = 1.0
"""Seconds before the bar appears."""

INTERVAL = 0.1
"""Seconds between two drawings."""


def with_progress(items: Iterable[T], total: int, label: str, *, show: bool) -> Iterator[T]:
    """The items, with a bar on stderr that says how many of them were asked for; it is wiped at the end."""
    if not show:
        yield from items
        return
    started = drawn = time.monotonic()
    shown = False
    try:
        for number, item in enumerate(items):
            now = time.monotonic()
            if now - started >= PATIENCE and now - drawn >= INTERVAL:
                drawn, shown = now, True
                _draw(label, number, total)
            yield item
    finally:
        if shown:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()


def _draw(label: str, number: int, total: int) -> None:
    columns = shutil.get_terminal_size().columns
    width = max(10, min(40, columns - len(label) - 20))
    filled = width * number // max(total, 1)
    sys.stderr.write(f"\r\x1b[K{label} [{'#' * filled}{'.' * (width - filled)}] {number}/{total}"[: columns + 4])
    sys.stderr.flush()

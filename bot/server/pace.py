"""Keeps what is written below GitHub's limit of about 80 writes a minute for each installation.

A review writes a handful at once and then nothing for a while, so a number may go at once and the rest one a second.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

BURST = 15.0
RATE = 1.0
"""Writes at once, and writes a second after that: at most 75 in any minute, for each process."""

_MOST = 10_000


class Pace:
    """When an installation may write next; safe to share by threads."""

    def __init__(
        self,
        burst: float = BURST,
        rate: float = RATE,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._sleep = sleep
        self._free: dict[int, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def wait(self, installation: int) -> None:
        """Take one write of an installation, after a pause where it has had its share."""
        with self._lock:
            now = self._clock()
            left, since = self._free.get(installation, (self._burst, now))
            left = min(self._burst, left + (now - since) * self._rate) - 1.0
            if len(self._free) >= _MOST:
                self._free.clear()
            self._free[installation] = (left, now)
        if left < 0:
            self._sleep(-left / self._rate)

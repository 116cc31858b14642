"""Limits on time that hold on a loaded machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

SLACK = 5
"""How many times as long as on an idle machine something may take; what these limits find takes thousands of times."""


@contextmanager
def within(seconds: float) -> Iterator[None]:
    """The block ends within `seconds` of its own thread's processor time, as an idle machine counts them.

    The collector rests meanwhile: what it costs depends on what all tests before have left.
    """
    collecting = gc.isenabled()
    gc.disable()
    began = time.thread_time()
    try:
        yield
    finally:
        took = time.thread_time() - began
        if collecting:
            gc.enable()
    assert took < seconds * SLACK, f"it took {took:.2f} s"

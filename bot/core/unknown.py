"""A value that is not known, with the reason why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for a text that cannot be known before the run; `reason` is short and names the cause (`JOB_ID`, `output of df`)."""

    reason: str

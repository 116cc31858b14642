"""A value that is not known, with the reason why."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Unknown:
    """Stands for a text that cannot be known before the run.

    `reason` is short and names the cause (`JOB_ID`, `output of df`); `nonempty` says that the text cannot be empty.
    """

    reason: str
    nonempty: bool = field(default=False, compare=False)

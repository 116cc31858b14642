"""What a renderer is told beside the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from botlint.core.finding import Finding, Severity
from botlint.core.ruleinfo import RuleInfo
from botlint.plan.diff import PlanDiff
from botlint.plan.model import LaunchPlan

Sources = Callable[[str], Sequence[str] | None]
"""The lines of a file, without their ends; None if it cannot be read."""


@dataclass(frozen=True, slots=True)
class Page:
    """What only a page shows: the plans of the jobs, what the change makes different in them, and where it all is.

    `row_places` has path and line of each value of a plan's row, by dotted key, in the order of `plans`. `head_url` and
    `base_url` are what a path is put behind to see the file of that revision, empty where there is no such place.
    """

    plans: Sequence[LaunchPlan] = ()
    diff: PlanDiff | None = None
    row_places: Sequence[Mapping[str, tuple[str, int]]] = ()
    subject: str = ""
    head: str = ""
    base: str = ""
    head_url: str = ""
    base_url: str = ""


@dataclass(frozen=True, slots=True)
class Options:
    """How to render: `today` gives ages of the baseline, `verbose` lists what could not be read and what is allowed."""

    color: bool = False
    verbose: bool = False
    fail_level: Severity = "error"
    today: date | None = None
    rules: Mapping[str, RuleInfo] = field(default_factory=dict)
    page: Page = field(default_factory=lambda: Page())


def no_sources(path: str) -> None:
    """Sources that have no file."""


def days_since(day: str, today: date | None) -> int | None:
    """How many days ago an ISO date was; None if it is none or today is not known."""
    if today is None:
        return None
    try:
        return max(0, (today - date.fromisoformat(day)).days)
    except ValueError:
        return None


def jobs_by_entry(finding: Finding) -> dict[str, list[str]]:
    """The jobs of a finding by entry, those of one arm as one text; entries without jobs have an empty list."""
    arms: dict[str, dict[str, list[str]]] = {entry: {} for entry in finding.entries}
    for job in finding.jobs:
        arms.setdefault(job.entry, {}).setdefault(f"{job.scenario} arm {job.arm}", []).append(job.conc)
    return {
        entry: [f"{arm} conc {', '.join(concs)}" if any(concs) else arm for arm, concs in by_arm.items()]
        for entry, by_arm in arms.items()
    }


def counted(number: int, one: str, many: str = "") -> str:
    """`1 error`, `2 errors`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"

"""What `check`, `fix` and `baseline` share: from a folder and revisions to a report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from botlint.cli.common import Settings
from botlint.core.errors import UsageError
from botlint.core.finding import Finding, Report
from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.rules import Rule, builtin_rules
from botlint.repo.open import open_files

if TYPE_CHECKING:
    from botlint.layouts.inferencex.job import Job
    from botlint.plan.build import Planner
    from botlint.plan.model import LaunchPlan


@dataclass
class Outcome:
    """A report with what its rendering needs."""

    report: Report
    context: Context
    rules: Sequence[Rule]
    settings: Settings

    @property
    def files(self) -> bool:
        """Whether there was any file to look at."""
        return bool(self.context.files.paths())

    @property
    def fails(self) -> bool:
        """Whether a finding reaches the fail level."""
        return any(
            one.counts and one.severity == "error" and one.certainty == "certain" for one in self.report.findings
        )

    def render(self, form: str, *, color: bool) -> Iterator[str]:
        """The report in a format."""
        from botlint.report.render import render

        return render(self.report, form, self.lines, color)

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of a file."""
        source = self.context.files.text(path)
        return None if source is None else source.text.splitlines()


def run_check(path: Path, *, base: str | None, head: str | None, select: Sequence[str], settings: Settings) -> Outcome:
    """Checks a folder's working tree or a revision, with a base only what the change brings.

    Raises UsageError for unknown rules and revisions.
    """
    rules = selected(builtin_rules(), select)

    def plan_jobs(planner: Planner, jobs: Sequence[Job]) -> list[LaunchPlan]:
        from botlint.cli.plan import planned

        return planned(planner, jobs, "planning", settings)

    files = open_files(path, head)
    before = Context(open_files(path, base), plan_jobs) if base is not None else None
    context = Context(files, plan_jobs, before)
    report = check(context, rules, _adjust)
    return Outcome(report, context, rules, settings)


def _adjust(findings: list[Finding], context: Context) -> list[Finding]:
    return findings


def selected(rules: Sequence[Rule], names: Sequence[str]) -> list[Rule]:
    """The rules of these names, ids and families; all of them without any.

    Raises UsageError for a name that is none.
    """
    wanted = [name for text in names for name in text.split(",") if name]
    found = [rule for rule in rules if not wanted or {rule.name, rule.id, rule.family, *rule.aliases} & set(wanted)]
    known = {name for rule in rules for name in (rule.name, rule.id, rule.family, *rule.aliases)}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(f"no such rule or family: {', '.join(unknown)}")
    return found

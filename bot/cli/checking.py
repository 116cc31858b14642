"""What `check`, `fix` and `baseline` share: from a folder and revisions to a report."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING

from botlint.cli.common import Settings
from botlint.cli.planning import KeptPlans
from botlint.core.cachefile import cache_path
from botlint.core.errors import CannotFinish, NothingToCheck, UsageError
from botlint.core.finding import Finding, Report
from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.keep import KeptParts, load_parts, save_parts
from botlint.engine.policy import Policy, make_policy
from botlint.engine.rules import Rule, builtin_rules
from botlint.engine.settings import SETTINGS_PATH, read_settings
from botlint.layouts.commands import load_commands
from botlint.repo.memory import MemoryFiles
from botlint.repo.open import open_files

if TYPE_CHECKING:
    from botlint.report.options import Page

_ENDINGS = (".yaml", ".yml", ".sh", ".bash", ".slurm", ".sbatch")
_FOLDERS = ("benchmarks/", "runners/", "launchers/", "scripts/")


@dataclass
class Outcome:
    """A report with what its rendering needs."""

    report: Report
    context: Context
    policy: Policy
    settings: Settings
    parts: KeptParts
    """What is known of the rules' results, for checks of the same repository."""
    subject: str = ""
    _lines: dict[str, Sequence[str] | None] = field(default_factory=dict)

    @property
    def fails(self) -> bool:
        """Whether a certain finding that counts reaches the fail level."""
        return any(
            one.counts and one.certainty == "certain" and self.policy.settings.fails(one.severity)
            for one in self.report.findings
        )

    @property
    def exit_code(self) -> int:
        """The exit status of a command with this report; what failed is told."""
        for failure in self.report.failures:
            self.settings.note(f"botlint: could not finish: {failure}")
        if self.report.failures:
            return CannotFinish.exit_code
        return 1 if self.fails else 0

    def render(self, form: str, *, color: bool) -> Iterator[str]:
        """The report in a format."""
        from botlint.report.options import Options, Page
        from botlint.report.render import render

        options = Options(
            verbose=self.settings.verbose,
            fail_level=self.policy.settings.fail_level,
            today=date.today(),
            rules=self.policy.infos,
            page=self.page() if form == "html" else Page(),
        )
        return render(self.report, form, self.lines, color, options)

    def page(self) -> Page:
        """What only a page shows: all plans, and what the change makes different in them."""
        from botlint.plan.diff import diff_plans
        from botlint.plan.origins import row_places
        from botlint.report.options import Page

        context, base = self.context, self.context.base
        return Page(
            context.plans,
            None if base is None else diff_plans(base.plans, context.plans),
            [row_places(job) for job in context.jobs],
            self.subject,
            context.files.label,
            "" if base is None else base.files.label,
        )

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of a file; they end at line feeds only, as spans count them."""
        if path not in self._lines:
            source = self.context.files.text(path)
            self._lines[path] = None if source is None else source.text.split("\n")
        return self._lines[path]

    def again(self, texts: Mapping[str, str]) -> Sequence[Finding]:
        """The findings of the same check with some files replaced.

        Raises CannotFinish if a rule or a plan fails then.
        """
        files = MemoryFiles(texts, self.context.files)
        context = Context(
            files,
            self.context.plan_jobs,
            self.context.base,
            with_possible=self.context.with_possible,
            layout=self.context.layout,
        )
        report = check(context, self.policy.rules, self.policy.adjust, self.parts)
        if report.failures:
            raise CannotFinish(report.failures[0])
        return report.findings


def run_check(
    path: Path,
    *,
    base: str | None,
    head: str | None,
    select: Sequence[str],
    settings: Settings,
    with_baseline: bool = True,
    with_origins: bool = False,
) -> Outcome:
    """Checks a folder's working tree or a revision, with a base only what the change brings.

    Raises UsageError for unknown rules and revisions and for wrong settings, NothingToCheck without any file that
    rules look at.
    """
    plan_jobs = KeptPlans(path, settings)
    files = open_files(path, head)
    if not any(_is_checked(one) for one in files.paths()) and not load_commands(files).jobs:
        raise NothingToCheck("no config, workflow, script or launch command to check")
    policy = make_policy(
        files, read_settings(files), builtin_rules(), lambda known: selected(known, select), with_baseline
    )
    layout = policy.settings.layout_choice
    before = None
    if base is not None:
        before = Context(
            open_files(path, base), plan_jobs, with_origins=with_origins, with_possible=with_origins, layout=layout
        )
    context = Context(files, plan_jobs, before, with_origins=with_origins, with_possible=with_origins, layout=layout)
    kept = cache_path(path, "findings") if settings.cache else None
    parts = KeptParts() if kept is None else load_parts(kept)
    report = check(context, policy.rules, policy.adjust, parts)
    for note in report.notes:
        # Options of the layout: with wrong ones, jobs that somebody counts on are not there.
        if note.kind == "unread" and note.path == SETTINGS_PATH:
            settings.note(f"botlint: {note.path}:{note.line}: {note.message}")
    if parts.changed and kept is not None:
        save_parts(parts, kept)
    return Outcome(report, context, policy, settings, parts, path.resolve().name)


def _is_checked(path: str) -> bool:
    """Whether a file may be a config, a workflow, a recipe or a script."""
    return not path.startswith(".botlint") and (path.endswith(_ENDINGS) or path.startswith(_FOLDERS))


def selected(rules: Sequence[Rule], names: Sequence[str]) -> list[Rule]:
    """The rules of these names, ids and families; all of them without any.

    Raises UsageError for a name that is none.
    """
    wanted = [name for text in names for name in text.split(",") if name]
    found = [rule for rule in rules if not wanted or {rule.name, rule.id, rule.family, *rule.aliases} & set(wanted)]
    known = {name for rule in rules for name in (rule.name, rule.id, rule.family, *rule.aliases)}
    unknown = [name for name in wanted if name not in known]
    if unknown:
        raise UsageError(unknown_rules(unknown, known))
    return found


def unknown_rules(names: Sequence[str], known: Collection[str]) -> str:
    """The message about names that neither a rule nor a family has, with the closest of the first one."""
    close = get_close_matches(names[0], known, 1)
    hint = f"; did you mean {close[0]!r}?" if close else ""
    return f"no such rule or family: {', '.join(names)}{hint} (`botlint rules list` shows all)"

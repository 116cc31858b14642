"""What a change brings: the head checked against its base, by the settings and rules of the base.

A process that reviews again and again keeps what the next review can use: contents, plans, and analysed bases.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

from botlint.core.errors import UsageError
from botlint.core.finding import Finding, Report, Summary, summarize
from botlint.core.ruleinfo import RuleInfo
from botlint.engine.check import check
from botlint.engine.context import Context, PlanJobs
from botlint.engine.keep import KeptParts
from botlint.engine.policy import Policy, make_policy
from botlint.engine.pull import Pull
from botlint.engine.rules import Rule, builtin_rules
from botlint.engine.settings import Settings, read_settings
from botlint.github.pull import BlobCache
from botlint.layouts.base import Job
from botlint.plan.build import Planner
from botlint.plan.diff import PlanDiff, diff_plans
from botlint.plan.model import LaunchPlan
from botlint.plan.parallel import plan_jobs_with_questions
from botlint.plan.store import PlanStore
from botlint.repo.files import Files
from botlint.repo.tree import TreeFiles

MAX_BASES = 2
"""Analysed bases that are kept: each holds all plans of a revision."""

MAX_USES = 100
"""Heads that share what was read of one base, before it is analysed anew: they leave their scripts in it."""

MAX_ANSWERS = 20_000
"""Sets of answers that kept plans depend on."""

Lines = Callable[[str], Sequence[str] | None]

_ENDINGS = (".yaml", ".yml", ".sh", ".bash", ".slurm", ".sbatch")
_FOLDERS = ("benchmarks/", "runners/", "launchers/", "scripts/", "configs/", ".github/workflows/")


@dataclass
class Base:
    """A base that was analysed, with the policy that its files make."""

    files: Files
    context: Context
    policy: Policy
    uses: int = 0


@dataclass
class Kept:
    """What a process keeps from one review to the next; not to be used by two threads at once, except `blobs`."""

    blobs: BlobCache = field(default_factory=BlobCache)
    plans: PlanStore = field(default_factory=PlanStore)
    parts: KeptParts = field(default_factory=KeptParts)
    bases: OrderedDict[str, Base] = field(default_factory=OrderedDict)
    with_origins: bool = False
    """Whether plans say where their values are written, as the details page shows."""

    def plan_jobs(self, planner: Planner, jobs: Sequence[Job]) -> list[LaunchPlan]:
        """The plans of jobs; those that still hold are taken from an earlier revision."""
        if len(self.plans.answers) > MAX_ANSWERS:
            self.plans = PlanStore()
        return self.plans.plan(planner, jobs, plan_jobs_with_questions)

    def base(self, files: Files) -> Base:
        """The base with these files, analysed before or from now on; known by the label, which is a commit's id.

        Raises UsageError if its settings, rules or baseline are wrong.
        """
        found = self.bases.pop(files.label, None)
        if found is None or found.uses >= MAX_USES:
            found = make_base(files, self.plan_jobs, with_origins=self.with_origins)
        found.uses += 1
        self.bases[files.label] = found
        while len(self.bases) > MAX_BASES:
            self.bases.popitem(last=False)
        return found

    def knows(self, commit: str) -> bool:
        """Whether the base of that commit is analysed."""
        return commit in self.bases


@dataclass(frozen=True)
class Analysis:
    """The findings that a change brings and what it launches differently, with what is needed to tell them.

    `broken` says why the base's own settings cannot be used; then there is nothing else.
    """

    report: Report
    diff: PlanDiff | None
    settings: Settings
    rules: Mapping[str, RuleInfo]
    head: Files
    base: Files
    rows: Mapping[str, Sequence[Mapping[str, object]]] = field(default_factory=dict)
    broken: str | None = None
    context: Context | None = None
    """The head under check; not there where the analysis came from another process."""

    _lines: dict[str, Sequence[str] | None] = field(default_factory=dict)

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "context": None, "_lines": {}}

    def fails(self, finding: Finding) -> bool:
        """Whether a finding alone is enough for the check to fail: certain, not allowed, and bad enough."""
        return finding.counts and finding.certainty == "certain" and self.settings.fails(finding.severity)

    @property
    def failing(self) -> bool:
        """Whether some finding makes the check fail."""
        return any(map(self.fails, self.report.findings))

    def lines(self, path: str) -> Sequence[str] | None:
        """The lines of a file of the head; they end at line feeds only, as spans count them."""
        if path not in self._lines:
            text = self.head_text(path)
            self._lines[path] = None if text is None else text.split("\n")
        return self._lines[path]

    def head_text(self, path: str) -> str | None:
        """The text of a file of the head."""
        return _text(self.head, path)

    def base_text(self, path: str) -> str | None:
        """The text of a file of the base."""
        return _text(self.base, path)


@cache
def shipped_rules() -> tuple[Rule, ...]:
    """The rules that ship, read once."""
    return tuple(builtin_rules())


def make_base(files: Files, plan_jobs: PlanJobs, *, with_origins: bool = False) -> Base:
    """A base whose settings, custom rules and baseline count. Raises UsageError if one of them is wrong."""
    policy = make_policy(files, read_settings(files), shipped_rules(), lambda known: known, accepted=files)
    context = Context(files, plan_jobs, with_origins=with_origins, layout=policy.settings.layout_choice)
    return Base(files, context, policy)


def analyse(
    base: Files,
    head: Files,
    kept: Kept | None = None,
    *,
    ignored: Mapping[str, str] | None = None,
    changed: Sequence[str] = (),
    pull: Callable[[Policy], Pull] | None = None,
) -> Analysis:
    """What the head has that the base has not.

    `ignored` are fingerprints that a maintainer allowed, with the reason. Texts of `changed` files are asked for
    together with everything else. `pull` reads what the rules of the base look at in the pull request.
    """
    kept = Kept() if kept is None else kept
    for files in (base, head):
        if isinstance(files, TreeFiles) and not (files is base and kept.knows(base.label)):
            files.prefetch(changed)
    try:
        before = kept.base(base)
        about = None if pull is None else pull(before.policy)
        context = Context(
            head,
            kept.plan_jobs,
            before.context,
            pull=about,
            with_origins=kept.with_origins,
            layout=before.context.layout,
        )
        report = check(context, before.policy.rules, before.policy.adjust, kept.parts)
    except UsageError as error:
        failed = Report((), Summary(), (), (str(error),))
        return Analysis(failed, None, Settings(), {}, head, base, broken=str(error))
    policy = before.policy
    diff = diff_plans(before.context.plans, context.plans) if _has_jobs(before.context, context) else None
    return Analysis(
        allow(report, ignored or {}),
        diff,
        policy.settings,
        policy.infos,
        head,
        before.files,
        {} if diff is None else _rows(context, diff),
        context=context,
    )


def allow(report: Report, ignored: Mapping[str, str]) -> Report:
    """The report with the findings that a maintainer allowed."""
    if not any(one.fingerprint in ignored for one in report.findings):
        return report
    findings = tuple(
        replace(one, suppressed=ignored[one.fingerprint]) if one.counts and one.fingerprint in ignored else one
        for one in report.findings
    )
    summary = summarize(findings, report.summary, report.notes)
    return replace(report, findings=findings, summary=summary)


def is_relevant(path: str) -> bool:
    """Whether a changed file may be one that rules look at."""
    return path.startswith((".botlint", *_FOLDERS)) or path.endswith(_ENDINGS)


def _has_jobs(base: Context, head: Context) -> bool:
    return bool(base.jobs or head.jobs)


def _rows(context: Context, diff: PlanDiff) -> dict[str, Sequence[Mapping[str, object]]]:
    """The rows of the jobs of all entries that changed: they tell the jobs of an entry apart."""
    entries = {pair.new.entry for group in diff.groups for pair in group.pairs}
    rows: dict[str, list[Mapping[str, object]]] = {entry: [] for entry in entries}
    for job in context.jobs:
        if job.entry in rows:
            rows[job.entry].append(job.row)
    return dict(rows)


def _text(files: Files, path: str) -> str | None:
    source = files.text(path)
    return None if source is None else source.text

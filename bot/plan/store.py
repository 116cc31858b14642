"""Launches that are known from an earlier time, and whether they still hold.

A job's launches depend on its row, on what the workflows and the runner table make of it, and on the scripts and
recipes that were looked at on the way. All of these are kept with the launches; they hold for another revision, or
another day, if every question still has the same answer. A broken file of launches is as good as none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from botlint.core.cachefile import classes, code_digest, load_cached, save_cached
from botlint.core.span import Span
from botlint.core.unknown import Unknown
from botlint.layouts.base import CommandJob, Job
from botlint.layouts.inferencex.configs import MASTER_SUFFIX
from botlint.plan.build import Planner, plan_of
from botlint.plan.files import Question
from botlint.plan.model import Alternative, Exit, Launch, LaunchPlan, Location, Role, Server

FORM = 3
"""Changes with the form of the file."""

_CLASSES = classes((Alternative, Exit, Launch, Location, Role, Server, Span, Unknown))

MAX_VERSIONS = 3
"""Launches that are kept of one job, the newest first."""

MAX_JOBS = 20_000
"""Jobs whose launches a file holds."""

_MAKERS = ("core", "repo", "documents", "catalogs", "layouts", "shell", "plan")
"""The packages on whose code plans depend."""

PlanJobs = Callable[[Planner, Sequence[Job]], list[tuple[LaunchPlan, frozenset[Question] | None]]]
"""Plans jobs; each plan comes with what it depends on, None for one that is not to be kept."""


@dataclass(slots=True)
class Known:
    """The launches of one job, and the number of the set of answers on which they depend."""

    launches: tuple[Launch, ...]
    depends: int


@dataclass(slots=True)
class PlanStore:
    """Launches by what identifies a job, with the answers that they depend on."""

    known: dict[str, list[Known]] = field(default_factory=dict)
    answers: list[dict[Question, str]] = field(default_factory=list)
    changed: bool = False
    _numbers: dict[tuple[tuple[Question, str], ...], int] = field(default_factory=dict)

    def plan(self, planner: Planner, jobs: Sequence[Job], plan_jobs: PlanJobs) -> list[LaunchPlan]:
        """The plans of jobs: those that are known and hold are taken, the others made by `plan_jobs` and kept."""
        if jobs and all(isinstance(job, CommandJob) and job.start.commands for job in jobs):
            # What is known word by word is planned sooner than it is looked up.
            return [replace(plan, asked=asked) for plan, asked in planner.plans_with_questions(jobs)]
        surroundings = digest_of_surroundings(planner)
        keys = [_job_key(job, surroundings) for job in jobs]
        holds: dict[int, bool] = {}
        plans: list[LaunchPlan | None] = [None] * len(jobs)
        missing: list[int] = []
        for index, key in enumerate(keys):
            found = next((one for one in self.known.get(key, ()) if self._holds(one.depends, planner, holds)), None)
            if found is None:
                missing.append(index)
            else:
                plans[index] = plan_of(jobs[index], found.launches, self.answers[found.depends].keys())
        if missing:
            made = plan_jobs(planner, [jobs[index] for index in missing])
            numbers: dict[int, int] = {}
            for index, (plan, asked) in zip(missing, made, strict=True):
                plans[index] = plan
                if asked is not None:
                    number = numbers.get(id(asked))
                    if number is None:
                        number = numbers[id(asked)] = self._number(asked, planner)
                    self._keep(keys[index], plan, number)
                    plans[index] = replace(plan, asked=self.answers[number].keys())
        return [plan for plan in plans if plan is not None]

    def _holds(self, number: int, planner: Planner, holds: dict[int, bool]) -> bool:
        found = holds.get(number)
        if found is None:
            answer = planner.script_files.answer
            found = holds[number] = all(answer(asked) == was for asked, was in self.answers[number].items())
        return found

    def _number(self, asked: frozenset[Question], planner: Planner) -> int:
        answers = {question: planner.script_files.answer(question) for question in sorted(asked)}
        key = tuple(answers.items())
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.answers)
            self.answers.append(answers)
        return number

    def _keep(self, key: str, plan: LaunchPlan, number: int) -> None:
        self.changed = True
        others = [one for one in self.known.get(key, ()) if one.depends != number]
        self.known[key] = [Known((plan.launch, *plan.others), number), *others][:MAX_VERSIONS]


def digest_of_surroundings(planner: Planner) -> str:
    """A digest of what makes environments of rows: the workflows, the runner table, the mode, and botlint itself."""
    files = planner.files
    digest = hashlib.blake2b(
        f"{FORM} {planner.layout} {planner.mode} {planner.with_origins} {planner.with_possible}"
        f" {code_digest(_MAKERS)}".encode(),
        digest_size=16,
    )
    paths = [path for path in files.paths(".github") if path.endswith((".yml", ".yaml"))]
    table = planner.runners.path
    for path in dict.fromkeys([*paths, *([table] if table else [])]):
        if path.endswith(MASTER_SUFFIX):
            continue
        digest.update(f"\0{path}\0{files.content_id(path)}".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def _job_key(job: Job, surroundings: str) -> str:
    row = json.dumps(job.facts, sort_keys=True, default=str)
    if isinstance(job, CommandJob):
        row += f"\0{job.stamp}" if job.stamp else f"\0{job.start!r}\0{job.versions!r}"
    return hashlib.blake2b(f"{surroundings}\0{row}".encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


# ------------------------------------------------------------------------------------------------------------- on disk


def load_store(path: Path) -> PlanStore:
    """The launches of a file; none if it is not there, of another version, or broken."""
    with suppress(Exception):
        form, known, answers = load_cached(path, _CLASSES)
        if form == (FORM, code_digest(_MAKERS)):
            store = PlanStore(
                {key: [Known(launches, depends) for launches, depends in ones] for key, ones in known.items()},
                answers,
            )
            if _is_whole(store):
                return store
    return PlanStore()


def _is_whole(store: PlanStore) -> bool:
    """Whether everything is of the type that it must have."""
    numbers = range(len(store.answers))
    return (
        isinstance(store.answers, list)
        and all(isinstance(one, dict) and all(map(_is_question, one)) for one in store.answers)
        and all(
            isinstance(one.launches, tuple)
            and one.launches
            and all(isinstance(launch, Launch) for launch in one.launches)
            and type(one.depends) is int
            and one.depends in numbers
            for ones in store.known.values()
            for one in ones
        )
    )


def _is_question(value: object) -> bool:
    return isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, str) for part in value)


def save_store(store: PlanStore, path: Path) -> None:
    """Writes launches beside the old file and puts them in its place; does nothing where that is not possible."""
    kept = list(store.known.items())[-MAX_JOBS:]
    known = {key: [(one.launches, one.depends) for one in ones] for key, ones in kept}
    save_cached(path, ((FORM, code_digest(_MAKERS)), known, store.answers))

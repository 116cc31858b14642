"""What a check works on: the files of the revision, what was planned, and, with a base, the same of the base."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeVar
from uuid import uuid4

from botlint.core.finding import Note, NoteKind
from botlint.core.span import Problem
from botlint.documents.bash import Script
from botlint.documents.yaml import YamlDocument, load_yaml
from botlint.engine.watch import VALUES, Question, Watch, WatchedFiles, digest
from botlint.layouts.base import CommandJob
from botlint.layouts.choose import AUTOMATIC, Choice
from botlint.layouts.commands import DESCRIPTION, document_commands, is_described, looked_at_with
from botlint.plan.build import Planner
from botlint.plan.explain import Explainer
from botlint.plan.model import LaunchPlan
from botlint.plan.store import digest_of_surroundings
from botlint.repo.files import Files

if TYPE_CHECKING:
    from botlint.engine.pull import Pull
    from botlint.layouts.base import Job
    from botlint.layouts.inferencex.configs import Configs, Runners
    from botlint.layouts.inferencex.environments import Workflows
    from botlint.layouts.inferencex.job import Job as MatrixJob
    from botlint.shell.process import Solved

T = TypeVar("T")

PlanJobs = Callable[[Planner, Sequence["Job"]], list[LaunchPlan]]

_FILES = frozenset({"read", "kind", "paths", "link", "links", "submodules"})


@dataclass(slots=True)
class _Cell:
    """Something that is computed once, with what it asked."""

    value: object
    watch: Watch


class Context:
    """One revision under check; everything that rules share is computed once, when the first of them needs it.

    `base` is the revision that a change starts from, None when the whole revision is checked for itself; `pull` the
    pull request under review, None outside of one. Whoever opens a `watch` gets every question that was asked inside
    of it, of what was computed before too. `with_origins` plans so that a page can say where values are written,
    `with_possible` so that plans can be shown and compared: rules look at what is certain only.
    """

    def __init__(
        self,
        files: Files,
        plan_jobs: PlanJobs,
        base: Context | None = None,
        options: Mapping[str, object] | None = None,
        pull: Pull | None = None,
        *,
        with_origins: bool = False,
        with_possible: bool = True,
        layout: Choice = AUTOMATIC,
    ) -> None:
        self.layout = layout
        self.files = WatchedFiles(files, self.ask, self._unread)
        self.plan_jobs = plan_jobs
        self.options = options or {}
        self.notes: dict[Note, None] = {}
        self._base = base
        self.with_origins = with_origins
        self.with_possible = with_possible
        self._pull = pull
        self._cells: dict[Hashable, _Cell] = {}
        self._open: list[Watch] = []
        self._answers: dict[Question, str] = {}

    # ---------------------------------------------------------------------------------------------------- questions

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """What is asked and noted inside of the block; whoever watches the block as a whole gets it too."""
        watch = Watch()
        self._open.append(watch)
        try:
            yield watch
        finally:
            self._open.pop()
            if self._open:
                self._open[-1].add(watch)

    def ask(self, question: Question) -> None:
        """Note that what is being done depends on the answer to a question."""
        if self._open:
            self._open[-1].asked[question] = None

    def answer(self, question: Question) -> str:
        """The answer to a question, as a short text that is the same for equal answers."""
        if question[0] in _FILES:
            return self.files.answer(question)
        found = self._answers.get(question)
        if found is None:
            found = self._answers[question] = self._answered(*question)
        return found

    def _answered(self, kind: str, *names: str) -> str:
        if kind == "value":
            return digest(repr(self.value(VALUES[names[0]], *names[1:]))) if names[0] in VALUES else _never()
        if kind == "surroundings":
            return digest_of_surroundings(self._planner)
        if kind == "configs":
            paths = self._planner.configs.paths
            texts = [f"{path}\0{self.files.answer(('read', path))}" for path in paths]
            return digest(
                "\0".join([*texts, *(job.identity for job in self._planner.jobs if isinstance(job, CommandJob))])
            )
        if kind == "plans":
            return self._plans_text(self._plans)
        if kind == "commands":
            return digest(repr((self._planner.commands, self._planner.clients)) + self._plans_text(self._command_plans))
        if kind == "script":
            asked, path = names
            if asked == "unknown":
                return _never()
            return self._planner.script_files.answer((asked, path))  # type: ignore[arg-type]
        if kind == "entry":
            return self._entry_text(names[0])
        if kind == "line":
            return repr(self.place_of_entry(names[0]))
        if kind == "options":
            return digest(repr(sorted(self.options.items())))
        if kind == "base-value" and self._base is not None:
            return digest(repr(self._base.value(VALUES[names[0]], *names[1:]))) if names[0] in VALUES else _never()
        if kind == "base-value":
            return ""
        # What depends on a base as a whole, or on a pull request, is not kept.
        absent = (kind == "base" and self._base is None) or (kind == "pull" and self._pull is None)
        return "" if absent else _never()

    def note(self, kind: NoteKind, message: str, path: str = "", line: int = 0) -> None:
        """Say that a part could not be looked at."""
        note = Note(kind, message, path, line)
        self.notes[note] = None
        if self._open:
            self._open[-1].notes[note] = None

    def _unread(self, problem: Problem) -> None:
        if self._open:
            self._open[-1].notes[Note("unread", problem.message, problem.span.path, problem.span.line)] = None

    # ------------------------------------------------------------------------------------------------------- shared

    def once(self, make: Callable[[Context], T]) -> T:
        """What `make` gives for this revision, made once."""
        return self.kept(make, make)

    def kept(self, key: Hashable, make: Callable[[Context], T]) -> T:
        """What `make` gives for this revision, made once for each key."""
        return self._cell(key, make)

    def again(self, watch: Watch) -> None:
        """Count what was asked before, when something that is used again was made."""
        if self._open and (watch.asked or watch.notes):
            self._open[-1].add(watch)

    def apart(self, make: Callable[[Context], T]) -> T:
        """The same as `once`, for what whoever asks needs a part of only, and says by other questions of which."""
        key = ("apart", make)
        found = self._cells.get(key)
        if found is None:
            outer, self._open = self._open, []
            try:
                found = self._cells[key] = _Cell(make(self), Watch())
            finally:
                self._open = outer
        return found.value  # type: ignore[return-value]

    def value(self, function: Callable[..., T], *texts: str) -> T:
        """The value of a function that is declared a `small_value`, computed once for its texts."""
        name = f"{function.__module__}.{function.__qualname__}"
        key = ("value", name, *texts)
        found = self._cells.get(key)
        if found is None:
            outer, self._open = self._open, []
            try:
                with self.watch() as watch:
                    found = self._cells[key] = _Cell(function(self, *texts), watch)
            finally:
                self._open = outer
        self.ask(key)
        return found.value  # type: ignore[return-value]

    def value_of_base(self, function: Callable[..., T], *texts: str) -> T | None:
        """The same for the base; None without one."""
        self.ask(("base-value", f"{function.__module__}.{function.__qualname__}", *texts))
        return None if self._base is None else self._base.value(function, *texts)

    def _cell(self, key: Hashable, make: Callable[[Context], T]) -> T:
        found = self._cells.get(key)
        if found is None:
            with self.watch() as watch:
                value = make(self)
            self._cells[key] = _Cell(value, watch)
            return value
        self.again(found.watch)
        return found.value  # type: ignore[return-value]

    @property
    def base(self) -> Context | None:
        """The revision that a change starts from."""
        self.ask(("base",))
        return self._base

    @property
    def pull(self) -> Pull | None:
        """The pull request under review."""
        self.ask(("pull",))
        return self._pull

    def option(self, name: str, default: object = None) -> object:
        """An option of the check."""
        self.ask(("options",))
        return self.options.get(name, default)

    # --------------------------------------------------------------------------------------------------------- plans

    @cached_property
    def _planner(self) -> Planner:
        planner = Planner(
            self.files.revision,
            with_origins=self.with_origins,
            with_possible=self.with_possible,
            layout=self.layout,
        )
        if self._base is not None:
            # Most scripts are the same in both revisions: they are read once.
            before = self._base._planner.world
            planner.world.scripts, planner.world.texts = before.scripts, before.texts
        return planner

    @cached_property
    def _plans(self) -> list[LaunchPlan]:
        return self.plan_jobs(self._planner, self._planner.jobs)

    @cached_property
    def _explainer(self) -> Explainer:
        return Explainer(self._planner)

    @property
    def planner(self) -> Planner | None:
        """What planned the jobs; None as long as nobody needed it."""
        return self._planner if "_planner" in self.__dict__ else None

    @property
    def planned(self) -> Sequence[LaunchPlan]:
        """The plans, if somebody needed them so far."""
        return self._plans if "_plans" in self.__dict__ else ()

    @property
    def configs(self) -> Configs:
        """The master configs."""
        self.ask(("configs",))
        return self._planner.configs

    @property
    def runners(self) -> Runners:
        """The runner table."""
        self.ask(("surroundings",))
        return self._planner.runners

    @property
    def workflows(self) -> Workflows:
        """What the workflows make of rows."""
        self.ask(("surroundings",))
        return self._planner.workflows

    @property
    def jobs(self) -> Sequence[Job]:
        """The jobs of the matrix."""
        self.ask(("surroundings",))
        self.ask(("configs",))
        return self._planner.jobs

    @property
    def matrix(self) -> Sequence[MatrixJob]:
        """The jobs that the repository's own generator makes; none in layouts that have no such thing."""
        self.ask(("surroundings",))
        self.ask(("configs",))
        return self._planner.matrix

    @property
    def plans(self) -> list[LaunchPlan]:
        """The plan of each of `jobs`, in the same order."""
        self.ask(("configs",))
        self.ask(("plans",))
        return self._plans

    @property
    def every_job(self) -> Sequence[Job]:
        """The jobs of the matrix, and the launch commands of documents that start a server."""
        self.ask(("commands",))
        return [*self.jobs, *self._commands]

    @property
    def every_plan(self) -> Sequence[LaunchPlan]:
        """The plan of each of `every_job`, in the same order."""
        self.ask(("commands",))
        return [*self.plans, *self._command_plans]

    @cached_property
    def _read_commands(self) -> tuple[list[CommandJob], list[LaunchPlan]]:
        jobs = list(self._planner.commands)
        if self._pull is not None:
            jobs += document_commands("", self._pull.body, DESCRIPTION).jobs
        plans = self.plan_jobs(self._planner, jobs) if jobs else []
        served = [(job, plan) for job, plan in zip(jobs, plans, strict=False) if plan.launch.outcome == "serves"]
        return [job for job, _ in served], [plan for _, plan in served]

    @property
    def commands(self) -> list[tuple[CommandJob, LaunchPlan]]:
        """The launch commands of documents that start a server, with their plans."""
        self.ask(("commands",))
        return list(zip(*self._read_commands, strict=True))

    @property
    def clients(self) -> list[tuple[CommandJob, LaunchPlan]]:
        """The commands of documents that ask a server, with what they start."""
        self.ask(("commands",))
        return list(zip(self._planner.clients, self._client_plans, strict=True))

    @cached_property
    def _client_plans(self) -> list[LaunchPlan]:
        return self._planner.plan_clients(self._planner.clients)

    @property
    def described(self) -> list[tuple[Job, LaunchPlan]]:
        """The launch commands of the description of the pull request under review, with their plans."""
        self.ask(("pull",))
        pairs = zip(*self._read_commands, strict=True)
        return [(job, plan) for job, plan in pairs if is_described(job.entry)]

    @property
    def _commands(self) -> list[CommandJob]:
        return self._read_commands[0]

    @property
    def _command_plans(self) -> list[LaunchPlan]:
        return self._read_commands[1]

    def _plans_text(self, plans: Sequence[LaunchPlan]) -> str:
        """What plans depend on, apart from what makes the jobs."""
        asked: dict[tuple[str, str], None] = {}
        for questions in {id(plan.asked): plan.asked for plan in plans}.values():
            if questions is None:
                return _never()
            asked.update(dict.fromkeys(questions))
        return digest(repr([(*one, self.answer(("script", *one))) for one in sorted(asked)]))

    def ask_for_entry(self, name: str) -> None:
        """Note that what is being done depends on an entry, wherever it is in its file, and on its plans."""
        self.ask(("surroundings",))
        self.ask(("entry", name))
        for questions in {id(asked): asked for asked in self._asked.get(name, ())}.values():
            for question in (("unknown", ""),) if questions is None else questions:
                self.ask(("script", *question))

    @cached_property
    def _asked(self) -> Mapping[str, list[Collection[tuple[str, str]] | None]]:
        """The questions on which the plans of each entry depend."""
        found: dict[str, list[Collection[tuple[str, str]] | None]] = {}
        for plan in (*self._plans, *self._command_plans):
            found.setdefault(looked_at_with(plan.entry, plan.scenario), []).append(plan.asked)
        return found

    def place_of_entry(self, name: str) -> tuple[str, int, int] | None:
        """The file of an entry, and its first and last line."""
        entry = self._planner.configs.entries.get(name)
        return None if entry is None else (entry.span.path, entry.span.line, entry.node.span.end_line)

    def _entry_text(self, name: str) -> str:
        """What an entry says and the rows that come of it; where it is does not matter."""
        own = [job for job in self._jobs_by_entry.get(name, ()) if isinstance(job, CommandJob)]
        if own:
            return digest("\0".join(job.identity for job in own))
        place = self.place_of_entry(name)
        source = None if place is None else self.files.revision.text(place[0])
        if place is None or source is None:
            return _never()
        lines = source.text.split("\n")[place[1] - 1 : place[2]]
        rows = [json.dumps(job.row, sort_keys=True, default=str) for job in self._jobs_by_entry.get(name, ())]
        return digest("\0".join((place[0], *lines, "", *rows)))

    @cached_property
    def _jobs_by_entry(self) -> Mapping[str, list[Job]]:
        found: dict[str, list[Job]] = {}
        for job in (*self._planner.jobs, *self._commands):
            found.setdefault(looked_at_with(job.entry, job.scenario), []).append(job)
        return found

    def solve(self, job: Job, runner: str) -> Solved | None:
        """How the launch step of a job ends on a runner; the job's plan says all that this depends on."""
        return self._planner.solve(job, runner)[0]

    @property
    def explainer(self) -> Explainer:
        """Where values of plans come from; a job's plan says all that an explanation depends on."""
        return self._explainer

    # --------------------------------------------------------------------------------------------------------- files

    def yaml(self, path: str) -> YamlDocument | None:
        """A YAML file, read once; None if it is not there or not text."""
        return self.of_file("yaml", path, load_yaml)

    def script(self, path: str) -> Script | None:
        """A shell script, read once; None if it is not there or not text."""
        return self.of_file("script", path, lambda text, name: self._planner.world.script(name, text))

    def of_file(self, kind: str, path: str, read: Callable[[str, str], T]) -> T | None:
        """What `read` makes of a text and its path, once for the same text in both revisions; None without a text."""

        def make(_: Context) -> T | None:
            source = self.files.text(path)
            if source is None:
                return None
            before = None if self._base is None else self._base.files.text(path)
            if self._base is not None and before is not None and before.text == source.text:
                return self._base.of_file(kind, path, read)
            return read(source.text, path)

        return self._cell((kind, path), make)


def _never() -> str:
    """An answer that is never given again."""
    return uuid4().hex

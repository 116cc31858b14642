"""What a check works on: the files of the revision, what was planned, and, with a base, the same of the base."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from botlint.core.finding import Note, NoteKind
from botlint.documents.bash import Script
from botlint.documents.yaml import YamlDocument, load_yaml
from botlint.plan.build import Planner
from botlint.plan.explain import Explainer
from botlint.plan.model import LaunchPlan
from botlint.repo.files import Files

if TYPE_CHECKING:
    from botlint.layouts.inferencex.job import Job

T = TypeVar("T")

PlanJobs = Callable[[Planner, Sequence["Job"]], list[LaunchPlan]]


@dataclass
class Context:
    """One revision under check; everything that rules share is computed once, when the first of them needs it.

    `base` is the revision that a change starts from, None when the whole revision is checked for itself.
    """

    files: Files
    plan_jobs: PlanJobs
    base: Context | None = None
    options: Mapping[str, object] = field(default_factory=dict)
    notes: dict[Note, None] = field(default_factory=dict)
    _shared: dict[Any, object] = field(default_factory=dict)

    def note(self, kind: NoteKind, message: str, path: str = "", line: int = 0) -> None:
        """Say that a part could not be looked at."""
        self.notes[Note(kind, message, path, line)] = None

    def once(self, make: Callable[[Context], T]) -> T:
        """What `make` gives for this revision, made once."""
        return self.kept(make, make)

    def kept(self, key: Hashable, make: Callable[[Context], T]) -> T:
        """What `make` gives for this revision, made once for each key."""
        if key not in self._shared:
            self._shared[key] = make(self)
        return self._shared[key]  # type: ignore[return-value]

    @cached_property
    def planner(self) -> Planner:
        planner = Planner(self.files)
        if self.base is not None:
            # Most scripts are the same in both revisions: they are read once.
            before = self.base.planner.world
            planner.world.scripts, planner.world.texts = before.scripts, before.texts
        return planner

    @cached_property
    def jobs(self) -> list[Job]:
        return list(self.planner.jobs)

    @cached_property
    def plans(self) -> list[LaunchPlan]:
        """The plan of each of `jobs`, in the same order."""
        return self.plan_jobs(self.planner, self.jobs)

    @cached_property
    def explainer(self) -> Explainer:
        return Explainer(self.planner)

    def yaml(self, path: str) -> YamlDocument | None:
        """A YAML file, read once; None if it is not there or not text."""
        return self._file("yaml", path, load_yaml)

    def script(self, path: str) -> Script | None:
        """A shell script, read once; None if it is not there or not text."""
        return self._file("script", path, lambda text, name: self.planner.world.script(name, text))

    def _file(self, kind: str, path: str, read: Callable[[str, str], T]) -> T | None:
        key = (kind, path)
        if key not in self._shared:
            source = self.files.text(path)
            before = None if self.base is None or source is None else self.base.files.text(path)
            if self.base is not None and before is not None and source is not None and before.text == source.text:
                self._shared[key] = self.base._file(kind, path, read)
            else:
                self._shared[key] = None if source is None else read(source.text, path)
        return self._shared[key]  # type: ignore[return-value]

"""Which workflow brings a catalog's rows to a server, and what its launch step and its container see.

A job reads the catalog, maybe through a script that names it; a later one has the rows as its matrix, or passes them to
a workflow that it calls. Of its steps the launch step is the first that starts a script of the repository in which a
server is started. An earlier step, maybe in a local action, starts the container in which that script runs: what it
gives the container is the server's environment.

The event is the schedule where a workflow has one: then no input is given.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from botlint.core.span import Problem
from botlint.documents.workflow import (
    Action,
    Job,
    Step,
    TemplateCache,
    Workflow,
    load_action,
    load_workflow,
)
from botlint.layouts.atom.catalogs import Catalog, Renames
from botlint.layouts.atom.containers import script_of
from botlint.repo.files import Files, join_path

WORKFLOWS = ".github/workflows"
SCRIPTS = (".py", ".sh")

MAX_WORKFLOWS = 500
MAX_DEPTH = 4
"""Actions that use actions, and workflows that call workflows."""

MAX_NEEDS = 200
MAX_LINE = 2_000
"""Characters of a line in which names of files are looked for."""

_SCRIPT = re.compile(r"[\w./-]{1,200}\.sh\b")
_VARIABLES_FILE = re.compile(r"[\w./-]{1,200}\.env\b")
_SERVER = re.compile(r"\bvllm\s+serve\b|\bsglang\.launch_server\b|\bsglang\s+serve\b|-m\s+atom\.entrypoints\b")


@dataclass(frozen=True, slots=True)
class Level:
    """A job on the way from the root workflow to the launch step."""

    workflow: Workflow
    job: Job


@dataclass(frozen=True, slots=True)
class Launcher:
    """A way from a catalog's rows to a launch step.

    `row_level` is the level whose matrix has the rows, `row_path` how its expressions begin that read a row.
    """

    chain: tuple[Level, ...]
    row_level: int
    row_path: tuple[str, ...]
    event: str
    renames: Renames
    """Where different spellings of keys are brought to one."""


@dataclass(slots=True)
class Library:
    """The workflows, actions and scripts of a revision, each read once."""

    files: Files
    templates: TemplateCache = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    _texts: dict[str, str] = field(default_factory=dict)
    _workflows: dict[str, Workflow | None] = field(default_factory=dict)
    _actions: dict[str, Action | None] = field(default_factory=dict)
    _serving: dict[str, bool] = field(default_factory=dict)

    @property
    def action_paths(self) -> list[str]:
        """The files of the actions that were read."""
        return sorted(action.path for action in self._actions.values() if action is not None)

    def text(self, path: str) -> str:
        """The text of a file; empty where there is none."""
        found = self._texts.get(path)
        if found is None:
            source = self.files.text(path) if self.files.is_file(path) else None
            found = self._texts[path] = "" if source is None else source.text
        return found

    def workflow(self, path: str) -> Workflow | None:
        """A workflow file; None where there is none."""
        if path not in self._workflows:
            text = self.text(path)
            self._workflows[path] = load_workflow(text, path, self.templates) if text else None
        return self._workflows[path]

    def action(self, folder: str) -> Action | None:
        """A local action that is made of steps; None where there is none."""
        if folder not in self._actions:
            path = next((p for p in (f"{folder}/action.yml", f"{folder}/action.yaml") if self.text(p)), "")
            self._actions[folder] = load_action(self.text(path), path, self.templates) if path else None
        return self._actions[folder]

    def serves(self, path: str) -> bool:
        """Whether a script of the repository starts a server."""
        found = self._serving.get(path)
        if found is None:
            found = self._serving[path] = _SERVER.search(self.text(path)) is not None
        return found

    def framework(self, path: str) -> str:
        """The framework whose server a script starts first; empty where it starts none."""
        found = _SERVER.search(self.text(path))
        return "" if found is None else re.findall(r"vllm|sglang|atom", found[0])[0]

    def version(self, framework: str) -> str:
        """The version of a framework that the repository's images are built with; empty where no file says one."""
        name = f"{framework.upper()}_VERSION"
        pattern = re.compile(rf"^[ \t]*{name}[ \t]*[:=][ \t]*[\"']?v?(\d[\w.]{{0,40}})[\"']?[ \t]*$", re.MULTILINE)
        for path in self.files.paths(WORKFLOWS):
            text = self.text(path) if path.endswith((".yml", ".yaml")) else ""
            lines = [line for line in text.split("\n") if ".env" in line]
            named = dict.fromkeys(one for line in lines for one in _VARIABLES_FILE.findall(line[:MAX_LINE]))
            for place in (path, *named):
                found = pattern.search(self.text(place)) if name in self.text(place) else None
                if found is not None:
                    return found[1]
        return ""

    def naming(self, path: str) -> list[str]:
        """What names a file: its own path, and the scripts beside the workflows that name it."""
        others = self.files.paths(WORKFLOWS.rpartition("/")[0])
        return [path, *(other for other in others if other.endswith(SCRIPTS) and path in self.text(other))]


def launcher_of(library: Library, catalog: Catalog) -> Launcher | None:
    """The way from a catalog to servers: that of the first workflow by path that has one; None without one."""
    names = library.naming(catalog.path)
    paths = [p for p in library.files.paths(WORKFLOWS) if p.endswith((".yml", ".yaml"))][:MAX_WORKFLOWS]
    for path in paths:
        if any(name in library.text(path) for name in names):
            workflow = library.workflow(path)
            launcher = None if workflow is None else _launcher(library, workflow, names)
            if launcher is not None:
                return launcher
    return None


def _launcher(library: Library, workflow: Workflow, names: Sequence[str]) -> Launcher | None:
    readers = [
        job for job in workflow.jobs.values() if any(name in script_of(step) for step in job.steps for name in names)
    ]
    if not readers:
        return None
    event = "schedule" if "schedule" in workflow.events else next(iter(workflow.events), "workflow_dispatch")
    texts = [script_of(step) for job in readers for step in job.steps]
    both = any('"extra_args"' in text and '"extraArgs"' in text for text in texts)
    behind = [job for job in workflow.jobs.values() if _depends(workflow, job, {one.id for one in readers})]
    # Of some catalogs the workflow that has the same rows only publishes the results.
    for job in behind or list(workflow.jobs.values()):
        chain = [Level(workflow, job)]
        row = _row_path(job, "needs")
        level = 0
        while job.uses is not None and len(chain) < MAX_DEPTH:
            called = library.workflow(join_path("", job.uses) or "") if job.uses.startswith("./") else None
            inner = next(iter(called.jobs.values()), None) if called is not None else None
            if called is None or inner is None:
                break
            chain.append(Level(called, inner))
            if row is None:
                row, level = _row_path(inner, "inputs"), len(chain) - 1
            job = inner
        if row is not None and job.steps and any(scripts_of(library, step) for step in job.steps):
            renames: Renames = "row" if both else "" if behind else "matrix"
            return Launcher(tuple(chain), level, row, event, renames)
    return None


def scripts_of(library: Library, step: Step) -> list[str]:
    """The scripts of the repository that a step names and that start a server."""
    return [path for path in _SCRIPT.findall(script_of(step)) if library.serves(join_path("", path) or "")]


def _depends(workflow: Workflow, job: Job, wanted: set[str]) -> bool:
    """Whether a job needs one of some jobs, maybe through others."""
    waiting, seen = list(job.needs), set[str]()
    while waiting and len(seen) < MAX_NEEDS:
        name = waiting.pop()
        if name in wanted:
            return True
        if name not in seen and name in workflow.jobs:
            seen.add(name)
            waiting.extend(workflow.jobs[name].needs)
    return False


def _row_path(job: Job, source: str) -> tuple[str, ...] | None:
    """How a row of a job's matrix is read, where the rows come from `source` (`needs` or `inputs`)."""
    if job.matrix is not None and any(path[0] == source for path in job.matrix.references()):
        return ("matrix",)
    for axis in job.axes:
        if any(path[0] == source for path in axis.references()):
            return ("matrix",) if axis.name == "include" else ("matrix", axis.name)
    return None

"""The workflow files of a revision, and every `${{ }}` expression in them with its place.

Which contexts and functions an expression may use where is GitHub's table "Context availability" (page "Contexts
reference"); the properties of the contexts are those of the same page and of the public runner.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.documents.expressions import (
    Call,
    Expression,
    Name,
    Node,
    SyntaxProblem,
    children,
    closing,
    compile_expression,
)
from botlint.documents.workflow import Job, Step, TemplateCache, Workflow, read_workflow
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Node as YamlNode
from botlint.documents.yaml import Scalar, Schema, Sequence, YamlDocument, load_yaml

if TYPE_CHECKING:
    from botlint.engine.context import Context

FOLDER = ".github/workflows"
MAX_FILES = 500
MAX_NODES = 200_000
MAX_TEXT = 200_000

Place = tuple[str | int, ...]
"""Keys and indices from the root of a file."""


@dataclass(frozen=True, eq=False)
class WorkflowFile:
    """One workflow file: as a document, and as what its parts mean."""

    path: str
    document: YamlDocument
    workflow: Workflow
    compiled: dict[str, Expression | SyntaxProblem]
    """Expressions by text, shared by the files of a revision: the same ones stand in many jobs."""

    @property
    def root(self) -> YamlMapping | None:
        """The top-level mapping."""
        return self.document.root if isinstance(self.document.root, YamlMapping) else None

    def node(self, *place: str | int) -> YamlNode | None:
        """What is written at a place."""
        return below(self.root, *place)

    def job_node(self, job: str) -> YamlMapping | None:
        """The mapping of a job."""
        node = self.node("jobs", job)
        return node if isinstance(node, YamlMapping) else None

    @cached_property
    def pieces(self) -> tuple[Piece, ...]:
        """All expressions of the file, in written order."""
        return tuple(_pieces(self))


@dataclass(frozen=True, eq=False)
class Piece:
    """One expression: where it stands, and what was read of it or why nothing could be."""

    file: WorkflowFile
    place: Place
    scalar: Scalar
    start: int
    end: int
    read: Expression | SyntaxProblem

    @property
    def span(self) -> Span:
        """Where the expression is written, without the braces."""
        return self.scalar.subspan(self.start, self.end)

    @property
    def text(self) -> str:
        """The expression on one line."""
        return " ".join(self.scalar.text[self.start : self.end].split())

    @property
    def job(self) -> Job | None:
        """The job that it belongs to."""
        in_job = len(self.place) > 1 and self.place[0] == "jobs"
        return self.file.workflow.jobs.get(str(self.place[1])) if in_job else None

    @property
    def step(self) -> Step | None:
        """The step that it belongs to."""
        job = self.job
        if job is None or len(self.place) < 4 or self.place[2] != "steps":
            return None
        return next((step for step in job.steps if step.index == self.place[3]), None)

    @property
    def key(self) -> str:
        """The place as GitHub's pages write it: `jobs.<job_id>.steps.run`."""
        return place_key(self.place)

    def find(self, path: tuple[str, ...]) -> Span:
        """Where a fixed path such as `('inputs', 'tp')` is read, the whole expression if that cannot be seen."""
        pattern = r"\b" + re.escape(path[0])
        for name in path[1:]:
            quoted = re.escape(name)
            pattern += rf"\s*(?:\.\s*{quoted}(?![\w-])|\[\s*'{quoted}'\s*\])"
        found = re.compile(pattern, re.IGNORECASE).search(self.scalar.text, self.start, self.end)
        return self.span if found is None else self.scalar.subspan(found.start(), found.end())


def below(node: YamlNode | None, *place: str | int) -> YamlNode | None:
    """The node at a place below another, None where there is none."""
    for step in place:
        if isinstance(node, YamlMapping):
            node = node.get(step)
        elif isinstance(node, Sequence) and isinstance(step, int) and step < len(node.items):
            node = node.items[step]
        else:
            return None
    return node


def key_span(node: YamlNode | None, key: str) -> Span | None:
    """Where a key of a mapping is written."""
    found = node.key_node(key) if isinstance(node, YamlMapping) else None
    return None if found is None else found.span


def closest(name: str, names: Iterable[str]) -> str:
    """The name that someone who wrote `name` may have meant; empty if none is close."""
    by_folded = {other.lower(): other for other in names}
    found = difflib.get_close_matches(name.lower(), list(by_folded)[:1000], 1, 0.75)
    return by_folded[found[0]] if found else ""


# --- reading ---------------------------------------------------------------------------------------------------------


def workflow_files(context: Context) -> Mapping[str, WorkflowFile]:
    """All workflow files of a revision by path, read once."""
    return context.once(_load)


def _load(context: Context) -> Mapping[str, WorkflowFile]:
    paths = [
        path
        for path in context.files.paths(FOLDER)
        if path.endswith((".yml", ".yaml")) and path.count("/") == FOLDER.count("/") + 1
    ]
    for path in paths[MAX_FILES:]:
        context.note("unread", f"only the first {MAX_FILES} workflow files are read", path)
    templates: TemplateCache = {}
    compiled: dict[str, Expression | SyntaxProblem] = {}
    files: dict[str, WorkflowFile] = {}
    for path in paths[:MAX_FILES]:
        source = context.files.text(path)
        if source is not None:
            document = load_yaml(source.text, path, Schema.CORE)
            files[path] = WorkflowFile(path, document, read_workflow(document, templates), compiled)
    return files


def walk(node: YamlNode | None) -> Iterator[tuple[Place, Scalar]]:
    """All scalars below a node with their places; the values of aliases where they are used."""
    stack: list[tuple[Place, YamlNode]] = [] if node is None else [((), node)]
    for _ in range(MAX_NODES):
        if not stack:
            return
        place, node = stack.pop()
        if isinstance(node, Scalar):
            yield place, node
        elif isinstance(node, YamlMapping):
            stack.extend(reversed([((*place, key.text), value) for key, value in node.pairs()]))
        elif isinstance(node, Sequence):
            stack.extend(reversed([((*place, index), item) for index, item in enumerate(node.items)]))


def is_condition(place: Place) -> bool:
    """Whether the text at a place is an expression even without braces."""
    return place[-1:] == ("if",) and (
        (len(place) == 3 and place[0] == "jobs") or (len(place) == 5 and place[2] == "steps")
    )


def embedded(text: str) -> Iterator[tuple[int, int]]:
    """Where in a text the insides of `${{ }}` start and end; an open one reaches to the end."""
    position = 0
    while (start := text.find("${{", position)) >= 0:
        close = closing(text, start + 3)
        yield start + 3, len(text) if close < 0 else close
        if close < 0:
            return
        position = close + 2


def _pieces(file: WorkflowFile) -> Iterator[Piece]:
    known = file.compiled
    for place, scalar in walk(file.root):
        text = scalar.text
        if len(text) > MAX_TEXT:
            continue
        spans = list(embedded(text)) if "${{" in text else []
        if not spans and is_condition(place) and text.strip():
            spans = [(0, len(text))]
        for start, end in spans:
            inside = text[start:end]
            if inside not in known:
                known[inside] = compile_expression(inside)
            yield Piece(file, place, scalar, start, end, known[inside])


# --- what may be used where ------------------------------------------------------------------------------------------

_OF_JOB = "github needs strategy matrix vars inputs"
_OF_STEP = "github needs strategy matrix job runner env vars secrets steps inputs"
_AVAILABLE = {
    "run-name": "github inputs vars",
    "concurrency": "github inputs vars",
    "env": "github secrets inputs vars",
    "jobs.<job_id>.concurrency": _OF_JOB,
    "jobs.<job_id>.container": _OF_JOB,
    "jobs.<job_id>.container.credentials": f"{_OF_JOB} env secrets",
    "jobs.<job_id>.container.env": f"{_OF_JOB} job runner env secrets",
    "jobs.<job_id>.continue-on-error": _OF_JOB,
    "jobs.<job_id>.defaults.run": f"{_OF_JOB} env",
    "jobs.<job_id>.env": f"{_OF_JOB} secrets",
    "jobs.<job_id>.environment": _OF_JOB,
    "jobs.<job_id>.environment.url": f"{_OF_JOB} job runner env steps",
    "jobs.<job_id>.if": "github needs vars inputs",
    "jobs.<job_id>.name": _OF_JOB,
    "jobs.<job_id>.outputs": _OF_STEP,
    "jobs.<job_id>.runs-on": _OF_JOB,
    "jobs.<job_id>.secrets": f"{_OF_JOB} secrets",
    "jobs.<job_id>.services": _OF_JOB,
    "jobs.<job_id>.services.credentials": f"{_OF_JOB} env secrets",
    "jobs.<job_id>.services.env": f"{_OF_JOB} job runner env secrets",
    "jobs.<job_id>.steps.continue-on-error": _OF_STEP,
    "jobs.<job_id>.steps.env": _OF_STEP,
    "jobs.<job_id>.steps.if": "github needs strategy matrix job runner env vars steps inputs",
    "jobs.<job_id>.steps.name": _OF_STEP,
    "jobs.<job_id>.steps.run": _OF_STEP,
    "jobs.<job_id>.steps.timeout-minutes": _OF_STEP,
    "jobs.<job_id>.steps.with": _OF_STEP,
    "jobs.<job_id>.steps.working-directory": _OF_STEP,
    "jobs.<job_id>.strategy": "github needs vars inputs",
    "jobs.<job_id>.timeout-minutes": _OF_JOB,
    "jobs.<job_id>.with": _OF_JOB,
    "on.workflow_call.inputs.default": "github inputs vars",
    "on.workflow_call.outputs.value": "github jobs vars inputs",
}
AVAILABLE: Mapping[str, frozenset[str]] = {key: frozenset(names.split()) for key, names in _AVAILABLE.items()}
"""The contexts that may be used, by place."""

STATUS_FUNCTIONS = frozenset({"always", "success", "failure", "cancelled"})

PROPERTIES: Mapping[str, frozenset[str]] = {
    "github": frozenset(
        "action action_path action_ref action_repository action_status actor actor_id api_url "
        "artifact_cache_size_limit base_ref env event event_name event_path graphql_url head_ref job "
        "output path ref ref_name ref_protected ref_type repository repository_id repository_owner "
        "repository_owner_id repository_visibility repositoryurl retention_days run_attempt run_id "
        "run_number secret_source server_url sha state step_summary token triggering_actor workflow "
        "workflow_ref workflow_sha workspace".split()
    ),
    "runner": frozenset("name os arch temp tool_cache workspace debug environment".split()),
    "job": frozenset(
        "status container services check_run_id workflow_ref workflow_sha workflow_repository "
        "workflow_file_path".split()
    ),
    "strategy": frozenset("fail-fast job-index job-total max-parallel".split()),
}
"""The properties of contexts whose properties are fixed, in lower case."""


def place_key(place: Place) -> str:
    """A place as a key of the table of availability; empty if the table says nothing of it."""
    return _key_of(tuple(part for part in place if isinstance(part, str)))


@lru_cache(maxsize=4_000)
def _key_of(written: tuple[str, ...]) -> str:
    names = list(written)
    if names[:1] == ["jobs"] and len(names) > 2:
        inner = names[2:]
        if inner[0] == "services" and len(inner) > 2:
            inner = [inner[0], *inner[2:]]
        names = ["jobs", "<job_id>", *inner]
    elif names[:3] == ["on", "workflow_call", "inputs"] or names[:3] == ["on", "workflow_call", "outputs"]:
        names = [*names[:3], *names[4:]]
    if names[:3] == ["jobs", "<job_id>", "steps"]:
        return ".".join(names[:4]) if ".".join(names[:4]) in AVAILABLE else ""
    return next((key for end in range(len(names), 0, -1) if (key := ".".join(names[:end])) in AVAILABLE), "")


def calls(node: Node) -> Iterator[Call]:
    """The function calls in an expression."""
    if isinstance(node, Call):
        yield node
    for child in children(node):
        yield from calls(child)


def contexts(node: Node) -> Iterator[str]:
    """The names of the contexts that an expression reads."""
    if isinstance(node, Name):
        yield node.name
    for child in children(node):
        yield from contexts(child)


@lru_cache(maxsize=4_000)
def names_in(expression: Expression) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The contexts that an expression reads and the functions that it calls, each once."""
    functions = dict.fromkeys(call.name for call in calls(expression.node))
    return tuple(dict.fromkeys(contexts(expression.node))), tuple(functions)


def has_status_function(node: Node) -> bool:
    """Whether a condition replaces the implied `success()`."""
    return any(call.name in STATUS_FUNCTIONS for call in calls(node))

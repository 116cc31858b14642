"""Generated rows that no job runs: buckets of rows that a script makes and no job takes, rows of no job's kind."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.documents.workflow import Job, Workflow
from botlint.documents.yaml import Scalar
from botlint.engine.analysis.workflow_rows import kind_of
from botlint.engine.analysis.workflow_selections import buckets
from botlint.engine.analysis.workflows import WorkflowFile, walk, workflow_files
from botlint.layouts.inferencex.callers import Selector

if TYPE_CHECKING:
    from botlint.engine.context import Context
    from botlint.layouts.inferencex.job import Job as RowJob

MAX_PROGRAMME = 400_000
MAX_PROGRAMMES = 20
DISPATCHED = 2
"""The trigger of a caller that only a dispatch starts."""

_PROGRAMME = re.compile(r"[\w./-]{1,200}\.py\b", re.ASCII)


@dataclass(frozen=True, slots=True)
class Unread:
    """A bucket of rows that a script makes and that nothing in the workflow reads; `read` are some that are."""

    file: WorkflowFile
    job: Job
    key: str
    read: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Undispatched:
    """Rows of one place of a config that only a dispatched workflow takes, or none (then `taker` is empty)."""

    first: RowJob
    count: int
    kind: str
    taker: str
    taker_span: Span | None
    sweep: str
    """The workflow that takes the other rows."""


# --- buckets ---------------------------------------------------------------------------------------------------------


def unread_buckets(context: Context) -> Iterator[Unread]:
    """Lists of rows in the output of a script of which a workflow reads others, by key."""
    for file in workflow_files(context).values():
        for job, keys in _read_keys(file.workflow).items():
            words = _words(file)
            for path in _programmes(context, file.workflow.jobs[job]):
                for made in _made(context, path):
                    known = [key for key in keys if key in made]
                    for key, span in made.items() if len(known) > 1 else ():
                        if key not in words:
                            yield Unread(file, file.workflow.jobs[job], key, tuple(known), span)


def _read_keys(workflow: Workflow) -> Mapping[str, list[str]]:
    """The top-level keys of outputs from which matrices are made, by the job that gives the output."""
    found: dict[str, dict[str, None]] = {}
    for one in buckets(workflow).values():
        parts = one.source.split(".")
        if len(parts) > 1 and one.needed in workflow.jobs:
            found.setdefault(one.needed, {})[parts[1]] = None
    return {job: list(keys) for job, keys in found.items()}


def _words(file: WorkflowFile) -> frozenset[str]:
    return frozenset(
        word for _, scalar in walk(file.root) for word in re.findall(r"[\w-]+", scalar.text[:MAX_PROGRAMME], re.ASCII)
    )


def _programmes(context: Context, job: Job) -> list[str]:
    """The Python files of the repository that the scripts of a job name."""
    found: dict[str, None] = {}
    for step in job.steps:
        text = step.run.node.text if step.run is not None and isinstance(step.run.node, Scalar) else ""
        for name in _PROGRAMME.findall(text):
            path = name.lstrip("./")
            if context.files.is_file(path):
                found[path] = None
    return list(found)[:MAX_PROGRAMMES]


def _made(context: Context, path: str) -> list[dict[str, Span]]:
    """The dictionaries of lists that a programme builds under a name: key -> place."""
    source = context.files.text(path)
    if source is None or len(source.text) > MAX_PROGRAMME:
        return []
    try:
        tree = ast.parse(source.text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    found: dict[str, dict[str, Span]] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Dict(keys=keys, values=values)):
                for key, value in zip(keys, values, strict=True):
                    if isinstance(key, ast.Constant) and isinstance(key.value, str) and _is_rows(value):
                        found.setdefault(name, {})[key.value] = _span(path, key)
            case ast.Assign(
                targets=[ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(text)) as key)],
                value=value,
            ) if _is_rows(value):
                found.setdefault(name, {})[text] = _span(path, key)
    return list(found.values())


def _is_rows(node: ast.expr) -> bool:
    """Whether an expression is a list, or a dictionary of lists that is filled later."""
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id in ("defaultdict", "list")
    return isinstance(node, ast.List | ast.ListComp)


def _span(path: str, node: ast.expr) -> Span:
    # Columns of the syntax tree count bytes; keys are plain names, and what stands before them on the line is ASCII.
    return Span(
        path,
        node.lineno,
        node.col_offset + 1,
        node.end_lineno or node.lineno,
        (node.end_col_offset or node.col_offset) + 1,
    )


# --- rows ------------------------------------------------------------------------------------------------------------


def undispatched(context: Context) -> Iterator[Undispatched]:
    """Rows that no sweep runs, where a sweep runs others: started by a push, a schedule or a pull request."""
    callers = context.workflows.callers
    sweeps = [one for one in callers if one.trigger < DISPATCHED and not one.evaluation]
    if not sweeps:
        return
    selector = Selector(callers)
    groups: dict[tuple[int, str], list[RowJob]] = {}
    for job in context.matrix:
        chosen = selector.choose(job.row, "throughput")
        if isinstance(chosen, str) or chosen.trigger == DISPATCHED:
            taker = "" if isinstance(chosen, str) else chosen.job
            groups.setdefault((id(job.source.config_node), taker), []).append(job)
    for (_, taker), jobs in groups.items():
        chosen = selector.choose(jobs[0].row, "throughput")
        place = None if isinstance(chosen, str) else chosen.span
        yield Undispatched(jobs[0], len(jobs), _kind(jobs[0]), taker, place, sweeps[0].workflow)


def _kind(job: RowJob) -> str:
    multinode, agentic = kind_of(job.row)
    nodes = "multi-node" if multinode else "single-node"
    return f"{nodes} agentic" if agentic else f"{nodes} {job.row.get('isl')}/{job.row.get('osl')}"

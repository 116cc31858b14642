"""Names of result files: which fields of the rows they are made of, and which jobs therefore write the same file."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botlint.documents.workflow import Field
from botlint.documents.yaml import Scalar
from botlint.engine.analysis.workflow_calls import WorkflowCall, workflow_calls
from botlint.engine.analysis.workflow_rows import at
from botlint.engine.analysis.workflows import WorkflowFile, workflow_files

if TYPE_CHECKING:
    from botlint.engine.context import Context
    from botlint.layouts.inferencex.job import Job as RowJob

MIN_PIECES = 4
_NAMED = re.compile(r"(?:RESULT|OUTPUT)_?(?:FILE)?_?NAME", re.IGNORECASE)

_ASSIGNED = re.compile(r"^\s*(?:(?:export|local|readonly|declare)\s+)?([A-Za-z_]\w*)=(.*)", re.ASCII)
_USED = re.compile(r"\$\{?([A-Za-z_]\w*)", re.ASCII)
MAX_LINE = 2_000

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ResultName:
    """A variable that names the result files of a called workflow, for one call of it.

    `clash` are two jobs whose rows differ and that have the same name on the same runner; `missing` are the fields in
    which they differ.
    """

    file: WorkflowFile
    variable: Field
    call: WorkflowCall
    fields: frozenset[Path]
    sizes: tuple[str, ...]
    """The numbers and switches of an arm that are passed on and that the name does not hold."""
    clash: tuple[RowJob, RowJob] | None
    missing: tuple[str, ...]
    clashes: int


def result_names(context: Context) -> Iterator[ResultName]:
    """The names of result files of the called workflows, for each call that takes generated rows.

    A name that holds something that is not a field of the generator's rows is not judged: it may tell all rows apart.
    """
    files = workflow_files(context)
    for call in workflow_calls(context):
        target = files.get(call.path)
        if target is None or call.rows is None or call.rows.caller.evaluation or call.rows.caller.workload is not None:
            continue
        for variable, inherited in _variables(target):
            fields = _row_fields(call, _inputs(variable, inherited) | _added(target, variable))
            if fields and all(path[0] in call.rows.fields for path in fields):
                yield _judge(target, variable, call, fields)


def _variables(file: WorkflowFile) -> Iterator[tuple[Field, tuple[Field, ...]]]:
    """Variables that name results, each with the variables that its expressions may read."""
    for job in file.workflow.jobs.values():
        outer = (*file.workflow.env, *job.env)
        for env, visible in [(job.env, outer), *((step.env, (*outer, *step.env)) for step in job.steps)]:
            for pair in env:
                expressions = pair.template.expressions if pair.template is not None else ()
                if _NAMED.search(pair.name) and len(expressions) >= MIN_PIECES:
                    yield pair, visible


def _added(file: WorkflowFile, variable: Field) -> frozenset[str]:
    """The inputs that scripts of the workflow add to a name: `NAME="${NAME}_$OTHER"`."""
    by_variable = {pair.name: pair for pair in file.workflow.env}
    found: set[str] = set()
    for job in file.workflow.jobs.values():
        for step in job.steps:
            text = step.run.node.text if step.run is not None and isinstance(step.run.node, Scalar) else ""
            names = {variable.name}
            for line in text.split("\n"):
                assigned = _ASSIGNED.match(line) if len(line) <= MAX_LINE else None
                used = set(_USED.findall(assigned[2])) if assigned is not None else set()
                if assigned is not None and used & names:
                    names.add(assigned[1])
                    for other in used & by_variable.keys():
                        found |= _inputs(by_variable[other], file.workflow.env)
    return frozenset(found)


def _inputs(pair: Field, inherited: tuple[Field, ...]) -> frozenset[str]:
    """The inputs that a value is made of, through variables of the environment."""
    by_name = {one.name: one for one in inherited}
    found: set[str] = set()
    done: set[str] = set()
    queue = [pair]
    while queue:
        for path in queue.pop().references():
            if path[0] == "inputs" and len(path) > 1:
                found.add(path[1].lower())
            elif path[0] == "env" and len(path) > 1 and path[1] in by_name and path[1] not in done:
                done.add(path[1])
                queue.append(by_name[path[1]])
    return frozenset(found)


def _row_fields(call: WorkflowCall, names: frozenset[str]) -> frozenset[Path]:
    assert call.rows is not None
    prefix = call.rows.path
    return frozenset(
        path[len(prefix) :]
        for name, pair in call.given.items()
        if name in names
        for path in pair.references()
        if path[: len(prefix)] == prefix and len(path) > len(prefix)
    )


def _judge(file: WorkflowFile, variable: Field, call: WorkflowCall, fields: frozenset[Path]) -> ResultName:
    assert call.rows is not None
    passed = _row_fields(call, frozenset(call.given))
    seen: dict[tuple[Any, ...], RowJob] = {}
    clash: tuple[RowJob, RowJob] | None = None
    missing: dict[str, None] = {}
    clashes = 0
    ordered = sorted(fields)
    others = sorted(passed - fields)
    for job in call.rows.jobs:
        key = (job.row.get("runner"), *(_plain(at(job.row, path)) for path in ordered))
        first = seen.setdefault(key, job)
        if first is job:
            continue
        differing = [path for path in others if _plain(at(job.row, path)) != _plain(at(first.row, path))]
        if differing:
            clashes += 1
            clash = clash or (first, job)
            missing.update((".".join(path), None) for path in differing)
    sizes = tuple(".".join(path) for path in others if _is_size(call, path))
    return ResultName(file, variable, call, fields, sizes, clash, tuple(missing), clashes)


def _is_size(call: WorkflowCall, path: Path) -> bool:
    """Whether a field is a number or a switch that arms set."""
    rows = call.rows
    if rows is None or path[0] not in rows.of_arms:
        return False
    values = [value for job in rows.jobs if (value := at(job.row, path)) is not None]
    return bool(values) and all(isinstance(value, bool | int) for value in values)


def _plain(value: Any) -> Any:
    return repr(value) if isinstance(value, list | dict) else value


def shown(row: Mapping[str, Any], path: str) -> str:
    """A field of a row as text."""
    return str(at(row, tuple(path.split("."))))

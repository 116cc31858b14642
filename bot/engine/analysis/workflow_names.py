"""What the fixed paths that workflow expressions read name, and whether there is such a thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.documents.expressions import Expression
from botlint.documents.workflow import Field, Input, Job
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Scalar, Sequence
from botlint.engine.analysis.workflows import (
    PROPERTIES,
    Piece,
    WorkflowFile,
    below,
    closest,
    embedded,
    is_condition,
    key_span,
    walk,
    workflow_files,
)

if TYPE_CHECKING:
    from botlint.engine.context import Context

NEED_FIELDS = ("result", "outputs")


@dataclass(frozen=True, slots=True)
class Reference:
    """A fixed path that an expression reads.

    `name` is what must exist (an input, a job, a step, a property), `declared` whether it does (None: not known) and
    `of` where it is looked for. `output` is the output of a job that is asked for, `output_declared` as `declared`.
    """

    piece: Piece
    path: tuple[str, ...]
    name: str
    declared: bool | None
    of: str = ""
    closest: str = ""
    related: Span | None = None
    output: str = ""
    output_declared: bool | None = None
    output_closest: str = ""
    elsewhere: bool = False
    """A need: whether the workflow has such a job. An input: whether another trigger declares it."""

    @property
    def span(self) -> Span:
        """Where it is read."""
        return self.piece.find(self.path[: 4 if self.output else 3 if self.path[:2] == ("github", "event") else 2])


def references(context: Context) -> tuple[Reference, ...]:
    """The references of all workflow files."""
    return context.once(_references)


def _references(context: Context) -> tuple[Reference, ...]:
    files = workflow_files(context)
    return tuple(found for file in files.values() for found in _of_file(file, files))


def _of_file(file: WorkflowFile, files: Mapping[str, WorkflowFile]) -> Iterator[Reference]:
    variables = _variables(file)
    for piece in file.pieces:
        if not isinstance(piece.read, Expression):
            continue
        for path in dict.fromkeys(piece.read.references):
            found = _resolve(piece, path, files, variables)
            if found is not None:
                yield found


def _resolve(
    piece: Piece, path: tuple[str, ...], files: Mapping[str, WorkflowFile], variables: _Variables
) -> Reference | None:
    context = path[0]
    if context == "inputs" and len(path) > 1:
        return _input(piece, path, path[1])
    if context == "github" and [part.lower() for part in path[1:3]] == ["event", "inputs"] and len(path) > 3:
        return _dispatched(piece, path, path[3])
    if context in PROPERTIES and len(path) > 1:
        names = PROPERTIES[context]
        known = path[1].lower() in names
        near = "" if known else closest(path[1], names)
        return Reference(piece, path[:2], path[1], known, f"the {context} context", near)
    if context == "needs" and len(path) > 1:
        return _need(piece, path, files)
    if context == "steps" and len(path) > 1:
        return _step(piece, path)
    if context == "matrix" and len(path) > 1:
        return _matrix(piece, path)
    return _variable(piece, path, variables) if context == "env" and len(path) > 1 else None


# --- inputs ----------------------------------------------------------------------------------------------------------


def declared_inputs(file: WorkflowFile) -> dict[str, Input]:
    """The inputs that any trigger of a workflow declares, by lower-case name."""
    return {**file.workflow.dispatch_inputs, **(file.workflow.call_inputs or {})}


def _input(piece: Piece, path: tuple[str, ...], name: str) -> Reference:
    file = piece.file
    declared = declared_inputs(file)
    found = declared.get(name.lower())
    known = not file.workflow.problems or found is not None
    return Reference(
        piece,
        path[:2],
        name,
        found is not None if known else None,
        "the workflow",
        "" if found else closest(name, (one.name for one in declared.values())),
        found.span if found else None,
    )


def _dispatched(piece: Piece, path: tuple[str, ...], name: str) -> Reference:
    file = piece.file
    declared = file.workflow.dispatch_inputs
    # A called workflow sees the event of its caller, which may be a dispatch with other inputs.
    known = not file.workflow.problems and file.workflow.call_inputs is None
    found = declared.get(name.lower())
    return Reference(
        piece,
        path[:4],
        name,
        found is not None if known or found is not None else None,
        "workflow_dispatch",
        "" if found else closest(name, (one.name for one in declared.values())),
        found.span if found else None,
    )


# --- jobs ------------------------------------------------------------------------------------------------------------


def output_names(job: Job, files: Mapping[str, WorkflowFile]) -> list[str] | None:
    """The outputs that a job declares, or that the workflow that it calls declares; None if not known."""
    if job.uses is None:
        return [output.name for output in job.outputs]
    called = files.get(job.uses.removeprefix("./")) if job.uses.startswith("./") else None
    if called is None:
        return None
    outputs = called.node("on", "workflow_call", "outputs")
    return [key.text for key, _ in outputs.pairs()] if isinstance(outputs, YamlMapping) else []


def _need(piece: Piece, path: tuple[str, ...], files: Mapping[str, WorkflowFile]) -> Reference | None:
    job = piece.job
    if job is None:
        return None
    name = path[1]
    jobs = piece.file.workflow.jobs
    target = next((other for key, other in jobs.items() if key.lower() == name.lower()), None)
    listed = name.lower() in {need.lower() for need in job.needs}
    output, output_declared, near = "", None, ""
    if target is not None and len(path) > 3 and path[2].lower() == "outputs":
        output = path[3]
        names = output_names(target, files)
        if names is not None:
            output_declared = output.lower() in {one.lower() for one in names}
            near = "" if output_declared else closest(output, names)
    return Reference(
        piece,
        path[:4] if output else path[:2],
        name,
        listed,
        f"the needs of the job {job.id}",
        "" if listed else closest(name, job.needs if target is not None else jobs),
        target.span if target is not None else None,
        output,
        output_declared,
        near,
        target is not None,
    )


# --- steps -----------------------------------------------------------------------------------------------------------


def _step(piece: Piece, path: tuple[str, ...]) -> Reference | None:
    job = piece.job
    if job is None:
        return None
    steps = piece.file.node("jobs", job.id, "steps")
    if not isinstance(steps, Sequence):
        return None
    current = piece.place[3] if len(piece.place) > 3 and piece.place[2] == "steps" else len(steps.items)
    ids: dict[str, int] = {}
    for index, item in enumerate(steps.items):
        node = below(item, "id")
        if isinstance(node, Scalar):
            ids[node.text] = index
    name = path[1]
    place = next((index for key, index in ids.items() if key.lower() == name.lower()), None)
    target = None if place is None else key_span(steps.items[place], "id")
    return Reference(
        piece,
        path[:2],
        name,
        place is not None and isinstance(current, int) and place < current,
        f"the earlier steps of the job {job.id}",
        "" if place is not None else closest(name, ids),
        target,
        elsewhere=place is not None,
    )


# --- matrix ----------------------------------------------------------------------------------------------------------


def _matrix(piece: Piece, path: tuple[str, ...]) -> Reference | None:
    """An axis of a matrix that is written out, or a field of the items that are written there."""
    job = piece.job
    if job is None:
        return None
    where = f"the matrix of the job {job.id}"
    if job.matrix is None and not job.axes:
        return Reference(piece, path[:2], path[1], False, where) if job.span.path else None
    if job.matrix is not None:
        return None
    axes = {axis.name: axis for axis in job.axes}
    if "include" in axes:
        included = _fields(axes["include"])
        if included is None:
            return None
        axes |= dict.fromkeys(included, axes["include"])
    axis = next((found for name, found in axes.items() if name.lower() == path[1].lower()), None)
    if axis is None:
        names = [name for name in axes if name not in ("include", "exclude")]
        return Reference(piece, path[:2], path[1], False, where, closest(path[1], names), _matrix_span(piece, job))
    fields = None if axis.name == "include" or len(path) < 3 else _fields(axis)
    if not fields:
        return Reference(piece, path[:2], path[1], True, where)
    known = path[2].lower() in {name.lower() for name in fields}
    span = axis.key.span if axis.key is not None else axis.span
    return Reference(
        piece, path[:3], path[2], known, f"the items of matrix.{axis.name}", closest(path[2], fields), span
    )


def _matrix_span(piece: Piece, job: Job) -> Span | None:
    strategy = piece.file.node("jobs", job.id, "strategy")
    return key_span(strategy, "matrix")


def _fields(axis: Field) -> set[str] | None:
    """The keys of the mappings in a list that is written out; None if it is not, or holds something else."""
    if not isinstance(axis.node, Sequence):
        return None
    names: set[str] = set()
    for item in axis.node.items:
        if not isinstance(item, YamlMapping):
            return None
        names.update(key.text for key, _ in item.pairs())
    return names


# --- variables -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Variables:
    """The variables that a workflow file sets in `env:`, and the words of its scripts."""

    names: tuple[str, ...]
    words: frozenset[str]


_WORD = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def _variables(file: WorkflowFile) -> _Variables:
    names: dict[str, None] = {}
    words: set[str] = set()
    for place, scalar in walk(file.root):
        if len(place) > 1 and place[-2] == "env":
            names[str(place[-1])] = None
        if place[-1:] in (("run",), ("script",)) and not is_condition(place):
            words.update(_WORD.findall(_without_expressions(scalar.text)))
    return _Variables(tuple(names), frozenset(words))


def _without_expressions(text: str) -> str:
    """A script without its `${{ }}`, which read variables and set none."""
    kept: list[str] = []
    position = 0
    for start, end in embedded(text):
        kept.append(text[position : start - 3])
        position = end
    return " ".join([*kept, text[position:]])


def _variable(piece: Piece, path: tuple[str, ...], variables: _Variables) -> Reference:
    """A variable of `env`; a script may set it for later steps, so one whose name a script has is not judged."""
    name = path[1]
    declared = name.lower() in {one.lower() for one in variables.names}
    unknown = not declared and name in variables.words
    return Reference(
        piece,
        path[:2],
        name,
        None if unknown else declared,
        "the env of the workflow, its jobs and steps",
        "" if declared or unknown else closest(name, variables.names),
    )

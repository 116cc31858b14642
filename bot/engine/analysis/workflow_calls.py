"""Calls of reusable workflows: what is passed against what is declared, against siblings, and against the rows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from botlint.core.span import Span
from botlint.documents import expressions
from botlint.documents.expressions import Expression, to_text
from botlint.documents.workflow import Field, Input, Job, Workflow
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Scalar
from botlint.engine.analysis.workflow_rows import EVAL_FIELDS, RowsOfJob, rows_of_job
from botlint.engine.analysis.workflows import WorkflowFile, walk, workflow_files

if TYPE_CHECKING:
    from botlint.engine.context import Context

SCENARIO = "scenario-type"

# How JavaScript and Python in steps read inputs: `context.payload.inputs.ref`, `inputs['ref']`.
_SCRIPT_INPUT = re.compile(r"""\binputs\??(?:\.([A-Za-z_]\w*)|(?:\.get\(|\[)["']([\w-]+)["'])""", re.ASCII)


@dataclass(frozen=True, eq=False)
class WorkflowCall:
    """A job that calls a workflow of the repository; `target` is None if there is no such file."""

    file: WorkflowFile
    job: Job
    path: str
    target: WorkflowFile | None
    rows: RowsOfJob | None

    @property
    def declared(self) -> Mapping[str, Input] | None:
        """The inputs that it may pass, by lower-case name; None if they are not known."""
        return None if self.target is None or self.target.document.lost else self.target.workflow.call_inputs

    @cached_property
    def given(self) -> Mapping[str, Field]:
        """What it passes, by lower-case name."""
        return {pair.name.lower(): pair for pair in self.job.inputs}

    @cached_property
    def kind(self) -> tuple[str, ...]:
        """What tells calls apart that pass different things on purpose: the scenario, and whether only evals run."""
        return tuple(_constant(self.given.get(name)) for name in (SCENARIO, "eval-only"))

    @property
    def secrets(self) -> tuple[str, ...] | None:
        """The names of the secrets that it passes; None for all of them."""
        node = self.file.node("jobs", self.job.id, "secrets")
        if isinstance(node, Scalar) and node.text == "inherit":
            return None
        return tuple(key.text for key, _ in node.pairs()) if isinstance(node, YamlMapping) else ()

    @property
    def uses_span(self) -> Span:
        """Where it names the workflow."""
        node = self.file.node("jobs", self.job.id, "uses")
        return self.job.span if node is None else node.span


def workflow_calls(context: Context) -> tuple[WorkflowCall, ...]:
    """The calls of all workflow files."""
    return context.once(_calls)


def _calls(context: Context) -> tuple[WorkflowCall, ...]:
    files = workflow_files(context)
    rows = context.once(rows_of_job)
    return tuple(
        WorkflowCall(file, job, job.uses[2:], files.get(job.uses[2:]), rows.get((file.path, job.id)))
        for file in files.values()
        for job in file.workflow.jobs.values()
        if job.uses is not None and job.uses.startswith("./")
    )


def _constant(pair: Field | None) -> str:
    if pair is None:
        return ""
    value = pair.evaluate({})
    return str(to_text(value)) if isinstance(value, str | bool | int | float) else "?"


# --- types -----------------------------------------------------------------------------------------------------------


def type_of(value: Any) -> str:
    """The type of a known value, as GitHub names it."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object" if isinstance(value, dict) else "null"


def type_of_field(pair: Field, workflow: Workflow) -> str | None:
    """The type that a value of a workflow file has whatever the run is; None if that is not known."""
    if not isinstance(pair.node, Scalar):
        return "object" if isinstance(pair.node, YamlMapping) else "array"
    if pair.constant:
        return None if pair.node.value is None else type_of(pair.node.value)
    template = pair.template
    if template is None or template.problems:
        return None
    return "string" if template.single is None else _type_of_node(template.single.node, workflow)


def _type_of_node(node: expressions.Node, workflow: Workflow) -> str | None:
    if isinstance(node, expressions.Literal):
        return None if node.value is None else type_of(node.value)
    if isinstance(node, expressions.Compare | expressions.Not):
        return "boolean"
    if isinstance(node, expressions.Logic):
        types = {_type_of_node(operand, workflow) for operand in node.operands}
        return types.pop() if len(types) == 1 else None
    if isinstance(node, expressions.Call):
        if node.name in ("contains", "startswith", "endswith"):
            return "boolean"
        return "string" if node.name in ("format", "join", "tojson", "hashfiles") else None
    path = expressions.static_path(node) or ()
    if len(path) == 2 and path[0] == "inputs" and not workflow.dispatch_inputs:
        declared = (workflow.call_inputs or {}).get(path[1].lower())
        return declared.type if declared is not None and declared.type in ("boolean", "number", "string") else None
    return "string" if len(path) == 4 and path[:3] == ("github", "event", "inputs") else None


def misfit(declared: str, given: str) -> bool:
    """Whether GitHub refuses a value of one type for an input of another: only a string takes other scalars."""
    if declared == "string":
        return given in ("array", "object")
    return declared in ("boolean", "number") and given != declared


# --- siblings --------------------------------------------------------------------------------------------------------


def row_field(pair: Field, call: WorkflowCall) -> tuple[str, ...] | None:
    """The field of a generated row that a value is made of, as a path of keys; None if it is of none or several."""
    if pair.constant or call.rows is None or pair.template is None:
        return None
    prefix = call.rows.path
    fields = {
        path[len(prefix) :] for path in pair.references() if path[: len(prefix)] == prefix and len(path) > len(prefix)
    }
    return fields.pop() if len(fields) == 1 else None


def sibling_with_field(
    call: WorkflowCall, name: str, calls: Iterable[WorkflowCall]
) -> tuple[WorkflowCall, Field] | None:
    """Another call of the same workflow in the same file that passes a row's field as this input."""
    for other in calls:
        if other is call or other.path != call.path or other.file is not call.file:
            continue
        pair = other.given.get(name)
        if pair is not None and row_field(pair, other):
            return other, pair
    return None


def sibling_that_passes(
    call: WorkflowCall, name: str, calls: Iterable[WorkflowCall]
) -> tuple[WorkflowCall, Field] | None:
    """A call of the same kind in the same file that passes a row's field as an input, if most that may do so do."""
    passing: list[tuple[WorkflowCall, Field]] = []
    lacking = 1
    for other in calls:
        if other is call or other.file is not call.file or other.kind[0] != call.kind[0]:
            continue
        if name in EVAL_FIELDS and other.kind[1] == "true" and call.kind[1] != "true":
            continue
        if name not in (other.declared or {}):
            continue
        pair = other.given.get(name)
        if pair is not None and row_field(pair, other):
            passing.append((other, pair))
        elif pair is None:
            lacking += 1
    return passing[0] if passing and len(passing) >= lacking else None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """An optional input that a call does not pass, though most calls of its kind pass a field of the row.

    `others` are values of the field among the rows of the call that are not the fallback.
    """

    declared: Input
    fallback: str
    sibling: WorkflowCall
    passed: Field
    field: tuple[str, ...]
    others: tuple[str, ...]
    in_rows: bool
    settable: bool


def left_out(call: WorkflowCall, declared: Input, calls: Iterable[WorkflowCall]) -> LeftOut | None:
    """What siblings pass for an input that a call leaves out; None where they do not."""
    found = sibling_that_passes(call, declared.name.lower(), calls)
    if found is None or call.rows is None:
        return None
    sibling, pair = found
    field = row_field(pair, sibling) or (declared.name,)
    value = declared.fallback({})
    fallback = str(to_text(value)) if isinstance(value, str | bool | int | float) else ""
    return LeftOut(
        declared,
        fallback,
        sibling,
        pair,
        field,
        tuple(call.rows.others(field, fallback)),
        field[0] in call.rows.fields,
        field[0] in call.rows.settable,
    )


# --- what a called workflow does with its inputs ---------------------------------------------------------------------


def input_uses(file: WorkflowFile) -> Mapping[str, tuple[str, ...]] | None:
    """The places that read each input, by lower-case name; None if some expression reads all inputs at once."""
    found: dict[str, dict[str, None]] = {}
    for piece in file.pieces:
        if not isinstance(piece.read, Expression):
            continue
        for path in piece.read.references:
            folded = [part.lower() for part in path]
            if folded == ["inputs"] or folded in (["github"], ["github", "event"], ["github", "event", "inputs"]):
                return None
            if folded[0] == "inputs":
                found.setdefault(folded[1], {})[_label(piece.place)] = None
            elif folded[:3] == ["github", "event", "inputs"]:
                found.setdefault(folded[3], {})[_label(piece.place)] = None
    for place, scalar in walk(file.root):
        if place[-1:] in (("script",), ("run",)) and "inputs" in scalar.text:
            for match in _SCRIPT_INPUT.finditer(scalar.text):
                found.setdefault((match[1] or match[2]).lower(), {})[str(place[-1])] = None
    return {name: tuple(places) for name, places in found.items()}


def _label(place: tuple[str | int, ...]) -> str:
    names = [str(part) for part in place if isinstance(part, str)]
    if names[0] != "jobs":
        return names[0]
    return names[3] if len(names) > 3 and names[2] == "steps" else names[2] if len(names) > 2 else names[0]


def secrets_read(file: WorkflowFile) -> Mapping[str, Span]:
    """The secrets that a workflow reads, with a place of each."""
    found: dict[str, Span] = {}
    for piece in file.pieces:
        if isinstance(piece.read, Expression):
            for path in piece.read.references:
                if path[0] == "secrets" and len(path) > 1 and path[1].upper() != "GITHUB_TOKEN":
                    found.setdefault(path[1], piece.find(path[:2]))
    return found

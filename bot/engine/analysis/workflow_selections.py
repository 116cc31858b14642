"""How generated rows are shared out among workflow jobs, and what is lost on the way.

* a *selection* is a line of a step's script that filters rows with a Python list comprehension (`VAR=$(... python3 -c
  "... [x for x in rows if ...]")`) and gives them to a job by an output of the step,
* *eval rows* are those that the generator makes for accuracy evals, kind by kind.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botlint.core.span import Span
from botlint.documents.expressions import Call, Index, Literal, Node, children, static_path, to_text
from botlint.documents.workflow import Job, Step, Workflow
from botlint.documents.yaml import Scalar
from botlint.engine.analysis.workflow_rows import RowsOfJob, kind_of, rows_of_job
from botlint.engine.analysis.workflows import Place, WorkflowFile, walk, workflow_files
from botlint.layouts.inferencex.callers import Caller
from botlint.layouts.inferencex.generator_facts import AGENTIC, FIXED

if TYPE_CHECKING:
    from botlint.engine.context import Context
    from botlint.layouts.inferencex.job import Job as RowJob

MAX_LINE = 4_000
MAX_SCRIPT = 200_000

_ASSIGNED = re.compile(r"^\s*(?:(?:export|local|declare|readonly)\s+)?([A-Za-z_]\w*)=", re.ASCII)
_FILTER = re.compile(r"\[\s*(\w+) for (\w+) in \w+ if (.{1,1000}?)\]\s*\)?\s*\)?\s*[\"')]")
_OUTPUT = re.compile(r"""^\s*echo\s+["']?([A-Za-z_][\w-]*)=(.*)$""", re.ASCII)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w*)", re.ASCII)
_INDIRECT = re.compile(r"^\s*(?:source|\.|eval)\s|printf\s+-v|declare\s+-n|GITHUB_ENV", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Written:
    """A line that writes an output from a variable of the shell."""

    file: WorkflowFile
    job: Job
    output: str
    variable: str
    set: bool | None
    """Whether the script or an `env:` sets the variable; None if that cannot be seen."""
    readers: tuple[str, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Selection:
    """A filter over rows; `lost` are throughput rows that only this part of it keeps from a throughput job."""

    file: WorkflowFile
    job: Job
    variable: str
    part: str
    field: str
    lost: tuple[RowJob, ...]
    reader: str
    taken_by: str
    span: Span


@dataclass(frozen=True, slots=True)
class EvalRows:
    """A kind of eval rows without a job of its own, and the job of evals of another kind that gets them."""

    kind: str
    rows: RowsOfJob
    caller: Caller
    missing: tuple[str, ...]


# --- scripts ---------------------------------------------------------------------------------------------------------


def _scripts(file: WorkflowFile) -> Iterator[tuple[Job, Step, Scalar, Place]]:
    for place, scalar in walk(file.root):
        if len(place) == 5 and place[0] == "jobs" and place[2] == "steps" and place[4] == "run":
            job = file.workflow.jobs.get(str(place[1]))
            step = next((one for one in job.steps if one.index == place[3]), None) if job is not None else None
            if job is not None and step is not None and len(scalar.text) <= MAX_SCRIPT:
                yield job, step, scalar, place


def _lines(scalar: Scalar) -> Iterator[tuple[int, str]]:
    offset = 0
    for line in scalar.text.split("\n"):
        yield offset, line
        offset += len(line) + 1


def _step_id(file: WorkflowFile, place: Place) -> str:
    node = file.node(*place[:4], "id")
    return node.text if isinstance(node, Scalar) else ""


def readers_of(file: WorkflowFile, job: Job, step: str, output: str) -> tuple[Job, ...]:
    """The jobs whose matrix comes from an output of a step, through the outputs of its job."""
    names = {
        pair.name
        for pair in job.outputs
        if any(path[:1] == ("steps",) and path[1:2] == (step,) and path[3:4] == (output,) for path in pair.references())
    }
    found: list[Job] = []
    for other in file.workflow.jobs.values():
        pairs = [other.matrix] if other.matrix is not None else list(other.axes)
        paths = [path for pair in pairs for path in pair.references()]
        if any(
            path[:2] == ("needs", job.id) and path[2:3] == ("outputs",) and path[3:4] and path[3] in names
            for path in paths
        ):
            found.append(other)
    return tuple(found)


def written(context: Context) -> Iterator[Written]:
    """The outputs that scripts of steps write from variables."""
    for file in workflow_files(context).values():
        for job, step, scalar, place in _scripts(file):
            if "GITHUB_OUTPUT" not in scalar.text:
                continue
            given = {pair.name for pair in (*file.workflow.env, *job.env, *step.env)}
            for offset, line in _lines(scalar):
                found = _OUTPUT.match(line) if len(line) <= MAX_LINE else None
                if found is None:
                    continue
                for variable in dict.fromkeys(_VARIABLE.findall(found[2])):
                    if variable.startswith("GITHUB_"):
                        continue
                    readers = readers_of(file, job, _step_id(file, place), found[1])
                    at = offset + line.index("$")
                    yield Written(
                        file,
                        job,
                        found[1],
                        variable,
                        _is_set(scalar.text, variable, given),
                        tuple(one.id for one in readers),
                        scalar.subspan(at, offset + len(line.rstrip())),
                    )


def _is_set(text: str, variable: str, given: set[str]) -> bool | None:
    if variable in given:
        return True
    # Any word with its name that is no use of it may set it: `read X`, `for X in`, `X+=`, `printf -v X`.
    if re.search(rf"(?<![\w$.-]){re.escape(variable)}(?![\w-])", re.sub(r"\$\{?[\w!#]+", "", text)):
        return True
    return None if _INDIRECT.search(text) else False


# --- selections ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Filter:
    job: Job
    variable: str
    item: str
    test: ast.expr
    readers: tuple[Job, ...]
    span: Span

    @property
    def evaluates(self) -> bool:
        return any(_constant(reader, "eval-only") == "true" for reader in self.readers)


def _constant(job: Job, name: str) -> str:
    pair = next((one for one in job.inputs if one.name == name), None)
    return str(to_text(pair.evaluate({}))) if pair is not None and pair.constant else ""


def selections(context: Context) -> Iterator[Selection]:
    """Parts of filters that keep throughput rows from every throughput job."""
    for file in workflow_files(context).values():
        filters = list(_filters(file))
        if not any(one.evaluates for one in filters):
            continue
        throughput = [one for one in filters if one.readers and not one.evaluates]
        for one in throughput:
            yield from _parts(context, file, one, filters, throughput)


def _filters(file: WorkflowFile) -> Iterator[_Filter]:
    for job, _step, scalar, place in _scripts(file):
        if " for " not in scalar.text:
            continue
        outputs: dict[str, list[str]] = {}
        for _, line in _lines(scalar):
            output = _OUTPUT.match(line) if len(line) <= MAX_LINE else None
            for variable in _VARIABLE.findall(output[2]) if output else ():
                outputs.setdefault(variable, []).append(output[1] if output else "")
        for offset, line in _lines(scalar):
            assigned, found = (_ASSIGNED.match(line), _FILTER.search(line)) if len(line) <= MAX_LINE else (None, None)
            if assigned is None or found is None or found[1] != found[2]:
                continue
            try:
                test = ast.parse(found[3], mode="eval").body
            except (SyntaxError, ValueError, RecursionError, MemoryError):
                continue
            readers = tuple(
                reader
                for output_name in outputs.get(assigned[1], ())
                for reader in readers_of(file, job, _step_id(file, place), output_name)
            )
            span = scalar.subspan(offset + found.start(3), offset + found.end(3))
            yield _Filter(job, assigned[1], found[1], test, readers, span)


def _parts(
    context: Context, file: WorkflowFile, one: _Filter, filters: list[_Filter], throughput: list[_Filter]
) -> Iterator[Selection]:
    parts = one.test.values if isinstance(one.test, ast.BoolOp) and isinstance(one.test.op, ast.And) else [one.test]
    for part in parts:
        if not isinstance(part, ast.UnaryOp) or not isinstance(part.op, ast.Not):
            continue
        rest = [other for other in parts if other is not part]
        lost = tuple(
            job
            for job in context.matrix
            if all(_holds(other, one.item, job.row) is True for other in rest)
            and _holds(part, one.item, job.row) is False
            and not any(_holds(other.test, other.item, job.row) is not False for other in throughput)
        )
        takers = [
            reader.id
            for other in filters
            if other.evaluates and lost and _holds(other.test, other.item, lost[0].row) is True
            for reader in other.readers
        ]
        if takers:
            yield Selection(
                file,
                one.job,
                one.variable,
                ast.unparse(part),
                _field(part.operand),
                lost,
                one.readers[0].id,
                takers[0],
                one.span,
            )


def _field(node: ast.expr) -> str:
    """The key that `x.get('key')` or `x['key']` reads."""
    match node:
        case ast.Call(func=ast.Attribute(attr="get"), args=[ast.Constant(value=str(key)), *_]):
            return key
        case ast.Subscript(slice=ast.Constant(value=str(key))):
            return key
    return ""


_UNDECIDED = object()


def _holds(node: ast.expr, item: str, row: Mapping[str, Any]) -> bool | None:
    value = _value(node, item, row)
    return None if value is _UNDECIDED else bool(value)


def _value(node: ast.expr, item: str, row: Mapping[str, Any]) -> Any:
    """The value of a test over a row, for the few forms that filters have; undecided for all others."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            value = _value(operand, item, row)
            return value if value is _UNDECIDED else not value
        case ast.BoolOp(op=op, values=values):
            return _logic(isinstance(op, ast.And), values, item, row)
        case ast.Call(
            func=ast.Attribute(value=ast.Name(id=name), attr="get"),
            args=[ast.Constant(value=str(key)), *rest],
            keywords=[],
        ) if name == item and len(rest) < 2:
            return row[key] if key in row else _value(rest[0], item, row) if rest else None
        case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=str(key))) if name == item and key in row:
            return row[key]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return _compare(left, op, right, item, row)
    return _UNDECIDED


def _logic(conjunction: bool, values: list[ast.expr], item: str, row: Mapping[str, Any]) -> Any:
    result: Any = conjunction
    for operand in values:
        value = _value(operand, item, row)
        if value is _UNDECIDED:
            result = _UNDECIDED
        elif bool(value) is not conjunction:
            return not conjunction
    return result


def _compare(left: ast.expr, op: ast.cmpop, right: ast.expr, item: str, row: Mapping[str, Any]) -> Any:
    first = _value(left, item, row)
    if isinstance(op, ast.In | ast.NotIn):
        if isinstance(right, ast.Name) and right.id == item and isinstance(first, str):
            return (first in row) is isinstance(op, ast.In)
        return _UNDECIDED
    second = _value(right, item, row)
    if first is _UNDECIDED or second is _UNDECIDED or not isinstance(op, ast.Eq | ast.NotEq):
        return _UNDECIDED
    return (first == second) is isinstance(op, ast.Eq)


# --- eval rows -------------------------------------------------------------------------------------------------------


def eval_rows(context: Context) -> Iterator[EvalRows]:
    """Kinds of eval rows that only a job of evals of another kind can take, with the fields that it then misses."""
    facts = context.configs.facts
    callers = context.workflows.callers
    marked = {
        (False, True): facts.evals.agentic_single,
        (True, True): facts.evals.agentic_multi,
    }
    present = {kind_of(job.row) for job in context.matrix}
    rows = context.once(rows_of_job)
    for (multinode, agentic), chosen in marked.items():
        if not chosen or (multinode, agentic) not in present:
            continue
        roots = dict.fromkeys(caller.workflow for caller in callers if caller.evaluation)
        for root in roots:
            own = [one for one in callers if one.workflow == root and one.evaluation]
            fitting = [one for one in own if one.multinode in (None, multinode)]
            throughput = [one for one in callers if one.workflow == root and not one.evaluation]
            if any(one.agentic in (None, agentic) for one in fitting) or not fitting:
                continue
            if not any(one.multinode in (None, multinode) and one.agentic is True for one in throughput):
                continue
            taker = fitting[0]
            level = taker.chain[taker.row_level]
            found = rows.get((level.workflow.path, level.job.id))
            shape = facts.shapes.get((AGENTIC, multinode))
            fixed = facts.shapes.get((FIXED, multinode))
            if found is None or shape is None or fixed is None:
                continue
            read = _read_fields(level.job, taker.row_path)
            missing = tuple(name for name in read if name in fixed.keys and name not in shape.keys)
            if missing:
                kind = f"{'multi-node' if multinode else 'single-node'} agentic"
                yield EvalRows(kind, found, taker, missing)


def _read_fields(job: Job, row_path: tuple[str, ...]) -> list[str]:
    depth = len(row_path)
    return list(
        dict.fromkeys(
            path[depth]
            for pair in job.inputs
            for path in pair.references()
            if path[:depth] == row_path and len(path) > depth
        )
    )


@dataclass(frozen=True, slots=True)
class Bucket:
    """Where the matrix of a job comes from; `tested` is the bucket of another job that its condition tests instead."""

    job: Job
    source: str
    tested: str
    other: str
    needed: str
    """The job whose output the matrix reads."""


def buckets(workflow: Workflow) -> dict[str, Bucket]:
    """The buckets of rows that the jobs of a workflow read, by job."""
    sources = {job.id: source for job in workflow.jobs.values() if (source := _source(job)) is not None}
    readers = {text: job for job, (text, _) in sources.items()}
    found: dict[str, Bucket] = {}
    for name, (text, needed) in sources.items():
        job = workflow.jobs[name]
        condition = job.condition.template.single if job.condition is not None and job.condition.template else None
        tested = dict.fromkeys(_tails(condition.node)) if condition is not None else {}
        wrong = "" if text in tested else next((one for one in tested if one in readers), "")
        found[name] = Bucket(job, text, wrong, readers.get(wrong, ""), needed)
    return found


def _source(job: Job) -> tuple[str, str] | None:
    for pair in [job.matrix] if job.matrix is not None else job.axes:
        single = pair.template.single if not pair.constant and pair.template is not None else None
        if single is not None and (text := _tail(single.node)):
            needed = {path[1] for path in single.references if path[0] == "needs" and len(path) > 1}
            return text, needed.pop() if len(needed) == 1 else ""
    return None


def _tail(node: Node) -> str:
    """`fromJson(needs.setup.outputs.rows).evals` as `rows.evals`, with an alternative in the middle left out."""
    keys: list[str] = []
    while isinstance(node, Index) and isinstance(node.key, Literal) and isinstance(node.key.value, str):
        path = static_path(node)
        if path is not None:
            return ".".join([path[3], *reversed(keys)]) if path[0] == "needs" and len(path) == 4 else ""
        keys.append(node.key.value)
        node = node.base
    if isinstance(node, Call) and node.name == "fromjson":
        inner = static_path(node.arguments[0])
        if inner is not None:
            return ".".join([inner[3], *reversed(keys)]) if inner[0] == "needs" and len(inner) == 4 else ""
        return ".".join(["*", *reversed(keys)]) if keys else ""
    return ""


def _tails(node: Node) -> Iterator[str]:
    text = _tail(node)
    if text:
        yield text
        return
    for child in children(node):
        yield from _tails(child)

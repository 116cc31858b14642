"""How generated rows reach workflow jobs: the fields that are read, filters, outputs, buckets and result names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from botlint.core.span import Span
from botlint.documents.expressions import Expression
from botlint.documents.workflow import Job
from botlint.engine.analysis.workflow_dispatch import undispatched, unread_buckets
from botlint.engine.analysis.workflow_labels import prefixes, source_label
from botlint.engine.analysis.workflow_results import result_names, shown
from botlint.engine.analysis.workflow_rows import RowsOfJob, rows_of_job
from botlint.engine.analysis.workflow_selections import buckets, eval_rows, selections, written
from botlint.engine.analysis.workflows import Piece, WorkflowFile, closest, key_span, workflow_files
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View
from botlint.layouts.inferencex.configs import first_line

# --- fields ----------------------------------------------------------------------------------------------------------


def _fields(context: Context, _chain: Chain) -> Iterator[Core]:
    rows = context.once(rows_of_job)
    everywhere = frozenset().union(*(one.fields for one in rows.values()))
    reads = list(_reads(context, rows))
    readers: dict[str, set[tuple[str, int]]] = {}
    for piece, _, path, _ in reads:
        readers.setdefault(path[-1], set()).add((piece.file.path, piece.scalar.start))
    common = frozenset(name for name, places in readers.items() if len(places) > 1)
    for piece, job, path, found in reads:
        values = _field(path[-1], found, everywhere, common)
        values |= {"file": piece.file.path, "job": job.id, "text": ".".join(path)}
        yield Core(f"{piece.file.path}:{job.id}:{path[-1]}", values, {"field": _place(piece, path), "job": job.span})


def _reads(
    context: Context, rows: Mapping[tuple[str, str], RowsOfJob]
) -> Iterator[tuple[Piece, Job, tuple[str, ...], RowsOfJob]]:
    for file in workflow_files(context).values():
        for piece in file.pieces:
            job = piece.job
            found = rows.get((file.path, job.id)) if job is not None else None
            if job is None or found is None or not isinstance(piece.read, Expression):
                continue
            depth = len(found.path)
            for path in dict.fromkeys(path[: depth + 1] for path in piece.read.references):
                if path[:depth] == found.path and len(path) > depth:
                    yield piece, job, path, found


def _place(piece: Piece, path: tuple[str, ...]) -> Anchor:
    return lambda _context, _chain: piece.find(path)


def _field(name: str, rows: RowsOfJob, everywhere: frozenset[str], common: frozenset[str]) -> dict[str, FactValue]:
    """What is known of a field; one that the generator does not make and that is read twice may come from elsewhere."""
    elsewhere = name not in rows.fields and name in everywhere
    known = name in rows.fields or (name in common and not elsewhere)
    return {
        "name": name,
        "known": known,
        "elsewhere": elsewhere,
        "closest": "" if known else closest(name, rows.fields | common),
        "kind": _kind(rows),
    }


def _kind(rows: RowsOfJob) -> str:
    words = [
        f"{'multi-node' if multinode else 'single-node'} {'agentic' if agentic else 'fixed-sequence'}"
        for multinode, agentic in rows.kinds
    ]
    return " and ".join(words)


FIELD = View(
    name="workflow_field",
    doc="A field of a generated row that a workflow job reads, such as `matrix.config.tp`.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job"),
        Fact("text", "string", "the path that is read"),
        Fact("name", "string", "the field"),
        Fact(
            "known",
            "bool",
            "whether the generator's rows for this job have it, or it is read in several places and no rows have it",
        ),
        Fact("elsewhere", "bool", "whether only rows for other jobs have it"),
        Fact("closest", "string", "the field of these rows that may be meant; empty if none is close"),
        Fact("kind", "string", "which rows the job takes"),
    ),
    anchors={"field": "where the field is read", "job": "the job's id"},
    build=_fields,
)

# --- filters ---------------------------------------------------------------------------------------------------------


def _selections(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in selections(context):
        yield Core(
            f"{one.file.path}:{one.job.id}:{one.variable}:{one.part}",
            {
                "file": one.file.path,
                "job": one.job.id,
                "variable": one.variable,
                "part": one.part,
                "field": one.field,
                "lost": len(one.lost),
                "example": one.lost[0].entry if one.lost else "",
                "reader": one.reader,
                "taken_by": one.taken_by,
            },
            {
                "filter": one.span,
                "taker": _job_span(one.file, one.taken_by),
                "arm": one.lost[0].arm if one.lost else None,
            },
        )


def _job_span(file: WorkflowFile, job: str) -> Span | None:
    found = file.workflow.jobs.get(job)
    return found.span if found else None


SELECTION = View(
    name="workflow_selection",
    doc="A part of a filter in a step's script that keeps generated rows from every job but one that only runs evals.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job with the script"),
        Fact("variable", "string", "the variable of the script that gets the rows"),
        Fact("part", "string", "the part of the condition"),
        Fact("field", "string", "the field that it tests"),
        Fact("lost", "int", "how many generated rows only this part keeps from a benchmark"),
        Fact("example", "string", "the entry of one of them"),
        Fact("reader", "string", "the job that gets the filtered rows"),
        Fact("taken_by", "string", "the job that runs evals and gets these rows"),
    ),
    anchors={
        "filter": "the condition of the filter",
        "taker": "the job that only runs evals and gets these rows",
        "arm": "the arm of one of them",
    },
    build=_selections,
)

# --- outputs ---------------------------------------------------------------------------------------------------------


def _outputs(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in written(context):
        values: dict[str, FactValue] = {
            "file": one.file.path,
            "job": one.job.id,
            "output": one.output,
            "variable": one.variable,
            "readers": list(one.readers),
        }
        if one.set is not None:
            values["set"] = one.set
        reader = one.file.workflow.jobs.get(one.readers[0]) if one.readers else None
        anchors = {"output": one.span, "reader": reader.span if reader else None}
        yield Core(f"{one.file.path}:{one.job.id}:{one.output}:{one.variable}", values, anchors)


OUTPUT = View(
    name="workflow_output",
    doc="A line of a step's script that writes an output from a shell variable.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job with the step"),
        Fact("output", "string", "the output"),
        Fact("variable", "string", "the variable"),
        Fact("set", "bool", "whether the script or an `env:` sets the variable"),
        Fact("readers", "list<string>", "jobs whose matrix is made of the output"),
    ),
    anchors={"output": "where the variable is read", "reader": "the first job whose matrix is made of the output"},
    build=_outputs,
)

# --- buckets ---------------------------------------------------------------------------------------------------------


def _buckets(context: Context, _chain: Chain) -> Iterator[Core]:
    known = prefixes(context)
    for file in workflow_files(context).values():
        for name, one in buckets(file.workflow).items():
            job = one.job
            strategy = file.node("jobs", name, "strategy")
            other = file.workflow.jobs.get(one.other)
            yield Core(
                f"{file.path}:{name}",
                {
                    "file": file.path,
                    "job": name,
                    "source": one.source,
                    "tested": one.tested,
                    "other": one.other,
                    "needed": one.needed,
                    "other_model": source_label(job, one.needed, known),
                },
                {
                    "matrix": key_span(strategy, "matrix") or job.span,
                    "condition": job.condition.span if job.condition else None,
                    "other": other.span if other else None,
                },
            )


BUCKET = View(
    name="workflow_bucket",
    doc="A job whose matrix is made of rows in the output of another job.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job"),
        Fact("source", "string", "which rows it takes: the output and the keys below it"),
        Fact("tested", "string", "the rows of another job that its condition tests instead of its own; else empty"),
        Fact("other", "string", "that job"),
        Fact("needed", "string", "the job whose output it is"),
        Fact("other_model", "string", "the model in that job's id, if the job's own id names another one; else empty"),
    ),
    anchors={"matrix": "the matrix", "condition": "the `if:`", "other": "the job whose rows are tested"},
    build=_buckets,
)


def _eval_rows(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in eval_rows(context):
        level = one.caller.chain[one.caller.row_level]
        yield Core(
            f"{level.workflow.path}:{level.job.id}:{one.kind}",
            {"file": level.workflow.path, "job": level.job.id, "kind": one.kind, "missing": list(one.missing)},
            {"job": level.job.span},
        )


EVAL_ROWS = View(
    name="workflow_eval_rows",
    doc="A kind of eval rows that no job of a workflow takes but one for eval rows of another kind.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job that gets them"),
        Fact("kind", "string", "the kind of rows"),
        Fact("missing", "list<string>", "fields that the job reads and that rows of this kind do not have"),
    ),
    anchors={"job": "the job's id"},
    build=_eval_rows,
)

# --- results ---------------------------------------------------------------------------------------------------------


def _results(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in result_names(context):
        values: dict[str, FactValue] = {
            "file": one.file.path,
            "variable": one.variable.name,
            "caller": one.call.job.id,
            "missing": list(one.sizes),
            "clashes": one.clashes,
            "differing": list(one.missing),
        }
        if one.clash is not None:
            first, second = one.clash
            values |= {
                "first": first.entry,
                "second": second.entry,
                "first_value": shown(first.row, one.missing[0]),
                "second_value": shown(second.row, one.missing[0]),
            }
        yield Core(
            f"{one.file.path}:{one.variable.name}",
            values,
            {
                "name": one.variable.span,
                "caller": one.call.job.span,
                "first": one.clash[0].arm if one.clash else None,
                "second": one.clash[1].arm if one.clash else None,
            },
        )


RESULT_NAME = View(
    name="workflow_result_name",
    doc="The variable that names the result files of a called workflow, for one call that takes generated rows.",
    facts=(
        Fact("file", "string", "path of the called workflow"),
        Fact("variable", "string", "the variable"),
        Fact("caller", "string", "the calling job"),
        Fact("missing", "list<string>", "numbers and switches of an arm that are passed and not part of the name"),
        Fact("clashes", "int", "generated rows that have the name of another, different row on the same runner label"),
        Fact("differing", "list<string>", "the fields in which such rows differ"),
        Fact("first", "string", "the entry of one such row"),
        Fact("second", "string", "the entry of the other"),
        Fact("first_value", "string", "the first differing field in the one"),
        Fact("second_value", "string", "and in the other"),
    ),
    anchors={"name": "the variable", "caller": "the calling job", "first": "the one arm", "second": "the other arm"},
    build=_results,
)

# --- rows that no job runs -------------------------------------------------------------------------------------------


def _unread(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in unread_buckets(context):
        yield Core(
            f"{one.file.path}:{one.key}",
            {"file": one.file.path, "job": one.job.id, "key": one.key, "read": list(one.read)},
            {"key": one.span, "job": one.job.span},
        )


UNREAD_BUCKET = View(
    name="workflow_unread_bucket",
    doc="A list of rows in the output of a script that nothing in the workflow reads, although it reads others.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job that runs the script"),
        Fact("key", "string", "the key of the list"),
        Fact("read", "list<string>", "keys that the workflow reads"),
    ),
    anchors={"key": "where the script makes the list", "job": "the job that runs the script"},
    build=_unread,
)


def _undispatched(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in undispatched(context):
        yield Core(
            f"{one.first.entry}:{one.kind}",
            {
                "entry": one.first.entry,
                "rows": one.count,
                "kind": one.kind,
                "taker": one.taker,
                "sweep": one.sweep,
            },
            {"place": first_line(one.first.source.config_node.span), "taker": one.taker_span},
        )


UNDISPATCHED = View(
    name="workflow_undispatched",
    doc="Rows of one scenario of an entry that no workflow of a sweep takes, although there is one for others.",
    facts=(
        Fact("entry", "string", "the entry"),
        Fact("rows", "int", "how many rows there are"),
        Fact("kind", "string", "what they are: nodes, and lengths or agentic"),
        Fact("taker", "string", "the job of a dispatched workflow that takes them; empty if there is none"),
        Fact("sweep", "string", "path of the workflow that takes the other rows"),
    ),
    anchors={"place": "the scenario in the config", "taker": "the job of a dispatched workflow"},
    build=_undispatched,
)

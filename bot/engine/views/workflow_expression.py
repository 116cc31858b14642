"""Expressions of workflow files, and what the paths that they read name."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.documents.expressions import Expression
from botlint.engine.analysis.workflow_names import Reference, references
from botlint.engine.analysis.workflows import (
    AVAILABLE,
    STATUS_FUNCTIONS,
    Piece,
    closest,
    names_in,
    workflow_files,
)
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View


def where(piece: Piece) -> str:
    """The place of an expression without positions."""
    names = [str(part) for part in piece.place if isinstance(part, str)]
    return f"{piece.file.path}:{'.'.join(names)}"


def _expressions(context: Context, _chain: Chain) -> Iterator[Core]:
    for file in workflow_files(context).values():
        for piece in file.pieces:
            yield _expression(piece)


def _expression(piece: Piece) -> Core:
    text, key = piece.text[:200], piece.key
    values: dict[str, FactValue] = {"file": piece.file.path, "text": text, "key": key}
    begin, end = piece.start, piece.end
    if isinstance(piece.read, Expression):
        used, functions = names_in(piece.read)
        values |= {"problem": "", "closest": ""}
        allowed = AVAILABLE.get(key)
        if allowed is not None:
            values["unavailable"] = [name for name in used if name not in allowed]
            values["allowed"] = ", ".join(sorted(allowed))
        if key:
            values["misplaced"] = [name for name in functions if not _function_fits(name, key)]
    else:
        wrong = piece.scalar.text[piece.start + piece.read.start : piece.start + piece.read.end]
        values |= {"problem": piece.read.message, "closest": _meant(piece.read.message, wrong)}
        begin = piece.start + piece.read.start
        end = min(piece.start + max(piece.read.end, piece.read.start + 1), len(piece.scalar.text))
    return Core(
        f"{where(piece)}:{text[:100]}",
        values,
        {"expression": lambda _context, _chain: piece.scalar.subspan(begin, end)},
    )


def _function_fits(name: str, key: str) -> bool:
    if name in STATUS_FUNCTIONS:
        return key.endswith(".if")
    return name != "hashfiles" or ".steps." in key


def _meant(message: str, wrong: str) -> str:
    return (
        closest(wrong, ("github", "inputs", "matrix", "needs", "runner", "secrets", "steps", "strategy", "vars", "env"))
        if ("unknown context" in message)
        else ""
    )


VIEW = View(
    name="workflow_expression",
    doc="A `${{ }}` expression, or the text of an `if:`, in a workflow file.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("text", "string", "the expression on one line"),
        Fact("key", "string", "where it stands, as in GitHub's pages: `jobs.<job_id>.steps.run`"),
        Fact("problem", "string", "why GitHub cannot read it; empty if it can"),
        Fact("closest", "string", "the context that an unknown one may mean; empty if none is close"),
        Fact("unavailable", "list<string>", "contexts that it reads and that are not available there"),
        Fact("allowed", "string", "the contexts that are available there"),
        Fact("misplaced", "list<string>", "functions that it calls and that are not available there"),
    ),
    anchors={"expression": "the expression, or the part of it that cannot be read"},
    build=_expressions,
)


def _references(context: Context, _chain: Chain) -> Iterator[Core]:
    for reference in references(context):
        yield _reference(reference)


def _reference(found: Reference) -> Core:
    piece = found.piece
    values: dict[str, FactValue] = {
        "file": piece.file.path,
        "text": ".".join(found.path),
        "context": ".".join(found.path[:3]) if found.path[0] == "github" and len(found.path) > 3 else found.path[0],
        "name": found.name,
        "of": found.of,
        "closest": found.closest,
        "output": found.output,
        "closest_output": found.output_closest,
        "elsewhere": found.elsewhere,
        "key": piece.key,
    }
    if found.declared is not None:
        values["declared"] = found.declared
    if found.output_declared is not None:
        values["output_declared"] = found.output_declared
    return Core(
        f"{where(piece)}:{'.'.join(found.path)}",
        values,
        {
            "reference": lambda _context, _chain: found.span,
            "declaration": found.related,
            "job": piece.job.span if piece.job is not None else None,
        },
    )


REFERENCE = View(
    name="workflow_reference",
    doc="A fixed path that an expression of a workflow file reads, such as `inputs.tp` or `needs.setup.outputs.rows`.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("text", "string", "the path"),
        Fact("context", "string", "`inputs`, `github.event.inputs`, `needs`, `steps`, `matrix`, `env`, `github` ..."),
        Fact("name", "string", "what must exist: the input, job, step, axis, variable or property"),
        Fact("declared", "bool", "whether it does; for `needs`, whether the job lists it"),
        Fact("of", "string", "where it is looked for"),
        Fact("closest", "string", "the existing name that may be meant; empty if none is close"),
        Fact("output", "string", "the output of a needed job that is asked for; empty if none"),
        Fact("output_declared", "bool", "whether that job declares the output"),
        Fact("closest_output", "string", "the declared output that may be meant; empty if none is close"),
        Fact("elsewhere", "bool", "a need: whether there is such a job; a step: whether a later step has the id"),
        Fact("key", "string", "where the expression stands, as in GitHub's pages"),
    ),
    anchors={"reference": "where the path is read", "declaration": "where the thing is declared", "job": "the job"},
    build=_references,
)

"""Jobs of workflow files as they depend on each other: needs, conditions, what a skipped job takes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.documents import expressions
from botlint.documents.expressions import Expression, static_path, truthy
from botlint.documents.workflow import Field, Job, Workflow
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Scalar, Sequence
from botlint.engine.analysis.workflows import WorkflowFile, closest, has_status_function, key_span, workflow_files

if TYPE_CHECKING:
    from botlint.engine.context import Context


@dataclass(frozen=True, slots=True)
class Need:
    """One name in the `needs:` of a job."""

    file: WorkflowFile
    job: Job
    name: str
    span: Span
    exists: bool
    closest: str
    circular: bool


@dataclass(frozen=True, slots=True)
class Skip:
    """A job that a skipped one takes with it although the conditions read otherwise.

    `through` is the job between them that runs all the same, and `event` a trigger for which that happens; both empty
    where `skipped` is needed directly.
    """

    skipped: Job
    through: str = ""
    event: str = ""


# --- needs -----------------------------------------------------------------------------------------------------------


def needs(context: Context) -> Iterator[Need]:
    """The needs of all jobs."""
    for file in workflow_files(context).values():
        jobs = file.workflow.jobs
        whole = not any(problem.kind == "workflow" for problem in file.workflow.problems) and not file.document.lost
        for job in jobs.values():
            for scalar in _need_nodes(file, job):
                exists = scalar.text in jobs
                if exists or whole:
                    near = "" if exists else closest(scalar.text, jobs)
                    circular = exists and job.id in _ancestors(file.workflow, scalar.text)
                    yield Need(file, job, scalar.text, scalar.span, exists, near, circular)


def _need_nodes(file: WorkflowFile, job: Job) -> list[Scalar]:
    node = file.node("jobs", job.id, "needs")
    items = node.items if isinstance(node, Sequence) else [node]
    return [item for item in items if isinstance(item, Scalar) and item.value is not None]


def _ancestors(workflow: Workflow, name: str) -> dict[str, None]:
    """The jobs that must end before a job starts, itself included, nearest first."""
    found: dict[str, None] = {name: None}
    queue = [name]
    while queue:
        job = workflow.jobs.get(queue.pop(0))
        for need in () if job is None else job.needs:
            if need not in found:
                found[need] = None
                queue.append(need)
    return found


# --- conditions ------------------------------------------------------------------------------------------------------


def condition_of(pair: Field | None) -> Expression | None:
    """The single expression of an `if:`; None where there is none or it is a text with several."""
    return pair.template.single if pair is not None and pair.template is not None else None


def keeps_default(job: Job) -> bool | None:
    """Whether `success()` is implied: there is no status function in the condition; None if it cannot be read."""
    if job.condition is None:
        return True
    single = condition_of(job.condition)
    return None if single is None else not has_status_function(single.node)


def mixed(pair: Field) -> bool:
    """Whether there is text around the expressions of an `if:`, if only a line end: a text that is never empty."""
    template = pair.template
    return template is not None and any(isinstance(part, str) for part in template.parts)


def text_booleans(pair: Field, workflow: Workflow) -> list[str]:
    """Boolean inputs whose text `github.event.inputs.X` is used as a truth: the text 'false' is true."""
    single = condition_of(pair)
    if single is None:
        return []
    return [name for name in _truths(single.node) if _is_boolean(workflow, name)]


def _is_boolean(workflow: Workflow, name: str) -> bool:
    declared = workflow.dispatch_inputs.get(name.lower())
    return declared is not None and declared.type == "boolean"


def _truths(node: expressions.Node) -> Iterator[str]:
    """The inputs of the event that stand where only their truth counts."""
    if isinstance(node, expressions.Logic):
        for operand in node.operands:
            yield from _truths(operand)
    elif isinstance(node, expressions.Not):
        yield from _truths(node.operand)
    else:
        path = static_path(node)
        if path is not None and len(path) == 4 and [part.lower() for part in path[:3]] == ["github", "event", "inputs"]:
            yield path[3]


def skips(file: WorkflowFile, job: Job) -> Skip | None:
    """The job whose skip takes this one along, against what the conditions say; None if there is none."""
    if keeps_default(job) is not True:
        return None
    single = condition_of(job.condition)
    if single is not None:
        for need in job.needs:
            target = file.workflow.jobs.get(need)
            reads = ("needs", need, "result") in single.references
            if target is not None and target.condition is not None and reads and _allows(single, need, "skipped"):
                return Skip(target)
    for need in job.needs:
        between = file.workflow.jobs.get(need)
        if between is None or keeps_default(between) is not False:
            continue
        for ancestor in between.needs:
            target = file.workflow.jobs.get(ancestor)
            if target is not None and target.condition is not None and ancestor not in job.needs:
                event = _inherits(file, job, between, target)
                if event:
                    return Skip(target, between.id, event)
    return None


def _inherits(file: WorkflowFile, job: Job, between: Job, target: Job) -> str:
    """A trigger that surely skips a job while the job after it and the one after that may run; empty if none does."""
    skipping, tolerant = condition_of(target.condition), condition_of(between.condition)
    if skipping is None or tolerant is None:
        return ""
    single = condition_of(job.condition)
    for event, action in _triggers(file):
        github = expressions.Context("github", {"event_name": event})
        if action:
            github["event"] = expressions.Context("github.event", {"action": action})
        if skipping.truth({"github": github}) is not False:
            continue
        skipped = expressions.Context("needs", {target.id: {"result": "skipped", "outputs": {}}})
        if tolerant.truth({"github": github, "needs": skipped}) is False:
            continue
        outputs = expressions.Context(f"needs.{between.id}.outputs")
        ran = expressions.Context("needs", {between.id: {"result": "success", "outputs": outputs}})
        if single is None or single.truth({"github": github, "needs": ran}) is not False:
            return f"{event} ({action})" if action else event
    return ""


_DEFAULT_ACTIONS = ("opened", "synchronize", "reopened")


def _triggers(file: WorkflowFile) -> Iterator[tuple[str, str]]:
    """The events that start a workflow, with the activity types of pull requests."""
    for event in file.workflow.events:
        types = file.node("on", event, "types")
        named = [item.text for item in types.items if isinstance(item, Scalar)] if isinstance(types, Sequence) else []
        if event in ("pull_request", "pull_request_target"):
            for action in named or _DEFAULT_ACTIONS:
                yield event, action
        elif named:
            for action in named:
                yield event, action
        elif event != "workflow_call":  # a called workflow has the event of its caller
            yield event, ""


def _allows(condition: Expression, need: str, result: str) -> bool:
    """Whether a condition may be met when a needed job ended so."""
    outputs = {} if result == "skipped" else expressions.Context(f"needs.{need}.outputs")
    known = expressions.Context("needs", {need: {"result": result, "outputs": outputs}})
    return condition.truth({"needs": known}) is not False


# --- toggles ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Toggle:
    """The condition of a sibling that a job lacks: of one with the same value of `argument` if that is not empty."""

    sibling: Job
    text: str
    argument: str
    value: str
    siblings: int


MIN_SIBLINGS = 3


def missing_toggle(file: WorkflowFile, job: Job) -> Toggle | None:
    """What switches off all other calls of the workflow that a job calls without a condition."""
    if job.uses is None or job.condition is not None:
        return None
    siblings = [other for other in file.workflow.jobs.values() if other.uses == job.uses and other is not job]
    if len(siblings) < MIN_SIBLINGS - 1 or any(other.condition is None for other in siblings):
        return None
    own = _constants(job)
    for other in siblings:
        theirs = _constants(other)
        shared = own.get("runner")
        if shared is not None and theirs.get("runner") == shared:
            return Toggle(other, _shown(other.condition), "runner", shared, len(siblings))
    return Toggle(siblings[0], _shown(siblings[0].condition), "", "", len(siblings))


def _constants(job: Job) -> dict[str, str]:
    return {pair.name: str(expressions.to_text(pair.evaluate({}))) for pair in job.inputs if pair.constant}


def _shown(pair: Field | None) -> str:
    return "" if pair is None or not isinstance(pair.node, Scalar) else " ".join(pair.node.text.split())[:120]


# --- concurrency -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Concurrency:
    """The `concurrency:` of a workflow: `cancels` is None if that is an expression."""

    group: str
    cancels: bool | None
    reads: frozenset[tuple[str, ...]]
    span: Span


def concurrency(file: WorkflowFile) -> Concurrency | None:
    """How runs of a workflow exclude each other; None if they do not."""
    node = file.node("concurrency")
    group = node.get("group") if isinstance(node, YamlMapping) else node
    if not isinstance(group, Scalar):
        return None
    cancel = node.get("cancel-in-progress") if isinstance(node, YamlMapping) else None
    cancels: bool | None = False
    if isinstance(cancel, Scalar):
        cancels = None if "${{" in cancel.text else bool(truthy(cancel.value))
    reads = frozenset(
        path
        for piece in file.pieces
        if piece.place[:1] == ("concurrency",) and isinstance(piece.read, Expression)
        for path in piece.read.references
    )
    span = key_span(node, "group") or group.span
    return Concurrency(
        " ".join(group.text.split())[:200],
        cancels,
        reads,
        Span(span.path, span.line, span.column, group.span.end_line, group.span.end_column),
    )


def label_events(file: WorkflowFile) -> Mapping[str, Span]:
    """The activity types of pull requests for which a label starts a run, with their places."""
    found: dict[str, Span] = {}
    for event in ("pull_request", "pull_request_target"):
        types = file.node("on", event, "types")
        for item in types.items if isinstance(types, Sequence) else [types]:
            if isinstance(item, Scalar) and item.text in ("labeled", "unlabeled"):
                found[item.text] = item.span
    return found

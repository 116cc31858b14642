"""Workflow files, their jobs, needs and conditions."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.core.span import Span
from botlint.documents.workflow import Field, Workflow
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Scalar
from botlint.engine.analysis.workflow_jobs import (
    concurrency,
    keeps_default,
    label_events,
    missing_toggle,
    mixed,
    needs,
    skips,
    text_booleans,
)
from botlint.engine.analysis.workflows import WorkflowFile, workflow_files
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View


def _workflows(context: Context, _chain: Chain) -> Iterator[Core]:
    for file in workflow_files(context).values():
        values: dict[str, FactValue] = {"file": file.path, "events": list(file.workflow.events)}
        labels = label_events(file)
        group = concurrency(file)
        values["label_events"] = list(labels)
        if group is not None:
            values["group"] = group.group
            if group.cancels is not None:
                values["cancels"] = group.cancels
            values["group_reads_label"] = any(
                path[:3] in (("github", "event", "action"), ("github", "event", "label"))
                or path == ("github", "run_id")
                for path in group.reads
            )
            values["group_reads_pull_request"] = any(
                path[:3] in (("github", "event", "pull_request"), ("github", "event", "number"))
                or path in (("github", "head_ref"), ("github", "ref"))
                for path in group.reads
            )
        yield Core(
            file.path,
            values,
            {"group": group.span if group else None, "labels": next(iter(labels.values()), None)},
        )


WORKFLOW = View(
    name="workflow",
    doc="A file in `.github/workflows`.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("events", "list<string>", "what starts it"),
        Fact("label_events", "list<string>", "`labeled` and `unlabeled`, where its pull request events name them"),
        Fact("group", "string", "its concurrency group"),
        Fact("cancels", "bool", "whether a new run of the group cancels a running one"),
        Fact("group_reads_label", "bool", "whether the group depends on the action, the label or the run"),
        Fact("group_reads_pull_request", "bool", "whether the group depends on the pull request"),
    ),
    anchors={"group": "the concurrency group", "labels": "the event of a label"},
    build=_workflows,
)


def _problems(context: Context, _chain: Chain) -> Iterator[Core]:
    for file in workflow_files(context).values():
        for problem in file.workflow.problems:
            if problem.span in _defaults(file):
                continue  # a default of another type is told with the input
            yield Core(
                f"{file.path}:{problem.kind}:{problem.message}",
                {"file": file.path, "kind": problem.kind, "text": problem.message},
                {"place": problem.span},
            )


def _defaults(file: WorkflowFile) -> set[Span]:
    """Where the defaults of inputs are."""
    found: set[Span] = set()
    for event in ("workflow_call", "workflow_dispatch"):
        declared = file.node("on", event, "inputs")
        for _, node in declared.pairs() if isinstance(declared, YamlMapping) else ():
            default = node.get("default") if isinstance(node, YamlMapping) else None
            if default is not None:
                found.add(default.span)
    return found


PROBLEM = View(
    name="workflow_problem",
    doc="Something in a workflow file that is not YAML, is written twice, or has another shape than GitHub takes.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("kind", "string", "`workflow` for a shape, else the kind of YAML problem (`duplicate-key`, `syntax` ...)"),
        Fact("text", "string", "what is wrong"),
    ),
    anchors={"place": "where it is"},
    build=_problems,
)


def _jobs(context: Context, _chain: Chain) -> Iterator[Core]:
    for file in workflow_files(context).values():
        for job in file.workflow.jobs.values():
            values: dict[str, FactValue] = {"file": file.path, "id": job.id, "conditional": job.condition is not None}
            default = keeps_default(job)
            if default is not None:
                values["default_status"] = default
            skip = skips(file, job)
            toggle = missing_toggle(file, job)
            values |= {
                "skipped_with": skip.skipped.id if skip else "",
                "skipped_through": skip.through if skip else "",
                "skipping_event": skip.event if skip else "",
                "toggle": toggle.text if toggle else "",
                "toggle_sibling": toggle.sibling.id if toggle else "",
                "toggle_argument": toggle.argument if toggle else "",
                "toggle_value": toggle.value if toggle else "",
                "siblings": toggle.siblings if toggle else 0,
            }
            yield Core(
                f"{file.path}:{job.id}",
                values,
                {
                    "job": job.span,
                    "condition": job.condition.span if job.condition else None,
                    "skipped": skip.skipped.condition.span if skip and skip.skipped.condition else None,
                    "toggle": toggle.sibling.span if toggle else None,
                },
            )


JOB = View(
    name="workflow_job",
    doc="A job of a workflow file.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("id", "string", "the job's id"),
        Fact("conditional", "bool", "whether it has an `if:`"),
        Fact("default_status", "bool", "whether its condition has no status function, so that `success()` is implied"),
        Fact(
            "skipped_with", "string", "a job whose skip skips this one against what the conditions say; empty if none"
        ),
        Fact(
            "skipped_through",
            "string",
            "the needed job that runs in between all the same; empty if it is needed itself",
        ),
        Fact("skipping_event", "string", "a trigger for which that happens; empty if it is needed itself"),
        Fact(
            "toggle", "string", "the condition of a sibling, where all other calls of its workflow have one; else empty"
        ),
        Fact("toggle_sibling", "string", "that sibling"),
        Fact("toggle_argument", "string", "the input to which both pass the same text; empty if there is none"),
        Fact("toggle_value", "string", "that text"),
        Fact("siblings", "int", "how many other jobs call the same workflow, all with a condition"),
    ),
    anchors={
        "job": "the job's id",
        "condition": "its `if:`",
        "skipped": "the condition of the job that may be skipped",
        "toggle": "the sibling with the condition",
    },
    build=_jobs,
)


def _needs(context: Context, _chain: Chain) -> Iterator[Core]:
    for need in needs(context):
        yield Core(
            f"{need.file.path}:{need.job.id}:{need.name}",
            {
                "file": need.file.path,
                "job": need.job.id,
                "name": need.name,
                "exists": need.exists,
                "closest": need.closest,
                "circular": need.circular,
            },
            {"need": need.span, "job": need.job.span},
        )


NEED = View(
    name="workflow_need",
    doc="One name in the `needs:` of a job.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job that needs"),
        Fact("name", "string", "the name"),
        Fact("exists", "bool", "whether the workflow has such a job"),
        Fact("closest", "string", "the job that may be meant; empty if none is close"),
        Fact("circular", "bool", "whether that job needs this one in turn"),
    ),
    anchors={"need": "the name in `needs:`", "job": "the job's id"},
    build=_needs,
)


def _conditions(context: Context, _chain: Chain) -> Iterator[Core]:
    for file in workflow_files(context).values():
        for job in file.workflow.jobs.values():
            if job.condition is not None:
                yield _condition(file, job.id, job.condition)
            for step in job.steps:
                if step.condition is not None:
                    yield _condition(file, job.id, step.condition)


def _condition(file: WorkflowFile, job: str, pair: Field) -> Core:
    text = " ".join(pair.node.text.split()) if isinstance(pair.node, Scalar) else ""
    names = text_booleans(pair, file.workflow)
    return Core(
        f"{file.path}:{job}:if {text[:100]}",
        {"file": file.path, "job": job, "text": text[:200], "mixed": mixed(pair), "text_booleans": names},
        {"condition": pair.span, "declaration": _declaration(file.workflow, names)},
    )


def _declaration(workflow: Workflow, names: list[str]) -> Span | None:
    declared = workflow.dispatch_inputs.get(names[0].lower()) if names else None
    return declared.span if declared else None


CONDITION = View(
    name="workflow_condition",
    doc="The `if:` of a job or a step.",
    facts=(
        Fact("file", "string", "path of the workflow file"),
        Fact("job", "string", "the job that it is in"),
        Fact("text", "string", "the condition on one line"),
        Fact("mixed", "bool", "whether there is text around its expressions"),
        Fact("text_booleans", "list<string>", "boolean inputs whose text in `github.event.inputs` is used as a truth"),
    ),
    anchors={"condition": "the `if:`", "declaration": "where the first of these inputs is declared"},
    build=_conditions,
)

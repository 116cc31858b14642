"""Calls of reusable workflows, and the inputs that they pass, leave out and declare."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from botlint.core.span import Span
from botlint.documents.expressions import to_text
from botlint.documents.workflow import Field, Input
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Node, Scalar
from botlint.engine.analysis.workflow_calls import (
    LeftOut,
    WorkflowCall,
    input_uses,
    left_out,
    misfit,
    row_field,
    secrets_read,
    sibling_with_field,
    type_of,
    type_of_field,
    workflow_calls,
)
from botlint.engine.analysis.workflow_labels import length_label, model_label, prefixes
from botlint.engine.analysis.workflow_rows import at
from botlint.engine.analysis.workflows import WorkflowFile, closest, key_span, workflow_files
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View

MAX_SHOWN = 6

Spans = dict[str, Span | None]


def _text(pair: Field) -> str:
    return " ".join(pair.node.text.split())[:200] if isinstance(pair.node, Scalar) else f"({pair.node.kind})"


def _name(path: str) -> str:
    return path.rpartition("/")[2]


# --- calls -----------------------------------------------------------------------------------------------------------


def _calls(context: Context, _chain: Chain) -> Iterator[Core]:
    calls = workflow_calls(context)
    for call in calls:
        target = call.target
        passed = call.secrets
        read = secrets_read(target) if target is not None else {}
        dropped = _quietly_left_out(call, calls)
        missing = (
            [] if passed is None or (target and _own_secrets(target)) else [one for one in read if one not in passed]
        )
        yield Core(
            f"{call.file.path}:{call.job.id}",
            {
                "file": call.file.path,
                "job": call.job.id,
                "target": call.path,
                "exists": context.files.is_file(call.path),
                "callable": target is None or target.workflow.call_inputs is not None,
                "missing_secrets": missing,
                "left_out": [f"{one.declared.name} ({one.fallback or 'empty'})" for one in dropped],
                "sibling": dropped[0].sibling.job.id if dropped else "",
            },
            {
                "uses": call.uses_span,
                "job": call.job.span,
                "secret": read[missing[0]] if missing else None,
                "sibling": dropped[0].passed.span if dropped else None,
                "declaration": dropped[0].declared.span if dropped else None,
            },
        )


def _quietly_left_out(call: WorkflowCall, calls: tuple[WorkflowCall, ...]) -> list[LeftOut]:
    """The inputs left out that siblings pass, without those whose loss no row or arm can notice."""
    found: list[LeftOut] = []
    for name, declared in (call.declared or {}).items():
        if name in call.given or declared.required:
            continue
        one = left_out(call, declared, calls)
        if one is None or call.rows is None or (one.in_rows and one.others and not call.rows.caller.evaluation):
            continue
        if one.settable or (declared.type != "boolean" and (one.others or not one.in_rows)):
            found.append(one)
    return found


def _own_secrets(target: WorkflowFile) -> bool:
    """Whether a workflow may have secrets that no caller passes: those of an environment."""
    return any(target.node("jobs", job, "environment") is not None for job in target.workflow.jobs)


VIEW = View(
    name="workflow_call",
    doc="A job that calls a workflow of the repository.",
    facts=(
        Fact("file", "string", "path of the calling workflow"),
        Fact("job", "string", "the calling job"),
        Fact("target", "string", "path of the called workflow"),
        Fact("exists", "bool", "whether there is such a file"),
        Fact("callable", "bool", "whether the called workflow has `on: workflow_call`"),
        Fact("missing_secrets", "list<string>", "secrets that the called workflow reads and that are not passed"),
        Fact(
            "left_out",
            "list<string>",
            "inputs that it leaves out and most calls like it pass from the row, with what they get",
        ),
        Fact("sibling", "string", "a call that passes the first of them; empty if there is none"),
    ),
    anchors={
        "uses": "the `uses:` of the job",
        "job": "the job's id",
        "secret": "where the first missing secret is read",
        "sibling": "what the sibling passes for the first input left out",
        "declaration": "the declaration of that input",
    },
    build=_calls,
)


# --- what is passed --------------------------------------------------------------------------------------------------


def _arguments(context: Context, _chain: Chain) -> Iterator[Core]:
    calls = workflow_calls(context)
    for call in calls:
        for name, pair in call.given.items():
            yield _argument(context, call, name, pair, calls)


def _argument(context: Context, call: WorkflowCall, name: str, pair: Field, calls: tuple[WorkflowCall, ...]) -> Core:
    declared = call.declared
    found = declared.get(name) if declared is not None else None
    values: dict[str, FactValue] = {
        "file": call.file.path,
        "job": call.job.id,
        "target": _name(call.path),
        "name": pair.name,
        "text": _text(pair),
        "constant": pair.constant,
        "label": "",
        "sibling_field": "",
        "other_values": [],
        "taken_from": "",
    }
    anchors: Spans = {"argument": pair.span, "declaration": found.span if found else None}
    if declared is not None:
        values["declared"] = found is not None
        others = (one.name for one in declared.values() if one.name.lower() not in call.given)
        values["closest"] = "" if found else closest(pair.name, others)
        anchors["declaration"] = found.span if found else _inputs_span(call)
    given = type_of_field(pair, call.file.workflow)
    if found is not None:
        values["type"] = found.type
        if given is not None:
            values["given_type"] = given
            values["misfit"] = misfit(found.type, given)
    if pair.constant:
        _add_labels(context, call, name, pair, values, anchors)
        _add_sibling(call, name, pair, calls, values, anchors)
    else:
        _add_field(call, name, pair, values)
    return Core(f"{call.file.path}:{call.job.id}:{pair.name}", values, anchors)


def _inputs_span(call: WorkflowCall) -> Span | None:
    return key_span(call.target.node("on", "workflow_call"), "inputs") if call.target is not None else None


def _constant(pair: Field) -> str:
    return str(to_text(pair.evaluate({})))


def _add_labels(
    context: Context, call: WorkflowCall, name: str, pair: Field, values: dict[str, FactValue], anchors: Spans
) -> None:
    value = _constant(pair)
    label = length_label(call, name)
    if label is None and name == "exp-name":
        label = model_label(call, value, prefixes(context))
    if label is not None:
        same = label.value == value
        values |= {"label": label.text, "label_value": label.value, "label_source": label.source, "label_agrees": same}
        anchors["label"] = label.span


def _add_sibling(
    call: WorkflowCall,
    name: str,
    pair: Field,
    calls: tuple[WorkflowCall, ...],
    values: dict[str, FactValue],
    anchors: Spans,
) -> None:
    found = sibling_with_field(call, name, calls)
    if found is None or call.rows is None:
        return
    sibling, other = found
    field = row_field(other, sibling)
    if field is None:
        return
    values |= {
        "sibling": sibling.job.id,
        "sibling_field": ".".join(field),
        "in_rows": field[0] in call.rows.fields,
        "settable": field[0] in call.rows.settable,
        "some_agree": call.rows.any_has(field, _constant(pair)),
        "for_evals": call.rows.caller.evaluation,
        "added": not any(field[0] in one.rows.fields for one in calls if one.rows is not None),
        "other_values": call.rows.others(field, _constant(pair))[:MAX_SHOWN],
    }
    anchors["sibling"] = other.span


def _add_field(call: WorkflowCall, name: str, pair: Field, values: dict[str, FactValue]) -> None:
    """Says so where an input gets the field of another input, and that changes what some row runs with."""
    field = row_field(pair, call)
    if field is None or call.rows is None or call.declared is None:
        return
    joined = "-".join(field)
    if joined == name or joined not in call.declared:
        return
    own = next((path for path in ((name,), tuple(name.split("-", 1))) if path[0] in call.rows.fields), None)
    if own is None:
        return
    for job in call.rows.jobs:
        mine, theirs = at(job.row, own), at(job.row, field)
        if isinstance(mine, list | dict) or mine is None:
            return
        if mine != theirs:
            values |= {
                "taken_from": ".".join(field),
                "own_field": ".".join(own),
                "own_value": str(to_text(mine)),
                "taken_value": str(to_text(theirs)),
                "example": job.entry,
            }
            return


ARGUMENT = View(
    name="workflow_argument",
    doc="An input that a job passes to a workflow of the repository.",
    facts=(
        Fact("file", "string", "path of the calling workflow"),
        Fact("job", "string", "the calling job"),
        Fact("target", "string", "file name of the called workflow"),
        Fact("name", "string", "the input"),
        Fact("text", "string", "what is passed, as written"),
        Fact("constant", "bool", "whether that holds no expression"),
        Fact("declared", "bool", "whether the called workflow declares the input"),
        Fact("closest", "string", "a declared input that is not passed and may be meant; empty if none is close"),
        Fact("type", "string", "the declared type"),
        Fact("given_type", "string", "the type of what is passed"),
        Fact("misfit", "bool", "whether GitHub refuses the one for the other"),
        Fact("label", "string", "what a name near the call says of the value (`8k1k`, a model); empty if nothing"),
        Fact("label_value", "string", "the value that this name stands for"),
        Fact("label_source", "string", "which name it is"),
        Fact("label_agrees", "bool", "whether the value is that"),
        Fact("sibling", "string", "another call of the same workflow, which passes a field of the row instead"),
        Fact("sibling_field", "string", "that field; empty if there is no such call"),
        Fact("in_rows", "bool", "whether the rows of this call have the field"),
        Fact("settable", "bool", "whether an arm or entry can set the field for these rows"),
        Fact("some_agree", "bool", "whether some of these rows has the constant in the field"),
        Fact("for_evals", "bool", "whether the job only takes rows that are chosen for an eval"),
        Fact("added", "bool", "whether no rows have the field as they are generated, so that a later step adds it"),
        Fact("other_values", "list<string>", "values of the field among these rows other than the constant"),
        Fact(
            "taken_from",
            "string",
            "the row's field, if it is that of another input and differs for some row; else empty",
        ),
        Fact("own_field", "string", "the field that has the input's name"),
        Fact("own_value", "string", "its value in such a row"),
        Fact("taken_value", "string", "the value that is passed for such a row"),
        Fact("example", "string", "the entry of such a row"),
    ),
    anchors={
        "argument": "the input and its value",
        "declaration": "its declaration, or the declared inputs",
        "sibling": "what the sibling passes",
        "label": "the name that says another value",
    },
    build=_arguments,
)


# --- what is left out ------------------------------------------------------------------------------------------------


def _parameters(context: Context, _chain: Chain) -> Iterator[Core]:
    calls = workflow_calls(context)
    for call in calls:
        for name, declared in (call.declared or {}).items():
            if name not in call.given:
                yield _parameter(call, declared, calls)


def _parameter(call: WorkflowCall, declared: Input, calls: tuple[WorkflowCall, ...]) -> Core:
    fallback = declared.fallback({})
    shown = str(to_text(fallback)) if isinstance(fallback, str | bool | int | float) else ""
    values: dict[str, FactValue] = {
        "file": call.file.path,
        "job": call.job.id,
        "target": _name(call.path),
        "name": declared.name,
        "type": declared.type,
        "required": declared.required,
        "has_default": declared.default is not None,
        "fallback": shown,
        "sibling": "",
        "other_values": [],
    }
    anchors: Spans = {"uses": call.uses_span, "job": call.job.span, "declaration": declared.span}
    found = left_out(call, declared, calls)
    if found is not None and call.rows is not None:
        values |= {
            "sibling": found.sibling.job.id,
            "field": ".".join(found.field),
            "in_rows": found.in_rows,
            "settable": found.settable,
            "other_values": list(found.others[:MAX_SHOWN]),
            "for_evals": call.rows.caller.evaluation,
        }
        anchors["sibling"] = found.passed.span
    return Core(f"{call.file.path}:{call.job.id}:{declared.name}", values, anchors)


PARAMETER = View(
    name="workflow_parameter",
    doc="An input that a called workflow declares and a job that calls it does not pass.",
    facts=(
        Fact("file", "string", "path of the calling workflow"),
        Fact("job", "string", "the calling job"),
        Fact("target", "string", "file name of the called workflow"),
        Fact("name", "string", "the input"),
        Fact("type", "string", "its declared type"),
        Fact("required", "bool", "whether it is declared as required"),
        Fact("has_default", "bool", "whether a default is declared"),
        Fact("fallback", "string", "the value that it gets instead"),
        Fact("sibling", "string", "a call of the same scenario that passes a field of the row, as most do; else empty"),
        Fact("field", "string", "that field"),
        Fact("in_rows", "bool", "whether the rows of this call have the field"),
        Fact("settable", "bool", "whether an arm or entry can set the field for these rows"),
        Fact("other_values", "list<string>", "values of the field among these rows other than the fallback"),
        Fact("for_evals", "bool", "whether the job only takes rows that are chosen for an eval"),
    ),
    anchors={
        "uses": "the `uses:` of the job",
        "job": "the job's id",
        "declaration": "the declaration of the input",
        "sibling": "what the sibling passes",
    },
    build=_parameters,
)


# --- what is declared ------------------------------------------------------------------------------------------------

_TYPES = {
    "workflow_call": ("boolean", "number", "string"),
    "workflow_dispatch": ("boolean", "number", "string", "choice", "environment"),
}


def _inputs(context: Context, _chain: Chain) -> Iterator[Core]:
    passed = {
        (call.path, name)
        for call in workflow_calls(context)
        for name, pair in call.given.items()
        if row_field(pair, call) is not None
    }
    for file in workflow_files(context).values():
        uses = input_uses(file)
        for event in _TYPES:
            declared = file.node("on", event, "inputs")
            for key, node in declared.pairs() if isinstance(declared, YamlMapping) else ():
                core = _input(file, event, key, node, uses)
                from_rows = event == "workflow_call" and (file.path, key.text.lower()) in passed
                yield replace(core, values={**core.values, "from_rows": from_rows})


def _input(file: WorkflowFile, event: str, key: Scalar, node: Node, uses: Mapping[str, tuple[str, ...]] | None) -> Core:
    kind = node.get("type") if isinstance(node, YamlMapping) else None
    default = node.get("default") if isinstance(node, YamlMapping) else None
    kind_text = kind.text if isinstance(kind, Scalar) else "" if event == "workflow_call" else "string"
    values: dict[str, FactValue] = {
        "file": file.path,
        "event": event,
        "name": key.text,
        "type": kind_text,
        "known_type": kind_text in _TYPES[event],
        "default": " ".join(default.text.split())[:80] if isinstance(default, Scalar) else "",
    }
    default_type = _default_type(default)
    if default_type is not None:
        values["default_type"] = default_type
        values["misfit"] = misfit("string" if kind_text in ("choice", "environment") else kind_text, default_type)
    if uses is not None:
        places = uses.get(key.text.lower(), ())
        values["used"] = bool(places)
        values["used_in"] = list(places)
    other = _other(file, event)
    if other is not None:
        values["in_other_event"] = key.text.lower() in {one.text.lower() for one, _ in other.pairs()}
    return Core(
        f"{file.path}:{event}:{key.text}",
        values,
        {"input": key.span, "default": default.span if default is not None else None},
    )


def _default_type(default: Node | None) -> str | None:
    if default is None:
        return None
    if isinstance(default, Scalar):
        return None if default.value is None or "${{" in default.text else type_of(default.value)
    return "object" if isinstance(default, YamlMapping) else "array"


def _other(file: WorkflowFile, event: str) -> YamlMapping | None:
    other = file.node("on", "workflow_dispatch" if event == "workflow_call" else "workflow_call", "inputs")
    return other if isinstance(other, YamlMapping) else None


INPUT = View(
    name="workflow_input",
    doc="An input that a workflow declares for `workflow_call` or `workflow_dispatch`.",
    facts=(
        Fact("file", "string", "path of the workflow"),
        Fact("event", "string", "`workflow_call` or `workflow_dispatch`"),
        Fact("name", "string", "the input"),
        Fact("type", "string", "its declared type; empty if a called workflow does not say"),
        Fact("known_type", "bool", "whether GitHub has that type there"),
        Fact("default", "string", "the default, as text"),
        Fact("default_type", "string", "the type of the default"),
        Fact("misfit", "bool", "whether GitHub refuses the default for the type"),
        Fact("used", "bool", "whether an expression of the workflow reads it"),
        Fact("used_in", "list<string>", "what reads it: `env`, `run`, `name`, `if`, `with`, `runs-on` ..."),
        Fact("from_rows", "bool", "whether a call passes a field of a generated row"),
        Fact("in_other_event", "bool", "whether the other of the two events declares it too, where that has inputs"),
    ),
    anchors={"input": "the name of the input", "default": "its default"},
    build=_inputs,
)

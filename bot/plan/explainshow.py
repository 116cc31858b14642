"""Explanations as text for people and as JSON: `botlint.explanation/1` (schemas/explanation.schema.json)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from botlint.plan.explain import Explanation, Step
from botlint.plan.jsonform import word
from botlint.plan.model import LaunchPlan, word_text
from botlint.plan.show import describe_jobs, runners_text, varying_keys
from botlint.plan.style import Style

SCHEMA = "botlint.explanation/1"

MAX_ELSEWHERE = 12
"""Other places that are listed."""


@dataclass(slots=True)
class ExplainedJobs:
    """Jobs of one entry with the same explanation, and the runners on which they have it."""

    explanation: Explanation
    runners: tuple[str, ...]
    plans: list[LaunchPlan] = field(default_factory=list)


def group_explanations(
    explained: Sequence[tuple[LaunchPlan, tuple[str, ...], Explanation]],
) -> list[ExplainedJobs]:
    """The explanations of jobs (the launches of one job stand together), equal ones of one entry in one group."""
    groups: dict[object, ExplainedJobs] = {}
    for plan, runners, explanation in explained:
        group = groups.setdefault((plan.entry, explanation.identity), ExplainedJobs(explanation, ()))
        group.runners = tuple(dict.fromkeys((*group.runners, *runners)))
        if not any(plan is one for one in group.plans[-1:]):
            group.plans.append(plan)
    return list(groups.values())


def render_explanations(
    groups: Sequence[ExplainedJobs], rows: Mapping[str, Sequence[Mapping[str, object]]], style: Style
) -> Iterator[str]:
    """The lines of explanations: for each group which jobs they are, and the numbered steps."""
    runners: dict[str, set[tuple[str, ...]]] = {}
    for group in groups:
        runners.setdefault(group.plans[0].entry, set()).add(group.runners)
    for group in groups:
        explanation, entry = group.explanation, group.plans[0].entry
        siblings = rows.get(entry, ())
        yield style.strong(_title(explanation))
        of = f"{len(group.plans)} of {len(siblings)} jobs"
        described = describe_jobs(group.plans, varying_keys(siblings))
        on = f", on {runners_text(group.runners)}" if len(runners[entry]) > 1 else ""
        yield f"  {entry}  {of}{on}{f': {described[0]}' if len(described) == 1 else ''}"
        if len(described) > 1:
            yield from (f"    {text}" for text in described)
        if explanation.remark:
            yield f"  {style.unsure(explanation.remark)}"
        yield ""
        for number, step in enumerate(explanation.steps, 1):
            yield from _render_step(f"{number:>4}. ", step, style)
        if explanation.elsewhere:
            yield "  elsewhere:"
            for step in explanation.elsewhere[:MAX_ELSEWHERE]:
                yield from _render_step("      ", step, style)
            if len(explanation.elsewhere) > MAX_ELSEWHERE:
                yield f"      and {len(explanation.elsewhere) - MAX_ELSEWHERE} more places"
        yield ""


def _title(explanation: Explanation) -> str:
    if explanation.state == "set" and explanation.value is not None:
        joint = " " if explanation.name.startswith("-") else "="
        return f"{explanation.name}{joint}{word_text(explanation.value)}".rstrip()
    return f"{explanation.name} is not set" if explanation.state == "unset" else f"{explanation.name}: no server"


def _render_step(lead: str, step: Step, style: Style) -> Iterator[str]:
    place = style.faint(str(step.span))
    colour = style.unsure if step.kind == "test" else style.good
    yield f"{lead}{place}{f'  {colour(step.note)}' if step.note else ''}"
    if step.text:
        yield f"{' ' * len(lead)}  {step.text}"


def step_form(step: Step) -> dict[str, Any]:
    """One step."""
    span = step.span
    return {
        "kind": step.kind,
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
        "text": step.text,
        "note": step.note,
    }


def explanation_document(groups: Sequence[ExplainedJobs]) -> dict[str, Any]:
    """The whole document."""
    return {
        "schema": SCHEMA,
        "explanations": [
            {
                "name": group.explanation.name,
                "state": group.explanation.state,
                "value": None if group.explanation.value is None else word(group.explanation.value),
                "remark": group.explanation.remark,
                "runners": list(group.runners),
                "jobs": [
                    {"entry": plan.entry, "scenario": plan.scenario, "arm": plan.arm_index, "job": dict(plan.job)}
                    for plan in group.plans
                ],
                "steps": [step_form(step) for step in group.explanation.steps],
                "elsewhere": [step_form(step) for step in group.explanation.elsewhere],
            }
            for group in groups
        ],
    }

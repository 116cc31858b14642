"""The JSON form of plans: `botlint.plan/1` (schemas/plan.schema.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from botlint.core.span import Problem
from botlint.plan.model import Alternative, Exit, Launch, LaunchPlan, Role, Server, Word

SCHEMA = "botlint.plan/1"


def word(value: Word) -> Any:
    """A string, or a list of strings and `{"unknown": why}`."""
    if isinstance(value, str):
        return value
    return [piece if isinstance(piece, str) else {"unknown": piece.reason} for piece in value]


def words(values: Mapping[str, Word]) -> dict[str, Any]:
    """Variables by name."""
    return {name: word(value) for name, value in sorted(values.items())}


def exit_form(value: Exit | None) -> dict[str, Any] | None:
    """`{code, path, line, message}`."""
    if value is None:
        return None
    return {"code": value.code, "path": value.path, "line": value.line, "message": value.message}


def _role(role: Role) -> dict[str, Any]:
    return {
        "name": role.name,
        "workers": role.workers,
        "gpus": role.gpus,
        "path": role.path,
        "line": role.line,
        "argv": [word(w) for w in role.argv],
        "env": words(role.env),
    }


def server_form(value: Server | None) -> dict[str, Any] | None:
    """A server's start."""
    if value is None:
        return None
    form: dict[str, Any] = {
        "framework": value.framework,
        "version": value.version,
        "path": value.path,
        "line": value.line,
        "argv": [word(w) for w in value.argv],
        "env": words(value.env),
        "runtime-env": words(value.runtime_env),
    }
    if value.roles:
        form["roles"] = [_role(role) for role in value.roles]
    return form


def _alternative(value: Alternative) -> dict[str, Any]:
    form: dict[str, Any] = {
        "when": list(value.when),
        "outcome": value.outcome,
        "exit": exit_form(value.exit),
        "server": server_form(value.server),
    }
    if value.reason is not None:
        form["reason"] = value.reason
    if value.recipe is not None and value.server is not None:
        form["recipe"] = value.recipe
    return form


def launch_form(launch: Launch) -> dict[str, Any]:
    """What a job starts on the runners of one launcher."""
    form: dict[str, Any] = {
        "runner": launch.runners[0],
        "launcher": launch.launcher,
        "recipe": launch.recipe,
        "outcome": launch.outcome,
        "exit": exit_form(launch.exit),
        "server": server_form(launch.server),
        "possible": [_alternative(a) for a in launch.possible],
    }
    if launch.container:
        form["container"] = [word(one) for one in launch.container]
    if launch.outcome == "undecided":
        form["reason"] = launch.reason
        if launch.reason_at is not None:
            form["at"] = {"path": launch.reason_at.path, "line": launch.reason_at.line}
    return form


def plan_form(plan: LaunchPlan) -> dict[str, Any]:
    """One plan."""
    form: dict[str, Any] = {
        "entry": plan.entry,
        "config": {"path": plan.config.path, "line": plan.config.line},
        "arm": {"line": plan.arm.line, "index": plan.arm_index, "scenario": plan.scenario},
        "job": dict(plan.job),
        **launch_form(plan.launch),
        "runners": list(plan.launch.runners),
    }
    if plan.others:
        form["other-launches"] = [{**launch_form(other), "runners": list(other.runners)} for other in plan.others]
    return form


def problem_form(problem: Problem) -> dict[str, Any]:
    """Something that could not be read."""
    span = problem.span
    return {"kind": problem.kind, "message": problem.message, "path": span.path, "line": span.line}


def summary(plans: Iterable[LaunchPlan]) -> dict[str, int]:
    """Jobs by outcome."""
    counts = {"jobs": 0, "serves": 0, "exits": 0, "undecided": 0}
    for plan in plans:
        counts["jobs"] += 1
        counts[plan.launch.outcome] += 1
    return counts


def document(plans: Iterable[LaunchPlan], problems: Iterable[Problem]) -> dict[str, Any]:
    """The whole document."""
    listed = list(plans)
    return {
        "schema": SCHEMA,
        "plans": [plan_form(plan) for plan in listed],
        "problems": [problem_form(problem) for problem in problems],
        "summary": summary(listed),
    }


def write_document(plans: Iterable[LaunchPlan], problems: Iterable[Problem]) -> Iterator[str]:
    """The text of the whole document in chunks, one plan per line.

    One plan at a time keeps the fast encoder, which `json.dump` to a stream does not use, and the memory small.
    """
    listed = list(plans)
    encode = json.JSONEncoder(ensure_ascii=False, check_circular=False).encode
    yield f'{{"schema": {encode(SCHEMA)}, "plans": ['
    for number, plan in enumerate(listed):
        yield f"{',' if number else ''}\n{encode(plan_form(plan))}"
    yield f'\n], "problems": {encode([problem_form(problem) for problem in problems])}'
    yield f', "summary": {encode(summary(listed))}}}\n'

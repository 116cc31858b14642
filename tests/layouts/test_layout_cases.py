"""Layouts by cases: small repositories with the jobs that they have, in files beside this one."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from botlint.documents.plain import load_plain
from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.examples import example_files, plan_all
from botlint.engine.policy import make_policy
from botlint.engine.rules import builtin_rules
from botlint.engine.settings import parse_settings
from botlint.layouts.choose import NAMES, Choice, layout_of
from botlint.plan.build import Planner
from botlint.plan.model import LaunchPlan, word_text
from botlint.repo.memory import MemoryFiles

FIELDS = {"name", "layout", "options", "files", "jobs", "commands", "problems", "findings", "entry", "arm", "recipe"}
JOB_FIELDS = {"entry", "row", "arm", "outcome", "argv", "env", "version", "exit"}

CASES: list[tuple[str, Mapping[str, Any]]] = [
    (path.stem, case)
    for path in sorted(Path(__file__).parent.glob("*.yaml"))
    for case in load_plain(path.read_text(encoding="utf-8"))
]


def _differences(wanted: Mapping[str, Any], plan: LaunchPlan) -> Iterator[str]:
    """What a job has otherwise than its case says; what the case does not say is not looked at."""
    assert wanted.keys() <= JOB_FIELDS, wanted.keys() - JOB_FIELDS
    server, exit_ = plan.launch.server, plan.launch.exit
    found: dict[str, Any] = {
        "entry": plan.entry,
        "row": dict(plan.job),
        "arm": f"{plan.arm.path}:{plan.arm.line}",
        "outcome": plan.launch.outcome,
        "exit": None if exit_ is None else f"{exit_.path}:{exit_.line}: {exit_.message}",
        "argv": None if server is None else [word_text(word) for word in server.argv],
        "env": None if server is None else {name: word_text(word) for name, word in server.env.items()},
        "version": None if server is None else server.version,
    }
    for name, value in wanted.items():
        value = shlex.split(value) if name == "argv" and isinstance(value, str) else value
        if found[name] != value:
            yield f"{plan.entry}: {name} is {found[name]!r}, not {value!r}"
    if "outcome" not in wanted and "exit" not in wanted and plan.launch.outcome != "serves":
        yield f"{plan.entry}: {plan.launch.outcome}: {plan.launch.reason or found['exit']}"


def _compared(wanted: Sequence[Mapping[str, Any]], plans: Sequence[LaunchPlan]) -> Iterator[str]:
    if len(wanted) != len(plans):
        yield f"{len(plans)} jobs, not {len(wanted)}: {[plan.entry for plan in plans]}"
    for one, plan in zip(wanted, plans, strict=False):
        yield from _differences(one, plan)


@pytest.mark.parametrize(("layout", "case"), CASES, ids=[f"{stem}: {case['name']}" for stem, case in CASES])
def test_case(layout: str, case: Mapping[str, Any]) -> None:
    assert case.keys() <= FIELDS, case.keys() - FIELDS
    files = MemoryFiles(example_files(case))
    choice = Choice(case.get("layout", layout), case.get("options", {}))
    if "options" not in case:
        assert layout_of(files) == choice.name
    planner = Planner(files, layout=choice)
    failures = list(_compared(case["jobs"], list(planner.plans()))) if "jobs" in case else []
    if "commands" in case:
        failures += _compared(case["commands"], list(planner.plans(planner.commands)))
    assert not planner.failures
    told = [f"{one.span.path}:{one.span.line}: {one.message}" for one in planner.all_problems]
    wanted = case.get("problems", [])
    failures += [f"not told: {one}" for one in wanted if not any(one in text for text in told)]
    failures += [f"told: {text}" for text in told if not any(one in text for one in wanted)]
    assert not failures


@pytest.mark.parametrize(("layout", "case"), [one for one in CASES if "findings" in one[1]])
def test_findings(layout: str, case: Mapping[str, Any]) -> None:
    files = MemoryFiles(example_files(case))
    settings = parse_settings(f"version: 1\nlayout: {case.get('layout', layout)}\n")
    policy = make_policy(files, settings, builtin_rules(), list)
    context = Context(files, plan_all, layout=Choice(policy.layout, case.get("options", {})))
    report = check(context, policy.rules)
    assert not report.failures
    found = [f"{one.span.path}:{one.span.line} {one.rule}" for one in report.findings]
    assert sorted(found) == sorted(case["findings"])


def test_cases_are_found() -> None:
    assert {stem for stem, _ in CASES} >= {*NAMES, "commands"}

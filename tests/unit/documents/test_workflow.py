"""Workflow files as data: jobs, inputs, steps and matrices with their places, and shapes that GitHub refuses."""

from __future__ import annotations

from typing import Any

import pytest

from botlint.core.unknown import Unknown
from botlint.documents.workflow import Workflow, load_workflow

TEXT = """\
name: Bench
on:
  push:
    branches: [main]
  workflow_dispatch:
    inputs:
      fast: {type: boolean, default: false}
      words: {description: free text}
  workflow_call:
    inputs:
      Model-Name:
        required: true
        type: string
      tp:
        type: number
        default: 8
      quick:
        type: boolean
      note:
        type: string
env:
  RATIO: 0.10
  YES: yes
  HEX: 0x10
  QUOTED: '0.10'
  EMPTY:
  TOKEN: ${{ secrets.TOKEN }}
defaults:
  run:
    shell: bash
jobs:
  rows:
    runs-on: ubuntu-latest
    outputs:
      rows: ${{ steps.make.outputs.rows }}
    steps:
      - id: make
        run: echo rows=[] >> "$GITHUB_OUTPUT"
  call:
    needs: [rows]
    if: needs.rows.outputs.rows != '[]'
    strategy:
      fail-fast: false
      matrix:
        config: ${{ fromJson(needs.rows.outputs.rows) }}
        other: [1, 2]
    uses: ./.github/workflows/bench.yml
    with: &inputs
      tp: ${{ matrix.config.tp }}
      flag: true
      count: 007
  again:
    needs: call
    uses: ./.github/workflows/bench.yml
    with: *inputs
    strategy:
      matrix: ${{ fromJson(needs.rows.outputs.matrix) }}
"""


@pytest.fixture(scope="module")
def workflow() -> Workflow:
    return load_workflow(TEXT, "w.yml")


def test_head(workflow: Workflow) -> None:
    assert not workflow.problems
    assert (workflow.name, workflow.events) == ("Bench", ("push", "workflow_dispatch", "workflow_call"))
    assert {pair.name: pair.evaluate({}) for pair in workflow.defaults} == {"shell": "bash"}


def test_inputs(workflow: Workflow) -> None:
    assert workflow.call_inputs is not None
    name = workflow.call_inputs["model-name"]
    assert (name.name, name.type, name.required, name.default) == ("Model-Name", "string", True, None)
    assert (name.span.line, name.span.column) == (11, 7)
    assert [one.fallback({}) for one in workflow.call_inputs.values()] == ["", 8, False, ""]
    assert workflow.call_inputs["tp"].shown == "input tp: number, default 8"
    assert [one.type for one in workflow.dispatch_inputs.values()] == ["boolean", "string"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("RATIO", 0.1),
        ("YES", "yes"),
        ("HEX", 16),
        ("QUOTED", "0.10"),
        ("EMPTY", None),
        ("TOKEN", Unknown("secrets.TOKEN")),
    ],
)
def test_values_follow_the_core_schema(workflow: Workflow, name: str, value: Any) -> None:
    (pair,) = [pair for pair in workflow.env if pair.name == name]
    assert pair.evaluate({}) == value
    assert pair.constant is (name != "TOKEN")


def test_jobs(workflow: Workflow) -> None:
    rows, call, again = workflow.jobs.values()
    assert (rows.uses, len(rows.steps), [pair.name for pair in rows.outputs]) == (None, 1, ["rows"])
    assert call.uses == "./.github/workflows/bench.yml"
    assert (call.needs, again.needs) == (("rows",), ("call",))
    assert [axis.name for axis in call.axes] == ["config", "other"]
    assert call.matrix is None
    assert again.matrix is not None
    assert again.axes == ()
    assert call.condition is not None
    assert list(call.condition.references()) == [("needs", "rows", "outputs", "rows")]


def test_places_and_texts(workflow: Workflow) -> None:
    tp, flag, count = workflow.jobs["call"].inputs
    assert (tp.span.line, tp.span.column, tp.span.end_column) == (49, 7, 34)
    assert tp.shown == "tp: ${{ matrix.config.tp }}"
    assert list(tp.references()) == [("matrix", "config", "tp")]
    assert (flag.evaluate({}), count.evaluate({})) == (True, 7)
    assert [pair.span for pair in workflow.jobs["again"].inputs] == [tp.span, flag.span, count.span]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", "a workflow is a mapping"),
        ("", "the file is empty"),
        ("jobs: [a]", "'jobs' is a mapping, not a sequence"),
        ("jobs: {a: text}", "the job 'a' is a mapping"),
        ("jobs: {a: {steps: {x: 1}}}", "'steps' is a sequence"),
        ("jobs: {a: {steps: [text]}}", "a step is a mapping"),
        ("jobs: {a: {steps: [{run: [x]}]}}", "'run' is a text"),
        ("env: [a]", "'env' is a mapping"),
        ("on: {workflow_call: {inputs: {a: {type: string, default: [4, 8]}}}}", "the default of the input 'a'"),
        ("a: 1\na: 2", "a"),
        ("jobs: {", ""),
    ],
)
def test_unexpected_shapes_are_problems(text: str, message: str) -> None:
    workflow = load_workflow(text, "w.yml")
    assert workflow.problems
    assert message in workflow.problems[0].message


def test_a_broken_expression_is_placed() -> None:
    workflow = load_workflow("env:\n  A: x ${{ runer.name }}\n", "w.yml")
    (problem,) = workflow.env[0].problems
    assert (problem.span.line, problem.span.column, problem.span.end_column) == (2, 12, 17)


def test_compiled_texts_are_shared() -> None:
    templates: dict[tuple[str, bool], Any] = {}
    first = load_workflow("env: {A: '${{ inputs.x }}'}", "a.yml", templates)
    second = load_workflow("env: {B: '${{ inputs.x }}'}", "b.yml", templates)
    assert first.env[0].template is second.env[0].template


@pytest.mark.parametrize(
    ("events", "names", "called"),
    [
        ("push", ("push",), False),
        ("[push, workflow_call]", ("push", "workflow_call"), True),
        ("{workflow_call: }", ("workflow_call",), True),
    ],
)
def test_forms_of_on(events: str, names: tuple[str, ...], called: bool) -> None:
    workflow = load_workflow(f"on: {events}", "w.yml")
    assert workflow.events == names
    assert (workflow.call_inputs is not None) is called

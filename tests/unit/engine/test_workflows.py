"""Workflow files as rules look at them: places, references, conditions, calls, rows."""

from __future__ import annotations

import ast
import textwrap

import pytest

from botlint.documents.workflow import load_workflow
from botlint.engine.analysis.workflow_calls import misfit, type_of_field, workflow_calls
from botlint.engine.analysis.workflow_jobs import condition_of, mixed, needs, skips, text_booleans
from botlint.engine.analysis.workflow_labels import length_label, model_label
from botlint.engine.analysis.workflow_names import references
from botlint.engine.analysis.workflow_rows import settable_fields
from botlint.engine.analysis.workflow_selections import _holds, buckets, written
from botlint.engine.analysis.workflows import closest, place_key, workflow_files
from botlint.engine.context import Context
from botlint.engine.examples import plan_all
from botlint.layouts.inferencex.entry_models import NEWEST_VALIDATION
from botlint.repo.memory import MemoryFiles


def context(**files: str) -> Context:
    texts = {f".github/workflows/{name}.yml": textwrap.dedent(text) for name, text in files.items()}
    return Context(MemoryFiles(texts), plan_all)


@pytest.mark.parametrize(
    ("place", "key"),
    [
        (("env", "A"), "env"),
        (("jobs", "a", "if"), "jobs.<job_id>.if"),
        (("jobs", "a", "steps", 0, "run"), "jobs.<job_id>.steps.run"),
        (("jobs", "a", "steps", 0, "env", "A"), "jobs.<job_id>.steps.env"),
        (("jobs", "a", "steps", 0, "shell"), ""),
        (("jobs", "a", "strategy", "matrix", "x"), "jobs.<job_id>.strategy"),
        (("jobs", "a", "environment", "url"), "jobs.<job_id>.environment.url"),
        (("jobs", "a", "services", "db", "env", "A"), "jobs.<job_id>.services.env"),
        (("on", "workflow_call", "inputs", "x", "default"), "on.workflow_call.inputs.default"),
        (("on", "workflow_call", "outputs", "x", "value"), "on.workflow_call.outputs.value"),
        (("name",), ""),
    ],
)
def test_place_key(place: tuple[str | int, ...], key: str) -> None:
    assert place_key(place) == key


def test_closest_keeps_the_case_of_the_name() -> None:
    assert closest("modle", ["Model", "image"]) == "Model"
    assert closest("queue", ["Model", "image"]) == ""


def test_an_expression_is_found_in_the_line_where_it_stands() -> None:
    made = context(
        a="""\
        on: push
        jobs:
          a:
            runs-on: demo
            steps:
              - run: |
                  echo one
                  echo "${{ inputs.x }}" ${{ inputs['y'] }}
        """
    )
    found = {".".join(one.path): one.span for one in references(made)}
    assert {name: (span.line, span.column) for name, span in found.items()} == {
        "inputs.x": (8, 21),
        "inputs.y": (8, 38),
    }


@pytest.mark.parametrize(
    ("expression", "declared"),
    [
        ("inputs.REF", True),
        ("inputs.other", False),
        ("needs.first.outputs.rows", True),
        ("needs.third.result", False),
        ("steps.one.outputs.x", True),
        ("steps.three.outputs.x", False),
        ("matrix.tp", True),
        ("matrix.ep", False),
        ("runner.name", True),
        ("job.labels", False),
        ("env.SET", True),
        ("env.UNSET", False),
        ("env.WRITTEN", None),
    ],
)
def test_what_a_reference_names_is_declared_or_not(expression: str, declared: bool | None) -> None:
    made = context(
        a=f"""\
        on: {{workflow_dispatch: {{inputs: {{ref: {{type: string}}}}}}}}
        env: {{SET: "1"}}
        jobs:
          first: {{runs-on: demo, outputs: {{rows: "[]"}}, steps: []}}
          third: {{runs-on: demo, steps: []}}
          second:
            needs: first
            runs-on: demo
            strategy: {{matrix: {{tp: [1, 2]}}}}
            steps:
              - {{id: one, run: 'echo WRITTEN=1 >> "$GITHUB_ENV"'}}
              - {{id: two, run: "${{{{ {expression} }}}}"}}
              - {{id: three, run: "true"}}
        """
    )
    assert [one.declared for one in references(made)] == [declared]


@pytest.mark.parametrize(
    ("condition", "result"),
    [
        ("${{ inputs.a }} && ${{ inputs.b }}", True),
        ("! ${{ inputs.a }}", True),
        ("${{ inputs.a && inputs.b }}", False),
        ("inputs.a", False),
        ("${{ inputs.a }} ", True),
    ],
)
def test_text_around_the_expressions_of_a_condition(condition: str, result: bool) -> None:
    workflow = load_workflow(f'on: push\njobs: {{a: {{if: "{condition}", runs-on: demo, steps: []}}}}', "a.yml")
    pair = workflow.jobs["a"].condition
    assert pair is not None
    assert mixed(pair) is result
    assert (condition_of(pair) is None) is result


@pytest.mark.parametrize(
    ("condition", "names"),
    [
        ("github.event.inputs.flag", ["flag"]),
        ("!github.event.inputs.flag || github.ref == 'a'", ["flag"]),
        ("github.event.inputs.flag == 'true'", []),
        ("github.event.inputs.text", []),
        ("inputs.flag", []),
        ("contains(github.event.inputs.flag, 'true')", []),
    ],
)
def test_booleans_as_texts(condition: str, names: list[str]) -> None:
    workflow = load_workflow(
        "on: {workflow_dispatch: {inputs: {flag: {type: boolean}, text: {type: string}}}}\n"
        f'jobs: {{a: {{if: "{condition}", runs-on: demo, steps: []}}}}',
        "a.yml",
    )
    pair = workflow.jobs["a"].condition
    assert pair is not None
    assert text_booleans(pair, workflow) == names


@pytest.mark.parametrize(
    ("gate", "middle", "last", "skipped"),
    [
        ("github.event_name == 'push'", "always()", "true", ("gate", "middle", "pull_request (opened)")),
        ("github.event_name == 'push'", "always()", "github.event_name == 'push'", None),
        ("github.event_name == 'push'", "always()", "!cancelled()", None),
        ("github.event_name == 'push'", "always() && needs.gate.result == 'success'", "true", None),
        ("vars.GATE == '1'", "always()", "true", None),
    ],
)
def test_a_skipped_ancestor(gate: str, middle: str, last: str, skipped: tuple[str, str, str] | None) -> None:
    made = context(
        a=f"""\
        on: [push, pull_request]
        jobs:
          gate: {{if: "{gate}", runs-on: demo, steps: []}}
          middle: {{needs: gate, if: "{middle}", runs-on: demo, steps: []}}
          last: {{needs: middle, if: "{last}", runs-on: demo, steps: []}}
        """
    )
    file = workflow_files(made)[".github/workflows/a.yml"]
    found = skips(file, file.workflow.jobs["last"])
    assert (None if found is None else (found.skipped.id, found.through, found.event)) == skipped


def test_needs_of_a_file_with_an_unreadable_job_are_not_judged() -> None:
    made = context(a="on: push\njobs:\n  a: [x]\n  b: {needs: [a, c], runs-on: demo, steps: []}\n")
    assert list(needs(made)) == []


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("true", "boolean"),
        ("'true'", "string"),
        ("8", "number"),
        ("[1]", "array"),
        ("${{ a == b }}", None),
        ("${{ github.ref == 'x' }}", "boolean"),
        ("${{ !github.ref }}", "boolean"),
        ("x${{ github.ref }}", "string"),
        ("${{ toJSON(matrix) }}", "string"),
        ("${{ github.ref == 'x' || 'y' }}", None),
        ("${{ matrix.config.tp }}", None),
        ("${{ inputs.flag }}", "boolean"),
        ("", None),
    ],
)
def test_the_type_of_a_value(value: str, kind: str | None) -> None:
    workflow = load_workflow(
        "on: {workflow_call: {inputs: {flag: {type: boolean}}}}\n"
        f"jobs:\n  a:\n    uses: ./b.yml\n    with:\n      x: {value}\n",
        "a.yml",
    )
    (pair,) = workflow.jobs["a"].inputs
    assert type_of_field(pair, workflow) == kind


@pytest.mark.parametrize(
    ("declared", "given", "refused"),
    [
        ("string", "number", False),
        ("string", "boolean", False),
        ("string", "array", True),
        ("boolean", "string", True),
        ("boolean", "boolean", False),
        ("number", "string", True),
        ("choice", "array", False),
    ],
)
def test_what_github_refuses_for_a_type(declared: str, given: str, refused: bool) -> None:
    assert misfit(declared, given) is refused


@pytest.mark.parametrize(
    ("job", "arguments", "label"),
    [
        ("a", "{exp-name: m_1k8k, osl: 1}", ("1k8k", "8192", "exp-name")),
        ("a-8k1k", "{osl: 1}", ("8k1k", "1024", "the job's id")),
        ("a-8k1k-1k1k", "{osl: 1}", None),
        ("a", "{osl: 1}", ("4k2k", "2048", "the file's name")),
    ],
)
def test_lengths_in_names(job: str, arguments: str, label: tuple[str, str, str] | None) -> None:
    text = f"on: push\njobs: {{{job}: {{uses: ./.github/workflows/b.yml, with: {arguments}}}}}\n"
    (call,) = workflow_calls(Context(MemoryFiles({".github/workflows/sweep-4k2k.yml": text}), plan_all))
    found = length_label(call, "osl")
    assert (None if found is None else (found.text, found.value, found.source)) == label


@pytest.mark.parametrize(
    ("job", "name", "label"),
    [
        ("bench-beta", "alpha_1k1k", "beta"),
        ("bench-alpha", "alpha_1k1k", None),
        ("bench", "alpha_1k1k", None),
        ("bench-beta-alpha", "alpha_1k1k", None),
        ("bench-beta2.5", "beta2.5_1k1k", None),
        ("bench-beta", "gamma_1k1k", None),
    ],
)
def test_models_in_names(job: str, name: str, label: str | None) -> None:
    text = f"on: push\njobs: {{{job}: {{uses: ./.github/workflows/b.yml, with: {{exp-name: {name}}}}}}}\n"
    (call,) = workflow_calls(Context(MemoryFiles({".github/workflows/a.yml": text}), plan_all))
    found = model_label(call, name, frozenset({"alpha", "beta", "beta2.5"}))
    assert (None if found is None else found.text) == label


@pytest.mark.parametrize(
    ("test", "result"),
    [
        ("'prefill' not in x and not x.get('run-eval', False)", True),
        ("x.get('tp') == 8", True),
        ("x['tp'] != 8", False),
        ("x.get('none', 3) == 3", True),
        ("x['none'] == 3", None),
        ("keep(x)", None),
        ("keep(x) and x['tp'] == 4", False),
        ("keep(x) or x['tp'] == 8", True),
        ("y.get('tp') == 8", None),
        ("x['tp'] > 4", None),
    ],
)
def test_filters_over_rows(test: str, result: bool | None) -> None:
    assert _holds(ast.parse(test, mode="eval").body, "x", {"tp": 8, "run-eval": False}) is result


@pytest.mark.parametrize(
    ("script", "known"),
    [
        ('echo "a=$A" >> "$GITHUB_OUTPUT"', False),
        ('A=1\necho "a=$A" >> "$GITHUB_OUTPUT"', True),
        ('A_B=1\necho "a=${A}" >> "$GITHUB_OUTPUT"', False),
        ('for A in 1; do\necho "a=$A" >> "$GITHUB_OUTPUT"; done', True),
        ('read -r A <<<x\necho "a=$A" >> "$GITHUB_OUTPUT"', True),
        ('source x\necho "a=$A" >> "$GITHUB_OUTPUT"', None),
    ],
)
def test_outputs_of_variables(script: str, known: bool | None) -> None:
    body = textwrap.indent(script, " " * 10)
    made = context(a=f"on: push\njobs:\n  a:\n    runs-on: demo\n    steps:\n      - run: |\n{body}\n")
    assert [one.set for one in written(made)] == [known]


def test_buckets_of_rows() -> None:
    workflow = load_workflow(
        textwrap.dedent(
            """\
            on: push
            jobs:
              setup: {runs-on: demo, steps: []}
              a:
                needs: setup
                if: toJson(fromJson(needs.setup.outputs.rows).single['b']) != '[]'
                strategy: {matrix: {config: "${{ fromJson(needs.setup.outputs.rows).single['a'] }}"}}
              b:
                needs: setup
                if: toJson(fromJson(needs.setup.outputs.rows).single['b']) != '[]'
                strategy: {matrix: {config: "${{ fromJson(needs.setup.outputs.rows).single['b'] }}"}}
              c:
                needs: setup
                strategy: {matrix: {config: "${{ fromJson(needs.setup.outputs.others) }}"}}
            """
        ),
        "a.yml",
    )
    found = {name: (one.source, one.tested, one.other, one.needed) for name, one in buckets(workflow).items()}
    assert found == {
        "a": ("rows.single.a", "rows.single.b", "b", "setup"),
        "b": ("rows.single.b", "", "", "setup"),
        "c": ("others", "", "", "setup"),
    }


def test_fields_that_arms_can_set() -> None:
    fields, arms = settable_fields(NEWEST_VALIDATION, multinode=False, agentic=True)
    assert {"tp", "spec-decoding", "kv-offloading"} <= arms
    assert "isl" not in fields
    assert "disagg" not in fields  # one node: false is all that is allowed
    fields, arms = settable_fields(NEWEST_VALIDATION, multinode=True, agentic=False)
    assert {"isl", "disagg"} <= fields
    assert {"prefill", "decode"} <= arms
    assert "isl" not in arms

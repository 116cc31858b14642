"""Job environments as the workflows of a revision give them: which job takes a row, what it passes, what arrives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from timing import within

from botlint.core.unknown import Unknown
from botlint.layouts.inferencex.environments import MARK_END, MARK_START, JobEnvironment, Workflows

FOLDER = ".github/workflows/"

SWEEP = """\
on:
  push:
    paths: [log.yaml]
jobs:
  setup:
    runs-on: ubuntu-latest
    outputs:
      rows: ${{ steps.s.outputs.rows }}
    steps:
      - id: s
        run: make rows
  pick:
    needs: setup
    runs-on: ubuntu-latest
    outputs:
      first: ${{ steps.p.outputs.first }}
    steps:
      - id: p
        env:
          ROWS: ${{ needs.setup.outputs.rows }}
        run: jq .[0] <<<"$ROWS"
  try-one:
    needs: pick
    uses: ./.github/workflows/bench.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.pick.outputs.first) }}
    with: &single
      runner: ${{ matrix.config.runner }}
      exp-name: ${{ matrix.config.exp-name }}
      isl: ${{ matrix.config.isl }}
      tp: ${{ matrix.config.tp }}
      dp-attn: ${{ matrix.config['dp-attn'] }}
      conc: ${{ matrix.config.conc }}
      router: ${{ matrix.config.router && toJson(matrix.config.router) || '' }}
      run-eval: ${{ matrix.config.run-eval }}
  short:
    uses: ./.github/workflows/bench.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.setup.outputs.rows).single_node['1k1k'] }}
    with: *single
  long:
    uses: ./.github/workflows/bench.yml
    strategy:
      matrix:
        config: >-
          ${{ fromJson((needs.try-one.result == 'success' && needs.pick.outputs.rest) || needs.setup.outputs.rows)
          .single_node['8k1k'] }}
    with: *single
  agents:
    uses: ./.github/workflows/bench.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.setup.outputs.rows).single_node.agentic }}
    with:
      runner: ${{ matrix.config.runner }}
      exp-name: ${{ matrix.config.exp-name }}
      isl: '0'
      tp: ${{ matrix.config.tp }}
      dp-attn: ${{ matrix.config['dp-attn'] }}
      conc: ${{ matrix.config.conc }}
      run-eval: false
      scenario-type: agentic-coding
      fast: ${{ contains(github.event.pull_request.labels.*.name, 'fast') }}
  evaluate:
    uses: ./.github/workflows/bench.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.setup.outputs.rows).evals }}
    with:
      runner: ${{ matrix.config.runner }}
      exp-name: ${{ matrix.config.exp-name }}
      isl: ${{ matrix.config.isl }}
      tp: ${{ matrix.config.tp }}
      dp-attn: ${{ matrix.config['dp-attn'] }}
      conc: ${{ matrix.config.conc }}
      run-eval: true
      eval-only: true
  many:
    uses: ./.github/workflows/many.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.setup.outputs.rows).multi_node['8k1k'] }}
    with:
      conc-list: ${{ toJson(matrix.config.conc) }}
      prefill-tp: ${{ matrix.config.prefill.tp }}
      settings: ${{ toJson(matrix.config.prefill.additional-settings) }}
"""

MANUAL = """\
on:
  workflow_dispatch:
    inputs:
      seconds: {type: string, default: ''}
      fast: {type: boolean, default: false}
jobs:
  rows:
    runs-on: ubuntu-latest
    steps: [{run: make rows}]
  all:
    uses: ./.github/workflows/bench.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.rows.outputs.single-config) }}
    with:
      runner: ${{ matrix.config.runner }}
      exp-name: ${{ matrix.config.exp-name }}
      isl: ${{ matrix.config.isl }}
      tp: ${{ matrix.config.tp }}
      dp-attn: ${{ matrix.config.dp-attn }}
      conc: ${{ matrix.config.conc }}
      run-eval: false
      fast: ${{ inputs.fast }}
      duration: ${{ inputs.fast && '1200' || (inputs.seconds != '' && inputs.seconds || '3600') }}
"""

BENCH = """\
on:
  workflow_call:
    inputs:
      runner: {type: string, required: true}
      exp-name: {type: string, required: true}
      isl: {type: string, required: true}
      tp: {type: string, required: true}
      dp-attn: {type: boolean, required: true}
      conc: {type: string, required: true}
      router: {type: string}
      run-eval: {type: boolean, required: true}
      eval-only: {type: boolean, default: false}
      scenario-type: {type: string, default: fixed-seq-len}
      fast: {type: boolean}
      duration: {type: string, default: '7200'}
      gpus: {type: number, default: 8}
env:
  RATIO: 0.80
  TOKEN: ${{ secrets.TOKEN }}
  EXP_NAME: ${{ inputs.exp-name }}
  ISL: ${{ inputs.isl }}
  TP: ${{ inputs.tp }}
  DP: ${{ inputs.dp-attn }}
  CONC: ${{ inputs.conc }}
  ROUTER: ${{ inputs.router }}
  RUN_EVAL: ${{ inputs.run-eval }}
  EVAL_ONLY: ${{ inputs.eval-only }}
  SUBDIR: ${{ inputs.scenario-type == 'agentic-coding' && 'agentic/' || 'fixed/' }}
  FAST: ${{ inputs.fast && '1' || '0' }}
  DURATION: ${{ inputs.duration }}
  GPUS: ${{ inputs.gpus }}
jobs:
  bench:
    runs-on: ${{ inputs.runner }}
    env:
      TP: ${{ inputs.tp }}
      LABEL: ${{ env.EXP_NAME }}!
    steps:
      - run: |
          echo "EARLY=plain" >> "$GITHUB_ENV"
          echo "COMPUTED=$(date)" >> $GITHUB_ENV
          echo bash ./runners/launch_x.sh
      - name: any name
        env:
          RUNNER_NAME: ${{ runner.name }}
          TYPE: ${{ inputs.runner }}
          BASE: ${{ env.EXP_NAME }}_tp${{ env.TP }}_dp${{ env.DP }}_${{ runner.name }}
        run: |
          # starts it
          bash ./runners/launch_${RUNNER_NAME%%_*}.sh
          [ "${{ inputs.eval-only }}" = true ] && check
      - run: after
"""

MANY = """\
on:
  workflow_call:
    inputs:
      conc-list: {type: string, required: true}
      prefill-tp: {type: string, required: true}
      settings: {type: string, default: "[]"}
env:
  CONC_LIST: ${{ join(fromJson(inputs.conc-list), ' ') }}
  PREFILL_TP: ${{ inputs.prefill-tp }}
defaults:
  run:
    shell: bash
jobs:
  bench:
    runs-on: x
    steps:
      - run: |
          export ${{ join(fromJson(inputs.settings), ' ') }}
          exec runners/launch.sh
"""

BASE = {"sweep.yml": SWEEP, "manual.yml": MANUAL, "bench.yml": BENCH, "many.yml": MANY}
ROW: dict[str, Any] = {
    "runner": "gpu-a",
    "exp-name": "m_8k1k",
    "isl": 8192,
    "osl": 1024,
    "tp": 4,
    "dp-attn": False,
    "conc": 16,
    "run-eval": False,
}
MULTI: dict[str, Any] = {
    "isl": 8192,
    "osl": 1024,
    "conc": [4, 8],
    "prefill": {"tp": 2, "additional-settings": ["A=1", "B=2"]},
}
AGENT: dict[str, Any] = {**ROW, "scenario-type": "agentic-coding", "exp-name": "m_agent"}
del AGENT["isl"], AGENT["osl"]


@dataclass
class Text:
    text: str


class Folder:
    """Workflow files in memory."""

    def __init__(self, files: dict[str, str]) -> None:
        self.files = {FOLDER + name: text for name, text in files.items()}

    def paths(self, prefix: str = "") -> list[str]:
        return sorted(path for path in self.files if path.startswith(prefix))

    def text(self, path: str) -> Text | None:
        return Text(self.files[path]) if path in self.files else None


def workflows(**changed: str) -> Workflows:
    return Workflows.load(Folder({**BASE, **{f"{name}.yml": text for name, text in changed.items()}}))


def via(environment: JobEnvironment) -> str:
    if environment.via is None:
        return ""
    return f"{environment.via.workflow.removeprefix(FOLDER).removesuffix('.yml')}:{environment.via.job}"


@pytest.fixture(scope="module")
def base() -> Workflows:
    return workflows()


@pytest.mark.parametrize(
    ("row", "kind", "job"),
    [
        (ROW, "throughput", "sweep:long"),
        ({**ROW, "isl": 1024}, "throughput", "sweep:short"),
        ({**ROW, "isl": 1024, "osl": 8192}, "throughput", "manual:all"),
        (AGENT, "throughput", "sweep:agents"),
        (ROW, "eval", "sweep:evaluate"),
        ({**ROW, "eval-only": True}, "throughput", "sweep:evaluate"),
        ({**ROW, "isl": 1024, "osl": 8192}, "eval", "sweep:evaluate"),
        (MULTI, "throughput", "sweep:many"),
        (MULTI, "eval", "sweep:many"),
    ],
)
def test_the_job_that_takes_a_row(base: Workflows, row: dict[str, Any], kind: Any, job: str) -> None:
    assert not base.problems
    assert via(base.environment(row, kind, "gpu-a_1")) == job


def test_a_selection_of_rows_is_no_caller_of_its_own_unless_alone(base: Workflows) -> None:
    assert [caller.job for caller in base.callers if caller.selection] == ["try-one"]
    alone = workflows(sweep=SWEEP.replace("['8k1k']", "['1k8k']").replace("['1k1k']", "['2k2k']"), manual="on: push")
    assert via(alone.environment(ROW)) == "sweep:try-one"


def test_no_job_for_a_row(base: Workflows) -> None:
    environment = base.environment({**MULTI, "osl": 8192})
    assert environment.reason == "no workflow job takes multi-node rows (isl 8192, osl 8192, throughput)"
    assert (environment.values, environment.run, environment.trace("TP")) == ({}, "", [])
    none = Workflows.load(Folder({}))
    assert "no workflow gives generated rows" in str(none.environment(ROW).reason)


def test_values(base: Workflows) -> None:
    environment = base.environment(ROW, runner="gpu-a_1")
    expected = {
        "RATIO": "0.8",
        "TOKEN": Unknown("secrets.TOKEN"),
        "EXP_NAME": "m_8k1k",
        "ISL": "8192",
        "TP": "4",
        "DP": "false",
        "CONC": "16",
        "ROUTER": "",
        "RUN_EVAL": "false",
        "EVAL_ONLY": "false",
        "SUBDIR": "fixed/",
        "FAST": "0",
        "DURATION": "7200",
        "GPUS": "8",
        "LABEL": "m_8k1k!",
        "EARLY": "plain",
        "COMPUTED": Unknown("COMPUTED set by an earlier step"),
        "RUNNER_NAME": "gpu-a_1",
        "TYPE": "gpu-a",
        "BASE": "m_8k1k_tp4_dpfalse_gpu-a_1",
        "GITHUB_ACTIONS": "true",
        "CI": "true",
        "GITHUB_JOB": "bench",
        "GITHUB_WORKSPACE": Unknown("GITHUB_WORKSPACE"),
        "HOME": Unknown("HOME"),
    }
    assert {name: environment.values.get(name) for name in expected} == expected
    assert not environment.problems
    assert environment.reason is None


@pytest.mark.parametrize(
    ("row", "kind", "name", "value"),
    [
        ({**ROW, "router": {"name": "r", "v": 1}}, "throughput", "ROUTER", '{\n  "name": "r",\n  "v": 1\n}'),
        ({**ROW, "run-eval": True}, "throughput", "RUN_EVAL", "true"),
        ({**ROW, "dp-attn": True}, "throughput", "DP", "true"),
        ({**ROW, "tp": "8"}, "throughput", "TP", "8"),
        ({**ROW, "tp": 1.5}, "throughput", "TP", "1.5"),
        ({**ROW, "TP": 2, "tp": 8}, "throughput", "TP", "8"),
        ({**{key: value for key, value in ROW.items() if key != "tp"}, "Tp": 2}, "throughput", "TP", "2"),
        (ROW, "eval", "EVAL_ONLY", "true"),
        (AGENT, "throughput", "SUBDIR", "agentic/"),
        (AGENT, "throughput", "ISL", "0"),
        (AGENT, "throughput", "FAST", "0"),
        ({**ROW, "isl": 1024, "osl": 8192}, "throughput", "DURATION", "3600"),
        (MULTI, "throughput", "CONC_LIST", "4 8"),
        (MULTI, "throughput", "PREFILL_TP", "2"),
        ({**MULTI, "prefill": {}}, "throughput", "PREFILL_TP", ""),
    ],
)
def test_values_of_rows(base: Workflows, row: dict[str, Any], kind: Any, name: str, value: Any) -> None:
    assert base.environment(row, kind, "gpu-a_1").values[name] == value


def test_an_unknown_runner_makes_partly_known_texts(base: Workflows) -> None:
    unknown = Unknown("a runner of gpu-a")
    values = base.environment(ROW, runner=unknown).values
    assert values["RUNNER_NAME"] == unknown
    assert values["BASE"] == ["m_8k1k_tp4_dpfalse_", unknown]


def test_the_launch_script(base: Workflows) -> None:
    first = base.environment(ROW, runner="gpu-a_1")
    assert first.run.splitlines()[1:] == [
        "bash ./runners/launch_${RUNNER_NAME%%_*}.sh",
        '[ "false" = true ] && check',
    ]
    assert first.run is base.environment({**ROW, "tp": 8}, runner="gpu-a_2").run
    line, column = first.run_origin
    assert BENCH.splitlines()[line - 1][column - 1 :] == "# starts it"
    assert first.run_span.path == FOLDER + "bench.yml"
    assert first.shell == "bash -e {0}"
    multi = base.environment(MULTI)
    assert multi.run.startswith("export A=1 B=2\n")
    assert multi.shell == "bash --noprofile --norc -eo pipefail {0}"


def test_unknown_pieces_of_the_script_are_marked() -> None:
    text = BENCH.replace("# starts it", "ref=${{ github.sha }} x=${{ secrets.A }}${{ inputs.tp }}")
    environment = workflows(bench=text).environment(ROW, runner="gpu-a_1")
    first, second = f"{MARK_START}0{MARK_END}", f"{MARK_START}1{MARK_END}"
    assert environment.run.startswith(f"ref={first} x={second}4\n")
    assert environment.unknowns == {first: Unknown("github.sha"), second: Unknown("secrets.A")}


def test_trace(base: Workflows) -> None:
    environment = base.environment(ROW, runner="gpu-a_1")
    texts = [text for _, text in environment.trace("BASE")]
    assert texts[0].startswith("BASE: ${{ env.EXP_NAME }}_tp")
    tp = environment.trace("TP")
    assert [text.split(", from")[0] for _, text in tp] == [
        "TP: ${{ inputs.tp }}",
        "input tp: string, required",
        "tp: ${{ matrix.config.tp }}",
        "matrix.config.tp = 4",
    ]
    assert [(span.path.removeprefix(FOLDER), span.line) for span, _ in tp] == [
        ("bench.yml", 36),
        ("bench.yml", 7),
        ("sweep.yml", 32),
        ("sweep.yml", 47),
    ]
    assert texts[1] == "EXP_NAME: ${{ inputs.exp-name }}"
    assert "tp: ${{ matrix.config.tp }}" in texts
    assert [text for _, text in environment.trace("RATIO")] == ["RATIO: 0.80"]
    assert [text for _, text in environment.trace("DURATION")][1:] == ["input duration: string, default '7200'"]
    assert environment.trace("NOT_SET") == []
    assert environment.caller.line == 43


@pytest.mark.parametrize(
    ("old", "new", "row", "kind", "message", "name", "value"),
    [
        ("      tp: ${{ matrix.config.tp }}\n", "", ROW, "input-missing", "'tp'", "TP", ""),
        ("      tp: ${{ matrix.config.tp }}\n", "      tp: 2\n", ROW, None, "", "TP", "2"),
        ("config.tp }}\n", "config.TeePee }}\n", ROW, None, "", "TP", ""),
        ("      tp: ", "      tpp: ", ROW, "input-undeclared", "'tpp' is passed", "TP", ""),
        ("      isl: ${{ matrix.config.isl }}\n", "      ISL: 7\n", ROW, None, "", "ISL", "7"),
        (
            "matrix.config['dp-attn']",
            "format('{0}', matrix.config['dp-attn'])",
            {**ROW, "dp-attn": True},
            "input-type",
            "declared as boolean and gets the string 'true'",
            "DP",
            "true",
        ),
        ("matrix.config['dp-attn']", "matrix.config.dpa", ROW, "input-type", "gets nothing", "DP", "false"),
        (
            "matrix.config.router && toJson(matrix.config.router) || ''",
            "matrix.config.router",
            {**ROW, "router": {"name": "x"}},
            "input-type",
            "declared as string and gets an object",
            "ROUTER",
            Unknown("an object where a string is declared"),
        ),
        (
            "run-eval: ${{",
            "gpus: '8'\n      run-eval: ${{",
            ROW,
            "input-type",
            "number and gets the string",
            "GPUS",
            "8",
        ),
        ("config.conc }}", "config.conc }", ROW, "expression", "", "CONC", None),
    ],
)
def test_mistakes_show(
    old: str, new: str, row: dict[str, Any], kind: str | None, message: str, name: str, value: Any
) -> None:
    assert old in SWEEP
    environment = workflows(sweep=SWEEP.replace(old, new, 1)).environment(row, runner="gpu-a_1")
    assert via(environment) == "sweep:long"
    if value is not None:
        assert environment.values[name] == value
    kinds = {problem.kind: problem for problem in environment.problems}
    if kind is None:
        assert not kinds
    else:
        assert message in kinds[kind].message
        assert kinds[kind].span.path == FOLDER + "sweep.yml"


def test_an_object_as_a_variable_is_refused() -> None:
    text = BENCH.replace("  GPUS: ${{ inputs.gpus }}", "  GPUS: ${{ fromJson('[1]') }}")
    environment = workflows(bench=text).environment(ROW, runner="gpu-a_1")
    assert isinstance(environment.values["GPUS"], Unknown)
    assert [problem.kind for problem in environment.problems] == ["env-type"]


MIDDLE = """\
on:
  workflow_call:
    inputs:
      rows: {type: string, required: true}
      width: {type: string, required: true}
jobs:
  fan-out:
    strategy:
      matrix:
        include: ${{ fromJson(inputs.rows) }}
    uses: ./.github/workflows/bench.yml
    with:
      runner: ${{ matrix.runner }}
      exp-name: ${{ format('{0}-{1}', matrix.exp-name, inputs.width) }}
      isl: ${{ matrix.isl }}
      tp: ${{ matrix.tp }}
      dp-attn: ${{ matrix.dp-attn }}
      conc: ${{ matrix.conc }}
      run-eval: false
"""
TOP = """\
on: [push]
jobs:
  gate:
    runs-on: x
    steps: [{run: make}]
  go:
    needs: gate
    uses: ./.github/workflows/middle.yml
    with:
      rows: ${{ toJson(fromJson(needs.gate.outputs.rows).single_node['8k1k']) }}
      width: wide
"""


def test_a_chain_of_templates_whose_middle_has_the_matrix() -> None:
    found = Workflows.load(Folder({"top.yml": TOP, "middle.yml": MIDDLE, "bench.yml": BENCH}))
    environment = found.environment(ROW, runner="gpu-a_1")
    assert environment.via is not None
    assert [level.job.id for level in environment.via.chain] == ["go", "fan-out", "bench"]
    assert (environment.values["EXP_NAME"], environment.values["TP"]) == ("m_8k1k-wide", "4")
    texts = [text for _, text in environment.trace("EXP_NAME")]
    assert "width: wide" in texts
    assert any(text.startswith("matrix.exp-name = ") for text in texts)
    assert not environment.problems


def test_a_chain_of_templates_whose_top_has_the_matrix() -> None:
    top = """\
on: [push]
jobs:
  go:
    uses: ./.github/workflows/pass.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.setup.outputs.rows) }}
    with:
      row: ${{ toJson(matrix.config) }}
      tp: ${{ matrix.config.tp }}
"""
    middle = """\
on:
  workflow_call:
    inputs:
      row: {type: string}
      tp: {type: string}
jobs:
  pass:
    uses: ./.github/workflows/end.yml
    with:
      name: ${{ fromJson(inputs.row).exp-name }}
      tp: ${{ inputs.tp }}
"""
    end = """\
on:
  workflow_call:
    inputs: {name: {type: string}, tp: {type: string}}
jobs:
  run:
    runs-on: x
    env: {NAME: "${{ inputs.name }}", TP: "${{ inputs.tp }}"}
    steps: [{run: ./runners/go.sh}]
"""
    found = Workflows.load(Folder({"top.yml": top, "pass.yml": middle, "end.yml": end}))
    environment = found.environment(ROW)
    assert (environment.values["NAME"], environment.values["TP"]) == ("m_8k1k", "4")
    assert [text.split(" = ")[0] for _, text in environment.trace("TP")] == [
        'TP: "${{ inputs.tp }}"',
        "input tp: string",
        "tp: ${{ inputs.tp }}",
        "input tp: string",
        "tp: ${{ matrix.config.tp }}",
        "matrix.config.tp",
    ]


def test_a_job_with_matrix_and_launch_step_in_one() -> None:
    text = """\
on: workflow_dispatch
jobs:
  run:
    strategy:
      matrix:
        config: ${{ fromJson(needs.a.outputs.b) }}
        image: [only]
    runs-on: x
    env:
      TP: ${{ matrix.config.tp }}
      IMAGE: ${{ matrix.image }}
    steps:
      - working-directory: sub
        shell: sh
        run: cd x && sh runners/x.sh ${{ matrix.config.conc }}
"""
    environment = Workflows.load(Folder({"one.yml": text})).environment(ROW)
    assert (environment.values["TP"], environment.values["IMAGE"]) == ("4", "only")
    assert environment.run == "cd x && sh runners/x.sh 16"
    assert (environment.shell, environment.working_directory) == ("sh -e {0}", "sub")


def test_a_caller_that_writes_the_workload_itself_comes_last() -> None:
    nightly = """\
on: {schedule: [{cron: 0 0 * * *}]}
jobs:
  fixed:
    uses: ./.github/workflows/bench.yml
    strategy:
      matrix:
        config: ${{ fromJson(needs.a.outputs.rows) }}
    with: {runner: "${{ matrix.config.runner }}", exp-name: n, isl: 8192, osl: 1024, tp: "${{ matrix.config.tp }}",
           dp-attn: false, conc: 1, run-eval: false}
"""
    both = Workflows.load(Folder({"nightly.yml": nightly, "manual.yml": MANUAL, "bench.yml": BENCH}))
    assert via(both.environment(ROW)) == "manual:all"
    alone = Workflows.load(Folder({"nightly.yml": nightly, "bench.yml": BENCH}))
    assert via(alone.environment(ROW)) == "nightly:fixed"
    assert alone.environment({**ROW, "isl": 1024}).reason is not None


def test_a_disabled_job_takes_no_rows() -> None:
    text = SWEEP.replace("  long:\n", "  long:\n    if: ${{ false && github.ref }}\n")
    assert via(workflows(sweep=text).environment(ROW)) == "manual:all"


@pytest.mark.parametrize(
    ("command", "launches"),
    [
        ("bash ./runners/launch_${RUNNER_NAME%%_*}.sh", True),
        ("  timeout 5 bash -x runners/a.sh", True),
        ('"$GITHUB_WORKSPACE/runners/a.sh" x', True),
        ("set -x; ./runners/a.sh", True),
        ("source runners/a.sh", True),
        ("if bash runners/a.sh; then", True),
        ("bash '${{ github.workspace }}/runners/a.sh'", True),
        ("echo bash runners/a.sh", False),
        ("# bash runners/a.sh", False),
        ("cat runners/a.sh", False),
        ("ls my/runners/a.sh", False),
        ("python3 tool.py --path runners/a.sh", False),
    ],
)
def test_what_starts_a_launcher(command: str, launches: bool) -> None:
    text = f"""\
on: push
jobs:
  run:
    strategy: {{matrix: {{config: "${{{{ fromJson(needs.a.outputs.b) }}}}"}}}}
    env: {{TP: "${{{{ matrix.config.tp }}}}"}}
    steps:
      - run: |
          {command}
"""
    assert bool(Workflows.load(Folder({"x.yml": text})).callers) is launches


def test_broken_files_do_not_stop_the_others() -> None:
    loop = """\
on: {workflow_call: {inputs: {}}}
jobs:
  again: {uses: ./.github/workflows/loop.yml}
  back: {uses: ./.github/workflows/loop2.yml}
"""
    found = Workflows.load(
        Folder(
            {
                **BASE,
                "broken.yml": "jobs: {runners/",
                "loop.yml": loop,
                "loop2.yml": loop,
                "list.yaml": "- runners/",
                "gone.yml": "on: push\njobs: {a: {uses: ./.github/workflows/none.yml}}",
            }
        )
    )
    assert via(found.environment(ROW)) == "sweep:long"
    assert {problem.span.path.removeprefix(FOLDER) for problem in found.problems} == {"broken.yml", "list.yaml"}


def test_hostile_rows_do_not_raise(base: Workflows) -> None:
    values: list[Any] = [None, [], {}, [[]], {"a": {}}, float("nan"), 10**400, "x" * 10_000, b"bytes"]
    for value in values:
        row = dict.fromkeys(ROW, value)
        base.environment({**row, "prefill": value}, "eval", "r")
        base.environment({**ROW, "prefill": value, "conc": value, "tp": value}, "throughput", "r")


def test_chains_that_multiply_are_bounded() -> None:
    jobs = "".join(f"  j{number}: {{uses: ./.github/workflows/w{{}}.yml}}\n" for number in range(40))
    files = {
        f"w{depth}.yml": "on: {workflow_call: {inputs: {}}}\njobs:\n" + jobs.replace("{}", str(depth + 1))
        for depth in range(1, 9)
    }
    with within(5):
        found = Workflows.load(Folder({**files, "w0.yml": "on: push\njobs:\n" + jobs.replace("{}", "1"), **BASE}))
    assert isinstance(found.callers, tuple)


def test_long_lines_take_linear_time() -> None:
    for text in ("sh " * 100_000 + "runners/", "echo a=" * 50_000 + "GITHUB_ENV runners/", "(" * 200_000 + "runners/"):
        with within(5):
            found = workflows(bench=BENCH.replace("# starts it", text).replace("echo bash ./runners/launch_x.sh", text))
            assert found.environment(ROW).values["TP"] == "4"

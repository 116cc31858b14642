"""Starts of catalogs' rows: the workflow, the container and the script that bring a row to a server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from botlint.core.unknown import Unknown
from botlint.layouts.atom.layout import load, options_once, recognise
from botlint.layouts.base import CommandJob
from botlint.layouts.choose import layout_of
from botlint.plan.build import Planner
from botlint.plan.explain import Explainer
from botlint.plan.model import Launch
from botlint.repo.memory import MemoryFiles

CATALOG = ".github/benchmark/models.json"

MODELS: Mapping[str, Any] = {
    "default_scenarios": [{"isl": 1024, "osl": 1024, "concurrency": [4, 8]}],
    "models": [
        {
            "display": "Small",
            "path": "org/small",
            "prefix": "small",
            "runner": "rack",
            "env_vars": "ENGINE_A=1\nENGINE_B=two words",
            "config": {"tp": 2, "extra_args": "--hf-overrides '{\"a\": [1, 2]}'"},
        }
    ],
}

SWEEP = """\
on:
  schedule: [{cron: '0 0 * * *'}]
  workflow_dispatch:
    inputs:
      image: {type: string, default: other}
jobs:
  build:
    runs-on: ubuntu-latest
    outputs:
      rows: ${{ steps.b.outputs.rows }}
    steps:
      - id: b
        run: python3 .github/scripts/matrix.py
  bench:
    needs: [build]
    strategy:
      matrix:
        config: ${{ fromJson(needs.build.outputs.rows) }}
    uses: ./.github/workflows/one.yml
    with:
      model: ${{ matrix.config.model_path }}
      args: ${{ matrix.config.server_args }}
      env_vars: ${{ matrix.config.env_vars }}
      concurrency: ${{ matrix.config.concurrency }}
      image: ${{ inputs.image || 'org/engine:latest' }}
"""

ONE = """\
on:
  workflow_call:
    inputs:
      model: {type: string, required: true}
      args: {type: string, required: true}
      env_vars: {type: string, default: ""}
      concurrency: {type: string, required: true}
      image: {type: string, required: true}
jobs:
  run:
    strategy:
      matrix:
        conc: ${{ fromJson(inputs.concurrency) }}
    runs-on: rack
    env:
      ARGS: ${{ inputs.args }}
      CONC: ${{ matrix.conc }}
    steps:
      - uses: actions/checkout@v4
      - name: Skipped
        if: ${{ inputs.image == 'nothing' }}
        run: echo "ENGINE=never" >> "$GITHUB_ENV"
      - name: Start
        uses: ./.github/actions/container
        with:
          image: ${{ inputs.image }}
          variables: ${{ inputs.env_vars }}
          flags: -e CONC=${{ env.CONC }} -e ISL=1024
      - name: Run
        env:
          PROFILE: ${{ github.event_name == 'schedule' && '0' || '1' }}
        run: |
          set -euo pipefail
          if [ -n "${MODEL_ROOT:-}" ]; then path="/models/${{ inputs.model }}"
          else path="${{ inputs.model }}"; fi
          echo "ENGINE_PROFILE=$PROFILE .github/scripts/serve.sh launch $path $ARGS" | docker exec -i bench bash -l
"""

ACTION = """\
inputs:
  image: {required: true}
  variables: {default: ""}
  flags: {default: ""}
  quiet: {default: "true"}
runs:
  using: composite
  steps:
    - shell: bash
      env:
        VARIABLES: ${{ inputs.variables }}
        FLAGS: ${{ inputs.flags }}
        QUIET: ${{ inputs.quiet }}
      run: |
        printenv VARIABLES > /tmp/variables || true
        if [ -d /models ]; then echo "MODEL_ROOT=${ROOT}" >> "$GITHUB_ENV"; fi
        QUIET_FLAG=""
        [ "${QUIET}" = "true" ] && QUIET_FLAG="-e ENGINE_QUIET=yes"
        [ "${QUIET}" = "false" ] && QUIET_FLAG="-e ENGINE_LOUD=yes"
        docker run -dt -v "$PWD":/workspace -w /workspace $FLAGS \\
          -e ENGINE_MODE="fast" \\
          -e TOKEN="${TOKEN:-}" \\
          --env-file /tmp/variables \\
          --name bench ${{ inputs.image }}
"""

SERVE = """\
#!/bin/bash
set -euo pipefail
TYPE=${1:-launch}
if [ "$TYPE" == "launch" ]; then
  python -m atom.entrypoints.openai_server --model "$2" "${@:3}" > /tmp/log 2>&1 &
fi
"""

MATRIX = 'CATALOG = ".github/benchmark/models.json"\n'

REPOSITORY: Mapping[str, str] = {
    CATALOG: json.dumps(MODELS, indent=2),
    ".github/workflows/sweep.yaml": SWEEP,
    ".github/workflows/one.yml": ONE,
    ".github/actions/container/action.yml": ACTION,
    ".github/scripts/matrix.py": MATRIX,
    ".github/scripts/serve.sh": SERVE,
}


def jobs_of(repository: Mapping[str, str]) -> list[CommandJob]:
    return list(load(MemoryFiles(dict(repository)), {}).jobs)


def launch_of(repository: Mapping[str, str], number: int = 0) -> Launch:
    planner = Planner(MemoryFiles(dict(repository)))
    assert planner.layout == "atom"
    launch = planner.plan(planner.jobs[number]).launch
    assert not planner.failures
    return launch


def test_a_row_is_brought_through_a_template_an_action_and_a_container_to_its_server() -> None:
    launch = launch_of(REPOSITORY)
    assert (launch.outcome, launch.launcher) == ("serves", ".github/scripts/serve.sh")
    server = launch.server
    assert server is not None
    assert server.framework == "atom"
    assert server.argv == (
        *("python", "-m", "atom.entrypoints.openai_server", "--model", "/models/org/small"),
        *("--kv_cache_dtype", "fp8", "-tp", "2", "--hf-overrides", '{"a": [1, 2]}'),
    )
    assert server.env == {"ENGINE_A": "1", "ENGINE_B": "two words", "ENGINE_PROFILE": "0"}
    assert dict(server.runtime_env) | {"CONC": "", "TOKEN": ""} == {
        "CONC": "",
        "ISL": "1024",
        "ENGINE_MODE": "fast",
        "ENGINE_QUIET": "yes",
        "TOKEN": "",
    }
    [other] = launch.possible
    assert other.server is not None
    assert other.server.argv[4] == "org/small"


def test_the_script_says_where_its_lines_are_written() -> None:
    start = jobs_of(REPOSITORY)[0].start
    run = start.run.split("\n")
    lines = ONE.split("\n")
    for text, number in zip(run[1:], start.run_lines[1:], strict=True):
        assert lines[number - 1].strip().startswith(text.strip()[:9])
    assert lines[start.run_lines[0] - 1].strip() == "- name: Start"


def test_a_concurrency_among_several_is_not_known() -> None:
    start = jobs_of(REPOSITORY)[0].start
    assert start.values["CONC"] == Unknown("one of [4, 8]")
    single = {**MODELS, "default_scenarios": [{"isl": 1, "osl": 1, "concurrency": [16]}]}
    assert jobs_of({**REPOSITORY, CATALOG: json.dumps(single)})[0].start.values["CONC"] == "16"


PLUGIN_CATALOG = ".github/benchmark/plugin.json"

PLUGIN_MODELS = {
    "families": [
        {
            "path": "org/small",
            "runner": "rack",
            "variants": [
                {"tp_size": 2, "display": "Small", "prefix": "small", "extra_args": "-tp 2", "env_vars": "P=1\nQ="},
            ],
        }
    ]
}

PLUGIN = """\
on:
  schedule: [{cron: '0 0 * * *'}]
jobs:
  params:
    runs-on: ubuntu-latest
    steps:
      - env:
          PAIRS: ${{ inputs.pairs || '1024,1024;8192,1024' }}
          CONCURRENCY: ${{ inputs.conc || '4,8' }}
          RATIOS: ${{ inputs.ratios || '0.8' }}
        run: python3 expand.py
  load:
    runs-on: ubuntu-latest
    outputs:
      m: ${{ steps.m.outputs.m }}
    steps:
      - id: m
        run: |
          python3 - <<'PY' >> "$GITHUB_OUTPUT"
          import json
          print(json.load(open(".github/benchmark/plugin.json")))
          PY
  build:
    needs: [params, load]
    runs-on: ubuntu-latest
    steps:
      - run: |
          python3 - <<'PY'
          for case in cases:
              is_long = "-lo-" in prefix
              long_pairs = ((200, 20), (100, 10))
              extra_concurrency = (8, 16)
              print(case["input_length"], case["concurrency"])
          PY
  bench:
    needs: [build]
    strategy:
      matrix: ${{ fromJson(needs.build.outputs.matrix) }}
    runs-on: ${{ matrix.model.runner }}
    env:
      NAME: ${{ matrix.model.display }}
      MODEL: ${{ matrix.model.path || matrix.model.source_path }}
      ARGS: ${{ matrix.model.extra_args }}
    steps:
      - run: |
          if docker info; then echo "ENGINE=docker" >> "$GITHUB_ENV"
          else echo "ENGINE=podman" >> "$GITHUB_ENV"; fi
      - run: |
          root=/models
          if [ -d "$root" ]; then
            echo "RESOLVED=${root}/${MODEL}" >> "$GITHUB_ENV"
            echo "WHERE=$(ls)" >> "$GITHUB_ENV"
          else
            echo "RESOLVED=${MODEL}" >> "$GITHUB_ENV"
          fi
      - run: |
          {
            printf '%s\\n' "${{ matrix.model.env_vars }}"
            printf '%s\\n' \\
              "LOG=ERROR"
          } > /tmp/variables
          $ENGINE run -dt -v "$PWD":/workspace -w /workspace --env-file /tmp/variables --name c "$IMAGE"
      - run: |
          $ENGINE exec -d -e NAME="${NAME}" -e MODEL="${RESOLVED:-$MODEL}" -e EXTRA="${ARGS}" \\
            -e WHERE="${WHERE}" c bash -lc "
              bash scripts/plugin.sh start
            "
"""

PLUGIN_SCRIPT = """\
words=()
while IFS= read -r -d '' word; do words+=("$word"); done < <(
  EXTRA="$EXTRA" python3 - <<'PY'
import os
import shlex
import sys

for word in shlex.split(os.environ["EXTRA"]):
    sys.stdout.write(word)
    sys.stdout.write("\\0")
PY
)
export OWN=1
nohup vllm serve "$MODEL" --served-model-name "$NAME" "${words[@]}" &
"""

PLUGIN_REPOSITORY: Mapping[str, str] = {
    PLUGIN_CATALOG: json.dumps(PLUGIN_MODELS, indent=2),
    ".github/workflows/plugin.yaml": PLUGIN,
    "scripts/plugin.sh": PLUGIN_SCRIPT,
}


def test_requests_come_from_the_workflow() -> None:
    found = [(job.known["isl"], job.known["conc"]) for job in jobs_of(PLUGIN_REPOSITORY)]
    assert found == [(1024, 4), (1024, 8), (1024, 16), (8192, 4), (8192, 8), (8192, 16)]


def test_what_earlier_steps_find_on_the_machine_leaves_names_of_models_and_engines_known() -> None:
    launch = launch_of(PLUGIN_REPOSITORY)
    assert launch.outcome == "serves"
    server = launch.server
    assert server is not None
    assert server.argv == ("vllm", "serve", "org/small", "--served-model-name", "Small", "-tp", "2")
    assert {name: server.env[name] for name in ("P", "Q", "LOG", "OWN")} == {
        "P": "1",
        "Q": "",
        "LOG": "ERROR",
        "OWN": "1",
    }
    where = server.runtime_env["WHERE"]
    assert not isinstance(where, str)


@pytest.mark.parametrize(("name", "written"), [("-tp", '"extra_args": "-tp 2"'), ("P", '"env_vars": "P=1')])
def test_values_are_explained_down_to_the_catalog(name: str, written: str) -> None:
    planner = Planner(MemoryFiles(dict(PLUGIN_REPOSITORY)))
    steps = Explainer(planner).explain(planner.jobs[0], name, "rack").steps
    lines = PLUGIN_REPOSITORY[PLUGIN_CATALOG].split("\n")
    found = [lines[step.span.line - 1].strip() for step in steps if step.span.path == PLUGIN_CATALOG]
    assert any(line.startswith(written) for line in found)


def test_a_set_of_whole_requests_is_read_too() -> None:
    workflow = PLUGIN.replace("run: python3 expand.py", 'run: |\n          DEFAULT="1024,512,4,0.5;2048,512,8,1.0"\n')
    workflow = "\n".join(line for line in workflow.split("\n") if "PAIRS" not in line and "extra_conc" not in line)
    jobs = jobs_of({**PLUGIN_REPOSITORY, ".github/workflows/plugin.yaml": workflow})
    assert [job.row["params"] for job in jobs] == [
        {"input_length": 1024, "output_length": 512, "concurrency": 4, "random_range_ratio": 0.5},
        {"input_length": 2048, "output_length": 512, "concurrency": 8, "random_range_ratio": 1.0},
    ]


@pytest.mark.parametrize(
    ("test", "left_out"),
    [
        ('case["concurrency"] == 8', True),
        ('int(case["concurrency"]) == 8', True),
        ('case["input_length"] == 8', False),
        ('case["concurrency"] >= 8', False),
    ],
)
def test_a_builder_may_leave_a_concurrency_out_for_some_entries(test: str, left_out: bool) -> None:
    lines = ['some = {"Small", "Other"}', "is_some = display in some", f"if is_some and {test}:", "    continue"]
    line = "              extra_concurrency = (8, 16)\n"
    workflow = PLUGIN.replace(line, line + "".join(f"              {one}\n" for one in lines))
    assert workflow != PLUGIN
    jobs = jobs_of({**PLUGIN_REPOSITORY, ".github/workflows/plugin.yaml": workflow})
    asked = {case["concurrency"] for job in jobs for case in job.row["cases"] if job.row["model"]["display"] == "Small"}
    assert (8 not in asked) is left_out


@pytest.mark.parametrize(
    ("path", "text", "versions"),
    [
        (".github/workflows/release.yaml", 'env:\n  VLLM_VERSION: "0.27.1"\n', {"vllm": "0.27.1"}),
        (".github/workflows/release.yaml", "env:\n  SGLANG_VERSION: 0.5.17\n", {}),
        (".github/workflows/release.yaml", 'run: cat versions/vllm.env >> "$GITHUB_ENV"\n', {"vllm": "0.26.0"}),
    ],
)
def test_the_version_is_that_of_the_images_that_the_repository_builds(
    path: str, text: str, versions: Mapping[str, str]
) -> None:
    repository = {**PLUGIN_REPOSITORY, path: text, "versions/vllm.env": "VLLM_COMMIT=abc\nVLLM_VERSION=v0.26.0\n"}
    assert jobs_of(repository)[0].versions == versions


def test_options_that_a_row_itself_gives() -> None:
    assert options_once({"server_args": "--a 1 -b=2 --c x --c y"}) == ["--a", "-b"]
    assert options_once({"model": {"extra_args": "--a 'unclosed"}}) == ["--a"]
    assert options_once({"model": "org/small", "extraArgs": 3}) == []


ACCURACY = [
    {"model_name": "Small", "model_path": "org/small", "extraArgs": "-tp 4", "env_vars": "R=1", "runner": "rack"},
]


@pytest.mark.parametrize("key", ["extraArgs", "extra_args"])
def test_rows_of_a_plain_list_are_the_matrix(key: str) -> None:
    workflow = f"""\
on: [push]
jobs:
  load:
    runs-on: ubuntu-latest
    steps:
      - run: jq . .github/benchmark/accuracy.json
  test:
    needs: load
    strategy:
      matrix:
        include: ${{{{ fromJson(needs.load.outputs.rows) }}}}
    runs-on: ${{{{ matrix.runner }}}}
    steps:
      - env:
          ARGS: ${{{{ matrix.{key} }}}}
        run: scripts/serve.sh launch "${{{{ matrix.model_path }}}}" $ARGS
"""
    repository = {
        ".github/benchmark/accuracy.json": json.dumps(ACCURACY),
        ".github/workflows/test.yaml": workflow,
        "scripts/serve.sh": SERVE,
    }
    server = launch_of(repository).server
    assert server is not None
    # A key that the catalog does not have gives nothing, as on GitHub.
    assert server.argv[5:] == (("-tp", "4") if key == "extraArgs" else ())


def test_without_a_workflow_the_reason_is_told() -> None:
    launch = launch_of({CATALOG: REPOSITORY[CATALOG]})
    assert launch.outcome == "undecided"
    assert launch.reason == f"no workflow brings the entries of {CATALOG} to a server"


def test_the_layout_is_recognised_by_its_catalogs() -> None:
    assert layout_of(MemoryFiles(dict(REPOSITORY))) == "atom"
    assert not recognise(MemoryFiles({CATALOG: "{}"}))
    assert not recognise(MemoryFiles({"models.json": REPOSITORY[CATALOG]}))


def test_jobs_have_stamps_that_change_with_what_they_are_made_of() -> None:
    def stamps(**changed: str) -> set[str]:
        return {job.stamp for job in jobs_of({**REPOSITORY, **changed})}

    assert stamps() == stamps(**{"README.md": "text"})
    for path in (CATALOG, ".github/workflows/one.yml", ".github/actions/container/action.yml"):
        assert not stamps() & stamps(**{path: f"{REPOSITORY[path]}\n"})


@pytest.mark.parametrize(
    "broken",
    [
        {".github/workflows/one.yml": "jobs: ["},
        {".github/workflows/one.yml": ONE.replace("./.github/actions/container", "./.github/actions/missing")},
        {".github/actions/container/action.yml": "runs: {steps: 3}"},
        {".github/actions/container/action.yml": "- 1"},
        {".github/actions/container/action.yml": ACTION.replace("shell: bash", "uses: ./.github/actions/container")},
        {".github/workflows/sweep.yaml": SWEEP.replace("needs: [build]", "needs: [build, bench]")},
        {
            ".github/workflows/sweep.yaml": SWEEP.replace(
                "./.github/workflows/one.yml", "./.github/workflows/sweep.yaml"
            )
        },
        {".github/scripts/serve.sh": "echo 'vllm serve' (("},
    ],
)
def test_what_is_broken_leaves_jobs_without_an_error_of_ours(broken: Mapping[str, str]) -> None:
    launch = launch_of({**REPOSITORY, **broken})
    syntax = launch.exit is not None and launch.exit.code == 2
    assert launch.outcome in ("serves", "undecided") or syntax

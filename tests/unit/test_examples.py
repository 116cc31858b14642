"""The miniature repository in examples/: real bash runs its scripts, every external command being a stub."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from botlint.cli import main
from botlint.layouts.inferencex.environments import Workflows
from botlint.layouts.inferencex.jobs import expand_all, load_configs, load_runners
from botlint.plan.build import Planner
from botlint.plan.model import word_text
from botlint.repo.open import open_files

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
SCRIPTS = sorted(EXAMPLES.rglob("*.sh"))
PLANTED = "minimaxm3-fp4-mi355x-vllm-agentic-mtp"
RECIPE = "benchmarks/single_node/agentic/minimaxm3_fp4_mi355x_mtp.sh"

STUB = r"""#!/bin/sh
# Records the server's words and environment; runs what launchers wrap; answers what scripts ask; else succeeds.
name="${0##*/}"
serves=
case "$name" in
    vllm) [ "$1" = serve ] && serves=1 ;;
    python3) case "$2" in sglang.launch_server | atom.entrypoints.openai_server) serves=1 ;; esac ;;
    mpirun) for word; do [ "$word" = trtllm-serve ] && serves=1; done ;;
    curl)
        tries=0
        until [ -e "$RECORD/argv" ] || [ $tries -ge 200 ]; do
            tries=$((tries + 1))
            "$REAL_SLEEP" 0.02
        done
        ;;
    srun)
        while [ $# -gt 0 ] && [ "$1" != bash ]; do shift; done
        [ "$2" = -c ] || exec bash "$2"
        ;;
    docker) for word; do script="$word"; done; exec bash "$script" ;;
    squeue) echo 4242 ;;
esac
if [ -n "$serves" ]; then
    env -0 > "$RECORD/env"
    printf '%s\0' "$name" "$@" > "$RECORD/argv.part"
    mv "$RECORD/argv.part" "$RECORD/argv"
fi
exit 0
"""
STUBS = [
    "aiperf",
    "amd-smi",
    "curl",
    "docker",
    "hf",
    "lm_eval",
    "lmcache",
    "mpirun",
    "nvidia-smi",
    "pip",
    "python3",
    "salloc",
    "scancel",
    "sleep",
    "squeue",
    "srun",
    "vllm",
]
REAL = ["bash", "cat", "cp", "dirname", "env", "head", "mkdir", "mv", "sed", "seq", "sh"]


@dataclass(frozen=True)
class Outcome:
    """What real bash did: the server's argv and environment, or the exit status; and what was said on stderr."""

    argv: tuple[str, ...] | None
    environment: dict[str, str]
    status: int
    errors: str


def rows(repository: Path) -> list[tuple[str, dict[str, Any]]]:
    with open_files(repository) as files:
        expansion = expand_all(load_configs(files), load_runners(files))
    assert expansion.problems == []
    return [(job.entry, dict(job.row)) for job in expansion.jobs]


def first_of_each_arm(jobs: list[tuple[str, dict[str, Any]]]) -> list[tuple[str, dict[str, Any]]]:
    chosen: dict[str, tuple[str, dict[str, Any]]] = {}
    for entry, row in jobs:
        if "prefill" not in row:
            key = {name: value for name, value in row.items() if name not in ("conc", "exp-name", "run-eval")}
            chosen.setdefault(f"{entry} {key}", (entry, row))
    return list(chosen.values())


def job_environment(row: dict[str, Any]) -> dict[str, str]:
    """What the template of a single-node job sets, written down once more."""
    agentic = row.get("scenario-type") == "agentic-coding"
    texts = {
        "EXP_NAME": row["exp-name"],
        "MODEL": row["model"],
        "MODEL_PREFIX": row["model-prefix"],
        "IMAGE": row["image"],
        "FRAMEWORK": row["framework"],
        "PRECISION": row["precision"],
        "ISL": row.get("isl", 0),
        "OSL": row.get("osl", 0),
        "MAX_MODEL_LEN": row.get("max-model-len", 0),
        "TP": row["tp"],
        "PP_SIZE": row["pp"],
        "DCP_SIZE": row["dcp-size"],
        "PCP_SIZE": row["pcp-size"],
        "EP_SIZE": row["ep"],
        "DP_ATTENTION": row["dp-attn"],
        "CONC": row["conc"],
        "SPEC_DECODING": row["spec-decoding"],
        "RUN_EVAL": row.get("run-eval", False) and not agentic,
        "EVAL_ONLY": False,
        "SCENARIO_SUBDIR": "agentic/" if agentic else "fixed_seq_len/",
        "IS_AGENTIC": 1 if agentic else 0,
        "KV_OFFLOADING": row.get("kv-offloading", ""),
        "KV_OFFLOAD_BACKEND": row.get("kv-offload-backend", {}).get("name", ""),
        "TOTAL_CPU_DRAM_GB": row.get("total-cpu-dram-gb", 0),
        "DURATION": row.get("duration", 3600),
        "RANDOM_RANGE_RATIO": 0.8,
        "HF_HUB_CACHE": "/mnt/hf_hub_cache/",
        "RUNNER_TYPE": row["runner"],
        "RESULT_FILENAME": "result",
        "GPU_COUNT": row["tp"] * row["pp"] * row["pcp-size"],
    }
    return {name: str(text).lower() if isinstance(text, bool) else str(text) for name, text in texts.items()}


def run_real(repository: Path, row: dict[str, Any], runner: str, folder: Path) -> Outcome:
    stubs, record = folder / "bin", folder / "record"
    stubs.mkdir()
    record.mkdir()
    (stubs / "stub").write_text(STUB, encoding="utf-8")
    (stubs / "stub").chmod(0o755)
    for name in STUBS:
        (stubs / name).symlink_to("stub")
    for name in REAL:
        (stubs / name).symlink_to(os.path.realpath(shutil.which(name) or name))
    process = subprocess.run(
        ["/bin/bash", f"runners/launch_{runner.split('_')[0]}.sh"],
        cwd=repository,
        env={
            **job_environment(row),
            "RUNNER_NAME": runner,
            "GITHUB_WORKSPACE": str(repository),
            "RESULT_DIR": str(folder / "results"),
            "RECORD": str(record),
            "REAL_SLEEP": shutil.which("sleep") or "sleep",
            "PATH": str(stubs),
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    argv = environment = None
    if (record / "argv").exists():
        argv = tuple((record / "argv").read_text(encoding="utf-8").split("\0")[:-1])
        lines = (record / "env").read_text(encoding="utf-8").split("\0")
        environment = dict(line.split("=", 1) for line in lines if "=" in line)
    return Outcome(argv, environment or {}, process.returncode, process.stderr)


def copy_of(tmp_path: Path, *, healthy: bool) -> Path:
    repository = tmp_path / "repository"
    shutil.copytree(EXAMPLES, repository, ignore=shutil.ignore_patterns("demo"))
    if healthy:
        shutil.copytree(EXAMPLES / "demo" / "healthy", repository, dirs_exist_ok=True)
    return repository


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.relative_to(EXAMPLES).as_posix())
def test_script_is_bash(script: Path) -> None:
    process = subprocess.run(["/bin/bash", "-n", str(script)], capture_output=True, text=True, timeout=60, check=False)
    assert (process.returncode, process.stderr) == (0, "")
    assert os.access(script, os.X_OK)


def test_matrix() -> None:
    jobs = rows(EXAMPLES)
    assert len(jobs) == 63
    assert len({entry for entry, _ in jobs}) == 9
    assert {row["framework"] for _, row in jobs} == {"vllm", "sglang", "atom", "trt", "dynamo-vllm"}
    assert [row["conc"] for entry, row in jobs if entry == PLANTED and row["tp"] == 2] == [1, 2, 5]


def test_workflows_give_the_environment_that_bash_is_run_with() -> None:
    with open_files(EXAMPLES) as files:
        workflows = Workflows.load(files)
    assert workflows.problems == ()
    made_by_the_step = {"RESULT_FILENAME", "GPU_COUNT"}
    for entry, row in rows(EXAMPLES):
        environment = workflows.environment(row, runner="demo_00")
        assert (environment.reason, environment.problems) == (None, ()), entry
        if "prefill" not in row:
            expected = {name: text for name, text in job_environment(row).items() if name not in made_by_the_step}
            assert {name: environment.values[name] for name in expected} == expected, row["exp-name"]


def test_healthy_copy_differs_in_the_planted_recipe_and_its_changelog_only() -> None:
    healthy = EXAMPLES / "demo" / "healthy"
    files = [path.relative_to(healthy) for path in healthy.rglob("*") if path.is_file()]
    assert sorted(path.as_posix() for path in files) == [RECIPE, "perf-changelog.yaml"]


def report(repository: Path, out: Path) -> dict[str, Any]:
    main(["check", str(repository), "--format", "json", "-o", str(out)])
    parsed: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    return parsed


@pytest.mark.parametrize("healthy", [False, True], ids=["planted", "healthy"])
def test_check_reports_the_planted_defects_and_nothing_else(healthy: bool, tmp_path: Path) -> None:
    checked = report(copy_of(tmp_path, healthy=healthy), tmp_path / "report.json")
    assert [note["kind"] for note in checked["notes"]] == ["framework"], "the options of TensorRT-LLM"
    assert checked["failures"] == []
    found = [
        (
            *(finding[key] for key in ("rule", "severity", "certainty", "path", "line")),
            [(job["entry"], job["arm"], job["conc"]) for job in finding["jobs"]],
            [(place["path"], place["line"]) for place in finding["related"]][:1],
        )
        for finding in checked["findings"]
    ]
    configs = "configs/amd-master.yaml"
    planted = [
        ("job-exits", "error", "certain", RECIPE, 41, [(PLANTED, 2, 32), (PLANTED, 2, 40)], [(configs, 54)]),
        (
            "shuffled-kv-heads",
            "error",
            "certain",
            RECIPE,
            59,
            [(PLANTED, 1, 1), (PLANTED, 1, 2), (PLANTED, 1, 5)],
            [(configs, 53)],
        ),
    ]
    assert found == ([] if healthy else planted)


HARNESS = {"PATH", "PWD", "OLDPWD", "SHLVL", "_", "RECORD", "REAL_SLEEP"}


@pytest.mark.parametrize("healthy", [False, True], ids=["planted", "healthy"])
def test_every_arm_in_real_bash_and_as_planned(healthy: bool, tmp_path: Path) -> None:
    repository = copy_of(tmp_path, healthy=healthy)
    with open_files(repository) as files:
        planned = {id(plan.job): plan for plan in Planner(files).plans()}
    chosen = first_of_each_arm([(plan.entry, plan.job) for plan in planned.values()])
    assert len(chosen) == 18
    for number, (entry, row) in enumerate(chosen):
        launch = planned[id(row)].launch
        folder = tmp_path / str(number)
        folder.mkdir()
        outcome = run_real(repository, row, launch.runners[0], folder)
        asks_for_lmcache = row.get("kv-offload-backend", {}).get("name") == "lmcache"
        if asks_for_lmcache and not healthy:
            assert outcome.argv is None
            assert launch.outcome == "exits"
            assert launch.exit is not None
            assert launch.exit.code == outcome.status == 1
            assert launch.exit.message in outcome.errors
            assert launch.exit.path.endswith("agentic/minimaxm3_fp4_mi355x_mtp.sh")
            continue
        assert outcome.argv is not None, (entry, row["exp-name"], outcome.errors)
        assert launch.server is not None, (entry, row["exp-name"], launch)
        assert tuple(word_text(word) for word in launch.server.argv) == outcome.argv
        given = {**job_environment(row), "RESULT_DIR": outcome.environment["RESULT_DIR"]}
        changed = {
            name: text
            for name, text in outcome.environment.items()
            if given.get(name) != text and name not in HARNESS | {"GITHUB_WORKSPACE", "RUNNER_NAME"}
        }
        seen = {name: word_text(word) for name, word in launch.server.env.items()}
        assert {name: seen.get(name) for name in changed} == changed, entry
        if entry == PLANTED:
            layout = outcome.environment["VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT"]
            assert layout == ("1" if row["tp"] == 4 or not healthy else "0")
            assert ("--kv-transfer-config" in outcome.argv) is asks_for_lmcache


def test_demo_shows_exactly_what_the_change_breaks() -> None:
    process = subprocess.run(
        [str(EXAMPLES / "demo" / "run.sh"), str(Path(sys.executable).with_name("botlint"))],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={name: text for name, text in os.environ.items() if not name.startswith("GIT_")},
    )
    assert process.returncode == 0, process.stderr
    sections = {text[:1]: text.split("$ botlint", 1)[-1].splitlines() for text in process.stdout.split("\n== ")[1:]}
    change, entry = sections["3"][2:], PLANTED
    assert [" ".join(line.split()) for line in change if line.strip() and not line.startswith("(exit")] == [
        f"{entry} 3 of 11 jobs: tp 2, kv-offloading none, conc 1, 2, 5",
        "~ VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT 0 -> 1",
        f"{entry} 2 of 11 jobs: tp 4, kv-offloading dram, kv-offload-backend lmcache 0.5.3, conc 32, 40",
        "~ outcome serves -> exits 1",
        f"now at {RECIPE}:41: Error: KV_OFFLOAD_BACKEND=lmcache is not supported here (empty or vllm-native)",
        "5 of 63 jobs changed, 0 added, 0 removed",
    ]
    check = sections["4"]
    assert check[0].endswith("--base HEAD~1")
    assert [line.partition(":")[0] for line in check if line.startswith(("error", "warning", "info"))] == [
        "error[job-exits]",
        "error[shuffled-kv-heads]",
    ]
    assert [line.strip() for line in check if "-->" in line] == [f"--> {RECIPE}:41:1", f"--> {RECIPE}:59:8"]
    assert [line.strip() for line in check if line.startswith("  jobs:")] == [
        "jobs: 2 jobs of 1 entry",
        "jobs: 3 jobs of 1 entry",
    ]
    assert "2 errors; 63 jobs (61 serve, 2 exit); 1 unknown framework" in check
    assert "(exit code 1)" in check
    assert sections["5"][2].startswith("# shuffled-kv-heads")

"""`botlint plan` and `botlint diff` as a user meets them: selection, formats, exit codes, what goes to stderr."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from botlint.cli import main
from botlint.cli.plan import split_arguments
from botlint.cli.progress import with_progress

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
ENTRY = "minimaxm3-fp4-mi355x-vllm-agentic-mtp"
REPO = ("--repo", str(EXAMPLES))


def validated(text: str, name: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text)
    schema = json.loads((ROOT / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def copy(folder: Path) -> Path:
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("demo"))
    return folder


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True, capture_output=True, timeout=60)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository whose first revision (`healthy`) works; the second one breaks five jobs."""
    folder = copy(tmp_path_factory.mktemp("history") / "r")
    broken = (folder / "benchmarks/single_node/agentic/minimaxm3_fp4_mi355x_mtp.sh").read_bytes()
    shutil.copytree(EXAMPLES / "demo" / "healthy", folder, dirs_exist_ok=True)
    git(folder, "init", "-q")
    git(folder, "add", "-A")
    git(folder, "commit", "-qm", "One")
    git(folder, "tag", "healthy")
    (folder / "benchmarks/single_node/agentic/minimaxm3_fp4_mi355x_mtp.sh").write_bytes(broken)
    git(folder, "commit", "-qam", "Two")
    return folder


@pytest.mark.parametrize(
    ("arguments", "names", "conditions"),
    [
        ([], [], []),
        (["a", "tp=2", "b*", "prefill.tp=4"], ["a", "b*"], ["tp=2", "prefill.tp=4"]),
        (["kv-offload-backend=", "a=b=c"], [], ["kv-offload-backend=", "a=b=c"]),
        (["=2", "-x"], ["=2", "-x"], []),
    ],
)
def test_bare_conditions(arguments: list[str], names: list[str], conditions: list[str]) -> None:
    assert split_arguments(arguments) == (names, conditions)


@pytest.mark.parametrize(
    ("arguments", "jobs"),
    [
        ([ENTRY], 11),
        (["minimax*", "glm5.2-fp4-mi355x-sglang-agentic"], 16),
        ([ENTRY, "--where", "tp=2"], 3),
        ([ENTRY, "--where", "tp=2", "conc=1"], 1),
        (["--where", "tp=2", "conc=1", ENTRY], 1),
        ([ENTRY, "--where", "tp=2", "--where", "conc=5"], 1),
        ([ENTRY, "--where", "outcome=exits"], 2),
        ([ENTRY, "--where", "kv-offload-backend=lmcache", "runner=mi355x-demo_01"], 2),
        ([ENTRY, "--where", "framework=vllm", "scenario=agentic-coding", "recipe=*_mtp.sh"], 11),
    ],
)
def test_selection(arguments: list[str], jobs: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", *arguments, *REPO, "--format", "json"]) == 0
    captured = capsys.readouterr()
    document = validated(captured.out, "plan")
    assert document["summary"]["jobs"] == len(document["plans"]) == jobs
    assert document["problems"] == []
    assert captured.err == ""


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["minimaxm3-fp4-mi355x-vllm-agentic"], 2, f"did you mean '{ENTRY}'?"),
        (["zzz*"], 2, "no entry matches 'zzz*'"),
        ([ENTRY, "--where", "tp"], 2, "'tp' is no condition"),
        ([ENTRY, "--where", "tq=2"], 2, "did you mean 'tp'?"),
        ([ENTRY, "--where", "tp=3"], 4, "no job meets the conditions"),
        ([ENTRY, "--where", "outcome=undecided"], 4, "no job meets the conditions"),
        ([ENTRY, "--rev", "no-such-revision"], 2, ""),
        ([ENTRY, "--repo", "/no/such/folder"], 2, "does not exist"),
        ([ENTRY, "--format", "xml"], 2, "xml"),
        (["no-such.md"], 2, "no document 'no-such.md', neither in the repository nor here"),
    ],
)
def test_wrong_usage_and_nothing_to_show(
    arguments: list[str], status: int, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    repo = [] if "--repo" in arguments else list(REPO)
    assert main(["plan", *arguments, *repo]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err


def test_a_folder_without_configs_has_nothing_to_show(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", "--repo", str(tmp_path)]) == 4
    assert "no master config" in capsys.readouterr().err
    (tmp_path / ".botlint.yaml").write_text("version: 1\nlayout: plain\n")
    assert main(["plan", "--repo", str(tmp_path)]) == 4
    assert "the layout `plain` finds no job here" in capsys.readouterr().err


def test_documents_are_planned_without_what_is_wrong_in_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "good.md").write_text("```bash\nvllm serve org/model\n```\n")
    (tmp_path / "bad.md").write_text("```bash\nmodel=[org/other](https://example.org)\nvllm serve ${model}\n```\n")
    assert main(["plan", "good.md", "--repo", str(tmp_path)]) == 0
    captured = capsys.readouterr()
    assert "bad.md" not in captured.err
    assert not [line for line in captured.out.splitlines() if line.strip() == "runner"]
    assert main(["plan", "--commands", "--repo", str(tmp_path)]) == 0
    assert "bad.md:2: not bash" in capsys.readouterr().err


def test_text_ends_with_the_counts(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", ENTRY, *REPO]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split("  ") == [ENTRY, "configs/amd-master.yaml:40"]
    assert "      --tensor-parallel-size {4, 2}  (tp)" in lines
    assert lines[-1] == "11 jobs: 9 serve, 2 exit, 0 undecided"


def test_colours_are_for_terminals(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["plan", ENTRY, *REPO]) == 0
    assert "\x1b[32mserves\x1b[0m" in capsys.readouterr().out
    assert main(["plan", ENTRY, *REPO, "--no-color"]) == 0
    assert "\x1b" not in capsys.readouterr().out


def test_a_revision(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = []
    for rev in (["--rev", "healthy"], ["--rev", "HEAD"], []):
        assert (
            main(["plan", ENTRY, "kv-offload-backend=lmcache", "--repo", str(history), "--format", "json", *rev]) == 0
        )
        plans = validated(capsys.readouterr().out, "plan")["plans"]
        outcomes.append([one["outcome"] for one in plans])
    assert outcomes == [["serves", "serves"], ["exits", "exits"], ["exits", "exits"]]


@pytest.mark.parametrize("option", ["--eval", "--evals-only", "--all-evals"])
def test_evals(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    status = main(["plan", option, ENTRY, *REPO, "--format", "json"])
    captured = capsys.readouterr()
    if status == 4:
        assert option != "--eval"
        return
    assert status == 0
    for one in validated(captured.out, "plan")["plans"]:
        assert one["server"] is None or "synthetic_acceptance_length" not in str(one["server"]["argv"])


def test_an_error_of_ours_costs_one_plan(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    from botlint.plan.build import Planner

    plan = Planner.plan

    def failing(self: Planner, job: Any) -> Any:
        if job.row["conc"] == 5:
            raise RecursionError("too deep")
        return plan(self, job)

    monkeypatch.setattr(Planner, "plan", failing)
    assert main(["plan", ENTRY, "tp=2", *REPO, "--format", "json"]) == 3
    captured = capsys.readouterr()
    document = validated(captured.out, "plan")
    assert document["summary"] == {"jobs": 3, "serves": 2, "exits": 0, "undecided": 1}
    assert document["plans"][-1]["reason"] == "internal error: RecursionError: too deep"
    assert captured.err == "botlint: internal error: RecursionError: too deep\n"


def test_explanation_in_text_and_json(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["plan", ENTRY, "--repo", str(history), "--rev", "healthy", "--where", "tp=2"]
    name = "VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT"
    assert main([*command, "conc=1", "--explain", name]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{name}=0\n  {ENTRY}  1 of 11 jobs: tp 2, kv-offloading none, conc 1\n")
    for part in (
        "configs/amd-master.yaml:53  tp: 2",
        "tp: ${{ matrix.config.tp }}",
        '[ "$TP" -eq 4 ]',
        "false with TP=2",
    ):
        assert part in text
    assert main([*command, "--explain", name, "--format", "json"]) == 0
    (explanation,) = validated(capsys.readouterr().out, "explanation")["explanations"]
    assert (explanation["state"], explanation["value"], len(explanation["jobs"])) == ("set", "0", 3)
    assert main([*command, "--explain=--tensor-parallel-size"]) == 0
    assert capsys.readouterr().out.startswith("--tensor-parallel-size 2\n")
    assert main([*command, "--explain=--kv-transfer-config"]) == 0
    assert "--kv-transfer-config is not set" in capsys.readouterr().out


def test_an_explanation_of_jobs_that_other_processes_planned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("botlint.plan.parallel.MIN_JOBS", 1)
    monkeypatch.setattr("botlint.core.processes.processors", lambda: 2)
    assert main(["plan", *REPO, "--where", "conc=4", "--explain", "PORT", "--format", "json"]) == 0
    explanations = validated(capsys.readouterr().out, "explanation")["explanations"]
    assert {job["entry"] for one in explanations for job in one["jobs"]} >= {ENTRY, "gptoss-fp4-b200-vllm"}


def test_problems_are_told_on_stderr_and_in_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copy(tmp_path / "r")
    (folder / "configs" / "broken-master.yaml").write_text("a: [\n")
    (folder / "configs" / "other-master.yaml").write_text("bad-entry:\n  model: 1\n")
    assert main(["plan", ENTRY, "--repo", str(folder), "--format", "json"]) == 0
    captured = capsys.readouterr()
    paths = {one["path"] for one in validated(captured.out, "plan")["problems"]}
    assert paths == {"configs/broken-master.yaml", "configs/other-master.yaml"}
    assert "botlint: configs/broken-master.yaml:" in captured.err
    assert "bad-entry" in captured.err
    assert main(["plan", "bad-entry", "--repo", str(folder)]) == 4
    captured = capsys.readouterr()
    assert "bad-entry" in captured.err
    assert captured.out == ""
    assert main(["plan", ENTRY, "--repo", str(folder), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_a_diff_in_text_and_json(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "healthy", "HEAD", "--repo", str(history)]) == 0
    text = capsys.readouterr().out
    recipe = "benchmarks/single_node/agentic/minimaxm3_fp4_mi355x_mtp.sh"
    message = "Error: KV_OFFLOAD_BACKEND=lmcache is not supported here (empty or vllm-native)"
    assert text.splitlines() == [
        f"{ENTRY}  3 of 11 jobs: tp 2, kv-offloading none, conc 1, 2, 5",
        "    ~ VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT  0 -> 1",
        "",
        f"{ENTRY}  2 of 11 jobs: tp 4, kv-offloading dram, kv-offload-backend lmcache 0.5.3, conc 32, 40",
        "    ~ outcome  serves -> exits 1",
        f"        now at {recipe}:41: {message}",
        "",
        "5 of 63 jobs changed, 0 added, 0 removed",
    ]
    assert main(["diff", "healthy", "--repo", str(history), "--format", "json"]) == 0
    document = validated(capsys.readouterr().out, "diff")
    assert document["summary"] == {"changed": 5, "unchanged": 58, "added": 0, "removed": 0}
    layout, broken = document["groups"]
    assert [job["job"]["tp"] for job in layout["jobs"]] == [2, 2, 2]
    assert layout["changes"] == [
        {
            "kind": "variable",
            "name": "VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT",
            "action": "changed",
            "values": [{"old": "0", "new": "1"}],
        }
    ]
    assert [job["conc"] for job in broken["jobs"]] == [32, 40]
    assert broken["changes"][0]["new-exits"] == [{"code": 1, "path": recipe, "line": 41, "message": message}]


def test_no_difference_is_no_output_but_the_count(history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "HEAD", "--repo", str(history)]) == 0
    assert capsys.readouterr().out == "0 of 63 jobs changed, 0 added, 0 removed\n"


@pytest.mark.parametrize(
    ("arguments", "status"), [([], 2), (["no-such-revision"], 2), (["HEAD", "no-such-revision"], 2)]
)
def test_wrong_revisions(arguments: list[str], status: int, history: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", *arguments, "--repo", str(history)]) == status
    assert capsys.readouterr().out == ""


def test_output_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = tmp_path / "plans.json"
    assert main(["plan", ENTRY, *REPO, "--format", "json", "-o", str(target)]) == 0
    assert capsys.readouterr().out == ""
    assert validated(target.read_text(encoding="utf-8"), "plan")["summary"]["jobs"] == 11


# --- progress


class Terminal:
    """Standard error that remembers what is written to it."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> int:
        self.text += text
        return len(text)

    def flush(self) -> None:
        """Nothing is held back."""


@pytest.mark.parametrize(("seconds", "show", "drawn"), [(0.0, True, False), (0.6, True, True), (0.6, False, False)])
def test_progress_appears_after_a_second_and_goes_away(
    seconds: float, show: bool, drawn: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    terminal, clock = Terminal(), iter(range(1000))
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setattr(time, "monotonic", lambda: next(clock) * seconds)
    assert list(with_progress(range(5), 5, "planning", show=show)) == [0, 1, 2, 3, 4]
    assert ("planning [" in terminal.text) is drawn
    if drawn:
        assert terminal.text.endswith("\r\x1b[K")

"""Whole runs against an engine that is a script of ours, and against one that misbehaves."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_torch import MI300X, MI355X
from smoking import (
    LIMITS,
    SERVING,
    alive,
    document_of,
    fake_bin,
    fake_environment,
    machine_of,
    plan_of,
    request_of,
    wait_for,
)

from botlint.core.errors import CannotFinish
from botlint.smoke.model import Honest, Load, Stage, Verdict
from botlint.smoke.run import Machine, run
from botlint.smoke.state import work_folder

PASSED = 5
"""Seconds by which a stage may pass its limit."""


def within_limits(verdict: Verdict) -> bool:
    return all(stage.seconds <= stage.limit + PASSED for stage in verdict.stages)


def status(verdict: Verdict, name: Stage) -> str:
    return next(stage.status for stage in verdict.stages if stage.name == name)


def test_a_server_that_works_passes_with_figures_that_it_counted_too(tmp_path: Path) -> None:
    plan = plan_of("--speculative-config", '{"method": "ngram"}', "--max-num-seqs", "8", env={"VLLM_NOPE": "1"})
    verdict = run(request_of(plan, stages=("parse", *SERVING), head="a" * 40, nonce="n1"), machine_of(tmp_path))
    assert (verdict.verdict, verdict.stage) == ("pass", None), verdict
    assert [(one.name, one.status) for one in verdict.stages] == [
        (name, "ok") for name in ("parse", "serve", "load", "stop")
    ]
    assert verdict.stages[0].details["unknown-variables"] == ["VLLM_NOPE"]
    assert [(one.mode, one.concurrency, one.requests) for one in verdict.figures] == [
        ("completions", 1, 3),
        ("chat", 1, 3),
        ("completions", 2, 4),
        ("chat", 2, 4),
    ]
    for one in verdict.figures:
        assert (one.isl, one.osl, one.output_tokens) == (24, 4, 4 * one.requests)
        assert one.server is not None
        assert one.server.requests == one.requests
        assert one.server.output_tokens == one.output_tokens
        assert one.server.prompt_tokens == 24 * one.requests
        assert one.output_tokens_per_second == pytest.approx(4 * one.requests_per_second)
        assert 0 < one.ttft_ms.median <= one.ttft_ms.p99
        assert one.tpot_ms is not None
        assert one.tpot_ms.mean > 0
        assert one.acceptance is not None
        assert one.acceptance.positions == (1.0, 0.0)
        assert one.acceptance.rate == 0.5
    assert verdict.head == "a" * 40
    assert verdict.nonce == "n1"
    assert verdict.job.entry == "tiny-fp8-mi355x-vllm"
    assert not list((tmp_path / "work").glob("state*"))


@pytest.mark.parametrize(
    ("mode", "stage", "reason", "signature"),
    [
        ("dies", "serve", "ended with status 1", "heads-not-divisible"),
        ("killed", "serve", "ended by signal 9", None),
        ("garbage", "serve", "not ready within the limit", None),
        ("floods", "serve", "floods its log", None),
        ("dies-when-asked", "load", "ended with status 134", "memory-fault"),
        ("silent", "load", "not answered within the limit", None),
        ("empty", "load", "completions: the answer is empty (0 tokens)", None),
        ("nan", "load", "a log-probability is not finite", None),
        ("broken-stream", "load", "the stream is none of events: what is this", None),
        ("no-usage", "load", "the stream ended without its usage", None),
        ("log-error", "load", "an error in the log: ERROR 11-30", None),
        ("miscounts", "load", "the engine counted 24 tokens, its answers 12", None),
    ],
)
def test_a_server_that_misbehaves_fails_in_time(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: str, stage: Stage, reason: str, signature: str | None
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    hopeless = mode in ("garbage", "silent")
    limits = replace(LIMITS, serve=2, load=2) if hopeless else LIMITS
    if hopeless and stage == "load":
        limits = replace(limits, serve=60)
    load = Load(isl=24, osl=4, requests=3, concurrency=(1,))
    verdict = run(request_of(plan_of("--fake", mode), limits=limits, load=load), machine_of(tmp_path))
    assert (verdict.verdict, verdict.stage) == ("fail", stage), verdict
    assert reason in verdict.reason
    assert status(verdict, stage) == ("timeout" if "within the limit" in reason else "failed")
    assert status(verdict, "stop") == "ok"
    assert [one.signature for one in verdict.causes] == ([signature] if signature else [])
    assert within_limits(verdict)
    assert verdict.log.tail or hopeless
    assert verdict.log.cut == (mode == "floods")
    assert not list(tmp_path.glob("botlint-smoke-*"))


def test_a_server_that_hangs_and_ignores_its_end_is_killed_in_time(tmp_path: Path) -> None:
    verdict = run(
        request_of(plan_of("--fake", "hangs"), limits=replace(LIMITS, serve=1)),
        machine_of(tmp_path),
    )
    assert (verdict.verdict, verdict.stage, status(verdict, "serve")) == ("fail", "serve", "timeout")
    assert within_limits(verdict)


def test_a_server_that_ignores_its_end_is_killed_with_what_left_its_session(tmp_path: Path) -> None:
    note = tmp_path / "pid"
    verdict = run(request_of(plan_of("--fake", "stubborn", "--note", str(note))), machine_of(tmp_path))
    assert verdict.verdict == "pass", verdict
    assert verdict.stages[-1].details["killed"] is True
    assert within_limits(verdict)
    assert not alive(int(wait_for(note)))


def test_an_engine_without_a_chat_template_is_asked_for_completions_only(tmp_path: Path) -> None:
    verdict = run(request_of(plan_of("--fake", "no-chat")), machine_of(tmp_path))
    assert verdict.verdict == "pass"
    assert {one.mode for one in verdict.figures} == {"completions"}
    assert "no chat template" in next(one.message for one in verdict.stages if one.name == "load")


@pytest.mark.parametrize(
    ("options", "reason", "rule"),
    [
        (("--no-such-flag",), "unrecognized arguments: --no-such-flag", "flag-unknown-for-framework"),
        (("--speculative-config", '{"method":'), "argument --speculative-config", "value-of-wrong-type"),
    ],
)
def test_what_the_parser_refuses_fails_there(tmp_path: Path, options: tuple[str, ...], reason: str, rule: str) -> None:
    verdict = run(request_of(plan_of(*options), stages=("parse", *SERVING)), machine_of(tmp_path))
    assert (verdict.verdict, verdict.stage) == ("fail", "parse")
    assert reason in verdict.reason
    assert [one.rule for one in verdict.causes] == [rule]
    assert status(verdict, "serve") == "skipped"


def test_a_log_that_blames_the_machine_is_none_of_the_plan(tmp_path: Path) -> None:
    verdict = run(request_of(plan_of("--fake", "no-device")), machine_of(tmp_path))
    assert (verdict.verdict, verdict.stage) == ("infrastructure", "serve")
    assert [one.signature for one in verdict.causes] == ["no-device"]


def test_a_failure_without_a_variable_that_was_refused_is_none_for_certain(tmp_path: Path) -> None:
    plan = plan_of("--fake", "killed", env={"LD_PRELOAD": "/tmp/evil.so"})
    verdict = run(request_of(plan), machine_of(tmp_path))
    assert (verdict.verdict, verdict.stage) == ("inconclusive", "serve")
    assert "LD_PRELOAD was not passed on" in verdict.reason


def test_a_machine_without_the_engine_is_to_blame(tmp_path: Path) -> None:
    machine = replace(machine_of(tmp_path), environment={"PATH": "/nowhere"})
    verdict = run(request_of(plan_of()), machine)
    assert (verdict.verdict, verdict.stage) == ("infrastructure", "serve")
    assert "no vllm on this machine" in verdict.reason


def with_gpus(machine: Machine, *devices: dict[str, Any]) -> Machine:
    return replace(machine, environment={**machine.environment, "FAKE_DEVICES": json.dumps(devices)})


@pytest.mark.parametrize(
    ("devices", "reason"),
    [
        ([MI300X], "device 0 is gfx942 (GPU), the job is for gfx950"),
        ([], "0 devices, 1 are needed"),
        ([{**MI355X, "free": 20}], "device 0 has 20 of 288 GB free, the server takes 90%"),
        ([{**MI355X, "dead": True}], "device 0: HIP error: device lost"),
    ],
)
def test_a_node_that_does_not_fit_the_job_is_to_blame(
    tmp_path: Path, devices: list[dict[str, Any]], reason: str
) -> None:
    request = request_of(plan_of(), stages=("probe", *SERVING), honest=Honest())
    verdict = run(request, with_gpus(machine_of(tmp_path), *devices))
    assert (verdict.verdict, verdict.stage) == ("infrastructure", "probe")
    assert reason in verdict.reason
    assert status(verdict, "serve") == "skipped"


@pytest.mark.parametrize(("mode", "name"), [("ok", "pass"), ("keeps-memory", "infrastructure")])
def test_the_memory_of_the_gpus_is_back_after_the_end(tmp_path: Path, mode: str, name: str) -> None:
    request = request_of(
        plan_of("--fake", mode, "--note", str(tmp_path / "free")),
        stages=("probe", "serve", "stop"),
        honest=Honest(),
        limits=replace(LIMITS, stop=3),
    )
    verdict = run(request, with_gpus(machine_of(tmp_path), {**MI355X, "free-file": str(tmp_path / "free")}))
    assert verdict.verdict == name, verdict
    assert status(verdict, "probe") == "ok"
    assert ("device 0 has 206 GB less than before" in verdict.reason) == (mode != "ok")
    assert within_limits(verdict)


def test_a_probe_that_hangs_is_ended_and_blames_the_machine(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("import time\ntime.sleep(1000)\n", encoding="utf-8")
    machine = machine_of(tmp_path)
    machine = replace(machine, environment={**machine.environment, "PYTHONPATH": str(tmp_path)})
    verdict = run(request_of(plan_of(), stages=("probe", "parse"), limits=replace(LIMITS, probe=1)), machine)
    assert (verdict.verdict, verdict.stage, status(verdict, "probe")) == ("infrastructure", "probe", "timeout")
    assert status(verdict, "parse") == "skipped"
    assert within_limits(verdict)


def test_an_evaluation_loads_real_weights_and_gives_scores(tmp_path: Path) -> None:
    verdict = run(request_of(plan_of(), stages=("evaluate",), eval_limit=7), machine_of(tmp_path))
    assert verdict.verdict == "pass", verdict
    assert [one.name for one in verdict.stages] == ["serve", "evaluate", "stop"]
    assert verdict.evaluation == {"exact_match,strict-match": 0.5, "questions": 7}
    assert "--load-format" not in verdict.argv


def test_a_run_that_is_asked_to_end_ends_its_server(tmp_path: Path) -> None:
    folder, work, plans = fake_bin(tmp_path / "bin"), tmp_path / "work", tmp_path / "plans.json"
    plans.write_text(json.dumps(document_of(plan_of("--fake", "silent"))), encoding="utf-8")
    command = [sys.executable, "-c", "from botlint.cli import run; run()", "smoke", "run", str(plans)]
    asked = subprocess.Popen(
        [*command, "--device", "cpu", "--work", str(work), "--stages", "serve,load,stop"],
        env={**os.environ, **fake_environment(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while "pid" not in (state := json.loads(wait_for(work / "state.json"))):
        pass
    asked.send_signal(signal.SIGTERM)
    assert asked.wait(60) == 130
    assert not alive(state["pid"])
    assert not Path(state["scratch"]).exists()
    assert not (work / "state.json").exists()


def test_a_base_revision_is_run_first_and_compared_with(tmp_path: Path) -> None:
    machine = machine_of(tmp_path)
    base = request_of(plan_of(), head="b" * 40)
    verdict = run(request_of(plan_of(), head="a" * 40), machine, base)
    assert verdict.verdict == "pass"
    assert verdict.base == "b" * 40
    assert verdict.compared is not None
    assert len(verdict.compared.figures) == 4
    assert [(one.mode, one.concurrency) for one in verdict.deltas] == [
        ("completions", 1),
        ("chat", 1),
        ("completions", 2),
        ("chat", 2),
    ]
    old, new = verdict.compared.figures[0], verdict.figures[0]
    assert verdict.deltas[0].requests_per_second == pytest.approx(new.requests_per_second / old.requests_per_second - 1)


def test_a_base_revision_that_fails_the_same_way_is_said(tmp_path: Path) -> None:
    machine = machine_of(tmp_path)
    plan = plan_of("--fake", "dies")
    verdict = run(request_of(plan), machine, request_of(plan))
    assert verdict.verdict == "fail"
    assert "the base revision ends the same way" in verdict.reason


def test_one_folder_has_one_run_at_a_time(tmp_path: Path) -> None:
    with work_folder(tmp_path / "work"), pytest.raises(CannotFinish, match="another smoke run uses"):
        run(request_of(plan_of()), machine_of(tmp_path))


def test_after_a_run_that_was_killed_the_next_one_clears_up_and_works(tmp_path: Path) -> None:
    folder, work, note = fake_bin(tmp_path / "bin"), tmp_path / "work", tmp_path / "pid"
    stuck = tmp_path / "stuck.json"
    stuck.write_text(json.dumps(document_of(plan_of("--fake", "leaves", "--note", str(note)))), encoding="utf-8")
    command = [sys.executable, "-c", "from botlint.cli import run; run()", "smoke", "run", str(stuck)]
    # So many requests that the run is in the middle of its load, or before it, when it is killed.
    killed = subprocess.Popen(
        [*command, "--device", "cpu", "--work", str(work), "--stages", "serve,load,stop", "--requests", "10000"],
        env={**os.environ, **fake_environment(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    left = int(wait_for(note))
    while "pid" not in (state := json.loads(wait_for(work / "state.json"))):
        pass
    killed.send_signal(signal.SIGKILL)
    killed.wait(30)
    assert alive(left)
    assert Path(state["scratch"]).is_dir()
    told: list[str] = []
    machine = replace(machine_of(tmp_path / "again"), work=work, tell=told.append)
    verdict = run(request_of(plan_of()), machine)
    assert verdict.verdict == "pass"
    assert not alive(left)
    assert not alive(state["pid"])
    assert not Path(state["scratch"]).exists()
    assert "an earlier run was not finished" in told[0]


def test_a_process_that_has_the_number_of_an_earlier_server_is_let_alone(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    other = subprocess.Popen(["sleep", "100"], start_new_session=True)
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        state = {"token": "0" * 16, "scratch": "/etc", "boot": boot, "pid": other.pid, "start": 1, "port": 1}
        (work / "state.json").write_text(json.dumps(state), encoding="utf-8")
        with work_folder(work) as folder:
            assert folder.cleared == "an earlier run was not finished: 0 of its processes were ended"
        assert other.poll() is None
        assert Path("/etc").is_dir()
    finally:
        other.kill()
        other.wait()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"token": "../.."}', '{"token": 5}'])
def test_a_state_that_is_none_is_removed(tmp_path: Path, text: str) -> None:
    work = tmp_path / "work"
    work.mkdir()
    (work / "state.json").write_text(text, encoding="utf-8")
    with work_folder(work) as folder:
        assert folder.cleared == ""

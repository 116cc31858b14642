"""Whole runs against a real vLLM on the CPU: `make test-smoke` installs one and says where its Python is."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from smoking import document_of, plan_of

from botlint.cli import main
from botlint.smoke.jsonform import read_verdict
from botlint.smoke.model import Verdict

PYTHON = os.environ.get("BOTLINT_VLLM_PYTHON", "")

pytestmark = [
    pytest.mark.vllm,
    pytest.mark.skipif(not PYTHON, reason="no vLLM: BOTLINT_VLLM_PYTHON is not set (make test-smoke sets it)"),
]

LAYERS = 6
"""Those of the model that `tiny_model.py` makes."""

NGRAM = {"method": "ngram", "num_speculative_tokens": 3, "prompt_lookup_max": 4, "prompt_lookup_min": 1}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("model") / "tiny"
    subprocess.run([PYTHON, str(Path(__file__).with_name("tiny_model.py")), str(folder)], check=True, timeout=300)
    return folder


def smoke(tmp_path: Path, model: Path, plan: dict[str, Any], *options: str) -> tuple[int, Verdict]:
    """The exit code and the verdict of the command line."""
    file, verdict = tmp_path / "plan.json", tmp_path / "verdict.json"
    file.write_text(json.dumps(document_of(plan)), encoding="utf-8")
    status = main(
        [
            *("smoke", "run", str(file), "--device", "cpu", "--model", str(model), "--python", PYTHON),
            *("--work", str(tmp_path / "work"), "--json", str(verdict), "--max-model-len", "512"),
            *("--limit", "parse=600", "--limit", "serve=1200", "--limit", "load=600", *options),
        ]
    )
    found = read_verdict(verdict.read_bytes())
    print(json.dumps(json.loads(verdict.read_text(encoding="utf-8")), indent=1)[-20_000:])
    return status, found


def agrees(verdict: Verdict) -> None:
    """The figures are those that the engine counted; its times leave out the way there and back."""
    assert [(one.mode, one.concurrency) for one in verdict.figures] == [
        ("completions", 1),
        ("chat", 1),
        ("completions", 4),
        ("chat", 4),
    ]
    for one in verdict.figures:
        assert one.server is not None
        assert one.server.requests == one.requests == 8
        assert one.server.output_tokens == one.output_tokens == 32 * 8
        assert one.server.prompt_tokens == round(one.isl * one.requests)
        assert one.osl == 32
        assert one.server.ttft_ms is not None
        assert one.ttft_ms.mean > 0.9 * one.server.ttft_ms
        assert one.tpot_ms is not None
        assert one.server.tpot_ms is not None
        # Where the first piece is late, the others seem to come sooner; the whole answer cannot.
        ours = one.ttft_ms.mean + 31 * one.tpot_ms.mean
        theirs = one.server.ttft_ms + 31 * one.server.tpot_ms
        assert ours > 0.9 * theirs


def test_a_plan_with_tensor_parallel_size_1_passes(tmp_path: Path, model: Path) -> None:
    plan = plan_of("--tensor-parallel-size", "1", "--max-num-seqs", "8", env={"VLLM_LOGGING_LEVEL": "INFO"})
    status, verdict = smoke(tmp_path, model, plan)
    assert (status, verdict.verdict) == (0, "pass"), verdict.reason
    assert [(one.name, one.status) for one in verdict.stages] == [
        (name, "ok") for name in ("probe", "parse", "serve", "load", "stop")
    ]
    agrees(verdict)
    assert all(one.acceptance is None for one in verdict.figures)
    assert verdict.versions["vllm"].startswith("0.")
    layers = next(one for one in verdict.changes if one.what == "--hf-overrides")
    assert layers.new == '{"num_hidden_layers": 4}'
    assert f"of {LAYERS} layers" in layers.why


def test_a_plan_with_ngram_speculation_passes_with_acceptance_per_position(tmp_path: Path, model: Path) -> None:
    plan = plan_of("--tensor-parallel-size", "1", "--speculative-config", json.dumps(NGRAM))
    status, verdict = smoke(tmp_path, model, plan)
    assert (status, verdict.verdict) == (0, "pass"), verdict.reason
    assert json.dumps(NGRAM) in verdict.argv
    agrees(verdict)
    accepted = [one.acceptance for one in verdict.figures if one.acceptance is not None and one.acceptance.drafts]
    assert accepted
    for one in accepted:
        assert one.positions is not None
        assert len(one.positions) == 3
        assert all(0 <= share <= 1 for share in one.positions)
        assert sum(one.positions) * one.drafts == pytest.approx(one.accepted_tokens)


@pytest.mark.parametrize(
    ("options", "stage", "rule"),
    [
        (("--no-such-flag",), "parse", "flag-unknown-for-framework"),
        (("--speculative-config", '{"method": "ngram",'), "parse", "json-malformed"),
        (("--speculative-config", '{"method": "nope", "num_speculative_tokens": 2}'), "serve", "option-key-value"),
        (("--tensor-parallel-size", "3"), "serve", "heads-not-divisible"),
    ],
)
def test_a_plan_that_vllm_refuses_fails_with_the_cause_named(
    tmp_path: Path, model: Path, options: tuple[str, ...], stage: str, rule: str
) -> None:
    status, verdict = smoke(tmp_path, model, plan_of(*options), "--stages", "parse,serve,load,stop")
    assert (status, verdict.verdict, verdict.stage) == (1, "fail", stage), verdict.reason
    assert rule in [one.rule for one in verdict.causes]

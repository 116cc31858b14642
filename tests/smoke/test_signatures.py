"""The table of log signatures: form, samples, sources, rules that exist, and time."""

from __future__ import annotations

import re
import time
from importlib import resources
from pathlib import Path

import pytest

from botlint.documents.plain import load_plain
from botlint.engine.schema import schema_errors
from botlint.smoke.signatures import Signature, all_signatures, causes

ROOT = Path(__file__).resolve().parents[2]
RULES = {path.stem for path in (ROOT / "rules").glob("*/*.yaml")}

ONE_EACH = pytest.mark.parametrize("signature", all_signatures(), ids=lambda one: one.id)


def test_the_table_follows_its_schema() -> None:
    text = resources.files("botlint.schemas").joinpath("smoke-signatures.yaml").read_text(encoding="utf-8")
    assert list(schema_errors("smoke-signatures.schema.json", load_plain(text))) == []
    ids = [one.id for one in all_signatures()]
    assert len(ids) == len(set(ids)) >= 25


@ONE_EACH
def test_a_signature_finds_its_sample_before_all_others(signature: Signature) -> None:
    framework = None if signature.engine == "any" else signature.engine
    found = causes(["INFO nothing", signature.sample], framework)
    assert [one.signature for one in found] == [signature.id]
    assert found[0].line == signature.sample.strip()
    assert found[0].verdict == signature.verdict


def test_rules_that_are_named_exist() -> None:
    assert {one.rule for one in all_signatures() if one.rule is not None} <= RULES


def test_patterns_are_quick_on_any_line() -> None:
    started = time.perf_counter()
    for signature in all_signatures():
        assert not re.search(r"[*+}]\)[*+{]", signature.pattern.pattern), "a repetition within a repetition"
        literal = re.split(r"[\\.(\[]", signature.pattern.pattern)[0] or signature.sample
        for line in (literal * 400, "a" * 4000, "error: argument " * 250, "Value " * 600):
            signature.pattern.search(line[:4000])
    assert time.perf_counter() - started < 30


def test_an_ordinary_start_names_no_cause() -> None:
    lines = [
        "INFO 11-30 22:47:01 [api_server.py:1] vLLM API server version 0.32.0",
        "WARNING 11-30 22:47:03 [envs.py:2] Unknown vLLM environment variable detected: VLLM_NOPE",
        "INFO:     Application startup complete.",
        'INFO:     127.0.0.1:1 - "POST /v1/completions HTTP/1.1" 200 OK',
    ]
    assert causes(lines, "vllm") == ()


def test_signatures_of_another_engine_do_not_count() -> None:
    line = "ValueError: tp_size 8 must be divisible by ep_size 3"
    assert causes([line], "vllm") == ()
    assert [one.rule for one in causes([line], "sglang")] == ["ep-not-dividing-tp"]


def test_a_log_that_names_everything_gives_a_few_causes() -> None:
    assert len(causes([one.sample for one in all_signatures()], None)) == 5

"""What counts as a slip of a name, and how the text of a variable is read."""

from __future__ import annotations

import pytest

from botlint.catalogs.catalog import load
from botlint.engine.analysis.options import Frame, familiar, json_fault, misspelt, reads, slip, successor, takes, uses
from botlint.engine.analysis.values import read_as, refuses, truth


@pytest.mark.parametrize(
    ("name", "known", "expected"),
    [
        ("--no-enable-prefixcaching", "--no-enable-prefix-caching", True),
        ("--max_num_seqs", "--max-num-seqs", True),
        ("--enable-caching-prefix", "--enable-prefix-caching", True),
        ("--max-num-sesq", "--max-num-seqs", True),
        ("VLLM_USE_AITER_UNIFIED_ATTENTION", "VLLM_ROCM_USE_AITER_UNIFIED_ATTENTION", True),
        ("VLLM_USE_FLASHINFER_MOE_FP4", "VLLM_USE_FLASHINFER_MOE_FP8", False),
        ("SGLANG_DECODE_BOOTSTRAP_TIMEOUT", "SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT", False),
        ("--tp", "--dp", False),
        ("x" * 5_000, "y" * 5_000, False),
    ],
)
def test_slips(name: str, known: str, expected: bool) -> None:
    assert misspelt(name, known) is expected


def test_a_slip_of_an_unknown_version_is_one_letter() -> None:
    assert slip("--no-enable-prefixcaching", "--no-enable-prefix-caching")
    assert not slip("--use-aiter", "--use-ater-v2")


@pytest.mark.parametrize(
    ("kind", "value", "crashes"),
    [
        ("bool-int", "true", True),
        ("bool-int", "1", False),
        ("bool-int", "", False),
        ("int", "8k", True),
        ("float", "0.5", False),
        ("float", "half", True),
        ("bool", "yes", False),
        ("str", "anything", False),
    ],
)
def test_values_that_readers_fail_at(kind: str, value: str, crashes: bool) -> None:
    assert refuses(kind, value) is crashes


@pytest.mark.parametrize(
    ("kind", "value", "framework", "expected"),
    [
        ("bool-1", "true", "atom", "false"),
        ("bool-1", "1", "atom", "true"),
        ("bool-true", "1", "vllm", "false"),
        ("bool-true", "True", "vllm", ""),
        ("bool-set", "0", "vllm", "true"),
        ("bool-int", "2", "vllm", "true"),
        ("bool", "yes", "vllm", "false"),
        ("bool", "yes", "sglang", ""),
        ("str", "true", "vllm", ""),
    ],
)
def test_what_switches_are_read_as(kind: str, value: str, framework: str, expected: str) -> None:
    assert read_as(kind, value, framework) == expected


def test_words_for_a_switch() -> None:
    assert [truth(word) for word in ("1", "TRUE", "off", "0", "", "2")] == ["true", "true", "false", "false", "", ""]


def test_options_by_version() -> None:
    frame = Frame(load("vllm"), ("0.27.1",))
    block, backend = uses("--block-size", frame)[0].flag, uses("--attention-backend", frame)[0].flag
    assert reads(block, ["16"])
    assert not reads(block, ["16.5"])
    assert reads(block, ["None"])
    assert familiar(backend, ["rocm_aiter_fa"])
    assert not familiar(backend, ["AITER"])
    assert not takes(uses("--moe-backend", frame)[0].flag, ["warp"])
    assert uses("--brand-new", frame) == ()


def test_what_took_the_place_is_followed_to_what_the_version_has() -> None:
    frame = Frame(load("sglang"), ("0.5.16",))
    assert successor("SGLANG_ENABLE_FLASHINFER_GEMM", frame) == ("--fp8-gemm-backend", True)
    assert successor("SGLANG_BRAND_NEW", frame) == ("", False)


def test_faults_of_json() -> None:
    assert json_fault('{"mode": 3}') == ""
    assert "line 1" in json_fault("{mode: 3}")
    assert json_fault("[" * 50_000) != ""
    assert json_fault("[" * 200_000) == ""

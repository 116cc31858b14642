"""What options and variables of a server come to."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from botlint.engine.analysis.serving import Reading, serving_facts
from botlint.engine.views.golden import Curve, fitting, plain_model

PER_RANK = """{"kv_connector": "SimpleCPUOffloadConnector",
 "kv_connector_extra_config": {"cpu_bytes_to_use_per_rank": 9}}"""


def facts(
    engine: str, flags: Mapping[str, str], env: Mapping[str, str] | None = None, unknown: frozenset[str] = frozenset()
) -> dict[str, object]:
    return dict(serving_facts(Reading(engine, flags, unknown, env or {}, frozenset())))


@pytest.mark.parametrize(
    ("engine", "flags", "wanted"),
    [
        ("vllm", {"tensor_parallel_size": "8"}, {"gpus": 8, "attention_tp": 8, "moe_tp": 8, "moe_ep": 1}),
        (
            "vllm",
            {"tensor_parallel_size": "1", "data_parallel_size": "8", "enable_expert_parallel": "true"},
            {"gpus": 8, "dp_attention": True, "attention_tp": 1, "moe_tp": 1, "moe_ep": 8},
        ),
        (
            "sglang",
            {"tp_size": "8", "dp_size": "8", "enable_dp_attention": "true"},
            {"gpus": 8, "dp_attention": True, "attention_tp": 1, "ep": False, "moe_tp": 8},
        ),
        ("sglang", {"tp_size": "8", "moe_a2a_backend": "deepep"}, {"ep": True, "moe_ep": 8, "moe_tp": 1}),
        ("sglang", {"tp_size": "4", "dp_size": "2"}, {"gpus": 8, "dp_attention": False}),
        ("atom", {"tensor_parallel_size": "8", "enable_dp_attention": "true"}, {"gpus": 8, "attention_tp": 1}),
        ("trtllm", {"tp_size": "4", "ep_size": "4"}, {"tp": 4, "ep": True}),
    ],
)
def test_sizes(engine: str, flags: Mapping[str, str], wanted: Mapping[str, object]) -> None:
    found = facts(engine, flags)
    assert {name: found[name] for name in wanted} == wanted


def test_what_is_not_known_is_left_out() -> None:
    found = facts("vllm", {}, unknown=frozenset({"tensor_parallel_size", "speculative_config", "kv_transfer_config"}))
    assert not {"tp", "gpus", "attention_tp", "spec_method", "synthetic", "kv_connector", "offload"} & found.keys()
    assert "ep" not in facts("sglang", {"tp_size": "8", "moe_a2a_backend": "unheard-of"})
    assert "tp" not in facts("trtllm", {})


@pytest.mark.parametrize(
    ("engine", "flags", "env", "length"),
    [
        ("atom", {"method": "mtp", "num_speculative_tokens": "3", "spec_decode_acceptance_rate": "0.5"}, {}, 2.5),
        ("atom", {"method": "mtp", "num_speculative_tokens": "3", "spec_decode_acceptance_length": "2.5"}, {}, 2.5),
        ("sglang", {"speculative_algorithm": "EAGLE"}, {"SGLANG_SIMULATE_ACC_LEN": "2.5"}, 2.5),
        ("trtllm", {}, {"TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS": "1.5"}, 2.5),
        (
            "vllm",
            {"speculative_config": '{"rejection_sample_method": "synthetic", "synthetic_acceptance_length": 2.5}'},
            {},
            2.5,
        ),
    ],
)
def test_simulated_acceptance(engine: str, flags: Mapping[str, str], env: Mapping[str, str], length: float) -> None:
    found = facts(engine, flags, env)
    assert (found["synthetic"], found["synthetic_length"]) == (True, length)


@pytest.mark.parametrize(
    ("flags", "env", "on"),
    [
        ({}, {}, True),
        ({"disable_radix_cache": "true"}, {}, False),
        ({}, {"SGLANG_RADIX_FORCE_MISS": "1"}, False),
        ({"disaggregation_mode": "decode"}, {}, False),
        ({"disaggregation_mode": "decode", "disaggregation_decode_enable_radix_cache": "true"}, {}, True),
    ],
)
def test_prefix_caching_of_sglang(flags: Mapping[str, str], env: Mapping[str, str], on: bool) -> None:
    assert facts("sglang", flags, env)["prefix_caching"] is on


@pytest.mark.parametrize(
    ("transfer", "size"),
    [
        ('{"kv_connector": "SimpleCPUOffloadConnector", "kv_connector_extra_config": {"cpu_bytes_to_use": 90}}', 90),
        (PER_RANK, 36),
        ('{"kv_connector": "NixlConnector"}', None),
    ],
)
def test_offloaded_bytes(transfer: str, size: int | None) -> None:
    found = facts("vllm", {"tensor_parallel_size": "4", "kv_transfer_config": transfer})
    assert (found.get("offload_bytes"), found["offload"]) == (size, size is not None)


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("nvidia/GLM-5.2-NVFP4", "glm-5.2"),
        ("/data/models/Qwen3.5-397B-A17B-NVFP4-V2", "qwen3.5-397b-a17b"),
        ("deepseek-ai/DeepSeek-V4-Pro", "deepseek-v4-pro"),
        ("deepseek-ai/DeepSeek-V4-Pro-0813", "deepseek-v4-pro-0813"),
    ],
)
def test_plain_model_names(name: str, plain: str) -> None:
    assert plain_model(name) == plain


def test_a_draft_has_the_curve_whose_words_it_has() -> None:
    plain = Curve("a", "m", frozenset({"m", "eagle3"}), {})
    other = Curve("b", "m", frozenset({"m", "eagle3", "gqa"}), {})
    sampled = Curve("c", "m", frozenset({"m", "eagle3", "probabilistic", "block"}), {})
    assert fitting((plain, other), "x/M-EAGLE3-GQA") == (other,)
    assert fitting((plain, other), "x/M-EAGLE3") == (plain,)
    assert fitting((plain, sampled), "x/M-EAGLE3") == (plain, sampled)

"""Models and nodes: exact, shared with a base, or not known."""

from __future__ import annotations

from typing import Any

import pytest

from botlint.catalogs.hardware import all_hardware, find_hardware
from botlint.catalogs.models import SHAPE, all_models, facts_from_config, find_model, model_facts


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "MiniMaxAI/MiniMax-M3",
            {"kv_heads": 4, "heads": 64, "layers": 60, "experts": 128, "attention": "gqa", "sparse_block_size": 128},
        ),
        (
            "deepseek-ai/DeepSeek-R1",
            {"attention": "mla", "kv_lora_rank": 512, "experts": 256, "weight_block": (128, 128)},
        ),
        ("deepseek-ai/DeepSeek-V4-Pro", {"attention": "compressed-mqa", "kv_heads": 1, "head_dim": 512}),
        ("Qwen/Qwen3.5-397B-A17B", {"kv_heads": 2, "full_attention_layers": 15, "layers": 60}),
        (
            "moonshotai/Kimi-K3",
            {"layers": 93, "heads": 96, "full_attention_layers": 24, "quantization": "compressed-tensors"},
        ),
        ("openai/gpt-oss-120b", {"kv_heads": 8, "quantization": "mxfp4", "head_dim": 64}),
    ],
)
def test_exact_models(name: str, expected: dict[str, Any]) -> None:
    facts = find_model(name)
    assert facts.known
    assert facts.exact
    assert {key: getattr(facts, key) for key in expected} == expected
    assert all(name.rpartition("/")[2] in str(facts.source_of(key)) for key in expected)


def test_a_requantised_model_has_the_shape_of_its_base_and_nothing_else() -> None:
    facts, base = find_model("amd/MiniMax-M3-MXFP4"), find_model("MiniMaxAI/MiniMax-M3")
    assert not facts.exact
    assert facts.base == base.name
    assert {key: getattr(facts, key) for key in SHAPE} == {key: getattr(base, key) for key in SHAPE}
    assert (facts.dtype, facts.context, facts.quantization) == (None, None, None)
    assert "by its base MiniMaxAI/MiniMax-M3" in str(facts.source_of("kv_heads"))
    assert facts.source_of("dtype") is None


@pytest.mark.parametrize("name", ["deepseek-r1-fp4", "Inferact/MiniMax-M3-EAGLE3", "someone/else", ""])
def test_unknown_stays_unknown(name: str) -> None:
    facts = find_model(name)
    assert not facts.known
    assert (facts.kv_heads, facts.mla, facts.moe, facts.source_of("heads")) == (None, None, None, None)


def test_names_are_found_in_any_case() -> None:
    assert find_model("minimaxai/minimax-m3").kv_heads == 4


def test_fetched_models_come_second() -> None:
    cached = {"a/b": model_facts("a/b", {"heads": 8}, "a test"), "openai/gpt-oss-120b": model_facts("x", {}, "a test")}
    assert find_model("a/b", cached).heads == 8
    assert find_model("openai/gpt-oss-120b", cached).heads == 64


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({"num_attention_heads": 8, "num_key_value_heads": 8}, {"attention": "mha"}),
        ({"num_attention_heads": 8}, {"attention": "mha", "kv_heads": None}),
        ({"num_attention_heads": 8, "num_key_value_heads": 1}, {"attention": "mqa"}),
        ({"text_config": {"num_attention_heads": 8, "num_key_value_heads": 2}}, {"attention": "gqa", "kv_heads": 2}),
        ({"kv_lora_rank": 512}, {"attention": "mla"}),
        ({"n_routed_experts": 4, "num_experts": 9}, {"experts": 4}),
        (
            {"num_hidden_layers": "many", "hidden_size": True, "model_type": 3},
            {"layers": None, "hidden_size": None, "model_type": None},
        ),
        (
            {"architectures": "x", "quantization_config": [], "text_config": 3},
            {"architectures": None, "quantization": None},
        ),
        ({"layer_types": ["linear_attention", "full_attention"]}, {"full_attention_layers": 1}),
        ({}, {"attention": None}),
    ],
)
def test_reading_a_configuration(config: dict[str, Any], expected: dict[str, Any]) -> None:
    facts = facts_from_config(config)
    assert {key: facts.get(key) for key in expected} == expected


def test_a_separate_quantization_file_counts() -> None:
    separate = {"quantization": {"quant_algo": "NVFP4", "kv_cache_quant_algo": "FP8", "group_size": 16}}
    facts = facts_from_config({}, separate)
    assert facts == {
        "quantization": "modelopt",
        "quantization_algorithm": "NVFP4",
        "kv_cache_quantization": "FP8",
        "group_size": 16,
    }


def test_every_base_is_an_exact_model() -> None:
    models = all_models()
    assert all(models[facts.base].exact for facts in models.values() if facts.base)
    assert all(facts.source for facts in models.values() if facts.known)


@pytest.mark.parametrize(
    ("label", "target", "memory", "per_node"),
    [
        ("mi300x", "gfx942", 192, 8),
        ("mi325x-disagg", "gfx942", 256, 8),
        ("mi355x-amds_01", "gfx950", 288, 8),
        ("h100-dgxc-slurm_00", "sm90", 80, 8),
        ("cluster:h200-nb", "sm90", 141, 8),
        ("b200-dsv4", "sm100", 180, 8),
        ("b300-p1", "sm103", 288, 8),
        ("cluster:gb200-nv", "sm100", 186, 4),
        ("GB300", "sm103", 288, 4),
        ("rtx6000pro-lat", "sm120", 96, 8),
    ],
)
def test_hardware_of_a_runner_label(label: str, target: str, memory: int, per_node: int) -> None:
    hardware = find_hardware(label)
    assert hardware is not None
    assert (hardware.target, hardware.memory_gb, hardware.gpus_per_node) == (target, memory, per_node)


@pytest.mark.parametrize("label", ["", "ubuntu-latest", "a100", "mi3000x"])
def test_labels_without_known_hardware(label: str) -> None:
    assert find_hardware(label) is None


@pytest.mark.parametrize(
    ("key", "condition", "met"),
    [
        ("h100", "9.x 10.x", True),
        ("b300", "9.x 10.x", True),
        ("rtx6000pro", "9.x 10.x", False),
        ("b200", ">=8.0 <=12.1", True),
        ("rtx6000pro", ">=8.0 <=11.0", False),
        ("b200", "==10.0", True),
        ("mi355x", ">=8.0", None),
    ],
)
def test_compute_capability(key: str, condition: str, met: bool | None) -> None:
    assert all_hardware()[key].meets(condition) is met


def test_number_formats_follow_the_generation() -> None:
    having = {key for key, value in all_hardware().items() if "mxfp4" in value.formats}
    assert having == {"b200", "b300", "gb200", "gb300", "mi350x", "mi355x", "rtx6000pro"}
    assert {key for key, value in all_hardware().items() if value.fp8 == "fnuz"} == {"mi300x", "mi325x"}
    assert {value.platform for key, value in all_hardware().items() if "nvfp4" in value.formats} == {"cuda"}

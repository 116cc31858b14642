"""The synthetic-acceptance overlay on a recipe's text."""

from __future__ import annotations

import pytest

from botlint.layouts.inferencex.srtslurm import inject

ON = {"SYNTHETIC_ACCEPTANCE": " True ", "SYNTHETIC_ACCEPTANCE_LENGTH": "2.50"}
VLLM = """\
      speculative-config: '{"method":"mtp","num_speculative_tokens":2}'
      speculative-config: "{}"
"""
SGLANG = """\
backend:
  prefill_environment:
    A: "1"
  decode_environment: {}
  aggregated_environment:
"""


def test_vllm_json_is_extended() -> None:
    done = inject(VLLM, "dynamo-vllm", ON)
    assert done.entries == 1
    assert done.text.split("\n") == [
        '      speculative-config: \'{"method":"mtp","num_speculative_tokens":2,"rejection_sample_method":"synthetic",'
        '"synthetic_acceptance_length":2.5}\'',
        '      speculative-config: "{}"',
        "",
    ]


def test_sglang_variables_open_each_block() -> None:
    done = inject(SGLANG, "dynamo-sglang", ON)
    assert done.entries == 2
    assert done.text.split("\n")[1:5] == [
        "  prefill_environment:",
        '    SGLANG_SIMULATE_ACC_LEN: "2.5"',
        '    SGLANG_SIMULATE_ACC_METHOD: "match-expected"',
        '    SGLANG_SIMULATE_ACC_TOKEN_MODE: "real-draft-token"',
    ]


@pytest.mark.parametrize("variables", [{}, {**ON, "SYNTHETIC_ACCEPTANCE": "1"}, {**ON, "EVAL_ONLY": "true"}])
def test_nothing_to_do(variables: dict[str, str]) -> None:
    done = inject(VLLM, "anything", variables)
    assert (done.text, done.entries, done.error) == (VLLM, 0, None)


@pytest.mark.parametrize(
    ("text", "framework", "variables", "error"),
    [
        (VLLM, "dynamo-trt", ON, "no synthetic-acceptance injector is registered for FRAMEWORK='dynamo-trt'"),
        (VLLM, "dynamo-vllm", {"SYNTHETIC_ACCEPTANCE": "true"}, "SYNTHETIC_ACCEPTANCE_LENGTH not set"),
        (VLLM, "dynamo-vllm", {**ON, "SYNTHETIC_ACCEPTANCE_LENGTH": "x"}, "could not convert string to float: 'x'"),
        ("a: 1\n", "dynamo-vllm", ON, "no speculative-config entries were found"),
        (
            SGLANG + "    SGLANG_SIMULATE_ACC_LEN: 1\n",
            "dynamo-sglang",
            ON,
            "recipe already contains SGLANG_SIMULATE_ACC_* variables",
        ),
        ("speculative-config: '{'\n", "dynamo-vllm", ON, "speculative-config is not JSON"),
        ("speculative-config: '[]'\n", "dynamo-vllm", ON, "speculative-config is no JSON object"),
    ],
)
def test_failures_leave_the_text_alone(text: str, framework: str, variables: dict[str, str], error: str) -> None:
    done = inject(text, framework, variables)
    assert (done.text, done.error) == (text, error)

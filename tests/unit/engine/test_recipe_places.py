"""Where a setting of a role is written in a recipe."""

from __future__ import annotations

import pytest

from botlint.engine.analysis.recipe_places import is_recipe, key_place
from botlint.engine.context import Context
from botlint.engine.examples import plan_all
from botlint.repo.memory import MemoryFiles

RECIPE = """\
backend:
  type: vllm
  prefill_environment:
    VLLM_LOGGING_LEVEL: DEBUG
  decode_environment:
    VLLM_LOGGING_LEVEL: INFO
  vllm_config:
    prefill:
      max-model-len: 4096
    decode:
      max-model-len: 4096
      speculative-config: '{"method": "mtp"}'
"""


@pytest.mark.parametrize(
    ("role", "key", "line"),
    [
        ("prefill", "max_model_len", 9),
        ("decode", "max-model-len", 11),
        ("decode", "speculative-config", 12),
        ("prefill", "VLLM_LOGGING_LEVEL", 4),
        ("decode", "VLLM_LOGGING_LEVEL", 6),
        ("decode", "block-size", None),
    ],
)
def test_key_of_a_role(role: str, key: str, line: int | None) -> None:
    context = Context(MemoryFiles({"recipes/one.yaml": RECIPE}), plan_all)
    found = key_place(context, "recipes/one.yaml", role, key)
    assert (found.line if found is not None else None) == line


def test_recipes_are_yaml() -> None:
    assert (is_recipe("recipes/one.yaml"), is_recipe("benchmarks/one.sh")) == (True, False)

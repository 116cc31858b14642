"""Generated scripts: bash and the interpreter agree on what hypothesis writes, the same scripts in every run."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis.strategies import SearchStrategy

from . import generators
from .harness import Case, differences, run_ours, run_real

EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "60"))
FAMILIES: dict[str, Callable[[], SearchStrategy[str]]] = {
    "expansion": generators.expansion_scripts,
    "arithmetic": generators.arithmetic_scripts,
    "control": generators.control_scripts,
    "arrays": generators.array_scripts,
    "patterns": generators.pattern_scripts,
    "regex": generators.regex_scripts,
    "read": generators.read_scripts,
    "quoting": generators.quoting_scripts,
    "printf": generators.printf_scripts,
    "scope": generators.scope_scripts,
    "globs": generators.glob_scripts,
}


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_scripts_mean_the_same_as_in_bash(family: str) -> None:
    @settings(
        max_examples=EXAMPLES,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(FAMILIES[family]())
    def check(script: str) -> None:
        case = Case(name="generated", script=script, group=family)
        found = differences(case, run_real(case), run_ours(case))
        assert not found, "\n".join([script, *map(str, found)])

    check()

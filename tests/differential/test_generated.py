"""Generated scripts: bash and the interpreter agree on what hypothesis writes, the same scripts in every run."""

from __future__ import annotations

import os

import pytest
from hypothesis import given, settings

from .generators import FAMILIES, SETTINGS
from .harness import Case, differences, run_ours, run_real

EXAMPLES = int(os.environ.get("DIFFERENTIAL_EXAMPLES", "40"))


@pytest.mark.parametrize("family", FAMILIES)
def test_generated_scripts_mean_the_same_as_in_bash(family: str) -> None:
    @settings(SETTINGS, max_examples=EXAMPLES)
    @given(FAMILIES[family]())
    def check(script: str) -> None:
        case = Case(name="generated", script=script, group=family)
        found = differences(case, run_real(case), run_ours(case))
        assert not found, "\n".join([script, *map(str, found)])

    check()

"""The hand-written corpus: each case of cases/*.yaml means the same in real bash and in the interpreter."""

from __future__ import annotations

import pytest

from .harness import Case, differences, load_cases, run_ours, run_real

CASES = load_cases()


def test_the_corpus_has_distinct_names_and_its_size() -> None:
    assert len(CASES) >= 500
    assert len({case.id for case in CASES}) == len(CASES)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_same_meaning_as_bash(case: Case) -> None:
    real = run_real(case)
    ours = run_ours(case)
    found = differences(case, real, ours)
    if case.differs:
        assert found, "both do the same: the case no longer differs"
        pytest.xfail(case.differs)
    if found:
        details = "\n".join(str(difference) for difference in found)
        pytest.fail(f"{case.id}\n{case.script}\n{details}", pytrace=False)

"""Names that a misspelt one may have meant: the same among few and among many, and quick among very many."""

from __future__ import annotations

import random
import time

import pytest

from botlint.engine.analysis import scripts_names
from botlint.engine.analysis.scripts_names import Spellings, closest_name


def test_the_same_names_are_near_among_few_and_among_many(monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = random.Random(7)
    known = {"".join(chosen.choices("AB_a1", k=chosen.randint(1, 7))) for _ in range(600)}
    asked = ["".join(chosen.choices("AB_a1", k=chosen.randint(1, 7))) for _ in range(300)]

    def near() -> list[tuple[list[str], list[str]]]:
        spellings = Spellings(known)
        return [(sorted(same), sorted(some)) for same, some in map(spellings.near, asked)]

    one_by_one = near()
    monkeypatch.setattr(scripts_names, "MAX_COMPARED", 0)
    assert near() == one_by_one
    assert any(some for _, some in one_by_one)


def test_many_names_are_compared_in_bounded_time() -> None:
    before = time.process_time()
    known = Spellings(f"SOME_LONG_NAME_OF_A_VARIABLE_{number:05}_{'X' * 40}" for number in range(9_000))
    assert closest_name(f"SOME_LONG_NAME_OF_A_VARIABL_00007_{'X' * 40}", known)[0]
    for number in range(3_000):
        closest_name(f"SOME_LONG_NAME_OF_A_VARIABEL_{number:05}_{'X' * 40}", known)
    assert time.process_time() - before < 10

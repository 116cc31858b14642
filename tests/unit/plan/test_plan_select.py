"""Entries by name or glob, and conditions on rows and plans."""

from __future__ import annotations

import pytest
from plan_fixtures import AGENTIC, EXAMPLES
from plan_samples import plan, serving

from botlint.core.errors import UsageError
from botlint.plan.build import Planner
from botlint.plan.select import (
    Condition,
    choose_entries,
    choose_jobs,
    lookup,
    matches_plan,
    parse_condition,
    plain,
)
from botlint.repo.open import open_files

KNOWN = ["gptoss-fp4-b200", "gptoss-fp4-mi355x", "dsr1-fp8-b200"]


@pytest.mark.parametrize(
    ("wanted", "chosen"),
    [
        ([], KNOWN),
        (["dsr1-fp8-b200"], ["dsr1-fp8-b200"]),
        (["dsr1-fp8-b200", "gptoss-fp4-b200"], ["gptoss-fp4-b200", "dsr1-fp8-b200"]),
        (["gptoss-*"], ["gptoss-fp4-b200", "gptoss-fp4-mi355x"]),
        (["*b200", "gptoss-fp4-b200"], ["gptoss-fp4-b200", "dsr1-fp8-b200"]),
        (["gptoss-fp[48]-mi3?5x"], ["gptoss-fp4-mi355x"]),
    ],
)
def test_entries(wanted: list[str], chosen: list[str]) -> None:
    assert choose_entries(KNOWN, wanted) == chosen


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ("gptoss-fp4-b20", "no entry 'gptoss-fp4-b20'; did you mean 'gptoss-fp4-b200'?"),
        ("qqq", "no entry 'qqq'"),
        ("zz*", "no entry matches 'zz*'"),
    ],
)
def test_unknown_entry(wanted: str, message: str) -> None:
    with pytest.raises(UsageError) as error:
        choose_entries(KNOWN, [wanted])
    assert str(error.value) == message


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("tp=2", Condition("tp", "2")),
        ("prefill.tp = 4", Condition("prefill.tp", "4")),
        ("kv-offload-backend=", Condition("kv-offload-backend", "")),
        ("a=b=c", Condition("a", "b=c")),
    ],
)
def test_condition(text: str, expected: Condition) -> None:
    assert parse_condition(text) == expected


@pytest.mark.parametrize("text", ["tp", "=2", " =2", ""])
def test_no_condition(text: str) -> None:
    with pytest.raises(UsageError):
        parse_condition(text)


@pytest.mark.parametrize(
    ("value", "wanted", "holds"),
    [
        (2, "2", True),
        (2, "20", False),
        (True, "true", True),
        (False, "true", False),
        (None, "", True),
        (None, "2", False),
        ("mi355x", "mi*", True),
        ("a[1]", "a[1]", True),
        ([64, 128], "128", True),
        ([64, 128], "64,128", True),
        ([64, 128], "32", False),
        ({"name": "lmcache", "version": "1"}, "lmcache", True),
        ({"name": "lmcache"}, "hicache", False),
        ({"tp": 4}, "4", False),
    ],
)
def test_condition_on_a_value(value: object, wanted: str, holds: bool) -> None:
    assert Condition("key", wanted).holds(value) is holds


@pytest.mark.parametrize(
    ("value", "text"), [(1, "1"), (True, "true"), (None, ""), ([1, "a"], "1,a"), ({"a": 1, "b": False}, "a:1,b:false")]
)
def test_plain(value: object, text: str) -> None:
    assert plain(value) == text


def test_lookup() -> None:
    row = {"tp": 2, "prefill": {"tp": 4, "workers": {"n": 1}}}
    assert [lookup(row, key) for key in ("tp", "prefill.tp", "prefill.workers.n", "prefill.x", "tp.x", "x")] == [
        2,
        4,
        1,
        None,
        None,
        None,
    ]


@pytest.mark.parametrize(
    ("conditions", "concurrencies"),
    [
        ([], [1, 2, 4, 8, 16, 32, 1, 2, 5, 32, 40]),
        (["tp=2"], [1, 2, 5]),
        (["tp=2", "conc=1"], [1]),
        (["kv-offload-backend=lmcache"], [32, 40]),
        (["kv-offload-backend.version=0.5.3", "conc=4*"], [40]),
        (["scenario=agentic-coding", "arm=1"], [1, 2, 5]),
        (["entry=minimax*", "tp=2", "conc=[12]"], [1, 2]),
        (["outcome=serves", "tp=2"], [1, 2, 5]),
        (["tp=3"], []),
    ],
)
def test_jobs(conditions: list[str], concurrencies: list[int]) -> None:
    with open_files(EXAMPLES) as files:
        jobs = choose_jobs(Planner(files).jobs, [AGENTIC], [parse_condition(text) for text in conditions])
    assert [job.row["conc"] for job in jobs] == concurrencies


def test_unknown_key() -> None:
    with open_files(EXAMPLES) as files, pytest.raises(UsageError, match="did you mean 'kv-offloading'"):
        choose_jobs(Planner(files).jobs, [AGENTIC], [Condition("kv-ofloading", "none")])


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("outcome=serves", True),
        ("outcome=exits", False),
        ("runner=demo", True),
        ("runner=demo_00", True),
        ("runner=other_*", True),
        ("runner=third", False),
        ("recipe=*recipe.sh", True),
        ("launcher=launch.sh", True),
        ("tp=17", True),
    ],
)
def test_plans(condition: str, holds: bool) -> None:
    other = serving(["vllm", "serve"])
    one = plan(other, others=(type(other)(("other_00",), "second.sh", None, "undecided", reason="why"),))
    assert matches_plan(one, [parse_condition(condition)]) is holds

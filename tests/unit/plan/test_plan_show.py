"""How plans are grouped, and how what differs inside a group is written."""

from __future__ import annotations

from dataclasses import replace

import pytest
from plan_samples import plan, serving

from botlint.plan.model import Alternative, Exit, LaunchPlan, Word
from botlint.plan.show import (
    collapse,
    describe_jobs,
    flatten,
    group_plans,
    plan_lines,
    runners_text,
    varying_keys,
    when_text,
)

VLLM: list[Word] = ["vllm", "serve", "m"]


@pytest.mark.parametrize(
    ("values", "rows", "text", "why"),
    [
        (["a", "a"], [{"tp": "1"}, {"tp": "2"}], "a", ""),
        (["1", "2"], [{"tp": "1"}, {"tp": "2"}], "{1, 2}", "tp"),
        (["2", "4"], [{"conc": "1"}, {"conc": "2"}], "{2, 4}", "conc 1, 2"),
        (["a", "a", "b"], [{"conc": "1"}, {"conc": "2"}, {"conc": "8"}], "{a, b}", "conc 1, 2 | 8"),
        (
            ["a", "b", "c", "d"],
            [{"tp": tp, "conc": conc} for tp in "12" for conc in "48"],
            "{a, b, c, d}",
            "by tp and conc",
        ),
        (["a", "b"], [{"tp": "1"}, {"tp": "1"}], "{a, b}", "varies"),
        (["a", ""], [{"kv": "x"}, {"kv": ""}], "{a, }", "kv x, -"),
        (
            [f"run_conc{conc}_of_demo" for conc in (1, 2)],
            [{"conc": "1"}, {"conc": "2"}],
            "run_conc{1, 2}_of_demo",
            "conc",
        ),
        (
            [f"run_tp{tp}_conc{conc}_tp{tp}" for tp, conc in ((1, 4), (2, 8))],
            [{"tp": "1", "conc": "4"}, {"tp": "2", "conc": "8"}],
            "run_tp{tp}_conc{conc}_tp{tp}",
            "",
        ),
        (
            ["x_ep1_dpfalse_end_run", "x_ep8_dptrue_end_run"],
            [{"ep": "1"}, {"ep": "8"}],
            "x_ep{ep}_{dpfalse, dptrue}_end_run",
            "",
        ),
        (
            [str(number) for number in range(20)],
            [{"conc": str(number)} for number in range(20)],
            "{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ... 20 in all}",
            "conc",
        ),
    ],
)
def test_collapse(values: list[str], rows: list[dict[str, str]], text: str, why: str) -> None:
    assert collapse(rows, values, list(rows[0])) == (text, why)


def test_flatten() -> None:
    row = {"tp": 1, "b": True, "kv": {"name": "x", "version": "1"}, "prefill": {"tp": 4, "n": {"a": 1}}, "conc": [1, 2]}
    assert flatten(row) == {
        "tp": "1",
        "b": "true",
        "kv": "x 1",
        "prefill.tp": "4",
        "prefill.n.a": "1",
        "conc": "1,2",
    }


def test_what_tells_jobs_apart() -> None:
    rows = [
        {"tp": 1, "conc": 4, "exp-name": "a"},
        {"tp": 1, "conc": 8, "exp-name": "b"},
        {"tp": 2, "conc": 4, "kv": "x"},
    ]
    assert varying_keys(rows) == ["tp", "conc", "kv"]
    assert varying_keys(rows[:1]) == []
    plans = [replace(plan(serving(VLLM)), job=row) for row in rows]
    assert describe_jobs(plans, varying_keys(rows)) == ["tp 1, conc 4, 8", "tp 2, kv x, conc 4"]
    many = [plan(serving(VLLM), tp=tp) for tp in range(9)]
    assert describe_jobs(many, ["tp"])[-1] == "and 3 more combinations"


def groups(plans: list[LaunchPlan]) -> list[list[object]]:
    return [[one.job.get("conc") for one in group.plans] for group in group_plans(plans)]


def with_conc(argv: list[Word], conc: int, **row: object) -> LaunchPlan:
    return plan(serving([*VLLM, *argv]), conc=conc, **row)


@pytest.mark.parametrize(
    ("plans", "expected"),
    [
        ([with_conc(["--n", str(c)], c) for c in (1, 2)], [[1, 2]]),
        ([with_conc(["--n", "1"], 1), with_conc(["--m", "1"], 2)], [[1], [2]]),
        ([with_conc(["--n", "1"], 1), with_conc(["--n", "1", "--m"], 2), with_conc(["--n", "3"], 3)], [[1, 3], [2]]),
        ([with_conc(["--tp", str(tp)], 1, tp=tp) for tp in (1, 2)], [[1, 1]]),
        (
            [with_conc([word for name in "abcde" for word in (f"--{name}", str(tp))], 7, tp=tp) for tp in (1, 2)],
            [[7], [7]],
        ),
    ],
    ids=["follows conc", "other options", "order of options", "few differences", "many differences"],
)
def test_groups(plans: list[LaunchPlan], expected: list[list[object]]) -> None:
    assert groups(plans) == expected


def test_exits_at_one_place_under_one_condition_are_one() -> None:
    possible = tuple(
        Alternative(("a.sh:1: x",), "exits", Exit(1, "a.sh", 2, f"port {port}\nmore")) for port in (1, 2, 3)
    )
    lines = [line for line in plan_lines(plan(serving(VLLM, possible=possible))) if line[0] == "possible"]
    assert lines == [
        ("possible", "or", "exits 1 at a.sh:2: port 1 (and 2 more like it)"),
        ("possible", "when", "a.sh:1: x"),
    ]


@pytest.mark.parametrize(
    ("when", "text"),
    [
        ((), ""),
        (("a.sh:1: x",), "a.sh:1: x"),
        (("a.sh:1: x", "a.sh:2: y", "b.sh:3: z"), "a.sh:1: x and line 2: y and b.sh:3: z"),
        (("more undecided tests",), "more undecided tests"),
    ],
)
def test_when(when: tuple[str, ...], text: str) -> None:
    assert when_text(when) == text


@pytest.mark.parametrize(
    ("runners", "text"), [(["a"], "a"), (["a", "b", "c"], "a, b, c"), (["a", "b", "c", "d"], "a and 3 more")]
)
def test_runners(runners: list[str], text: str) -> None:
    assert runners_text(runners) == text

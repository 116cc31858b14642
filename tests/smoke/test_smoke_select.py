"""Which jobs deserve a smoke run."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from botlint.core.finding import Finding, JobRef
from botlint.core.span import Span
from botlint.plan.diff import diff_plans
from botlint.plan.model import Exit, Launch, LaunchPlan, Role, Server
from botlint.plan.select import parse_condition
from botlint.smoke.jsonform import read_request, request_form
from botlint.smoke.select import Budget, Selection, find, gpus_of, job_id, request, select

SPAN = Span("configs/a.yaml", 1, 1, 1, 2)
BUDGET = Budget(runners=("mi355x*",))


def plan(
    entry: str = "one",
    *,
    conc: int = 4,
    tp: int = 2,
    arm: int = 0,
    env: dict[str, str] | None = None,
    framework: str = "vllm",
    outcome: Any = "serves",
    runner: str = "mi355x",
    roles: tuple[Role, ...] = (),
    **row: object,
) -> LaunchPlan:
    server = Server(framework, "0.27.1", "r.sh", 3, ("vllm", "serve", "m"), {"A": "1", **(env or {})}, {}, roles)
    ends = Exit(1, "r.sh", 2, "no") if outcome == "exits" else None
    launch = Launch((f"{runner}_00",), "l.sh", "r.sh", outcome, ends, server if outcome == "serves" else None)
    job = {"image": "x", "model": "m", "framework": framework, "runner": runner, "tp": tp, "conc": conc, **row}
    return LaunchPlan(entry, SPAN, SPAN, "fixed", arm, job, launch)


def chosen(found: Selection) -> list[tuple[str, int, int]]:
    return [(one.plan.entry, one.gpus, int(str(one.plan.job["conc"]))) for one in found.chosen]


def possible(*jobs: LaunchPlan, certainty: Any = "possible", severity: Any = "error") -> Finding:
    refs = tuple(JobRef(one.entry, one.scenario, one.arm_index, str(one.job["conc"])) for one in jobs)
    return Finding("a-rule", severity, certainty, "it may break\nand more", SPAN, jobs=refs)


def test_one_job_stands_for_its_group_and_the_cheapest_does() -> None:
    sizes = [(conc, tp, arm) for arm, tp in enumerate((4, 2, 8)) for conc in (64, 4, 16)]
    old = [plan(conc=conc, tp=tp, arm=arm) for conc, tp, arm in sizes]
    new = [plan(conc=conc, tp=tp, arm=arm, env={"B": "1"}) for conc, tp, arm in sizes]
    found = select(new, diff_plans(old, new), (), BUDGET)
    assert chosen(found) == [("one", 2, 4)]
    assert found.chosen[0].shows == ("changed: 9 jobs of one: B",)
    assert found.chosen[0].smallest_concurrency == 4
    assert found.left == ()


def test_a_job_that_shows_more_is_taken_instead_of_two() -> None:
    old = [plan("a", tp=1), plan("b", tp=1)]
    new = [plan("a", tp=1, env={"B": "1"}), plan("b", tp=1, env={"C": "1"}), plan("a", tp=2, conc=8, arm=1)]
    both = possible(new[0], new[1])
    assert chosen(select(new, diff_plans(old, new), [both], Budget(jobs=3))) == [("a", 1, 4), ("b", 1, 4), ("a", 2, 8)]
    assert chosen(select(new, None, [both, possible(new[0], new[2])], BUDGET)) == [("a", 1, 4)]
    # Two findings that share only an expensive job: one job of 4 GPUs is less than two of one.
    shared = [plan("a", tp=1), plan("b", tp=1), plan("c", tp=4)]
    open_findings = [possible(shared[0], shared[2]), possible(shared[1], shared[2])]
    assert chosen(select(shared, None, open_findings, BUDGET)) == [("c", 4, 4)]


def test_findings_that_are_certain_or_allowed_need_no_run() -> None:
    jobs = [plan()]
    sure = possible(*jobs, certainty="certain")
    allowed = Finding("a-rule", "error", "possible", "x", SPAN, jobs=possible(*jobs).jobs, suppressed="yes")
    assert select(jobs, None, [sure, allowed], BUDGET) == Selection((), ())


def test_what_the_change_does_not_touch_is_not_run() -> None:
    same = [plan(conc=conc) for conc in (1, 2)]
    assert select(same, diff_plans(same, same), (), BUDGET) == Selection((), ())


@pytest.mark.parametrize(
    ("job", "why"),
    [
        (plan(outcome="exits"), "it starts no server"),
        (plan(outcome="undecided"), "what it starts is undecided"),
        (plan(runner="b200"), "its runner is b200"),
        (plan(tp=16), "it takes 16 GPUs, more than 8"),
        (plan(tp=4, pp=4), "it takes 16 GPUs, more than 8"),
        (plan(framework="trt"), "servers of trt are not started by smoke runs"),
        (plan(prefill={"tp": 1}), "it takes several nodes or servers"),
        (plan(roles=(Role("prefill", 1, 8, ("x",), {}, "r.sh", 1),)), "it takes several nodes or servers"),
        (plan(tp="8"), "its number of GPUs is unknown"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_run_is_told(job: LaunchPlan, why: str) -> None:
    found = select([job], diff_plans([], [job]), (), BUDGET)
    assert found.chosen == ()
    assert [one.reasons for one in found.left] == [(why,)]
    assert find([job], [job_id(job)], BUDGET).left[0].reasons == (why,)


def test_a_budget_that_is_too_small_goes_to_the_worst() -> None:
    jobs = [plan(f"e{number}", tp=1 + number) for number in range(4)]
    findings = [
        possible(jobs[0], severity="info"),
        possible(jobs[1], severity="warning"),
        possible(jobs[2]),
        possible(jobs[3], severity="info"),
    ]
    found = select(jobs, None, findings, BUDGET)
    assert [entry for entry, _, _ in chosen(found)] == ["e1", "e2"]
    assert len(found.left) == 1, "what says the same is said once"
    assert found.left[0].reasons == ("more than 2 jobs would be needed",)


def test_the_smallest_set_is_found() -> None:
    """Against all sets: many small cases."""
    for seed in range(60):
        jobs = [plan(f"e{number}", tp=1 + (seed + number) % 4, conc=1 + number) for number in range(5)]
        findings = [
            possible(*[job for place, job in enumerate(jobs) if (seed * 7 + place * 5 + number * 3) % 11 < 4])
            for number in range(4)
        ]
        findings = [one for one in findings if one.jobs]
        found = select(jobs, None, findings, Budget(jobs=5))
        wanted = [{ref.entry for ref in one.jobs} for one in findings]
        prices = [
            (size, sum(gpus_of(one) or 0 for one in some))
            for size in range(6)
            for some in itertools.combinations(jobs, size)
            if all({one.entry for one in some} & names for names in wanted)
        ]
        assert (len(found.chosen), sum(one.gpus for one in found.chosen)) == min(prices)
        assert found.left == ()


def test_somebody_may_ask_for_jobs_by_name() -> None:
    jobs = [plan("a", tp=1), plan("a", tp=2, arm=1), plan("b", tp=1, conc=1)]
    only = [parse_condition("tp=2")]
    assert chosen(select(jobs, None, (), BUDGET, only)) == [("a", 2, 4)]
    assert chosen(select(jobs, None, (), BUDGET, (), ["b*"])) == [("b", 1, 1)]
    assert chosen(select(jobs, None, [possible(jobs[0], jobs[2])], BUDGET, (), ["a"])) == [("a", 1, 4)]
    assert select(jobs, None, (), BUDGET, [parse_condition("tp=3")]) == Selection((), ())
    assert select(jobs, None, (), BUDGET, [parse_condition("prefill.tp=3")]) == Selection((), ())
    for condition in ("scenario=fix*", "outcome=serves", "runner=mi355x", "arm=1", "entry=a"):
        assert chosen(select(jobs, None, (), BUDGET, [parse_condition(condition)])), condition


def test_a_job_is_found_again_by_its_id() -> None:
    jobs = [plan(conc=conc) for conc in (8, 2, 4)]
    ids = [job_id(one) for one in jobs]
    assert len(set(ids)) == 3
    assert all(len(one) == 16 for one in ids)
    found = find(jobs, [ids[2], "0" * 16, ids[0], ids[2]], BUDGET)
    assert [one.id for one in found.chosen] == [ids[2], ids[0]]
    assert found.left[0].reasons == ("no job of this revision has this id",)
    assert job_id(plan(conc=8)) == ids[0]


def test_a_question_is_made_of_a_choice() -> None:
    jobs = [plan(conc=conc) for conc in (8, 2, 4)]
    (one,) = find(jobs, [job_id(jobs[0])], BUDGET).chosen
    asked = request(one, "a" * 40, "b" * 40, "n" * 16)
    assert asked.smallest_concurrency == 2
    assert asked.plan["job"]["conc"] == 8
    import json

    assert read_request(json.dumps(request_form(asked))) == asked


def test_the_launch_on_a_runner_of_the_node_is_taken() -> None:
    one = plan(runner="mixed")
    other = Launch(("mi355x-amds_01",), "l.sh", "r.sh", "serves", None, one.launch.server)
    one.others = (other,)
    (found,) = find([one], [job_id(one)], BUDGET).chosen
    assert found.plan.launch.runners == ("mi355x-amds_01",)
    assert found.plan.others == ()


def test_a_great_change_is_quick() -> None:
    import time

    jobs = [plan(f"e{number % 60}", conc=number, tp=1 + number % 8, arm=number) for number in range(1500)]
    findings = [possible(*jobs[number :: 37 + number]) for number in range(40)]
    began = time.process_time()
    found = select(jobs, diff_plans([], jobs), findings, Budget(jobs=8))
    assert len(found.chosen) == 8
    assert time.process_time() - began < 20

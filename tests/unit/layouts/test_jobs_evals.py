"""Which rows become evals: by the newest policy, and by those of older generators."""

from __future__ import annotations

from dataclasses import replace

import pytest
from job_fixtures import WORKER, agentic, entry, fixed, revision

from botlint.layouts.inferencex.generator_facts import EvalFacts
from botlint.layouts.inferencex.job import Job
from botlint.layouts.inferencex.jobs import Mode, expand, load_configs, load_runners

SINGLE = entry(
    "single",
    fixed("- {tp: 1, conc-list: [4, 16, 32, 64]}\n- {tp: 8, conc-list: [8, 64]}\n", 8192)
    + "\n- isl: 1024\n  osl: 1024\n  search-space: [{tp: 1, conc-list: [64]}]",
)
BIG_WORKER = "{num-worker: 2, tp: 8, ep: 1, dp-attn: true}"
MULTI = entry(
    "multi",
    fixed(
        f"- {{prefill: {WORKER}, decode: {WORKER}, conc-list: [64, 8]}}\n"
        f"- {{prefill: {WORKER}, decode: {WORKER}, conc-list: [128, 16, 32, 256]}}\n"
        f"- {{prefill: {WORKER}, decode: {BIG_WORKER}, conc-list: [32]}}\n"
        f"- {{prefill: {BIG_WORKER}, decode: {WORKER}, conc-list: [8]}}\n",
        8192,
    ),
    multinode=True,
)
AGENTIC_SINGLE = entry("agentic", agentic("- {tp: 1, kv-offloading: none, conc-list: [2, 8]}"))
AGENTIC_MULTI = entry(
    "agentic-multi",
    agentic(
        f"- {{prefill: {WORKER}, decode: {WORKER}, conc-list: [8, 16, 64]}}\n"
        f"- {{prefill: {WORKER}, decode: {BIG_WORKER}, conc-list: [8]}}\n"
    ),
    multinode=True,
)


def jobs_in(mode: Mode, *entries: str, facts: EvalFacts | None = None) -> list[Job]:
    files = revision(*entries)
    configs = load_configs(files)
    if facts is not None:
        configs = replace(configs, facts=replace(configs.facts, evals=facts))
    return expand(configs, load_runners(files), mode)


def short(jobs: list[Job]) -> list[tuple[object, ...]]:
    """Arm, concurrency, and the eval's concurrency where there is one."""
    result: list[tuple[object, ...]] = []
    for job in jobs:
        extra = [job.row[key] for key in ("eval-conc", "eval-all-concs") if key in job.row]
        result.append((job.arm_index, job.row["conc"], *extra))
    return result


def marked(jobs: list[Job]) -> list[tuple[object, ...]]:
    return short([job for job in jobs if job.row.get("run-eval")])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SINGLE, [(0, 32), (0, 64), (1, 64)]),
        (MULTI, [(1, [128, 16, 32, 256], 256), (2, [32], 32)]),
        (AGENTIC_SINGLE, []),
        (AGENTIC_MULTI, []),
    ],
)
def test_default_marks(text: str, expected: list[tuple[object, ...]]) -> None:
    jobs = jobs_in("throughput", text)
    assert marked(jobs) == expected
    assert all("run-eval" in job.row and "eval-only" not in job.row for job in jobs)


def test_unmarked_rows_have_no_choice() -> None:
    assert marked(jobs_in("unmarked", SINGLE, MULTI)) == []
    assert all("run-eval" not in job.row for job in jobs_in("unmarked", AGENTIC_SINGLE, AGENTIC_MULTI))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SINGLE, [(0, 32), (0, 64), (1, 64)]),
        (MULTI, [(1, [128, 16, 32, 256], 256), (2, [32], 32)]),
        (AGENTIC_SINGLE, [(0, 8)]),
        (AGENTIC_MULTI, [(0, [64], 64)]),
    ],
)
def test_evals_only(text: str, expected: list[tuple[object, ...]]) -> None:
    jobs = jobs_in("evals", text)
    assert short(jobs) == expected
    assert [list(job.row.items())[-1] for job in jobs] == [("eval-only", True)] * len(jobs)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (SINGLE, [(0, 4), (0, 16), (0, 32), (0, 64), (1, 8), (1, 64)]),
        (MULTI, [(0, [8, 16, 32, 64, 128, 256], True), (2, [32], True), (3, [8], True)]),
        (AGENTIC_SINGLE, [(0, 2), (0, 8)]),
        (AGENTIC_MULTI, [(0, [8, 16, 64], 64), (1, [8], 8)]),
    ],
)
def test_all_evals(text: str, expected: list[tuple[object, ...]]) -> None:
    assert short(jobs_in("all-evals", text)) == expected


def test_groups_are_kept_apart_by_what_the_generator_names() -> None:
    arms = "- {tp: 1, conc-list: [32, 64]}\n- {tp: 1, dp-attn: true, conc-list: [16, 32]}\n"
    text = entry("one", fixed(arms, 8192))
    assert marked(jobs_in("throughput", text)) == [(0, 64), (1, 32)]
    no_attention = EvalFacts(single_group=(("model",), ("spec-decoding",)))
    assert marked(jobs_in("throughput", text, facts=no_attention)) == [(0, 32), (0, 64), (1, 32)]


NO_AGENTIC = EvalFacts(agentic_single=False, agentic_multi=False, all_agentic_single=False, all_agentic_multi=False)
DP_GROUP = (("model",), ("runner",), ("prefill", "dp-attn"), ("decode", "dp-attn"))


@pytest.mark.parametrize(
    ("mode", "facts", "text", "expected"),
    [
        ("evals", EvalFacts(evals_only=False), SINGLE, []),
        ("all-evals", EvalFacts(all_evals=False), SINGLE, []),
        ("throughput", EvalFacts(marked_by_default=False), SINGLE, []),
        ("throughput", EvalFacts(single_policy="tp-extremes"), SINGLE, [(0, 64), (1, 64)]),
        ("throughput", EvalFacts(min_conc=None), SINGLE, [(0, 16), (0, 64), (1, 64)]),
        ("throughput", EvalFacts(sequence=(1024, 1024)), SINGLE, [(2, 64)]),
        ("throughput", EvalFacts(multi_policy="none"), MULTI, []),
        (
            "throughput",
            EvalFacts(multi_policy="median-of-largest", multi_group=DP_GROUP),
            MULTI,
            [(1, [128, 16, 32, 256], 128), (2, [32], 32)],
        ),
        (
            "throughput",
            EvalFacts(
                multi_policy="median-of-largest",
                multi_group=DP_GROUP,
                skipped_groups=(("maker/Model-1", "cluster:big"),),
            ),
            MULTI,
            [],
        ),
        ("evals", NO_AGENTIC, AGENTIC_SINGLE, []),
        ("evals", NO_AGENTIC, AGENTIC_MULTI, []),
        ("all-evals", NO_AGENTIC, AGENTIC_SINGLE + AGENTIC_MULTI, []),
        (
            "all-evals",
            EvalFacts(all_policy="median"),
            MULTI,
            [(0, [64, 8], 64), (1, [128, 16, 32, 256], 256), (2, [32], 32), (3, [8], 8)],
        ),
        (
            "all-evals",
            EvalFacts(all_policy="split"),
            MULTI,
            [(0, [c], c) for c in (64, 8)] + [(1, [c], c) for c in (128, 16, 32, 256)] + [(2, [32], 32), (3, [8], 8)],
        ),
        (
            "all-evals",
            EvalFacts(all_only_sequence=False),
            SINGLE,
            [*[(0, c) for c in (4, 16, 32, 64)], (1, 8), (1, 64), (2, 64)],
        ),
    ],
)
def test_older_policies(mode: Mode, facts: EvalFacts, text: str, expected: list[tuple[object, ...]]) -> None:
    assert marked(jobs_in(mode, text, facts=facts)) == expected


def test_older_evals_did_not_say_that_they_are_only_evals() -> None:
    jobs = jobs_in("evals", SINGLE, facts=EvalFacts(sets_eval_only=False))
    assert jobs
    assert all("eval-only" not in job.row for job in jobs)


def test_older_generators_left_agentic_rows_unmarked() -> None:
    jobs = jobs_in("throughput", AGENTIC_SINGLE, facts=EvalFacts(marks_agentic_rows=False))
    assert all("run-eval" not in job.row for job in jobs)

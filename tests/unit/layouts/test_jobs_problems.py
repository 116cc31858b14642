"""Entries that the generator would refuse: each gets a problem at its place, and nothing else is lost."""

from __future__ import annotations

import pytest
from job_fixtures import HEAD, RUNNERS, WORKER, MemoryFiles, agentic, entry, fixed, revision

from botlint.core.span import Problem
from botlint.layouts.inferencex.jobs import expand, expand_all, load_configs, load_runners
from botlint.repo.files import Files

GOOD = entry("good", fixed("- {tp: 1, conc-list: [1]}"))
GENERATOR = "utils/matrix_logic/generate_sweep_configs.py"
VALIDATION = "utils/matrix_logic/validation.py"


def problems_of(files: Files) -> list[Problem]:
    configs = load_configs(files)
    expansion = expand_all(configs, load_runners(files))
    assert "good" in {job.entry for job in expansion.jobs}
    return [*configs.problems, *expansion.problems]


def shown(files: Files) -> list[str]:
    """Each problem's message and the text at its place."""
    result = []
    for problem in problems_of(files):
        source = files.text(problem.span.path)
        assert source is not None
        line = source.text.splitlines()[problem.span.line - 1]
        result.append(f"{problem.message} @ {line[problem.span.column - 1 : problem.span.end_column - 1].strip()}")
    return result


PAIR = f"prefill: {WORKER}, decode: {WORKER}, conc-list: [1]"


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("{conc-list: [1]}", ["required field 'tp' is missing @ {conc-list", "the arm has no 'tp'"]),
        ("{tp: x, conc-list: [1]}", ["'tp' is 'x', not an integer @ tp"]),
        ("{tp: '8', conc-list: [1]}", []),
        ("{tp: 8.0, conc-list: [1]}", []),
        ("{tp: 8.5, conc-list: [1]}", ["'tp' is 8.5, not an integer @ tp"]),
        ("{tp: null, conc-list: [1]}", ["'tp' is None, not an integer @ tp"]),
        ("{tp: 1, ep: null, dp-attn: null, conc-list: [1]}", []),
        ("{tp: 1, dp-attn: 'yes', conc-list: [1]}", []),
        ("{tp: 1, dp-attn: 3, conc-list: [1]}", ["'dp-attn' is 3, not true or false @ dp-attn"]),
        ("{tp: 1, pp: '2', conc-list: [1]}", ["'pp' is '2', not an integer @ pp"]),
        ("{tp: 1, pp: 0, conc-list: [1]}", ["'pp' is 0, it must be greater than 0 @ pp"]),
        ("{tp: 6, dcp-size: 4, conc-list: [1]}", ["'tp' (6) must be divisible by 'dcp-size' (4) @ dcp-size"]),
        ("{tp: 1, tq: 1, conc-list: [1]}", ["unknown field 'tq' @ tq"]),
        ("{tp: 1, spec-decoding: eagle, conc-list: [1]}", ["'spec-decoding' is 'eagle', allowed are 'mtp'"]),
        ("{tp: 1, conc-list: [1, x]}", ["'1' is 'x', not an integer @ x"]),
        ("{tp: 1, conc-list: [1, 0]}", ["entries of 'conc-list' must be greater than 0 @ conc-list"]),
        ("{tp: 1, conc-list: 4}", ["'conc-list' must be a list @ conc-list", "'conc-list' must be a list @ 4"]),
        ("{tp: 1, conc-list: []}", ["either 'conc-list' or both", "there is neither a 'conc-list' nor a range"]),
        ("{tp: 1, conc-start: 4}", ["either 'conc-list' or both", "there is neither a 'conc-list' nor a range"]),
        ("{tp: 1, conc-start: 4, conc-end: 2}", ["'conc-start' (4) is greater than 'conc-end' (2) @ conc-start"]),
        ("{tp: 1, conc-start: 0, conc-end: 2}", ["must be greater than 0", "must be greater than 0 @ 0"]),
        ("{tp: 1, conc-start: 1, conc-end: 2, conc-list: [1]}", ["exclude each other"]),
        ("{tp: 1, conc-list: [1], kv-p2p-transfer: x}", ["unknown field 'kv-p2p-transfer'"]),
        ("{tp: 1, conc-list: [1], router: {name: a}}", ["required field 'version' is missing @ router"]),
        ("{tp: 1, conc-list: [1], router: {name: a, version: 'image:x'}}", ["must not be an image @ version"]),
        ("{tp: 1, conc-list: [1], router: {name: '', version: '1'}}", ["'name' must not be empty @ name"]),
        ("4", ["'0' must be a mapping"]),
    ],
)
def test_single_node_arms(arm: str, expected: list[str]) -> None:
    _check(shown(revision(entry("bad", fixed(f"- {arm}\n- {{tp: 2, conc-list: [1]}}\n")), GOOD)), expected)


@pytest.mark.parametrize(
    ("arm", "extra", "expected"),
    [
        (f"{{{PAIR}}}", "", []),
        (
            f"{{prefill: {WORKER}, conc-list: [1]}}",
            "",
            ["required field 'decode' is missing", "the arm has no 'decode'"],
        ),
        (
            "{prefill: 1, decode: 1, conc-list: [1]}",
            "",
            ["must be a mapping @ prefill", "must be a mapping @ decode", ""],
        ),
        (
            f"{{prefill: {{num-worker: 1, tp: 4, ep: 1}}, decode: {WORKER}, conc-list: [1]}}",
            "",
            ["required field 'dp-attn' is missing @ prefill"],
        ),
        (
            f"{{prefill: {WORKER[:-1]}, hardware: a}}, decode: {WORKER}, conc-list: [1]}}",
            "",
            ["'hardware' must be given for both"],
        ),
        (
            f"{{prefill: {WORKER[:-1]}, dcp-size: 3}}, decode: {WORKER}, conc-list: [1]}}",
            "",
            ["'tp' (4) must be divisible by 'dcp-size' (3) @ dcp-size"],
        ),
        (
            f"{{{PAIR}}}",
            "disagg: true",
            ["'disagg: true' needs 'kv-p2p-transfer' for the entry or for every arm @ disagg"],
        ),
        (f"{{{PAIR}, kv-p2p-transfer: x}}", "disagg: true", []),
        (f"{{{PAIR}, kv-p2p-transfer: x}}", "kv-p2p-transfer: y", ["is given for the entry and for an arm"]),
    ],
)
def test_multi_node_arms(arm: str, extra: str, expected: list[str]) -> None:
    text = entry("bad", fixed(f"- {arm}"), multinode=True, extra=f"{extra}\n" if extra else "")
    _check(shown(revision(text, GOOD)), expected)


@pytest.mark.parametrize(
    ("arm", "multinode", "expected"),
    [
        ("{tp: 1, kv-offloading: none, conc-list: [1]}", False, []),
        (
            "{tp: 1, conc-list: [1]}",
            False,
            ["a single-node agentic arm needs 'kv-offloading'", "has no 'kv-offloading'"],
        ),
        ("{tp: 1, kv-offloading: ssd, conc-list: [1]}", False, ["'kv-offloading' is 'ssd', allowed are"]),
        ("{tp: 1, kv-offloading: dram, conc-list: [1]}", False, ["needs 'kv-offload-backend' @ kv-offloading"]),
        (
            "{tp: 1, kv-offloading: none, kv-offload-backend: {name: a}, conc-list: [1]}",
            False,
            ["'kv-offload-backend' needs a 'kv-offloading'"],
        ),
        (f"{{{PAIR}, tp: 1, kv-offloading: none}}", True, ["either 'tp' or both 'prefill' and 'decode'"]),
        (f"{{{PAIR}, pp: 2}}", True, ["a multi-node agentic arm cannot have 'pp' @ pp"]),
        (
            "{tp: 16, kv-offloading: dram, kv-offload-backend: {name: a}, conc-list: [1]}",
            False,
            ["uses 16 GPUs, a node has 8"],
        ),
        (
            f"{{prefill: {{num-worker: 1, tp: 12, ep: 1, dp-attn: false}}, decode: {WORKER}, kv-offloading: dram, "
            "kv-offload-backend: {name: a}, conc-list: [1]}",
            True,
            ["a prefill worker's 12 GPUs cannot fill nodes of 8 GPUs evenly"],
        ),
    ],
)
def test_agentic_arms(arm: str, multinode: bool, expected: list[str]) -> None:
    _check(shown(revision(entry("bad", agentic(f"- {arm}"), multinode=multinode), GOOD)), expected)


DRAM = "- {tp: 1, kv-offloading: dram, kv-offload-backend: {name: a}, conc-list: [1]}"


def test_offloading_to_memory_needs_a_utilization_and_a_known_node() -> None:
    _check(
        shown(revision(entry("bad", agentic(DRAM, "dram-utilization: null")), GOOD)),
        [
            "'kv-offloading: dram' needs 'dram-utilization' @ kv-offloading",
            "needs a number as 'dram-utilization' @ dram",
        ],
    )
    text = entry("bad", agentic(DRAM)).replace("cluster:big", "cluster:new")
    _check(shown(revision(text, GOOD)), ["label 'cluster:new' has no hardware in the runner table @ dram"])
    text = entry("bad", agentic(DRAM)).replace("cluster:big", "small")
    _check(shown(revision(text, GOOD)), ["need a runner label that starts with 'cluster:' @ runner", "no hardware"])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("bad: 1\n", ["an entry must be a mapping @ bad"]),
        (f"bad*:\n  {HEAD.replace(chr(10), chr(10) + '  ')}\n", ["'*' is not allowed", "'multinode'", "'scenarios'"]),
        (entry("bad", "fixed-seq-len: []"), ["at least one scenario must be given @ scenarios"]),
        (entry("bad", "fixed-seq-len: 3"), ["'fixed-seq-len' must be a list @ fixed-seq-len"]),
        (entry("bad", "fixed-seq-len: [3]"), ["'0' must be a mapping"]),
        (
            entry("bad", "fixed-seq-len: [{isl: 1, osl: 1, search-space: 3}]"),
            ["'search-space' must be a list @ search-space"],
        ),
        (entry("bad", "other: []"), ["unknown field 'other' @ other"]),
        (
            entry("bad", fixed("- {tp: 1, conc-list: [1]}")).replace("precision: fp8", "precision: 8"),
            ["not a text @ precision"],
        ),
        (
            entry("bad", fixed("- {tp: 1, conc-list: [1]}"), extra="disagg: true\n"),
            ["'disagg' is True, allowed are False @ disagg"],
        ),
        (
            entry("bad", fixed("- {tp: 1, conc-list: [1]}", isl="x")),
            ["'isl' is 'x', not an integer @ isl", "'isl' must be"],
        ),  # type: ignore[arg-type]
        (
            entry("bad", fixed("- {tp: 1, conc-list: [1]}")).replace("  model: maker/Model-1\n", ""),
            ["required field 'model' is missing @ bad", "the entry has no 'model'"],
        ),
    ],
)
def test_entries(text: str, expected: list[str]) -> None:
    _check(shown(revision(text, GOOD)), expected)


def _check(found: list[str], expected: list[str]) -> None:
    assert len(found) == len(expected), found
    for one, part in zip(found, expected, strict=True):
        assert part in one


def test_arms_of_a_refused_entry_are_still_expanded() -> None:
    text = entry("bad", fixed("- {tp: 1, tq: 1, conc-list: [1]}\n- {conc-list: [1]}\n- {tp: 4, conc-list: [2]}\n"))
    files = revision(text, GOOD)
    jobs = expand(load_configs(files), load_runners(files))
    assert [(job.entry, job.arm_index, job.row["tp"]) for job in jobs] == [("bad", 0, 1), ("bad", 2, 4), ("good", 0, 1)]


def test_an_entry_of_two_files_counts_once() -> None:
    files = MemoryFiles({"configs/a-master.yaml": GOOD, "configs/b-master.yaml": GOOD, "configs/runners.yaml": RUNNERS})
    assert [problem.span.path for problem in problems_of(files)] == ["configs/b-master.yaml"]
    assert len(expand(load_configs(files), load_runners(files))) == 1


def test_a_broken_block_does_not_lose_the_other_entries() -> None:
    files = revision("broken: [1\n", GOOD)
    assert problems_of(files)
    assert [job.entry for job in expand(load_configs(files), load_runners(files))] == ["good"]


def test_hardware_of_a_runner_must_be_complete() -> None:
    files = MemoryFiles(
        {"configs/x-master.yaml": GOOD, "configs/runners.yaml": RUNNERS.replace("    gpus-per-node: 8\n", "")}
    )
    (problem,) = load_runners(files).problems
    assert (problem.kind, problem.span.line) == ("runners-invalid", 6)


OLDER_CHECKS = """\
from enum import Enum
from typing import Dict, List, Literal, Optional, Union
from pydantic import BaseModel, Field

START = 'cluster-'
CLUSTER_LABEL_PREFIX = 'lab:'


class Fields(Enum):
    ARMS = 'search-space'
    PARTS = 'seq-len-configs'
    SPARE = 'spare-part'


class Arm(BaseModel):
    tp: int = Field(ge=2)
    mode: Literal['a', 'b'] = 'a'
    note: Optional[str] = Field(None, min_length=2)
    tags: Dict[str, List[str]] = Field(default_factory=dict)
    spare: int = Field(alias=Fields.SPARE.value, le=4, default=1)
    free: Union[int, str] = 1


class Part(BaseModel):
    isl: int
    osl: int
    arms: List[Arm] = Field(alias=Fields.ARMS.value)


class SingleNodeMasterConfigEntry(BaseModel):
    image: str
    parts: List[Part] = Field(alias=Fields.PARTS.value)


class MultiNodeMasterConfigEntry(BaseModel):
    image: str


def _validate_conc_fields(self):
    return self
"""


@pytest.mark.parametrize(
    ("arm", "expected"),
    [
        ("{tp: 2, conc-start: 1, conc-end: 2}", ["unknown field 'conc-start'", "unknown field 'conc-end'"]),
        ("{tp: 1}", ["'tp' is 1, it must be at least 2"]),
        ("{tp: 2, spare-part: 5}", ["'spare-part' is 5, it must be at most 4"]),
        ("{tp: 2, mode: c}", ["'mode' is 'c', allowed are 'a', 'b'"]),
        ("{tp: 2, note: x}", ["'note' must not be empty"]),
        ("{tp: 2, note: null, tags: {a: [b]}, free: [1]}", []),
        ("{tp: 2, tags: 1}", ["'tags' must be a mapping"]),
    ],
)
def test_the_schema_is_the_revision_s_own(arm: str, expected: list[str]) -> None:
    sweep = "def generate_full_sweep(args):\n    pass\n"
    text = f"one:\n  image: a\n  seq-len-configs: [{{isl: 1, osl: 1, search-space: [{arm}]}}]\n"
    files = revision(text, **{GENERATOR: sweep, VALIDATION: OLDER_CHECKS})
    # A check without a rule for the start of a range needs a concurrency all the same.
    found = [p.message for p in load_configs(files).problems if "either 'conc-list'" not in p.message]
    _check(found, expected)


def test_a_very_long_list_of_concurrencies_is_not_expanded() -> None:
    arm = f"- {{tp: 1, conc-list: {list(range(1, 1002))}}}"
    assert "more than 1000 entries" in shown(revision(entry("bad", fixed(arm)), GOOD))[0]
    doubling = f"- {{tp: 1, conc-start: 1, conc-end: {2**500}}}"
    files = revision(entry("long", fixed(doubling)), GOOD)
    assert len(expand(load_configs(files), load_runners(files))) == 502


def test_aliases_cannot_make_a_huge_matrix() -> None:
    listed = f"- {{tp: 1, conc-list: &all {list(range(1, 1001))}}}\n"
    arms = listed + "- {tp: 1, conc-list: *all}\n" * 20
    files = revision(GOOD, entry("bad", fixed(arms)), entry("late", fixed("- {tp: 1, conc-list: [1]}")))
    problem = problems_of(files)[-1]
    assert problem.kind == "too-many-jobs"
    assert len(expand(load_configs(files), load_runners(files))) < 6000


@pytest.mark.parametrize("multinode", [False, True])
@pytest.mark.parametrize("conc", ["[x]", "[]", "[null]", "[{a: 1}]"])
def test_evals_of_concurrencies_that_are_no_numbers(multinode: bool, conc: str) -> None:
    fixed_arm = f"- {{{PAIR.replace('[1]', conc)}, tp: 1, kv-offloading: none}}"
    text = entry("bad", f"{fixed(fixed_arm, 8192)}\n{agentic(fixed_arm)}", multinode=multinode)
    files = revision(text, GOOD)
    for mode in ("throughput", "evals", "all-evals"):
        expand(load_configs(files), load_runners(files), mode)  # type: ignore[arg-type]

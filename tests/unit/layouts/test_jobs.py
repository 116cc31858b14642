"""Rows of jobs by the newest generator: keys, order, values, names, budgets and origins."""

from __future__ import annotations

import json

import pytest
from job_fixtures import WORKER, MemoryFiles, agentic, entry, fixed, jobs_of, revision

from botlint.layouts.inferencex.jobs import expand, load_configs, load_runners


def test_single_node_row_has_the_generator_s_keys_in_its_order() -> None:
    (job,) = jobs_of(entry("one", fixed("- {tp: 8, conc-list: [4]}")))
    assert json.dumps(job.row) == json.dumps(
        {
            "image": "registry/engine:1",
            "model": "maker/Model-1",
            "model-prefix": "m1",
            "precision": "fp8",
            "framework": "engine",
            "runner": "cluster:big",
            "isl": 1024,
            "osl": 1024,
            "tp": 8,
            "pp": 1,
            "dcp-size": 1,
            "pcp-size": 1,
            "conc": 4,
            "max-model-len": 2304,
            "ep": 1,
            "dp-attn": False,
            "spec-decoding": "none",
            "exp-name": "m1_1k1k",
            "disagg": False,
            "run-eval": False,
        }
    )


def test_arm_values_replace_the_defaults() -> None:
    arm = "- {tp: 4, pp: 2, dcp-size: 2, pcp-size: 2, ep: 4, dp-attn: true, spec-decoding: mtp, conc-list: [1]}"
    (job,) = jobs_of(entry("one", fixed(arm, 512, 64)))
    changed = {key: job.row[key] for key in ("pp", "dcp-size", "pcp-size", "ep", "dp-attn", "spec-decoding")}
    assert changed == {"pp": 2, "dcp-size": 2, "pcp-size": 2, "ep": 4, "dp-attn": True, "spec-decoding": "mtp"}
    assert (job.row["exp-name"], job.row["max-model-len"]) == ("m1_512_64", 832)


@pytest.mark.parametrize(
    ("concurrency", "expected"),
    [
        ("conc-start: 4, conc-end: 64", [4, 8, 16, 32, 64]),
        ("conc-start: 4, conc-end: 100", [4, 8, 16, 32, 64, 100]),
        ("conc-start: 3, conc-end: 3", [3]),
        ("conc-start: 1, conc-end: 2", [1, 2]),
        ("conc-list: [64, 4, 4]", [64, 4, 4]),
    ],
)
def test_concurrencies(concurrency: str, expected: list[int]) -> None:
    jobs = jobs_of(entry("one", fixed(f"- {{tp: 1, {concurrency}}}")))
    assert [job.row["conc"] for job in jobs] == expected
    assert [job.conc_index for job in jobs] == list(range(len(expected)))


def test_multi_node_row_holds_all_concurrencies_and_explicit_worker_sizes() -> None:
    arm = f"- {{prefill: {WORKER}, decode: {{num-worker: 2, tp: 8, ep: 8, dp-attn: true, pp: 2}}, conc-list: [8, 2]}}"
    jobs = jobs_of(entry("one", fixed(arm, 8192), multinode=True))
    assert len(jobs) == 1
    assert list(jobs[0].row)[6:] == [
        "isl",
        "osl",
        "spec-decoding",
        "prefill",
        "decode",
        "conc",
        "max-model-len",
        "exp-name",
        "disagg",
        "run-eval",
    ]
    assert jobs[0].row["conc"] == [8, 2]
    assert jobs[0].row["exp-name"] == "m1_8k1k"
    assert json.dumps(jobs[0].row["decode"]) == json.dumps(
        {"num-worker": 2, "tp": 8, "ep": 8, "dp-attn": True, "pp": 2, "dcp-size": 1, "pcp-size": 1}
    )


@pytest.mark.parametrize(
    ("arm", "name", "dram"),
    [
        ("tp: 2, kv-offloading: none", "m1_tp2_conc3_kvnone", 0),
        ("tp: 2, kv-offloading: none, spec-decoding: mtp", "m1_tp2_conc3_kvnone_spec-mtp", 0),
        # 2,861,022 MiB is the cap; half of it for a quarter of the node.
        ("tp: 2, kv-offloading: dram, kv-offload-backend: {name: pool}", "m1_tp2_conc3_kvdram-pool", 374),
        ("tp: 2, pp: 2, kv-offloading: dram, kv-offload-backend: {name: pool}", "m1_tp2_conc3_kvdram-pool", 749),
    ],
)
def test_agentic_single_node(arm: str, name: str, dram: int) -> None:
    (job,) = jobs_of(entry("one", agentic(f"- {{{arm}, conc-list: [3]}}")))
    assert (job.row["exp-name"], job.row["total-cpu-dram-gb"], job.row["duration"]) == (name, dram, 3600)
    assert job.row["scenario-type"] == job.scenario == "agentic-coding"
    assert "isl" not in job.row
    assert "run-eval" not in job.row


@pytest.mark.parametrize(
    ("decode", "offloading", "name", "dram"),
    [
        (WORKER, "", "m1_p1x4_d1x4_conc5", 0),
        ("{num-worker: 3, tp: 8, ep: 8, dp-attn: true}", "", "m1_p1x4_d3x8ep8dpa_conc5", 0),
        (WORKER, "kv-offloading: dram, kv-offload-backend: {name: pool}, ", "m1_p1x4_d1x4_conc5_kvdram-pool", 749),
    ],
)
def test_agentic_multi_node_has_one_job_for_each_concurrency(
    decode: str, offloading: str, name: str, dram: int
) -> None:
    arm = f"- {{prefill: {WORKER}, decode: {decode}, {offloading}conc-list: [5, 6]}}"
    jobs = jobs_of(entry("one", agentic(arm), multinode=True))
    assert [job.row["conc"] for job in jobs] == [[5], [6]]
    assert (jobs[0].row["exp-name"], jobs[0].row["total-cpu-dram-gb"]) == (name, dram)


def test_a_component_of_the_arm_wins_over_the_entry_s_and_comes_last() -> None:
    arms = f"""\
        - {{prefill: {WORKER}, decode: {WORKER}, conc-list: [1], router: {{name: own, version: "1"}}}}
        - {{prefill: {WORKER}, decode: {WORKER}, conc-list: [1], router: {{name: own, version: "2"}}}}
        """
    jobs = jobs_of(entry("one", fixed(arms), multinode=True, extra="disagg: true\nkv-p2p-transfer: fast\n"))
    assert [list(job.row.items())[-2:] for job in jobs] == [
        [("router", {"name": "own", "version": version}), ("kv-p2p-transfer", "fast")] for version in ("1", "2")
    ]


def test_order_of_files_entries_scenarios_and_arms() -> None:
    one = entry("b", fixed("- {tp: 1, conc-list: [1]}\n- {tp: 2, conc-list: [1]}\n"))
    two = entry(
        "a", agentic("- {tp: 4, kv-offloading: none, conc-list: [1]}") + "\n" + fixed("- {tp: 8, conc-list: [1]}")
    )
    files = revision(
        two,
        path="configs/nvidia-master.yaml",
        **{
            "configs/amd-master.yaml": one,
            "configs/deprecated/x-master.yaml": one,
            ".github/configs/z-master.yaml": one,
        },
    )
    configs = load_configs(files)
    assert configs.paths == ("configs/amd-master.yaml", "configs/nvidia-master.yaml")
    jobs = expand(configs, load_runners(files))
    assert [(job.entry, job.scenario, job.arm_index, job.row["tp"]) for job in jobs] == [
        ("b", "fixed-seq-len", 0, 1),
        ("b", "fixed-seq-len", 1, 2),
        ("a", "fixed-seq-len", 0, 8),
        ("a", "agentic-coding", 0, 4),
    ]


def test_arms_are_counted_through_all_sequence_lengths_of_a_scenario() -> None:
    first = fixed("- {tp: 1, conc-list: [1]}\n- {tp: 2, conc-list: [1]}")
    second = "- isl: 8192\n  osl: 1024\n  search-space: [{tp: 4, conc-list: [1]}]"
    jobs = jobs_of(entry("one", f"{first}\n{second}"))
    assert [(job.arm_index, job.row["isl"]) for job in jobs] == [(0, 1024), (1, 1024), (2, 8192)]


ORIGINS = """\
one:
  image: registry/engine:1
  model: maker/Model-1
  model-prefix: m1
  runner: cluster:big
  precision: fp8
  framework: engine
  multinode: false
  scenarios:
    fixed-seq-len:
    - isl: 8192
      osl: 1024
      search-space:
      - tp: 4
        conc-start: 16
        conc-end: 100
    agentic-coding:
    - dram-utilization: 0.5
      search-space:
      - tp: 2
        kv-offloading: dram
        kv-offload-backend: {name: pool}
        conc-list: [1, 7]
"""


@pytest.mark.parametrize(
    ("scenario", "conc", "path", "line"),
    [
        ("fixed-seq-len", 16, ("image",), 2),
        ("fixed-seq-len", 16, ("runner",), 5),
        ("fixed-seq-len", 16, ("tp",), 14),
        ("fixed-seq-len", 16, ("isl",), 11),
        ("fixed-seq-len", 16, ("max-model-len",), 11),
        ("fixed-seq-len", 16, ("exp-name",), 4),
        ("fixed-seq-len", 16, ("conc",), 15),
        ("fixed-seq-len", 32, ("conc",), 15),
        ("fixed-seq-len", 100, ("conc",), 16),
        ("fixed-seq-len", 16, ("ep",), None),
        ("fixed-seq-len", 16, ("disagg",), None),
        ("fixed-seq-len", 16, ("run-eval",), None),
        ("agentic-coding", 7, ("conc",), 23),
        ("agentic-coding", 7, ("scenario-type",), 17),
        ("agentic-coding", 7, ("total-cpu-dram-gb",), 18),
        ("agentic-coding", 7, ("kv-offload-backend", "name"), 22),
        ("agentic-coding", 7, ("kv-offload-backend", "version"), None),
        ("agentic-coding", 7, ("duration",), None),
    ],
)
def test_origins(scenario: str, conc: int, path: tuple[str, ...], line: int | None) -> None:
    (job,) = [job for job in jobs_of(ORIGINS) if (job.scenario, job.row["conc"]) == (scenario, conc)]
    origin = job.origin(*path)
    assert (origin.line if origin else None) == line
    assert (job.config.line, job.arm.line) == (1, 14 if scenario == "fixed-seq-len" else 20)


def test_origin_of_one_concurrency_of_a_list() -> None:
    arm = f"- {{prefill: {WORKER}, decode: {WORKER}, conc-list: [8, 16]}}"
    (job,) = jobs_of(entry("one", fixed(arm), multinode=True))
    whole, second = job.origin("conc"), job.origin("conc", 1)
    assert whole is not None
    assert second is not None
    assert second.column - whole.column == len("[8, ")
    assert job.origin("prefill", "tp") is not None
    assert job.origin("prefill", "pp") is None


def test_runners_are_sorted_and_know_their_hardware() -> None:
    runners = load_runners(revision(entry("one", fixed("- {tp: 1, conc-list: [1]}"))))
    assert [runner.name for runner in runners.for_label("small")] == ["small-lab_0", "small-lab_1"]
    assert runners.for_label("small")[0].span.column == 24
    assert runners.for_label("gone") == ()
    assert runners.hardware["cluster:big"].gpus_per_node == 8
    assert runners.label_spans["cluster:big"].line == 3


def test_runner_table_without_labels_and_old_folder() -> None:
    files = MemoryFiles(
        {".github/configs/x-master.yaml": "", ".github/configs/runners.yaml": "h1: [b_1, a_0]\nempty: []\n"}
    )
    runners = load_runners(files)
    assert [runner.name for runner in runners.for_label("h1")] == ["a_0", "b_1"]
    assert [problem.span.line for problem in runners.problems] == [2]


def test_nothing_to_read() -> None:
    files = MemoryFiles({"README.md": ""})
    assert expand(load_configs(files), load_runners(files)) == []

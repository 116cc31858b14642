"""What is read from the source of a revision's generator, without running it."""

from __future__ import annotations

from textwrap import dedent

import pytest
from job_fixtures import WORKER, MemoryFiles, agentic, entry, fixed, revision

from botlint.layouts.inferencex.generator_facts import GeneratorFacts, read_generator_facts
from botlint.layouts.inferencex.jobs import expand, load_configs, load_runners

GENERATOR = "utils/matrix_logic/generate_sweep_configs.py"
VALIDATION = "utils/matrix_logic/validation.py"

NAMES = """\
from enum import Enum
class Fields(Enum):
    IMAGE = 'image'
    MODEL = 'model'
    ISL = 'isl'
    TP = 'tp'
    EP = 'ep'
    PP = 'pp'
    CONC = 'conc'
    PREFILL = 'prefill'
    DP_ATTN = 'dp-attn'
    EXP_NAME = 'exp-name'
    DURATION = 'duration'
    KV_OFFLOADING = 'kv-offloading'
    BACKEND = 'kv-offload-backend'
    RUN_EVAL = 'run-eval'
    EVAL_ONLY = 'eval-only'
    EVAL_ALL = 'eval-all-concs'
    SCENARIO = 'scenario-type'
    ROUTER = 'router'
    THREADS = 'threads'
"""


def facts_of(body: str, names: str = NAMES) -> GeneratorFacts:
    """The facts of a generator whose sweep has this body; functions may follow it at the margin."""
    text = dedent(body)
    if "def generate_full_sweep" not in text:
        text = f"def generate_full_sweep(args):\n    pass\n{text}"
    return read_generator_facts(MemoryFiles({GENERATOR: text, VALIDATION: names}))


def sweep(statement: str) -> str:
    return f"def generate_full_sweep(args):\n    {statement}\n"


def eval_source(body: str, options: str = "'--evals-only'") -> str:
    return f"OPTIONS = [{options}]\n{dedent(body)}"


@pytest.mark.parametrize(
    "texts",
    [
        {},
        {GENERATOR: "def broken(:"},
        {GENERATOR: "x = 1\n"},
        {GENERATOR: "(" * 5000},
        {GENERATOR: "\0"},
    ],
)
def test_without_a_readable_generator_the_newest_behaviour_counts(texts: dict[str, str]) -> None:
    facts = read_generator_facts(MemoryFiles(texts))
    assert facts == GeneratorFacts(path=GENERATOR if texts else None)


def test_keys_and_their_order_come_from_the_last_literal_of_each_kind() -> None:
    source = sweep("""a = {Fields.IMAGE.value: i, Fields.EXP_NAME.value: n, Fields.ISL.value: 1}
    b = {Fields.ISL.value: 1, 'tp': t, Fields.IMAGE.value: i, Fields.EXP_NAME.value: n, 'kv-offloading': 'none'}
    c = {Fields.IMAGE.value: i, Fields.EXP_NAME.value: n, Fields.PREFILL.value: p}
    d = {Fields.IMAGE.value: i, Fields.MODEL.value: m}""")
    shapes = facts_of(source).shapes
    assert shapes["fixed-seq-len", False].keys == ("isl", "tp", "image", "exp-name", "kv-offloading")
    assert shapes["fixed-seq-len", False].constants == {"kv-offloading": "none"}
    assert shapes["agentic-coding", True].keys == ("image", "exp-name", "prefill")
    assert shapes["fixed-seq-len", True] == GeneratorFacts().shapes["fixed-seq-len", True]


def test_names_may_be_plain_constants_of_the_generator() -> None:
    source = "F_A = 'image'\nF_B = 'isl'\nF_C = 'exp-name'\n" + sweep("row = {F_A: a, F_C: c, F_B: b}")
    assert facts_of(source, names="").shapes["fixed-seq-len", False].keys == ("image", "exp-name", "isl")


@pytest.mark.parametrize(
    ("fact", "source", "expected"),
    [
        ("length_margin", sweep("x = isl + osl + 200"), 200),
        ("length_margin", sweep("x = isl"), 256),
        ("duration", "DEFAULT_AGENTIC_DURATION_SECONDS = 60\n" + sweep("pass"), 60),
        ("duration", sweep("d = config.get(Fields.DURATION.value, 1800)"), 1800),
        ("duration_from_config", sweep("d = config.get(Fields.DURATION.value, 1800)"), True),
        ("duration_from_config", sweep("d = config.get(Fields.MODEL.value, 1800)"), False),
        ("agentic_batch", "MAX_MULTINODE_AGENTIC_CONCURRENCIES_PER_ALLOCATION = 4\n" + sweep("pass"), 4),
        ("agentic_batch", sweep("pass"), None),
        ("dram_cap_mib", "MAX_AGENTIC_AVAILABLE_CPU_DRAM_MIB = 7\n" + sweep("pass"), 7),
        ("dram_gpu_factors", sweep("pass"), ("tp", "pp")),
        (
            "worker_defaults",
            "def with_worker_parallelism_defaults(w):\n    return {**w, Fields.PP.value: 1}\n",
            ("pp",),
        ),
        ("worker_defaults", sweep("pass"), ()),
        ("late_keys", sweep("row[Fields.BACKEND.value] = b"), ("kv-offload-backend",)),
        ("late_keys", sweep("row[Fields.EP.value] = b"), ()),
        (
            "component_keys",
            "def component_metadata(a, b):\n    for f in (Fields.ROUTER,):\n        pass\n",
            ("router",),
        ),
        ("component_keys", sweep("pass"), ()),
        ("sequence_names", "TABLE = {'2k1k': (2048, 1024)}\n" + sweep("pass"), {(2048, 1024): "2k1k"}),
        ("agentic_name_has_spec", sweep("n = f'{a}_spec-{b}'"), True),
        ("agentic_name_has_spec", sweep("n = f'{a}_{b}'"), False),
        ("agentic_name_has_worker_flags", sweep("n += 'dpa'"), True),
        ("agentic_name_has_worker_flags", sweep("n += 'dp'"), False),
    ],
)
def test_facts_of_rows(fact: str, source: str, expected: object) -> None:
    assert getattr(facts_of(source), fact) == expected


MARK = "def mark_eval_entries(rows):\n    "


@pytest.mark.parametrize(
    ("fact", "source", "expected"),
    [
        ("evals_only", sweep("pass"), False),
        ("evals_only", eval_source(MARK + "pass"), True),
        ("marked_by_default", eval_source(MARK + "pass"), False),
        ("marked_by_default", eval_source(MARK + "pass", "'--evals-only', '--no-evals'"), True),
        ("all_evals", eval_source(MARK + "pass"), False),
        ("all_evals", eval_source(MARK + "pass", '"--evals-only", "--all-evals"'), True),
        ("sets_eval_only", eval_source(MARK + "pass"), False),
        ("sets_eval_only", eval_source("def main():\n    row[Fields.EVAL_ONLY.value] = True\n" + MARK + "pass"), True),
        ("min_conc", eval_source(MARK + "pass"), None),
        ("min_conc", eval_source("MIN_EVAL_CONC = 8\n" + MARK + "pass"), 8),
        ("sequence", eval_source("T = {'2k1k': (2048, 1024)}\n" + MARK + "want = T['2k1k']"), (2048, 1024)),
        ("single_policy", eval_source(MARK + "top = max(r[Fields.TP.value] for r in rows)"), "tp-extremes"),
        ("single_policy", eval_source(MARK + "top = max(r[Fields.CONC.value] for r in rows)"), "top-and-median"),
        (
            "single_group",
            eval_source(MARK + "key = (r[Fields.MODEL.value], r[Fields.ISL.value])"),
            (("model",), ("isl",)),
        ),
        ("multi_policy", eval_source(MARK + "pass"), "none"),
        ("multi_policy", eval_source(MARK + "key = _parallelism_key(r)"), "highest"),
        (
            "multi_policy",
            eval_source(
                MARK + "key = (r[Fields.MODEL.value], r.get(Fields.PREFILL.value, {}).get(Fields.DP_ATTN.value))"
            ),
            "median-of-largest",
        ),
        (
            "multi_group",
            eval_source(
                MARK + "key = (r[Fields.MODEL.value], r.get(Fields.PREFILL.value, {}).get(Fields.DP_ATTN.value))"
            ),
            (("model",), ("prefill", "dp-attn")),
        ),
        (
            "skipped_groups",
            eval_source(MARK + "for key in groups:\n        if key[:2] == ('a', 'b'):\n            continue\n"),
            (("a", "b"),),
        ),
        (
            "same_topology_ignores",
            eval_source(
                MARK + "pass\ndef _parallelism_key(r):\n    skip = {Fields.CONC.value, Fields.RUN_EVAL.value}\n"
            ),
            {"conc", "run-eval"},
        ),
        ("marks_agentic_rows", eval_source(MARK + "for r in rows:\n        if r:\n            continue\n"), False),
        ("marks_agentic_rows", eval_source(MARK + "for r in rows:\n        r[Fields.RUN_EVAL.value] = 1\n"), True),
        ("agentic_single", eval_source(MARK + "pass"), False),
        ("agentic_single", eval_source(MARK + "key = (r[Fields.MODEL.value],)"), True),
        (
            "agentic_single",
            eval_source("AGENTIC_EVALS_DISABLED = True\n" + MARK + "key = (r[Fields.MODEL.value],)"),
            False,
        ),
        ("agentic_multi", eval_source(MARK + "a = _parallelism_key(r)"), False),
        ("agentic_multi", eval_source(MARK + "a = _parallelism_key(r), _parallelism_key(r)"), True),
    ],
)
def test_facts_of_default_evals(fact: str, source: str, expected: object) -> None:
    assert getattr(facts_of(source).evals, fact) == expected


ALL = MARK + "pass\ndef mark_all_eval_entries(rows):\n    "


@pytest.mark.parametrize(
    ("fact", "body", "expected"),
    [
        ("all_policy", "pass", "median"),
        ("all_policy", "k = _parallelism_key(r)", "split"),
        ("all_policy", "k = _parallelism_key(r)\n    r[Fields.EVAL_ALL.value] = True", "merge"),
        ("all_only_sequence", "pass", False),
        ("all_only_sequence", "want = T['8k1k']", True),
        ("all_agentic_single", "if r.get(Fields.SCENARIO.value) == 'agentic-coding':\n        pass", False),
        (
            "all_agentic_single",
            "if r.get(Fields.SCENARIO.value) == 'agentic-coding':\n        r[Fields.RUN_EVAL.value] = True",
            True,
        ),
        ("all_agentic_multi", "k = _parallelism_key(r)", False),
        ("all_agentic_multi", "k = _parallelism_key(r) or _parallelism_key(s)", True),
    ],
)
def test_facts_of_all_evals(fact: str, body: str, expected: object) -> None:
    source = eval_source("T = {'8k1k': (8192, 1024)}\n" + ALL + body)
    assert getattr(facts_of(source).evals, fact) == expected


def test_a_text_that_looks_like_the_start_of_a_function_is_no_boundary() -> None:
    source = 'def main():\n    """Text\ndef other(:\n"""\n\n\nMIN_EVAL_CONC = 3\n' + MARK + "pass\nX = '--evals-only'\n"
    assert facts_of(source).evals.min_conc == 3


OLD_GENERATOR = """\
A, = 'unused',
IMAGE = 'image'
ISL = 'isl'
OSL = 'osl'
TP = 'tp'
CONC = 'conc'
NAME = 'exp-name'
LIMIT = 'max-model-len'
CONFIGS = 'seq-len-configs'

LENGTHS = {"1k8k": (1024, 8192)}


def generate_full_sweep(args, data):
    return [{IMAGE: i, ISL: isl, OSL: osl, TP: t, CONC: c, LIMIT: isl + osl + 200, NAME: n}]
"""


def test_an_old_generator_with_old_configs() -> None:
    files = MemoryFiles(
        {
            "utils/matrix-logic/generate_sweep_configs.py": OLD_GENERATOR,
            ".github/configs/x-master.yaml": """\
                one:
                  image: registry/engine:1
                  model: maker/Model-1
                  model-prefix: m1
                  runner: h1
                  precision: fp8
                  framework: engine
                  seq-len-configs:
                  - {isl: 1024, osl: 8192, search-space: [{tp: 8, conc-start: 4, conc-end: 8}]}
                """,
        }
    )
    configs = load_configs(files)
    assert configs.problems == ()
    jobs = expand(configs, load_runners(files))
    assert [list(job.row.values()) for job in jobs] == [
        ["registry/engine:1", 1024, 8192, 8, conc, 9416, "m1_1k8k"] for conc in (4, 8)
    ]
    assert expand(configs, load_runners(files), "evals") == []


FIRST_AGENTIC = """\
def generate_full_sweep(args):
    single = {'image': i, 'tp': t, 'conc': c, 'offloading': o, 'duration': d, 'exp-name': n, 'scenario-type': s}
    multi = {'image': i, 'prefill': p, 'decode': q, 'conc': c, 'duration': d, 'exp-name': n}
    d = config.get('duration', 1800)
"""


def test_the_first_agentic_rows_had_one_concurrency_an_offloading_and_their_own_duration() -> None:
    arms = "- {tp: 2, offloading: ssd, conc-list: [1]}\n- {tp: 4, conc-list: [2]}\n"
    multi = f"- {{prefill: {WORKER}, decode: {WORKER}, conc-list: [5, 6]}}"
    files = revision(
        entry("single", agentic(arms, "duration: 60")),
        entry("multi", agentic(multi, "search-space-note: 1"), multinode=True),
        **{GENERATOR: FIRST_AGENTIC},
    )
    jobs = expand(load_configs(files), load_runners(files))
    assert [(job.row["exp-name"], job.row["conc"], job.row["duration"]) for job in jobs] == [
        ("m1_tp2_conc1_offloadssd", 1, 60),
        ("m1_tp4_conc2_offloadnone", 2, 60),
        ("m1_p1x4_d1x4_conc5", 5, 1800),
        ("m1_p1x4_d1x4_conc6", 6, 1800),
    ]
    origin = jobs[0].origin("duration")
    assert origin is not None
    assert origin.line == 11


def test_several_concurrencies_shared_an_allocation() -> None:
    source = "MAX_MULTINODE_AGENTIC_CONCURRENCIES_PER_ALLOCATION = 2\n" + sweep("pass")
    arm = f"- {{prefill: {WORKER}, decode: {WORKER}, conc-list: [1, 2, 3]}}"
    files = revision(entry("multi", agentic(arm), multinode=True), **{GENERATOR: source})
    jobs = expand(load_configs(files), load_runners(files))
    assert [(job.row["conc"], job.row["exp-name"], job.conc_index) for job in jobs] == [
        ([1, 2], "m1_p1x4_d1x4_conc1x2", 0),
        ([3], "m1_p1x4_d1x4_conc3", 2),
    ]


def test_a_field_of_a_later_generator_is_taken_from_the_config() -> None:
    source = sweep(
        "row = {Fields.IMAGE.value: i, Fields.ISL.value: 1, Fields.THREADS.value: t, "
        "Fields.CONC.value: c, Fields.EXP_NAME.value: n}"
    )
    text = entry("one", fixed("- {tp: 1, conc-list: [1], threads: 7}"))
    files = revision(text, **{GENERATOR: source, VALIDATION: NAMES})
    (job,) = expand(load_configs(files), load_runners(files))
    assert job.row["threads"] == 7
    origin = job.origin("threads")
    assert origin is not None
    assert origin.line == 14

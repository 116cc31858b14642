"""Rows of catalogs of launch commands: written out by hand for catalogs of each form."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest

from botlint.layouts.atom.catalogs import MAX_ROWS, Catalog, Grid, Item, form_of, read_catalogs, rows
from botlint.repo.memory import MemoryFiles

PATH = ".github/benchmark/some.json"


def catalog(data: object) -> Catalog:
    """A catalog as it is read from a file of a repository."""
    found, problems = read_catalogs(MemoryFiles({PATH: json.dumps(data, indent=2)}))
    assert not problems
    return found[0]


def made(data: object, grid: Grid | None = None, renames: Any = "") -> list[Item]:
    """The rows of a catalog without a problem."""
    items, problems = rows(catalog(data), grid or Grid(), renames=renames)
    assert not problems
    return items


VARIANTS: Mapping[str, Any] = {
    "default_scenarios": [
        {"isl": 1024, "osl": 1024, "concurrency": [4, 64, 512], "random_range_ratio": 0.5},
        {"isl": 1000, "osl": 100, "concurrency": [8]},
    ],
    "models": [
        {
            "display": "Small",
            "path": "org/small",
            "prefix": "small",
            "runner": "rack-8gpu",
            "env_vars": "A=1",
            "config": {"tp": 2, "trust_remote_code": True, "extra_args": "--block-size 64"},
            "variants": [
                {"label": "", "suffix": ""},
                {
                    "label": "Fast",
                    "suffix": "-fast",
                    "path": "org/small-fast",
                    "extra_args": "--method mtp",
                    "env_vars": "B=2",
                    "bench_args": "--chat",
                    "conc_min": 8,
                    "conc_max": 1024,
                },
            ],
        },
        {
            "display": "Plain",
            "path": "org/plain",
            "prefix": "plain",
            "runner": "rack",
            "config": {"kv_cache_dtype": "bf16"},
        },
    ],
}


def test_a_row_for_each_variant_and_pair_of_lengths() -> None:
    base = {
        "display": "Small",
        "prefix": "small",
        "suffix": "",
        "model_path": "org/small",
        "server_args": "--kv_cache_dtype fp8 -tp 2 --trust-remote-code --block-size 64",
        "bench_args": "",
        "env_vars": "A=1",
        "runner": "rack-8gpu",
    }
    fast = {
        **base,
        "display": "Small Fast",
        "suffix": "-fast",
        "model_path": "org/small-fast",
        "server_args": f"{base['server_args']} --method mtp",
        "bench_args": "--chat",
        "env_vars": "A=1\nB=2",
    }
    plain = {
        **base,
        "display": "Plain",
        "prefix": "plain",
        "model_path": "org/plain",
        "server_args": "--kv_cache_dtype bf16",
        "env_vars": "",
        "runner": "rack",
    }
    k = {"isl": 1024, "osl": 1024, "ratio": 0.5, "ratio_str": "0.5", "scenario": "1k1k"}
    odd = {"isl": 1000, "osl": 100, "ratio": 0.8, "ratio_str": "0.8", "scenario": "1000_100"}
    assert [item.row for item in made(VARIANTS)] == [
        {**base, **k, "concurrency": "[4, 64]"},
        {**base, **odd, "concurrency": "[8]"},
        {**fast, **k, "concurrency": "[64, 512]"},
        {**fast, **odd, "concurrency": "[8]"},
        {**plain, **k, "concurrency": "[4, 64]"},
        {**plain, **odd, "concurrency": "[8]"},
    ]


def test_rules_know_a_row_by_their_own_names() -> None:
    first, second, fast, *_ = made(VARIANTS)
    assert first.known == {"model": "org/small", "tp": 2, "conc": [4, 64]}
    assert second.known == {"model": "org/small", "tp": 2, "conc": 8}
    assert (fast.entry, fast.scenario, fast.index) == ("small-fast", "1k1k", 1)


def test_places_of_a_row_are_those_of_the_catalog() -> None:
    lines = json.dumps(VARIANTS, indent=2).split("\n")
    fast = made(VARIANTS)[2]

    def line(key: tuple[str, ...]) -> str:
        return lines[fast.places[key].line - 1].strip()

    assert line(("model_path",)) == '"path": "org/small-fast",'
    assert line(("server_args",)) == '"extra_args": "--method mtp",'
    assert line(("config.extra_args",)) == '"extra_args": "--block-size 64"'
    assert line(("tp",)) == '"tp": 2,'
    assert [(name, value, lines[span.line - 1].strip()) for name, value, span in fast.variables] == [
        ("A", "1", '"env_vars": "A=1",'),
        ("B", "2", '"env_vars": "B=2",'),
    ]


def test_scenarios_of_a_variant_stand_before_those_of_all() -> None:
    own = {"isl": 2048, "osl": 1024, "concurrency": [1], "random_range_ratio": 1}
    model = {**VARIANTS["models"][1], "scenarios": [own]}
    [item] = made({**VARIANTS, "models": [model]})
    assert (item.row["scenario"], item.row["ratio"], item.row["ratio_str"]) == ("2k1k", 1, "1")


PARAMS = tuple(
    {"input_length": isl, "output_length": 1024, "concurrency": conc, "random_range_ratio": "0.8"}
    for isl in (1024, 8192)
    for conc in (4, 512)
)


def params(isl: int, conc: int, osl: int = 1024, ratio: str = "0.8") -> dict[str, object]:
    return {"input_length": isl, "output_length": osl, "concurrency": conc, "random_range_ratio": ratio}


FAMILIES: Mapping[str, Any] = {
    "families": [
        {
            "choice_label": "Small",
            "path": "org/small",
            "runner": "rack",
            "bench_args": "",
            "variants": [
                {"tp_size": 4, "display": "Small TP4", "prefix": "small-tp4", "extra_args": "--x 1", "env_vars": "A=1"},
                {
                    "display": "Small long",
                    "prefix": "small-lo-tp2",
                    "extra_args": "",
                    "excluded_input_output_pairs": ["200x20"],
                    "runner": "other",
                },
            ],
        }
    ]
}


def test_families_measure_each_request_and_concurrencies_that_the_workflow_adds() -> None:
    grid = Grid(PARAMS, extra_concurrency=(64,))
    model = {
        "path": "org/small",
        "runner": "rack",
        "bench_args": "",
        **FAMILIES["families"][0]["variants"][0],
    }
    items = [item for item in made(FAMILIES, grid) if item.entry == "small-tp4"]
    cases = [params(isl, conc) for isl in (1024, 8192) for conc in (4, 64, 512)]
    assert [item.row for item in items] == [{"model": model, "params": case, "cases": [case]} for case in cases]
    assert items[0].known == {
        "model": "org/small",
        "runner": "rack",
        "isl": 1024,
        "osl": 1024,
        "conc": 4,
        "tp": 4,
    }


def test_entries_with_a_mark_measure_pairs_of_lengths_of_their_own_on_one_server() -> None:
    grid = Grid(PARAMS, (64,), ((200, 20), (100, 10)), "-lo-")
    [item] = [item for item in made(FAMILIES, grid) if item.entry == "small-lo-tp2"]
    cases = [params(100, conc, 10, "0.0") for conc in (4, 64, 512)]
    assert (item.row["params"], item.row["cases"], item.scenario) == (cases[0], cases, "100_10")
    assert item.known["conc"] == [4, 64, 512]


TEMPLATES: Mapping[str, Any] = {
    "templates": {"extra_args": {"base": "--a 1"}, "env_vars": {"common": "X=1\nY=2"}},
    "models": [
        {
            "display": "Small",
            "path": "org/small",
            "prefix": "small",
            "extra_args": ["base", "--b 2"],
            "env_vars": ["common", "Z="],
            "runner": "rack",
            "supported_input_output_pairs": ["1024x1024"],
            "supported_concurrency_values_by_pair": {"1024x1024": [4]},
        }
    ],
}


def test_templates_are_joined_and_requests_filtered() -> None:
    [item] = made(TEMPLATES, Grid(PARAMS))
    model = {**TEMPLATES["models"][0], "extra_args": "--a 1 --b 2", "env_vars": "X=1\nY=2\nZ="}
    assert item.row == {"model": model, "params": params(1024, 4)}
    lines = json.dumps(TEMPLATES, indent=2).split("\n")
    assert [(name, value, lines[span.line - 1].strip()) for name, value, span in item.variables] == [
        ("X", "1", '"common": "X=1\\nY=2"'),
        ("Y", "2", '"common": "X=1\\nY=2"'),
        ("Z", "", '"Z="'),
    ]
    assert lines[item.places["model", "extra_args"].line - 1].strip() == '"base": "--a 1"'
    assert lines[item.places["model", "extra_args.1"].line - 1].strip() == '"--b 2"'


ACCURACY = [
    {"model_name": "Small", "model_path": "org/small", "extraArgs": "-tp 1", "env_vars": "A=1", "runner": "rack"}
]


@pytest.mark.parametrize(
    ("renames", "row", "matrix"),
    [
        ("", ACCURACY[0], ACCURACY[0]),
        ("matrix", ACCURACY[0], {**ACCURACY[0], "extra_args": "-tp 1", "test_level": "nightly"}),
    ],
)
def test_a_plain_list_is_the_matrix(renames: str, row: object, matrix: object) -> None:
    [item] = made(ACCURACY, renames=renames)
    assert (item.row, item.matrix, item.scenario) == (row, matrix, "accuracy")


def test_builders_may_bring_older_spellings_to_one() -> None:
    [item] = made([{**ACCURACY[0], "accuracy_threshold": 0.5}], renames="row")
    assert "extraArgs" not in item.row
    assert (item.row["extra_args"], item.row["accuracy_test_threshold"]) == ("-tp 1", 0.5)


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (VARIANTS, "variants"),
        (FAMILIES, "families"),
        (TEMPLATES, "templates"),
        (ACCURACY, "accuracy"),
        ([], None),
        ([{"model_name": "x"}], None),
        ({"models": []}, None),
        ({"models": [1]}, None),
        ({"title": "no catalog"}, None),
        ("text", None),
    ],
)
def test_forms(data: object, form: str | None) -> None:
    assert form_of(data) == form


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({**VARIANTS, "models": [{"path": "p", "prefix": "x", "runner": "r"}]}, "display is missing"),
        ({**VARIANTS, "models": [{**VARIANTS["models"][1], "runner": 3}]}, "runner is not a text"),
        ({**VARIANTS, "models": [{**VARIANTS["models"][1], "config": []}]}, "config is no object"),
        (
            {**VARIANTS, "default_scenarios": [{"isl": "1", "osl": 1, "concurrency": [1]}]},
            "isl and osl are not numbers",
        ),
        (
            {**VARIANTS, "default_scenarios": [{"isl": 1, "osl": 1, "concurrency": 4}]},
            "concurrency is not a list of numbers",
        ),
        (
            {**VARIANTS, "default_scenarios": [{"isl": 1, "osl": 1, "concurrency": list(range(501))}]},
            "more than 500 concurrencies",
        ),
        ({**VARIANTS, "models": [{**VARIANTS["models"][1], "variants": [{"suffix": []}]}]}, "suffix is not a text"),
        ({"families": [3]}, "an entry that is no object"),
        ({"families": [{"variants": 3}]}, "variants is not a list"),
        ({"families": [{}]}, "variants is not a list"),
    ],
)
def test_what_a_builder_fails_on_is_a_problem(data: object, message: str) -> None:
    _, problems = rows(catalog(data), Grid(PARAMS))
    assert message in {problem.message for problem in problems}


def test_a_file_that_is_not_json_is_a_problem_at_its_place() -> None:
    found, problems = read_catalogs(MemoryFiles({PATH: '{\n  "models": [,]\n}'}))
    assert not found
    assert [(problem.span.line, problem.span.column) for problem in problems] == [(2, 14)]


def test_hostile_catalogs_are_read_without_failing() -> None:
    for text in ("[" * 5_000, '{"models": ' + "9" * 5_000 + "}", '{"families": null}', "\ufeff{}"):
        read_catalogs(MemoryFiles({PATH: text}))
    odd = [{"model_name": None, "model_path": [], "env_vars": {}}]
    assert [item.entry for item in made(odd)] == ["None"]


def test_products_are_bounded() -> None:
    many = {
        "default_scenarios": [{"isl": isl, "osl": 1, "concurrency": [1, 2]} for isl in range(400)],
        "models": [
            {**VARIANTS["models"][1], "variants": [{"suffix": f"-{number}"} for number in range(200)]}
            for _ in range(200)
        ],
    }
    before = time.process_time()
    items, problems = rows(catalog(many), Grid())
    assert len(items) == MAX_ROWS
    assert [problem.message for problem in problems] == [f"more than {MAX_ROWS} rows"]
    assert time.process_time() - before < 10


@pytest.mark.parametrize(
    ("display", "concurrencies"), [("x", [4]), ("y", [4, 512]), (["x"], [4, 512]), ({}, [4, 512]), (None, [4, 512])]
)
def test_entries_may_be_left_out_of_a_concurrency(display: object, concurrencies: list[int]) -> None:
    family = {"path": "a", "prefix": "p", "variants": [{"display": display}]}
    params = tuple({**PARAMS[0], "concurrency": one} for one in (4, 512))
    items = made({"families": [family]}, Grid(params, skipped=((512, "display", frozenset({"x"})),)))
    assert [item.known["conc"] for item in items] == concurrencies

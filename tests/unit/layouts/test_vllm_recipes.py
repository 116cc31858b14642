"""Recipes that are not as they should be: whatever a file says, its commands are made or a problem is told."""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from botlint.layouts.choose import layout_of
from botlint.layouts.recipes.load import load
from botlint.plan.build import Planner
from botlint.plan.explain import Explainer
from botlint.repo.memory import MemoryFiles

TAXONOMY: dict[str, Any] = {
    "hardware_profiles": {
        "h200": {"brand": "NVIDIA", "generation": "hopper", "gpu_count": 8, "vram_gb": 1128},
        "one": {"brand": "NVIDIA", "generation": ["ada", "x"], "gpu_count": 1, "vram_gb": 24, "scalable": False},
    },
    "kv_offload": {"simple": {"args": ["--kv-offloading-size", "8"], "brands": ["NVIDIA"], "strategies": []}},
}
TP: dict[str, Any] = {
    "name": "single_node_tp",
    "deploy_type": "single_node",
    "vllm_args": ["--x"],
    "parallel_flag": "--tensor-parallel-size",
    "env": {"A": "1"},
}
DEP: dict[str, Any] = {"name": "multi_node_dep", "deploy_type": "multi_node", "parallel_flag": "--data-parallel-size"}
PAIR: dict[str, Any] = {
    "name": "pd_cluster",
    "deploy_type": "pd_cluster",
    "prefill": {"vllm_args": ["--port", "8001"], "env": {"B": "1"}, "parallelism": "tep"},
    "decode": {"vllm_args": ["--port", "8002"]},
}
STORE: dict[str, Any] = {
    "name": "store",
    "deploy_type": "kv_store_lb",
    "default_instances": 2,
    "vllm": {"vllm_args": ["--kv-transfer-config", "{}"], "env": {"C": 1}},
    "pd": {"prefill": {"args": ["--p"]}},
}
RECIPE: dict[str, Any] = {
    "meta": {"tasks": ["text"], "hardware": {"one": "verified"}, "default_hardware": "one"},
    "model": {"model_id": "demo/model", "min_vllm_version": "0.30.0", "base_args": ["--a"], "base_env": {"D": "1"}},
    "compatible_strategies": ["single_node_tp", "multi_node_dep", "pd_cluster"],
    "default_strategy": "single_node_tp",
    "strategy_hardware": {"multi_node_dep": {"hopper": "supported"}},
    "strategy_min_gpus": {"multi_node_dep": 32, "h200": {"dep": 16}},
    "strategy_overrides": {
        "multi_node_dep": {"extra_args": ["--data-parallel-size-local", "4"], "hardware_overrides": {"nvidia": {}}},
        "pd_cluster": {"decode": {"parallelism": "dep", "tp": 2}, "pool_modes": ["tp", "dep"]},
    },
    "hardware_overrides": {"hopper": {"extra_args": ["--h"], "extra_env": {"E": "1"}}},
    "features": {
        "plain": {"args": ["--f"], "strategies": ["single_node_tp"], "companion": {"command": "x"}},
        "modal": {"default_mode": "b", "modes": {"a": {"args": ["--ma"]}, "b": {"args": ["--mb"], "variants": []}}},
    },
    "opt_in_features": ["plain"],
    "hardware_opt_in_features": {"h200": ["modal"]},
    "variants": {
        "default": {"precision": "bf16", "vram_minimum_gb": 2000, "tp": {"default": 4}},
        "small": {"precision": "fp4", "vram_minimum_gb": 10, "precision_hardware": {"brand": "NVIDIA"}},
    },
}
OMNI: dict[str, Any] = {
    "meta": {"tasks": ["omni"]},
    "model": {"model_id": "demo/omni", "base_args": ["--a"]},
    "omni": {"port": 1, "tasks": ["t2i", {"id": "i2i", "extra_args": ["--b"], "hardware_overrides": {"h200": {}}}]},
    "variants": {"default": {"extra_args": ["--c"]}},
}
FILES: dict[str, dict[str, Any]] = {
    "taxonomy.yaml": TAXONOMY,
    "strategies/single_node_tp.yaml": TP,
    "strategies/multi_node_dep.yaml": DEP,
    "strategies/pd_cluster.yaml": PAIR,
    "kv_store/store.yaml": STORE,
    "models/demo/model.yaml": RECIPE,
    "models/demo/omni.yaml": OMNI,
}
ODD = (None, True, -3, 0, 1e309, "", "text", "$X", [], [1, None], ["--a", {"b": 1}], {}, {"default": -1, "h200": [1]})


def _repository(files: dict[str, dict[str, Any]]) -> MemoryFiles:
    return MemoryFiles({path: json.dumps(value) for path, value in files.items()})


def _places(value: object, above: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    inner: Iterator[tuple[Any, Any]] = iter(())
    if isinstance(value, dict):
        inner = iter(value.items())
    elif isinstance(value, list):
        inner = iter(enumerate(value))
    for key, one in inner:
        yield (*above, key)
        yield from _places(one, (*above, key))


def _with(value: Any, place: tuple[str | int, ...], odd: object) -> Any:
    changed = copy.deepcopy(value)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = odd
    return changed


def test_the_repository_is_one_of_recipes() -> None:
    files = _repository(FILES)
    assert layout_of(files) == "vllm-recipes"
    loaded = load(files, {"every": True})
    assert not loaded.problems
    kinds = {job.row["deploy_type"] for job in loaded.jobs}
    assert kinds == {"single_node", "multi_node", "pd_cluster", "kv_store_lb"}
    assert {job.scenario for job in loaded.jobs} >= {"omni", "store", "multi_node_dep"}


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield from (*_texts(key), *_texts(inner))
    elif isinstance(value, (list, tuple)):
        for inner in value:
            yield from _texts(inner)


def test_jobs_hold_plain_texts_that_a_cache_can_keep() -> None:
    for job in load(_repository(FILES), {"every": True}).jobs:
        told = [job.entry, job.scenario, job.row, job.known, job.oldest, job.stamp]
        for command in job.start.commands:
            told += [command.argv, command.env, command.role]
        assert all(type(text) is str for text in _texts(told)), job


@pytest.mark.parametrize("path", FILES)
def test_any_value_anywhere_gives_commands_or_a_problem(path: str) -> None:
    for number, place in enumerate(_places(FILES[path])):
        for odd in ODD[number % 4 :: 4]:
            files = _repository({**FILES, path: _with(FILES[path], place, odd)})
            for job in load(files, {"every": True}).jobs:
                assert job.start.commands, (path, place, odd)
                for command in job.start.commands:
                    assert len(command.argv) == len(command.places)


def test_sizes_are_bounded() -> None:
    profiles = {"h200": {**TAXONOMY["hardware_profiles"]["h200"], "gpu_count": 10**12}}
    loaded = load(_repository({**FILES, "taxonomy.yaml": {**TAXONOMY, "hardware_profiles": profiles}}), {})
    assert loaded.jobs
    assert all(len(str(job.start.commands)) < 10_000 for job in loaded.jobs)


@pytest.mark.parametrize(
    "changes",
    [
        {"features": {f"f{n}": {"modes": {f"m{k}": {"args": ["--y"]} for k in range(100)}} for n in range(60)}},
        {"variants": {f"v{n}": {} for n in range(500)}, "features": {f"f{n}": {"args": ["--x"]} for n in range(300)}},
        {
            "model": {"model_id": "demo/model", "base_args": [f"--x{n}" for n in range(20_000)]},
            "variants": {f"v{n}": {"extra_args": [f"--y{n}"]} for n in range(60)},
        },
    ],
)
def test_what_a_recipe_multiplies_is_bounded(changes: dict[str, Any]) -> None:
    path = next(path for path in FILES if FILES[path] is RECIPE)
    before = time.process_time()
    loaded = load(_repository({**FILES, path: {**RECIPE, **changes}}), {"every": True})
    assert [problem.kind for problem in loaded.problems] == ["budget"]
    assert {job.entry for job in loaded.jobs} == {"demo/model", "demo/omni"}
    assert time.process_time() - before < 10


def test_yaml_that_cannot_be_read_is_a_problem() -> None:
    files = MemoryFiles({**{path: json.dumps(one) for path, one in FILES.items()}, "models/demo/bad.yaml": "a: [\n"})
    loaded = load(files, {})
    assert {problem.span.path for problem in loaded.problems} == {"models/demo/bad.yaml"}
    assert {job.entry for job in loaded.jobs} == {"demo/model", "demo/omni"}


def test_nothing_without_a_taxonomy() -> None:
    assert load(MemoryFiles({"models/demo/model.yaml": json.dumps(RECIPE)}), {}).jobs == ()


def test_values_are_explained_by_the_places_where_they_are_written() -> None:
    text = """\
model:
  model_id: demo/model
  base_args:
    - "--max-num-seqs"
    - "8"
  base_env:
    D: "1"
compatible_strategies: [single_node_tp]
variants:
  default: {precision: bf16}
"""
    others = {path: json.dumps(one) for path, one in FILES.items() if not path.startswith("models")}
    planner = Planner(MemoryFiles({**others, "models/demo/model.yaml": text}), with_origins=True)
    job = planner.jobs[0]
    explainer = Explainer(planner)
    option = explainer.explain(job, "--max-num-seqs", "h200")
    assert (option.state, option.value) == ("set", "8")
    assert [(step.span.path, step.span.line, step.text) for step in option.steps] == [
        ("models/demo/model.yaml", 4, '- "--max-num-seqs"')
    ]
    variable = explainer.explain(job, "D", "h200")
    assert [(step.span.line, step.text) for step in variable.steps] == [(7, 'D: "1"')]
    assert explainer.explain(job, "--port", "h200").state == "unset"
    plan = next(planner.plans())
    assert plan.launch.server is not None
    assert plan.launch.server.origins["--max-num-seqs"] == (("recipe", "models/demo/model.yaml", 4),)
    assert plan.launch.server.origins["D"] == (("recipe", "models/demo/model.yaml", 7),)

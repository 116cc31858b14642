"""Names, images, spellings and quick schema checks of configuration files."""

from __future__ import annotations

import json
from importlib import resources

import jsonschema
import pytest

from botlint.documents import yaml
from botlint.engine.analysis import fastschema
from botlint.engine.analysis.config_files import duplicates
from botlint.engine.analysis.entry_names import formats_of, read_name, same_framework
from botlint.engine.analysis.images import fault
from botlint.engine.analysis.recipes import connector_names, is_image, same_image
from botlint.engine.analysis.runners import hardware
from botlint.engine.analysis.spelling import closest
from botlint.layouts.inferencex.entry_models import NEWEST_VALIDATION, complaints
from botlint.layouts.inferencex.srtslurm import keys


@pytest.mark.parametrize(
    ("image", "word"),
    [
        ("vllm/vllm-openai:v0.27.1", ""),
        ("nvcr.io#nvidia/tensorrt-llm/release:1.3.0rc22.post1", ""),
        ("nvcr.io/nvidia/ai-dynamo/tensorrtllm-runtime:0.8.1.post1", ""),
        ("ghcr.io/acme/x@sha256:" + "0" * 64, ""),
        ("registry.local:5000/acme/x:1", ""),
        ("vllm/vllm-openai", "no tag"),
        ("vllm/vllm-openai: v1", "blank"),
        ("/data/x.sqsh", "file"),
        ("VLLM/vllm:1", "no image name"),
        ("vllm/vllm-openai:", "no image name"),
        ("x" * 500, "longer"),
    ],
)
def test_image_form(image: str, word: str) -> None:
    found = fault(image)
    assert word in found
    assert bool(found) == bool(word)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("nvcr.io#nvidia/x:1", "nvcr.io/nvidia/x:1", True),
        ("docker.io/vllm/x:1", "vllm/x:1", True),
        ("docker://vllm/x:1", "vllm/x:1", True),
        ("vllm/x:1", "vllm/x:2", False),
    ],
)
def test_same_image(one: str, other: str, same: bool) -> None:
    assert same_image(one, other) is same


def test_aliases_and_files_are_no_images() -> None:
    assert [is_image(text) for text in ("vllm/x:1", "dynamo-sglang", "v0.5.11", "/data/x.sqsh", "$IMAGE/x")] == [
        True,
        False,
        False,
        False,
        False,
    ]


def test_words_of_a_key() -> None:
    name = read_name("dsr1-fp4-mi355x-sglang-disagg-8k1k-mtp")
    assert (name.precisions, name.hardware, name.frameworks) == (("fp4",), ("mi355x",), ("sglang",))
    assert read_name("x-fp8-gb200-dynamo-trt").hardware == ("gb200",)


@pytest.mark.parametrize(
    ("words", "framework", "same"),
    [
        (["trtllm"], "trt", True),
        (["vllm"], "dynamo-vllm", True),
        (["sglang"], "vllm", False),
        (["llmd", "vllm"], "llmd-vllm", True),
        (["trtllm"], "dynamo-trt", True),
    ],
)
def test_framework_of_a_key(words: list[str], framework: str, same: bool) -> None:
    assert same_framework(words, framework) is same


@pytest.mark.parametrize(
    ("model", "formats"),
    [
        ("nvidia/Demo-NVFP4", ("fp4",)),
        ("amd/Demo-MXFP4-Preview", ("fp4",)),
        ("acme/Demo-FP8-dynamic", ("fp8",)),
        ("acme/Demo-0528", ()),
        ("acme/Demo-w4a16", ("int4",)),
    ],
)
def test_formats_of_a_checkpoint(model: str, formats: tuple[str, ...]) -> None:
    assert formats_of(model) == formats


def test_hardware_of_a_label() -> None:
    assert [hardware(label) for label in ("cluster:b300-nv", "mi355x", "h100-cw_00")] == ["b300", "mi355x", "h100"]


def test_closest() -> None:
    assert closest("conc_lst", ["conc-list", "conc-start"]) == "conc-list"
    assert closest("nothing", ["conc-list"]) == ""
    assert closest("x" * 1000, ["conc-list"]) == ""


def test_connectors_inside_others() -> None:
    config: dict[str, object] = {
        "kv_connector": "MultiConnector",
        "kv_connector_extra_config": {"connectors": [{"kv_connector": "NixlConnector"}, "text", {"kv_connector": 1}]},
    }
    assert connector_names(config) == {"MultiConnector", "NixlConnector"}
    assert connector_names(None) == frozenset()


def test_duplicates_below_aliases_are_found_once() -> None:
    document = yaml.load_yaml("a: &x\n  k: 1\n  k: 2\nb: *x\nc: [{m: 1, m: 1}]\n", "f.yaml")
    found = duplicates(document.root)
    assert [(one.key.text, one.first.line, one.key.line, one.same) for one in found.values()] == [
        ("m", 5, 5, True),
        ("k", 2, 3, False),
    ]


# ------------------------------------------------------------------------------------------------------------- schemas

SCHEMAS = ("master-config", "runners", "perf-changelog", "srt-slurm-recipe", "golden-acceptance")


def _validator(name: str) -> jsonschema.Draft202012Validator:
    text = resources.files("botlint.schemas").joinpath(f"{name}.schema.json").read_text(encoding="utf-8")
    jsonschema.Draft202012Validator.check_schema(json.loads(text))
    return jsonschema.Draft202012Validator(json.loads(text))


VALUES: list[tuple[str, object, bool]] = [
    ("runners", {"labels": {"b200": ["b200-x_00"]}}, True),
    ("runners", {"labels": {"b200": []}}, False),
    ("runners", {"labels": {}, "hardware": {"b200": {"gpus-per-node": 8}}}, False),
    ("perf-changelog", [{"config-keys": ["a"], "description": ["b"], "pr-link": "XXX"}], True),
    ("perf-changelog", [{"config-keys": ["a"], "description": "b", "pr-link": "XXX"}], False),
    ("perf-changelog", [{"config-keys": ["a"], "description": ["b"], "pr-link": "X", "scenario-type": ["x"]}], False),
    ("golden-acceptance", {"m": {"thinking_on": {"1": 1.8}}}, True),
    ("golden-acceptance", {"m": {"thinking_on": {"one": 1.8}}}, False),
    ("golden-acceptance", {"m": {"thinking_on": {"1": 0.4}}}, False),
    ("srt-slurm-recipe", {"model": {}, "resources": {"gpus_per_node": "4"}, "environment": {"A": "1"}}, True),
    ("srt-slurm-recipe", {"model": {}, "resources": {}, "environment": {"A": 1}}, False),
    ("srt-slurm-recipe", {"model": {}, "resources": {}, "helth_check": {}}, False),
    ("srt-slurm-recipe", {"model": {}}, False),
]


@pytest.mark.parametrize(("name", "value", "sound"), VALUES)
def test_the_quick_look_agrees_with_the_validator(name: str, value: object, sound: bool) -> None:
    assert _validator(name).is_valid(value) is sound
    assert fastschema.quick_check(f"{name}.schema.json", value) is sound


@pytest.mark.parametrize("name", SCHEMAS)
def test_schemas_are_schemas(name: str) -> None:
    assert _validator(name).schema["title"]


def test_unknown_keys_are_taken_out() -> None:
    value = {"model": {"pth": "x"}, "resources": {}, "benchmark": {"env": {"ANY": "1"}, "odd": 1}}
    found = fastschema.take_unknown("srt-slurm-recipe.schema.json", value)
    assert sorted(map(str, found)) == ["['benchmark', 'odd']", "['model', 'pth']"]
    assert fastschema.quick_check("srt-slurm-recipe.schema.json", value)


def _entry(**changed: object) -> dict[str, object]:
    entry: dict[str, object] = {
        "image": "a/b:1",
        "model": "m",
        "model-prefix": "m",
        "precision": "fp8",
        "framework": "vllm",
        "runner": "cluster:b200-x",
        "multinode": False,
        "scenarios": {"fixed-seq-len": [{"isl": 1, "osl": 1, "search-space": [{"tp": 8, "conc-list": [1]}]}]},
    }
    return {**entry, **changed}


@pytest.mark.parametrize(
    "entry",
    [
        _entry(),
        _entry(image=1),
        _entry(extra=1),
        _entry(multinode=True),
        _entry(router={"name": "x", "version": "1"}),
        _entry(router={"name": ""}),
        _entry(scenarios={"fixed-seq-len": [{"isl": 1, "osl": 1, "search-space": [{"tp": 8, "conc-lst": [1]}]}]}),
        _entry(scenarios={"agentic-coding": [{"search-space": [{"tp": 8, "kv-offloading": "x", "conc-list": [1]}]}]}),
    ],
)
def test_the_schema_of_master_configs_agrees_with_the_newest_classes(entry: dict[str, object]) -> None:
    assert _validator("master-config").is_valid({"entry": entry}) is not bool(complaints(NEWEST_VALIDATION, entry))


def test_the_schema_of_recipes_has_every_key_that_some_release_knows() -> None:
    known = {name for _, names in keys._LINE.findall(keys._TABLE) for name, _, _ in keys._KEY.findall(names)}
    text = json.dumps(_validator("srt-slurm-recipe").schema)
    assert [name for name in sorted(known) if f'"{name}"' not in text] == []

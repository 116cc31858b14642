"""The files under `schemas/catalogs/`: valid, in their written form, and quick to read."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from timing import within

from botlint.catalogs.catalog import FRAMEWORKS, Catalog, data_folder, read_data
from botlint.catalogs.ranges import Timeline
from botlint.catalogs.snapshots import SECTIONS, assemble, render, snapshot_at
from botlint.catalogs.versions import sort_versions

FILES = [*((name, "catalog") for name in FRAMEWORKS), *((name, name) for name in ("hardware", "images", "models"))]


@pytest.mark.parametrize(("name", "schema"), FILES)
def test_files_are_valid(name: str, schema: str) -> None:
    validator = jsonschema.Draft202012Validator(read_data(f"{schema}.schema.json"))
    problems = [
        f"{list(error.absolute_path)}: {error.message}" for error in validator.iter_errors(read_data(f"{name}.json"))
    ]
    assert problems == []


def test_the_schema_refuses_what_is_wrong() -> None:
    validator = jsonschema.Draft202012Validator(read_data("catalog.schema.json"))
    data = read_data("atom.json")
    data["flags"]["--x"] = {"in": "0.1.2..", "kind": "odd"}
    data["names"]["kv_cache_dtype"]["fp8"]["speed"] = 3
    assert len(list(validator.iter_errors(data))) == 2


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_a_catalog_is_in_its_written_form(framework: str) -> None:
    text = (data_folder() / f"{framework}.json").read_text(encoding="utf-8")
    data = json.loads(text)
    assert render(data) == text
    assert list(data["versions"]) == sort_versions(list(data["versions"]))
    assert max(map(len, text.splitlines())) < 700, "a line is too long to review"


@pytest.mark.parametrize("framework", FRAMEWORKS)
def test_ranges_and_references_are_sound(framework: str) -> None:
    data = read_data(f"{framework}.json")
    timeline = Timeline(data["versions"])
    for records in (*(data[section] for section in SECTIONS), *data["names"].values()):
        for name, record in records.items():
            covered = timeline.covered(record["in"])
            changes = [timeline.places[version] for version in record.get("changes", {})]
            assert changes == sorted(changes), name
            assert set(changes) <= covered, name
            for part in (record, *record.get("changes", {}).values()):
                for key in ("choices", "values"):
                    if isinstance(part.get(key), str):
                        assert part[key].removeprefix("@") in data["names"], name


@pytest.mark.parametrize("framework", ["atom", "lmcache"])
def test_assembling_the_decoded_versions_gives_the_file_again(framework: str) -> None:
    data = read_data(f"{framework}.json")
    snapshots = {version: snapshot_at(data, version) for version in data["versions"]}
    assert render(assemble(data, snapshots, data["versions"])) == render(data)


def test_reading_a_catalog_is_quick() -> None:
    with within(0.1):
        catalog = Catalog(read_data("vllm.json"))
        assert catalog.flag("--nope", catalog.newest) is None
        assert catalog.variable("NOPE", catalog.newest) is None


def test_every_replacement_replaces_something_that_is_gone() -> None:
    data: dict[str, Any] = read_data("vllm.json")
    newest = list(data["versions"])[-1]
    flags, variables = Catalog(data).flags_at(newest), Catalog(data).environment_at(newest)
    for name, note in data["replaced"].items():
        assert name not in flags
        assert name not in variables
        assert note["by"] in flags

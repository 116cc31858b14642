"""The range encoding keeps every version's attributes, and a new version touches only what changed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botlint.catalogs.ranges import Timeline, attributes_at, encode
from botlint.catalogs.snapshots import assemble, merge, render, snapshot_at

VERSIONS = ["0.1", "0.2", "0.3", "0.4"]


@pytest.mark.parametrize(
    ("history", "record"),
    [
        ({v: {} for v in VERSIONS}, {"in": "0.1.."}),
        ({"0.1": {}, "0.2": {}}, {"in": "0.1..0.2"}),
        ({"0.2": {"type": "int"}}, {"in": "0.2", "type": "int"}),
        ({"0.1": {}, "0.3": {}, "0.4": {}}, {"in": "0.1, 0.3.."}),
        ({"0.3": {"n": 1}, "0.4": {"n": True}}, {"in": "0.3..", "n": 1, "changes": {"0.4": {"n": True}}}),
        ({"0.3": {"n": 1}, "0.4": {}}, {"in": "0.3..", "n": 1, "changes": {"0.4": {"n": None}}}),
        (
            {"0.3": {"choices": ["a", "b", "c"]}, "0.4": {"choices": ["a", "c", "d"]}},
            {"in": "0.3..", "choices": ["a", "b", "c"], "changes": {"0.4": {"choices+": ["d"], "choices-": ["b"]}}},
        ),
        (
            {"0.3": {"choices": ["a", "b"]}, "0.4": {"choices": ["x", "y"]}},
            {"in": "0.3..", "choices": ["a", "b"], "changes": {"0.4": {"choices": ["x", "y"]}}},
        ),
    ],
)
def test_encoding(history: dict[str, dict[str, Any]], record: dict[str, Any]) -> None:
    assert encode(history, VERSIONS) == record
    assert _decoded(record) == history


def test_a_name_in_no_version_has_no_record() -> None:
    with pytest.raises(ValueError, match="no version"):
        encode({}, VERSIONS)


ATTRIBUTES = st.dictionaries(
    st.sampled_from(["type", "default", "choices"]),
    st.one_of(st.booleans(), st.integers(0, 2), st.lists(st.sampled_from("abcd"), unique=True).map(sorted)),
    max_size=3,
)


@given(st.dictionaries(st.sampled_from(VERSIONS), ATTRIBUTES, min_size=1))
def test_decoding_gives_back_what_was_encoded(history: dict[str, dict[str, Any]]) -> None:
    record = json.loads(json.dumps(encode(history, VERSIONS)))
    assert json.dumps(_decoded(record), sort_keys=True) == json.dumps(history, sort_keys=True)


def _decoded(record: dict[str, Any]) -> dict[str, Any]:
    timeline = Timeline(VERSIONS)
    found = {version: attributes_at(record, timeline, place) for version, place in timeline.places.items()}
    return {version: attributes for version, attributes in found.items() if attributes is not None}


HEADER = {"schema": "botlint.catalog/1", "framework": "demo", "title": "Demo", "prefixes": ["DEMO_"], "replaced": {}}


def snapshot(version: str, *, flags: dict[str, Any], backends: list[str]) -> dict[str, Any]:
    return {
        "framework": "demo",
        "version": version,
        "flags": flags,
        "environment": {},
        "options": {},
        "names": {"backend": {name: {} for name in backends}},
    }


OLD = snapshot("0.1", flags={"--backend": {"kind": "value", "choices": ["a", "b", "c"]}}, backends=["a", "b", "c"])
NEW = snapshot(
    "0.2",
    flags={"--backend": {"kind": "value", "choices": ["a", "b", "c", "d"]}, "--new": {"kind": "switch"}},
    backends=["a", "b", "c", "d"],
)
RELEASE = {"released": "2026-01-01", "source": "a test"}


def test_merging_a_version_changes_only_the_lines_of_names_that_changed() -> None:
    first = merge({**HEADER, "versions": {}, "flags": {}, "environment": {}, "options": {}, "names": {}}, OLD, RELEASE)
    second = merge(first, NEW, RELEASE)
    before, after = render(first).splitlines(), render(second).splitlines()
    changed = {line.strip().rstrip(",") for line in after} - {line.strip().rstrip(",") for line in before}
    assert changed == {
        '"0.2": {"released": "2026-01-01", "source": "a test"}',
        '"--new": {"in": "0.2..", "kind": "switch"}',
        '"d": {"in": "0.2.."}',
    }
    assert json.loads(render(second)) == second


def test_versions_may_be_merged_in_any_order_and_again() -> None:
    empty = {**HEADER, "versions": {}, "flags": {}, "environment": {}, "options": {}, "names": {}}
    forth = merge(merge(empty, OLD, RELEASE), NEW, RELEASE)
    back = merge(merge(empty, NEW, RELEASE), OLD, RELEASE)
    assert render(forth) == render(back) == render(merge(forth, NEW, RELEASE))


def test_a_snapshot_comes_back_with_groups_as_references() -> None:
    data = assemble(HEADER, {"0.1": OLD, "0.2": NEW}, {"0.1": RELEASE, "0.2": RELEASE})
    assert snapshot_at(data, "0.2") == NEW
    empty = {**HEADER, "versions": {}, "flags": {}, "environment": {}, "options": {}, "names": {}}
    assert snapshot_at(merge(empty, OLD, RELEASE), "0.1")["flags"]["--backend"]["choices"] == "@backend"

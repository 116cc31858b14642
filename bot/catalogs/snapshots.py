"""Turn snapshots of single versions into a catalog file and back, and write the file so that people can review it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from botlint.catalogs.ranges import Attributes, Record, Timeline, attributes_at, encode
from botlint.catalogs.versions import sort_versions

SCHEMA = "botlint.catalog/1"
SECTIONS = ("flags", "environment", "options")
"""Sections that map a name to a record; `names` has one more level, the group."""

Snapshot = dict[str, Any]
CatalogData = dict[str, Any]


def merge(catalog: Mapping[str, Any], snapshot: Snapshot, release: Mapping[str, str]) -> CatalogData:
    """Return the catalog with one version added or replaced; everything that is not by version stays as it is."""
    snapshots = {version: snapshot_at(catalog, version) for version in catalog["versions"]}
    snapshots[snapshot["version"]] = referenced(snapshot)
    releases = {**catalog["versions"], snapshot["version"]: dict(release)}
    return assemble(catalog, snapshots, releases)


def assemble(
    header: Mapping[str, Any], snapshots: Mapping[str, Snapshot], releases: Mapping[str, Mapping[str, str]]
) -> CatalogData:
    """Return a catalog of the snapshots, with everything of `header` that is not by version."""
    versions = sort_versions(list(snapshots))
    data: CatalogData = {
        **header,
        "schema": SCHEMA,
        "versions": {version: dict(releases[version]) for version in versions},
    }
    for section in SECTIONS:
        data[section] = _encode_section({v: snapshots[v].get(section, {}) for v in versions}, versions)
    groups = sorted({group for snapshot in snapshots.values() for group in snapshot.get("names", {})})
    data["names"] = {
        group: _encode_section({v: snapshots[v].get("names", {}).get(group, {}) for v in versions}, versions)
        for group in groups
    }
    return data


def snapshot_at(catalog: Mapping[str, Any], version: str) -> Snapshot:
    """Return what one version accepts, decoded from a catalog."""
    timeline = Timeline(catalog["versions"])
    place = timeline.places[version]

    def decoded(section: Mapping[str, Record]) -> dict[str, Attributes]:
        found = ((name, attributes_at(record, timeline, place)) for name, record in section.items())
        return {name: attributes for name, attributes in found if attributes is not None}

    groups = {group: decoded(records) for group, records in catalog["names"].items()}
    return {
        "framework": catalog["framework"],
        "version": version,
        **{section: decoded(catalog[section]) for section in SECTIONS},
        "names": {group: records for group, records in groups.items() if records},
    }


def referenced(snapshot: Snapshot) -> Snapshot:
    """Return the snapshot with each list of choices that is a whole group of names written as `@group`."""
    groups = {tuple(sorted(records)): f"@{group}" for group, records in snapshot["names"].items() if len(records) > 2}

    def shortened(attributes: Attributes) -> Attributes:
        choices = attributes.get("choices")
        reference = groups.get(tuple(choices)) if isinstance(choices, list) else None
        return {**attributes, "choices": reference} if reference else attributes

    return {
        **snapshot,
        **{s: {name: shortened(a) for name, a in snapshot.get(s, {}).items()} for s in SECTIONS},
    }


def _encode_section(by_version: Mapping[str, Mapping[str, Attributes]], versions: list[str]) -> dict[str, Record]:
    names = sorted({name for records in by_version.values() for name in records})
    return {
        name: encode({v: records[name] for v, records in by_version.items() if name in records}, versions)
        for name in names
    }


def render(data: Mapping[str, Any]) -> str:
    """Return a catalog as text: sections in a fixed order, one name a line, keys sorted, so that changes read well."""
    lines = ["{"]
    keys = [key for key in data if key not in ("versions", *SECTIONS, "names")]
    for key in [*keys, "versions", *SECTIONS, "names"]:
        value = data[key]
        if not isinstance(value, Mapping) or not value:
            lines.append(f"  {_text(key)}: {_text(value)},")
        elif key == "names":
            lines += [f"  {_text(key)}: {{", *_joined([_block(group, value[group], "    ") for group in value]), "  },"]
        else:
            lines += [f"{_block(key, value, '  ')},"]
    lines[-1] = lines[-1].removesuffix(",")
    return "\n".join([*lines, "}", ""])


def _block(key: str, records: Mapping[str, Any], indent: str) -> str:
    rows = _joined([f"{indent}  {_text(name)}: {_text(record)}" for name, record in records.items()])
    return "\n".join([f"{indent}{_text(key)}: {{", *rows, f"{indent}}}"])


def _joined(rows: list[str]) -> list[str]:
    return [*(f"{row}," for row in rows[:-1]), *rows[-1:]]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)

"""The range encoding of catalogs: many versions of one name on one line.

A *snapshot* is what one version of a framework accepts. A *record* is one name over all versions:

    {"in": "0.19.0..0.26.0, 0.30.0..", "type": "int", "default": 1, "changes": {"0.20.1": {"default": 2}}}

`in` lists inclusive ranges of catalog versions (open at the end: up to the newest), the other keys are the attributes at the
first version of `in`, and `changes` maps a version to the attributes that differ from it on (null: the attribute is gone).
Lists change by `KEY+` and `KEY-`. A new version therefore touches only the lines of names that changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

Attributes = dict[str, Any]
Record = dict[str, Any]


def encode(history: Mapping[str, Attributes], versions: Sequence[str]) -> Record:
    """Return the record of a name whose attributes at each version (of `versions`, oldest first) are in `history`."""
    present = [version for version in versions if version in history]
    record: Record = {"in": _encode_ranges(present, versions)}
    current = history[present[0]]
    record.update(sorted(current.items()))
    changes: dict[str, Attributes] = {}
    for version in present[1:]:
        change = _difference(current, history[version])
        if change:
            changes[version] = change
            current = history[version]
    if changes:
        record["changes"] = changes
    return record


def decode(record: Mapping[str, Any], versions: Sequence[str]) -> dict[str, Attributes]:
    """Return the attributes at each version in which the name exists, oldest first."""
    changes: Mapping[str, Attributes] = record.get("changes", {})
    current = {key: value for key, value in record.items() if key not in ("in", "changes")}
    result: dict[str, Attributes] = {}
    for version in present_versions(record["in"], versions):
        if version in changes:
            current = _apply(current, changes[version])
        result[version] = current
    return result


def present_versions(ranges: str, versions: Sequence[str]) -> Iterator[str]:
    """Yield the versions that the ranges cover, oldest first.

    Raises ValueError when a range names a version that the catalog does not have.
    """
    for part in ranges.split(", "):
        first, dots, last = part.partition("..")
        start = versions.index(first)
        end = len(versions) - 1 if dots and not last else versions.index(last or first)
        yield from versions[start : end + 1]


def _encode_ranges(present: Sequence[str], versions: Sequence[str]) -> str:
    position = {version: index for index, version in enumerate(versions)}
    parts: list[str] = []
    index = 0
    while index < len(present):
        end = index
        while end + 1 < len(present) and position[present[end + 1]] == position[present[end]] + 1:
            end += 1
        first, last = present[index], present[end]
        if last == versions[-1]:
            parts.append(f"{first}..")
        else:
            parts.append(first if first == last else f"{first}..{last}")
        index = end + 1
    return ", ".join(parts)


def _difference(old: Attributes, new: Attributes) -> Attributes:
    change: Attributes = {}
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before == after and type(before) is type(after):
            continue
        if _are_sets(before, after):
            added = [item for item in after if item not in before]
            removed = [item for item in before if item not in after]
            if len(added) + len(removed) < len(after):
                change.update({f"{key}+": added} if added else {})
                change.update({f"{key}-": removed} if removed else {})
                continue
        change[key] = after
    return change


def _are_sets(before: Any, after: Any) -> bool:
    """Whether both are sorted lists of distinct texts, so that a change can be told by members."""
    return all(
        isinstance(value, list) and all(isinstance(item, str) for item in value) and value == sorted(set(value))
        for value in (before, after)
    )


def _apply(current: Attributes, change: Attributes) -> Attributes:
    result = dict(current)
    for key, value in change.items():
        if key.endswith("+"):
            result[key[:-1]] = sorted({*result[key[:-1]], *value})
        elif key.endswith("-"):
            result[key[:-1]] = [item for item in result[key[:-1]] if item not in value]
        elif value is None:
            result.pop(key, None)
        else:
            result[key] = value
    return result

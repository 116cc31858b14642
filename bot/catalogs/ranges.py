"""The range encoding of catalogs: many versions of one name on one line.

A *record* is one name over all versions of a catalog (oldest first):

    {"in": "0.19.0..0.26.0, 0.30.0..", "default": 1, "type": "int", "changes": {"0.20.1": {"default": 2}}}

`in` lists inclusive ranges of versions (open at the end: up to the newest), the other keys are the attributes at the
first of them, and `changes` maps a version to the attributes that differ from it on (null: the attribute is gone).
Lists of distinct texts change by `KEY+` and `KEY-`. A new version therefore touches only the lines of names that
changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeGuard

Attributes = dict[str, Any]
Record = dict[str, Any]


class Timeline:
    """The versions of a catalog, oldest first, and which of them a text of ranges covers."""

    def __init__(self, versions: Iterable[str]) -> None:
        self.versions = tuple(versions)
        self.places: Mapping[str, int] = {version: index for index, version in enumerate(self.versions)}
        self._covered: dict[str, frozenset[int]] = {}

    def covered(self, ranges: str) -> frozenset[int]:
        """Return the places of the versions in the ranges; raises KeyError for a version that is not there."""
        found = self._covered.get(ranges)
        if found is None:
            found = frozenset(place for part in ranges.split(", ") for place in self._range(part))
            self._covered[ranges] = found
        return found

    def _range(self, part: str) -> range:
        first, dots, last = part.partition("..")
        end = len(self.versions) - 1 if dots and not last else self.places[last or first]
        return range(self.places[first], end + 1)


def encode(history: Mapping[str, Attributes], versions: Sequence[str]) -> Record:
    """Return the record of a name from its attributes at each of `versions` (oldest first) in which it exists.

    Raises ValueError when it exists in none.
    """
    present = [index for index, version in enumerate(versions) if version in history]
    if not present:
        raise ValueError("a name that exists in no version has no record")
    current = history[versions[present[0]]]
    record: Record = {"in": _encode_ranges(present, versions), **dict(sorted(current.items()))}
    changes: dict[str, Attributes] = {}
    for index in present[1:]:
        new = history[versions[index]]
        change = _difference(current, new)
        if change:
            changes[versions[index]] = change
            current = new
    return record | ({"changes": changes} if changes else {})


def attributes_at(record: Mapping[str, Any], timeline: Timeline, place: int) -> Attributes | None:
    """Return the attributes of a record at the version in a place, or None where the name does not exist in it."""
    if place not in timeline.covered(record["in"]):
        return None
    attributes = {key: value for key, value in record.items() if key not in ("in", "changes")}
    for changed, change in record.get("changes", {}).items():
        if timeline.places[changed] > place:
            break
        attributes = _apply(attributes, change)
    return attributes


def _encode_ranges(present: Sequence[int], versions: Sequence[str]) -> str:
    runs: list[tuple[int, int]] = []
    for index in present:
        if runs and index == runs[-1][1] + 1:
            runs[-1] = (runs[-1][0], index)
        else:
            runs.append((index, index))
    return ", ".join(_encode_run(first, last, versions) for first, last in runs)


def _encode_run(first: int, last: int, versions: Sequence[str]) -> str:
    if last == len(versions) - 1:
        return f"{versions[first]}.."
    return versions[first] if first == last else f"{versions[first]}..{versions[last]}"


def _difference(old: Attributes, new: Attributes) -> Attributes:
    change: Attributes = {}
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if before == after and type(before) is type(after):
            continue
        if _is_set(before) and _is_set(after):
            added = [item for item in after if item not in before]
            removed = [item for item in before if item not in after]
            if len(added) + len(removed) < len(after):
                change |= {f"{key}+": added} if added else {}
                change |= {f"{key}-": removed} if removed else {}
                continue
        change[key] = after
    return change


def _is_set(value: Any) -> TypeGuard[list[str]]:
    """Whether this is a sorted list of distinct texts, so that a change can be told by members."""
    return isinstance(value, list) and all(isinstance(item, str) for item in value) and value == sorted(set(value))


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

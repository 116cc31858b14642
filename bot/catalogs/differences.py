"""What changed between two versions of a framework: pure comparison of two snapshots."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from botlint.catalogs.ranges import Attributes
from botlint.catalogs.snapshots import SECTIONS, Snapshot

_MISSING = object()


@dataclass(frozen=True, slots=True)
class Change:
    """One attribute that differs; None stands for an attribute that is not there."""

    name: str
    attribute: str
    before: Any
    after: Any


@dataclass(frozen=True, slots=True)
class SectionDifference:
    """What changed in one section (`flags`, `environment`, `options`) or group of names."""

    section: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Change, ...]

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def compare(old: Snapshot, new: Snapshot) -> tuple[SectionDifference, ...]:
    """Return the sections that differ, in the order of the catalog."""
    pairs: list[tuple[str, Mapping[str, Attributes], Mapping[str, Attributes]]] = [
        (section, old[section], new[section]) for section in SECTIONS
    ]
    groups = sorted(old["names"].keys() | new["names"].keys())
    pairs += [(group, old["names"].get(group, {}), new["names"].get(group, {})) for group in groups]
    return tuple(difference for pair in pairs if (difference := _compare_section(*pair)))


def _compare_section(section: str, old: Mapping[str, Attributes], new: Mapping[str, Attributes]) -> SectionDifference:
    both = sorted(old.keys() & new.keys())
    return SectionDifference(
        section,
        tuple(sorted(new.keys() - old.keys())),
        tuple(sorted(old.keys() - new.keys())),
        tuple(change for name in both for change in _changes(name, old[name], new[name])),
    )


def _changes(name: str, old: Attributes, new: Attributes) -> Iterable[Change]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key, _MISSING), new.get(key, _MISSING)
        if before != after or type(before) is not type(after):
            yield Change(name, key, None if before is _MISSING else before, None if after is _MISSING else after)


def to_json(differences: Iterable[SectionDifference]) -> dict[str, Any]:
    """Return the differences as plain data."""
    return {
        difference.section: {
            "added": list(difference.added),
            "removed": list(difference.removed),
            "changed": [
                {"name": c.name, "attribute": c.attribute, "before": c.before, "after": c.after}
                for c in difference.changed
            ],
        }
        for difference in differences
    }


def to_text(differences: Iterable[SectionDifference]) -> list[str]:
    """Return the differences as lines: `+` added, `-` removed, `~` changed."""
    lines: list[str] = []
    for difference in differences:
        lines.append(f"{difference.section}:")
        lines += [f"  + {name}" for name in difference.added]
        lines += [f"  - {name}" for name in difference.removed]
        lines += [f"  ~ {change.name}: {change.attribute} {_told(change)}" for change in difference.changed]
    return lines


def _told(change: Change) -> str:
    before, after = change.before, change.after
    if isinstance(before, list) and isinstance(after, list) and all(isinstance(i, str) for i in (*before, *after)):
        gained = [f"+{item}" for item in after if item not in before]
        lost = [f"-{item}" for item in before if item not in after]
        if gained or lost:
            return " ".join([*gained, *lost])
    return f"{_shown(before)} -> {_shown(after)}"


def _shown(value: Any) -> str:
    return "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

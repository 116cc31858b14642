"""Ranges of framework versions as rules write them: `>=0.26,<0.30`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from botlint.catalogs.versions import VersionKey, version_key

_TERM = re.compile(r"\s*(>=|<=|>|<|==|!=)\s*(\S+)\s*")


@dataclass(frozen=True, slots=True)
class VersionRange:
    """Terms that must all hold."""

    terms: tuple[tuple[str, VersionKey], ...]

    def holds(self, version: str) -> bool | None:
        """Whether a version is in the range; None for a text that is no version."""
        key = version_key(version)
        if key is None:
            return None
        compare = {
            ">=": lambda wanted: key >= wanted,
            "<=": lambda wanted: key <= wanted,
            ">": lambda wanted: key > wanted,
            "<": lambda wanted: key < wanted,
            "==": lambda wanted: key == wanted,
            "!=": lambda wanted: key != wanted,
        }
        return all(compare[operator](wanted) for operator, wanted in self.terms)


def parse_range(text: object) -> VersionRange:
    """A range from its text; an empty text holds for every version.

    Raises ValueError for anything else.
    """
    terms = []
    for part in str(text).split(","):
        if not part.strip():
            continue
        match = _TERM.fullmatch(part)
        key = version_key(match[2]) if match else None
        if match is None or key is None:
            raise ValueError(f"not a version range: {part.strip()!r} (as in >=0.26,<0.30)")
        terms.append((match[1], key))
    return VersionRange(tuple(terms))

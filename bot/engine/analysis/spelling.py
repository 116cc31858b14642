"""The nearest known name to one that is not known."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

MAX_LENGTH = 200
MAX_NAMES = 2_000
NEAR = 0.72
"""How alike two names must be (difflib's ratio); lower ones are no help."""


def closest(name: str, known: Iterable[str], near: float = NEAR) -> str:
    """The nearest of the known names, empty if none is near."""
    names = [one for one in list(known)[:MAX_NAMES] if len(one) <= MAX_LENGTH]
    if len(name) > MAX_LENGTH:
        return ""
    flat = {one.replace("_", "-").lower(): one for one in reversed(names)}
    found = get_close_matches(name.replace("_", "-").lower(), list(flat), n=1, cutoff=near)
    return flat[found[0]] if found else ""


def shared_start(one: str, other: str) -> int:
    """How many characters two names have in common before they differ."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    return start


def one_edit(one: str, other: str) -> bool:
    """Whether two different names differ by one character more, less or other, or by two neighbours swapped."""
    if len(one) > len(other):
        one, other = other, one
    start = shared_start(one, other)
    rest, rest2 = one[start:], other[start:]
    if len(one) == len(other):
        swapped = len(rest) > 1 and rest[:2] == rest2[1::-1] and rest[2:] == rest2[2:]
        return swapped or rest[1:] == rest2[1:]
    return rest == rest2[1:]

"""Globs over paths of a repository, matched in time that a hostile pattern cannot blow up."""

from __future__ import annotations

from functools import lru_cache

MAX_GLOB = 500
"""Characters of a glob."""


def matches(pattern: str, path: str, *, below: bool = True) -> bool:
    """Whether a glob takes a path: `*` and `?` inside a name, `**` for any folders, a folder for all below it.

    A pattern without a slash takes a file or folder of that name anywhere, as in .gitignore. Without `below` a folder
    does not take what is in it.
    """
    parts = _parts(pattern[:MAX_GLOB])
    names = path.split("/")
    # reached[n]: the parts so far take the first n names.
    reached = [True, *([False] * len(names))]
    for part in parts:
        following = [False] * (len(names) + 1)
        if part == "**":
            taken = False
            for number, here in enumerate(reached):
                taken = taken or here
                following[number] = taken
        else:
            for number, name in enumerate(names):
                if reached[number] and _name(part, name):
                    following[number + 1] = True
        reached = following
    # A pattern that takes a folder takes what is below it.
    return any(reached[1:]) if below else reached[-1]


@lru_cache(maxsize=1024)
def _parts(pattern: str) -> tuple[str, ...]:
    anchored = "/" in pattern.rstrip("/")
    parts = [part for part in pattern.split("/") if part not in ("", ".")]
    if parts and parts[-1] == "**":
        # Everything below a folder is not the folder itself.
        parts[-1] = "*"
    return tuple(parts) if anchored else ("**", *parts)


def _name(pattern: str, name: str) -> bool:
    """Whether `*` and `?` make one name of the pattern; goes back to the last star only, so time is bounded."""
    at = index = 0
    star, resume = -1, 0
    while at < len(name):
        if index < len(pattern) and pattern[index] == "*":
            star, resume = index, at
            index += 1
        elif index < len(pattern) and pattern[index] in ("?", name[at]):
            index += 1
            at += 1
        elif star >= 0:
            resume += 1
            index, at = star + 1, resume
        else:
            return False
    return all(character == "*" for character in pattern[index:])

"""Canonical paths.

They are absolute. The checkout's real place is not known before the run, so it is called `@workspace`; a path of a
container that is a mount of the checkout is turned into it, another mounted path gets the name `@mount/...`.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass
from functools import lru_cache

from botlint.core.unknown import Unknown
from botlint.shell.values import Resolved

WORKSPACE = "@workspace"
WORKSPACE_VARIABLE = "GITHUB_WORKSPACE"


@dataclass(frozen=True, slots=True)
class Mount:
    """A directory of a container that is a directory of the host; both are canonical paths."""

    inside: str
    outside: str


@dataclass(frozen=True, slots=True)
class Context:
    """Where a process runs: its working directory (canonical), and what its container mounts (None: no container)."""

    cwd: str
    mounts: tuple[Mount, ...] | None = None


def canonical(path: Resolved, context: Context) -> str | None:
    """The canonical form of a path as a process writes it, or None when it cannot be known."""
    if not isinstance(path, str):
        first = path[0]
        rest = path[1:]
        if not (
            isinstance(first, Unknown) and first.reason == WORKSPACE_VARIABLE and all(isinstance(p, str) for p in rest)
        ):
            return None
        return normal(WORKSPACE + "".join(p for p in rest if isinstance(p, str)))
    if path.startswith("/"):
        return _mounted(normal(path), context)
    if not path:
        return None
    return normal(f"{context.cwd}/{path}")


UNKNOWN_PART = "\ue003"
"""Stands around the reason of an unknown part of a path."""


def marked(path: Resolved) -> str:
    """A canonical path in which unknown parts are named by their reasons: equal ones are taken to be the same place.

    A path that begins with something unknown is taken to be absolute.
    """
    if isinstance(path, str):
        return normal(path)
    text = "".join(
        p if isinstance(p, str) else f"{UNKNOWN_PART}{p.reason.replace('/', '|')}{UNKNOWN_PART}" for p in path
    )
    workspace = f"{UNKNOWN_PART}{WORKSPACE_VARIABLE}{UNKNOWN_PART}"
    if text.startswith(workspace):
        return normal(WORKSPACE + text[len(workspace) :])
    return normal(text if text.startswith(("/", "@")) else f"/{text}")


@lru_cache(maxsize=8192)
def normal(path: str) -> str:
    """Without `.`, `..` and double slashes; `..` does not climb above the root or parent of what only has a name."""
    if path.startswith("@"):
        root, _, rest = path.partition("/")
        inner = posixpath.normpath(f"/{rest.lstrip('/')}")
        climbs = posixpath.normpath(f"w/{rest}")
        if climbs != "w" and not climbs.startswith("w/"):
            return f"{root}-parent/{climbs}"
        return root if inner == "/" else root + inner
    return posixpath.normpath(path.replace("//", "/")) if path else path


def _mounted(path: str, context: Context) -> str:
    best: tuple[int, str] | None = None
    for mount in context.mounts or ():
        inside = mount.inside.rstrip("/") or "/"
        if (path == inside or path.startswith(inside.rstrip("/") + "/")) and (best is None or len(inside) > best[0]):
            best = (len(inside), mount.outside.rstrip("/") + path[len(inside.rstrip("/")) :])
    return path if best is None else normal(best[1])


def relative_to_workspace(path: str) -> str | None:
    """The repository path of a canonical path, '' for the checkout itself, None outside of it."""
    if path == WORKSPACE:
        return ""
    if path.startswith(WORKSPACE + "/"):
        return path[len(WORKSPACE) + 1 :]
    return None

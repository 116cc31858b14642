"""The files that a script sees: the revision under review, mounted as the workspace, and what scripts have made on top of it.

Canonical paths are absolute. The checkout's real place is not known before the run, so it is called `@workspace`; a path of a container
that is a mount of the checkout is turned into it.
"""

from __future__ import annotations

import posixpath
from typing import Literal, Protocol

from botlint.core.unknown import Unknown
from botlint.shell.process import Context, FileEntry, FileView
from botlint.shell.values import Resolved, Value

WORKSPACE = "@workspace"
WORKSPACE_VARIABLE = "GITHUB_WORKSPACE"

Kind = Literal["file", "dir", "missing", "unknown"]


class RevisionFiles(Protocol):
    """What the interpreter needs of a revision."""

    def read(self, path: str) -> bytes | None:
        """Content of a file, None if there is none."""
        ...

    def is_file(self, path: str) -> bool:
        """Whether a regular file is there."""
        ...

    def is_dir(self, path: str) -> bool:
        """Whether a directory is there."""
        ...

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory, sorted."""
        ...


def canonical(path: Resolved, context: Context) -> str | None:
    """The canonical form of a path as a process writes it, or None when it cannot be known."""
    if not isinstance(path, str):
        first = path[0]
        rest = path[1:]
        if not (isinstance(first, Unknown) and first.reason == WORKSPACE_VARIABLE and all(isinstance(p, str) for p in rest)):
            return None
        return normal(WORKSPACE + "".join(p for p in rest if isinstance(p, str)))
    if path.startswith("/"):
        return _mounted(normal(path), context)
    if not path:
        return None
    return normal(f"{context.cwd}/{path}")


def normal(path: str) -> str:
    """Without `.`, `..` and double slashes; `..` does not climb above the root or the workspace's parent."""
    if path.startswith(WORKSPACE):
        inner = posixpath.normpath("/" + path[len(WORKSPACE) :].lstrip("/"))
        climbs = posixpath.normpath("w/" + path[len(WORKSPACE) :].lstrip("/"))
        if climbs.startswith(".."):
            return "@workspace-parent/" + climbs
        if not climbs.startswith("w"):
            return "@workspace-parent/" + climbs
        return WORKSPACE if inner == "/" else WORKSPACE + inner
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


class FileSystem:
    """Files made by the current process, newest last, over the revision."""

    __slots__ = ("base", "entries", "outer")

    def __init__(self, base: RevisionFiles, outer: FileView | None) -> None:
        self.base = base
        self.entries: list[tuple[str, Value, FileEntry]] = []
        self.outer = outer

    def put(self, path: str, template: Value, entry: FileEntry) -> None:
        """Records that a path now is what `entry` says; `template` is the path as a template of the inputs."""
        self.entries.append((path, template, entry))

    def own(self, path: str) -> FileEntry | None:
        """What this process itself has made of a path, None if it never touched it."""
        for where, _, entry in reversed(self.entries):
            if where == path:
                return entry
            if entry.kind in ("missing", "unknown") and path.startswith(where + "/"):
                return entry
        return None

    def view(self) -> FileView:
        """The files as a started script sees them."""
        return FileView([(template, entry) for _, template, entry in self.entries], self.outer)

    def revision_kind(self, path: str) -> Kind:
        """What the revision has at a canonical path; outside of the workspace nothing is known."""
        inner = relative_to_workspace(path)
        if inner is None:
            return "unknown"
        if inner == "" or self.base.is_dir(inner):
            return "dir"
        return "file" if self.base.is_file(inner) else "missing"

    def revision_text(self, path: str) -> str | None:
        """Content of a file of the revision as text, None if there is none or it cannot be read."""
        inner = relative_to_workspace(path)
        if not inner:
            return None
        data = self.base.read(inner)
        return None if data is None else data.decode("utf-8", "surrogateescape")

"""The files that a script sees: the revision under review, mounted as the workspace, and on top what scripts have made.

Paths are canonical (see `paths`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, Protocol

from botlint.shell.paths import relative_to_workspace
from botlint.shell.process import FileEntry, FileView
from botlint.shell.values import Value

Kind = Literal["file", "dir", "missing", "unknown"]


class RevisionFiles(Protocol):
    """What the interpreter needs of a revision."""

    def text(self, path: str) -> str | None:
        """Content of a file (what is not UTF-8 as lone surrogates), None if there is none or it cannot be read."""
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


class FileSystem:
    """Files made by the current process, newest last, over the revision; `machine` knows what lies outside of it."""

    __slots__ = ("base", "entries", "machine", "outer")

    def __init__(
        self, base: RevisionFiles, outer: FileView | None, machine: Callable[[str], Kind] | None = None
    ) -> None:
        self.base = base
        self.entries: list[tuple[str, Value, FileEntry]] = []
        self.outer = outer
        self.machine = machine

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
        """What the revision has at a canonical path; outside of the workspace only a known machine has an answer."""
        inner = relative_to_workspace(path)
        if inner is None:
            return "unknown" if self.machine is None else self.machine(path)
        if inner == "" or self.base.is_dir(inner):
            return "dir"
        return "file" if self.base.is_file(inner) else "missing"

    def revision_text(self, path: str) -> str | None:
        """Content of a file of the revision as text, None if there is none or it cannot be read."""
        inner = relative_to_workspace(path)
        if not inner:
            return None
        return self.base.text(inner)

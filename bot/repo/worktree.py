"""The working tree as files: what lies on the disk now, tracked or not."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Sequence
from pathlib import Path

from botlint.repo.files import MAX_FILE_SIZE, MAX_PATH_LENGTH, MAX_PATHS, ListedFiles, Listing

# Folders that tools make and nobody tracks. A virtual environment is told by pyvenv.cfg, a cache by CACHEDIR.TAG.
_SKIPPED_NAMES = frozenset({".git", ".hg", ".svn", "__pycache__", "node_modules"})
_SKIPPED_MARKERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
_SUBMODULE_PATH = re.compile(r"^[ \t]*path[ \t]*=[ \t]*(\S[^\r\n]*?)[ \t\r]*$", re.MULTILINE)


class Worktree(ListedFiles):
    """The regular files below a folder, without nested repositories, virtual environments and caches.

    The folder is listed when the first question comes and not again; a file is opened only when it is read.
    """

    def __init__(
        self, root: str | os.PathLike[str], *, max_file_size: int = MAX_FILE_SIZE, max_paths: int = MAX_PATHS
    ) -> None:
        super().__init__("working tree", max_file_size, max_paths)
        self.root = Path(root)
        self._base = os.fspath(self.root)

    def _list(self) -> Listing:
        listing = Listing()
        pending = [""]
        directories = 0
        while pending:
            folder = pending.pop()
            directories += 1
            if directories > self._max_paths or self._too_many(listing):
                break
            entries = self._entries(folder)
            if folder:
                names = {entry.name for entry in entries}
                if ".git" in names:
                    listing.submodules.add(folder[:-1])
                    continue
                if not _SKIPPED_MARKERS.isdisjoint(names):
                    continue
            pending.extend(self._add_entries(listing, folder, entries))
        self._add_declared_submodules(listing)
        return listing

    def _entries(self, folder: str) -> Sequence[os.DirEntry[str]]:
        try:
            with os.scandir(f"{self._base}/{folder}") as found:
                return list(found)
        except OSError as error:
            self._problem("unreadable", f"the folder cannot be listed: {error.strerror}", folder[:-1])
            return ()

    def _add_entries(self, listing: Listing, folder: str, entries: Sequence[os.DirEntry[str]]) -> list[str]:
        """Adds the files and links of one folder; returns the folders below it. Devices and pipes are left out."""
        folders: list[str] = []
        for entry in entries:
            path = folder + entry.name
            if entry.is_symlink():
                if self._accepts(path):
                    listing.symlinks[path] = ""
            elif entry.is_dir(follow_symlinks=False):
                if entry.name not in _SKIPPED_NAMES and self._accepts(path):
                    folders.append(path + "/")
            elif not entry.is_file(follow_symlinks=False):
                if self._accepts(path):
                    self._problem("special", "a pipe, socket or device; it is not read", path)
            elif entry.name != ".git" and self._accepts(path):
                if self._too_many(listing):
                    break
                listing.files[path] = ""
        return folders

    def _add_declared_submodules(self, listing: Listing) -> None:
        """Adds the submodules that .gitmodules names and that are not checked out."""
        content = self._content(".gitmodules") if ".gitmodules" in listing.files else None
        for match in _SUBMODULE_PATH.finditer((content or b"").decode("utf-8", "replace")):
            path = match[1]
            if self._accepts(path) and not any(name.startswith(path + "/") for name in listing.files):
                listing.submodules.add(path)

    def _content(self, path: str) -> bytes | None:
        # The file may have changed since it was listed: a link is not followed, a pipe does not block.
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            descriptor = os.open(f"{self._base}/{path}", flags)
            with os.fdopen(descriptor, "rb") as file:
                facts = os.fstat(descriptor)
                if not stat.S_ISREG(facts.st_mode):
                    return None
                if facts.st_size > self._max_file_size:
                    self._too_large(path, facts.st_size)
                    return None
                content = file.read(self._max_file_size + 1)
        except FileNotFoundError:
            return None
        except OSError as error:
            self._problem("unreadable", f"the file cannot be read: {error.strerror}", path)
            return None
        if len(content) > self._max_file_size:
            self._too_large(path, len(content))
            return None
        return content

    def _link_text(self, path: str) -> str | None:
        try:
            target = os.readlink(f"{self._base}/{path}")  # noqa: PTH115 - Path would tidy the text
        except OSError:
            return None
        return target if len(target) <= MAX_PATH_LENGTH else None

    def close(self) -> None:
        """Nothing is held open."""

    def _is_executable(self, path: str) -> bool:
        try:
            return bool(os.lstat(f"{self._base}/{path}").st_mode & stat.S_IXUSR)
        except OSError:
            return False

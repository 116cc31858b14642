"""A revision as files whose listing is known and whose contents are somewhere else, to be asked for in large parts."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from botlint.repo.files import MAX_FILE_SIZE, MAX_PATH_LENGTH, MAX_PATHS, ListedFiles, Listing

Reader = Callable[[Mapping[str, int]], Mapping[str, bytes]]
"""Gives the contents of blobs, by id, that are asked for by id and size; what it cannot read is left out."""

MAX_TOGETHER = 4_000
MAX_TOGETHER_BYTES = 48 * 1024 * 1024
"""Files that are asked for at once, before anything is known to be needed."""

MAX_NEAR = 300
"""Files of one kind and folder that are asked for with the first of them that was not expected."""

_LINK, _SUBMODULE, _TREE, _EXECUTABLE = "120000", "160000", "040000", "100755"
_TEXTS = (
    ".yaml",
    ".yml",
    ".sh",
    ".bash",
    ".slurm",
    ".sbatch",
    ".py",
    ".env",
    ".jinja",
    ".md",
    ".toml",
    ".json",
    ".txt",
)
_FIRST = (".yaml", ".yml", ".sh", ".bash", ".slurm", ".sbatch")
_LIKELY_BYTES = 512 * 1024
_UNNAMED_BYTES = 64 * 1024
"""The largest text, and the largest file without an ending, that is worth it before it is needed."""


class Entry(Protocol):
    """An entry of a git tree."""

    @property
    def path(self) -> str: ...

    @property
    def mode(self) -> str: ...

    @property
    def sha(self) -> str: ...

    @property
    def size(self) -> int | None: ...


class TreeFiles(ListedFiles):
    """The files of a tree by their entries, at any depth.

    The first content that is needed brings all those that a check is likely to need. Links and submodules are facts,
    as everywhere. A pickled one has only the contents that it had.
    """

    def __init__(
        self,
        entries: Iterable[Entry],
        read: Reader,
        label: str,
        *,
        complete: bool = True,
        max_file_size: int = MAX_FILE_SIZE,
        max_paths: int = MAX_PATHS,
    ) -> None:
        """`complete` is false where some entries are missing, which is noted."""
        super().__init__(label, max_file_size, max_paths)
        self._entries: tuple[Entry, ...] = tuple(entries)
        self._sizes: dict[str, int] = {}
        self._reader: Reader | None = read
        self._owner = os.getpid()
        self._held: dict[str, bytes | None] = {}
        self._together = False
        if not complete:
            self._problem("missing-object", "the tree is too large to be listed whole; some files are not read", "")

    def __getstate__(self) -> dict[str, object]:
        self._list_now()
        return {**self.__dict__, "_reader": None, "_entries": ()}

    def _list_now(self) -> Listing:
        return self._listing

    def _list(self) -> Listing:
        listing = Listing()
        for entry in self._entries:
            if entry.mode == _TREE:
                continue
            if self._too_many(listing):
                break
            if not self._accepts(entry.path):
                continue
            if entry.mode == _LINK:
                listing.symlinks[entry.path] = entry.sha
            elif entry.mode == _SUBMODULE:
                listing.submodules.add(entry.path)
                continue
            else:
                listing.files[entry.path] = entry.sha
                if entry.mode == _EXECUTABLE:
                    listing.executables.add(entry.path)
            if entry.size is not None:
                self._sizes[entry.sha] = entry.size
        return listing

    def read_with(self, read: Reader) -> None:
        """Asks another reader from now on, where the one before may no longer read."""
        self._reader = read
        self._owner = os.getpid()

    def _id(self, path: str) -> str:
        return self._listing.files[path]

    def prefetch(self, others: Iterable[str] = ()) -> None:
        """Asks for everything that a check is likely to need, and for other files by path, at once."""
        wanted = self._likely()
        for path in others:
            sha = self._listing.files.get(path)
            if sha is not None and self._sizes.get(sha, 0) <= self._max_file_size:
                wanted[sha] = self._sizes.get(sha, 0)
        self._together = True
        self._fetch(wanted)

    def _likely(self) -> dict[str, int]:
        listing = self._listing
        wanted = {sha: self._sizes.get(sha, 0) for sha in listing.symlinks.values()}
        wanted = {sha: size for sha, size in wanted.items() if size <= MAX_PATH_LENGTH}
        total = 0
        for endings, limit in ((_FIRST, self._max_file_size), (_TEXTS, _LIKELY_BYTES), (("",), _UNNAMED_BYTES)):
            for path, sha in listing.files.items():
                size = self._sizes.get(sha, 0)
                if sha in wanted or size > min(limit, self._max_file_size) or not path.endswith(endings):
                    continue
                if endings == ("",) and "." in path.rpartition("/")[2]:
                    continue
                total += size
                if len(wanted) >= MAX_TOGETHER or total > MAX_TOGETHER_BYTES:
                    return wanted
                wanted[sha] = size
        return wanted

    def _fetch(self, wanted: Mapping[str, int]) -> None:
        missing = {sha: size for sha, size in wanted.items() if sha not in self._held}
        # The connection behind the reader is not that of a forked child.
        if not missing or self._reader is None or self._owner != os.getpid():
            return
        found = self._reader(missing)
        for sha in missing:
            self._held[sha] = found.get(sha)

    def _object(self, path: str, sha: str, limit: int) -> bytes | None:
        """The content of an entry; a problem and None if it is larger than `limit` or cannot be read."""
        size = self._sizes.get(sha)
        if size is not None and size > limit:
            self._too_large(path, size)
            return None
        if sha not in self._held and not self._together:
            self.prefetch()
        if sha not in self._held:
            self._fetch({sha: size or 0, **self._near(path)})
        content = self._held.get(sha)
        if content is None:
            self._problem("missing-object", "the content of this file cannot be read", path)
        elif len(content) > limit:
            self._too_large(path, len(content))
            return None
        return content

    def _near(self, path: str) -> dict[str, int]:
        """Files that are like one that nobody expected to be read: where it is needed, they are."""
        folder = path.partition("/")[0] + "/" if "/" in path else ""
        ending = "." + path.rpartition(".")[2] if "." in path.rpartition("/")[2] else "\0"
        found: dict[str, int] = {}
        total = 0
        for other in self.paths(folder):
            sha = self._listing.files[other]
            size = self._sizes.get(sha, 0)
            if sha in self._held or not other.endswith(ending) or size > _LIKELY_BYTES:
                continue
            total += size
            if len(found) >= MAX_NEAR or total > MAX_TOGETHER_BYTES:
                break
            found[sha] = size
        return found

    def _content(self, path: str) -> bytes | None:
        return self._object(path, self._listing.files[path], self._max_file_size)

    def _link_text(self, path: str) -> str | None:
        content = self._object(path, self._listing.symlinks[path], MAX_PATH_LENGTH)
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _is_executable(self, path: str) -> bool:
        return path in self._listing.executables

    def close(self) -> None:
        """Nothing is held open."""

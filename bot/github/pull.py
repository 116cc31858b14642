"""Revisions read through the API by tree and blob: nothing is checked out, and what is known is not asked for again."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from botlint.github.models import Tree, TreeEntry
from botlint.github.port import GitHub, NotFound
from botlint.repo.files import Files
from botlint.repo.tree import TreeFiles

MAX_TREES = 40
"""Requests for the parts of a tree that is too large to be listed at once."""

_FIRST = (".github", "configs", "benchmarks", "runners", "launchers", "scripts", "utils", ".botlint")
"""Folders that are listed first where not all can be."""

_LARGE = ("node_modules", "vendor", "third_party", "results", "data", "dist")


class BlobCache:
    """Contents by their id, the least used ones forgotten when they are too many bytes; safe to share by threads."""

    def __init__(self, max_bytes: int = 256 * 1024 * 1024) -> None:
        self._max_bytes = max_bytes
        self._held: OrderedDict[str, bytes] = OrderedDict()
        self._size = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def size(self) -> int:
        """The number of bytes of all contents."""
        return self._size

    def get(self, shas: Iterable[str]) -> dict[str, bytes]:
        """The contents that are known of these."""
        found = {}
        with self._lock:
            for sha in shas:
                content = self._held.get(sha)
                if content is not None:
                    self._held.move_to_end(sha)
                    found[sha] = content
        return found

    def add(self, contents: Mapping[str, bytes]) -> None:
        """Remember contents."""
        with self._lock:
            for sha, content in contents.items():
                if sha in self._held or len(content) > self._max_bytes:
                    continue
                self._held[sha] = content
                self._size += len(content)
            while self._size > self._max_bytes:
                _, forgotten = self._held.popitem(last=False)
                self._size -= len(forgotten)


@dataclass(frozen=True, slots=True)
class Reader:
    """Reads blobs, those that are known from the cache."""

    github: GitHub
    cache: BlobCache

    def __call__(self, wanted: Mapping[str, int]) -> Mapping[str, bytes]:
        """The contents of blobs that are asked for by id and size."""
        found = self.cache.get(wanted)
        missing = {sha: size for sha, size in wanted.items() if sha not in found}
        if missing:
            read = self.github.blobs(missing, missing)
            self.cache.add(read)
            found.update(read)
        return found


def read_revision(github: GitHub, commit: str, cache: BlobCache) -> TreeFiles:
    """The files of a commit; their contents are read when they are needed. Raises the errors of the port."""
    tree = read_tree(github, commit)
    return TreeFiles(tree.entries, Reader(github, cache), commit, complete=not tree.truncated)


def read_again(files: Files, github: GitHub, cache: BlobCache) -> Files:
    """Files of a commit that were kept: what they still have to read is read with the token of today."""
    if isinstance(files, TreeFiles):
        files.read_with(Reader(github, cache))
    return files


def read_tree(github: GitHub, commit: str) -> Tree:
    """All entries of a commit's tree; one that is too large is listed folder by folder, those of interest first."""
    whole = github.tree(commit, True)
    if not whole.truncated:
        return whole
    entries: list[TreeEntry] = []
    complete = True
    asked = 0
    todo: list[tuple[str, str, bool]] = [("", commit, False)]
    while todo:
        todo.sort(key=lambda one: _interest(one[0]), reverse=True)
        prefix, sha, recursive = todo.pop()
        if asked >= MAX_TREES:
            complete = False
            break
        asked += 1
        try:
            part = github.tree(sha, recursive)
        except NotFound:
            complete = False
            continue
        if recursive and part.truncated:
            todo.append((prefix, sha, False))
            continue
        complete = complete and not part.truncated
        for entry in part.entries:
            placed = TreeEntry(prefix + entry.path, entry.mode, entry.kind, entry.sha, entry.size)
            if entry.kind == "tree" and not recursive:
                todo.append((placed.path + "/", entry.sha, True))
            else:
                entries.append(placed)
    return Tree(whole.sha, tuple(entries), not complete)


def _interest(prefix: str) -> tuple[bool, int, int]:
    """What is listed first: folders that a check reads, then by how deep they are."""
    top = prefix.partition("/")[0]
    place = _FIRST.index(top) if top in _FIRST else len(_FIRST)
    return any(f"/{name}/" in f"/{prefix}" for name in _LARGE), place, prefix.count("/")

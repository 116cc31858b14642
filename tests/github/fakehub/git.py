"""Git's object model in memory: blobs, trees and commits under the names that git gives them, and what follows."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Link:
    """A symbolic link in the files of a commit."""

    target: str


@dataclass(frozen=True, slots=True)
class Submodule:
    """A submodule in the files of a commit."""

    sha: str


@dataclass(frozen=True, slots=True)
class Executable:
    """An executable file in the files of a commit."""

    content: str | bytes


Content = str | bytes | Link | Submodule | Executable
"""What a path of a commit may be given as."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of a tree, or (with a whole path) of a flat listing."""

    mode: str
    sha: str

    @property
    def kind(self) -> str:
        return {"040000": "tree", "160000": "commit"}.get(self.mode, "blob")


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit; times are seconds since 1970."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: str
    time: int
    verified: bool


class Objects:
    """A store of git objects; the repositories of a network share one."""

    def __init__(self) -> None:
        self.blobs: dict[str, bytes] = {}
        self.trees: dict[str, dict[str, Entry]] = {}
        self.commits: dict[str, Commit] = {}
        self._flat: dict[str, dict[str, Entry]] = {}
        self._ancestors: dict[str, frozenset[str]] = {}

    def blob(self, content: bytes) -> str:
        """Stores a blob; its name."""
        sha = _name("blob", content)
        self.blobs[sha] = content
        return sha

    def entry(self, content: Content) -> Entry:
        """Stores what a path leads to."""
        if isinstance(content, Submodule):
            return Entry("160000", content.sha)
        if isinstance(content, Link):
            return Entry("120000", self.blob(content.target.encode("utf-8", "surrogateescape")))
        mode = "100755" if isinstance(content, Executable) else "100644"
        data = content.content if isinstance(content, Executable) else content
        data = data.encode("utf-8", "surrogateescape") if isinstance(data, str) else data
        if mode == "100644" and data.startswith(b"#!"):
            mode = "100755"
        return Entry(mode, self.blob(data))

    def tree(self, files: Mapping[str, Entry]) -> str:
        """Stores the trees of a flat listing; the name of the root."""
        here: dict[str, Entry] = {}
        below: dict[str, dict[str, Entry]] = {}
        for path, entry in files.items():
            folder, slash, rest = path.partition("/")
            if slash:
                below.setdefault(folder, {})[rest] = entry
            else:
                here[path] = entry
        for folder, inside in below.items():
            here[folder] = Entry("040000", self.tree(inside))
        # Git sorts a folder as if its name ended with a slash.
        order = sorted(here, key=lambda name: name.encode("utf-8", "surrogateescape") + _slash(here[name]))
        data = b"".join(
            here[name].mode.lstrip("0").encode()
            + b" "
            + name.encode("utf-8", "surrogateescape")
            + b"\0"
            + bytes.fromhex(here[name].sha)
            for name in order
        )
        sha = _name("tree", data)
        self.trees[sha] = {name: here[name] for name in order}
        return sha

    def flat(self, tree: str) -> dict[str, Entry]:
        """All files, links and submodules below a tree, by path, in git's order."""
        if tree not in self._flat:
            self._flat[tree] = {path: entry for path, entry in self.walk(tree) if entry.kind != "tree"}
        return self._flat[tree]

    def walk(self, tree: str, prefix: str = "") -> Iterator[tuple[str, Entry]]:
        """All entries below a tree, folders before what is in them."""
        for name, entry in self.trees[tree].items():
            yield prefix + name, entry
            if entry.kind == "tree":
                yield from self.walk(entry.sha, f"{prefix}{name}/")

    def commit(
        self,
        tree: str,
        parents: tuple[str, ...],
        message: str,
        author: str = "Someone <someone@example.invalid>",
        time: int = 1_790_000_000,
        verified: bool = False,
    ) -> Commit:
        """Stores a commit."""
        lines = [f"tree {tree}", *(f"parent {one}" for one in parents)]
        lines += [f"author {author} {time} +0000", f"committer {author} {time} +0000", "", message]
        sha = _name("commit", "\n".join(lines).encode("utf-8", "surrogateescape"))
        self.commits[sha] = Commit(sha, tree, parents, message, author, time, verified)
        return self.commits[sha]

    def changed(self, tree: str | None, changes: Mapping[str, Content | None]) -> str:
        """The tree with some paths replaced or (None) removed; the name of the new root."""
        files = dict(self.flat(tree)) if tree is not None else {}
        for path, content in changes.items():
            if content is None:
                files.pop(path, None)
            else:
                files[path] = self.entry(content)
        return self.tree(files)

    def ancestors(self, commit: str) -> frozenset[str]:
        """A commit and all that it comes from."""
        if commit not in self._ancestors:
            seen, todo = {commit}, [commit]
            while todo:
                for parent in self.commits[todo.pop()].parents:
                    if parent not in seen:
                        seen.add(parent)
                        todo.append(parent)
            self._ancestors[commit] = frozenset(seen)
        return self._ancestors[commit]

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor; None for unrelated histories."""
        common = self.ancestors(one)
        seen, todo = {other}, deque([other])
        while todo:
            commit = todo.popleft()
            if commit in common:
                return commit
            for parent in self.commits[commit].parents:
                if parent not in seen:
                    seen.add(parent)
                    todo.append(parent)
        return None

    def between(self, base: str, head: str) -> list[Commit]:
        """The commits of `head` that `base` does not have, oldest first."""
        known = self.ancestors(base)
        done: list[Commit] = []
        seen: set[str] = set()

        def visit(sha: str) -> None:
            stack = [(sha, False)]
            while stack:
                one, finished = stack.pop()
                if finished:
                    done.append(self.commits[one])
                elif one not in seen and one not in known:
                    seen.add(one)
                    stack.append((one, True))
                    stack.extend((parent, False) for parent in reversed(self.commits[one].parents))

        visit(head)
        return done


def read_folder(folder: Path) -> dict[str, Content]:
    """The files below a folder, without its git data."""
    found: dict[str, Content] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = Link(path.readlink().as_posix())
        elif path.is_file() and ".git" not in path.relative_to(folder).parts:
            data = path.read_bytes()
            found[name] = Executable(data) if path.stat().st_mode & 0o100 else data
    return found


def _slash(entry: Entry) -> bytes:
    return b"/" if entry.kind == "tree" else b""


def _name(kind: str, data: bytes) -> str:
    return hashlib.sha1(f"{kind} {len(data)}\0".encode() + data).hexdigest()

"""A revision of a repository as files: one interface over the working tree and over git objects.

Safe on hostile content: nothing is followed, executed or fetched, symbolic links and submodules are facts, paths stay
inside the repository, sizes and numbers are bounded, and what could not be read is a `Problem`.
"""

from __future__ import annotations

import hashlib
import re
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Protocol, Self

from botlint.core.span import Problem, Span

MAX_FILE_SIZE = 8 * 1024 * 1024
MAX_PATHS = 500_000
MAX_PATH_LENGTH = 4096
MAX_LINK_HOPS = 8

# What no path of a file may contain: control characters, backslashes (a separator elsewhere), names that are not UTF-8,
# empty, `.` and `..` components, and everything that a file system may take for `.git`.
_UNSAFE = re.compile(
    r"[\x00-\x1f\x7f\\\ud800-\udfff]|(?:^|/)(?:\.{0,2}|\.git[ .]*(?::[^/]*)?|git~[0-9]+)(?:/|\Z)", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SourceText:
    """The text of a file as it is: line ends and a byte order mark are kept and noted."""

    path: str
    text: str = field(repr=False)
    encoding: str
    """`utf-8`, or `latin-1` for a file that is not UTF-8."""
    bom: bool
    crlf: bool
    """Whether some line ends in carriage return and line feed."""


class Files(Protocol):
    """The files of one revision. Paths are relative to its root, with `/`, in the clean form that `paths` gives.

    Everything else (absolute, with `..`, outside) is simply not there.
    """

    @property
    def label(self) -> str:
        """What the revision is called."""

    @property
    def problems(self) -> Sequence[Problem]:
        """What could not be read so far, each once."""

    def read(self, path: str) -> bytes | None:
        """The content; None if there is no such regular file, or with a problem if it is too large or unreadable."""

    def content_id(self, path: str) -> str | None:
        """The id that git gives the content of a regular file, also of one that cannot be read; None for others."""

    def text(self, path: str) -> SourceText | None:
        """The content decoded as UTF-8, else with a problem as Latin-1; None where `read` gives None."""

    def is_file(self, path: str) -> bool:
        """Whether it is a regular file."""

    def is_dir(self, path: str) -> bool:
        """Whether it is a directory with a file or link somewhere below it; the root is the empty path."""

    def paths(self, prefix: str = "") -> Sequence[str]:
        """The sorted paths of all regular files below the directory `prefix`."""

    def mode(self, path: str) -> int | None:
        """0o755 for an executable file, 0o644 for another one, None for everything else."""

    def symlink_target(self, path: str) -> str | None:
        """The text of a symbolic link, as a fact; None if the path is not one."""

    def links(self) -> Mapping[str, str]:
        """The symbolic links that lead to a regular file of the repository, with that file's path."""

    def resolve_link(self, path: str) -> str | None:
        """The file or directory that a path leads to when links in any of its components are followed.

        None if that leaves the repository, does not exist, or takes more than 8 links.
        """

    def submodules(self) -> Sequence[str]:
        """The sorted paths of submodules and nested repositories; nothing below them is listed."""

    def close(self) -> None:
        """Ends helper processes; reading again starts them again."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def is_safe_path(path: str) -> bool:
    """Whether a path is relative, clean, inside the repository and not part of a `.git` folder."""
    return len(path) <= MAX_PATH_LENGTH and _UNSAFE.search(path) is None


def join_path(directory: str, path: str) -> str | None:
    """The clean form of `path` seen from `directory`, by text alone; None if it is absolute or leads outside."""
    if path.startswith("/") or len(path) > MAX_PATH_LENGTH:
        return None
    done: list[str] = []
    for part in f"{directory}/{path}".split("/"):
        if part == "..":
            if not done:
                return None
            done.pop()
        elif part not in ("", "."):
            done.append(part)
    joined = "/".join(done)
    return joined if not joined or is_safe_path(joined) else None


@dataclass(slots=True)
class Listing:
    """The entries of a revision; files and links lead to the name of their git object, in a working tree to nothing."""

    files: dict[str, str] = field(default_factory=dict)
    symlinks: dict[str, str] = field(default_factory=dict)
    submodules: set[str] = field(default_factory=set)
    executables: set[str] = field(default_factory=set)

    def __len__(self) -> int:
        return len(self.files) + len(self.symlinks) + len(self.submodules)


class ListedFiles(ABC):
    """What all kinds of revision share: answers from a listing that is made when it is first needed."""

    def __init__(self, label: str, max_file_size: int, max_paths: int) -> None:
        self.label = label
        self.problems: list[Problem] = []
        self._ids: dict[str, str] = {}
        self._max_file_size = max_file_size
        self._max_paths = max_paths
        self._made: Listing | None = None
        self._sorted: list[str] | None = None
        self._directories: set[str] | None = None
        self._links: dict[str, str] | None = None
        self._noted: set[tuple[str, str]] = set()

    @abstractmethod
    def _list(self) -> Listing:
        """Makes the listing."""

    @abstractmethod
    def _content(self, path: str) -> bytes | None:
        """The content of a listed regular file of at most `_max_file_size` bytes, else a problem and None."""

    @abstractmethod
    def _link_text(self, path: str) -> str | None:
        """The text of a listed symbolic link."""

    @abstractmethod
    def _is_executable(self, path: str) -> bool:
        """Whether a listed regular file may be executed."""

    @abstractmethod
    def close(self) -> None:
        """Ends helper processes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def _listing(self) -> Listing:
        if self._made is None:
            self._made = self._list()
        return self._made

    def _problem(self, kind: str, message: str, path: str, line: int = 1) -> None:
        """Notes a problem; the same one is noted once however often the file is read."""
        if (kind, path) not in self._noted:
            self._noted.add((kind, path))
            self.problems.append(Problem(message, Span(path, line, 1, line, 1), kind))

    def _too_many(self, listing: Listing) -> bool:
        """Whether the listing is full, which is noted."""
        if len(listing) < self._max_paths:
            return False
        self._problem("too-many-paths", f"more than {self._max_paths} paths; the others are not read", "")
        return True

    def _too_large(self, path: str, size: int) -> None:
        message = f"{size} bytes, more than the {self._max_file_size} that are read of one file"
        self._problem("too-large", message, path)

    def _accepts(self, path: str) -> bool:
        """Whether a path may be listed; one that may not is noted."""
        if is_safe_path(path):
            return True
        shown = path.encode("utf-8", "backslashreplace").decode("utf-8")[:200]
        self._problem("bad-path", f"the path {shown!r} is not read", shown.replace("\x00", "?"))
        return False

    def read(self, path: str) -> bytes | None:
        return self._content(path) if path in self._listing.files else None

    def content_id(self, path: str) -> str | None:
        found = self._ids.get(path)
        if found is None and path in self._listing.files:
            found = self._ids[path] = self._id(path)
        return found

    def _id(self, path: str) -> str:
        content = self.read(path)
        if content is None:
            return "unread"
        return hashlib.sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()

    def text(self, path: str) -> SourceText | None:
        content = self.read(path)
        if content is None:
            return None
        encoding = "utf-8"
        try:
            text = content.decode("utf-8")
        except UnicodeDecodeError as error:
            encoding = "latin-1"
            text = content.decode("latin-1")
            line = content.count(b"\n", 0, error.start) + 1
            message = f"not UTF-8 (byte 0x{content[error.start]:02x} on line {line}); read as Latin-1"
            self._problem("not-utf-8", message, path, line)
        return SourceText(path, text, encoding, text.startswith("\ufeff"), "\r\n" in text)

    def is_file(self, path: str) -> bool:
        return path in self._listing.files

    def is_dir(self, path: str) -> bool:
        if self._directories is None:
            found = {""}
            for name in (*self._listing.files, *self._listing.symlinks):
                parent = name.rpartition("/")[0]
                while parent not in found:
                    found.add(parent)
                    parent = parent.rpartition("/")[0]
            self._directories = found
        return path in self._directories

    def paths(self, prefix: str = "") -> Sequence[str]:
        if self._sorted is None:
            self._sorted = sorted(self._listing.files)
        if not prefix:
            return self._sorted
        folder = prefix.rstrip("/")
        # "0" is the character after "/".
        return self._sorted[bisect_left(self._sorted, folder + "/") : bisect_left(self._sorted, folder + "0")]

    def mode(self, path: str) -> int | None:
        if path not in self._listing.files:
            return None
        return 0o755 if self._is_executable(path) else 0o644

    def symlink_target(self, path: str) -> str | None:
        return self._link_text(path) if path in self._listing.symlinks else None

    def links(self) -> Mapping[str, str]:
        if self._links is None:
            targets = {path: self.resolve_link(path) for path in sorted(self._listing.symlinks)}
            for path, target in targets.items():
                if target is None:
                    self._problem("bad-link", "the link leads to nothing in the repository; it is not followed", path)
            self._links = {
                path: target for path, target in targets.items() if target is not None and self.is_file(target)
            }
        return self._links

    def resolve_link(self, path: str) -> str | None:
        if path in self._listing.files:
            return path
        if path.startswith("/") or len(path) > MAX_PATH_LENGTH:
            return None
        done: list[str] = []
        todo = path.split("/")[::-1]
        hops = 0
        while todo:
            part = todo.pop()
            if part in ("", "."):
                continue
            if part == "..":
                if not done or not self.is_dir("/".join(done)):
                    return None
                done.pop()
                continue
            here = "/".join([*done, part])
            if here not in self._listing.symlinks:
                done.append(part)
                continue
            hops += 1
            target = self.symlink_target(here)
            if hops > MAX_LINK_HOPS or not target or target.startswith("/") or "\\" in target or "\x00" in target:
                return None
            todo.extend(reversed(target.split("/")))
        found = "/".join(done)
        return found if self.is_file(found) or self.is_dir(found) else None

    def submodules(self) -> Sequence[str]:
        return sorted(self._listing.submodules)

"""The files that a script sees: the revision under review, mounted as the workspace, and on top what scripts have made.

Paths are canonical (see `paths`). A path that depends on inputs, or on something that nobody knows, gets a name of its
own in the process that writes to it or goes there (`Named`): paths below it are then as good as literal ones, and the
same for all jobs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from botlint.shell.paths import UNKNOWN_PART, WORKSPACE, Context, canonical, normal, relative_to_workspace
from botlint.shell.process import FileEntry, FileView, Kind, below
from botlint.shell.values import Text, Value, concat, derive

NAMED = "@named"
MAX_NAMED = 200
"""Paths of one process that get a name."""


class RevisionFiles(Protocol):
    """What the interpreter needs of a revision; the questions that it asks are collected in `asked`."""

    asked: set[Any]

    def text(self, path: str) -> str | None:
        """Content of a file (what is not UTF-8 as lone surrogates), None if there is none or it cannot be read."""
        ...

    def is_file(self, path: str) -> bool:
        """Whether a regular file is there."""
        ...

    def is_dir(self, path: str) -> bool:
        """Whether a directory is there."""
        ...

    def is_foreign(self, path: str) -> bool:
        """Whether the path is inside a nested repository, whose files are not those of this revision."""
        ...

    def list_dir(self, path: str) -> list[str] | None:
        """Names in a directory, sorted; None if that is a nested repository."""
        ...


class Revision:
    """The files of a revision by canonical path; `machine` knows what lies outside of it, if anybody does."""

    __slots__ = ("files", "machine")

    def __init__(self, files: RevisionFiles, machine: Callable[[str], Kind] | None = None) -> None:
        self.files = files
        self.machine = machine

    def kind(self, path: str) -> Kind:
        """What is at a canonical path; outside of the workspace only a known machine has an answer."""
        inner = relative_to_workspace(path)
        if UNKNOWN_PART in path:
            return "unknown"
        if inner is None:
            return "unknown" if self.machine is None or path.startswith(NAMED) else self.machine(path)
        if inner == "" or self.files.is_dir(inner):
            return "dir"
        if self.files.is_file(inner):
            return "file"
        return "unknown" if self.files.is_foreign(inner) else "missing"

    def text(self, path: str) -> str | None:
        """Content of a file, None if there is none or it cannot be read."""
        inner = relative_to_workspace(path)
        return self.files.text(inner) if inner else None

    def readable(self, path: str) -> bool:
        """Whether a file has a text."""
        return self.text(path) is not None

    def source(self, path: str) -> str:
        """`text` as a total function."""
        return self.text(path) or ""


@dataclass(frozen=True, slots=True)
class Named:
    """A path that is not the same for all jobs, or not known.

    `base` is the directory that it is relative to if it is relative, `prefix` the literal start of its canonical form.
    """

    token: str
    path: Text
    base: str
    absolute: bool
    prefix: str


def token_of(where: str) -> str:
    """The name that a path begins with, '' if it begins with none."""
    return where.partition("/")[0] if where.startswith(NAMED) else ""


class Expansion:
    """The canonical path behind one with names, a function of the named paths' texts; unknown ones keep their name."""

    __slots__ = ("bases", "context", "numbers")

    def __init__(self, context: Context, named: Sequence[Named]) -> None:
        self.context = context
        known = [n for n in named if n.path.known]
        self.numbers = {n.token: k for k, n in enumerate(known)}
        self.bases = [n.base for n in known]

    def __call__(self, path: str, *texts: str) -> str:
        """The canonical path, '' if there is none."""
        if path.startswith((WORKSPACE, NAMED)):
            return self.real(normal(path), texts)
        at = canonical(path, self.context)
        return "" if at is None else self.real(at, texts)

    def real(self, where: str, texts: tuple[str, ...]) -> str:
        """The canonical path behind one whose first component may be a name."""
        token, _, rest = where.partition("/")
        number = self.numbers.get(token)
        if number is None:
            return where
        at = canonical(texts[number], Context(self.bases[number], self.context.mounts))
        return where if at is None else normal(f"{self.real(at, texts)}/{rest}")


class Look(Expansion):
    """What is at a path: (number of the entry that says so or -1, kind, whether the entry is the path's own)."""

    __slots__ = ("entries", "kind")

    def __init__(self, files: FileSystem, context: Context) -> None:
        super().__init__(context, files.named)
        self.entries = tuple(files.entries)
        self.kind = files.revision.kind

    def __call__(self, path: str, *texts: str) -> tuple[int, Kind, bool]:  # type: ignore[override]
        """`texts` are the texts of the named paths that are known, in order."""
        at = super().__call__(path, *texts)
        if not at:
            return -1, "unknown", False
        for index in range(len(self.entries) - 1, -1, -1):
            where, entry = self.entries[index]
            found = below(entry, self.real(where, texts), at, self.kind)
            if found is not None:
                return index, found, self.real(where, texts) == at
        return -1, self.kind(at), False


class Inside(Expansion):
    """The file of the revision that a path below a copied directory is a copy of."""

    __slots__ = ("source", "target")

    def __init__(self, files: FileSystem, context: Context, index: int) -> None:
        super().__init__(context, files.named)
        self.target, entry = files.entries[index]
        self.source = entry.inside

    def __call__(self, path: str, *texts: str) -> str:
        """Its canonical path."""
        at = super().__call__(path, *texts)
        return self.source + at[len(self.real(self.target, texts)) :]


class FileSystem:
    """Files made by the current process, newest last, over the revision and what the caller has made (`outer`)."""

    __slots__ = ("entries", "named", "outer", "revision")

    def __init__(self, revision: Revision, outer: FileView | None) -> None:
        self.revision = revision
        self.entries: list[tuple[str, FileEntry]] = []
        self.named: list[Named] = []
        self.outer = outer

    @property
    def base(self) -> RevisionFiles:
        """The revision by repository path."""
        return self.revision.files

    def put(self, path: str, entry: FileEntry) -> None:
        """Records that a path now is what `entry` says."""
        self.entries.append((path, entry))

    def own(self, path: str) -> FileEntry | None:
        """What this process itself has made of a path, None if it never touched it."""
        index, kind, exact = self.find(path)
        if index < 0:
            return None
        return self.entries[index][1] if exact else FileEntry(kind)

    def find(self, path: str) -> tuple[int, Kind, bool]:
        """The newest entry that says what is at a path (-1: none); paths with different names are taken to differ."""
        for index in range(len(self.entries) - 1, -1, -1):
            where, entry = self.entries[index]
            found = below(entry, where, path, self.revision.kind)
            if found is not None:
                return index, found, where == path
        return -1, "unknown", False

    def certain(self, path: str) -> bool:
        """Whether no entry under another name could be at, above or below the path for some job."""
        if not self.named:
            return True
        token = token_of(path)
        here = self.by_token(token)
        if here is not None and not here.path.known:
            return True
        prefix, whole = (path, True) if here is None else (here.prefix, False)
        for other in {token_of(where) for where, _ in self.entries}:
            if other == token:
                continue
            named = self.by_token(other)
            if named is None:
                if here is not None and any(
                    not token_of(where) and _may_meet(prefix, False, where, True) for where, _ in self.entries
                ):
                    return False
            elif named.path.known and _may_meet(prefix, whole, named.prefix, False):
                return False
        return True

    def holds_named(self, directory: str) -> bool:
        """Whether a file was made in a directory, or below it, whose name is not the same for all jobs."""
        start = directory.rstrip("/") + "/"
        return any(
            f"{named.prefix}/".startswith(start) and any(token_of(w) == named.token for w, _ in self.entries)
            for named in self.named
        )

    def by_token(self, token: str) -> Named | None:
        """The named path with a token."""
        return next((n for n in self.named if n.token == token), None) if token else None

    def name(self, path: Text, base: str, absolute: bool, prefix: str) -> str | None:
        """Gives a path a name."""
        if len(self.named) >= MAX_NAMED:
            return None
        token = f"{NAMED}{len(self.named) + 1}"
        self.named.append(Named(token, path, base, absolute, prefix))
        return token

    def under_name(self, path: Text, cwd: str) -> Value | None:
        """A path that begins as a named one does, in terms of that name."""
        for named in reversed(self.named):
            if named.absolute or named.base == cwd:
                rest = _rest(path, named.path)
                if rest is not None:
                    return concat([named.token, rest])
        return None

    def templates(self) -> list[Value]:
        """The named paths that are known for each job."""
        return [n.path for n in self.named if n.path.known]

    def view(self, context: Context) -> FileView:
        """The files as a started script sees them: by canonical paths, as templates of this process's inputs."""
        expansion = Expansion(context, self.named)
        templates = self.templates()
        entries: list[tuple[Value, FileEntry]] = []
        for where, entry in self.entries:
            token = token_of(where)
            if not token:
                entries.append((where, entry))
            elif token in expansion.numbers:
                entries.append((derive(expansion, where, *templates), entry))
            elif (named := self.by_token(token)) is not None and named.absolute:
                entries.append((concat([named.path, where[len(token) :]]), entry))
        return FileView(entries, self.outer, self.revision)

    def revision_kind(self, path: str) -> Kind:
        """What the revision has at a canonical path."""
        return self.revision.kind(path)


def _may_meet(left: str, left_whole: bool, right: str, right_whole: bool) -> bool:
    """Whether one of two paths, of which only the beginning may be known, can be at or below the other."""
    left = left + "/" if left_whole else left
    right = right + "/" if right_whole else right
    return left.startswith(right) or right.startswith(left)


def _rest(path: Text, start: Text) -> Value | None:
    """What follows in a path after another one, None if it does not begin with it."""
    pieces = path.pieces
    if len(pieces) < len(start.pieces):
        return None
    last = len(start.pieces) - 1
    for number, piece in enumerate(start.pieces):
        other = pieces[number]
        if piece is other or (isinstance(piece, str) and piece == other):
            continue
        if number != last or not isinstance(piece, str) or not isinstance(other, str) or not other.startswith(piece):
            return None
        rest = concat([other[len(piece) :], *_texts(pieces[number + 1 :])])
        return rest if _slash_first(rest) else None
    rest = concat(_texts(pieces[last + 1 :]))
    return rest if rest == "" or _slash_first(rest) else None


def _texts(pieces: Sequence[object]) -> list[Value]:
    return [p if isinstance(p, str) else Text((p,)) for p in pieces]  # type: ignore[arg-type]


def _slash_first(value: Value) -> bool:
    first = value if isinstance(value, str) else value.pieces[0]
    return isinstance(first, str) and first.startswith("/")

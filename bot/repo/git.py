"""A git revision as files, read from the objects without a checkout; and the few questions about revisions.

git runs with a clean environment and settings that keep it from executing or fetching anything that a repository names.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator
from typing import IO

from botlint.core.errors import CannotFinish, UsageError
from botlint.repo.files import MAX_FILE_SIZE, MAX_PATH_LENGTH, MAX_PATHS, ListedFiles, Listing

_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "--literal-pathspecs",
    # A repository of another user is read too: no command below runs anything that its settings could name.
    *("-c", "safe.directory=*"),
    *("-c", "core.fsmonitor=false"),
    *("-c", f"core.hooksPath={os.devnull}"),
    *("-c", "protocol.allow=never"),
)
_ENVIRONMENT = {
    "LC_ALL": "C",
    "GIT_ALLOW_PROTOCOL": "none",  # what keeps a partial clone from fetching before git 2.45
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
}
_TIMEOUT_SECONDS = 60
_CHUNK = 1 << 20
_LINK_MODE, _SUBMODULE_MODE, _EXECUTABLE_MODE = b"120000", b"160000", b"100755"


def _git(repo: str) -> list[str]:
    return ["git", *_OPTIONS, "-C", repo]


def _environment() -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return kept | _ENVIRONMENT


def _ask(repo: str, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """One short git command; raises CannotFinish if git is missing or does not end."""
    try:
        return subprocess.run(  # noqa: S603 - fixed options, revisions are checked before
            [*_git(repo), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            env=_environment(),
            timeout=_TIMEOUT_SECONDS,
        )
    except FileNotFoundError as error:
        raise CannotFinish("git is not installed, and a revision can only be read with it") from error
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotFinish(f"git {arguments[0]} did not end: {error}") from error


def _message(stderr: bytes) -> str:
    """What git says, on one line."""
    text = stderr.decode("utf-8", "replace").strip().splitlines()
    return (text[0] if text else "no message").removeprefix("fatal: ")[:300]


def resolve_revision(repo: str | os.PathLike[str], rev: str) -> str:
    """The full name of the commit that `rev` names; raises UsageError if it names none or `repo` is no repository."""
    return _resolve(os.fspath(repo), rev)[0]


def _resolve(repo: str, rev: str) -> tuple[str, str]:
    """The commit of a revision, and the folder of the repository that `repo` is, with a `/` at its end, or empty."""
    if not rev or rev.startswith("-") or not rev.isprintable() or len(rev) > MAX_PATH_LENGTH:
        raise UsageError(f"not a revision: {rev!r}")
    if not os.path.isdir(repo):  # noqa: PTH112
        raise UsageError(f"not a directory: {repo}")
    place = _ask(repo, "rev-parse", "--show-prefix")
    if place.returncode != 0:
        raise UsageError(f"cannot read {repo} as a git repository: {_message(place.stderr)}")
    found = _ask(repo, "rev-parse", "--verify", "--quiet", "--end-of-options", rev + "^{commit}")
    name = found.stdout.decode("ascii", "replace").strip()
    if found.returncode != 0 or not name:
        raise UsageError(f"unknown revision: {rev!r}")
    return name, place.stdout.decode("utf-8", "surrogateescape").rstrip("\n")


def merge_base(repo: str | os.PathLike[str], a: str, b: str) -> str | None:
    """The best common ancestor of two revisions; None if there is none in the history at hand.

    Raises UsageError for an unknown revision, CannotFinish if git fails.
    """
    folder = os.fspath(repo)
    first, second = resolve_revision(folder, a), resolve_revision(folder, b)
    found = _ask(folder, "merge-base", first, second)
    if found.returncode not in (0, 1):
        raise CannotFinish(f"git merge-base failed: {_message(found.stderr)}")
    return found.stdout.decode("ascii", "replace").strip() or None


class GitRevision(ListedFiles):
    """The files of a commit, below the folder `repo` if that is not the root of its repository.

    Holds one `git cat-file` process, which `close` ends. Raises UsageError for an unknown revision, and CannotFinish
    where git is missing.
    """

    def __init__(
        self,
        repo: str | os.PathLike[str],
        rev: str,
        *,
        max_file_size: int = MAX_FILE_SIZE,
        max_paths: int = MAX_PATHS,
    ) -> None:
        super().__init__(rev, max_file_size, max_paths)
        self._repo = os.fspath(repo)
        self.commit, prefix = _resolve(self._repo, rev)
        self._tree = self.commit
        if prefix:
            folder = prefix.rstrip("/")
            found = _ask(self._repo, "rev-parse", "--verify", "--quiet", f"{self.commit}:{folder}")
            if found.returncode != 0:
                raise UsageError(f"the revision {rev!r} has no folder {folder!r}")
            self._tree = found.stdout.decode("ascii", "replace").strip()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._lock = threading.Lock()

    def _list(self) -> Listing:
        listing = Listing()
        with tempfile.TemporaryFile() as errors:
            try:
                process = subprocess.Popen(  # noqa: S603 - fixed options and a resolved commit
                    [*_git(self._repo), "ls-tree", "-r", "-z", "--full-tree", self._tree],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=_environment(),
                )
            except OSError as error:
                raise CannotFinish(f"git cannot be started: {error}") from error
            with process:
                assert process.stdout is not None
                complete = self._add_records(listing, process.stdout)
                if not complete:
                    process.kill()
            if complete and process.returncode != 0:
                errors.seek(0)
                self._problem("missing-object", f"the files cannot all be listed: {_message(errors.read(4096))}", "")
        return listing

    def _add_records(self, listing: Listing, stream: IO[bytes]) -> bool:
        """Adds all entries of a tree; False if there are too many."""
        for record in _records(stream):
            facts, _, raw = record.partition(b"\t")
            fields = facts.split(b" ")
            if len(fields) != 3:
                continue
            if self._too_many(listing):
                return False
            mode, _, locator = fields
            path = raw.decode("utf-8", "surrogateescape")
            if not self._accepts(path):
                continue
            if mode == _LINK_MODE:
                listing.symlinks[path] = locator.decode("ascii")
            elif mode == _SUBMODULE_MODE:
                listing.submodules.add(path)
            else:
                listing.files[path] = locator.decode("ascii")
                if mode == _EXECUTABLE_MODE:
                    listing.executables.add(path)
        return True

    def _content(self, path: str) -> bytes | None:
        with self._lock:
            return self._object(path, self._listing.files[path], self._max_file_size)

    def _id(self, path: str) -> str:
        return self._listing.files[path]

    def _link_text(self, path: str) -> str | None:
        with self._lock:
            content = self._object(path, self._listing.symlinks[path], MAX_PATH_LENGTH)
        try:
            return None if content is None else content.decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _is_executable(self, path: str) -> bool:
        return path in self._listing.executables

    def _object(self, path: str, name: str, limit: int) -> bytes | None:
        """Asks the process for one object; a problem and None if it is missing or larger than `limit`."""
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(name.encode("ascii") + b"\n")
            process.stdin.flush()
            _, kind, length = process.stdout.readline(1024).split()
            size = int(length)
            if kind == b"blob" and size <= limit:
                content = process.stdout.read(size + 1)
                if len(content) == size + 1:
                    return content[:-1]
            elif kind == b"blob":
                # The content is on its way; ending the process is cheaper than reading it.
                self._end()
                self._too_large(path, size)
                return None
        except (OSError, ValueError):  # the process died, or answers `missing`
            pass
        self._end()
        self._problem("missing-object", "git does not have the content of this file (a partial or damaged clone)", path)
        return None

    def _running(self) -> subprocess.Popen[bytes]:
        """The process, started if there is none; a forked child must not share the pipes of its parent."""
        if self._process is None or self._owner != os.getpid():
            try:
                self._process = subprocess.Popen(  # noqa: S603 - fixed arguments
                    [*_git(self._repo), "cat-file", "--batch"],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    env=_environment(),
                )
            except OSError as error:
                raise CannotFinish(f"git cannot be started: {error}") from error
            self._owner = os.getpid()
        return self._process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:  # what was still to be written finds no reader
                    continue
        process.wait()

    def close(self) -> None:
        """Ends the process; reading again starts a new one."""
        with self._lock:
            self._end()


def _records(stream: IO[bytes]) -> Iterator[bytes]:
    """The records of a stream that end in NUL; one that is longer than any path ends the stream."""
    rest = b""
    while chunk := stream.read(_CHUNK):
        *complete, rest = (rest + chunk).split(b"\0")
        yield from complete
        if len(rest) > _CHUNK:
            return

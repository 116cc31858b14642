"""Files of the user's cache folder: read by an unpickler that makes known classes only, written in one go.

A file that is broken, too large, of another version or not there is as good as none.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import stat
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import botlint
from botlint import __version__, schemas

MAX_FILE = 64 << 20
"""Bytes of a file that is read."""

Classes = Mapping[tuple[str, str], type]
"""Classes by module and qualified name."""


def classes(ones: Iterable[type]) -> Classes:
    """These classes as a file may name them."""
    return {(one.__module__, one.__qualname__): one for one in ones}


class _Reader(pickle.Unpickler):
    """Makes instances of some classes and nothing else, whatever the file says."""

    def __init__(self, data: bytes, allowed: Classes) -> None:
        super().__init__(io.BytesIO(data))
        self._allowed = allowed

    def find_class(self, module: str, name: str) -> Any:
        found = self._allowed.get((module, name))
        if found is None:
            raise pickle.UnpicklingError(f"{module}.{name} does not belong here")
        return found


def load_cached(path: Path, allowed: Classes) -> Any:
    """What `save_cached` wrote, or None; the caller checks its form."""
    with suppress(Exception):
        return _Reader(_content(path), allowed).load()
    return None


def _content(path: Path) -> bytes:
    """The content of a regular file of a bounded size; anything else raises OSError and does not block."""
    with os.fdopen(os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0)), "rb") as stream:
        facts = os.fstat(stream.fileno())
        if not stat.S_ISREG(facts.st_mode) or facts.st_size > MAX_FILE:
            raise OSError("not a file of a cache")
        return stream.read(MAX_FILE)


def save_cached(path: Path, value: object) -> None:
    """Writes beside the old file and puts the new one in its place; does nothing where that is not possible."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "wb") as stream:
                pickle.dump(value, stream, protocol=pickle.HIGHEST_PROTOCOL)
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise


def cache_path(repository: Path, kind: str) -> Path | None:
    """Where something of a repository is kept: in the user's cache folder, never in the repository itself.

    None without such a folder. A relative one is none, as the XDG Base Directory Specification says.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):  # noqa: PTH117
        base = os.path.expanduser("~/.cache")  # noqa: PTH111 - that of Path raises without a home
    if not os.path.isabs(base):  # noqa: PTH117
        return None
    name = hashlib.blake2b(str(repository.resolve()).encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()
    return Path(base) / "botlint" / f"{kind}-{name}"


@cache
def code_digest(packages: tuple[str, ...]) -> str:
    """A digest of some packages of botlint and of its catalogs, by names, sizes and times of their files."""
    root = Path(str(botlint.__file__)).parent
    folders: Sequence[Path] = [
        *(root / name for name in packages),
        Path(str(schemas.__file__)).parent / "catalogs",
    ]
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            if path.suffix in (".py", ".json", ".so"):
                facts = path.stat()
                digest.update(f"\0{path}\0{facts.st_size}\0{facts.st_mtime_ns}".encode())
    return digest.hexdigest()

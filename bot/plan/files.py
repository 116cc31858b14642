"""The files of a revision as the interpreter needs them: directories listed, links inside the repository followed."""

from __future__ import annotations

import hashlib
import re
from typing import Literal

from botlint.repo.files import Files

Question = tuple[Literal["text", "kind", "list"], str]
"""A question to the files of a revision: the text of a path, what is there, or the names in a directory."""


class ScriptFiles:
    """Adapts a revision to the interpreter; `asked` collects the questions that it is asked."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._texts: dict[str, str | None] = {}
        self._regular: dict[str, bool] = {}
        self._directories: dict[str, set[str]] | None = None
        self._nested: tuple[frozenset[str], tuple[str, ...]] | None = None
        self.asked: set[Question] = set()

    def answer(self, question: Question) -> str:
        """What the answer to a question is, as a short text that is the same for equal answers."""
        kind, path = question
        if kind == "text":
            return self._content_id(path) or ""
        if kind == "kind":
            return f"{self.is_file(path):d}{self.is_dir(path):d}{self.is_foreign(path):d}"
        names = self.list_dir(path)
        return _digest(None if names is None else "\0".join(names))

    def text(self, path: str) -> str | None:
        """Content of a file, or of what a link inside the repository leads to; what is not UTF-8 as lone surrogates."""
        self.asked.add(("text", path))
        if path not in self._texts:
            data = self._read(path)
            self._texts[path] = None if data is None else data.decode("utf-8", "surrogateescape")
        return self._texts[path]

    def _content_id(self, path: str) -> str | None:
        found = self._files.content_id(path)
        if found is None:
            target = self._files.resolve_link(path)
            found = None if target is None else self._files.content_id(target)
        return found

    def _read(self, path: str) -> bytes | None:
        if not self._files.is_file(path):
            target = self._files.resolve_link(path)
            if target is None or target == path:
                return None
            path = target
        return self._files.read(path)

    def is_file(self, path: str) -> bool:
        """Whether a regular file (or a link to one) is there."""
        self.asked.add(("kind", path))
        found = self._regular.get(path)
        if found is None:
            found = self._files.is_file(path)
            if not found:
                target = self._files.resolve_link(path)
                found = target is not None and target != path and self._files.is_file(target)
            self._regular[path] = found
        return found

    def is_dir(self, path: str) -> bool:
        """Whether a directory is there; a checkout makes one for a nested repository, and all that lead to it."""
        self.asked.add(("kind", path))
        return self._files.is_dir(path) or path in self._nested_repositories()[0]

    def is_foreign(self, path: str) -> bool:
        """Whether the path is inside a nested repository, whose files are not those of this revision."""
        self.asked.add(("kind", path))
        return path.startswith(self._nested_repositories()[1])

    def _nested_repositories(self) -> tuple[frozenset[str], tuple[str, ...]]:
        """The directories that nested repositories make, and the starts of the paths inside them."""
        if self._nested is None:
            nested = self._files.submodules()
            above = {path[: match.start()] for path in nested for match in re.finditer("/", path)}
            self._nested = (frozenset(above.union(nested)), tuple(f"{path}/" for path in nested))
        return self._nested

    def list_dir(self, path: str) -> list[str] | None:
        """Names in a directory, sorted; None if that is a nested repository."""
        self.asked.add(("list", path))
        if self.is_foreign(f"{path}/"):
            return None
        if self._directories is None:
            directories: dict[str, set[str]] = {}
            for file in [*self._files.paths(), *self._files.links(), *self._files.submodules()]:
                parts = file.split("/")
                for depth in range(len(parts)):
                    directories.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
            self._directories = directories
        return sorted(self._directories.get(path, ()))


def _digest(text: str | None) -> str:
    if text is None:
        return ""
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=12).hexdigest()

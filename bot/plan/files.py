"""The files of a revision as the interpreter needs them: directories listed, links inside the repository followed."""

from __future__ import annotations

from botlint.repo.files import Files


class ScriptFiles:
    """Adapts a revision to the interpreter."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._texts: dict[str, str | None] = {}
        self._regular: dict[str, bool] = {}
        self._directories: dict[str, set[str]] | None = None

    def text(self, path: str) -> str | None:
        """Content of a file, or of what a link inside the repository leads to; what is not UTF-8 as lone surrogates."""
        if path not in self._texts:
            data = self._read(path)
            self._texts[path] = None if data is None else data.decode("utf-8", "surrogateescape")
        return self._texts[path]

    def _read(self, path: str) -> bytes | None:
        if not self._files.is_file(path):
            target = self._files.resolve_link(path)
            if target is None or target == path:
                return None
            path = target
        return self._files.read(path)

    def is_file(self, path: str) -> bool:
        """Whether a regular file (or a link to one) is there."""
        found = self._regular.get(path)
        if found is None:
            found = self._files.is_file(path)
            if not found:
                target = self._files.resolve_link(path)
                found = target is not None and target != path and self._files.is_file(target)
            self._regular[path] = found
        return found

    def is_dir(self, path: str) -> bool:
        """Whether a directory is there."""
        return self._files.is_dir(path)

    def list_dir(self, path: str) -> list[str]:
        """Names in a directory, sorted."""
        if self._directories is None:
            directories: dict[str, set[str]] = {}
            for file in [*self._files.paths(), *self._files.links()]:
                parts = file.split("/")
                for depth in range(len(parts)):
                    directories.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
            self._directories = directories
        return sorted(self._directories.get(path, ()))

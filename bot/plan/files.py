"""The files of a revision as the interpreter needs them: directories listed, links inside the repository followed."""

from __future__ import annotations

from botlint.repo.files import Files


class ScriptFiles:
    """Adapts a revision to the interpreter."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._directories: dict[str, set[str]] | None = None

    def read(self, path: str) -> bytes | None:
        """Content of a file, or of the file that a link inside the repository leads to."""
        if not self._files.is_file(path):
            target = self._files.resolve_link(path)
            if target is None or target == path:
                return None
            path = target
        return self._files.read(path)

    def is_file(self, path: str) -> bool:
        """Whether a regular file (or a link to one) is there."""
        if self._files.is_file(path):
            return True
        target = self._files.resolve_link(path)
        return target is not None and target != path and self._files.is_file(target)

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

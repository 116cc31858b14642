"""Files that are held in memory: those of a rule's example, or a revision with some files replaced."""

from __future__ import annotations

from collections.abc import Mapping

from botlint.repo.files import MAX_FILE_SIZE, MAX_PATHS, Files, ListedFiles, Listing


class MemoryFiles(ListedFiles):
    """Texts by path; with `under`, another revision except what `texts` replaces or (None) removes."""

    def __init__(
        self, texts: Mapping[str, str | bytes | None], under: Files | None = None, label: str = "memory"
    ) -> None:
        super().__init__(label, MAX_FILE_SIZE, MAX_PATHS)
        self._texts = {
            path: text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
            for path, text in texts.items()
        }
        self._under = under

    def _list(self) -> Listing:
        listing = Listing()
        if self._under is not None:
            listing.files.update(dict.fromkeys(self._under.paths(), ""))
            listing.symlinks.update(dict.fromkeys(self._under.links(), ""))
            listing.submodules.update(self._under.submodules())
        for path, text in self._texts.items():
            listing.symlinks.pop(path, None)
            if text is None:
                listing.files.pop(path, None)
            elif self._accepts(path):
                listing.files[path] = ""
        return listing

    def _content(self, path: str) -> bytes | None:
        if path in self._texts:
            text = self._texts[path]
            if text is not None and len(text) > self._max_file_size:
                self._too_large(path, len(text))
                return None
            return text
        return None if self._under is None else self._under.read(path)

    def _id(self, path: str) -> str:
        found = None if path in self._texts or self._under is None else self._under.content_id(path)
        return super()._id(path) if found is None else found

    def _link_text(self, path: str) -> str | None:
        return None if self._under is None else self._under.symlink_target(path)

    def _is_executable(self, path: str) -> bool:
        mode = None if self._under is None else self._under.mode(path)
        if mode is None:
            return (self._texts.get(path) or b"").startswith(b"#!")
        return bool(mode & 0o100)

    def close(self) -> None:
        """Nothing is held open."""

"""Links to lines of a commit, which stay right whatever is pushed later."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote

from botlint.core.markdown import code

MAX_SHOWN = 300
MAX_URL = 1_500
"""Characters of an address; a place with a longer one is shown without a link."""


@dataclass(frozen=True, slots=True)
class Links:
    """Where the files of the two revisions are to be seen; `web` is the address of the repository's pages."""

    web: str
    head: str
    base: str

    def url(self, path: str, line: int = 0, end_line: int = 0, *, base: bool = False) -> str:
        """The address of a file, of a line or of several, at the head or the base."""
        where = quote(path.encode("utf-8", "surrogatepass"), safe="/")
        # Without `plain`, GitHub shows Markdown files without their lines.
        lines = "" if line < 1 else f"?plain=1#L{line}" + (f"-L{end_line}" if end_line > line else "")
        if not path.lower().endswith((".md", ".markdown")):
            lines = lines.replace("?plain=1", "")
        return f"{self.web}/blob/{self.base if base else self.head}/{where}{lines}"

    def place(self, path: str, line: int = 0, end_line: int = 0, *, base: bool = False) -> str:
        """The place as a link in Markdown that shows its path and line."""
        shown = code(path if line < 1 else f"{path}:{line}", MAX_SHOWN)
        url = self.url(path, line, end_line, base=base)
        return f"[{shown}]({url})" if len(url) <= MAX_URL else shown

    def commit(self, sha: str) -> str:
        """A commit as a link in Markdown."""
        return f"[{code(sha[:7])}]({self.web}/commit/{quote(sha, safe='')})"

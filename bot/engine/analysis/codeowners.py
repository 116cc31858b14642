"""CODEOWNERS: who answers for a path. The last line whose pattern takes it counts, and owners do not add up.

The form is that of GitHub's page "About code owners": patterns as in .gitignore, without `!` and `[ ]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from botlint.core.globs import matches
from botlint.repo.files import Files

PLACES = (".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")
"""Where GitHub looks for the file; the first that is there counts."""

MAX_LINES = 2_000
MAX_SIZE = 3 * 1024 * 1024
"""Bytes of a file that GitHub reads."""


@dataclass(frozen=True, slots=True)
class Owners:
    """One line: a pattern and the owners of what it takes (none: nobody's)."""

    pattern: str
    owners: tuple[str, ...]

    def take(self, path: str) -> bool:
        """Whether the line is about a path; `docs/*` takes the files of a folder, and none of those below."""
        name = self.pattern.strip("/")
        if "*" not in name and "?" not in name:
            # Most lines are of this kind, and a change may have thousands of files.
            anchored = "/" in self.pattern.rstrip("/")
            return f"{path}/".startswith(f"{name}/") if anchored else f"/{name}/" in f"/{path}/"
        return matches(self.pattern, path, below=not self.pattern.endswith("/*"))


def read_owners(files: Files) -> tuple[Owners, ...]:
    """The lines of a revision's CODEOWNERS; none without the file."""
    for path in PLACES:
        if files.is_file(path):
            source = files.text(path)
            return () if source is None else parse_owners(source.text[:MAX_SIZE])
    return ()


def parse_owners(text: str) -> tuple[Owners, ...]:
    """The lines of a CODEOWNERS text that say something."""
    found: list[Owners] = []
    for line in text.split("\n"):
        words = _words(line)
        if words and len(found) < MAX_LINES and not words[0].startswith("!") and "[" not in words[0]:
            found.append(Owners(words[0], tuple(words[1:])))
    return tuple(found)


def _words(line: str) -> list[str]:
    """The words of a line up to a comment; a backslash keeps a blank or a number sign in its word."""
    words = [""]
    escaped = False
    for character in line.strip():
        if escaped:
            words[-1] += character
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == "#" and not words[-1]:
            break
        elif character.isspace():
            words += [""] if words[-1] else []
        else:
            words[-1] += character
    return [word for word in words if word]


def owners_of(path: str, lines: Sequence[Owners]) -> tuple[str, ...]:
    """The owners of a path; empty if it is nobody's."""
    return next((line.owners for line in reversed(lines) if line.take(path)), ())


def may_speak_for(login: str, owners: Iterable[str]) -> bool:
    """Whether an account may be one of these owners.

    Who is in a team, or has an address, is not known here: those who may write in the repository may be.
    """
    names = [owner.lower() for owner in owners]
    unknown = any("/" in name or not name.startswith("@") for name in names)
    return not names or unknown or f"@{login.lower()}" in names

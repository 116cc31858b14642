"""What a piece of work asks of a revision: if every answer is the same another time, so is what the work gave.

Questions are tuples of texts, answers short texts that are the same for equal answers. `WatchedFiles` notes the
questions to the files; `Context` those to what is computed from them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self, TypeVar

from botlint.core.finding import Note
from botlint.core.span import Problem
from botlint.repo.files import Files, SourceText

Question = tuple[str, ...]
"""What is asked, and of which path or name."""

F = TypeVar("F", bound=Callable[..., object])

VALUES: dict[str, Callable[..., object]] = {}
"""Functions whose values are questions of their own, by name."""


def small_value(function: F) -> F:
    """Declares that work depends on the value of `function(context, *texts)`, not on all that the function reads.

    The value must have a `repr` that is the same for equal values, and only for them.
    """
    VALUES[f"{function.__module__}.{function.__qualname__}"] = function
    return function


@dataclass(slots=True)
class Watch:
    """The questions of a piece of work, in their order, and what it noted."""

    asked: dict[Question, None] = field(default_factory=dict)
    notes: dict[Note, None] = field(default_factory=dict)

    def add(self, other: Watch) -> None:
        """Count what another piece of work asked and noted as this one's."""
        self.asked.update(other.asked)
        self.notes.update(other.notes)


def digest(text: str | bytes | None) -> str:
    """A short text for any text; that of None is the empty one."""
    if text is None:
        return ""
    data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
    return hashlib.blake2b(data, digest_size=12).hexdigest()


class WatchedFiles:
    """The files of a revision; `tell` is told every question to them, and `note` what could not be read."""

    def __init__(self, files: Files, tell: Callable[[Question], None], note: Callable[[Problem], None]) -> None:
        self.revision = files
        """The files themselves."""
        self._tell = tell
        self._note = note
        self._answers: dict[Question, str] = {}
        self._texts: dict[str, SourceText | None] = {}
        self._problems: dict[str, list[Problem]] = {}
        self._counted = 0

    def answer(self, question: Question) -> str:
        """The answer to a question of `asked`, as a short text."""
        found = self._answers.get(question)
        if found is None:
            found = self._answers[question] = self._answered(*question)
        return found

    def _answered(self, kind: str, path: str = "") -> str:
        files = self.revision
        if kind == "read":
            return files.content_id(path) or ""
        if kind == "kind":
            return f"{files.is_file(path):d}{files.is_dir(path):d} {files.mode(path)}"
        if kind == "paths":
            return digest("\0".join(files.paths(path)))
        if kind == "link":
            return f"{files.symlink_target(path)!r} {files.resolve_link(path)!r}"
        if kind == "links":
            return digest(repr(sorted(files.links().items())))
        return digest("\0".join(files.submodules()))

    def _ask(self, kind: str, path: str = "") -> None:
        self._tell((kind, path))

    def _read(self, path: str) -> None:
        self._ask("read", path)
        for problem in self.revision.problems[self._counted :]:
            self._problems.setdefault(problem.span.path, []).append(problem)
            self._counted += 1
        for problem in self._problems.get(path, ()):
            self._note(problem)

    # ------------------------------------------------------------------------------------------------------- Files

    @property
    def label(self) -> str:
        return self.revision.label

    @property
    def problems(self) -> Sequence[Problem]:
        return self.revision.problems

    def read(self, path: str) -> bytes | None:
        found = self.revision.read(path)
        self._read(path)
        return found

    def content_id(self, path: str) -> str | None:
        self._ask("read", path)
        return self.revision.content_id(path)

    def text(self, path: str) -> SourceText | None:
        if path not in self._texts:
            self._texts[path] = self.revision.text(path)
        self._read(path)
        return self._texts[path]

    def is_file(self, path: str) -> bool:
        self._ask("kind", path)
        return self.revision.is_file(path)

    def is_dir(self, path: str) -> bool:
        self._ask("kind", path)
        return self.revision.is_dir(path)

    def paths(self, prefix: str = "") -> Sequence[str]:
        self._ask("paths", prefix)
        return self.revision.paths(prefix)

    def mode(self, path: str) -> int | None:
        self._ask("kind", path)
        return self.revision.mode(path)

    def symlink_target(self, path: str) -> str | None:
        self._ask("link", path)
        return self.revision.symlink_target(path)

    def links(self) -> Mapping[str, str]:
        self._ask("links")
        return self.revision.links()

    def resolve_link(self, path: str) -> str | None:
        self._ask("link", path)
        return self.revision.resolve_link(path)

    def submodules(self) -> Sequence[str]:
        self._ask("submodules")
        return self.revision.submodules()

    def close(self) -> None:
        self.revision.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

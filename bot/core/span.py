"""Places in source files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """A range of a file, its end exclusive; lines and columns count from 1, columns in Unicode characters."""

    path: str
    line: int
    column: int
    end_line: int
    end_column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that kept a part of a file from being read: `kind` is a short stable word, `message` is for people."""

    message: str
    span: Span
    kind: str

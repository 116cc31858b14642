"""Standard input and output of interpreted commands."""

from __future__ import annotations

from botlint.shell.values import Value


class Out:
    """Where a command writes: a capture (chunks), a file (its place), or nowhere."""

    __slots__ = ("chunks", "path", "role")

    def __init__(self, chunks: list[Value] | None = None, path: str | None = None, role: str = "") -> None:
        self.chunks = chunks
        self.path = path
        self.role = role

    @property
    def wanted(self) -> bool:
        """Whether anything is done with what is written."""
        return self.chunks is not None or self.path is not None


class In:
    """Where a command reads from: a value with a read position; None is a source that nobody knows."""

    __slots__ = ("pos", "value")

    def __init__(self, value: Value | None) -> None:
        self.value = value
        self.pos = 0

"""Copies of a shell's state: what a subshell undoes, and what two outcomes of an undecided test are compared by."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from botlint.shell.process import FileEntry, Variable
from botlint.shell.streams import In, Out
from botlint.shell.values import Text, Value

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


class Recording(dict[str, Variable]):
    """The variables of a shell while a segment is recorded: every name that is asked for is noted."""

    __slots__ = ("names",)

    def __init__(self, values: dict[str, Variable], names: set[str]) -> None:
        super().__init__(values)
        self.names = names

    def like(self, values: dict[str, Variable]) -> Recording:
        """Other values under the same notes."""
        return Recording(values, self.names)

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> Variable:
        self.names.add(name)
        return super().__getitem__(name)

    def __contains__(self, name: object) -> bool:
        self.names.add(str(name))
        return super().__contains__(name)

    def pop(self, name: str, *default: Any) -> Any:
        self.names.add(name)
        return super().pop(name, *default)

    def setdefault(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().setdefault(name, default)


class State:
    """A copy of the state; as subshells share files and streams, these are copied only when `files` asks for it."""

    __slots__ = (
        "background",
        "beside",
        "captures",
        "context",
        "entries",
        "fds",
        "functions",
        "inputs",
        "lost",
        "options",
        "positional",
        "said",
        "said_error",
        "saved",
        "shopt",
        "traps",
        "vars",
    )

    def __init__(self, shell: Shell, files: bool) -> None:
        self.vars = dict(shell.vars)
        self.functions = dict(shell.functions)
        self.positional = list(shell.positional)
        self.options = dict(shell.options)
        self.shopt = dict(shell.shopt)
        self.traps = dict(shell.traps)
        self.context = shell.context
        self.background = shell.last_background
        self.saved = [dict(f.saved) for f in shell.frames]
        self.said = shell.said
        self.said_error = shell.said_error
        self.entries: list[tuple[str, FileEntry]] | None = None
        self.beside = list(shell.beside)
        self.lost = shell.lost
        self.captures: list[tuple[list[Value], list[Value]]] = []
        self.inputs: list[tuple[In, Value | None, int]] = []
        self.fds: dict[int, Out | In] | None = None
        if files:
            self.entries = list(shell.files.entries)
            self.fds = dict(shell.fds)
            for stream in shell.fds.values():
                if isinstance(stream, In):
                    self.inputs.append((stream, stream.value, stream.pos))
                elif stream.chunks is not None:
                    self.captures.append((stream.chunks, list(stream.chunks)))

    def restore(self, shell: Shell) -> None:
        """Brings the state back."""
        shell.version += 1
        shell.vars = shell.vars.like(self.vars) if isinstance(shell.vars, Recording) else dict(self.vars)
        shell.functions = dict(self.functions)
        shell.positional = list(self.positional)
        shell.options = dict(self.options)
        shell.shopt = dict(self.shopt)
        shell.traps = dict(self.traps)
        shell.context = self.context
        shell.last_background = self.background
        shell.lost = self.lost
        if self.entries is not None:
            shell.beside = list(self.beside)
        for frame, saved in zip(shell.frames, self.saved, strict=False):
            frame.saved = dict(saved)
        if self.entries is None or self.fds is None:
            return
        shell.files.entries[:] = self.entries
        for chunks, copy in self.captures:
            chunks[:] = copy
        for stream, value, pos in self.inputs:
            stream.value, stream.pos = value, pos
        shell.fds = dict(self.fds)
        shell.said = self.said
        shell.said_error = self.said_error

    def differences(self, other: State) -> set[str] | None:
        """Names of the variables in which two states differ; None if they differ in something else that matters.

        Messages and files do not count: a script that makes a file in one case only is taken to make it.
        """
        if (
            self.options != other.options
            or self.shopt != other.shopt
            or self.traps != other.traps
            or self.context != other.context
            or self.functions.keys() != other.functions.keys()
            or any(body is not other.functions[name] for name, body in self.functions.items())
            or not _allsame(self.positional, other.positional)
            or len(self.captures) != len(other.captures)
        ):
            return None
        left, right = self.vars, other.vars
        changed = [name for name, var in left.items() if right.get(name) is not var]
        changed.extend(name for name in right if name not in left)
        return {name for name in changed if not same_variable(left.get(name), right.get(name))}

    def outputs(self, other: State) -> list[tuple[list[Value], list[Value], list[Value]]]:
        """Where captured output differs: (the capture, what both have written, what only this state has)."""
        found = []
        for (chunks, mine), (_, theirs) in zip(self.captures, other.captures, strict=True):
            if not _allsame(mine, theirs):
                both = 0
                while both < min(len(mine), len(theirs)) and same(mine[both], theirs[both]):
                    both += 1
                found.append((chunks, mine[:both], mine[both:]))
        return found


def _allsame(left: list[Value], right: list[Value]) -> bool:
    return len(left) == len(right) and all(same(a, b) for a, b in zip(left, right, strict=True))


def same_variable(left: Variable | None, right: Variable | None) -> bool:
    """Whether two variables hold the same value in the same way."""
    if left is right:
        return True
    if left is None or right is None:
        return False
    return (
        left.exported == right.exported
        and left.kind == right.kind
        and left.readonly == right.readonly
        and left.integer == right.integer
        and left.nameref == right.nameref
        and same(left.value, right.value)
    )


def same(left: object, right: object) -> bool:
    """Whether two values (or tables of values) are the same template."""
    if left is right:
        return True
    if isinstance(left, Text) and isinstance(right, Text):
        return len(left.pieces) == len(right.pieces) and all(map(_same_piece, left.pieces, right.pieces))
    if isinstance(left, dict) and isinstance(right, dict):
        return left.keys() == right.keys() and all(same(v, right[k]) for k, v in left.items())
    return isinstance(left, str) and left == right


def _same_piece(left: object, right: object) -> bool:
    if left is right:
        return True
    if type(left) is not type(right):
        return False
    if isinstance(left, str):
        return left == right
    label = getattr(left, "name", None) or getattr(left, "reason", None)
    return label is not None and label == (getattr(right, "name", None) or getattr(right, "reason", None))

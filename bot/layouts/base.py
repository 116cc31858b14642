"""What every layout gives: jobs, each with its row, where it is written, and what its launch step sees."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown

Word = str | Unknown | list[str | Unknown]
"""A variable's value: known, unknown, or known in parts."""

RowPath = tuple[str | int, ...]
"""Keys that lead to a value of a row."""

MARK_START, MARK_END = "\ue000", "\ue001"
"""What stands around the number of an unknown piece of a script.

Characters of Unicode's private use area: they are ordinary letters of a word to a shell.
"""

DEFAULT_SHELL = "bash -e {0}"
"""The command with which a step's script is started; its options count."""


class Job(Protocol):
    """One row of a repository's matrix, or one command that it shows."""

    @property
    def entry(self) -> str: ...

    @property
    def config(self) -> Span: ...

    @property
    def arm(self) -> Span: ...

    @property
    def arm_index(self) -> int: ...

    @property
    def scenario(self) -> str: ...

    @property
    def row(self) -> Mapping[str, object]: ...

    @property
    def facts(self) -> Mapping[str, object]: ...

    def origin(self, *path: str | int) -> Span | None: ...


class Environment(Protocol):
    """What the launch step of a job sees; `reason` says why there is none, then all else is empty."""

    @property
    def values(self) -> Mapping[str, Word]: ...

    @property
    def run(self) -> str: ...

    @property
    def run_span(self) -> Span: ...

    @property
    def run_origin(self) -> tuple[int, int]: ...

    @property
    def run_lines(self) -> Sequence[int]: ...

    @property
    def unknowns(self) -> Mapping[str, Unknown]: ...

    @property
    def shell(self) -> str: ...

    @property
    def working_directory(self) -> str: ...

    @property
    def problems(self) -> Sequence[Problem]: ...

    @property
    def reason(self) -> str | None: ...

    @property
    def via(self) -> object: ...

    def trace(self, name: str) -> list[tuple[Span, str]]: ...

    def row_fields(self, name: str) -> list[tuple[str, ...]]: ...


class Placed(Protocol):
    """Something that is written somewhere."""

    @property
    def span(self) -> Span: ...


@dataclass(frozen=True, slots=True)
class Command:
    """A server's command line that is known word by word, with the variables that are exported before it.

    `role` is prefill or decode where several commands make up one server. `places` says where each word is written,
    `env_places` where each variable is.
    """

    argv: tuple[Word, ...]
    env: Mapping[str, Word]
    places: tuple[Placed | None, ...] = field(default=(), repr=False, compare=False)
    env_places: Mapping[str, Placed | None] = field(default_factory=dict, repr=False, compare=False)
    role: str = ""
    workers: int | None = None

    def option_span(self, name: str) -> Span | None:
        """Where an option is written, the last time that it is given."""
        for word, place in zip(reversed(self.argv), reversed(self.places), strict=True):
            if isinstance(word, str) and place is not None and (word == name or word.startswith(f"{name}=")):
                return place.span
        return None

    def variable_span(self, name: str) -> Span | None:
        """Where a variable is written."""
        place = self.env_places.get(name)
        return None if place is None else place.span


@dataclass(frozen=True, slots=True)
class Start:
    """A launch step that a layout knows in full: variables and shell text, nothing of which a workflow has to make.

    `run` is a script that is interpreted like any other; its first character is written at `run_origin` (line and
    column) of `run_span.path`. A text that was put together says in `run_lines` where each of its lines is written. A
    piece of it that is not known stands there as a mark (`MARK_START` number `MARK_END`) that `unknowns` explains.
    `sources` says where the value of a variable is written, with that text, the nearest place first; `fields` which
    values of the row it is made of. `commands` are what is started where no script has to be followed to know that;
    `run` is then not looked at.
    """

    run: str
    run_span: Span
    values: Mapping[str, Word] = field(default_factory=dict)
    run_origin: tuple[int, int] = (1, 1)
    run_lines: tuple[int, ...] = ()
    unknowns: Mapping[str, Unknown] = field(default_factory=dict)
    shell: str = DEFAULT_SHELL
    working_directory: str = ""
    problems: tuple[Problem, ...] = ()
    reason: str | None = None
    sources: Mapping[str, tuple[tuple[Span, str], ...]] = field(default_factory=dict)
    fields: Mapping[str, tuple[tuple[str, ...], ...]] = field(default_factory=dict)
    commands: tuple[Command, ...] = ()

    @property
    def via(self) -> object:
        """What is the same for all jobs with the same sources of variables."""
        return self

    def trace(self, name: str) -> list[tuple[Span, str]]:
        """Where a variable comes from, each place with its text."""
        return list(self.sources.get(name, ()))

    def row_fields(self, name: str) -> list[tuple[str, ...]]:
        """The fields of the row that a variable's value is made of."""
        return list(self.fields.get(name, ()))


@dataclass(frozen=True, slots=True)
class CommandJob:
    """A job that brings its own start.

    `row` has the keys of the repository's own matrix; keys with a meaning that rules know keep that meaning (`model`,
    `image`, `framework`, `runner`, `tp`, `ep`, `conc`, `isl`, `osl`). Where the matrix has other names, `known` gives
    these values under the names that rules know. `places` says where values of the row, and of `known`, are written.
    `versions` gives the version of a framework where no image does; `oldest` the version of a framework from which on
    every one has to do, unless the image brings one. `stamp` is a short text that changes with everything that the job
    is made of, for jobs that have one.
    """

    entry: str
    config: Span
    arm: Span
    scenario: str
    arm_index: int
    row: Mapping[str, object]
    start: Start
    places: Mapping[RowPath, Span] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    known: Mapping[str, object] = field(default_factory=dict)
    oldest: Mapping[str, str] = field(default_factory=dict)
    stamp: str = ""

    @property
    def identity(self) -> str:
        """A text that is the same for equal jobs only."""
        return self.stamp or repr(self)

    @property
    def facts(self) -> Mapping[str, object]:
        """What rules read: the row, and before it what is known under their names."""
        return {**self.row, **self.known} if self.known else self.row

    def origin(self, *path: str | int) -> Span | None:
        """Where the row value at `path` is written; None for a default."""
        return self.places.get(path)


@dataclass(frozen=True, slots=True)
class Loaded:
    """The jobs of a revision, and what could not be read of it; documents also show clients of servers."""

    jobs: Sequence[CommandJob] = ()
    problems: tuple[Problem, ...] = ()
    clients: Sequence[CommandJob] = ()


def command_of(job: Job, role: str) -> Command | None:
    """The command of a server, or of one of its roles, that the layout knows word by word."""
    commands = job.start.commands if isinstance(job, CommandJob) else ()
    return next((one for one in commands if one.role == role), None)

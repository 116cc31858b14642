"""The launch plan: what one job really starts."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from botlint.core.span import Span
from botlint.core.unknown import Unknown

if TYPE_CHECKING:
    from botlint.plan.origins import Origins

Word = str | tuple["str | Unknown", ...]
"""A word of a command line or a variable's value: its text, or its pieces where something in it is unknown."""

Outcome = Literal["serves", "exits", "undecided"]


@dataclass(frozen=True, slots=True)
class Location:
    """A line of a file."""

    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Exit:
    """How and where a job ends before a server starts; `message` is what the script said last."""

    code: int
    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Role:
    """One kind of worker of a server that several nodes make up."""

    name: str
    workers: int | None
    gpus: int | None
    argv: tuple[Word, ...]
    env: Mapping[str, Word]
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Server:
    """A server's start.

    `env` holds the variables that the process sees and that the job did not give or that scripts changed; `runtime_env`
    those that the command line of a scheduler or container engine sets (`srun --export`, `docker run -e NAME=VALUE`).
    `origins` say where these values are written; lines that only moved make no other server.
    """

    framework: str
    version: str | None
    path: str
    line: int
    argv: tuple[Word, ...]
    env: Mapping[str, Word]
    runtime_env: Mapping[str, Word]
    roles: tuple[Role, ...] = ()
    origins: Origins = field(default_factory=dict, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another way a job may go, under conditions that only the machine decides."""

    when: tuple[str, ...]
    outcome: Outcome
    exit: Exit | None = None
    server: Server | None = None
    reason: str | None = None
    recipe: str | None = None


@dataclass(frozen=True, slots=True)
class Launch:
    """What a job starts on the runners that share a launcher."""

    runners: tuple[str, ...]
    launcher: str | None
    recipe: str | None
    outcome: Outcome
    exit: Exit | None = None
    server: Server | None = None
    reason: str | None = None
    reason_at: Location | None = None
    possible: tuple[Alternative, ...] = ()
    container: tuple[Word, ...] = field(default=(), compare=False)
    """The words that start the container of the server, all before its command; none where there is no container."""


@dataclass(slots=True)
class LaunchPlan:
    """One job's plan: its launch on the first runner, and those on runners with another launcher."""

    entry: str
    config: Span
    arm: Span
    scenario: str
    arm_index: int
    job: Mapping[str, object]
    launch: Launch
    others: tuple[Launch, ...] = ()
    problems: list[str] = field(default_factory=list)
    asked: Collection[tuple[str, str]] | None = field(default=None, compare=False, repr=False)
    """The questions to scripts and recipes on whose answers the launches depend; None where that is not known."""


def word_text(word: Word) -> str:
    """A word for people: unknown parts as `<reason>`."""
    if isinstance(word, str):
        return word
    return "".join(p if isinstance(p, str) else f"<{p.reason}>" for p in word)

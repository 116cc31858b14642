"""What every command shares: the global options, where results go, and what is told to the user beside them."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Concatenate, ParamSpec, TextIO, TypeVar

import click

from botlint.core.errors import UsageError

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Settings:
    """The global options of one run; results go to `open_output`, everything else to stderr."""

    cache: bool = True
    color: bool = True
    quiet: bool = False
    verbose: bool = False
    output: str | None = None

    def merged(self, other: Settings) -> Settings:
        """Return these settings with those that `other` turned on or off as well."""
        return replace(
            self,
            cache=self.cache and other.cache,
            color=self.color and other.color,
            quiet=self.quiet or other.quiet,
            verbose=self.verbose or other.verbose,
            output=other.output or self.output,
        )

    def use_color(self) -> bool:
        """Whether results are coloured: not in a file nor with --no-color or NO_COLOR; else forced, or a terminal."""
        if not self.color or self.output is not None or os.environ.get("NO_COLOR"):
            return False
        if os.environ.get("FORCE_COLOR", "") not in ("", "0") or os.environ.get("CLICOLOR_FORCE", "") not in ("", "0"):
            return True
        return sys.stdout is not None and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"

    def show_progress(self) -> bool:
        """Whether progress may be drawn on stderr: a terminal, and nobody asked for silence."""
        return not self.quiet and sys.stderr is not None and sys.stderr.isatty() and os.environ.get("TERM") != "dumb"

    @contextmanager
    def open_output(self) -> Iterator[TextIO]:
        """Give the stream that results are written to: the --output file or stdout.

        Raises UsageError when the file cannot be written.
        """
        if self.output is None or self.output == "-":
            yield sys.stdout
            return
        try:
            stream = Path(self.output).open("w", encoding="utf-8", errors="backslashreplace", newline="\n")  # noqa: SIM115
        except OSError as error:
            raise UsageError(f"cannot write {self.output!r}: {error.strerror}") from error
        with stream:
            yield stream

    def note(self, message: str) -> None:
        """Tell the user something beside the results, unless --quiet."""
        if not self.quiet:
            tell(message)

    def detail(self, message: str) -> None:
        """Tell the user something that only --verbose asks for."""
        if self.verbose and not self.quiet:
            tell(message)


def tell(message: str) -> None:
    """Write a message to stderr, in which a text of a repository can do no harm."""
    from botlint.core.visible import told

    click.echo(told(message), err=True)


_OPTIONS = (
    click.option("--no-cache", is_flag=True, help="Neither read nor write the cache."),
    click.option("--no-color", is_flag=True, help="Never colour the output (as NO_COLOR does)."),
    click.option("-q", "--quiet", is_flag=True, help="Print results only."),
    click.option("-v", "--verbose", is_flag=True, help="Tell more on stderr."),
    click.option("-o", "--output", metavar="FILE", help="Write the result to FILE instead of stdout."),
)


def common_options(function: Callable[Concatenate[Settings, P], R]) -> Callable[P, R]:
    """Give a command the global options: it receives one `Settings`, joined with those before the command name."""

    @functools.wraps(function)
    def with_settings(*args: P.args, **kwargs: P.kwargs) -> R:
        own = Settings(
            cache=not kwargs.pop("no_cache"),
            color=not kwargs.pop("no_color"),
            quiet=bool(kwargs.pop("quiet")),
            verbose=bool(kwargs.pop("verbose")),
            output=_text(kwargs.pop("output")),
        )
        outer = click.get_current_context().obj
        settings = outer.merged(own) if isinstance(outer, Settings) else own
        return function(settings, *args, **kwargs)

    for option in reversed(_OPTIONS):
        with_settings = option(with_settings)
    return with_settings


_MODES = (
    click.option("--eval", "mode", flag_value="every-eval", help="Every job as one that only runs its eval."),
    click.option("--evals-only", "mode", flag_value="evals", help="The generator's rows with --evals-only."),
    click.option("--all-evals", "mode", flag_value="all-evals", help="The generator's rows with --all-evals."),
)


def mode_options(function: Callable[P, R]) -> Callable[P, R]:
    """Give a command the options that choose other jobs than the sweep's: it receives `mode`, None without any."""
    for option in reversed(_MODES):
        function = option(function)
    return function


def _text(value: object) -> str | None:
    return None if value is None else str(value)


@contextmanager
def no_collection() -> Iterator[None]:
    """Turns the garbage collector off for work that keeps all that it makes; it would walk a great many objects."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

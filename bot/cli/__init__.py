"""The command line: one thin module per command, imported when the command is used."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn, cast

import click

from botlint import __version__
from botlint.cli.common import Settings, common_options, tell
from botlint.core.errors import BotlintError, CannotFinish, UsageError

INTERRUPTED = 130
"""Exit status after Ctrl-C: 128 + SIGINT, as shells count."""

BROKEN_PIPE = 141
"""Exit status when the reader of the output went away: 128 + SIGPIPE, as shells count."""

DEBUG_VARIABLE = "BOTLINT_DEBUG"


@dataclass(frozen=True, slots=True)
class Registration:
    """Where a command lives (`module:attribute`) and its one-line summary, so that `--help` need not import it."""

    target: str
    summary: str


COMMANDS: dict[str, Registration] = {
    "check": Registration("botlint.cli.check:check", "Report what is wrong, with proof."),
    "plan": Registration("botlint.cli.plan:plan", "Show what every benchmark job really starts."),
    "diff": Registration("botlint.cli.diff:diff", "Show what a change makes different in what is started."),
    "explain": Registration("botlint.cli.explain:explain", "Show the page of a rule."),
    "rules": Registration("botlint.cli.rules:rules", "List, test and start rules; show their facts."),
    "review": Registration("botlint.cli.review:review", "Review a pull request on GitHub."),
    "fix": Registration("botlint.cli.fix:fix", "Mend what can be mended for certain."),
    "baseline": Registration("botlint.cli.baseline:baseline", "Accept what is there, and show or prune it."),
    "serve": Registration("botlint.cli.serve:serve", "Review pull requests as a GitHub App."),
    "worker": Registration("botlint.cli.worker:worker", "Do the tasks of an App that runs elsewhere."),
    "init": Registration("botlint.cli.init:init", "Write a settings file that explains itself."),
    "smoke": Registration("botlint.cli.smoke:smoke", "Start what a job would launch, for minutes."),
    "catalog": Registration("botlint.cli.catalog:catalog", "Show, rebuild and compare the versioned facts."),
}


class _LazyGroup(click.Group):
    """Finds sub-commands in `COMMANDS` and imports one only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        registration = COMMANDS.get(cmd_name)
        if registration is None:
            return None
        module, _, attribute = registration.target.partition(":")
        return cast(click.Command, getattr(importlib.import_module(module), attribute))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            raise click.UsageError(_unknown_command(args[0]), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, registration.summary) for name, registration in COMMANDS.items()])


def _unknown_command(name: str) -> str:
    import difflib

    close = difflib.get_close_matches(name, COMMANDS, n=1)
    return f"no command {name!r}" + (
        f"; did you mean {close[0]!r}?" if close else f" (there are: {', '.join(COMMANDS)})"
    )


@click.group(cls=_LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, message="%(prog)s %(version)s")
@common_options
def _root(settings: Settings) -> None:
    """Show what each job of an LLM-inference benchmark repository will really launch, and what is wrong with it.

    \b
    Exit codes, for every command and format:
      0  clean
      1  findings at or above the fail level
      2  wrong usage or settings
      3  could not finish
      4  nothing to check
    """
    click.get_current_context().obj = settings


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command line (default: that of the process) and return its exit code; no exception gets out."""
    _never_fail_on_encoding()
    try:
        status = _guarded(lambda: _dispatch(sys.argv[1:] if argv is None else argv))
        if sys.stdout is not None:
            sys.stdout.flush()
    except BrokenPipeError:
        _discard_output()
        return BROKEN_PIPE
    except OSError as error:
        _discard_output()
        place = f": {error.filename}" if error.filename else ""
        return _fail(CannotFinish(f"{error.strerror or error}{place}"))
    return status


def run() -> NoReturn:
    """Run the command line of this process and end it, without taking everything apart that a check has built up."""
    status = main()
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError, ValueError):
                stream.flush()
    os._exit(status)


def _dispatch(argv: Sequence[str]) -> int:
    with _root.make_context("botlint", list(argv)) as context:
        status: Any = _root.invoke(context)
    return status if isinstance(status, int) else 0


def _guarded(command: Callable[[], int]) -> int:
    try:
        return command()
    except click.exceptions.Exit as request:
        return request.exit_code
    except click.ClickException as error:
        error.show()
        return UsageError.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("botlint: interrupted", err=True)
        return INTERRUPTED
    except BotlintError as error:
        return _fail(error)
    except OSError:
        raise
    except Exception as error:  # the last line of defence: a stack trace is for us, not for users
        kind = type(error).__name__
        return _fail(CannotFinish(f"internal error: {kind}: {error} ({DEBUG_VARIABLE}=1 shows where)"))


def _fail(error: BotlintError) -> int:
    if os.environ.get(DEBUG_VARIABLE) == "1":
        import traceback

        traceback.print_exc()
    tell(f"botlint: error: {error}")
    return error.exit_code


def _never_fail_on_encoding() -> None:
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _discard_output() -> None:
    """Point stdout at nothing, so that the interpreter's flush at exit cannot fail a second time."""
    try:
        descriptor = sys.stdout.fileno()
    except (AttributeError, OSError, ValueError):  # no stdout, or one that is not a file
        return
    sink = os.open(os.devnull, os.O_WRONLY)
    os.dup2(sink, descriptor)
    os.close(sink)

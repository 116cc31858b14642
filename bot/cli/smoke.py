"""`botlint smoke`: start what a job would launch, for minutes, and say how that went."""

from __future__ import annotations

import importlib
from typing import cast

import click

_COMMANDS = {
    "run": ("botlint.cli.smokerun:run_smoke", "Start one job's server and ask it."),
    "select": ("botlint.cli.smokeselect:select_jobs", "Choose the jobs of a change that deserve a run."),
    "jobs": ("botlint.cli.smokejobs:run_jobs", "Start jobs of a pull request on this node, each in its image."),
}


class _Group(click.Group):
    """Imports a command only when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in _COMMANDS:
            return None
        module, _, attribute = _COMMANDS[cmd_name][0].partition(":")
        return cast(click.Command, getattr(importlib.import_module(module), attribute))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in _COMMANDS.items()])


@click.group(cls=_Group)
def smoke() -> None:
    """Start what a pull request would launch, for minutes, on a node that has the GPUs."""

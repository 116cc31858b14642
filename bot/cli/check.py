"""`botlint check`: what is wrong, with proof."""

from __future__ import annotations

from pathlib import Path

import click

from botlint.cli.common import Settings, common_options, no_collection
from botlint.report.render import FORMATS


@click.command()
@click.argument("path", required=False, default=".", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--base", metavar="REV", help="Report only what the change from this revision brings.")
@click.option("--head", metavar="REV", help="The changed revision (default: the working tree).")
@click.option("--select", multiple=True, metavar="RULE", help="Only these rules or families (repeatable).")
@click.option("--format", "form", type=click.Choice(FORMATS), default="text", help="How to print it.")
@common_options
def check(
    settings: Settings, path: Path, base: str | None, head: str | None, select: tuple[str, ...], form: str
) -> int:
    """Check the benchmark repository at PATH (default: the current folder).

    Exit status: 0 clean, 1 findings at or above the fail level, 2 wrong usage or settings, 3 could not finish,
    4 nothing to check.

    \b
    Examples:
      botlint check
      botlint check --base origin/main
      botlint check --base v1 --head v2 --format sarif -o botlint.sarif
      botlint check --base origin/main --format html -o report.html
    """
    from botlint.cli.checking import run_check

    with no_collection():
        outcome = run_check(path, base=base, head=head, select=select, settings=settings, with_origins=form == "html")
    with settings.open_output() as stream:
        stream.writelines(outcome.render(form, color=settings.use_color()))
    return outcome.exit_code

"""`botlint baseline`: findings that are accepted until somebody mends them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import click

from botlint.cli.common import Settings, common_options, no_collection
from botlint.core.errors import CannotFinish, NothingToCheck

if TYPE_CHECKING:
    from botlint.cli.checking import Outcome
    from botlint.engine.baseline import Baseline

_repo = click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The repository (default: the current folder).",
)


@click.group()
def baseline() -> None:
    """Accept the findings that are there, so that only new ones count."""


@baseline.command()
@_repo
@common_options
def write(settings: Settings, repo: Path) -> int:
    """Accept every finding that no comment allows; those that were accepted before keep their day.

    The file is the one that the settings name (default: .botlint/baseline.json), or --output FILE.
    """
    from botlint.engine.baseline import accept
    from botlint.report.options import counted

    outcome, old = _checked(settings, repo)
    new = accept(outcome.report.findings, old, date.today())
    _write(settings, repo, outcome, new)
    added, gone = len(new.keys() - old.keys()), len(old.keys() - new.keys())
    settings.note(f"{counted(len(new), 'accepted finding')}: {added:,} new, {gone:,} gone")
    return 0


@baseline.command()
@_repo
@common_options
def prune(settings: Settings, repo: Path) -> int:
    """Remove what no finding matches any more; nothing is added."""
    from botlint.engine.baseline import prune as pruned
    from botlint.report.options import counted

    outcome, old = _checked(settings, repo)
    if not old:
        raise NothingToCheck(f"there is no baseline in {outcome.policy.settings.baseline}")
    kept, dropped = pruned(old, outcome.report.findings)
    if dropped or settings.output is not None:
        _write(settings, repo, outcome, kept)
    for one in dropped:
        settings.detail(f"gone: {one.rule} in {one.path} (since {one.since})")
    settings.note(f"{counted(len(dropped), 'entry', 'entries')} removed, {len(kept):,} left")
    return 0


@baseline.command()
@_repo
@common_options
def show(settings: Settings, repo: Path) -> int:
    """List the accepted findings, the oldest first, without a check."""
    from botlint.core.visible import visible
    from botlint.engine.baseline import read_baseline
    from botlint.engine.settings import read_settings
    from botlint.repo.open import open_files
    from botlint.report.options import counted, days_since

    with open_files(repo) as files:
        path = read_settings(files).baseline
        accepted = sorted(read_baseline(files, path).values(), key=lambda one: (one.since, one.path, one.rule))
    if not accepted:
        raise NothingToCheck(f"there is no baseline in {path}, or it is empty")
    today = date.today()
    with settings.open_output() as stream:
        for one in accepted:
            age = counted(days_since(one.since, today) or 0, "day")
            stream.write(f"{one.since}  {age:>10}  {visible(one.rule)}  {visible(one.path)}  {one.fingerprint}\n")
    settings.note(f"{counted(len(accepted), 'accepted finding')}, the oldest since {accepted[0].since}")
    return 0


def _checked(settings: Settings, repo: Path) -> tuple[Outcome, Baseline]:
    """A whole check without the baseline, and the baseline. Raises CannotFinish if the check is not whole."""
    from botlint.cli.checking import run_check
    from botlint.engine.baseline import read_baseline

    with no_collection():
        outcome = run_check(repo, base=None, head=None, select=(), settings=settings, with_baseline=False)
    if outcome.report.failures:
        raise CannotFinish(f"the check is not whole, so no baseline is written: {outcome.report.failures[0]}")
    return outcome, read_baseline(outcome.context.files, outcome.policy.settings.baseline)


def _write(settings: Settings, repo: Path, outcome: Outcome, made: Baseline) -> None:
    from botlint.cli.writing import write_inside
    from botlint.engine.baseline import write_baseline

    if settings.output is not None:
        with settings.open_output() as stream:
            stream.writelines(write_baseline(made))
        return
    path = outcome.policy.settings.baseline
    content = "".join(write_baseline(made)).encode("utf-8")
    write_inside(repo, path, content, outcome.context.files.read(path))

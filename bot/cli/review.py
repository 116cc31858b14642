"""`botlint review`: a pull request on GitHub, by comments on its lines and a summary."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from botlint.cli.common import Settings, common_options, no_collection
from botlint.core.errors import UsageError

if TYPE_CHECKING:
    from botlint.github.actions import Event, Surroundings


@click.command()
@click.option("--repo", metavar="OWNER/NAME", help="The repository (default: that of the job's event).")
@click.option("--pr", "number", type=click.IntRange(min=1), metavar="N", help="The pull request.")
@click.option("--dry-run", is_flag=True, help="Read only, and print the requests that would be sent.")
@common_options
def review(settings: Settings, repo: str | None, number: int | None, dry_run: bool) -> int:
    """Review a pull request of GitHub: comments on its lines, and one summary, both kept up to date.

    Its files are read through the API; nothing is checked out or executed. The settings and rules are those of its
    base. The token is that of GITHUB_TOKEN (or GH_TOKEN). In a job of GitHub Actions, the event says what to review;
    where the token may only read, the findings become annotations of the job.

    Exit status: 0 clean, 1 a finding at or above the fail level, 2 wrong usage or settings, 3 could not finish.

    \b
    Examples:
      botlint review --repo acme/benchmarks --pr 42 --dry-run
      botlint review                                          # in a job on pull_request or merge_group
    """
    try:
        from botlint.github.actions import run, surroundings
        from botlint.github.client import Client
        from botlint.github.dryrun import DryRun
        from botlint.github.review import Options
    except ModuleNotFoundError as error:
        raise UsageError(
            f"this needs more packages ({error.name} is missing): pip install 'botlint[review]'"
        ) from error

    known = surroundings(os.environ)
    event = _event(known, repo, number)
    if not known.token:
        raise UsageError("set GITHUB_TOKEN (or GH_TOKEN) to a token that may read the repository")
    with settings.open_output() as stream, no_collection():
        if dry_run:
            github: Client = DryRun(
                event.repository,
                known.token,
                base_url=known.api,
                web_url=known.web,
                show=lambda text: print(text, file=stream),
            )
        else:
            github = Client(event.repository, known.token, base_url=known.api, web_url=known.web, write_pause=1.0)
        try:
            # Of a dry run the requests are the output.
            write = None if dry_run else lambda text: print(text, end="", file=stream)
            status = run(event, github, Options(), known, write)
        finally:
            github.close()
        settings.detail(f"botlint: {github.calls} requests to GitHub")
        return status


def _event(known: Surroundings, repo: str | None, number: int | None) -> Event:
    from botlint.github.actions import Event, read_event

    if number is None:
        if repo is not None:
            raise UsageError("--repo needs --pr too")
        return read_event(known)
    repository = repo or known.repository
    if not repository:
        raise UsageError("--pr needs --repo OWNER/NAME too")
    return Event("", repository, number)

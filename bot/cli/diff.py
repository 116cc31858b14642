"""`botlint diff`: what a change makes different in what is started."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from botlint.cli.common import Settings, common_options, mode_options, no_collection
from botlint.core.errors import NothingToCheck

if TYPE_CHECKING:
    from botlint.layouts.inferencex.jobs import Mode


@click.command()
@click.argument("base", metavar="BASE")
@click.argument("head", metavar="[HEAD]", required=False)
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The repository (default: the current folder).",
)
@mode_options
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
@common_options
def diff(settings: Settings, base: str, head: str | None, repo: Path, mode: Mode | None, form: str) -> int:
    """Show which jobs start something else in HEAD (default: the working tree) than in BASE, grouped by what changes.

    Jobs whose plans are equal are not mentioned. Differences are no finding: the exit code is 0 with and without them.

    \b
    Examples:
      botlint diff main
      botlint diff HEAD~1 HEAD --format json
    """
    from botlint.cli.plan import exit_code, rows_by_entry, tell_problems
    from botlint.cli.planning import KeptPlans
    from botlint.engine.settings import read_settings
    from botlint.plan.build import Planner
    from botlint.plan.diff import diff_plans
    from botlint.plan.diffshow import diff_document, diff_text, render_diff
    from botlint.plan.style import Style
    from botlint.repo.open import open_files

    mode = mode or "throughput"
    with no_collection(), open_files(repo, base) as old_files, open_files(repo, head) as new_files:
        layout = read_settings(new_files).layout_choice
        old, new = Planner(old_files, mode, layout=layout), Planner(new_files, mode, layout=layout)
        # Most scripts are the same in both revisions: they are read once.
        new.world.scripts = old.world.scripts
        new.world.texts = old.world.texts
        plan_jobs = KeptPlans(repo, settings)
        old_plans, new_plans = plan_jobs(old, old.jobs), plan_jobs(new, new.jobs)
        problems = old.all_problems, new.all_problems
        tell_problems(settings, problems[1])
        if not old_plans and not new_plans:
            raise NothingToCheck("neither revision has a job")
        found = diff_plans(old_plans, new_plans)
        with settings.open_output() as stream:
            if form == "json":
                stream.write(diff_text(diff_document(found, old_files.label, new_files.label, *problems)))
            else:
                lines = render_diff(
                    found, rows_by_entry(old.jobs), rows_by_entry(new.jobs), Style(settings.use_color())
                )
                stream.writelines(f"{line}\n" for line in lines)
        return exit_code(settings, old, new)

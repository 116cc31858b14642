"""`botlint smoke select`: which jobs of a change deserve a smoke run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from botlint.cli.common import Settings, common_options, no_collection
from botlint.core.errors import NothingToCheck, UsageError

if TYPE_CHECKING:
    from botlint.engine.settings import Settings as Rules
    from botlint.smoke.select import Budget, Selection

SCHEMA = "botlint.smoke-selection/1"


@click.command("select")
@click.argument("base", metavar="BASE")
@click.argument("head", metavar="[HEAD]", required=False)
@click.argument("words", metavar="[JOBS]...", nargs=-1)
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The repository (default: the current folder).",
)
@click.option("--max-jobs", type=click.IntRange(1, 100), help="Jobs at most (default: the settings, or 2).")
@click.option("--max-gpus", type=click.IntRange(1, 1024), help="GPUs of a job at most (default: the settings, or 8).")
@click.option("--runner", "runners", multiple=True, metavar="GLOB...", help="Only jobs of these runners.")
@click.option(
    "--requests",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write a file for `botlint smoke run` for each job there.",
)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
@common_options
def select_jobs(
    settings: Settings,
    /,
    base: str,
    head: str | None,
    words: tuple[str, ...],
    repo: Path,
    max_jobs: int | None,
    max_gpus: int | None,
    runners: tuple[str, ...],
    requests: Path | None,
    form: str,
) -> int:
    """Choose the jobs that deserve a smoke run for what HEAD (default: the working tree) changes since BASE.

    The smallest set that covers each group of jobs that change alike, each added arm, and each finding that is not
    certain; of these, the one with the fewest GPUs. JOBS (entries or globs of some, `tp=8`, ids) choose among less.

    \b
    Exit codes: 0 there is something to run; 4 nothing is.

    \b
    Examples:
      botlint smoke select main
      botlint smoke select main HEAD 'minimaxm3-*' tp=4 --max-jobs 1 --requests out
    """
    from botlint.cli.checking import run_check
    from botlint.plan.diff import diff_plans
    from botlint.repo.git import resolve_revision
    from botlint.smoke.select import Selector, find, select

    selector = Selector.of(words)
    with no_collection():
        outcome = run_check(repo, base=base, head=head, select=(), settings=settings)
        context = outcome.context
        budget = _budget(outcome.policy.settings, max_jobs, max_gpus, runners)
        if selector.ids:
            selection = find(context.plans, selector.ids, budget)
        else:
            diff = None if context.base is None else diff_plans(context.base.plans, context.plans)
            found = outcome.report.findings
            selection = select(context.plans, diff, found, budget, selector.conditions, selector.entries)
    for failure in outcome.report.failures:
        settings.note(f"botlint: could not finish: {failure}")
    commits = None if head is None else resolve_revision(repo, head), resolve_revision(repo, base)
    if requests is not None:
        _write(selection, requests, *commits)
    with settings.open_output() as stream:
        stream.write(_json(selection, *commits) if form == "json" else _text(selection))
    if not selection.chosen:
        raise NothingToCheck("no job deserves a run, or none can be run")
    return 0


def _budget(rules: Rules, jobs: int | None, gpus: int | None, runners: tuple[str, ...]) -> Budget:
    from botlint.smoke.select import Budget

    asked = rules.smoke
    known = Budget() if asked is None else Budget(asked.max_jobs, asked.max_gpus, asked.runners, asked.images)
    return Budget(jobs or known.jobs, gpus or known.gpus, runners or known.runners, known.images)


def _write(selection: Selection, folder: Path, head: str | None, base: str) -> None:
    from botlint.smoke.jsonform import request_form
    from botlint.smoke.select import request

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for one in selection.chosen:
            text = json.dumps(request_form(request(one, head, base)), ensure_ascii=False, indent=1)
            (folder / f"{one.id}.json").write_text(text + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write to {str(folder)!r}: {error.strerror}") from error


def selection_form(selection: Selection, head: str | None, base: str) -> dict[str, Any]:
    """A selection as JSON: `schemas/smoke-selection.schema.json`."""
    return {
        "schema": SCHEMA,
        "head": head,
        "base": base,
        "jobs": [
            {
                "id": one.id,
                "entry": one.plan.entry,
                "scenario": one.plan.scenario,
                "arm": one.plan.arm_index,
                "job": dict(one.plan.job),
                "runners": list(one.plan.launch.runners),
                "gpus": one.gpus,
                "shows": list(one.shows),
            }
            for one in selection.chosen
        ],
        "left": [{"what": one.text, "why": list(one.reasons)} for one in selection.left],
    }


def _json(selection: Selection, head: str | None, base: str) -> str:
    return json.dumps(selection_form(selection, head, base), ensure_ascii=False, indent=1) + "\n"


def _text(selection: Selection) -> str:
    from botlint.core.visible import visible, without_commands
    from botlint.plan.show import describe_jobs, flatten

    lines: list[str] = []
    for one in selection.chosen:
        keys = [key for key in flatten(one.plan.job) if key in ("tp", "pp", "ep", "dp-attn", "conc", "isl", "osl")]
        described = "".join(describe_jobs([one.plan], keys))
        lines.append(f"{one.id}  {one.gpus} GPU  {one.plan.entry}  {described}")
        lines += [f"    {text}" for text in one.shows]
    if selection.left:
        lines.append("not shown:")
        for left in selection.left:
            lines.append(f"    {left.text}" + (f" ({'; '.join(left.reasons)})" if left.reasons else ""))
    return without_commands("".join(f"{visible(line, 500)}\n" for line in lines))

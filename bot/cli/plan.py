"""`botlint plan`: what every benchmark job really starts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from botlint.cli.common import Settings, common_options, mode_options, no_collection
from botlint.core.errors import CannotFinish, NothingToCheck, UsageError

if TYPE_CHECKING:
    from botlint.core.span import Problem
    from botlint.layouts.base import Job
    from botlint.layouts.inferencex.jobs import Mode
    from botlint.plan.build import Planner
    from botlint.plan.model import LaunchPlan
    from botlint.plan.select import Condition

_CONDITION = re.compile(r"[A-Za-z][\w.-]*=.*", re.DOTALL)

MAX_PROBLEMS = 20
"""Problems that are told on stderr; --verbose tells all."""


@click.command()
@click.argument("entries", nargs=-1, metavar="[ENTRY|FILE.md]...")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="The repository (default: the current folder).",
)
@click.option("--rev", metavar="REV", help="A git revision instead of the working tree.")
@mode_options
@click.option(
    "--where",
    multiple=True,
    metavar="K=V...",
    help="Only jobs with this value; K is a row key, runner, scenario, outcome.",
)
@click.option("--commands", is_flag=True, help="The launch commands of all Markdown documents instead of the jobs.")
@click.option("--explain", metavar="NAME", help="Where a variable, or an option such as --explain=--host, comes from.")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
@common_options
def plan(
    settings: Settings,
    entries: tuple[str, ...],
    repo: Path,
    rev: str | None,
    mode: Mode | None,
    where: tuple[str, ...],
    commands: bool,
    explain: str | None,
    form: str,
) -> int:
    """Show what the jobs of ENTRY (a name or a glob; default: all) really start: outcome, environment and argv.

    Of a Markdown file, these are the launch commands in it.

    Nothing of the repository is executed. Conditions are KEY=VALUE with a key of the job's row (nested: prefill.tp) or
    runner, scenario, outcome, launcher, recipe; the value may be a glob. Several conditions must all hold.

    \b
    Examples:
      botlint plan
      botlint plan 'minimaxm3-*' --where tp=2 conc=1
      botlint plan --where outcome=exits --format json
      botlint plan --eval --where scenario=agentic-coding
      botlint plan ENTRY --where tp=2 --explain VLLM_ROCM_USE_AITER
      botlint plan ENTRY --rev v1.2 --explain=--max-num-seqs
      botlint plan docs/serving.md
    """
    from botlint.engine.settings import read_settings
    from botlint.layouts.commands import CLIENT
    from botlint.plan.build import Planner
    from botlint.plan.select import matches_plan, parse_condition
    from botlint.repo.open import open_files

    names, bare = split_arguments(entries)
    conditions = [parse_condition(text) for text in (*where, *bare)]
    with no_collection(), open_files(repo, rev) as files:
        planner = Planner(files, mode or "throughput", layout=read_settings(files).layout_choice)
        jobs = _selected(planner, names, conditions, settings, commands=commands)
        clients = [job for job in jobs if job.scenario == CLIENT]
        servers = [job for job in jobs if job.scenario != CLIENT] if clients else jobs
        made = [
            *zip(servers, planned(planner, servers, "planning", settings), strict=True),
            *zip(clients, planner.plan_clients(clients) if clients else (), strict=True),
        ]
        chosen = [(job, one) for job, one in made if matches_plan(one, conditions)]
        plans = [one for _, one in chosen]
        problems = _of_interest(planner.all_problems, [] if commands else names)
        tell_problems(settings, problems)
        if not plans:
            raise NothingToCheck("no job meets the conditions")
        with settings.open_output() as stream:
            rows = rows_by_entry([*planner.jobs, *jobs] if commands or names else planner.jobs)
            if explain is not None:
                stream.writelines(_explained(planner, chosen, explain, form, settings, rows))
            else:
                stream.writelines(_json(plans, problems) if form == "json" else _text(plans, settings, rows))
        return exit_code(settings, planner)


def split_arguments(arguments: Iterable[str]) -> tuple[list[str], list[str]]:
    """Entries and conditions (`key=value`) of a command line; no entry's name has an equals sign."""
    names: list[str] = []
    conditions: list[str] = []
    for argument in arguments:
        (conditions if _CONDITION.fullmatch(argument) else names).append(argument)
    return names, conditions


def _selected(
    planner: Planner,
    names: Sequence[str],
    conditions: Sequence[Condition],
    settings: Settings,
    *,
    commands: bool = False,
) -> list[Job]:
    """The jobs to plan.

    Raises UsageError for an unknown entry or key, NothingToCheck when no job is left.
    """
    from botlint.layouts.choose import INFERENCEX
    from botlint.layouts.commands import ENDINGS
    from botlint.plan.select import choose_entries, choose_jobs

    of_documents = [name for name in names if name.partition("#")[0].lower().endswith(ENDINGS)]
    if commands or of_documents:
        found = _commands(planner, of_documents, everything=commands)
        if of_documents != list(names):
            names = [name for name in names if name not in of_documents]
            found = [*_selected(planner, names, [], settings), *found]
        if not found:
            tell_problems(settings, planner.all_problems)
            raise NothingToCheck("no launch command in " + (", ".join(of_documents) or "the documents"))
        jobs = choose_jobs(found, list(dict.fromkeys(job.entry for job in found)), conditions)
        if not jobs:
            raise NothingToCheck("no job meets the conditions")
        return jobs
    known = list(dict.fromkeys([*planner.configs.entries, *(job.entry for job in planner.jobs)]))
    if not known:
        tell_problems(settings, planner.all_problems)
        raise NothingToCheck(
            "no master config with entries (configs/*-master.yaml), nor the files of another layout"
            if planner.layout == INFERENCEX
            else f"the layout `{planner.layout}` finds no job here"
        )
    entries = choose_entries(known, names)
    jobs = choose_jobs(planner.jobs, entries, conditions)
    if not jobs:
        tell_problems(settings, planner.all_problems)
        raise NothingToCheck("no job meets the conditions" if conditions else "the selected entries have no jobs")
    return jobs


def _commands(planner: Planner, names: Sequence[str], *, everything: bool) -> list[Job]:
    """The launch commands of the revision's documents, or of the files that are named, one by one or whole.

    Raises UsageError for a file that is not there or no text.
    """
    from botlint.layouts.commands import document_commands

    jobs: list[Job] = [*planner.commands, *planner.clients] if everything else []
    for name in names:
        path = name.partition("#")[0]
        if planner.files.is_file(path):
            jobs += [job for job in (*planner.commands, *planner.clients) if name in (job.entry, job.config.path)]
            continue
        try:
            text = Path(path).read_text(encoding="utf-8")
        except FileNotFoundError:
            raise UsageError(f"no document '{path}', neither in the repository nor here") from None
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from None
        except UnicodeDecodeError as error:
            raise UsageError(f"cannot read {path}: {error}") from None
        found = document_commands(path, text)
        jobs += [job for job in (*found.jobs, *found.clients) if name in (job.entry, path)]
    return list({id(job): job for job in jobs}.values())


def planned(planner: Planner, jobs: Sequence[Job], label: str, settings: Settings) -> list[LaunchPlan]:
    """The plans of jobs, made on all processors, with a bar on a terminal."""
    from botlint.cli.progress import with_bar
    from botlint.plan.parallel import plan_jobs

    show = settings.show_progress()
    return with_bar(lambda step: plan_jobs(planner, jobs, step), len(jobs), label, show=show)


def _of_interest(problems: Sequence[Problem], names: Sequence[str]) -> list[Problem]:
    """The problems without those of other documents than the ones that are named."""
    from botlint.layouts.commands import ENDINGS

    named = {name.partition("#")[0] for name in names}
    return [
        problem
        for problem in problems
        if not named or problem.span.path in named or not problem.span.path.lower().endswith(ENDINGS)
    ]


def tell_problems(settings: Settings, problems: Sequence[Problem]) -> None:
    """Say on stderr what could not be read."""
    shown = problems if settings.verbose else problems[:MAX_PROBLEMS]
    for problem in shown:
        settings.note(f"botlint: {problem.span}: {problem.message}")
    if len(shown) < len(problems):
        settings.note(f"botlint: {len(problems) - len(shown)} more problems (--verbose lists them)")


def exit_code(settings: Settings, *planners: Planner) -> int:
    """0, or that of a command that could not finish where a plan failed for a reason of ours, which is told."""
    failures = [failure for planner in planners for failure in planner.failures]
    for text in dict.fromkeys(f"{type(failure).__name__}: {failure}" for failure in failures[:MAX_PROBLEMS]):
        settings.note(f"botlint: internal error: {text}")
    return CannotFinish.exit_code if failures else 0


def _json(plans: Sequence[LaunchPlan], problems: Sequence[Problem]) -> Iterator[str]:
    from botlint.plan.jsonform import write_document

    return write_document(plans, problems)


def _text(
    plans: Sequence[LaunchPlan], settings: Settings, rows: Mapping[str, Sequence[Mapping[str, object]]]
) -> Iterator[str]:
    from botlint.plan.show import Counts, render_entry
    from botlint.plan.style import Style

    style = Style(settings.use_color())
    by_entry: dict[str, list[LaunchPlan]] = {}
    counts = Counts()
    for one in plans:
        by_entry.setdefault(one.entry, []).append(one)
        counts.count(one)
    for entry, group in by_entry.items():
        yield from (f"{line}\n" for line in render_entry(group, rows[entry], style))
    yield f"{counts.text()}\n"


def rows_by_entry(jobs: Iterable[Job]) -> dict[str, list[Mapping[str, object]]]:
    """The rows of jobs."""
    rows: dict[str, list[Mapping[str, object]]] = {}
    for job in {id(job): job for job in jobs}.values():
        rows.setdefault(job.entry, []).append(job.row)
    return rows


def _explained(
    planner: Planner,
    chosen: Sequence[tuple[Job, LaunchPlan]],
    name: str,
    form: str,
    settings: Settings,
    rows: Mapping[str, Sequence[Mapping[str, object]]],
) -> Iterator[str]:
    from botlint.cli.progress import with_progress
    from botlint.plan.explain import Explainer
    from botlint.plan.explainshow import explanation_document, group_explanations, render_explanations
    from botlint.plan.style import Style

    explainer = Explainer(planner)
    explained = [
        (one, launch.runners, explainer.explain(job, name, launch.runners[0]))
        for job, one in with_progress(chosen, len(chosen), "explaining", show=settings.show_progress())
        for launch in (one.launch, *one.others)
    ]
    groups = group_explanations(explained)
    if form == "json":
        import json

        yield json.dumps(explanation_document(groups), ensure_ascii=False, indent=2) + "\n"
        return
    yield from (f"{line}\n" for line in render_explanations(groups, rows, Style(settings.use_color())))

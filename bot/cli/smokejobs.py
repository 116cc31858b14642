"""`botlint smoke jobs`: on a node, the smoke jobs of a pull request that somebody asked for, each in its image."""

from __future__ import annotations

import json
import re
import shlex
import signal
import tempfile
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from botlint.cli.common import Settings, common_options, no_collection
from botlint.core.errors import NothingToCheck, UsageError

if TYPE_CHECKING:
    from botlint.plan.model import LaunchPlan
    from botlint.smoke.launcher import Hints
    from botlint.smoke.node import Node, Prepared
    from botlint.smoke.result import Unstarted

EXIT_CODES = {"pass": 0, "fail": 1, "infrastructure": 3, "inconclusive": 3}

_SHA = re.compile(r"[0-9a-f]{40}")
_MARK = re.compile(r"[0-9a-f]{16}")
_MOST = 8


@click.command("jobs")
@click.option("--head", required=True, metavar="SHA", help="The commit whose jobs are started: 40 digits.")
@click.option("--base", default="", metavar="SHA", help="The commit that they are compared with.")
@click.option("--jobs", required=True, metavar="ID,ID", help="The jobs, as `botlint smoke select` names them.")
@click.option("--nonce", required=True, metavar="MARK", help="The mark of the run that was asked for: 16 digits.")
@click.option(
    "--repo",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    default=Path(),
    help="A clone with both commits; its working tree, whose settings count, is that of the default branch.",
)
@click.option(
    "--engine",
    type=click.Choice(["auto", "docker", "podman", "slurm", "enroot", "none"]),
    default="auto",
    help="What starts containers (default: what the job's launcher uses, else what is there).",
)
@click.option("--work", type=click.Path(file_okay=False, path_type=Path), help="The folder of the run.")
@click.option("--package", default="botlint[smoke]", show_default=True, help="What is installed in the container.")
@click.option("--wheels", metavar="FOLDER", default="", help="Install it from here, in a container without a network.")
@click.option(
    "--model-cache", "cache", metavar="FOLDER", default="", help="The hub's models (HF_HUB_CACHE): read only."
)
@click.option("--folder", "folders", multiple=True, metavar="FOLDER...", help="Other folders: read only.")
@click.option("--srun", "slurm", multiple=True, metavar="--NAME=VALUE...", help="More options of srun: a partition.")
@click.option("--nvidia", is_flag=True, help="The GPUs are NVIDIA's (default: AMD's).")
@click.option("--no-compare", is_flag=True, help="Do not start the same jobs of the base.")
@click.option("--clean", is_flag=True, help="Start nothing, and clear away what a run that was cut off has left.")
@click.option("--dry-run", is_flag=True, help="Start nothing, and print the commands.")
@common_options
def run_jobs(settings: Settings, /, **given: Any) -> int:
    """Start the smoke jobs of a pull request on this node, and write what came of them to --output.

    The jobs are planned again here, from the files of both commits, which are data: nothing of them is checked out or
    executed. Each job is started in its own image by a command of ours, which `--dry-run` prints.

    Exit codes: 0 pass; 1 fail; 2 usage; 3 infrastructure or inconclusive; 4 no job.
    """
    from botlint.smoke.node import run_all, run_command
    from botlint.smoke.result import result_form

    head, base, nonce, ids = _asked(given)
    if given["clean"]:
        return _clean(given, nonce, ids)
    with ExitStack() as stack:
        work = given["work"]
        if work is None and given["dry_run"]:
            work = Path("/tmp/botlint-smoke-jobs")  # noqa: S108 (nothing is made there)
        elif work is None:
            work = Path(
                stack.enter_context(
                    tempfile.TemporaryDirectory(prefix="botlint-smoke-jobs-", ignore_cleanup_errors=True)
                )
            )
        node = _node(given, work.absolute())
        ready, unstarted = _ready(settings, given, node, head, base, nonce, ids)
        with settings.open_output() as stream:
            if given["dry_run"]:
                stream.writelines(_shown(ready, unstarted))
                return 0 if ready else NothingToCheck.exit_code
            stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, _interrupt))
            result = run_all(ready, unstarted, head, base or None, nonce, run=run_command, tell=settings.note)
            stream.write(json.dumps(result_form(result), ensure_ascii=False, allow_nan=False) + "\n")
    return EXIT_CODES[result.verdict]


def _interrupt(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    """A workflow that is cancelled ends its steps so; the container is to be ended too."""
    raise KeyboardInterrupt


def _clean(given: dict[str, Any], nonce: str, ids: list[str]) -> int:
    from botlint.smoke.container import ENGINES, Container, cleanup
    from botlint.smoke.node import CLEAN, run_command

    node = _node(given, Path("/tmp/botlint-smoke-jobs"))  # noqa: S108 (nothing is made there)
    for one in ids:
        for engine in ENGINES if node.engine is None else (node.engine,):
            box = Container(engine, str(node.work / one), f"botlint-smoke-{nonce}-{one}", 1, 1)
            for command in cleanup(box):
                run_command(command, CLEAN)
    return 0


def _asked(given: dict[str, Any]) -> tuple[str, str, str, list[str]]:
    """What was asked for, in exactly the form that it has to have. Raises UsageError for another one."""
    head, base, nonce, ids = given["head"], given["base"], given["nonce"], given["jobs"].split(",")
    if _SHA.fullmatch(head) is None or (base and _SHA.fullmatch(base) is None):
        raise UsageError("--head and --base are whole names of commits: 40 hexadecimal digits")
    if _MARK.fullmatch(nonce) is None:
        raise UsageError("--nonce has 16 hexadecimal digits")
    if len(ids) > _MOST or not all(_MARK.fullmatch(one) for one in ids):
        raise UsageError(f"--jobs are up to {_MOST} ids of 16 hexadecimal digits, with commas between")
    return head, base, nonce, ids


def _node(given: dict[str, Any], work: Path) -> Node:
    from botlint.smoke.node import Node

    engine = None if given["engine"] == "auto" else given["engine"]
    return Node(
        work,
        engine,
        given["package"],
        given["wheels"],
        given["cache"],
        tuple(given["folders"]),
        tuple(given["slurm"]),
        given["nvidia"],
    )


def _ready(
    settings: Settings, given: dict[str, Any], node: Node, head: str, base: str, nonce: str, ids: list[str]
) -> tuple[list[Prepared], list[Unstarted]]:
    """The jobs by their ids, planned from the files of both commits."""
    from botlint.cli.planning import KeptPlans
    from botlint.engine.settings import SmokeSettings, read_settings
    from botlint.plan.build import Planner
    from botlint.repo.open import open_files
    from botlint.smoke.node import hints_for, old_plans, prepare
    from botlint.smoke.select import Budget, find

    repo: Path = given["repo"]
    smoke = read_settings(open_files(repo, None)).smoke or SmokeSettings()
    budget = Budget(smoke.max_jobs, smoke.max_gpus, smoke.runners, smoke.images)
    plan_jobs = KeptPlans(repo, settings)
    with no_collection(), open_files(repo, head) as files:
        planner = Planner(files)
        plans = plan_jobs(planner, planner.jobs)
        selection = find(plans, ids[: smoke.max_jobs], budget)
        olds: dict[str, LaunchPlan] = {}
        hints: dict[str, Hints] = {}
        if base and selection.chosen:
            with open_files(repo, base) as old_files:
                old = Planner(old_files)
                before = plan_jobs(old, old.jobs)
                hints = hints_for(before, selection.chosen)
                olds = {} if given["no_compare"] else old_plans(before, plans, selection.chosen)
    return prepare(node, selection, head, base or None, nonce, olds, hints)


def _shown(ready: list[Prepared], unstarted: list[Unstarted]) -> list[str]:
    from botlint.core.visible import told

    lines = [f"# {one.id} cannot be started: {one.reason}\n" for one in unstarted]
    for job in ready:
        lines.append(
            f"# {job.id}: {job.asked.plan.get('entry')}" + (", and the same at the base\n" if job.base else "\n")
        )
        lines += [f"{shlex.join(command)}\n" for command in job.commands]
    return [told(line) for line in lines]

"""The smoke jobs of a pull request on one node: each in its image, one after another, with a result whatever happens.

What a container leaves behind is data of a stranger: it is read as a file of bounded size that is no link.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import Final

from botlint.core.errors import CannotFinish, UsageError
from botlint.core.visible import visible
from botlint.plan.diff import match_jobs
from botlint.plan.model import LaunchPlan
from botlint.plan.select import plain
from botlint.smoke.container import (
    BASE,
    REQUEST,
    VERDICT,
    Container,
    Engine,
    cleanup,
    commands,
    find_engine,
    read_image,
)
from botlint.smoke.jsonform import MAX_BYTES, read_verdict, request_form
from botlint.smoke.launcher import Hints, read_hints
from botlint.smoke.model import Limits, Log, SmokeRequest, Verdict
from botlint.smoke.result import JobResult, Result, Unstarted
from botlint.smoke.run import job_name
from botlint.smoke.select import Chosen, Selection, request

START: Final = 1_800
"""Seconds that a container may take beside the stages of its run: to pull an image, to wait for the node."""

CLEAN: Final = 60
_GRACE: Final = 30.0

MAX_LOG: Final = 60
MAX_LINE: Final = 500
MAX_WORD: Final = 2_000

Run = Callable[[Sequence[str], float], int]
"""Runs a command for at most so many seconds and gives its exit status; what it started ends with it."""


@dataclass(frozen=True, slots=True)
class Node:
    """Where jobs are started and with what; see `Container`."""

    work: Path
    engine: Engine | None
    """None: that of the job's launcher, else the first that is there."""
    package: str = "botlint[smoke]"
    wheels: str = ""
    cache: str = ""
    folders: tuple[str, ...] = ()
    slurm: tuple[str, ...] = ()
    nvidia: bool = False
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A job that is ready to be started: its id, what it is asked, that of the base, and the commands."""

    id: str
    asked: SmokeRequest
    base: SmokeRequest | None
    box: Container
    commands: tuple[tuple[str, ...], ...]


def prepare(
    node: Node,
    selection: Selection,
    head: str,
    base: str | None,
    nonce: str,
    olds: Mapping[str, LaunchPlan],
    hints: Mapping[str, Hints] = MappingProxyType({}),
) -> tuple[list[Prepared], list[Unstarted]]:
    """The jobs of a selection, ready to be started.

    By the ids of the head's jobs, `olds` are the plans of the base, and `hints` what its launchers tell of the node.
    """
    ready: list[Prepared] = []
    left = [Unstarted(one.text, visible("; ".join(one.reasons), 2_000)) for one in selection.left]
    for chosen in selection.chosen:
        old = olds.get(chosen.id)
        asked = replace(request(chosen, head, base if old is not None else None, nonce), limits=node.limits)
        compared = None if old is None else replace(request(replace(chosen, plan=old), base), limits=node.limits)
        try:
            ready.append(_prepared(node, chosen, asked, compared, nonce, hints.get(chosen.id, Hints())))
        except UsageError as error:
            left.append(Unstarted(chosen.id, visible(str(error), 2_000)))
    return ready, left


def _prepared(
    node: Node, chosen: Chosen, asked: SmokeRequest, compared: SmokeRequest | None, nonce: str, hints: Hints
) -> Prepared:
    engine = node.engine or engine_for(hints)
    box = Container(
        engine,
        str(node.work / chosen.id),
        f"botlint-smoke-{nonce}-{chosen.id}",
        chosen.gpus,
        int((_seconds(asked, compared) + START) // 60) + 1,
        node.package,
        node.wheels,
        node.cache or hints.cache,
        node.folders,
        node.slurm,
        hints.options if engine == hints.engine else (),
        node.nvidia or hints.nvidia,
        compared is not None,
    )
    image = None if engine == "none" else read_image(plain(chosen.plan.job.get("image", "")))
    return Prepared(chosen.id, asked, compared, box, tuple(map(tuple, commands(box, image))))


def engine_for(hints: Hints, which: Callable[[str], str | None] = shutil.which) -> Engine:
    """The engine that a launcher uses, if it is there; else the first that is. Raises UsageError without any."""
    programme = {"slurm": "srun"}.get(hints.engine or "", hints.engine or "")
    return hints.engine if hints.engine is not None and which(programme) else find_engine(which)


def hints_for(base: Sequence[LaunchPlan], chosen: Iterable[Chosen]) -> dict[str, Hints]:
    """What the launchers of the base tell of the node, by the ids of chosen jobs.

    It is the line of the same job if the base has it, else that of another one on the same runner and framework.
    """
    found: dict[str, Hints] = {}
    for one in chosen:
        runner, framework = one.plan.job.get("runner"), one.plan.job.get("framework")
        alike = [plan for plan in base if plan.job.get("runner") == runner and plan.launch.container]
        alike.sort(key=lambda plan: (plan.entry != one.plan.entry, plan.job.get("framework") != framework))
        if alike:
            found[one.id] = read_hints(alike[0].launch.container)
    return found


def _seconds(asked: SmokeRequest, compared: SmokeRequest | None) -> float:
    """How long the stages of a run may take."""
    once = sum(asked.limits.of(stage) + 5 for stage in asked.stages)
    return once if compared is None else 2 * once


def old_plans(
    base: Sequence[LaunchPlan], head: Sequence[LaunchPlan], chosen: Iterable[Chosen]
) -> dict[str, LaunchPlan]:
    """The plans of the base for chosen jobs whose server is another one there, by the ids of the jobs."""
    found: dict[str, LaunchPlan] = {}
    for one in chosen:
        entry = one.plan.entry
        here = [plan for plan in head if plan.entry == entry]
        couples, _, _ = match_jobs([plan for plan in base if plan.entry == entry], here)
        for old, new in couples:
            if new.job == one.plan.job and new.scenario == one.plan.scenario:
                launches = [launch for launch in (old.launch, *old.others) if launch.runners == one.plan.launch.runners]
                launch = launches[0] if launches else old.launch
                if launch.server is not None and launch.server != one.plan.launch.server:
                    found[one.id] = replace(old, launch=launch, others=())
                break
    return found


def run_all(
    jobs: Sequence[Prepared],
    unstarted: Sequence[Unstarted],
    head: str,
    base: str | None,
    nonce: str,
    *,
    run: Run,
    tell: Callable[[str], None] = lambda _: None,
) -> Result:
    """Starts jobs one after another and gives what came of them. Raises CannotFinish if their folder cannot be used."""
    results = []
    for job in jobs:
        tell(f"{job.id}: {job.asked.plan.get('entry')}")
        verdict = _run_one(job, run)
        tell(f"{job.id}: {verdict.verdict}: {visible(verdict.reason, 300)}")
        results.append(JobResult(job.id, bounded(verdict)))
    return Result(nonce, head, base, tuple(results), tuple(unstarted))


def _run_one(job: Prepared, run: Run) -> Verdict:
    folder = Path(job.box.work)
    try:
        folder.mkdir(parents=True, exist_ok=False, mode=0o700)
        (folder / REQUEST).write_text(json.dumps(request_form(job.asked)), encoding="utf-8")
        if job.base is not None:
            (folder / BASE).write_text(json.dumps(request_form(job.base)), encoding="utf-8")
    except OSError as error:
        raise CannotFinish(f"the folder of a job cannot be used: {error.strerror}") from error
    status = 0
    until = time.monotonic() + _seconds(job.asked, job.base) + START
    try:
        for command in job.commands:
            status = run(command, until - time.monotonic())
            if status and command is not job.commands[-1]:
                return _without(job, f"{command[0]} {command[1]} ended with status {status}")
    finally:
        for words in cleanup(job.box):
            run(words, CLEAN)
    content = read_left(folder / VERDICT)
    if content is None:
        return _without(job, f"the container left no verdict; it ended with status {status}")
    try:
        verdict = read_verdict(content.decode("utf-8"))
    except (UsageError, UnicodeDecodeError) as error:
        return _without(job, f"the container left no verdict that can be read: {visible(str(error), 300)}")
    # Which job it is about, and for which run, is known here and not there.
    return replace(
        verdict, job=job_name(job.asked.plan), head=job.asked.head, base=job.asked.base, nonce=job.asked.nonce
    )


def _without(job: Prepared, reason: str) -> Verdict:
    asked = job.asked
    server = asked.plan.get("server")
    framework = server.get("framework") if isinstance(server, Mapping) else None
    return Verdict(
        "infrastructure",
        reason,
        job_name(asked.plan),
        framework if isinstance(framework, str) else None,
        head=asked.head,
        base=asked.base,
        nonce=asked.nonce,
    )


def read_left(path: Path) -> bytes | None:
    """What a container left in a file; None where there is none, or something else, or too much."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    with os.fdopen(descriptor, "rb") as stream:
        content = stream.read(MAX_BYTES + 1)
    return content if len(content) <= MAX_BYTES else None


def bounded(verdict: Verdict) -> Verdict:
    """The verdict without what would make a result of several too large to be read."""
    lines = tuple(visible(line, MAX_LINE) for line in verdict.log.tail[-MAX_LOG:])
    log = Log(lines, verdict.log.lines, verdict.log.bytes, verdict.log.cut or len(lines) < len(verdict.log.tail))
    short = replace(
        verdict,
        log=log,
        argv=tuple(visible(word, MAX_WORD) for word in verdict.argv[:300]),
        env={name: visible(value, MAX_WORD) for name, value in list(verdict.env.items())[:300]},
        changes=tuple(replace(one, old=_short(one.old), new=_short(one.new)) for one in verdict.changes[:100]),
        stages=tuple(replace(one, details={}) for one in verdict.stages),
    )
    return (
        short
        if verdict.compared is None
        else replace(short, compared=bounded(replace(verdict.compared, compared=None)))
    )


def _short(text: str | None) -> str | None:
    return None if text is None else visible(text, MAX_WORD)


def run_command(command: Sequence[str], seconds: float) -> int:
    """A `Run` that shows what the command writes, and ends it and all that it started when its time is over."""
    try:
        process = subprocess.Popen(  # noqa: S603 (words of `container.commands`)
            list(command), stdin=subprocess.DEVNULL, start_new_session=True
        )
    except OSError:
        return 127
    try:
        return process.wait(max(seconds, 1.0))
    except subprocess.TimeoutExpired:
        return 124
    finally:
        _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    for number, wait in ((signal.SIGTERM, _GRACE), (signal.SIGKILL, 5.0)):
        if process.poll() is not None:
            break
        with suppress(OSError):
            os.killpg(process.pid, number)
        with suppress(subprocess.TimeoutExpired):
            process.wait(wait)
    with suppress(OSError):  # what it left in its group
        os.killpg(process.pid, signal.SIGKILL)

"""Traps, signals and background jobs: `trap`, `kill`, `wait`, `jobs`, `disown`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from botlint.shell import formatting
from botlint.shell.signals import (
    SIGNALS,
    Status,
    Undecided,
)
from botlint.shell.values import Hole, Text, Value, hole, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Job, Shell


def _signal_name(text: str) -> str | None:
    """The name of a signal or pseudo-signal, without SIG; None if there is none."""
    name = text.upper().removeprefix("SIG")
    if name.isdigit():
        number = int(name)
        return "EXIT" if number == 0 else next((n for n, k in SIGNALS.items() if k == number), None)
    return name if name in SIGNALS or name in _PSEUDO else None


_PSEUDO = {"EXIT": 0, "DEBUG": 100, "ERR": 101, "RETURN": 102}


def trap(shell: Shell, args: list[Value]) -> Status:
    """`trap`."""
    if args and args[0] == "--":
        args = args[1:]
    if not args or args[0] in ("-p", "-l"):
        if not args or args[0] == "-p":
            _print_traps(shell, args[1:])
        return 0
    first = shell.concrete(args[0])
    names = args[1:]
    if not names or (first is not None and first.isdigit()):
        action: str | None = None
        names = args
    else:
        action = None if first == "-" else ":" if first is None else first
    shell.version += 1
    status: Status = 0
    for arg in names:
        text = shell.concrete(arg) or ""
        name = _signal_name(text)
        if name is None:
            shell.complain(f"trap: {text}: invalid signal specification")
            status = 1
        elif action is None:
            shell.traps.pop(name, None)
        else:
            shell.traps[name] = action
    return status


def _print_traps(shell: Shell, wanted: list[Value]) -> None:
    names = [_signal_name(shell.concrete(a) or "") for a in wanted]
    for name, text in sorted(shell.traps.items(), key=lambda item: {**SIGNALS, **_PSEUDO}.get(item[0], 0)):
        if not wanted or name in names:
            shell.write(f"trap -- {formatting.single_quote(text)} {name if name in _PSEUDO else 'SIG' + name}\n")


def _job(shell: Shell, value: Value) -> Job | None:
    """The background job that `$!`, a number of a job or a copy of it stands for."""
    if isinstance(value, str):
        match = re.fullmatch(r"%([0-9]+|%|\+)?", value)
        jobs = list(shell.jobs.values())
        if match is None or not jobs:
            return None
        number = int(match.group(1)) if match.group(1) and match.group(1).isdigit() else len(jobs)
        return jobs[number - 1] if 0 < number <= len(jobs) else None
    piece = value.pieces[0] if len(value.pieces) == 1 else None
    return shell.jobs.get(piece) if isinstance(piece, Hole) else None


def wait(shell: Shell, args: list[Value]) -> Status:
    """`wait`: the status of jobs whose end is known."""
    following = False
    while args and isinstance(args[0], str) and re.fullmatch(r"-[fnp]+", args[0]):
        following = following or "n" in args[0]
        args = args[2:] if "p" in args[0] else args[1:]
    if not args:
        left = [j for j in shell.jobs.values() if not j.waited]
        if following:
            left = left[:1]
        for job in left:
            job.waited = True
        if following:
            return left[0].status if left else 127
        return 0
    status: Status = 0
    for arg in args:
        found = _job(shell, arg)
        if found is not None:
            found.waited = True
            status = found.status
        elif text_of(arg) is not None:
            shell.complain(f"wait: pid {text_of(arg)} is not a child of this shell")
            status = 127
        else:
            status = Undecided("wait")
    return status


def kill(shell: Shell, args: list[Value]) -> Status:
    """`kill`: of this shell, of its jobs."""
    name: str | None = "TERM"
    while args and isinstance(args[0], str) and args[0].startswith("-") and len(args[0]) > 1:
        option = args[0]
        args = args[1:]
        if option == "--":
            break
        if option in ("-l", "-L"):
            return Undecided("kill -l")
        if option in ("-s", "-n"):
            option = "-" + (shell.concrete(args[0]) or "" if args else "")
            args = args[1:]
        name = "0" if option == "-0" else _signal_name(option[1:])
    if name is None or not args:
        shell.complain("kill: invalid signal specification")
        return 1 if args else 2
    status: Status = 0
    for arg in args:
        one = _kill_one(shell, arg, name)
        status = one if one != 0 else status
    return status


def _kill_one(shell: Shell, arg: Value, name: str) -> Status:
    piece = arg.pieces[0] if isinstance(arg, Text) and len(arg.pieces) == 1 else None
    if isinstance(piece, Hole) and piece in shell.ids:
        if name == "0":
            return 0
        if piece is shell.ids[-1]:
            return shell.receive(name)
        shell.killed = name
        return 0
    job = _job(shell, arg)
    if job is None:
        if isinstance(arg, str) and shell.world.machine is not None:
            shell.complain(f"kill: ({arg}) - No such process")
            return 1
        return Undecided("kill")
    if job.waited:
        return 1
    if name != "0":
        job.status = 128 + SIGNALS[name] if job.lasting else Undecided("a background job that was sent a signal")
    return 0 if job.lasting else Undecided("kill")


def disown(shell: Shell, args: list[Value]) -> Status:
    """`disown`."""
    named = [a for a in args if not (isinstance(a, str) and a.startswith("-"))]
    gone = [_job(shell, a) for a in named] if named else list(shell.jobs.values())[-1:]
    if "-a" in args:
        gone = list(shell.jobs.values())
    shell.jobs = {k: v for k, v in shell.jobs.items() if v not in gone}
    return 0


def jobs(shell: Shell, _: list[Value]) -> Status:
    """`jobs`."""
    if any(not job.waited for job in shell.jobs.values()):
        shell.write(hole("jobs"))
    return 0

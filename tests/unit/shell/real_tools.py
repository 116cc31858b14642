"""Runs many small cases in one real bash, for tests that compare a model with it."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Sequence

from botlint.shell.commands import MODELS

_ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "TZ": "UTC"}


def run_scripts(scripts: Sequence[str]) -> list[tuple[int, str]]:
    """The exit status and the standard output of each script, every one in its own subshell."""
    whole = "".join(f"( {{ {script}\n}} 2>/dev/null )\nprintf '\\036%d\\035' $?\n" for script in scripts)
    done = subprocess.run(
        ["bash"], input=whole.encode("utf-8", "surrogateescape"), capture_output=True, env=_ENVIRONMENT, timeout=60
    )
    results: list[tuple[int, str]] = []
    for piece in done.stdout.decode("utf-8", "surrogateescape").split("\x1d")[:-1]:
        output, _, status = piece.rpartition("\x1e")
        results.append((int(status), output))
    assert len(results) == len(scripts), done.stderr.decode()[:500]
    return results


def run_commands(cases: Sequence[tuple[str, str]]) -> list[tuple[int, str]]:
    """The exit status and output of each (command line, input)."""
    return run_scripts([f"printf %s {shlex.quote(stdin)} | {command}" for command, stdin in cases])


def expect_same(cases: Sequence[object], ours: Sequence[object], real: Sequence[object]) -> None:
    """Fails with the first cases on which our result is not the real one."""
    rows = [row for row in zip(cases, ours, real, strict=True) if row[1] != row[2]]
    if rows:
        shown = "\n".join(f"case {case!r}\n  ours {mine!r}\n  real {other!r}" for case, mine, other in rows[:8])
        raise AssertionError(f"{len(rows)} of {len(cases)} differ\n{shown}")


def words(table: str) -> list[str]:
    """The words of a table of cases."""
    return table.split()


def lines(table: str) -> list[str]:
    """The lines of a table of cases."""
    return table.strip("\n").split("\n")


def with_input(text: str, table: str) -> list[tuple[str, str]]:
    """Each command line of a table, with the same input."""
    return [(line, text) for line in lines(table)]


def _ours(command: str, text: str) -> tuple[int, str] | None:
    name, *args = shlex.split(command)
    return MODELS[name](args, text)


def check_commands(cases: Sequence[tuple[str, str]]) -> None:
    """Compares the models with the real commands; a status above 1 is an error, whichever it is."""
    ours = [result and (min(result[0], 2), result[1]) for result in (_ours(*case) for case in cases)]
    real = [(min(status, 2), output) for status, output in run_commands(cases)]
    same = [
        mine if mine and mine[0] and other[0] > 1 and mine[1] == other[1] else other
        for mine, other in zip(ours, real, strict=True)
    ]
    expect_same(cases, ours, same)


def check_unknown(cases: Sequence[tuple[str, str]]) -> None:
    """The models say of each (command line, input) that they do not know."""
    expect_same(cases, [_ours(*case) for case in cases], [None] * len(cases))

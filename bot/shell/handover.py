"""Hand-overs to programmes that are no shell: recipes that are submitted, and Python programmes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from botlint.shell import launching
from botlint.shell.process import ServerStart, Submitted, Variable
from botlint.shell.signals import ServeFlow, Status, Undecided
from botlint.shell.values import Text, Value, derive, text_of, touch
from botlint.shell.words import start_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


def submit(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """A command that hands a description of servers to another programme, which the layers above read."""
    submission = shell.world.programmes.submits([v if isinstance(v, str) else None for v in values])
    if submission is None:
        return launching.unknown(shell, base)
    for value in values:
        touch(value)
    argument = values[submission.word]
    path = derive(submission.path, argument)
    _, _, entry = shell.look(path)
    submitted = Submitted(
        submission.kind,
        argument,
        path,
        entry.kind,
        shell.content(entry),
        entry.origin,
        _first_content(shell, submission.settings),
        shell.content(shell.look(".git/HEAD")[2]),
    )
    raise ServeFlow(
        ServerStart(
            [base, *values[1:]],
            shell.environment(overlay),
            shell.place(),
            shell.guard,
            shell.context.cwd,
            submitted,
        )
    )


def _first_content(shell: Shell, paths: Sequence[str]) -> Value | None:
    """What is in the first of some files that is there."""
    for path in paths:
        _, _, entry = shell.look(path)
        if entry.kind == "file":
            return shell.content(entry)
        if entry.kind == "unknown":
            return None
    return None


def python(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """A Python programme: followed only if somebody above knows what it does to a file."""
    at = 1
    while at < len(values) and start_of(values[at]).startswith("-") and values[at] not in ("-", "-c", "-m"):
        at += 2 if values[at] in ("-W", "-X") else 1
    if at >= len(values):
        return launching.unknown(shell, base, values[1:])
    if values[at] in ("-c", "-"):
        shell.skip("a Python programme in the script", 2)
        return launching.unknown(shell, base, values[1:])
    if values[at] == "-m":
        return launching.unknown(shell, base, values[1:])
    content = shell.content(shell.look(values[at])[2])
    edit = shell.world.programmes.edits(content) if isinstance(content, str) else None
    arguments = values[at + 1 :]
    if edit is None or len(arguments) != edit.arguments:
        shell.skip(f"the Python programme {text_of(values[at]) or 'of an unknown name'}", 2)
        return launching.unknown(shell, base, values[1:])
    environment = shell.environment(overlay)
    variables: list[Value] = []
    for name in edit.variables:
        value = environment[name].value if name in environment else None
        variables.append(value if isinstance(value, (str, Text)) else "")
    if shell.observe(edit.idle, *arguments, *variables):
        return 0
    before = shell.content(shell.look(arguments[0])[2])
    status = None if before is None else shell.observe(edit.status, *arguments, *variables, before)
    if before is None or not isinstance(status, int):
        shell.rewrite(arguments[0], None)
        return Undecided(f"{text_of(values[at])} succeeds")
    if status == 0:
        shell.rewrite(arguments[0], derive(edit.output, *arguments, *variables, before))
    return status


PROGRAMMES = {"srtctl": submit, "python": python, "python3": python}
"""Programmes by name."""

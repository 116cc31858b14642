"""Hand-overs to programmes that are no shell: recipes that are submitted, and Python programmes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from botlint.shell import launching
from botlint.shell.marks import Marks
from botlint.shell.process import ServerStart, Submitted, Variable
from botlint.shell.signals import ServeFlow, Status, Undecided
from botlint.shell.streams import In, Out
from botlint.shell.values import Text, Value, derive, text_of, touch
from botlint.shell.words import start_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell
    from botlint.shell.world import FileEdit


def submit(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """A command that hands a description of servers to another programme, which the layers above read."""
    submission = shell.world.programmes.submits([v if isinstance(v, str) else None for v in values])
    if submission is None:
        return launching.unknown(shell, base)
    for value in values:
        touch(value)
    shell.sure()
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


# --------------------------------------------------------------------------------------------------------------- Python


def python(shell: Shell, base: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
    """A Python programme: one that somebody above knows to edit a file, or one that only reads and prints."""
    at = 1
    while at < len(values) and start_of(values[at]).startswith("-") and values[at] not in ("-", "-c", "-m"):
        at += 2 if values[at] in ("-W", "-X") else 1
    first = values[at] if at < len(values) else "-"
    arguments = values[at + 1 :]
    if first == "-m":
        return launching.unknown(shell, base, values[1:])
    shown = "in the script"
    program: Value | None
    if first == "-c":
        program, arguments = (arguments[0] if arguments else ""), arguments[1:]
    elif first == "-":
        source = shell.fds.get(0)
        program = shell.drain(source) if isinstance(source, In) else None
    else:
        shown = text_of(first) or "of an unknown name"
        program = shell.content(shell.look(first)[2])
        edit = shell.world.programmes.edits(program) if isinstance(program, str) else None
        if edit is not None and len(arguments) == edit.arguments:
            return _edit(shell, edit, shown, arguments, overlay)
    status = None if program is None else _evaluate(shell, program, arguments, overlay)
    if status is None:
        shell.skip(f"a Python programme {shown}", 2)
        return launching.unknown(shell, base, values[1:])
    return status


def _edit(shell: Shell, edit: FileEdit, shown: str, arguments: list[Value], overlay: dict[str, Variable]) -> Status:
    environment = shell.environment(overlay)
    variables = [_value(environment, name) for name in edit.variables]
    if shell.observe(edit.idle, *arguments, *variables):
        return 0
    before = shell.content(shell.look(arguments[0])[2])
    status = None if before is None else shell.observe(edit.status, *arguments, *variables, before)
    if before is None or not isinstance(status, int):
        shell.rewrite(arguments[0], None)
        return Undecided(f"{shown} succeeds")
    if status == 0:
        shell.rewrite(arguments[0], derive(edit.output, *arguments, *variables, before))
    return status


def _value(environment: dict[str, Variable], name: str) -> Value:
    value = environment[name].value if name in environment else None
    return value if isinstance(value, (str, Text)) else ""


MAX_FILES = 8


def _evaluate(shell: Shell, program: Value, arguments: list[Value], overlay: dict[str, Variable]) -> Status | None:
    """Evaluates a programme that only reads files and variables and prints; None if it does something else."""
    marks = Marks()
    environment = shell.environment(overlay)
    names = tuple(sorted(n for n, v in environment.items() if isinstance(v.value, (str, Text))))
    given = [marks.mark(program), *[marks.mark(a) for a in arguments]]
    paths: list[str] = []
    contents: list[Value] = []
    for _ in range(MAX_FILES):
        wanted = shell.observe(_Mentioned(names), given[0], *contents)
        assert isinstance(wanted, tuple)
        step = _Step(tuple(paths), wanted, len(arguments))
        inputs = [*given, *[marks.mark(_value(environment, name)) for name in wanted], *contents]
        found = shell.observe(step, *inputs)
        if not isinstance(found, tuple) or found[0] == "no":
            return None
        if found[0] == "done":
            return _finish(shell, step, inputs, marks, found[1])
        content = shell.content(shell.look(marks.unmark(found[1]))[2])
        if content is None or (isinstance(content, Text) and not content.known):
            return None
        paths.append(found[1])
        contents.append(content)
    return None


def _finish(shell: Shell, step: _Step, inputs: list[Value], marks: Marks, status: int) -> Status:
    out = shell.fds.get(1)
    if isinstance(out, Out) and out.wanted:
        output = derive(step.output, *inputs)
        text = text_of(output) or ""
        shell.write(marks.unmark(shell.concrete(output) or "") if marks.within(text) else output)
    return status


class _Mentioned:
    """Which of some variables are named in any of some texts: a programme can only ask for these."""

    __slots__ = ("names",)

    def __init__(self, names: tuple[str, ...]) -> None:
        self.names = names

    def __call__(self, *texts: str) -> tuple[str, ...]:
        words = {word for text in texts for word in re.findall(r"[A-Za-z_]\w*", text)}
        return tuple(name for name in self.names if name in words)


class _Wanted(BaseException):
    """The programme opens a file whose text is not given yet."""


class _Step:
    """What a programme does for (its text, arguments..., variables..., texts of files...).

    It wants to `open` another file, is `done` with a status, or does something that is not known (`no`).
    """

    __slots__ = ("count", "names", "paths")

    def __init__(self, paths: tuple[str, ...], names: tuple[str, ...], count: int) -> None:
        self.paths = paths
        self.names = names
        self.count = count

    def __call__(self, program: str, *texts: str) -> tuple[Any, ...]:
        return self._run(program, texts)[:2]

    def output(self, program: str, *texts: str) -> str:
        """What is printed."""
        found = self._run(program, texts)
        return str(found[2]) if found[0] == "done" else ""

    def _run(self, program: str, texts: tuple[str, ...]) -> tuple[Any, ...]:
        variables = self.count + len(self.names)
        environment = tuple(zip(self.names, texts[self.count : variables], strict=True))
        files = tuple(zip(self.paths, texts[variables:], strict=True))
        return _run_python(program, texts[: self.count], environment, files)


@lru_cache(maxsize=512)
def _run_python(
    program: str,
    arguments: tuple[str, ...],
    environment: tuple[tuple[str, str], ...],
    files: tuple[tuple[str, str], ...],
) -> tuple[Any, ...]:
    from botlint.shell.commands.python import run_python

    texts = dict(files)

    def read(path: str) -> str | None:
        if path not in texts:
            raise _Wanted(path)
        return texts[path]

    try:
        found = run_python(program, arguments, dict(environment), read)
    except _Wanted as wanted:
        return "open", str(wanted)
    return ("no",) if found is None else ("done", *found)


PROGRAMMES = {"srtctl": submit, "python": python, "python3": python}
"""Programmes by name."""

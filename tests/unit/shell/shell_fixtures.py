"""Small scripts that start the server `serve`, interpreted for jobs that are given as variables."""

from __future__ import annotations

from collections.abc import Mapping

from botlint.core.unknown import Unknown
from botlint.shell.paths import WORKSPACE, Context
from botlint.shell.process import Inputs, Process, Solved
from botlint.shell.testing import MemoryFiles
from botlint.shell.values import Resolved, Text, resolve
from botlint.shell.world import Programmes, World

Given = str | Unknown
"""The text of a variable, or why nobody knows it before the run."""

MAYBE: Mapping[str, Given] = {"MAYBE": Unknown("maybe")}
"""A job with a variable that makes a test undecided."""


def world_of(files: Mapping[str, str]) -> World:
    """The files under interpretation, on a machine of which nothing is known."""
    programmes = Programmes(is_server=lambda argv: argv[:1] == ["serve"], may_serve=lambda name: name == "serve")
    return World(MemoryFiles(files), programmes)


def process_of(world: World, path: str, given: Mapping[str, Given], options: str = "") -> tuple[Process, Inputs]:
    """The process that interprets a script for jobs with these variables, and the inputs of one of them."""
    text = world.files.text(path)
    assert text is not None
    inputs = Inputs()
    inputs.update({name: value if isinstance(value, str) else (value,) for name, value in given.items()})
    unknown = frozenset(name for name, value in given.items() if isinstance(value, Unknown))
    script = world.script(path, text)
    context = Context(WORKSPACE)
    return world.process(script, path, path, frozenset(given), unknown, 0, context, options), inputs


def solve(world: World, path: str, given: Mapping[str, Given], options: str = "") -> Solved:
    """How a script ends for one job."""
    process, inputs = process_of(world, path, given, options)
    return process.solve(world, inputs)


def end(solved: Solved) -> str:
    """An ending in one line: `serve --tp 8`, `exit 1: no model`, `undecided: why`."""
    last = solved.last()
    leaf = last.leaf
    if leaf.kind == "serves":
        assert leaf.server is not None
        return " ".join(_shown(resolve(word, last.inputs)) for word in leaf.server.argv)
    if leaf.kind == "exits" and not leaf.reason:
        message = "" if leaf.message is None else _shown(resolve(leaf.message, last.inputs)).strip()
        return f"exit {leaf.code}: {message}" if message else f"exit {leaf.code}"
    return f"undecided: {leaf.reason}"


def ends(solved: Solved) -> list[str]:
    """The ending that is taken, and each possible one as `ending if condition, condition`."""
    shown = [end(solved)]
    for conditions, other in solved.alternatives:
        shown.append(f"{end(other)} if {', '.join(f'{place.line} {text}' for place, text in conditions)}")
    return shown


def environment(solved: Solved) -> dict[str, str]:
    """What the server that is started sees in its environment; nothing where none is."""
    last = solved.last()
    start = last.leaf.server
    if start is None:
        return {}
    values = {name: variable.value for name, variable in start.environment.items()}
    return {n: _shown(resolve(v, last.inputs)) for n, v in sorted(values.items()) if isinstance(v, (str, Text))}


def _shown(value: Resolved) -> str:
    return value if isinstance(value, str) else "".join(p if isinstance(p, str) else f"<{p.reason}>" for p in value)

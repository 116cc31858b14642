"""Where an option or a variable of a server is written: in a script's line, or under a key of a recipe's role."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from botlint.core.span import Span
from botlint.engine.analysis.recipe_places import is_recipe, key_place
from botlint.engine.analysis.row_places import row_place
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, whole_line
from botlint.engine.views.job import JobSource
from botlint.engine.views.server import ServerSource
from botlint.engine.watch import small_value
from botlint.layouts.base import Command, command_of
from botlint.layouts.commands import SCENARIO

MAX_LINE = 4_000
"""Characters of a line that are searched."""

MAX_SCRIPTS = 2_000


def option_place(context: Context, chain: Chain, spelling: str, values: Sequence[str]) -> Span | None:
    """The option's name without its dashes in the script or recipe that gives it; None if it is not found."""
    bare = spelling.lstrip("-")
    dashes = spelling[: len(spelling) - len(bare)]
    pattern = re.compile(rf"(?<![\w-]){dashes}(?P<name>{re.escape(bare)})(?![\w-])")
    return _place(context, chain, spelling, pattern, bare, " ".join(values))


def variable_place(context: Context, chain: Chain, name: str, value: str | None) -> Span | None:
    """The variable's name in the line that exports it; None if it is not found."""
    pattern = re.compile(rf"(?<![\w$])(?P<name>{re.escape(name)})(?==)")
    return _place(context, chain, name, pattern, name, value or "")


def _command(chain: Chain) -> Command | None:
    """The server's command, where the layout knows it word by word."""
    job, server = chain[0].source, chain[1].source
    if not isinstance(job, JobSource) or not isinstance(server, ServerSource):
        return None
    return command_of(job.job, server.role.name if server.role is not None else "")


def start_place(chain: Chain) -> Span | None:
    """The server's line; None for a recipe's role, which is written key by key: the rest is what srtctl adds."""
    source = chain[1].source
    if not isinstance(source, ServerSource):
        return None
    if _command(chain) is not None:
        return whole_line(*_start(source))
    path, line = _start(source)
    return None if is_recipe(path) else whole_line(path, line)


def _start(source: ServerSource) -> tuple[str, int]:
    role = source.role
    return (role.path, role.line) if role is not None else (source.server.path, source.server.line)


def _place(context: Context, chain: Chain, name: str, pattern: re.Pattern[str], key: str, value: str) -> Span | None:
    source = chain[1].source
    if not isinstance(source, ServerSource):
        return None
    command = _command(chain)
    if command is not None:
        return command.option_span(name) if name.startswith("-") else command.variable_span(name)
    own = row_place(context, chain[0].source, name)
    if own is not None:
        return own
    role = source.role.name if source.role is not None else ""
    path, line = _start(source)
    if is_recipe(path):
        asked = ("place", path, role, key, value)
        return context.kept(asked, lambda context: key_place(context, path, role, key, value))
    here = context.kept(("place", path, line, name), lambda context: _alone(context, path, pattern))
    # A document shows a command of its own: that a script has the same option says nothing about it.
    shown = chain[0].source.job.scenario == SCENARIO if isinstance(chain[0].source, JobSource) else False
    only = here or (None if shown else context.value(_only, name, pattern.pattern))
    return only or _explained(context, chain, name, pattern)


def _alone(context: Context, path: str, pattern: re.Pattern[str]) -> Span | None:
    """The place of a name that only one line of a file has."""
    lines = list(islice(_lines(context, path, pattern), 2))
    return lines[0] if len(lines) == 1 else None


@small_value
def _only(context: Context, name: str, pattern: str) -> Span | None:
    """The place of a name that only one line of all scripts has."""
    found: list[Span] = []
    compiled = re.compile(pattern)
    for path in context.once(_scripts):
        source = context.files.text(path)
        if source is not None and name in source.text:
            found.extend(islice(_lines(context, path, compiled), 2))
        if len(found) > 1:
            return None
    return found[0] if found else None


def _scripts(context: Context) -> list[str]:
    return [path for path in context.files.paths() if path.endswith(".sh")][:MAX_SCRIPTS]


def _explained(context: Context, chain: Chain, name: str, pattern: re.Pattern[str]) -> Span | None:
    """The last step of the explanation that spells the name; jobs that go the same way share it."""
    source = chain[0].source
    if not isinstance(source, JobSource):
        return None
    runner = source.launch.runners[0]
    solved = context.solve(source.job, runner)
    while solved is not None and solved.leaf.kind == "call" and solved.child is not None:
        solved = solved.child
    if solved is None:
        return None
    ways = context.once(_ways)
    way = ways.setdefault((id(solved.leaf), name), (solved.leaf, []))
    if not way[1]:
        way[1].append(_spelled(context, source, name, runner, pattern))
    return way[1][0]


def _ways(_context: Context) -> dict[object, tuple[object, list[Span | None]]]:
    return {}


def _spelled(context: Context, source: JobSource, name: str, runner: str, pattern: re.Pattern[str]) -> Span | None:
    for step in reversed(context.explainer.explain(source.job, name, runner).steps):
        if step.kind in ("script", "call", "server") and pattern.search(context.explainer.line(step.span)):
            spans = _lines(context, step.span.path, pattern)
            return next((span for span in spans if span.line == step.span.line), step.span)
    return None


def _lines(context: Context, path: str, pattern: re.Pattern[str]) -> Iterator[Span]:
    """The places of a text file where a pattern stands outside of comments, at most one of a line."""
    source = context.files.text(path)
    if source is None:
        return
    for number, text in enumerate(source.text.split("\n"), 1):
        if text.lstrip().startswith("#"):
            continue
        match = pattern.search(text[:MAX_LINE])
        if match is not None:
            yield Span(path, number, match.start("name") + 1, number, match.end("name") + 1)

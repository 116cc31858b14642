"""Where the values of a server are written: cheap enough for all jobs, without the proof that `explain` gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from botlint.plan.arguments import read_arguments
from botlint.shell.reads import options_spelt
from botlint.shell.values import Text, inputs_of

if TYPE_CHECKING:
    from botlint.layouts.base import Command, Environment, Job
    from botlint.layouts.inferencex.srtslurm import Role as RecipeRole
    from botlint.plan.model import Word
    from botlint.shell.process import Guard, Place, Solved, Variable

MarkKind = Literal["row", "workflow", "test", "script", "maybe", "recipe"]

Mark = tuple[MarkKind, str, int]
"""A path and a line that a value comes through: tests are around it, of `maybe` lines one gives it.

Of a `row` mark the path is the name of a row's field, dotted, and the line is 0: jobs that share all else differ in it.
"""

Origins = Mapping[str, tuple[Mark, ...]]
"""The marks of a server's variables and options (`--name`), causes first; a role's as `role NAME`; '': the command."""

MAX_MARKS = 8
"""Places of one value."""

MAX_TESTS = 3
"""Tests around one place, the innermost ones."""

MAX_SPELT = 4
"""Places that may have given an option."""


def row_places(job: Job) -> dict[str, tuple[str, int]]:
    """Path and line of each value of a job's row, by dotted key; what has a default has none."""
    found: dict[str, tuple[str, int]] = {}
    for path in _row_paths(job.row, ()):
        span = job.origin(*path)
        if span is not None:
            found[".".join(path)] = (span.path, span.line)
    return found


def _row_paths(row: Mapping[str, object], above: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for key, value in row.items():
        if isinstance(value, dict) and "name" not in value:
            yield from _row_paths(value, (*above, key))
        else:
            yield (*above, key)


def recipe_origins(roles: Sequence[RecipeRole]) -> dict[str, tuple[Mark, ...]]:
    """The marks of what a recipe's roles are given: the lines of its settings and variables."""
    found: dict[str, tuple[Mark, ...]] = {}
    for role in roles:
        for name in role.spans:
            span = role.spans[name]
            mark: tuple[Mark, ...] = (("recipe", span.path, span.line),)
            found[f"{role.name} {name}"] = mark
            found[f"{role.name} --{name.replace('_', '-')}"] = mark
    return found


def command_origins(commands: Sequence[Command]) -> dict[str, tuple[Mark, ...]]:
    """The marks of commands that are known word by word."""
    found: dict[str, tuple[Mark, ...]] = {}
    for command in commands:
        names = [word.partition("=")[0] for word in command.argv if isinstance(word, str) and word.startswith("-")]
        spans = [(name, command.option_span(name)) for name in dict.fromkeys(names)]
        spans.extend((name, command.variable_span(name)) for name in command.env)
        for name, span in spans:
            if span is not None:
                role = f"{command.role} " if command.role else ""
                found[f"{role}{name}"] = (("recipe", span.path, span.line),)
    return found


class OriginFinder:
    """Finds the marks of servers; what scripts spell is looked for once."""

    def __init__(self) -> None:
        self._spelt: dict[int, tuple[object, dict[str, dict[int, int]]]] = {}
        self._workflow: dict[tuple[int, str], tuple[Mark, ...]] = {}
        self._known: dict[tuple[int, ...], tuple[object, dict[str, tuple[Mark, ...]]]] = {}
        self._levels: dict[tuple[int, ...], dict[str, list[Mark]]] = {}
        self._joined: dict[tuple[object, ...], tuple[object, Origins]] = {}

    def origins(
        self, chain: Sequence[Solved], environment: Environment, names: Sequence[str], argv: Sequence[Word]
    ) -> dict[str, tuple[Mark, ...]]:
        """The marks of some variables and of the options of the server at the end of a way."""
        key = (id(environment.via), *(id(solved.leaf) for solved in chain))
        found = self._known.get(key)
        if found is None:
            # What is known by its identity is kept, so that nothing else can get the same one.
            kept = (environment.via, [solved.leaf for solved in chain])
            found = self._known[key] = (kept, dict(self._find(chain, environment, names, argv)))
        return found[1]

    def joined(self, parts: Sequence[tuple[str, Origins]]) -> Origins:
        """The marks of several servers that start together, each with the name of its role."""
        if len(parts) == 1:
            return parts[0][1]
        key = tuple((role, id(origins)) for role, origins in parts)
        found = self._joined.get(key)
        if found is None:
            whole = {f"{role} {name}" if role else name: marks for role, part in parts for name, marks in part.items()}
            found = self._joined[key] = (tuple(parts), whole)
        return found[1]

    def _find(
        self, chain: Sequence[Solved], environment: Environment, names: Sequence[str], argv: Sequence[Word]
    ) -> Iterator[tuple[str, tuple[Mark, ...]]]:
        start = chain[-1].leaf.server
        assert start is not None
        ids = (id(environment.via), *(id(solved.leaf) for solved in chain))
        known = [self._levels.setdefault(ids[: level + 1], {}) for level in range(len(chain))]
        way = _Way(chain, lambda name: self._given(name, environment), known)
        last = len(chain) - 1
        for name in names:
            yield name, way.marks(way.variable(start.environment[name], last))
        at = 0
        for argument in read_arguments(argv):
            count = len(argument.words) + (1 if argument.name and not argument.joined else 0)
            values = [name for value in start.argv[at : at + count] for name in inputs_of(value)]
            at += count
            marks = [mark for name in dict.fromkeys(values) for mark in way.given(name, last)]
            if argument.name:
                marks.extend(self._spellings(chain, argument.name, start.place))
            else:
                marks.append(("script", start.place.path, start.place.line))
            yield argument.name, way.marks(marks)

    def _given(self, name: str, environment: Environment) -> tuple[Mark, ...]:
        """The marks of a variable of the job itself."""
        key = (id(environment.via), name)
        found = self._workflow.get(key)
        if found is None:
            fields: list[Mark] = [("row", ".".join(path), 0) for path in environment.row_fields(name)]
            lines: list[Mark] = [("workflow", span.path, span.line) for span, _ in environment.trace(name)[:1]]
            found = self._workflow[key] = (*fields, *lines)
        return found

    def _spellings(self, chain: Sequence[Solved], flag: str, place: Place) -> list[Mark]:
        """Where an option is spelt: by the last script that does at all."""
        for solved in reversed(chain):
            script = solved.process.script
            known = self._spelt.get(id(script))
            if known is None:
                known = self._spelt[id(script)] = (script, options_spelt(script, script.source.text))
            places = known[1].get(flag)
            if places:
                source = script.source
                # One that the server's own command spells is the one.
                own = [pos for pos, command in places.items() if place.source is source and command == place.pos]
                lines = list(dict.fromkeys(source.line(pos) for pos in own[:1] or places))
                kind: MarkKind = "script" if len(lines) == 1 else "maybe"
                return [(kind, source.path, line) for line in lines[:MAX_SPELT]]
        return []


class _Way:
    """Follows values from the server back to what the job was given."""

    def __init__(
        self,
        chain: Sequence[Solved],
        workflow: Callable[[str], tuple[Mark, ...]],
        known: Sequence[dict[str, list[Mark]]],
    ) -> None:
        self.chain = chain
        self.workflow = workflow
        self.known = known
        """The marks of inputs by the level of their process, which depend on what is above."""

    def marks(self, marks: Sequence[Mark]) -> tuple[Mark, ...]:
        """Each mark once, the last ones where they are many."""
        return tuple(dict.fromkeys(marks))[-MAX_MARKS:]

    def variable(self, var: Variable, level: int) -> list[Mark]:
        """The marks of a variable in the process of a level."""
        found: list[Mark] = []
        if isinstance(var.value, Text):
            for name in inputs_of(var.value):
                found.extend(self.given(name, level))
        if var.place is not None:
            found.extend(_tests(var.guard))
            found.append(("script", var.place.path, var.place.line))
        return found

    def given(self, name: str, level: int) -> list[Mark]:
        """The marks of an input of the process of a level."""
        found = self.known[level].get(name)
        if found is None:
            found = self.known[level][name] = self._given(name, level)
        return found

    def _given(self, name: str, level: int) -> list[Mark]:
        call = self.chain[level].inputs.call
        if level == 0 or call is None:
            return list(self.workflow(name))
        if name[:1].isdigit():
            number = int(name) - 1 if name.isdecimal() else -1
            if not 0 <= number < len(call.arguments):
                return []
            inner = inputs_of(call.arguments[number])
            marks = [mark for one in inner for mark in self.given(one, level - 1)]
            return [*marks, ("script", call.place.path, call.place.line)]
        var = call.environment.get(name)
        return [] if var is None else self.variable(var, level - 1)


def _tests(guard: Guard | None) -> list[Mark]:
    found: list[Mark] = []
    while guard is not None and len(found) < MAX_TESTS:
        found.append(("test", guard.place.path, guard.place.line))
        guard = guard.outer
    return found[::-1]

"""Whose status a script ends with: that of the benchmark, or that of something after it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from botlint.documents import bash
from botlint.engine.analysis.scripts import names_in
from botlint.engine.analysis.scripts_walk import ScriptFacts

_CLEANUPS = frozenset(
    "scancel rm rmdir docker podman sleep echo printf kill pkill cd popd true : find sudo sync stop_gpu_monitor".split()
)
_RUNNERS = frozenset("srun bash sh docker podman sudo timeout singularity apptainer env nohup exec mpirun".split())
_CLIENTS = frozenset(("run_benchmark_serving", "run_agentic_replay_and_write_outputs"))
_BENCHMARK = re.compile(r"(?:^|[\s\"'/])benchmarks?/|benchmark_serving(?:\.py)?\b")
_REMOVES = re.compile(r"\b(?:rm|stop|kill|network|volume|logs|ps|wait|inspect)\b")
_ERREXIT = re.compile(r"-[a-zA-Z]*e[a-zA-Z]*\Z")
MAX_DEPTH = 3
_ZERO = re.compile(r"\bexit\s+0\b")


@dataclass(frozen=True, slots=True)
class Masked:
    """A benchmark whose status is lost: `kind` is cleanup, pipe, ignored or trap, `by` what decides instead."""

    kind: str
    by: str
    start: int
    end: int
    run_start: int
    run_end: int


@dataclass(frozen=True, slots=True)
class Options:
    """Shell options that a script sets for itself as a whole."""

    errexit: bool
    pipefail: bool


def options(facts: ScriptFacts) -> Options:
    """The options that `set` turns on, and the `#!` line."""
    errexit = pipefail = False
    if facts.text.startswith("#!"):
        errexit = any(_ERREXIT.match(word) for word in facts.text.split("\n", 1)[0].split()[1:])
    for call in facts.calls:
        if call.name == "set" and not call.function and not call.depth:
            words = [word.text for word in call.words[1:]]
            errexit = errexit or any(_ERREXIT.match(word) for word in words) or "errexit" in words
            pipefail = pipefail or "pipefail" in words
    return Options(errexit, pipefail)


def masked(facts: ScriptFacts) -> Iterator[Masked]:
    """The benchmarks of a launcher whose status does not become the launcher's."""
    chosen = options(facts)
    if not chosen.errexit:
        for body in _endings(facts.script.statements):
            yield from _cleaned(facts, body)
    for statement in _all(facts.script.statements):
        if isinstance(statement, bash.Pipeline) and not chosen.pipefail and len(statement.stages) > 1:
            first, last = statement.stages[0], statement.stages[-1]
            if isinstance(first, bash.Command) and isinstance(last, bash.Command) and runs(facts, first):
                yield _found(facts, "pipe", last, first)
        elif isinstance(statement, bash.AndOr) and statement.operators[-1] == "||":
            first, last = statement.items[-2], statement.items[-1]
            dropped = isinstance(last, bash.Command) and last.words and last.words[0].text in ("true", ":", "echo")
            if dropped and isinstance(first, bash.Command) and isinstance(last, bash.Command) and runs(facts, first):
                yield _found(facts, "ignored", last, first)
    for call in facts.calls:
        if call.name == "trap" and any(word.text == "EXIT" for word in call.words[2:]):
            handler = call.words[1].text
            if _ZERO.search(handler):
                yield Masked("trap", handler, call.start, call.end, -1, -1)


def _found(facts: ScriptFacts, kind: str, by: bash.Command, run: bash.Command) -> Masked:
    return Masked(kind, facts.text[by.pos : by.end], by.pos, by.end, run.pos, run.end)


def _cleaned(facts: ScriptFacts, body: Sequence[bash.Statement]) -> Iterator[Masked]:
    last = body[-1]
    if not isinstance(last, bash.Command) or not _cleans(facts, last):
        return
    for statement in reversed(body[:-1]):
        if not isinstance(statement, bash.Command) or not statement.words:
            return
        if runs(facts, statement):
            yield _found(facts, "cleanup", last, statement)
            return
        if not _cleans(facts, statement) and statement.words[0].text != "set":
            return


def _cleans(facts: ScriptFacts, command: bash.Command) -> bool:
    if not command.words or command.words[0].text not in _CLEANUPS or runs(facts, command):
        return False
    text = facts.text[command.pos : command.end]
    return command.words[0].text not in ("docker", "podman", "sudo") or _REMOVES.search(text) is not None


def runs(facts: ScriptFacts, command: bash.Command) -> bool:
    """Whether a command runs a benchmark: its client, or a script of the benchmarks in whatever wraps it."""
    if not command.words:
        return False
    name = command.words[0].text
    if name in _CLIENTS:
        return True
    text = facts.text[command.pos : command.end]
    if name.startswith("python"):
        return "benchmark_serving" in text
    if name not in _RUNNERS or _REMOVES.search(" ".join(word.text for word in command.words[:2])):
        return False
    last = command.words[-1]
    if _BENCHMARK.search(last.text) or (name == "docker" and "benchmark_serving" in text):
        return True
    return any(_names_benchmark(facts, variable, 0) for variable in names_in(last))


def _names_benchmark(facts: ScriptFacts, variable: str, depth: int) -> bool:
    """Whether a value that the script gives a variable is the path of a benchmark."""
    for one in facts.assigned.get(variable, ()):
        value = one.assign.value
        if value is None:
            continue
        if _BENCHMARK.search(value.text):
            return True
        if depth < MAX_DEPTH and any(_names_benchmark(facts, name, depth + 1) for name in names_in(value)):
            return True
    return False


def _endings(body: Sequence[bash.Statement]) -> Iterator[Sequence[bash.Statement]]:
    """The lists of statements whose last one can be the last that the script runs."""
    if not body:
        return
    yield body
    last = body[-1]
    if isinstance(last, bash.If):
        for _, inner in last.clauses:
            yield from _endings(inner)
        yield from _endings(last.orelse or [])
    elif isinstance(last, bash.Case):
        for _, inner, _ in last.items:
            yield from _endings(inner)
    elif isinstance(last, bash.Group):
        yield from _endings(last.body)


def _all(body: Sequence[bash.Statement]) -> Iterator[bash.Statement]:
    """Every statement of a script's own text, those in functions and loops included."""
    todo = list(body)
    while todo:
        one = todo.pop()
        yield one
        if isinstance(one, bash.If):
            for _, inner in one.clauses:
                todo.extend(inner)
            todo.extend(one.orelse or [])
        elif isinstance(one, bash.Case):
            for _, inner, _ in one.items:
                todo.extend(inner)
        elif isinstance(one, (bash.Group, bash.Subshell, bash.While, bash.For, bash.ArithFor)):
            todo.extend(one.body)
        elif isinstance(one, bash.Function):
            todo.append(one.body)

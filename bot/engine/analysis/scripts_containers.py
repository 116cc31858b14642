"""What containers get of the environment: the names that `docker run` hands over, and those that are read inside."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from botlint.engine.analysis.scripts import Scripts
from botlint.engine.analysis.scripts_names import Names, names
from botlint.engine.analysis.scripts_walk import Assigned, Read, ScriptFacts
from botlint.engine.context import Context

MAX_SCRIPTS = 400
MAX_DEPTH = 3
MIN_LITERAL = 4
MIN_SHARE = 0.3
QUOTED_SCRIPT = 400
"""Characters of a script in quotes that are looked at."""

_RUN = re.compile(r"\b(?:docker|podman|DOCKER_CMD\}?)[\"']?\s+run\b")
_NAME = r"[A-Za-z_]\w*"
_HANDED = re.compile(rf"(?:-e|--env)(?:[ \t=]|\\\n)+[\"'\\]*(?P<name>{_NAME})(?![\w$])")
_OPEN = re.compile(r"--env-file\b|(?:-e|--env)[ \t=]+[\"']?\$")
_SCRIPT = re.compile(r"(?<![\w.${}%*\"'-])(?:[\w.${}%*\"'-]*/)*(?P<name>[\w.${}%*\"'-]+\.sh)\b")
_ALWAYS = frozenset(
    "GITHUB_TOKEN GITHUB_WORKSPACE GITHUB_ENV GITHUB_OUTPUT GITHUB_STEP_SUMMARY HOME PATH USER IMAGE".split()
)


@dataclass(frozen=True, slots=True)
class Container:
    """A `docker run` with an explicit list of variables: what is handed over and what is read inside."""

    facts: ScriptFacts
    start: int
    end: int
    handed: frozenset[str]
    last: int
    """The offset of the last variable that is handed over."""
    inner: tuple[str, ...]
    """The scripts that run inside."""


@dataclass(frozen=True, slots=True)
class NotForwarded:
    """A variable of the job that a script inside of a container reads and that is not handed over."""

    container: Container
    name: str
    reader: ScriptFacts
    at: int
    defaulted: bool
    """Whether every read of it inside has a default."""


def containers(found: Scripts) -> Iterator[Container]:
    """The containers of all scripts whose variables are listed."""
    for facts in found.by_path.values():
        if "docker" not in facts.text and "podman" not in facts.text:
            continue
        code = facts.code
        for match in _RUN.finditer(code):
            end = _command_end(code, match.start())
            text = code[match.start() : end]
            handed = {one["name"]: match.start() + one.start() for one in _HANDED.finditer(text)}
            for name in dict.fromkeys(re.findall(r"\$\{?(\w+)", text)):
                handed.update(_from_variable(facts, name))
            if not handed or _OPEN.search(text):
                continue
            inner = _inner(found, facts, text)
            if inner:
                last = max(handed.values())
                yield Container(facts, match.start(), end, frozenset(handed), last, inner)


def _from_variable(facts: ScriptFacts, name: str) -> dict[str, int]:
    """The names that a variable with options hands over."""
    out: dict[str, int] = {}
    for one in facts.assigned.get(name, ()):
        start, end = one.assign.pos + one.shift, one.assign.end + one.shift
        for match in _HANDED.finditer(facts.code, start, end):
            out[match["name"]] = match.start()
    return out


def _command_end(code: str, start: int) -> int:
    """Where the command that starts at an offset ends: the first line without a backslash or an open quote."""
    end = start
    while True:
        stop = code.find("\n", end)
        if stop < 0:
            return len(code)
        line = code[end:stop].rstrip(" \t")
        if line.endswith(("'", '"')) and line[-2:-1].isspace():
            # A script in quotes follows; what it runs stands in its first lines.
            return min(len(code), stop + QUOTED_SCRIPT)
        if not line.endswith("\\") and line:
            return stop
        end = stop + 1


def _inner(found: Scripts, facts: ScriptFacts, text: str) -> tuple[str, ...]:
    """The scripts of the repository that a container's command runs, with what they source and run."""
    first: dict[str, None] = {}
    texts = [text]
    for name in dict.fromkeys(re.findall(r"\$\{?(\w*(?:FILE|SCRIPT|RUN|CMD)\w*)", text)):
        texts.extend(_values(facts, name, 0))
    for one in texts:
        for match in _SCRIPT.finditer(one):
            name = match["name"].strip("\"'")
            if "$" in name or "*" in name:
                pattern = _pattern(name)
                if pattern is not None:
                    first.update((path, None) for path in found.by_path if _matches(pattern, path))
            else:
                path = found.by_name(name, near=facts.path)
                if path is not None:
                    first[path] = None
    return tuple(_reached(found, list(first)))


def _values(facts: ScriptFacts, name: str, depth: int) -> Iterator[str]:
    """The texts that a script assigns to a variable, and to the variables in them."""
    for one in facts.assigned.get(name, ()):
        value = one.assign.value
        if value is None:
            continue
        yield value.text
        if depth < MAX_DEPTH:
            for inner in re.findall(r"\$\{?(\w+)", value.text):
                if inner != name:
                    yield from _values(facts, inner, depth + 1)


def _pattern(name: str) -> re.Pattern[str] | None:
    """What a file name with variables stands for; None if it says too little."""
    pieces = re.split(r"\$\{[^}]*\}|\$\w+|\*", name.replace('"', "").replace("'", ""))
    if max(len(piece.removesuffix(".sh")) for piece in pieces) < MIN_LITERAL:
        return None
    return re.compile(".*".join(re.escape(piece) for piece in pieces) + r"\Z")


def _matches(pattern: re.Pattern[str], path: str) -> bool:
    folder, _, name = path.rpartition("/")
    return folder.endswith(("benchmarks", "single_node", "fixed_seq_len")) and pattern.match(name) is not None


def _reached(found: Scripts, todo: list[str]) -> list[str]:
    done: dict[str, None] = {}
    while todo and len(done) < MAX_SCRIPTS:
        path = todo.pop()
        if path in done:
            continue
        done[path] = None
        todo.extend(found.libraries(path))
        for match in _SCRIPT.finditer(found.by_path[path].code):
            name = match["name"].strip("\"'")
            other = None if "$" in name else found.by_name(name, near=path)
            if other is not None and not other.startswith("runners/"):
                todo.append(other)
    return list(done)


def not_forwarded(context: Context) -> Iterator[NotForwarded]:
    """The variables of jobs that containers need and do not get.

    A library serves many kinds of jobs. What one of its functions reads counts only if a good part of what it reads
    of the job is handed over, so that the rest was forgotten.
    """
    known: Names = names(context)
    found = known.scripts
    for one in containers(found):
        given = {
            name for name in known.workflow_names("multi_node" in one.facts.path) if name == name.upper()
        } - _ALWAYS
        inner = [found.by_path[path] for path in one.inner]
        set_inside = {name for facts in inner for name, values in facts.assigned.items() if _always(values)}
        readers: dict[str, tuple[ScriptFacts, int, bool]] = {}
        uncalled = _uncalled(inner)
        for facts in inner:
            for group in _groups(facts, uncalled[facts.path], given):
                theirs = {read.name for read in group}
                missing = theirs - one.handed - set_inside
                if facts.functions and len(theirs & one.handed) < MIN_SHARE * len(theirs):
                    continue
                for read in group:
                    before = readers.get(read.name)
                    default = read.use == "default"
                    if read.name in missing and (before is None or (before[2] and not default)):
                        readers[read.name] = (facts, read.start, default)
        for name, (facts, at, default) in sorted(readers.items()):
            yield NotForwarded(one, name, facts, at, default)


def _groups(facts: ScriptFacts, uncalled: list[tuple[int, int]], given: set[str]) -> list[list[Read]]:
    """The reads of the job's variables by the function that they are in, without functions that nothing calls."""
    ranges = sorted((node.pos, node.end) for node in facts.functions.values())
    groups: dict[tuple[int, int], list[Read]] = {}
    for read in facts.reads:
        if read.name not in given:
            continue
        where = next(((start, end) for start, end in ranges if start <= read.start < end), (-1, -1))
        if where not in uncalled:
            groups.setdefault(where, []).append(read)
    return list(groups.values())


def _uncalled(inner: list[ScriptFacts]) -> dict[str, list[tuple[int, int]]]:
    """The ranges of functions that nothing inside of a container calls, by script."""
    called: set[str] = set()
    todo = [""]
    calls: dict[str, set[str]] = {}
    for facts in inner:
        for call in facts.calls:
            calls.setdefault(call.function, set()).add(call.name)
    while todo:
        for name in calls.get(todo.pop(), ()):
            if name not in called:
                called.add(name)
                todo.append(name)
    return {
        facts.path: [(node.pos, node.end) for name, node in facts.functions.items() if name not in called]
        for facts in inner
    }


def _always(values: list[Assigned]) -> bool:
    """Whether some assignment that nothing guards gives a value that does not depend on the old one."""
    return any(not one.guards and not one.function and not _keeps(one) for one in values)


def _keeps(one: Assigned) -> bool:
    """Whether an assignment keeps the value that there is: `NAME="${NAME:-default}"`."""
    value = one.assign.value
    return value is not None and f"{{{one.assign.name}:" in value.text

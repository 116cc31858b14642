"""Where a variable or an option of a server comes from, as steps from the cause to the effect.

The steps go from the line of the master config through the workflow's expressions and the launcher to the line of the
script, with each test on the way that decided whether that line runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from botlint.core.span import Span
from botlint.documents import bash
from botlint.layouts.base import CommandJob, Environment, Job
from botlint.plan.arguments import read_arguments
from botlint.plan.build import Planner, known_word
from botlint.plan.model import Word, word_text
from botlint.plan.rowplaces import row_place
from botlint.shell.process import Inputs, Place, ServerStart, Solved
from botlint.shell.reads import Condition, mentions, names_read, spelling, spellings
from botlint.shell.trail import Event, Trail, record
from botlint.shell.values import Text, resolve

MAX_STEPS = 120
"""Steps of one explanation."""

MAX_DEPTH = 60
"""Longest chain of causes that is followed."""

MAX_CALLS = 20
"""Scripts that start scripts and fail with them that are followed."""

MAX_SHOWN = 80
"""Characters of a value that are shown in a note."""

MAX_VALUES = 4
"""Values that are shown beside a test."""

StepKind = Literal["config", "workflow", "script", "test", "call", "server"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step: a place, its source text, and what it comes to."""

    kind: StepKind
    span: Span
    text: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a variable or option has its value, or is not there.

    `elsewhere` are places that would set or unset it, with the reason why they do not count.
    """

    name: str
    state: Literal["set", "unset", "no server"]
    value: Word | None
    steps: tuple[Step, ...]
    elsewhere: tuple[Step, ...] = ()
    remark: str = ""

    @property
    def identity(self) -> object:
        """What two jobs with the same explanation have in common."""
        return self.state, self.steps, self.elsewhere, self.value, self.remark


@dataclass(slots=True)
class _Level:
    """One process between the workflow's step and the server."""

    trail: Trail
    inputs: Inputs


@dataclass(slots=True)
class _Chain:
    """A job's way from the workflow to where it ends."""

    job: Job
    environment: Environment
    levels: list[_Level]
    solved: list[Solved]


class Explainer:
    """Explains values of the jobs of one revision; scripts that jobs share are read again once."""

    def __init__(self, planner: Planner) -> None:
        self.planner = planner
        self._trails: dict[int, tuple[object, Trail]] = {}
        self._lines: dict[str, list[str]] = {}

    # -- questions

    def explain(self, job: Job, name: str, runner: str) -> Explanation:
        """Why a variable, or an option (`--name`), of a job's server has its value on a runner."""
        if isinstance(job, CommandJob) and job.start.commands:
            return self._shown_value(job, name)
        chain = self._chain(job, runner)
        if isinstance(chain, str):
            return Explanation(name, "no server", None, (), remark=chain)
        server = chain.solved[-1].leaf.server
        if server is None:
            return self._without_server(chain, name)
        if name.startswith("-"):
            return self._flag(chain, name, server)
        return self._variable(chain, name, server)

    def ending(self, job: Job, runner: str) -> tuple[Step, ...]:
        """The tests under which a job ends without a server, and what they looked at."""
        chain = self._chain(job, runner)
        if isinstance(chain, str):
            return ()
        walk = _Walk(self, chain)
        walk.ending()
        return tuple(walk.steps)

    def _shown_value(self, job: CommandJob, name: str) -> Explanation:
        """Why a value of a command that is known word by word is what it is: it is written so."""
        for command in job.start.commands:
            argv = [known_word(word) for word in command.argv]
            given = [one for one in read_arguments(argv) if one.name == name] if name.startswith("-") else []
            if not given and name not in command.env:
                continue
            span = command.option_span(name) if given else command.variable_span(name)
            steps = () if span is None else (Step("config", span, self.line(span)),)
            value = " ".join(word_text(word) for one in given for word in one.words)
            return Explanation(name, "set", value if given else known_word(command.env[name]), steps)
        return Explanation(name, "unset", None, (), remark=f"the server is started without {name}")

    # -- the way of a job

    def _chain(self, job: Job, runner: str) -> _Chain | str:
        solved, environment = self.planner.solve(job, runner)
        if solved is None:
            return environment.reason or "nothing takes the job"
        chain = [solved]
        while solved.leaf.kind == "call" and solved.child is not None:
            solved = solved.child
            chain.append(solved)
        chain.extend(self._failed(solved))
        levels = [_Level(self._trail(one, depth), one.inputs) for depth, one in enumerate(chain)]
        return _Chain(job, environment, levels, chain)

    def _failed(self, solved: Solved) -> Iterator[Solved]:
        """The scripts whose failure ends a script: each was started by the one before."""
        for _ in range(MAX_CALLS):
            call = solved.leaf.call
            if solved.leaf.kind != "exits" or call is None:
                return
            _, child = self.planner.world.outcome(call, solved.inputs, False, 0)
            if child is None or child.leaf.kind != "exits" or child.leaf.code == 0:
                return
            solved = child
            yield solved

    def _trail(self, solved: Solved, depth: int) -> Trail:
        found = self._trails.get(id(solved.leaf))
        if found is None:
            found = self._trails[id(solved.leaf)] = (solved.leaf, record(self.planner.world, solved, depth))
        return found[1]

    def line(self, span: Span) -> str:
        """The source line of a span, stripped."""
        return self._line(span).strip()

    def _line(self, span: Span) -> str:
        lines = self._lines.get(span.path)
        if lines is None:
            source = self.planner.files.text(span.path)
            lines = self._lines[span.path] = [] if source is None else source.text.splitlines()
        return lines[span.line - 1] if 0 < span.line <= len(lines) else ""

    def written(self, job: Job, name: str) -> Span | None:
        """Where the row of a job that brings its own start spells a variable or an option."""
        return row_place(job, name, self._line)

    # -- answers

    def _variable(self, chain: _Chain, name: str, server: ServerStart) -> Explanation:
        walk = _Walk(self, chain)
        last = len(chain.levels) - 1
        var = server.environment.get(name)
        if var is None:
            return self._absent(chain, name, walk)
        own = chain.levels[last].trail.leaf.server
        event = chain.levels[last].trail.variable(name, own.environment.get(name, var) if own is not None else var)
        walk.row(name)
        walk.visit(event, last, 0)
        walk.server(server)
        value = var.value if isinstance(var.value, (str, Text)) else ""
        return Explanation(name, "set", resolve(value, chain.levels[last].inputs), tuple(walk.steps))

    def _flag(self, chain: _Chain, name: str, server: ServerStart) -> Explanation:
        last = chain.levels[-1]
        argv = [resolve(value, last.inputs) for value in server.argv]
        given = [argument for argument in read_arguments(argv) if argument.name == name]
        walk = _Walk(self, chain)
        if not given:
            return self._absent(chain, name, walk)
        walk.row(name)
        start = last.trail.start
        found = None if start is None else _find_literal(start, name)
        if found is not None:
            walk.flag(found, name, len(given[0].words), len(chain.levels) - 1)
        elif start is not None:
            walk.visit(start, len(chain.levels) - 1, 0)
        walk.server(server)
        value = " ".join(word_text(word) for argument in given for word in argument.words)
        return Explanation(name, "set", value, tuple(walk.steps))

    def _absent(self, chain: _Chain, name: str, walk: _Walk) -> Explanation:
        remark = f"the server is started without {name}"
        if not name.startswith("-"):
            remark = self._lost(chain, name, walk) or remark
        walk.server(chain.solved[-1].leaf.server)
        told = {(step.span.path, step.span.line) for step in walk.steps}
        places = [step for step in self._elsewhere(chain, name) if (step.span.path, step.span.line) not in told]
        return Explanation(name, "unset", None, tuple(walk.steps), tuple(places), remark)

    def _lost(self, chain: _Chain, name: str, walk: _Walk) -> str:
        """Where a variable that once had a value got lost on the way to the server."""
        for number in range(len(chain.levels) - 1, -1, -1):
            level = chain.levels[number]
            shell = level.trail.shell
            unset = shell.unsets.get(name)
            if unset is not None:
                walk.visit(unset, number, 0)
                return f"{name} is unset before the server starts"
            written = shell.last.get(name)
            here = name in shell.process.names
            if written is not None and not written.exported and not here:
                walk.visit(written, number, 0)
                return f"{name} is set but not exported"
            if written is not None or here:
                walk.visit(written or shell.given(name), number, 0)
                if level.trail.start is not None:
                    walk.call(level.trail.start, number)
                return f"{name} is set, and not passed on"
        return ""

    def _elsewhere(self, chain: _Chain, name: str) -> Iterator[Step]:
        """Places in the scripts of a job that would set or unset a name."""
        seen: set[tuple[str, int]] = set()
        for level in chain.levels:
            shell = level.trail.shell
            for source in shell.sources.values():
                script = self.planner.world.scripts.get((source.path, source.text))
                if script is None or (source.path, len(source.text)) in seen:
                    continue
                seen.add((source.path, len(source.text)))
                found = spellings(script, source.text, name) if name.startswith("-") else mentions(script, name)
                for mention in found:
                    place = Place(source, mention.pos)
                    notes = [_reason(level, source, condition) for condition in mention.conditions]
                    note = "; ".join(note for note in notes if note)
                    verb = "would set it" if mention.kind == "set" else "unsets it"
                    yield Step("script", _span(place), place.text, f"{verb}{f'; {note}' if note else ''}")

    def _without_server(self, chain: _Chain, name: str) -> Explanation:
        walk = _Walk(self, chain)
        walk.ending()
        leaf = chain.solved[-1].leaf
        at = f" at {leaf.place.path}:{leaf.place.line}" if leaf.place is not None else ""
        remark = (
            f"no server starts: exits {leaf.code}{at}"
            if leaf.kind == "exits"
            else f"no server starts: {leaf.reason}{at}"
        )
        return Explanation(name, "no server", None, tuple(walk.steps), tuple(self._elsewhere(chain, name)), remark)


def _reason(level: _Level, source: bash.Source, condition: Condition) -> str:
    """What became of a test that stands before a place that did not count."""
    text = " ".join(source.text[condition.pos : condition.end].split())
    if isinstance(condition.taken, str):
        text = f"{Place(source, condition.pos).text} {condition.taken})"
    made = level.trail.shell.tests_made.get((source.path, condition.pos))
    if not made:
        return f"under {text}"
    ways = {event.taken for event in made}
    if condition.taken in ways:
        return ""
    values = _values(made[-1], level)
    shown = f" with {', '.join(values)}" if values else ""
    if isinstance(condition.taken, str):
        return f"not taken: {text}{shown}"
    return f"{text} is {'false' if condition.taken else 'true'}{shown}"


def _span(place: Place) -> Span:
    line = place.source.text.rfind("\n", 0, place.pos) + 1
    end = place.source.text.find("\n", place.pos)
    stop = len(place.source.text) if end < 0 else end
    start = max(line, place.pos)
    return place.source.span(start, max(start, stop))


def _shown(value: object, inputs: Inputs) -> str:
    if isinstance(value, (str, Text)):
        text = word_text(resolve(value, inputs))
        return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."
    if isinstance(value, dict):
        words = [_shown(item, inputs) for item in list(value.values())[:8]]
        return f"({' '.join(words)}{' ...' if len(value) > len(words) else ''})"
    return ""


def _values(event: Event, level: _Level) -> list[str]:
    """The values that a test looked at."""
    texts = []
    for name, read in event.reads.items():
        if read.kind == "input":
            texts.append(f"{name}={_given(level, name)}")
        elif read.kind == "write":
            texts.append(f"{name}={_shown(read.value, level.inputs)}")
        elif read.kind == "unset":
            texts.append(f"{name} unset")
    return texts[:MAX_VALUES]


def _given(level: _Level, name: str) -> str:
    if name not in level.trail.shell.process.names:
        return ""
    text = word_text(level.inputs[name])
    return text if len(text) <= MAX_SHOWN else f"{text[: MAX_SHOWN - 3]}..."


def _find_literal(start: Event, flag: str) -> Event | None:
    """The statement nearest to the server's start that spells an option."""
    pattern = spelling(flag)
    waiting, seen = [start], {id(start)}
    while waiting:
        event = waiting.pop(0)
        node = event.node
        if event.place is not None and isinstance(node, (bash.Command, bash.Assign)):
            text = event.place.source.text[node.pos : node.end]
            if pattern.search(text):
                return event
        for read in event.reads.values():
            if id(read) not in seen:
                seen.add(id(read))
                waiting.append(read)
    return None


class _Walk:
    """Collects the steps of one explanation, causes first, each once."""

    def __init__(self, explainer: Explainer, chain: _Chain) -> None:
        self.explainer = explainer
        self.chain = chain
        self.steps: list[Step] = []
        self._done: set[tuple[int, int]] = set()
        self._shown: set[tuple[Span, str]] = set()

    def add(self, step: Step) -> None:
        if (step.span, step.text) not in self._shown and len(self.steps) < MAX_STEPS:
            self._shown.add((step.span, step.text))
            self.steps.append(step)

    def row(self, name: str) -> None:
        """The value of the row that spells a name, where a job brings its own start: its text is read as a whole."""
        span = self.explainer.written(self.chain.job, name)
        if span is not None:
            self.add(Step("config", span, self.explainer.line(span)))

    def visit(self, event: Event, number: int, depth: int) -> None:
        """The causes of an event of a level, then the event."""
        if (id(event), number) in self._done or depth > MAX_DEPTH:
            return
        self._done.add((id(event), number))
        if event.kind == "input":
            self.given(event.name, number, depth)
            return
        for read in event.reads.values():
            self.visit(read, number, depth + 1)
        if event.guard is not None:
            self.visit(event.guard, number, depth + 1)
        self.own(event, number)

    def own(self, event: Event, number: int) -> None:
        """The step of an event alone."""
        level = self.chain.levels[number]
        if event.place is None or event.kind in ("call", "start"):
            return
        if event.kind == "test":
            self.add(Step("test", _span(event.place), _test_text(event), _test_note(event, level)))
        elif event.kind == "unset":
            self.add(Step("script", _span(event.place), event.text, f"{event.name} is unset"))
        else:
            self.add(
                Step("script", _span(event.place), event.text, f"{event.name}={_shown(event.value, level.inputs)}")
            )

    def flag(self, event: Event, flag: str, words: int, number: int) -> None:
        """The step of the line that spells an option, after what its value and its tests come from."""
        node, place = event.node, event.place
        if place is None or not isinstance(node, (bash.Command, bash.Assign)):
            return
        for name in _value_names(node, flag, words):
            if name in event.reads:
                self.visit(event.reads[name], number, 0)
        guard = event.guard
        if guard is not None:
            self.visit(guard, number, 0)
        text = place.source.text[node.pos : node.end]
        match = spelling(flag).search(text)
        at = Place(place.source, node.pos + (match.start() if match else 0))
        self.add(Step("script", _span(at), at.text, event.name and f"in {event.name}"))

    def given(self, name: str, number: int, depth: int) -> None:
        """What a process was given: from the process that started it, or from the workflow."""
        if number == 0:
            self.workflow(name)
            return
        above = self.chain.levels[number - 1].trail
        call = above.leaf.call
        if call is None:
            return
        if name.isdigit() or name in "@*#":
            if above.start is not None:
                for read in above.start.reads.values():
                    self.visit(read, number - 1, depth + 1)
                self.call(above.start, number - 1)
            return
        var = call.environment.get(name)
        if var is not None:
            self.visit(above.variable(name, var), number - 1, depth + 1)

    def call(self, event: Event, number: int) -> None:
        """The line that starts a script."""
        del number
        if event.place is not None:
            self.add(Step("call", _span(event.place), event.text))

    def workflow(self, name: str) -> None:
        """The job's row and the workflow lines that a variable of the job comes through, the row first."""
        environment, job = self.chain.environment, self.chain.job
        for path in environment.row_fields(name):
            span = job.origin(*path)
            if span is None:
                continue
            value = _row_value(job.row, path)
            self.add(Step("config", span, self.explainer.line(span), f"{'.'.join(path)}: {value}"))
        trace = environment.trace(name)
        for number, (span, text) in enumerate(reversed(trace)):
            note = ""
            if number == len(trace) - 1:
                note = f"{name}={_word(environment.values.get(name, ''))}"
            self.add(Step("workflow", span, text, note))

    def server(self, server: ServerStart | None) -> None:
        """The start of the server, the last step."""
        if server is not None:
            place = server.place
            self.add(Step("server", _span(place), place.text, "the server starts"))

    def ending(self) -> None:
        """The tests around the statement at which the innermost script exits."""
        level = self.chain.levels[-1]
        event = level.trail.ending
        if event is not None:
            self.visit(event, len(self.chain.levels) - 1, 0)
        for read in level.trail.last_words.values():
            self.visit(read, len(self.chain.levels) - 1, 0)
        place = level.trail.leaf.place
        if place is not None:
            self.add(Step("script", _span(place), place.text, "ends here"))


def _test_text(event: Event) -> str:
    if isinstance(event.node, bash.Case) and event.place is not None:
        return event.place.text
    return event.text


def _test_note(event: Event, level: _Level) -> str:
    values = _values(event, level)
    shown = f" with {', '.join(values)}" if values else ""
    if isinstance(event.taken, str):
        return f"takes {event.taken}){shown}"
    if event.undecided:
        return f"not known before the run; taken to be {'true' if event.taken else 'false'}{shown}"
    return f"{'true' if event.taken else 'false'}{shown}"


def _value_names(node: bash.Command | bash.Assign, flag: str, count: int) -> Iterator[str]:
    """The variables that the words of an option's value look at; `count` is how many words the server gets."""
    words: list[bash.Word] = []
    if isinstance(node, bash.Command):
        words = list(node.words)
        for assign in (*node.assigns, *(node.declares or {}).values()):
            words.extend(_assigned_words(assign))
    else:
        words = _assigned_words(node)
    for index, word in enumerate(words):
        text = word.text.strip("\"'")
        if text == flag:
            for value in words[index + 1 : index + 1 + count]:
                if value.text.strip("\"'").startswith("-"):
                    break
                yield from names_read(value)
            return
        if spelling(flag).search(text):
            yield from names_read(word)
            return


def _assigned_words(assign: bash.Assign) -> list[bash.Word]:
    if assign.array is not None:
        return [word for _, _, word in assign.array]
    return [] if assign.value is None else [assign.value]


def _row_value(row: Mapping[str, object], path: Sequence[str]) -> object:
    value: object = row
    for part in path:
        value = value.get(part) if isinstance(value, Mapping) else None
    return value


def _word(word: object) -> str:
    if isinstance(word, str):
        return word
    pieces = word if isinstance(word, list) else [word]
    return "".join(piece if isinstance(piece, str) else f"<{getattr(piece, 'reason', 'unknown')}>" for piece in pieces)

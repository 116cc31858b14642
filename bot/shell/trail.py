"""How a script came to where it ends: which statement set each variable, from which other variables, under which tests.

Plans do not need this, so it is not recorded while planning. To explain a value, the script is interpreted once more by
a shell that takes notes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from botlint.documents import bash
from botlint.shell.interpreter import Shell
from botlint.shell.process import Call, Leaf, Place, ServerStart, Solved, Test, Variable
from botlint.shell.reads import names_read
from botlint.shell.signals import CallFlow, ExitFlow, ServeFlow, Status
from botlint.shell.values import Value, inputs_of

if TYPE_CHECKING:
    from botlint.shell.world import World

MAX_EVENTS = 50_000
"""Statements of one script that are noted."""

Held = Value | dict[int, Value] | dict[str, Value] | None


@dataclass(eq=False, slots=True)
class Event:
    """Something that a script did, or something that it was given.

    `input` is a variable or argument of the process; `write` and `unset` change a variable; `test` is a condition with
    the way that was `taken`; `call` is a function call; `start` starts a server or another script.
    """

    kind: Literal["input", "write", "unset", "test", "call", "start"]
    name: str
    place: Place | None = None
    node: object = None
    reads: dict[str, Event] = field(default_factory=dict)
    guard: Event | None = None
    value: Held = None
    taken: bool | str = True
    undecided: bool = False
    exported: bool = False

    @property
    def text(self) -> str:
        """The source of what was done, on one line."""
        if self.place is None:
            return self.name
        if self.kind == "test" and self.node is not None:
            start, end = self.place.pos, getattr(self.node, "end", self.place.pos)
            return " ".join(self.place.source.text[start:end].split())
        return self.place.text


class Recorder(Shell):
    """A shell that takes notes."""

    def __init__(self, *arguments: object, **others: object) -> None:
        super().__init__(*arguments, **others)  # type: ignore[arg-type]
        self.inputs_given: dict[str, Event] = {}
        self.events: dict[tuple[int, str], Event] = {}
        self.by_guard: dict[int, Event] = {}
        self.tests_made: dict[tuple[str, int], list[Event]] = {}
        self.undecided: set[tuple[str, int]] = set()
        self.unsets: dict[str, Event] = {}
        self.last: dict[str, Event] = {}
        self.starts: dict[int, Event] = {}
        self.exits: list[tuple[Place, Event | None]] = []
        self.nodes: list[object] = []
        self.commands: dict[tuple[str, int], bash.Command] = {}
        self.calls: list[Event] = []
        self.sources: dict[int, bash.Source] = {}
        self.kept: list[object] = []
        """Objects that are known by their identity, which must not be given to others."""
        self._items: dict[int, tuple[bash.AndOr, int, int]] = {}

    # -- notes

    def reads_of(self, node: object) -> dict[str, Event]:
        """Where the values that a node looks at come from, as things stand."""
        found: dict[str, Event] = {}
        for name in names_read(node):
            event = self.origin(name)
            if event is not None:
                found[name] = event
        return found

    def origin(self, name: str) -> Event | None:
        """What gave a variable (or argument) the value that it has now; None if nothing did."""
        if name in "@*#" or name.isdigit():
            if self.calls:
                return self.calls[-1]
            return self.given(name) if self.process.nargs and name != "0" else None
        var = self.vars.get(self.target(name))
        if var is None:
            return self.unsets.get(name)
        if var.place is None:
            return self.given(name) if name in self.process.names else None
        return self.events.get((id(var.place), self.target(name)))

    def given(self, name: str) -> Event:
        """An input of the process."""
        event = self.inputs_given.get(name)
        if event is None:
            event = self.inputs_given[name] = Event("input", name)
        return event

    def _write(self, name: str, var: Variable, reads: dict[str, Event]) -> None:
        if var.place is None or len(self.events) >= MAX_EVENTS:
            return
        # A variable that is only exported keeps the place where it was set.
        place = self.place() if (id(var.place), name) in self.events else var.place
        node = self.nodes[-1] if self.nodes else None
        event = Event("write", name, place, node, reads, self.innermost(), var.value)
        event.exported = var.exported
        self.events[id(var.place), name] = self.last[name] = event
        self.unsets.pop(name, None)

    def innermost(self) -> Event | None:
        """The test under which the shell runs."""
        return None if self.guard is None else self.by_guard.get(id(self.guard))

    # -- what is noted

    def put(self, name: str, var: Variable) -> None:
        reads = self.reads_of(self.nodes[-1]) if self.nodes else {}
        super().put(name, var)
        self._write(name, var, reads)

    def assign(self, name: str, value: Value, append: bool = False, index: Value | None = None) -> bool:
        target = self.target(name)
        new = target not in self.vars
        reads = self.reads_of(self.nodes[-1]) if new and self.nodes else {}
        done = super().assign(name, value, append, index)
        var = self.vars.get(target)
        if new and var is not None and (id(var.place), target) not in self.events:
            self._write(target, var, reads)
        return done

    def unset(self, name: str) -> None:
        if name in self.vars:
            node = self.nodes[-1] if self.nodes else None
            self.unsets[name] = Event("unset", name, self.place(), node, {}, self.innermost())
        super().unset(name)

    def perform(self, assign: bash.Assign) -> bool:
        self.nodes.append(assign)
        try:
            return super().perform(assign)
        finally:
            self.nodes.pop()

    def guarded(self, place: Place, taken: bool | str, tests: list[Test], action: Callable[[], Status]) -> Status:
        node = _test_node(self.nodes[-1] if self.nodes else None, place)
        event = Event("test", "", place, node, self.reads_of(node), self.innermost(), taken=taken)
        event.undecided = (place.path, place.pos) in self.undecided or any(test.outcome is None for test in tests)
        self.tests_made.setdefault((place.path, place.pos), []).append(event)

        def noted() -> Status:
            guard = self.guard
            self.kept.append(guard)
            self.by_guard[id(guard)] = event
            try:
                return action()
            except ExitFlow as flow:
                if not any(known is flow.place for known, _ in self.exits):
                    self.exits.append((flow.place, event))
                raise

        return super().guarded(place, taken, tests, noted)

    def choose(
        self, site: int, place: Place, reason: str, yes: Callable[[], Status], no: Callable[[], Status]
    ) -> Status:
        self.undecided.add((place.path, place.pos))
        return super().choose(site, place, reason, yes, no)

    def execute(self, node: bash.Statement) -> Status:
        self.sources[id(self.source)] = self.source
        if isinstance(node, bash.Command):
            self.commands[self.source.path, node.pos] = node
        if isinstance(node, bash.AndOr):
            mark = len(self.tests)
            for number, inner in enumerate(node.items):
                self._items[id(inner)] = (node, number, mark)
        self.nodes.append(node)
        depth = len(self.nodes)
        try:
            item = self._items.get(id(node))
            if item is not None and item[1] > 0:
                return self._guarded_item(node, item)
            return super().execute(node)
        except ServeFlow as flow:
            self._start(flow.server, flow.server, node)
            raise
        except CallFlow as flow:
            self._start(flow.call, flow.call, node)
            raise
        finally:
            del self.nodes[depth - 1 :]

    def _guarded_item(self, node: bash.Statement, item: tuple[bash.AndOr, int, int]) -> Status:
        """A command after `&&` or `||` runs under what stands before it."""
        whole, number, mark = item
        before = whole.items[number - 1]
        tests = self.tests[mark:]
        keep = self.nodes.pop()
        self.nodes.append(before)

        def run() -> Status:
            self.nodes.append(keep)
            return super(Recorder, self).execute(node)

        taken = whole.operators[number - 1] == "&&"
        return self.guarded(Place(self.source, before.pos), taken, tests, run)

    def _start(self, started: ServerStart | Call, key: object, node: bash.Statement) -> None:
        if id(key) in self.starts:
            return
        self.kept.append(key)
        self.starts[id(key)] = Event("start", "", started.place, node, self.reads_of(node), self.innermost())

    def call_function(
        self, function: bash.Function, name: str, arguments: list[Value], temporary: bool = False
    ) -> Status:
        node = self.nodes[-1] if self.nodes else None
        self.calls.append(Event("call", name, self.place(), node, self.reads_of(node), self.innermost()))
        try:
            return super().call_function(function, name, arguments, temporary)
        finally:
            self.calls.pop()


def _test_node(node: object, place: Place) -> object:
    """The condition that stands at a place of a compound command."""
    if isinstance(node, bash.If):
        for condition, _ in node.clauses:
            if condition[0].pos == place.pos:
                return bash.Group(condition, condition[0].pos, condition[-1].end)
    return node


@dataclass(slots=True)
class Trail:
    """The notes on one process, and how it ended."""

    shell: Recorder
    leaf: Leaf

    def variable(self, name: str, var: Variable) -> Event:
        """What gave a variable of a server's or callee's environment its value."""
        if var.place is None:
            return self.shell.given(name)
        event = self.shell.events.get((id(var.place), name))
        if event is not None:
            return event
        value = var.value if not isinstance(var.value, dict) and var.value is not None else ""
        reads = {one: self.shell.given(one) for one in inputs_of(value)}
        guard = None if var.guard is None else self.shell.by_guard.get(id(var.guard))
        return Event("write", name, var.place, None, reads, guard, var.value)

    @property
    def start(self) -> Event | None:
        """The start of the server or of the script in which the process ends."""
        started = self.leaf.server or self.leaf.call
        return None if started is None else self.shell.starts.get(id(started))

    @property
    def ending(self) -> Event | None:
        """The innermost test under which the process exits."""
        for place, event in reversed(self.shell.exits):
            at = self.leaf.place
            if at is not None and place.source is at.source and place.pos == at.pos:
                return event
        return None

    @property
    def last_words(self) -> dict[str, Event]:
        """Where the values come from that the command looks at with which the process exits."""
        at = self.leaf.place
        node = None if at is None else self.shell.commands.get((at.path, at.pos))
        return {} if node is None else self.shell.reads_of(node)


def record(world: World, solved: Solved, depth: int) -> Trail:
    """Interprets a process once more, taking notes."""
    shells: list[Recorder] = []

    def make(*arguments: object) -> Recorder:
        shells.append(Recorder(*arguments))
        return shells[0]

    # An effect that is taken over from another script leaves no notes.
    segments, world.segments = world.segments, None
    try:
        _, leaf, _ = world.interpret(solved.process, solved.inputs, solved.forced, depth, make)
    finally:
        world.segments = segments
    return Trail(shells[0], leaf)

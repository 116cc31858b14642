"""What a library does is interpreted once.

Sourcing a file and calling a function of a sourced file are segments. The first time, the variables that a segment
reads are recorded with what they were, and what it does to the shell. Another script that comes to the same segment
with the same values, for which all decisions fall out the same way, takes over the effect. Symbols in the effect are
bound anew to the inputs of that script.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from botlint.documents import bash
from botlint.shell.files import Named
from botlint.shell.paths import marked
from botlint.shell.process import (
    ChooseNode,
    FileEntry,
    FileNode,
    Fork,
    Guard,
    Kind,
    Node,
    ObserveNode,
    Possible,
    Variable,
    evaluate,
)
from botlint.shell.signals import Status, Undecided
from botlint.shell.state import Recording, same, same_variable
from botlint.shell.streams import In, Out
from botlint.shell.values import Derived, Either, Input, Text, Value, resolve, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

T = TypeVar("T")

STATUS = "?"
"""Stands for `$?` among the names that a segment reads: what was before it then decides, and its effect is not kept."""

MAX_VERSIONS = 24
"""Effects that are kept of one segment."""

MAX_TRIES = 2
"""A segment that was recorded so many times more often in vain than not is only run from then on."""


@dataclass(slots=True)
class _Effect:
    """One way through a segment."""

    reads: dict[str, Variable | None]
    entries: list[tuple[str, Kind]]
    log: list[tuple[Node, object]]
    writes: dict[str, Variable | None]
    functions: dict[str, bash.Function]
    named: list[Named]
    made: list[tuple[str, FileEntry]]
    named_made: list[Named]
    possible: list[Possible]
    forks: list[tuple[Fork, bool]]
    """Its undecided tests, and whether it looked itself at something in which their outcomes differ."""
    watches: dict[str, list[Fork]]
    exported_watches: frozenset[str]
    status: Status
    guard: Guard | None
    options: dict[str, bool]
    shopt: dict[str, bool]
    said: Value | None
    said_error: Value | None
    written: list[list[Value]]
    """What it wrote to each stream that is captured."""
    background: Value
    truncated: bool
    steps: int
    asked: set[Any]
    """What was asked of the revision when it was recorded, and since then to see whether it fits."""


@dataclass(slots=True)
class Segments:
    """The effects that are known, by segment."""

    effects: dict[tuple[object, ...], list[tuple[_Effect, list[Value]]]] = field(default_factory=dict)
    functions: dict[tuple[object, ...], int] = field(default_factory=dict)
    tries: dict[object, int] = field(default_factory=dict)
    """How often a segment had no effect that could be kept, less how often it had one."""


def run(shell: Shell, identity: object, arguments: list[Value], action: Callable[[], Status]) -> Status:
    """Takes over the effect of a segment if one fits, else runs `action` (and records it)."""
    table = shell.world.segments
    if table is None or shell.decided or not _plain_streams(shell):
        return action()
    captures = _captures(shell)
    key = (
        identity,
        tuple(sorted((where, text_of(shown) or "") for where, shown in shell.source_names.items())),
        len(arguments),
        _functions_key(shell),
        tuple(sorted(k for k, v in shell.options.items() if v)),
        tuple(sorted(k for k, v in shell.shopt.items() if v)),
        tuple(sorted(shell.traps.items())),
        shell.context,
        shell.lenient > 0,
        shell.subshells,
        len([f for f in shell.frames if f.function]),
        tuple((fd, getattr(shell.fds[fd], "role", "")) for fd in (1, 2)),
        tuple(fds for fds, _ in captures),
    )
    known = table.effects.setdefault(key, [])
    for effect, given in known:
        if all(map(same, given, arguments)) and _asking(shell, effect.asked, partial(_fits, shell, effect)):
            return _take_over(shell, effect, captures)
    tries = table.tries.get(identity, 0)
    if isinstance(shell.vars, Recording) or len(known) >= MAX_VERSIONS or tries >= MAX_TRIES:
        return action()
    table.tries[identity] = tries + 1
    recorded = _record(shell, action, captures)
    if recorded is None:
        return shell.status
    table.tries[identity] = tries - 1
    known.append((recorded, list(arguments)))
    return recorded.status


def _asking(shell: Shell, asked: set[Any], action: Callable[[], T]) -> T:
    """What `action` gives; what it asks of the revision is collected, and counts for the process too."""
    files = shell.world.files
    outer, files.asked = files.asked, asked
    try:
        return action()
    finally:
        files.asked = outer
        outer |= asked


_Captures = list[tuple[tuple[int, ...], list[Value]]]


def _captures(shell: Shell) -> _Captures:
    """The captured streams: the descriptors that write to each, and what it holds."""
    out, error = shell.fds[1], shell.fds[2]
    assert isinstance(out, Out)
    assert isinstance(error, Out)
    if out.chunks is error.chunks:
        return [] if out.chunks is None else [((1, 2), out.chunks)]
    return [((fd,), one.chunks) for fd, one in ((1, out), (2, error)) if one.chunks is not None]


def _plain_streams(shell: Shell) -> bool:
    """Whether what the segment writes is captured or lost, and it has nothing of its own to read."""
    out, error, source = shell.fds.get(1), shell.fds.get(2), shell.fds.get(0)
    return (
        isinstance(out, Out)
        and out.path is None
        and isinstance(error, Out)
        and error.path is None
        and isinstance(source, In)
        and source.value == ""
        and len(shell.fds) == 3
        and not shell.unfollowed
    )


def _functions_key(shell: Shell) -> int:
    parts = tuple((n, id(f)) for n, f in shell.functions.items())
    table = shell.world.segments.functions  # type: ignore[union-attr]
    return table.setdefault(parts, len(table))


def _record(shell: Shell, action: Callable[[], Status], captures: _Captures) -> _Effect | None:
    """Runs a segment and notes what it does; None if its effect cannot be taken over."""
    before = dict(shell.vars)
    functions = dict(shell.functions)
    traps, context, positional = dict(shell.traps), shell.context, list(shell.positional)
    log, made, steps = len(shell.log), len(shell.files.entries), shell.steps
    entries: list[tuple[str, Kind]] = [(where, entry.kind) for where, entry in shell.files.entries]
    named = list(shell.files.named)
    possible, forks = len(shell.possible), len(shell.forks)
    watches = {n: list(f) for n, f in shell.watches.items()}
    exported_watches = set(shell.exported_watches)
    guard, truncated, failed = shell.guard, shell.truncated, shell.failed_call
    said, said_error = shell.said, shell.said_error
    streams, written = dict(shell.fds), [list(chunks) for _, chunks in captures]
    shell.said = shell.said_error = None
    names: set[str] = set()
    shell.vars = Recording(before, names)
    asked: set[Any] = set()
    try:
        status = _asking(shell, asked, action)
    finally:
        shell.vars = dict(shell.vars)
        last_said, last_error = shell.said, shell.said_error
        shell.said = said if last_said is None else last_said
        shell.said_error = said_error if last_error is None else last_error
    shell.status = status
    logged = shell.log[log:]
    plain = STATUS not in names and all(node.__class__ in (ObserveNode, FileNode, ChooseNode) for node, _ in logged)
    same_shell = (
        shell.traps == traps
        and shell.context == context
        and shell.failed_call == failed
        and not shell.unfollowed
        and len(positional) == len(shell.positional)
        and all(map(same, positional, shell.positional))
        and len(shell.files.entries) >= made
        and len(shell.possible) >= possible
        and len(shell.forks) >= forks
        and all(shell.functions.get(n) is f for n, f in functions.items())
        and shell.fds == streams
        and all(_begins(chunks, earlier) for (_, chunks), earlier in zip(captures, written, strict=True))
    )
    if not plain or not same_shell:
        return None
    after = shell.vars
    writes = {n: after.get(n) for n in before.keys() | after.keys() if before.get(n) is not after.get(n)}
    return _Effect(
        reads={n: before.get(n) for n in names | writes.keys()},
        entries=entries,
        log=logged,
        writes=writes,
        functions={n: f for n, f in shell.functions.items() if n not in functions},
        named=named,
        made=shell.files.entries[made:],
        named_made=shell.files.named[len(named) :],
        possible=shell.possible[possible:],
        forks=[(fork, fork.needed) for fork in shell.forks[forks:]],
        watches={n: f for n, f in shell.watches.items() if watches.get(n) != f},
        exported_watches=frozenset(shell.exported_watches - exported_watches),
        status=status,
        guard=guard,
        options=dict(shell.options),
        shopt=dict(shell.shopt),
        said=last_said,
        said_error=last_error,
        written=[chunks[len(earlier) :] for (_, chunks), earlier in zip(captures, written, strict=True)],
        background=shell.last_background,
        truncated=shell.truncated and not truncated,
        steps=shell.steps - steps,
        asked=asked,
    )


def _begins(chunks: list[Value], earlier: list[Value]) -> bool:
    return len(chunks) >= len(earlier) and all(a is b for a, b in zip(chunks, earlier, strict=False))


def _fits(shell: Shell, effect: _Effect) -> bool:
    variables = shell.vars
    for name, was in effect.reads.items():
        if not same_variable(variables.get(name), was):
            return False
    if [(where, entry.kind) for where, entry in shell.files.entries] != effect.entries:
        return False
    if len(shell.files.named) != len(effect.named) or not all(map(_same_name, shell.files.named, effect.named)):
        return False
    if shell.watches and any(name in shell.watches for name in effect.reads):
        return False
    inputs = shell.inputs
    for node, outcome in effect.log:
        if isinstance(node, ObserveNode):
            if evaluate(node, inputs) != outcome:
                return False
        elif isinstance(node, ChooseNode):
            if shell.forced.get(node.site, "free") != outcome:
                return False
        elif isinstance(node, FileNode):
            where = marked(resolve(node.path, inputs))
            if (inputs.file(where) if where else None) != outcome:
                return False
    return True


def _same_name(left: Named, right: Named) -> bool:
    return left.base == right.base and same(left.path, right.path)


def _take_over(shell: Shell, effect: _Effect, captures: _Captures) -> Status:
    """Does to the shell what the segment did to the one in which it was recorded."""
    renewed = _Renewal(shell, effect)
    for node, outcome in effect.log:
        shell.log.append((_fresh(node), outcome))
    for name, var in effect.writes.items():
        if var is None:
            shell.vars.pop(name, None)
        else:
            shell.vars[name] = renewed.variable(var)
    shell.functions.update(effect.functions)
    for named in effect.named_made:
        path = renewed.value(named.path)
        assert isinstance(path, Text)
        shell.files.named.append(replace(named, path=path))
    for where, entry in effect.made:
        shell.files.put(
            where,
            replace(
                entry,
                content=None if entry.content is None else renewed.value(entry.content),
                copy_of=None if entry.copy_of is None else renewed.value(entry.copy_of),
                origin=None if entry.origin is None else renewed.value(entry.origin),
            ),
        )
    for possible in effect.possible:
        shell.possible.append(renewed.possible(possible))
    shell.forks.extend(renewed.forks.values())
    for name, forks in effect.watches.items():
        shell.watches[name] = [renewed.forks.get(id(f), f) for f in forks]
    shell.exported_watches |= effect.exported_watches
    shell.options = dict(effect.options)
    shell.shopt = dict(effect.shopt)
    for (_, chunks), values in zip(captures, effect.written, strict=True):
        chunks.extend([renewed.value(value) for value in values])
    if effect.said is not None:
        shell.said = renewed.value(effect.said)
    if effect.said_error is not None:
        shell.said_error = renewed.value(effect.said_error)
    shell.last_background = renewed.value(effect.background)
    shell.truncated = shell.truncated or effect.truncated
    shell.steps += effect.steps // 10
    shell.version += 1
    status = effect.status
    if isinstance(status, Undecided) and status.ends:
        status = Undecided(status.reason, tuple(map(renewed.possible, status.ends)))
    shell.status = status
    return status


def _fresh(node: Node) -> Node:
    if isinstance(node, ObserveNode):
        return ObserveNode(node.function, node.partial, node.arguments)
    if isinstance(node, FileNode):
        return FileNode(node.path)
    assert isinstance(node, ChooseNode)
    return ChooseNode(node.site)


class _Renewal:
    """Binds the symbols of an effect to another shell: inputs by name, undecided tests to copies."""

    def __init__(self, shell: Shell, effect: _Effect) -> None:
        self.shell = shell
        self.entry = effect.guard
        self.forks = {id(fork): replace(fork, needed=needed) for fork, needed in effect.forks}
        self.guards: dict[int, Guard | None] = {}
        self.seen: dict[int, Value] = {}

    def value(self, value: Value) -> Value:
        if isinstance(value, str):
            return value
        found = self.seen.get(id(value))
        if found is None:
            pieces = tuple(self.pieces(value))
            same_pieces = all(a is b for a, b in zip(pieces, value.pieces, strict=True))
            found = self.seen[id(value)] = value if same_pieces else Text(pieces)
        return found

    def pieces(self, value: Text) -> Iterator[Any]:
        for piece in value.pieces:
            if isinstance(piece, Input):
                yield self.shell.symbols[piece.name]
            elif isinstance(piece, Derived):
                arguments = tuple(self.value(a) for a in piece.arguments)
                unchanged = all(a is b for a, b in zip(arguments, piece.arguments, strict=True))
                yield piece if unchanged else Derived(piece.function, arguments)
            elif isinstance(piece, Either):
                fork = self.forks.get(id(getattr(piece.asked, "__self__", None)))
                yield Either(self.value(piece.value), piece.asked if fork is None else fork.need)
            else:
                yield piece

    def possible(self, possible: Possible) -> Possible:
        leaf = possible.leaf
        message = None if leaf.message is None else self.value(leaf.message)
        return replace(possible, leaf=replace(leaf, message=message, guard=self.shell.guard))

    def variable(self, var: Variable) -> Variable:
        value = var.value
        if isinstance(value, dict):
            renewed: Any = {k: self.value(v) for k, v in value.items()}
        else:
            renewed = None if value is None else self.value(value)
        return var.changed(value=renewed, guard=self.guard(var.guard))

    def guard(self, guard: Guard | None) -> Guard | None:
        """The same conditions under those that hold here."""
        if guard is self.entry or guard is None:
            return self.shell.guard
        found = self.guards.get(id(guard))
        if found is None:
            found = self.guards[id(guard)] = Guard(self.guard(guard.outer), guard.place, guard.taken, guard.tests)
        return found

"""Sharing of interpretations between jobs.

A process is one script (or command string) with the set of its environment names. Interpreting it for one job logs
every decision that looked at an input, as a pure function over templates. These logs form a decision tree: another job
walks it, evaluating the same functions with its own inputs, and reuses the leaf; only an outcome that was never seen is
interpreted anew. Jobs that differ in values which no test looked at share one interpretation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from botlint.documents.bash import Script, Source
from botlint.shell.paths import Context, marked
from botlint.shell.values import Derived, Either, Given, Hole, Input, Resolved, Text, Value, resolve

if TYPE_CHECKING:
    from botlint.shell.files import Revision
    from botlint.shell.world import World

MAX_ALTERNATIVES = 12
"""Paths of one process that are followed beside the first one."""

MAX_MEMO = 256
"""Outcomes of one decision that are remembered."""

MAX_TURNS = 24
"""Undecided tests that are turned to find a path that serves."""

LABEL = "@0"
"""The input that holds the name under which a script was started; libraries ask who sourced them."""

MAX_CALL_DEPTH = 20
"""Deepest chain of scripts that start scripts."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in which source something happened."""

    source: Source
    pos: int

    @property
    def path(self) -> str:
        """Path of the source."""
        return self.source.path

    @property
    def line(self) -> int:
        """1-based line."""
        return self.source.line(self.pos)

    @property
    def text(self) -> str:
        """The source line, stripped."""
        end = self.source.text.find("\n", self.pos)
        start = self.source.text.rfind("\n", 0, self.pos) + 1
        return self.source.text[start : end if end >= 0 else len(self.source.text)].strip()


@dataclass(slots=True)
class Test:
    """One decision that the script took: where, over which values, with which outcome (None: could not be decided)."""

    place: Place
    arguments: tuple[Value, ...]
    outcome: object


@dataclass(slots=True)
class Guard:
    """The condition under which a stretch of script ran; `outer` is the condition around it."""

    outer: Guard | None
    place: Place
    taken: bool | str
    tests: list[Test]


@dataclass(slots=True)
class Variable:
    """A shell variable. Instances are never changed, a new one replaces the old."""

    value: Value | dict[int, Value] | dict[str, Value] | None
    exported: bool = False
    place: Place | None = None
    guard: Guard | None = None
    readonly: bool = False
    kind: Literal["", "array", "assoc"] = ""
    integer: bool = False
    case: Literal["", "lower", "upper", "capital"] = ""
    nameref: bool = False
    local: bool = False
    by_runtime: bool = False
    """Set on the command line of a scheduler or container engine, not by the shell."""
    inherited: bool = False
    """Exported for no other reason than that the process was given it."""

    def changed(self, **values: Any) -> Variable:
        """A copy with other values (dataclasses.replace takes five times as long, and every assignment does this)."""
        copy = Variable(
            self.value,
            self.exported,
            self.place,
            self.guard,
            self.readonly,
            self.kind,
            self.integer,
            self.case,
            self.nameref,
            self.local,
            self.by_runtime,
            self.inherited,
        )
        for name, value in values.items():
            setattr(copy, name, value)
        return copy


@dataclass(slots=True)
class Call:
    """The start of another script: everything that its outcome depends on, as templates of the caller's inputs."""

    place: Place
    script: Value
    """Canonical path of the script, or the command string itself."""
    is_text: bool
    label: str
    arguments: tuple[Value, ...]
    environment: dict[str, Variable]
    context: Context
    files: FileView
    guard: Guard | None
    label_value: Value | None = None
    options: str = ""
    stdin: Value = ""
    names: frozenset[str] = frozenset()
    unknown: frozenset[str] = frozenset()
    plain: bool = False
    """Whether its alternatives do not matter."""
    processes: dict[tuple[str, str, bool], Process] = field(default_factory=dict)
    """The processes that the call has started so far, by script, name and whether their output is read."""


@dataclass(slots=True)
class FileView:
    """The caller's files as a callee sees them: template paths and contents, what lies beneath, and the revision."""

    entries: list[tuple[Value, FileEntry]]
    outer: FileView | None
    revision: Revision
    places: Places | None = None
    """Where the entries are, if that is the same for all jobs."""

    def __bool__(self) -> bool:
        return bool(self.entries) or bool(self.outer)


Kind = Literal["file", "dir", "missing", "unknown"]


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file or directory that a script made: `content` is None when unknown.

    `copy_of` is the file of the revision whose content it still has, `origin` the one that it was made from. `inside`
    says what is in a directory where no newer entry does: nothing new (''), something unknown, or copies of what this
    directory of the revision has.
    """

    kind: Kind
    content: Value | None = None
    place: Place | None = None
    copy_of: Value | None = None
    origin: Value | None = None
    inside: str = ""


UNKNOWN_INSIDE = "?"


def below(entry: FileEntry, where: str, path: str, kind_of: Callable[[str], Kind]) -> Kind | None:
    """What an entry at `where` says about a path; None if nothing."""
    if where == path:
        return entry.kind
    if entry.kind == "file" or not path.startswith(where) or path[len(where)] != "/":
        return None
    if entry.kind != "dir":
        return entry.kind
    if entry.inside in ("", UNKNOWN_INSIDE):
        return "unknown" if entry.inside else None
    kind = kind_of(entry.inside + path[len(where) :])
    return None if kind == "missing" else kind


@dataclass(slots=True)
class ServerStart:
    """A server's command line and the environment that it sees."""

    argv: list[Value]
    environment: dict[str, Variable]
    place: Place
    guard: Guard | None
    cwd: str
    submitted: Submitted | None = None


@dataclass(frozen=True, slots=True)
class Submitted:
    """A description of servers that a script hands to another programme, as it is at that moment.

    `state` says what is at its path; `content` is None where that is not known, `origin` the file of the revision that
    it was made from. `settings` is the content of the programme's settings file, `checkout` what is checked out where
    the programme runs.
    """

    kind: str
    argument: Value
    path: Value
    state: Kind
    content: Value | None
    origin: Value | None
    settings: Value | None
    checkout: Value | None


@dataclass(frozen=True, slots=True)
class Skipped:
    """Something on the way that was not followed and may have started a server; `weight` says how likely."""

    reason: str
    place: Place
    weight: int


@dataclass(slots=True)
class Possible:
    """A path that depends on something which nobody knows before the run."""

    conditions: list[tuple[Place, str]]
    leaf: Leaf
    subshells: int = 0
    """How deep in subshells it is: what ends there first is only one of them."""


@dataclass(slots=True)
class Leaf:
    """How one path through a process ends."""

    kind: Literal["serves", "exits", "undecided", "call"]
    place: Place | None = None
    server: ServerStart | None = None
    code: int = 0
    message: Value | None = None
    reason: str = ""
    call: Call | None = None
    stdout: Value | None = ""
    guard: Guard | None = None
    possible: list[Possible] = field(default_factory=list)
    forks: list[Fork] = field(default_factory=list)
    truncated: bool = False
    skipped: Skipped | None = None
    beside: list[Leaf] = field(default_factory=list)
    """Further servers that start together with this one, on other nodes."""
    apart: bool = False
    """Whether the script starts others after the one that it ends with."""
    container: tuple[Value, ...] = ()
    """The words that start the container in which it goes on: all before the command of the container."""


@dataclass(slots=True)
class Fork:
    """An undecided test whose outcomes lead to different states; the first run took the first one in script order."""

    site: int
    place: Place
    reason: str
    taken: bool
    """The outcome that went on in the first run."""
    needed: bool = False

    def need(self) -> None:
        """The difference matters: the other outcome has to be followed too."""
        self.needed = True

    def condition(self, outcome: bool) -> tuple[Place, str]:
        """The test with an outcome, for people."""
        return self.place, self.reason if outcome else f"not: {self.reason}"


class Node:
    """An inner node of the decision tree."""

    __slots__ = ("children",)

    def __init__(self) -> None:
        self.children: dict[object, Node | Leaf] = {}


class ObserveNode(Node):
    """A decision over templates."""

    __slots__ = ("arguments", "function", "memo", "name", "partial")

    def __init__(
        self,
        function: Callable[..., object],
        partial: Callable[..., object] | None,
        arguments: tuple[Value, ...],
    ) -> None:
        self.children = {}
        self.function = function
        self.partial = partial
        self.arguments = arguments
        self.name = _only_input(arguments)
        """The input that the outcome hangs on, if that is one and nothing is made of it."""
        self.memo: dict[object, object] = {}
        """Outcomes by the text of that input, or else by those of all arguments."""


class FileNode(Node):
    """A look at the caller's files; `path` gives the canonical path."""

    __slots__ = ("path",)

    def __init__(self, path: Value) -> None:
        super().__init__()
        self.path = path


class ChooseNode(Node):
    """An undecided test: children for `free` (both outcomes tried), True and False."""

    __slots__ = ("site",)

    def __init__(self, site: int) -> None:
        super().__init__()
        self.site = site


class CallNode(Node):
    """The start of another script."""

    __slots__ = ("call", "captured")

    def __init__(self, call: Call, captured: bool) -> None:
        super().__init__()
        self.call = call
        self.captured = captured


def _only_input(arguments: tuple[Value, ...]) -> str | None:
    name: str | None = None
    for argument in arguments:
        if argument.__class__ is not str:
            pieces = argument.pieces  # type: ignore[union-attr]
            if name is not None or len(pieces) != 1 or pieces[0].__class__ is not Input:
                return None
            name = pieces[0].name
    return name


Places = dict[str, list[int]]
"""The numbers of the entries that a path has, oldest first."""


class Inputs(Given):
    """The inputs of a process for one job, resolved when asked for."""

    __slots__ = ("call", "files", "outer", "places", "seen")

    def __init__(self, call: Call | None = None, outer: Inputs | None = None) -> None:
        super().__init__()
        self.call = call
        self.outer = outer
        self.seen: dict[int, tuple[object, Solved | None]] = {}
        """Outcomes of the decisions that this job has come by, by node: its alternatives pass them again."""
        self.files: dict[str, tuple[str, Resolved | None] | None] = {}
        """What the caller knows about paths, as far as somebody has asked."""
        self.places: Places | None = None

    def __missing__(self, name: str) -> Resolved:
        call, outer = self.call, self.outer
        if call is None or outer is None:
            raise KeyError(name)
        if name == "0":
            value: Value = call.stdin
        elif name[0].isdigit():
            value = call.arguments[int(name) - 1]
        else:
            found = call.environment[name].value
            assert isinstance(found, str) or (found is not None and not isinstance(found, dict))
            value = found
        resolved = resolve(value, outer)
        self[name] = resolved
        return resolved

    def file(self, path: str) -> tuple[str, Resolved | None] | None:
        """What the caller knows about a canonical path: (kind, content), or None if the caller never touched it."""
        found = self.files.get(path, self)
        if found is self:
            found = self.files[path] = self._file(path)
        return found  # type: ignore[return-value]

    def _file(self, path: str) -> tuple[str, Resolved | None] | None:
        call, outer = self.call, self.outer
        if call is None or outer is None:
            return None
        places = self.places
        if places is None:
            places = self.places = _places(call.files, outer)
        view = call.files
        for number in _above(places, path):
            template, entry = view.entries[number]
            where = template if isinstance(template, str) else marked(resolve(template, outer))
            kind = below(entry, where, path, view.revision.kind)
            if kind is None:
                continue
            if kind != "file":
                return kind, None
            if where != path:
                return kind, view.revision.text(entry.inside + path[len(where) :])
            if entry.content is not None:
                return kind, resolve(entry.content, outer)
            source = None if entry.copy_of is None else resolve(entry.copy_of, outer)
            return kind, view.revision.text(source) if isinstance(source, str) else None
        return outer.file(path)


def _places(view: FileView, outer: Inputs) -> Places:
    """Where the entries of a view are for a job of the caller."""
    if view.places is not None:
        return view.places
    places: Places = {}
    plain = True
    for number, (template, _) in enumerate(view.entries):
        if isinstance(template, str):
            where = template
        else:
            plain = False
            where = marked(resolve(template, outer))
        places.setdefault(where, []).append(number)
    if plain:
        view.places = places
    return places


def _above(places: Places, path: str) -> list[int]:
    """Numbers of the entries at a path and at the directories above it, newest first."""
    found = list(places.get(path, ())) if path else []
    end = path.rfind("/")
    while end > 0:
        found.extend(places.get(path[:end], ()))
        end = path.rfind("/", 0, end)
    found.sort(reverse=True)
    return found


_NEW = object()


def evaluate(node: ObserveNode, inputs: Given) -> object:
    """The outcome of a decision for one job; None when it cannot be decided."""
    key: object
    if node.name is not None:
        key = inputs[node.name]
        outcome = node.memo.get(key, _NEW)
        if outcome is not _NEW:
            return outcome
        texts = tuple([a if a.__class__ is str else key for a in node.arguments])
    else:
        key = texts = tuple([a if a.__class__ is str else resolve(a, inputs) for a in node.arguments])
        outcome = node.memo.get(key, _NEW)
        if outcome is not _NEW:
            return outcome
    for text in texts:
        if text.__class__ is not str:
            outcome = None if node.partial is None else node.partial(*texts)
            break
    else:
        outcome = node.function(*texts)
    if len(node.memo) < MAX_MEMO:
        node.memo[key] = outcome
    return outcome


@dataclass(slots=True)
class Solved:
    """How a process ends for one job."""

    leaf: Leaf
    inputs: Inputs
    process: Process
    child: Solved | None = None
    """The callee's end, when the leaf is a call that served (or could not be decided)."""
    alternatives: list[tuple[list[tuple[Place, str]], Solved]] = field(default_factory=list)
    truncated: bool = False
    forced: dict[int, bool] = field(default_factory=dict)
    """Undecided tests that were turned to get here."""

    @property
    def outcome(self) -> Literal["serves", "exits", "undecided"]:
        """`serves`, `exits` or `undecided`."""
        if self.leaf.kind == "call":
            return "undecided" if self.child is None else self.child.outcome
        return self.leaf.kind

    def last(self) -> Solved:
        """The process in which the outcome arose."""
        return self.child.last() if self.leaf.kind == "call" and self.child is not None else self


class Process:
    """One script with its environment's names, and the decision tree of all its interpretations."""

    __slots__ = ("asked", "context", "key", "label", "names", "nargs", "options", "root", "runs", "script", "unknown")

    def __init__(
        self,
        key: tuple[object, ...],
        script: Script,
        label: str,
        names: frozenset[str],
        unknown: frozenset[str],
        nargs: int,
        context: Context,
        options: str,
    ) -> None:
        self.key = key
        self.script = script
        self.label = label
        self.names = names
        self.unknown = unknown
        self.nargs = nargs
        self.context = context
        self.options = options
        self.root: dict[object, Node | Leaf] = {}
        self.runs = 0
        self.asked: set[Any] = set()
        """What its interpretations and decisions have asked the revision."""

    def _walk(
        self, world: World, inputs: Inputs, forced: dict[int, bool], depth: int
    ) -> tuple[Leaf | None, Solved | None]:
        """The leaf that a job reaches with what is known so far, or None."""
        children: dict[object, Node | Leaf] = self.root
        outcome: object = None
        child: Solved | None = None
        seen = inputs.seen
        while True:
            node = children.get(outcome)
            kind = node.__class__
            if kind is ObserveNode and node.name is not None:  # type: ignore[union-attr]
                outcome = node.memo.get(inputs[node.name], _NEW)  # type: ignore[union-attr]
                if outcome is _NEW:
                    outcome = evaluate(node, inputs)  # type: ignore[arg-type]
            elif node is None:
                return None, None
            elif kind is Leaf:
                assert isinstance(node, Leaf)
                if node.apart:
                    child = world.child(node, inputs, depth)
                return node, child
            elif kind is ChooseNode:
                outcome = forced.get(node.site, "free")  # type: ignore[union-attr]
            else:
                assert isinstance(node, Node)
                known = seen.get(id(node))
                if known is None:
                    known = seen[id(node)] = self._decide(world, node, inputs, depth)
                outcome, child = known if known[1] is not None else (known[0], child)
            children = node.children  # type: ignore[union-attr]

    def calls(self, world: World, inputs: Inputs, forced: dict[int, bool]) -> Iterator[tuple[Call, Any, Solved | None]]:
        """The scripts that are started on a job's way, each with what it comes to and how it ends."""
        children: dict[object, Node | Leaf] = self.root
        outcome: object = None
        while True:
            node = children.get(outcome)
            if node is None or isinstance(node, Leaf):
                return
            if isinstance(node, ChooseNode):
                outcome = forced.get(node.site, "free")
            else:
                known = inputs.seen.get(id(node))
                if known is None:
                    known = inputs.seen[id(node)] = self._decide(world, node, inputs, 0)
                outcome = known[0]
                if isinstance(node, CallNode):
                    yield node.call, outcome, known[1]
            children = node.children

    @staticmethod
    def _decide(world: World, node: Node, inputs: Inputs, depth: int) -> tuple[object, Solved | None]:
        """The outcome of a node for one job, with how the script ends that it starts."""
        if isinstance(node, ObserveNode):
            return evaluate(node, inputs), None
        if isinstance(node, CallNode):
            return world.outcome(node.call, inputs, node.captured, depth)
        assert isinstance(node, FileNode)
        where = marked(resolve(node.path, inputs))
        return (inputs.file(where) if where else None), None

    def leaf(self, world: World, inputs: Inputs, forced: dict[int, bool], depth: int) -> tuple[Leaf, Solved | None]:
        """The leaf for a job, interpreting the script if no earlier interpretation fits."""
        found, child = self._walk(world, inputs, forced, depth)
        if found is None:
            self.runs += 1
            log, leaf, child = world.interpret(self, inputs, forced, depth)
            children: dict[object, Node | Leaf] = self.root
            outcome: object = None
            for node, result in log:
                children = children.setdefault(outcome, node).children  # type: ignore[union-attr]
                outcome = result
            children[outcome] = found = leaf
            if leaf.apart:
                child = world.child(leaf, inputs, depth)
        return found, child

    def solve(self, world: World, inputs: Inputs, depth: int = 0) -> Solved:
        """How the process ends for a job, with the alternatives that hang on undecided tests."""
        world.visited.add(self)
        files = world.files
        outer, files.asked = files.asked, self.asked
        try:
            return self._solve(world, inputs, depth)
        finally:
            files.asked = outer

    def _solve(self, world: World, inputs: Inputs, depth: int) -> Solved:
        inputs[LABEL] = self.label
        leaf, child = self.leaf(world, inputs, {}, depth)
        solved = Solved(leaf, inputs, self, child)
        if not leaf.forks and not leaf.possible:
            return solved
        for possible in leaf.possible:
            solved.alternatives.append((possible.conditions, Solved(possible.leaf, inputs, self)))
        forced: dict[int, bool] = {}
        if solved.outcome == "exits":
            if leaf.code == 0:
                # A script that only prepares something: nobody asks in which other ways it might have ended.
                return solved
            solved, forced = self._serving(world, solved, depth)
        if not world.plain:
            world.plain += 1
            try:
                self._follow(world, solved, forced, depth)
            finally:
                world.plain -= 1
        return solved

    def _serving(self, world: World, solved: Solved, depth: int) -> tuple[Solved, dict[int, bool]]:
        """A test that only guards an exit does not make the plan exit: the last undecided tests before are turned."""
        inputs = solved.inputs
        forced: dict[int, bool] = {}
        because: list[tuple[Place, str]] = []
        current = solved.leaf
        for _ in range(MAX_TURNS):
            fork = next((f for f in reversed(current.forks) if f.needed and f.site not in forced), None)
            if fork is None:
                break
            forced[fork.site] = not fork.taken
            because.append(fork.condition(fork.taken))
            leaf, child = self.leaf(world, inputs, forced, depth)
            other = Solved(leaf, inputs, self, child, forced=dict(forced))
            if other.outcome == "serves":
                other.alternatives = [(p.conditions, Solved(p.leaf, inputs, self)) for p in leaf.possible]
                other.alternatives.append((because, Solved(solved.leaf, inputs, self, solved.child)))
                return other, forced
            current = leaf
        return solved, {}

    def _follow(self, world: World, solved: Solved, forced: dict[int, bool], depth: int) -> None:
        """Adds what each undecided test that matters would change, one test at a time."""
        inputs = solved.inputs
        count = 0
        for fork in solved.leaf.forks:
            if not fork.needed or fork.site in forced:
                continue
            count += 1
            if count > MAX_ALTERNATIVES:
                solved.truncated = True
                return
            because = [fork.condition(not fork.taken)]
            leaf, child = self.leaf(world, inputs, {**forced, fork.site: not fork.taken}, depth)
            solved.alternatives.append((because, Solved(leaf, inputs, self, child)))
            for possible in leaf.possible:
                solved.alternatives.append(([*because, *possible.conditions], Solved(possible.leaf, inputs, self)))


def unknown_names(environment: Mapping[str, Variable], outer_unknown: frozenset[str]) -> frozenset[str]:
    """Names whose value has an unknown part, given which inputs of the caller have one."""

    def partial(value: Value) -> bool:
        if isinstance(value, str):
            return False
        for piece in value.pieces:
            if isinstance(piece, Hole):
                return True
            if isinstance(piece, Input) and piece.name in outer_unknown:
                return True
            if isinstance(piece, Derived) and any(partial(a) for a in piece.arguments):
                return True
            if isinstance(piece, Either) and partial(piece.value):
                return True
        return False

    return frozenset(n for n, v in environment.items() if isinstance(v.value, (str, Text)) and partial(v.value))

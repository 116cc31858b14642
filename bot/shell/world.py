"""What interpretations of one revision share: files, parsed scripts, processes and what is known about programmes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from botlint.documents.bash import Script, parse_script
from botlint.shell.files import FileSystem, Revision, RevisionFiles
from botlint.shell.paths import Context
from botlint.shell.process import (
    LABEL,
    MAX_CALL_DEPTH,
    Call,
    CallNode,
    Inputs,
    Kind,
    Leaf,
    Node,
    Place,
    Process,
    Solved,
    Variable,
)
from botlint.shell.segments import Segments
from botlint.shell.signals import CallFlow, ExitFlow, Flow, ServeFlow, StopFlow, Undecided, leaf_of
from botlint.shell.streams import In
from botlint.shell.values import Budget, Hole, Input, Resolved, Text, Value, resolve

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

MAX_OTHER_ENDS = 8
"""Ways in which a script may fail that its caller hears of."""

MAX_SCRIPT = 8 << 20
"""Longest script that is read."""


_OPTION_LETTERS = {"e": "errexit", "u": "nounset", "x": "xtrace", "f": "noglob", "P": "pipefail"}


@dataclass(slots=True)
class Recorded:
    """An external command that a test asked to record."""

    argv: list[Resolved]
    environment: dict[str, Resolved]


@dataclass(frozen=True, slots=True)
class Submission:
    """How a command line names a description of servers: the number of the word, and the path in that word; the files
    that hold the programme's settings (the first one counts).
    """

    kind: str
    word: int
    path: Callable[[str], str]
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileEdit:
    """A programme of the revision that edits the file which its first argument names.

    `idle` says of (arguments..., variables...) whether it leaves every file alone with status 0; `status` and `output`
    are the exit status and the edited text for (arguments..., variables..., content). An unset variable is ''.
    """

    arguments: int
    variables: tuple[str, ...]
    idle: Callable[..., bool]
    status: Callable[..., int]
    output: Callable[..., str]


@dataclass(slots=True)
class Programmes:
    """What is known about external programmes; the layers above say which command lines start a server."""

    is_server: Callable[[list[str | None]], bool] = lambda _: False
    may_serve: Callable[[str], bool] = lambda _: True
    submits: Callable[[list[str | None]], Submission | None] = lambda _: None
    edits: Callable[[str], FileEdit | None] = lambda _: None
    """The file-editing programme that a Python text is."""
    record: Collection[str] = ()
    installed: Mapping[str, bool] = field(default_factory=dict)
    path: Callable[[str], str | None] = lambda _: None
    """Where a programme lies, if that is known."""


class World:
    """One revision under interpretation."""

    def __init__(
        self, files: RevisionFiles, programmes: Programmes, machine: Callable[[str], Kind] | None = None
    ) -> None:
        self.files = files
        self.revision = Revision(files, machine)
        self.programmes = programmes
        self.machine = machine
        """What the machine has outside of the revision, where that is known."""
        self.plain = 0
        """While this is not 0, nobody asks for alternatives: what is looked at is one itself."""
        self.processes: dict[tuple[object, ...], Process] = {}
        self.scripts: dict[tuple[str, str], Script] = {}
        self.texts: dict[tuple[str, str, int], Script] = {}
        self.holes: list[Text] = []
        self._hole_numbers: dict[tuple[str, bool], int] = {}
        self.recorded: list[Recorded] = []
        self.runs = 0
        self.segments: Segments | None = Segments()
        self.visited: set[Process] = set()
        """The processes that were asked how they end since somebody cleared this."""

    # ---------------------------------------------------------------------------------------------------- scripts

    def script(self, path: str, text: str) -> Script:
        """The parsed script of a file; `path` is canonical."""
        shown = path.removeprefix("@workspace/")
        key = (shown, text)
        found = self.scripts.get(key)
        if found is None:
            found = self.scripts[key] = parse_script(text, shown)
        return found

    def parse(self, text: str, place: Place) -> Script:
        """The parsed script of an evaluated text, its lines counted from where it was evaluated."""
        key = (text, place.path, place.line)
        found = self.texts.get(key)
        if found is None:
            found = self.texts[key] = parse_script(text, place.path, place.line - 1)
        return found

    def hole_number(self, value: Text) -> int:
        """A number under which an evaluated text can refer to a value; equal holes share one."""
        piece = value.pieces[0]
        key = (piece.reason, piece.nonempty) if len(value.pieces) == 1 and isinstance(piece, Hole) else None
        if key is not None and key in self._hole_numbers:
            return self._hole_numbers[key]
        self.holes.append(value)
        if key is not None:
            self._hole_numbers[key] = len(self.holes) - 1
        return len(self.holes) - 1

    def has_command(self, name: str) -> bool | None:
        """Whether a programme is installed where the script runs; None when only the machine knows."""
        if name in self.programmes.record:
            return True
        return self.programmes.installed.get(name, None if self.machine is None else False)

    # --------------------------------------------------------------------------------------------------- processes

    def process(
        self,
        script: Script,
        identity: str,
        label: str,
        names: frozenset[str],
        unknown: frozenset[str],
        nargs: int,
        context: Context,
        options: str,
        unknown_arguments: tuple[bool, ...] = (),
        files: bool = False,
    ) -> Process:
        """The process for a script with these environment names; `files` says whether its caller has made files."""
        key = (identity, names, unknown, nargs, unknown_arguments, context, options, label, files)
        found = self.processes.get(key)
        if found is None:
            found = self.processes[key] = Process(key, script, label, names, unknown, nargs, context, options)
        return found

    def callee(self, call: Call, inputs: Inputs, captured: bool) -> tuple[Process | None, Inputs, str]:
        """The process that a call starts for one job; (None, _, reason) if its script is missing or unknown."""
        script = resolve(call.script, inputs)
        below = Inputs(call, inputs)
        asked: set[Any] = set()
        if call.is_text:
            if not isinstance(script, str):
                marked = (p if isinstance(p, str) else f"\ue000{self.hole_number(_as_text(p))}\ue001" for p in script)
                text = "".join(marked)
            else:
                text = script
            parsed = self.parse(text, call.place)
            identity = f"text {call.place.path}:{call.place.line} {text}"
            label = call.label
        else:
            if not isinstance(script, str):
                return None, below, "unknown"
            seen = below.file(script)
            content: str | None
            if seen is not None:
                if seen[0] != "file":
                    return None, below, "missing" if seen[0] == "missing" else "unknown"
                content = seen[1] if isinstance(seen[1], str) else None
                if content is None:
                    return None, below, "unknown"
                identity = f"{script} {content}"
            else:
                inner = script.removeprefix("@workspace/")
                if inner == script:
                    return None, below, "unknown"
                # Its text matters to the script itself; to the caller only whether it is there.
                outer, self.files.asked = self.files.asked, set()
                content = self.files.text(inner)
                asked, self.files.asked = self.files.asked, outer
                self.files.is_file(inner)
                if content is None:
                    return None, below, "unreadable" if self.files.is_file(inner) else "missing"
                identity = script
            parsed = self.script(script, content)
            shown = resolve(call.label_value, inputs) if call.label_value is not None else call.label
            label = shown if isinstance(shown, str) else script.removeprefix("@workspace/")
        quick = (identity, label, captured)
        process = call.processes.get(quick)
        if process is not None:
            process.asked |= asked
            return process, below, ""
        arguments = tuple(isinstance(a, Text) and not a.known for a in call.arguments)
        process = call.processes[quick] = self.process(
            parsed,
            identity,
            label,
            call.names,
            call.unknown,
            len(call.arguments),
            call.context,
            call.options + ("o" if captured else ""),
            arguments,
            bool(call.files),
        )
        process.asked |= asked
        return process, below, ""

    def outcome(
        self, call: Call, inputs: Inputs, captured: bool, depth: int
    ) -> tuple[tuple[object, ...], Solved | None]:
        """What a call comes to for one job, as the caller sees it."""
        if depth >= MAX_CALL_DEPTH:
            return ("undecided", "scripts that start scripts too deeply"), None
        process, below, reason = self.callee(call, inputs, captured)
        if process is None:
            return ("missing" if reason in ("missing", "unreadable") else "unknown", reason), None
        self.plain += call.plain
        try:
            solved = process.solve(self, below, depth + 1)
        finally:
            self.plain -= call.plain
        if solved.outcome == "serves":
            return ("serves",), solved
        if solved.outcome == "undecided":
            return ("undecided", solved.last().leaf.reason), solved
        output: Resolved | None = None
        if captured:
            leaf = solved.leaf
            output = None if leaf.stdout is None else resolve(leaf.stdout, below)
        return ("exits", solved.leaf.code, output, _other_ends(solved.leaf, below)), solved

    def child(self, leaf: Leaf, inputs: Inputs, depth: int) -> Solved | None:
        """How the script ends that a leaf starts, for one job."""
        return None if leaf.call is None else self.outcome(leaf.call, inputs, False, depth)[1]

    def interpret(
        self,
        process: Process,
        inputs: Inputs,
        forced: dict[int, bool],
        depth: int,
        kind: Callable[..., Shell] | None = None,
    ) -> tuple[list[tuple[Node, object]], Leaf, Solved | None]:
        """Interprets a process for one job; `kind` is another kind of shell, one that also takes notes."""
        from botlint.shell.interpreter import Shell

        self.runs += 1
        call = inputs.call
        files = FileSystem(self.revision, call.files if call is not None and call.files else None)
        shell = (kind or Shell)(self, process, inputs, forced, depth, files)
        symbols = shell.symbols
        symbols[LABEL] = Input(LABEL, process.label)
        for name in sorted(process.names):
            symbols[name] = Input(name, inputs[name])
            value = Text((symbols[name],))
            if name.startswith("BASH_FUNC_"):
                shell.import_function(name.removeprefix("BASH_FUNC_").removesuffix("%%"), value)
            else:
                shell.vars[name] = Variable(value, True, inherited=True)
        for number in range(1, process.nargs + 1):
            symbols[str(number)] = Input(str(number), inputs[str(number)])
            shell.positional.append(Text((symbols[str(number)],)))
        for letter in process.options:
            if letter in _OPTION_LETTERS:
                shell.options[_OPTION_LETTERS[letter]] = True
        if "<" in process.options:
            symbols["0"] = Input("0", inputs["0"])
            shell.fds[0] = In(Text((symbols["0"],)))
        shell.vars.pop("PWD", None)
        leaf, child = run(shell)
        return shell.log, leaf, child


def run(shell: object) -> tuple[Leaf, Solved | None]:
    """Runs the script of a shell to its end."""
    from botlint.shell.interpreter import Shell

    assert isinstance(shell, Shell)
    from botlint.shell.streams import Out
    from botlint.shell.values import concat

    chunks: list[Value] = []
    shell.fds[1] = Out(chunks if shell.captured else None, role="stdout")
    child: Solved | None = None

    def body() -> None:
        raise ExitFlow(shell.run_lines(shell.process.script), shell.place(), shell.message(), shell.failed_call)

    def with_trap(flow: ExitFlow) -> ExitFlow:
        if not shell.traps.get("EXIT"):
            return flow
        code = shell.exit_trap(flow.code, flow.place)
        return flow if code is flow.code else ExitFlow(code, flow.place, flow.message, shell.failed_call)

    try:
        try:
            body()
        except ExitFlow as flow:
            raise with_trap(flow) from None
    except ExitFlow as flow:
        code = flow.code
        leaf = Leaf("exits", place=flow.place, message=flow.message)
        if isinstance(code, Undecided):
            leaf.code = 0
        else:
            leaf.code = code
        leaf.call = flow.call
        leaf.reason = shell.unfollowed
    except ServeFlow as flow:
        leaf = leaf_of(flow)
    except CallFlow as flow:
        leaf = leaf_of(flow)
        child = flow.solved
    except StopFlow as flow:
        leaf = Leaf("undecided", place=flow.place, reason=flow.reason)
    except Flow:
        leaf = Leaf("exits", place=shell.place(), code=0)
    except Budget as budget:
        leaf = Leaf("undecided", place=shell.place(), reason=str(budget))
    except RecursionError:
        leaf = Leaf("undecided", place=shell.place(), reason="nested too deeply")
    if shell.beside:
        if leaf.kind in ("serves", "call"):
            leaf.beside = [*shell.beside, *leaf.beside]
        else:
            first, *others = shell.beside
            leaf = replace(first, beside=[*others, *first.beside])
    if leaf.kind == "call":
        last = next((node for node, _ in reversed(shell.log) if isinstance(node, CallNode)), None)
        leaf.apart = last is None or last.call is not leaf.call
    leaf.stdout = concat(chunks)
    leaf.possible = shell.possible
    leaf.forks = shell.forks
    leaf.truncated = shell.truncated
    leaf.guard = shell.guard
    leaf.skipped = shell.skipped
    return leaf, child


def _other_ends(leaf: Leaf, inputs: Inputs) -> tuple[tuple[tuple[tuple[Place, str], ...], Place | None, int, str], ...]:
    """The other exits of a script that ends without a server: conditions, place, code and message."""
    ends = [p for p in leaf.possible if p.leaf.kind == "exits" and bool(p.leaf.code) != bool(leaf.code)]
    found = []
    for end in ends[:MAX_OTHER_ENDS]:
        message = "" if end.leaf.message is None else resolve(end.leaf.message, inputs)
        found.append(
            (tuple(end.conditions), end.leaf.place, end.leaf.code, message if isinstance(message, str) else "")
        )
    return tuple(found)


def _as_text(piece: object) -> Text:
    from botlint.core.unknown import Unknown
    from botlint.shell.values import Hole

    assert isinstance(piece, Unknown)
    return Text((Hole(piece.reason),))

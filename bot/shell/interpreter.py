"""The abstract interpreter: state of one shell, and the execution of statements.

No process is ever started. A test over known values is decided exactly as bash decides it; a test over a value that
nobody knows before the run is *undecided*, and both outcomes are looked at (`Shell.choose`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from botlint.core.unknown import Unknown
from botlint.documents import bash
from botlint.shell import (
    assignment,
    choice,
    compound,
    conditions,
    expansion,
    launching,
    redirection,
    segments,
)
from botlint.shell.builtins import BUILTINS
from botlint.shell.files import NAMED, Expansion, FileSystem, Inside, Look, token_of
from botlint.shell.paths import WORKSPACE, WORKSPACE_VARIABLE, Context, Mount, canonical, marked, normal
from botlint.shell.patterns import matches
from botlint.shell.process import (
    LABEL,
    Call,
    FileEntry,
    FileNode,
    Fork,
    Guard,
    Inputs,
    Kind,
    Leaf,
    Node,
    ObserveNode,
    Place,
    Possible,
    Process,
    Skipped,
    Test,
    Variable,
)
from botlint.shell.signals import (
    SIGNALS,
    CallFlow,
    DiscardFlow,
    ExitFlow,
    HoistFlow,
    ReturnFlow,
    Scope,
    ServeFlow,
    Status,
    StopFlow,
    Undecided,
    leaf_of,
    negate,
    serves,
)
from botlint.shell.state import Recording, State
from botlint.shell.streams import In, Out
from botlint.shell.values import Hole, Input, Text, Value, concat, derive, hole, resolve, text_of, touch

if TYPE_CHECKING:
    from botlint.shell.world import World

MAX_STEPS = 60_000
MAX_FUNCTION_DEPTH = 60
MAX_TRIALS = 8
"""Undecided tests inside undecided tests that are still tried both ways."""
MAX_TRIED = 400
"""Undecided tests of one run that are tried both ways."""

_DEVICES = frozenset({"/dev/null", "/dev/tty", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/proc/self/fd/1": 1, "/proc/self/fd/2": 2}


class Job:
    """A background job: its status at the end, whether somebody has waited for it, whether a signal would meet it."""

    __slots__ = ("lasting", "status", "waited")

    def __init__(self, status: Status, lasting: bool) -> None:
        self.status = status
        self.lasting = lasting
        self.waited = False


class Frame:
    """One function call (or sourced file): what `local` has to restore, and where it was called."""

    __slots__ = (
        "call",
        "function",
        "keeps_arguments",
        "name",
        "options",
        "outer",
        "positional",
        "saved",
        "source",
        "temporary",
    )

    def __init__(
        self,
        name: str,
        source: bash.Source,
        call: Place,
        positional: list[Value],
        function: bool,
    ) -> None:
        self.name = name
        self.source = source
        self.call = call
        self.positional = positional
        self.saved: dict[str, Variable | None] = {}
        self.function = function
        self.outer: bash.Source | None = None
        self.options: dict[str, bool] | None = None
        """The options to bring back, if the function said `local -`."""
        self.temporary: dict[str, Variable | None] | None = None
        """What the assignments before the call have hidden."""
        self.keeps_arguments = False
        """Whether a sourced file has set the positional parameters."""


class Shell:
    """One shell: variables, functions, options, files and the log of decisions."""

    def __init__(
        self,
        world: World,
        process: Process,
        inputs: Inputs,
        forced: dict[int, bool],
        depth: int,
        files: FileSystem,
    ) -> None:
        self.world = world
        self.process = process
        self.inputs = inputs
        self.forced = forced
        self.depth = depth
        self.files = files
        self.source = process.script.source
        self.name = process.label
        self.vars: dict[str, Variable] = {}
        self.functions: dict[str, bash.Function] = {}
        self.frames: list[Frame] = []
        self.positional: list[Value] = []
        self.options: dict[str, bool] = {}
        self.shopt: dict[str, bool] = {}
        self.traps: dict[str, str] = {}
        self.context: Context = process.context
        self.fds: dict[int, Out | In] = {0: In(""), 1: Out(role="stdout"), 2: Out(role="stderr")}
        self.status: Status = 0
        self.pipestatus: list[Status] = [0]
        self.substatus: Status | None = None
        self.last_background: Value = ""
        self.last_argument: Value = ""
        self.guard: Guard | None = None
        self.pos = 0
        self.lenient = 0
        """Depth of contexts in which a failing command does not end the shell."""
        self.inverted = 0
        """How many of them only negate a status: the ERR trap still runs in what they run."""
        self.unchecked: set[int] = set()
        """Commands whose own failure is judged by the pipeline around them."""
        self.subshells: int = 0
        self.loops = 0
        self.in_trap = False
        self.log: list[tuple[Node, object]] = []
        self.tests: list[Test] = []
        self.steps = 0
        self.symbols: dict[str, Input] = {}
        self.decided: dict[int, bool] = {}
        """Undecided tests that are tried both ways around a function call or loop, with the outcome under trial."""
        self.scopes: list[Scope] = []
        self.trials = 0
        self.tried = 0
        self.version = 0
        self.possible: list[Possible] = []
        self.forks: list[Fork] = []
        self.watches: dict[str, list[Fork]] = {}
        self.exported_watches: set[str] = set()
        """The watched variables that are exported after one of the outcomes."""
        self.truncated = False
        self.failed_call: tuple[Call, int] | None = None
        self.unfollowed = ""
        self.skipped: Skipped | None = None
        self.lost: Skipped | None = None
        self.plain = False
        """Whether the alternatives of scripts that are started now do not matter."""
        self.allocated: Value | None = None
        """How many nodes `salloc` has allocated for later commands."""
        self.beside: list[Leaf] = []
        """Servers that background jobs have started on other nodes."""
        self.exec_mounts: tuple[Mount, ...] | None = None
        self.exec_cwd = ""
        self.exec_words: tuple[Value, ...] = ()
        self.exec_environment: dict[str, Variable] = {}
        self.dash_c = "c" in process.options
        self.captured = "o" in process.options
        """Whether anybody reads the standard output."""
        self.readers: list[tuple[Out, list[bash.Statement]]] = []
        self.aliases: dict[str, str] = {}
        self.exported_functions: set[str] = set()
        self.jobs: dict[Hole, Job] = {}
        self.ids: list[Hole] = [Hole("process id", True)]
        """The process ids of this shell and of the subshells that are open."""
        self.killed: str | None = None
        self.slept = False
        self.umask: int | None = None
        self.links: set[str] = set()
        self.executables: set[str] = set()
        self.trapped: bash.Source = self.source
        """The source of the command that a trap looks at."""
        self.running: bash.Statement | None = None
        """The command that runs, for BASH_COMMAND."""
        self.temporaries: list[dict[str, Variable | None]] = []
        self.exit_status: Status | None = None
        """The status with which the shell exits, while its EXIT trap runs."""
        self.source_names: dict[str, Value] = {}
        self.getopts_index = 1
        self.getopts_offset = 1
        self.said: Value | None = None
        self.said_error: Value | None = None

    # ------------------------------------------------------------------------------------------------- decisions

    def place(self) -> Place:
        """Where the interpreter stands."""
        return Place(self.source, self.pos)

    def observe(
        self,
        function: Callable[..., object],
        *arguments: Value,
        partly: Callable[..., object] | None = None,
    ) -> object:
        """The outcome of a pure function over texts, logged so that other jobs decide the same way; None: undecided."""
        symbolic = False
        known = True
        texts: list[str] = []
        for argument in arguments:
            if isinstance(argument, str):
                texts.append(argument)
                continue
            symbolic = symbolic or argument.symbolic
            text = argument.text if argument.known else None
            if text is None:
                known = False
            else:
                texts.append(text)
        if known:
            outcome = function(*texts)
            if not symbolic:
                return outcome
        elif partly is not None:
            for argument in arguments:
                touch(argument)
            outcome = partly(*[resolve(a, self.inputs) for a in arguments])
        else:
            outcome = None
        if symbolic:
            self.log.append((ObserveNode(function, partly, arguments), outcome))
        self.tests.append(Test(self.place(), arguments, outcome))
        return outcome

    def concrete(self, value: Value) -> str | None:
        """The text of a value; the decision tree then depends on the whole text."""
        if isinstance(value, str):
            return value
        if not value.known:
            if value.symbolic:
                self.observe(str, value)
            return None
        if not value.symbolic:
            return value.text
        outcome = self.observe(str, value)
        assert isinstance(outcome, str)
        return outcome

    def nonempty(self, value: Value) -> bool | None:
        """Whether a value is not the empty text."""
        if isinstance(value, str):
            return value != ""
        if any((p and isinstance(p, str)) or getattr(p, "nonempty", False) for p in value.pieces):
            return True
        outcome = self.observe(bool, value, partly=_partial_nonempty)
        return outcome if outcome is None else bool(outcome)

    # ----------------------------------------------------------------------------------------------------- files

    def canonical(self, path: Value) -> str | None:
        """The canonical path for the current job, None if unknown."""
        if isinstance(path, str):
            return canonical(path, self.context)
        touch(path)
        return canonical(resolve(path, self.inputs), self.context)

    def address(self, path: Value) -> Value | None:
        """A path in the terms of this process: canonical and the same for all jobs, or a template; None if unknown."""
        if isinstance(path, str):
            return canonical(path, self.context)
        found = self.files.under_name(path, self.context.cwd)
        if found is not None:
            return normal(found) if isinstance(found, str) else found
        first = path.pieces[0]
        if _is_workspace(first):
            inner = concat([WORKSPACE, Text(path.pieces[1:])])
            return normal(inner) if isinstance(inner, str) else inner if inner.known else None
        if not path.known:
            return None
        return path if path.symbolic else canonical(text_of(path) or "", self.context)

    def located(self, address: Value) -> str:
        """The canonical path that an address is for the current job, '' if there is none."""
        if isinstance(address, str):
            return address
        text = text_of(address) or ""
        return normal(text) if text.startswith((WORKSPACE, NAMED)) else canonical(text, self.context) or ""

    def look(self, path: Value) -> tuple[Value | None, int, FileEntry]:
        """What is at a path: its address, the number of the own entry that says so (-1: none), and the entry."""
        address = self.address(path)
        if address is None:
            if self.files.outer is not None:
                return None, -1, self.outer_entry(path)
            if isinstance(path, Text) and path.symbolic:
                self.observe(str, path)
            return None, -1, FileEntry("unknown")
        files = self.files
        found: tuple[int, Kind, bool]
        if isinstance(address, str) and files.certain(address):
            found = files.find(address)
        else:
            found = self.observe(Look(files, self.context), address, *files.templates())  # type: ignore[assignment]
        index, kind, exact = found
        if index < 0:
            return address, -1, self.outer_entry(address)
        entry = files.entries[index][1]
        if not exact:
            if kind != "file":
                return address, index, FileEntry(kind)
            source = derive(Inside(files, self.context, index), address, *files.templates())
            entry = FileEntry("file", None, entry.place, source, source)
        return address, index, entry

    def entry(self, path: Value) -> tuple[str, FileEntry]:
        """What is at a path: canonical path ('' if unknown) and the entry (kind `unknown` if nothing is known)."""
        if path == "":
            return "", FileEntry("missing")
        if isinstance(path, str) and (path in _DEVICES or self.descriptor(path) in self.fds):
            return path, FileEntry("file")
        address, _, entry = self.look(path)
        return "" if address is None else self.located(address), entry

    def outer_entry(self, address: Value) -> FileEntry:
        """What the caller or the revision has at an address."""
        files = self.files
        real = address
        if isinstance(address, Text) and not address.known:
            real = address
        elif not isinstance(address, str) or address.startswith(NAMED):
            real = derive(Expansion(self.context, files.named), address, *files.templates())
        if files.outer is not None:
            where = marked(resolve(real, self.inputs))
            seen = self.inputs.file(where) if where else None
            self.log.append((FileNode(real), seen))
            if seen is not None:
                text: Value | None = seen[1] if isinstance(seen[1], str) else None
                return FileEntry(seen[0], text)  # type: ignore[arg-type]
        if isinstance(real, Text) and not real.known:
            return FileEntry("unknown")
        kind = self.observe(files.revision.kind, real)
        return FileEntry(kind, None, None, real if kind == "file" else None, real)  # type: ignore[arg-type]

    def pin(self, path: Value) -> str:
        """The canonical path for the current job; the decision tree then depends on it. '' if unknown."""
        address = self.address(path)
        if address is None or isinstance(address, str):
            return address or ""
        return str(self.observe(Expansion(self.context, self.files.named), address, *self.files.templates()))

    def read_file(self, path: Value) -> Value | None:
        """Content of a file, None when unknown or absent."""
        if path == "/dev/null":
            return ""
        number = self.descriptor(path)
        if number is not None:
            source = self.fds.get(number)
            return self.drain(source) if isinstance(source, In) else None
        return self.content(self.look(path)[2])

    def content(self, entry: FileEntry) -> Value | None:
        """What a file holds."""
        if entry.kind != "file" or entry.content is not None or entry.copy_of is None:
            return entry.content
        if isinstance(entry.copy_of, str):
            return self.files.revision.text(entry.copy_of)
        if not self.observe(self.files.revision.readable, entry.copy_of):
            return None
        return derive(self.files.revision.source, entry.copy_of)

    def place_of(self, path: Value) -> str | None:
        """Where a path is, for something that is put there: the same for all jobs; None if it cannot be told."""
        address = self.address(path)
        if isinstance(address, str):
            return address
        target = path if address is None else address
        assert isinstance(target, Text)
        first = target.pieces[0]
        if isinstance(first, str):
            absolute = first.startswith(("/", WORKSPACE, NAMED))
        elif address is None:
            absolute = True
        else:
            absolute = bool(self.observe(_is_absolute, target))
        start = first if isinstance(first, str) else ""
        if start.startswith(NAMED) or (start and not absolute and self.context.cwd.startswith(NAMED)):
            start = ""
        elif start and not start.startswith(WORKSPACE):
            # A literal start may be cut anywhere, but not inside of `..`.
            head = start[: start.rfind("/") + 1] if "/" in start else ""
            start = (canonical(head, self.context) or "") if absolute else canonical(head or ".", self.context) or ""
        return self.files.name(target, self.context.cwd, absolute, start)

    def rewrite(self, path: Value, content: Value | None) -> None:
        """Records an edited content of a file, which goes on to be made from what it was made from."""
        _, _, entry = self.look(path)
        where = self.place_of(path)
        if where is not None:
            self.put_file(where, FileEntry("file", content, self.place(), None, entry.origin))

    def write_file(self, path: Value, content: Value | None, append: bool) -> None:
        """Records what a file holds now."""
        if append:
            self.open_file(path, truncate=False)
        where = self.place_of(path)
        if where is not None:
            self.write_at(where, content, append)

    def open_file(self, path: Value, truncate: bool) -> str | None:
        """Makes a file ready to be written; where it is, None if that cannot be told."""
        _, index, entry = self.look(path)
        where = self.place_of(path)
        if where is None:
            return None
        if truncate:
            self.put_file(where, FileEntry("file", "", self.place()))
        elif index < 0 or self.files.entries[index][0] != where:
            old = "" if entry.kind == "missing" else self.content(entry)
            self.put_file(where, FileEntry("file", old, self.place(), None, entry.origin))
        return where

    def put_file(self, where: str, entry: FileEntry) -> None:
        """Records what is at a place."""
        self.version += 1
        self.files.put(where, entry)

    def write_at(self, where: str, content: Value | None, append: bool) -> None:
        """Records what the file at a place holds now; one that is appended to has been opened."""
        before = self.files.own(where)
        origin = None if before is None else before.origin
        if append and content is not None:
            old = None if before is None else before.content
            content = None if old is None else concat([old, content])
        self.put_file(where, FileEntry("file", content, self.place(), None, origin))

    def real_context(self, context: Context) -> Context:
        """A context for another process, which does not know this one's names of paths."""
        if not context.cwd.startswith(NAMED):
            return context
        real = derive(Expansion(context, self.files.named), context.cwd, *self.files.templates())
        where = self.concrete(real) or ""
        return replace(context, cwd=f"/unknown/{token_of(where)}" if where.startswith(NAMED) or not where else where)

    def drain(self, source: In) -> Value | None:
        """What is left of an input, which is then at its end; None if nobody knows it."""
        value = source.value
        if value is not None and source.pos:
            value = (self.concrete(value) or "")[source.pos :]
        source.value, source.pos = "", 0
        return value

    # ------------------------------------------------------------------------------------------------- variables

    def get(self, name: str) -> Variable | None:
        """A variable by name, namerefs followed; special parameters are not variables (see expansion)."""
        if self.watches and name in self.watches:
            for fork in self.watches.pop(name):
                fork.needed = True
        var = self.vars.get(name)
        if var is not None and var.nameref:
            seen = {name}
            while var is not None and var.nameref:
                target = text_of(var.value) if isinstance(var.value, (str, Text)) else None
                if not target or target in seen:
                    return None
                seen.add(target)
                var = self.vars.get(target)
        return var

    def target(self, name: str) -> str:
        """The name that a nameref finally stands for."""
        for _ in range(10):
            var = self.vars.get(name)
            if var is None or not var.nameref or not isinstance(var.value, (str, Text)):
                return name
            text = text_of(var.value)
            if not text:
                return name
            name = text
        return name

    def put(self, name: str, var: Variable) -> None:
        """Binds a name."""
        self.version += 1
        self.vars[name] = var

    def assign(self, name: str, value: Value, append: bool = False, index: Value | None = None) -> bool:
        """`name=value`; False if the variable is read-only."""
        return assignment.assign(self, name, value, append, index)

    def assign_array(self, name: str, items: list[tuple[bash.Word | None, bool, bash.Word]], append: bool) -> bool:
        """`name=( ... )`."""
        return assignment.assign_array(self, name, items, append)

    def unset(self, name: str) -> None:
        """Removes a variable."""
        if name in self.vars:
            self.version += 1
            del self.vars[name]

    def declare_local(self, name: str) -> None:
        """Makes `name` local to the running function."""
        for frame in reversed(self.frames):
            if frame.function:
                if name not in frame.saved:
                    # The assignment before a call and the function's local are one variable.
                    hidden = frame.temporary if frame.temporary is not None and name in frame.temporary else self.vars
                    frame.saved[name] = hidden.get(name)
                return

    def environment(self, overlay: dict[str, Variable] | None = None) -> dict[str, Variable]:
        """The exported variables."""
        if self.watches:
            for name in list(self.watches):
                var = self.vars.get(name)
                if name in self.exported_watches or (var is not None and var.exported):
                    for fork in self.watches.pop(name):
                        fork.needed = True
        out: dict[str, Variable] = {}
        for name, var in self.vars.items():
            if var.exported and not isinstance(var.value, dict):
                shown = var if var.value is not None else self._hidden(name)
                if shown is not None:
                    out[name] = shown
        if overlay:
            out.update(overlay)
        if self.forks:
            for var in out.values():
                if isinstance(var.value, Text):
                    touch(var.value)
        return out

    def _hidden(self, name: str) -> Variable | None:
        """The exported variable that a local without a value hides: a programme still gets that one."""
        for frame in reversed(self.frames):
            var = frame.saved.get(name)
            if var is not None and var.exported and isinstance(var.value, (str, Text)):
                return var
        return None

    # ----------------------------------------------------------------------------------------------------- output

    def write(self, value: Value, fd: int = 1) -> bool:
        """Writes to a file descriptor; False if it is closed."""
        out = self.fds.get(fd)
        if not isinstance(out, Out):
            return out is not None
        if out.chunks is not None:
            out.chunks.append(value)
        elif out.path is not None:
            self.write_at(out.path, value, True)
        if out.role == "stderr":
            self.said_error = value
        elif out.role == "stdout":
            self.said = value
        return True

    def complain(self, message: Value) -> Value:
        """Writes an error message of the shell itself; the message as it is shown."""
        path = self.source.path
        name = self.shown_name if path == self.process.script.source.path else self.shown_path(path)
        shown = concat([name, f": line {self.line()}: ", message, "\n"])
        self.write(shown, 2)
        return shown

    def line(self) -> int:
        """The line that bash would name: of a command whose second word has several lines, the last of them."""
        line = self.source.line(self.pos)
        node = self.running
        if isinstance(node, bash.Command) and node.pos == self.pos and len(node.words) > 1:
            return line + node.words[1].text.count("\n")
        return line

    def message(self) -> Value | None:
        """What the script said last, on standard error if it said something there."""
        return self.said_error if self.said_error is not None else self.said

    # -------------------------------------------------------------------------------------------------- statements

    def run(self, statements: Sequence[bash.Statement]) -> Status:
        """Executes a list."""
        status: Status = 0
        for statement in statements:
            status = self.execute(statement)
        return status

    def execute(self, node: bash.Statement) -> Status:
        """Executes one statement and returns its exit status."""
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise StopFlow(f"more than {MAX_STEPS} steps", Place(self.source, node.pos))
        self.pos = node.pos
        redirects = getattr(node, "redirects", None)
        if redirects and node.__class__ is not bash.Command:
            keep = redirection.redirect(self, redirects)
            if keep is None:
                return self.settle(1, node)
            try:
                status = _EXECUTE[node.__class__](self, node)
            except ExitFlow:
                # The EXIT trap still writes where the exiting command did.
                raise
            except BaseException:
                self.fds = keep
                raise
            redirection.restore_descriptors(self, keep)
        else:
            status = _EXECUTE[node.__class__](self, node)
        self.status = status
        return status

    def settle(self, status: Status, node: bash.Statement, statuses: list[Status] | None = None) -> Status:
        """`set -e`, the ERR trap and PIPESTATUS, after a command that counts."""
        self.status = status
        self.pipestatus = [status] if statuses is None else statuses
        if status != 0 and isinstance(status, int) and self.lenient == self.inverted:
            if self.traps.get("ERR") and id(node) not in self.unchecked:
                self.pos = node.pos
                self.run_trap("ERR")
            if self.options.get("errexit") and self.lenient == 0:
                raise ExitFlow(status, Place(self.source, node.pos), self.message(), self.failed_call)
        elif isinstance(status, Undecided) and self.lenient == 0 and self.options.get("errexit"):
            choice.strict_failure(self, node, status)
            if status.ends:
                self.status = status = Undecided(status.reason)
        return status

    def run_trap(self, name: str) -> None:
        """Runs a trap's text."""
        text = self.traps.get(name)
        if not text or self.in_trap:
            return
        keep, pipes = self.status, self.pipestatus
        self.in_trap = True
        self.trapped = self.source
        try:
            self.run_text(text, self.place())
        finally:
            self.in_trap = False
        self.status, self.pipestatus = keep, pipes

    def exit_trap(self, status: Status, place: Place) -> Status:
        """Runs the EXIT trap; the status that the shell then exits with."""
        text = self.traps.pop("EXIT", None)
        if not text:
            return status
        self.status = self.exit_status = status
        try:
            self.run_text(text, place)
        except ExitFlow as flow:
            return flow.code
        finally:
            self.exit_status = None
        return status

    def receive(self, name: str) -> Status:
        """A signal meets this shell: its trap runs, or the shell ends."""
        number = SIGNALS.get(name, 15)
        action = self.traps.get(name)
        if action is None or name in ("KILL", "STOP"):
            if name == "KILL":
                self.traps.pop("EXIT", None)
            raise ExitFlow(128 + number, self.place(), self.message())
        if action:
            self.run_text(action, self.place())
        return 0

    def run_text(self, text: Value, place: Place) -> Status:
        """Executes text as `eval` does."""
        script = expansion.script_of(self, text, place)
        if script is None:
            self.lose("eval of an unknown text")
            return Undecided("eval of an unknown text")
        source, self.source = self.source, script.source
        try:
            return self.run_lines(script)
        finally:
            self.source = source
            self.pos = place.pos

    def run_lines(self, script: bash.Script) -> Status:
        """Executes a text line by line; an expansion error drops the rest of its line, a syntax error all the rest."""
        status: Status = 0
        for line in script.lines():
            try:
                for statement in line:
                    if isinstance(statement, bash.Bad):
                        self.pos = statement.pos
                        self.complain(statement.message)
                        return 2
                    status = self.execute(statement)
            except DiscardFlow:
                self.status = status = 1
                self.pipestatus = [1]
                if self.subshells:
                    raise ExitFlow(1, self.place(), self.message()) from None
        return status

    def discard(self, message: str = "") -> DiscardFlow:
        """The error of an expansion that bash refuses, to be raised."""
        if message:
            self.complain(message)
        return DiscardFlow()

    # -- simple commands

    def _command(self, node: bash.Command) -> Status:
        if not self.in_trap:
            self.running = node
            if "DEBUG" in self.traps:
                self.run_trap("DEBUG")
        if not node.words:
            self.substatus = None
            return self._assignments_only(node)
        words = node.words
        values: list[Value] = []
        if node.declares:
            return self._declaration(node)
        self.substatus = None
        for word in words:
            literal = word.literal
            if literal is not None and expansion.HOLE_START not in literal:
                values.append(literal)
            else:
                values.extend(expansion.fields(self, word))
        if not values:
            return self._assignments_only(node)
        if self.aliases:
            expanded = self._alias(node)
            if expanded is not None:
                return self.run_text(expanded, self.place())
        status = self.run_values(values, node)
        self.last_argument = values[-1]
        return status

    def _alias(self, node: bash.Command) -> str | None:
        """The command as text with its first word replaced, if that is an alias and aliases are expanded."""
        first = node.words[0]
        text = self.aliases.get(first.text) if self.shopt.get("expand_aliases") and not node.assigns else None
        if text is None or text.split(None, 1)[:1] == [first.text]:
            return None
        start = node.offsets[0] + len(first.text)
        return text + self.source.text[start : node.end]

    def _assignments_only(self, node: bash.Command) -> Status:
        keep: dict[int, Out | In] | None = None
        if node.redirects:
            keep = redirection.redirect(self, node.redirects)
            if keep is None:
                return self.settle(1, node)
        ok = True
        for assign in node.assigns:
            ok = self.perform(assign) and ok
            if not ok:
                break
        if keep is not None:
            self.fds = keep
        if not ok:
            raise DiscardFlow
        status = 0 if self.substatus is None else self.substatus
        return self.settle(status, node)

    def perform(self, assign: bash.Assign) -> bool:
        """Performs an assignment."""
        keep, self.pos = self.pos, assign.pos
        try:
            if assign.array is not None:
                return self.assign_array(assign.name, assign.array, assign.append)
            assert assign.value is not None
            value = expansion.string(self, assign.value, assignment=True)
            index = None if assign.index is None else expansion.string(self, assign.index)
            return self.assign(assign.name, value, assign.append, index)
        finally:
            self.pos = keep

    def _declaration(self, node: bash.Command) -> Status:
        """A declaration builtin with assignment words: these are not split, and may be arrays."""
        from botlint.shell import declarations

        assert node.declares is not None
        values: list[Value | declarations.Declared] = []
        self.substatus = None
        for position, word in enumerate(node.words):
            assign = node.declares.get(position)
            if assign is None:
                values.extend(expansion.fields(self, word))
            elif assign.value is None:
                values.append(declarations.Declared(assign, None))
            else:
                values.extend(
                    declarations.Declared(assign, expansion.string(self, braced, assignment=True))
                    for braced in expansion.brace_words(self, assign.value)
                )
        keep: dict[int, Out | In] | None = None
        if node.redirects:
            keep = redirection.redirect(self, node.redirects)
            if keep is None:
                return self.settle(1, node)
        try:
            status = self._with_assigns(node.assigns, lambda: declarations.declare(self, values))
        finally:
            if keep is not None:
                self.fds = keep
        return self.settle(status, node)

    def run_values(self, values: list[Value], node: bash.Command) -> Status:
        """Runs a simple command whose words are expanded."""
        keep: dict[int, Out | In] | None = None
        if node.redirects:
            name = values[0]
            if name == "exec" and len(values) == 1:
                return self.settle(int(redirection.redirect(self, node.redirects, lasting=True) is None), node)
            outside = isinstance(name, str) and name not in self.functions and name not in BUILTINS
            before = dict(self.vars) if outside else None
            keep = redirection.redirect(self, node.redirects)
            if before is not None:
                # The redirections of a programme are made in its own process.
                self.vars = before
            if keep is None:
                return self.settle(1, node)
        try:
            status = self.dispatch(values, node.assigns)
        except ExitFlow:
            # The EXIT trap still writes where the exiting command did.
            raise
        except BaseException:
            if keep is not None:
                self.fds = keep
            raise
        if keep is not None:
            redirection.restore_descriptors(self, keep)
        self.pos = node.pos
        return self.settle(status, node)

    def dispatch(self, values: list[Value], assigns: Sequence[bash.Assign]) -> Status:
        """Function, builtin or external command."""
        first = values[0]
        name = first if isinstance(first, str) else launching.command_name(self, first)
        function = self.functions.get(name)
        if function is not None:
            if not assigns:
                return self.call_function(function, name, values[1:])
            return self._with_assigns(assigns, lambda: self.call_function(function, name, values[1:], True))
        builtin = BUILTINS.get(name)
        if builtin is not None:
            return (
                self._with_assigns(assigns, lambda: builtin(self, values[1:])) if assigns else builtin(self, values[1:])
            )
        if not assigns:
            return launching.external(self, name, values, {})
        return self._with_assigns(assigns, lambda: launching.external(self, name, values, {}))

    def _with_assigns(self, assigns: Sequence[bash.Assign], action: Callable[[], Status]) -> Status:
        if not assigns:
            return action()
        saved: dict[str, Variable | None] = {}
        for assign in assigns:
            before = self.vars.get(assign.name)
            if before is not None and before.readonly:
                self.perform(assign)
                continue
            saved.setdefault(assign.name, before)
            self.perform(assign)
            var = self.vars.get(assign.name)
            if var is not None:
                self.vars[assign.name] = var.changed(exported=True, inherited=False)
        self.temporaries.append(saved)
        try:
            return action()
        finally:
            self.temporaries.pop()
            for name, var in saved.items():
                self.version += 1
                if var is None:
                    self.vars.pop(name, None)
                else:
                    self.vars[name] = var

    def import_function(self, name: str, value: Value) -> None:
        """Defines a function that the parent has exported."""
        text = self.concrete(value)
        if text is not None:
            for statement in self.world.parse(text, Place(self.source, 0)):
                if isinstance(statement, bash.Function):
                    self.functions[name] = statement
        self.exported_functions.add(name)

    def find_program(self, name: str) -> tuple[bool | None, Value]:
        """Whether a programme is installed (None: only the machine knows), and where."""
        return launching.find_program(self, name)

    def external(self, name: str, values: list[Value], overlay: dict[str, Variable]) -> Status:
        """Runs an external command."""
        return launching.external(self, name, values, overlay)

    def command_text(self, value: Value) -> str:
        """The name of a command that is not a plain text."""
        return launching.command_name(self, value)

    def skip(self, reason: str, weight: int) -> None:
        """Notes something that is not followed, unless something weightier is noted."""
        self.keep_skipped(Skipped(reason, self.place(), weight))

    def lose(self, reason: str) -> None:
        """Notes that from here on nobody knows what the variables are: a server that starts now is not known."""
        self.skip(reason, 3)
        if self.lost is None:
            self.lost = Skipped(reason, self.place(), 3)

    def sure(self) -> None:
        """A server starts here; if nobody knows the variables any more, the interpretation ends."""
        if self.lost is not None:
            raise StopFlow(self.lost.reason, self.lost.place)

    def keep_skipped(self, skipped: Skipped | None) -> None:
        """Takes over what a started script did not follow."""
        if skipped is not None and (self.skipped is None or skipped.weight >= self.skipped.weight):
            self.skipped = skipped

    def note_unknown(self, value: Value) -> None:
        """Remembers that a decision hung on something unknown."""
        self.tests.append(Test(self.place(), (value,), None))

    @property
    def shown_name(self) -> Value:
        """The name under which the script was started; while a library is recorded for other scripts, an input."""
        if isinstance(self.vars, Recording) and self.name == self.process.label:
            return Text((self.symbols[LABEL],))
        return self.name

    @property
    def main_name(self) -> Value | None:
        """The outermost BASH_SOURCE; a command string has none."""
        return None if self.dash_c else self.shown_name

    def shown_path(self, path: str) -> Value:
        """The path of a source as the script wrote it."""
        return self.source_names.get(path, path)

    def sourced(self, path: Value) -> tuple[bash.Script | None, str]:
        """The script that `source` reads; (None, 'unknown' or the path) if there is none."""
        text = text_of(path)
        found = launching.on_path(self, text, {}) if text is not None and "/" not in text else None
        path = path if found is None else found
        where, entry = self.entry(path)
        if entry.kind == "missing":
            return None, where
        if entry.kind != "file":
            return None, "unknown"
        content = self.read_file(path)
        if content is None:
            return None, "unknown"
        known = content if isinstance(content, str) else self.concrete(content)
        if known is None:
            return None, "unknown"
        return self.world.script(where, known), where

    def enter_source(self, script: bash.Script, path: Value, arguments: list[Value]) -> Frame:
        """Starts reading another file in this shell."""
        if len(self.frames) > 2 * MAX_FUNCTION_DEPTH:
            raise StopFlow("files sourced too deeply", self.place())
        frame = Frame("source", script.source, self.place(), self.positional, False)
        frame.outer = self.source
        self.source_names[script.source.path] = path
        self.frames.append(frame)
        if arguments:
            self.positional = list(arguments)
        self.source = script.source
        return frame

    def leave_source(self, frame: Frame, restore: bool) -> None:
        """Ends reading another file."""
        self.frames.pop()
        if restore and not frame.keeps_arguments:
            self.positional = frame.positional
        assert frame.outer is not None
        self.source = frame.outer
        self.pos = frame.call.pos

    def _scoped(self, kind: str, action: Callable[[], Status]) -> Status:
        """Runs a function call or loop, around which an undecided test inside may have to be tried both ways."""
        before = self.snapshot()
        scope = Scope(kind, self.subshells)
        depth = len(self.scopes)
        self.scopes.append(scope)
        try:
            return action()
        except HoistFlow as flow:
            if flow.scope is not scope:
                raise
            hoist = flow
        finally:
            del self.scopes[depth:]
        self.restore(before)
        return choice.hoisted(self, hoist, lambda: self._scoped(kind, action))

    def call_function(
        self, function: bash.Function, name: str, arguments: list[Value], temporary: bool = False
    ) -> Status:
        """Calls a function; `temporary` says that assignments stand before the call."""

        def call() -> Status:
            return self._scoped("function", lambda: self._call_function(function, name, arguments, temporary))

        if function.source is self.process.script.source or temporary:
            return call()
        return segments.run(self, id(function), arguments, call)

    def _call_function(self, function: bash.Function, name: str, arguments: list[Value], temporary: bool) -> Status:
        if sum(1 for f in self.frames if f.function) >= MAX_FUNCTION_DEPTH:
            raise StopFlow(f"functions nested deeper than {MAX_FUNCTION_DEPTH} (recursion of {name})", self.place())
        frame = Frame(name, function.source, self.place(), self.positional, True)
        if temporary:
            frame.temporary = self.temporaries[-1]
        self.frames.append(frame)
        self.positional = list(arguments)
        source, self.source = self.source, function.source
        loops, self.loops = self.loops, 0
        hidden = self._hide_traps() if self.traps else {}
        try:
            try:
                status = self.execute(function.body)
            except ReturnFlow as flow:
                self.status = status = flow.status
            if "RETURN" in self.traps:
                self.run_trap("RETURN")
        except ExitFlow:
            # The EXIT trap still sees the locals of the function that exits.
            self.frames.pop()
            raise
        except BaseException:
            self._leave_function(frame, source, loops)
            raise
        self._leave_function(frame, source, loops)
        self.traps = {**hidden, **self.traps} if hidden else self.traps
        return status

    def _hide_traps(self) -> dict[str, str]:
        """Takes away the traps that functions do not inherit; the traps that were hidden."""
        passed = {"ERR": "errtrace", "DEBUG": "functrace", "RETURN": "functrace"}
        hidden = {k: v for k, v in self.traps.items() if k in passed and not self.options.get(passed[k])}
        if hidden:
            self.traps = {k: v for k, v in self.traps.items() if k not in hidden}
        return hidden

    def _leave_function(self, frame: Frame, source: bash.Source, loops: int) -> None:
        self.source = source
        self.loops = loops
        self.pos = frame.call.pos
        self.positional = frame.positional
        self.frames.pop()
        if frame.options is not None:
            self.options = frame.options
        for local, var in frame.saved.items():
            self.version += 1
            if var is None:
                self.vars.pop(local, None)
            else:
                self.vars[local] = var

    def descriptor(self, path: Value) -> int | None:
        """The descriptor that a path such as /dev/stdin or /dev/fd/3 stands for."""
        if not isinstance(path, str) or not path.startswith("/dev/"):
            return None
        if path in _STANDARD:
            return _STANDARD[path]
        number = path.removeprefix("/dev/fd/")
        return int(number) if number.isdigit() and self.files.own(path) is None else None

    def kind_at(self, where: str) -> str:
        """What is at a canonical path, as far as this process and the revision say."""
        own = self.files.own(where)
        return own.kind if own is not None else self.files.revision_kind(where)

    # -- substitutions and subshells

    def subshell(self, action: Callable[[], Status], out: list[Value] | None = None, fresh: bool = False) -> Status:
        """Runs `action` in a copy of the shell; files that it makes stay, everything else is undone."""
        state = self.snapshot(files=False)
        fds = self.fds
        if out is not None:
            self.fds = {**fds, 1: Out(out)}
        self.subshells += 1
        self.ids.append(Hole("process id", True))
        loops, self.loops = self.loops, 0
        lenient = self.lenient
        options = dict(self.options)
        if fresh and not self.shopt.get("inherit_errexit"):
            self.options = {**self.options, "errexit": False}
        frames, positional, source = list(self.frames), self.positional, self.source
        watches = {name: list(forks) for name, forks in self.watches.items()}
        traps, self.traps = self.traps, self._inherited_traps()
        mark = len(self.possible)
        try:
            try:
                status = action()
            except ExitFlow as flow:
                status = flow.code
            status = self.exit_trap(status, self.place())
        except ReturnFlow as flow:
            status = flow.status
        except DiscardFlow:
            status = 1
        finally:
            self.subshells -= 1
            self.ids.pop()
            self.loops = loops
            self.traps = traps
            self.options = options
            self.lenient = lenient
            self.fds = fds
            self.frames[:] = frames
            self.positional = positional
            self.source = source
            self.watches = watches
            self.restore(state)
        if len(self.possible) > mark:
            status = choice.subshell_status(self, status, mark)
        if self.killed is not None and len(self.ids) == 1:
            name, self.killed = self.killed, None
            self.receive(name)
        return status

    def _inherited_traps(self) -> dict[str, str]:
        """The traps of a subshell: those that ignore a signal, and ERR and DEBUG where they are passed on."""
        passed = {"ERR": "errtrace", "DEBUG": "functrace", "RETURN": "functrace"}
        return {k: v for k, v in self.traps.items() if v == "" or (k in passed and self.options.get(passed[k]))}

    def capture(self, body: Sequence[bash.Statement]) -> Value:
        """The output of a command substitution, its trailing newlines removed; the status is left in `substatus`."""
        out: list[Value] = []
        if (
            len(body) == 1
            and isinstance(body[0], bash.Command)
            and not body[0].words
            and not body[0].assigns
            and len(body[0].redirects) == 1
            and body[0].redirects[0].op == "<"
        ):
            return self._capture_file(body[0].redirects[0].target)
        keep = self.pos
        said, said_error = self.said, self.said_error
        status = self.subshell(lambda: self.run(body), out, fresh=True)
        self.said = said
        self.said_error = self.said_error if self.said_error is not None else said_error
        self.pos = keep
        self.substatus = status
        return self._captured(concat(out))

    def _captured(self, value: Value) -> Value:
        if isinstance(value, Text):
            value = concat([p.replace("\0", "") if isinstance(p, str) else Text((p,)) for p in value.pieces])
        elif "\0" in value:
            value = value.replace("\0", "")
        return expansion.strip_newlines(self, value)

    def _capture_file(self, word: bash.Word) -> Value:
        """`$(<file)`."""
        target = expansion.string(self, word)
        _, entry = self.entry(target)
        if entry.kind == "missing":
            self.complain(f"{text_of(target)}: No such file or directory")
            self.substatus = 1
            return ""
        content = self.read_file(target)
        self.substatus = 0
        return hole(f"content of {text_of(target) or 'a file'}") if content is None else self._captured(content)

    def capture_raw(self, body: Sequence[bash.Statement]) -> Value:
        """The whole output of a process substitution."""
        out: list[Value] = []
        keep = self.pos
        self.subshell(lambda: self.run(body), out)
        self.pos = keep
        return concat(out)

    def _subshell(self, node: bash.Subshell) -> Status:
        status = self.subshell(lambda: self.run(node.body))
        self.pos = node.pos
        return self.settle(status, node)

    def _group(self, node: bash.Group) -> Status:
        return self.run(node.body)

    def _pipeline(self, node: bash.Pipeline) -> Status:
        stages = node.stages
        # With `set -e` bash ignores every failure in what is negated, without it only its own status.
        inverted = int(node.negated and not self.options.get("errexit"))
        if node.negated:
            self.lenient += 1
            self.inverted += inverted
        judged = (bash.Command, bash.Subshell, bash.Cond, bash.Arith) if node.negated else bash.Command
        plain = {id(s) for s in stages if isinstance(s, judged)} if self.traps else set()
        self.unchecked |= plain
        try:
            if not stages:
                status: Status = 0
            elif len(stages) == 1:
                status = self.execute(stages[0])
                self.pipestatus = [status]
            else:
                status = self._stages(node)
        finally:
            if node.negated:
                self.lenient -= 1
                self.inverted -= inverted
            self.unchecked -= plain
        if node.negated:
            status = negate(status)
            self.status = status
            return status
        self.pos = node.pos
        return self.settle(status, node, self.pipestatus) if len(stages) > 1 else status

    def _stages(self, node: bash.Pipeline) -> Status:
        fds = self.fds
        stdin = fds.get(0)
        statuses: list[Status] = []
        last = len(node.stages) - 1
        self.lenient += 1
        errexit = self.lenient == self.inverted + 1
        before = self.status
        try:
            for number, stage in enumerate(node.stages):
                self.status = before
                out: list[Value] | None = None if number == last else []
                self.fds = dict(fds)
                if stdin is None:
                    self.fds.pop(0, None)
                else:
                    self.fds[0] = stdin
                if out is not None:
                    self.fds[1] = Out(out)
                    if node.both[number]:
                        self.fds[2] = self.fds[1]

                def action(stage: bash.Statement = stage) -> Status:
                    if errexit:
                        self.lenient -= 1
                    try:
                        return self.execute(stage)
                    finally:
                        if errexit:
                            self.lenient += 1

                status = action() if number == last and self.shopt.get("lastpipe") else self.subshell(action)
                statuses.append(status)
                if out is not None:
                    stdin = In(concat(out))
        finally:
            self.lenient -= 1
            self.fds = fds
        self.pipestatus = statuses
        if self.options.get("pipefail"):
            for status in reversed(statuses):
                if status != 0 and isinstance(status, int):
                    return status
            return next((s for s in reversed(statuses) if isinstance(s, Undecided)), 0)
        return statuses[-1]

    def _background(self, node: bash.Background) -> Status:
        fds, mark = self.fds, len(self.tests)
        status: Status = Undecided("a background job")
        self.fds = {**fds, 0: In("")}
        self.slept = False
        try:
            status = self.subshell(lambda: self.execute(node.body))
        except StopFlow as flow:
            # A watcher that never ends is the normal case of a background job.
            if "endless loop" not in flow.reason and "more than" not in flow.reason:
                raise
            self.slept = True
        except (ServeFlow, CallFlow) as flow:
            # A server on another node in the background: the script goes on, and may start the next one.
            if not flow.elsewhere or not serves(flow):
                raise
            self.beside.append(leaf_of(flow))
            self.slept = True
        finally:
            self.fds = fds
        identity = Hole("process id", True)
        lasting = self.slept or any(t.outcome is None for t in self.tests[mark:])
        self.jobs[identity] = Job(status, lasting)
        self.last_background = Text((identity,))
        return 0

    def slice(self, node: bash.Statement, reason: str) -> str:
        """The source of a condition on one line, for people."""
        text = " ".join(self.source.text[node.pos : node.end].split())
        return text[:120] if text else reason

    def condition(self, statements: Sequence[bash.Statement]) -> Status:
        """Runs a condition, in which failures do not end the shell."""
        self.lenient += 1
        try:
            return self.run(statements)
        finally:
            self.lenient -= 1

    def guarded(self, place: Place, taken: bool | str, tests: list[Test], action: Callable[[], Status]) -> Status:
        """Runs `action` under a condition, which everything that it assigns remembers."""
        outer, self.guard = self.guard, Guard(self.guard, place, taken, tests)
        try:
            return action()
        finally:
            self.guard = outer

    def match(self, word: Value, pattern: Value) -> bool | None:
        """Whether a text matches a shell pattern."""
        if pattern == "*":
            return True
        ignore = self.shopt.get("nocasematch", False)
        if isinstance(word, str) and isinstance(pattern, str):
            return matches(pattern, word, ignore_case=ignore)
        same = conditions.same_holes(word, pattern)
        if same is not None:
            return same
        outcome = self.observe(_match_ignoring if ignore else _match, word, pattern, partly=conditions.partial_match)
        return outcome if outcome is None else bool(outcome)

    # --------------------------------------------------------------------------------------------- undecided tests

    def snapshot(self, files: bool = True) -> State:
        """A copy of the state that `restore` brings back."""
        return State(self, files)

    def restore(self, state: State) -> None:
        """Back to a snapshot."""
        state.restore(self)

    def choose(
        self, site: int, place: Place, reason: str, yes: Callable[[], Status], no: Callable[[], Status]
    ) -> Status:
        """An undecided test: both outcomes are tried (see `choice`)."""
        return choice.choose(self, site, place, reason, yes, no)


def _match(text: str, pattern: str) -> bool:
    return matches(pattern, text)


def _match_ignoring(text: str, pattern: str) -> bool:
    return matches(pattern, text, ignore_case=True)


def _is_workspace(piece: object) -> bool:
    """Whether a piece of a path is the checkout's own place."""
    if isinstance(piece, Hole):
        return piece.reason == WORKSPACE_VARIABLE
    return isinstance(piece, Input) and piece.partial == (Unknown(WORKSPACE_VARIABLE, True),)


def _is_absolute(path: str) -> bool:
    return path.startswith("/")


def _partial_nonempty(value: object) -> bool | None:
    if isinstance(value, str):
        return bool(value)
    assert isinstance(value, tuple)
    return (
        True
        if any(isinstance(p, str) and p for p in value) or any(getattr(p, "nonempty", False) for p in value)
        else None
    )


_EXECUTE: dict[type, Callable[[Shell, object], Status]] = {
    bash.Command: Shell._command,  # type: ignore[dict-item]
    bash.Pipeline: Shell._pipeline,  # type: ignore[dict-item]
    bash.AndOr: compound.and_or,  # type: ignore[dict-item]
    bash.Background: Shell._background,  # type: ignore[dict-item]
    bash.If: compound.if_,  # type: ignore[dict-item]
    bash.While: compound.while_,  # type: ignore[dict-item]
    bash.For: compound.for_,  # type: ignore[dict-item]
    bash.ArithFor: compound.arith_for,  # type: ignore[dict-item]
    bash.Case: compound.case,  # type: ignore[dict-item]
    bash.Function: compound.function,  # type: ignore[dict-item]
    bash.Group: Shell._group,  # type: ignore[dict-item]
    bash.Subshell: Shell._subshell,  # type: ignore[dict-item]
    bash.Cond: compound.cond,  # type: ignore[dict-item]
    bash.Arith: compound.arith,  # type: ignore[dict-item]
    bash.Coproc: compound.coproc,  # type: ignore[dict-item]
    bash.Bad: compound.bad,  # type: ignore[dict-item]
}

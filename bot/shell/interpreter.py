"""The abstract interpreter: state of one shell, and the execution of statements.

No process is ever started. A test over known values is decided exactly as bash decides it; a test over a value that nobody knows
before the run is *undecided*, and both outcomes are looked at (`Shell.choose`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from botlint.documents import bash
from botlint.shell import arithmetic_values, choice, conditions, expansion, launching, parameters, variables
from botlint.shell.builtins import BUILTINS
from botlint.shell.files import FileSystem
from botlint.shell.paths import canonical
from botlint.shell.patterns import matches
from botlint.shell.process import (
    Call,
    ChooseNode,
    Context,
    FileEntry,
    FileNode,
    Fork,
    Guard,
    Inputs,
    Leaf,
    Mount,
    Node,
    ObserveNode,
    Place,
    Possible,
    Process,
    Solved,
    Test,
    Variable,
)
from botlint.shell.signals import (
    SIGNALS,
    BreakFlow,
    CallFlow,
    ContinueFlow,
    DiscardFlow,
    ExitFlow,
    Flow,
    HoistFlow,
    ReturnFlow,
    Scope,
    ServeFlow,
    Status,
    StopFlow,
    Undecided,
)
from botlint.shell.state import State
from botlint.shell.streams import In, Out
from botlint.shell.values import Budget, Hole, Text, Value, concat, hole, resolve, text_of, touch

if TYPE_CHECKING:
    from botlint.shell.world import World

MAX_STEPS = 60_000
MAX_ITERATIONS = 5_000
MAX_FUNCTION_DEPTH = 60
MAX_TRIALS = 8
"""Undecided tests inside undecided tests that are still tried both ways."""
MAX_TRIED = 400
"""Undecided tests of one run that are tried both ways."""

_DEVICES = frozenset({"/dev/null", "/dev/tty", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"})
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_STANDARD = {"/dev/stdin": 0, "/dev/stdout": 1, "/dev/stderr": 2, "/proc/self/fd/1": 1, "/proc/self/fd/2": 2}


class Job:
    """A background job: the status that it ends with, whether it has been waited for, and whether a signal would still meet it."""

    __slots__ = ("lasting", "status", "waited")

    def __init__(self, status: Status, lasting: bool) -> None:
        self.status = status
        self.lasting = lasting
        self.waited = False


class Look:
    """What kind of thing is at a path, given what the process has made so far; a pure function of the templates' texts."""

    __slots__ = ("base", "context", "entries")

    def __init__(self, files: FileSystem, context: Context) -> None:
        self.base = files.revision_kind
        self.context = context
        self.entries = [
            (None if isinstance(template, Text) and template.symbolic else where, entry.kind)
            for where, template, entry in files.entries
        ]

    def __call__(self, path: str, *templates: str) -> str:
        """The kind; `templates` are the texts of the entries whose path is a template, in order."""
        at = canonical(path, self.context)
        if at is None:
            return "unknown"
        texts = iter(templates)
        wheres = [(canonical(next(texts), self.context) if w is None else w, kind) for w, kind in self.entries]
        return next((kind for where, kind in reversed(wheres) if where == at), None) or self.base(at)


class Frame:
    """One function call (or sourced file): what `local` has to restore, and where it was called."""

    __slots__ = ("call", "function", "keeps_arguments", "name", "options", "outer", "positional", "saved", "source", "temporary")

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
        self.subshells = 0
        self.subst = 0
        self.loops = 0
        self.in_trap = False
        self.log: list[tuple[Node, object]] = []
        self.tests: list[Test] = []
        self.steps = 0
        self.decided: dict[int, bool] = {}
        """Undecided tests that are being tried both ways around a function call or loop, with the outcome under trial."""
        self.scopes: list[Scope] = []
        self.trials = 0
        self.tried = 0
        self.version = 0
        self.possible: list[Possible] = []
        self.forks: list[Fork] = []
        self.watches: dict[str, list[Fork]] = {}
        self.truncated = False
        self.failed_call: tuple[Call, int] | None = None
        self.unfollowed = ""
        self.exec_mounts: tuple[Mount, ...] | None = None
        self.exec_cwd = ""
        self.dash_c = "c" in process.options
        self.captured = "o" in process.options
        """Whether anybody reads the standard output."""
        self.readers: list[tuple[Out, list[bash.Statement]]] = []
        self.aliases: dict[str, str] = {}
        self.exported_functions: set[str] = set()
        self.jobs: dict[Hole, Job] = {}
        self.ids = [Hole("process id", True)]
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
        """The outcome of a pure function over texts, logged so that other jobs can take the same decision; None: undecided."""
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
        if any(p and isinstance(p, str) or getattr(p, "nonempty", False) for p in value.pieces):
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

    def entry(self, path: Value) -> tuple[str, FileEntry]:
        """What is at a path: canonical path ('' if unknown) and the entry (kind `unknown` if nothing is known)."""
        if path == "":
            return "", FileEntry("missing")
        if isinstance(path, str) and (path in _DEVICES or self.descriptor(path) in self.fds):
            return path, FileEntry("file")
        where = self.canonical(path)
        symbolic = isinstance(path, Text) and path.symbolic
        if where is None:
            if symbolic:
                self.observe(str, path)
            return "", FileEntry("unknown")
        own = self.files.own(where)
        templates = [t for _, t, _ in self.files.entries if isinstance(t, Text) and t.symbolic]
        if symbolic or templates:
            if own is not None and own.content is not None:
                if symbolic:
                    self.concrete(path)
            else:
                self.observe(Look(self.files, self.context), path, *templates)
        if own is not None:
            return where, own
        return where, self.outer_entry(where, path)

    def outer_entry(self, where: str, path: Value) -> FileEntry:
        """What the caller or the revision has at a path."""
        if self.files.outer is not None:
            found = self.inputs.file(where)
            self.log.append((FileNode(path, self.context), found))
            if found is not None:
                kind, content = found
                text: Value | None = content if isinstance(content, str) else None
                return FileEntry(kind, text)  # type: ignore[arg-type]
        return FileEntry(self.files.revision_kind(where))

    def read_file(self, path: Value) -> Value | None:
        """Content of a file, None when unknown or absent."""
        if path == "/dev/null":
            return ""
        number = self.descriptor(path)
        if number is not None:
            source = self.fds.get(number)
            return self.drain(source) if isinstance(source, In) else None
        where, entry = self.entry(path)
        if entry.kind != "file":
            return None
        if entry.content is not None:
            return entry.content
        if self.files.own(where) is not None:
            return None
        if isinstance(path, Text) and path.symbolic:
            self.concrete(path)
        return self.files.revision_text(where)

    def drain(self, source: In) -> Value | None:
        """What is left of an input, which is then at its end; None if nobody knows it."""
        value = source.value
        if value is not None and source.pos:
            value = (self.concrete(value) or "")[source.pos :]
        source.value, source.pos = "", 0
        return value

    def write_file(self, path: Value, content: Value | None, append: bool) -> None:
        """Records what a file holds now."""
        where = self.canonical(path)
        if where is not None:
            self.write_at(where, self.path_template(path, where), content, append)

    def path_template(self, path: Value, where: str) -> Value:
        """The canonical path as a template of the inputs."""
        if isinstance(path, Text) and path.symbolic:
            return launching.derive_path(self, path, self.context)
        return where

    def write_at(self, where: str, template: Value, content: Value | None, append: bool) -> None:
        """Records what the file with a canonical path holds now."""
        if append and content is not None:
            before = self.files.own(where)
            old: Value | None = ""
            if before is not None:
                old = before.content if before.kind == "file" else ("" if before.kind == "missing" else None)
            elif self.files.revision_kind(where) == "file":
                old = self.files.revision_text(where)
            content = None if old is None else concat([old, content])
        self.version += 1
        self.files.put(where, template, FileEntry("file", content, self.place()))

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
        name = self.target(name)
        if "[" in name and name.endswith("]"):
            name, _, inner = name[:-1].partition("[")
            index = inner
        old = self.vars.get(name)
        if old is None:
            if index is None:
                self.vars[name] = Variable(
                    value, self.options.get("allexport", False), Place(self.source, self.pos), self.guard
                )
                self.version += 1
                return True
            old = Variable(None)
        if old.readonly:
            self.complain(f"{name}: readonly variable")
            return False
        if append and (isinstance(old.value, (str, Text))) and index is None and not old.integer:
            value = concat([old.value, value])
        if old.integer:
            value = arithmetic_values.evaluate_text(self, concat(["(", text_or_zero(old, append), ")+(", value, ")"]) if append else value)
        if old.case:
            value = variables.change_case(value, old.case)
        if index is not None or old.kind:
            new = self._assign_element(name, old, value, append, index)
            if new is None:
                return False
            self.put(name, new)
            return True
        self.put(
            name,
            replace(old, value=value, place=self.place(), guard=self.guard, exported=old.exported or self.options.get("allexport", False)),
        )
        return True

    def _assign_element(self, name: str, old: Variable, value: Value, append: bool, index: Value | None) -> Variable | None:
        place, guard = self.place(), self.guard
        if old.kind == "assoc":
            table: dict[str, Value] = dict(old.value) if isinstance(old.value, dict) else {}  # type: ignore[arg-type]
            key = self.concrete(index) if index is not None else "0"
            if key is None:
                raise StopFlow(f"unknown key of {name}", place)
            table[key] = concat([table.get(key, ""), value]) if append else value
            return replace(old, value=table, place=place, guard=guard)
        cells = variables.cells_of(old)
        number = 0 if index is None else arithmetic_values.index_number(self, index)
        if number is None:
            raise StopFlow(f"unknown subscript of {name}", place)
        if number < 0:
            number += max(cells, default=-1) + 1
            if number < 0:
                self.complain(f"{name}: bad array subscript")
                return None
        cells[number] = concat([cells.get(number, ""), value]) if append and number in cells else value
        return replace(old, value=cells, kind="array", place=place, guard=guard)

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
                if var is None or var.exported:
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
            self.write_at(out.path, out.target, value, True)
        if out.role == "stderr":
            self.said_error = value
        elif out.role == "stdout":
            self.said = value
        return True

    def complain(self, message: Value) -> Value:
        """Writes an error message of the shell itself; the message as it is shown."""
        path = self.source.path
        name = self.name if path == self.process.script.source.path else self.shown_path(path)
        shown = concat([name, f": line {self.line()}: ", message, "\n"])
        self.write(shown, 2)
        return shown

    def line(self) -> int:
        """The line that bash would name: a command whose second word goes over several lines is at the end of that word."""
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
            keep = self.redirect(redirects)
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
            self.restore_descriptors(keep)
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
            return Undecided("eval of an unknown text")
        source, self.source = self.source, script.source
        try:
            return self.run_lines(script)
        finally:
            self.source = source
            self.pos = place.pos

    def run_lines(self, script: bash.Script) -> Status:
        """Executes a text that is read line by line; an expansion error drops the rest of its line, a syntax error the rest."""
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
            if word.literal is not None:
                values.append(word.literal)
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
            keep = self.redirect(node.redirects)
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

    def assign_array(self, name: str, items: list[tuple[bash.Word | None, bool, bash.Word]], append: bool) -> bool:
        """`name=( ... )`."""
        name = self.target(name)
        old = self.vars.get(name)
        if old is not None and old.readonly:
            self.complain(f"{name}: readonly variable")
            return False
        base = Variable(None) if old is None else old
        place, guard = self.place(), self.guard
        if base.kind == "assoc":
            table: dict[str, Value] = dict(base.value) if append and isinstance(base.value, dict) else {}  # type: ignore[arg-type]
            pending: Value | None = None
            for index, add, word in items:
                if index is None:
                    for value in expansion.fields(self, word):
                        if pending is None:
                            pending = value
                        else:
                            table[self._key(name, pending)] = value
                            pending = None
                    continue
                key = self._key(name, expansion.string(self, index))
                value = expansion.string(self, word, assignment=True)
                table[key] = concat([table.get(key, ""), value]) if add else value
            if pending is not None:
                table[self._key(name, pending)] = ""
            self.put(name, replace(base, value=table, place=place, guard=guard))
            return True
        cells = variables.cells_of(base) if append else {}
        at = max(cells, default=-1) + 1
        for index, add, word in items:
            if index is None:
                for value in expansion.fields(self, word):
                    cells[at] = self._shaped(base, value)
                    at += 1
                continue
            number = arithmetic_values.index_number(self, expansion.string(self, index))
            if number is None:
                raise StopFlow(f"unknown subscript of {name}", place)
            at = number if number >= 0 else max(cells, default=-1) + 1 + number
            value = expansion.string(self, word, assignment=True)
            cells[at] = concat([cells.get(at, ""), value]) if add else self._shaped(base, value)
            at += 1
        if len(cells) > 100_000:
            raise Budget("an array of more than 100,000 elements")
        self.put(name, replace(base, value=cells, kind="array", place=place, guard=guard))
        return True

    def _shaped(self, var: Variable, value: Value) -> Value:
        if var.integer:
            return arithmetic_values.evaluate_text(self, value)
        return variables.change_case(value, var.case) if var.case else value

    def _key(self, name: str, value: Value) -> str:
        key = self.concrete(value)
        if key is None:
            raise StopFlow(f"unknown key of {name}", self.place())
        return key

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
                for braced in expansion.brace_words(self, assign.value):
                    values.append(declarations.Declared(assign, expansion.string(self, braced, assignment=True)))
        keep: dict[int, Out | In] | None = None
        if node.redirects:
            keep = self.redirect(node.redirects)
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
                return self.settle(int(self.redirect(node.redirects, lasting=True) is None), node)
            outside = isinstance(name, str) and name not in self.functions and name not in BUILTINS
            before = dict(self.vars) if outside else None
            keep = self.redirect(node.redirects)
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
            self.restore_descriptors(keep)
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
            return self._with_assigns(assigns, lambda: builtin(self, values[1:])) if assigns else builtin(self, values[1:])
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
                self.vars[assign.name] = replace(var, exported=True)
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

    def note_unknown(self, value: Value) -> None:
        """Remembers that a decision hung on something unknown."""
        self.tests.append(Test(self.place(), (value,), None))

    @property
    def main_name(self) -> str | None:
        """The outermost BASH_SOURCE; a command string has none."""
        return None if self.dash_c else self.process.label

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
        return self._scoped("function", lambda: self._call_function(function, name, arguments, temporary))

    def _call_function(
        self, function: bash.Function, name: str, arguments: list[Value], temporary: bool
    ) -> Status:
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

    # -- redirections

    def redirect(
        self, redirects: Sequence[bash.Redirect], lasting: bool = False
    ) -> dict[int, Out | In] | None:
        """Applies redirections; the descriptors as they were, or None (with everything restored) if one fails."""
        before = self.fds
        self.fds = dict(before)
        for item in redirects:
            if not self._redirect_one(item, lasting):
                self.fds = before
                return None
        return before

    def restore_descriptors(self, before: dict[int, Out | In]) -> None:
        """Ends redirections; what was written to a `>( )` is now read by its command."""
        self.fds = before
        if not self.readers:
            return
        ended = [(out, body) for out, body in self.readers if not any(out is kept for kept in before.values())]
        self.readers = [r for r in self.readers if r not in ended]
        for out, body in ended:
            self.fds = {**before, 0: In(concat(out.chunks or []))}
            self.subshell(partial(self.run, body))
            self.fds = before

    def _redirect_one(self, item: bash.Redirect, lasting: bool) -> bool:
        op = item.op
        fd: int
        if isinstance(item.fd, str):
            if op in ("<&", ">&") and item.target.text == "-":
                number = self.concrete(variables.variable_text(self, item.fd)) or ""
                self.fds.pop(int(number) if number.isdigit() else -1, None)
                return True
            fd = next(n for n in range(10, 1000) if n not in self.fds)
            self.assign(item.fd, str(fd))
        elif item.fd is not None:
            fd = item.fd
        else:
            fd = 0 if op[0] == "<" else 1
        if op == "<<":
            self.fds[fd] = In(expansion.string(self, item.target))
            return True
        if op == "<<<":
            self.fds[fd] = In(concat([expansion.string(self, item.target), "\n"]))
            return True
        if op in ("<&", ">&"):
            return self._duplicate(item, op, fd)
        parts = item.target.parts
        if len(parts) == 1 and isinstance(parts[0], bash.ProcessSub):
            return self._process_substitution(parts[0], fd, lasting)
        values = expansion.fields(self, item.target)
        if len(values) != 1:
            self.complain(f"{item.target.text}: ambiguous redirect")
            return False
        path = values[0]
        if op in ("&>", "&>>"):
            return self._to_file(path, op, (1, 2))
        if op in (">", ">>", ">|", "<>"):
            return self._to_file(path, op, (fd,))
        return self._from_file(path, fd)

    def _duplicate(self, item: bash.Redirect, op: str, fd: int) -> bool:
        target = expansion.string(self, item.target)
        text = self.concrete(target)
        if text == "-":
            self.fds.pop(fd, None)
            return True
        if text is not None and text.rstrip("-").isdigit():
            number = int(text.rstrip("-"))
            if number not in self.fds:
                self.complain(f"{text}: Bad file descriptor")
                return False
            self.fds[fd] = self.fds[number]
            if text.endswith("-"):
                self.fds.pop(number, None)
            return True
        if op == "<&" or item.fd is not None:
            return True
        return self._to_file(target, ">", (1, 2))

    def _process_substitution(self, part: bash.ProcessSub, fd: int, lasting: bool) -> bool:
        if not part.write:
            self.fds[fd] = In(self.capture_raw(part.body))
            return True
        first = part.body[0]
        if lasting and isinstance(first, bash.Command) and first.words and first.words[0].literal == "tee":
            # `exec > >(tee log)`: everything still comes to the standard output.
            self.fds[fd] = self.fds.get(1, Out())
            return True
        out = Out([])
        self.readers.append((out, part.body))
        self.fds[fd] = out
        return True

    def descriptor(self, path: Value) -> int | None:
        """The descriptor that a path such as /dev/stdin or /dev/fd/3 stands for."""
        if not isinstance(path, str) or not path.startswith("/dev/"):
            return None
        if path in _STANDARD:
            return _STANDARD[path]
        number = path.removeprefix("/dev/fd/")
        return int(number) if number.isdigit() and self.files.own(path) is None else None

    def _to_file(self, path: Value, op: str, fds: tuple[int, ...]) -> bool:
        number = self.descriptor(path)
        out: Out | In
        if path in ("/dev/null", "/dev/tty", "/dev/full", "/dev/zero"):
            out = Out()
        elif number is not None:
            if number not in self.fds:
                self.complain(f"{text_of(path)}: No such file or directory")
                return False
            out = self.fds[number]
        else:
            where, entry = self.entry(path)
            problem = self._cannot_write(path, where, entry, op)
            if problem:
                self.complain(f"{text_of(path)}: {problem}")
                return False
            template = self.path_template(path, where) if where else ""
            if where and op in (">", ">|", "&>"):
                self.write_at(where, template, "", False)
            elif where and entry.kind in ("missing", "unknown"):
                self.write_at(where, template, "" if entry.kind == "missing" else None, False)
            out = Out(None, where or None, "file", template)
        for fd in fds:
            self.fds[fd] = out
        return True

    def _cannot_write(self, path: Value, where: str, entry: FileEntry, op: str) -> str:
        if path == "":
            return "No such file or directory"
        if entry.kind == "dir":
            return "Is a directory"
        if entry.kind == "file" and op == ">" and self.options.get("noclobber"):
            return "cannot overwrite existing file"
        if self.world.machine is not None and where and self.kind_at(where.rpartition("/")[0]) in ("missing", "file"):
            return "No such file or directory"
        return ""

    def kind_at(self, where: str) -> str:
        """What is at a canonical path, as far as this process and the revision say."""
        own = self.files.own(where)
        return own.kind if own is not None else self.files.revision_kind(where)

    def _from_file(self, path: Value, fd: int) -> bool:
        number = self.descriptor(path)
        if number is not None:
            if number not in self.fds:
                self.complain(f"{text_of(path)}: No such file or directory")
                return False
            self.fds[fd] = self.fds[number]
            return True
        where, entry = self.entry(path)
        if entry.kind == "missing" or path == "":
            self.complain(f"{text_of(path) or where}: No such file or directory")
            return False
        self.fds[fd] = In(self.read_file(path))
        return True

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
        if fresh:
            if not self.shopt.get("inherit_errexit"):
                self.options = {**self.options, "errexit": False}
            self.subst += 1
        frames, positional, source = list(self.frames), self.positional, self.source
        traps, self.traps = self.traps, self._inherited_traps()
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
            if fresh:
                self.subst -= 1
            self.traps = traps
            self.options = options
            self.lenient = lenient
            self.fds = fds
            self.frames[:] = frames
            self.positional = positional
            self.source = source
            self.restore(state)
        if self.killed is not None and len(self.ids) == 1:
            name, self.killed = self.killed, None
            self.receive(name)
        return status

    def _inherited_traps(self) -> dict[str, str]:
        """The traps of a subshell: those that ignore a signal, and ERR and DEBUG where they are passed on."""
        passed = {"ERR": "errtrace", "DEBUG": "functrace", "RETURN": "functrace"}
        return {k: v for k, v in self.traps.items() if v == "" or (k in passed and self.options.get(passed[k]))}

    def capture(self, body: Sequence[bash.Statement], pos: int) -> Value:
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
        errexit = self.lenient == 1
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

                if number == last and self.shopt.get("lastpipe"):
                    status = action()
                else:
                    status = self.subshell(action)
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
        finally:
            self.fds = fds
        identity = Hole("process id", True)
        lasting = self.slept or any(t.outcome is None for t in self.tests[mark:])
        self.jobs[identity] = Job(status, lasting)
        self.last_background = Text((identity,))
        return 0

    # -- lists and conditions

    def _and_or(self, node: bash.AndOr) -> Status:
        return self._and_or_from(node, 0, None)

    def _and_or_from(self, node: bash.AndOr, start: int, given: Status | None) -> Status:
        last = len(node.items) - 1
        status: Status = 0 if given is None else given
        for number in range(start, last + 1):
            if number > 0:
                operator = node.operators[number - 1]
                if isinstance(status, Undecided):
                    return self._and_or_choice(node, number, operator, status)
                if (status == 0) != (operator == "&&"):
                    continue
            if number == last:
                status = self.execute(node.items[number])
            else:
                self.lenient += 1
                try:
                    status = self.execute(node.items[number])
                finally:
                    self.lenient -= 1
        return status

    def _and_or_choice(self, node: bash.AndOr, number: int, operator: str, status: Undecided) -> Status:
        last = len(node.items) - 1

        def run_item() -> Status:
            if number == last:
                inner = self.execute(node.items[number])
            else:
                self.lenient += 1
                try:
                    inner = self.execute(node.items[number])
                finally:
                    self.lenient -= 1
            return self._and_or_from(node, number + 1, inner)

        def skip(value: int) -> Callable[[], Status]:
            return lambda: self._and_or_from(node, number + 1, value)

        site = id(node) * 64 + number
        reason = self.slice(node.items[number - 1], status.reason)
        place = Place(self.source, node.items[number - 1].pos)
        if operator == "&&":
            return self.choose(site, place, reason, run_item, skip(1))
        return self.choose(site, place, reason, skip(0), run_item)

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

    def _if(self, node: bash.If) -> Status:
        return self._if_from(node, 0)

    def _if_from(self, node: bash.If, start: int) -> Status:
        for number in range(start, len(node.clauses)):
            condition, body = node.clauses[number]
            mark = len(self.tests)
            status = self.condition(condition)
            if isinstance(status, Undecided):
                reason = " ".join(self.source.text[condition[0].pos : condition[-1].end].split())[:120]
                place = Place(self.source, condition[0].pos)
                tests = self.tests[mark:]
                return self.choose(
                    id(node) * 64 + number,
                    place,
                    reason,
                    lambda: self.guarded(place, True, tests, lambda: self.run(body)),
                    lambda: self.guarded(place, False, tests, lambda: self._if_from(node, number + 1)),
                )
            place = Place(self.source, condition[0].pos)
            tests = self.tests[mark:]
            if status == 0:
                return self.guarded(place, True, tests, lambda: self.run(body)) if body else 0
            if tests:
                return self.guarded(place, False, tests, lambda: self._if_from(node, number + 1))
        return self.run(node.orelse) if node.orelse is not None else 0

    def guarded(self, place: Place, taken: bool | str, tests: list[Test], action: Callable[[], Status]) -> Status:
        """Runs `action` under a condition, which everything that it assigns remembers."""
        outer, self.guard = self.guard, Guard(self.guard, place, taken, tests)
        try:
            return action()
        finally:
            self.guard = outer

    def _case(self, node: bash.Case) -> Status:
        word = expansion.string(self, node.word)
        return self._case_from(node, word, 0)

    def _case_from(self, node: bash.Case, word: Value, start: int) -> Status:
        mark = len(self.tests)
        for number in range(start, len(node.items)):
            patterns, _, _ = node.items[number]
            undecided = False
            for pattern in patterns:
                value = expansion.pattern(self, pattern)
                outcome = self.match(word, value)
                if outcome:
                    return self._case_item(node, number, word, self.tests[mark:])
                undecided = undecided or outcome is None
            if undecided:
                place = Place(self.source, node.pos)
                reason = f"{node.word.text} is {'|'.join(p.text for p in patterns)}"[:120]
                return self.choose(
                    id(node) * 64 + number,
                    place,
                    reason,
                    lambda: self._case_item(node, number, word, []),
                    lambda: self._case_from(node, word, number + 1),
                )
        return 0

    def _case_item(self, node: bash.Case, number: int, word: Value, tests: list[Test]) -> Status:
        place = Place(self.source, node.pos)
        taken = "|".join(p.text for p in node.items[number][0])

        def run() -> Status:
            status: Status = 0
            at = number
            while True:
                _, body, terminator = node.items[at]
                status = self.run(body)
                if terminator == ";&" and at + 1 < len(node.items):
                    at += 1
                    continue
                if terminator == ";;&":
                    rest = self._case_from(node, word, at + 1)
                    return rest if rest != 0 else status
                return status

        return self.guarded(place, taken, tests, run)

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

    # -- loops

    def _body(self, body: Sequence[bash.Statement]) -> tuple[Status, bool]:
        """One iteration: (status, whether the loop is left)."""
        try:
            return self.run(body), False
        except BreakFlow as flow:
            if flow.levels > 1 and self.loops > 1:
                raise BreakFlow(flow.levels - 1, flow.status) from None
            return flow.status, True
        except ContinueFlow as flow:
            if flow.levels > 1 and self.loops > 1:
                raise ContinueFlow(flow.levels - 1) from None
            return 0, False

    def _for(self, node: bash.For) -> Status:
        values: list[Value] = []
        if not _NAME.fullmatch(node.name):
            self.complain(f"`{node.name}': not a valid identifier")
            return self.settle(1, node)
        if node.words is None:
            values = list(self.positional)
        else:
            for word in node.words:
                values.extend(expansion.fields(self, word))
        if len(values) > MAX_ITERATIONS:
            raise StopFlow(f"a loop of more than {MAX_ITERATIONS} iterations", self.place())
        return self._scoped("loop", lambda: self._for_each(node, values))

    def _for_each(self, node: bash.For, values: list[Value]) -> Status:
        status: Status = 0
        self.loops += 1
        try:
            for value in values:
                self.pos = node.pos
                if not self._bind_loop(node.name, value):
                    return 1
                status, left = self._body(node.body)
                if left:
                    break
        finally:
            self.loops -= 1
        return status

    def _bind_loop(self, name: str, value: Value) -> bool:
        var = self.vars.get(name)
        if var is not None and var.nameref and not var.readonly:
            self.put(name, replace(var, value=value, place=self.place(), guard=self.guard))
            return True
        return self.assign(name, value)

    def _while(self, node: bash.While) -> Status:
        return self._scoped("loop", lambda: self._while_loop(node))

    def _while_loop(self, node: bash.While) -> Status:
        self.loops += 1
        try:
            return self._while_from(node, 0, 0)
        finally:
            self.loops -= 1

    def _while_from(self, node: bash.While, count: int, status: Status) -> Status:
        place = Place(self.source, node.pos)
        while True:
            version, steps = self.version, len(self.tests)
            reads = self._read_positions()
            condition = self.condition(node.condition)
            if node.until:
                condition = negate(condition)
            if isinstance(condition, Undecided):
                return self._while_undecided(node, condition, count, status)
            if condition != 0:
                return status
            count += 1
            if count > MAX_ITERATIONS:
                raise StopFlow(f"a loop of more than {MAX_ITERATIONS} iterations", place)
            status, left = self._body(node.body)
            if left:
                return status
            same = version == self.version and reads == self._read_positions()
            if same and not any(t.outcome is None for t in self.tests[steps:]):
                raise StopFlow("endless loop", place)

    def _while_undecided(self, node: bash.While, condition: Undecided, count: int, status: Status) -> Status:
        """A loop on something that nobody knows: its body runs once, then it ends."""
        reason = " ".join(self.source.text[node.condition[0].pos : node.condition[-1].end].split())[:120]

        def once() -> Status:
            return self._body(node.body)[0]

        place = Place(self.source, node.pos)
        return self.choose(id(node) * 64, place, reason, once, lambda: status)

    def _read_positions(self) -> tuple[int, ...]:
        return tuple(s.pos for s in self.fds.values() if isinstance(s, In))

    def _arith_for(self, node: bash.ArithFor) -> Status:
        status: Status = 0
        self.loops += 1
        try:
            if node.init.text.strip():
                arithmetic_values.evaluate(self, node.init)
            count = 0
            while True:
                self.pos = node.pos
                if node.condition.text.strip():
                    truth = arithmetic_values.truth(self, arithmetic_values.evaluate(self, node.condition))
                    if truth is None:
                        return self._body(node.body)[0]
                    if not truth:
                        return status
                count += 1
                if count > MAX_ITERATIONS:
                    raise StopFlow(f"a loop of more than {MAX_ITERATIONS} iterations", Place(self.source, node.pos))
                version = self.version
                status, left = self._body(node.body)
                if left:
                    return status
                if node.update.text.strip():
                    arithmetic_values.evaluate(self, node.update)
                if version == self.version and not node.update.text.strip():
                    raise StopFlow("endless loop", Place(self.source, node.pos))
        except arithmetic_values.ArithmeticProblem as problem:
            self.complain(str(problem))
            return 1
        finally:
            self.loops -= 1

    def _function(self, node: bash.Function) -> Status:
        self.version += 1
        self.functions[node.name] = node
        return 0

    def _cond(self, node: bash.Cond) -> Status:
        outcome = conditions.evaluate(self, node.expr)
        self.pos = node.pos
        status: Status = Undecided(self.slice(node, "a test")) if outcome is None else outcome
        return self.settle(status, node)

    def _arith(self, node: bash.Arith) -> Status:
        try:
            truth = arithmetic_values.truth(self, arithmetic_values.evaluate(self, node.expr))
        except arithmetic_values.ArithmeticProblem as problem:
            self.complain(f"((: {problem}")
            return self.settle(1, node)
        status: Status = Undecided(self.slice(node, "arithmetic")) if truth is None else int(not truth)
        return self.settle(status, node)

    def _coproc(self, node: bash.Coproc) -> Status:
        raise StopFlow("coproc is not modelled", Place(self.source, node.pos))

    def _bad(self, node: bash.Bad) -> Status:
        message = f"{self.name}: line {self.source.line(node.pos)}: {node.message}\n"
        self.write(message, 2)
        raise ExitFlow(2, Place(self.source, node.pos), message)

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


def negate(status: Status) -> Status:
    """`!`."""
    if isinstance(status, Undecided):
        return Undecided(status.reason)
    return int(status == 0)


def text_or_zero(var: Variable, append: bool) -> Value:
    """The old value of an integer variable for `+=`."""
    if append and isinstance(var.value, (str, Text)):
        return var.value or "0"
    return "0"


def _match(text: str, pattern: str) -> bool:
    return matches(pattern, text)


def _match_ignoring(text: str, pattern: str) -> bool:
    return matches(pattern, text, ignore_case=True)


def _partial_nonempty(value: object) -> bool | None:
    if isinstance(value, str):
        return bool(value)
    assert isinstance(value, tuple)
    return True if any(isinstance(p, str) and p for p in value) or any(getattr(p, "nonempty", False) for p in value) else None


_EXECUTE: dict[type, Callable[[Shell, object], Status]] = {
    bash.Command: Shell._command,  # type: ignore[dict-item]
    bash.Pipeline: Shell._pipeline,  # type: ignore[dict-item]
    bash.AndOr: Shell._and_or,  # type: ignore[dict-item]
    bash.Background: Shell._background,  # type: ignore[dict-item]
    bash.If: Shell._if,  # type: ignore[dict-item]
    bash.While: Shell._while,  # type: ignore[dict-item]
    bash.For: Shell._for,  # type: ignore[dict-item]
    bash.ArithFor: Shell._arith_for,  # type: ignore[dict-item]
    bash.Case: Shell._case,  # type: ignore[dict-item]
    bash.Function: Shell._function,  # type: ignore[dict-item]
    bash.Group: Shell._group,  # type: ignore[dict-item]
    bash.Subshell: Shell._subshell,  # type: ignore[dict-item]
    bash.Cond: Shell._cond,  # type: ignore[dict-item]
    bash.Arith: Shell._arith,  # type: ignore[dict-item]
    bash.Coproc: Shell._coproc,  # type: ignore[dict-item]
    bash.Bad: Shell._bad,  # type: ignore[dict-item]
}

__all__ = ["Frame", "Shell", "Solved", "negate"]

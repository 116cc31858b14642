"""What one shell script does with names and commands, read from its syntax tree without running anything."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from botlint.core.span import Span
from botlint.documents import bash

Use = Literal["argument", "test", "value", "print", "arithmetic", "fallback", "default"]

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_IDENTIFIER = re.compile(r"(?<![\w.$#])[A-Za-z_]\w*")
_ARITHMETIC_SET = re.compile(r"\s*(?:[-+*/%&|^]|<<|>>)?=(?!=)|\s*(?:\+\+|--)")
CHECKS_NAMES = re.compile(r"(?:check|require|ensure|need|assert|validate)\w*_?(?:env|vars?|variables?)\w*\Z")
_PRINTS = frozenset(("echo", "printf", "log", "info", "warn", "error", "die", "fail", "usage"))
_DECLARES = frozenset(("export", "local", "declare", "readonly", "typeset"))
_WRAPPERS = frozenset(("env", "nohup", "sudo", "exec", "command", "time", "builtin", "numactl", "taskset", "stdbuf"))
_UNGUARDED = frozenset(("-", ":-", "=", ":=", "+", ":+", "?", ":?"))
_TESTED = frozenset(("-n", "-z", "-v"))


@dataclass(frozen=True, slots=True)
class Read:
    """One expansion of a variable without a default; it stands between two offsets of the text."""

    name: str
    use: Use
    start: int
    end: int


@dataclass(slots=True, eq=False)
class Assigned:
    """One assignment; `guards` are the conditions around it, outermost first."""

    assign: bash.Assign
    shift: int
    function: str
    guards: tuple[str, ...]
    exported: bool = False


@dataclass(slots=True, eq=False)
class Call:
    """One simple command that has words; `start` and `end` are offsets of the script's text.

    `place` says how its status is used: `plain`, `condition` (of if, while, !), `alternative` (before `||`), `piped`
    (a stage of a pipeline that is not the last), or `background`.
    """

    command: bash.Command
    name: str
    start: int
    end: int
    shift: int
    function: str
    guards: tuple[str, ...]
    place: str
    depth: int

    @property
    def words(self) -> list[bash.Word]:
        return self.command.words

    def word_start(self, number: int) -> int:
        """The offset of a word."""
        return self.command.offsets[number] + self.shift


@dataclass(eq=False)
class ScriptFacts:
    """Everything that analyses need to know of one script."""

    path: str
    script: bash.Script
    text: str
    reads: list[Read] = field(default_factory=list)
    assigned: dict[str, list[Assigned]] = field(default_factory=dict)
    set_names: set[str] = field(default_factory=set)
    """Names that something other than an assignment gives a value: read, mapfile, for, printf -v, unset ..."""
    exported: set[str] = field(default_factory=set)
    local: dict[str, set[str]] = field(default_factory=dict)
    """Names that a function keeps to itself, and those that it calls."""
    handed: set[str] = field(default_factory=set)
    """Names given to one command only: `NAME=x command`, `-e NAME=x`, `--export=NAME=x`."""
    required: dict[str, int] = field(default_factory=dict)
    """Names that the script itself insists on, with the offset where it does."""
    defaulted: set[str] = field(default_factory=set)
    tested: set[str] = field(default_factory=set)
    calls: list[Call] = field(default_factory=list)
    functions: dict[str, bash.Function] = field(default_factory=dict)
    heredocs: list[tuple[int, bash.Word]] = field(default_factory=list)
    bare_redirections: list[tuple[int, int]] = field(default_factory=list)
    """Commands in the background that consist of redirections only."""
    dynamic: bool = False
    """Whether names come from text that is computed (eval, `export "$pair"`)."""

    @property
    def source(self) -> bash.Source:
        return self.script.source

    def span(self, start: int, end: int) -> Span:
        """The place of a range of offsets."""
        return self.source.span(start, min(end, len(self.text)))

    def line(self, offset: int) -> int:
        return self.source.line(offset)

    @cached_property
    def code(self) -> str:
        """The text with full-line comments blanked out; offsets stay."""
        return _COMMENT.sub(lambda match: " " * len(match.group()), self.text)

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of all commands that the script calls."""
        return frozenset(call.name for call in self.calls)

    @cached_property
    def has_client(self) -> bool:
        """Whether the script calls the client of a benchmark with prompts of fixed lengths."""
        return "run_benchmark_serving" in self.called or "benchmark_serving" in self.code

    def names(self) -> set[str]:
        """Every name that gets a value in the script."""
        return {*self.assigned, *self.set_names, *self.exported, *(n for names in self.local.values() for n in names)}

    def visible_names(self) -> set[str]:
        """The names that have a value for those who source the script: not what functions keep to themselves."""
        kept = self.local
        assigned = {
            name for name, ones in self.assigned.items() if any(name not in kept.get(one.function, ()) for one in ones)
        }
        return {*assigned, *self.set_names, *self.exported}

    def find_read(self, read: Read) -> Span:
        """The place of the expansion itself."""
        pattern = re.compile(r"\$\{?[#!]?" + read.name + r"(?!\w)|(?<![\w$])" + read.name + r"(?!\w)")
        for found in pattern.finditer(self.text, read.start, min(read.end, len(self.text))):
            if found.group().startswith("$") or read.use == "arithmetic":
                return self.span(found.start(), found.end())
        return self.span(read.start, read.end)


_COMMENT = re.compile(r"^[ \t]*#.*$", re.MULTILINE)


def literal(word: bash.Word) -> str:
    """The text of a word if nothing in it expands, else the empty text."""
    return word.literal or ""


def _name(word: bash.Word) -> str:
    return "[" if word.text == "[" else word.literal or ""


def parts_of(word: bash.Word) -> Iterator[bash.Part]:
    """The parts of a word, those inside of double quotes included."""
    for part in word.parts:
        if isinstance(part, bash.DoubleQuoted):
            yield from part.parts
        else:
            yield part


def walk(script: bash.Script, path: str) -> ScriptFacts:
    """The facts of a script; what follows a syntax error is not known."""
    facts = ScriptFacts(path, script, script.source.text)
    _Walker(facts).statements(script, 0)
    return facts


class _Walker:
    """One pass over a syntax tree. `shift` turns offsets of a text that was cut out into those of the script."""

    def __init__(self, facts: ScriptFacts) -> None:
        self.facts = facts
        self.function = ""
        self.guards: tuple[str, ...] = ()
        self.depth = 0
        self.start = 0
        self.end = 0
        self.use: Use = "argument"

    def statements(self, body: Iterable[bash.Statement], shift: int) -> None:
        for statement in body:
            self.statement(statement, shift, "plain")

    def statement(self, node: bash.Statement, shift: int, place: str) -> None:
        handler = _HANDLERS.get(node.__class__)
        if handler is not None:
            handler(self, node, shift, place)

    # ------------------------------------------------------------------------------------------- simple commands

    def command(self, node: bash.Command, shift: int, place: str) -> None:
        facts = self.facts
        outer = self.start, self.end, self.use
        self.start, self.end = node.pos + shift, node.end + shift
        words = node.words
        name = _name(words[0]) if words else ""
        for assign in node.assigns:
            self.assign(assign, shift, exported=bool(words))
            if words:
                facts.handed.add(assign.name)
        if words:
            call = Call(node, name, self.start, self.end, shift, self.function, self.guards, place, self.depth)
            facts.calls.append(call)
            if node.declares:
                for assign in node.declares.values():
                    if name == "local":
                        facts.local.setdefault(self.function, set()).add(assign.name)
                    self.assign(assign, shift, exported=name == "export" or self._flag(words, "x"))
            self.use = "test" if name in ("[", "test") else "print" if name in _PRINTS else "argument"
            for word in words:
                if "$" in word.text or "`" in word.text or "<(" in word.text:
                    self.word(word, shift)
            special = _SPECIAL.get(name)
            if special is not None:
                special(self, call)
            elif "env" in name or "var" in name:
                if CHECKS_NAMES.match(name):
                    for number, word in enumerate(words[1:], 1):
                        if NAME.match(literal(word)):
                            facts.required.setdefault(literal(word), call.word_start(number))
            elif name in ("docker", "srun", "sbatch", "salloc", "podman", "mpirun", "sudo", "") or "docker" in name:
                self.handed_words(words)
        self.redirects(node.redirects, shift)
        self.start, self.end, self.use = outer

    @staticmethod
    def _flag(words: list[bash.Word], letter: str) -> bool:
        return any(w.text.startswith("-") and letter in w.text for w in words[1:3])

    def assign(self, node: bash.Assign, shift: int, exported: bool = False) -> None:
        facts = self.facts
        found = Assigned(node, shift, self.function, self.guards, exported)
        facts.assigned.setdefault(node.name, []).append(found)
        if exported:
            facts.exported.add(node.name)
        outer = self.start, self.end, self.use
        self.start, self.end, self.use = node.pos + shift, node.end + shift, "value"
        if node.index is not None:
            self.word(node.index, shift)
        if node.value is not None and node.value.parts:
            self.word(node.value, shift)
        for index, _, word in node.array or ():
            if index is not None:
                self.word(index, shift)
            self.word(word, shift)
        self.start, self.end, self.use = outer

    def handed_words(self, words: list[bash.Word]) -> None:
        """`-e NAME=x`, `--env NAME=x` and `--export=ALL,NAME=x`."""
        handed = self.facts.handed
        for number, word in enumerate(words):
            text = word.text
            if text in ("-e", "--env") and number + 1 < len(words):
                match = _HANDED.match(words[number + 1].text)
                if match:
                    handed.add(match.group(1))
            elif text.startswith(("--env=", "-e", "--export")):
                for match in _HANDED_IN.finditer(text):
                    handed.add(match.group(1))

    # ---------------------------------------------------------------------------------------------- builtin words

    def names_read(self, call: Call) -> None:
        """`read`, `mapfile`, `getopts`, `unset`, `wait`: names after the options."""
        for word in call.words[1:]:
            if NAME.match(literal(word)):
                self.facts.set_names.add(literal(word))

    def printf(self, call: Call) -> None:
        words = call.words
        if len(words) > 2 and words[1].text == "-v":
            self.computed_name(words[2])

    def computed_name(self, word: bash.Word) -> None:
        if NAME.match(literal(word)):
            self.facts.set_names.add(literal(word))
        else:
            self.facts.dynamic = True

    def declared(self, call: Call) -> None:
        declares = call.command.declares or {}
        for number, word in enumerate(call.words[1:], 1):
            if number in declares or word.text.startswith("-"):
                continue
            if NAME.match(literal(word)):
                if call.name == "export":
                    self.facts.exported.add(literal(word))
                elif call.name == "local":
                    self.facts.local.setdefault(self.function, set()).add(literal(word))
                else:
                    self.facts.set_names.add(literal(word))
            elif "$" in word.text:
                self.facts.dynamic = True

    def evaluated(self, _call: Call) -> None:
        self.facts.dynamic = True

    def let(self, call: Call) -> None:
        for word in call.words[1:]:
            self.arithmetic_text(word.text)

    def test(self, call: Call) -> None:
        words = call.words
        for number, word in enumerate(words[1:-1], 1):
            if word.text in _TESTED:
                self.tested_word(words[number + 1], word.text)
        if len(words) <= 3:
            self.tested_word(words[min(1, len(words) - 1)], "-n")

    def tested_word(self, word: bash.Word, op: str) -> None:
        if op == "-v":
            self.facts.tested.add(literal(word))
            return
        for part in parts_of(word):
            if isinstance(part, bash.Param):
                self.facts.tested.add(part.name)

    # -------------------------------------------------------------------------------------------------- compounds

    def pipeline(self, node: bash.Pipeline, shift: int, place: str) -> None:
        last = len(node.stages) - 1
        for number, stage in enumerate(node.stages):
            where = "condition" if node.negated else place
            self.statement(stage, shift, "piped" if number < last else where)

    def and_or(self, node: bash.AndOr, shift: int, place: str) -> None:
        guards = self.guards
        for number, item in enumerate(node.items):
            operator = node.operators[number] if number < len(node.operators) else ""
            where = {"||": "alternative", "&&": "condition"}.get(operator, place)
            self.statement(item, shift, where)
            if operator:
                self.guards = (*guards, self.facts.text[node.pos + shift : self._end(item) + shift])
        self.guards = guards

    @staticmethod
    def _end(node: bash.Statement) -> int:
        return node.end

    def background(self, node: bash.Background, shift: int, _place: str) -> None:
        body = node.body
        if isinstance(body, bash.Command) and not body.words and not body.assigns:
            self.facts.bare_redirections.append((body.pos + shift, body.end + shift))
        self.statement(node.body, shift, "background")

    def if_(self, node: bash.If, shift: int, _place: str) -> None:
        guards = self.guards
        said = ""
        self.depth += 1
        for condition, body in node.clauses:
            for one in condition:
                self.statement(one, shift, "condition")
            if condition:
                said = self.facts.text[condition[0].pos + shift : condition[-1].end + shift]
            self.guards = (*guards, said)
            self.statements(body, shift)
            self.guards = guards
        if node.orelse is not None:
            self.guards = (*guards, f"! {said}")
            self.statements(node.orelse, shift)
            self.guards = guards
        self.depth -= 1
        self.redirects(node.redirects, shift)

    def while_(self, node: bash.While, shift: int, _place: str) -> None:
        guards = self.guards
        self.depth += 1
        for one in node.condition:
            self.statement(one, shift, "condition")
        self.guards = (*guards, "loop")
        self.statements(node.body, shift)
        self.guards = guards
        self.depth -= 1
        self.redirects(node.redirects, shift)

    def for_(self, node: bash.For, shift: int, _place: str) -> None:
        self.facts.set_names.add(node.name)
        self.at(node, shift, "argument")
        for word in node.words or ():
            self.word(word, shift)
        self.loop(node.body, shift)
        self.redirects(node.redirects, shift)

    def arith_for(self, node: bash.ArithFor, shift: int, _place: str) -> None:
        self.at(node, shift, "arithmetic")
        for word in (node.init, node.condition, node.update):
            self.arithmetic(word, shift)
        self.loop(node.body, shift)
        self.redirects(node.redirects, shift)

    def loop(self, body: list[bash.Statement], shift: int) -> None:
        guards = self.guards
        self.guards = (*guards, "loop")
        self.depth += 1
        self.statements(body, shift)
        self.depth -= 1
        self.guards = guards

    def at(self, node: Any, shift: int, use: Use) -> None:
        self.start, self.end, self.use = node.pos + shift, node.end + shift, use

    def case(self, node: bash.Case, shift: int, _place: str) -> None:
        guards = self.guards
        self.at(node, shift, "test")
        self.word(node.word, shift)
        self.depth += 1
        for patterns, body, _ in node.items:
            self.at(node, shift, "test")
            for pattern in patterns:
                self.word(pattern, shift)
            self.guards = (*guards, f"case {node.word.text} in {'|'.join(p.text for p in patterns)}")
            self.statements(body, shift)
            self.guards = guards
        self.depth -= 1
        self.redirects(node.redirects, shift)

    def function_(self, node: bash.Function, shift: int, _place: str) -> None:
        self.facts.functions[node.name] = node
        outer = self.function, self.guards, self.depth
        self.function, self.guards, self.depth = node.name, (), 0
        self.statement(node.body, shift, "plain")
        self.function, self.guards, self.depth = outer

    def group(self, node: bash.Group, shift: int, place: str) -> None:
        if place in ("alternative", "condition", "background"):
            for one in node.body:
                self.statement(one, shift, place)
        else:
            self.statements(node.body, shift)
        self.redirects(node.redirects, shift)

    def subshell(self, node: bash.Subshell, shift: int, place: str) -> None:
        self.depth += 1
        for one in node.body:
            self.statement(one, shift, "background" if place == "background" else "plain")
        self.depth -= 1
        self.redirects(node.redirects, shift)

    def cond(self, node: bash.Cond, shift: int, _place: str) -> None:
        self.at(node, shift, "test")
        self.condition(node.expr, shift)
        self.redirects(node.redirects, shift)

    def condition(self, expr: bash.CondExpr, shift: int) -> None:
        if isinstance(expr, bash.CondUnary):
            if expr.op in _TESTED:
                self.tested_word(expr.word, expr.op)
            self.word(expr.word, shift)
        elif isinstance(expr, bash.CondBinary):
            self.word(expr.left, shift)
            self.word(expr.right, shift)
            if expr.op.startswith("-"):
                for word in (expr.left, expr.right):
                    if NAME.match(literal(word)):
                        self.read(literal(word), "arithmetic")
        elif isinstance(expr, bash.CondNot):
            self.condition(expr.expr, shift)
        else:
            self.condition(expr.left, shift)
            self.condition(expr.right, shift)

    def arith(self, node: bash.Arith, shift: int, _place: str) -> None:
        self.at(node, shift, "arithmetic")
        self.arithmetic(node.expr, shift)
        self.redirects(node.redirects, shift)

    # ------------------------------------------------------------------------------------------------------ words

    def redirects(self, redirects: list[bash.Redirect], shift: int) -> None:
        for redirect in redirects:
            if isinstance(redirect.fd, str):
                self.facts.set_names.add(redirect.fd)
            if redirect.op != "<<":
                self.word(redirect.target, shift)
                continue
            body = redirect.target.text
            start = self.facts.text.find(body, redirect.pos + shift) if body else -1
            self.facts.heredocs.append((max(start, 0), redirect.target))
            outer = self.start, self.end, self.use
            if start >= 0:
                self.start, self.end = start, start + len(body)
            self.use = "print"
            self.word(redirect.target, max(start, 0))
            self.start, self.end, self.use = outer

    def word(self, word: bash.Word, shift: int) -> None:
        for part in word.parts:
            kind = part.__class__
            if kind is str or kind is bash.Quoted:
                continue
            self.part(part, shift)

    def part(self, part: bash.Part, shift: int) -> None:
        if isinstance(part, bash.DoubleQuoted):
            for inner in part.parts:
                if inner.__class__ is not str:
                    self.part(inner, shift)
        elif isinstance(part, bash.Param):
            self.param(part, shift)
        elif isinstance(part, (bash.CommandSub, bash.ProcessSub)):
            outer = self.start, self.end, self.use, self.guards, self.depth
            # Backquoted text is read from a copy: its offsets are not those of the script.
            inside = shift if self.facts.text[part.pos + shift : part.pos + shift + 1] in "$<>" else self.start
            self.depth += 1
            self.statements(part.body, inside)
            self.start, self.end, self.use, self.guards, self.depth = outer
        elif isinstance(part, bash.ArithSub):
            use, self.use = self.use, "arithmetic"
            self.arithmetic(part.expr, shift)
            self.use = use

    def param(self, part: bash.Param, shift: int) -> None:
        facts = self.facts
        name, op = part.name, part.op
        if op and op in _UNGUARDED:
            if op in ("=", ":="):
                facts.set_names.add(name)
            elif op in ("?", ":?"):
                facts.required.setdefault(name, self.start)
            facts.defaulted.add(name)
            if name[:1].isalpha():
                facts.reads.append(Read(name, "default", self.start, self.end))
        elif not (part.prefix or part.keys) and (name[:1].isalpha() or name[:1] == "_"):
            self.read(name, self.use)
        use = self.use
        if op in ("-", ":-", "=", ":="):
            self.use = "fallback"
        for word in (part.arg, part.arg2, part.index):
            if isinstance(word, bash.Word):
                self.word(word, shift)
        self.use = use
        if op == ":":
            for word in (part.arg, part.arg2):
                if word is not None:
                    self.arithmetic(word, shift)

    def read(self, name: str, use: Use) -> None:
        self.facts.reads.append(Read(name, use, self.start, self.end))

    def arithmetic(self, word: bash.Word, shift: int) -> None:
        for part in parts_of(word):
            if isinstance(part, str):
                self.arithmetic_text(part)
            elif isinstance(part, bash.Quoted):
                self.arithmetic_text(part.text)
            else:
                self.part(part, shift)

    def arithmetic_text(self, text: str) -> None:
        for match in _IDENTIFIER.finditer(text):
            if _ARITHMETIC_SET.match(text, match.end()):
                self.facts.set_names.add(match.group())
            else:
                self.read(match.group(), "arithmetic")


_HANDED = re.compile(r"[\"']?([A-Za-z_]\w*)")
_HANDED_IN = re.compile(r"(?:--env=|-e|--export=|,)[\"']?([A-Za-z_]\w*)")

_SPECIAL: dict[str, Callable[[_Walker, Call], None]] = {
    "read": _Walker.names_read,
    "mapfile": _Walker.names_read,
    "readarray": _Walker.names_read,
    "getopts": _Walker.names_read,
    "unset": _Walker.names_read,
    "wait": _Walker.names_read,
    "printf": _Walker.printf,
    "eval": _Walker.evaluated,
    "let": _Walker.let,
    "[": _Walker.test,
    "test": _Walker.test,
    **dict.fromkeys(_DECLARES, _Walker.declared),
}

_HANDLERS: dict[type, Callable[[_Walker, Any, int, str], None]] = {
    bash.Command: _Walker.command,
    bash.Pipeline: _Walker.pipeline,
    bash.AndOr: _Walker.and_or,
    bash.Background: _Walker.background,
    bash.If: _Walker.if_,
    bash.While: _Walker.while_,
    bash.For: _Walker.for_,
    bash.ArithFor: _Walker.arith_for,
    bash.Case: _Walker.case,
    bash.Function: _Walker.function_,
    bash.Group: _Walker.group,
    bash.Subshell: _Walker.subshell,
    bash.Cond: _Walker.cond,
    bash.Arith: _Walker.arith,
}

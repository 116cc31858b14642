"""The nodes of a bash syntax tree, with offsets into their source; `Source.span` makes them lines and columns."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from botlint.core.span import Span

MAX_DEPTH = 120
"""Deepest nesting of commands, words and expansions that is read; deeper text is a syntax error."""


class BashSyntaxError(Exception):
    """Text that bash would not accept; `offset` is where."""

    def __init__(self, message: str, offset: int) -> None:
        super().__init__(message)
        self.message = message
        self.offset = offset


class Source:
    """The text of one script with its path; `base_line` is added to lines of text that was cut out of a larger file.

    A text that was put together of pieces of the file says in `lines` where each of its lines is written.
    """

    __slots__ = ("_starts", "base_column", "base_line", "lines", "path", "text")

    def __init__(
        self, text: str, path: str, base_line: int = 0, base_column: int = 0, lines: Sequence[int] = ()
    ) -> None:
        self.text = text
        self.path = path
        self.base_line = base_line
        self.base_column = base_column
        self.lines = lines
        self._starts: list[int] | None = None

    def line(self, offset: int) -> int:
        """The 1-based line of an offset."""
        if self._starts is None:
            self._starts = [0, *(m.end() for m in re.finditer(r"\n", self.text))]
        line = bisect_right(self._starts, offset)
        return self.lines[min(line, len(self.lines)) - 1] if self.lines else line + self.base_line

    def column(self, offset: int) -> int:
        """The 1-based column of an offset, in characters; 1 in a text that was put together."""
        if self.lines:
            return 1
        line = self.line(offset) - self.base_line
        assert self._starts is not None
        column = offset - self._starts[line - 1] + 1
        return column + self.base_column if line == 1 else column

    def span(self, start: int, end: int) -> Span:
        """The span of a range of offsets."""
        return Span(self.path, self.line(start), self.column(start), self.line(end), self.column(end))


class Quoted:
    """Literal text that quotes or a backslash protect from splitting and pattern matching."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Quoted({self.text!r})"


class DoubleQuoted:
    """A double-quoted string of plain `str` (literal) and expansions; `lists` says that it can be several words."""

    __slots__ = ("lists", "parts")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.lists = any(lists(p) for p in parts)

    def __repr__(self) -> str:
        return f"DoubleQuoted({list(self.parts)!r})"


class Param:
    """A parameter expansion.

    `op` is '' or one of `- = ? + :- := :? :+ # ## % %% / // /# /% ^ ^^ , ,, ~ ~~ : @`, or `bad` for
    a substitution that bash refuses when it comes to it; `length` is `${#x}`; `indirect` is `${!x}`;
    `keys` is `${!x[@]}`; `prefix` is `${!x*}` or `${!x@}` (then `index` is that character); `bare` is `$x` without
    braces; `lists` says that it can be several words even in double quotes.
    """

    __slots__ = ("arg", "arg2", "bare", "index", "indirect", "keys", "length", "lists", "name", "op", "pos", "prefix")

    def __init__(
        self,
        name: str,
        pos: int,
        index: str | Word | None = None,
        op: str = "",
        arg: Word | None = None,
        arg2: Word | None = None,
        length: bool = False,
        indirect: bool = False,
        keys: bool = False,
        prefix: bool = False,
        bare: bool = False,
    ) -> None:
        self.name = name
        self.pos = pos
        self.index = index
        self.op = op
        self.arg = arg
        self.arg2 = arg2
        self.length = length
        self.indirect = indirect
        self.keys = keys
        self.prefix = prefix
        self.bare = bare
        self.lists = (
            name in ("@", "*")
            or isinstance(index, str)
            or indirect
            or (arg is not None and op in _WORD_OPERATORS and any(lists(p) for p in arg.parts))
        )

    def __repr__(self) -> str:
        return f"Param({self.name!r}, op={self.op!r}, index={self.index!r}, arg={self.arg!r})"


class CommandSub:
    """`$( ... )` or backticks."""

    __slots__ = ("body", "pos")

    def __init__(self, body: list[Statement], pos: int) -> None:
        self.body = body
        self.pos = pos

    def __repr__(self) -> str:
        return f"CommandSub({self.body!r})"


class ProcessSub:
    """`<( ... )` or `>( ... )`."""

    __slots__ = ("body", "pos", "write")

    def __init__(self, body: list[Statement], write: bool, pos: int) -> None:
        self.body = body
        self.write = write
        self.pos = pos


class ArithSub:
    """`$(( ... ))`: the expression as a word that is expanded like a double-quoted string."""

    __slots__ = ("expr", "pos")

    def __init__(self, expr: Word, pos: int) -> None:
        self.expr = expr
        self.pos = pos

    def __repr__(self) -> str:
        return f"ArithSub({self.expr!r})"


Part = str | Quoted | DoubleQuoted | Param | CommandSub | ProcessSub | ArithSub
_WORD_OPERATORS = frozenset({"-", ":-", "+", ":+"})


def lists(part: Part) -> bool:
    """Whether a part of a double-quoted string can be several words."""
    return isinstance(part, (Param, DoubleQuoted)) and part.lists


class Word:
    """One word. `parts` hold unquoted literals as plain `str`; `literal` is the whole text if nothing in it expands."""

    __slots__ = ("braces", "literal", "parts", "text")

    def __init__(self, parts: tuple[Part, ...], text: str) -> None:
        self.parts = parts
        self.text = text
        self.braces = False
        self.literal: str | None = None
        literal = ""
        for part in parts:
            if part.__class__ is str:
                assert isinstance(part, str)
                if _ACTIVE.search(part):
                    if "{" in part:
                        self.braces = True
                    break
                literal += part
            elif part.__class__ is Quoted:
                assert isinstance(part, Quoted)
                literal += part.text
            elif part.__class__ is DoubleQuoted:
                assert isinstance(part, DoubleQuoted)
                if not all(isinstance(p, str) for p in part.parts):
                    break
                literal += "".join(p for p in part.parts if isinstance(p, str))
            else:
                break
        else:
            self.literal = literal
        if self.literal is None and not self.braces:
            self.braces = any(isinstance(p, str) and "{" in p for p in parts)

    def __repr__(self) -> str:
        return f"Word({self.text!r})"


_ACTIVE = re.compile(r"[*?\[{~]|[+@!]\(")


@dataclass(slots=True)
class Assign:
    """`name=value`, `name+=value`, `name[index]=value` or `name=(...)`."""

    name: str
    index: Word | None
    append: bool
    value: Word | None
    array: list[tuple[Word | None, bool, Word]] | None
    pos: int
    end: int


@dataclass(slots=True)
class Redirect:
    """One redirection: `op` is one of `< > >> >| <> <& >& &> &>> <<< <<`; `fd` is a number, a `{name}` or None."""

    op: str
    fd: int | str | None
    target: Word
    pos: int


@dataclass(slots=True)
class Command:
    """A simple command; `declares` marks words that are assignments of a declaration builtin (`export A=1`)."""

    assigns: list[Assign]
    words: list[Word]
    redirects: list[Redirect]
    pos: int
    end: int
    offsets: list[int]
    declares: dict[int, Assign] | None = None


@dataclass(slots=True)
class Pipeline:
    """`[!] a | b`; `both[i]` says that stage i also pipes its standard error (`|&`)."""

    stages: list[Statement]
    both: list[bool]
    negated: bool
    pos: int
    end: int


@dataclass(slots=True)
class AndOr:
    """`a && b || c`, left to right: `items[0]`, then (`operators[i]`, `items[i + 1]`)."""

    items: list[Statement]
    operators: list[str]
    pos: int
    end: int


@dataclass(slots=True)
class Background:
    """`statement &`."""

    body: Statement
    pos: int
    end: int


@dataclass(slots=True)
class If:
    """`clauses` are (condition, body) pairs: if, then each elif."""

    clauses: list[tuple[list[Statement], list[Statement]]]
    orelse: list[Statement] | None
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class While:
    """`while` or (with `until`) `until`."""

    condition: list[Statement]
    body: list[Statement]
    until: bool
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class For:
    """`for name in words`; `words` is None for the positional parameters."""

    name: str
    words: list[Word] | None
    body: list[Statement]
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class ArithFor:
    """`for ((init; condition; update))`."""

    init: Word
    condition: Word
    update: Word
    body: list[Statement]
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Case:
    """`items` are (patterns, body, terminator) with terminator `;;`, `;&` or `;;&`."""

    word: Word
    items: list[tuple[list[Word], list[Statement], str]]
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Function:
    """A function definition."""

    name: str
    body: Statement
    pos: int
    end: int
    source: Source


@dataclass(slots=True)
class Group:
    """`{ ...; }`."""

    body: list[Statement]
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Subshell:
    """`( ... )`."""

    body: list[Statement]
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Cond:
    """`[[ ... ]]`."""

    expr: CondExpr
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Arith:
    """`(( ... ))`."""

    expr: Word
    pos: int
    end: int
    redirects: list[Redirect] = field(default_factory=list)


@dataclass(slots=True)
class Coproc:
    """`coproc ...`: read, never interpreted."""

    pos: int
    end: int


@dataclass(slots=True)
class Bad:
    """The place where the text stops being bash."""

    message: str
    pos: int
    end: int


Statement = (
    Command
    | Pipeline
    | AndOr
    | Background
    | If
    | While
    | For
    | ArithFor
    | Case
    | Function
    | Group
    | Subshell
    | Cond
    | Arith
    | Coproc
    | Bad
)


@dataclass(slots=True)
class CondUnary:
    """`-f word`."""

    op: str
    word: Word
    pos: int


@dataclass(slots=True)
class CondBinary:
    """`left op right`."""

    op: str
    left: Word
    right: Word
    pos: int


@dataclass(slots=True)
class CondNot:
    """`! expr`."""

    expr: CondExpr


@dataclass(slots=True)
class CondLogic:
    """`left && right` or `left || right`."""

    op: str
    left: CondExpr
    right: CondExpr


CondExpr = CondUnary | CondBinary | CondNot | CondLogic


def merge(parts: list[Part]) -> tuple[Part, ...]:
    """Adjacent plain literals joined."""
    out: list[Part] = []
    for part in parts:
        if out and part.__class__ is str and out[-1].__class__ is str:
            out[-1] = str(out[-1]) + str(part)
        else:
            out.append(part)
    return tuple(out)


def unquote(part: Part) -> str:
    """The literal text of a part, as of a here-document's delimiter."""
    if isinstance(part, str):
        return part
    if isinstance(part, Quoted):
        return part.text
    if isinstance(part, DoubleQuoted):
        return "".join(unquote(p) for p in part.parts)
    if isinstance(part, Param):
        return "$" + part.name
    return ""


_ANSI = re.compile(
    r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.))"
)
_ANSI_NAMES = {
    "a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v",
    "\\": "\\", "'": "'", '"': '"', "?": "?",
}  # fmt: skip


def ansi_c(text: str) -> str:
    """The text of `$'...'`; it ends at a NUL, as in bash."""

    def replace(match: re.Match[str]) -> str:
        name, octal, hexa, short, wide, control = match.groups()
        if name:
            return _ANSI_NAMES[name]
        if octal:
            return chr(int(octal, 8) & 0xFF)
        if control:
            return chr(ord(control) & 0x1F)
        code = int(hexa or short or wide, 16)
        return chr(code) if code < 0x110000 else "\ufffd"

    return _ANSI.sub(replace, text).split("\0", 1)[0]

"""A bash syntax tree, read incrementally as bash itself reads a script.

The reader follows the grammar of bash 5.2 (`parse.y`, `subst.c`): a script is a sequence of complete commands, each read only
when the one before it has been used, so that a syntax error far below a server's start does not hide the start.
Nodes carry offsets into their source; `Source.span` turns them into lines and columns.

Why not tree-sitter-bash: it silently misreads statements that recipes contain. `! a | b && c || d` becomes a pipeline with a list
inside, `a && b > f` redirects the whole list, and words after a here-document operator are lost. The differential tests hold this
reader against mvdan/sh and bashlex.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

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
    """The text of one script with its path; `base_line` is added to lines, for text that was cut out of a larger file."""

    __slots__ = ("_starts", "base_column", "base_line", "path", "text")

    def __init__(self, text: str, path: str, base_line: int = 0, base_column: int = 0) -> None:
        self.text = text
        self.path = path
        self.base_line = base_line
        self.base_column = base_column
        self._starts: list[int] | None = None

    def line(self, offset: int) -> int:
        """The 1-based line of an offset."""
        if self._starts is None:
            self._starts = [0, *(m.end() for m in re.finditer(r"\n", self.text))]
        return bisect_right(self._starts, offset) + self.base_line

    def column(self, offset: int) -> int:
        """The 1-based column of an offset, in characters."""
        line = self.line(offset) - self.base_line
        assert self._starts is not None
        column = offset - self._starts[line - 1] + 1
        return column + self.base_column if line == 1 else column

    def span(self, start: int, end: int) -> Span:
        """The span of a range of offsets."""
        return Span(self.path, self.line(start), self.column(start), self.line(end), self.column(end))


# ---------------------------------------------------------------------------------------------------------------- words


class Quoted:
    """Literal text that quotes or a backslash protect from splitting and pattern matching."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return f"Quoted({self.text!r})"


class DoubleQuoted:
    """A double-quoted string: its parts are plain `str` (literal) and expansions; `lists` says that it can be several words."""

    __slots__ = ("lists", "parts")

    def __init__(self, parts: tuple[Part, ...]) -> None:
        self.parts = parts
        self.lists = any(_lists(p) for p in parts)

    def __repr__(self) -> str:
        return f"DoubleQuoted({list(self.parts)!r})"


class Param:
    """A parameter expansion.

    `op` is '' or one of `- = ? + :- := :? :+ # ## % %% / // /# /% ^ ^^ , ,, ~ ~~ : @`, or `bad` for
    a substitution that bash refuses when it comes to it; `length` is `${#x}`; `indirect` is `${!x}`;
    `keys` is `${!x[@]}`; `prefix` is `${!x*}` or `${!x@}` (then `index` is that character); `bare` is `$x` without braces;
    `lists` says that it can be several words even in double quotes.
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
            or (arg is not None and op in _WORD_OPERATORS and any(_lists(p) for p in arg.parts))
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


def _lists(part: Part) -> bool:
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


# ----------------------------------------------------------------------------------------------------------- statements


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


class Script:
    """A script whose statements are read on demand. `problem` is set when the text stopped being bash."""

    __slots__ = ("_done", "_parser", "_starts", "problem", "source", "statements")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.statements: list[Statement] = []
        self.problem: Bad | None = None
        self._parser = _Parser(source)
        self._starts: list[int] = []
        self._done = False

    def lines(self) -> Iterator[list[Statement]]:
        """The statements in the groups that bash reads at once: an expansion error drops the rest of its group."""
        number = 0
        while True:
            while number >= len(self._starts):
                if self._done:
                    return
                self._read()
            start = self._starts[number]
            end = self._starts[number + 1] if number + 1 < len(self._starts) else len(self.statements)
            yield self.statements[start:end]
            number += 1

    def __iter__(self) -> Iterator[Statement]:
        """Each statement of the script, reading on as needed; a `Bad` node is the last one where the text is not bash."""
        index = 0
        while True:
            while index >= len(self.statements):
                if self._done:
                    return
                self._read()
            yield self.statements[index]
            index += 1

    def _read(self) -> None:
        try:
            more = self._parser.complete_command()
        except BashSyntaxError as error:
            self.problem = Bad(error.message, error.offset, error.offset)
            self._starts.append(len(self.statements))
            self.statements.append(self.problem)
            self._done = True
            return
        except RecursionError:
            self.problem = Bad("nested too deeply", self._parser.i, self._parser.i)
            self._starts.append(len(self.statements))
            self.statements.append(self.problem)
            self._done = True
            return
        if more is None:
            self._done = True
        else:
            self._starts.append(len(self.statements))
            self.statements.extend(more)


def parse_script(text: str, path: str, base_line: int = 0, base_column: int = 0) -> Script:
    """A lazily read script."""
    return Script(Source(text, path, base_line, base_column))


# --------------------------------------------------------------------------------------------------------------- parser

_BLANK = re.compile(r"(?:[ \t]|\\\n)*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# bash reads any word here and refuses it when the loop starts.
_LOOP_NAME = re.compile(r"[^ \t\n;&|<>()$`'\"\\]+")
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[|\+?=)")
_FUNC = re.compile(r"([^ \t\n;&|<>()$`'\"\\=]+)[ \t]*\([ \t]*\)")
_PLAIN = re.compile(r"[A-Za-z0-9_./:,%+@^=-]+(?=[ \t\n;&|)]|$)")
# A word without substitutions that need the parser: its text alone decides its meaning, so equal texts share one node.
_SIMPLE = re.compile(
    r"""(?:[^ \t\n;&|<>()'"\\$`?*+@!]|[?*+@!](?!\()|'[^']*'|"(?:[^"\\$`]|\\[\s\S]|\$[A-Za-z_][A-Za-z0-9_]*|\$\{[A-Za-z_][A-Za-z0-9_]*\}|\$(?=["\s.,:/%-]))*"
    |\\[^\n]|\$(?:[A-Za-z_][A-Za-z0-9_]*|[0-9?@*\#!$-]|\{[A-Za-z_][A-Za-z0-9_]*\}))+(?=[ \t\n;&|<>)]|$)""",
    re.X,
)
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())")
_DQ_TEXT = re.compile(r'[^"\\$`]+')
_SQ = re.compile(r"'([^']*)'")
_UNQUOTED = re.compile(r"[^ \t\n;&|<>()'\"\\$`?*+@!]+")
_SPECIAL_PARAMS = "@*#?$!-0123456789"
_RESERVED = frozenset(
    "if then else elif fi for while until do done case esac { } ! [[ function time select coproc in".split()
)
_DECLARE = frozenset("export local declare readonly typeset".split())
_COND_UNARY = frozenset("-a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -o -v -z -n -R".split())
_COND_BINARY = frozenset("= == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef".split())
_ENDS_LIST = frozenset("then else elif fi do done esac }".split())


@lru_cache(maxsize=32768)
def _simple_word(text: str) -> Word:
    parser = _Parser(Source(text, ""))
    word = parser.general_word()
    assert word is not None
    return word


class _Pending:
    """A here-document whose body has not been reached yet."""

    __slots__ = ("delimiter", "quoted", "redirect", "strip")

    def __init__(self, redirect: Redirect, delimiter: str, quoted: bool, strip: bool) -> None:
        self.redirect = redirect
        self.delimiter = delimiter
        self.quoted = quoted
        self.strip = strip


_EMPTY = Word((), "")
_BAD_SUBSTITUTION = "bad substitution"


class _Parser:
    """Recursive descent over one text. `i` is the read position."""

    __slots__ = ("depth", "i", "n", "pending", "s", "source")

    def __init__(self, source: Source, start: int = 0) -> None:
        self.source = source
        self.s = source.text
        self.n = len(source.text)
        self.i = start
        self.depth = 0
        self.pending: list[_Pending] = []

    # -- spaces

    def blank(self) -> None:
        """Skips blanks, continued lines and a comment."""
        s = self.s
        match = _BLANK.match(s, self.i)
        assert match is not None
        i = match.end()
        if i < self.n and s[i] == "#":
            end = s.find("\n", i)
            i = self.n if end < 0 else end
        self.i = i

    def newline(self) -> None:
        """Steps over a newline and reads the bodies of pending here-documents."""
        self.i += 1
        if self.pending:
            pending, self.pending = self.pending, []
            for item in pending:
                self.heredoc(item)

    def linebreaks(self) -> None:
        """Skips blanks, comments and newlines."""
        while True:
            self.blank()
            if self.i < self.n and self.s[self.i] == "\n":
                self.newline()
            else:
                return

    def error(self, message: str, offset: int | None = None) -> BashSyntaxError:
        return BashSyntaxError(message, self.i if offset is None else offset)

    def unexpected(self) -> BashSyntaxError:
        if self.i >= self.n:
            return self.error("syntax error: unexpected end of file")
        match = re.compile(r"\n|;;&?|;&|&&|\|\||[;&|()<>]|[^ \t\n;&|()<>]+").match(self.s, self.i)
        token = match.group() if match else self.s[self.i]
        return self.error(f"syntax error near unexpected token `{'newline' if token == chr(10) else token}'")

    # -- lists

    def complete_command(self) -> list[Statement] | None:
        """The next line's list of statements, or None at the end."""
        self.linebreaks()
        if self.i >= self.n:
            if self.pending:
                self.flush_heredocs()
            return None
        out: list[Statement] = []
        s = self.s
        while True:
            out.append(self.and_or_list())
            self.blank()
            if self.i >= self.n:
                self.flush_heredocs()
                return out
            c = s[self.i]
            if c == "\n":
                self.newline()
                return out
            if c == ";" and not s.startswith(";;", self.i) and not s.startswith(";&", self.i):
                self.i += 1
            elif isinstance(out[-1], Background):
                pass
            else:
                raise self.unexpected()
            self.blank()
            if self.i >= self.n:
                self.flush_heredocs()
                return out
            if s[self.i] == "\n":
                self.newline()
                return out

    def flush_heredocs(self) -> None:
        pending, self.pending = self.pending, []
        for item in pending:
            self.heredoc(item)

    def and_or_list(self) -> Statement:
        """`pipeline [&& pipeline]... [&]`; a `;` is left to the caller."""
        start = self.i
        first = self.pipeline()
        items = [first]
        operators: list[str] = []
        s = self.s
        while True:
            self.blank()
            two = s[self.i : self.i + 2]
            if two in ("&&", "||"):
                self.i += 2
                operators.append(two)
                self.linebreaks()
                items.append(self.pipeline())
            else:
                break
        statement: Statement = first if not operators else AndOr(items, operators, start, self.i)
        if s[self.i : self.i + 1] == "&" and s[self.i : self.i + 2] != "&&":
            self.i += 1
            return Background(statement, start, self.i - 1)
        return statement

    def compound_list(self, *ends: str) -> list[Statement]:
        """Statements up to a reserved word in `ends` (or `)` or `;;`), which is left unread."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        out: list[Statement] = []
        s = self.s
        while True:
            self.linebreaks()
            if self.i >= self.n:
                raise self.unexpected()
            c = s[self.i]
            if c == ")" or (c == ";" and s[self.i + 1 : self.i + 2] in (";", "&")):
                break
            word = self.reserved()
            if word in _ENDS_LIST:
                break
            out.append(self.and_or_list())
            self.blank()
            c = s[self.i : self.i + 1]
            if c == ";" and s[self.i + 1 : self.i + 2] not in (";", "&"):
                self.i += 1
            elif c in ("\n", ")", "") or isinstance(out[-1], Background) or c == ";":
                pass
            else:
                word = self.reserved()
                if word not in _ENDS_LIST:
                    raise self.unexpected()
        self.depth -= 1
        if not out and ends != (")",):
            raise self.unexpected()
        if ends == (")",):
            if s[self.i] != ")":
                raise self.unexpected()
        elif ends == (";;",):
            if s[self.i] != ";" and self.reserved() != "esac":
                raise self.unexpected()
        elif self.reserved() not in ends:
            raise self.unexpected()
        return out

    def reserved(self) -> str | None:
        """The reserved word at the read position, if one stands there unquoted."""
        match = _PLAIN_WORD.match(self.s, self.i)
        if match:
            word = match.group()
            if word in _RESERVED:
                return word
        return None

    def keyword(self, word: str) -> None:
        """Steps over a reserved word that must stand here."""
        self.linebreaks()
        if self.reserved() != word:
            raise self.unexpected()
        self.i += len(word)

    # -- pipelines and commands

    def pipeline(self) -> Statement:
        start = self.i
        negated = False
        s = self.s
        while True:
            word = self.reserved()
            if word == "!":
                negated = not negated
                self.i += 1
            elif word == "time":
                self.i += 4
                self.blank()
                if re.compile(r"-p(?=\s)").match(s, self.i):
                    self.i += 2
            else:
                break
            self.blank()
            if self.i >= self.n or s[self.i] in "\n;":
                return Pipeline([], [], negated, start, self.i)
        stages = [self.command()]
        both: list[bool] = []
        while True:
            self.blank()
            if s.startswith("|", self.i) and not s.startswith("||", self.i):
                amp = s.startswith("|&", self.i)
                self.i += 2 if amp else 1
                both.append(amp)
                self.linebreaks()
                stages.append(self.command())
            else:
                break
        if not both and not negated:
            return stages[0]
        both.append(False)
        return Pipeline(stages, both, negated, start, self.i)

    def command(self) -> Statement:
        s = self.s
        if self.i >= self.n:
            raise self.unexpected()
        c = s[self.i]
        if c == "(":
            if s.startswith("((", self.i):
                arith = self.arith_command()
                if arith is not None:
                    return arith
            return self.subshell()
        word = self.reserved()
        if word is not None:
            method = _COMPOUND.get(word)
            if method is None:
                raise self.unexpected()
            statement: Statement = method(self)
            return statement
        match = _FUNC.match(s, self.i)
        if match:
            return self.function(self.i, match.group(1), match.end())
        return self.simple()

    def redirects(self, into: list[Redirect]) -> None:
        """Redirections after a compound command."""
        while True:
            self.blank()
            if not self.redirect(into):
                return

    def redirect(self, into: list[Redirect]) -> bool:
        match = _REDIRECT.match(self.s, self.i)
        if not match:
            return False
        pos = self.i
        prefix, op = match.groups()
        fd: int | str | None = None
        if prefix is not None:
            fd = prefix[1:-1] if prefix[0] == "{" else int(prefix)
        self.i = match.end()
        if op in ("<<", "<<-"):
            self.blank()
            start = self.i
            word = self.word()
            if word is None:
                raise self.unexpected()
            raw = self.s[start : self.i]
            quoted = any(ch in raw for ch in "'\"\\")
            redirect = Redirect("<<", fd, _EMPTY, pos)
            delimiter = "".join(_unquote(part) for part in word.parts)
            self.pending.append(_Pending(redirect, delimiter, quoted, op == "<<-"))
            into.append(redirect)
            return True
        self.blank()
        word = self.word()
        if word is None:
            raise self.unexpected()
        into.append(Redirect(op, fd, word, pos))
        return True

    def heredoc(self, item: _Pending) -> None:
        s = self.s
        lines: list[str] = []
        start = self.i
        i = self.i
        while i < self.n:
            end = s.find("\n", i)
            stop = self.n if end < 0 else end
            line = s[i:stop]
            i = min(stop + 1, self.n) if end >= 0 else self.n
            if item.strip:
                line = line.lstrip("\t")
            if line == item.delimiter:
                break
            lines.append(line + ("\n" if end >= 0 else ""))
        self.i = i
        body = "".join(lines)
        if item.quoted:
            item.redirect.target = Word((Quoted(body),), body)
        else:
            offset_line = self.source.line(start) - 1
            parser = _Parser(Source(body, self.source.path, offset_line))
            parser.depth = self.depth
            parts = parser.double_quoted_parts(None, heredoc=True)
            item.redirect.target = Word((DoubleQuoted(parts),), body)

    def simple(self) -> Statement:
        s = self.s
        start = self.i
        assigns: list[Assign] = []
        words: list[Word] = []
        offsets: list[int] = []
        redirects: list[Redirect] = []
        declares: dict[int, Assign] | None = None
        declaring = False
        end = start
        while True:
            i = self.i
            match = _PLAIN.match(s, i)
            if match is not None:
                text = match.group()
                self.i = match.end()
                if (not words or declaring) and "=" in text:
                    self.i = i
                    assign = self.assignment()
                    if assign is not None:
                        if words:
                            declares = {} if declares is None else declares
                            declares[len(words)] = assign
                            words.append(_EMPTY)
                            offsets.append(i)
                        else:
                            assigns.append(assign)
                        end = self.i
                        self.i = _BLANK.match(s, self.i).end()  # type: ignore[union-attr]
                        continue
                    self.i = match.end()
                word: Word | None = _simple_word(text)
            elif i < self.n and s[i] in "<>&0123456789{" and self.redirect(redirects):
                end = self.i
                self.blank()
                continue
            else:
                if i < self.n and (not words or declaring):
                    assign = self.assignment()
                    if assign is not None:
                        if words:
                            declares = {} if declares is None else declares
                            declares[len(words)] = assign
                            words.append(_EMPTY)
                            offsets.append(i)
                        else:
                            assigns.append(assign)
                        end = self.i
                        self.blank()
                        continue
                word = self.word()
            if word is None:
                break
            if not words and word.text in _DECLARE:
                declaring = True
            words.append(word)
            offsets.append(i)
            end = self.i
            j = self.i
            if j < self.n and s[j] == " " and j + 1 < self.n and s[j + 1] not in " \t\\#":
                self.i = j + 1
            else:
                self.blank()
        if not words and not assigns and not redirects:
            raise self.unexpected()
        if self.i < self.n and s[self.i] == "(":
            raise self.unexpected()
        return Command(assigns, words, redirects, start, end, offsets, declares)

    def assignment(self) -> Assign | None:
        """An assignment word at the read position, or None (and nothing read)."""
        s = self.s
        start = self.i
        match = _ASSIGN.match(s, start)
        if match is None:
            return None
        name, mark = match.groups()
        index: Word | None = None
        self.i = match.end()
        if mark == "[":
            close = self.subscript_end(self.i)
            if close is None:
                self.i = start
                return None
            after = s[close + 1 : close + 3]
            if after.startswith("="):
                mark, skip = "=", 1
            elif after == "+=":
                mark, skip = "+=", 2
            else:
                self.i = start
                return None
            index = self.sub_word(self.i, close)
            self.i = close + 1 + skip
        append = mark == "+="
        if self.i < self.n and s[self.i] == "(" and index is None:
            array = self.array()
            return Assign(name, index, append, None, array, start, self.i)
        value = self.word(assignment=True)
        return Assign(name, index, append, _EMPTY if value is None else value, None, start, self.i)

    def array(self) -> list[tuple[Word | None, bool, Word]]:
        """`( [i]=word word ... )`: the read position is at the parenthesis."""
        s = self.s
        self.i += 1
        out: list[tuple[Word | None, bool, Word]] = []
        while True:
            self.linebreaks()
            if self.i >= self.n:
                raise self.unexpected()
            c = s[self.i]
            if c == ")":
                self.i += 1
                return out
            if c == "[":
                close = self.subscript_end(self.i + 1)
                if close is not None and s[close + 1 : close + 2] in ("=", "+"):
                    append = s.startswith("+=", close + 1)
                    if append or s[close + 1] == "=":
                        index = self.sub_word(self.i + 1, close)
                        self.i = close + (3 if append else 2)
                        value = self.word(assignment=True)
                        out.append((index, append, _EMPTY if value is None else value))
                        continue
            word = self.word()
            if word is None:
                raise self.unexpected()
            out.append((None, False, word))

    def subscript_end(self, i: int) -> int | None:
        """The offset of the `]` that closes a subscript which starts at `i`."""
        s = self.s
        depth = 1
        while i < self.n:
            c = s[i]
            if c == "\\":
                i += 1
            elif c == "'":
                i = s.find("'", i + 1)
                if i < 0:
                    return None
            elif c == '"':
                parser = _Parser(self.source, i + 1)
                parser.depth = self.depth + 1
                parser.double_quoted_parts('"')
                i = parser.i
                continue
            elif c == "$" and s[i + 1 : i + 2] in ("{", "("):
                parser = _Parser(self.source, i)
                parser.depth = self.depth + 1
                if parser.dollar(True) is None:
                    return None
                i = parser.i
                continue
            elif c == "[":
                depth += 1
            elif c == "]":
                depth -= 1
                if depth == 0:
                    return i
            elif c in "\n;&|<>" and depth == 1 and c in "\n;":
                return None
            i += 1
        return None

    def sub_word(self, start: int, end: int) -> Word:
        """The text between two offsets as a word that expands like a double-quoted string (subscripts, arithmetic)."""
        text = self.s[start:end]
        if not _NEEDS_PARSE.search(text):
            return Word((Quoted(text),), text)
        return self.sub_source(start, end)

    def sub_source(self, start: int, end: int) -> Word:
        parser = _Parser(Source(self.s[:end], self.source.path, self.source.base_line, self.source.base_column), start)
        parser.depth = self.depth + 1
        if parser.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        parts = parser.double_quoted_parts(None, arithmetic=True)
        return Word((DoubleQuoted(parts),), self.s[start:end])

    # -- compound commands

    def if_command(self) -> Statement:
        start = self.i
        self.i += 2
        clauses: list[tuple[list[Statement], list[Statement]]] = []
        orelse: list[Statement] | None = None
        while True:
            condition = self.compound_list("then")
            self.keyword("then")
            body = self.compound_list("elif", "else", "fi")
            clauses.append((condition, body))
            word = self.reserved()
            assert word is not None
            self.i += len(word)
            if word == "elif":
                continue
            if word == "else":
                orelse = self.compound_list("fi")
                self.keyword("fi")
            break
        node = If(clauses, orelse, start, self.i)
        self.redirects(node.redirects)
        return node

    def while_command(self) -> Statement:
        start = self.i
        until = self.s.startswith("until", start)
        self.i += 5
        condition = self.compound_list("do")
        body = self.do_group()
        node = While(condition, body, until, start, self.i)
        self.redirects(node.redirects)
        return node

    def do_group(self) -> list[Statement]:
        self.linebreaks()
        if self.reserved() == "{":
            self.i += 1
            body = self.compound_list("}")
            self.keyword("}")
            return body
        self.keyword("do")
        body = self.compound_list("done")
        self.keyword("done")
        return body

    def for_command(self) -> Statement:
        s = self.s
        start = self.i
        self.i += 3
        self.blank()
        if s.startswith("((", self.i):
            close = self.arith_end(self.i + 2)
            if close is None:
                raise self.unexpected()
            pieces = self.split_arith(self.i + 2, close)
            self.i = close + 2
            self.blank()
            if s.startswith(";", self.i):
                self.i += 1
            body = self.do_group()
            arith = ArithFor(pieces[0], pieces[1], pieces[2], body, start, self.i)
            self.redirects(arith.redirects)
            return arith
        match = _LOOP_NAME.match(s, self.i)
        if match is None:
            raise self.unexpected()
        name = match.group()
        self.i = match.end()
        words: list[Word] | None = None
        self.linebreaks()
        if self.reserved() == "in":
            self.i += 2
            words = []
            while True:
                self.blank()
                word = self.word()
                if word is None:
                    break
                words.append(word)
            if self.i < self.n and s[self.i] not in ";\n":
                raise self.unexpected()
            if s.startswith(";", self.i):
                self.i += 1
        elif s.startswith(";", self.i):
            self.i += 1
        body = self.do_group()
        node = For(name, words, body, start, self.i)
        self.redirects(node.redirects)
        return node

    def split_arith(self, start: int, end: int) -> list[Word]:
        s = self.s
        cuts = [start]
        depth = 0
        for k in range(start, end):
            if s[k] == "(":
                depth += 1
            elif s[k] == ")":
                depth -= 1
            elif s[k] == ";" and depth == 0:
                cuts.append(k + 1)
        if len(cuts) != 3:
            raise self.error("syntax error: arithmetic expression required", start)
        bounds = [*cuts, end + 1]
        return [self.sub_word(bounds[k], bounds[k + 1] - 1) for k in range(3)]

    def case_command(self) -> Statement:
        s = self.s
        start = self.i
        self.i += 4
        self.blank()
        word = self.word()
        if word is None:
            raise self.unexpected()
        self.keyword("in")
        items: list[tuple[list[Word], list[Statement], str]] = []
        while True:
            self.linebreaks()
            if self.reserved() == "esac":
                self.i += 4
                break
            if s.startswith("(", self.i):
                self.i += 1
                self.blank()
            patterns: list[Word] = []
            while True:
                self.blank()
                pattern = self.word()
                if pattern is None:
                    raise self.unexpected()
                patterns.append(pattern)
                self.blank()
                if s.startswith("|", self.i):
                    self.i += 1
                    continue
                break
            if not s.startswith(")", self.i):
                raise self.unexpected()
            self.i += 1
            self.linebreaks()
            body: list[Statement] = []
            if not s.startswith(";;", self.i) and not s.startswith(";&", self.i) and self.reserved() != "esac":
                body = self.compound_list(";;")
            terminator = ";;"
            if s.startswith(";;&", self.i):
                terminator = ";;&"
                self.i += 3
            elif s.startswith(";;", self.i) or s.startswith(";&", self.i):
                terminator = s[self.i : self.i + 2]
                self.i += 2
            items.append((patterns, body, terminator))
        node = Case(word, items, start, self.i)
        self.redirects(node.redirects)
        return node

    def function_keyword(self) -> Statement:
        start = self.i
        self.i += 8
        self.blank()
        match = re.compile(r"[^ \t\n;&|<>()]+").match(self.s, self.i)
        if match is None:
            raise self.unexpected()
        self.i = match.end()
        self.blank()
        paren = re.compile(r"\([ \t]*\)").match(self.s, self.i)
        return self.function(start, match.group(), paren.end() if paren else self.i)

    def function(self, start: int, name: str, body_at: int) -> Statement:
        self.i = body_at
        self.linebreaks()
        if not (self.s.startswith("(", self.i) or self.reserved() in _COMPOUND):
            raise self.unexpected()
        body = self.command()
        return Function(name, body, start, self.i, self.source)

    def group(self) -> Statement:
        start = self.i
        self.i += 1
        body = self.compound_list("}")
        self.keyword("}")
        node = Group(body, start, self.i)
        self.redirects(node.redirects)
        return node

    def subshell(self) -> Statement:
        start = self.i
        self.i += 1
        body = self.compound_list(")")
        if not body:
            raise self.unexpected()
        self.i += 1
        node = Subshell(body, start, self.i)
        self.redirects(node.redirects)
        return node

    def coproc(self) -> Statement:
        start = self.i
        self.i += 6
        self.blank()
        match = re.compile(r"[A-Za-z_]\w*(?=[ \t]+[{(])").match(self.s, self.i)
        if match:
            self.i = match.end()
            self.blank()
        self.command()
        return Coproc(start, self.i)

    def arith_command(self) -> Statement | None:
        start = self.i
        close = self.arith_end(start + 2)
        if close is None:
            return None
        expr = self.sub_word(start + 2, close)
        self.i = close + 2
        node = Arith(expr, start, self.i)
        self.redirects(node.redirects)
        return node

    def arith_end(self, i: int) -> int | None:
        """The offset of the `))` that closes an arithmetic expression starting at `i`, or None if it is none."""
        s = self.s
        depth = 0
        while i < self.n:
            c = s[i]
            if c == "(":
                depth += 1
            elif c == ")":
                if depth == 0:
                    return i if s.startswith("))", i) else None
                depth -= 1
            elif c == "\\":
                i += 1
            elif c == "'" or c == '"':
                end = s.find(c, i + 1)
                if end < 0:
                    return None
                i = end
            elif c == "$" and s[i + 1 : i + 2] in ("{", "("):
                parser = _Parser(self.source, i)
                parser.depth = self.depth + 1
                if parser.depth > MAX_DEPTH:
                    raise self.error("nested too deeply")
                if parser.dollar(True) is None:
                    return None
                i = parser.i
                continue
            elif c == "`":
                end = s.find("`", i + 1)
                if end < 0:
                    return None
                i = end
            i += 1
        return None

    # -- [[ ]]

    def cond_command(self) -> Statement:
        start = self.i
        self.i += 2
        expr = self.cond_or()
        self.linebreaks()
        if not self.s.startswith("]]", self.i):
            raise self.unexpected()
        self.i += 2
        node = Cond(expr, start, self.i)
        self.redirects(node.redirects)
        return node

    def cond_or(self) -> CondExpr:
        left = self.cond_and()
        self.linebreaks()
        if self.s.startswith("||", self.i):
            self.i += 2
            return CondLogic("||", left, self.cond_or())
        return left

    def cond_and(self) -> CondExpr:
        left = self.cond_term()
        self.linebreaks()
        if self.s.startswith("&&", self.i):
            self.i += 2
            return CondLogic("&&", left, self.cond_and())
        return left

    def cond_term(self) -> CondExpr:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        try:
            return self._cond_term()
        finally:
            self.depth -= 1

    def _cond_term(self) -> CondExpr:
        s = self.s
        self.linebreaks()
        if self.i >= self.n:
            raise self.unexpected()
        if s[self.i] == "!" and s[self.i + 1 : self.i + 2] in (" ", "\t", "\n", "("):
            self.i += 1
            return CondNot(self.cond_term())
        if s[self.i] == "(":
            self.i += 1
            inner = self.cond_or()
            self.linebreaks()
            if not s.startswith(")", self.i):
                raise self.unexpected()
            self.i += 1
            return inner
        pos = self.i
        word = self.word()
        if word is None or word.text == "]]":
            raise self.error("syntax error in conditional expression", pos)
        self.blank()
        if word.text in _COND_UNARY and not self.cond_ends():
            after = self.i
            operand = self.word()
            if operand is None:
                raise self.unexpected()
            if operand.text not in _COND_BINARY or self.lookahead_ends():
                return CondUnary(word.text, operand, pos)
            self.i = after
        if self.cond_ends():
            return CondUnary("-n", word, pos)
        match = re.compile(r"=~|==|=|!=|<|>|-(?:eq|ne|lt|le|gt|ge|nt|ot|ef)(?=[\s(])").match(s, self.i)
        if match is None:
            raise self.error("syntax error in conditional expression: conditional binary operator expected")
        op = match.group()
        self.i = match.end()
        self.blank()
        right = self.regex_word() if op == "=~" else self.word(pattern=op in ("=", "==", "!="))
        if right is None:
            raise self.unexpected()
        return CondBinary("==" if op == "=" else op, word, right, pos)

    def cond_ends(self) -> bool:
        s = self.s
        return (
            s.startswith("]]", self.i)
            or s.startswith("&&", self.i)
            or s.startswith("||", self.i)
            or s.startswith(")", self.i)
            or s.startswith("\n", self.i)
        )

    def lookahead_ends(self) -> bool:
        keep = self.i
        self.blank()
        ends = self.cond_ends()
        self.i = keep
        return ends

    def regex_word(self) -> Word | None:
        """The right side of `=~`: parentheses and `|` belong to the word."""
        s = self.s
        parts: list[Part] = []
        start = self.i
        depth = 0
        while self.i < self.n:
            c = s[self.i]
            if c in " \t\n" and depth == 0:
                break
            if c == "(":
                depth += 1
            elif c == ")":
                if depth == 0:
                    break
                depth -= 1
            elif c == "[":
                match = re.compile(r"\[\^?\]?(?:\[:\w+:\]|[^\]\n$'\"\\`])*\]").match(s, self.i)
                if match:
                    parts.append(match.group())
                    self.i = match.end()
                    continue
            part = self.word_part(regex=True)
            if part is None:
                parts.append(c)
                self.i += 1
            else:
                parts.append(part)
        if self.i == start:
            return None
        return Word(_merge(parts), s[start : self.i])

    # -- words

    def word(self, assignment: bool = False, pattern: bool = False) -> Word | None:
        """The word at the read position, or None if no word starts here."""
        s = self.s
        i = self.i
        match = _SIMPLE.match(s, i)
        if match is not None:
            if s[i] == "#" and not assignment:
                return None
            self.i = match.end()
            return _simple_word(match.group())
        return self.general_word()

    def general_word(self) -> Word | None:
        start = self.i
        parts: list[Part] = []
        while True:
            part = self.word_part()
            if part is None:
                break
            parts.append(part)
        if self.i == start:
            return None
        return Word(_merge(parts), self.s[start : self.i])

    def word_part(self, regex: bool = False) -> Part | None:
        """The next part of a word, or None at its end."""
        s = self.s
        i = self.i
        if i >= self.n:
            return None
        match = _UNQUOTED.match(s, i)
        if match is not None and not regex:
            self.i = match.end()
            return match.group()
        c = s[i]
        if c == "'":
            end = s.find("'", i + 1)
            if end < 0:
                raise self.error("syntax error: unexpected EOF while looking for matching `''", i)
            self.i = end + 1
            return Quoted(s[i + 1 : end])
        if c == '"':
            self.i += 1
            return DoubleQuoted(self.double_quoted_parts('"'))
        if c == "\\":
            if i + 1 >= self.n:
                self.i += 1
                return Quoted("")
            self.i += 2
            return "" if s[i + 1] == "\n" else Quoted(s[i + 1])
        if c == "$":
            return self.dollar(False)
        if c == "`":
            return self.backtick(False)
        if c in "<>" and s[i + 1 : i + 2] == "(" and not regex:
            self.i += 2
            body = self.compound_list(")")
            self.i += 1
            return ProcessSub(body, c == ">", i)
        if regex:
            return None
        if c in "?*+@!":
            if s[i + 1 : i + 2] == "(":
                return self.extglob()
            self.i += 1
            return c
        return None

    def extglob(self) -> Part:
        """`@(a|b)`, kept as pattern text; quoted parts inside are escaped with backslashes."""
        s = self.s
        start = self.i
        out = s[start : start + 2]
        self.i += 2
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        parts: list[Part] = [out]
        while True:
            if self.i >= self.n:
                raise self.unexpected()
            c = s[self.i]
            if c == ")":
                self.i += 1
                parts.append(")")
                break
            part = self.word_part()
            if part is None:
                parts.append(c)
                self.i += 1
            else:
                parts.append(part)
        self.depth -= 1
        merged = _merge(parts)
        if all(isinstance(p, str) for p in merged):
            return "".join(p for p in merged if isinstance(p, str))
        text = ""
        for part in merged:
            if isinstance(part, str):
                text += part
            elif isinstance(part, Quoted):
                text += re.sub(r"([\\*?\[\]()|!@+])", r"\\\1", part.text)
            elif isinstance(part, DoubleQuoted) and all(isinstance(p, str) for p in part.parts):
                text += re.sub(r"([\\*?\[\]()|!@+])", r"\\\1", "".join(str(p) for p in part.parts))
            else:
                raise self.error("expansion inside an extended pattern is not read", start)
        return text

    def double_quoted_parts(
        self, close: str | None, heredoc: bool = False, arithmetic: bool = False
    ) -> tuple[Part, ...]:
        """Parts up to the closing quote (or the end of the text when `close` is None)."""
        s = self.s
        parts: list[Part] = []
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        opened = self.i
        while True:
            if self.i >= self.n:
                if close is None:
                    break
                raise self.error(f"unexpected EOF while looking for matching `{close}'", opened - 1)
            c = s[self.i]
            if c == close:
                self.i += 1
                break
            if c == "\\":
                nxt = s[self.i + 1 : self.i + 2]
                if nxt == "\n":
                    pass
                elif nxt and (nxt in "$`\\" or (nxt == '"' and not heredoc)):
                    parts.append(nxt)
                else:
                    parts.append("\\" + nxt)
                self.i += 2
                continue
            if c == "$":
                part = self.dollar(True)
                parts.append("$" if part is None else part)
                continue
            if c == "`":
                parts.append(self.backtick(True))
                continue
            if c == '"' and arithmetic:
                self.i += 1
                continue
            match = _DQ_TEXT.match(s, self.i)
            if match is None:
                parts.append(c)
                self.i += 1
            else:
                parts.append(match.group())
                self.i = match.end()
        self.depth -= 1
        return _merge(parts)

    def dollar(self, quoted: bool) -> Part | None:
        """An expansion that starts with `$`; in quotes a lone `$` gives None and is read, outside it is a literal."""
        s = self.s
        pos = self.i
        c = s[pos + 1 : pos + 2]
        if c == "(":
            if s.startswith("((", pos + 1):
                close = self.arith_end(pos + 3)
                if close is not None:
                    expr = self.sub_word(pos + 3, close)
                    self.i = close + 2
                    return ArithSub(expr, pos)
            self.i = pos + 2
            pending, self.pending = self.pending, []
            body = self.compound_list(")")
            self.flush_heredocs()
            self.pending = pending
            self.i += 1
            return CommandSub(body, pos)
        if c == "{":
            return self.braced(quoted)
        if c == "[":
            end = s.find("]", pos)
            if end < 0:
                raise self.unexpected()
            expr = self.sub_word(pos + 2, end)
            self.i = end + 1
            return ArithSub(expr, pos)
        match = _NAME.match(s, pos + 1)
        if match is not None:
            self.i = match.end()
            return Param(match.group(), pos, bare=True)
        if c and c in _SPECIAL_PARAMS:
            self.i = pos + 2
            return Param(c, pos)
        if not quoted and c == "'":
            end = pos + 2
            while end < self.n and s[end] != "'":
                end += 2 if s[end] == "\\" else 1
            if end >= self.n:
                raise self.unexpected()
            self.i = end + 1
            return Quoted(ansi_c(s[pos + 2 : end]))
        if not quoted and c == '"':
            self.i = pos + 2
            return DoubleQuoted(self.double_quoted_parts('"'))
        self.i = pos + 1
        return None if quoted else "$"

    def backtick(self, quoted: bool) -> Part:
        s = self.s
        pos = self.i
        i = pos + 1
        out: list[str] = []
        while True:
            if i >= self.n:
                raise self.error("unexpected EOF while looking for matching ``'", pos)
            c = s[i]
            if c == "`":
                break
            if c == "\\" and i + 1 < self.n and (s[i + 1] in "`\\$" or (quoted and s[i + 1] == '"')):
                out.append(s[i + 1])
                i += 2
                continue
            out.append(c)
            i += 1
        self.i = i + 1
        text = "".join(out)
        inner = _Parser(Source(text, self.source.path, self.source.line(pos) - 1))
        inner.depth = self.depth + 1
        if inner.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        body: list[Statement] = []
        while True:
            try:
                more = inner.complete_command()
            except BashSyntaxError as error:
                raise self.error(error.message, pos) from None
            if more is None:
                break
            body.extend(more)
        return CommandSub(body, pos)

    def braced(self, quoted: bool) -> Part:
        """`${ ... }`: the read position is at the dollar. What is no substitution is an error when it is expanded, not before."""
        pos, depth = self.i, self.depth
        try:
            return self._braced(quoted)
        except BashSyntaxError as error:
            end = self.brace_end(pos + 2) if error.message == _BAD_SUBSTITUTION else None
            if end is None:
                raise
            self.i, self.depth = end, depth
            text = self.s[pos:end]
            return Param("", pos, op="bad", arg=Word((Quoted(text),), text))

    def brace_end(self, i: int) -> int | None:
        """The offset after the `}` that closes a substitution whose inside starts at `i`."""
        depth = 1
        for match in re.compile(r"\\.|\$\{|\}|'[^']*'", re.S).finditer(self.s, i):
            if match.group() == "${":
                depth += 1
            elif match.group() == "}":
                depth -= 1
                if depth == 0:
                    return match.end()
        return None

    def _braced(self, quoted: bool) -> Part:
        s = self.s
        pos = self.i
        self.i = i = pos + 2
        length = indirect = False
        if s.startswith("#", i) and not re.compile(r"#(?:\}|[-:=?+%/^,@#](?!\}))").match(s, i):
            length = True
            i += 1
        elif s.startswith("!", i) and not s.startswith("!}", i) and not re.compile(r"![-:=?+%/]|!#[^}]").match(s, i):
            indirect = True
            i += 1
        match = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|[@*#?$!-]").match(s, i)
        if match is None:
            raise self.error(_BAD_SUBSTITUTION, pos)
        name = match.group()
        self.i = match.end()
        index: str | Word | None = None
        if s.startswith("[", self.i) and name[0] not in "@*#?$!-0123456789":
            close = self.subscript_end(self.i + 1)
            if close is None:
                raise self.error(_BAD_SUBSTITUTION, pos)
            raw = s[self.i + 1 : close]
            index = raw if raw in ("@", "*") else self.sub_word(self.i + 1, close)
            self.i = close + 1
        if indirect and index in ("@", "*") and s.startswith("}", self.i):
            self.i += 1
            return Param(name, pos, index, keys=True)
        if indirect and index is None and s[self.i : self.i + 2] in ("*}", "@}"):
            index = s[self.i]
            self.i += 2
            return Param(name, pos, index, prefix=True)
        if s.startswith("}", self.i):
            self.i += 1
            return Param(name, pos, index, length=length, indirect=indirect)
        if length:
            raise self.error(_BAD_SUBSTITUTION, pos)
        match = re.compile(r":[-=?+]|[-=?+]|##?|%%?|/[/#%]?|\^\^?|,,?|~~?|:|@[QEPAKakUuL](?=\})").match(s, self.i)
        if match is None:
            raise self.error(_BAD_SUBSTITUTION, pos)
        op = match.group()
        self.i = match.end()
        if op[0] == "@":
            self.i += 1
            return Param(name, pos, index, "@", Word((Quoted(op[1]),), op[1]), indirect=indirect)
        arg: Word
        arg2: Word | None = None
        if op == ":":
            arg, ended = self.slice_word(":}")
            if ended == ":":
                arg2, _ = self.slice_word("}")
        elif op[0] == "/":
            arg, ended = self.braced_word(quoted, True, "/}")
            if ended == "/":
                arg2, _ = self.braced_word(quoted, True, "}")
        else:
            arg, _ = self.braced_word(quoted, op[0] in "#%^,~", "}")
        return Param(name, pos, index, op, arg, arg2, indirect=indirect)

    def slice_word(self, ends: str) -> tuple[Word, str]:
        """An arithmetic operand of `${x:a:b}` up to one of `ends`."""
        s = self.s
        start = i = self.i
        depth = 0
        while i < self.n:
            c = s[i]
            if c in "([":
                depth += 1
            elif c in ")]":
                depth -= 1
            elif c == "?" and ":" in ends:
                depth += 1
            elif c == ":" and depth > 0 and ":" in ends:
                depth -= 1
                i += 1
                continue
            elif c == "$" and s[i + 1 : i + 2] in ("{", "("):
                parser = _Parser(self.source, i)
                parser.depth = self.depth + 1
                if parser.dollar(True) is None:
                    raise self.unexpected()
                i = parser.i
                continue
            if c in ends and depth <= 0:
                word = self.sub_word(start, i)
                self.i = i + 1
                return word, c
            i += 1
        raise self.error("bad substitution: no closing `}'", start)

    def braced_word(self, quoted: bool, pattern: bool, ends: str) -> tuple[Word, str]:
        """The operand of a parameter expansion up to one of `ends`, which is stepped over and returned."""
        s = self.s
        start = protected = self.i
        parts: list[Part] = []
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        while True:
            if self.i >= self.n:
                raise self.error("unexpected EOF while looking for matching `}'", start)
            c = s[self.i]
            # The pattern of `${x///y}` begins with the third slash.
            if c in ends and self.i >= protected and not (c == "/" and self.i == start and s.endswith("//", 0, start)):
                break
            if c == "\\":
                nxt = s[self.i + 1 : self.i + 2]
                self.i += 2
                if nxt == "\n":
                    continue
                if quoted and not pattern and nxt not in '$`"\\}':
                    parts.append(Quoted("\\" + nxt))
                else:
                    parts.append(Quoted(nxt))
            elif c == '"':
                self.i += 1
                inner = self.double_quoted_parts('"')
                parts.append(DoubleQuoted(inner))
            elif c == "'" and self.i >= protected:
                end = s.find("'", self.i + 1)
                if end < 0:
                    raise self.error("unexpected EOF while looking for matching `''", self.i)
                if quoted and not pattern:
                    # In double quotes a pair of single quotes is text, but it protects a closing brace.
                    protected = end + 1
                    parts.append(c)
                    self.i += 1
                else:
                    parts.append(Quoted(s[self.i + 1 : end]))
                    self.i = end + 1
            elif c == "$":
                part = self.dollar(quoted and s[self.i + 1 : self.i + 2] != "'")
                parts.append("$" if part is None else part)
            elif c == "`":
                parts.append(self.backtick(quoted))
            elif c in "<>" and s[self.i + 1 : self.i + 2] == "(" and not quoted:
                body_at = self.i
                self.i += 2
                body = self.compound_list(")")
                self.i += 1
                parts.append(ProcessSub(body, c == ">", body_at))
            else:
                parts.append(c)
                self.i += 1
        self.depth -= 1
        word = Word(_merge(parts), s[start : self.i])
        ended = s[self.i]
        self.i += 1
        return word, ended


_PLAIN_WORD = re.compile(r"(?:[a-z]+|\[\[|[{}!])(?=[ \t\n;&|()<>]|$)")
_NEEDS_PARSE = re.compile(r"[$`\"\\]")
_COMPOUND = {
    "if": _Parser.if_command,
    "while": _Parser.while_command,
    "until": _Parser.while_command,
    "for": _Parser.for_command,
    "case": _Parser.case_command,
    "function": _Parser.function_keyword,
    "{": _Parser.group,
    "[[": _Parser.cond_command,
    "coproc": _Parser.coproc,
}


def _merge(parts: list[Part]) -> tuple[Part, ...]:
    """Adjacent plain literals joined."""
    out: list[Part] = []
    for part in parts:
        if out and part.__class__ is str and out[-1].__class__ is str:
            out[-1] = str(out[-1]) + str(part)
        else:
            out.append(part)
    return tuple(out)


def _unquote(part: Part) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, Quoted):
        return part.text
    if isinstance(part, DoubleQuoted):
        return "".join(_unquote(p) for p in part.parts)
    if isinstance(part, Param):
        return "$" + part.name
    return ""


_ANSI = re.compile(r"\\(?:([abeEfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.))")
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

"""Reading of bash words: quotes, expansions, here-documents."""

from __future__ import annotations

import re
from functools import lru_cache

from botlint.documents.bash_nodes import (
    MAX_DEPTH,
    ArithSub,
    BashSyntaxError,
    CommandSub,
    DoubleQuoted,
    Param,
    Part,
    ProcessSub,
    Quoted,
    Redirect,
    Source,
    Statement,
    Word,
    ansi_c,
    merge,
)

BLANK = re.compile(r"(?:[ \t]|\\\n)*")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A word without substitutions that need the parser: its text alone decides its meaning, so equal texts share one node.
# The quantifiers are possessive: what a name or a quoted text has taken is never given back, so it takes linear time.
_SIMPLE = re.compile(
    r"""(?:[^ \t\n;&|<>()'"\\$`?*+@!]|[?*+@!](?!\()|'[^']*+'
    |"(?:[^"\\$`]|\\[\s\S]|\$[A-Za-z_][A-Za-z0-9_]*+|\$\{[A-Za-z_][A-Za-z0-9_]*+\}|\$(?=["\s.,:/%-]))*+"
    |\\[^\n]|\$(?:[A-Za-z_][A-Za-z0-9_]*+|[0-9?@*\#!$-]|\{[A-Za-z_][A-Za-z0-9_]*+\}))++(?=[ \t\n;&|<>)]|$)""",
    re.VERBOSE,
)
_DQ_TEXT = re.compile(r'[^"\\$`]+')
_UNQUOTED = re.compile(r"[^ \t\n;&|<>()'\"\\$`?*+@!]+")
_SPECIAL_PARAMS = "@*#?$!-0123456789"
_NEEDS_PARSE = re.compile(r"[$`\"\\]")
EMPTY = Word((), "")
_BAD_SUBSTITUTION = "bad substitution"


class Pending:
    """A here-document whose body has not been reached yet."""

    __slots__ = ("delimiter", "quoted", "redirect", "strip")

    def __init__(self, redirect: Redirect, delimiter: str, quoted: bool, strip: bool) -> None:
        self.redirect = redirect
        self.delimiter = delimiter
        self.quoted = quoted
        self.strip = strip


@lru_cache(maxsize=32768)
def simple_word(text: str) -> Word:
    """The node of a word without substitutions that need the grammar of commands."""
    word = WordReader(Source(text, "")).general_word()
    assert word is not None
    return word


class WordReader:
    """Recursive descent over one text. `i` is the read position; commands inside of words are read by the subclass."""

    __slots__ = ("depth", "i", "n", "pending", "s", "source")

    def __init__(self, source: Source, start: int = 0) -> None:
        self.source = source
        self.s = source.text
        self.n = len(source.text)
        self.i = start
        self.depth = 0
        self.pending: list[Pending] = []

    def blank(self) -> None:
        """Skips blanks, continued lines and a comment."""
        s = self.s
        match = BLANK.match(s, self.i)
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

    def flush_heredocs(self) -> None:
        pending, self.pending = self.pending, []
        for item in pending:
            self.heredoc(item)

    def heredoc(self, item: Pending) -> None:
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
            parser = type(self)(Source(body, self.source.path, offset_line))
            parser.depth = self.depth
            parts = parser.double_quoted_parts(None, heredoc=True)
            item.redirect.target = Word((DoubleQuoted(parts),), body)

    def sub_word(self, start: int, end: int) -> Word:
        """The text between two offsets as a word that expands like a double-quoted string (subscripts, arithmetic)."""
        text = self.s[start:end]
        if not _NEEDS_PARSE.search(text):
            return Word((Quoted(text),), text)
        return self.sub_source(start, end)

    def sub_source(self, start: int, end: int) -> Word:
        source = self.source
        parser = type(self)(
            Source(self.s[:end], source.path, source.base_line, source.base_column, source.lines), start
        )
        parser.depth = self.depth + 1
        if parser.depth > MAX_DEPTH:
            raise self.error("nested too deeply")
        parts = parser.double_quoted_parts(None, arithmetic=True)
        return Word((DoubleQuoted(parts),), self.s[start:end])

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
                parser = type(self)(self.source, i + 1)
                parser.depth = self.depth + 1
                parser.double_quoted_parts('"')
                i = parser.i
                continue
            elif c == "$" and s[i + 1 : i + 2] in ("{", "("):
                parser = type(self)(self.source, i)
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
                parser = type(self)(self.source, i)
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

    def word(self, assignment: bool = False) -> Word | None:
        """The word at the read position, or None if no word starts here."""
        s = self.s
        i = self.i
        match = _SIMPLE.match(s, i)
        if match is not None:
            if s[i] == "#" and not assignment:
                return None
            self.i = match.end()
            return simple_word(match.group())
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
        return Word(merge(parts), self.s[start : self.i])

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
        return Word(merge(parts), s[start : self.i])

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
        merged = merge(parts)
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
        return merge(parts)

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
        match = NAME.match(s, pos + 1)
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
        inner = type(self)(Source(text, self.source.path, self.source.line(pos) - 1))
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
        """`${ ... }`, read from the dollar. What is no substitution is an error when it is expanded, not before."""
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
        for match in re.compile(r"\\.|\$\{|\}|'[^']*'", re.DOTALL).finditer(self.s, i):
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
                parser = type(self)(self.source, i)
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
        word = Word(merge(parts), s[start : self.i])
        ended = s[self.i]
        self.i += 1
        return word, ended

    def compound_list(self, *ends: str) -> list[Statement]:
        """Statements up to a reserved word in `ends`, which is left unread."""
        raise NotImplementedError

    def complete_command(self) -> list[Statement] | None:
        """The next line's list of statements, or None at the end."""
        raise NotImplementedError

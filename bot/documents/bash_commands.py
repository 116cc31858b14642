"""Reading of bash commands: the grammar of `parse.y`."""

from __future__ import annotations

import re

from botlint.documents.bash_nodes import (
    MAX_DEPTH,
    AndOr,
    Arith,
    ArithFor,
    Assign,
    Background,
    Case,
    Command,
    Cond,
    CondBinary,
    CondExpr,
    CondLogic,
    CondNot,
    CondUnary,
    Coproc,
    For,
    Function,
    Group,
    If,
    Pipeline,
    Redirect,
    Statement,
    Subshell,
    While,
    Word,
    unquote,
)
from botlint.documents.bash_words import (
    BLANK,
    EMPTY,
    Pending,
    WordReader,
    simple_word,
)

# bash reads any word here and refuses it when the loop starts.
_LOOP_NAME = re.compile(r"[^ \t\n;&|<>()$`'\"\\]+")
_ASSIGN = re.compile(r"([A-Za-z_][A-Za-z0-9_]*)(\[|\+?=)")
_FUNC = re.compile(r"([^ \t\n;&|<>()$`'\"\\=]+)[ \t]*\([ \t]*\)")
_PLAIN = re.compile(r"[A-Za-z0-9_./:,%+@^=-]+(?=[ \t\n;&|)]|$)")
_REDIRECT = re.compile(r"(\d+|\{[A-Za-z_]\w*\})?(&>>|&>|<<<|<<-|<<|<>|<&|>>|>&|>\||<(?!\()|>(?!\())")
_RESERVED = frozenset(
    "if then else elif fi for while until do done case esac { } ! [[ function time select coproc in".split()
)
_DECLARE = frozenset("export local declare readonly typeset".split())
_COND_UNARY = frozenset("-a -b -c -d -e -f -g -h -k -p -r -s -t -u -w -x -G -L -N -O -S -o -v -z -n -R".split())
_COND_BINARY = frozenset("= == != =~ < > -eq -ne -lt -le -gt -ge -nt -ot -ef".split())
_ENDS_LIST = frozenset("then else elif fi do done esac }".split())
_PLAIN_WORD = re.compile(r"(?:[a-z]+|\[\[|[{}!])(?=[ \t\n;&|()<>]|$)")


class CommandReader(WordReader):
    """The grammar of commands over the reader of words."""

    __slots__ = ()

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
            redirect = Redirect("<<", fd, EMPTY, pos)
            delimiter = "".join(unquote(part) for part in word.parts)
            self.pending.append(Pending(redirect, delimiter, quoted, op == "<<-"))
            into.append(redirect)
            return True
        self.blank()
        word = self.word()
        if word is None:
            raise self.unexpected()
        into.append(Redirect(op, fd, word, pos))
        return True

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
                            words.append(EMPTY)
                            offsets.append(i)
                        else:
                            assigns.append(assign)
                        end = self.i
                        self.i = BLANK.match(s, self.i).end()  # type: ignore[union-attr]
                        continue
                    self.i = match.end()
                word: Word | None = simple_word(text)
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
                            words.append(EMPTY)
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
        return Assign(name, index, append, EMPTY if value is None else value, None, start, self.i)

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
                        out.append((index, append, EMPTY if value is None else value))
                        continue
            word = self.word()
            if word is None:
                raise self.unexpected()
            out.append((None, False, word))

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
        right = self.regex_word() if op == "=~" else self.word()
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


_COMPOUND = {
    "if": CommandReader.if_command,
    "while": CommandReader.while_command,
    "until": CommandReader.while_command,
    "for": CommandReader.for_command,
    "case": CommandReader.case_command,
    "function": CommandReader.function_keyword,
    "{": CommandReader.group,
    "[[": CommandReader.cond_command,
    "coproc": CommandReader.coproc,
}

"""A bash syntax tree, read incrementally as bash itself reads a script.

The reader follows the grammar of bash 5.2 (`parse.y`, `subst.c`). A script is a sequence of complete commands; each is
read only when the one before it has been used, so that an error far below a server does not hide its start.

Why not tree-sitter-bash: it silently misreads statements that recipes contain. `! a | b && c || d` becomes a pipeline
with a list inside, `a && b > f` redirects the whole list, and words after a here-document operator are lost. The
differential tests hold this reader against mvdan/sh and bashlex.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from botlint.documents.bash_commands import CommandReader
from botlint.documents.bash_nodes import (
    MAX_DEPTH,
    AndOr,
    Arith,
    ArithFor,
    ArithSub,
    Assign,
    Background,
    Bad,
    BashSyntaxError,
    Case,
    Command,
    CommandSub,
    Cond,
    CondBinary,
    CondExpr,
    CondLogic,
    CondNot,
    CondUnary,
    Coproc,
    DoubleQuoted,
    For,
    Function,
    Group,
    If,
    Param,
    Part,
    Pipeline,
    ProcessSub,
    Quoted,
    Redirect,
    Source,
    Statement,
    Subshell,
    While,
    Word,
    ansi_c,
)


class Script:
    """A script whose statements are read on demand. `problem` is set when the text stopped being bash."""

    __slots__ = ("_done", "_parser", "_starts", "problem", "source", "statements")

    def __init__(self, source: Source) -> None:
        self.source = source
        self.statements: list[Statement] = []
        self.problem: Bad | None = None
        self._parser = CommandReader(source)
        self._starts: list[int] = []
        self._done = False

    def lines(self) -> Iterator[list[Statement]]:
        """The statements in the groups that bash reads at once; an expansion error drops the rest of its group."""
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
        """Each statement, reading on as needed; a `Bad` node is the last one where the text is not bash."""
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


def parse_script(text: str, path: str, base_line: int = 0, base_column: int = 0, lines: Sequence[int] = ()) -> Script:
    """A lazily read script; `lines` says where each line of a text is written that was put together."""
    return Script(Source(text, path, base_line, base_column, lines))


__all__ = [
    "MAX_DEPTH",
    "AndOr",
    "Arith",
    "ArithFor",
    "ArithSub",
    "Assign",
    "Background",
    "Bad",
    "BashSyntaxError",
    "Case",
    "Command",
    "CommandSub",
    "Cond",
    "CondBinary",
    "CondExpr",
    "CondLogic",
    "CondNot",
    "CondUnary",
    "Coproc",
    "DoubleQuoted",
    "For",
    "Function",
    "Group",
    "If",
    "Param",
    "Part",
    "Pipeline",
    "ProcessSub",
    "Quoted",
    "Redirect",
    "Script",
    "Source",
    "Statement",
    "Subshell",
    "While",
    "Word",
    "ansi_c",
    "parse_script",
]

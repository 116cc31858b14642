"""`[[ ]]`, `[ ]` and `test`: their statuses 0, 1 and 2 (wrong usage), or None when only the machine knows."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from botlint.core.unknown import Unknown
from botlint.documents import bash
from botlint.shell import arithmetic_values, expansion, variables
from botlint.shell.paths import WORKSPACE
from botlint.shell.patterns import ere_match, literal_text
from botlint.shell.process import Variable
from botlint.shell.regex_nodes import PatternError
from botlint.shell.values import Hole, Value, concat, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

_NAMED = re.compile(r"[A-Za-z_]\w*|[0-9]+", re.ASCII)
_INTEGER = re.compile(r"\s*[-+]?[0-9]+\s*")
_FILE_TESTS = frozenset(
    [
        "-a",
        "-b",
        "-c",
        "-d",
        "-e",
        "-f",
        "-g",
        "-h",
        "-k",
        "-p",
        "-r",
        "-s",
        "-t",
        "-u",
        "-w",
        "-x",
        "-G",
        "-L",
        "-N",
        "-O",
        "-S",
    ]
)
_NUMBER_TESTS: dict[str, Callable[[int, int], bool]] = {
    "-eq": int.__eq__,
    "-ne": int.__ne__,
    "-lt": int.__lt__,
    "-le": int.__le__,
    "-gt": int.__gt__,
    "-ge": int.__ge__,
}


def evaluate(shell: Shell, expr: bash.CondExpr) -> int | None:
    """The status of a `[[ ]]` expression, None if undecided."""
    if isinstance(expr, bash.CondUnary):
        shell.pos = expr.pos
        if expr.op == "-v" and isinstance(expr.word, bash.Word):
            return _status(is_set(shell, expansion.string(shell, expr.word)))
        return _status(unary(shell, expr.op, expansion.string(shell, expr.word)))
    if isinstance(expr, bash.CondBinary):
        shell.pos = expr.pos
        return _binary(shell, expr)
    if isinstance(expr, bash.CondNot):
        inner = evaluate(shell, expr.expr)
        return inner if inner is None or inner > 1 else 1 - inner
    left = evaluate(shell, expr.left)
    decided = 0 if expr.op == "||" else 1
    if left is not None and (left == decided if decided == 0 else left >= decided):
        return left
    right = evaluate(shell, expr.right)
    if left is None:
        return right if right is not None and (right == decided if decided == 0 else right >= decided) else None
    return right


def _status(outcome: bool | None) -> int | None:
    return None if outcome is None else int(not outcome)


def _binary(shell: Shell, expr: bash.CondBinary) -> int | None:
    left = expansion.string(shell, expr.left)
    op = expr.op
    if op in ("==", "!="):
        outcome = shell.match(left, expansion.pattern(shell, expr.right))
        return _status(outcome if outcome is None or op == "==" else not outcome)
    if op == "=~":
        return _regex(shell, left, expr.right)
    right = expansion.string(shell, expr.right)
    if op in _NUMBER_TESTS:
        try:
            numbers = [arithmetic_values.evaluate_plain(shell, v) if v else "0" for v in (left, right)]
        except arithmetic_values.ArithmeticProblem as problem:
            shell.complain(f"[[: {problem}")
            return 1
        compared = shell.observe(partial(_compare, op), *numbers)
        return _status(None if compared is None else bool(compared))
    return _status(binary(shell, op, left, right))


def _compare(op: str, left: str, right: str) -> bool:
    return _NUMBER_TESTS[op](int(left), int(right))


def _regex(shell: Shell, left: Value, word: bash.Word) -> int | None:
    parts: list[Value] = []
    for part in word.parts:
        if isinstance(part, bash.Quoted):
            parts.append(_quote_regex(part.text))
        elif isinstance(part, bash.DoubleQuoted):
            inner = expansion.quoted(shell, part.parts)
            known = shell.concrete(inner)
            if known is None:
                return None
            parts.append(_quote_regex(known))
        elif isinstance(part, str):
            parts.append(part)
        else:
            parts.append(expansion.string(shell, bash.Word((part,), "")))
    ignore = shell.shopt.get("nocasematch", False)
    found = shell.observe(partial(_search, ignore), left, concat(parts), partly=partial(_search_numbers, ignore))
    if found is True:
        shell.put("BASH_REMATCH", Variable({0: left}, kind="array", place=shell.place()))
        return 0
    if found is None:
        return None
    if found == "bad":
        return 2
    if found is False:
        shell.put("BASH_REMATCH", Variable({}, kind="array", place=shell.place()))
        return 1
    assert isinstance(found, tuple)
    shell.put("BASH_REMATCH", Variable(dict(enumerate(found)), kind="array", place=shell.place()))
    return 0


def _search(ignore: bool, text: str, regex: str) -> object:
    try:
        found = ere_match(regex, text, ignore_case=ignore)
    except PatternError:
        return "bad"
    return False if found is None else tuple(found)


def _search_numbers(ignore: bool, text: object, regex: object) -> bool | None:
    """Whether a text with unknown numbers in it matches, if that does not hang on the numbers."""
    if not isinstance(text, tuple) or not isinstance(regex, str):
        return None
    if not all(isinstance(p, str) or p.reason in variables.NUMBERS for p in text):
        return None
    samples = ["".join(p if isinstance(p, str) else number for p in text) for number in ("7", "20480", "1399467")]
    found = {isinstance(_search(ignore, sample, regex), tuple) for sample in samples}
    return found.pop() if len(found) == 1 else None


def _quote_regex(text: str) -> str:
    return re.sub(r"([\\.\[\]{}()*+?^$|])", r"\\\1", text)


def unary(shell: Shell, op: str, value: Value) -> bool | None:
    """A unary test on an expanded operand."""
    if op == "-n":
        return shell.nonempty(value)
    if op == "-z":
        outcome = shell.nonempty(value)
        return None if outcome is None else not outcome
    if op in _FILE_TESTS:
        return file_test(shell, op, value)
    text = shell.concrete(value)
    if text is None:
        return None
    if op == "-o":
        return bool(shell.options.get(text, False))
    if op == "-R":
        var = shell.vars.get(text)
        return var is not None and var.nameref
    return is_set(shell, text)


def is_set(shell: Shell, name: Value) -> bool | None:
    """`-v name`, `-v name[index]`."""
    text = shell.concrete(name)
    if text is None:
        return None
    base, bracket, index = text.partition("[")
    if bracket and index.endswith("]"):
        if index[:-1] in ("@", "*"):
            return bool(variables.elements(shell, base))
        return variables.element(shell, base, index[:-1]) is not None
    var = shell.get(text)
    if var is not None and isinstance(var.value, dict):
        return (0 in var.value) if var.kind == "array" else ("0" in var.value)
    return _NAMED.fullmatch(text) is not None and variables.scalar(shell, text) is not None


def file_test(shell: Shell, op: str, path: Value) -> bool | None:
    """A test on a file."""
    if op == "-t":
        return False
    text = text_of(path)
    if text == "":
        return False
    if text in ("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr"):
        return op in ("-e", "-a", "-c", "-r", "-w")
    where, entry = shell.entry(path)
    kind = entry.kind
    if op in ("-L", "-h") and where in shell.links:
        return True
    if kind == "unknown":
        shell.note_unknown(path)
        return None
    if kind == "missing":
        return False
    if op in ("-e", "-a", "-r", "-w"):
        return True
    if op == "-d":
        return kind == "dir"
    if op == "-f":
        return kind == "file"
    if op == "-s":
        if kind == "dir":
            return True
        content = shell.read_file(path)
        return None if content is None else shell.nonempty(content)
    if op == "-x":
        return True if kind == "dir" else _executable(shell, path)
    return False


def _executable(shell: Shell, path: Value) -> bool | None:
    """Whether a file can be started: where the machine is known, programmes and scripts that say what runs them."""
    where = shell.canonical(path)
    if shell.world.machine is None or where is None:
        return None
    content = shell.read_file(path)
    if where in shell.executables:
        return True
    if content is None:
        return not where.startswith(WORKSPACE)
    return (text_of(content) or "").startswith("#!")


def binary(shell: Shell, op: str, left: Value, right: Value) -> bool | None:
    """A binary test on expanded operands, without patterns."""
    if op in ("-nt", "-ot", "-ef"):
        return _compare_files(shell, op, left, right)
    same = same_holes(left, right)
    if same is not None and op in ("=", "==", "!="):
        return same == (op != "!=")
    if isinstance(left, str) and isinstance(right, str):
        return _texts(op, left, right)
    outcome = shell.observe(partial(_texts, op), left, right, partly=partial(_partial_texts, op))
    return outcome if outcome is None else bool(outcome)


def same_holes(left: Value, right: Value) -> bool | None:
    """Whether two wholly unknown texts are one: process ids differ, anything else may be equal by chance."""
    if isinstance(left, str) or isinstance(right, str) or len(left.pieces) != 1 or len(right.pieces) != 1:
        return None
    first, second = left.pieces[0], right.pieces[0]
    if not isinstance(first, Hole) or not isinstance(second, Hole):
        return None
    if first is second:
        return True
    return False if first.reason == second.reason == "process id" else None


def _compare_files(shell: Shell, op: str, left: Value, right: Value) -> bool | None:
    (a, first), (b, second) = shell.entry(left), shell.entry(right)
    kinds = {first.kind, second.kind}
    if op == "-ef":
        if a and a == b:
            return first.kind != "missing" if first.kind != "unknown" else None
        return None if "unknown" in kinds else False
    if "missing" not in kinds:
        return None
    newer, older = (first, second) if op == "-nt" else (second, first)
    return None if newer.kind == "unknown" else newer.kind != "missing" and older.kind == "missing"


def _texts(op: str, left: str, right: str) -> bool:
    if op in ("=", "=="):
        return left == right
    if op == "!=":
        return left != right
    return left < right if op == "<" else left > right


def _partial_texts(op: str, left: object, right: object) -> bool | None:
    if op not in ("=", "==", "!="):
        return None
    equal = _may_equal(left, right)
    if equal is None:
        return None
    return equal if op != "!=" else not equal


def _may_equal(left: object, right: object) -> bool | None:
    """False when two partly known texts cannot be equal, else None."""
    if isinstance(left, str) and isinstance(right, tuple):
        left, right = right, left
    if isinstance(left, tuple) and isinstance(right, str):
        pattern = "".join(re.escape(p) if isinstance(p, str) else ".*" for p in left)
        if re.fullmatch(pattern, right, re.DOTALL) is None:
            return False
        if right == "" and any(isinstance(p, Unknown) and p.nonempty for p in left):
            return False
    return None


def partial_match(text: object, pattern: object) -> bool | None:
    """Whether a partly known text can match a pattern: only what its known ends rule out is decided."""
    if not isinstance(pattern, str) or not isinstance(text, tuple):
        return None
    literal = literal_text(pattern)
    if literal is not None:
        return _may_equal(text, literal)
    first, last = text[0], text[-1]
    if isinstance(first, str):
        head = re.match(r"[^\\*?\[(+@!]*", pattern)
        prefix = head.group() if head else ""
        if pattern[len(prefix) :] == "*" and first.startswith(prefix):
            return True
        size = min(len(prefix), len(first))
        if first[:size] != prefix[:size]:
            return False
    if isinstance(last, str) and pattern.startswith("*"):
        tail = literal_text(pattern[1:])
        if tail is not None:
            if last.endswith(tail):
                return True
            size = min(len(tail), len(last))
            if size and last[-size:] != tail[-size:]:
                return False
    if pattern.startswith("*") and pattern.endswith("*") and len(pattern) > 2:
        middle = literal_text(pattern[1:-1])
        if middle is not None and any(isinstance(p, str) and middle in p for p in text):
            return True
    return None


def test_command(shell: Shell, arguments: list[Value], name: str) -> int | None:
    """The status of `test` or `[` (closing bracket removed): POSIX's rules by the number of arguments."""
    try:
        return _test(shell, arguments)
    except _WrongUsage as wrong:
        shell.complain(f"{name}: {wrong}")
        return 2


class _WrongUsage(Exception):  # noqa: N818
    """A test that bash refuses."""


def _test(shell: Shell, args: list[Value]) -> int | None:
    count = len(args)
    if count == 0:
        return 1
    if count == 1:
        return _status(shell.nonempty(args[0]))
    if count == 2:
        if args[0] == "!":
            inner = shell.nonempty(args[1])
            return None if inner is None else int(inner)
        return _one(shell, args[0], args[1])
    if count == 3:
        op = text_of(args[1])
        if op in _BINARY:
            return _two(shell, args[0], str(op), args[2])
        if op in ("-a", "-o"):
            return _join(str(op), _status(shell.nonempty(args[0])), _status(shell.nonempty(args[2])))
        if args[0] == "!":
            return _invert(_test(shell, args[1:]))
        if args[0] == "(" and args[2] == ")":
            return _status(shell.nonempty(args[1]))
        raise _WrongUsage(f"{op}: binary operator expected")
    if count == 4 and args[0] == "!":
        return _invert(_test(shell, args[1:]))
    if count == 4 and args[0] == "(" and args[3] == ")":
        return _test(shell, args[1:3])
    return _Expression(shell, args).parse()


def _invert(status: int | None) -> int | None:
    return status if status is None or status > 1 else 1 - status


def _join(op: str, left: int | None, right: int | None) -> int | None:
    if op == "-a":
        if left == 1 or right == 1:
            return 1
        return None if left is None or right is None else 0
    if left == 0 or right == 0:
        return 0
    return None if left is None or right is None else 1


_BINARY = frozenset(["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"])
_UNARY = _FILE_TESTS | {"-n", "-z", "-v", "-o", "-R"}


def _one(shell: Shell, op: Value, operand: Value) -> int | None:
    text = text_of(op)
    if text not in _UNARY:
        raise _WrongUsage(f"{text}: unary operator expected")
    assert text is not None
    return _status(unary(shell, text, operand))


def _two(shell: Shell, left: Value, op: str, right: Value) -> int | None:
    if op not in _NUMBER_TESTS:
        return _status(binary(shell, op, left, right))
    if isinstance(left, str) and isinstance(right, str):
        outcome: object = _numbers(op, left, right)
    else:
        outcome = shell.observe(partial(_numbers, op), left, right)
    if outcome is None:
        return None
    if isinstance(outcome, str):
        raise _WrongUsage(f"{outcome}: integer expression expected")
    return int(not outcome)


def _numbers(op: str, left: str, right: str) -> object:
    for text in (left, right):
        if _INTEGER.fullmatch(text) is None or not -(1 << 63) <= int(text) < 1 << 63:
            return text
    return _NUMBER_TESTS[op](int(left), int(right))


class _Expression:
    """`test` with more than four arguments: `!`, parentheses, `-a`, `-o`."""

    def __init__(self, shell: Shell, args: list[Value]) -> None:
        self.shell = shell
        self.args = args
        self.i = 0

    def parse(self) -> int | None:
        status = self.either()
        if self.i != len(self.args):
            raise _WrongUsage("too many arguments")
        return status

    def peek(self) -> str | None:
        return text_of(self.args[self.i]) if self.i < len(self.args) else None

    def either(self) -> int | None:
        left = self.both()
        while self.peek() == "-o":
            self.i += 1
            left = _join("-o", left, self.both())
        return left

    def both(self) -> int | None:
        left = self.term()
        while self.peek() == "-a":
            self.i += 1
            left = _join("-a", left, self.term())
        return left

    def term(self) -> int | None:
        if self.i >= len(self.args):
            raise _WrongUsage("argument expected")
        if self.peek() == "!":
            self.i += 1
            return _invert(self.term())
        if self.peek() == "(":
            self.i += 1
            status = self.either()
            if self.peek() != ")":
                raise _WrongUsage("`)' expected")
            self.i += 1
            return status
        rest = self.args[self.i :]
        if len(rest) >= 3 and text_of(rest[1]) in _BINARY:
            self.i += 3
            return _two(self.shell, rest[0], str(text_of(rest[1])), rest[2])
        if len(rest) >= 2 and text_of(rest[0]) in _UNARY:
            self.i += 2
            return _one(self.shell, rest[0], rest[1])
        self.i += 1
        return _status(self.shell.nonempty(rest[0]))

"""The models of `expr` and of `test` on texts and numbers."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from botlint.shell.commands.base import MAX_DEPTH, Call, Output, Unmodelled
from botlint.shell.regex import compile_regex
from botlint.shell.regex_nodes import PatternError

FileTest = Callable[[str, str], bool | None]

_INTEGER = re.compile(r"-?[0-9]{1,300}")
_TEST_INTEGER = re.compile(r"[ \t\n]*[-+]?[0-9]{1,18}[ \t\n]*")


class _Refused(Exception):  # noqa: N818 (not an error)
    """The command ends with status 2 and writes nothing."""


class _Expr:
    def __init__(self, words: Sequence[str]) -> None:
        self.words = words
        self.at = 0
        self.depth = 0

    def peek(self) -> str | None:
        return self.words[self.at] if self.at < len(self.words) else None

    def accept(self, *words: str) -> str | None:
        word = self.peek()
        if word in words and word is not None:
            self.at += 1
            return word
        return None

    def either(self) -> str:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unmodelled("expr is nested too deeply")
        left = self.both()
        while self.accept("|"):
            right = self.both()
            left = left if not _is_null(left) else ("0" if _is_null(right) else right)
        self.depth -= 1
        return left

    def both(self) -> str:
        left = self.comparison()
        while self.accept("&"):
            right = self.comparison()
            left = "0" if _is_null(left) or _is_null(right) else left
        return left

    def comparison(self) -> str:
        left = self.sum()
        while operator := self.accept("<", "<=", "=", "==", "!=", ">=", ">"):
            right = self.sum()
            if _INTEGER.fullmatch(left) and _INTEGER.fullmatch(right):
                order = (int(left) > int(right)) - (int(left) < int(right))
            else:
                order = (left > right) - (left < right)
            left = str(int(_holds(operator, order)))
        return left

    def sum(self) -> str:
        left = self.product()
        while operator := self.accept("+", "-"):
            right = self.product()
            left = str(_integer(left) + _integer(right) * (1 if operator == "+" else -1))
        return left

    def product(self) -> str:
        left = self.matching()
        while operator := self.accept("*", "/", "%"):
            first, second = _integer(left), _integer(self.matching())
            if operator == "*":
                left = str(first * second)
                continue
            if not second:
                raise _Refused
            quotient = abs(first) // abs(second) * (1 if (first < 0) == (second < 0) else -1)
            left = str(quotient if operator == "/" else first - quotient * second)
            if len(left) > 300:
                raise Unmodelled("a number of expr")
        return left

    def matching(self) -> str:
        left = self.primary()
        while self.accept(":"):
            left = _match(left, self.primary())
        return left

    def primary(self) -> str:
        word = self.peek()
        if word is None:
            raise _Refused
        self.at += 1
        match word:
            case "(":
                inner = self.either()
                if not self.accept(")"):
                    raise _Refused
                return inner
            case ")":
                raise _Refused
            case "+":
                if self.peek() is None:
                    raise _Refused
                self.at += 1
                return self.words[self.at - 1]
            case "length":
                return str(len(self.primary()))
            case "match":
                subject = self.primary()
                return _match(subject, self.primary())
            case "index":
                subject, characters = self.primary(), self.primary()
                return str(next((at for at, one in enumerate(subject, 1) if one in characters), 0))
            case "substr":
                subject, start, length = self.primary(), self.primary(), self.primary()
                if not _INTEGER.fullmatch(start) or not _INTEGER.fullmatch(length):
                    return ""
                first, count = int(start), int(length)
                return subject[first - 1 : first - 1 + count] if first > 0 and count > 0 else ""
            case _:
                return word


def _is_null(text: str) -> bool:
    return not text or re.fullmatch("-?0+", text) is not None


def _holds(operator: str, order: int) -> bool:
    match operator:
        case "<":
            return order < 0
        case "<=":
            return order <= 0
        case ">":
            return order > 0
        case ">=":
            return order >= 0
        case "!=":
            return order != 0
        case _:
            return order == 0


def _integer(text: str) -> int:
    if not _INTEGER.fullmatch(text):
        raise _Refused
    return int(text)


def _match(subject: str, pattern: str) -> str:
    try:
        regex = compile_regex(f"^{pattern}" if not pattern.startswith("^") else pattern, extended=False)
        found = regex.search(subject)
    except PatternError as error:
        raise Unmodelled(str(error)) from error
    if regex.group_count:
        return "" if found is None else found.group(1)
    return "0" if found is None else str(found.end)


def expr(call: Call) -> Output:
    """The value of an expression; status 1 when it is null or zero."""
    words = list(call.args)
    if words[:1] == ["--"]:
        del words[0]
    parser = _Expr(words)
    try:
        value = parser.either()
        if parser.peek() is not None:
            raise _Refused
    except _Refused:
        return 2, ""
    return int(_is_null(value)), value + "\n"


class _Test:
    """The grammar of POSIX test for more than four arguments, and its rules by count below that."""

    def __init__(self, words: Sequence[str], files: FileTest) -> None:
        self.words = list(words)
        self.files = files
        self.depth = 0

    def by_count(self, low: int, high: int) -> bool:
        words = self.words[low:high]
        match words:
            case []:
                return False
            case [only]:
                return only != ""
            case ["!", _]:
                return not self.by_count(low + 1, high)
            case [operator, operand]:
                return self.unary(operator, operand)
            case [left, operator, right] if operator in _BINARY:
                return self.binary(left, operator, right)
            case [left, ("-a" | "-o") as operator, right]:
                return (left != "" and right != "") if operator == "-a" else (left != "" or right != "")
            case ["!", _, _]:
                return not self.by_count(low + 1, high)
            case ["(", _, ")"]:
                return self.by_count(low + 1, high - 1)
            case ["!", _, _, _]:
                return not self.by_count(low + 1, high)
            case ["(", _, _, ")"]:
                return self.by_count(low + 1, high - 1)
            case _:
                value, at = self.either(low, high)
                if at != high:
                    raise _Refused
                return value

    def either(self, at: int, high: int) -> tuple[bool, int]:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unmodelled("test is nested too deeply")
        value, at = self.both(at, high)
        while at < high and self.words[at] == "-o":
            right, at = self.both(at + 1, high)
            value = value or right
        self.depth -= 1
        return value, at

    def both(self, at: int, high: int) -> tuple[bool, int]:
        value, at = self.term(at, high)
        while at < high and self.words[at] == "-a":
            right, at = self.term(at + 1, high)
            value = value and right
        return value, at

    def term(self, at: int, high: int) -> tuple[bool, int]:
        negated = False
        while at < high and self.words[at] == "!":
            negated = not negated
            at += 1
        if at >= high:
            raise _Refused
        word = self.words[at]
        if at + 2 < high and self.words[at + 1] in _BINARY:
            value, at = self.binary(word, self.words[at + 1], self.words[at + 2]), at + 3
        elif word == "(":
            value, at = self.either(at + 1, high)
            if at >= high or self.words[at] != ")":
                raise _Refused
            at += 1
        elif at + 1 < high and re.fullmatch("-[a-zA-Z]", word) and word not in ("-a", "-o"):
            value, at = self.unary(word, self.words[at + 1]), at + 2
        else:
            value, at = word != "", at + 1
        return value != negated, at

    def unary(self, operator: str, operand: str) -> bool:
        match operator:
            case "-n":
                return operand != ""
            case "-z":
                return operand == ""
            case _ if re.fullmatch("-[abcdefghkprstuwxGLNOSRv]", operator):
                answer = self.files(operator, operand)
                if answer is None:
                    raise Unmodelled(f"the test {operator}")
                return answer
            case _:
                raise _Refused

    def binary(self, left: str, operator: str, right: str) -> bool:
        if operator in ("=", "=="):
            return left == right
        if operator in ("!=", "<", ">"):
            return left != right if operator == "!=" else left < right if operator == "<" else left > right
        if operator in ("-nt", "-ot", "-ef"):
            raise Unmodelled(f"the test {operator}")
        if not _TEST_INTEGER.fullmatch(left) or not _TEST_INTEGER.fullmatch(right):
            raise _Refused
        first, second = int(left), int(right)
        order = (first > second) - (first < second)
        return {
            "-eq": order == 0,
            "-ne": order != 0,
            "-lt": order < 0,
            "-le": order <= 0,
            "-gt": order > 0,
            "-ge": order >= 0,
        }[operator]


_BINARY = frozenset({"=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef"})


def _no_file_test(operator: str, path: str) -> bool | None:
    del operator, path
    return None


def evaluate_test(args: Sequence[str], files: FileTest = _no_file_test) -> int | None:
    """The status of `test args...` (0, 1, or 2 on misuse); None when a file test is not answered by `files`."""
    evaluator = _Test(args, files)
    try:
        return int(not evaluator.by_count(0, len(args)))
    except _Refused:
        return 2
    except Unmodelled:
        return None


def test(call: Call) -> Output:
    """`test` without file tests."""
    status = evaluate_test(call.args)
    if status is None:
        raise Unmodelled("a file test")
    return status, ""


def bracket(call: Call) -> Output:
    """`[`, which wants a closing bracket."""
    if call.args[-1:] != ("]",):
        return 2, ""
    return test(Call(call.args[:-1], call.stdin, call.files))

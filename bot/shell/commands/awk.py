"""The model of `awk`: the language that mawk and gawk share, without files, pipes, functions and hash order."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeVar

from botlint.shell.commands.base import MAX_DEPTH, MAX_STEPS, MAX_TEXT, Call, Output, Unmodelled, read_options
from botlint.shell.regex import Budget, PatternError, Regex, Scanner, compile_regex

MAX_PROGRAM = 20_000


class _Input(str):
    """A text that came from the input: it counts as a number where it looks like one."""

    __slots__ = ()


Value = float | str | None
Expression = Callable[["_Machine"], Value]
Statement = Callable[["_Machine"], None]

_NUMBER = re.compile(r"[ \t\n\f\r\v]*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)")
_STRANGE_NUMBER = re.compile(r"[ \t\n]*[-+]?(?:0[xX][0-9a-fA-F]|inf|nan)", re.IGNORECASE)
_MAX_INTEGER = 2.0**31 - 1


class _Next(Exception):  # noqa: N818 (not an error)
    pass


class _Exit(Exception):  # noqa: N818 (not an error)
    pass


class _Break(Exception):  # noqa: N818 (not an error)
    pass


class _Continue(Exception):  # noqa: N818 (not an error)
    pass


def _to_number(value: Value) -> float:
    if value is None:
        return 0.0
    if isinstance(value, float):
        return value
    found = _NUMBER.match(value)
    if _STRANGE_NUMBER.match(value):
        raise Unmodelled("a number that awks read in different ways")
    number = float(found[1]) if found else 0.0
    if math.isinf(number):
        raise Unmodelled("a number that is too large")
    return number


def _number_text(value: float, form: str) -> str:
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        raise Unmodelled("a number that awks write in different ways")
    if value == int(value):
        if abs(value) > _MAX_INTEGER:
            raise Unmodelled("a number that awks write in different ways")
        return str(int(value))
    if form != "%.6g":
        raise Unmodelled("a changed number format")
    return f"{value:.6g}"


def _looks_numeric(value: Value) -> bool:
    if value is None or isinstance(value, float):
        return True
    if not isinstance(value, _Input):
        return False
    if _STRANGE_NUMBER.match(value):
        raise Unmodelled("a number that awks read in different ways")
    found = _NUMBER.match(value)
    return found is not None and not value[found.end() :].strip(" \t\n\f\r\v")


@lru_cache(maxsize=512)
def _regex(source: str) -> Regex:
    """An expression with awk's escapes; refuses what mawk and gawk take differently (intervals, GNU escapes)."""
    pieces: list[str] = []
    at = 0
    while at < len(source):
        character = source[at]
        if character == "{":
            raise Unmodelled("an interval in an expression")
        if character == "\\" and at + 1 < len(source):
            following = source[at + 1]
            at += 2
            if following in '/"':
                pieces.append(following)
            elif following in _STRING_ESCAPES:
                pieces.append(_STRING_ESCAPES[following] if following != "\\" else "\\\\")
            elif following.isalnum():
                raise Unmodelled("an escape in an expression")
            else:
                pieces.append("\\" + following)
            continue
        pieces.append(character)
        at += 1
    try:
        return compile_regex("".join(pieces), extended=True, bracket_escapes=True)
    except PatternError as error:
        raise Unmodelled(str(error)) from error


_STRING_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}


def _unescaped(text: str) -> str:
    """A string's text; a backslash before any other character stays."""

    def replace(found: re.Match[str]) -> str:
        character = found[1]
        if character == '"':
            return character
        if character.isdigit() or character == "/":
            raise Unmodelled("an escape that awks read in different ways")
        return _STRING_ESCAPES.get(character, "\\" + character)

    return re.sub(r"\\(.)", replace, text, flags=re.DOTALL)


class _Machine:
    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines
        self.variables: dict[str, Value] = {
            "FS": " ",
            "OFS": " ",
            "ORS": "\n",
            "RS": "\n",
            "SUBSEP": "\x1c",
            "CONVFMT": "%.6g",
            "OFMT": "%.6g",
            "NR": 0.0,
            "FNR": 0.0,
            "RSTART": 0.0,
            "RLENGTH": -1.0,
        }
        self.arrays: dict[str, dict[str, Value]] = {}
        self.record = ""
        self.fields: list[str] | None = []
        self.stale = False
        self.out: list[str] = []
        self.size = 0
        self.steps = 0
        self.budget = Budget()
        self.status = 0

    def step(self, amount: int = 1) -> None:
        self.steps += amount
        if self.steps > MAX_STEPS:
            raise Unmodelled("the program takes too many steps")

    def emit(self, text: str) -> None:
        self.size += len(text)
        if self.size > MAX_TEXT:
            raise Unmodelled("the output is too long")
        self.out.append(text)

    def text(self, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, float):
            return _number_text(value, str(self.variables["CONVFMT"]))
        if len(value) > MAX_TEXT:
            raise Unmodelled("a text is too long")
        return value

    def truth(self, value: Value) -> bool:
        return _to_number(value) != 0 if _looks_numeric(value) else value != ""

    def split_record(self) -> list[str]:
        if self.fields is None:
            self.fields = self.split(self.record, self.text(self.variables["FS"]))
        return self.fields

    def split(self, text: str, separator: str) -> list[str]:
        self.step(1 + len(text) // 64)
        if separator == " ":
            return [piece for piece in re.split("[ \t\n]+", text) if piece]
        if not text:
            return []
        if not separator:
            return list(text)
        if len(separator) == 1 and separator not in "\\|.*+?^$()[]":
            return text.split(separator)
        if separator in ("|", "."):
            return text.split(separator)
        pieces: list[str] = []
        scanner = Scanner(_regex(separator), text, self.budget)
        at = start = 0
        while at <= len(text) and (found := scanner.search(at)) is not None:
            self.step()
            if found.start == found.end:
                at = found.end + 1
                continue
            pieces.append(text[start : found.start])
            at = start = found.end
        return [*pieces, text[start:]]

    def set_record(self, text: str) -> None:
        self.record, self.fields, self.stale = text, None, False

    def whole(self) -> str:
        if self.stale and self.fields is not None:
            self.record = self.text(self.variables["OFS"]).join(self.fields)
            self.stale = False
        return self.record

    def get_field(self, index: int) -> Value:
        if index == 0:
            return _Input(self.whole())
        fields = self.split_record()
        return _Input(fields[index - 1]) if index <= len(fields) else None

    def set_field(self, index: int, value: Value) -> None:
        if index == 0:
            self.set_record(self.text(value))
            return
        self.whole()
        fields = self.split_record()
        if index > 10_000:
            raise Unmodelled("too many fields")
        fields += [""] * (index - len(fields))
        fields[index - 1] = self.text(value)
        self.stale = True

    def get(self, name: str) -> Value:
        if name == "NF":
            return float(len(self.split_record()))
        if name in ("ENVIRON", "ARGV", "ARGC", "FILENAME", "PROCINFO", "RT"):
            raise Unmodelled(f"the variable {name}")
        return self.variables.get(name)

    def set(self, name: str, value: Value) -> None:
        if name in self.arrays:
            raise Unmodelled("an array used as a variable")
        if name == "NF":
            self.whole()
            fields = self.split_record()
            count = int(_to_number(value))
            if not 0 <= count <= 10_000:
                raise Unmodelled("too many fields")
            self.fields = (fields + [""] * (count - len(fields)))[:count]
            self.stale = True
            return
        if name in ("NR", "FNR", "RS", "OFMT", "CONVFMT") and self.steps:
            raise Unmodelled(f"a change of {name}")
        if name == "FS":
            # The record in hand keeps its separator.
            self.split_record()
        self.variables[name] = value

    def array(self, name: str) -> dict[str, Value]:
        if name in self.variables or name in ("ENVIRON", "ARGV", "PROCINFO", "NF"):
            raise Unmodelled(f"the array {name}")
        return self.arrays.setdefault(name, {})

    def next_record(self) -> bool:
        line = next(self.lines, None)
        if line is None:
            return False
        self.step()
        self.set_record(line)
        for name in ("NR", "FNR"):
            self.variables[name] = _to_number(self.variables[name]) + 1
        return True


@dataclass(frozen=True, slots=True)
class _Place:
    """Something that can be assigned to."""

    get: Expression
    set: Callable[[_Machine, Value], None]


@dataclass(slots=True)
class _Program:
    begin: list[Statement] = field(default_factory=list)
    rules: list[tuple[Callable[[_Machine], bool], Statement]] = field(default_factory=list)
    end: list[Statement] = field(default_factory=list)


_KEYWORDS = frozenset(
    {"BEGIN", "END", "if", "else", "while", "for", "do", "break", "continue", "next", "exit", "print", "printf", "in"}
    | {"delete", "getline", "function", "func", "return", "nextfile"}
)
_FUNCTIONS = frozenset(
    {"length", "substr", "index", "split", "sub", "gsub", "match", "sprintf", "toupper", "tolower"}
    | {"int", "sqrt", "exp", "log", "sin", "cos", "atan2"}
)
_TOKEN = re.compile(
    r"""(?:[ \t\r]|\\\n|\#[^\n]*)*(?:
    (?P<newline>\n)
    |(?P<number>(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<string>"(?:[^"\\\n]|\\.)*")
    |(?P<operator>\|\||&&|\+\+|--|\+=|-=|\*=|/=|%=|\^=|==|<=|>=|!=|!~|[-+*/%^!<>|?:~$=(){}\[\];,])
    |(?P<end>\Z)
    )""",
    re.VERBOSE | re.DOTALL,
)
_REGEX = re.compile(r"/((?>[^/\\\n\[]|\\.|\[\^?\]?(?>\[:[a-z]+:\]|\\.|[^\]\\\n])*+\])++)/")
_ASSIGNMENTS = {"=": "", "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "^=": "^"}


class _Reader:
    """Reads a program into closures."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.kind = ""
        self.word = ""
        self.depth = 0
        self.plain_greater = True
        self.plain_in = True
        self.advance()

    # Words

    def advance(self) -> None:
        found = _TOKEN.match(self.source, self.at)
        if found is None:
            raise Unmodelled("a character in the program")
        self.at = found.end()
        self.kind = found.lastgroup or ""
        self.word = found[self.kind]
        if self.kind == "name" and self.word in _KEYWORDS:
            self.kind = "keyword"

    def accept(self, word: str) -> bool:
        if self.word == word and self.kind in ("operator", "keyword"):
            self.advance()
            return True
        return False

    def expect(self, word: str) -> None:
        if not self.accept(word):
            raise Unmodelled(f"the program lacks {word}")

    def skip_newlines(self) -> None:
        while self.kind == "newline":
            self.advance()

    def skip_ends(self) -> None:
        while self.kind == "newline" or (self.kind == "operator" and self.word == ";"):
            self.advance()

    def is_operator(self, *words: str) -> bool:
        return self.kind == "operator" and self.word in words

    @contextmanager
    def deeper(self) -> Iterator[None]:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise Unmodelled("the program is nested too deeply")
        yield
        self.depth -= 1

    # Rules and statements

    def program(self) -> _Program:
        program = _Program()
        self.skip_ends()
        while self.kind != "end":
            if self.word in ("BEGIN", "END") and self.kind == "keyword":
                where = program.begin if self.word == "BEGIN" else program.end
                self.advance()
                where.append(self.block())
            else:
                program.rules.append(self.rule())
            self.skip_ends()
        return program

    def rule(self) -> tuple[Callable[[_Machine], bool], Statement]:
        if self.is_operator("{"):
            return _always, self.block()
        first = self.expression()
        selects: Callable[[_Machine], bool] = lambda machine: machine.truth(first(machine))  # noqa: E731
        if self.accept(","):
            self.skip_newlines()
            second = self.expression()
            selects = _range_rule(first, second, f"\0range{self.at}")
        if self.is_operator("{"):
            return selects, self.block()
        return selects, _print_record

    def block(self) -> Statement:
        self.expect("{")
        statements: list[Statement] = []
        self.skip_ends()
        while not self.is_operator("}"):
            if self.kind == "end":
                raise Unmodelled("the program lacks }")
            statements.append(self.statement())
            self.skip_ends()
        self.advance()

        def run(machine: _Machine) -> None:
            for statement in statements:
                machine.step()
                statement(machine)

        return run

    def statement(self) -> Statement:
        with self.deeper():
            if self.is_operator("{"):
                return self.block()
            if self.kind == "keyword":
                word = self.word
                if word in ("if", "while", "do", "for"):
                    self.advance()
                    return getattr(self, f"{word}_statement")()  # type: ignore[no-any-return]
                statement = self.simple_keyword()
            else:
                statement = _evaluated(self.expression())
            self.end_statement()
            return statement

    def end_statement(self) -> None:
        if self.kind in ("newline", "end") or self.is_operator("}"):
            return
        self.expect(";")

    def body(self) -> Statement:
        self.skip_newlines()
        if self.accept(";"):
            return lambda machine: machine.step()
        return self.statement()

    def if_statement(self) -> Statement:
        self.expect("(")
        condition = self.grouped()
        then = self.body()
        at, kind, word = self.at, self.kind, self.word
        self.skip_ends()
        otherwise: Statement | None = None
        if self.accept("else"):
            otherwise = self.body()
        else:
            self.at, self.kind, self.word = at, kind, word

        def run(machine: _Machine) -> None:
            if machine.truth(condition(machine)):
                then(machine)
            elif otherwise is not None:
                otherwise(machine)

        return run

    def while_statement(self) -> Statement:
        self.expect("(")
        condition = self.grouped()
        return _loop(condition, self.body(), None)

    def do_statement(self) -> Statement:
        body = self.body()
        self.skip_ends()
        self.expect("while")
        self.expect("(")
        condition = self.grouped()
        self.end_statement()
        rest = _loop(condition, body, None)

        def run(machine: _Machine) -> None:
            try:
                body(machine)
            except _Break:
                return
            except _Continue:
                pass
            rest(machine)

        return run

    def for_statement(self) -> Statement:
        self.expect("(")
        found = re.compile(r"[ \t]*in[ \t]+([A-Za-z_]\w*)[ \t]*\)").match(self.source, self.at)
        if self.kind == "name" and found is not None:
            variable, array = self.word, found[1]
            self.at = found.end()
            self.advance()
            return _for_in(variable, array, self.body())
        start = None if self.is_operator(";") else _evaluated(self.expression())
        self.expect(";")
        self.skip_newlines()
        condition: Expression = _constant(1.0) if self.is_operator(";") else self.expression()
        self.expect(";")
        self.skip_newlines()
        change = None if self.is_operator(")") else _evaluated(self.expression())
        self.expect(")")
        loop = _loop(condition, self.body(), change)

        def run(machine: _Machine) -> None:
            if start is not None:
                start(machine)
            loop(machine)

        return run

    def simple_keyword(self) -> Statement:
        word = self.word
        self.advance()
        match word:
            case "print":
                return self.print_statement()
            case "printf":
                return self.printf_statement()
            case "next":
                return _raising(_Next)
            case "break":
                return _raising(_Break)
            case "continue":
                return _raising(_Continue)
            case "exit":
                done = self.kind in ("newline", "end") or self.is_operator(";", "}")
                return _exit(None if done else self.expression())
            case "delete":
                return self.delete_statement()
            case _:
                raise Unmodelled(f"the statement {word}")

    def delete_statement(self) -> Statement:
        name = self.word
        self.advance()
        if not self.accept("["):
            return lambda machine: machine.array(name).clear()
        index = self.subscript()

        def run(machine: _Machine) -> None:
            machine.array(name).pop(index(machine), None)

        return run

    def output(self) -> tuple[list[Expression], bool]:
        """The items of print, and whether they go to the error output, where nobody reads them."""
        items: list[Expression] = []
        before = self.plain_greater
        self.plain_greater = False
        if not (self.kind in ("newline", "end") or self.is_operator(";", "}", ">", "|")):
            items = self.items()
        self.plain_greater = before
        if self.is_operator("|"):
            raise Unmodelled("a pipe")
        if self.accept(">"):
            if self.kind != "string" or self.word not in ('"/dev/stderr"', '"/dev/stdout"'):
                raise Unmodelled("a file")
            error = self.word == '"/dev/stderr"'
            self.advance()
            return items, error
        return items, False

    def items(self) -> list[Expression]:
        if self.is_operator("("):
            # Parentheses around the whole list, or around the first item only.
            at, kind, word = self.at, self.kind, self.word
            before, self.plain_greater = self.plain_greater, True
            self.advance()
            items = self.list(")")
            self.expect(")")
            self.plain_greater = before
            if self.kind in ("newline", "end") or self.is_operator(";", "}", ">", "|"):
                return items
            self.at, self.kind, self.word = at, kind, word
        items = [self.expression()]
        while self.accept(","):
            self.skip_newlines()
            items.append(self.expression())
        return items

    def print_statement(self) -> Statement:
        items, error = self.output()

        def run(machine: _Machine) -> None:
            texts = [_output_text(machine, item(machine)) for item in items] if items else [machine.whole()]
            line = machine.text(machine.variables["OFS"]).join(texts) + machine.text(machine.variables["ORS"])
            if not error:
                machine.emit(line)

        return run

    def printf_statement(self) -> Statement:
        items, error = self.output()
        if not items:
            raise Unmodelled("printf without a format")

        def run(machine: _Machine) -> None:
            values = [item(machine) for item in items]
            text = _formatted(machine, machine.text(values[0]), values[1:])
            if not error:
                machine.emit(text)

        return run

    # Expressions, from the weakest operator to the strongest

    def grouped(self) -> Expression:
        before = self.plain_greater, self.plain_in
        self.plain_greater = self.plain_in = True
        expression = self.expression()
        self.expect(")")
        self.plain_greater, self.plain_in = before
        return expression

    def list(self, end: str) -> list[Expression]:
        items: list[Expression] = []
        self.skip_newlines()
        while not self.is_operator(end):
            items.append(self.expression())
            self.skip_newlines()
            if not self.accept(","):
                break
            self.skip_newlines()
        return items

    def expression(self) -> Expression:
        with self.deeper():
            left, place = self.ternary()
            if self.kind == "operator" and self.word in _ASSIGNMENTS:
                operator = _ASSIGNMENTS[self.word]
                if place is None:
                    raise Unmodelled("an assignment to no variable")
                self.advance()
                self.skip_newlines()
                return _assigned(place, operator, self.expression())
            return left

    def ternary(self) -> tuple[Expression, _Place | None]:
        condition, place = self.either()
        if not self.is_operator("?"):
            return condition, place
        self.advance()
        self.skip_newlines()
        then = self.expression()
        self.skip_newlines()
        self.expect(":")
        self.skip_newlines()
        otherwise = self.expression()
        return lambda machine: then(machine) if machine.truth(condition(machine)) else otherwise(machine), None

    def either(self) -> tuple[Expression, _Place | None]:
        left, place = self.both()
        while self.is_operator("||"):
            self.advance()
            self.skip_newlines()
            left, place = _either(left, self.both()[0]), None
        return left, place

    def both(self) -> tuple[Expression, _Place | None]:
        left, place = self.membership()
        while self.is_operator("&&"):
            self.advance()
            self.skip_newlines()
            left, place = _both(left, self.membership()[0]), None
        return left, place

    def membership(self) -> tuple[Expression, _Place | None]:
        left, place = self.matching()
        while self.kind == "keyword" and self.word == "in":
            self.advance()
            name = self.word
            self.advance()
            left, place = _membership(left, name), None
        return left, place

    def matching(self) -> tuple[Expression, _Place | None]:
        left, place = self.comparison()
        while self.is_operator("~", "!~"):
            negated = self.word == "!~"
            self.advance()
            left, place = _matched(left, self.pattern(), negated), None
        return left, place

    def pattern(self) -> Callable[[_Machine], Regex]:
        """The right side of `~`: a literal expression, or any text."""
        if self.is_operator("/") or self.is_operator("/="):
            regex = _regex(self.regex_source())
            return _constant(regex)
        dynamic = self.comparison()[0]
        return lambda machine: _regex(machine.text(dynamic(machine)))

    def comparison(self) -> tuple[Expression, _Place | None]:
        left, place = self.concatenation()
        if self.is_operator("<", "<=", "==", "!=", ">=") or (self.is_operator(">") and self.plain_greater):
            operator = self.word
            self.advance()
            return _compared(operator, left, self.concatenation()[0]), None
        return left, place

    def concatenation(self) -> tuple[Expression, _Place | None]:
        left, place = self.additive()
        while self.starts_operand():
            left, place = _concatenated(left, self.additive()[0]), None
        return left, place

    def starts_operand(self) -> bool:
        if self.kind in ("number", "string"):
            return True
        if self.kind == "name":
            return True
        return self.is_operator("$", "!", "(", "++", "--", "-", "+") and not self.is_operator("-", "+")

    def additive(self) -> tuple[Expression, _Place | None]:
        left, place = self.multiplicative()
        while self.is_operator("+", "-"):
            operator = self.word
            self.advance()
            left, place = _calculated(operator, left, self.multiplicative()[0]), None
        return left, place

    def multiplicative(self) -> tuple[Expression, _Place | None]:
        left, place = self.unary()
        while self.is_operator("*", "/", "%"):
            operator = self.word
            self.advance()
            left, place = _calculated(operator, left, self.unary()[0]), None
        return left, place

    def unary(self) -> tuple[Expression, _Place | None]:
        if not self.is_operator("!", "-", "+"):
            return self.power()
        operator = self.word
        self.advance()
        with self.deeper():
            operand = self.unary()[0]
        if operator == "!":
            if self.is_operator("~", "!~"):
                raise Unmodelled("a negated match without parentheses")
            return lambda machine: float(not machine.truth(operand(machine))), None
        sign = -1.0 if operator == "-" else 1.0
        return lambda machine: sign * _to_number(operand(machine)) + 0.0, None

    def power(self) -> tuple[Expression, _Place | None]:
        left, place = self.postfix()
        if self.is_operator("^"):
            self.advance()
            with self.deeper():
                # The exponent binds to the right and may have a sign.
                right = self.unary()[0]
            return _calculated("^", left, right), None
        return left, place

    def postfix(self) -> tuple[Expression, _Place | None]:
        if self.is_operator("++", "--"):
            amount = 1.0 if self.word == "++" else -1.0
            self.advance()
            place = self.primary()[1]
            if place is None:
                raise Unmodelled("an increment of no variable")
            return _incremented(place, amount, before=True), None
        expression, place = self.primary()
        if place is not None and self.is_operator("++", "--"):
            amount = 1.0 if self.word == "++" else -1.0
            self.advance()
            return _incremented(place, amount, before=False), None
        return expression, place

    def primary(self) -> tuple[Expression, _Place | None]:
        word = self.word
        if self.kind == "number":
            self.advance()
            return _constant(float(word)), None
        if self.kind == "string":
            self.advance()
            return _constant(_unescaped(word[1:-1])), None
        if self.kind == "name":
            return self.named(word)
        if self.is_operator("$"):
            self.advance()
            with self.deeper():
                index = self.postfix()[0] if self.is_operator("++", "--") else self.primary_or_minus()
            return _field_place(index)
        if self.is_operator("("):
            return self.parenthesis()
        if self.is_operator("/", "/="):
            regex = _regex(self.regex_source())
            return lambda machine: float(_search(machine, regex, machine.whole()) is not None), None
        raise Unmodelled("an expression")

    def primary_or_minus(self) -> Expression:
        if self.is_operator("-", "+"):
            return self.unary()[0]
        return self.primary()[0]

    def parenthesis(self) -> tuple[Expression, _Place | None]:
        self.advance()
        before = self.plain_greater
        self.plain_greater = True
        items = self.list(")")
        self.expect(")")
        self.plain_greater = before
        if len(items) == 1:
            inner = items[0]
            return lambda machine: inner(machine), None
        if not items or not (self.kind == "keyword" and self.word == "in"):
            raise Unmodelled("a list in parentheses")
        return _joined_index(items), None

    def regex_source(self) -> str:
        """The expression whose first slash is the current word."""
        found = _REGEX.match(self.source, self.at - len(self.word))
        if found is None:
            raise Unmodelled("an expression between slashes")
        self.at = found.end()
        self.advance()
        return found[1]

    def subscript(self) -> Callable[[_Machine], str]:
        index = _joined_index(self.list("]"))
        self.expect("]")
        return lambda machine: machine.text(index(machine))

    def named(self, name: str) -> tuple[Expression, _Place | None]:
        called = self.source.startswith("(", self.at)
        self.advance()
        if name in _FUNCTIONS:
            return self.function(name), None
        if name == "fflush" and self.accept("(") and self.accept(")"):
            return _constant(0.0), None
        if called:
            raise Unmodelled(f"the function {name}")
        if self.accept("["):
            index = self.subscript()

            def get(machine: _Machine) -> Value:
                return machine.array(name).setdefault(index(machine), None)

            def set_(machine: _Machine, value: Value) -> None:
                machine.array(name)[index(machine)] = value

            return get, _Place(get, set_)
        place = _Place(lambda machine: machine.get(name), lambda machine, value: machine.set(name, value))
        return place.get, place

    def function(self, name: str) -> Expression:
        if not self.is_operator("("):
            if name != "length":
                raise Unmodelled(f"{name} without arguments")
            return lambda machine: float(len(machine.whole()))
        self.advance()
        if name == "length" and (found := re.compile(r"[ \t]*\)").match(self.source, self.at)) and self.kind == "name":
            array = self.word
            self.at = found.end()
            self.advance()
            return lambda machine: float(
                len(machine.arrays[array]) if array in machine.arrays else len(machine.text(machine.get(array)))
            )
        if name in ("sub", "gsub", "match", "split"):
            call = getattr(self, f"{name.removeprefix('g')}_call")(name)
            self.expect(")")
            return call  # type: ignore[no-any-return]
        before, self.plain_greater = self.plain_greater, True
        items = self.list(")")
        self.expect(")")
        self.plain_greater = before
        return _function(name, items)

    def regex_argument(self) -> Callable[[_Machine], Regex]:
        self.skip_newlines()
        if self.is_operator("/", "/="):
            at, kind, word = self.at, self.kind, self.word
            regex = _regex(self.regex_source())
            if self.is_operator(",", ")"):
                return _constant(regex)
            self.at, self.kind, self.word = at, kind, word
        dynamic = self.expression()
        return lambda machine: _regex(machine.text(dynamic(machine)))

    def sub_call(self, name: str) -> Expression:
        regex = self.regex_argument()
        self.expect(",")
        self.skip_newlines()
        replacement = self.expression()
        place: _Place | None = _field_place(_constant(0.0))[1]
        if self.accept(","):
            self.skip_newlines()
            place = self.ternary()[1]
        if place is None:
            raise Unmodelled("a substitution in no variable")
        return _substitution(regex, replacement, place, every=name == "gsub")

    def match_call(self, name: str) -> Expression:
        del name
        subject = self.expression()
        self.expect(",")
        regex = self.regex_argument()

        def run(machine: _Machine) -> Value:
            found = _search(machine, regex(machine), machine.text(subject(machine)))
            machine.variables["RSTART"] = 0.0 if found is None else float(found[0] + 1)
            machine.variables["RLENGTH"] = -1.0 if found is None else float(found[1] - found[0])
            return machine.variables["RSTART"]

        return run

    def split_call(self, name: str) -> Expression:
        del name
        subject = self.expression()
        self.expect(",")
        self.skip_newlines()
        if self.kind != "name":
            raise Unmodelled("split into no array")
        array = self.word
        self.advance()
        separator: Expression = lambda machine: machine.variables["FS"]  # noqa: E731
        if self.accept(","):
            self.skip_newlines()
            # In parentheses a literal of one character stays an expression.
            literal = self.is_operator("/", "/=")
            separator = _constant(f"({self.regex_source()})") if literal else self.expression()

        def run(machine: _Machine) -> Value:
            pieces = machine.split(machine.text(subject(machine)), machine.text(separator(machine)))
            target = machine.array(array)
            target.clear()
            target.update((str(index), _Input(piece)) for index, piece in enumerate(pieces, 1))
            return float(len(pieces))

        return run


_Constant = TypeVar("_Constant")


def _constant(value: _Constant) -> Callable[[_Machine], _Constant]:
    def run(machine: _Machine) -> _Constant:
        del machine
        return value

    return run


def _always(machine: _Machine) -> bool:
    del machine
    return True


def _evaluated(expression: Expression) -> Statement:
    def run(machine: _Machine) -> None:
        machine.step()
        expression(machine)

    return run


def _raising(kind: type[Exception]) -> Statement:
    def run(machine: _Machine) -> None:
        del machine
        raise kind

    return run


def _exit(status: Expression | None) -> Statement:
    def run(machine: _Machine) -> None:
        if status is not None:
            machine.status = int(_to_number(status(machine))) & 255
        raise _Exit

    return run


def _print_record(machine: _Machine) -> None:
    machine.emit(machine.whole() + machine.text(machine.variables["ORS"]))


def _range_rule(first: Expression, second: Expression, name: str) -> Callable[[_Machine], bool]:
    def selects(machine: _Machine) -> bool:
        active = bool(machine.variables.get(name))
        if not active and not machine.truth(first(machine)):
            return False
        machine.variables[name] = 0.0 if machine.truth(second(machine)) else 1.0
        return True

    return selects


def _loop(condition: Expression, body: Statement, change: Statement | None) -> Statement:
    def run(machine: _Machine) -> None:
        while machine.truth(condition(machine)):
            machine.step()
            try:
                body(machine)
            except _Break:
                return
            except _Continue:
                pass
            if change is not None:
                change(machine)

    return run


def _for_in(variable: str, array: str, body: Statement) -> Statement:
    def run(machine: _Machine) -> None:
        keys = list(machine.array(array))
        if len(keys) > 1:
            raise Unmodelled("the order of an array")
        for key in keys:
            machine.set(variable, _Input(key))
            try:
                body(machine)
            except _Break:
                return
            except _Continue:
                continue

    return run


def _output_text(machine: _Machine, value: Value) -> str:
    if isinstance(value, float):
        return _number_text(value, str(machine.variables["OFMT"]))
    return machine.text(value)


def _assigned(place: _Place, operator: str, value: Expression) -> Expression:
    def run(machine: _Machine) -> Value:
        result = value(machine)
        if operator:
            result = _calculate(operator, _to_number(place.get(machine)), _to_number(result))
        place.set(machine, result)
        return result

    return run


def _incremented(place: _Place, amount: float, *, before: bool) -> Expression:
    def run(machine: _Machine) -> Value:
        old = _to_number(place.get(machine))
        place.set(machine, old + amount)
        return old + amount if before else old

    return run


def _either(left: Expression, right: Expression) -> Expression:
    return lambda machine: float(machine.truth(left(machine)) or machine.truth(right(machine)))


def _both(left: Expression, right: Expression) -> Expression:
    return lambda machine: float(machine.truth(left(machine)) and machine.truth(right(machine)))


def _membership(index: Expression, array: str) -> Expression:
    return lambda machine: float(machine.text(index(machine)) in machine.array(array))


def _joined_index(items: Sequence[Expression]) -> Expression:
    if not items:
        raise Unmodelled("an empty subscript")
    if len(items) == 1:
        return items[0]
    return lambda machine: machine.text(machine.variables["SUBSEP"]).join(machine.text(item(machine)) for item in items)


def _search(machine: _Machine, regex: Regex, text: str) -> tuple[int, int] | None:
    machine.step(1 + len(text) // 64)
    found = regex.search(text, budget=machine.budget)
    return None if found is None else (found.start, found.end)


def _matched(left: Expression, regex: Callable[[_Machine], Regex], negated: bool) -> Expression:
    def run(machine: _Machine) -> Value:
        text = machine.text(left(machine))
        return float((_search(machine, regex(machine), text) is None) == negated)

    return run


def _compared(operator: str, left: Expression, right: Expression) -> Expression:
    def run(machine: _Machine) -> Value:
        first, second = left(machine), right(machine)
        if _looks_numeric(first) and _looks_numeric(second):
            return float(_ordered(operator, _to_number(first), _to_number(second)))
        return float(_ordered(operator, machine.text(first), machine.text(second)))

    return run


def _ordered(operator: str, first: float | str, second: float | str) -> bool:
    order = (first > second) - (first < second)  # type: ignore[operator]
    return {
        "<": order < 0,
        "<=": order <= 0,
        "==": order == 0,
        "!=": order != 0,
        ">=": order >= 0,
        ">": order > 0,
    }[operator]


def _concatenated(left: Expression, right: Expression) -> Expression:
    def run(machine: _Machine) -> Value:
        machine.step()
        first = machine.text(left(machine))
        return first + machine.text(right(machine))

    return run


def _calculated(operator: str, left: Expression, right: Expression) -> Expression:
    def run(machine: _Machine) -> Value:
        machine.step()
        first = _to_number(left(machine))
        return _calculate(operator, first, _to_number(right(machine)))

    return run


def _calculate(operator: str, first: float, second: float) -> float:
    try:
        match operator:
            case "+":
                return first + second
            case "-":
                return first - second
            case "*":
                return first * second
            case "/":
                return first / second
            case "%":
                return math.fmod(first, second)
            case _:
                result = first**second
                if isinstance(result, complex):
                    raise Unmodelled("a root of a negative number")
                return float(result)
    except (ZeroDivisionError, OverflowError, ValueError) as error:
        # mawk gives infinity where gawk stops.
        raise Unmodelled("a division by zero, or a number that is too large") from error


def _field_place(index: Expression) -> tuple[Expression, _Place]:
    def number(machine: _Machine) -> int:
        result = int(_to_number(index(machine)))
        if result < 0:
            raise Unmodelled("a negative field")
        return result

    place = _Place(
        lambda machine: machine.get_field(number(machine)),
        lambda machine, value: machine.set_field(number(machine), value),
    )
    return place.get, place


def _substitution(
    regex: Callable[[_Machine], Regex], replacement: Expression, place: _Place, *, every: bool
) -> Expression:
    def run(machine: _Machine) -> Value:
        used = regex(machine)
        template = machine.text(replacement(machine))
        text = machine.text(place.get(machine))
        if "\\\\" in template:
            raise Unmodelled("backslashes in a replacement")
        scanner = Scanner(used, text, machine.budget)
        pieces: list[str] = []
        at = copied = count = 0
        previous = -1
        while at <= len(text) and (found := scanner.search(at)) is not None:
            machine.step()
            empty = found.start == found.end
            if not (empty and found.start == previous):
                count += 1
                matched = found.group(0)
                pieces += [text[copied : found.start], _with_ampersands(template, matched)]
                copied = previous = found.end
                if not every:
                    break
            at = found.end + 1 if empty else found.end
        if count:
            place.set(machine, "".join(pieces) + text[copied:])
        return float(count)

    return run


def _with_ampersands(template: str, matched: str) -> str:
    return re.sub(r"\\?&", lambda found: matched if found[0] == "&" else "&", template)


_NUMBER_FUNCTIONS: dict[str, Callable[[float], float]] = {
    "int": lambda number: float(int(number)),
    "sqrt": math.sqrt,
    "exp": math.exp,
    "log": math.log,
    "sin": math.sin,
    "cos": math.cos,
}
_ARGUMENTS = {"length": (0, 1), "substr": (2, 3), "index": (2, 2), "sprintf": (1, 100), "atan2": (2, 2)}


def _function(name: str, items: Sequence[Expression]) -> Expression:
    low, high = _ARGUMENTS.get(name, (1, 1))
    if not low <= len(items) <= high:
        raise Unmodelled(f"the arguments of {name}")

    def run(machine: _Machine) -> Value:
        machine.step()
        values = [item(machine) for item in items]
        match name:
            case "length":
                return float(len(machine.text(values[0]) if values else machine.whole()))
            case "substr":
                return _substr(machine.text(values[0]), [_to_number(value) for value in values[1:]])
            case "index":
                return float(machine.text(values[0]).find(machine.text(values[1])) + 1)
            case "sprintf":
                return _formatted(machine, machine.text(values[0]), values[1:])
            case "toupper" | "tolower":
                text = machine.text(values[0])
                if not text.isascii():
                    raise Unmodelled("the case of characters that are not ASCII")
                return text.upper() if name == "toupper" else text.lower()
            case "atan2":
                return math.atan2(_to_number(values[0]), _to_number(values[1]))
            case _:
                try:
                    return _NUMBER_FUNCTIONS[name](_to_number(values[0]))
                except (ValueError, OverflowError) as error:
                    raise Unmodelled(f"the result of {name}") from error

    return run


def _substr(text: str, numbers: Sequence[float]) -> str:
    if any(number != int(number) for number in numbers) or (len(numbers) == 2 and numbers[0] < 1):
        raise Unmodelled("numbers of substr that awks read in different ways")
    start = int(numbers[0])
    stop = start + int(numbers[1]) if len(numbers) == 2 else len(text) + 1
    return text[max(start, 1) - 1 : max(stop, 1) - 1]


_DIRECTIVE = re.compile(r"%(?:(%)|([-+ #0]*)([0-9]{0,4})(?:\.([0-9]{0,4}))?([a-zA-Z]))")


def _formatted(machine: _Machine, template: str, values: Sequence[Value]) -> str:
    pieces: list[str] = []
    at = used = 0
    while True:
        percent = template.find("%", at)
        if percent < 0:
            return "".join(pieces) + template[at:]
        pieces.append(template[at:percent])
        found = _DIRECTIVE.match(template, percent)
        if found is None:
            raise Unmodelled("a format")
        at = found.end()
        if found[1]:
            pieces.append("%")
            continue
        if used >= len(values):
            raise Unmodelled("a format without its value")
        machine.step()
        pieces.append(_directive(machine, found, values[used]))
        used += 1


def _directive(machine: _Machine, found: re.Match[str], value: Value) -> str:
    flags, width, precision, letter = found[2], found[3], found[4], found[5]
    form = f"%{flags}{width}" + (f".{precision or 0}" if precision is not None else "")
    if letter in "di":
        number = _to_number(value)
        if abs(number) > _MAX_INTEGER:
            raise Unmodelled("a number that is too large for %d")
        return f"{form}d" % int(number)
    if letter in "ouxX":
        number = _to_number(value)
        if not 0 <= number <= _MAX_INTEGER or "#" in flags:
            raise Unmodelled("a number for %x")
        return f"{form}{letter.replace('u', 'd')}" % int(number)
    if letter in "eEfFgG":
        return f"{form}{letter}" % _to_number(value)
    if letter == "s":
        return f"{form.replace('0', '', 1) if flags.startswith('0') else form}s" % machine.text(value)
    if letter == "c":
        if isinstance(value, float) or _looks_numeric(value):
            raise Unmodelled("a character by its number")
        return f"{form}s" % machine.text(value)[:1]
    raise Unmodelled("a format")


@lru_cache(maxsize=256)
def _program(source: str) -> _Program:
    if len(source) > MAX_PROGRAM:
        raise Unmodelled("the program is too long")
    return _Reader(source).program()


def awk(call: Call) -> Output:
    """What a program writes for its input; a program with only BEGIN rules reads none."""
    options = read_options(call.args, "F:v:", {"field-separator": "F", "assign": "v"}, permute=False)
    if not options.operands:
        raise Unmodelled("no program")
    program = _program(options.operands[0])
    files = options.operands[1:]
    if any(re.match(r"[A-Za-z_]\w*=", operand) for operand in files):
        raise Unmodelled("an assignment among the files")
    reads = bool(program.rules or program.end)
    text = call.text(files) if reads else ""
    if files and len(files) > 1 and "FNR" in options.operands[0]:
        raise Unmodelled("several files")
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    machine = _Machine(iter(lines))
    separator = options.last("F")
    if separator is not None:
        if separator in ("t", ""):
            raise Unmodelled("a field separator")
        machine.variables["FS"] = _unescaped(separator)
    for assignment in options.every("v"):
        name, equals, value = assignment.partition("=")
        if not equals or not name.isidentifier() or name in ("NR", "FNR", "NF", "RS", "OFMT", "CONVFMT"):
            raise Unmodelled("an assignment")
        machine.variables[name] = _Input(_unescaped(value))
    try:
        _run(program, machine)
    except PatternError as error:
        raise Unmodelled(str(error)) from error
    return machine.status, "".join(machine.out)


def _run(program: _Program, machine: _Machine) -> None:
    try:
        try:
            for action in program.begin:
                action(machine)
            if program.rules or program.end:
                _run_rules(program, machine)
        except _Exit:
            # Exit still runs the END rules.
            pass
        for action in program.end:
            action(machine)
    except _Exit:
        return
    except (_Next, _Break, _Continue) as error:
        raise Unmodelled("a jump out of place") from error


def _run_rules(program: _Program, machine: _Machine) -> None:
    while machine.next_record():
        try:
            for selects, action in program.rules:
                if selects(machine):
                    action(machine)
        except _Next:
            continue

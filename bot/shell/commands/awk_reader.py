"""Reads an awk program into functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache

from botlint.shell.commands.awk_actions import (
    Break,
    Continue,
    Next,
    Place,
    always,
    assigned,
    both_of,
    calculated,
    compared,
    concatenated,
    constantly,
    either_of,
    evaluated,
    exiting,
    field_place,
    for_in,
    formatted,
    function_of,
    incremented,
    is_true,
    joined_index,
    looped,
    matched,
    membership_of,
    output_text,
    print_record,
    raising,
    range_rule,
    search_in,
    substitution_of,
    variable_of,
)
from botlint.shell.commands.awk_machine import (
    Expression,
    Input,
    Machine,
    Statement,
    Value,
    regex_of,
    to_number,
    unescaped,
)
from botlint.shell.commands.base import MAX_DEPTH, Unmodelled
from botlint.shell.regex import Regex

MAX_PROGRAM = 20_000


@dataclass(slots=True)
class Program:
    """The rules of a program."""

    begin: list[Statement] = field(default_factory=list)
    rules: list[tuple[Callable[[Machine], bool], Statement]] = field(default_factory=list)
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

    def program(self) -> Program:
        program = Program()
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

    def rule(self) -> tuple[Callable[[Machine], bool], Statement]:
        if self.is_operator("{"):
            return always, self.block()
        first = self.expression()
        selects = is_true(first)
        if self.accept(","):
            self.skip_newlines()
            second = self.expression()
            selects = range_rule(first, second, f"\0range{self.at}")
        if self.is_operator("{"):
            return selects, self.block()
        return selects, print_record

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

        def run(machine: Machine) -> None:
            for statement in statements:
                machine.step()
                statement(machine)

        return run

    def statement(self) -> Statement:
        with self.deeper():
            if self.is_operator("{"):
                return self.block()
            if self.kind == "keyword":
                compound = self.compound()
                if compound is not None:
                    return compound
                statement = self.simple_keyword()
            else:
                statement = evaluated(self.expression())
            self.end_statement()
            return statement

    def compound(self) -> Statement | None:
        """The statement that begins with if, while, do or for, if one does here."""
        readers = {
            "if": self.if_statement,
            "while": self.while_statement,
            "do": self.do_statement,
            "for": self.for_statement,
        }
        reader = readers.get(self.word)
        if reader is None:
            return None
        self.advance()
        return reader()

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

        def run(machine: Machine) -> None:
            if machine.truth(condition(machine)):
                then(machine)
            elif otherwise is not None:
                otherwise(machine)

        return run

    def while_statement(self) -> Statement:
        self.expect("(")
        condition = self.grouped()
        return looped(condition, self.body(), None)

    def do_statement(self) -> Statement:
        body = self.body()
        self.skip_ends()
        self.expect("while")
        self.expect("(")
        condition = self.grouped()
        self.end_statement()
        rest = looped(condition, body, None)

        def run(machine: Machine) -> None:
            try:
                body(machine)
            except Break:
                return
            except Continue:
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
            return for_in(variable, array, self.body())
        start = None if self.is_operator(";") else evaluated(self.expression())
        self.expect(";")
        self.skip_newlines()
        condition: Expression = constantly(1.0) if self.is_operator(";") else self.expression()
        self.expect(";")
        self.skip_newlines()
        change = None if self.is_operator(")") else evaluated(self.expression())
        self.expect(")")
        loop = looped(condition, self.body(), change)

        def run(machine: Machine) -> None:
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
                return raising(Next)
            case "break":
                return raising(Break)
            case "continue":
                return raising(Continue)
            case "exit":
                done = self.kind in ("newline", "end") or self.is_operator(";", "}")
                return exiting(None if done else self.expression())
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

        def run(machine: Machine) -> None:
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

        def run(machine: Machine) -> None:
            texts = [output_text(machine, item(machine)) for item in items] if items else [machine.whole()]
            line = machine.text(machine.variables["OFS"]).join(texts) + machine.text(machine.variables["ORS"])
            if not error:
                machine.emit(line)

        return run

    def printf_statement(self) -> Statement:
        items, error = self.output()
        if not items:
            raise Unmodelled("printf without a format")

        def run(machine: Machine) -> None:
            values = [item(machine) for item in items]
            text = formatted(machine, machine.text(values[0]), values[1:])
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
                return assigned(place, operator, self.expression())
            return left

    def ternary(self) -> tuple[Expression, Place | None]:
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

    def either(self) -> tuple[Expression, Place | None]:
        left, place = self.both()
        while self.is_operator("||"):
            self.advance()
            self.skip_newlines()
            left, place = either_of(left, self.both()[0]), None
        return left, place

    def both(self) -> tuple[Expression, Place | None]:
        left, place = self.membership()
        while self.is_operator("&&"):
            self.advance()
            self.skip_newlines()
            left, place = both_of(left, self.membership()[0]), None
        return left, place

    def membership(self) -> tuple[Expression, Place | None]:
        left, place = self.matching()
        while self.kind == "keyword" and self.word == "in":
            self.advance()
            name = self.word
            self.advance()
            left, place = membership_of(left, name), None
        return left, place

    def matching(self) -> tuple[Expression, Place | None]:
        left, place = self.comparison()
        while self.is_operator("~", "!~"):
            negated = self.word == "!~"
            self.advance()
            left, place = matched(left, self.pattern(), negated), None
        return left, place

    def pattern(self) -> Callable[[Machine], Regex]:
        """The right side of `~`: a literal expression, or any text."""
        if self.is_operator("/") or self.is_operator("/="):
            regex = regex_of(self.regex_source())
            return constantly(regex)
        dynamic = self.comparison()[0]
        return lambda machine: regex_of(machine.text(dynamic(machine)))

    def comparison(self) -> tuple[Expression, Place | None]:
        left, place = self.concatenation()
        if self.is_operator("<", "<=", "==", "!=", ">=") or (self.is_operator(">") and self.plain_greater):
            operator = self.word
            self.advance()
            return compared(operator, left, self.concatenation()[0]), None
        return left, place

    def concatenation(self) -> tuple[Expression, Place | None]:
        left, place = self.additive()
        while self.starts_operand():
            left, place = concatenated(left, self.additive()[0]), None
        return left, place

    def starts_operand(self) -> bool:
        if self.kind in ("number", "string"):
            return True
        if self.kind == "name":
            return True
        return self.is_operator("$", "!", "(", "++", "--", "-", "+") and not self.is_operator("-", "+")

    def additive(self) -> tuple[Expression, Place | None]:
        left, place = self.multiplicative()
        while self.is_operator("+", "-"):
            operator = self.word
            self.advance()
            left, place = calculated(operator, left, self.multiplicative()[0]), None
        return left, place

    def multiplicative(self) -> tuple[Expression, Place | None]:
        left, place = self.unary()
        while self.is_operator("*", "/", "%"):
            operator = self.word
            self.advance()
            left, place = calculated(operator, left, self.unary()[0]), None
        return left, place

    def unary(self) -> tuple[Expression, Place | None]:
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
        return lambda machine: sign * to_number(operand(machine)) + 0.0, None

    def power(self) -> tuple[Expression, Place | None]:
        left, place = self.postfix()
        if self.is_operator("^"):
            self.advance()
            with self.deeper():
                # The exponent binds to the right and may have a sign.
                right = self.unary()[0]
            return calculated("^", left, right), None
        return left, place

    def postfix(self) -> tuple[Expression, Place | None]:
        if self.is_operator("++", "--"):
            amount = 1.0 if self.word == "++" else -1.0
            self.advance()
            place = self.primary()[1]
            if place is None:
                raise Unmodelled("an increment of no variable")
            return incremented(place, amount, before=True), None
        expression, place = self.primary()
        if place is not None and self.is_operator("++", "--"):
            amount = 1.0 if self.word == "++" else -1.0
            self.advance()
            return incremented(place, amount, before=False), None
        return expression, place

    def primary(self) -> tuple[Expression, Place | None]:
        word = self.word
        if self.kind == "number":
            self.advance()
            return constantly(float(word)), None
        if self.kind == "string":
            self.advance()
            return constantly(unescaped(word[1:-1])), None
        if self.kind == "name":
            return self.named(word)
        if self.is_operator("$"):
            self.advance()
            with self.deeper():
                index = self.postfix()[0] if self.is_operator("++", "--") else self.primary_or_minus()
            return field_place(index)
        if self.is_operator("("):
            return self.parenthesis()
        if self.is_operator("/", "/="):
            regex = regex_of(self.regex_source())
            return lambda machine: float(search_in(machine, regex, machine.whole()) is not None), None
        raise Unmodelled("an expression")

    def primary_or_minus(self) -> Expression:
        if self.is_operator("-", "+"):
            return self.unary()[0]
        return self.primary()[0]

    def parenthesis(self) -> tuple[Expression, Place | None]:
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
        return joined_index(items), None

    def regex_source(self) -> str:
        """The expression whose first slash is the current word."""
        found = _REGEX.match(self.source, self.at - len(self.word))
        if found is None:
            raise Unmodelled("an expression between slashes")
        self.at = found.end()
        self.advance()
        return found[1]

    def subscript(self) -> Callable[[Machine], str]:
        index = joined_index(self.list("]"))
        self.expect("]")
        return lambda machine: machine.text(index(machine))

    def named(self, name: str) -> tuple[Expression, Place | None]:
        called = self.source.startswith("(", self.at)
        self.advance()
        if name in _FUNCTIONS:
            return self.function(name), None
        if name == "fflush" and self.accept("(") and self.accept(")"):
            return constantly(0.0), None
        if called:
            raise Unmodelled(f"the function {name}")
        if self.accept("["):
            index = self.subscript()

            def get(machine: Machine) -> Value:
                return machine.array(name).setdefault(index(machine), None)

            def set_(machine: Machine, value: Value) -> None:
                machine.array(name)[index(machine)] = value

            return get, Place(get, set_)
        place = Place(lambda machine: machine.get(name), lambda machine, value: machine.set(name, value))
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
            if name == "match":
                call = self.match_call()
            else:
                call = self.split_call() if name == "split" else self.sub_call(every=name == "gsub")
            self.expect(")")
            return call
        before, self.plain_greater = self.plain_greater, True
        items = self.list(")")
        self.expect(")")
        self.plain_greater = before
        return function_of(name, items)

    def regex_argument(self) -> Callable[[Machine], Regex]:
        self.skip_newlines()
        if self.is_operator("/", "/="):
            at, kind, word = self.at, self.kind, self.word
            regex = regex_of(self.regex_source())
            if self.is_operator(",", ")"):
                return constantly(regex)
            self.at, self.kind, self.word = at, kind, word
        dynamic = self.expression()
        return lambda machine: regex_of(machine.text(dynamic(machine)))

    def sub_call(self, *, every: bool) -> Expression:
        regex = self.regex_argument()
        self.expect(",")
        self.skip_newlines()
        replacement = self.expression()
        place: Place | None = field_place(constantly(0.0))[1]
        if self.accept(","):
            self.skip_newlines()
            place = self.ternary()[1]
        if place is None:
            raise Unmodelled("a substitution in no variable")
        return substitution_of(regex, replacement, place, every=every)

    def match_call(self) -> Expression:
        subject = self.expression()
        self.expect(",")
        regex = self.regex_argument()

        def run(machine: Machine) -> Value:
            found = search_in(machine, regex(machine), machine.text(subject(machine)))
            machine.variables["RSTART"] = 0.0 if found is None else float(found[0] + 1)
            machine.variables["RLENGTH"] = -1.0 if found is None else float(found[1] - found[0])
            return machine.variables["RSTART"]

        return run

    def split_call(self) -> Expression:
        subject = self.expression()
        self.expect(",")
        self.skip_newlines()
        if self.kind != "name":
            raise Unmodelled("split into no array")
        array = self.word
        self.advance()
        separator = variable_of("FS")
        if self.accept(","):
            self.skip_newlines()
            # In parentheses a literal of one character stays an expression.
            literal = self.is_operator("/", "/=")
            separator = constantly(f"({self.regex_source()})") if literal else self.expression()

        def run(machine: Machine) -> Value:
            pieces = machine.split(machine.text(subject(machine)), machine.text(separator(machine)))
            target = machine.array(array)
            target.clear()
            target.update((str(index), Input(piece)) for index, piece in enumerate(pieces, 1))
            return float(len(pieces))

        return run


@lru_cache(maxsize=256)
def read_program(source: str) -> Program:
    """The program that a text says; raises Unmodelled on what is not read."""
    if len(source) > MAX_PROGRAM:
        raise Unmodelled("the program is too long")
    return _Reader(source).program()

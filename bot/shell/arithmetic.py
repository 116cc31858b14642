"""Bash arithmetic: a parser into small nodes, 64-bit operators, and a plain evaluator (`expr.c` of bash 5.2)."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

MAX_TEXT = 10_000
MAX_DEPTH = 60
MAX_VALUE_DEPTH = 64
MAX_STEPS = 50_000


class ArithmeticError_(Exception):  # noqa: N801, N818 (the plain name is Python's own)
    """An expression that bash refuses; the message is bash's without the error token."""


@dataclass(frozen=True, slots=True)
class Num:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Var:
    """A variable, or one element of it when `subscript` (the text between the brackets) is given."""

    name: str
    subscript: str | None = None


@dataclass(frozen=True, slots=True)
class Unary:
    """`! ~ + -`."""

    operator: str
    operand: Node


@dataclass(frozen=True, slots=True)
class Binary:
    """Two operands; `&&` and `||` evaluate the right one only when needed."""

    operator: str
    left: Node
    right: Node


@dataclass(frozen=True, slots=True)
class Ternary:
    """`condition ? then : otherwise`."""

    condition: Node
    then: Node
    otherwise: Node


@dataclass(frozen=True, slots=True)
class Assign:
    """`target operator value`; the operator is `=` or one such as `+=`."""

    target: Var
    operator: str
    value: Node


@dataclass(frozen=True, slots=True)
class Increment:
    """`++` or `--`, before (`prefix`) or after its target."""

    target: Var
    operator: str
    prefix: bool


@dataclass(frozen=True, slots=True)
class Comma:
    """Expressions evaluated in order; the value is the last one's."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Wrong:
    """What bash cannot read, met only after what stands before it was evaluated."""

    message: str


Node = Num | Var | Unary | Binary | Ternary | Assign | Increment | Comma | Wrong

_OPERATORS = (
    "<<=", ">>=", "**", "++", "--", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||",
    "+=", "-=", "*=", "/=", "%=", "&=", "^=", "|=",
    *"=<>+-*/%!()&|?:^~,",
)  # fmt: skip
_TOKEN = re.compile(
    r"[ \t\n]*(?:(?P<name>[A-Za-z_][A-Za-z0-9_]*)|(?P<number>[0-9][0-9A-Za-z_@#]*)|(?P<operator>"
    + "|".join(map(re.escape, _OPERATORS))
    + r"))"
)
_NAME = re.compile(r"[ \t\n]*[A-Za-z_]")
_SPACE = re.compile(r"[ \t\n]*")
_ASSIGNMENTS = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "<<=", ">>=", "&=", "^=", "|="})
_LEVELS = {
    "||": 1,
    "&&": 2,
    "|": 3,
    "^": 4,
    "&": 5,
    "==": 6,
    "!=": 6,
    "<": 7,
    "<=": 7,
    ">": 7,
    ">=": 7,
    "<<": 8,
    ">>": 8,
    "+": 9,
    "-": 9,
    "*": 10,
    "/": 10,
    "%": 10,
    "**": 11,
}


def wrap(value: int) -> int:
    """The value as a signed 64-bit integer."""
    return (value + (1 << 63) & (1 << 64) - 1) - (1 << 63)


_DIGITS = {
    **{character: index for index, character in enumerate("0123456789abcdefghijklmnopqrstuvwxyz")},
    **{character: index for index, character in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 36)},
    "@": 62,
    "_": 63,
}


def parse_number(text: str) -> int:
    """The value of a constant (decimal, `0` octal, `0x` hexadecimal, `base#digits`); raises ArithmeticError_."""
    base, digits = 10, text
    if "#" in text:
        prefix, _, digits = text.partition("#")
        base = parse_number(prefix)
        if "#" in digits:
            raise ArithmeticError_("invalid number")
        if not 2 <= base <= 64:
            raise ArithmeticError_("invalid arithmetic base")
        if not digits:
            raise ArithmeticError_("invalid integer constant")
    elif text[:2] in ("0x", "0X"):
        base, digits = 16, text[2:]
    elif text.startswith("0"):
        base = 8
    value = 0
    for character in digits:
        digit = _DIGITS.get(character.lower() if base <= 36 else character)
        if digit is None:
            raise ArithmeticError_("invalid number")
        if digit >= base:
            raise ArithmeticError_("value too great for base")
        value = value * base + digit
    return wrap(value)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.kind = ""
        self.word = ""
        self.depth = 0
        self.wrong: Wrong | None = None
        """The mistake at which reading has ended."""
        self.advance()

    def advance(self) -> None:
        """Reads the next token into `kind` ("name", "number", "operator" or "" at the end) and `word`."""
        found = _TOKEN.match(self.text, self.at)
        if found is not None:
            self.at = found.end()
            self.kind = found.lastgroup or ""
            self.word = found[self.kind]
            return
        space = _SPACE.match(self.text, self.at)
        if space is not None and space.end() < len(self.text):
            after_operand = self.kind in ("name", "number") or self.word == ")"
            raise ArithmeticError_(
                f"syntax error: {'invalid arithmetic operator' if after_operand else 'operand expected'}"
            )
        self.kind = self.word = ""

    def split(self) -> None:
        """Takes `++` and `--` that belong to no variable as two signs, the first of which stands here."""
        if self.word in ("++", "--"):
            self.at -= 1
            self.word = self.word[0]

    def until(self, done: list[Node], error: str) -> Node:
        """What bash evaluates of an expression with a mistake: everything before it."""
        self.wrong = Wrong(error)
        self.at = len(self.text)
        self.kind = self.word = ""
        return Comma((*done, self.wrong))

    def comma(self) -> Node:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ArithmeticError_("expression recursion level exceeded")
        items = [self.assignment()]
        while self.word == ",":
            try:
                self.advance()
                items.append(self.assignment())
            except ArithmeticError_ as error:
                return self.until(items, str(error))
        self.depth -= 1
        return items[0] if len(items) == 1 else Comma(tuple(items))

    def assignment(self) -> Node:
        left = self.conditional()
        if self.word not in _ASSIGNMENTS:
            return left
        operator = self.word
        if not isinstance(left, Var):
            raise ArithmeticError_("attempted assignment to non-variable")
        self.advance()
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ArithmeticError_("expression recursion level exceeded")
        value = self.assignment()
        self.depth -= 1
        return Assign(left, operator, value)

    def conditional(self) -> Node:
        condition = self.binary(1)
        if self.word != "?":
            return condition
        read: list[Node] = []
        try:
            return self.branches(condition, read)
        except ArithmeticError_ as error:
            return self.until([Ternary(condition, read[0], Num(0)) if read else condition], str(error))

    def branches(self, condition: Node, read: list[Node]) -> Node:
        """What follows the `?` of a condition; the first of the two is noted in `read`."""
        self.advance()
        if self.word == ":" or not self.kind:
            raise ArithmeticError_("expression expected")
        then = self.comma()
        read.append(then)
        if self.wrong is not None:
            return Comma((Ternary(condition, then, Num(0)), self.wrong))
        if self.word != ":":
            raise ArithmeticError_("`:' expected for conditional expression")
        self.advance()
        if not self.kind:
            raise ArithmeticError_("expression expected")
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise ArithmeticError_("expression recursion level exceeded")
        otherwise = self.conditional()
        self.depth -= 1
        return self.all_read(Ternary(condition, then, otherwise))

    def all_read(self, node: Node) -> Node:
        """An expression that may skip a part of itself, but no mistake in it."""
        return node if self.wrong is None else Comma((node, self.wrong))

    def binary(self, level: int) -> Node:
        left = self.unary()
        self.split()
        while (own := _LEVELS.get(self.word, 0)) >= level:
            operator = self.word
            try:
                self.advance()
                # Only `**` binds to the right, and it takes unary operands on both sides.
                self.depth += 1
                if self.depth > MAX_DEPTH:
                    raise ArithmeticError_("expression recursion level exceeded")
                right = self.binary(own if operator == "**" else own + 1)
            except ArithmeticError_ as error:
                return self.until([left], str(error))
            self.depth -= 1
            left = self.all_read(Binary(operator, left, right))
            self.split()
        return left

    def unary(self) -> Node:
        signs: list[str] = []
        while self.word in ("!", "~", "+", "-", "++", "--"):
            if self.word in ("++", "--") and _NAME.match(self.text, self.at):
                operator = self.word
                self.advance()
                return _signed(signs, Increment(self.variable(), operator, prefix=True))
            self.split()
            signs.append(self.word)
            self.advance()
        return _signed(signs, self.primary())

    def primary(self) -> Node:
        if self.kind == "number":
            value = parse_number(self.word)
            self.advance()
            return Num(value)
        if self.kind == "name":
            target = self.variable()
            if self.word in ("++", "--"):
                operator = self.word
                self.advance()
                return Increment(target, operator, prefix=False)
            return target
        if self.word == "(":
            self.advance()
            inner = self.comma()
            try:
                if self.word != ")" and self.wrong is None:
                    raise ArithmeticError_("missing `)'")
                self.advance()
            except ArithmeticError_ as error:
                return self.until([inner], str(error))
            # An own node keeps `(a) = 1` from being an assignment.
            return Unary("+", inner) if isinstance(inner, Var) else inner
        raise ArithmeticError_("syntax error: operand expected")

    def variable(self) -> Var:
        name = self.word
        subscript: str | None = None
        if self.text.startswith("[", self.at):
            close = _closing_bracket(self.text, self.at)
            if close < 0:
                raise ArithmeticError_("bad array subscript")
            subscript = self.text[self.at + 1 : close]
            self.at = close + 1
        self.advance()
        return Var(name, subscript)


def _signed(signs: list[str], node: Node) -> Node:
    for sign in reversed(signs):
        node = Unary(sign, node)
    return node


def _closing_bracket(text: str, start: int) -> int:
    depth = 0
    for at in range(start, len(text)):
        if text[at] == "[":
            depth += 1
        elif text[at] == "]":
            depth -= 1
            if not depth:
                return at
    return -1


@lru_cache(maxsize=2048)
def parse_arithmetic(text: str) -> Node:
    """Reads an expanded expression (empty is 0); raises ArithmeticError_ with bash's message."""
    if len(text) > MAX_TEXT:
        raise ArithmeticError_("expression recursion level exceeded")
    parser = _Parser(text)
    if not parser.kind:
        return Num(0)
    node = parser.comma()
    return parser.until([node], "syntax error in expression") if parser.kind else node


def apply_unary(operator: str, value: int) -> int:
    """The value of `! ~ + -` on an operand."""
    match operator:
        case "!":
            return int(not value)
        case "~":
            return ~value
        case "-":
            return wrap(-value)
        case _:
            return value


_BINARY: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "<<": lambda a, b: a << (b & 63),
    ">>": lambda a, b: a >> (b & 63),
    "<": lambda a, b: a < b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    ">=": lambda a, b: a >= b,
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    "&": lambda a, b: a & b,
    "^": lambda a, b: a ^ b,
    "|": lambda a, b: a | b,
    "&&": lambda a, b: bool(a) and bool(b),
    "||": lambda a, b: bool(a) or bool(b),
}


def apply_binary(operator: str, left: int, right: int) -> int:
    """The 64-bit value of a binary operator; raises ArithmeticError_ (`division by 0`, `exponent less than 0`)."""
    if operator in ("/", "%"):
        if right == 0:
            raise ArithmeticError_("division by 0")
        quotient = abs(left) // abs(right)
        if (left < 0) != (right < 0):
            quotient = -quotient
        return wrap(quotient if operator == "/" else left - quotient * right)
    if operator == "**":
        if right < 0:
            raise ArithmeticError_("exponent less than 0")
        return wrap(pow(left, right, 1 << 64))
    return wrap(int(_BINARY[operator](left, right)))


Get = Callable[[str, str | None], str]
Set = Callable[[str, str | None, int], None]


class _Evaluator:
    def __init__(self, get: Get, set_: Set) -> None:
        self.get = get
        self.set = set_
        self.steps = 0

    def value(self, node: Node, depth: int) -> int:
        self.steps += 1
        if self.steps > MAX_STEPS:
            raise ArithmeticError_("expression recursion level exceeded")
        match node:
            case Num(value):
                return value
            case Var():
                return self.variable(node, depth)
            case Unary(operator, operand):
                return apply_unary(operator, self.value(operand, depth))
            case Binary("&&", left, right):
                return int(self.value(left, depth) != 0 and self.value(right, depth) != 0)
            case Binary("||", left, right):
                return int(self.value(left, depth) != 0 or self.value(right, depth) != 0)
            case Binary(operator, left, right):
                return apply_binary(operator, self.value(left, depth), self.value(right, depth))
            case Ternary(condition, then, otherwise):
                return self.value(then if self.value(condition, depth) else otherwise, depth)
            case Assign(target, operator, operand):
                return self.assign(target, operator, operand, depth)
            case Increment(target, operator, prefix):
                old = self.variable(target, depth)
                new = wrap(old + (1 if operator == "++" else -1))
                self.set(target.name, target.subscript, new)
                return new if prefix else old
            case Comma(items):
                result = 0
                for item in items:
                    result = self.value(item, depth)
                return result
            case Wrong(message):
                raise ArithmeticError_(message)

    def assign(self, target: Var, operator: str, operand: Node, depth: int) -> int:
        if operator == "=":
            result = self.value(operand, depth)
        else:
            old = self.variable(target, depth)
            result = apply_binary(operator[:-1], old, self.value(operand, depth))
        self.set(target.name, target.subscript, result)
        return result

    def variable(self, target: Var, depth: int) -> int:
        if depth >= MAX_VALUE_DEPTH:
            raise ArithmeticError_("expression recursion level exceeded")
        text = self.get(target.name, target.subscript)
        return self.value(parse_arithmetic(text), depth + 1)


def evaluate(node: Node, get: Get, set_: Set) -> int:
    """The value of an expression; a variable's text is one too. Raises ArithmeticError_ with bash's message."""
    try:
        return _Evaluator(get, set_).value(node, 0)
    except RecursionError:
        raise ArithmeticError_("expression recursion level exceeded") from None


def variables(node: Node) -> frozenset[str]:
    """The names that the expression reads or writes (not those inside subscripts)."""
    match node:
        case Num() | Wrong():
            return frozenset()
        case Var(name):
            return frozenset({name})
        case Unary(_, operand):
            return variables(operand)
        case Binary(_, left, right):
            return variables(left) | variables(right)
        case Ternary(condition, then, otherwise):
            return variables(condition) | variables(then) | variables(otherwise)
        case Assign(target, _, value):
            return frozenset({target.name}) | variables(value)
        case Increment(target):
            return frozenset({target.name})
        case Comma(items):
            return frozenset().union(*map(variables, items))

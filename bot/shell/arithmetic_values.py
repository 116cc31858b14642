"""Arithmetic over values: numbers that depend on inputs stay templates, decisions are observed."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

from botlint.documents import bash
from botlint.shell import arithmetic, expansion, variables
from botlint.shell.arithmetic import (
    ArithmeticError_,
    Assign,
    Binary,
    Comma,
    Increment,
    Num,
    Ternary,
    Unary,
    Var,
    Wrong,
    apply_binary,
    apply_unary,
    parse_arithmetic,
)
from botlint.shell.signals import ExitFlow
from botlint.shell.values import Text, Value, concat, derive, hole, reason_of, text_of

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell

MAX_DEPTH = 30
_DECIMAL = re.compile(r"\s*-?(?:0|[1-9][0-9]{0,17})\s*")

_HAS_EFFECT = re.compile(r"\+\+|--|[^=!<>]=(?!=)")

Number = int | Text


class ArithmeticProblem(Exception):  # noqa: N818
    """An expression that bash refuses."""


def evaluate(shell: Shell, word: bash.Word) -> Value:
    """An arithmetic word as text."""
    return _shown(_evaluate_text(shell, expansion.string(shell, word), 0))


def evaluate_text(shell: Shell, text: Value) -> Value:
    """A text as an arithmetic expression, as `declare -i` evaluates it; an error ends the shell as in bash."""
    try:
        return _shown(_evaluate_text(shell, text, 0))
    except ArithmeticProblem as problem:
        raise shell.discard(str(problem)) from None


def evaluate_plain(shell: Shell, text: Value) -> Value:
    """A text as an arithmetic expression. Raises ArithmeticProblem."""
    return _shown(_evaluate_text(shell, text, 0))


def number(shell: Shell, word: bash.Word) -> int | None:
    """A word as a concrete number, None if unknown."""
    try:
        value = evaluate(shell, word)
    except ArithmeticProblem as problem:
        raise shell.discard(str(problem)) from None
    text = shell.concrete(value)
    return None if text is None else int(text)


def index_number(shell: Shell, text: Value) -> int | None:
    """A subscript as a concrete number, None if unknown."""
    if isinstance(text, str) and text.isdigit() and (text == "0" or text[0] != "0"):
        return int(text)
    known = shell.concrete(evaluate_text(shell, text))
    return None if known is None else int(known)


def truth(shell: Shell, value: Value) -> bool | None:
    """Whether a number is not zero."""
    if isinstance(value, str):
        return int(value) != 0
    outcome = shell.observe(_nonzero, value)
    return outcome if outcome is None else bool(outcome)


def _nonzero(text: str) -> bool:
    return int(text) != 0


def _shown(value: Number) -> Value:
    return str(value) if isinstance(value, int) else value


def _evaluate_text(shell: Shell, text: Value, depth: int) -> Number:
    if depth > MAX_DEPTH:
        raise ArithmeticProblem("expression recursion level exceeded")
    if isinstance(text, str):
        try:
            node = parse_arithmetic(text)
        except ArithmeticError_ as error:
            raise ArithmeticProblem(f"{text}: {error}") from None
        return _Evaluation(shell, {}, depth).value(node, text)
    holes: dict[str, Text] = {}
    source: list[str] = []
    for piece in text.pieces:
        if isinstance(piece, str):
            source.append(piece)
            continue
        value = Text((piece,))
        if value.known and not shell.observe(_is_decimal, value):
            known = shell.concrete(value)
            assert known is not None
            source.append(known)
            continue
        joined = (source[-1][-1:] if source and source[-1] else "").isalnum()
        if joined or (source and source[-1].endswith("_")):
            known = shell.concrete(value)
            if known is None:
                return hole(reason_of(value), nonempty=True)
            source.append(known)
            continue
        name = f"__hole{len(holes)}"
        holes[name] = value
        source.append(f" {name} ")
    joined_source = "".join(source)
    try:
        node = parse_arithmetic(joined_source)
    except ArithmeticError_ as error:
        if not text.known:
            return hole(reason_of(text), nonempty=True)
        known = shell.concrete(text)
        raise ArithmeticProblem(f"{known}: {error}") from None
    return _Evaluation(shell, holes, depth).value(node, text_of(text) or joined_source)


def _is_decimal(text: str) -> bool:
    return _DECIMAL.fullmatch(text) is not None


class _Evaluation:
    """Evaluates one parsed expression."""

    __slots__ = ("depth", "holes", "shell")

    def __init__(self, shell: Shell, holes: dict[str, Text], depth: int) -> None:
        self.shell = shell
        self.holes = holes
        self.depth = depth

    def value(self, node: arithmetic.Node, text: str) -> Number:
        try:
            return self.eval(node)
        except ArithmeticError_ as error:
            raise ArithmeticProblem(f"{text}: {error}") from None

    def eval(self, node: arithmetic.Node) -> Number:
        if isinstance(node, Num):
            return node.value
        if isinstance(node, Var):
            return self.variable(node)
        if isinstance(node, Binary):
            return self.binary(node)
        if isinstance(node, Unary):
            operand = self.eval(node.operand)
            if isinstance(operand, int):
                return apply_unary(node.operator, operand)
            return _derived(partial(_unary, node.operator), operand)
        if isinstance(node, Ternary):
            condition = self.truth(self.eval(node.condition))
            if condition is None:
                left, right = self.eval(node.then), self.eval(node.otherwise)
                return left if left == right else hole("arithmetic on something unknown", nonempty=True)
            return self.eval(node.then if condition else node.otherwise)
        if isinstance(node, Assign):
            return self.assign(node)
        if isinstance(node, Increment):
            target = self.settled(node.target)
            old = self.variable(target)
            step = 1 if node.operator == "++" else -1
            new: Number = apply_binary("+", old, step) if isinstance(old, int) else _derived(partial(_plus, step), old)
            self.store(target, new)
            return new if node.prefix else old
        if isinstance(node, Wrong):
            raise ArithmeticError_(node.message)
        assert isinstance(node, Comma)
        value: Number = 0
        for item in node.items:
            value = self.eval(item)
        return value

    def truth(self, value: Number) -> bool | None:
        return value != 0 if isinstance(value, int) else truth(self.shell, value)

    def binary(self, node: Binary) -> Number:
        operator = node.operator
        left = self.eval(node.left)
        if operator in ("&&", "||"):
            decided = self.truth(left)
            if decided is None:
                right = self.truth(self.eval(node.right))
                if right is (operator == "||"):
                    return int(operator == "||")
                return hole("arithmetic on something unknown", nonempty=True)
            if decided == (operator == "||"):
                return int(decided)
            other = self.truth(self.eval(node.right))
            return hole("arithmetic on something unknown", nonempty=True) if other is None else int(other)
        right_value = self.eval(node.right)
        if isinstance(left, int) and isinstance(right_value, int):
            return apply_binary(operator, left, right_value)
        if operator in ("/", "%") and isinstance(right_value, Text):
            if right_value.known and not truth(self.shell, right_value):
                raise ArithmeticError_("division by 0")
        elif operator in ("/", "%") and right_value == 0:
            raise ArithmeticError_("division by 0")
        if operator == "**" and isinstance(right_value, Text) and right_value.known:
            known = self.shell.concrete(right_value)
            assert known is not None
            right_value = int(known)
            if isinstance(left, int):
                return apply_binary(operator, left, right_value)
        return _derived(partial(_binary, operator), left, right_value)

    def variable(self, node: Var) -> Number:
        if node.name in self.holes:
            hole_value = self.holes[node.name]
            return hole_value if hole_value.text is None or hole_value.symbolic else int(hole_value.text)
        value = self.lookup(node)
        if value is None:
            if self.shell.options.get("nounset"):
                self.shell.complain(f"{node.name}: unbound variable")
                raise ExitFlow(1, self.shell.place(), self.shell.message())
            return 0
        if isinstance(value, str):
            if _DECIMAL.fullmatch(value):
                return int(value)
            return _evaluate_text(self.shell, value, self.depth + 1) if value.strip() else 0
        if not value.known:
            return hole(reason_of(value), nonempty=True)
        if self.shell.observe(_is_decimal, value):
            return value
        known = self.shell.concrete(value)
        assert known is not None
        return _evaluate_text(self.shell, known, self.depth + 1) if known.strip() else 0

    def lookup(self, node: Var) -> Value | None:
        if node.subscript is None:
            return variables.scalar(self.shell, node.name)
        return variables.element(self.shell, node.name, self.subscript(node))

    def subscript(self, node: Var) -> Value:
        assert node.subscript is not None
        text: Value = node.subscript
        for name, value in self.holes.items():
            if name in node.subscript:
                before, _, after = node.subscript.partition(f" {name} ")
                text = concat([before, value, after])
        return text

    def assign(self, node: Assign) -> Number:
        if node.operator == "=":
            value = self.eval(node.value)
            self.store(node.target, value)
            return value
        # The old value counts from before the right side is evaluated, and a subscript is evaluated once.
        target = self.settled(node.target)
        old, value = self.variable(target), self.eval(node.value)
        operator = node.operator[:-1]
        if isinstance(old, int) and isinstance(value, int):
            value = apply_binary(operator, old, value)
        else:
            if operator in ("/", "%") and truth(self.shell, _shown(value)) is False:
                raise ArithmeticError_("division by 0")
            value = _derived(partial(_binary, operator), old, value)
        self.store(target, value)
        return value

    def settled(self, target: Var) -> Var:
        """An element whose subscript has effects, under the number that it comes to."""
        if target.subscript is None or not _HAS_EFFECT.search(target.subscript):
            return target
        variable = self.shell.get(target.name)
        if variable is not None and variable.kind == "assoc":
            return target
        found = index_number(self.shell, self.subscript(target))
        return target if found is None else Var(target.name, str(found))

    def store(self, target: Var, value: Number) -> None:
        index = None if target.subscript is None else self.subscript(target)
        if not self.shell.assign(target.name, _shown(value), False, index):
            raise ArithmeticProblem("")


def _derived(function: object, *arguments: Number) -> Number:
    for argument in arguments:
        if isinstance(argument, Text) and not argument.known:
            return hole(reason_of(argument), nonempty=True)
    value = derive(function, *[_shown(a) for a in arguments])  # type: ignore[arg-type]
    return int(value) if isinstance(value, str) else value


def _unary(operator: str, text: str) -> str:
    return str(apply_unary(operator, int(text)))


def _binary(operator: str, left: str, right: str) -> str:
    try:
        return str(apply_binary(operator, int(left), int(right)))
    except ArithmeticError_:
        return "0"


def _plus(step: int, text: str) -> str:
    return str(apply_binary("+", int(text), step))

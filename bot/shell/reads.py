"""Which variables a piece of bash looks at, and where a script sets or removes a name, by its text alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from botlint.documents import bash

_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_DECLARES = frozenset({"export", "declare", "typeset", "readonly", "local", "unset"})
_SETS = frozenset({"read", "mapfile", "readarray"})

MAX_DEPTH = 200
"""Deepest nesting that is searched."""


def names_read(node: object) -> dict[str, None]:
    """The parameters that a word, assignment, condition or simple command looks at, in order of appearance.

    Compound commands count by what they decide on (the words of `for` and `case`), not by their bodies.
    """
    names: dict[str, None] = {}
    _collect(node, names, 0)
    return names


def _collect(node: object, names: dict[str, None], depth: int) -> None:
    if depth > MAX_DEPTH:
        return
    for inner in _parts(node, names):
        _collect(inner, names, depth + 1)


def _parts(node: object, names: dict[str, None]) -> Iterable[object]:
    """Notes what a node itself reads and gives what lies inside."""
    found = _PARTS.get(node.__class__)
    return () if found is None else found(node, names)


def _param(node: bash.Param, names: dict[str, None]) -> Iterable[object]:
    names[node.name] = None
    return [part for part in (node.index, node.arg, node.arg2) if isinstance(part, bash.Word)]


def _arith(node: bash.ArithSub | bash.Arith, names: dict[str, None]) -> Iterable[object]:
    _arithmetic(node.expr, names)
    return node.expr.parts


def _body(node: bash.CommandSub | bash.ProcessSub | bash.Group, _: dict[str, None]) -> Iterable[object]:
    return [item for statement in node.body for item in flat(statement)]


def _assign(node: bash.Assign, names: dict[str, None]) -> Iterable[object]:
    if node.append:
        names[node.name] = None
    array = [part for index, _, word in node.array or () for part in (index, word)]
    return [part for part in (node.index, node.value, *array) if part is not None]


def _for(node: bash.For, names: dict[str, None]) -> Iterable[object]:
    if node.words is None:
        names["@"] = None
    return node.words or ()


def _case(node: bash.Case, _: dict[str, None]) -> Iterable[object]:
    return [node.word, *(pattern for patterns, _, _ in node.items for pattern in patterns)]


def _unary(node: bash.CondUnary, names: dict[str, None]) -> Iterable[object]:
    if node.op in ("-v", "-R") and node.word.literal:
        names[node.word.literal.partition("[")[0]] = None
    return [node.word]


def _binary(node: bash.CondBinary, names: dict[str, None]) -> Iterable[object]:
    if node.op in ("-eq", "-ne", "-lt", "-le", "-gt", "-ge"):
        for word in (node.left, node.right):
            _arithmetic(word, names)
    return [node.left, node.right]


def _command_parts(node: bash.Command, names: dict[str, None]) -> list[object]:
    first = node.words[0].literal if node.words else None
    declares = node.declares or {}
    if first in _DECLARES:
        for position, word in enumerate(node.words[1:], 1):
            if position not in declares and word.literal and _IDENTIFIER.fullmatch(word.literal):
                names[word.literal] = None
    if first in ("[", "test"):
        for before, word in zip(node.words, node.words[1:], strict=False):
            if before.literal == "-v" and word.literal:
                names[word.literal.partition("[")[0]] = None
    words = [word for position, word in enumerate(node.words) if position not in declares]
    return [*node.assigns, *declares.values(), *words, *node.redirects]


def _arithmetic(word: bash.Word, names: dict[str, None]) -> None:
    for part in word.parts:
        text = part.text if isinstance(part, bash.Quoted) else part
        if isinstance(text, str):
            names.update(dict.fromkeys(_IDENTIFIER.findall(text)))


_PARTS: dict[type, Callable[[Any, dict[str, None]], Iterable[object]]] = {
    bash.Param: _param,
    bash.Word: lambda node, _: node.parts,
    bash.DoubleQuoted: lambda node, _: node.parts,
    bash.ArithSub: _arith,
    bash.Arith: _arith,
    bash.CommandSub: _body,
    bash.ProcessSub: _body,
    bash.Group: _body,
    bash.Assign: _assign,
    bash.Command: _command_parts,
    bash.For: _for,
    bash.Case: _case,
    bash.Cond: lambda node, _: [node.expr],
    bash.CondUnary: _unary,
    bash.CondBinary: _binary,
    bash.CondNot: lambda node, _: [node.expr],
    bash.CondLogic: lambda node, _: [node.left, node.right],
    bash.Redirect: lambda node, _: [node.target],
}


def flat(node: bash.Statement) -> Iterator[object]:
    """The simple commands and conditions of a list or pipeline."""
    if isinstance(node, bash.AndOr):
        for item in node.items:
            yield from flat(item)
    elif isinstance(node, bash.Pipeline):
        for stage in node.stages:
            yield from flat(stage)
    elif isinstance(node, (bash.Group, bash.Subshell)):
        for statement in node.body:
            yield from flat(statement)
    elif isinstance(node, bash.Background):
        yield from flat(node.body)
    else:
        yield node


# ------------------------------------------------------------------------------------------------------------ mentions


@dataclass(frozen=True, slots=True)
class Condition:
    """A test around a statement: where it begins and ends, and the way that leads to the statement."""

    pos: int
    end: int
    taken: bool | str


@dataclass(frozen=True, slots=True)
class Mention:
    """A place of a script that would set or unset a name, with the tests around it, outermost first."""

    kind: Literal["set", "unset"]
    pos: int
    conditions: tuple[Condition, ...]


def mentions(statements: Iterable[bash.Statement], name: str) -> list[Mention]:
    """Where statements set or unset a variable, whether they run or not."""

    def look(node: bash.Statement) -> Iterator[tuple[Literal["set", "unset"], int]]:
        if isinstance(node, bash.Command):
            kind = _mention(node, name)
            if kind is not None:
                yield kind, node.pos
        elif isinstance(node, bash.For) and node.name == name:
            yield "set", node.pos

    return list(_search(statements, look, (), 0))


def spelling(flag: str) -> re.Pattern[str]:
    """What finds an option in the text of a script."""
    return re.compile(rf"(?<![\w-]){re.escape(flag)}(?![\w-])")


def spellings(statements: Iterable[bash.Statement], text: str, flag: str) -> list[Mention]:
    """Where simple commands and assignments spell an option, whether they run or not."""
    pattern = spelling(flag)

    def look(node: bash.Statement) -> Iterator[tuple[Literal["set", "unset"], int]]:
        if isinstance(node, bash.Command):
            yield from (("set", match.start()) for match in pattern.finditer(text, node.pos, node.end))

    return list(_search(statements, look, (), 0))


_OPTION = re.compile(r"(?<![\w-])--?[A-Za-z][\w.-]*")


def options_spelt(statements: Iterable[bash.Statement], text: str) -> dict[str, dict[int, int]]:
    """Where simple commands and assignments spell options, whether they run or not.

    By option the positions, each with that of the command around it.
    """
    found: dict[str, dict[int, int]] = {}

    def look(node: bash.Statement) -> Iterator[tuple[Literal["set", "unset"], int]]:
        if isinstance(node, bash.Command):
            for match in _OPTION.finditer(text, node.pos, node.end):
                found.setdefault(match[0], {})[match.start()] = node.pos
        return iter(())

    for _ in _search(statements, look, (), 0):
        pass
    return found


Look = Callable[[bash.Statement], Iterable[tuple[Literal["set", "unset"], int]]]


def _search(
    statements: Iterable[bash.Statement], look: Look, under: tuple[Condition, ...], depth: int
) -> Iterator[Mention]:
    if depth > MAX_DEPTH:
        return
    for node in statements:
        for kind, pos in look(node):
            yield Mention(kind, pos, under)
        for body, condition in _bodies(node):
            yield from _search(body, look, under if condition is None else (*under, condition), depth + 1)


def _bodies(node: bash.Statement) -> Iterator[tuple[Sequence[bash.Statement], Condition | None]]:
    """The statements inside a compound command, each list with the test that leads to it."""
    if isinstance(node, bash.If):
        for condition, body in node.clauses:
            yield condition, None
            yield body, Condition(condition[0].pos, condition[-1].end, True)
        if node.orelse is not None:
            last = node.clauses[-1][0]
            yield node.orelse, Condition(last[0].pos, last[-1].end, False)
    elif isinstance(node, bash.Case):
        for patterns, body, _ in node.items:
            yield body, Condition(node.pos, node.pos, "|".join(pattern.text for pattern in patterns))
    elif isinstance(node, bash.AndOr):
        yield node.items[:1], None
        for number, operator in enumerate(node.operators):
            before = node.items[number]
            yield node.items[number + 1 : number + 2], Condition(before.pos, before.end, operator == "&&")
    elif isinstance(node, bash.While):
        yield node.condition, None
        yield node.body, None
    elif isinstance(node, (bash.For, bash.ArithFor, bash.Group, bash.Subshell)):
        yield node.body, None
    elif isinstance(node, (bash.Function, bash.Background)):
        yield [node.body], None
    elif isinstance(node, bash.Pipeline):
        yield node.stages, None


def _mention(node: bash.Command, name: str) -> Literal["set", "unset"] | None:
    if any(assign.name == name for assign in node.assigns):
        return "set"
    if any(assign.name == name for assign in (node.declares or {}).values()):
        return "set"
    literals = [word.literal for word in node.words]
    if not literals or name not in literals[1:]:
        return None
    if literals[0] == "unset":
        return "unset"
    if literals[0] in ("export", "declare", "readonly", "typeset") or literals[0] in _SETS:
        return "set"
    return "set" if literals[:3] == ["printf", "-v", name] else None

"""Options that functions of scripts take, read from the loop over `$1` in which they look at them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from botlint.documents import bash_nodes as bash
from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.analysis.scripts_walk import Call, ScriptFacts
from botlint.engine.analysis.spelling import closest
from botlint.engine.context import Context

_FIRST = frozenset({"$1", '"$1"', "${1}", '"${1}"', '"${1:-}"', "${1:-}"})
_OPTION = re.compile(r"--[a-z][\w-]*\Z")
_WORD = re.compile(r"--[a-z][\w-]*")
_REFUSES = re.compile(r"\b(?:return|exit)[ \t]+[\"']?[1-9]|\b(?:die|fatal|usage)\b")

MAX_STATEMENTS = 2_000
"""Statements of one function that are looked at."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options that a function takes; it refuses every other one."""

    function: bash.Function
    facts: ScriptFacts
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class Refused:
    """An option that a function is given and refuses."""

    facts: ScriptFacts
    call: Call
    number: int
    option: str
    closest: str
    taker: Options


def refused_options(context: Context) -> Iterator[Refused]:
    """The options that scripts give functions which do not take them."""
    found = scripts(context)
    takers = context.once(_takers)
    for path, facts in found.by_path.items():
        if is_archived(path):
            continue
        near: Mapping[str, Options] | None = None
        for call in facts.calls:
            if call.name not in takers or call.command.declares:
                continue
            if near is None:
                near = {
                    name: one
                    for name, ones in takers.items()
                    for one in ones
                    if one.facts is facts or one.facts.path in found.libraries(path)
                }
            taker = near.get(call.name)
            if taker is None or len(takers[call.name]) > 1:
                continue
            for number, word in enumerate(call.words[1:], 1):
                if word.text == "--":
                    break
                if _WORD.fullmatch(word.text) and word.text not in taker.names:
                    yield Refused(facts, call, number, word.text, closest(word.text, sorted(taker.names)), taker)


def _takers(context: Context) -> dict[str, list[Options]]:
    found: dict[str, list[Options]] = {}
    for facts in scripts(context).by_path.values():
        for name, function in facts.functions.items():
            names = _names(function)
            if names:
                found.setdefault(name, []).append(Options(function, facts, names))
    return found


def _names(function: bash.Function) -> frozenset[str]:
    """The options of the loop over `$1`, if the function refuses all others."""
    todo: list[object] = [function.body]
    names: set[str] = set()
    refuses = False
    for _ in range(MAX_STATEMENTS):
        if not todo:
            break
        node = todo.pop()
        if isinstance(node, (bash.While, bash.Group)):
            todo.extend(node.body)
        elif isinstance(node, bash.Case) and node.word.text in _FIRST:
            for patterns, body, _ in node.items:
                texts = [pattern.text.strip("\"'") for pattern in patterns]
                names.update(text.removesuffix("=*") for text in texts if _OPTION.match(text.removesuffix("=*")))
                if "*" in texts or "-*" in texts or "--*" in texts:
                    refuses = bool(body) and _REFUSES.search(_source(function, body)) is not None
    return frozenset(names) if refuses else frozenset()


def _source(function: bash.Function, body: list[bash.Statement]) -> str:
    return function.source.text[body[0].pos : body[-1].end]

"""Calls of functions that no script around defines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from botlint.engine.analysis.scripts import Scripts, is_archived, scripts
from botlint.engine.analysis.scripts_names import Spellings, closest_name
from botlint.engine.analysis.scripts_walk import Call, ScriptFacts
from botlint.engine.context import Context

_FUNCTION = re.compile(r"[a-z]\w*_\w+\Z")
"""Functions of scripts have names of several words; programmes hardly ever have an underscore in theirs."""


@dataclass(frozen=True, slots=True)
class UnknownFunction:
    """A command that looks like a function and is none that the script can call."""

    facts: ScriptFacts
    call: Call
    closest: str
    """A function that it can call and whose name differs by a slip, else empty."""
    elsewhere: str
    """A script that defines it and that this one does not source, else empty."""
    before: str
    """The script around that defined it in the base revision, else empty."""
    count: int


def unknown_functions(context: Context) -> Iterator[UnknownFunction]:
    """The calls of functions that are defined nowhere around, by script and name.

    Nothing is said of scripts that source what is not known or not there.
    """
    found = scripts(context)
    defined: dict[str, str] = {}
    for path, facts in found.by_path.items():
        for name in facts.functions:
            defined.setdefault(name, path)
    for path, facts in found.by_path.items():
        if is_archived(path):
            continue
        calls: dict[str, list[Call]] = {}
        for call in facts.calls:
            if "_" in call.name and call.name not in facts.functions and _FUNCTION.match(call.name):
                calls.setdefault(call.name, []).append(call)
        if not calls:
            continue
        around = {name for one in found.around(path) for name in one.functions}
        unknown = {name: some for name, some in calls.items() if name not in around}
        if not unknown or any(not _read(context, found, one) for one in [path, *found.libraries(path)]):
            continue
        spellings = Spellings(around)
        for name, some in unknown.items():
            if re.search(rf"\b(?:command -v|type|which|declare -[fF]+|alias)\s+[\"']?{name}\b", facts.code):
                continue
            elsewhere = defined.get(name, "")
            yield UnknownFunction(
                facts, some[0], closest_name(name, spellings)[0], elsewhere, _before(context, path, name), len(some)
            )


def _read(context: Context, found: Scripts, path: str) -> bool:
    """Whether everything that a script sources was found."""
    return all(
        found.library(path, one) is not None or (one.target is not None and context.files.is_file(one.target))
        for one in found.sources.get(path, ())
    )


def _before(context: Context, path: str, name: str) -> str:
    """The script around that defined a function in the base revision."""
    if context.base is None:
        return ""
    base = scripts(context.base)
    if path not in base.by_path:
        return ""
    return next((one.path for one in base.around(path) if name in one.functions), "")

"""Functions of the repository that nearly all scripts of a folder call under a test of the same variable."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.analysis.scripts_walk import Call, ScriptFacts
from botlint.engine.context import Context

_READ = re.compile(r"\$\{?([A-Za-z_]\w*)")

MIN_SCRIPTS = 8
"""Scripts of a folder that have to agree."""

MAX_ODD = 0.1
"""The part of them that may do otherwise: where more do, it is no custom."""


@dataclass(frozen=True, slots=True)
class UnguardedCall:
    """A call outside of the test that the others of the folder have around it."""

    facts: ScriptFacts
    call: Call
    guard: str
    """The variable that the others test."""
    scripts: int
    guarded: int


def unguarded_calls(context: Context) -> Iterator[UnguardedCall]:
    """The calls that stand outside of what is customary."""
    found = scripts(context)
    functions = {name for facts in found.by_path.values() for name in facts.functions}
    places: dict[tuple[str, str], list[tuple[ScriptFacts, list[Call]]]] = {}
    for path, facts in found.by_path.items():
        calls: dict[str, list[Call]] = {}
        for call in facts.calls:
            if call.name in functions and not call.function and not is_archived(path):
                calls.setdefault(call.name, []).append(call)
        for name, ones in calls.items():
            places.setdefault((path.rpartition("/")[0], name), []).append((facts, ones))
    for users in places.values():
        if len(users) < MIN_SCRIPTS:
            continue
        counts = Counter(name for _, calls in users for name in set.intersection(*map(_tested, calls)))
        for guard, guarded in counts.most_common(1):
            if guarded == len(users) or len(users) - guarded > MAX_ODD * len(users):
                continue
            for facts, ones in users:
                for one in ones:
                    if guard not in _tested(one):
                        yield UnguardedCall(facts, one, guard, len(users), guarded)


def _tested(call: Call) -> set[str]:
    """The variables of the tests around a call."""
    return {name for text in call.guards for name in _READ.findall(text)}

"""Calls of functions that no script around defines."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts_functions import unknown_functions
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in unknown_functions(context):
        start = one.call.word_start(0)
        yield Core(
            f"{one.facts.path}:{one.call.name}",
            {
                "name": one.call.name,
                "closest": one.closest,
                "elsewhere": one.elsewhere,
                "before": one.before,
                "count": one.count,
                "script": one.facts.path,
            },
            {"call": one.facts.span(start, start + len(one.call.name))},
        )


VIEW = View(
    "unknown_function",
    "A command that by its name is a function, and that neither the script nor what it sources defines.",
    (
        Fact("name", "string", "The name."),
        Fact("closest", "string", "A function that can be called and whose name is nearly the same, else empty."),
        Fact("elsewhere", "string", "A script that defines it and is not sourced, else empty."),
        Fact("before", "string", "The script that defined it in the base revision, else empty."),
        Fact("count", "int", "How often it is called."),
        Fact("script", "string", "The script."),
    ),
    {"call": "the first call"},
    build,
)

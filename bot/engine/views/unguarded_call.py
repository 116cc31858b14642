"""Calls of functions outside of the test that nearly all other scripts of the folder have around them."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.call_guards import unguarded_calls
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in unguarded_calls(context):
        facts = one.facts
        yield Core(
            f"{facts.path}:{one.call.name}",
            {
                "function": one.call.name,
                "path": facts.path,
                "folder": facts.path.rpartition("/")[0],
                "guard": one.guard,
                "scripts": one.scripts,
                "guarded": one.guarded,
            },
            {"call": facts.span(one.call.start, one.call.end)},
        )


VIEW = View(
    name="unguarded_call",
    doc="A call of a function outside of the test that nearly all other scripts of the folder have around it.",
    facts=(
        Fact("function", "string", "the function"),
        Fact("path", "string", "the script"),
        Fact("folder", "string", "its folder"),
        Fact("guard", "string", "the variable that the others test"),
        Fact("scripts", "int", "the scripts of the folder that call the function"),
        Fact("guarded", "int", "those that test the variable before every call"),
    ),
    anchors={"call": "the call"},
    build=_build,
)

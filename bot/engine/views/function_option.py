"""Options given to functions that refuse them."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.function_options import refused_options
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in refused_options(context):
        start = one.call.word_start(one.number)
        taker = one.taker
        yield Core(
            f"{one.facts.path}:{one.call.name}:{one.option}",
            {
                "name": one.option,
                "function": one.call.name,
                "closest": one.closest,
                "names": sorted(taker.names),
                "library": taker.facts.path,
                "script": one.facts.path,
            },
            {
                "option": one.facts.span(start, start + len(one.option)),
                "function": taker.facts.span(taker.function.pos, taker.function.pos + len(taker.function.name)),
            },
        )


VIEW = View(
    "function_option",
    "An option that a script gives a function which ends with an error for every option that it does not know.",
    (
        Fact("name", "string", "The option."),
        Fact("function", "string", "The function."),
        Fact("closest", "string", "The nearest option that it takes, empty if none is near."),
        Fact("names", "list<string>", "The options that it takes."),
        Fact("library", "string", "The script that defines the function."),
        Fact("script", "string", "The script that calls it."),
    ),
    {"option": "the option", "function": "the function"},
    build,
)

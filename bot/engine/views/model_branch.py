"""Branches of launchers for models."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import scripts
from botlint.engine.analysis.scripts_launchers import model_branches
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in model_branches(scripts(context)):
        yield Core(
            f"{one.facts.path}:{one.value}",
            {
                "value": one.value,
                "known": one.known,
                "precision": one.precision,
                "prefix": one.prefix,
                "script": one.facts.path,
            },
            {"value": one.facts.span(one.start, one.end)},
        )


VIEW = View(
    "model_branch",
    "A comparison of MODEL_PREFIX with a value in a launcher.",
    (
        Fact("value", "string", "The value."),
        Fact("known", "bool", "Whether a config has it as its model-prefix."),
        Fact("precision", "string", "The precision that the value ends with, else empty."),
        Fact("prefix", "string", "The value without its precision, else empty."),
        Fact("script", "string", "The script."),
    ),
    {"value": "the value"},
    build,
)

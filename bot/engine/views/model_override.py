"""Overrides of a model's configuration."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived
from botlint.engine.analysis.scripts_patches import overrides
from botlint.engine.analysis.scripts_servers import scenario
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in overrides(context):
        facts = one.facts
        yield Core(
            f"{facts.path}:{one.flag}",
            {
                "flag": one.flag,
                "keys": list(one.keys),
                "waiver": one.waiver,
                "scenario": scenario(facts),
                "script": facts.path,
                "archived": is_archived(facts.path),
            },
            {"flag": facts.span(one.start, one.end)},
        )


VIEW = View(
    "model_override",
    "A flag of a server in a script that overrides the model's configuration.",
    (
        Fact("flag", "string", "The flag."),
        Fact("keys", "list<string>", "The keys that its value sets, the nested ones included."),
        Fact("waiver", "string", "The waiver that names the script, else empty."),
        Fact("scenario", "string", "fixed (prompts of fixed lengths), agentic, multi (several nodes) or other."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"flag": "the flag, or the text that brings it"},
    build,
)

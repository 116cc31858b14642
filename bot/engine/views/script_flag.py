"""Flags of servers in repositories whose scripts name no image."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts_flags import unknown_flags
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in unknown_flags(context):
        facts = one.server.facts
        yield Core(
            f"{facts.path}:{one.flag}",
            {"flag": one.flag, "closest": one.closest, "framework": one.server.kind, "script": facts.path},
            {"flag": facts.span(one.start, one.end)},
        )


VIEW = View(
    "script_flag",
    "A flag of a server that no version of its framework knows, in a repository whose configs name no image.",
    (
        Fact("flag", "string", "The flag."),
        Fact("closest", "string", "The flag that is nearly the same, else empty."),
        Fact("framework", "string", "vllm, sglang or atom."),
        Fact("script", "string", "The script."),
    ),
    {"flag": "the flag"},
    build,
)

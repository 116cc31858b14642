"""Changes that scripts make to the engine of the image."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived
from botlint.engine.analysis.scripts_patches import Patches, Waivers
from botlint.engine.analysis.scripts_servers import scenario
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in context.once(Patches).found:
        facts = one.facts
        anchors = {"change": facts.span(one.start, one.end)}
        node = next((node for node in facts.functions.values() if node.pos <= one.start < node.end), None)
        if node is not None:
            anchors["function"] = facts.span(node.pos, node.pos + len(node.name))
        yield Core(
            f"{facts.path}:{one.kind}:{one.target}",
            {
                "kind": one.kind,
                "target": one.target,
                "waiver": one.waiver,
                "policy": context.once(Waivers).asked_for,
                "scenario": scenario(facts),
                "script": facts.path,
                "archived": is_archived(facts.path),
            },
            anchors,
        )


VIEW = View(
    "engine_patch",
    "A change of the engine that the image brings, made by a script before it serves.",
    (
        Fact("kind", "string", "sed, patch or python."),
        Fact("target", "string", "What is changed, as far as it is written."),
        Fact("waiver", "string", "The waiver that names the script or one that calls it, else empty."),
        Fact("policy", "bool", "Whether the repository's documents ask for waivers."),
        Fact("scenario", "string", "fixed (prompts of fixed lengths), agentic, multi (several nodes) or other."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"change": "the command or text that makes the change", "function": "the function that holds it"},
    build,
)

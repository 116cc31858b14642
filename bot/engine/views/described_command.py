"""Commands of the description of the pull request under review."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.described import described
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View, no_place


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in described(context):
        values = {
            "name": one.name,
            "entry": one.job.entry,
            "path": one.path,
            "differences": list(one.differences),
        }
        yield Core(one.name, values, {"pull": no_place(), "launched": one.span})


VIEW = View(
    name="described_command",
    doc="A launch command of the description under review that is not what the changed files launch.",
    facts=(
        Fact("name", "string", "the section in which it is"),
        Fact("entry", "string", "the entry whose launch is nearest to it"),
        Fact("path", "string", "the changed file that is launched"),
        Fact("differences", "list<string>", "what differs: options and the engine's variables"),
    ),
    anchors={"pull": "the pull request as a whole", "launched": "where the changed file starts the server"},
    build=_build,
)

"""Names that one place of the scripts writes otherwise than all others, by a slip."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.odd_names import odd_names
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in odd_names(context):
        yield Core(
            f"{one.path}:{one.name}",
            {
                "name": one.name,
                "path": one.path,
                "option": one.name.startswith("-"),
                "usual": one.usual,
                "files": one.files,
                "before": one.before,
            },
            {"name": one.span},
        )


VIEW = View(
    name="odd_name",
    doc="A long name of a variable, option or backend that stands once in all scripts, a slip away from a usual one.",
    facts=(
        Fact("name", "string", "the name"),
        Fact("path", "string", "the script"),
        Fact("option", "bool", "it is an option"),
        Fact("usual", "string", "the usual name"),
        Fact("files", "int", "the scripts that write the usual name"),
        Fact("before", "bool", "only the base of the change wrote the usual name, in this script"),
    ),
    anchors={"name": "the name"},
    build=_build,
)

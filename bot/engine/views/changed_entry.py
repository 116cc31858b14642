"""Entries that a change touches, and whether its changelog says so."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.changed_entries import changed_entries
from botlint.engine.analysis.shapes import CHANGELOG
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    if context.base is None or not context.files.is_file(CHANGELOG):
        return
    for one in context.once(changed_entries):
        values = {
            "name": one.entry,
            "file": one.file,
            "new": one.is_new,
            "by_fields": one.by_fields,
            "listed": one.listed,
        }
        yield Core(one.entry, values, {"place": one.place, "change": one.change, "entry": one.at})


VIEW = View(
    name="changed_entry",
    doc="An entry whose fields, or whose script or recipe, the change touches (needs a base revision and a changelog).",
    facts=(
        Fact("name", "string", "key of the entry"),
        Fact("file", "string", "what changed: the master config, a script or a recipe"),
        Fact("new", "bool", "the change adds the entry"),
        Fact("by_fields", "bool", "its fields changed; if not, only files that its jobs run"),
        Fact("listed", "bool", "a changelog entry of the change names it"),
    ),
    anchors={
        "place": "where the changed file starts the server, else the first changed line",
        "change": "the first changed line",
        "entry": "the entry's key",
    },
    build=_build,
)

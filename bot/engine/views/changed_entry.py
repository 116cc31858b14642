"""Entries that a change touches, and whether its changelog says so."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.changed_entries import ChangedEntry, changed_entries
from botlint.engine.analysis.shapes import CHANGELOG
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    if context.base is None or not context.files.is_file(CHANGELOG):
        return
    by_file: dict[str, list[ChangedEntry]] = {}
    for one in context.once(changed_entries):
        # Entries that change by themselves are told apart; those that run the same script are told together.
        by_file.setdefault(one.entry if one.by_fields else f"\0{one.file}", []).append(one)
    for members in by_file.values():
        first = members[0]
        values = {
            "names": [one.entry for one in members],
            "unlisted": [one.entry for one in members if not one.listed],
            "file": first.file,
            "new": first.is_new,
            "by_fields": first.by_fields,
        }
        key = first.entry if first.by_fields else first.file
        yield Core(key, values, {"place": first.place, "change": first.change, "entry": first.at})


VIEW = View(
    name="changed_entry",
    doc="An entry whose fields a change touches, or the entries that run a file that it touches.",
    facts=(
        Fact("names", "list<string>", "the entries"),
        Fact("unlisted", "list<string>", "those of them that no changelog entry of the change names"),
        Fact("file", "string", "what changed: the master config, a script or a recipe"),
        Fact("new", "bool", "the change adds the entry"),
        Fact("by_fields", "bool", "the fields of an entry changed; if not, a file that jobs of the entries run"),
    ),
    anchors={
        "place": "where the changed file starts the server, else the first changed line",
        "change": "the first changed line",
        "entry": "the first entry's key",
    },
    build=_build,
)

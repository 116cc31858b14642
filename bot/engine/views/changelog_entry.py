"""Entries of the performance changelog."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from botlint.engine.analysis.changelog import ChangelogEntry, added, entries, link_form
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View


@dataclass(frozen=True, slots=True)
class Listed:
    """What the record of an entry's key is made of."""

    entry: ChangelogEntry
    is_looked_at: bool


FLAGS = ("evals-only", "all-evals", "append-only")


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    found = context.once(entries)
    new = context.once(added)
    numbers = None if new is None else {one.number for one in new}
    before: dict[str, ChangelogEntry] = {}
    mixed = new is not None and len({one.flag("append-only") for one in new}) > 1
    for entry in found:
        text = repr(sorted(entry.fields.items(), key=str))
        earlier = before.get(text)
        before.setdefault(text, entry)
        if numbers is None or entry.number in numbers:
            yield _core(entry, numbers is not None, entry.number == len(found), earlier, mixed)


def _core(entry: ChangelogEntry, new: bool, last: bool, earlier: ChangelogEntry | None, mixed: bool) -> Core:
    keys = [name for name, _ in entry.keys]
    values: dict[str, FactValue] = {
        "number": entry.number,
        "new": new,
        "last": last,
        "keys": keys,
        "repeated": [name for number, name in enumerate(keys) if name in keys[:number]],
        "pr_link": entry.link,
        "link_form": link_form(entry.link),
        "has_earlier": earlier is not None,
        "earlier": earlier.number if earlier is not None else 0,
        "mixes_append_only": mixed,
        "selects_evals": entry.flag("evals-only")
        or entry.flag("all-evals")
        or entry.fields.get("eval-min-prefill-ep") is not None,
    }
    for flag in FLAGS:
        values[flag.replace("-", "_")] = entry.flag(flag)
    anchors: dict[str, Anchor] = {
        "entry": entry.span,
        "keys": entry.place("config-keys"),
        "pr_link": entry.place("pr-link"),
        "append_only": entry.place("append-only"),
        "earlier": earlier.span if earlier is not None else None,
    }
    subject = ",".join(keys[:3]) or f"entry {entry.number}"
    return Core(f"{entry.link} {subject}", values, anchors, source=Listed(entry, new or last))


VIEW = View(
    name="changelog_entry",
    doc="An entry of the performance changelog; with a base revision only those that the change adds.",
    facts=(
        Fact("number", "int", "number of the entry, from 1"),
        Fact("new", "bool", "the change adds it (false without a base revision)"),
        Fact("last", "bool", "it is the last one"),
        Fact("keys", "list<string>", "its config keys"),
        Fact("repeated", "list<string>", "keys that it has more than once"),
        Fact("pr_link", "string", "its pr-link"),
        Fact("link_form", "string", "pull-request, placeholder or other"),
        Fact("has_earlier", "bool", "an earlier entry is the same in every field"),
        Fact("earlier", "int", "number of that entry, 0 without one"),
        Fact("evals_only", "bool", "only evals are run"),
        Fact("all_evals", "bool", "all evals are run"),
        Fact("append_only", "bool", "only added points are run"),
        Fact("selects_evals", "bool", "a field chooses evals: evals-only, all-evals or eval-min-prefill-ep"),
        Fact("mixes_append_only", "bool", "the change adds entries with append-only and others without"),
    ),
    anchors={
        "entry": "the entry",
        "keys": "its config-keys",
        "pr_link": "its pr-link",
        "append_only": "its append-only",
        "earlier": "the earlier entry that is the same",
    },
    build=_build,
)

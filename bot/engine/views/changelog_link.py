"""Links of new changelog entries, next to the pull request that brings them."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.engine.analysis.changelog import ChangelogEntry, added, link_form
from botlint.engine.analysis.descriptions import Reference, references
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    pull = context.pull
    if pull is None:
        return
    named = {_key(one, pull.repository) for one in references(f"{pull.title}\n{pull.body}")}
    for entry in context.once(added) or ():
        linked = next(references(entry.link), None)
        values = {
            "link": entry.link,
            "form": link_form(entry.link),
            "number": entry.number,
            "own_link": pull.url,
            "own": linked is not None and _key(linked, "") == (pull.repository.lower(), pull.number),
            "named": linked is not None and _key(linked, "") in named,
            "draft": pull.draft,
        }
        keys = ",".join(name for name, _ in entry.keys[:3])
        anchors = {"pr_link": _value(entry), "entry": entry.span}
        yield Core(keys or f"entry {entry.number}", values, anchors)


def _key(one: Reference, repository: str) -> tuple[str, int]:
    return (one.repository or repository).lower(), one.number


def _value(entry: ChangelogEntry) -> Span | None:
    """Where the link itself is written."""
    node = entry.node.get("pr-link") if isinstance(entry.node, yaml.Mapping) else None
    return None if node is None else node.span


VIEW = View(
    name="changelog_link",
    doc="The pr-link of a changelog entry that the pull request under review adds.",
    facts=(
        Fact("number", "int", "number of the entry, from 1"),
        Fact("link", "string", "the link"),
        Fact("form", "string", "pull-request, placeholder or other"),
        Fact("own_link", "string", "the address of the pull request under review"),
        Fact("own", "bool", "the link leads to the pull request under review"),
        Fact("named", "bool", "title or description name the pull request to which it leads"),
        Fact("draft", "bool", "the pull request is a draft"),
    ),
    anchors={"pr_link": "the link", "entry": "the entry"},
    build=_build,
)

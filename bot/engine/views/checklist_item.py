"""Boxes of the description of the pull request under review."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.descriptions import boxes
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View, no_place


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    pull = context.pull
    if pull is None:
        return
    wanted = _word(pull.review.checklist)
    for box in boxes(pull.body):
        values = {
            "text": box.text,
            "done": box.done,
            "heading": box.headings[-1] if box.headings else "",
            "asked": wanted in ("", "*") or wanted in map(_word, box.headings),
            "draft": pull.draft,
        }
        yield Core(box.text, values, {"pull": no_place()})


def _word(text: str) -> str:
    return text.strip().strip("#: ").casefold()


VIEW = View(
    name="checklist_item",
    doc="A box to tick in the description of the pull request under review, outside of code, quotes and comments.",
    facts=(
        Fact("text", "string", "what stands behind the box"),
        Fact("done", "bool", "the box is ticked"),
        Fact("heading", "string", "the heading above it"),
        Fact("asked", "bool", "it is below the heading that `review.checklist` names, or that names none"),
        Fact("draft", "bool", "the pull request is a draft"),
    ),
    anchors={"pull": "the pull request as a whole, which is no place in a file"},
    build=_build,
)

"""What a change weakens of botlint's own settings, rules and baseline."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.weakening import weakenings
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for one in context.once(weakenings):
        values = {"kind": one.kind, "what": one.what, "before": one.before, "after": one.after}
        # Which rules a family has is no part of what the fact is about, nor is the text of an error.
        subject = one.kind if one.kind == "broken" else f"{one.kind} {one.what.partition(' (')[0]}"
        yield Core(subject, values, {"setting": one.span})


VIEW = View(
    name="weakened_setting",
    doc="Something that the settings, custom rules or baseline of the base find, allow less of, or ask for, and those "
    "of the change no longer. No comment allows findings about these.",
    facts=(
        Fact("kind", "string", "setting, rule-removed or rule-changed (a custom rule), broken (they cannot be used)"),
        Fact("what", "string", "the setting, the custom rule, or why they cannot be used"),
        Fact("before", "string", "how it is in the base"),
        Fact("after", "string", "how it is after the change"),
    ),
    anchors={"setting": "where it is written, or was"},
    build=_build,
)

"""Lines of scripts that end too early or too late, and commands that are no commands."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.analysis.scripts_slips import slips
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

MAX_TEXT = 80


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for path, facts in scripts(context).by_path.items():
        for slip in slips(facts):
            anchors = {"text": facts.span(slip.start, slip.end)}
            if slip.before_end >= 0:
                anchors["line_before"] = facts.span(slip.before_end, slip.before_end)
            text = " ".join(slip.text.split())[:MAX_TEXT]
            yield Core(
                f"{path}:{slip.kind}:{text}",
                {
                    "kind": slip.kind,
                    "text": text,
                    "before": slip.before,
                    "script": path,
                    "archived": is_archived(path),
                },
                anchors,
            )


VIEW = View(
    "script_line",
    "A place of a script where a line is not what it looks like.",
    (
        Fact(
            "kind",
            "string",
            "flag, name or redirection (the line before is not continued), assignment (blanks around =); backslashes: "
            "blank (one follows it), end-of-file, empty-line, comment (what follows), joined (two words become one).",
        ),
        Fact("text", "string", "The text of the place."),
        Fact("before", "string", "The first words of the command before."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"text": "the text of the place", "line_before": "the end of the command before, where a backslash is missing"},
    build,
)

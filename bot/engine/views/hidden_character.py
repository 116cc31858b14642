"""Characters that show the text of a script or configuration in another order than it is read."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from itertools import islice

from botlint.core.span import Span
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

_ENDINGS = (".sh", ".bash", ".slurm", ".sbatch", ".yaml", ".yml")

# Embeddings, overrides and isolates of Unicode's bidirectional algorithm (UAX #9, section 2). Single marks (U+200E,
# U+200F) reorder no neighbours that are written from left to right, and belong into some languages.
_REORDERING = re.compile("[\u202a-\u202e\u2066-\u2069]")

MAX_FOUND = 1_000
"""Characters that are told of one revision."""


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    found = (
        core
        for path in context.files.paths()
        if path.endswith(_ENDINGS)
        for core in context.of_file("reordering", path, _reordering) or ()
    )
    yield from islice(found, MAX_FOUND)


def _reordering(text: str, path: str) -> list[Core]:
    """The first of such characters of each line of a text."""
    if _REORDERING.search(text) is None:
        return []
    cores = []
    for number, line in enumerate(text.split("\n"), 1):
        match = _REORDERING.search(line)
        if match is not None:
            name = unicodedata.name(match[0], "").lower()
            span = Span(path, number, match.start() + 1, number, match.end() + 1)
            values = {"path": path, "code": f"U+{ord(match[0]):04X}", "name": name}
            cores.append(Core(f"{path} {name}", values, {"character": span}))
    return cores


VIEW = View(
    name="hidden_character",
    doc="A character that makes an editor or a diff show a line in another order than it is read: the first of a line.",
    facts=(
        Fact("path", "string", "file"),
        Fact("code", "string", "code point, as U+202E"),
        Fact("name", "string", "its name in Unicode"),
    ),
    anchors={"character": "the character"},
    build=_build,
)

"""Paths of checkpoints that scripts write, next to the models that entries name."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from botlint.core.span import Span
from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

_PATH = re.compile(r"(?<![\w$])(\w{0,60}MODEL\w{0,60})=[\"']?(/[\w./-]{1,300})")
_FORMAT = re.compile(r"(?:^|[-_.])((?:nv|mx)?fp[48]|int[48]|w[48]a(?:4|8|16)|awq|gptq)(?=$|[-_.])", re.IGNORECASE)

MAX_PATHS = 2_000
"""Paths of one script that are looked at."""


def _models(context: Context) -> dict[str, tuple[str, str, Span]]:
    """The models of all entries by the last part of their names, in lower case."""
    found: dict[str, tuple[str, str, Span]] = {}
    for entry in context.configs.entries.values():
        model = entry.values.get("model") if isinstance(entry.values, dict) else None
        if isinstance(model, str):
            name = model.rstrip("/").rpartition("/")[2].lower()
            found.setdefault(name, (model, entry.name, entry.span_of(("model",))))
    return found


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    models = context.once(_models)
    for path, facts in scripts(context).by_path.items():
        if is_archived(path):
            continue
        for match in islice(_PATH.finditer(facts.code), MAX_PATHS):
            name = match[2].rstrip("/").rpartition("/")[2]
            low = name.lower()
            longest = max((one for one in models if low.startswith(f"{one}-")), key=len, default="")
            extra = _FORMAT.search(low[len(longest) :]) if longest and low not in models else None
            if extra is None:
                continue
            model, entry, span = models[longest]
            yield Core(
                f"{path}:{match[1]}:{name}",
                {
                    "script": path,
                    "variable": match[1],
                    "name": name,
                    "format": extra[1],
                    "model": model,
                    "entry": entry,
                },
                {"path": facts.span(*match.span(2)), "model": span},
            )


VIEW = View(
    name="checkpoint_path",
    doc="A path that a script gives a variable of a model, and that names an entry's model in another number format.",
    facts=(
        Fact("script", "string", "the script"),
        Fact("variable", "string", "the variable"),
        Fact("name", "string", "the last part of the path"),
        Fact("format", "string", "the format that it adds to the model's name"),
        Fact("model", "string", "the model that entries name"),
        Fact("entry", "string", "the first of these entries"),
    ),
    anchors={"path": "the path", "model": "the model of that entry"},
    build=_build,
)

"""Imports of container images into files that jobs share."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.analysis.scripts_launchers import image_imports
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    found = list(image_imports(scripts(context)))
    locking = {one.facts.path for one in found if one.locked}
    for one in found:
        path = one.facts.path
        yield Core(
            f"{path}:{one.target}",
            {
                "target": one.target,
                "locked": one.locked,
                "shared": one.shared,
                "script_locks": "flock" in one.facts.code,
                "siblings": len(locking - {path}),
                "script": path,
                "archived": is_archived(path),
            },
            {"command": one.facts.span(one.start, one.end)},
        )


VIEW = View(
    "image_import",
    "An `enroot import` of an image.",
    (
        Fact("target", "string", "The file that it writes, as it is written."),
        Fact("locked", "bool", "Whether a lock is taken around it."),
        Fact("shared", "bool", "Whether the file's name is the same for several jobs."),
        Fact("script_locks", "bool", "Whether the script takes a lock anywhere."),
        Fact("siblings", "int", "How many other scripts take a lock around an import."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"command": "the import"},
    build,
)

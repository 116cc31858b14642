"""Files and folders of the repository that scripts remove."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.analysis.scripts_launchers import removed_paths
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in removed_paths(scripts(context)):
        path = one.facts.path
        yield Core(
            f"{path}:{one.path}",
            {"path": one.path, "folder": one.folder, "script": path, "archived": is_archived(path)},
            {"argument": one.facts.span(one.start, one.end)},
        )


VIEW = View(
    "removed_path",
    "A file or folder of the repository that a script removes.",
    (
        Fact("path", "string", "The path within the repository."),
        Fact("folder", "bool", "Whether it is a folder."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"argument": "the path"},
    build,
)

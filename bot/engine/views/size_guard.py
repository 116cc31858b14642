"""Tests of parallel sizes that every job satisfies."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.analysis.scripts_servers import size_guards
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for path, facts in scripts(context).by_path.items():
        for one in size_guards(facts):
            yield Core(
                f"{path}:{one.variable}",
                {"variable": one.variable, "test": one.test, "script": path, "archived": is_archived(path)},
                {"test": facts.span(one.start, one.end)},
            )


VIEW = View(
    "size_guard",
    "A condition on a parallel size that holds for every job, as a size is at least 1.",
    (
        Fact("variable", "string", "The size."),
        Fact("test", "string", "The test as it is written."),
        Fact("script", "string", "The script."),
        Fact("archived", "bool", "Whether the script lies in a folder of old scripts."),
    ),
    {"test": "the test"},
    build,
)

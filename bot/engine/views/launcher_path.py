"""Paths of scripts that launchers build from variables."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import scripts
from botlint.engine.analysis.scripts_launchers import script_paths_built
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in script_paths_built(scripts(context)):
        yield Core(
            f"{one.facts.path}:{one.text}",
            {
                "text": one.text,
                "dotless": one.dotless,
                "spec": one.spec,
                "spec_files": list(one.spec_files),
                "script": one.facts.path,
            },
            {"path": one.facts.span(one.start, one.end)},
        )


VIEW = View(
    "launcher_path",
    "A path of a benchmark's script that a launcher builds from variables.",
    (
        Fact("text", "string", "The path as it is written."),
        Fact("dotless", "bool", "Whether a variable is followed by `sh` without a dot."),
        Fact("spec", "bool", "Whether the launcher looks at the speculative decoding of the job."),
        Fact(
            "spec_files",
            "list<string>",
            "Scripts for speculative decoding that the path would reach with their suffix.",
        ),
        Fact("script", "string", "The script."),
    ),
    {"path": "the path"},
    build,
)

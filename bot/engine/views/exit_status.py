"""Benchmarks whose exit status is lost before the script ends."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_archived, is_host, scripts
from botlint.engine.analysis.scripts_status import masked, options
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

MAX_TEXT = 80


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for path, facts in scripts(context).by_path.items():
        if is_archived(path):
            continue
        for one in masked(facts):
            anchors = {"decides": facts.span(one.start, one.end)}
            if one.run_start >= 0:
                anchors["benchmark"] = facts.span(one.run_start, one.run_end)
            by = " ".join(one.by.split())[:MAX_TEXT]
            yield Core(
                f"{path}:{one.kind}",
                {"kind": one.kind, "by": by, "script": path, "host": is_host(path), "errexit": options(facts).errexit},
                anchors,
            )


VIEW = View(
    "exit_status",
    "A benchmark whose exit status does not become that of the script.",
    (
        Fact("kind", "string", "cleanup (a command after it), pipe, ignored (`|| true`), or trap (that exits with 0)."),
        Fact("by", "string", "The command whose status counts instead."),
        Fact("script", "string", "The script."),
        Fact("host", "bool", "Whether the script is a launcher, whose status is the job's."),
        Fact("errexit", "bool", "Whether the script stops at the first command that fails."),
    ),
    {"decides": "the command whose status counts", "benchmark": "the command that runs the benchmark"},
    build,
)

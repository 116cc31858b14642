"""Requests of launchers for nodes of a cluster."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import scripts
from botlint.engine.analysis.scripts_launchers import allocations
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in allocations(scripts(context)):
        anchors = {"command": one.facts.span(one.start, one.end)}
        if one.port_start >= 0:
            anchors["port"] = one.facts.span(one.port_start, one.port_end)
        yield Core(
            f"{one.facts.path}:{one.command}",
            {
                "command": one.command,
                "exclusive": one.exclusive,
                "partial": one.partial,
                "port": one.port,
                "port_by_job": one.port_by_job,
                "script": one.facts.path,
            },
            anchors,
        )


VIEW = View(
    "allocation",
    "A request of a launcher for a node's GPUs.",
    (
        Fact("command", "string", "salloc, srun or sbatch."),
        Fact("exclusive", "bool", "Whether no other job may use the node."),
        Fact("partial", "bool", "Whether the number of GPUs depends on the job, so that several jobs fit on a node."),
        Fact("port", "string", "The constant port that the launcher gives the server, else empty."),
        Fact("port_by_job", "bool", "Whether the port comes from the number of the job."),
        Fact("script", "string", "The script."),
    ),
    {"command": "the request", "port": "the constant port"},
    build,
)

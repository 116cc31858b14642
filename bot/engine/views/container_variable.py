"""Variables of jobs that containers need and do not get."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts_containers import not_forwarded
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in not_forwarded(context):
        box = one.container
        start = box.last if box.start <= box.last < box.end else box.start
        yield Core(
            f"{box.facts.path}:{one.name}",
            {
                "name": one.name,
                "reader": one.reader.path,
                "reader_line": one.reader.line(one.at),
                "library": bool(one.reader.functions),
                "defaulted": one.defaulted,
                "script": box.facts.path,
            },
            {
                "variables": box.facts.span(start, start + 2),
                "container": box.facts.span(box.start, box.start + len("docker run")),
                "read": one.reader.span(one.at, one.at + 1),
            },
        )


VIEW = View(
    "container_variable",
    "A variable of the job that a script inside of a container reads and that `docker run` does not hand over.",
    (
        Fact("name", "string", "The variable."),
        Fact("reader", "string", "The script that reads it."),
        Fact("reader_line", "int", "Where it does."),
        Fact(
            "library",
            "bool",
            "Whether that script is a library of functions, which serves other kinds of jobs as well.",
        ),
        Fact("defaulted", "bool", "Whether every read inside has a default."),
        Fact("script", "string", "The script that starts the container."),
    ),
    {
        "variables": "the last variable that is handed over",
        "container": "the start of the container",
        "read": "where it is read",
    },
    build,
)

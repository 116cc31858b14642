"""What has the wrong shape in master configs, runner table, changelog, recipes and golden acceptance files."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.shapes import Shape, shapes
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

MAX_LISTED = 40


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for shape in context.once(shapes):
        yield _core(shape)


def _core(shape: Shape) -> Core:
    values = {
        "file": shape.kind,
        "path": shape.span.path,
        "fault": shape.fault,
        "owner": shape.owner,
        "where": shape.where,
        "key": shape.key,
        "detail": shape.message,
        "closest": shape.closest,
        "allowed": list(shape.allowed[:MAX_LISTED]),
        "by_revision": shape.by_revision,
    }
    return Core(f"{shape.owner} {shape.where}".strip(), values, {"place": shape.span})


VIEW = View(
    name="schema_problem",
    doc="A place of a configuration file that its validator refuses.",
    facts=(
        Fact("file", "string", "master config, runner table, changelog, recipe or golden acceptance"),
        Fact("path", "string", "the file"),
        Fact("fault", "string", "unknown-key, missing-key or value"),
        Fact("owner", "string", "the entry that it is in, empty where there is none"),
        Fact("where", "string", "dotted place inside the owner"),
        Fact("key", "string", "the key in question"),
        Fact("detail", "string", "what the validator says"),
        Fact("closest", "string", "the allowed key with the nearest name, empty if none is near"),
        Fact("allowed", "list<string>", "keys that are allowed there"),
        Fact("by_revision", "bool", "judged by the revision's own validator, not by a schema of ours"),
    ),
    anchors={"place": "the key or value"},
    build=_build,
)

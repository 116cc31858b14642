"""The performance changelog as a file: its bytes, and what a change does to them."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.engine.analysis.changelog import BYTE_CHECK, compare, entries, read_bytes
from botlint.engine.analysis.shapes import CHANGELOG
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View, whole_line


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    found = context.once(read_bytes)
    if found is None:
        return
    values: dict[str, FactValue] = {
        "path": CHANGELOG,
        "final_newline": found.final_newline,
        "lines": found.lines,
        "carriage_return": found.carriage_return,
        "tab": found.tab,
        "nul": found.nul,
        "starts": found.starts,
        "checked": context.files.is_file(BYTE_CHECK),
    }
    anchors: dict[str, Anchor] = {"last": _last_line(context, found.lines)}
    for name in ("carriage_return", "tab", "nul"):
        line = getattr(found, name)
        anchors[name] = whole_line(CHANGELOG, line) if line else None
    document = context.yaml(CHANGELOG)
    if document is not None and not document.lost:
        values["is_list"] = isinstance(document.root, yaml.Sequence)
        values["entries"] = len(context.once(entries))
    change = context.once(compare)
    if change is not None:
        values |= {
            "fault": change.fault,
            "added": change.added,
            "by_bytes": change.strict,
            "before": change.before,
            "after": change.after,
            "line": change.line,
        }
        anchors["change"] = whole_line(CHANGELOG, min(change.line, found.lines)) if change.line else None
    yield Core(CHANGELOG, values, anchors)


def _last_line(context: Context, lines: int) -> Span:
    source = context.files.text(CHANGELOG)
    text = "" if source is None else source.text.rstrip("\n").rpartition("\n")[2]
    return Span(CHANGELOG, max(lines, 1), len(text) + 1, max(lines, 1), len(text) + 1)


VIEW = View(
    name="changelog_file",
    doc="The performance changelog as bytes, and what the change does to them (only with a base revision).",
    facts=(
        Fact("path", "string", "the file"),
        Fact("final_newline", "bool", "the file ends with a newline"),
        Fact("lines", "int", "number of lines"),
        Fact("carriage_return", "int", "first line with a carriage return, 0 without one"),
        Fact("tab", "int", "first line with a tab, 0 without one"),
        Fact("nul", "int", "first line with a NUL, 0 without one"),
        Fact("starts", "int", "lines that begin an entry: `- config-keys:`"),
        Fact("checked", "bool", "the revision has a validator that looks at the bytes"),
        Fact("is_list", "bool", "the file is a list of entries"),
        Fact("entries", "int", "entries that YAML readers find"),
        Fact(
            "fault",
            "string",
            "deleted, inserted, history-changed, separator, trailing-blank or formatting; empty without fault",
        ),
        Fact("added", "int", "entries more than before"),
        Fact("by_bytes", "bool", "the revision compares bytes; earlier ones only refuse deleted lines"),
        Fact("before", "string", "the first line that differs, in the base"),
        Fact("after", "string", "the same line after the change"),
        Fact("line", "int", "its number"),
    ),
    anchors={
        "last": "end of the last line",
        "carriage_return": "the first carriage return",
        "tab": "the first tab",
        "nul": "the first NUL",
        "change": "the first line that differs",
    },
    build=_build,
)

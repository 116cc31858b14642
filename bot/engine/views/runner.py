"""Runners of the runner table: who takes a label's jobs, and with which launcher."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.runners import launcher_of, launchers
from botlint.engine.analysis.spelling import closest
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View
from botlint.layouts.inferencex.configs import Runner

MAX_LISTED = 20


def _users(context: Context) -> dict[str, list[str]]:
    """The entries by the label that they ask for."""
    found: dict[str, list[str]] = {}
    for name, entry in context.configs.entries.items():
        if isinstance(entry.values, dict):
            found.setdefault(str(entry.values.get("runner")), []).append(name)
    return found


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    table = context.runners
    there = context.once(launchers)
    if not there:
        return
    users = context.once(_users)
    for label, runners in table.labels.items():
        by_launcher: dict[str, list[Runner]] = {}
        for runner in runners:
            by_launcher.setdefault(launcher_of(context, runner.name), []).append(runner)
        for launcher, members in by_launcher.items():
            # The table is sorted by name; the first that is written is where a reader looks.
            first = min(members, key=lambda one: (one.span.line, one.span.column))
            entries = users.get(label, [])
            values = {
                "label": label,
                "name": first.name,
                "names": [one.name for one in members[:MAX_LISTED]],
                "launcher": launcher,
                "launcher_exists": launcher in there,
                "closest_launcher": launcher if launcher in there else closest(launcher, there),
                "entries": entries[:MAX_LISTED],
                "entry_count": len(entries),
            }
            anchors = {"runner": first.span, "label": table.label_spans.get(label)}
            yield Core(f"{label} {launcher}", values, anchors)


VIEW = View(
    name="runner",
    doc="The runners of one label that start the same launcher.",
    facts=(
        Fact("label", "string", "scheduling label"),
        Fact("name", "string", "the first of the runners"),
        Fact("names", "list<string>", "the runners"),
        Fact("launcher", "string", "script that workflows start on them"),
        Fact("launcher_exists", "bool", "there is such a script"),
        Fact("closest_launcher", "string", "the launcher with the nearest name, empty if none is near"),
        Fact("entries", "list<string>", "entries that ask for the label"),
        Fact("entry_count", "int", "how many do"),
    ),
    anchors={"runner": "the runner's name", "label": "the label"},
    build=_build,
)

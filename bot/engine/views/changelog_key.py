"""Config keys that the performance changelog names."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.changelog import matches
from botlint.engine.analysis.spelling import closest
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View
from botlint.engine.views.changelog_entry import Listed


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    source = chain[-1].source
    # What older entries name may be gone since: only what is swept next has to be there.
    if not isinstance(source, Listed) or not source.is_looked_at:
        return
    entry = source.entry
    names = context.configs.entries
    lost = any(problem.kind == "yaml-syntax" for problem in context.configs.problems)
    for key, span in entry.keys:
        found = matches(key, names)
        if not found and lost:
            continue
        limited = entry.fields.get("scenario-type")
        scenarios = limited if isinstance(limited, list) else []
        values = {
            "name": key,
            "pattern": "*" in key,
            "matches": len(found),
            "closest": "" if found else closest(key, names),
            "without_scenario": [
                name for name in (found if scenarios else ()) if not _has_scenario(names[name].values, scenarios)
            ],
        }
        yield Core(key, values, {"key": span})


def _has_scenario(values: object, wanted: list[object]) -> bool:
    scenarios = values.get("scenarios") if isinstance(values, dict) else None
    return not isinstance(scenarios, dict) or any(scenarios.get(name) for name in wanted)


VIEW = View(
    name="changelog_key",
    parent="changelog_entry",
    doc="A config key of a changelog entry that the change adds (without a base revision: of the last entry).",
    facts=(
        Fact("name", "string", "the key as it is written"),
        Fact("pattern", "bool", "it has a `*`"),
        Fact("matches", "int", "entries of master configs that it stands for"),
        Fact("closest", "string", "the entry with the nearest name, empty if none is near"),
        Fact(
            "without_scenario", "list<string>", "entries that have none of the scenarios to which the entry is limited"
        ),
    ),
    anchors={"key": "the key"},
    build=_build,
)

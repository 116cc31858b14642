"""Variables that scripts insist on and that nothing gives."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_host
from botlint.engine.analysis.scripts_names import names
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    known = names(context)
    for name, places in known.required.items():
        for facts, start in places:
            closest = known.closest(name, facts.path)
            yield Core(
                f"{facts.path}:{name}",
                {"name": name, "closest": closest, "script": facts.path, "host": is_host(facts.path)},
                {"name": facts.span(start, start + len(name))},
            )


VIEW = View(
    "required_name",
    "A variable without which a script stops and that no workflow, launcher, script or config gives.",
    (
        Fact("name", "string", "The variable."),
        Fact("closest", "string", "A variable that is given and whose name is nearly the same, else empty."),
        Fact("script", "string", "The script."),
        Fact("host", "bool", "Whether the script runs on the runner's own machine, whose environment is not known."),
    ),
    {"name": "where the script insists on it"},
    build,
)

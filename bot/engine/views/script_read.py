"""Variables that scripts read although nothing around the script gives them a value."""

from __future__ import annotations

from collections.abc import Iterable

from botlint.engine.analysis.scripts import is_host
from botlint.engine.analysis.scripts_names import names
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

_SERIOUS = ("argument", "arithmetic", "value", "test")


def build(context: Context, _chain: Chain) -> Iterable[Core]:
    for one in names(context).unset:
        facts = one.facts
        uses = {read.use for read in one.reads}
        first = min(one.reads, key=lambda read: (read.use not in _SERIOUS, read.start))
        yield Core(
            f"{facts.path}:{one.name}",
            {
                "name": one.name,
                "closest": one.closest,
                "case_only": one.case_only,
                "optional": one.name in facts.tested or one.name in facts.defaulted,
                "required": one.name in facts.required,
                "uses": sorted(uses),
                "script": facts.path,
                "host": is_host(facts.path),
                "local_style": one.name != one.name.upper(),
                "count": len(one.reads),
            },
            {"read": facts.find_read(first)},
        )


VIEW = View(
    "script_read",
    "A variable that a script expands without a default and that neither the script, the scripts that share its "
    "process, a workflow, a launcher nor the machine gives a value.",
    (
        Fact("name", "string", "The variable."),
        Fact("closest", "string", "A variable that has a value there and whose name is nearly the same, else empty."),
        Fact("case_only", "bool", "Whether the two names differ in upper and lower case only."),
        Fact(
            "optional", "bool", "Whether the script elsewhere tests for it or gives a default, so that it may be unset."
        ),
        Fact("required", "bool", "Whether the script stops if it is unset."),
        Fact(
            "uses",
            "list<string>",
            "Its uses: argument, value, arithmetic, test, print, fallback (inside of a default), default (with one).",
        ),
        Fact("script", "string", "The script."),
        Fact("host", "bool", "Whether the script runs on the runner's own machine, whose environment is not known."),
        Fact("local_style", "bool", "Whether the name has lower-case letters, which names of the environment do not."),
        Fact("count", "int", "How often it is read."),
    ),
    {"read": "the first expansion of the variable"},
    build,
)

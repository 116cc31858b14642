"""Other pull requests on which the one under review depends."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.descriptions import dependencies
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View, no_place


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    pull = context.pull
    if pull is None:
        return
    for one in dependencies(pull.body):
        own = one.repository.lower() in ("", pull.repository.lower())
        if own and one.number == pull.number:
            continue
        name = f"{'' if own else one.repository}#{one.number}"
        values: dict[str, FactValue] = {"name": name, "draft": pull.draft}
        if own and one.number in pull.states:
            values["state"] = pull.states[one.number]
        yield Core(name, values, {"pull": no_place()})


VIEW = View(
    name="pull_dependency",
    doc="A pull request on which the one under review says that it depends: `depends on #12`, `Depends-On: URL`.",
    facts=(
        Fact("name", "string", "#NUMBER, with OWNER/NAME in front for one of another repository"),
        Fact("state", "string", "open, closed or merged; not known for one of another repository"),
        Fact("draft", "bool", "the pull request under review is a draft"),
    ),
    anchors={"pull": "the pull request as a whole, which is no place in a file"},
    build=_build,
)

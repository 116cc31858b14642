"""What comments above arms say about their workers."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.arm_comments import said
from botlint.engine.analysis.arms import all_arms
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for arm in context.once(all_arms):
        for one in said(context, arm):
            worker = arm.values[one.role]
            values: dict[str, FactValue] = {
                "entry": arm.entry.name,
                "arm": arm.index,
                "role": one.role,
                "kind": one.kind,
                "size": one.size,
                "comment": one.comment,
            }
            ep = worker.get("ep", 1)
            if type(ep) is int:
                values["ep"] = ep
            yield Core(
                f"{arm.key} {one.role}",
                values,
                {"comment": one.span, "workers": arm.key_place(one.role), "ep": arm.place(one.role, "ep")},
            )


VIEW = View(
    name="arm_comment",
    doc="Data and expert parallelism (DEP8) that the comment above an arm gives for its prefill or decode workers.",
    facts=(
        Fact("entry", "string", "key of the master config"),
        Fact("arm", "int", "number of the arm in the scenario, from 0"),
        Fact("role", "string", "prefill or decode"),
        Fact("kind", "string", "DEP"),
        Fact("size", "int", "GPUs over which the comment says that experts are spread"),
        Fact("ep", "int", "ep of the arm"),
        Fact("comment", "string", "the comment"),
    ),
    anchors={"comment": "the comment", "ep": "the arm's ep", "workers": "the arm's workers"},
    build=_build,
)

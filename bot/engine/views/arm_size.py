"""Parallel sizes on the labels of arms, on each side of a disaggregated one, next to the model's shape."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from botlint.catalogs.models import find_model
from botlint.engine.analysis.arms import ROLES, all_arms
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View

_NUMBERS = ("tp", "ep", "pp")


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for arm in context.once(all_arms):
        fields = arm.entry.values
        model = fields.get("model") if isinstance(fields, dict) else None
        shape = find_model(model) if isinstance(model, str) else None
        for side in ("", *ROLES) if "tp" in arm.values else ROLES:
            sizes = arm.values.get(side) if side else arm.values
            if not isinstance(sizes, Mapping):
                continue
            place = (side,) if side else ()
            values: dict[str, FactValue] = {
                "entry": arm.entry.name,
                "side": f"{side} " if side else "",
                "dp_attn": sizes.get("dp-attn") is True,
                "model": str(model),
            }
            values |= {name: value for name in _NUMBERS if type(value := sizes.get(name)) is int}
            if shape is not None and shape.heads is not None:
                values["heads"] = shape.heads
            anchors = {name: arm.place(*place, name) if name in sizes else None for name in _NUMBERS}
            yield Core(f"{arm.key} {side}".strip(), values, {**anchors, "arm": arm.span, "entry": arm.entry.span})


VIEW = View(
    name="arm_size",
    doc="The parallel sizes of an arm, or of one side of a disaggregated arm, as its label has them.",
    facts=(
        Fact("entry", "string", "key of the master config"),
        Fact("side", "string", "`prefill ` or `decode `, empty for an arm of one side"),
        Fact("tp", "int", "tensor-parallel size"),
        Fact("ep", "int", "expert-parallel size"),
        Fact("pp", "int", "pipeline-parallel size"),
        Fact("dp_attn", "bool", "data-parallel attention"),
        Fact("model", "string", "the entry's model"),
        Fact("heads", "int", "attention heads of the model"),
    ),
    anchors={
        "tp": "where tp is written",
        "ep": "where ep is written",
        "pp": "where pp is written",
        "arm": "the arm",
        "entry": "the entry's key",
    },
    build=_build,
)

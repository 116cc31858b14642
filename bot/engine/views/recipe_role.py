"""The workers of an arm next to those of the same role in its srt-slurm recipe."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.engine.analysis.arms import ROLES, EntryArm
from botlint.engine.analysis.recipes import RecipeJob, RecipeRole, item_span, job_role
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View
from botlint.engine.views.recipe_arm import Source

_SIZES = (("workers", "num-worker", 0), ("tp", "tp", 1), ("ep", "ep", 1), ("pp", "pp", 1), ("dcp", "dcp-size", 1))


def _build(_context: Context, chain: Chain) -> Iterator[Core]:
    source = chain[-1].source
    if not isinstance(source, Source) or source.job is None or not source.job.roles:
        return
    for role in ROLES:
        worker = source.arm.values.get(role)
        if isinstance(worker, dict):
            yield _core(source.arm, source.job, role, worker)


def _core(arm: EntryArm, job: RecipeJob, role: str, worker: dict[str, object]) -> Core:
    values: dict[str, FactValue] = {"role": role}
    for name, key, default in _SIZES:
        size = worker.get(key, default)
        if size is None:
            size = default
        if type(size) is int:
            values[name] = size
    pcp = worker.get("pcp-size", 1)
    if type(pcp) is int:
        values["pcp"] = pcp
    if isinstance(attention := worker.get("dp-attn", False), bool):
        values["dp_attn"] = attention
    anchors: dict[str, Anchor] = {
        "role": lambda *_: arm.key_place(role) or arm.span,
        **{
            name: lambda *_, key=key: arm.place(role, key) or arm.key_place(role) or arm.span
            for name, key in (*((name, key) for name, key, _ in _SIZES), ("dp_attn", "dp-attn"))
        },
    }
    found = job_role(job, role)
    values["in_recipe"] = found is not None
    values["recipe_workers"] = 0 if found is None else found.workers
    if found is None:
        values["recipe_dp"] = 1
    anchors["resources"] = lambda *_: item_span(job.branch.get("resources"))
    if found is not None:
        _add_recipe(values, anchors, job, found)
    return Core(role, values, anchors, source=found)


def _add_recipe(values: dict[str, FactValue], anchors: dict[str, Anchor], job: RecipeJob, found: RecipeRole) -> None:
    short = "agg" if found.name == "aggregate" else found.name
    values |= {
        "recipe_role": found.name,
        "recipe_gpus": found.gpus_per_worker,
        "gpus_per_node": job.gpus_per_node,
    }
    if (context_length := found.context) is not None:
        values["recipe_context"] = context_length
        anchors["recipe_context"] = lambda *_: found.context_place
    anchors["recipe_workers"] = lambda *_: item_span(job.resources.get(f"{short}_workers"))
    anchors["recipe_gpus"] = lambda *_: item_span(
        job.resources.get(f"gpus_per_{short}") or job.resources.get(f"{short}_nodes") or job.branch.get("resources")
    )
    # A recipe that leaves sizes to the engine's own file says nothing here.
    if not found.section.items:
        return
    values |= {
        "recipe_tp": found.tp,
        "recipe_dp": found.dp,
        "recipe_pp": found.pp,
        "recipe_ep": found.ep,
        "recipe_dp_attn": found.attention_dp,
        "recipe_world": found.world,
    }
    if (dcp := found.section.number("decode-context-parallel-size", "dcp-size")) is not None:
        values["recipe_dcp"] = dcp
    anchors["recipe_tp"] = lambda *_: found.tp_place
    anchors["recipe_ep"] = lambda *_: found.ep_place or found.tp_place
    anchors["recipe_dp_attn"] = lambda *_: found.attention_dp_place or found.tp_place
    anchors["recipe_pp"] = lambda *_: found.place("pipeline-parallel-size", "pp-size") or found.tp_place
    anchors["recipe_dcp"] = lambda *_: found.place("decode-context-parallel-size", "dcp-size")


VIEW = View(
    name="recipe_role",
    parent="recipe_arm",
    doc="The prefill or decode workers of an arm and those of its recipe (aggregate workers count as prefill).",
    facts=(
        Fact("role", "string", "prefill or decode"),
        Fact("workers", "int", "num-worker of the arm"),
        Fact("tp", "int", "tp of the arm"),
        Fact("ep", "int", "ep of the arm"),
        Fact("pp", "int", "pp of the arm"),
        Fact("dcp", "int", "dcp-size of the arm"),
        Fact("pcp", "int", "pcp-size of the arm"),
        Fact("dp_attn", "bool", "dp-attn of the arm"),
        Fact("in_recipe", "bool", "the recipe has workers of this role"),
        Fact("recipe_role", "string", "prefill, decode or aggregate"),
        Fact("recipe_workers", "int", "workers of the recipe"),
        Fact("recipe_gpus", "int", "GPUs of one worker of the recipe"),
        Fact("gpus_per_node", "int", "GPUs of a node, by the recipe"),
        Fact("recipe_tp", "int", "tensor-parallel size of the engine"),
        Fact("recipe_dp", "int", "data-parallel size of the engine"),
        Fact("recipe_pp", "int", "pipeline-parallel size of the engine"),
        Fact("recipe_ep", "int", "GPUs over which experts are spread, 1 if they are not"),
        Fact("recipe_dcp", "int", "decode-context-parallel size of the engine"),
        Fact("recipe_dp_attn", "bool", "attention runs data-parallel"),
        Fact("recipe_world", "int", "GPUs that the engine of one worker uses"),
        Fact("recipe_context", "int", "longest sequence that a worker takes"),
    ),
    anchors={
        "role": "the arm's workers",
        "workers": "the arm's num-worker",
        "tp": "the arm's tp",
        "ep": "the arm's ep",
        "pp": "the arm's pp",
        "dcp": "the arm's dcp-size",
        "dp_attn": "the arm's dp-attn",
        "resources": "the recipe's resources",
        "recipe_workers": "the recipe's number of workers",
        "recipe_gpus": "the recipe's GPUs of a worker",
        "recipe_tp": "the recipe's tensor-parallel size",
        "recipe_ep": "the recipe's expert parallelism",
        "recipe_pp": "the recipe's pipeline-parallel size",
        "recipe_dcp": "the recipe's decode-context-parallel size",
        "recipe_dp_attn": "the recipe's attention parallelism",
        "recipe_context": "the recipe's longest sequence",
    },
    build=_build,
)

"""Arms of multi-node entries next to the srt-slurm recipe that each of them points at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.engine.analysis import recipes
from botlint.engine.analysis.arms import EntryArm, all_arms
from botlint.engine.analysis.entry_names import same_framework
from botlint.engine.analysis.recipe_uses import Use, recipe_of, recipe_of_base, uses
from botlint.engine.analysis.recipes import RecipeJob
from botlint.engine.analysis.spelling import closest
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View
from botlint.layouts.inferencex.generator_facts import FIXED
from botlint.layouts.inferencex.srtslurm.tree import child

MAX_NEIGHBOURS = 200


@dataclass(frozen=True, slots=True, eq=False)
class Source:
    """What the record of a recipe's role is made of: the arm, and the job that its recipe submits."""

    arm: EntryArm
    job: RecipeJob | None


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for arm in context.once(all_arms):
        for use in uses(arm):
            path, selector = recipes.as_recipe_path(use.argument)
            file = recipe_of(context, use)
            if file is None:
                yield _missing(context, use, path)
                continue
            recipe = context.once(recipes.recipe_files).get(file)
            if recipe is None or not recipe.root:
                continue
            jobs = recipe.jobs(selector)
            values: dict[str, FactValue] = {
                "here": True,
                "path": file,
                "selector_refusal": recipe.refusal(selector) or "",
            }
            job = jobs[0] if len(jobs) == 1 else None
            yield _core(context, use, values, job)


def _base_values(use: Use) -> dict[str, FactValue]:
    values: dict[str, FactValue] = {
        "entry": use.arm.entry.name,
        "scenario": use.arm.scenario,
        "arm": use.arm.index,
        "setting": use.setting,
        "recipe": use.argument,
        "for_evals": use.setting == recipes.SETTINGS[1],
    }
    entry = use.arm.entry.values
    for fact, key in (("image", "image"), ("precision", "precision"), ("framework", "framework")):
        if isinstance(entry.get(key), str):
            values[fact] = entry[key]
    return values


def _missing(context: Context, use: Use, path: str) -> Core:
    overlays = context.once(recipes.overlays)
    neighbours = overlays.neighbours(path)[:MAX_NEIGHBOURS]
    by_name = {one.rpartition("/")[2]: one for one in neighbours}
    near = closest(path.rpartition("/")[2], by_name, near=0.85)
    values = _base_values(use) | {
        "here": False,
        "neighbours": len(neighbours),
        "closest": by_name.get(near, ""),
        "folder": neighbours[0].rpartition("/")[0] if neighbours else "",
    }
    values["was_here"] = recipe_of_base(context, use) is not None
    return Core(_key(use), values, _anchors(use), source=Source(use.arm, None))


def _key(use: Use) -> str:
    return f"{use.arm.key} {use.setting}"


def _anchors(use: Use) -> dict[str, Anchor]:
    arm = use.arm
    return {
        "setting": use.span,
        "arm": arm.span,
        "entry": arm.entry.span,
        "conc": lambda *_: arm.conc_place(),
        "image": lambda *_: arm.place("image") or arm.entry.span,
        "precision": lambda *_: arm.place("precision") or arm.entry.span,
        "framework": lambda *_: arm.place("framework") or arm.entry.span,
        "isl": lambda *_: arm.place("isl"),
        "osl": lambda *_: arm.place("osl"),
        "spec_decoding": lambda *_: arm.place("spec-decoding") or arm.span,
        "kv_offloading": lambda *_: arm.place("kv-offloading") or arm.span,
    }


def _core(context: Context, use: Use, known: dict[str, FactValue], job: RecipeJob | None) -> Core:
    arm = use.arm
    values = _base_values(use) | known
    anchors = _anchors(use)
    spec, offloading = arm.values.get("spec-decoding", "none"), arm.values.get("kv-offloading", "none")
    if isinstance(spec, str):
        values["spec_decoding"] = spec
    if isinstance(offloading, str):
        values["kv_offloading"] = offloading
    values["kv_offloading_given"] = "kv-offloading" in arm.values
    for name in ("isl", "osl"):
        if arm.scenario == FIXED and type(arm.config.get(name)) is int:
            values[name] = arm.config[name]
    anchors["recipe"] = _recipe_place
    if job is not None:
        _add_recipe(context, values, anchors, job)
        _add_concurrencies(values, anchors, arm, job)
    return Core(_key(use), values, anchors, source=Source(arm, job))


def _add_recipe(context: Context, values: dict[str, FactValue], anchors: dict[str, Anchor], job: RecipeJob) -> None:
    values["backend"] = job.backend
    if isinstance(framework := values.get("framework"), str):
        values["backend_fits"] = same_framework([job.backend], framework)
    if job.roles:
        values["shortage"] = job.shortage or ""
        anchors["resources"] = lambda *_: recipes.item_span(job.branch.get("resources"))
    anchors["recipe_backend"] = lambda *_: recipes.item_span(
        child(job.branch, "backend").get("type") or job.branch.get("backend")
    )
    container = recipes.plain_text(job.container)
    if container is not None:
        values["container"] = container
        values["container_is_image"] = recipes.is_image(container)
        values["container_is_alias"] = container in context.once(recipes.container_aliases)
        if isinstance(image := values.get("image"), str):
            values["same_image"] = recipes.same_image(container, image)
        anchors["container"] = lambda *_: recipes.item_span(job.container)
    precision = child(job.branch, "model").get("precision")
    if (text := recipes.plain_text(precision)) is not None:
        values["recipe_precision"] = text
        values["recipe_precision_family"] = precision_family(text)
        anchors["recipe_precision"] = lambda *_: recipes.item_span(precision)
    for name in ("isl", "osl"):
        if (length := job.length(name)) is not None:
            values[f"recipe_{name}"] = length
            anchors[f"recipe_{name}"] = lambda *_, name=name: recipes.item_span(job.benchmark.get(name))
    if not job.roles:
        return
    speculation = next((role.speculation for role in job.roles if role.speculation is not None), None)
    values["recipe_speculates"] = speculation is not None
    if speculation is not None:
        anchors["recipe_speculation"] = lambda *_: recipes.item_span(speculation)
    offload = next(((role.offload, role) for role in job.roles if role.offload is not None), None)
    values["recipe_offloads"] = offload is not None
    if offload is not None and (item := offload[0]) is not None:
        values["recipe_offload"] = item.key.text
        text_of = recipes.plain_text(item)
        values["recipe_offload_value"] = text_of if text_of is not None and len(text_of) <= MAX_SHOWN else "..."
        anchors["recipe_offload"] = lambda *_: recipes.item_span(item)


MAX_SHOWN = 60


def _add_concurrencies(values: dict[str, FactValue], anchors: dict[str, Anchor], arm: EntryArm, job: RecipeJob) -> None:
    declared, run = arm.concurrencies(), job.concurrencies
    if declared is None:
        return
    values["concs"] = list(declared)
    if run is not None:
        values["recipe_concs"] = list(run)
        anchors["concurrencies"] = lambda *_: recipes.item_span(job.benchmark.get("concurrencies"))
        values["not_run"] = [conc for conc in declared if conc not in run]
        values["not_declared"] = [conc for conc in run if conc not in declared]


def precision_family(text: str) -> str:
    """`fp4`, `fp8`, `int4` ... for the names under which formats go (`mxfp4`, `nvfp4-w4a16`)."""
    low = text.lower()
    return next((name for name in ("fp4", "fp8", "int4", "int8", "bf16", "fp16") if name in low), low)


def _recipe_place(context: Context, chain: Chain) -> Span | None:
    source = chain[-1].source
    if not isinstance(source, Source) or source.job is None:
        return None
    document = context.yaml(source.job.path)
    root = document.root if document is not None else None
    if isinstance(root, yaml.Mapping) and root.own_items:
        return root.own_items[0][0].span
    return Span(source.job.path, 1, 1, 1, 1)


VIEW = View(
    name="recipe_arm",
    doc="An arm of a multi-node entry and the srt-slurm recipe that one of its settings names.",
    facts=(
        Fact("entry", "string", "key of the master config"),
        Fact("scenario", "string", "fixed-seq-len or agentic-coding"),
        Fact("arm", "int", "number of the arm in the scenario, from 0"),
        Fact("setting", "string", "CONFIG_FILE or EVAL_CONFIG_FILE"),
        Fact("for_evals", "bool", "the recipe is only for accuracy runs"),
        Fact("recipe", "string", "value of the setting"),
        Fact("here", "bool", "the repository has the recipe (if not, it may come with the checkout of srt-slurm)"),
        Fact("was_here", "bool", "the base revision has the recipe (false without one)"),
        Fact("path", "string", "file of the repository"),
        Fact("neighbours", "int", "recipes that the repository has in the folder in which this one is missing"),
        Fact("folder", "string", "that folder"),
        Fact("closest", "string", "the recipe there with the nearest name"),
        Fact("selector_refusal", "string", "why srtctl refuses the selector behind the path, empty if it does not"),
        Fact("image", "string", "image of the entry"),
        Fact("container", "string", "container of the recipe"),
        Fact("container_is_image", "bool", "the container is written as an image, not as an alias or a file"),
        Fact("container_is_alias", "bool", "a launcher maps the container's name to a file of its own"),
        Fact("same_image", "bool", "container and image are the same (`registry#name` is `registry/name`)"),
        Fact("precision", "string", "precision of the entry"),
        Fact("recipe_precision", "string", "precision of the recipe"),
        Fact("recipe_precision_family", "string", "fp4, fp8 ...: the kind of format that it is"),
        Fact("framework", "string", "framework of the entry"),
        Fact("backend", "string", "backend of the recipe: sglang, vllm, trtllm"),
        Fact("backend_fits", "bool", "the backend is the engine that the framework names"),
        Fact("shortage", "string", "why the workers do not fit on the nodes, empty if they do"),
        Fact("isl", "int", "input tokens on the label"),
        Fact("osl", "int", "output tokens on the label"),
        Fact("recipe_isl", "int", "input tokens that the recipe's client sends"),
        Fact("recipe_osl", "int", "output tokens that the recipe's client asks for"),
        Fact("concs", "list<int>", "concurrencies of the arm"),
        Fact("recipe_concs", "list<int>", "concurrencies that the recipe's client runs"),
        Fact("not_run", "list<int>", "concurrencies of the arm that the recipe does not run"),
        Fact("not_declared", "list<int>", "concurrencies that the recipe runs and the arm does not have"),
        Fact("spec_decoding", "string", "speculative decoding on the label"),
        Fact("recipe_speculates", "bool", "a role of the recipe decodes speculatively"),
        Fact("kv_offloading", "string", "where KV blocks are offloaded, by the label"),
        Fact("kv_offloading_given", "bool", "the arm says so itself"),
        Fact("recipe_offloads", "bool", "a role of the recipe keeps KV blocks in host memory"),
        Fact("recipe_offload", "string", "setting that turns this on"),
        Fact("recipe_offload_value", "string", "its value (`...` where it is long)"),
    ),
    anchors={
        "setting": "the setting that names the recipe",
        "arm": "the arm",
        "entry": "the entry's key",
        "image": "the entry's image",
        "precision": "the entry's precision",
        "framework": "the entry's framework",
        "conc": "the arm's concurrencies",
        "isl": "input length on the label",
        "osl": "output length on the label",
        "spec_decoding": "the arm's spec-decoding",
        "kv_offloading": "the arm's kv-offloading",
        "recipe": "the recipe's first line",
        "container": "the recipe's container",
        "recipe_precision": "the recipe's precision",
        "recipe_backend": "the recipe's backend",
        "resources": "the recipe's resources",
        "recipe_isl": "the recipe's isl",
        "recipe_osl": "the recipe's osl",
        "concurrencies": "the recipe's concurrencies",
        "recipe_speculation": "the setting that turns speculation on",
        "recipe_offload": "the setting that turns offloading on",
    },
    build=_build,
)

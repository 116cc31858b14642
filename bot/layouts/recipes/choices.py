"""Which combinations of variant, strategy and hardware a recipe's page shows, with the features that are on.

The combinations are those for which `scripts/build-recipes-api.mjs` of vllm-project/recipes writes a command; features
and offload options that somebody has to turn on are added once each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from botlint.layouts.recipes.commands import (
    TRAYS,
    Pick,
    Site,
    allows,
    compatible_strategies,
    deploy_type,
    mode_of,
    offload_option,
)
from botlint.layouts.recipes.hardware import (
    Profile,
    default_hardware,
    fits_node,
    fits_twice,
    fitting_variant,
    has_kv_store,
    is_compatible,
    is_reachable,
    is_supported,
    keyed,
    nodes_for,
    runs_variant,
    single_node_tp,
)
from botlint.layouts.recipes.values import Value, at, either, items, number, table

_MAX_POOL = 4
"""Nodes of a pool beyond which no cluster is shown."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A pick, and under which variant, strategy and hardware it is shown; `extra` is what was turned on besides.

    For all of `hardware` the page shows the same.
    """

    pick: Pick
    shown_variant: str
    shown_strategy: str
    hardware: tuple[str, ...]
    extra: str = ""


def default_features(recipe: Value, hardware: str, variant: str) -> tuple[str, ...]:
    """The features that are on unless somebody turns them off."""
    optional = {*items(at(recipe, "opt_in_features")), *items(at(recipe, "hardware_opt_in_features", hardware))}
    forced = table(at(recipe, "variants", variant, "default_modes"))
    return tuple(name for name in table(at(recipe, "features")) if name in forced or name not in optional)


def is_omni(recipe: Value) -> bool:
    """Whether vllm-omni serves a recipe, task by task."""
    return "omni" in items(at(recipe, "meta", "tasks"))


def shown_hardware(recipe: Value, site: Site, variant: Value) -> list[str]:
    """The profiles for which a variant's page has a command, the one it opens on first."""
    declared = table(at(recipe, "meta", "hardware"))
    names = [
        name
        for name, profile in site.profiles.items()
        if is_compatible(profile, variant)
        and is_supported(recipe, name)
        and runs_variant(variant, name)
        and (not profile.restricted or name in declared)
    ]
    first = default_hardware(dict(site.profiles), recipe, variant)
    return list(dict.fromkeys([first, *names])) if first in site.profiles else names


def choices(recipe: Value, site: Site, *, whole: bool = True) -> Iterator[Choice]:
    """The combinations of a recipe, variant by variant.

    What is off until somebody turns it on for a deployment, KV offload, is there once with all that it offers; with
    `whole` it is there wherever the site has a command for it.
    """
    named = frozenset(name for key, value in recipe.items() if key != "meta" for name in _named(value))
    offloads = False
    for variant, value in table(at(recipe, "variants")).items():
        if not isinstance(value, dict):
            continue
        opening: list[Choice] = []
        for hardware in alike(recipe, site, value, shown_hardware(recipe, site, value), named):
            of_hardware = list(_of_hardware(recipe, site, variant, hardware))
            opening = opening or of_hardware
            yield from (one for one in of_hardware if whole or one.pick.offload is None)
        if opening:
            yield from _extras(recipe, site, opening[0])
            if whole or not offloads:
                offloads = True
                yield from (one for one in opening if not whole and one.pick.offload is not None)
                yield from _offloads(recipe, site, opening[0])


def _named(value: Value) -> Iterator[str]:
    """The keys of all mappings."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield key
            yield from _named(inner)
    elif isinstance(value, tuple):
        for inner in value:
            yield from _named(inner)


def alike(
    recipe: Value, site: Site, variant: Value, names: Iterable[str], named: frozenset[str]
) -> list[tuple[str, ...]]:
    """Profiles for which all that is shown is the same: none is `named` alone, and the sizes lead to the same."""
    groups: dict[object, list[str]] = {}
    for name in names:
        profile = site.profiles[name]
        sizes: tuple[object, ...] = ()
        if name in named or name in TRAYS:
            sizes = (name,)
        elif profile.scalable:
            tp, _ = single_node_tp(recipe, variant, profile, "single_node_tp")
            wanted = number(at(variant, "vram_minimum_gb"))
            pools = 0 if fits_twice(profile, variant) or not profile.vram else math.ceil(wanted / profile.vram)
            sizes = (tp, fits_node(profile, variant), pools)
        else:
            sizes = (name,)
        groups.setdefault((profile.brand, profile.generations, profile.gpu_count, sizes), []).append(name)
    return [tuple(group) for group in groups.values()]


def _of_hardware(recipe: Value, site: Site, shown: str, alike: tuple[str, ...]) -> Iterator[Choice]:
    hardware = alike[0]
    profile = site.profiles[hardware]
    variant, value = shown, at(recipe, "variants", shown)
    if not profile.scalable and not fits_node(profile, value):
        fitting = fitting_variant(recipe, profile)
        if fitting is None:
            return
        variant, value = fitting, at(recipe, "variants", fitting)
    offered = _offered(recipe, site, profile)
    fits = fits_node(profile, value)
    spreads = profile.scalable and any(name.startswith("multi_node_") for name in offered)
    first = recommended(recipe, 2 if not fits and spreads else 1)
    if first not in offered:
        serving = [name for name in offered if deploy_type(site, name) != "kv_store_lb"]
        first = next((name for name in serving if name != "pd_cluster"), serving[0] if serving else first)
    usual = 2 if not fits and spreads else 1
    pick = Pick(variant, first, hardware, features=default_features(recipe, hardware, variant))
    for name in [first, *(one for one in offered if one != first)]:
        if name == "pd_cluster":
            pools = _pools(recipe, site, profile, value)
            if isinstance(pools, str):
                if name == first:
                    return
                continue
            nodes = max(usual, _nodes(recipe, site, name, profile)) if name == first else 1
            yield Choice(replace(pick, strategy=name, nodes=nodes, pools=pools), shown, name, alike)
        elif deploy_type(site, name) == "kv_store_lb":
            composed = _composed(recipe, site, pick, fits, profile)
            if composed is not None:
                yield Choice(replace(composed, offload=name), shown, name, alike)
        else:
            nodes = _nodes(recipe, site, name, profile)
            yield Choice(
                replace(pick, strategy=name, nodes=max(usual, nodes) if name == first else nodes), shown, name, alike
            )


def _offered(recipe: Value, site: Site, profile: Profile) -> list[str]:
    """The strategies that a profile can run, those of KV stores at the end."""
    stores = [name for name in site.strategies if deploy_type(site, name) == "kv_store_lb"]
    listed = compatible_strategies(recipe)
    offered = []
    for name in dict.fromkeys([*listed, *stores]):
        deploy = deploy_type(site, name)
        if deploy == "kv_store_lb":
            refused = at(recipe, "kv_cache_strategy_hardware", name, profile.id) == "unsupported"
            if profile.scalable and has_kv_store(profile) and not refused:
                offered.append(name)
            continue
        gate = keyed(at(recipe, "strategy_hardware", name), profile)
        supported = gate != "unsupported" if gate is not None else name in items(at(recipe, "compatible_strategies"))
        spread = name.startswith("multi_node_") or name == "pd_cluster"
        if supported and is_reachable(recipe, name, deploy, profile) and (profile.scalable or not spread):
            offered.append(name)
    return offered


def recommended(recipe: Value, nodes: int) -> str:
    """The strategy that a recipe's page opens with on some number of nodes."""
    compatible = compatible_strategies(recipe)
    explicit = at(recipe, "default_strategy")
    if isinstance(explicit, str) and explicit in compatible:
        if nodes > 1 and explicit.startswith("single_node_"):
            sibling = explicit.replace("single_node_", "multi_node_", 1)
            if sibling in compatible:
                return sibling
        else:
            return str(explicit)
    several = ("multi_node_tp", "multi_node_dep", "multi_node_tep") if nodes > 1 else ()
    wished = (name for name in (*several, "single_node_tp") if name in compatible)
    return next(wished, compatible[0] if compatible else "single_node_tp")


def _nodes(recipe: Value, site: Site, strategy: str, profile: Profile) -> int:
    least = 2 if deploy_type(site, strategy) == "multi_node" else 1
    return max(least, nodes_for(recipe, strategy, profile))


def _pools(recipe: Value, site: Site, profile: Profile, variant: Value) -> dict[str, int] | str | None:
    """The nodes of each pool of a cluster; None for two halves of a node, a text where none is shown."""
    wanted = number(at(variant, "vram_minimum_gb"))
    if fits_twice(profile, variant) or profile.vram <= 0 or wanted <= 0:
        return None
    nodes = math.ceil(wanted / profile.vram)
    if nodes > _MAX_POOL:
        return "too large"
    pools = {}
    for role in ("prefill", "decode"):
        own = at(recipe, "strategy_overrides", "pd_cluster", role, "parallelism")
        usual = either(at(site.strategies.get("pd_cluster"), role, "parallelism"), "tp")
        pools[role] = max(nodes, nodes_for(recipe, str(either(own, usual)), profile))
    return pools


def _composed(recipe: Value, site: Site, pick: Pick, fits: bool, profile: Profile) -> Pick | None:
    """What each instance behind a KV store runs."""
    nodes = 1 if fits else 2
    strategy = _serving(recipe, site, nodes)
    if strategy is None and nodes == 2:
        nodes, strategy = 1, _serving(recipe, site, 1)
    if strategy is None:
        return None
    if deploy_type(site, strategy) == "multi_node":
        nodes = max(nodes, nodes_for(recipe, strategy, profile))
    return replace(pick, strategy=strategy, nodes=nodes)


def _serving(recipe: Value, site: Site, nodes: int) -> str | None:
    def serves(name: str) -> bool:
        deploy = deploy_type(site, name)
        several = deploy == "multi_node"
        return name in site.strategies and deploy not in ("pd_cluster", "kv_store_lb") and several == (nodes > 1)

    return next((name for name in (recommended(recipe, nodes), *compatible_strategies(recipe)) if serves(name)), None)


def _extras(recipe: Value, site: Site, choice: Choice) -> Iterator[Choice]:
    """The features and modes that may be turned on besides, each alone, on the hardware that the page opens on."""
    pick = choice.pick
    alone = replace(choice, hardware=(pick.hardware,))
    profile = site.profiles[pick.hardware]
    for name, feature in table(at(recipe, "features")).items():
        if not allows(feature, "strategies", pick.strategy):
            continue
        on = pick.features if name in pick.features else (*pick.features, name)
        usual = mode_of(recipe, name, pick.variant, profile, None)
        for mode in table(at(feature, "modes")):
            if mode != usual and mode_of(recipe, name, pick.variant, profile, mode) == mode:
                yield replace(alone, pick=replace(pick, features=on, modes={name: mode}), extra=f"{name}:{mode}")
        if on != pick.features:
            yield replace(alone, pick=replace(pick, features=on), extra=name)


def _offloads(recipe: Value, site: Site, choice: Choice) -> Iterator[Choice]:
    """The options of KV offload that may be turned on, on the hardware that the page opens on."""
    pick = choice.pick
    alone = replace(choice, hardware=(pick.hardware,))
    for name in site.offloads:
        if offload_option(recipe, site, pick.strategy, site.profiles[pick.hardware], name) is not None:
            yield replace(alone, pick=replace(pick, offload=name), extra=f"offload:{name}")

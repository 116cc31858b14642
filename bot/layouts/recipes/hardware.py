"""Hardware profiles, and which variants of a recipe run on them."""

from __future__ import annotations

import math
from dataclasses import dataclass

from botlint.documents.yaml import Node
from botlint.layouts.recipes.values import Table, Value, at, items, js_text, number, table, truthy

MAX_NODES = 16
"""Most nodes of one deployment."""

MAX_GPUS = 1_024
"""Most GPUs of one node."""

_CONSTRAINTS = {"nvfp4": ("NVIDIA", "blackwell"), "fp4": ("NVIDIA", "blackwell")}
"""Brand and generation that a precision asks for."""

_BRANDS = {"NVIDIA": 0, "AMD": 1}


@dataclass(frozen=True, slots=True)
class Profile:
    """One kind of node."""

    id: str
    brand: str
    generations: tuple[str, ...]
    gpu_count: int
    counted: bool
    """Whether the number of its GPUs is given."""
    vram: float
    scalable: bool
    restricted: bool
    place: Node | None
    """Where the number of its GPUs is written."""

    @property
    def generation(self) -> str:
        """The first generation."""
        return self.generations[0] if self.generations else ""

    @property
    def nvidia(self) -> bool:
        """Whether brand-wide settings of NVIDIA count."""
        return self.brand == "NVIDIA"


def read_profile(name: str, value: Value) -> Profile:
    """A profile of the taxonomy; an unknown one has one GPU and nothing else."""
    given = at(value, "generation") or at(value, "gpu_generation")
    count = at(value, "gpu_count")
    counted = isinstance(count, int) and not isinstance(count, bool) and 0 <= count <= MAX_GPUS
    return Profile(
        id=name,
        brand=str(at(value, "brand") or ""),
        generations=tuple(str(one) for one in items(given)) or ((str(given),) if isinstance(given, str) else ()),
        gpu_count=count if counted else 1,
        counted=counted,
        vram=number(at(value, "vram_gb")),
        scalable=at(value, "scalable") is not False,
        restricted=truthy(at(value, "restricted")),
        place=value.block.get("gpu_count") if isinstance(value, Table) else None,
    )


def keyed(values: Value, profile: Profile) -> Value:
    """The value for a profile of a map by exact id, generation, brand, `default`; the first that is there."""
    if not isinstance(values, dict):
        return None
    for key in (profile.id, profile.generation, profile.brand.lower()):
        found = values.get(key) if key else None
        if found is not None:
            return found
    return values.get("default")


def by_generation(values: Value, profile: Profile) -> Value:
    """The value of a map by generation, with `nvidia` for all of that brand."""
    if not isinstance(values, dict):
        return None
    found = values.get(profile.generation)
    if not truthy(found) and profile.nvidia:
        found = values.get("nvidia")
    return found if truthy(found) else None


def _constraint(variant: Value) -> tuple[str, str] | None:
    own = at(variant, "precision_hardware")
    if truthy(own):
        return str(at(own, "brand") or ""), str(at(own, "generation") or "")
    return _CONSTRAINTS.get(str(at(variant, "precision") or ""))


def _matches(profile: Profile, constraint: tuple[str, str] | None) -> bool:
    if constraint is None:
        return True
    brand, generation = constraint
    return not (brand and profile.brand != brand) and not (generation and generation not in profile.generations)


def is_compatible(profile: Profile, variant: Value) -> bool:
    """Whether a variant's precision can run on a profile."""
    return _matches(profile, _constraint(variant))


def is_supported(recipe: Value, name: str) -> bool:
    """Whether a recipe does not opt a profile out."""
    return bool(at(recipe, "meta", "hardware", name) != "unsupported")


def runs_variant(variant: Value, name: str) -> bool:
    """Whether a variant does not leave a profile out of those that it lists."""
    listed = items(at(variant, "supported_hardware"))
    return not listed or name in listed


def fits_node(profile: Profile, variant: Value) -> bool:
    """Whether the variant fits one node; sizes that are not given do."""
    wanted = number(at(variant, "vram_minimum_gb"))
    return wanted <= 0 or profile.vram <= 0 or wanted <= profile.vram


def fits_twice(profile: Profile, variant: Value) -> bool:
    """Whether prefill and decode fit one node together."""
    if profile.gpu_count < 2 or not profile.counted:
        return False
    return profile.vram >= 2 * number(at(variant, "vram_minimum_gb"))


def has_kv_store(profile: Profile) -> bool:
    """Whether the KV store's transfer engine runs on a profile."""
    return profile.brand in _BRANDS


def fitting_variant(recipe: Value, profile: Profile) -> str | None:
    """The largest variant that runs on a profile."""
    fitting = [
        (name, variant)
        for name, variant in table(at(recipe, "variants")).items()
        if is_compatible(profile, variant)
        and runs_variant(variant, profile.id)
        and (profile.scalable or fits_node(profile, variant))
    ]
    fitting.sort(key=lambda one: -number(at(one[1], "vram_minimum_gb")))
    return fitting[0][0] if fitting else None


def default_hardware(profiles: dict[str, Profile], recipe: Value, variant: Value) -> str:
    """The profile on which the page of a variant opens."""
    constraint = _constraint(variant)
    declared = table(at(recipe, "meta", "hardware"))
    compatible = [
        one
        for name, one in profiles.items()
        if _matches(one, constraint)
        and is_supported(recipe, name)
        and runs_variant(variant, name)
        and (not one.restricted or name in declared)
    ]
    names = [one.id for one in compatible]
    wished = at(recipe, "meta", "default_hardware")
    preferred = [wished] if isinstance(wished, str) else []
    if constraint is not None and constraint[1] == "blackwell":
        preferred += ["b200", "gb200"]
    for name in [*preferred, "h200"]:
        if name in names:
            return str(name)
    compatible.sort(key=lambda one: (_BRANDS.get(one.brand, 9), one.id.replace("_", " ")))
    return compatible[0].id if compatible else "h200"


def minimum_gpus(recipe: Value, key: str, name: str) -> float:
    """The GPUs that a strategy needs at least on a profile."""
    given = at(recipe, "strategy_min_gpus")
    if not isinstance(given, dict):
        return number(given)
    return max(_least(given, key), _least(given.get(name), key) if name else 0)


def _least(block: Value, key: str) -> float:
    if not isinstance(block, dict):
        return number(block)
    return next(
        (number(block[one]) for one in (key, f"multi_node_{key}", f"single_node_{key}") if block.get(one) is not None),
        0,
    )


def nodes_for(recipe: Value, key: str, profile: Profile) -> int:
    """The nodes that reach a strategy's least number of GPUs."""
    return math.ceil(minimum_gpus(recipe, key, profile.id) / _per_node(profile)) or 1


def is_reachable(recipe: Value, key: str, deploy_type: str, profile: Profile) -> bool:
    """Whether a strategy can ever have its least number of GPUs on a profile."""
    nodes = MAX_NODES if deploy_type in ("multi_node", "pd_cluster") else 1
    return nodes * _per_node(profile) >= minimum_gpus(recipe, key, profile.id)


def _per_node(profile: Profile) -> int:
    return (profile.gpu_count if profile.counted else 0) or 8


def single_node_tp(recipe: Value, variant: Value, profile: Profile, strategy: str) -> tuple[int | float, Node | None]:
    """The tensor-parallel size on one node, and where it is written or what it follows from."""
    count = profile.gpu_count
    if strategy != "single_node_tp":
        return count, profile.place
    for owner in (variant, at(recipe, "strategy_overrides", strategy)):
        given = at(owner, "tp")
        place = owner.block.key_node("tp") if isinstance(owner, Table) else None
        size = given if number(given) else keyed(given, profile)
        if number(size) > 0:
            size = number(size)
            return (size if profile.generation == "cpu" else min(size, count)), place
    each = profile.vram / count if profile.vram and count else 0
    wanted = number(at(variant, "vram_minimum_gb"))
    fits = bool(wanted) and each > 0 and wanted <= each
    return (1 if fits else count), profile.place


def text_of(size: float) -> str:
    """A size as the site writes it."""
    return js_text(size)

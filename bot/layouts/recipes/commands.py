"""What the site makes of a recipe: the words and variables of a command, each with the place it comes from.

The order of the parts and what replaces what are those of `src/lib/command-synthesis.js` of vllm-project/recipes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TypeAlias

from botlint.documents.yaml import Node
from botlint.layouts.recipes.hardware import Profile, by_generation, keyed, single_node_tp, text_of
from botlint.layouts.recipes.values import Table, Value, at, either, is_number, items, js_text, said, table, truthy

_TRAY_ONLY = (
    "VLLM_USE_NCCL_SYMM_MEM",
    "NCCL_CUMEM_ENABLE",
    "NCCL_MNNVL_ENABLE",
    "NCCL_NVLS_ENABLE",
    "UCX_NET_DEVICES",
)
"""Variables of pools that only make sense on the trays."""

TRAYS = frozenset({"gb200", "gb300"})
"""Profiles for which the site keeps variables that it takes away elsewhere."""

_MODES = ("tp", "tep", "dep")

Args: TypeAlias = list[Value]
Env: TypeAlias = "dict[str, tuple[Value, Node | None]]"
"""Variables by name: the value, and the key under which it is written."""


class Unreadable(Exception):  # noqa: N818 - a refusal of the input, not an error of ours
    """A recipe of which the site makes no command."""


@dataclass(frozen=True, slots=True)
class Pick:
    """What somebody picked on a recipe's page."""

    variant: str
    strategy: str
    hardware: str
    nodes: int = 1
    features: tuple[str, ...] = ()
    modes: Mapping[str, str] = field(default_factory=dict)
    pools: Mapping[str, int] | None = None
    offload: str | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """One command: what the role or node is called, its words, and its variables."""

    role: str
    rank: int
    """The number of its node among those that one engine spans; they differ in this only."""
    words: tuple[Value, ...]
    env: Env
    model: str


@dataclass(frozen=True, slots=True)
class Site:
    """What all recipes share."""

    strategies: Mapping[str, Table]
    profiles: Mapping[str, Profile]
    offloads: Mapping[str, Value]


def allows(owner: Value, key: str, name: str) -> bool:
    """Whether a list of names that may restrict its owner has a name, or is not there."""
    listed = items(at(owner, key))
    return not listed or name in listed


def deploy_type(site: Site, strategy: str) -> str:
    """How a strategy is deployed."""
    return str(at(site.strategies.get(strategy), "deploy_type") or "")


@lru_cache(maxsize=8)
def compatible_strategies(recipe: Value) -> tuple[str, ...]:
    """The strategies that a recipe offers on some hardware."""
    listed = tuple(str(one) for one in items(at(recipe, "compatible_strategies")) if isinstance(one, str))
    opted = [
        name
        for name, by_hardware in table(at(recipe, "strategy_hardware")).items()
        if name not in listed and isinstance(by_hardware, dict) and "supported" in by_hardware.values()
    ]
    return (*listed, *opted)


def pool_modes(recipe: Value) -> tuple[str, ...]:
    """The parallelism that pools of a recipe may have."""
    found = set()
    for name in compatible_strategies(recipe):
        if name == "pd_cluster":
            continue
        words = name.split("_")
        if words[-1] in ("dep", "tep"):
            found.add(words[-1])
        elif words[-1] == "tp" or words[-2:] in (["tp", "pp"], ["tp", "dp"]):
            found.add("tp")
    ordered = tuple(mode for mode in _MODES if mode in (found or {"tp"}))
    allowed = items(at(recipe, "strategy_overrides", "pd_cluster", "pool_modes"))
    return tuple(mode for mode in ordered if mode in allowed) or ordered


def offload_option(recipe: Value, site: Site, strategy: str, profile: Profile, name: str | None) -> Value:
    """The option of KV offloading that composes with a strategy, if all of its gates are open."""
    option = site.offloads.get(name) if name else None
    if not isinstance(option, dict) or deploy_type(site, strategy) in ("pd_cluster", "kv_store_lb"):
        return None
    support = at(recipe, "kv_offload_support", name or "")
    refused = support == "unsupported" or (truthy(option.get("requires_opt_in")) and support != "verified")
    brands = items(option.get("brands"))
    if refused or not allows(option, "strategies", strategy) or (brands and profile.brand not in brands):
        return None
    return option


def mode_of(recipe: Value, feature: str, variant: str, profile: Profile, picked: str | None) -> str | None:
    """The mode of a feature that has several; None where none is allowed."""
    own = at(recipe, "features", feature)
    modes = table(at(own, "modes"))
    allowed = [name for name, mode in modes.items() if allows(mode, "variants", variant) and _runs(mode, profile)]
    steered = at(recipe, "variants", variant, "default_modes", feature)
    for name in (picked, steered, at(own, "default_mode")):
        if isinstance(name, str) and name in allowed:
            return str(name)
    return allowed[0] if allowed else None


def _runs(mode: Value, profile: Profile) -> bool:
    gates = at(mode, "hardware")
    return "unsupported" not in (at(gates, profile.generation), at(gates, profile.id))


def dedupe(args: Iterable[Value]) -> Args:
    """The last of each option with its value, and every word that belongs to none.

    Raises Unreadable for a word that is not text where an option may stand.
    """
    given = [one for one in args if truthy(one)]
    units: list[tuple[Value, ...]] = []
    index = 0
    while index < len(given):
        word = given[index]
        if not isinstance(word, str):
            raise Unreadable(f"an argument is no text: {js_text(word)}")
        index += 1
        if word.startswith("-") and index < len(given) and not _is_option(given[index]):
            value = given[index]
            if not isinstance(value, str):
                raise Unreadable(f"the value of {word} is no text: {js_text(value)}")
            units.append((word, value))
            index += 1
        else:
            units.append((word,))
    last = {unit[0]: number for number, unit in enumerate(units) if unit[0].startswith("-")}
    kept = [unit for number, unit in enumerate(units) if not unit[0].startswith("-") or last[unit[0]] == number]
    return [word for unit in kept for word in unit]


def _is_option(word: Value) -> bool:
    return isinstance(word, str) and word.startswith("-")


def omni_command(recipe: Value, variant_name: str, task: Value, profile: Profile) -> Shown:
    """The command of a task that vllm-omni serves, as `resolveOmniCommand` makes it.

    Raises Unreadable where the site fails on the recipe's values.
    """
    variant = _variant(recipe, variant_name)
    exact = at(task, "hardware_overrides", profile.id)
    named = either(at(exact, "model_id"), at(task, "model_id"))
    model = either(named, either(at(variant, "model_id"), either(at(recipe, "model", "model_id"), "unknown")))
    blocks = (
        by_generation(at(recipe, "hardware_overrides"), profile),
        by_generation(at(variant, "hardware_overrides"), profile),
        at(variant, "hardware_overrides", profile.id),
    )
    own = variant if variant_name != "default" else None
    env: Env = {}
    _assign(env, at(recipe, "model", "base_env"), *(at(block, "extra_env") for block in (own, *blocks)))
    args: Args = [*items(at(recipe, "model", "base_args")), *items(at(own, "extra_args"))]
    args.extend((*items(at(task, "extra_args")), *items(at(exact, "extra_args"))))
    for block in blocks:
        args.extend(items(at(block, "extra_args")))
    port = at(recipe, "omni", "port")
    if truthy(port):
        place = recipe["omni"].key("port")
        args.extend((said("--port", place), said(js_text(port), place)))
    args.append(said("--omni", recipe["omni"].block if isinstance(recipe.get("omni"), Table) else None))
    return Shown("", 0, tuple(dedupe(args)), env, _text(model))


def _text(model: Value) -> str:
    if not isinstance(model, str):
        raise Unreadable(f"the model is no text: {js_text(model)}")
    return model


def _variant(recipe: Value, name: str) -> Value:
    return either(at(recipe, "variants", name), either(at(recipe, "variants", "default"), {}))


def _assign(env: Env, *blocks: Value) -> None:
    """Variables of blocks, later ones first where both have one."""
    for block in blocks:
        if isinstance(block, Table):
            for name, value in block.items():
                env[name] = (value, block.key(name))


def _last_number(args: Sequence[Value], option: str, otherwise: float) -> float:
    at_ = max((index for index, word in enumerate(args) if word == option), default=-1)
    if at_ < 0:
        return otherwise
    try:
        return float(args[at_ + 1])
    except (IndexError, TypeError, ValueError):
        raise Unreadable(f"{option} is no number") from None


class Maker:
    """Makes the commands of one recipe; parts that several picks share are made once."""

    def __init__(self, recipe: Value, site: Site) -> None:
        self.recipe = recipe
        self.site = site
        self._parts: dict[tuple[object, ...], tuple[Value, ...]] = {}
        self._words: dict[tuple[Value, ...], tuple[Value, ...]] = {}
        self._same: dict[tuple[Value, ...], tuple[Value, ...]] = {}
        self._variables: dict[tuple[object, ...], Env] = {}

    def commands(self, pick: Pick, *, followers: bool = True) -> list[Shown]:
        """The commands of a pick, role by role, or node by node; without `followers` that of the first node only.

        Raises Unreadable where the site fails on the recipe's values.
        """
        made = _Pick(self.recipe, self.site, pick)
        if made.deploy == "pd_cluster":
            return [self._shown(made, role, role, None) for role in ("prefill", "decode")]
        if made.deploy == "multi_node" and pick.nodes > 1:
            ranks = range(1, pick.nodes if followers else 1)
            head = self._shown(made, "head", None, 0)
            return [head, *(self._shown(made, f"node {rank}", None, rank) for rank in ranks)]
        return [self._shown(made, "", None, None)]

    def of_task(self, variant: str, task: Value, profile: Profile) -> list[Shown]:
        """The command of a task that vllm-omni serves.

        Raises Unreadable where the site fails on the recipe's values.
        """
        made = omni_command(self.recipe, variant, task, profile)
        return [replace(made, words=self._same.setdefault(made.words, made.words), env=self._equal(made.env))]

    def _equal(self, env: Env) -> Env:
        values = ("", *((name, js_text(value)) for name, (value, _) in env.items()))
        return self._variables.setdefault(values, env)

    def _shown(self, made: _Pick, name: str, role: str | None, rank: int | None) -> Shown:
        return Shown(name, rank or 0, self._args(made, role, rank), self._env(made, role), _text(made.model))

    # ------------------------------------------------------------------------------------------------------- words

    def _args(self, made: _Pick, role: str | None, rank: int | None) -> tuple[Value, ...]:
        """The words of a command; equal ones are one object."""
        given = (
            *self._kept(("fixed", *made.key), made.fixed),
            *items(at(made.owner(role), "vllm_args")),
            *made.parallelism(role, rank),
            *self._kept(("overrides", *made.key, made.pick.strategy, role), lambda: made.overrides(role)),
            *self._kept(("features", *made.key, *made.features_key), made.features),
            *items(at(made.option, "args")),
            *(items(at(made.store, "vllm", "vllm_args")) if made.composing else ()),
            *(items(at(made.store, "pd", role, "args")) if role else ()),
        )
        found = self._words.get(given)
        if found is None:
            words = tuple(dedupe(given))
            found = self._words[given] = self._same.setdefault(words, words)
        return found

    def _kept(self, key: tuple[object, ...], make: Callable[[], Iterable[Value]]) -> tuple[Value, ...]:
        found = self._parts.get(key)
        if found is None:
            found = self._parts[key] = tuple(make())
        return found

    # ---------------------------------------------------------------------------------------------------- variables

    def _env(self, made: _Pick, role: str | None) -> Env:
        """The variables of a command; equal ones are one object."""
        pick, nodes = made.pick, made.pool_nodes(role) if role else 0
        key = (*made.key, pick.strategy, pick.offload, role, nodes)
        found = self._variables.get(key)
        if found is None:
            found = self._variables[key] = self._equal(made.env(role))
        return found


class _Pick:
    """One pick of a recipe, with all that its words and variables are made of."""

    def __init__(self, recipe: Value, site: Site, pick: Pick) -> None:
        self.recipe = recipe
        self.pick = pick
        self.variant = _variant(recipe, pick.variant)
        self.strategy: Value = site.strategies.get(pick.strategy) or {}
        self.profile = site.profiles[pick.hardware]
        self.own = at(recipe, "strategy_overrides", pick.strategy)
        self.deploy = str(self.strategy.get("deploy_type") or "")
        store = site.strategies.get(pick.offload) if pick.offload else None
        self.store: Value = store if at(store, "deploy_type") == "kv_store_lb" else None
        self.composing = self.store is not None and self.deploy != "pd_cluster"
        self.option = offload_option(recipe, site, pick.strategy, self.profile, pick.offload) if pick.offload else None
        instances = at(self.store, "default_instances")
        self.instances = int(instances) if is_number(instances) and instances else 2
        self.exact = at(self.variant, "hardware_overrides", pick.hardware)

    @property
    def model(self) -> Value:
        """The model that is served."""
        return either(at(self.variant, "model_id"), either(at(self.recipe, "model", "model_id"), "unknown"))

    @property
    def key(self) -> tuple[str, str]:
        """What most parts depend on."""
        return self.pick.variant, self.pick.hardware

    @property
    def features_key(self) -> tuple[object, ...]:
        """What the words of features depend on."""
        return self.pick.strategy, self.pick.features, tuple(self.pick.modes.items()), self.composing

    def owner(self, role: str | None) -> Value:
        """What of the strategy gives words and variables: a role's part where it has roles."""
        if self.deploy != "pd_cluster":
            return self.strategy
        return at(self.strategy, role) if role else None

    # ------------------------------------------------------------------------------------------------------- words

    def fixed(self) -> Iterator[Value]:
        """What the recipe and the variant give, whatever the strategy."""
        yield from items(at(self.recipe, "model", "base_args"))
        yield from items(at(self.variant, "extra_args"))
        yield from items(at(self.exact, "extra_args"))

    def overrides(self, role: str | None) -> Iterator[Value]:
        """What the recipe changes for the strategy and the hardware."""
        block = self.own if role is None else at(self.own, role)
        yield from items(at(block, "extra_args"))
        yield from items(at(block, "vllm_args"))
        for block in self._hardware_blocks(role):
            yield from items(at(block, "extra_args"))

    def _hardware_blocks(self, role: str | None) -> Iterator[Value]:
        """What a recipe changes on the profile; a strategy's own block replaces those of recipe and variant."""
        replacing = by_generation(at(self.own, "hardware_overrides"), self.profile)
        if replacing is not None:
            yield replacing
        else:
            yield by_generation(at(self.recipe, "hardware_overrides"), self.profile)
            yield by_generation(at(self.variant, "hardware_overrides"), self.profile)
        yield at(self.own, "hardware_overrides", self.profile.id)
        if role:
            yield at(self.own, role, "hardware_overrides", self.profile.id)

    def features(self) -> Iterator[Value]:
        """What the features that are on give."""
        for name in self.pick.features:
            feature = at(self.recipe, "features", name)
            if not truthy(feature) or not allows(feature, "strategies", self.pick.strategy):
                continue
            if self.composing and truthy(at(feature, "companion", "command")):
                continue
            modes = at(feature, "modes")
            if isinstance(modes, dict):
                mode = mode_of(self.recipe, name, self.pick.variant, self.profile, self.pick.modes.get(name))
                own = at(modes, mode) if mode else None
                changed = at(keyed(at(own, "hardware_overrides"), self.profile), "args")
            else:
                own = feature
                changed = at(by_generation(at(own, "hardware_overrides"), self.profile), "args")
            yield from items(changed if changed is not None else at(own, "args"))

    def parallelism(self, role: str | None, rank: int | None) -> Iterator[Value]:
        """How the work is divided."""
        if role is not None:
            yield from self._pool(role)
            return
        if rank is None:
            flag = at(self.strategy, "parallel_flag")
            size, place = single_node_tp(self.recipe, self.variant, self.profile, self.pick.strategy)
            yield either(flag, said("--tensor-parallel-size", self._place))
            yield said(text_of(size), place)
            return
        yield from self._nodes(rank)

    @property
    def _place(self) -> Node | None:
        """Where the strategy says what a command is divided by."""
        return self.strategy.key("parallel_flag") if isinstance(self.strategy, Table) else None

    def _pair(self, option: str, value: str) -> tuple[Value, Value]:
        return said(option, self._place), said(value, self.profile.place)

    def _nodes(self, rank: int) -> Iterator[Value]:
        """How the nodes of one engine find and divide the work."""
        nodes, each = self.pick.nodes, self.profile.gpu_count
        head = "$VLLM_INSTANCE_1" if self.composing and self.instances > 1 else "$HEAD_IP"
        parallelism = at(self.strategy, "parallelism")
        if at(self.strategy, "parallel_flag") == "--data-parallel-size":
            yield from self._pair("--data-parallel-size", str(nodes * each))
            yield from self._pair("--data-parallel-size-local", str(each))
            yield from self._pair("--data-parallel-address", head)
            if rank:
                yield from self._pair("--data-parallel-start-rank", text_of(rank * self._local_ranks()))
            return
        if parallelism == "tp_dp":
            yield from self._pair("--tensor-parallel-size", str(each))
            yield from self._pair("--data-parallel-size", str(nodes))
            yield from self._pair("--data-parallel-size-local", "1")
            yield from self._pair("--data-parallel-address", head)
            if rank:
                yield from self._pair("--data-parallel-start-rank", str(rank))
            return
        if parallelism == "tp_pp":
            yield from self._pair("--tensor-parallel-size", str(each))
            yield from self._pair("--pipeline-parallel-size", str(nodes))
        else:
            yield from self._pair("--tensor-parallel-size", str(nodes * each))
        yield from self._pair("--nnodes", str(nodes))
        yield from self._pair("--node-rank", str(rank))
        yield from self._pair("--master-addr", head)
        if rank:
            yield said("--headless", self._place)

    def _local_ranks(self) -> float:
        """The data-parallel ranks of a node, which a recipe may change."""
        block = by_generation(at(self.own, "hardware_overrides"), self.profile)
        given = [
            *items(at(self.own, "vllm_args")),
            *items(at(self.own, "extra_args")),
            *items(at(block, "extra_args")),
            *items(at(self.own, "hardware_overrides", self.profile.id, "extra_args")),
        ]
        return _last_number(given, "--data-parallel-size-local", self.profile.gpu_count)

    def _pool(self, role: str) -> Iterator[Value]:
        """How a pool of prefill or decode workers is divided."""
        own, usual, each = at(self.own, role), at(self.strategy, role), self.profile.gpu_count
        nodes = self.pool_nodes(role)
        head = f"${role.upper()}_NODE_1"
        offered = pool_modes(self.recipe)
        parallelism = str(either(at(own, "parallelism"), either(at(usual, "parallelism"), "tp")))
        if parallelism not in offered:
            parallelism = offered[0]
        if parallelism == "dep":
            size = at(own, "tp") if at(own, "tp") is not None else at(usual, "tp")
            tp = size if is_number(size) and size > 0 else 1
            local = max(1, int(each // tp))
            if size is not None:
                yield from self._pair("--tensor-parallel-size", js_text(size))
            yield from self._pair("--data-parallel-size", str(max(1, nodes) * local))
            yield from self._pair("--data-parallel-size-local", str(local))
            yield from self._pair("--data-parallel-start-rank", "0")
            yield from self._pair("--data-parallel-address", head)
            yield from self._pair("--data-parallel-rpc-port", f"${role.upper()}_DP_RPC_PORT")
            if nodes > 1:
                yield said("--data-parallel-hybrid-lb", self._place)
            yield said("--enable-expert-parallel", self._place)
            return
        flag = either(at(own, "parallel_flag"), either(at(usual, "parallel_flag"), at(self.strategy, "parallel_flag")))
        yield either(flag, said("--tensor-parallel-size", self._place))
        yield said(str(max(1, each // 2 if nodes == 0 else nodes * each)), self.profile.place)
        if parallelism == "tep":
            yield said("--enable-expert-parallel", self._place)
        if nodes > 1:
            yield from self._pair("--nnodes", str(nodes))
            yield from self._pair("--node-rank", "0")
            yield from self._pair("--master-addr", head)

    def pool_nodes(self, role: str) -> int:
        """The nodes of a pool; 0 for half of the only one."""
        if self.pick.pools is not None and role in self.pick.pools:
            return self.pick.pools[role]
        return 1 if self.pick.nodes > 1 else 0

    # ---------------------------------------------------------------------------------------------------- variables

    def env(self, role: str | None) -> Env:
        """The variables, later places first where several have one."""
        env: Env = {}
        _assign(env, at(self.recipe, "model", "base_env"), at(self.variant, "extra_env"), at(self.exact, "extra_env"))
        _assign(env, at(self.owner(role), "env"), at(self.option, "env"))
        if self.composing or (role and truthy(at(self.store, "pd"))):
            _assign(env, at(self.store, "vllm", "env"))
        if role:
            self._devices(env, role)
        _assign(env, at(self.own, "env"), at(self.own, role, "env") if role else at(self.own, "extra_env"))
        for block in self._hardware_blocks(role):
            _assign(env, at(block, "extra_env"))
        if self.deploy == "pd_cluster" and self.profile.id not in TRAYS:
            for name in _TRAY_ONLY:
                env.pop(name, None)
        return env

    def _devices(self, env: Env, role: str) -> None:
        """Which GPUs of a node a role has, and by which interface its nodes talk."""
        nodes, count, place = self.pool_nodes(role), self.profile.gpu_count, self.profile.place
        half = count // 2
        if nodes >= 1:
            env["CUDA_VISIBLE_DEVICES"] = (_numbers(0, count), place)
            if nodes >= 2:
                env["GLOO_SOCKET_IFNAME"] = ("$IFACE_NAME", place)
                env["NCCL_SOCKET_IFNAME"] = ("$IFACE_NAME", place)
        elif half > 0:
            first = (0, half) if role == "prefill" else (half, count)
            env["CUDA_VISIBLE_DEVICES"] = (_numbers(*first), place)


def _numbers(first: int, end: int) -> str:
    return ",".join(str(one) for one in range(first, end))

"""What the options and variables of a server come to, whatever its framework calls them.

Every fact that hangs on a value that is not known is left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache

from botlint.catalogs.catalog import load
from botlint.engine.analysis.command import Option, read_json

Value = object

SIZES: Mapping[str, Mapping[str, str]] = {
    "tp": {"vllm": "tensor_parallel_size", "sglang": "tp_size", "atom": "tensor_parallel_size", "trtllm": "tp_size"},
    "pp": {
        "vllm": "pipeline_parallel_size",
        "sglang": "pp_size",
        "atom": "pipeline_parallel_size",
        "trtllm": "pp_size",
    },
    "dp": {"vllm": "data_parallel_size", "sglang": "dp_size", "atom": "data_parallel_size"},
    "dp_local": {"vllm": "data_parallel_size_local"},
    "ep_size": {"sglang": "ep_size", "trtllm": "ep_size"},
    "moe_dp": {"sglang": "moe_dp_size"},
    "dcp": {"vllm": "decode_context_parallel_size", "sglang": "dcp_size", "atom": "decode_context_parallel_size"},
    "pcp": {"vllm": "prefill_context_parallel_size", "sglang": "attn_cp_size"},
    "nodes": {"vllm": "nnodes", "sglang": "nnodes"},
}
"""The option that gives a size; without it the size is 1."""

TEXTS: Mapping[str, Mapping[str, str]] = {
    "kv_dtype": {"vllm": "kv_cache_dtype", "sglang": "kv_cache_dtype", "atom": "kv_cache_dtype"},
    "attention_backend": {"vllm": "attention_backend", "sglang": "attention_backend"},
    "moe_backend": {"vllm": "moe_backend", "sglang": "moe_runner_backend", "atom": "moe_backend"},
    "quantization": {"vllm": "quantization", "sglang": "quantization"},
    "transfer_backend": {"sglang": "disaggregation_transfer_backend"},
    "served_name": {"vllm": "served_model_name", "sglang": "served_model_name"},
}
NUMBERS: Mapping[str, Mapping[str, str]] = {
    "block_size": {"vllm": "block_size", "sglang": "page_size", "atom": "block_size"},
    "max_model_len": {
        "vllm": "max_model_len",
        "sglang": "context_length",
        "atom": "max_model_len",
        "trtllm": "max_seq_len",
    },
    "max_num_seqs": {
        "vllm": "max_num_seqs",
        "sglang": "max_running_requests",
        "atom": "max_num_seqs",
        "trtllm": "max_batch_size",
    },
    "max_batched_tokens": {
        "vllm": "max_num_batched_tokens",
        "sglang": "chunked_prefill_size",
        "atom": "max_num_batched_tokens",
        "trtllm": "max_num_tokens",
    },
    "port": {"vllm": "port", "sglang": "port", "atom": "server_port", "trtllm": "port"},
}

GIB = 1 << 30
GB = 1_000_000_000

_OFFLOADERS: Mapping[str, tuple[str, ...]] = {
    "OffloadingConnector": ("vllm-native", "native"),
    "SimpleCPUOffloadConnector": ("vllm-simple",),
    "LMCacheConnectorV1": ("lmcache",),
    "LMCacheMPConnector": ("lmcache",),
    "MooncakeStoreConnector": ("mooncake",),
    "FlexKVConnectorV1": ("flexkv",),
    "lmcache_offload": ("lmcache",),
}
"""KV connectors that offload to host memory, with the names that labels have for them."""

PEERS = frozenset(
    {
        "NixlConnector",
        "NixlPullConnector",
        "NixlPushConnector",
        "MooncakeConnector",
        "MoRIIOConnector",
        "P2pNcclConnector",
    }
)
"""KV connectors that only pass blocks from worker to worker."""

_SPANNING = frozenset({"deepep", "mooncake", "nixl", "mori", "megamoe", "flashinfer", "ascend_fuseep"})
"""SGLang's exchange backends for which its sources set ep_size to tp_size."""

_ON = ("1", "true")


@cache
def canonical_names(framework: str) -> Mapping[str, str]:
    """The name that the newest version of a framework gives an option, by every name that it has or had."""
    catalog = load(framework)
    names: dict[str, str] = {}
    for flag in catalog.flags_at(catalog.newest).values():
        for spelling in flag.spellings:
            if spelling.startswith("--"):
                names[_plain(spelling)] = _plain(flag.name)
    return names


def _plain(spelling: str) -> str:
    return spelling.lstrip("-").replace("-", "_")


def flags_of(options: Sequence[Option], engine: str) -> tuple[dict[str, str], set[str]]:
    """The options by canonical name, the last one counting, and the names of those whose value is not known."""
    names = canonical_names(engine) if engine in ("vllm", "sglang", "atom") else {}
    flags: dict[str, str] = {}
    unknown: set[str] = set()
    for option in options:
        head, dot, rest = option.name.partition(".")
        name = f"{names.get(head, head)}{dot}{rest}"
        flags.pop(name, None)
        unknown.discard(name)
        text = option.text
        if text is None:
            unknown.add(name)
        else:
            flags[name] = text
    return flags, unknown


@dataclass(frozen=True, slots=True)
class Reading:
    """A server's options and variables; `open_flags` and `open_env` name those whose value is not known."""

    engine: str
    flags: Mapping[str, str]
    open_flags: frozenset[str]
    env: Mapping[str, str]
    open_env: frozenset[str]

    def text(self, name: str, default: str = "") -> str | None:
        """The value of an option, the default without it, None if it is not known."""
        return None if name in self.open_flags else self.flags.get(name, default)

    def on(self, name: str) -> bool | None:
        """Whether a switch is on."""
        text = self.text(name)
        return None if text is None else text.lower() in _ON

    def number(self, name: str, default: int | None) -> int | None:
        """The value of an option as a number; None if it is not known or none."""
        text = self.text(name)
        if text is None:
            return None
        if text == "":
            return default
        return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None

    def variable(self, name: str, default: str = "") -> str | None:
        """The value of a variable, None if it is not known."""
        return None if name in self.open_env else self.env.get(name, default)

    def config(self, name: str) -> Mapping[str, Value] | None:
        """The value of a JSON option with what `--NAME.key` gives; empty without it, None if it is not known."""
        if any(one == name or one.startswith(f"{name}.") for one in self.open_flags):
            return None
        found: dict[str, Value] = {}
        text = self.flags.get(name)
        if text is not None:
            value = read_json(text)
            if not isinstance(value, Mapping):
                return None
            found.update(value)
        for key, given in self.flags.items():
            head, dot, rest = key.partition(".")
            if head == name and dot:
                found[rest] = int(given) if given.isdigit() else given
        return found


def serving_facts(one: Reading) -> Iterator[tuple[str, Value]]:
    """The facts of a server by name, without those that are not known."""
    for name, value in _all_facts(one):
        if value is not None:
            yield name, value


def _all_facts(one: Reading) -> Iterator[tuple[str, Value]]:
    settled = one.engine != "trtllm"
    sizes: dict[str, int | None] = {}
    for size, names in SIZES.items():
        option = names.get(one.engine)
        # What TensorRT-LLM is not told by an option, a configuration file may say.
        default = 1 if settled else None
        sizes[size] = default if option is None else one.number(option, default)
        yield size, sizes[size]
    for fact, names in NUMBERS.items():
        option = names.get(one.engine)
        yield fact, None if option is None else one.number(option, None)
    for fact, names in TEXTS.items():
        option = names.get(one.engine)
        yield fact, None if option is None else one.text(option)
    if not settled:
        yield "ep", None if sizes["ep_size"] is None else sizes["ep_size"] > 1
        yield from _forced_tensorrt(one)
        return
    yield from _parallel(one, sizes)
    yield "prefix_caching", _prefix_caching(one)
    yield from _speculation(one)
    yield from _transfer(one)
    yield from _offload(one, sizes)


def _product(sizes: Sequence[int | None]) -> int | None:
    product = 1
    for size in sizes:
        if size is None:
            return None
        product *= size
    return product


def _parallel(one: Reading, sizes: Mapping[str, int | None]) -> Iterator[tuple[str, Value]]:
    tp, dp, pp, pcp, ep_size = (sizes[name] for name in ("tp", "dp", "pp", "pcp", "ep_size"))
    if one.engine == "sglang":
        attention = one.on("enable_dp_attention")
        exchange = one.text("moe_a2a_backend", "none")
        if exchange != "none":
            # Backends that exchange tokens make the expert-parallel group as large as the tensor-parallel one.
            ep_size = tp if exchange in _SPANNING else None
        yield "ep", None if ep_size is None else ep_size > 1
        yield "dp_attention", attention
        yield "moe_ep", ep_size
        moe_dp = sizes["moe_dp"]
        if None not in (tp, ep_size, moe_dp) and tp % (ep_size * moe_dp) == 0:  # type: ignore[operator]
            yield "moe_tp", tp // (ep_size * moe_dp)  # type: ignore[operator]
        if attention is None:
            return
        # With attention in parallel the data-parallel ranks share the GPUs of the tensor-parallel group.
        if not attention:
            yield "attention_tp", tp
        elif tp is not None and dp and tp % dp == 0:
            yield "attention_tp", tp // dp
        yield "gpus", _product([tp, pp, 1 if attention else dp])
        return
    ep = one.on("enable_expert_parallel")
    yield "ep", ep
    if one.engine == "atom":
        attention = one.on("enable_dp_attention")
        yield "dp_attention", attention
        if attention is None:
            return
        # ATOM's data-parallel attention, like SGLang's, divides the tensor-parallel group.
        yield "attention_tp", 1 if attention else tp
        world = [tp, pp, 1 if attention else dp]
    else:
        yield "dp_attention", None if dp is None else dp > 1
        yield "attention_tp", tp
        world = [tp, pp, dp, pcp]
    yield "gpus", _product(world)
    group = _product([tp, dp if one.engine == "vllm" else 1, pcp])
    if ep is not None and group is not None:
        yield "moe_ep", group if ep else 1
        yield "moe_tp", 1 if ep else group


def _prefix_caching(one: Reading) -> bool | None:
    if one.engine == "sglang":
        off = one.on("disable_radix_cache")
        missing = one.variable("SGLANG_RADIX_FORCE_MISS", "0")
        role = one.text("disaggregation_mode")
        kept = one.on("disaggregation_decode_enable_radix_cache")
        if off is None or missing is None or role is None or kept is None:
            return None
        # A decode server keeps no prefixes unless it is told to; a forced miss keeps them but never finds any.
        return not off and missing.lower() not in _ON and (role != "decode" or kept)
    # vLLM turns it on by itself; ATOM only when it is told to.
    text = one.text("enable_prefix_caching", "true" if one.engine == "vllm" else "false")
    return None if text is None else text == "true"


def _speculation(one: Reading) -> Iterator[tuple[str, Value]]:
    if one.engine == "vllm":
        config = one.config("speculative_config")
        if config is not None:
            yield from _vllm_speculation(config)
        return
    if one.engine == "sglang":
        method = one.text("speculative_algorithm")
        tokens = one.number("speculative_num_draft_tokens", 0)
        steps = one.number("speculative_num_steps", tokens - 1 if tokens else 0)
        draft = one.text("speculative_draft_model_path")
        forced = one.variable("SGLANG_SIMULATE_ACC_LEN")
        length = None if forced is None else _float(forced)
    else:
        method, draft = one.text("method"), one.text("draft_model")
        tokens = steps = one.number("num_speculative_tokens", 1 if method else 0)
        forced = one.text("spec_decode_acceptance_length")
        length = None if forced is None else _float(forced)
        rate = one.text("spec_decode_acceptance_rate")
        if rate is None:
            forced = None
        elif rate:
            forced = rate
            share = _float(rate)
            length = None if share is None or steps is None else round(1 + share * steps, 4)
    yield "spec_method", method
    yield "spec_tokens", tokens
    yield "spec_steps", steps
    yield "draft_model", draft
    if forced is None:
        return
    # SGLang simulates above zero; without a method ATOM drops all of speculation.
    simulated = bool(forced) and (length is None or length > 0)
    yield "synthetic", simulated
    yield "synthetic_length", length if simulated else None


def _vllm_speculation(config: Mapping[str, Value]) -> Iterator[tuple[str, Value]]:
    draft = config.get("model") or ""
    method = config.get("method") or ("draft_model" if draft else "")
    tokens = config.get("num_speculative_tokens", 0)
    if not isinstance(draft, str) or not isinstance(method, str):
        return
    yield "spec_method", method
    yield "draft_model", draft
    if type(tokens) is int:
        yield "spec_tokens", tokens
        yield "spec_steps", tokens
    for key in ("attention_backend", "draft_sample_method", "rejection_sample_method"):
        value = config.get(key, "")
        if isinstance(value, str):
            yield f"spec_{key}", value
    ranks = config.get("draft_tensor_parallel_size", 0)
    yield "spec_draft_tp", ranks if type(ranks) is int else None
    keys = sorted(key for key in config if key.startswith("synthetic_acceptance"))
    yield "synthetic", config.get("rejection_sample_method") == "synthetic"
    yield "synthetic_keys", keys
    length = config.get("synthetic_acceptance_length")
    if isinstance(length, (int, float, str)) and not isinstance(length, bool):
        yield "synthetic_length", _float(str(length))


def _forced_tensorrt(one: Reading) -> Iterator[tuple[str, Value]]:
    forced = one.variable("TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS")
    if forced is None:
        return
    yield "synthetic", bool(forced)
    accepted = _float(forced)
    if accepted is not None:
        # It counts draft tokens only: the token that the target verifies comes on top.
        yield "synthetic_length", round(accepted + 1, 4)


def _float(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) < 1e6 else None


def _transfer(one: Reading) -> Iterator[tuple[str, Value]]:
    config = one.config("kv_transfer_config")
    if config is None:
        return
    for key in ("kv_connector", "kv_role"):
        value = config.get(key, "")
        yield key, value if isinstance(value, str) else None
    yield "kv_connectors", [str(inner.get("kv_connector", "")) for inner in _connectors(config)]
    yield "kv_roles", [str(inner.get("kv_role", "")) for inner in _connectors(config)]


def _connectors(config: Mapping[str, Value]) -> list[Mapping[str, Value]]:
    """A connector's configuration, or those of the connectors that it brings together."""
    if not config.get("kv_connector"):
        return []
    extra = config.get("kv_connector_extra_config")
    inner = extra.get("connectors") if isinstance(extra, Mapping) else None
    if config["kv_connector"] == "MultiConnector" and isinstance(inner, list):
        return [one for one in inner if isinstance(one, Mapping)]
    return [config]


def _offload(one: Reading, sizes: Mapping[str, int | None]) -> Iterator[tuple[str, Value]]:
    """Where KV blocks go in host memory, and how many bytes all ranks take for them together."""
    if one.engine == "sglang":
        yield from _hicache(one, sizes)
        return
    config = one.config("kv_transfer_config")
    if config is None or (one.engine == "vllm" and one.open_flags & {"kv_offloading_size", "kv_offloading_backend"}):
        return
    ranks = _product([sizes["tp"], sizes["pp"], sizes["pcp"]])
    engines = sizes["dp"]
    names: list[str] = []
    for connector in _connectors(config):
        name = str(connector["kv_connector"])
        if name in PEERS:
            continue
        if name not in _OFFLOADERS:
            return
        names.extend(_OFFLOADERS[name])
        extra = connector.get("kv_connector_extra_config")
        extra = extra if isinstance(extra, Mapping) else {}
        each, whole = extra.get("cpu_bytes_to_use_per_rank"), extra.get("cpu_bytes_to_use")
        if type(each) is int:
            yield "offload_bytes", _product([each, ranks, engines])
        elif type(whole) is int:
            yield "offload_bytes", _product([whole, engines])
    if one.engine == "vllm" and one.flags.get("kv_offloading_size", "0") not in ("0", "0.0", "None"):
        backend = one.flags.get("kv_offloading_backend", "native")
        simple = one.variable("VLLM_USE_SIMPLE_KV_OFFLOAD", "0")
        if simple is None:
            return
        native = ("vllm-simple",) if simple in _ON else ("vllm-native", "native")
        names.extend((backend,) if backend != "native" else native)
        size = _float(one.flags["kv_offloading_size"])
        yield "offload_bytes", None if size is None or engines is None else int(size * GIB) * engines
    if "lmcache_offload" in [connector.get("kv_connector") for connector in _connectors(config)]:
        # LMCache inside of the engine takes this many GB in every rank.
        size = _float(one.variable("LMCACHE_MAX_LOCAL_CPU_SIZE") or "")
        yield "offload_bytes", None if size is None or ranks is None else int(size * GB) * ranks
    yield "offload", bool(names)
    yield "offload_names", names


def _hicache(one: Reading, sizes: Mapping[str, int | None]) -> Iterator[tuple[str, Value]]:
    on, lmcache = one.on("enable_hierarchical_cache"), one.on("enable_lmcache")
    storage = one.text("hicache_storage_backend")
    if on is None or lmcache is None or storage is None:
        return
    names = [*(["hicache"] if on else []), *(["lmcache"] if lmcache else []), *([storage] if on and storage else [])]
    yield "offload", bool(names)
    yield "offload_names", names
    if on:
        # The host pool of one scheduler process, so of one rank, in decimal GB.
        size = one.number("hicache_size", 0)
        ranks = _product([sizes["tp"], sizes["pp"]])
        if size and ranks is not None:
            yield "offload_bytes", size * GB * ranks

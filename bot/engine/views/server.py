"""Servers: the command line and environment that a job starts, one record per role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from botlint.catalogs.catalog import Catalog, load
from botlint.catalogs.images import ImageFacts, resolve_image
from botlint.core.span import Span
from botlint.engine.analysis.command import CATALOGS, Option, read_command, read_json
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View, whole_line
from botlint.engine.views.job import MODEL_FACTS, JobSource, model_values
from botlint.plan.model import Role, Server, Word, word_text

MAX_STEP = 20_000
"""Servers that are told apart."""

_SIZES: Mapping[str, Mapping[str, str]] = {
    "tp": {"vllm": "tensor_parallel_size", "sglang": "tp_size", "atom": "tensor_parallel_size"},
    "pp": {"vllm": "pipeline_parallel_size", "sglang": "pp_size", "atom": "pipeline_parallel_size"},
    "dp": {"vllm": "data_parallel_size", "sglang": "dp_size", "atom": "data_parallel_size"},
    "dp_local": {"vllm": "data_parallel_size_local"},
    "ep_size": {"sglang": "ep_size"},
    "dcp": {"vllm": "decode_context_parallel_size", "sglang": "dcp_size", "atom": "decode_context_parallel_size"},
    "pcp": {"vllm": "prefill_context_parallel_size", "sglang": "attn_cp_size"},
    "nodes": {"vllm": "nnodes", "sglang": "nnodes"},
}
"""The option that gives a size; without it the size is 1."""

_TEXTS: Mapping[str, Mapping[str, str]] = {
    "kv_dtype": {"vllm": "kv_cache_dtype", "sglang": "kv_cache_dtype", "atom": "kv_cache_dtype"},
    "attention_backend": {"vllm": "attention_backend", "sglang": "attention_backend"},
    "moe_backend": {"vllm": "moe_backend", "sglang": "moe_runner_backend", "atom": "moe_backend"},
    "quantization": {"vllm": "quantization", "sglang": "quantization"},
}
_NUMBERS: Mapping[str, Mapping[str, str]] = {
    "block_size": {"vllm": "block_size", "sglang": "page_size", "atom": "block_size"},
    "max_model_len": {"vllm": "max_model_len", "sglang": "context_length", "atom": "max_model_len"},
    "max_num_seqs": {"vllm": "max_num_seqs", "sglang": "max_running_requests", "atom": "max_num_seqs"},
    "max_batched_tokens": {
        "vllm": "max_num_batched_tokens",
        "sglang": "chunked_prefill_size",
        "atom": "max_num_batched_tokens",
    },
    "port": {"vllm": "port", "sglang": "port", "atom": "server_port"},
}
_DOCS = {
    "tp": "tensor-parallel size",
    "pp": "pipeline-parallel size",
    "dp": "data-parallel size",
    "dp_local": "data-parallel ranks on a node",
    "ep_size": "expert-parallel size that is given as a number",
    "dcp": "decode-context-parallel size",
    "pcp": "prefill-context-parallel size",
    "nodes": "nodes of the server",
    "kv_dtype": "dtype of the KV cache",
    "attention_backend": "attention backend",
    "moe_backend": "MoE backend",
    "quantization": "quantization that is asked for",
    "block_size": "KV block (page) size",
    "max_model_len": "longest context",
    "max_num_seqs": "sequences at once",
    "max_batched_tokens": "tokens of one step",
    "port": "port",
}


def _facts() -> tuple[Fact, ...]:
    return (
        Fact("role", "string", "prefill, decode or aggregate; empty for the only server of a job"),
        Fact("workers", "int", "workers of this role"),
        Fact("framework", "string", "framework as started: vllm, sglang, atom, trtllm, dynamo-vllm ..."),
        Fact("engine", "string", "the engine whose options it takes: vllm, sglang or atom; empty for others"),
        Fact("version", "string", "engine version, where the image's tag says it for sure"),
        Fact("versions", "list<string>", "engine versions that the image may have, oldest first"),
        Fact("argv", "list<string>", "command line; unknown parts are shown as <reason>"),
        Fact("flags", "map<string,string>", "options by canonical name without dashes, as tensor_parallel_size"),
        Fact("env", "map<string,string>", "variables that scripts, scheduler or container give the server"),
        *(Fact(name, "int", f"{_DOCS[name]} (1 without the option)") for name in _SIZES),
        Fact("ep", "bool", "expert parallelism is on"),
        Fact("dp_attention", "bool", "attention is data-parallel"),
        *(Fact(name, "string", f"{_DOCS[name]}, empty without the option") for name in _TEXTS),
        *(Fact(name, "int", f"{_DOCS[name]} (left out without the option)") for name in _NUMBERS),
        Fact("gpus", "int", "GPUs that one worker takes by its sizes"),
        Fact("prefix_caching", "bool", "prefixes of earlier requests are reused"),
        Fact("spec_method", "string", "speculative method, empty without speculation"),
        Fact("spec_tokens", "int", "speculative (draft) tokens of a step"),
        Fact("draft_model", "string", "draft model, empty if there is none of its own"),
        Fact("kv_connector", "string", "KV connector, empty without one"),
        Fact("kv_role", "string", "role in KV transfer, empty without one"),
        Fact("json", "map<string,dyn>", "values of options that are JSON, by canonical option name"),
        *(Fact(f"draft.{name}", kind, f"draft model: {doc}") for name, kind, doc in MODEL_FACTS),
        Fact("draft.name", "string", "the draft model"),
    )


@dataclass(slots=True)
class ServerSource:
    """What a server's record was made of."""

    server: Server
    role: Role | None
    options: Sequence[Option]
    catalog: Catalog | None
    image: ImageFacts
    reading: str | None
    """The catalog version by which the options were read."""

    @property
    def argv(self) -> Sequence[Word]:
        return self.role.argv if self.role is not None else self.server.argv

    @property
    def env(self) -> Mapping[str, Word]:
        own = self.role.env if self.role is not None else self.server.env
        return {**self.server.runtime_env, **own}


def _interned(context: Context) -> dict[object, Core]:
    return {}


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    source = chain[0].source
    if not isinstance(source, JobSource) or source.launch.server is None:
        return
    server = source.launch.server
    image = str(source.job.row.get("image", ""))
    known = context.once(_interned)
    for role in server.roles or (None,):
        argv = role.argv if role is not None else server.argv
        env = role.env if role is not None else server.env
        where = (role.path, role.line) if role is not None else (server.path, server.line)
        key = (
            image,
            server.framework,
            role.name if role is not None else "",
            role.workers if role is not None else None,
            argv,
            tuple(env.items()),
            tuple(server.runtime_env.items()),
            where,
        )
        core = known.get(key)
        if core is None:
            core = _core(server, role, image, where)
            if len(known) < MAX_STEP:
                known[key] = core
        yield core


def _core(server: Server, role: Role | None, image: str, where: tuple[str, int]) -> Core:
    engine = CATALOGS.get(server.framework, "")
    catalog = load(engine) if engine else None
    facts = resolve_image(image)
    versions = facts.versions if facts.framework == engine else ()
    reading = (versions[-1] if versions else catalog.newest) if catalog is not None else None
    argv = role.argv if role is not None else server.argv
    options = read_command(argv, catalog, reading)
    source = ServerSource(server, role, options, catalog, facts, reading)
    values: dict[str, FactValue] = {
        "server.role": role.name if role is not None else "",
        "server.framework": server.framework,
        "server.engine": engine,
        "server.versions": list(versions),
        "server.argv": [word_text(word) for word in argv],
    }
    if role is not None and role.workers is not None:
        values["server.workers"] = role.workers
    if facts.certainty == "certain" and facts.version is not None and versions:
        values["server.version"] = facts.version
    flags, open_flags = _flags(options)
    env = {name: word for name, word in source.env.items() if isinstance(word, str)}
    values["server.flags"] = flags
    values["server.env"] = env
    values["server.json"] = {name: value for name in flags if (value := _json(flags[name])) is not None}
    unknown = {
        "server.flags": frozenset(open_flags),
        "server.json": frozenset(open_flags),
        "server.env": frozenset(source.env.keys() - env.keys()),
    }
    if engine:
        _derive(values, engine, flags, open_flags, env)
    return Core(values["server.role"] or server.framework, values, _anchors(where), unknown, source=source)  # type: ignore[arg-type]


def _flags(options: Sequence[Option]) -> tuple[dict[str, str], set[str]]:
    """The options by name, the last one counting, and the names of those whose value is not known."""
    flags: dict[str, str] = {}
    unknown: set[str] = set()
    for option in options:
        text = option.text
        flags.pop(option.name, None)
        unknown.discard(option.name)
        if text is None:
            unknown.add(option.name)
        else:
            flags[option.name] = text
    return flags, unknown


def _json(text: str) -> object | None:
    if not text.startswith(("{", "[")):
        return None
    return read_json(text)


def _derive(
    values: dict[str, FactValue],
    engine: str,
    flags: Mapping[str, str],
    unknown: set[str],
    env: Mapping[str, str],
) -> None:
    """Adds the facts that frameworks spell differently; those that hang on an unknown value are left out."""

    def number(name: str | None, default: int | None) -> int | None:
        if name is None:
            return default
        if name in unknown:
            return None
        text = flags.get(name)
        if text is None:
            return default
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None

    sizes: dict[str, int | None] = {}
    for size, names in _SIZES.items():
        sizes[size] = number(names.get(engine), 1)
        if sizes[size] is not None:
            values[f"server.{size}"] = sizes[size]
    for fact, names in _NUMBERS.items():
        found = number(names.get(engine), None)
        if found is not None:
            values[f"server.{fact}"] = found
    for fact, names in _TEXTS.items():
        name = names.get(engine)
        if name is not None and name not in unknown:
            values[f"server.{fact}"] = flags.get(name, "")
    _parallel(values, engine, flags, unknown, sizes)
    caching = _prefix_caching(engine, flags, unknown, env)
    if caching is not None:
        values["server.prefix_caching"] = caching
    _speculation(values, engine, flags, unknown)
    transfer = values["server.json"]
    name = "kv_transfer_config"
    if name not in unknown and isinstance(transfer, Mapping):
        config = transfer.get(name)
        inner = config if isinstance(config, Mapping) else {}
        for fact, key in (("kv_connector", "kv_connector"), ("kv_role", "kv_role")):
            value = inner.get(key, flags.get(f"{name}.{key}", ""))
            if isinstance(value, str):
                values[f"server.{fact}"] = value


def _parallel(
    values: dict[str, FactValue],
    engine: str,
    flags: Mapping[str, str],
    unknown: set[str],
    sizes: Mapping[str, int | None],
) -> None:
    if engine == "sglang":
        if sizes["ep_size"] is not None:
            values["server.ep"] = sizes["ep_size"] > 1
        if "enable_dp_attention" not in unknown:
            values["server.dp_attention"] = flags.get("enable_dp_attention") == "true"
        # With attention in parallel the data-parallel ranks share the GPUs of the tensor-parallel group.
        world = [sizes["tp"], sizes["pp"]]
        if values.get("server.dp_attention") is False:
            world.append(sizes["dp"])
        elif "server.dp_attention" not in values:
            world.append(None)
    else:
        if "enable_expert_parallel" not in unknown:
            values["server.ep"] = flags.get("enable_expert_parallel") == "true"
        if engine == "atom":
            if "enable_dp_attention" not in unknown:
                values["server.dp_attention"] = flags.get("enable_dp_attention") == "true"
        elif sizes["dp"] is not None:
            values["server.dp_attention"] = sizes["dp"] > 1
        # ATOM's data-parallel attention, like SGLang's, divides the tensor-parallel group.
        dp = 1 if engine == "atom" and values.get("server.dp_attention") else sizes["dp"]
        world = [sizes["tp"], sizes["pp"], dp, sizes["pcp"]]
    product = 1
    for size in world:
        if size is None:
            return
        product *= size
    values["server.gpus"] = product


def _prefix_caching(engine: str, flags: Mapping[str, str], unknown: set[str], env: Mapping[str, str]) -> bool | None:
    if engine == "sglang":
        if "disable_radix_cache" in unknown:
            return None
        # A forced miss keeps the cache but never finds anything in it.
        return flags.get("disable_radix_cache") != "true" and env.get("SGLANG_RADIX_FORCE_MISS", "0") not in (
            "1",
            "true",
        )
    name = "enable_prefix_caching"
    if name in unknown:
        return None
    # vLLM turns it on by itself; ATOM only when it is told to.
    return flags.get(name, "true" if engine == "vllm" else "false") == "true"


def _speculation(values: dict[str, FactValue], engine: str, flags: Mapping[str, str], unknown: set[str]) -> None:
    method: object = ""
    tokens: object = 0
    draft: object = ""
    if engine == "vllm":
        if "speculative_config" in unknown:
            return
        config = read_json(flags.get("speculative_config"))
        if "speculative_config" in flags and not isinstance(config, Mapping):
            return
        inner = dict(config) if isinstance(config, Mapping) else {}
        for key, text in flags.items():
            head, dot, rest = key.partition(".")
            if head == "speculative_config" and dot:
                inner[rest] = int(text) if text.isdigit() else text
        draft = inner.get("model", "") or ""
        method = inner.get("method", "") or ("draft_model" if draft else "")
        tokens = inner.get("num_speculative_tokens", 0)
    elif engine == "sglang":
        names = ("speculative_algorithm", "speculative_num_draft_tokens", "speculative_draft_model_path")
        if unknown & set(names):
            return
        method = flags.get(names[0], "")
        tokens = flags.get(names[1], "0")
        draft = flags.get(names[2], "")
    else:
        names = ("method", "num_speculative_tokens", "draft_model")
        if unknown & set(names):
            return
        method, tokens, draft = flags.get(names[0], ""), flags.get(names[1], "0"), flags.get(names[2], "")
    if isinstance(tokens, str) and tokens.isdigit() and len(tokens) < 10:
        tokens = int(tokens)
    if isinstance(method, str):
        values["server.spec_method"] = method
    if type(tokens) is int:
        values["server.spec_tokens"] = tokens
    if isinstance(draft, str):
        values["server.draft_model"] = draft
        if draft:
            values.update(model_values(draft, "draft"))


def _anchors(where: tuple[str, int]) -> dict[str, Span | None]:
    return {"server": whole_line(*where)}


VIEW = View(
    name="server",
    doc="A server that a job starts: one record, or one per role where several make it up.",
    facts=_facts(),
    anchors={"server": "the line that starts it, or the role in the recipe"},
    build=_build,
    parent="job",
)

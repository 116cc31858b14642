"""Servers: the command line and environment that a job starts, one record per role."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from botlint.catalogs.catalog import FRAMEWORKS, Catalog, load
from botlint.catalogs.images import ImageFacts
from botlint.core.span import Span
from botlint.engine.analysis.command import CATALOGS, Option, read_command, read_json
from botlint.engine.analysis.job_image import has_to_run_with_all, job_image
from botlint.engine.analysis.recipe_places import is_recipe, key_place
from botlint.engine.analysis.row_places import row_place
from botlint.engine.analysis.serving import NUMBERS, SIZES, TEXTS, Reading, flags_of, serving_facts
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, Family, View, whole_line
from botlint.engine.views.job import MODEL_FACTS, JobSource, model_values
from botlint.engine.watch import small_value
from botlint.layouts.base import command_of
from botlint.plan.model import Role, Server, Word, word_text

MAX_STEP = 20_000
"""Servers that are told apart."""

_DOCS = {
    "tp": "tensor-parallel size",
    "pp": "pipeline-parallel size",
    "dp": "data-parallel size",
    "dp_local": "data-parallel ranks on a node",
    "ep_size": "expert-parallel size that is given as a number",
    "moe_dp": "data-parallel size of the experts",
    "dcp": "decode-context-parallel size",
    "pcp": "prefill-context-parallel size",
    "nodes": "nodes of the server",
    "kv_dtype": "dtype of the KV cache",
    "attention_backend": "attention backend",
    "moe_backend": "MoE backend",
    "quantization": "quantization that is asked for",
    "transfer_backend": "what passes KV blocks between prefill and decode workers",
    "served_name": "name under which requests ask for the model",
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
        Fact("engine", "string", "the engine whose options it takes: vllm, sglang, atom or trtllm; empty for others"),
        Fact("version", "string", "engine version, where the image's tag says it for sure"),
        Fact("versions", "list<string>", "engine versions that the image may have, oldest first"),
        Fact("all_versions", "bool", "it has to run with each of `versions`: so its layout says"),
        Fact("path", "string", "file that starts it"),
        Fact("path_speculates", "bool", "some job starts a server of this file with options of speculation"),
        Fact("model", "string", "the model that is served: a name or a path"),
        Fact("argv", "list<string>", "command line; unknown parts are shown as <reason>"),
        Fact("flags", "map<string,string>", "options by canonical name without dashes, as tensor_parallel_size"),
        Fact("env", "map<string,string>", "variables that scripts, scheduler or container give the server"),
        *(Fact(name, "int", f"{_DOCS[name]} (1 without the option)") for name in SIZES),
        Fact("ep", "bool", "expert parallelism is on"),
        Fact("dp_attention", "bool", "attention is data-parallel"),
        Fact("attention_tp", "int", "ranks among which the attention heads of a replica are divided"),
        Fact("moe_ep", "int", "ranks among which whole experts are divided (1 without expert parallelism)"),
        Fact("moe_tp", "int", "ranks among which each expert is cut"),
        *(Fact(name, "string", f"{_DOCS[name]}, empty without the option") for name in TEXTS),
        *(Fact(name, "int", f"{_DOCS[name]} (left out without the option)") for name in NUMBERS),
        Fact("gpus", "int", "GPUs that one worker takes by its sizes"),
        Fact("prefix_caching", "bool", "prefixes of earlier requests are reused"),
        Fact("spec_method", "string", "speculative method, empty without speculation"),
        Fact("spec_tokens", "int", "speculative (draft) tokens of a step"),
        Fact("spec_steps", "int", "draft length as golden acceptance files count it"),
        Fact("draft_model", "string", "draft model, empty if there is none of its own"),
        Fact("spec_attention_backend", "string", "attention backend of the draft model (vLLM), empty without"),
        Fact("spec_draft_sample_method", "string", "how draft tokens are sampled (vLLM), empty without"),
        Fact("spec_rejection_sample_method", "string", "how draft tokens are accepted (vLLM), empty without"),
        Fact("spec_draft_tp", "int", "tensor-parallel size of the draft (vLLM), 0 without"),
        Fact("synthetic", "bool", "acceptance of draft tokens is simulated"),
        Fact("synthetic_length", "double", "tokens of a step that the simulation gives, the target's own included"),
        Fact("synthetic_keys", "list<string>", "settings of simulated acceptance in the speculative config (vLLM)"),
        Fact("kv_connector", "string", "KV connector, empty without one"),
        Fact("kv_role", "string", "role in KV transfer, empty without one"),
        Fact("kv_connectors", "list<string>", "KV connectors, those of a MultiConnector one by one"),
        Fact("kv_roles", "list<string>", "their roles, in the same order"),
        Fact("offload", "bool", "KV blocks are offloaded to host memory"),
        Fact("offload_names", "list<string>", "names by which labels call the offload that runs"),
        Fact("offload_bytes", "int", "bytes of host memory that all ranks together take for KV blocks"),
        Fact("json", "map<string,dyn>", "values of options that are JSON, by canonical option name"),
        *(Fact(f"draft.{name}", kind, f"draft model: {doc}") for name, kind, doc in MODEL_FACTS),
        Fact("draft.name", "string", "the draft model"),
    )


@dataclass(slots=True)
class ServerSource:
    """What a server's record was made of."""

    server: Server
    engine: str
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
    image = job_image(source.job)
    known = context.once(_interned)
    for role in server.roles or (None,):
        argv = role.argv if role is not None else server.argv
        env = role.env if role is not None else server.env
        where = (role.path, role.line) if role is not None else (server.path, server.line)
        key = (
            *(image.framework, image.version, image.versions, image.certainty, image.custom),
            server.framework,
            role.name if role is not None else "",
            role.workers if role is not None else None,
            argv,
            tuple(env.items()),
            tuple(server.runtime_env.items()),
            where,
        )
        core = known.get(key)
        speculates = context.value(_path_speculates, where[0])
        if core is None:
            core = _core(server, role, image, where, speculates)
            if len(known) < MAX_STEP:
                known[key] = core
        yield core


def _speculating(context: Context) -> frozenset[str]:
    """The files that start some server with options of speculation."""
    found: set[str] = set()
    for plan in context.plans:
        for launch in (plan.launch, *plan.others):
            server = launch.server
            if server is None:
                continue
            for path, argv in ((server.path, server.argv), *((role.path, role.argv) for role in server.roles)):
                if path not in found and any(_is_speculative(word) for word in argv):
                    found.add(path)
    return frozenset(found)


@small_value
def _path_speculates(context: Context, path: str) -> bool:
    """Whether a file starts some server with options of speculation."""
    return path in context.once(_speculating)


def _is_speculative(word: Word) -> bool:
    text = word if isinstance(word, str) else word[0] if word and isinstance(word[0], str) else ""
    return text.startswith(("--spec", "--num-spec", "--num_spec"))


def _core(server: Server, role: Role | None, facts: ImageFacts, where: tuple[str, int], speculates: bool) -> Core:
    engine = CATALOGS.get(server.framework, "") or ("trtllm" if server.framework == "trtllm" else "")
    catalog = load(engine) if engine in FRAMEWORKS else None
    versions = facts.versions if facts.framework == engine else ()
    reading = (versions[-1] if versions else catalog.newest) if catalog is not None else None
    argv = role.argv if role is not None else server.argv
    options = read_command(argv, catalog, reading)
    source = ServerSource(server, engine, role, options, catalog, facts, reading)
    values: dict[str, FactValue] = {
        "server.role": role.name if role is not None else "",
        "server.framework": server.framework,
        "server.engine": engine,
        "server.path": where[0],
        "server.path_speculates": speculates,
        "server.versions": list(versions),
        "server.all_versions": has_to_run_with_all(facts),
        "server.argv": [word_text(word) for word in argv],
    }
    if role is not None and role.workers is not None:
        values["server.workers"] = role.workers
    if facts.certainty == "certain" and facts.version is not None and versions:
        values["server.version"] = facts.version
    flags, open_flags = flags_of(options, engine)
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
        told = Reading(engine, flags, unknown["server.flags"], env, unknown["server.env"])
        values.update((f"server.{name}", value) for name, value in serving_facts(told))
        draft = values.get("server.draft_model")
        if isinstance(draft, str) and draft:
            values.update(model_values(draft, "draft"))
    model = _served(argv, flags, open_flags)
    if model is not None:
        values["server.model"] = model
    key = str(values["server.role"] or server.framework)
    return Core(key, values, {"server": whole_line(*where)}, unknown, _FAMILIES, source=source)


def _served(argv: Sequence[Word], flags: Mapping[str, str], unknown: set[str]) -> str | None:
    """The model of a command line: an option's value, or the word after `serve`."""
    for name in ("model_path", "model"):
        if name in unknown:
            return None
        if name in flags:
            return flags[name]
    for word, following in pairwise(argv):
        if word in ("serve", "trtllm-serve") and following != "serve":
            return following if isinstance(following, str) and not following.startswith("-") else None
    return None


def _json(text: str) -> object | None:
    return read_json(text) if text.startswith(("{", "[")) else None


def _setting(prefix: str) -> Family:
    """Finds the line or key that gives the server a variable or an option; None where none is told."""

    def find(context: Context, chain: Chain, name: str) -> Span | None:
        job, server = chain[0].source, chain[1].source
        if not isinstance(job, JobSource) or not isinstance(server, ServerSource):
            return None
        spelled = _spelling(server, name) if prefix else name
        if spelled is None:
            return None
        command = command_of(job.job, server.role.name if server.role is not None else "")
        if command is not None:
            # What other files give to all commands is no place of this one.
            span = command.option_span(spelled) if prefix else command.variable_span(spelled)
            return span if span is not None and span.path == server.server.path else None
        own = row_place(context, job, spelled)
        if own is not None:
            return own
        if server.role is not None:
            role = server.role
            return key_place(context, role.path, role.name, spelled.lstrip("-")) if is_recipe(role.path) else None
        found = context.explainer.explain(job.job, spelled, job.launch.runners[0])
        scripted = [step for step in found.steps if step.kind == "script"]
        return scripted[-1].span if found.state == "set" and scripted else None

    return find


def _spelling(server: ServerSource, name: str) -> str | None:
    """How the command line spells an option, by its canonical name."""
    names = flags_of(server.options, server.engine)[0]
    for option in server.options:
        if name in flags_of([option], server.engine)[0] or option.name == name:
            return option.spelling if name in names or option.text is None else None
    return None


_FAMILIES: Mapping[str, Family] = {"env": _setting(""), "flag": _setting("--")}


VIEW = View(
    name="server",
    doc="A server that a job starts: one record, or one per role where several make it up.",
    facts=_facts(),
    anchors={
        "server": "the line that starts it, or the role in the recipe",
        "env.*": "the line of a script that sets this variable",
        "flag.*": "the line of a script that gives this option, by its canonical name",
    },
    build=_build,
    parent="job",
)

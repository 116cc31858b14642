"""Jobs: what the master config asks for, where it leads, what the model is and what the node has."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from functools import lru_cache
from itertools import pairwise

from botlint.catalogs.hardware import find_hardware
from botlint.catalogs.images import ImageFacts
from botlint.catalogs.models import ModelFacts, find_model
from botlint.core.span import Span
from botlint.engine.analysis.job_image import job_image
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactType, FactValue, View, whole_line
from botlint.layouts.base import Job
from botlint.layouts.commands import SCENARIO
from botlint.layouts.inferencex.configs import Hardware
from botlint.plan.model import Launch, LaunchPlan

MODEL_FACTS: tuple[tuple[str, FactType, str], ...] = (
    ("layers", "int", "hidden layers"),
    ("hidden_size", "int", "hidden size"),
    ("heads", "int", "attention heads"),
    ("kv_heads", "int", "key-value heads; no limit to tensor parallelism for MLA models"),
    ("head_dim", "int", "size of a head"),
    ("experts", "int", "routed experts"),
    ("experts_per_token", "int", "experts that a token is routed to"),
    ("shared_experts", "int", "shared experts"),
    ("intermediate_size", "int", "size of the dense feed-forward layers"),
    ("moe_intermediate_size", "int", "size of one expert"),
    ("index_heads", "int", "heads of the sparse-attention indexer"),
    ("index_topk", "int", "tokens that the indexer keeps"),
    ("sparse_block_size", "int", "block size of block-sparse attention"),
    ("mtp_layers", "int", "multi-token-prediction layers"),
    ("vocabulary", "int", "vocabulary size"),
    ("context", "int", "longest context in tokens"),
    ("model_type", "string", "model_type of config.json"),
    ("attention", "string", "mha, gqa, mqa, mla or compressed-mqa"),
    ("quantization", "string", "quantization method of the checkpoint"),
    ("dtype", "string", "dtype of the checkpoint"),
    ("group_size", "int", "group size of the quantization"),
    ("weight_block", "list<int>", "block of block-quantised weights"),
    ("architectures", "list<string>", "architectures of config.json"),
    ("mla", "bool", "multi-head latent attention"),
    ("moe", "bool", "has routed experts"),
)

_ROW_FACTS: tuple[tuple[str, str, FactType, str], ...] = (
    ("image", "image", "string", "container image"),
    ("model", "model", "string", "model, as ORG/NAME"),
    ("model_prefix", "model-prefix", "string", "short name of the model"),
    ("precision", "precision", "string", "precision on the label"),
    ("framework", "framework", "string", "framework on the label"),
    ("runner_label", "runner", "string", "label that picks the runner"),
    ("isl", "isl", "int", "input tokens of a request (fixed sequence length)"),
    ("osl", "osl", "int", "output tokens of a request (fixed sequence length)"),
    ("tp", "tp", "int", "tensor-parallel size"),
    ("pp", "pp", "int", "pipeline-parallel size"),
    ("ep", "ep", "int", "expert-parallel size"),
    ("dcp", "dcp-size", "int", "decode-context-parallel size"),
    ("pcp", "pcp-size", "int", "prefill-context-parallel size"),
    ("dp_attn", "dp-attn", "bool", "data-parallel attention"),
    ("spec_decoding", "spec-decoding", "string", "speculative decoding: none or its kind"),
    ("kv_offloading", "kv-offloading", "string", "where KV blocks are offloaded: none, dram ..."),
    ("cpu_dram_gb", "total-cpu-dram-gb", "int", "decimal GB of host memory for offloaded KV blocks"),
    ("max_model_len", "max-model-len", "int", "longest context that the job asks for"),
    ("exp_name", "exp-name", "string", "name of the experiment"),
    ("disagg", "disagg", "bool", "prefill and decode on workers of their own"),
    ("run_eval", "run-eval", "bool", "an accuracy eval follows"),
    ("cut_off", "cut-off", "string", "options in the lines behind a document's command, which does not go on to them"),
    ("kv_p2p_transfer", "kv-p2p-transfer", "string", "KV transfer between workers"),
)

_SIDES = ("prefill", "decode")
_SIDE_FACTS: tuple[tuple[str, str, FactType], ...] = (
    ("workers", "num-worker", "int"),
    ("tp", "tp", "int"),
    ("ep", "ep", "int"),
    ("pp", "pp", "int"),
    ("dp_attn", "dp-attn", "bool"),
)


def _facts() -> tuple[Fact, ...]:
    return (
        Fact("entry", "string", "key of the master config"),
        Fact("scenario", "string", "fixed-seq-len or agentic-coding"),
        Fact("arm", "int", "number of the arm in the scenario, from 0"),
        *(Fact(name, kind, doc) for name, _, kind, doc in _ROW_FACTS),
        Fact("conc", "int", "concurrency (jobs with one)"),
        Fact("concs", "list<int>", "concurrencies"),
        Fact("kv_offload_backend", "string", "name of the offload backend, empty without one"),
        Fact("multinode", "bool", "prefill and decode workers are given"),
        *(
            Fact(f"{side}_{name}", kind, f"{key} of the {side} workers")
            for side in _SIDES
            for name, key, kind in _SIDE_FACTS
        ),
        Fact("gpus", "int", "GPUs that a single-node job is given: tp * pp * pcp-size"),
        Fact("node_dram_mib", "int", "host memory of a node of the runner label that jobs may use, in MiB"),
        Fact("row", "map<string,dyn>", "the whole row of the matrix"),
        Fact("row_options", "list<string>", "options of the server that the row itself gives, each of them once"),
        Fact("runner", "string", "runner on which the job was planned"),
        Fact("launcher", "string", "launcher script, empty where none is found"),
        Fact("recipe", "string", "recipe script or file, empty where none is reached"),
        Fact("outcome", "string", "serves, exits or undecided"),
        Fact("reason", "string", "why it is undecided"),
        Fact("exit_code", "int", "status with which every path exits"),
        Fact("exit_path", "string", "script that exits"),
        Fact("exit_line", "int", "line that exits"),
        Fact("exit_message", "string", "what the script says last"),
        Fact("exit_text", "string", "the same, with the names of files that are this job's own left out"),
        *(Fact(f"model.{name}", kind, doc) for name, kind, doc in MODEL_FACTS),
        Fact("model.name", "string", "the model"),
        Fact("gpu.name", "string", "GPU by its runner label, as mi355x"),
        Fact("gpu.vendor", "string", "amd or nvidia"),
        Fact("gpu.target", "string", "gfx950, sm_100 ..."),
        Fact("gpu.architecture", "string", "architecture"),
        Fact("gpu.memory_gb", "int", "memory of one GPU as sold, in GB"),
        Fact("gpu.per_node", "int", "GPUs of one node"),
        Fact("gpu.formats", "list<string>", "number formats of the matrix units"),
        Fact("gpu.fp8", "string", "encoding of FP8: ocp or fnuz"),
        Fact("image.framework", "string", "framework that the image brings"),
        Fact("image.version", "string", "framework version of the image, where its tag says it for sure"),
        Fact("image.versions", "list<string>", "versions that the image may have, oldest first"),
        Fact("image.certain", "bool", "the tag says the version for sure"),
        Fact("image.custom", "bool", "built from a branch: may know names that no release has"),
    )


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    hardware = context.runners.hardware
    for job, plan in zip(context.every_job, context.every_plan, strict=True):
        node = hardware.get(str(job.facts.get("runner", "")))
        for launch in (plan.launch, *plan.others):
            yield _core(job, plan, launch, node)


class JobSource:
    """What a job's record was made of."""

    __slots__ = ("job", "launch", "plan")

    def __init__(self, job: Job, plan: LaunchPlan, launch: Launch) -> None:
        self.job = job
        self.plan = plan
        self.launch = launch


def _core(job: Job, plan: LaunchPlan, launch: Launch, node: Hardware | None) -> Core:
    row = job.facts
    values: dict[str, FactValue] = {
        "job.entry": job.entry,
        "job.scenario": job.scenario,
        "job.arm": job.arm_index,
        "job.row": job.row,
        "job.row_options": row.get("row-options", []),
        "job.multinode": "prefill" in row,
        "job.runner": launch.runners[0],
        "job.launcher": launch.launcher or "",
        "job.recipe": launch.recipe or "",
        "job.outcome": launch.outcome,
    }
    for name, key, kind, _ in _ROW_FACTS:
        _put(values, f"job.{name}", row.get(key), kind)
    conc = row.get("conc")
    _put(values, "job.conc", conc, "int")
    values["job.concs"] = [one for one in (conc if isinstance(conc, list) else [conc]) if type(one) is int]
    backend = row.get("kv-offload-backend")
    values["job.kv_offload_backend"] = str(backend.get("name", "")) if isinstance(backend, Mapping) else ""
    for side in _SIDES:
        inner = row.get(side)
        for name, key, kind in _SIDE_FACTS:
            _put(values, f"job.{side}_{name}", inner.get(key) if isinstance(inner, Mapping) else None, kind)
    sizes = [row.get(key, 1) for key in ("tp", "pp", "pcp-size")]
    if "tp" in row and all(type(size) is int for size in sizes):
        values["job.gpus"] = sizes[0] * sizes[1] * sizes[2]  # type: ignore[operator]
    if node is not None:
        values["job.node_dram_mib"] = node.available_cpu_dram_mib
    if launch.reason:
        values["job.reason"] = launch.reason
    if launch.exit is not None:
        exit_ = launch.exit
        values["job.exit_code"] = exit_.code
        values["job.exit_path"] = exit_.path
        values["job.exit_line"] = exit_.line
        values["job.exit_message"] = exit_.message
        values["job.exit_text"] = _without_own_names(exit_.message, str(row.get("exp-name", "")))
    values.update(_model(str(row.get("model", "") or _served_model(job, launch))))
    values.update(_gpu(str(row.get("runner", "")), launch.runners[0]))
    values.update(_image(job_image(job)))
    return Core(job.entry, values, _anchors(job, launch), source=JobSource(job, plan, launch))


def _served_model(job: Job, launch: Launch) -> str:
    """The model of a command of a document, which has no row that says it; empty where it is not known."""
    if job.scenario != SCENARIO or launch.server is None:
        return ""
    for word, following in pairwise(launch.server.argv):
        if word in ("serve", "--model", "--model-path") and isinstance(following, str) and following[:1] != "-":
            return following
    return ""


def _without_own_names(message: str, name: str) -> str:
    """A message without the words that hold the name of the job's experiment: it is then the same for all jobs."""
    return " ".join("..." if name and name in word else word for word in message.split())


def _put(values: dict[str, FactValue], name: str, value: object, kind: FactType) -> None:
    """Adds a fact if its value has the declared type: a wrong type is another rule's matter."""
    wanted = {"string": str, "int": int, "bool": bool}[kind]
    if type(value) is wanted:
        values[name] = value


@lru_cache(maxsize=4_096)
def model_values(name: str, prefix: str) -> Mapping[str, FactValue]:
    """The facts of a model that are known, under a prefix (`model`, `draft`)."""
    facts: ModelFacts = find_model(name)
    known = {field.name for field in fields(facts)}
    values: dict[str, FactValue] = {f"{prefix}.name": name}
    for fact, kind, _ in MODEL_FACTS:
        value = getattr(facts, fact) if fact in known or hasattr(facts, fact) else None
        if value is not None:
            values[f"{prefix}.{fact}"] = list(value) if kind.startswith("list") else value
    if facts.experts and facts.moe_intermediate_size is None and facts.intermediate_size is not None:
        # Models without dense layers give the size of an expert under the plain name.
        values[f"{prefix}.moe_intermediate_size"] = facts.intermediate_size
    return values


def _model(name: str) -> Mapping[str, FactValue]:
    return model_values(name, "model")


@lru_cache(maxsize=512)
def _gpu(label: str, runner: str) -> Mapping[str, FactValue]:
    found = find_hardware(label) or find_hardware(runner)
    if found is None:
        return {}
    return {
        "gpu.name": found.key,
        "gpu.vendor": found.vendor,
        "gpu.target": found.target,
        "gpu.architecture": found.architecture,
        "gpu.memory_gb": found.memory_gb,
        "gpu.per_node": found.gpus_per_node,
        "gpu.formats": list(found.formats),
        "gpu.fp8": found.fp8,
    }


@lru_cache(maxsize=512)
def _image(facts: ImageFacts) -> Mapping[str, FactValue]:
    values: dict[str, FactValue] = {
        "image.versions": list(facts.versions),
        "image.certain": facts.certainty == "certain",
        "image.custom": facts.custom,
    }
    if facts.framework is not None:
        values["image.framework"] = facts.framework
    if facts.version is not None and facts.certainty == "certain":
        values["image.version"] = facts.version
    return values


def _anchors(job: Job, launch: Launch) -> dict[str, Anchor]:
    return {
        "arm": job.arm,
        "entry": job.config,
        "exit": whole_line(launch.exit.path, launch.exit.line) if launch.exit is not None else None,
        "reason": whole_line(launch.reason_at.path, launch.reason_at.line) if launch.reason_at is not None else None,
        "launcher": whole_line(launch.launcher, 1) if launch.launcher else None,
        "recipe": whole_line(launch.recipe, 1) if launch.recipe else None,
        **_ORIGIN_ANCHORS,
    }


def _origin(keys: tuple[str, ...]) -> Anchor:
    def find(context: Context, chain: Chain) -> Span | None:
        source = chain[0].source
        return source.job.origin(*keys) if isinstance(source, JobSource) else None

    return find


_ORIGINS = {
    **{f"job.{name}": (key,) for name, key, _, _ in _ROW_FACTS},
    "job.conc": ("conc",),
    "job.kv_offload_backend": ("kv-offload-backend",),
    **{f"job.{side}_{name}": (side, key) for side in _SIDES for name, key, _ in _SIDE_FACTS},
}
_ORIGIN_ANCHORS: dict[str, Anchor] = {name: _origin(keys) for name, keys in _ORIGINS.items()}


VIEW = View(
    name="job",
    doc="A job of the matrix, or a launch command of a document, on one kind of runner, with what its launch comes to.",
    facts=_facts(),
    anchors={
        "arm": "the arm of the master config",
        "entry": "the entry's key",
        "exit": "the line that exits",
        "reason": "the line that leaves the outcome open",
        "launcher": "the launcher script",
        "recipe": "the recipe",
        **{name: f"where {'.'.join(keys)} is written" for name, keys in _ORIGINS.items()},
    },
    build=_build,
)

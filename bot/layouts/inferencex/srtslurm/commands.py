"""The command line of a worker: what srtctl makes of a role's section, by backend.

Source: NVIDIA/srt-slurm c88ef731, method build_worker_command of src/srtctl/backends/sglang.py (line 300), vllm.py
(line 801) and trtllm.py (line 187), and _config_to_cli_args at the end of the first two; older revisions as `releases`
says. Ports, addresses and log folders are known only in the run.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from operator import itemgetter

from botlint.core.unknown import Unknown
from botlint.layouts.inferencex.srtslurm.model import Resources, Word
from botlint.layouts.inferencex.srtslurm.releases import Release
from botlint.layouts.inferencex.srtslurm.topology import Placement

MODE = {"prefill": "prefill", "decode": "decode", "aggregate": "agg"}
FRONTEND_PORT = "8000"
EVERY_ADDRESS = "0.0.0.0"  # noqa: S104 (what the server is told, nothing is bound here)
MODEL_MOUNT = "/model"

_PORT = "port that srtctl allocates"
_LEADER = "address of the worker's first node"
_LOGS = "log folder of the job"
_GPUS = "GPUs of the worker"
_CONNECTORS = {
    "nixl": {"kv_connector": "NixlConnector", "kv_role": "kv_both"},
    "lmcache": {"kv_connector": "LMCacheConnectorV1", "kv_role": "kv_both"},
    "kvbm": {
        "kv_connector": "DynamoConnector",
        "kv_connector_module_path": "kvbm.vllm_integration.connector",
        "kv_role": "kv_both",
    },
}
# What the direct vLLM frontend takes from the allocation (vllm.py line 44).
_VLLM_OWNED = frozenset({"headless", "host", "port", "master-addr", "nnodes", "node-rank"})
_PER_NODE_OWNED = (
    "data-parallel-rpc-port",
    "data-parallel-size-local",
    "data-parallel-start-rank",
    "data-parallel-hybrid-lb",
)


class CommandError(Exception):
    """srtctl would fail when it makes the command; the message says why."""


@dataclass(frozen=True, slots=True)
class Job:
    """What all roles of a job share."""

    release: Release
    frontend: str
    model_path: str | None
    served_model_name: Word
    request_plane: str
    resources: Resources
    # The backend block without its sections, as plain values.
    backend: dict[str, object]
    stage_dir: str | None


@dataclass(frozen=True, slots=True)
class Command:
    """The first process of the first worker, and how many processes a worker has with how many visible GPUs each."""

    argv: list[Word]
    processes: int
    gpus_per_process: int


def model_argument(job: Job) -> Word:
    """What the worker is told to load: the mounted folder, or the Hugging Face name behind `hf:`."""
    if job.model_path is None:
        return [Unknown("model path of srtslurm.yaml")]
    if job.release.huggingface_models and job.model_path.startswith("hf:"):
        return job.model_path[3:]
    return MODEL_MOUNT


def flags(settings: Iterable[tuple[str, object]]) -> list[Word]:
    """Settings as flags: keys sorted, `_` written `-`, true alone, false and null left out, each item of a list one
    word.
    """
    words: list[Word] = []
    for key, value in sorted(settings, key=itemgetter(0)):
        flag = flag_name(key)
        if isinstance(value, bool):
            if value:
                words.append(flag)
        elif isinstance(value, list):
            words.append(flag)
            words.extend(str(item) for item in value)
        elif value is not None:
            words += [flag, str(value)]
    return words


def flag_name(key: str) -> str:
    return "--" + key.replace("_", "-")


def sglang(job: Job, role: str, settings: dict[str, object], placement: Placement) -> Command:
    """`python3 -m dynamo.sglang`, or `sglang.launch_server` behind SGLang's own router."""
    settings = dict(settings)
    if job.release.one_served_name:
        _drop(settings, "model-path", "served-model-name")
    if job.release.sglang_nccl_port:
        _drop(settings, "nccl-port")
    own_router = job.frontend == "sglang"
    argv: list[Word] = ["python3", "-m", "sglang.launch_server" if own_router else "dynamo.sglang"]
    argv += ["--model-path", model_argument(job), "--served-model-name", job.served_model_name]
    argv += ["--host", EVERY_ADDRESS, "--port", [Unknown(_PORT)]]
    if job.release.sglang_nccl_port:
        argv += ["--nccl-port", [Unknown(_PORT)]]
    if role != "aggregate":
        argv += ["--disaggregation-mode", MODE[role]]
        if role == "prefill" and (own_router or job.release.sglang_bootstrap_port):
            argv += ["--disaggregation-bootstrap-port", [Unknown(_PORT)]]
    nodes = len(placement.nodes)
    if nodes > 1:
        argv += [
            "--dist-init-addr",
            [Unknown(_LEADER), ":", Unknown(_PORT)],
            "--nnodes",
            str(nodes),
            "--node-rank",
            "0",
        ]
    if not own_router:
        argv += ["--dump-config-to", [Unknown(_LOGS)]]
    argv += _kv_events(job, role, {"publisher": "zmq", "topic": "kv-events"})
    if not own_router and job.release.request_plane_flag:
        argv += ["--request-plane", job.request_plane]
    return Command(argv + flags(settings.items()), nodes, len(placement.gpus))


def vllm(job: Job, role: str, settings: dict[str, object], placement: Placement) -> Command:
    """`python3 -m dynamo.vllm`, or `vllm serve` where a worker is the public server itself."""
    settings = dict(settings)
    if job.frontend == "vllm":
        return _vllm_serve(job, role, settings, placement)
    argv: list[Word] = ["python3", "-m", "dynamo.vllm", "--model", model_argument(job)]
    argv += ["--served-model-name", job.served_model_name]
    if role != "aggregate":
        argv += ["--disaggregation-mode", MODE[role]]
    own_connector = settings.pop("connector", None)
    connector = job.backend.get("connector", "nixl") if own_connector is None else own_connector
    if connector and connector not in ("null", "none"):
        preset = _CONNECTORS.get(str(connector).lower())
        argv += ["--kv-transfer-config", str(connector) if preset is None else json.dumps(preset)]
    dp_size = _either(settings, "data-parallel-size")
    per_gpu = dp_size is not None and not _per_node(job)
    argv += _device_ids(job, role, placement, per_gpu)
    nodes = len(placement.nodes)
    processes = nodes
    if per_gpu:
        processes = nodes * len(placement.gpus)
        _drop(settings, "data-parallel-rpc-port")
        argv += ["--data-parallel-rank", "0", "--data-parallel-address", [Unknown(_LEADER)]]
        argv += ["--data-parallel-rpc-port", [Unknown(_PORT)]]
    elif dp_size is not None:
        argv += _vllm_per_node(job, role, settings, dp_size, placement)
    elif nodes > 1:
        argv += ["--master-addr", [Unknown(_LEADER)], "--nnodes", str(nodes), "--node-rank", "0"]
    if job.release.request_plane_flag:
        argv += ["--request-plane", job.request_plane]
    argv += ["--dump-config-to", [Unknown(_LOGS)]]
    if job.release.vllm_kv_events:
        argv += _kv_events(job, role, {"publisher": "zmq", "topic": "kv-events", "enable_kv_cache_events": True})
    return Command(argv + flags(settings.items()), processes, 1 if per_gpu else len(placement.gpus))


def _per_node(job: Job) -> bool:
    """Whether one process runs all data-parallel ranks of a node (dp_launch_mode)."""
    if not job.release.vllm_per_node:
        return False
    default = "per_node" if job.release.vllm_per_node_default else "per_gpu"
    return job.backend.get("dp_launch_mode", default) == "per_node"


def _vllm_per_node(
    job: Job, role: str, settings: dict[str, object], dp_size: object, placement: Placement
) -> list[Word]:
    local, nodes = len(placement.gpus), len(placement.nodes)
    replica = _number(settings, "tensor-parallel-size") * _number(settings, "pipeline-parallel-size")
    if not job.release.vllm_dp_spans_nodes:
        replica = 1
    if not isinstance(dp_size, int) or dp_size * replica != local * nodes:
        raise CommandError(
            f"{role}: data-parallel-size {dp_size} with {replica} GPUs per rank "
            f"does not fit the worker's {local * nodes} GPUs"
        )
    if not job.release.vllm_hybrid_lb:
        _drop(settings, *_PER_NODE_OWNED[:-1])
    else:
        _drop(settings, *_PER_NODE_OWNED)
        settings.pop("headless", None)
    address: list[Word] = ["--data-parallel-address", [Unknown(_LEADER)], "--data-parallel-rpc-port", [Unknown(_PORT)]]
    if replica > local:
        if replica % local:
            raise CommandError(f"{role}: {replica} GPUs per rank do not divide over nodes with {local} GPUs")
        return ["--master-addr", [Unknown(_LEADER)], "--nnodes", str(nodes), "--node-rank", "0", *address]
    if local % replica:
        raise CommandError(f"{role}: {replica} GPUs per rank do not divide the node's {local} GPUs")
    words: list[Word] = [
        "--data-parallel-size-local",
        str(local // replica),
        "--data-parallel-start-rank",
        "0",
        *address,
    ]
    return [*words, "--data-parallel-hybrid-lb"] if job.release.vllm_hybrid_lb else words


def _vllm_serve(job: Job, role: str, settings: dict[str, object], placement: Placement) -> Command:
    if role != "aggregate":
        raise CommandError("frontend.type vllm is for aggregate jobs only")
    if not job.release.vllm_serve:
        raise CommandError(f"frontend.type vllm is unknown to srt-slurm {job.release.name}")
    nodes = len(placement.nodes)
    if nodes > 1 and not job.release.vllm_serve_nodes:
        raise CommandError(f"srt-slurm {job.release.name} has frontend.type vllm for one node only")
    owned = _VLLM_OWNED if job.release.vllm_serve_nodes else frozenset({"host", "port"})
    settings = {key: value for key, value in settings.items() if key.replace("_", "-") not in owned}
    settings.pop("connector", None)
    if isinstance(job.served_model_name, str):
        settings.setdefault("served-model-name", job.served_model_name)
    argv: list[Word] = ["vllm", "serve", model_argument(job)]
    argv += ["--host", EVERY_ADDRESS, "--port", FRONTEND_PORT]
    if nodes > 1:
        argv += ["--master-addr", [Unknown(_LEADER)], "--nnodes", str(nodes), "--node-rank", "0"]
    argv += _device_ids(job, role, placement, per_gpu=False)
    return Command(argv + flags(settings.items()), nodes, len(placement.gpus))


def trtllm(job: Job, role: str, settings: dict[str, object], placement: Placement) -> Command:
    """`trtllm-llmapi-launch python3 -m dynamo.trtllm` or `trtllm-serve`, once per GPU; the section is a YAML file."""
    mode = MODE[role]
    config = f"/logs/trtllm_config_{mode}.yaml"
    argv: list[Word] = ["numactl", "-m", "0,1"] if role != "aggregate" and _binds_memory(job) else []
    argv.append("trtllm-llmapi-launch")
    processes = len(placement.nodes) * len(placement.gpus)
    model = model_argument(job)
    if job.stage_dir is not None and model == MODEL_MOUNT and job.release.model_staging:
        model = f"{job.stage_dir}/{str(job.model_path).rstrip('/').rpartition('/')[2]}"
    if job.frontend == "trtllm_serve":
        if not job.release.trtllm_serve:
            raise CommandError(f"frontend.type trtllm_serve is unknown to srt-slurm {job.release.name}")
        port: Word = FRONTEND_PORT if role == "aggregate" else [Unknown(_PORT)]
        argv += ["trtllm-serve", model, "--host", EVERY_ADDRESS, "--port", port]
        for key in ("tensor_parallel_size", "moe_expert_parallel_size", "pipeline_parallel_size"):
            if settings.get(key) is not None:
                argv += [f"--{key}", str(settings[key])]
        return Command([*argv, "--config", config], processes, len(placement.gpus))
    argv += ["python3", "-m", "dynamo.trtllm", "--model-path", model, "--served-model-name", job.served_model_name]
    if role != "aggregate":
        argv += ["--disaggregation-mode", mode]
    argv += ["--extra-engine-args", config, "--request-plane", job.request_plane]
    publishes = job.release.trtllm_publishes
    if publishes in ("on", "off"):
        publishes = "always" if job.backend.get("publish_events_and_metrics", publishes == "on") is True else "never"
    if publishes == "always":
        argv.append("--publish-events-and-metrics")
    return Command(argv, processes, len(placement.gpus))


def _binds_memory(job: Job) -> bool:
    setting = job.backend.get("numa_memory_bind")
    if job.release.trtllm_numa_setting and isinstance(setting, bool):
        return setting
    return job.release.trtllm_numactl and job.resources.gpu_type in ("gb200", "gb300")


def _device_ids(job: Job, role: str, placement: Placement, per_gpu: bool) -> list[Word]:
    if not job.release.vllm_device_ids or job.backend.get("set_cuda_visible_devices") is True:
        return []
    whole_node = len(placement.gpus) == job.resources.gpus_per_node
    if per_gpu or not (whole_node or job.resources.workers[role] == 1):
        return ["--device-ids", [Unknown(_GPUS)]]
    return ["--device-ids", ",".join(map(str, placement.gpus))]


def _kv_events(job: Job, role: str, defaults: dict[str, object]) -> list[Word]:
    """`--kv-events-config` where the recipe turns KV events on for the role."""
    setting = job.backend.get("kv_events_config")
    if isinstance(setting, dict):
        setting = setting.get(role if role != "aggregate" else "aggregated")
    elif setting is True and role == "aggregate":
        return []
    if setting is True:
        config = defaults
    elif isinstance(setting, dict):
        config = {**defaults, **{str(key): value for key, value in setting.items()}}
    else:
        return []
    # The endpoint comes last unless the recipe names it, and its value is always replaced.
    try:
        text = json.dumps({**config, "endpoint": "tcp://*:\0"})
    except (TypeError, ValueError):
        return ["--kv-events-config", [Unknown("value that is no JSON")]]
    before, _, after = text.partition("\\u0000")
    return ["--kv-events-config", [before, Unknown(_PORT), after]]


def _either(settings: dict[str, object], key: str) -> object:
    value = settings.get(key)
    return settings.get(key.replace("-", "_")) if value is None else value


def _number(settings: dict[str, object], key: str) -> int:
    value = _either(settings, key)
    return value if isinstance(value, int) and value > 0 else 1


def _drop(settings: dict[str, object], *keys: str) -> None:
    for key in keys:
        settings.pop(key, None)
        settings.pop(key.replace("-", "_"), None)

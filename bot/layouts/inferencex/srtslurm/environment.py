"""The environment of a worker: what the recipe gives, what srtctl adds, and what only the run knows.

Source: NVIDIA/srt-slurm c88ef731, src/srtctl/cli/mixins/worker_stage.py, start_worker (line 142) and
start_endpoint_worker (line 286); get_process_environment of src/srtctl/backends/vllm.py (line 471);
RuntimeContext.from_config in src/srtctl/core/runtime.py.
"""

from __future__ import annotations

from botlint.core.unknown import Unknown
from botlint.layouts.inferencex.srtslurm.commands import Job
from botlint.layouts.inferencex.srtslurm.topology import Placement
from botlint.layouts.inferencex.srtslurm.tree import Branch, child

_LOG_FILTER = "info,dynamo_runtime::pipeline::network::ingress::push_handler=warn"
_NODE_NAMES = ("{node}", "{node_id}")
_HEAD, _INFRA, _PORT = "address of the head node", "address of the infra node", "port that srtctl allocates"


def worker_environment(
    job: Job,
    backend: str,
    placement: Placement | None,
    gpus_per_process: int,
    own: dict[str, str],
    shared: dict[str, str],
    root: Branch,
) -> tuple[dict[str, str], dict[str, Unknown]]:
    """The known variables of the first process of a role and the names of those that get a value in the run.

    Later ones win: srtctl's own, the role's block, the recipe's `environment`, then what depends on the process.
    """
    dynamo = child(root, "dynamo")
    at_run: dict[str, Unknown] = {
        "HEAD_NODE_IP": Unknown(_HEAD),
        "ETCD_ENDPOINTS": Unknown(_INFRA),
        "NATS_SERVER": Unknown(_INFRA),
        "DYN_SYSTEM_PORT": Unknown(_PORT),
    }
    known: dict[str, str] = {}
    if backend != "trtllm":
        known["DYN_REQUEST_PLANE"] = job.request_plane
    if job.release.worker_log_filter:
        known["DYN_SKIP_SGLANG_LOG_FORMATTING"] = "1"
        known["DYN_LOG"] = _LOG_FILTER
    event_plane = dynamo.get("event_plane")
    if event_plane is not None and isinstance(event_plane.plain, str):
        known["DYN_EVENT_PLANE"] = event_plane.plain
    given = {**own, **_wheel(job, dynamo), **shared}
    for name, value in given.items():
        if backend != "trtllm" and any(placeholder in value for placeholder in _NODE_NAMES):
            known.pop(name, None)
            at_run[name] = Unknown("name of the worker's node")
        else:
            at_run.pop(name, None)
            known[name] = value
    for name, last in _process(job, backend, placement, gpus_per_process, root).items():
        if isinstance(last, Unknown):
            known.pop(name, None)
            at_run[name] = last
        else:
            at_run.pop(name, None)
            known[name] = last
    return known, at_run


def _wheel(job: Job, dynamo: Branch) -> dict[str, str]:
    wheel = dynamo.get("wheel")
    if not job.release.wheel_variables or wheel is None or not isinstance(wheel.plain, str) or not wheel.plain:
        return {}
    return {"DYNAMO_WHEEL_NAME": f"ai_dynamo-{wheel.plain}-py3-none-any.whl", "DYNAMO_VERSION": wheel.plain}


def _process(
    job: Job, backend: str, placement: Placement | None, gpus_per_process: int, root: Branch
) -> dict[str, str | Unknown]:
    """What is different in every process, and the Mooncake store's variables."""
    values: dict[str, str | Unknown] = {}
    sets_devices = (
        backend != "vllm" or not job.release.vllm_device_ids or job.backend.get("set_cuda_visible_devices") is True
    )
    if placement is not None and sets_devices and gpus_per_process < job.resources.gpus_per_node:
        values["CUDA_VISIBLE_DEVICES"] = Unknown("GPUs of the worker")
    if backend == "trtllm":
        values["TRTLLM_EPLB_SHM_NAME"] = Unknown("random name")
    if backend == "vllm":
        for name in ("DYN_VLLM_KV_EVENT_PORT", "VLLM_NIXL_SIDE_CHANNEL_PORT"):
            values[name] = Unknown(_PORT)
        if job.release.vllm_nixl_host:
            values["VLLM_NIXL_SIDE_CHANNEL_HOST"] = Unknown("address of the worker's node")
        single_node = placement is not None and len(placement.nodes) == 1
        if job.release.vllm_port_variable and (single_node or job.release.vllm_port_on_nodes):
            values["VLLM_PORT"] = Unknown(_PORT)
    store = child(root, "backend").get("mooncake_kv_store")
    if store is not None and store.branch is not None:
        values["MOONCAKE_LOCAL_HOSTNAME"] = Unknown("address of the worker's node")
        for name, item in child(store.branch, "env").items():
            plain = item.plain
            if isinstance(plain, str):
                values[name] = plain
        values["MOONCAKE_MASTER"] = Unknown(_INFRA)
        values["MOONCAKE_TE_META_DATA_SERVER"] = Unknown(_INFRA)
        if backend == "vllm":
            values["MOONCAKE_CONFIG_PATH"] = "/logs/mooncake_store_config.json"
    return values

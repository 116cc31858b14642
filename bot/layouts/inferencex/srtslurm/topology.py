"""How many GPUs and nodes the workers of a recipe get, and where the first worker of each role is placed.

Source: NVIDIA/srt-slurm c88ef731, src/srtctl/core/schema.py, ResourceConfig (line 497), and
src/srtctl/core/topology.py, allocate_endpoints (line 232).
"""

from __future__ import annotations

from dataclasses import dataclass

from botlint.layouts.inferencex.srtslurm.model import ROLES, Resources

DEFAULT_GPUS_PER_NODE = 4
MAX_WORKERS = 4_096
# More GPUs than this on a node or for a worker are a slip of the pen, and would be counted one by one.
MAX_GPUS = 16_384

# The words of `resources` for a role: prefill_nodes, agg_workers, gpus_per_agg ...
SHORT = {"prefill": "prefill", "decode": "decode", "aggregate": "agg"}


@dataclass(frozen=True, slots=True)
class Placement:
    """The first worker of a role: its nodes (numbered over the job) and the GPUs that it uses on each."""

    nodes: tuple[int, ...]
    gpus: tuple[int, ...]


def resources_of(numbers: dict[str, int | None], gpu_type: str | None) -> Resources:
    """Nodes, workers and GPUs per worker of every role that has workers."""
    per_node = numbers.get("gpus_per_node")
    gpus_per_node = DEFAULT_GPUS_PER_NODE if per_node is None else per_node
    disaggregated = numbers.get("prefill_nodes") is not None or numbers.get("decode_nodes") is not None
    workers = {role: count for role in ROLES if (count := numbers.get(f"{SHORT[role]}_workers") or 0) > 0}
    gpus = {role: _gpus_per_worker(role, numbers, gpus_per_node) for role in workers}
    nodes = {role: numbers.get(f"{SHORT[role]}_nodes") or 0 for role in workers}
    if disaggregated:
        total = (numbers.get("prefill_nodes") or 0) + (numbers.get("decode_nodes") or 0)
    else:
        total = numbers.get("agg_nodes") or 1
    return Resources(gpu_type, gpus_per_node, nodes, workers, gpus, total)


def _gpus_per_worker(role: str, numbers: dict[str, int | None], gpus_per_node: int) -> int:
    short = SHORT[role]
    explicit = numbers.get(f"gpus_per_{short}")
    if explicit is not None:
        return explicit
    nodes, workers = numbers.get(f"{short}_nodes"), numbers.get(f"{short}_workers")
    if nodes and workers:
        return nodes * gpus_per_node // workers
    if role == "decode" and nodes == 0 and workers:
        return _gpus_per_worker("prefill", numbers, gpus_per_node)
    return gpus_per_node


def place(
    resources: Resources, spread: bool, share_nodes: bool, separate: bool = False
) -> tuple[dict[str, Placement], str | None]:
    """Places the workers in srtctl's order; the second value says why it fails.

    `spread` gives each worker that needs a part of a node its own node; `share_nodes` lets decode workers use what
    prefill left.
    """
    per_node = resources.gpus_per_node
    first: dict[str, Placement] = {}
    node = offset = 0
    if not 1 <= per_node <= MAX_GPUS:
        return first, f"gpus_per_node is {per_node}"
    for role in ROLES:
        workers = resources.workers.get(role, 0)
        gpus = resources.gpus_per_worker.get(role, 0)
        if workers == 0:
            continue
        if not 1 <= gpus <= MAX_GPUS or workers > MAX_WORKERS:
            return first, f"{workers} {role} workers with {gpus} GPUs each"
        if role == "decode" and separate:
            node, offset = resources.total_nodes - resources.nodes[role], 0
        elif role == "decode" and not share_nodes and offset > 0 and node + 1 < resources.total_nodes:
            node, offset = node + 1, 0
        for number in range(workers):
            if gpus >= per_node:
                span = -(-gpus // per_node)
                placement = Placement(tuple(range(node, node + span)), tuple(range(per_node)))
                node += span
            else:
                if offset + gpus > per_node:
                    node, offset = node + 1, 0
                placement = Placement((node,), tuple(range(offset, offset + gpus)))
                offset += gpus
                if offset >= per_node or spread:
                    node, offset = node + 1, 0
            if placement.nodes[-1] >= resources.total_nodes:
                needed = placement.nodes[-1] + 1
                return first, f"{role} worker {number} needs node {needed} of a job with {resources.total_nodes} nodes"
            if number == 0:
                first[role] = placement
    return first, None

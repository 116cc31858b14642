"""Which keys each release of srt-slurm knows: it refuses a recipe with any other key.

Source: the marshmallow schemas of SrtConfig and of the three backends (NVIDIA/srt-slurm, src/srtctl/core/schema.py and
src/srtctl/backends/), read at every tag v1.0.0 to v1.0.68 and at the branches named below.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from botlint.layouts.inferencex.srtslurm.releases import NEWEST, Release
from botlint.layouts.inferencex.srtslurm.tree import Branch, Item

# Mapping, then its keys. `@N` is the first tag v1.0.N that has the key, `@N-M` the first and the last.
# What is below a key without a line of its own is free.
_TABLE = """
/: backend benchmark container_mounts dynamo enable_config_dump environment extra_mount frontend health_check
    identity infra model name observability output profiling reporting resources sbatch_directives setup_script
    slurm srun_options telemetry
backend[sglang]: aggregated_environment decode_environment gpu_type kv_events_config mooncake_kv_store
    prefill_environment sglang_config type
backend[sglang].mooncake_kv_store: container env master_extra_args@35
backend[sglang].sglang_config: aggregated decode prefill
backend[trtllm]: aggregated_environment decode_environment numa_memory_bind@64 prefill_environment
    publish_events_and_metrics@22 sequential_node_start@48 trtllm_config type
backend[trtllm].trtllm_config: aggregated decode prefill
backend[vllm]: aggregated_environment allow_prefill_decode_colocation
    allow_prefill_decode_colocation_across_nodes@27 connector decode_environment dp_launch_mode@30
    kv_events_config@8 mooncake_kv_store@12 prefill_environment set_cuda_visible_devices@25 type vllm_config
backend[vllm].mooncake_kv_store: container env master_extra_args@35 store_config
backend[vllm].vllm_config: aggregated decode prefill
benchmark: aiperf_args aiperf_package categories client_dedicated_node@62 client_placement@16
    colocate_with_frontend@62 command concurrencies concurrency container_image custom_tokenizer dataset_name
    dataset_path env export_node_metrics isl itl_threshold_ms max_context_length max_tokens mooncake_workload
    num_examples num_prompts_mult num_requests num_shots num_threads num_warmup_mult osl prefix_ratios
    random_range_ratio repeat req_rate reuse_http_connections@29 slow_down_sleep_time slow_down_wait_time sweep
    temperature top_k top_p trace_file ttft_threshold_ms type use_chat_template
dynamo: cargo_patches@36 event_plane@33 hash install request_plane@15 top_of_tree version wheel
frontend: args ctx_router@16 dedicated_node@62 enable_multiple_frontends env gen_router@16 nginx_container
    nginx_keepalive_timeout@40 nginx_raise_ulimit nginx_session_affinity@6 nginx_session_affinity_header@6
    num_additional_frontends orchestrator_placement@16 server_config_extra@16 type
health_check: interval_seconds max_attempts
identity: container frameworks model
identity.container: image
identity.model: repo revision
infra: etcd_nats_dedicated_node nats_max_payload_mb
model: container path precision stage_dir@16
observability: build_dashboard@66 enable_otel enabled@52 otel_endpoint scrape_interval_seconds@53 scrape_metrics@53
    scrape_output@53 tachometer@59
observability.tachometer: binary_path compaction_threads dcgm_exporter default_frequency enabled extra_metadata
    node_exporter storage_subdir sync_interval_secs
observability.tachometer.dcgm_exporter: command container_image port
observability.tachometer.node_exporter: command container_image port
output: log_dir
profiling: aggregated benchmark_duration_secs decode delay_secs duration_secs extra_nsys_args prefill type
profiling.aggregated: start_step stop_step
profiling.decode: start_step stop_step
profiling.prefill: start_step stop_step
reporting: ai_analysis s3 status
reporting.ai_analysis: enabled gh_token openrouter_api_key pr_search_days prompt repos_to_search
reporting.s3: access_key_id bucket endpoint_url prefix region secret_access_key
reporting.status: endpoint endpoints
resources: agg_nodes agg_workers decode_nodes decode_workers gpu_type gpus_per_agg gpus_per_decode gpus_per_node
    gpus_per_prefill het_jobs prefill_nodes prefill_workers spread_workers
slurm: account partition time_limit
telemetry: binary_path@0-58 collector_join_timeout_seconds@47 compaction_threads@0-58 container_image@0-58
    dcgm_exporter default_frequency enabled extra_metadata@0-58 live_metrics@0-58 node_exporter@0-58 provider@0-58
    request_timeout_seconds@47 required@47 startup_timeout_seconds@47 storage_subdir sync_interval_secs@0-58
telemetry.dcgm_exporter: command container_image port
telemetry.live_metrics: downsample enabled interval_seconds
telemetry.node_exporter: command container_image port
"""
# Keys that srtctl takes out of the file before it looks at the rest (config.py line 666, sweep.py line 83).
_TAKEN_OUT = frozenset({"lock", "sweep"})
# How the branches differ from the oldest tag; a name stands for everything below it.
_BRANCHES = {
    "sa-submission-q2-2026": (
        "benchmark.warmup_req_rate dynamo.request_plane",
        "backend[sglang].mooncake_kv_store benchmark.aiperf_args benchmark.aiperf_package benchmark.command "
        "benchmark.container_image benchmark.dataset_name benchmark.dataset_path benchmark.env "
        "benchmark.export_node_metrics benchmark.slow_down_sleep_time benchmark.slow_down_wait_time dynamo.wheel "
        "frontend.nginx_raise_ulimit identity infra.nats_max_payload_mb observability "
        "profiling.benchmark_duration_secs profiling.delay_secs profiling.duration_secs "
        "profiling.extra_nsys_args resources.het_jobs telemetry",
    ),
    "aflowers/gb200-dsv4-recipes": (
        "benchmark.tokenizer_mode",
        "backend[sglang].mooncake_kv_store backend[vllm].allow_prefill_decode_colocation benchmark.aiperf_args "
        "benchmark.aiperf_package benchmark.command benchmark.container_image benchmark.dataset_name "
        "benchmark.dataset_path benchmark.env benchmark.export_node_metrics benchmark.slow_down_sleep_time "
        "benchmark.slow_down_wait_time frontend.nginx_raise_ulimit identity infra.nats_max_payload_mb observability "
        "profiling.benchmark_duration_secs profiling.delay_secs profiling.duration_secs profiling.extra_nsys_args "
        "resources.het_jobs resources.spread_workers telemetry",
    ),
    "aflowers/vllm-gb200-v0.20.0": (
        "",
        "backend[sglang].mooncake_kv_store backend[vllm].allow_prefill_decode_colocation benchmark.export_node_metrics "
        "benchmark.slow_down_sleep_time benchmark.slow_down_wait_time frontend.nginx_raise_ulimit "
        "profiling.extra_nsys_args resources.het_jobs resources.spread_workers telemetry.live_metrics",
    ),
}
_LINE = re.compile(r"^(\S+): (.*(?:\n    .*)*)", re.MULTILINE)
_KEY = re.compile(r"([^@\s]+)(?:@(\d+)(?:-(\d+))?)?")


def unknown_keys(root: Branch, backend: str, release: Release) -> Iterator[tuple[str, Item]]:
    """The entries that the release refuses, with their dotted names; none where the reference may move."""
    if not release.fixed:
        return
    known = _known(release.number, release.branch)
    stack: list[tuple[str, str, Branch]] = [("/", "", root)]
    while stack:
        table, prefix, branch = stack.pop()
        keys = known.get(table)
        if keys is None:
            continue
        for name, item in branch.items():
            if name not in keys and not (table == "/" and name in _TAKEN_OUT):
                yield f"{prefix}{name}", item
            elif item.branch is not None:
                below = f"backend[{backend}]" if table == "/" and name == "backend" else _join(table, name)
                stack.append((below, f"{prefix}{name}.", item.branch))


def _join(table: str, name: str) -> str:
    return name if table == "/" else f"{table}.{name}"


@lru_cache(maxsize=32)
def _known(number: int, branch: str | None) -> dict[str, frozenset[str]]:
    added, removed = _BRANCHES.get(branch or "", ("", ""))
    gone = removed.split()
    tables: dict[str, set[str]] = {}
    for table, keys in _LINE.findall(_TABLE):
        for name, first, last in _KEY.findall(keys):
            path = _join(table, name)
            removed_here = any(path == key or path.startswith(f"{key}.") for key in gone)
            if int(first or 0) <= number <= int(last or NEWEST) and not removed_here:
                tables.setdefault(table, set()).add(name)
    for path in added.split():
        table, _, name = path.rpartition(".")
        tables[table or "/"].add(name)
    return {table: frozenset(keys) for table, keys in tables.items()}

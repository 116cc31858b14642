"""Which srt-slurm renders the commands: what differs between its releases and the branches that launchers check out.

Source: github.com/NVIDIA/srt-slurm, files src/srtctl/backends/{sglang,vllm,trtllm}.py and
src/srtctl/cli/mixins/worker_stage.py read at every tag v1.0.0 to v1.0.68, at main c88ef7316368 and at the branches
named below; the number is the first tag that has the behaviour.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

NEWEST = 68


@dataclass(frozen=True, slots=True)
class Release:
    """What one revision of srt-slurm does; `known` is false where an unknown revision is read as the newest,
    `fixed` where the reference always names the revision that was read (not `main`).

    `trtllm_publishes` is the default of publish_events_and_metrics (`on`, `off`),
    or `always` or `never` where there is no such setting.
    """

    name: str
    number: int
    branch: str | None
    known: bool
    fixed: bool
    huggingface_models: bool
    one_served_name: bool
    sglang_bootstrap_port: bool
    sglang_nccl_port: bool
    request_plane_flag: bool
    default_request_plane: str
    vllm_kv_events: bool
    vllm_device_ids: bool
    vllm_per_node: bool
    vllm_hybrid_lb: bool
    vllm_serve: bool
    vllm_serve_nodes: bool
    vllm_dp_spans_nodes: bool
    vllm_per_node_default: bool
    vllm_port_variable: bool
    vllm_port_on_nodes: bool
    vllm_nixl_host: bool
    trtllm_numactl: bool
    trtllm_numa_setting: bool
    trtllm_serve: bool
    trtllm_publishes: str
    model_staging: bool
    worker_log_filter: bool
    wheel_variables: bool


def _numbered(number: int, name: str, known: bool = True, fixed: bool = True) -> Release:
    return Release(
        name=name,
        number=number,
        branch=None,
        known=known,
        fixed=fixed and known,
        huggingface_models=True,
        one_served_name=True,
        sglang_bootstrap_port=True,
        sglang_nccl_port=number >= 58,
        request_plane_flag=number >= 15,
        default_request_plane="tcp" if number >= 24 else "nats",
        vllm_kv_events=number >= 8,
        vllm_device_ids=number >= 25,
        vllm_per_node=number >= 30,
        vllm_hybrid_lb=number >= 34,
        vllm_serve=number >= 37,
        vllm_serve_nodes=number >= 49,
        vllm_dp_spans_nodes=number >= 67,
        vllm_per_node_default=number >= 68,
        vllm_port_variable=number >= 18,
        vllm_port_on_nodes=number < 31,
        vllm_nixl_host=number >= 3,
        trtllm_numactl=number >= 13,
        trtllm_numa_setting=number >= 64,
        trtllm_serve=number >= 9,
        trtllm_publishes="off" if number >= 26 else "on" if number >= 22 else "always",
        model_staging=number >= 16,
        worker_log_filter=True,
        wheel_variables=True,
    )


_OLDEST = _numbered(0, "v1.0.0")
_BRANCHES = {
    "sa-submission-q2-2026": replace(
        _OLDEST,
        name="sa-submission-q2-2026",
        branch="sa-submission-q2-2026",
        huggingface_models=False,
        one_served_name=False,
        sglang_bootstrap_port=False,
        request_plane_flag=True,
        vllm_nixl_host=True,
        trtllm_numactl=True,
        trtllm_publishes="never",
        worker_log_filter=False,
        wheel_variables=False,
    ),
    "aflowers/gb200-dsv4-recipes": replace(
        _OLDEST,
        name="aflowers/gb200-dsv4-recipes",
        branch="aflowers/gb200-dsv4-recipes",
        huggingface_models=False,
        one_served_name=False,
        sglang_bootstrap_port=False,
        vllm_nixl_host=True,
        trtllm_publishes="never",
        worker_log_filter=False,
    ),
    "aflowers/vllm-gb200-v0.20.0": replace(
        _OLDEST,
        name="aflowers/vllm-gb200-v0.20.0",
        branch="aflowers/vllm-gb200-v0.20.0",
        sglang_bootstrap_port=False,
        worker_log_filter=False,
    ),
}
_TAG = re.compile(r"v1\.0\.(\d{1,4})")
_SHA = re.compile(r"[0-9a-f]{7,40}")
# First eight digits of the commits of v1.0.0, v1.0.1, ...
_TAG_COMMITS = (
    "3dbe87fb 9ae28bc7 c1fb6989 696a3a1b 53fffaa6 38fc4c00 a98738de 2633fcf4 10bc2919 22930723",
    "03c0e8cb d0425707 7e576747 0417d2f2 9c11ac01 a7910041 6da573bc 662538ed 63a53520 f9d144ca",
    "f20cc56d b07c9901 34585170 4f4caacc 04ff0a0a 3435776c b959ff7d f6eb42ae ec7dd03e c1b6b5c9",
    "b93276c2 0f31474a 9d6bd641 38723f6a a7a45c9a 607e01b8 cb651682 6fd60000 c180328b a8be73c4",
    "61f1e23b 0b1b3ab4 6ae919e0 4fdecffa 04e87fcc 9d8d92b2 cf2aacba 7b0654ab 50cc900a e32e5910",
    "e4019633 2580a31e a8c415b5 217f9438 d1c289bd 7e6a9b64 d640707e 6e842d5d 3d39c936 be40f345",
    "41cd3719 f6f9af49 a19d9451 465c6d0b c8d6fd17 5201fe85 2c3dc614 9b725227 c88ef731",
)


def release(ref: str | None) -> Release:
    """The release that a git reference of srt-slurm names: a tag, a known branch, or the commit of a tag; else the
    newest.
    """
    if not ref or ref in ("HEAD", "main", "origin/main"):
        return _numbered(NEWEST, "main", fixed=False)
    if (tag := _TAG.fullmatch(ref)) is not None:
        return _numbered(int(tag[1]), ref, known=int(tag[1]) <= NEWEST)
    if (branch := _BRANCHES.get(ref.removeprefix("origin/"))) is not None:
        return branch
    if _SHA.fullmatch(ref):
        for number, commit in enumerate(" ".join(_TAG_COMMITS).split()):
            if ref.startswith(commit) or commit.startswith(ref):
                return _numbered(number, f"v1.0.{number}")
    return _numbered(NEWEST, ref, known=False)

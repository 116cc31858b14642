"""A small benchmark repository whose files a test can change, and plans of it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from botlint.plan.build import Planner
from botlint.plan.model import LaunchPlan
from botlint.repo.open import open_files

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = ROOT / "examples"
ENTRY = "gptoss-fp4-mi355x-vllm"
RECIPE = "benchmarks/single_node/fixed_seq_len/gptoss_fp4_mi355x.sh"
LAUNCHER = "runners/launch_mi355x-demo.sh"
LIBRARY = "benchmarks/benchmark_lib.sh"
CONFIG = "configs/amd-master.yaml"
AGENTIC = "minimaxm3-fp4-mi355x-vllm-agentic-mtp"
AGENTIC_RECIPE = "benchmarks/single_node/agentic/minimaxm3_fp4_mi355x_mtp.sh"


def make_repository(
    folder: Path, changes: Mapping[str, str | bytes | None] | None = None, *, healthy: bool = False
) -> Path:
    """A copy of the examples with some files replaced (or removed, for None)."""
    shutil.copytree(EXAMPLES, folder, ignore=shutil.ignore_patterns("demo"))
    if healthy:
        shutil.copytree(EXAMPLES / "demo" / "healthy", folder, dirs_exist_ok=True)
    for path, content in (changes or {}).items():
        target = folder / path
        if content is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def plans_of(repository: Path, entry: str = ENTRY, limit: int | None = None) -> list[LaunchPlan]:
    """The plans of one entry."""
    with open_files(repository) as files:
        planner = Planner(files, with_origins=True)
        return list(planner.plans([job for job in planner.jobs if job.entry == entry][:limit]))

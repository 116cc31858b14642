"""Revisions that exist only in a test, and the texts of their master configs."""

from __future__ import annotations

from textwrap import dedent, indent

from botlint.layouts.inferencex.jobs import Job, expand_all, load_configs, load_runners
from botlint.repo.files import MAX_FILE_SIZE, MAX_PATHS, Files, ListedFiles, Listing


class MemoryFiles(ListedFiles):
    """Files from texts by path."""

    def __init__(self, texts: dict[str, str]) -> None:
        super().__init__("memory", MAX_FILE_SIZE, MAX_PATHS)
        self._texts = {path: dedent(text).encode() for path, text in texts.items()}

    def _list(self) -> Listing:
        return Listing(files=dict.fromkeys(self._texts, ""))

    def _content(self, path: str) -> bytes | None:
        return self._texts.get(path)

    def _link_text(self, path: str) -> str | None:
        return None

    def _is_executable(self, path: str) -> bool:
        return False

    def close(self) -> None:
        """Nothing is open."""


RUNNERS = """\
labels:
  small: [small-lab_1, small-lab_0]
  cluster:big:
    - big-lab_00
hardware:
  cluster:big:
    available-cpu-dram-mib: 3000000
    gpus-per-node: 8
"""

HEAD = """\
image: registry/engine:1
model: maker/Model-1
model-prefix: m1
runner: cluster:big
precision: fp8
framework: engine
"""


def entry(name: str, scenarios: str, *, multinode: bool = False, extra: str = "") -> str:
    """The text of one entry."""
    body = f"{HEAD}multinode: {str(multinode).lower()}\n{dedent(extra)}scenarios:\n{indent(dedent(scenarios), '  ')}"
    return f"{name}:\n{indent(body, '  ')}\n"


def revision(*entries: str, path: str = "configs/amd-master.yaml", **more: str) -> Files:
    """A revision with one master config and the runner table."""
    return MemoryFiles({path: "".join(entries), "configs/runners.yaml": RUNNERS, **more})


def jobs_of(*entries: str) -> list[Job]:
    """The jobs before any is chosen for an eval."""
    files = revision(*entries)
    configs = load_configs(files)
    assert configs.problems == ()
    expansion = expand_all(configs, load_runners(files), "unmarked")
    assert expansion.problems == []
    return expansion.jobs


def fixed(arms: str, isl: int = 1024, osl: int = 1024) -> str:
    return f"fixed-seq-len:\n- isl: {isl}\n  osl: {osl}\n  search-space:\n{indent(dedent(arms), '  ')}"


def agentic(arms: str, settings: str = "dram-utilization: 0.5") -> str:
    return f"agentic-coding:\n- {settings}\n  search-space:\n{indent(dedent(arms), '  ')}"


WORKER = "{num-worker: 1, tp: 4, ep: 1, dp-attn: false}"

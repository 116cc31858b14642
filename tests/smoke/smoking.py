"""Plans and machines for tests of smoke runs: an engine that is a script of ours."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from botlint.smoke.model import Honest, Limits, Load, SmokeRequest, Stage
from botlint.smoke.run import Machine

FAKE = Path(__file__).with_name("fake_engine")
HONEST = Honest(device="cpu")
LIMITS = Limits(probe=60, parse=60, serve=60, load=60, stop=30)
LOAD = Load(isl=24, osl=4, requests=3, concurrency=(1, 2))
SERVING: tuple[Stage, ...] = ("serve", "load", "stop")


def plan_of(*options: object, env: Mapping[str, Any] | None = None, **changes: Any) -> dict[str, Any]:
    """A plan as `botlint plan --format json` writes one."""
    plan: dict[str, Any] = {
        "entry": "tiny-fp8-mi355x-vllm",
        "config": {"path": "configs/amd-master.yaml", "line": 3},
        "arm": {"line": 5, "index": 0, "scenario": "fixed-seq-len"},
        "job": {"model": "demo/tiny", "tp": 1, "conc": 4, "exp-name": "tiny_tp1"},
        "runner": "mi355x-demo_00",
        "launcher": "runners/launch_mi355x-demo.sh",
        "recipe": "benchmarks/tiny.sh",
        "outcome": "serves",
        "exit": None,
        "possible": [],
        "runners": ["mi355x-demo_00"],
    }
    plan["server"] = {
        "framework": "vllm",
        "version": "0.32.0",
        "path": "benchmarks/tiny.sh",
        "line": 9,
        "argv": ["vllm", "serve", "demo/tiny", "--host", "0.0.0.0", "--port", "8888", *options],
        "env": dict(env or {}),
        "runtime-env": {},
    }
    return {**plan, **changes}


def document_of(*plans: Mapping[str, Any]) -> dict[str, Any]:
    """A document of plans."""
    summary = {"jobs": len(plans), "serves": len(plans), "exits": 0, "undecided": 0}
    return {"schema": "botlint.plan/1", "plans": list(plans), "problems": [], "summary": summary}


def request_of(plan: Mapping[str, Any], **changes: Any) -> SmokeRequest:
    """A request with short limits."""
    return SmokeRequest(plan, **{"honest": HONEST, "limits": LIMITS, "load": LOAD, "stages": SERVING, **changes})


def fake_bin(folder: Path) -> Path:
    """A folder with the fake engine's `vllm` and its Python."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "python3").symlink_to(os.path.realpath(sys.executable))
    script = folder / "vllm"
    script.write_text(f"#!{folder}/python3\n" + (FAKE / "serve.py").read_text(encoding="utf-8"), encoding="utf-8")
    script.chmod(0o755)
    return folder


def fake_environment(folder: Path) -> dict[str, str]:
    """The environment of a runner that has the fake engine."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return {**kept, "PATH": f"{folder}:{os.environ['PATH']}", "PYTHONPATH": f"{FAKE}:{FAKE.parent}"}


def machine_of(folder: Path) -> Machine:
    """A machine with the fake engine."""
    return Machine(folder / "work", environment=fake_environment(fake_bin(folder / "bin")))


def alive(pid: int) -> bool:
    """Whether a process runs; one that only waits to be counted does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()[0] != b"Z"
    except OSError:
        return False


def wait_for(path: Path, seconds: float = 60) -> str:
    """The text of a file once it is there and not empty."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if path.exists() and (text := path.read_text(encoding="utf-8")):
            return text
        time.sleep(0.02)
    raise AssertionError(f"{path} was not written")


def words(verdict_argv: Sequence[str]) -> str:
    """A command line as one text."""
    return " ".join(verdict_argv)

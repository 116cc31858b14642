"""The probe with a torch of ours: GPUs of any kind, with faults."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from fake_torch import FAULTS, H200, MI300X, MI355X, torch_of

from botlint.smoke import probe


def looked(monkeypatch: pytest.MonkeyPatch, torch: Any, **options: Any) -> dict[str, Any]:
    monkeypatch.setitem(sys.modules, "torch", torch)
    return probe.look(size=6, **options)


def test_a_node_that_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    report = looked(monkeypatch, torch_of([MI355X] * 3), count=2)
    assert (report["platform"], report["runtime"], report["count"]) == ("rocm", "7.0", 3)
    assert [(one["architecture"], one["memory_gb"]) for one in report["devices"]] == [("gfx950", 288), ("gfx950", 288)]
    assert [one["dtype"] for one in report["devices"][0]["products"]] == ["float32", "bfloat16", "float16"]
    assert all(one["right"] and one["error"] == 0 for one in report["devices"][0]["products"])
    assert report["peers"] == [
        {"from": 0, "to": 1, "direct": True, "copied": True},
        {"from": 1, "to": 0, "direct": True, "copied": True},
    ]
    assert probe.judge(report, "gfx950", 2, 288, 0.9) == []


def test_a_gpu_of_nvidia_has_the_name_of_its_capability(monkeypatch: pytest.MonkeyPatch) -> None:
    report = looked(monkeypatch, torch_of([H200], hip=None))
    assert report["devices"][0]["architecture"] == "sm90"
    assert probe.judge(report, "sm90", 1, 141, 0.9) == []


@pytest.mark.parametrize(
    ("devices", "count", "problem"),
    [
        ([], 1, "0 devices, 1 are needed"),
        ([MI355X], 4, "1 devices, 4 are needed"),
        ([MI300X], 1, "device 0 is gfx942 (GPU), the job is for gfx950"),
        ([{**MI355X, "total": 72, "free": 70}], 1, "device 0 has 72 GB of memory, 288 are expected (a partition?)"),
        (
            [{**MI355X, "free": 100}],
            1,
            "device 0 has 100 of 288 GB free, the server takes 90%: something else is on it",
        ),
        ([{**MI355X, "dead": True}], 1, "device 0: HIP error: device lost"),
    ],
)
def test_a_node_that_does_not_fit(
    monkeypatch: pytest.MonkeyPatch, devices: list[dict[str, Any]], count: int, problem: str
) -> None:
    report = looked(monkeypatch, torch_of(devices), count=count)
    assert problem in probe.judge(report, "gfx950", count, 288, 0.9)


@pytest.mark.parametrize("fault", [0.5, math.nan])
def test_a_device_that_multiplies_wrongly(monkeypatch: pytest.MonkeyPatch, fault: float) -> None:
    monkeypatch.setitem(FAULTS, ("cuda:1", "bfloat16"), fault)
    report = looked(monkeypatch, torch_of([MI355X] * 2))
    problems = probe.judge(report, "gfx950", 2)
    assert len(problems) == 1
    assert problems[0].startswith("device 1: a product in bfloat16 is wrong: relative error ")
    json.dumps(report, allow_nan=False)


def test_only_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    report = looked(monkeypatch, torch_of([MI355X] * 2), memory_only=True)
    assert [one["free_gb"] for one in report["devices"]] == [286, 286]
    assert "products" not in report["devices"][0]
    assert report["peers"] == []


def test_the_file_runs_alone_and_says_where_there_is_no_torch(tmp_path: Path) -> None:
    package = tmp_path / "somewhere" / "botlint"
    package.parent.mkdir()
    package.symlink_to(Path(probe.__file__).parents[1])
    blocked = tmp_path / "torch.py"
    blocked.write_text("raise ImportError('not here')\n", encoding="utf-8")
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{package.parent}"}
    output = tmp_path / "report.json"
    command = [sys.executable, "-m", "botlint.smoke.probe", "--expect", "gfx950", "--output", str(output)]
    done = subprocess.run(command, env=environment, cwd=tmp_path, timeout=120, check=False)
    assert done.returncode == 3
    assert json.loads(output.read_text(encoding="utf-8"))["problems"][0].startswith("no torch in ")

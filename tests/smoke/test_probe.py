"""The probe with a torch of ours: GPUs of any kind, with faults."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from botlint.smoke import probe

GIB = 1024**3


class Matrix:
    """As much of a tensor as the probe needs; `fault` changes what a device multiplies."""

    def __init__(self, rows: list[list[float]], fault: float = 0.0) -> None:
        self.rows = rows
        self.fault = fault

    def double(self) -> Matrix:
        return self

    def cpu(self) -> Matrix:
        return self

    def to(self, *arguments: Any, device: str = "", dtype: str = "", **_: Any) -> Matrix:
        return Matrix(self.rows, FAULTS.get((device, dtype), 0.0))

    def __truediv__(self, number: float) -> Matrix:
        return Matrix([[value / number for value in row] for row in self.rows])

    def __sub__(self, other: Matrix) -> Matrix:
        return Matrix([[a - b for a, b in zip(x, y, strict=True)] for x, y in zip(self.rows, other.rows, strict=True)])

    def __matmul__(self, other: Matrix) -> Matrix:
        columns = list(zip(*other.rows, strict=True))
        return Matrix(
            [[sum(a * b for a, b in zip(row, c, strict=True)) + self.fault for c in columns] for row in self.rows]
        )


FAULTS: dict[tuple[str, str], float] = {}


class Generator:
    def manual_seed(self, seed: int) -> Generator:
        return self


def torch_of(devices: list[dict[str, Any]], hip: str | None = "7.0", apart: bool = False) -> Any:
    def randint(low: int, high: int, size: tuple[int, int], generator: Any) -> Matrix:
        return Matrix([[float((7 * r + 3 * c) % (high - low) + low) for c in range(size[1])] for r in range(size[0])])

    def properties(index: int) -> Any:
        if devices[index].get("dead"):
            raise RuntimeError("HIP error: device lost\nmore")
        return SimpleNamespace(name="GPU", multi_processor_count=256, major=9, minor=0, **devices[index]["properties"])

    cuda = SimpleNamespace(
        is_available=lambda: bool(devices),
        device_count=lambda: len(devices),
        get_device_properties=properties,
        mem_get_info=lambda index: (devices[index]["free"] * GIB, devices[index]["total"] * GIB),
        can_device_access_peer=lambda one, other: not apart,
        synchronize=lambda device: None,
    )
    return SimpleNamespace(
        __version__="2.9.0",
        version=SimpleNamespace(hip=hip, cuda=None if hip else "13.0"),
        cuda=cuda,
        Generator=Generator,
        randint=randint,
        linalg=SimpleNamespace(norm=lambda m: math.sqrt(sum(v * v for row in m.rows for v in row))),
        backends=SimpleNamespace(cuda=SimpleNamespace(matmul=SimpleNamespace(allow_tf32=True))),
        arange=lambda number, device: Matrix([[1.0]]),
        equal=lambda one, other: True,
        float32="float32",
        bfloat16="bfloat16",
        float16="float16",
    )


MI355X = {"properties": {"gcnArchName": "gfx950:sramecc+:xnack-"}, "free": 286, "total": 288}
MI300X = {"properties": {"gcnArchName": "gfx942:sramecc+:xnack-"}, "free": 190, "total": 192}
H200 = {"properties": {}, "free": 139, "total": 140}


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

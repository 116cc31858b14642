"""As much of torch as the probe needs, with GPUs of any kind and with faults."""

from __future__ import annotations

import math
from pathlib import Path
from types import SimpleNamespace
from typing import Any

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
        # Small ones, whatever was asked for: Python multiplies them.
        rows, columns = (min(one, 6) for one in size)
        return Matrix([[float((7 * r + 3 * c) % (high - low) + low) for c in range(columns)] for r in range(rows)])

    def properties(index: int) -> Any:
        if devices[index].get("dead"):
            raise RuntimeError("HIP error: device lost\nmore")
        return SimpleNamespace(name="GPU", multi_processor_count=256, major=9, minor=0, **devices[index]["properties"])

    def free(index: int) -> float:
        file = Path(devices[index].get("free-file", "/nowhere"))
        return float(file.read_text(encoding="utf-8")) if file.exists() else devices[index]["free"]

    cuda = SimpleNamespace(
        is_available=lambda: bool(devices),
        device_count=lambda: len(devices),
        get_device_properties=properties,
        mem_get_info=lambda index: (free(index) * GIB, devices[index]["total"] * GIB),
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

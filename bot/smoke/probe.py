"""Looks at the GPUs of a machine with torch: which, how much memory, right products, who reaches whom.

Stands alone, as it is run by the engine's Python, which need not have botlint: only the standard library and torch.

    python -m botlint.smoke.probe --expect gfx950 --count 8
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

SIZE = 1024
"""Rows and columns of the matrices that are multiplied."""

TOLERANCES = {"float32": 1e-5, "bfloat16": 1e-2, "float16": 2e-3}
"""Relative error (Frobenius norm) up to which a product is right.

Inputs (eighths between -1 and 1) and all of their sums are exact in float32, so only the rounding of the result counts:
bfloat16 keeps 8 bits (2**-9 = 0.002), float16 11 (2**-12 = 0.0002). A margin allows for sums in parts.
"""

GIB = 1024**3


def look(size: int = SIZE, count: int | None = None, memory_only: bool = False, device: str = "gpu") -> dict[str, Any]:
    """What torch finds; an error of one device is told in its place and does not keep others from being looked at."""
    import torch

    report: dict[str, Any] = {
        "python": platform.python_version(),
        "torch": torch.__version__,
        "platform": _platform(torch),
        "runtime": torch.version.hip or torch.version.cuda,
        "devices": [],
        "peers": [],
        "errors": [],
    }
    if device == "cpu":
        if not memory_only:
            report["devices"].append({"index": 0, "name": platform.processor() or "CPU", "architecture": "cpu"})
            report["devices"][0]["products"] = _products(torch, "cpu", size, report["errors"])
        return report
    number = torch.cuda.device_count() if torch.cuda.is_available() else 0
    report["count"] = number
    looked_at = number if count is None else min(count, number)
    for index in range(looked_at):
        found: dict[str, Any] = {"index": index}
        report["devices"].append(found)
        try:
            found.update(_device(torch, index))
            if not memory_only:
                found["products"] = _products(torch, f"cuda:{index}", size, report["errors"])
        except RuntimeError as error:
            report["errors"].append(f"device {index}: {_first_line(error)}")
    if not memory_only:
        report["peers"] = _peers(torch, looked_at, report["errors"])
    return report


def judge(
    report: dict[str, Any], expect: str | None, count: int, memory_gb: float | None = None, share: float | None = None
) -> list[str]:
    """Why a machine is not fit: not of the expected architecture, too few devices, too little memory, wrong products.

    `memory_gb` is that of one device as sold; `share` is the part of it that a server will take.
    """
    devices = report["devices"]
    number = report.get("count", len(devices))
    problems = list(report["errors"])
    if number < count:
        problems.append(f"{number} devices, {count} are needed")
    for device in devices[:count]:
        place = f"device {device['index']}"
        architecture = device.get("architecture")
        if expect is not None and architecture is not None and architecture != expect:
            problems.append(f"{place} is {architecture} ({device.get('name')}), the job is for {expect}")
        total, free = device.get("memory_gb"), device.get("free_gb")
        if total is not None and memory_gb is not None and total < 0.85 * memory_gb:
            problems.append(f"{place} has {total:.0f} GB of memory, {memory_gb:.0f} are expected (a partition?)")
        if total is not None and free is not None and share is not None and free < share * total:
            problems.append(
                f"{place} has {free:.0f} of {total:.0f} GB free, the server takes {share:.0%}: something else is on it"
            )
        problems.extend(
            f"{place}: a product in {product['dtype']} is wrong: relative error {product['error']:.2g}"
            for product in device.get("products", ())
            if not product["right"]
        )
    problems.extend(
        f"device {peer['from']} does not reach device {peer['to']}"
        for peer in report["peers"]
        if not peer["copied"] and peer["from"] < count and peer["to"] < count
    )
    return problems


def _platform(torch: Any) -> str:
    if torch.version.hip:
        return "rocm"
    return "cuda" if torch.version.cuda else "cpu"


def _device(torch: Any, index: int) -> dict[str, Any]:
    properties = torch.cuda.get_device_properties(index)
    architecture = getattr(properties, "gcnArchName", "") if torch.version.hip else ""
    free, total = torch.cuda.mem_get_info(index)
    return {
        "name": properties.name,
        "architecture": architecture.partition(":")[0] or f"sm{properties.major}{properties.minor}",
        "memory_gb": round(total / GIB, 2),
        "free_gb": round(free / GIB, 2),
        "processors": properties.multi_processor_count,
    }


def _products(torch: Any, device: str, size: int, errors: list[str]) -> list[dict[str, Any]]:
    """Products of the same small integers in each type, against the exact one that the CPU makes in float64."""
    generator = torch.Generator().manual_seed(1)
    left, right = (torch.randint(-8, 9, (size, size), generator=generator).double() / 8 for _ in range(2))
    exact = left @ right
    norm = float(torch.linalg.norm(exact))
    # Sums in short types would be another product than the one that is checked.
    matmul = torch.backends.cuda.matmul
    matmul.allow_tf32 = False
    matmul.allow_bf16_reduced_precision_reduction = False
    matmul.allow_fp16_reduced_precision_reduction = False
    found = []
    for name, tolerance in TOLERANCES.items():
        if device == "cpu" and name != "float32":
            # Some processors announce instructions for short types and do not have them: the process would end.
            continue
        try:
            dtype = getattr(torch, name)
            a, b = (matrix.to(device=device, dtype=dtype) for matrix in (left, right))
            _wait(torch, a @ b, device)
            started = time.perf_counter()
            product = _wait(torch, a @ b, device)
            seconds = time.perf_counter() - started
            error = float(torch.linalg.norm(product.cpu().double() - exact)) / norm
        except RuntimeError as failure:
            errors.append(f"{device}: a product in {name} fails: {_first_line(failure)}")
            continue
        found.append(
            {
                "dtype": name,
                # A product with a value that is no number has an error that is none either.
                "error": error if error == error else 1e9,
                "right": error <= tolerance,
                "ms": round(seconds * 1000, 3),
                "tflops": round(2 * size**3 / seconds / 1e12, 2),
            }
        )
    return found


def _peers(torch: Any, count: int, errors: list[str]) -> list[dict[str, Any]]:
    """For each ordered pair of devices: whether one may read the other's memory, and whether a copy arrives."""
    found = []
    for one in range(count):
        for other in range(count):
            if one == other:
                continue
            try:
                direct = bool(torch.cuda.can_device_access_peer(one, other))
                sent = torch.arange(1 << 20, device=f"cuda:{one}")
                arrived = bool(torch.equal(sent.cpu(), sent.to(f"cuda:{other}").cpu()))
            except RuntimeError as error:
                errors.append(f"device {one} to {other}: {_first_line(error)}")
                continue
            found.append({"from": one, "to": other, "direct": direct, "copied": arrived})
    return found


def _wait(torch: Any, value: Any, device: str) -> Any:
    if device != "cpu":
        torch.cuda.synchronize(device)
    return value


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0][:300]


def main(argv: list[str] | None = None) -> int:
    """The command line; 0 if the machine is fit, 1 if not, 3 if there is no torch."""
    parser = argparse.ArgumentParser(prog="botlint.smoke.probe", description="Look at the GPUs of this machine.")
    parser.add_argument("--expect", metavar="ARCH", help="gfx950, sm90 ...: what every device must be")
    parser.add_argument("--count", type=int, help="devices that are needed, and looked at (default: all)")
    parser.add_argument("--memory-gb", type=float, help="memory of a device, as sold")
    parser.add_argument("--share", type=float, help="the part of the memory that a server takes (0.9)")
    parser.add_argument("--size", type=int, default=SIZE, help=f"rows of the matrices (default: {SIZE})")
    parser.add_argument("--device", choices=["gpu", "cpu"], default="gpu")
    parser.add_argument("--memory-only", action="store_true", help="only how much memory is free")
    parser.add_argument("--output", metavar="FILE", help="write the report there instead of stdout")
    given = parser.parse_args(argv)
    try:
        report = look(given.size, given.count, given.memory_only, given.device)
    except ImportError as error:
        report = {"devices": [], "peers": [], "count": 0, "errors": [f"no torch in {sys.executable}: {error}"]}
    problems = judge(report, given.expect, given.count or 1, given.memory_gb, given.share)
    report["problems"] = problems
    text = json.dumps(report, indent=1)
    if given.output:
        Path(given.output).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)
    if "torch" not in report:
        return 3
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

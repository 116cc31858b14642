"""What a GPU node has, from `schemas/catalogs/hardware.json`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, Literal

from botlint.catalogs.catalog import read_data

Format = Literal["bf16", "fp16", "fp8", "int8", "mxfp4", "mxfp6", "mxfp8", "nvfp4"]


@dataclass(frozen=True, slots=True)
class Hardware:
    """One kind of GPU and its usual node.

    `memory_gb` is per GPU, as sold; `gpus_per_domain` counts the GPUs that one scale-up fabric joins; `formats` are
    those of the matrix units (an engine may emulate others by weight-only kernels); `fp8` says which of the two
    encodings FP8 has. `sources` gives the address behind a fact.
    """

    key: str
    name: str
    vendor: Literal["amd", "nvidia"]
    platform: Literal["cuda", "rocm"]
    architecture: str
    target: str
    memory_gb: int
    gpus_per_node: int
    gpus_per_domain: int
    formats: tuple[Format, ...]
    fp8: Literal["ocp", "fnuz"]
    host: Literal["x86_64", "arm64"]
    sources: Mapping[str, str]
    compute_capability: str | None = None

    def meets(self, condition: str) -> bool | None:
        """Return whether the compute capability meets a condition (`>=8.0 <=12.1`, `9.x 10.x`); None off NVIDIA."""
        if self.compute_capability is None:
            return None
        mine = _numbers(self.compute_capability)
        terms = condition.split()
        majors = [term for term in terms if term.endswith(".x")]
        if majors:
            return f"{mine[0]}.x" in majors
        compare = {">=": mine.__ge__, "<=": mine.__le__, "==": mine.__eq__}
        return all(compare[term[:2]](_numbers(term[2:])) for term in terms)


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


@cache
def all_hardware() -> Mapping[str, Hardware]:
    """Return every kind of hardware by its key."""
    data = read_data("hardware.json")
    return MappingProxyType({key: _read(key, facts, data["sources"]) for key, facts in data["devices"].items()})


def _read(key: str, facts: dict[str, Any], sources: Mapping[str, str]) -> Hardware:
    named = {fact: sources[source] for fact, source in facts["sources"].items()}
    return Hardware(key=key, **{**facts, "formats": tuple(facts["formats"]), "sources": MappingProxyType(named)})


def find_hardware(label: str) -> Hardware | None:
    """Return the hardware that a runner label or a GPU name means (`mi355x-amds_01`, `cluster:h200-nb`), or None.

    The first word of the label that is a key counts.
    """
    known = all_hardware()
    for word in re.split(r"[^a-z0-9]+", label.lower()[:200]):
        if word in known:
            return known[word]
    return None

"""What a srt-slurm recipe launches, as plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown
from botlint.documents.yaml import Node, Scalar
from botlint.layouts.inferencex.srtslurm.origin import LineMap

Word: TypeAlias = "str | list[str | Unknown]"
Place: TypeAlias = "tuple[Scalar, Node]"

ROLES = ("prefill", "decode", "aggregate")


class Spans(Mapping[str, Span]):
    """Where a flag (`--name`), an environment variable or a setting was written; a span is computed when it is asked
    for.
    """

    __slots__ = ("_lines", "_places")

    def __init__(self, places: dict[str, Place], lines: LineMap | None) -> None:
        self._places = places
        self._lines = lines

    def __getitem__(self, name: str) -> Span:
        key, node = self._places[name]
        start = key.span
        end = node.span
        # The value of an aliased or merged entry is written elsewhere; then the key says enough.
        if (end.line, end.column) < (start.line, start.column):
            end = start
        span = Span(start.path, start.line, start.column, end.end_line, end.end_column)
        return span if self._lines is None else self._lines.original(span)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


@dataclass(frozen=True, slots=True)
class Resources:
    """Nodes, workers and GPUs by role (`prefill`, `decode`, `aggregate`; only the roles with workers)."""

    gpu_type: str | None
    gpus_per_node: int
    nodes: dict[str, int]
    workers: dict[str, int]
    gpus_per_worker: dict[str, int]
    total_nodes: int


@dataclass(frozen=True, slots=True)
class Role:
    """The workers of one role; `argv` and `env` are those of the first process of the first worker.

    `runtime_env` names the variables that srtctl sets to something only the run knows. `settings` is the backend's
    section for the role as it is written (for TensorRT-LLM the engine configuration, which is no flag). `reason` says
    why `argv` is empty.
    """

    name: str
    workers: int
    gpus_per_worker: int
    nodes_per_worker: int
    processes_per_worker: int
    argv: list[Word]
    env: dict[str, str]
    runtime_env: dict[str, Unknown]
    settings: dict[str, object]
    spans: Spans
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Frontend:
    """The router in front of the workers; `count` processes of it are started (none where a worker is the public
    server).
    """

    type: str
    count: int
    argv: list[Word]
    env: dict[str, str]
    spans: Spans


@dataclass(frozen=True, slots=True)
class Benchmark:
    """The client; `settings` holds every key of the block as it is written."""

    type: str
    isl: int | None
    osl: int | None
    concurrencies: list[int]
    command: str | None
    env: dict[str, str]
    settings: dict[str, object]


@dataclass(frozen=True, slots=True)
class SrtRecipe:
    """One job that `srtctl apply` submits; `others` are further jobs of the same command (variants of a file)."""

    path: str
    variant: str | None
    name: str | None
    backend: str
    container: str | None
    model_path: str | None
    served_model_name: str | None
    resources: Resources
    roles: list[Role]
    frontend: Frontend
    benchmark: Benchmark
    setup_script: str | None
    dynamo: dict[str, object]
    release: str
    spans: Spans
    problems: list[Problem]
    others: list[SrtRecipe] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Cluster:
    """What srtslurm.yaml says about names: aliases of model paths and container images."""

    path: str
    model_paths: dict[str, str]
    containers: dict[str, str]
    problems: list[Problem] = field(default_factory=list)

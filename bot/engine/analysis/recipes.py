"""srt-slurm recipes as rules see them: which file a setting names, and what the workers of its jobs are told.

Nothing is rendered here: sizes and switches are read from the backend's sections as they are written, and a setting
that is not there is not guessed. Which words mean what: RECIPES.md of the public repository and the argument parsers of
SGLang and vLLM; TensorRT-LLM's engine configuration has its own names.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from botlint.core.span import Problem, Span
from botlint.documents import yaml
from botlint.layouts.inferencex.configs import first_line
from botlint.layouts.inferencex.srtslurm import split_argument
from botlint.layouts.inferencex.srtslurm.topology import SHORT, place, resources_of
from botlint.layouts.inferencex.srtslurm.tree import Branch, Budget, Item, TooLargeError, branch_of, child
from botlint.layouts.inferencex.srtslurm.variants import SelectionError, select

if TYPE_CHECKING:
    from botlint.engine.context import Context
    from botlint.repo.files import Files

FOLDER = "benchmarks/multi_node/srt-slurm-recipes"
"""Where the repository keeps the recipes that launchers lay over a checkout of srt-slurm."""

UPSTREAM = "recipes/"
"""The folder of that checkout."""

SETTINGS = ("CONFIG_FILE", "EVAL_CONFIG_FILE")
"""The settings of an arm that name a recipe; the second is for accuracy runs."""

SECTIONS = {"prefill": "prefill", "decode": "decode", "aggregate": "aggregated"}

_COPY = re.compile(
    r"\bcp\s+(?:-\w+\s+)*[\"']?\$\{?GITHUB_WORKSPACE\}?/" + re.escape(FOLDER) + r"/([\w./-]+)[\"']?\s+(?:\\\n\s*)?"
    r"[\"']?(?:\$\{?\w+\}?/)?(recipes/[\w./-]+)[\"']?"
)
_NUMBERS = (
    "gpus_per_node",
    *(f"{short}_{what}" for short in SHORT.values() for what in ("nodes", "workers")),
    *(f"gpus_per_{short}" for short in SHORT.values()),
)
_DIGITS = re.compile(r"\d{1,9}")
MAX_CONCURRENCIES = 1_000


# ------------------------------------------------------------------------------------------------------------- finding


def recipe_paths(files: Files) -> list[str]:
    """All recipes of the repository."""
    return [path for path in files.paths(FOLDER) if path.endswith((".yaml", ".yml"))]


@dataclass(frozen=True, slots=True)
class Copy:
    """A launcher's copy of a folder of the repository to a folder of the checkout."""

    launcher: str
    source: str
    target: str

    def of(self, name: str) -> str | None:
        """The repository's file that the copy puts under a name; None if the name is not in its folder."""
        return f"{FOLDER}/{self.source}{name[len(self.target) :]}" if name.startswith(f"{self.target}/") else None


@dataclass(frozen=True, slots=True)
class Overlays:
    """Which folders of the repository launchers copy to which folders of the checkout, and what there is."""

    paths: frozenset[str]
    copies: tuple[Copy, ...]
    folders: Mapping[str, tuple[str, ...]]

    def find(self, written: str, launchers: Collection[str] = ()) -> str | None:
        """The repository's file for a recipe as a setting names it; None where the repository has none.

        What the job's own launchers copy to that name comes first: two launchers may put different folders there.
        """
        name = written.removeprefix("./")
        if name in self.paths:
            return name
        same = f"{FOLDER}/{name.removeprefix(UPSTREAM)}"
        own = self._copied(name, [copy for copy in self.copies if copy.launcher in launchers])
        if own and same not in own:
            return own[0]
        if same in self.paths:
            return same
        return next(iter(self._copied(name, self.copies)), None)

    def _copied(self, name: str, copies: Iterable[Copy]) -> list[str]:
        return [path for copy in copies if (path := copy.of(name)) in self.paths and path is not None]

    def neighbours(self, written: str) -> list[str]:
        """The recipes that the repository has in the folder in which the named one would be."""
        name = written.removeprefix("./")
        below = name if name.startswith(f"{FOLDER}/") else f"{FOLDER}/{name.removeprefix(UPSTREAM)}"
        folders = {below.rpartition("/")[0]}
        folders.update(path.rpartition("/")[0] for copy in self.copies if (path := copy.of(name)) is not None)
        return sorted(path for folder in folders for path in self.folders.get(folder, ()))


def overlays(context: Context) -> Overlays:
    """The recipes of the revision and the copies that its launchers make, read from their `cp` commands."""
    copies: dict[Copy, None] = {}
    for path in context.files.paths("runners"):
        if path.endswith(".sh"):
            source = context.files.text(path)
            for match in _COPY.finditer(source.text) if source is not None else ():
                copies[Copy(path, match[1].rstrip("/"), match[2].rstrip("/"))] = None
    paths = recipe_paths(context.files)
    folders: dict[str, list[str]] = {}
    for path in paths:
        folders.setdefault(path.rpartition("/")[0], []).append(path)
    return Overlays(frozenset(paths), tuple(copies), {name: tuple(found) for name, found in folders.items()})


def as_recipe_path(argument: str) -> tuple[str, str | None]:
    """Path and selector of a setting's value."""
    return split_argument(argument)


# ------------------------------------------------------------------------------------------------------------- reading


@dataclass(frozen=True, slots=True)
class RecipeFile:
    """A recipe as it is written; `problem` says why it has no mapping to look at."""

    path: str
    root: Branch
    problems: tuple[Problem, ...]

    def jobs(self, selector: str | None) -> list[RecipeJob]:
        """The jobs that a selector makes of it; none where srtctl would refuse it."""
        try:
            variants = select(self.root, selector, Budget())
        except (SelectionError, TooLargeError):
            return []
        return [RecipeJob(self.path, variant.label, variant.branch) for variant in variants]

    def refusal(self, selector: str | None) -> str | None:
        """Why srtctl would refuse the selector."""
        try:
            select(self.root, selector, Budget())
        except (SelectionError, TooLargeError) as error:
            return str(error) or "more entries than a recipe can have"
        return None


def recipe_file(context: Context, path: str) -> RecipeFile | None:
    """A recipe of the revision; None if there is no such text file."""
    return context.of_file("recipe", path, lambda _, path: _recipe_file(path, context.yaml(path)))


def _recipe_file(path: str, document: yaml.YamlDocument | None) -> RecipeFile | None:
    if document is None:
        return None
    root: Branch = {}
    # A file whose blocks are partly lost says nothing reliable about the rest.
    if isinstance(document.root, yaml.Mapping) and not document.lost:
        try:
            root = branch_of(document.root, Budget())
        except TooLargeError:
            root = {}
    return RecipeFile(path, root, tuple(document.problems))


def recipe_files(context: Context) -> dict[str, RecipeFile]:
    """All recipes of the revision by path."""
    found = ((path, recipe_file(context, path)) for path in recipe_paths(context.files))
    return {path: recipe for path, recipe in found if recipe is not None}


def item_span(item: Item | None) -> Span | None:
    """Where an entry is written: from its key to its value, on the key's line."""
    if item is None:
        return None
    start, end = item.key.span, item.node.span
    if start.path == end.path and (end.line, end.column) >= (start.line, start.column):
        return first_line(Span(start.path, start.line, start.column, end.end_line, end.end_column))
    return start


def plain_text(item: Item | None) -> str | None:
    """A single value as text."""
    if item is None or item.branch is not None or item.is_null:
        return None
    plain = item.plain
    return plain if isinstance(plain, str) else None if isinstance(plain, list | dict) else str(plain)


def whole_number(item: Item | None) -> int | None:
    """A whole number, also when it is written as text."""
    if item is None:
        return None
    plain = item.plain
    if isinstance(plain, bool):
        return None
    if isinstance(plain, int):
        return plain
    return int(plain) if isinstance(plain, str) and _DIGITS.fullmatch(plain.strip()) else None


def truth(item: Item | None) -> bool | None:
    """True or false; None where it is neither."""
    if item is None:
        return None
    plain = item.plain
    if isinstance(plain, bool):
        return plain
    return {"true": True, "false": False}.get(plain.strip().lower()) if isinstance(plain, str) else None


@dataclass(frozen=True, slots=True, eq=False)
class Section:
    """The settings of one role under their names with `-`."""

    backend: str
    items: Mapping[str, Item]

    def first(self, *names: str) -> Item | None:
        """The first of several names that is set."""
        return next((self.items[name] for name in names if name in self.items), None)

    def number(self, *names: str) -> int | None:
        return whole_number(self.first(*names))

    def json(self, name: str) -> dict[str, object] | None:
        """A setting that is a mapping or JSON text of one."""
        item = self.items.get(name)
        if item is None:
            return None
        plain = item.plain
        if isinstance(plain, str):
            try:
                plain = json.loads(plain)
            except (ValueError, RecursionError):
                return None
        return plain if isinstance(plain, dict) else None


_TENSOR = ("tensor-parallel-size", "tp-size", "tp")
_DATA = ("data-parallel-size", "dp-size", "dp")
_EXPERT = ("expert-parallel-size", "ep-size", "ep", "moe-expert-parallel-size")
_PIPELINE = ("pipeline-parallel-size", "pp-size", "pp")
_CONTEXT = ("context-length", "max-model-len", "max-seq-len")


@dataclass(frozen=True, slots=True, eq=False)
class RecipeRole:
    """The workers of one role: GPUs from `resources`, sizes from the backend's section (None: not said)."""

    name: str
    workers: int
    nodes: int
    gpus_per_worker: int
    section: Section

    @property
    def tp(self) -> int:
        return self.section.number(*_TENSOR) or 1

    @property
    def dp(self) -> int:
        return self.section.number(*_DATA) or 1

    @property
    def pp(self) -> int:
        return self.section.number(*_PIPELINE) or 1

    @property
    def attention_dp(self) -> bool:
        """Whether attention runs data-parallel: each rank holds whole requests."""
        section = self.section
        if section.backend == "trtllm":
            return truth(section.first("enable-attention-dp")) is True
        if section.backend == "vllm":
            return self.dp > 1
        return truth(section.first("enable-dp-attention")) is True and self.dp > 1

    @property
    def world(self) -> int:
        """The GPUs that the engine of one worker uses."""
        return self.tp * self.pp * (self.dp if self.section.backend == "vllm" else 1)

    @property
    def ep(self) -> int:
        """Over how many GPUs the experts are spread."""
        section = self.section
        if section.backend == "vllm":
            return self.tp * self.dp if truth(section.first("enable-expert-parallel")) is True else 1
        return section.number(*_EXPERT) or 1

    @property
    def context(self) -> int | None:
        """The longest sequence that the worker takes, where it is said."""
        return self.section.number(*_CONTEXT)

    def place(self, *names: str) -> Span | None:
        """Where the first of some settings is written."""
        return item_span(self.section.first(*names))

    @property
    def tp_place(self) -> Span | None:
        return self.place(*_TENSOR, *_DATA)

    @property
    def ep_place(self) -> Span | None:
        return self.place(*_EXPERT, "enable-expert-parallel")

    @property
    def attention_dp_place(self) -> Span | None:
        return self.place("enable-attention-dp", "enable-dp-attention", *_DATA)

    @property
    def context_place(self) -> Span | None:
        return self.place(*_CONTEXT)

    # ---- speculation and offload: the setting that turns it on, None where it is off

    @property
    def speculation(self) -> Item | None:
        section = self.section
        if section.backend == "trtllm":
            return section.items.get("speculative-config") if section.json("speculative-config") else None
        if section.backend == "vllm":
            item = section.items.get("speculative-config")
            return None if item is None or item.is_null else item
        # The parser takes an unambiguous beginning of a flag's name.
        item = section.first("speculative-algorithm", "speculative-algo")
        return None if item is None or item.is_null else item

    @property
    def offload(self) -> Item | None:
        """What gives the worker a KV cache in host memory."""
        section = self.section
        if section.backend == "trtllm":
            item = section.items.get("kv-cache-config")
            size = item.branch.get("host_cache_size") if item is not None and item.branch is not None else None
            return size if (whole_number(size) or 0) > 0 else None
        if section.backend == "sglang":
            item = section.items.get("enable-hierarchical-cache")
            return item if truth(item) is True else None
        for name in ("kv-offloading-size", "cpu-offload-kv-gb"):
            if (section.number(name) or 0) > 0:
                return section.items[name]
        connectors = connector_names(section.json("kv-transfer-config"))
        return section.items["kv-transfer-config"] if connectors & HOST_CONNECTORS else None


HOST_CONNECTORS = frozenset(
    {
        "OffloadingConnector",
        "SimpleCPUOffloadConnector",
        "LMCacheConnectorV1",
        "LMCacheMPConnector",
        "MooncakeStoreConnector",
        "FlexKVConnectorV1",
        "HiSparseConnector",
    }
)
"""Connectors of vLLM that keep KV blocks outside the GPU (distributed/kv_transfer/kv_connector/factory.py)."""


def connector_names(config: Mapping[str, object] | None) -> frozenset[str]:
    """The connectors that a KV transfer configuration names, those inside a MultiConnector included."""
    names: set[str] = set()
    stack: list[object] = [config]
    for _ in range(64):
        if not stack:
            break
        one = stack.pop()
        if not isinstance(one, dict):
            continue
        name, extra = one.get("kv_connector"), one.get("kv_connector_extra_config")
        if isinstance(name, str):
            names.add(name)
        inner = extra.get("connectors") if isinstance(extra, dict) else None
        stack.extend(inner if isinstance(inner, list) else ())
    return frozenset(names)


@dataclass(eq=False)
class RecipeJob:
    """One job of a recipe."""

    path: str
    variant: str | None
    branch: Branch

    @cached_property
    def backend(self) -> str:
        return plain_text(child(self.branch, "backend").get("type")) or "sglang"

    @cached_property
    def container(self) -> Item | None:
        return child(self.branch, "model").get("container")

    @cached_property
    def resources(self) -> Branch:
        return child(self.branch, "resources")

    @cached_property
    def benchmark(self) -> Branch:
        return child(self.branch, "benchmark")

    @cached_property
    def roles(self) -> tuple[RecipeRole, ...]:
        numbers = {name: whole_number(self.resources.get(name)) for name in _NUMBERS}
        resources = resources_of(numbers, None)
        sections = child(child(self.branch, "backend"), f"{self.backend}_config")
        return tuple(
            RecipeRole(
                name,
                workers,
                resources.nodes.get(name, 0),
                resources.gpus_per_worker[name],
                Section(
                    self.backend,
                    {key.replace("_", "-"): item for key, item in child(sections, SECTIONS[name]).items()},
                ),
            )
            for name, workers in resources.workers.items()
        )

    @cached_property
    def gpus_per_node(self) -> int:
        return whole_number(self.resources.get("gpus_per_node")) or 4

    @cached_property
    def shortage(self) -> str | None:
        """Why the workers do not fit on the nodes."""
        numbers = {name: whole_number(self.resources.get(name)) for name in _NUMBERS}
        backend = child(self.branch, "backend")
        spread, separate = (truth(self.resources.get(name)) is True for name in ("spread_workers", "het_jobs"))
        shares = truth(backend.get("allow_prefill_decode_colocation")) is True
        return place(resources_of(numbers, None), spread, shares, separate)[1]

    @cached_property
    def concurrencies(self) -> tuple[int, ...] | None:
        """The client's concurrencies; None where the recipe says none or they cannot be told."""
        item = self.benchmark.get("concurrencies")
        plain = None if item is None else item.plain
        parts = plain if isinstance(plain, list) else None if plain is None else str(plain).split("x")
        if (
            not parts
            or len(parts) > MAX_CONCURRENCIES
            or not all(_DIGITS.fullmatch(str(part).strip()) for part in parts)
        ):
            return None
        return tuple(int(part) for part in parts)

    def length(self, name: str) -> int | None:
        """`isl` or `osl` of the client."""
        return whole_number(self.benchmark.get(name))


def job_role(job: RecipeJob, role: str) -> RecipeRole | None:
    """The recipe's workers for a role of an arm: aggregate workers are an arm's prefill workers."""
    by_name = {one.name: one for one in job.roles}
    if "aggregate" in by_name and "prefill" not in by_name:
        return by_name["aggregate"] if role == "prefill" else None
    return by_name.get(role)


# ------------------------------------------------------------------------------------------------------------ images

_IMAGE = re.compile(r"(?:docker://)?(?:docker\.io[/#])?(?P<rest>\S+)")


def same_image(one: str, other: str) -> bool:
    """Whether two texts name the same image: enroot writes `registry#name`, Docker Hub needs no registry."""
    return _canonical(one) == _canonical(other)


def _canonical(image: str) -> str:
    match = _IMAGE.fullmatch(image.strip())
    rest = match["rest"] if match else image
    return rest.replace("#", "/", 1)


def is_image(text: str) -> bool:
    """Whether a container is written as an image (`owner/name`), not as an alias of srtslurm.yaml or a file."""
    return "/" in text and not text.startswith(("/", "$", ".")) and not text.endswith(".sqsh")


_ALIAS = re.compile(
    r"^[ \t]+[\"']?(?P<name>[^\s\"'$:]+(?::[^\s\"'$:]+)?)[\"']?:[ \t]+[\"']?\$\{?\w*SQUASH", re.MULTILINE
)


def container_aliases(context: Context) -> frozenset[str]:
    """The names that launchers map to an image file of their own in the settings of srtctl."""
    found: set[str] = set()
    for path in context.files.paths("runners"):
        source = context.files.text(path) if path.endswith(".sh") else None
        if source is not None:
            found.update(match["name"] for match in _ALIAS.finditer(source.text))
    return frozenset(found)

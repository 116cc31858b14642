"""Reads a srt-slurm recipe: the jobs that `srtctl apply -f PATH[:SELECTOR]` submits, role by role, as command lines.

srt-slurm (github.com/NVIDIA/srt-slurm) turns a recipe into a batch job that starts every worker through `srun ... bash
-c`. Line numbers in this package are those of its revision c88ef7316368.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from botlint.core.span import Problem, Span
from botlint.core.unknown import Unknown
from botlint.documents.yaml import Mapping, YamlDocument, load_yaml
from botlint.layouts.inferencex.srtslurm import commands
from botlint.layouts.inferencex.srtslurm.commands import EVERY_ADDRESS, Command, CommandError, Job, flag_name
from botlint.layouts.inferencex.srtslurm.environment import worker_environment
from botlint.layouts.inferencex.srtslurm.keys import unknown_keys
from botlint.layouts.inferencex.srtslurm.model import (
    ROLES,
    Benchmark,
    Cluster,
    Frontend,
    Place,
    Resources,
    Role,
    Spans,
    SrtRecipe,
    Word,
)
from botlint.layouts.inferencex.srtslurm.origin import LineMap
from botlint.layouts.inferencex.srtslurm.releases import Release, release
from botlint.layouts.inferencex.srtslurm.topology import SHORT, Placement, place, resources_of
from botlint.layouts.inferencex.srtslurm.tree import Branch, Budget, Item, TooLargeError, branch_of, child
from botlint.layouts.inferencex.srtslurm.variants import SelectionError, Variant, select

BACKENDS: dict[str, Callable[[Job, str, dict[str, object], Placement], Command]] = {
    "sglang": commands.sglang,
    "vllm": commands.vllm,
    "trtllm": commands.trtllm,
}
DEFAULT_BACKEND = "sglang"
_NUMBERS = (
    "gpus_per_node",
    *(f"{short}_{what}" for short in SHORT.values() for what in ("nodes", "workers")),
    *(f"gpus_per_{short}" for short in SHORT.values()),
)
_NO_RESOURCES = resources_of({}, None)
_DIGITS = re.compile(r"\s*[-+]?\d{1,9}\s*")


def read_recipe(
    text: str,
    path: str,
    selector: str | None = None,
    *,
    cluster: Cluster | None = None,
    ref: str | None = None,
    origin: LineMap | None = None,
) -> SrtRecipe:
    """Reads the recipe in `text`; never raises, what could not be read is in `problems` and in the roles' `reason`.

    `cluster` resolves aliases (without it the model's path is not known), `ref` is the git reference of srt-slurm that
    renders the commands (see `releases`), `origin` leads the spans of an edited copy back to the file that it was
    copied from.
    """
    document = load_yaml(text, path)
    problems = list(document.problems)
    if origin is not None:
        problems = [replace(problem, span=origin.original(problem.span)) for problem in problems]
    variants = _variants(document, path, selector, problems)
    if not variants:
        return _empty(path, ref, problems)
    jobs = [_Reader(path, cluster, release(ref), origin).job(variant, list(problems)) for variant in variants]
    return jobs[0] if len(jobs) == 1 else replace(jobs[0], others=jobs[1:])


def read_cluster(text: str, path: str) -> Cluster:
    """Reads the aliases of a srtslurm.yaml; never raises."""
    document = load_yaml(text, path)
    root = document.root
    if not isinstance(root, Mapping):
        return Cluster(path, {}, {}, [*document.problems, Problem("not a mapping", _start(path), "srt-shape")])
    return Cluster(path, _texts(root, "model_paths"), _texts(root, "containers"), list(document.problems))


def _texts(root: Mapping, name: str) -> dict[str, str]:
    section = root.get(name)
    if not isinstance(section, Mapping):
        return {}
    return {key.text: node.text for key, node in section.pairs() if hasattr(node, "text")}


def _variants(document: YamlDocument, path: str, selector: str | None, problems: list[Problem]) -> list[Variant]:
    if not isinstance(document.root, Mapping):
        if document.root is not None or not document.problems:
            problems.append(Problem("the recipe is not a mapping", _start(path), "srt-shape"))
        return []
    budget = Budget()
    try:
        root = branch_of(document.root, budget)
        variants = select(root, selector, budget)
    except TooLargeError:
        problems.append(Problem("more entries than a recipe can have", _start(path), "srt-size"))
        return []
    except SelectionError as error:
        problems.append(Problem(str(error), _start(path), "srt-selector"))
        return []
    if not variants:
        problems.append(
            Problem("the file has a base and no override, so nothing is submitted", _start(path), "srt-selector")
        )
    return variants


def _start(path: str) -> Span:
    return Span(path, 1, 1, 1, 1)


def _empty(path: str, ref: str | None, problems: list[Problem]) -> SrtRecipe:
    nothing = Spans({}, None)
    return SrtRecipe(
        path=path,
        variant=None,
        name=None,
        backend="",
        container=None,
        model_path=None,
        served_model_name=None,
        resources=_NO_RESOURCES,
        roles=[],
        frontend=Frontend("", 0, [], {}, nothing),
        benchmark=Benchmark("", None, None, [], None, {}, {}),
        setup_script=None,
        dynamo={},
        release=release(ref).name,
        spans=nothing,
        problems=problems,
    )


class _Reader:
    """Reads one job of a recipe."""

    def __init__(self, path: str, cluster: Cluster | None, of: Release, lines: LineMap | None) -> None:
        self.path = path
        self.cluster = cluster
        self.release = of
        self.lines = lines
        self.problems: list[Problem] = []

    def job(self, variant: Variant, problems: list[Problem]) -> SrtRecipe:
        self.problems = problems
        root = variant.branch
        for name in ("model", "resources"):
            if name not in root or root[name].branch is None:
                self.problem("srt-missing", f"the recipe has no mapping {name!r}", root.get(name))
        backend = child(root, "backend")
        backend_type = self.text(backend, "type") or DEFAULT_BACKEND
        for key, item in unknown_keys(root, backend_type, self.release):
            self.problem("srt-unknown-key", f"srt-slurm {self.release.name} refuses the key {key}", item)
        model, model_path = self.model(root)
        sections = child(backend, f"{backend_type}_config")
        served = self.served_name(sections, backend_type, model_path)
        resources = self.resources(root)
        frontend_item = child(root, "frontend")
        frontend_type = self.text(frontend_item, "type") or "dynamo"
        dynamo = child(root, "dynamo")
        plain_backend = {
            name: item.plain for name, item in backend.items() if not name.endswith(("_config", "_environment"))
        }
        if "kv_events_config" in backend:
            plain_backend["kv_events_config"] = backend["kv_events_config"].plain
        request_plane = self.release.default_request_plane
        if self.release.request_plane_flag:
            request_plane = self.text(dynamo, "request_plane") or request_plane
        job = Job(
            release=self.release,
            frontend=frontend_type,
            model_path=model_path,
            served_model_name=served,
            request_plane=request_plane,
            resources=resources,
            backend=plain_backend,
            stage_dir=self.text(model, "stage_dir"),
        )
        self.check_frontend(root, backend_type, frontend_type, frontend_item, resources)
        roles = self.roles(root, job, backend_type, sections)
        places: dict[str, Place] = {name: (item.key, item.node) for name, item in root.items()}
        places |= {f"model.{name}": (item.key, item.node) for name, item in model.items()}
        places |= {f"resources.{name}": (item.key, item.node) for name, item in child(root, "resources").items()}
        return SrtRecipe(
            path=self.path,
            variant=variant.label,
            name=self.text(root, "name"),
            backend=backend_type,
            container=self.alias(self.text(model, "container"), "containers"),
            model_path=model_path,
            served_model_name=served if isinstance(served, str) else None,
            resources=resources,
            roles=roles,
            frontend=self.frontend(frontend_type, frontend_item, resources),
            benchmark=self.benchmark(child(root, "benchmark")),
            setup_script=self.text(root, "setup_script"),
            dynamo={name: item.plain for name, item in dynamo.items()},
            release=self.release.name,
            spans=Spans(places, self.lines),
            problems=self.problems,
        )

    # -- pieces

    def problem(self, kind: str, message: str, item: Item | None = None) -> None:
        span = _start(self.path) if item is None else item.key.span
        self.problems.append(Problem(message, self.lines.original(span) if self.lines is not None else span, kind))

    def text(self, branch: Branch, name: str) -> str | None:
        """The text of an entry; None where there is none or it is no single value."""
        item = branch.get(name)
        if item is None or item.branch is not None or item.is_null:
            return None
        plain = item.plain
        return plain if isinstance(plain, str) else None if isinstance(plain, list) else str(plain)

    def number(self, branch: Branch, name: str) -> int | None:
        item = branch.get(name)
        if item is None or item.is_null:
            return None
        plain = item.plain
        if isinstance(plain, int) and not isinstance(plain, bool):
            return plain
        if isinstance(plain, str) and _DIGITS.fullmatch(plain):
            return int(plain)
        self.problem("srt-number", f"{name} is no whole number", item)
        return None

    def texts(self, branch: Branch) -> dict[str, str]:
        """The variables of an environment block; srtctl refuses a value that is no text."""
        found: dict[str, str] = {}
        for name, item in branch.items():
            plain = item.plain
            if isinstance(plain, str):
                found[name] = plain
            else:
                self.problem("srt-environment", f"the value of {name} must be a text; srtctl refuses the recipe", item)
        return found

    def alias(self, name: str | None, table: str) -> str | None:
        if name is None or self.cluster is None:
            return name
        known: dict[str, str] = getattr(self.cluster, table)
        return known.get(name, name)

    def model(self, root: Branch) -> tuple[Branch, str | None]:
        """The model block and the path that its alias stands for; None where no cluster file was given for an alias."""
        model = child(root, "model")
        written = self.text(model, "path")
        path = self.alias(written, "model_paths")
        if path is None or path.startswith(("/", "hf:", "$")):
            return model, path
        if self.cluster is None:
            return model, None
        if path == written:
            self.problem(
                "srt-model-alias",
                f"model.path {path!r} is neither an alias of srtslurm.yaml nor a path",
                model.get("path"),
            )
        return model, path

    def served_name(self, sections: Branch, backend: str, model_path: str | None) -> Word:
        """The name under which the model is served.

        Source: get_served_model_name of each backend (sglang.py line 207, vllm.py line 555, trtllm.py line 130).
        """
        if backend != "trtllm":
            for role in ("prefill", "aggregated", "decode"):
                section = child(sections, role)
                for key in ("served-model-name", "served_model_name"):
                    if name := self.text(section, key):
                        return name
        if model_path is None:
            return [Unknown("model path of srtslurm.yaml")]
        return model_path.removeprefix("hf:").rstrip("/").rpartition("/")[2]

    def resources(self, root: Branch) -> Resources:
        branch = child(root, "resources")
        numbers = {name: self.number(branch, name) for name in _NUMBERS}
        return resources_of(numbers, self.text(branch, "gpu_type"))

    def check_frontend(self, root: Branch, backend: str, kind: str, frontend: Branch, resources: Resources) -> None:
        """What srtctl refuses for the frontends that are a worker themselves (schema.py lines 1751 and 1775)."""
        required = {"vllm": "vllm", "trtllm_serve": "trtllm"}.get(kind)
        if required is None:
            return
        at = frontend.get("type")
        if backend != required:
            self.problem("srt-frontend", f"frontend.type {kind} needs backend.type {required}, not {backend}", at)
        multiple = frontend.get("enable_multiple_frontends")
        if multiple is None or multiple.plain is not False:
            self.problem("srt-frontend", f"frontend.type {kind} needs enable_multiple_frontends: false", multiple or at)
        roles = set(resources.workers)
        single = resources.workers.get("aggregate") == 1
        if kind == "vllm" and (roles != {"aggregate"} or not single):
            self.problem(
                "srt-frontend", "frontend.type vllm needs exactly one aggregate worker", at or root.get("resources")
            )
        if kind == "trtllm_serve" and not roles & {"prefill", "decode"} and not single:
            self.problem("srt-frontend", "frontend.type trtllm_serve needs exactly one aggregate worker", at)

    # -- roles

    def roles(self, root: Branch, job: Job, backend_type: str, sections: Branch) -> list[Role]:
        backend = child(root, "backend")
        render = BACKENDS.get(backend_type)
        failure: str | None = None
        if render is None:
            failure = f"srtctl knows no backend {backend_type!r}"
            self.problem("srt-backend", failure, backend.get("type"))
        if not job.resources.workers:
            self.problem("srt-resources", "the recipe has no workers", root.get("resources"))
        spread = self.text(child(root, "resources"), "spread_workers") == "True"
        separate = self.text(child(root, "resources"), "het_jobs") == "True"
        placements, shortage = place(job.resources, spread, self.shares_nodes(backend_type, job), separate)
        if shortage is not None:
            self.problem("srt-topology", shortage, root.get("resources"))
        profiling = self.text(child(root, "profiling"), "type") or "none"
        if profiling.startswith("nsys"):
            self.problem(
                "srt-profiling", "the profiler's prefix of the worker command is left out", root.get("profiling")
            )
        common = child(root, "environment")
        roles: list[Role] = []
        for name in ROLES:
            if name not in job.resources.workers:
                continue
            key = "aggregated" if name == "aggregate" else name
            section, variables = child(sections, key), child(backend, f"{key}_environment")
            settings = {entry: item.plain for entry, item in section.items()}
            reason, command = failure, Command([], 0, 0)
            placement = placements.get(name)
            if placement is None:
                reason = reason or shortage
            elif render is not None:
                try:
                    command = render(job, name, settings, placement)
                except CommandError as error:
                    reason = str(error)
                    self.problem("srt-command", reason, root.get("backend"))
            nested = (
                [entry for entry in section if isinstance(settings[entry], dict)] if backend_type != "trtllm" else []
            )
            for entry in nested:
                self.problem(
                    "srt-nested-flag", f"{entry} is a mapping, which srtctl writes as a Python value", section[entry]
                )
            own, shared = self.texts(variables), self.texts(common)
            known, at_run = worker_environment(
                job, backend_type, placement, command.gpus_per_process, own, shared, root
            )
            self.check_templates(backend_type, {**variables, **common}, {**own, **shared})
            places = _places(section, backend_type == "trtllm")
            places |= {entry: (item.key, item.node) for entry, item in {**variables, **common}.items()}
            roles.append(
                Role(
                    name=name,
                    workers=job.resources.workers[name],
                    gpus_per_worker=job.resources.gpus_per_worker[name],
                    nodes_per_worker=len(placement.nodes) if placement is not None else 0,
                    processes_per_worker=command.processes,
                    argv=command.argv,
                    env=known,
                    runtime_env=at_run,
                    settings=settings,
                    spans=Spans(places, self.lines),
                    reason=reason,
                )
            )
        return roles

    def shares_nodes(self, backend_type: str, job: Job) -> bool:
        """Whether decode workers are packed behind prefill (vllm.py, should_colocate_prefill_decode, line 566)."""
        resources = job.resources
        if backend_type != "vllm" or job.backend.get("allow_prefill_decode_colocation") is not True:
            return False
        if not {"prefill", "decode"} <= set(resources.workers):
            return False
        gpus = sum(count * resources.gpus_per_worker[role] for role, count in resources.workers.items())
        return (
            gpus <= resources.gpus_per_node or job.backend.get("allow_prefill_decode_colocation_across_nodes") is True
        )

    def check_templates(self, backend_type: str, items: Branch, values: dict[str, str]) -> None:
        """srtctl formats environment values of SGLang and vLLM workers; braces that are no placeholder stop the
        worker's start.
        """
        if backend_type == "trtllm":
            return
        for name, value in values.items():
            if ("{" in value or "}" in value) and not template(value):
                self.problem("srt-template", f"{name}: srtctl reads the braces as a placeholder", items[name])

    # -- frontend and client

    def frontend(self, kind: str, branch: Branch, resources: Resources) -> Frontend:
        """The router's command (frontends/dynamo.py line 50, frontends/sglang.py line 55)."""
        arguments = child(branch, "args")
        argv: list[Word] = []
        port: Word = [Unknown("port that srtctl allocates")]
        words = _frontend_arguments(arguments)
        if kind == "dynamo":
            argv = ["python3", "-m", "dynamo.frontend", ["--http-port=", Unknown("port that srtctl allocates")], *words]
        elif kind == "sglang":
            disaggregated = bool(set(resources.workers) & {"prefill", "decode"})
            workers: list[Word] = ["--pd-disaggregation"] if disaggregated else ["--worker-urls"]
            workers.append([Unknown("addresses of the workers")])
            argv = [
                "python",
                "-m",
                "sglang_router.launch_router",
                *workers,
                "--host",
                EVERY_ADDRESS,
                "--port",
                port,
                *words,
            ]
        multiple = branch.get("enable_multiple_frontends")
        count = 1
        if kind in ("vllm", "trtllm_serve"):
            count = 0 if kind == "vllm" else 1
        elif multiple is None or multiple.plain is not False:
            additional = self.number(branch, "num_additional_frontends")
            count += 9 if additional is None else additional
        places = {flag_name(name): (item.key, item.node) for name, item in arguments.items()}
        variables = child(branch, "env")
        places |= {name: (item.key, item.node) for name, item in variables.items()}
        places |= {name: (item.key, item.node) for name, item in branch.items() if name not in places}
        return Frontend(kind, count, argv, self.texts(variables), Spans(places, self.lines))

    def benchmark(self, branch: Branch) -> Benchmark:
        settings = {name: item.plain for name, item in branch.items()}
        return Benchmark(
            type=self.text(branch, "type") or "manual",
            isl=self.number(branch, "isl"),
            osl=self.number(branch, "osl"),
            concurrencies=_concurrencies(settings.get("concurrencies")),
            command=self.text(branch, "command"),
            env=self.texts(child(branch, "env")),
            settings=settings,
        )


_PLACEHOLDERS = re.compile(r"\{[A-Za-z_][A-Za-z0-9_]*\}")


def template(value: str) -> bool:
    """Whether every brace of an environment value belongs to a `{name}`."""
    rest = _PLACEHOLDERS.sub("", value)
    return "{" not in rest and "}" not in rest


def _frontend_arguments(arguments: Branch) -> list[Word]:
    words: list[Word] = []
    for name, item in arguments.items():
        plain = item.plain
        if plain is True:
            words.append(f"--{name}")
        elif plain is not False and plain is not None:
            words += [f"--{name}", str(plain)]
    return words


def _concurrencies(value: object) -> list[int]:
    """`4x8x16` or a list."""
    parts = [str(part) for part in value] if isinstance(value, list) else str(value).split("x")
    return [int(part) for part in parts if _DIGITS.fullmatch(part)]


def _places(section: Branch, nested: bool) -> dict[str, Place]:
    """Flags by `--name`; an engine configuration by dotted names."""
    if not nested:
        return {flag_name(name): (item.key, item.node) for name, item in section.items()}
    places: dict[str, Place] = {}
    stack: list[tuple[str, Branch]] = [("", section)]
    while stack:
        prefix, branch = stack.pop()
        for name, item in branch.items():
            places[prefix + name] = (item.key, item.node)
            if item.branch is not None:
                stack.append((f"{prefix}{name}.", item.branch))
    return places

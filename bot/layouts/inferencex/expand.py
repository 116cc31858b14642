"""From entries to rows: what the generator prints for a full sweep, before rows are chosen for evals."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import Decimal, DecimalException
from typing import Any

from botlint.core.span import Problem, Span
from botlint.documents import yaml
from botlint.layouts.inferencex.configs import ConfigEntry, Configs, Runners
from botlint.layouts.inferencex.generator_facts import AGENTIC, FIXED, GeneratorFacts, RowShape
from botlint.layouts.inferencex.job import Arm, Job, Row

STEP = 2

# Aliases let a small file stand for a very large matrix, so the result is bounded. The largest matrix of the
# public repository had 4,300 rows, and its arms have about 20 values.
MAX_CONCURRENCIES = 1_000
MAX_VALUES = 5_000_000

BYTES_PER_MIB = 1024 * 1024
BYTES_PER_GB = 1_000_000_000


class _RefusedError(Exception):
    """An arm for which the generator would fail; `place` is inside the arm."""

    def __init__(self, message: str, *place: str) -> None:
        super().__init__(message)
        self.message = message
        self.place = place


@dataclass(frozen=True, slots=True)
class _Context:
    """What the rows of one arm are made of."""

    facts: GeneratorFacts
    runners: Runners
    entry: dict[str, Any]
    config: dict[str, Any]
    arm: dict[str, Any]
    multi: bool


def base_jobs(configs: Configs, runners: Runners, problems: list[Problem]) -> list[Job]:
    """One job per row, in the generator's order; an arm that cannot be expanded adds a problem instead."""
    jobs: list[Job] = []
    left = MAX_VALUES
    for entry in configs.entries.values():
        for source, context in _arms(configs.facts, runners, entry):
            try:
                made = _arm_jobs(source, context)
            except _RefusedError as refusal:
                span = _place_in_arm(source, refusal.place)
                problems.append(Problem(f"{entry.name}: {refusal.message}", span, "arm-not-expanded"))
                continue
            left -= len(made) * _weight(context.arm, left)
            if left < 0:
                message = f"{entry.name}: the matrix is too large; arms from here on are not expanded"
                problems.append(Problem(message, source.node.span, "too-many-jobs"))
                return jobs
            jobs.extend(made)
    return jobs


def _weight(value: object, most: int) -> int:
    """How many values there are inside a value; counting stops above `most`."""
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    count = 1
    for item in items:
        count += _weight(item, most - count) if isinstance(item, dict | list) else 1
        if count > most:
            break
    return count


def _place_in_arm(source: Arm, place: tuple[str, ...]) -> Span:
    return (yaml.find(source.node, place) or source.node).span


def _arms(facts: GeneratorFacts, runners: Runners, entry: ConfigEntry) -> Iterator[tuple[Arm, _Context]]:
    values = entry.values
    if not isinstance(values, dict):
        return
    multi = bool(values.get("multinode", False))
    scenarios = values.get("scenarios")
    lists: list[tuple[str, tuple[str, ...]]] = [(FIXED, ("seq-len-configs",))]
    if isinstance(scenarios, dict):
        lists = [(name, ("scenarios", name)) for name in (FIXED, AGENTIC)]
    for scenario, place in lists:
        configs_node = yaml.find(entry.node, place)
        if not isinstance(configs_node, yaml.Sequence):
            continue
        index = 0
        for config_node, config in zip(configs_node.items, _at(values, place), strict=True):
            space = yaml.find(config_node, ("search-space",))
            if not isinstance(space, yaml.Sequence):
                continue
            for node, arm in zip(space.items, config["search-space"], strict=True):
                source = Arm(entry, scenario, index, config_node, node)
                index += 1
                if isinstance(arm, dict):
                    yield source, _Context(facts, runners, values, config, arm, multi)


def _at(values: Any, place: tuple[str, ...]) -> Any:
    for step in place:
        values = values[step]
    return values


def _arm_jobs(source: Arm, context: _Context) -> list[Job]:
    concurrencies = _concurrencies(context.arm)
    shape = context.facts.shapes[source.scenario, context.multi]
    template = _template(source, context, shape)
    batches: list[object]
    if not context.multi:
        batches = list(concurrencies)
        step = 1
    elif source.scenario == FIXED:
        batches, step = [concurrencies], 1
    elif context.facts.agentic_batch is None:
        batches, step = list(concurrencies), 1
    else:
        step = max(1, context.facts.agentic_batch)
        batches = [concurrencies[at : at + step] for at in range(0, len(concurrencies), step)]
    name = _experiment_name(source.scenario, context, template)
    jobs = []
    for position, conc in enumerate(batches):
        row = dict(template)
        row["conc"] = conc
        row["exp-name"] = name.replace("\0", _joined(conc))
        jobs.append(Job(source, row, position * step))
    return jobs


def _joined(conc: object) -> str:
    return "x".join(map(str, conc)) if isinstance(conc, list) else str(conc)


def _concurrencies(arm: dict[str, Any]) -> list[int]:
    """A list as it is written; a range doubles from its start, and its end always belongs to it."""
    listed = arm.get("conc-list")
    if listed:
        if not isinstance(listed, list):
            raise _RefusedError("'conc-list' must be a list", "conc-list")
        if len(listed) > MAX_CONCURRENCIES:
            raise _RefusedError(f"'conc-list' has more than {MAX_CONCURRENCIES} entries", "conc-list")
        return listed
    start, end = arm.get("conc-start"), arm.get("conc-end")
    if not isinstance(start, int) or not isinstance(end, int):
        raise _RefusedError("there is neither a 'conc-list' nor a range of integers 'conc-start' to 'conc-end'")
    if start <= 0:
        raise _RefusedError("'conc-start' must be greater than 0", "conc-start")
    values: list[int] = []
    conc = start
    while conc < end and len(values) < MAX_CONCURRENCIES:
        values.append(conc)
        conc *= STEP
    return [*values, end] if start <= end else []


def _template(source: Arm, context: _Context, shape: RowShape) -> Row:
    """The row without its concurrency and name: those two differ between the rows of an arm."""
    row: Row = {}
    for key in shape.keys:
        if key in shape.constants:
            row[key] = shape.constants[key]
        elif key == "scenario-type":
            row[key] = source.scenario
        else:
            read = _READERS.get(key)
            row[key] = _value_of_same_name(context, key) if read is None else read(context, key)
    if source.scenario == AGENTIC and not ("kv-offloading" in shape.constants and context.multi):
        for key in context.facts.late_keys:
            if context.arm.get(key) is not None:
                row[key] = context.arm[key]
    for key in context.facts.component_keys:
        value = context.arm.get(key, context.entry.get(key))
        if value is not None:
            row[key] = value
    return row


# How each value of a row is made; the keys are those of all generators so far.


def _of_entry(context: _Context, key: str) -> object:
    if key not in context.entry:
        raise _RefusedError(f"the entry has no '{key}'")
    return context.entry[key]


def _of_arm(context: _Context, key: str) -> object:
    if key not in context.arm:
        raise _RefusedError(f"the arm has no '{key}'")
    return context.arm[key]


def _length(context: _Context, key: str) -> int:
    value = context.config.get(key)
    if not isinstance(value, int):
        raise _RefusedError(f"'{key}' must be given as an integer")
    return value


def _size(context: _Context, key: str) -> object:
    return context.arm.get(key, 1)


def _expert_parallelism(context: _Context, key: str) -> object:
    value = context.arm.get(key)
    return 1 if value is None else value


def _attention_parallelism(context: _Context, key: str) -> object:
    value = context.arm.get(key)
    return False if value is None else value


def _none_by_default(context: _Context, key: str) -> object:
    return context.arm.get(key, "none")


def _offloading(context: _Context, key: str) -> object:
    return context.arm.get(key, "none") if context.multi else _of_arm(context, key)


def _worker(context: _Context, key: str) -> Row:
    worker = _of_arm(context, key)
    if not isinstance(worker, dict):
        raise _RefusedError(f"'{key}' must be a mapping", key)
    if not context.facts.worker_defaults:
        return worker
    return {**worker, **{size: worker.get(size, 1) for size in context.facts.worker_defaults}}


def _duration(context: _Context, key: str) -> object:
    default = context.facts.duration
    return context.config.get(key, default) if context.facts.duration_from_config else default


def _value_of_same_name(context: _Context, key: str) -> object:
    """A field of a later generator: its value can only come from the config's field of the same name."""
    return context.arm.get(key, context.config.get(key, context.entry.get(key)))


_READERS: dict[str, Callable[[_Context, str], object]] = {
    **dict.fromkeys(("image", "model", "model-prefix", "precision", "framework", "runner"), _of_entry),
    "isl": _length,
    "osl": _length,
    "max-model-len": lambda context, _: _length(context, "isl") + _length(context, "osl") + context.facts.length_margin,
    "tp": _of_arm,
    "pp": _size,
    "dcp-size": _size,
    "pcp-size": _size,
    "ep": _expert_parallelism,
    "dp-attn": _attention_parallelism,
    "spec-decoding": _none_by_default,
    "offloading": _none_by_default,
    "kv-offloading": _offloading,
    "prefill": _worker,
    "decode": _worker,
    "conc": lambda _context, _key: None,
    "exp-name": lambda _context, _key: None,
    "disagg": lambda context, key: context.entry.get(key, False),
    "run-eval": lambda _context, _key: False,
    "duration": _duration,
    "total-cpu-dram-gb": lambda context, _: dram_budget_gb(context),
}


def dram_budget_gb(context: _Context) -> int:
    """The CPU memory for offloaded KV blocks: the node's, scaled by utilization and the share of GPUs in use."""
    if context.arm.get("kv-offloading", "none") != "dram":
        return 0
    label = context.entry.get("runner")
    hardware = context.runners.hardware.get(str(label))
    if hardware is None:
        raise _RefusedError(f"runner label '{label}' has no hardware in the runner table", "kv-offloading")
    try:
        utilization = Decimal(str(context.config["dram-utilization"]))
        available = Decimal(min(hardware.available_cpu_dram_mib, context.facts.dram_cap_mib)) * BYTES_PER_MIB
        share = available * utilization * _gpus_used(context, hardware.gpus_per_node) / hardware.gpus_per_node
        return int(share / BYTES_PER_GB)
    except (KeyError, DecimalException, ValueError, OverflowError):
        raise _RefusedError("'kv-offloading: dram' needs a number as 'dram-utilization'", "kv-offloading") from None


def _gpus_used(context: _Context, per_node: int) -> int:
    worker = context.arm.get("prefill") if context.multi else context.arm
    gpus = 1
    for key in context.facts.dram_gpu_factors:
        factor = worker.get(key, 1) if isinstance(worker, dict) else None
        if not isinstance(factor, int) or factor <= 0:
            raise _RefusedError(f"'{key}' must be an integer greater than 0")
        gpus *= factor
    if not context.multi:
        if gpus > per_node:
            raise _RefusedError(f"the arm uses {gpus} GPUs, a node has {per_node}", "tp")
        return gpus
    fits = gpus % per_node == 0 if gpus > per_node else per_node % gpus == 0
    if not fits:
        raise _RefusedError(f"a prefill worker's {gpus} GPUs cannot fill nodes of {per_node} GPUs evenly", "prefill")
    return min(gpus, per_node)


def _experiment_name(scenario: str, context: _Context, row: Row) -> str:
    """The experiment's name, with a NUL where the concurrency goes (no YAML text can hold one)."""
    prefix = context.entry.get("model-prefix")
    if scenario == FIXED:
        lengths = (_length(context, "isl"), _length(context, "osl"))
        return f"{prefix}_{context.facts.sequence_names.get(lengths, f'{lengths[0]}_{lengths[1]}')}"
    if context.multi:
        flags = context.facts.agentic_name_has_worker_flags
        workers = "_".join(_worker_tag(context, role, with_flags=flags) for role in ("prefill", "decode"))
        offloaded = row.get("kv-offloading", "none") != "none"
        return f"{prefix}_{workers}_conc\0{'_' + _offload_tag(row) if offloaded else ''}"
    size = _of_arm(context, "tp")
    if "offloading" in row:
        return f"{prefix}_tp{size}_conc\0_offload{row['offloading']}"
    spec = row.get("spec-decoding", "none")
    suffix = f"_spec-{spec}" if context.facts.agentic_name_has_spec and spec != "none" else ""
    return f"{prefix}_tp{size}_conc\0_{_offload_tag(row)}{suffix}"


def _offload_tag(row: Row) -> str:
    kind = row.get("kv-offloading", "none")
    if kind == "none":
        return "kvnone"
    backend = row.get("kv-offload-backend")
    return f"kv{kind}-{backend.get('name') if isinstance(backend, dict) else backend}"


def _worker_tag(context: _Context, role: str, *, with_flags: bool) -> str:
    worker = _worker(context, role)
    for key in ("num-worker", "tp"):
        if key not in worker:
            raise _RefusedError(f"'{role}' has no '{key}'", role)
    tag = f"{role[0]}{worker['num-worker']}x{worker['tp']}"
    if with_flags:
        ep = worker.get("ep", 1)
        tag += f"{'' if ep == 1 else f'ep{ep}'}{'dpa' if worker.get('dp-attn', False) else ''}"
    return tag

"""Which rows are chosen for accuracy evals, and what the choice changes in them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from botlint.layouts.inferencex.generator_facts import AGENTIC, EvalFacts, Path
from botlint.layouts.inferencex.job import Job, Row


def mark(jobs: list[Job], facts: EvalFacts, *, with_agentic: bool) -> None:
    """Set `run-eval` (and `eval-conc` of multi-node rows) in the rows of `jobs` by the default policy."""
    chosen: set[int] = set()
    concurrency: dict[int, int] = {}
    rows = [job.row for job in jobs]
    chosen.update(_single_node(rows, facts))
    concurrency.update(_multi_node(rows, facts))
    if with_agentic:
        if facts.agentic_single:
            chosen.update(_agentic_single(rows, facts))
        if facts.agentic_multi:
            concurrency.update(_highest(facts, _agentic_multi(rows)))
    chosen.update(concurrency)
    for index, row in enumerate(rows):
        if not _is_agentic(row) or facts.marks_agentic_rows:
            row["run-eval"] = index in chosen
            if index in concurrency:
                row["eval-conc"] = concurrency[index]


def expand_to_all(jobs: list[Job], facts: EvalFacts) -> list[Job]:
    """Mark every row that can be evaluated, merging or splitting multi-node rows as the revision does."""
    result: list[Job] = []
    merged: dict[object, int] = {}
    seen: set[object] = set()
    for job in jobs:
        row = job.row
        agentic = _is_agentic(row)
        multi = "prefill" in row
        if not _can_be_evaluated(row, facts):
            result.append(job)
        elif not multi:
            row["run-eval"] = True
            result.append(job)
        elif facts.all_policy == "median" and not agentic:
            ordered = sorted(_concurrencies(row))
            row["run-eval"] = True
            if ordered and row.get("eval-conc") is None:
                row["eval-conc"] = ordered[len(ordered) // 2]
            result.append(job)
        elif facts.all_policy == "split" and not agentic:
            result.extend(_split(job, _topology(facts, row), seen))
        else:
            _merge(job, (agentic, _topology(facts, row)), merged, result, agentic=agentic)
    return result


def evaluate_only(jobs: list[Job]) -> None:
    """Make an eval of every row; one of several nodes that has no concurrency for it gets its highest one."""
    for job in jobs:
        job.row["eval-only"] = True
        if "prefill" in job.row:
            job.row.setdefault("eval-conc", _concurrency(job.row))


def select(jobs: list[Job], facts: EvalFacts) -> list[Job]:
    """The chosen rows, marked as jobs that only run the eval where the revision does so."""
    chosen = [job for job in jobs if job.row.get("run-eval", False)]
    if facts.sets_eval_only:
        for job in chosen:
            job.row["eval-only"] = True
    return chosen


def _can_be_evaluated(row: Row, facts: EvalFacts) -> bool:
    if _is_agentic(row):
        return facts.all_agentic_multi if "prefill" in row else facts.all_agentic_single
    return not facts.all_only_sequence or _has_sequence(row, facts)


def _single_node(rows: list[Row], facts: EvalFacts) -> Iterator[int]:
    groups: dict[object, list[int]] = {}
    for index, row in enumerate(rows):
        if "tp" in row and _has_sequence(row, facts) and _eligible(row, facts):
            groups.setdefault(_group(row, facts.single_group), []).append(index)
    for members in groups.values():
        choose = _tp_extremes if facts.single_policy == "tp-extremes" else _top_and_median
        yield from choose(rows, members)


def _top_and_median(rows: list[Row], members: list[int]) -> Iterator[int]:
    ordered = sorted({_concurrency(rows[index]) for index in members})
    targets = {ordered[-1], ordered[len(ordered) // 2]}
    return (index for index in members if rows[index]["conc"] in targets)


def _tp_extremes(rows: list[Row], members: list[int]) -> Iterator[int]:
    sizes = [size for index in members if isinstance(size := rows[index]["tp"], int)]
    for tp in {min(sizes, default=0), max(sizes, default=0)}:
        same = [index for index in members if rows[index]["tp"] == tp]
        top = max((_concurrency(rows[index]) for index in same), default=0)
        yield from (index for index in same if rows[index]["conc"] == top)


def _multi_node(rows: list[Row], facts: EvalFacts) -> dict[int, int]:
    candidates = [
        (index, row)
        for index, row in enumerate(rows)
        if "tp" not in row and "prefill" in row and _has_sequence(row, facts)
    ]
    if facts.multi_policy == "highest":
        return _highest(facts, candidates)
    chosen: dict[int, int] = {}
    if facts.multi_policy == "median-of-largest":
        groups: dict[tuple[object, ...], list[tuple[int, list[int]]]] = {}
        for index, row in candidates:
            if eligible := _eligible(row, facts):
                groups.setdefault(_group(row, facts.multi_group), []).append((index, eligible))
        for key, members in groups.items():
            if not any(key[: len(prefix)] == prefix for prefix in facts.skipped_groups):
                index, eligible = max(members, key=lambda member: member[1][-1])
                chosen[index] = eligible[len(eligible) // 2]
    return chosen


def _highest(facts: EvalFacts, candidates: Iterable[tuple[int, Row]]) -> dict[int, int]:
    """For each topology the row with the greatest concurrency that is high enough."""
    groups: dict[object, tuple[int, int]] = {}
    for index, row in candidates:
        if eligible := _eligible(row, facts):
            topology = _topology(facts, row)
            known = groups.get(topology)
            if known is None or eligible[-1] > known[1]:
                groups[topology] = (index, eligible[-1])
    return dict(groups.values())


def _agentic_single(rows: list[Row], facts: EvalFacts) -> Iterator[int]:
    groups: dict[object, tuple[int, int]] = {}
    for index, row in enumerate(rows):
        if _is_agentic(row) and "prefill" not in row:
            conc = _concurrency(row)
            key = _group(row, facts.agentic_group)
            known = groups.get(key)
            if known is None or conc > known[1]:
                groups[key] = (index, conc)
    return (index for index, _ in groups.values())


def _agentic_multi(rows: list[Row]) -> Iterator[tuple[int, Row]]:
    return ((index, row) for index, row in enumerate(rows) if _is_agentic(row) and "prefill" in row)


def _split(job: Job, topology: object, seen: set[object]) -> Iterator[Job]:
    for position, conc in enumerate(_concurrencies(job.row)):
        if (topology, conc) not in seen:
            seen.add((topology, conc))
            row = {**job.row, "conc": [conc], "run-eval": True, "eval-conc": conc}
            yield replace(job, row=row, conc_index=job.conc_index + position)


def _merge(job: Job, topology: object, merged: dict[object, int], result: list[Job], *, agentic: bool) -> None:
    own = _concurrencies(job.row)
    known = merged.get(topology)
    if known is not None:
        row = result[known].row
        row["conc"] = sorted({*_concurrencies(row), *own})
        if agentic:
            row["eval-conc"] = _concurrency(row)
        return
    row = {**job.row, "conc": sorted(set(own)), "run-eval": True}
    if agentic:
        row["eval-conc"] = _concurrency(row)
    else:
        row["eval-all-concs"] = True
        row.pop("eval-conc", None)
    merged[topology] = len(result)
    result.append(replace(job, row=row))


def _is_agentic(row: Row) -> bool:
    return row.get("scenario-type") == AGENTIC


def _has_sequence(row: Row, facts: EvalFacts) -> bool:
    return (row.get("isl"), row.get("osl")) == facts.sequence


def _concurrencies(row: Row) -> list[int]:
    conc = row["conc"]
    values = conc if isinstance(conc, list) else [conc]
    return [value for value in values if isinstance(value, int)]


def _concurrency(row: Row) -> int:
    return max(_concurrencies(row), default=0)


def _eligible(row: Row, facts: EvalFacts) -> list[int]:
    least = facts.min_conc
    return sorted(value for value in _concurrencies(row) if least is None or value >= least)


def _group(row: Row, paths: tuple[Path, ...]) -> tuple[object, ...]:
    return tuple([_frozen(row.get(path[0]) if len(path) == 1 else _at(row, path)) for path in paths])


def _at(row: object, path: Path) -> object:
    for key in path:
        row = row.get(key) if isinstance(row, dict) else None
    return row


def _topology(facts: EvalFacts, row: Row) -> object:
    """The row without what evals and concurrencies change, in a form that can be compared."""
    ignored = facts.same_topology_ignores
    return frozenset([(key, _frozen(value)) for key, value in row.items() if key not in ignored])


def _frozen(value: object) -> object:
    if isinstance(value, dict):
        return frozenset([(key, _frozen(item)) for key, item in value.items()])
    if isinstance(value, list):
        return tuple([_frozen(item) for item in value])
    return value

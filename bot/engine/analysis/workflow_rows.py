"""Generated rows as workflow jobs get them: which rows a job with a matrix takes, and which fields those have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from botlint.documents.expressions import to_text
from botlint.layouts.inferencex.callers import Caller
from botlint.layouts.inferencex.entry_models import MULTI_NODE, SINGLE_NODE, FieldType, ModelField, Validation
from botlint.layouts.inferencex.generator_facts import AGENTIC, FIXED

if TYPE_CHECKING:
    from botlint.engine.context import Context
    from botlint.layouts.inferencex.job import Job

MAX_VALUES = 8
MAX_MODELS = 50

EVAL_FIELDS = ("run-eval", "eval-only", "eval-conc", "eval-all-concs")
"""What the generator adds to rows that it chooses for an eval."""

Kind = tuple[bool, bool]
"""Of a row: whether it is for several nodes, whether it is agentic."""


@dataclass(frozen=True, eq=False)
class RowsOfJob:
    """The rows that a workflow job takes. `path` is where its expressions find one; `kinds` are those that fit it.

    `jobs` are the generated jobs among them; for a job of evals those whose rows are marked for one are not told apart.
    """

    caller: Caller
    kinds: tuple[Kind, ...]
    jobs: tuple[Job, ...]
    fields: frozenset[str]
    """The keys that a row of these kinds can have."""
    settable: frozenset[str]
    """The fields that an arm or entry of these kinds can set to more than one value."""
    of_arms: frozenset[str]
    """Those of them that an arm sets."""

    @property
    def path(self) -> tuple[str, ...]:
        """Where expressions find the row: `('matrix', 'config')`."""
        return self.caller.row_path

    def others(self, field: tuple[str, ...], text: str) -> list[str]:
        """The values of a field among the rows, as texts, other than one text."""
        found: dict[str, None] = {}
        for job in self.jobs:
            value = at(job.row, field)
            shown = None if value is None or isinstance(value, list | dict) else str(to_text(value))
            if shown not in (None, text):
                found[str(shown)] = None
                if len(found) >= MAX_VALUES:
                    break
        return list(found)

    def any_has(self, field: tuple[str, ...], text: str) -> bool:
        """Whether some row has a text in a field."""
        return any(str(to_text(at(job.row, field))) == text for job in self.jobs)


def at(row: Mapping[str, Any], path: Iterable[str]) -> Any:
    """The value of a row at a path of keys, None if there is none."""
    value: Any = row
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def rows_of_job(context: Context) -> Mapping[tuple[str, str], RowsOfJob]:
    """The rows of each workflow job that takes any, by workflow file and job."""
    found: dict[tuple[str, str], RowsOfJob] = {}
    shared: dict[tuple[Any, ...], RowsOfJob] = {}
    for caller in context.workflows.callers:
        level = caller.chain[caller.row_level]
        key = (level.workflow.path, level.job.id)
        if key in found:
            continue
        kinds = tuple(
            (multinode, agentic)
            for multinode in (False, True)
            for agentic in (False, True)
            if caller.multinode in (None, multinode) and caller.agentic in (None, agentic)
        )
        same = (kinds, caller.sequence, caller.workload)
        if same not in shared:
            shared[same] = _rows(context, caller, kinds)
        found[key] = replace(shared[same], caller=caller)
    return found


def _rows(context: Context, caller: Caller, kinds: tuple[Kind, ...]) -> RowsOfJob:
    facts = context.configs.facts
    shapes = [facts.shapes.get((AGENTIC if agentic else FIXED, multinode)) for multinode, agentic in kinds]
    fields = {key for shape in shapes if shape is not None for key in shape.keys}
    fields.update(facts.late_keys, facts.component_keys, EVAL_FIELDS)
    settable = [settable_fields(facts.validation, multinode, agentic) for multinode, agentic in kinds]
    jobs = tuple(job for job in context.matrix if _takes(caller, job))
    fields.update(key for job in jobs for key in job.row)
    return RowsOfJob(
        caller,
        kinds,
        jobs,
        frozenset(fields),
        _union(all_ for all_, _ in settable),
        _union(arms for _, arms in settable),
    )


def _union(sets: Iterable[frozenset[str]]) -> frozenset[str]:
    return frozenset().union(*sets)


def kind_of(row: Mapping[str, Any]) -> Kind:
    """Whether a row is for several nodes, and whether it is agentic."""
    return row.get("prefill") is not None, "agentic" in str(row.get("scenario-type", ""))


def _takes(caller: Caller, job: Job) -> bool:
    multinode, agentic = kind_of(job.row)
    return caller.fits(multinode, agentic, (job.row.get("isl"), job.row.get("osl")))


def settable_fields(validation: Validation, multinode: bool, agentic: bool) -> tuple[frozenset[str], frozenset[str]]:
    """The keys of an entry, its scenario and its arms that may have more than one value; then those of arms alone."""
    other = FIXED if agentic else AGENTIC
    found: set[str] = set()
    arms: set[str] = set()
    queue = [(MULTI_NODE if multinode else SINGLE_NODE, False)]
    for name, is_arm in queue:
        model = validation.models.get(name)
        for key, item in model.fields.items() if model is not None else ():
            inner = _model_in(item.of)
            if inner and not is_arm:
                if key != other and len(queue) < MAX_MODELS:
                    queue.append((inner, key == "search-space"))
            elif _varies(item):
                (arms if is_arm else found).add(key)
    return frozenset(found | arms), frozenset(arms)


def _varies(item: ModelField) -> bool:
    return item.of.kind != "literal" or len(item.of.choices) > 1


def _model_in(of: FieldType | None) -> str:
    while of is not None and of.kind == "list":
        of = of.item
    return of.model if of is not None else ""

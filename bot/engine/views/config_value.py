"""Names that entries and arms give fields, next to what other entries give the same field."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache

from botlint.core.span import Span
from botlint.engine.analysis.spelling import one_edit, shared_start
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View
from botlint.layouts.inferencex.job import Job

FIELDS: tuple[tuple[str, ...], ...] = (
    ("framework",),
    ("kv-offloading",),
    ("kv-offload-backend", "name"),
    ("kv-p2p-transfer",),
    ("router", "name"),
    ("spec-decoding",),
)
"""Fields of a row whose values are names out of a few."""


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    used: dict[tuple[str, ...], dict[str, dict[str, Job]]] = {}
    for job in context.matrix:
        for field in FIELDS:
            value = _value(job, field)
            if value:
                used.setdefault(field, {}).setdefault(value, {}).setdefault(job.entry, job)
    for field, values in used.items():
        counts = Counter({value: len(entries) for value, entries in values.items()})
        for value, entries in values.items():
            slips = [other for other in counts if other != value and _is_slip(value, other)]
            for entry, job in entries.items():
                yield _core(job, entry, field, value, counts, slips)


def _core(job: Job, entry: str, field: tuple[str, ...], value: str, counts: Counter[str], slips: list[str]) -> Core:
    usual = max(slips, key=lambda one: counts[one], default="")
    span: Span | None = job.origin(*field)
    return Core(
        f"{entry}:{'.'.join(field)}",
        {
            "field": ".".join(field),
            "value": value,
            "entry": entry,
            "entries": counts[value],
            "usual": usual,
            "usual_entries": counts[usual],
        },
        {"value": span, "entry": job.config},
    )


def _value(job: Job, field: tuple[str, ...]) -> str:
    found: object = job.row
    for key in field:
        found = found.get(key) if isinstance(found, dict) else None
    return found if isinstance(found, str) else ""


@cache
def _is_slip(one: str, other: str) -> bool:
    """Whether two names differ by one letter more, less or other, or by two neighbours swapped; digits never count."""
    if abs(len(one) - len(other)) > 1 or min(len(one), len(other)) < 4:
        return False
    start = shared_start(one, other)
    letters = (one[start : start + 1] + other[start : start + 1]).isalpha()
    return letters and one_edit(one, other)


VIEW = View(
    "config_value",
    "A name that an entry gives a field which takes one out of a few.",
    (
        Fact("field", "string", "The field, as kv-offload-backend.name."),
        Fact("value", "string", "The name."),
        Fact("entry", "string", "The entry."),
        Fact("entries", "int", "How many entries use the name."),
        Fact("usual", "string", "The most used name that differs by a slip, empty without one."),
        Fact("usual_entries", "int", "How many entries use that."),
    ),
    {"value": "the value", "entry": "the entry's key"},
    _build,
)

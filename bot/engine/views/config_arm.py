"""Arms of all entries: repeated concurrencies, and arms that make the same jobs as an earlier one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from botlint.core.span import Span
from botlint.engine.analysis.arms import EntryArm, all_arms
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View

_NOT_COMPARED = frozenset({"conc", "conc-list", "conc-start", "conc-end"})
"""Keys that say which concurrencies there are, not what is run with them."""

DEFAULTS = {"ep": 1, "dp-attn": False, "pp": 1, "dcp-size": 1, "pcp-size": 1, "spec-decoding": "none"}
"""What the generator takes where an arm does not say."""


def _signature(arm: EntryArm) -> str:
    """What an arm runs, without its concurrencies."""
    own = {key: value for key, value in arm.values.items() if key not in _NOT_COMPARED and value is not None}
    given = {**DEFAULTS, **own} if "tp" in own else {"spec-decoding": "none", **own}
    config = {key: value for key, value in arm.config.items() if key != "search-space"}
    return f"{arm.scenario} {_plain(config)} {_plain(given)}"


def _plain(value: object, depth: int = 0) -> str:
    if isinstance(value, dict) and depth < 20:
        inner = ",".join(f"{key}:{_plain(one, depth + 1)}" for key, one in sorted(value.items(), key=_key_text))
        return "{" + inner + "}"
    return repr(value)[:500]


def _key_text(pair: tuple[object, object]) -> str:
    return str(pair[0])


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    before: dict[tuple[str, str], list[tuple[EntryArm, frozenset[int]]]] = {}
    for arm in context.once(all_arms):
        concs = arm.concurrencies()
        values: dict[str, FactValue] = {"entry": arm.entry.name, "scenario": arm.scenario, "arm": arm.index}
        anchors: dict[str, Anchor] = {"arm": arm.span, "conc": _conc_place(arm), "entry": arm.entry.span}
        if concs is not None:
            values["concs"] = list(concs)
            values["repeated"] = [conc for conc, count in Counter(concs).items() if count > 1]
            earlier = before.setdefault((arm.entry.name, _signature(arm)), [])
            twin, shared = _twin(earlier, frozenset(concs))
            values["has_twin"] = twin is not None
            values["shared"] = sorted(shared)
            if twin is not None:
                values["twin"] = twin.index
                anchors["twin"] = twin.span
            earlier.append((arm, frozenset(concs)))
        yield Core(arm.key, values, anchors)


def _twin(
    earlier: list[tuple[EntryArm, frozenset[int]]], concs: frozenset[int]
) -> tuple[EntryArm | None, frozenset[int]]:
    """An earlier arm that runs the same at some of the concurrencies."""
    for arm, others in earlier:
        if others & concs:
            return arm, others & concs
    return None, frozenset()


def _conc_place(arm: EntryArm) -> Anchor:
    def find(_context: Context, _chain: Chain) -> Span:
        return arm.conc_place()

    return find


VIEW = View(
    name="config_arm",
    doc="An arm of an entry, whether or not it can be expanded.",
    facts=(
        Fact("entry", "string", "key of the master config"),
        Fact("scenario", "string", "fixed-seq-len or agentic-coding"),
        Fact("arm", "int", "number of the arm in the scenario, from 0"),
        Fact("concs", "list<int>", "concurrencies"),
        Fact("repeated", "list<int>", "concurrencies that the arm has more than once"),
        Fact("has_twin", "bool", "an earlier arm of the entry makes the same job at one of the concurrencies"),
        Fact("twin", "int", "number of that arm"),
        Fact("shared", "list<int>", "the concurrencies that both have"),
    ),
    anchors={
        "conc": "the concurrencies",
        "arm": "the arm",
        "twin": "the earlier arm that makes the same job",
        "entry": "the entry's key",
    },
    build=_build,
)

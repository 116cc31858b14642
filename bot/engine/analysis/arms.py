"""The arms of all entries as they are written: what rules over master configs look at, expandable or not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.layouts.inferencex.configs import ConfigEntry, first_line
from botlint.layouts.inferencex.generator_facts import AGENTIC, FIXED

if TYPE_CHECKING:
    from botlint.engine.context import Context

ROLES = ("prefill", "decode")


@dataclass(frozen=True, slots=True, eq=False)
class EntryArm:
    """One item of a search space: `index` counts the arms of the entry's scenario."""

    entry: ConfigEntry
    scenario: str
    index: int
    config: Mapping[str, Any]
    values: Mapping[str, Any]
    config_node: yaml.Node
    node: yaml.Node

    @property
    def key(self) -> str:
        """Which arm it is, without a position in the file."""
        return f"{self.entry.name} {self.scenario}[{self.index}]"

    @property
    def span(self) -> Span:
        return first_line(self.node.span)

    def place(self, *path: str | int) -> Span | None:
        """Where a value of the arm, of the config above it or of the entry is written; None for a default."""
        for node in (self.node, self.config_node, self.entry.node):
            found = yaml.find(node, path)
            if found is not None:
                return first_line(found.span)
        return None

    def key_place(self, *path: str) -> Span | None:
        """Where the key of a value of the arm is written."""
        above = yaml.find(self.node, path[:-1])
        key = above.key_node(path[-1]) if isinstance(above, yaml.Mapping) else None
        return None if key is None else key.span

    def concurrencies(self) -> tuple[int, ...] | None:
        """The concurrencies in the generator's order; None where they cannot be told."""
        listed = self.values.get("conc-list")
        if isinstance(listed, list) and listed:
            return tuple(listed) if all(type(value) is int for value in listed) else None
        start, end = self.values.get("conc-start"), self.values.get("conc-end")
        if type(start) is not int or type(end) is not int or not 0 < start <= end:
            return None
        values: list[int] = []
        while start < end:
            values.append(start)
            start *= 2
        return (*values, end)

    def conc_place(self) -> Span:
        """Where the concurrencies are written."""
        for key in ("conc-list", "conc-start"):
            place = self.place(key)
            if place is not None:
                return place
        return self.span


def entry_arms(entry: ConfigEntry) -> Iterator[EntryArm]:
    """The arms of an entry in written order; what has another shape is left out."""
    values = entry.values
    if not isinstance(values, dict):
        return
    scenarios = values.get("scenarios")
    places: list[tuple[str, tuple[str, ...], object]] = [(FIXED, ("seq-len-configs",), values.get("seq-len-configs"))]
    if isinstance(scenarios, dict):
        places = [(name, ("scenarios", name), scenarios.get(name)) for name in (FIXED, AGENTIC)]
    for scenario, place, plain in places:
        configs = yaml.find(entry.node, place)
        if not isinstance(configs, yaml.Sequence) or not isinstance(plain, list):
            continue
        index = 0
        for config_node, config in zip(configs.items, plain, strict=True):
            space = yaml.find(config_node, ("search-space",))
            if not isinstance(config, dict) or not isinstance(space, yaml.Sequence):
                continue
            for node, arm in zip(space.items, config["search-space"], strict=True):
                if isinstance(arm, dict):
                    yield EntryArm(entry, scenario, index, config, arm, config_node, node)
                index += 1


def all_arms(context: Context) -> tuple[EntryArm, ...]:
    """The arms of every entry of every master config."""
    return tuple(arm for entry in context.configs.entries.values() for arm in entry_arms(entry))

"""One job: a row of the expanded matrix, and where each of its values is written."""

from __future__ import annotations

from dataclasses import dataclass

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.layouts.inferencex.configs import ConfigEntry

Row = dict[str, object]

# Where the parts of a computed row value come from, for keys that are no key of the config.
_COMPUTED = {"max-model-len": "isl", "exp-name": "model-prefix"}


@dataclass(frozen=True, slots=True)
class Arm:
    """One item of a search space, with the nodes around it. `index` counts the arms of the entry's scenario."""

    entry: ConfigEntry
    scenario: str
    index: int
    config_node: yaml.Node
    node: yaml.Node


@dataclass(frozen=True, slots=True)
class Job:
    """A job: `row` is exactly the generator's; `conc_index` says which of the arm's concurrencies is its first."""

    source: Arm
    row: Row
    conc_index: int

    @property
    def entry(self) -> str:
        return self.source.entry.name

    @property
    def facts(self) -> Row:
        """What rules read: the row."""
        return self.row

    @property
    def config(self) -> Span:
        """Where the entry's key is written."""
        return self.source.entry.span

    @property
    def arm(self) -> Span:
        """Where the arm is written."""
        return self.source.node.span

    @property
    def arm_index(self) -> int:
        return self.source.index

    @property
    def scenario(self) -> str:
        return self.source.scenario

    def origin(self, *path: str | int) -> Span | None:
        """Where the row value at `path` (`"tp"`, or `"prefill", "tp"`) is written; None for a default."""
        key, *inner = path
        if key in ("conc", "eval-conc"):
            return self._concurrency_origin(inner[0] if inner else None, self.row.get(str(key)))
        if key == "scenario-type":
            return self.source.entry.span_of(("scenarios", self.source.scenario))
        if key == "total-cpu-dram-gb":
            key = "dram-utilization" if self.row.get("kv-offloading") == "dram" else "kv-offloading"
        key = _COMPUTED.get(str(key), key)
        for node in (self.source.node, self.source.config_node, self.source.entry.node):
            found = yaml.find(node, (key, *inner))
            if found is not None:
                return found.span
            if yaml.find(node, (key,)) is not None:
                return None
        return None

    def _concurrency_origin(self, index: str | int | None, value: object) -> Span | None:
        arm = self.source.node
        wanted = value
        if isinstance(value, list):
            if isinstance(index, int) and index < len(value):
                wanted = value[index]
            elif len(value) == 1:
                wanted = value[0]
        listed = yaml.find(arm, ("conc-list",))
        if isinstance(listed, yaml.Sequence) and listed.items:
            for item in listed.items:
                if isinstance(item, yaml.Scalar) and item.value == wanted:
                    return item.span
            return listed.span
        start, end = yaml.find(arm, ("conc-start",)), yaml.find(arm, ("conc-end",))
        for bound in (start, end):
            if isinstance(bound, yaml.Scalar) and bound.value == wanted:
                return bound.span
        return start.span if start is not None else None

"""A recipe's mappings as dictionaries that can be merged without losing where each value was written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from botlint.documents.yaml import Mapping, Node, Scalar, Sequence, to_plain

Branch: TypeAlias = "dict[str, Item]"
# A walk follows every alias, so a small text can stand for a very large tree.
MAX_ITEMS = 50_000


class TooLargeError(Exception):
    """The recipe has more entries than any real one."""


@dataclass(slots=True)
class Item:
    """One entry: a mapping has a `branch`, everything else only its `node`; `text` replaces the node's value where
    srtctl makes one.
    """

    key: Scalar
    node: Node
    branch: Branch | None
    text: str | None = None

    @property
    def plain(self) -> object:
        """The Python value that srtctl sees."""
        if self.text is not None:
            return self.text
        if self.branch is not None:
            return {key: item.plain for key, item in self.branch.items()}
        node = self.node
        return node.value if isinstance(node, Scalar) and node.tag != "timestamp" else to_plain(node)

    @property
    def is_null(self) -> bool:
        return self.text is None and isinstance(self.node, Scalar) and self.node.tag == "null"


@dataclass(slots=True)
class Budget:
    """How many entries may still be read."""

    left: int = field(default=MAX_ITEMS)


def branch_of(mapping: Mapping, budget: Budget) -> Branch:
    """The entries of a mapping and, below them, of its mappings; raises TooLargeError."""
    budget.left -= len(mapping)
    if budget.left < 0:
        raise TooLargeError
    return {
        key.text: Item(key, node, branch_of(node, budget) if node.__class__ is Mapping else None)
        for key, node in mapping.pairs()
    }


def inner_branch(node: Node, budget: Budget) -> Branch | None:
    return branch_of(node, budget) if isinstance(node, Mapping) else None


def merged(base: Branch, override: Branch) -> Branch:
    """`override` on top of `base`: mappings merge, null deletes, lists and values replace.

    Source: NVIDIA/srt-slurm c88ef731, src/srtctl/core/config.py, deep_merge (line 205).
    """
    result = dict(base)
    for name, item in override.items():
        if item.is_null:
            result.pop(name, None)
            continue
        below = result.get(name)
        if item.branch is not None and below is not None and below.branch is not None:
            result[name] = Item(item.key, item.node, merged(below.branch, item.branch))
        else:
            result[name] = item
    return result


def child(branch: Branch | None, name: str) -> Branch:
    """The mapping at `name`; empty where there is none."""
    item = branch.get(name) if branch is not None else None
    return item.branch if item is not None and item.branch is not None else {}


def list_lengths(branch: Branch) -> list[int]:
    """The lengths of all lists in a mapping and its mappings."""
    lengths: list[int] = []
    for item in branch.values():
        if item.branch is not None:
            lengths.extend(list_lengths(item.branch))
        elif isinstance(item.node, Sequence):
            lengths.append(len(item.node.items))
    return lengths


def sliced(branch: Branch, index: int, budget: Budget) -> Branch:
    """Each list replaced by its element at `index` (by its only element where it has one)."""
    result: Branch = {}
    for name, item in branch.items():
        if item.branch is not None:
            result[name] = Item(item.key, item.node, sliced(item.branch, index, budget))
        elif isinstance(item.node, Sequence):
            items = item.node.items
            element = items[0 if len(items) == 1 else index]
            budget.left -= 1
            if budget.left < 0:
                raise TooLargeError
            result[name] = Item(item.key, element, inner_branch(element, budget))
        else:
            result[name] = item
    return result

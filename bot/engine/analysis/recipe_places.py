"""Where a setting of a role is written in a recipe."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.engine.context import Context

MAX_NODES = 20_000
"""Entries of a recipe that are looked at."""

_ROLES = {"aggregate": ("aggregated", "agg"), "prefill": ("prefill",), "decode": ("decode",)}


def is_recipe(path: str) -> bool:
    """Whether a server is written as a recipe's keys, not as a script's lines."""
    return path.endswith((".yaml", ".yml"))


def key_place(context: Context, path: str, role: str, key: str, value: str = "") -> Span | None:
    """The key of a role's section; of several the one that is below the role and has the value."""
    document = context.yaml(path)
    if document is None:
        return None
    wanted = key.replace("_", "-")
    best: tuple[int, Span] | None = None
    for words, name, node in _entries(document.root):
        if name.text.replace("_", "-") != wanted:
            continue
        score = 2 * any(word.startswith(_ROLES.get(role, ())) for word in words)
        score += isinstance(node, yaml.Scalar) and node.text == value
        if best is None or score > best[0]:
            best = (score, name.span)
    return best[1] if best is not None else None


def _entries(root: yaml.Node | None) -> Iterator[tuple[tuple[str, ...], yaml.Scalar, yaml.Node]]:
    """All keys with their values and the keys above them, the outer ones first."""
    waiting: deque[tuple[tuple[str, ...], yaml.Node | None]] = deque([((), root)])
    for _ in range(MAX_NODES):
        if not waiting:
            return
        words, node = waiting.popleft()
        if isinstance(node, yaml.Mapping):
            for name, value in node.own_items:
                yield words, name, value
                waiting.append(((*words, name.text), value))
        elif isinstance(node, yaml.Sequence):
            waiting.extend((words, item) for item in node.items)

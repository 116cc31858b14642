"""The tasks of recipes that vllm-omni serves."""

from __future__ import annotations

from collections.abc import Iterator

from botlint.layouts.recipes.values import Value, at, items

_KNOWN = frozenset({"t2i", "i2i", "t2v", "i2v", "ti2v", "t2a"})
"""Tasks that the site has a form for (`src/lib/omni-tasks.js`); it leaves out others."""


def tasks_of(recipe: Value) -> Iterator[tuple[str, Value]]:
    """The name of each task with what the recipe says of it, None for a bare name."""
    for given in items(at(recipe, "omni", "tasks")):
        own = None if isinstance(given, str) else given
        name = given if isinstance(given, str) else at(given, "id")
        if isinstance(name, str) and name in _KNOWN:
            yield str(at(own, "key") or name), own

"""The configuration files of a repository and what each of them is for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Problem, Span
from botlint.documents import yaml
from botlint.engine.analysis.recipes import FOLDER
from botlint.engine.analysis.shapes import CHANGELOG, GOLDEN

if TYPE_CHECKING:
    from botlint.engine.context import Context

MAX_VISITED = 200_000


def config_paths(context: Context) -> dict[str, str]:
    """Path and kind of each configuration file that the generator, CI or srtctl reads."""
    masters, table = context.configs.paths, context.runners.path
    found: dict[str, str] = {}
    for path in context.files.paths(""):
        if not path.endswith((".yaml", ".yml")):
            continue
        if path.startswith(f"{FOLDER}/"):
            found[path] = "recipe"
        elif path.startswith(f"{GOLDEN}/"):
            found[path] = "golden acceptance"
        elif path == CHANGELOG:
            found[path] = "changelog"
        elif path in masters:
            found[path] = "master config"
        elif path == table:
            found[path] = "runner table"
    return found


@dataclass(frozen=True, slots=True)
class Twice:
    """A key that one mapping has twice; `lost` is the value that does not count."""

    key: yaml.Scalar
    first: yaml.Scalar
    lost: yaml.Node
    kept: yaml.Node

    @property
    def same(self) -> bool:
        """Whether both values are the same, so that nothing is lost."""
        return bool(yaml.to_plain(self.lost) == yaml.to_plain(self.kept))


def problems(context: Context, path: str) -> Sequence[Problem]:
    """What keeps parts of a file from being read; a master config is read by the generator's model already."""
    configs = context.configs
    document = context.yaml(path)
    if document is None:
        return [one for one in context.files.problems if one.span.path == path and one.kind == "too-large"]
    if path in configs.paths:
        return [one for one in configs.problems if one.span.path == path and one.kind not in OF_ENTRIES]
    return document.problems


OF_ENTRIES = frozenset({"config-invalid", "duplicate-entry"})
"""Kinds of problems of a master config that are no problems of YAML."""


def duplicates(root: yaml.Node | None) -> dict[Span, Twice]:
    """The duplicate keys of a document by the place of the later key."""
    found: dict[Span, Twice] = {}
    stack = [root]
    seen: set[int] = set()
    for _ in range(MAX_VISITED):
        if not stack:
            break
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.Sequence):
            stack.extend(node.items)
        elif isinstance(node, yaml.Mapping):
            before: dict[object, tuple[yaml.Scalar, yaml.Node]] = {}
            for key, value in node.own_items:
                stack.append(value)
                if key.tag == "merge":
                    continue
                if key.value in before:
                    first, lost = before[key.value]
                    found[key.span] = Twice(key, first, lost, value)
                before[key.value] = key, value
    return found

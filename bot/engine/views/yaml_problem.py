"""What cannot be read, or is lost, in the YAML of configuration files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from botlint.core.span import Problem, Span
from botlint.documents import yaml
from botlint.engine.analysis.config_files import Twice, config_paths, duplicates, problems
from botlint.engine.analysis.recipe_uses import used_recipes
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View

MAX_SHOWN = 80


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for path, kind in context.once(config_paths).items():
        found = problems(context, path)
        if found:
            used = kind != "recipe" or path in context.once(used_recipes)
            document = context.yaml(path)
            doubled = document is not None and any(one.kind == "duplicate-key" for one in found)
            twice = duplicates(document.root) if document is not None and doubled else {}
            yield from _cores(path, found, kind, used, twice)


def _cores(
    path: str, problems: Sequence[Problem], kind: str, used: bool, twice: Mapping[Span, Twice]
) -> Iterator[Core]:
    for problem in problems:
        values: dict[str, FactValue] = {
            "file": kind,
            "path": path,
            "problem": problem.kind,
            "detail": problem.message,
            "used": used,
            "unreadable": problem.kind in ("yaml-syntax", "yaml-depth", "yaml-size", "too-large"),
        }
        anchors: dict[str, Anchor] = {"place": problem.span}
        key = ""
        found = twice.get(problem.span)
        if found is not None:
            key = found.key.text
            _add_duplicate(values, anchors, found)
        yield Core(f"{problem.kind} {key}".strip(), values, anchors)


def _add_duplicate(values: dict[str, FactValue], anchors: dict[str, Anchor], found: Twice) -> None:
    values |= {
        "key": found.key.text,
        "first_line": found.first.line,
        "same": found.same,
        "lost": _shown(found.lost),
        "kept": _shown(found.kept),
    }
    anchors["first"] = found.first.span


def _shown(node: yaml.Node) -> str:
    text = node.text if isinstance(node, yaml.Scalar) else " ".join(node.source.split())
    return text if len(text) <= MAX_SHOWN else text[: MAX_SHOWN - 3] + "..."


VIEW = View(
    name="yaml_problem",
    doc="A place of a configuration file (not of a workflow) that YAML readers refuse or in which a value gets lost.",
    facts=(
        Fact("file", "string", "master config, runner table, changelog, recipe or golden acceptance"),
        Fact("path", "string", "the file"),
        Fact("problem", "string", "yaml-syntax, duplicate-key, unknown-tag, bad-value ..."),
        Fact("detail", "string", "what the reader says"),
        Fact("used", "bool", "the file is read by the generator, by CI or by a job of an entry"),
        Fact("unreadable", "bool", "the file is not read because of it"),
        Fact("key", "string", "the key that is there twice"),
        Fact("first_line", "int", "line of the earlier of both"),
        Fact("same", "bool", "both have the same value"),
        Fact("lost", "string", "the value that does not count"),
        Fact("kept", "string", "the value that counts"),
    ),
    anchors={"place": "the problem", "first": "the earlier of two equal keys"},
    build=_build,
)

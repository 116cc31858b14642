"""What has the wrong shape in configuration files: master configs, runner table, changelog, recipes, golden files.

Master configs, runner table and changelog are judged by the classes of the revision's own validator, so an old key is
wrong only where that revision refuses it. The other files have no validator of their own: they follow `schemas/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.engine.analysis.fastschema import known_properties, quick_check, take_unknown
from botlint.engine.analysis.recipes import RecipeFile, item_span, recipe_files
from botlint.engine.analysis.spelling import closest
from botlint.engine.schema import schema_errors
from botlint.layouts.inferencex.configs import first_line
from botlint.layouts.inferencex.entry_models import (
    MULTI_NODE,
    SINGLE_NODE,
    Complaint,
    Place,
    Validation,
    allowed_keys,
    complaints,
    model_complaints,
    read_validation,
)
from botlint.layouts.inferencex.generator_facts import GENERATOR_PATHS
from botlint.layouts.inferencex.python_source import PythonSource

if TYPE_CHECKING:
    from botlint.engine.context import Context
    from botlint.layouts.inferencex.srtslurm.tree import Branch

FileKind = Literal["master config", "runner table", "changelog", "recipe", "golden acceptance"]
Fault = Literal["unknown-key", "missing-key", "value"]

CHANGELOG = "perf-changelog.yaml"
GOLDEN = "golden_al_distribution"
CHANGELOG_CLASS = "ChangelogEntry"
RUNNER_CLASS = "RunnerConfig"
MAX_SHAPES = 500
MAX_DEPTH = 20

_UNKNOWN = re.compile(r"unknown field '(.*)'", re.DOTALL)
_MISSING = re.compile(r"required field '(.*)' is missing", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Shape:
    """One thing that a validator refuses; `where` is a dotted place inside `owner`, `allowed` what may stand there."""

    kind: FileKind
    span: Span
    fault: Fault
    owner: str
    where: str
    key: str
    message: str
    allowed: tuple[str, ...] = ()
    by_revision: bool = False

    @property
    def closest(self) -> str:
        """The allowed key with the nearest name."""
        return closest(self.key, self.allowed) if self.fault == "unknown-key" else ""


def shapes(context: Context) -> tuple[Shape, ...]:
    """Everything of a wrong shape, at most 500 things for each kind of file."""
    found: list[Shape] = []
    for look in (_entries, _runner_table, _changelog, _golden, _recipes):
        for number, shape in enumerate(look(context)):
            if number >= MAX_SHAPES:
                break
            found.append(shape)
    return tuple(found)


def dotted(place: Sequence[str | int]) -> str:
    """A place as text: `scenarios.fixed-seq-len[0].tp`."""
    text = ""
    for step in place:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


# -------------------------------------------------------------------------------------------------- by the revision


def _classified(complaint: Complaint) -> tuple[Fault, str]:
    message = complaint[1]
    if (match := _UNKNOWN.fullmatch(message)) is not None:
        return "unknown-key", match[1]
    if (match := _MISSING.fullmatch(message)) is not None:
        return "missing-key", match[1]
    return "value", str(complaint[0][-1]) if complaint[0] else ""


def _shape(kind: FileKind, span: Span, owner: str, complaint: Complaint, validation: Validation, model: str) -> Shape:
    place, message = complaint
    fault, key = _classified(complaint)
    above: Place = place[:-1] if fault == "unknown-key" else place
    allowed = allowed_keys(validation, model, above) if fault == "unknown-key" else ()
    return Shape(kind, span, fault, owner, dotted(place), key, message, allowed, by_revision=True)


def _entries(context: Context) -> Iterator[Shape]:
    configs = context.configs
    wrong = [problem for problem in configs.problems if problem.kind in ("config-invalid", "duplicate-entry")]
    if not wrong:
        return
    validation = configs.facts.validation
    for problem in wrong:
        if problem.kind == "duplicate-entry" or "'*'" in problem.message:
            yield Shape("master config", problem.span, "value", "", "", "", problem.message, by_revision=True)
    for entry in configs.entries.values():
        multi = isinstance(entry.values, dict) and bool(entry.values.get("multinode"))
        model = MULTI_NODE if multi and MULTI_NODE in validation.models else SINGLE_NODE
        for complaint in complaints(validation, entry.values):
            span = entry.span_of(complaint[0])
            yield _shape("master config", span, entry.name, complaint, validation, model)


def own_validation(context: Context) -> Validation | None:
    """The classes of the revision's validator, those for changelog and runner table included."""
    for path in GENERATOR_PATHS:
        if not context.files.is_file(path):
            continue
        checks = context.files.text(f"{path.rpartition('/')[0]}/validation.py")
        if checks is None or CHANGELOG_CLASS not in checks.text:
            return None
        source = PythonSource.parse(checks.text)
        return read_validation(source, source) if source is not None else None
    return None


def _place_of(root: yaml.Node | None, place: Sequence[str | int], otherwise: Span) -> Span:
    """Where a place is written: its key or its first line, else what is above it."""
    for length in range(len(place), 0, -1):
        above = yaml.find(root, place[: length - 1])
        step = place[length - 1]
        if isinstance(above, yaml.Mapping) and (key := _key_node(above, step)) is not None:
            return key.span
        if isinstance(above, yaml.Sequence) and (item := yaml.find(above, (step,))) is not None:
            return first_line(item.span)
    return otherwise


def _key_node(mapping: yaml.Mapping, step: str | int) -> yaml.Scalar | None:
    """The key of a step; a schema sees keys as texts, YAML has numbers too."""
    found = mapping.key_node(step)
    if found is None and isinstance(step, str) and _NUMBER.fullmatch(step):
        found = mapping.key_node(int(step))
    return found


def _runner_table(context: Context) -> Iterator[Shape]:
    runners = context.runners
    if runners.path is None:
        return
    document = context.yaml(runners.path)
    root = document.root if document is not None else None
    start = Span(runners.path, 1, 1, 1, 1)
    validation = context.once(own_validation)
    if isinstance(root, yaml.Mapping) and validation is not None and RUNNER_CLASS in validation.models:
        plain = yaml.to_plain(root)
        for complaint in model_complaints(validation, RUNNER_CLASS, plain):
            yield _shape("runner table", _place_of(root, complaint[0], start), "", complaint, validation, RUNNER_CLASS)
    for problem in runners.problems:
        if problem.kind == "runners-invalid":
            yield Shape("runner table", problem.span, "value", "", "", "", problem.message, by_revision=True)


def _changelog(context: Context) -> Iterator[Shape]:
    document = context.yaml(CHANGELOG)
    if document is None or document.root is None or document.lost:
        return
    start = Span(CHANGELOG, 1, 1, 1, 1)
    if not isinstance(document.root, yaml.Sequence):
        yield Shape("changelog", start, "value", "", "", "", "the changelog must be a list of entries")
        return
    validation = context.once(own_validation)
    if validation is None or CHANGELOG_CLASS not in validation.models:
        return
    for number, node in enumerate(document.root.items):
        plain = yaml.to_plain(node)
        owner = f"entry {number + 1}"
        for complaint in model_complaints(validation, CHANGELOG_CLASS, plain):
            span = _place_of(node, complaint[0], first_line(node.span))
            yield _shape("changelog", span, owner, complaint, validation, CHANGELOG_CLASS)


# ----------------------------------------------------------------------------------------------------- by our schemas

_NUMBER = re.compile(r"\d{1,9}")
_REQUIRED = re.compile(r"'([^']+)' is a required property")


def _golden(context: Context) -> Iterator[Shape]:
    for path in context.files.paths(GOLDEN):
        document = context.yaml(path) if path.endswith((".yaml", ".yml")) else None
        if document is None or document.root is None or document.lost:
            continue
        plain = _text_keys(yaml.to_plain(document.root))
        if quick_check(GOLDEN_SCHEMA, plain):
            continue
        start = Span(path, 1, 1, 1, 1)
        for place, message in schema_errors(GOLDEN_SCHEMA, plain):
            for where, text in _unfolded(GOLDEN_SCHEMA, plain, place, message):
                span = _place_of(document.root, where, start)
                yield Shape("golden acceptance", span, "value", "", dotted(where), _last(where), text)


GOLDEN_SCHEMA = "golden-acceptance.schema.json"


def _unfolded(
    schema: str, value: object, place: Sequence[str | int], message: str
) -> Iterator[tuple[Sequence[str | int], str]]:
    """The error, or one for each key of a mapping that the schema does not know."""
    if "unexpected" not in message:
        yield place, message
        return
    known = known_properties(schema, place)
    for step in place:
        value = value[step] if isinstance(value, dict | list) else None  # type: ignore[index]
    for key in value if isinstance(value, dict) else ():
        if key not in known:
            yield [*place, key], f"unknown key '{key}'"


def _text_keys(value: object, depth: int = 0) -> object:
    """The value with its keys as texts, as JSON has them."""
    if isinstance(value, dict) and depth < MAX_DEPTH:
        return {str(key): _text_keys(inner, depth + 1) for key, inner in value.items()}
    return value


def _last(place: Sequence[str | int]) -> str:
    return str(place[-1]) if place else ""


def _recipes(context: Context) -> Iterator[Shape]:
    for recipe in context.once(recipe_files).values():
        seen: set[tuple[str, Span]] = set()
        for job in recipe.jobs(None) if recipe.root else ():
            plain = {name: item.plain for name, item in job.branch.items()}
            if quick_check(RECIPE_SCHEMA, plain):
                continue
            for shape in _recipe_shapes(recipe, job.branch, plain):
                if (shape.message, shape.span) not in seen:
                    seen.add((shape.message, shape.span))
                    yield shape


RECIPE_SCHEMA = "srt-slurm-recipe.schema.json"


def _recipe_shapes(recipe: RecipeFile, branch: Branch, plain: dict[str, object]) -> Iterator[Shape]:
    start = Span(recipe.path, 1, 1, 1, 1)
    for place in take_unknown(RECIPE_SCHEMA, plain):
        span, key = _branch_place(branch, place) or start, _last(place)
        allowed = tuple(known_properties(RECIPE_SCHEMA, place[:-1]))
        yield Shape("recipe", span, "unknown-key", "", dotted(place), key, f"unknown key '{key}'", allowed)
    if quick_check(RECIPE_SCHEMA, plain):
        return
    for where, message in schema_errors(RECIPE_SCHEMA, plain):
        needed = _REQUIRED.match(message)
        fault: Fault = "missing-key" if needed else "value"
        span = _branch_place(branch, where) or start
        yield Shape("recipe", span, fault, "", dotted(where), needed[1] if needed else _last(where), message)


def _branch_place(branch: Branch, place: Sequence[str | int]) -> Span | None:
    """Where a place of a recipe's job is written, or what is above it."""
    found: Span | None = None
    below: Branch | None = branch
    for number, step in enumerate(place):
        item = below.get(str(step)) if below is not None else None
        if item is None:
            return found
        found = item_span(item)
        below = item.branch
        if below is None:
            inner = place[number + 1 :]
            node = yaml.find(item.node, inner) if inner else None
            return first_line(node.span) if node is not None else found
    return found

"""Master configs and runner table of a revision, with a place for every value, and what the generator would refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from botlint.core.span import Problem, Span
from botlint.documents import yaml
from botlint.layouts.inferencex.entry_models import Place, complaints
from botlint.layouts.inferencex.generator_facts import GeneratorFacts, read_generator_facts
from botlint.repo.files import Files

CONFIG_FOLDERS = ("configs", ".github/configs")
MASTER_SUFFIX = "-master.yaml"
RUNNERS_NAME = "runners.yaml"


@dataclass(frozen=True, slots=True)
class ConfigEntry:
    """One key of a master config: its values as PyYAML loads them, and the nodes that say where they are written."""

    name: str
    span: Span
    node: yaml.Node
    values: Any

    def span_of(self, place: Place) -> Span:
        """Where a place of the entry is written: its key, the first line of its list item, or what is above it."""
        for length in range(len(place), 0, -1):
            parent = yaml.find(self.node, place[: length - 1])
            step = place[length - 1]
            if isinstance(parent, yaml.Mapping) and (key := parent.key_node(step)) is not None:
                return key.span
            if isinstance(parent, yaml.Sequence) and (item := yaml.find(parent, (step,))) is not None:
                return first_line(item.span)
        return self.span


@dataclass(frozen=True, slots=True)
class Configs:
    """All entries of all master configs in the generator's order."""

    paths: tuple[str, ...]
    entries: Mapping[str, ConfigEntry]
    problems: tuple[Problem, ...]
    facts: GeneratorFacts


@dataclass(frozen=True, slots=True)
class Runner:
    """A concrete runner: its name starts with the launcher's name."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class Hardware:
    """What one node of a label has, as far as the generator needs it."""

    available_cpu_dram_mib: int
    gpus_per_node: int
    span: Span


@dataclass(frozen=True, slots=True)
class Runners:
    """The runner table: scheduling labels with their runners sorted by name, and the hardware table."""

    path: str | None
    labels: Mapping[str, tuple[Runner, ...]]
    label_spans: Mapping[str, Span]
    hardware: Mapping[str, Hardware]
    problems: tuple[Problem, ...]

    def for_label(self, label: str) -> tuple[Runner, ...]:
        """The runners that may take a job with this label; none for an unknown label."""
        return self.labels.get(label, ())


def first_line(span: Span) -> Span:
    """The part of a span on its first line (its end is open when it goes on)."""
    return span if span.line == span.end_line else Span(span.path, span.line, span.column, span.line, span.column + 1)


def config_folder(files: Files) -> str | None:
    """The folder that holds the master configs: it moved once, and the newer place wins."""
    for folder in CONFIG_FOLDERS:
        if any(_is_master(folder, path) for path in files.paths(folder)):
            return folder
    return None


def _is_master(folder: str, path: str) -> bool:
    return path.endswith(MASTER_SUFFIX) and path.rpartition("/")[0] == folder


def load_configs(files: Files) -> Configs:
    """Read every `*-master.yaml` next to the runner table (not those in sub-folders), in the order of their paths."""
    facts = read_generator_facts(files)
    folder = config_folder(files)
    paths = [path for path in files.paths(folder) if _is_master(folder, path)] if folder else []
    entries: dict[str, ConfigEntry] = {}
    problems: list[Problem] = []
    for path in paths:
        source = files.text(path)
        if source is None:
            continue
        document = yaml.load_yaml(source.text, path)
        problems.extend(document.problems)
        for entry, problem in _entries(document):
            if problem is not None:
                problems.append(problem)
            known = entries.get(entry.name)
            if known is not None and known.span.path != path:
                message = f"entry '{entry.name}' is already in {known.span.path} on line {known.span.line}"
                problems.append(Problem(message, entry.span, "duplicate-entry"))
                continue
            entries[entry.name] = entry
    for entry in entries.values():
        problems.extend(_entry_problems(facts, entry))
    return Configs(tuple(paths), entries, tuple(problems), facts)


def _entries(document: yaml.YamlDocument) -> Iterator[tuple[ConfigEntry, Problem | None]]:
    root = document.root
    if not isinstance(root, yaml.Mapping):
        return
    values = yaml.to_plain(root)
    for key, node in root.pairs():
        problem = None
        if "*" in key.text:
            problem = Problem("'*' is not allowed in the name of an entry", key.span, "config-invalid")
        yield ConfigEntry(key.text, key.span, node, values.get(key.value)), problem


def _entry_problems(facts: GeneratorFacts, entry: ConfigEntry) -> Iterator[Problem]:
    for place, message in complaints(facts.validation, entry.values):
        yield Problem(f"{entry.name}: {message}", entry.span_of(place), "config-invalid")


def load_runners(files: Files) -> Runners:
    """Read the runner table; before it had `labels:` its whole top level was the labels."""
    folder = config_folder(files)
    candidates = [f"{place}/{RUNNERS_NAME}" for place in ((folder,) if folder else CONFIG_FOLDERS)]
    for path in candidates:
        source = files.text(path)
        if source is not None:
            return _runners(yaml.load_yaml(source.text, path))
    return Runners(None, {}, {}, {}, ())


def _runners(document: yaml.YamlDocument) -> Runners:
    problems = list(document.problems)
    root = document.root
    start = Span(document.path, 1, 1, 1, 1)
    if not isinstance(root, yaml.Mapping):
        problems.append(Problem("the runner table must be a mapping", start, "runners-invalid"))
        return Runners(document.path, {}, {}, {}, tuple(problems))
    labels_node = root.get("labels")
    hardware_node = root.get("hardware")
    if not isinstance(labels_node, yaml.Mapping):
        labels_node, hardware_node = root, None
    labels: dict[str, tuple[Runner, ...]] = {}
    spans: dict[str, Span] = {}
    for key, value in labels_node.pairs():
        items = value.items if isinstance(value, yaml.Sequence) else []
        names = sorted(
            (item for item in items if isinstance(item, yaml.Scalar) and isinstance(item.value, str)),
            key=lambda item: item.text,
        )
        if not items or len(names) != len(items):
            message = f"label '{key.text}' must be a list of runner names that is not empty"
            problems.append(Problem(message, key.span, "runners-invalid"))
        labels[key.text] = tuple(Runner(item.text, item.span) for item in names)
        spans[key.text] = key.span
    hardware: dict[str, Hardware] = {}
    for key, value in hardware_node.pairs() if isinstance(hardware_node, yaml.Mapping) else ():
        known = _hardware(value, key.span)
        if known is None:
            message = f"hardware of '{key.text}' needs 'available-cpu-dram-mib' and 'gpus-per-node', both above 0"
            problems.append(Problem(message, key.span, "runners-invalid"))
        else:
            hardware[key.text] = known
    return Runners(document.path, labels, spans, hardware, tuple(problems))


def _hardware(node: yaml.Node, span: Span) -> Hardware | None:
    dram, gpus = (yaml.to_plain(yaml.find(node, (key,))) for key in ("available-cpu-dram-mib", "gpus-per-node"))
    if type(dram) is int and type(gpus) is int and dram > 0 and gpus > 0:
        return Hardware(dram, gpus, span)
    return None

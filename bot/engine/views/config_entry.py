"""Entries of master configs: their fields next to their key, to each other and to the runner table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from botlint.engine.analysis.entry_names import PUBLISHED, formats_of, read_name, same_framework
from botlint.engine.analysis.images import fault
from botlint.engine.analysis.runners import CLUSTER, hardware, launcher_of, launchers
from botlint.engine.analysis.spelling import closest
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View
from botlint.layouts.inferencex.configs import ConfigEntry

FIELDS = ("image", "model", "model-prefix", "precision", "framework", "runner")
MAX_LISTED = 12


@dataclass(frozen=True, slots=True)
class _Usual:
    """How often each value of a field is used, and the prefixes of each model."""

    prefixes: Counter[str]
    precisions: Counter[str]
    frameworks: Counter[str]
    of_model: Mapping[str, Counter[str]]


def _usual(context: Context) -> _Usual:
    prefixes: Counter[str] = Counter()
    precisions: Counter[str] = Counter()
    frameworks: Counter[str] = Counter()
    of_model: dict[str, Counter[str]] = {}
    for entry in context.configs.entries.values():
        if not isinstance(entry.values, dict):
            continue
        model, prefix = str(entry.values.get("model")), str(entry.values.get("model-prefix"))
        prefixes[prefix] += 1
        precisions[str(entry.values.get("precision"))] += 1
        frameworks[str(entry.values.get("framework"))] += 1
        of_model.setdefault(model, Counter())[prefix] += 1
    return _Usual(prefixes, precisions, frameworks, of_model)


def _build(context: Context, _chain: Chain) -> Iterator[Core]:
    for entry in context.configs.entries.values():
        if isinstance(entry.values, dict):
            yield _core(context, entry, entry.values)


def _core(context: Context, entry: ConfigEntry, fields: Mapping[str, object]) -> Core:
    usual = context.once(_usual)
    name = read_name(entry.name)
    values: dict[str, FactValue] = {
        "name": entry.name,
        "path": entry.span.path,
        "name_precisions": list(name.precisions),
        "name_hardware": list(name.hardware),
        "name_frameworks": list(name.frameworks),
        "multinode": bool(fields.get("multinode", False)),
    }
    text = {field: value for field in FIELDS if isinstance(value := fields.get(field), str)}
    for field, value in text.items():
        values[field.replace("-", "_")] = value
    if (prefix := text.get("model-prefix")) is not None:
        known = [one for one in usual.prefixes if one != prefix and entry.name.startswith(f"{one}-")]
        values |= {
            "prefix_starts_name": entry.name.startswith(f"{prefix}-") or entry.name == prefix,
            "prefix_entries": usual.prefixes[prefix],
            "prefix_in_name": max(known, key=len, default=""),
        }
    if (precision := text.get("precision")) is not None:
        values |= {
            "precision_published": precision in PUBLISHED,
            "precision_entries": usual.precisions[precision],
            "known_precisions": list(PUBLISHED),
        }
    if (framework := text.get("framework")) is not None:
        values |= {
            "framework_in_name": same_framework(name.frameworks, framework),
            "framework_entries": usual.frameworks[framework],
            "closest_framework": ""
            if usual.frameworks[framework] > 1
            else closest(framework, [one for one in usual.frameworks if one != framework]),
        }
    if (model := text.get("model")) is not None:
        values["model_formats"] = list(formats_of(model))
        others = usual.of_model[model]
        values["model_prefixes"] = [one for one, _ in others.most_common(MAX_LISTED)]
    if (image := text.get("image")) is not None:
        values["image_fault"] = fault(image)
    if (label := text.get("runner")) is not None:
        _add_runner(context, values, label)
    anchors: dict[str, Anchor] = {"name": entry.span}
    for field in FIELDS:
        anchors[field.replace("-", "_")] = entry.span_of((field,))
    return Core(entry.name, values, anchors)


def _add_runner(context: Context, values: dict[str, FactValue], label: str) -> None:
    table = context.runners
    values["hardware"] = hardware(label)
    values["runner_is_cluster"] = label.startswith(CLUSTER)
    if not table.labels:
        return
    values["runner_known"] = label in table.labels
    values["closest_runner"] = label
    if label not in table.labels:
        # Another GPU's label is no help.
        near = closest(label, [one for one in table.labels if hardware(one) == hardware(label)])
        cluster = f"{CLUSTER}{label}"
        values["closest_runner"] = cluster if cluster in table.labels else near
    values["runner_table"] = table.path or ""
    there = context.once(launchers)
    if there:
        names = [runner.name for runner in table.for_label(label)]
        lost = dict.fromkeys(path for name in names if (path := launcher_of(context, name)) not in there)
        values["missing_launchers"] = list(lost)


VIEW = View(
    name="config_entry",
    doc="An entry of a master config: its fields, and what its key says.",
    facts=(
        Fact("name", "string", "key of the entry"),
        Fact("path", "string", "the master config"),
        Fact("multinode", "bool", "several nodes"),
        Fact("image", "string", "container image"),
        Fact("image_fault", "string", "what is wrong with the form of the image, empty if nothing is"),
        Fact("model", "string", "model, as ORG/NAME"),
        Fact("model_formats", "list<string>", "number formats that the model's name says"),
        Fact("model_prefix", "string", "short name of the model"),
        Fact("model_prefixes", "list<string>", "prefixes that entries with this model have, the most used first"),
        Fact("prefix_starts_name", "bool", "the key begins with the prefix"),
        Fact("prefix_entries", "int", "entries with this prefix"),
        Fact("prefix_in_name", "string", "another entry's prefix with which this key begins, empty without one"),
        Fact("precision", "string", "precision on the label"),
        Fact("precision_published", "bool", "results are published under this precision"),
        Fact("precision_entries", "int", "entries with this precision"),
        Fact("known_precisions", "list<string>", "precisions under which results are published"),
        Fact("framework", "string", "framework on the label"),
        Fact("framework_in_name", "bool", "the key names the framework's engine"),
        Fact("framework_entries", "int", "entries with this framework"),
        Fact("closest_framework", "string", "another entry's framework with the nearest name"),
        Fact("runner", "string", "label that picks the runner"),
        Fact("runner_known", "bool", "the runner table has the label"),
        Fact("runner_is_cluster", "bool", "the label is of the form cluster:NAME"),
        Fact("closest_runner", "string", "the label with the nearest name, empty if none is near"),
        Fact("runner_table", "string", "the runner table"),
        Fact("missing_launchers", "list<string>", "launcher scripts of the label's runners that are not there"),
        Fact("hardware", "string", "hardware that the label begins with: b300 of cluster:b300-nv"),
        Fact("name_precisions", "list<string>", "precisions among the words of the key"),
        Fact("name_hardware", "list<string>", "hardware among the words of the key"),
        Fact("name_frameworks", "list<string>", "engines among the words of the key"),
    ),
    anchors={
        "name": "the key",
        "image": "the image",
        "model": "the model",
        "model_prefix": "the model-prefix",
        "precision": "the precision",
        "framework": "the framework",
        "runner": "the runner label",
    },
    build=_build,
)

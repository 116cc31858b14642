"""What the names around a call say it runs (`8k1k`, a model's prefix), against what it passes."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.documents.expressions import to_text
from botlint.documents.workflow import Field, Job
from botlint.documents.yaml import Mapping as YamlMapping
from botlint.documents.yaml import Scalar
from botlint.engine.analysis.workflow_calls import WorkflowCall, workflow_calls

if TYPE_CHECKING:
    from botlint.engine.context import Context

_SEQUENCE = re.compile(r"(?<![0-9a-zA-Z])(\d{1,3})k(\d{1,3})k(?![0-9a-zA-Z])")
_KIBI = 1024


@dataclass(frozen=True, slots=True)
class Label:
    """What a name says: the text in it, the value that follows, and where the name is."""

    text: str
    value: str
    source: str
    span: Span


def _text(pair: Field | None) -> str:
    return str(to_text(pair.evaluate({}))) if pair is not None and pair.constant else ""


def _names(call: WorkflowCall) -> list[tuple[str, str, Span]]:
    """The names around a call, the nearest first: kind, text, place."""
    found: list[tuple[str, str, Span]] = []
    named = call.given.get("exp-name")
    if named is not None and _text(named):
        found.append(("exp-name", _text(named), named.span))
    found.append(("the job's id", call.job.id, call.job.span))
    name = call.file.node("jobs", call.job.id, "name")
    if isinstance(name, Scalar) and "${{" not in name.text:
        found.append(("the job's name", name.text, name.span))
    stem = call.file.path.rpartition("/")[2].rpartition(".")[0]
    found.append(("the file's name", stem, Span(call.file.path, 1, 1, 1, 1)))
    return found


def length_label(call: WorkflowCall, name: str) -> Label | None:
    """The length that the nearest name with a pair such as `8k1k` gives `isl` or `osl`; None where there is none."""
    if name not in ("isl", "osl"):
        return None
    for source, text, span in _names(call):
        pairs = {(int(m[1]), int(m[2]), m[0]) for m in _SEQUENCE.finditer(text.lower())}
        if len(pairs) == 1:
            first, second, shown = pairs.pop()
            return Label(shown, str((first if name == "isl" else second) * _KIBI), source, span)
        if pairs:
            return None
    return None


def prefixes(context: Context) -> frozenset[str]:
    """The short names of models: those of the master configs, and those that experiment names of calls start with."""
    return context.once(_prefixes)


def _prefixes(context: Context) -> frozenset[str]:
    found: set[str] = set()
    for entry in context.configs.entries.values():
        node = entry.node.get("model-prefix") if isinstance(entry.node, YamlMapping) else None
        if isinstance(node, Scalar):
            found.add(node.text)
    for call in workflow_calls(context):
        name = _text(call.given.get("exp-name"))
        if "_" in name:
            found.add(name.partition("_")[0])
    return frozenset(one.lower() for one in found if one)


def _words(text: str, known: Iterable[str]) -> list[str]:
    """The known names that a text holds as words, longer ones before their parts."""
    rest = text.lower()
    found: list[str] = []
    for name in sorted(known, key=len, reverse=True):
        pattern = rf"(?<![0-9a-z.]){re.escape(name)}(?![0-9a-z.])"
        if re.search(pattern, rest):
            found.append(name)
            rest = re.sub(pattern, " ", rest)
    return found


def model_label(call: WorkflowCall, value: str, known: frozenset[str]) -> Label | None:
    """The model that the job's id names, where an experiment's name starts with another; None where they agree."""
    own = value.partition("_")[0].lower()
    if own not in known:
        return None
    named = _words(call.job.id, known)
    if len(named) != 1 or named[0] == own:
        return None
    return Label(named[0], named[0], "the job's id", call.job.span)


def source_label(job: Job, read: str, known: frozenset[str]) -> str:
    """The model in the name of the job whose output a matrix reads, if it is another than in the job's own id."""
    own, other = _words(job.id, known), _words(read, known)
    return other[0] if len(own) == 1 and len(other) == 1 and own != other else ""

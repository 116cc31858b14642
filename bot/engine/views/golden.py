"""Golden acceptance lengths: what a repository has committed for a model at a draft length."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from botlint.core.span import Span
from botlint.documents.yaml import Mapping as MappingNode
from botlint.documents.yaml import YamlDocument, to_plain
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, View

FOLDER = "golden_al_distribution/"
"""Where the curves are, one file each: model -> thinking_on | thinking_off -> draft length -> accepted tokens."""

MODE = "thinking_on"
"""The mode for which acceptance is simulated."""

_FORMATS = re.compile(
    r"[-_.](?:fp8|fp4|nvfp4|mxfp4|mxfp6|mxfp8|int4|int8|bf16|w4a8|w4a16|w8a8|awq|gptq|preview)(?:[-_.]v\d+)?(?=[-_.]|$)"
)
"""Parts of a model's name that say in which numbers its weights are."""

_SAMPLING = frozenset({"probabilistic", "greedy", "standard", "block", "sample", "rejection", "method", "and"})
"""Words of a curve's file name that are about sampling, not about the draft model."""


@dataclass(frozen=True, slots=True)
class Curve:
    """Accepted tokens by draft length, as one file has them for one model."""

    path: str
    model: str
    words: frozenset[str]
    lengths: Mapping[int, tuple[float, Span]]


def plain_model(name: str) -> str:
    """A model's name without its owner, its folder, and the number format of its weights."""
    base = name.rstrip("/").rsplit("/", 1)[-1].lower()
    for _ in range(4):
        shorter = _FORMATS.sub("", base)
        if shorter == base:
            break
        base = shorter
    return base


def curves(context: Context) -> Mapping[str, tuple[Curve, ...]]:
    """The curves by plain model name."""
    found: dict[str, list[Curve]] = {}
    for path in context.files.paths(FOLDER.rstrip("/")):
        if path.startswith(FOLDER) and path.endswith((".yaml", ".yml")):
            document = context.yaml(path)
            for curve in _curves(document, path) if document is not None else ():
                found.setdefault(curve.model, []).append(curve)
    return {model: tuple(own) for model, own in found.items()}


def _curves(document: YamlDocument, path: str) -> Iterator[Curve]:
    root = document.root
    words = frozenset(re.split(r"[-_.]", path[len(FOLDER) :].rsplit(".", 1)[0].lower()))
    for name, modes in root.items if isinstance(root, MappingNode) else ():
        points = modes.get(MODE) if isinstance(modes, MappingNode) else None
        lengths: dict[int, tuple[float, Span]] = {}
        for key, node in points.items if isinstance(points, MappingNode) else ():
            steps, value = to_plain(key), to_plain(node)
            if type(steps) is int and isinstance(value, (int, float)):
                lengths[steps] = (float(value), node.span)
        if lengths:
            yield Curve(path, plain_model(name.text), words, lengths)


def fitting(curves: tuple[Curve, ...], draft: str) -> tuple[Curve, ...]:
    """The curves that may be those of a draft model: words that only some files have must be in its name or not be."""
    common = frozenset.intersection(*(one.words for one in curves))
    telling = frozenset.union(*(one.words for one in curves)) - common - _SAMPLING
    if not draft or not telling:
        return curves
    own = frozenset(re.split(r"[-_.]", draft.rstrip("/").rsplit("/", 1)[-1].lower()))
    return tuple(one for one in curves if one.words & telling == own & telling) or curves


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    server = chain[1].values
    model, steps = chain[0].values.get("job.model"), server.get("server.spec_steps")
    draft, length = server.get("server.draft_model"), server.get("server.synthetic_length")
    if not isinstance(model, str) or type(steps) is not int or not isinstance(draft, str):
        return
    known = context.once(curves).get(plain_model(model))
    if known is None:
        return
    points = [(one.path, *one.lengths[steps]) for one in fitting(known, draft) if steps in one.lengths]
    values: dict[str, object] = {
        "golden.steps": steps,
        "golden.longest": max(max(one.lengths) for one in known),
        "golden.known": bool(points),
        "golden.files": [path for path, _, _ in points],
        "golden.shown": " or ".join(dict.fromkeys(f"{value:g}" for _, value, _ in points)),
    }
    nearest = None
    if points:
        values["golden.length"] = points[0][1]
        if isinstance(length, float):
            nearest = min(points, key=lambda one: abs(one[1] - length))
            values["golden.length"] = nearest[1]
            values["golden.distance"] = abs(nearest[1] - length)
    elsewhere = [
        (at, value) for one in known for at, (value, _) in one.lengths.items() if value == length and at != steps
    ]
    values["golden.other_steps"] = elsewhere[0][0] if elsewhere else 0
    place = nearest or (points[0] if points else None)
    yield Core(model, values, {"golden": place[2] if place is not None else None})


VIEW = View(
    name="golden",
    doc="The committed acceptance lengths of a server's model at its draft length, where there are any for the model.",
    facts=(
        Fact("steps", "int", "draft length of the server"),
        Fact("known", "bool", "there is a value for this draft length"),
        Fact("longest", "int", "longest draft length that was measured"),
        Fact("files", "list<string>", "files that have a value for it"),
        Fact("length", "double", "the value that is nearest to what the server simulates"),
        Fact("shown", "string", "all values that may be meant (curves differ by sampling), for messages"),
        Fact("distance", "double", "difference between what the server simulates and the nearest value"),
        Fact("other_steps", "int", "draft length for which the simulated value is the committed one, 0 if for none"),
    ),
    anchors={"golden": "the value in the file of the curve"},
    build=_build,
    parent="server",
)

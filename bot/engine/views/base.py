"""What rules look at: views of a revision as records of typed facts with places.

A view is a kind of thing (a job, a server, a workflow's input, a script). It gives records; a record has facts, named
`view.fact` in rules, and anchors, the places that a rule can point at. A fact that is not known is left out: a
predicate that needs it is then undecided and the rule silent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from botlint.core.span import Span
from botlint.engine.watch import Watch

if TYPE_CHECKING:
    from botlint.engine.context import Context

FactType = Literal[
    "string", "int", "double", "bool", "list<string>", "list<int>", "map<string,string>", "map<string,dyn>", "list<dyn>"
]

FactValue = object
"""A value that CEL takes: str, int, float, bool, or lists and dicts (with text keys) of them."""


@dataclass(frozen=True, slots=True)
class Fact:
    """One typed fact of a view; `name` is without the view's name."""

    name: str
    type: FactType
    doc: str


@dataclass(slots=True, eq=False)
class Core:
    """The facts and places of one thing.

    `key` says without a position which thing it is (a name): it becomes the subject of fingerprints.
    `children` are the records below it by view, with what was asked to make them.
    `unknown` names, per map fact, the keys that are there or may be there with a value that is not known.
    An anchor is a span, or a function that finds it when a finding needs it; `families` find the anchors `HEAD.NAME` of
    any name.
    """

    key: str
    values: Mapping[str, FactValue]
    anchors: Mapping[str, Anchor] = field(default_factory=dict)
    unknown: Mapping[str, frozenset[str]] = field(default_factory=dict)
    families: Mapping[str, Family] = field(default_factory=dict)
    children: dict[str, tuple[tuple[Core, ...], Watch]] = field(default_factory=dict, repr=False)
    source: object = field(default=None, repr=False)
    named: bool = field(default=False, repr=False)
    """Set when the facts have their full names."""

    def span(self, name: str, chain: Chain, context: Context) -> Span | None:
        """The place of an anchor, None if there is none."""
        anchor = self.anchors.get(name)
        head, dot, rest = name.partition(".")
        if anchor is None and dot and rest != "*" and head in self.families:
            return self.families[head](context, chain, rest)
        return anchor(context, chain) if callable(anchor) else anchor


Chain = tuple[Core, ...]
"""A record: the core of its view, after those of the views above it."""

Anchor = Span | None | Callable[["Context", Chain], Span | None]

Family = Callable[["Context", Chain, str], Span | None]
"""Finds the place of a name."""


@dataclass(frozen=True, slots=True)
class View:
    """A kind of thing that rules can range over.

    `build` gives the cores of a revision, or, for a view below another (`parent`), those of one core of the parent.
    `anchors` documents the places; the first is where a finding is put if its rule does not say. `HEAD.*` stands for
    an anchor `HEAD.NAME` of any name.
    """

    name: str
    doc: str
    facts: tuple[Fact, ...]
    anchors: Mapping[str, str]
    build: Callable[[Context, Chain], Iterable[Core]]
    parent: str | None = None

    def has_anchor(self, name: str) -> bool:
        """Whether a rule may name this anchor."""
        return name in self.anchors or f"{name.partition('.')[0]}.*" in self.anchors


def whole_line(path: str, line: int) -> Span:
    """The span of a line of which only the number is known."""
    return Span(path, line, 1, line, 1)


def no_place() -> Span:
    """The span of what is in no file: a pull request as a whole."""
    return Span("", 1, 1, 1, 1)

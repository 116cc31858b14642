"""All views by name, and what the expressions of each may use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

from botlint.engine.predicates import Vocabulary, full_names
from botlint.engine.views import VIEWS
from botlint.engine.views.base import Fact, View


@cache
def views() -> Mapping[str, View]:
    """Every view by its name."""
    return {view.name: view for view in VIEWS}


@cache
def lineage(name: str) -> tuple[View, ...]:
    """A view after those above it, the outermost first."""
    view = views()[name]
    return (*lineage(view.parent), view) if view.parent is not None else (view,)


@cache
def facts_of(name: str) -> Mapping[str, Fact]:
    """The facts that a rule over this view may use, by full name."""
    return {full: fact for view in lineage(name) for full, fact in full_names(view.name, view.facts).items()}


@cache
def vocabulary(name: str) -> Vocabulary:
    """What the expressions of rules over this view are compiled against."""
    return Vocabulary(facts_of(name))


def anchors_of(name: str) -> Sequence[str]:
    """The anchors that a rule over this view may name: its own first, then those of the views above."""
    return [anchor for view in reversed(lineage(name)) for anchor in view.anchors]

"""Which entries a change touches: by their fields, or by the scripts and recipes that their jobs run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.engine.analysis.changelog import added, matches
from botlint.engine.analysis.recipe_uses import used_recipes

if TYPE_CHECKING:
    from botlint.engine.context import Context
    from botlint.plan.model import LaunchPlan

MAX_FILES = 5_000


@dataclass(frozen=True, slots=True)
class ChangedEntry:
    """An entry that the change touches. `file` is what changed: the master config, a script or a recipe.

    `place` is where the server is started in a changed script, else the first changed line; `change` is that line.
    """

    entry: str
    place: Span
    change: Span
    file: str
    is_new: bool
    by_fields: bool
    listed: bool
    at: Span


def changed_entries(context: Context) -> tuple[ChangedEntry, ...]:
    """The entries that differ from the base in what they ask for or in the files that they run; none without a base."""
    base = context.base
    if base is None:
        return ()
    names = context.configs.entries
    covered = {name for entry in context.once(added) or () for key, _ in entry.keys for name in matches(key, names)}
    before = base.configs.entries
    found: dict[str, ChangedEntry] = {}
    for name, entry in names.items():
        old = before.get(name)
        if old is None or old.values != entry.values:
            span = entry.span
            found[name] = ChangedEntry(
                name, span, span, span.path, old is None, by_fields=True, listed=name in covered, at=span
            )
    for name, file, place, change in _by_files(context, base):
        if name not in found and name in names:
            at = names[name].span
            found[name] = ChangedEntry(name, place, change, file, False, by_fields=False, listed=name in covered, at=at)
    return tuple(found.values())


def _by_files(context: Context, base: Context) -> Iterator[tuple[str, str, Span, Span]]:
    """Entry, changed file, place and first changed line, for the first changed file of each entry."""
    changed: dict[str, int] = {}

    def first_change(path: str) -> int:
        if path not in changed and len(changed) < MAX_FILES:
            changed[path] = _first_change(context, base, path)
        return changed.get(path, 0)

    if not any(_differs(context, base, path) for path in context.files.paths("benchmarks")):
        return
    for plan in context.plans:
        for path in _scripts(plan):
            line = first_change(path)
            if line:
                change = _whole_line(path, line)
                yield plan.entry, path, _server_place(plan, path) or change, change
                break
    for path, entries in context.once(used_recipes).items():
        line = first_change(path)
        for entry in entries if line else ():
            yield entry, path, _whole_line(path, line), _whole_line(path, line)


def _whole_line(path: str, line: int) -> Span:
    return Span(path, line, 1, line, 1)


def _scripts(plan: LaunchPlan) -> Iterator[str]:
    """The files that start a job's server: the recipe script, and a recipe file of several nodes."""
    for launch in (plan.launch, *plan.others):
        if launch.recipe:
            yield launch.recipe
        if launch.server is not None and launch.server.path != launch.recipe:
            yield launch.server.path


def _server_place(plan: LaunchPlan, path: str) -> Span | None:
    for launch in (plan.launch, *plan.others):
        if launch.server is not None and launch.server.path == path:
            return _whole_line(path, launch.server.line)
    return None


def _differs(context: Context, base: Context, path: str) -> bool:
    return context.files.read(path) != base.files.read(path)


def _first_change(context: Context, base: Context, path: str) -> int:
    """The first line whose meaning changed, 0 if none did: comments and blank lines mean nothing."""
    ours, theirs = context.files.text(path), base.files.text(path)
    if ours is None or theirs is None or ours.text == theirs.text:
        return 0
    if path.endswith((".yaml", ".yml")):
        roots = [one.root if (one := side.yaml(path)) is not None else None for side in (context, base)]
        if yaml.to_plain(roots[0]) == yaml.to_plain(roots[1]):
            return 0
    here, before = _meaningful(ours.text), _meaningful(theirs.text)
    for (number, line), (_, old) in zip(here, before, strict=False):
        if line != old:
            return number
    if len(here) == len(before):
        return 0
    return here[min(len(here), len(before)) - 1][0] if here else 1


def _meaningful(text: str) -> list[tuple[int, str]]:
    """The lines without comments, blank lines and blanks at the end."""
    lines = ((number, line.rstrip()) for number, line in enumerate(text.split("\n"), 1))
    return [(number, line) for number, line in lines if line.strip() and not line.lstrip().startswith("#")]

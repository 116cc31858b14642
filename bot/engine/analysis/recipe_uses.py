"""Which recipes arms point at."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.engine.analysis import recipes
from botlint.engine.analysis.arms import ROLES, EntryArm, all_arms
from botlint.engine.analysis.runners import launchers_for
from botlint.engine.watch import small_value

if TYPE_CHECKING:
    from botlint.engine.context import Context


@dataclass(frozen=True, slots=True, eq=False)
class Use:
    """A setting of an arm that names a recipe."""

    arm: EntryArm
    setting: str
    argument: str
    span: Span


def uses(arm: EntryArm) -> Iterator[Use]:
    """The recipes that an arm names; the decode workers' setting wins over the same one of the prefill workers."""
    found: dict[str, Use] = {}
    for role in ROLES:
        worker = arm.values.get(role)
        settings = worker.get("additional-settings") if isinstance(worker, dict) else None
        for number, text in enumerate(settings if isinstance(settings, list) else ()):
            name, equals, value = text.partition("=") if isinstance(text, str) else ("", "", "")
            if equals and value and name in recipes.SETTINGS and "$" not in value:
                place = arm.place(role, "additional-settings", number)
                found[name] = Use(arm, name, value, place or arm.span)
    yield from found.values()


def recipe_of(context: Context, use: Use) -> str | None:
    """The repository's recipe that a setting names on the runners of its entry; None where there is none."""
    label = use.arm.entry.values.get("runner")
    return recipe_for(context, use.argument, label if isinstance(label, str) else "")


def recipe_of_base(context: Context, use: Use) -> str | None:
    """The recipe of the base that a setting of the head would name in it."""
    label = use.arm.entry.values.get("runner")
    return context.value_of_base(recipe_for, use.argument, label if isinstance(label, str) else "")


@small_value
def recipe_for(context: Context, argument: str, label: str) -> str | None:
    """The repository's recipe that an argument names on the runners of a label."""
    path = recipes.as_recipe_path(argument)[0]
    return context.once(recipes.overlays).find(path, launchers_for(context, label))


def used_recipes(context: Context) -> dict[str, list[str]]:
    """The repository's recipes that an arm points at, each with the entries that do."""
    found: dict[str, list[str]] = {}
    for arm in context.once(all_arms):
        for use in uses(arm):
            path = recipe_of(context, use)
            if path is not None:
                found.setdefault(path, []).append(arm.entry.name)
    return found

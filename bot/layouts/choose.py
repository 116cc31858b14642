"""Which layout a repository has, and the jobs of those layouts that bring their own starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from botlint.layouts.base import Loaded
from botlint.layouts.inferencex.configs import config_folder
from botlint.repo.files import Files

INFERENCEX = "inferencex"

Load = Callable[[Files, Mapping[str, object]], Loaded]
"""The jobs of a revision with the layout's options; never raises, what could not be read is a problem."""


@dataclass(frozen=True, slots=True)
class Kind:
    """A layout: how its repositories are known, and what makes their jobs."""

    recognise: Callable[[Files], bool]
    load: Load


@dataclass(frozen=True, slots=True)
class Choice:
    """The layout that settings ask for, with its options; without a name the files decide."""

    name: str = ""
    options: Mapping[str, object] = field(default_factory=dict)


AUTOMATIC = Choice()


def _is_atom(files: Files) -> bool:
    from botlint.layouts.atom.layout import recognise

    return recognise(files)


def _load_atom(files: Files, options: Mapping[str, object]) -> Loaded:
    from botlint.layouts.atom.layout import load

    return load(files, options)


def _has_recipes(files: Files) -> bool:
    from botlint.layouts.recipes.load import recognise

    return recognise(files)


def _load_recipes(files: Files, options: Mapping[str, object]) -> Loaded:
    from botlint.layouts.recipes.load import load

    return load(files, options)


def _has_scripts(files: Files) -> bool:
    from botlint.layouts.plain import recognise

    return recognise(files)


def _load_scripts(files: Files, options: Mapping[str, object]) -> Loaded:
    from botlint.layouts.plain import load

    return load(files, options)


KINDS: Mapping[str, Kind] = {
    "atom": Kind(_is_atom, _load_atom),
    "vllm-recipes": Kind(_has_recipes, _load_recipes),
    "plain": Kind(_has_scripts, _load_scripts),
}
"""The layouts beside the first, in the order in which they are looked for."""

NAMES = (INFERENCEX, *KINDS)


def recognised(files: Files) -> str:
    """The name of the layout that a repository's files have; empty where none can be told."""
    if config_folder(files) is not None:
        return INFERENCEX
    return next((name for name, kind in KINDS.items() if kind.recognise(files)), "")


def layout_of(files: Files) -> str:
    """The name of the layout that a repository's files have; the first one's where none can be told."""
    return recognised(files) or INFERENCEX


def load_jobs(files: Files, choice: Choice = AUTOMATIC) -> tuple[str, Loaded]:
    """The layout's name and its jobs; none for the first one, whose rows workflows bring to launchers."""
    name = choice.name or layout_of(files)
    kind = KINDS.get(name)
    return name, Loaded() if kind is None else kind.load(files, choice.options)

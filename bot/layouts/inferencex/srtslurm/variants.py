"""The jobs of a recipe file: one for a plain file, one for each selected variant of a file with `base` and overrides.

Source of the rules: NVIDIA/srt-slurm c88ef731, src/srtctl/core/config.py, generate_override_configs (line 340) and what
it calls, and src/srtctl/cli/submit.py, parse_config_arg (line 1153).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fnmatch import fnmatchcase

from botlint.documents.yaml import Sequence
from botlint.layouts.inferencex.srtslurm.tree import Branch, Budget, Item, list_lengths, merged, sliced

OVERRIDE = "override_"
ZIP = "zip_override_"
# More variants than this are not one benchmark's sweep.
MAX_VARIANTS = 200

_INDEXED = re.compile(r"(zip_override_[\w-]+)\[(\d{1,9})\]")
_SELECTOR = re.compile(r"base|override_\S+|zip_override_[\w-]+(?:\[\d+\])?|.*[*?].*", re.DOTALL)
MAX_PATTERN = 200


class SelectionError(Exception):
    """srtctl would refuse the selector or the override section; the message says why."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One job: `label` is what srtctl appends to its name, None for a plain file."""

    label: str | None
    branch: Branch


def split_argument(argument: str) -> tuple[str, str | None]:
    """Splits the `-f` argument of `srtctl apply` at its last colon into path and selector."""
    path, colon, selector = argument.rpartition(":")
    return (path, selector) if colon else (argument, None)


def select(root: Branch, selector: str | None, budget: Budget) -> list[Variant]:
    """The jobs that srtctl makes of the file; raises SelectionError.

    A selector on a file without `base` is ignored, as srtctl does (submit.py line 1281).
    """
    if selector is not None and not _SELECTOR.fullmatch(selector):
        raise SelectionError(
            f"{selector!r} is no selector: base, override_NAME, zip_override_NAME, zip_override_NAME[N] or a pattern"
        )
    if "base" not in root:
        return [Variant(None, root)]
    base = root["base"].branch
    if base is None:
        raise SelectionError("base is not a mapping")
    keys = [*sorted(k for k in root if k.startswith(OVERRIDE)), *sorted(k for k in root if k.startswith(ZIP))]
    if selector is None:
        return _expand_all(root, base, keys, budget)
    if selector == "base":
        return [Variant("base", base)]
    if (indexed := _INDEXED.fullmatch(selector)) is not None:
        found = _expand(root, base, _existing(root, indexed[1], keys), budget)
        index = int(indexed[2])
        if index >= len(found):
            raise SelectionError(f"{selector!r}: the section has {len(found)} variants, numbered from 0")
        return [found[index]]
    if "*" in selector or "?" in selector:
        matched = sorted(k for k in keys if fnmatchcase(k, selector[:MAX_PATTERN]))
        if not matched:
            raise SelectionError(f"no section matches {selector!r}; there are: {_listed(keys)}")
        return _expand_all(root, base, matched, budget)
    return _expand(root, base, _existing(root, selector, keys), budget)


def _existing(root: Branch, name: str, keys: list[str]) -> str:
    if name not in root:
        raise SelectionError(f"{name!r} is not in the file; there are: {_listed(keys)}")
    return name


def _listed(keys: list[str]) -> str:
    shown = ", ".join(keys[:8]) or "none"
    return f"{shown}, ..." if len(keys) > 8 else shown


def _expand_all(root: Branch, base: Branch, keys: list[str], budget: Budget) -> list[Variant]:
    variants: list[Variant] = []
    for key in keys:
        variants += _expand(root, base, key, budget)
        if len(variants) > MAX_VARIANTS:
            raise SelectionError(f"more than {MAX_VARIANTS} variants")
    return variants


def _expand(root: Branch, base: Branch, key: str, budget: Budget) -> list[Variant]:
    section = root[key].branch
    if section is None:
        raise SelectionError(f"{key} is not a mapping")
    if not key.startswith(ZIP):
        label = key.removeprefix(OVERRIDE)
        return [Variant(label, _named(merged(base, section), base, None if "name" in section else label, root[key]))]
    group = key.removeprefix(ZIP)
    lengths = list_lengths(section)
    if not lengths or 0 in lengths:
        raise SelectionError(f"{key} has no list to zip" if not lengths else f"{key} has an empty list")
    count = max(lengths)
    if any(length not in (1, count) for length in lengths):
        raise SelectionError(f"the lists of {key} have different lengths: {', '.join(map(str, sorted(set(lengths))))}")
    if count > MAX_VARIANTS:
        raise SelectionError(f"{key} has more than {MAX_VARIANTS} variants")
    has_names = "name" in section and isinstance(section["name"].node, Sequence)
    variants: list[Variant] = []
    for index in range(count):
        label = f"{group}_{index}"
        job = merged(base, sliced(section, index, budget))
        variants.append(Variant(label, _named(job, base, None if has_names else label, root[key])))
    return variants


def _named(job: Branch, base: Branch, label: str | None, section: Item) -> Branch:
    """The job with the name that srtctl makes where the section gives none."""
    if label is None:
        return job
    base_name = base["name"].plain if "name" in base else "unnamed"
    key, node = (base["name"].key, base["name"].node) if "name" in base else (section.key, section.key)
    job["name"] = Item(key, node, None, f"{base_name}_{label}")
    return job

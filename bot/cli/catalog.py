"""`botlint catalog`: look at the versioned facts, rebuild them, compare versions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from botlint.cli.common import Settings, common_options
from botlint.core.errors import CannotFinish, NothingToCheck, UsageError

if TYPE_CHECKING:
    from botlint.catalogs.builder import Target
    from botlint.catalogs.catalog import Catalog

_SECTIONS = ("flags", "environment", "options", "names")
_FORMAT = click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", help="How to print it.")


@click.group()
def catalog() -> None:
    """Versioned facts: what frameworks accept, what models and nodes are, what an image tag means."""


@catalog.command(context_settings={"ignore_unknown_options": True})
@click.argument("what")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--section", type=click.Choice(_SECTIONS), help="Only this section.")
@_FORMAT
@common_options
def show(settings: Settings, what: str, names: tuple[str, ...], section: str | None, form: str) -> int:
    """Show what WHAT accepts: a framework (all its versions), FRAMEWORK==VERSION, an image reference, `models`,
    `hardware`, or the life of single NAMEs (a flag, a variable, a backend).

    \b
    Examples:
      botlint catalog show vllm
      botlint catalog show vllm==0.27.1 --section names
      botlint catalog show vllm --moe-backend VLLM_ROCM_USE_AITER
      botlint catalog show vllm/vllm-openai-rocm:v0.27.1
      botlint catalog show hardware
    """
    result = _shown(what, names, section)
    with settings.open_output() as stream:
        stream.write(json.dumps(result, indent=2, default=_plain) + "\n" if form == "json" else _text(result))
    return 0


@catalog.command()
@click.argument("target", metavar="FRAMEWORK==VERSION")
@click.option("--source", type=click.Path(exists=True, file_okay=False, path_type=Path), help="An unpacked tree.")
@click.option("--into", type=click.Path(file_okay=False, path_type=Path), help="The folder with the catalogs.")
@click.option("--check", "only_check", is_flag=True, help="Write nothing; exit 1 when the catalog would change.")
@common_options
def build(settings: Settings, target: str, source: Path | None, into: Path | None, only_check: bool) -> int:
    """Regenerate one version from the package itself and merge it into its catalog.

    The package is downloaded by pip and read by its own argument parser in a separate, limited process. With the word
    `newer` instead of a version (`vllm==newer`), every release since the newest of the catalog is added.
    """
    from botlint.catalogs.builder import Target, newer_versions, parse_target
    from botlint.catalogs.catalog import data_folder

    folder = into or data_folder()
    framework, _, version = target.partition("==")
    if version == "newer":
        have = list(_data(folder, framework)["versions"])
        targets = [Target(framework, found) for found in newer_versions(framework, have)]
        if not targets:
            raise NothingToCheck(f"the catalog of {framework} has every release")
    else:
        targets = [parse_target(target)]
    changed = [_build_one(settings, folder, wanted, source, only_check) for wanted in targets]
    return 1 if only_check and any(changed) else 0


@catalog.command()
@click.argument("old", metavar="FRAMEWORK==A")
@click.argument("new", metavar="B")
@_FORMAT
@common_options
def diff(settings: Settings, old: str, new: str, form: str) -> int:
    """Print what changed between two versions of a framework: `botlint catalog diff vllm==0.26.0 0.27.1`."""
    from botlint.catalogs.catalog import read_data
    from botlint.catalogs.differences import compare, to_json, to_text
    from botlint.catalogs.snapshots import snapshot_at

    framework, _, first = old.partition("==")
    known = _catalog(framework)
    versions = [_version(known, text) for text in (first, new.removeprefix(f"{framework}=="))]
    data = read_data(f"{framework}.json")
    differences = compare(*(snapshot_at(data, version) for version in versions))
    with settings.open_output() as stream:
        if form == "json":
            plain = {"schema": "botlint.catalog-diff/1", "framework": framework, "from": versions[0], "to": versions[1]}
            stream.write(json.dumps({**plain, "sections": to_json(differences)}, indent=2) + "\n")
        else:
            stream.writelines(f"{line}\n" for line in to_text(differences))
    return 0


@catalog.command()
@click.argument("name", metavar="ORG/NAME")
@click.option("--refresh", is_flag=True, help="Fetch again even if it is known.")
@_FORMAT
@common_options
def model(settings: Settings, name: str, refresh: bool, form: str) -> int:
    """Print what is known of a model; one that is not in the catalog is fetched from the hub and kept in the cache."""
    from botlint.catalogs.cards import cache_folder, fetch_card
    from botlint.catalogs.models import find_model

    facts = find_model(name)
    if not facts.known or refresh:
        facts = fetch_card(name, cache_folder(), refresh=refresh or not settings.cache)
    known = {key: value for key, value in asdict(facts).items() if value is not None}
    with settings.open_output() as stream:
        stream.write(json.dumps(known, indent=2) + "\n" if form == "json" else _text(known))
    return 0


def _shown(what: str, names: tuple[str, ...], section: str | None) -> dict[str, Any]:
    from botlint.catalogs.catalog import FRAMEWORKS

    framework, _, version = what.partition("==")
    if what == "hardware":
        from botlint.catalogs.hardware import all_hardware

        return {key: _facts(value) for key, value in all_hardware().items() if not names or key in names}
    if what == "models":
        from botlint.catalogs.models import all_models

        return {key: _facts(value) for key, value in all_models().items() if not names or key in names}
    if framework in FRAMEWORKS:
        known = _catalog(framework)
        if names:
            return {name: _life(known, name, _version(known, version) if version else None) for name in names}
        return _at(known, _version(known, version), section) if version else _releases(known)
    if "/" in what or ":" in what:
        from botlint.catalogs.images import resolve_image

        return _facts(resolve_image(what))
    raise UsageError(f"{what!r} is neither a framework ({', '.join(FRAMEWORKS)}) nor an image reference")


def _releases(known: Catalog) -> dict[str, Any]:
    return {r.version: f"{r.released}, {r.source}" for r in known.releases}


def _at(known: Catalog, version: str, section: str | None) -> dict[str, Any]:
    parts: dict[str, Any] = {
        "flags": {name: _facts(value, "name") for name, value in known.flags_at(version).items()},
        "environment": {name: _facts(value, "name") for name, value in known.environment_at(version).items()},
        "options": {name: _facts(value, "name") for name, value in known.options_at(version).items()},
        "names": {group: list(known.names(group, version)) for group in known.groups},
    }
    return {key: value for key, value in parts.items() if section in (None, key)}


def _life(known: Catalog, name: str, version: str | None) -> dict[str, Any]:
    history = known.history(name)
    life: dict[str, Any] = {
        f"{event.version} {event.section}": f"{event.change} {', '.join(event.what)}".strip()
        for event in history.events
    }
    if history.instead:
        life["instead"] = history.instead
    here = version or known.newest
    found: Any = known.flag(name, here) or known.variable(name, here) or known.options_at(here).get(name)
    for group in known.groups if found is None else ():
        found = known.name(group, name, here) or found
    if found is None:
        sections = ("flags", "environment", *known.groups)
        near = (known.closest(name, here, part) for part in sections)
        life["closest"] = next((word for word in near if word), None)
    return {**life, f"at {here}": _facts(found) if found is not None else None}


def _facts(value: Any, *without: str) -> dict[str, Any]:
    """Return what is known of a value: fields that say something."""
    plain: dict[str, Any] = {name: getattr(value, name) for name in value.__dataclass_fields__ if name not in without}
    return {name: fact for name, fact in plain.items() if fact not in (None, False, (), "")}


def _text(value: Mapping[str, Any], indent: str = "") -> str:
    lines: list[str] = []
    for key, item in value.items():
        if isinstance(item, Mapping) and item:
            lines.append(f"{indent}{key}:\n{_text(item, indent + '  ')}")
        else:
            told = ", ".join(map(str, item)) if isinstance(item, list | tuple) else _word(item)
            lines.append(f"{indent}{key}: {told}\n")
    return "".join(lines)


def _word(item: Any) -> str:
    if isinstance(item, bool):
        return "yes" if item else "no"
    return "not there" if item is None else str(item)


def _plain(value: Any) -> Any:
    if isinstance(value, date | datetime):
        return value.isoformat()
    return dict(value)


def _catalog(framework: str) -> Catalog:
    from botlint.catalogs.catalog import UnknownFrameworkError, load

    try:
        return load(framework)
    except UnknownFrameworkError as error:
        raise UsageError(str(error)) from None


def _version(known: Catalog, text: str) -> str:
    found = known.resolve(text)
    if found is None:
        near = ", ".join(known.around(text)) or f"{known.versions[0]} .. {known.newest}"
        raise UsageError(f"the catalog of {known.title} has no version {text!r}; near it: {near}")
    return found


def _build_one(settings: Settings, folder: Path, target: Target, source: Path | None, only_check: bool) -> bool:
    from botlint.catalogs.builder import build as build_snapshot
    from botlint.catalogs.differences import compare, to_text
    from botlint.catalogs.snapshots import merge, render, snapshot_at

    data = _data(folder, target.framework)
    snapshot, release = build_snapshot(target, source)
    merged = merge(data, snapshot, data["versions"].get(target.version, release))
    known = list(merged["versions"])
    before = target.version if target.version in data["versions"] else known[max(known.index(target.version) - 1, 0)]
    differences = compare(snapshot_at(data, before), snapshot_at(merged, target.version))
    with settings.open_output() as stream:
        stream.write(f"{target.framework} {before} -> {target.version}\n")
        stream.writelines(f"{line}\n" for line in to_text(differences))
    text = render(merged)
    path = folder / f"{target.framework}.json"
    changed = text != path.read_text(encoding="utf-8")
    if changed and not only_check:
        path.write_text(text, encoding="utf-8")
    return changed


def _data(folder: Path, framework: str) -> dict[str, Any]:
    try:
        data: dict[str, Any] = json.loads((folder / f"{framework}.json").read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise UsageError(f"there is no {framework}.json in {folder}") from None
    except ValueError as error:
        raise CannotFinish(f"{folder / framework}.json is not JSON: {error}") from None
    return data

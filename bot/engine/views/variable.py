"""Environment variables of a server, judged by the versions that the image may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache, lru_cache, partial

from botlint.catalogs.catalog import FRAMEWORKS, Catalog, Variable, load
from botlint.core.span import Span
from botlint.engine.analysis import options
from botlint.engine.analysis.options import Frame
from botlint.engine.analysis.places import start_place, variable_place
from botlint.engine.analysis.values import read_as, refuses, truth
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View
from botlint.engine.views.flag import frame_of
from botlint.engine.views.server import ServerSource
from botlint.engine.watch import small_value
from botlint.plan.model import Word

_CODE = (".sh", ".bash", ".py", ".j2", ".jinja")
_FOLDERS = ("benchmarks", "runners", "utils", "scripts", "experimental")
_OWNED = r"(?:VLLM|SGLANG|SGL|ATOM|LMCACHE)_\w{1,100}"
_READ = re.compile(
    rf"\$\{{?({_OWNED})|(?:environ(?:\.get)?|getenv)\s{{0,4}}[\[(]\s{{0,20}}[\"']({_OWNED})|\[\[? -v ({_OWNED})"
)
MIN_PREFIX = 4
"""Letters of a prefix in which a slip is looked for."""

_DEFAULT = re.compile(rf"\b({_OWNED})=[\"']?\$\{{\1\b")


def _read_here(context: Context) -> frozenset[str]:
    """The frameworks' names that scripts of the repository themselves read; a default for itself is no reading."""
    names: set[str] = set()
    for folder in _FOLDERS:
        for path in context.files.paths(folder):
            if path.endswith(_CODE) and (source := context.files.text(path)) is not None:
                text = source.text
                if "VLLM_" not in text and "SGL" not in text and "ATOM_" not in text and "LMCACHE_" not in text:
                    continue
                own = {match.start(1) for match in _DEFAULT.finditer(text)}
                for match in _READ.finditer(text):
                    name = match[1] or match[2] or match[3]
                    if not any(match.start() - len(name) - 2 <= start <= match.start() for start in own):
                        names.add(name)
    return frozenset(names)


@small_value
def _is_used(context: Context, name: str) -> bool:
    """Whether a script of the repository reads a framework's name."""
    return name in context.once(_read_here)


@small_value
def _is_read(context: Context, name: str) -> bool:
    """Whether a script of the repository reads a variable."""
    read = re.compile(rf"\$\{{?{re.escape(name)}\b|[\"']{re.escape(name)}[\"']")
    paths = (path for folder in _FOLDERS for path in context.files.paths(folder) if path.endswith(_CODE))
    return any((source := context.files.text(path)) is not None and read.search(source.text) for path in paths)


_SOURCES = (".py", ".pyi", ".rs", ".c", ".cc", ".cpp", ".cu", ".cuh", ".h", ".hpp", ".sh", ".jinja", ".toml", ".cmake")
MAX_SOURCES = 10_000
"""Files of source text in which a name is looked for."""


@small_value
def _is_nowhere(context: Context, owner: str, name: str) -> bool:
    """Whether the repository is the framework's own and none of its source texts has the name."""
    if not any(path.endswith(".py") for path in context.files.paths(owner)):
        return False
    paths = [path for path in context.files.paths() if path.endswith(_SOURCES)]
    return len(paths) <= MAX_SOURCES and not any(
        (source := context.files.text(path)) is not None and name in source.text for path in paths
    )


@lru_cache(maxsize=5_000)
def _with_prefix(name: str, frame: Frame | None) -> str:
    """The variable that a name is but for a slip in its prefix (`SGLNAG_...`); empty for any other name."""
    first, bar, rest = name.partition("_")
    if frame is None or not bar or not rest:
        return ""
    for prefix in frame.catalog.prefixes:
        own, _, more = prefix.partition("_")
        if not more and first != own and len(own) >= MIN_PREFIX and options.slip(first, own):
            full = f"{own}_{rest}"
            if all(frame.catalog.variable(full, version) is not None for version in frame.versions):
                return full
    return ""


@cache
def _prefixes() -> tuple[str, ...]:
    return tuple(prefix for framework in FRAMEWORKS for prefix in load(framework).prefixes)


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    source = chain[-1].source
    if not isinstance(source, ServerSource):
        return
    frame, prefixes = frame_of(source), _prefixes()
    for name, word in source.env.items():
        # What no framework owns is the same for all.
        by = frame if name.startswith(prefixes) or _with_prefix(name, frame) else None
        catalog = source.catalog if frame is None and name.startswith(prefixes) else None
        engine = "" if catalog is None else catalog.framework
        make = partial(_core, name=name, word=word, frame=by, catalog=catalog)
        yield context.kept(("variable", by, engine, name, word), make)


def _core(context: Context, name: str, word: Word, frame: Frame | None, catalog: Catalog | None = None) -> Core:
    values: dict[str, FactValue] = {"name": name}
    value = word if isinstance(word, str) else None
    if value is not None:
        values["value"] = value
        values["truth"] = truth(value)
    owner = ""
    if name.startswith(_prefixes()):
        owner = next(one for one in FRAMEWORKS if load(one).owns(name))
    values["owner"] = owner
    unread = bool(owner) and load(owner).variable(name, load(owner).newest) is None
    values["nowhere"] = unread and context.value(_is_nowhere, owner, name)
    own = _own_frame(owner, frame)
    slip = _with_prefix(name, frame) if not owner and frame is not None else ""
    values["owned"] = own is not None or bool(slip)
    if slip and frame is not None:
        values |= {"release": frame.release, "certain": frame.certain, "custom": frame.custom, "known": False}
        values |= {"used_here": context.value(_is_read, name), "ever": False, "closest": slip, "near": True}
    if own is not None:
        values |= {"release": own.release, "certain": own.certain, "custom": own.custom}
        _judge(values, name, value, own)
        if own.each and values["known"] and own.catalog.variable(name, own.newest) is None:
            values |= {"gone_in": own.catalog.absence(name, own.newest).removed_in or "", "title": own.catalog.title}
        if not values["known"]:
            values["used_here"] = context.value(_is_used, name)

    if catalog is not None and owner == catalog.framework:
        absence = catalog.absence(name, catalog.newest)
        read = catalog.variable(name, catalog.newest) is not None
        values["gone_in"] = "" if read else absence.removed_in or ""
        values["title"] = catalog.title

    def written(context: Context, chain: Chain) -> Span | None:
        return variable_place(context, chain, name, value)

    def place(context: Context, chain: Chain) -> Span | None:
        return written(context, chain) or start_place(chain)

    anchors: dict[str, Anchor] = {"variable": place}
    if values.get("near"):
        anchors["correction"] = written
    return Core(name, values, anchors)


def _own_frame(owner: str, frame: Frame | None) -> Frame | None:
    """The versions that may read a variable: those of the image, or all of LMCache, whose version no tag says."""
    if frame is not None and frame.catalog.framework == owner:
        return frame
    if owner == "lmcache":
        catalog = load(owner)
        return Frame(catalog, catalog.versions)
    return None


def _judge(values: dict[str, FactValue], name: str, value: str | None, frame: Frame) -> None:
    catalog = frame.catalog
    found = [one for version in frame.versions if (one := catalog.variable(name, version)) is not None]
    values["known"] = bool(found)
    if not found:
        _absent(values, name, catalog, frame)
        return
    last = found[-1]
    values |= {
        "everywhere": len(found) == len(frame.versions),
        "undeclared": all(one.undeclared for one in found),
        "type": last.type,
        "deprecated": len(found) == len(frame.versions) and all(one.deprecated is not None for one in found),
        "replaced_by": last.instead or "",
    }
    if value is not None and not any(one.undeclared for one in found):
        _judge_value(values, value, found, catalog)


def _judge_value(values: dict[str, FactValue], value: str, found: Sequence[Variable], catalog: Catalog) -> None:
    values["accepted"] = any(one.accepts(value) is not False for one in found)
    refused = all(refuses(one.type, value) for one in found)
    # SGLang warns, and goes on with the default (EnvField.get of sglang/srt/environ.py).
    values["crashes"] = refused and catalog.framework != "sglang"
    values["ignored"] = refused and catalog.framework == "sglang"
    values["choices"] = list(found[-1].choices or ())
    if found[-1].choices:
        values["closest_value"] = options.nearest(value, found[-1].choices)
    meanings = {read_as(one.type, value, catalog.framework) for one in found}
    values["read_as"] = meanings.pop() if len(meanings) == 1 else ""


def _absent(values: dict[str, FactValue], name: str, catalog: Catalog, frame: Frame) -> None:
    """What is known about a variable that no version of the image reads."""
    absence = catalog.absence(name, frame.newest)
    closest = catalog.closest(name, frame.newest, "environment") or _one_word_off(name, catalog, frame)
    near = bool(closest) and options.misspelt(name, closest) and options.everywhere(closest, frame)
    instead, known = options.successor(name, frame)
    if not instead and near and absence.removed_in and catalog.history(closest).added_in == absence.removed_in:
        instead, known = closest, True
    values |= {
        "ever": catalog.ever(name),
        "removed_in": absence.removed_in or "",
        "added_in": absence.added_in or "",
        "replaced_by": instead,
        "replacement_known": known,
        "replacing_flag": instead.lstrip("-").replace("-", "_") if instead.startswith("-") else "",
        "closest": closest,
        "near": near,
    }


def _one_word_off(name: str, catalog: Catalog, frame: Frame) -> str:
    """A declared name that has one word more or less."""
    mine, bars = options.words(name), name.count("_")
    for other, variable in catalog.environment_at(frame.newest).items():
        if abs(other.count("_") - bars) != 1 or variable.undeclared:
            continue
        if options.one_word_off(mine, options.words(other)):
            return other
    return ""


VIEW = View(
    name="variable",
    doc="A variable that scripts, scheduler or container give a server.",
    facts=(
        Fact("name", "string", "name of the variable"),
        Fact("value", "string", "its value"),
        Fact("truth", "string", "what its value says for a person: true, false, or empty for anything else"),
        Fact("owner", "string", "framework to which its prefix belongs: vllm, sglang, atom, lmcache; empty for others"),
        Fact("owned", "bool", "it belongs to the framework that the image brings, whose versions are known"),
        Fact("nowhere", "bool", "the repository is its framework's own, and no source text there has the name"),
        Fact("known", "bool", "a version that the image may have reads or at least mentions it"),
        Fact("everywhere", "bool", "all versions that the image may have know it"),
        Fact("undeclared", "bool", "it is only mentioned in the source, without a declaration"),
        Fact("used_here", "bool", "a script of the repository itself reads it"),
        Fact("ever", "bool", "some version of the framework reads it"),
        Fact("removed_in", "string", "version up to the image's that removed it, empty if there is none"),
        Fact("added_in", "string", "version after the image's that adds it, empty if an earlier one removed it"),
        Fact("replaced_by", "string", "what took its place, empty if that is not known"),
        Fact("replacement_known", "bool", "all versions that the image may have know what took its place"),
        Fact("replacing_flag", "string", "canonical name of the option that took its place, empty if none did"),
        Fact("closest", "string", "the nearest variable of the version, empty if none is near"),
        Fact("near", "bool", "the nearest variable differs only by a slip, and all versions of the image know it"),
        Fact("release", "string", "the framework with the versions that the image may have, as vLLM 0.27.1"),
        Fact("certain", "bool", "the image's tag says the version for sure"),
        Fact("custom", "bool", "the image was built from a branch and may know what no release has"),
        Fact("type", "string", "how it is read: bool, bool-int, bool-1, int, str ..."),
        Fact("deprecated", "bool", "all versions that the image may have call it deprecated"),
        Fact("accepted", "bool", "the value is among the choices of some version, or there are none"),
        Fact("crashes", "bool", "every version that the image may have fails when it reads the value"),
        Fact("ignored", "bool", "every version that the image may have goes on with the default instead of the value"),
        Fact("choices", "list<string>", "values that are taken, empty where any is"),
        Fact("closest_value", "string", "the choice nearest to the value, empty if none is near"),
        Fact(
            "gone_in",
            "string",
            "release that removed it for good (only where no version is known, or only the oldest), else empty",
        ),
        Fact("title", "string", "the framework's name, where no version is known, or only the oldest"),
        Fact("read_as", "string", "true or false: what a switch is read as; empty for anything else"),
    ),
    anchors={
        "variable": "the line that exports it, else the server",
        "correction": "the name that is a slip of another",
    },
    build=_build,
    parent="server",
)

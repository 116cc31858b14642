"""What each version of a framework accepts, read from the catalog files under `schemas/catalogs/`.

Every query takes a version of the catalog (`Catalog.resolve` finds it; for an image see `botlint.catalogs.images`). A
version that the catalog does not have raises `UnknownVersionError`, so that "not in the catalog" is never taken for
"does not exist".
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, Literal

from botlint.catalogs.ranges import Attributes, Record, Timeline, attributes_at
from botlint.catalogs.versions import version_key
from botlint.schemas import catalogs

Kind = Literal["switch", "toggle", "value"]
Section = Literal["flags", "environment", "options"]

FRAMEWORKS = ("atom", "lmcache", "sglang", "vllm")
"""Frameworks that have a catalog."""


class UnknownVersionError(LookupError):
    """A question about a version that the catalog does not have."""


class UnknownFrameworkError(LookupError):
    """A question about a framework that has no catalog."""


@dataclass(frozen=True, slots=True)
class Release:
    """One version of a catalog: the day it was released and what it was read from."""

    version: str
    released: str
    source: str


@dataclass(frozen=True, slots=True)
class Flag:
    """One option of a server at one version.

    `choices` are checked by the parser, `values` later by the engine (plug-ins may add more); both are None where any
    value is taken. `kind` is `switch` (no value), `toggle` (no value, has negations) or `value`. `nargs` is
    argparse's, None for one value.
    """

    name: str
    kind: Kind
    aliases: tuple[str, ...] = ()
    negations: tuple[str, ...] = ()
    type: str = "str"
    nargs: str | int | None = None
    choices: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None
    any_case: bool = False
    none: bool = False
    default: Any = None
    computed: bool = False
    required: bool = False
    repeats: bool = False
    dest: str = ""
    config: str | None = None
    deprecated: str | None = None
    instead: str | None = None

    @property
    def spellings(self) -> tuple[str, ...]:
        """Every word that names this option, negations excluded."""
        return (self.name, *self.aliases)

    @property
    def takes_value(self) -> bool:
        """Whether a word after the flag belongs to it."""
        return self.kind == "value"

    def accepts(self, value: str) -> bool | None:
        """Return whether the value is one of the known ones; None where any is taken or only a plug-in could tell."""
        known = self.choices if self.choices is not None else self.values
        if known is None:
            return None
        if value in known or (self.none and value == "None"):
            return True
        return self.any_case and value.lower() in {name.lower() for name in known}


@dataclass(frozen=True, slots=True)
class FlagUse:
    """How a word of a command line names an option: the option, the spelling it stands for, and what is attached to it.

    `how` is `exact`, `underscores` (vLLM takes `_` for `-`), `abbreviation` (argparse takes a unique beginning),
    `dotted` (`--config.key`); `value` is what follows `=`, `path` the keys after the first dot.
    """

    flag: Flag
    spelling: str
    how: Literal["exact", "underscores", "abbreviation", "dotted"]
    negated: bool = False
    value: str | None = None
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Variable:
    """One environment variable at one version.

    `type` says how it is read: `bool` (true/1), `bool-int` (only numbers: `true` is a crash), `bool-1` (only `1` is
    true), `bool-true` (only `true` is true), `bool-set` (any text is true), `bool-other`, `int`, `float`, `str`,
    `list`, `json`. An `undeclared` variable is only mentioned in the source, without a declaration.
    """

    name: str
    type: str = "str"
    default: Any = None
    computed: bool = False
    choices: tuple[str, ...] | None = None
    any_case: bool = False
    undeclared: bool = False
    deprecated: str | None = None
    instead: str | None = None

    def accepts(self, value: str) -> bool | None:
        """Return whether the value is one of the choices; None where there are none."""
        if self.choices is None:
            return None
        return value in self.choices or (self.any_case and value.lower() in {choice.lower() for choice in self.choices})


@dataclass(frozen=True, slots=True)
class Option:
    """One key of a JSON-valued option (`Class.key`), or one setting of a configuration file."""

    name: str
    type: str = "str"
    default: Any = None
    computed: bool = False
    choices: tuple[str, ...] | None = None
    values: tuple[str, ...] | None = None
    limits: tuple[str, ...] = ()
    config: str | None = None
    deprecated: str | None = None
    instead: str | None = None


@dataclass(frozen=True, slots=True)
class Name:
    """One name of a group (a backend, a parser, a dtype) with what the catalog knows about it; None means not known.

    A block size is taken when it is in `block_sizes` or divisible by one of `block_multiples`.
    """

    group: str
    name: str
    block_sizes: tuple[int, ...] | None = None
    block_multiples: tuple[int, ...] | None = None
    head_sizes: tuple[int, ...] | None = None
    kv_cache_dtypes: tuple[str, ...] | None = None
    dtypes: tuple[str, ...] | None = None
    compute_capability: str | None = None
    mla: bool | None = None
    sparse: bool | None = None
    deprecated: str | None = None

    def accepts_block_size(self, size: int) -> bool | None:
        """Return whether the backend takes this KV block size; None where that is not known."""
        if self.block_sizes is None and self.block_multiples is None:
            return None
        return size in (self.block_sizes or ()) or any(size % base == 0 for base in self.block_multiples or ())


@dataclass(frozen=True, slots=True)
class Event:
    """A change in the life of a name: `added`, `removed` or `changed` (then `what` lists the attributes)."""

    version: str
    change: Literal["added", "removed", "changed"]
    section: str
    what: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class History:
    """The life of a name over the versions of a catalog, and what took its place where that is known."""

    name: str
    events: tuple[Event, ...]
    instead: str | None = None

    @property
    def removed_in(self) -> str | None:
        """The version that removed the name for good, or None while it exists."""
        last = [event for event in self.events if event.change != "changed"][-1:]
        return last[0].version if last and last[0].change == "removed" else None

    @property
    def added_in(self) -> str | None:
        """The version that added the name; None where the oldest version of the catalog already has it."""
        first = [event for event in self.events if event.change == "added"][:1]
        return first[0].version if first else None


@dataclass(frozen=True, slots=True)
class Absence:
    """Why a version does not have a name that others have: an earlier one removed it, or a later one adds it."""

    removed_in: str | None = None
    added_in: str | None = None


class Catalog:
    """The catalog of one framework; build one by `load`."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.framework: str = data["framework"]
        self.title: str = data["title"]
        self.prefixes: tuple[str, ...] = tuple(data["prefixes"])
        self._timeline = Timeline(data["versions"])
        self.versions: tuple[str, ...] = self._timeline.versions
        self._flags = lru_cache(maxsize=64)(self._build_flags)
        self._spellings = lru_cache(maxsize=64)(self._build_spellings)
        self._variables = lru_cache(maxsize=64)(self._build_variables)
        self._options = lru_cache(maxsize=64)(self._build_options)
        self._names = lru_cache(maxsize=512)(self._build_names)
        self._closest = lru_cache(maxsize=1024)(self._find_closest)

    def __repr__(self) -> str:
        return f"Catalog({self.framework!r}, {self.versions[0]} .. {self.versions[-1]})"

    @property
    def newest(self) -> str:
        """The newest version."""
        return self.versions[-1]

    @cached_property
    def releases(self) -> tuple[Release, ...]:
        """Every version with its date and source, oldest first."""
        return tuple(Release(version, **facts) for version, facts in self._data["versions"].items())

    @cached_property
    def _by_key(self) -> dict[Any, str]:
        return {version_key(version): version for version in self.versions}

    def resolve(self, version: str) -> str | None:
        """Return the catalog's spelling of a version (`v0.27.1`, `0.27.1+rocm`, `0.16`), or None when it has it not."""
        return version if version in self._timeline.places else self._by_key.get(version_key(version))

    def around(self, version: str) -> tuple[str, ...]:
        """Return the version itself, or its neighbours in the catalog; empty when the text is not a version."""
        exact = self.resolve(version)
        if exact is not None:
            return (exact,)
        key = version_key(version)
        if key is None:
            return ()
        keys = [(version_key(known), known) for known in self.versions]
        below = [known for known_key, known in keys if known_key is not None and known_key < key]
        above = [known for known_key, known in keys if known_key is not None and known_key > key]
        return (*below[-1:], *above[:1])

    # Flags

    def flags_at(self, version: str) -> Mapping[str, Flag]:
        """Return the options of the server by their main spelling."""
        return self._flags(self._known(version))

    def flag(self, name: str, version: str) -> Flag | None:
        """Return the option with this spelling; aliases, negations and (where they are taken) underscores count."""
        found = self._spellings(self._known(version))
        return found.get(name) or found.get(self._dashed(name))

    def read_flag(self, word: str, version: str) -> FlagUse | None:
        """Return which option a word of a command line names, as the parser reads it; None for none or many."""
        version = self._known(version)
        if not word.startswith("-") or word in ("-", "--"):
            return None
        found = self._spellings(version)
        name, equals, attached = word.partition("=")
        value = attached if equals else None
        if name in found:
            return _use(found[name], name, "exact", value)
        dashed = self._dashed(name)
        if dashed in found:
            return _use(found[dashed], dashed, "underscores", value)
        if self._data.get("dotted"):
            head = dashed.partition(".")[0]
            if head != dashed and head in found and found[head].takes_value:
                return _use(found[head], head, "dotted", value, tuple(name.partition(".")[2].split(".")))
        return (
            self._abbreviated(dashed, value, found) if dashed.startswith("--") else self._attached(name, value, found)
        )

    def _abbreviated(self, name: str, value: str | None, found: Mapping[str, Flag]) -> FlagUse | None:
        starting = [spelling for spelling in found if spelling.startswith(name)]
        owners = {id(found[spelling]) for spelling in starting}
        if len(starting) == 1 or (len(owners) == 1 and not any(_negates(found[s], s) for s in starting)):
            # Whether two spellings of one option are ambiguous depends on the server's Python: taken as accepted.
            return _use(found[starting[0]], starting[0], "abbreviation", value)
        return None

    def _attached(self, name: str, value: str | None, found: Mapping[str, Flag]) -> FlagUse | None:
        """Read a short option with its value in the same word (`-O3`), and vLLM's `-O.key`."""
        short, rest = name[:2], name[2:] or value
        level, config = self._data.get("shorthand", {}).get(short, (short, short))
        if name[2:].startswith("."):
            return _use(found[config], config, "dotted", value, tuple(name[3:].split("."))) if config in found else None
        flag = found.get(level) or found.get(config)
        return _use(flag, flag.name, "exact", rest) if flag is not None and flag.takes_value else None

    def _dashed(self, name: str) -> str:
        """Turn underscores before the first dot or `=` into dashes where the framework's parser does so."""
        if not self._data.get("underscores") or not name.startswith("--"):
            return name
        match = re.match(r"[^.=]*", name)
        head = match[0] if match else name
        return head.replace("_", "-") + name[len(head) :]

    def _build_flags(self, version: str) -> dict[str, Flag]:
        return {name: Flag(name=name, **a) for name, a in self._section("flags", version)}

    def _build_spellings(self, version: str) -> dict[str, Flag]:
        flags = self._flags(version)
        return {word: flag for flag in flags.values() for word in (*flag.spellings, *flag.negations)}

    # Environment, options, names

    def environment_at(self, version: str) -> Mapping[str, Variable]:
        """Return the environment variables that the framework reads."""
        return self._variables(self._known(version))

    def variable(self, name: str, version: str) -> Variable | None:
        """Return the environment variable of this name; one with an old prefix that is rewritten is deprecated."""
        table = self.environment_at(version)
        if name in table:
            return table[name]
        for old, new in self._data.get("rewritten", {}).items():
            found = table.get(f"{new}{name.removeprefix(old)}") if name.startswith(old) else None
            if found is not None:
                return replace(found, name=name, deprecated="warns", instead=found.name)
        return None

    def owns(self, name: str) -> bool:
        """Whether an environment variable of this name would be the framework's, by its prefix."""
        return name.startswith(self.prefixes)

    def options_at(self, version: str) -> Mapping[str, Option]:
        """Return the keys of JSON-valued options, as `Class.key` (`Flag.config` names the class), or the settings."""
        return self._options(self._known(version))

    def option(self, config: str, key: str, version: str) -> Option | None:
        """Return one key of a configuration class; `config` may be empty for frameworks with plain settings."""
        return self.options_at(version).get(f"{config}.{key}" if config else key)

    def keys_of(self, config: str, version: str) -> tuple[str, ...]:
        """Return the keys that a configuration class takes; empty for a class that the version has not."""
        prefix = f"{config}."
        return tuple(name.removeprefix(prefix) for name in self.options_at(version) if name.startswith(prefix))

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of names (`attention_backend`, `kv_connector` ...)."""
        return tuple(self._data["names"])

    def names(self, group: str, version: str) -> Mapping[str, Name]:
        """Return the names of a group; empty where the version has no such group."""
        return self._names(group, self._known(version))

    def name(self, group: str, name: str, version: str) -> Name | None:
        """Return one name of a group."""
        return self.names(group, version).get(name)

    def _build_variables(self, version: str) -> dict[str, Variable]:
        return {name: Variable(name=name, **a) for name, a in self._section("environment", version)}

    def _build_options(self, version: str) -> dict[str, Option]:
        return {name: Option(name=name, **a) for name, a in self._section("options", version)}

    def _build_names(self, group: str, version: str) -> dict[str, Name]:
        records: Mapping[str, Record] = self._data["names"].get(group, {})
        place = self._timeline.places[version]
        found = ((name, attributes_at(record, self._timeline, place)) for name, record in records.items())
        return {
            name: Name(group=group, name=name, **{key: _frozen(value) for key, value in attributes.items()})
            for name, attributes in found
            if attributes is not None
        }

    def _section(self, section: Section, version: str) -> Iterable[tuple[str, Attributes]]:
        records: Mapping[str, Record] = self._data[section]
        place = self._timeline.places[version]
        for name, record in records.items():
            attributes = attributes_at(record, self._timeline, place)
            if attributes is not None:
                yield name, {key: self._value(key, value, version) for key, value in attributes.items()}

    def _value(self, key: str, value: Any, version: str) -> Any:
        if key in ("choices", "values") and isinstance(value, str):
            return tuple(self._names(value.removeprefix("@"), version))
        return value if key == "default" else _frozen(value)

    def _known(self, version: str) -> str:
        found = self.resolve(version)
        if found is None:
            raise UnknownVersionError(f"the catalog of {self.title} has no version {version}")
        return found

    # The life of a name

    def history(self, name: str) -> History:
        """Return when a flag spelling, variable, option or group member was added, removed and changed."""
        events: list[Event] = []
        for section, places, changes in self._lives(name):
            events += self._events(section, places, changes)
        events.sort(key=lambda event: (self._timeline.places[event.version], event.section))
        return History(name, tuple(events), self.replacement(name))

    def absence(self, name: str, version: str) -> Absence:
        """Return which version removed a name before this one, else which one after it adds the name.

        A name may go and come back: what counts is on which side of the version it last went, or first comes.
        """
        place = self._timeline.places[version]
        events = [event for event in self.history(name).events if event.change != "changed"]
        before = [event for event in events if self._timeline.places[event.version] <= place]
        if before and before[-1].change == "removed":
            return Absence(removed_in=before[-1].version)
        added = (event.version for event in events[len(before) :] if event.change == "added")
        return Absence(added_in=next(added, None))

    def ever(self, name: str) -> bool:
        """Whether some version has a flag spelling, variable, option or group member of this name."""
        return any(True for _ in self._lives(name))

    def replacement(self, name: str) -> str | None:
        """Return what took the place of a name: what the framework itself or the catalog's notes say."""
        noted = self._data.get("replaced", {}).get(name)
        if noted is not None:
            return str(noted["by"])
        for section in ("flags", "environment", "options"):
            record = self._data[section].get(name)
            if record is not None:
                said = [
                    part["instead"] for part in (record, *record.get("changes", {}).values()) if part.get("instead")
                ]
                if said:
                    return str(said[-1])
        return None

    def _lives(self, name: str) -> Iterable[tuple[str, Collection[int], Mapping[str, Attributes]]]:
        places = self._flag_places.get(name)
        if places:
            yield "flags", places, self._data["flags"].get(name, {}).get("changes", {})
        sections: list[tuple[str, Mapping[str, Record]]] = [
            ("environment", self._data["environment"]),
            ("options", self._data["options"]),
            *((group, records) for group, records in self._data["names"].items()),
        ]
        for section, records in sections:
            if name in records:
                yield section, self._timeline.covered(records[name]["in"]), records[name].get("changes", {})

    @cached_property
    def _flag_places(self) -> dict[str, set[int]]:
        """Where each spelling of a flag exists; the main spelling of an option may change while both go on to work."""
        places: dict[str, set[int]] = {}
        for name, record in self._data["flags"].items():
            for index in self._timeline.covered(record["in"]):
                attributes = attributes_at(record, self._timeline, index) or {}
                for word in (name, *attributes.get("aliases", ()), *attributes.get("negations", ())):
                    places.setdefault(word, set()).add(index)
        return places

    def _events(self, section: str, places: Collection[int], changes: Mapping[str, Attributes]) -> Iterable[Event]:
        for index, version in enumerate(self.versions):
            here, before = index in places, index - 1 in places
            if here and not before and index > 0:
                yield Event(version, "added", section)
            elif before and not here:
                yield Event(version, "removed", section)
            elif here and version in changes:
                yield Event(version, "changed", section, tuple(sorted({key.rstrip("+-") for key in changes[version]})))

    # Spelling help

    def closest(self, name: str, version: str, section: Section | str = "flags") -> str | None:
        """Return the name of the section or group that is nearest to a misspelt one, or None when none is near."""
        return self._closest(name, self._known(version), section)

    def _find_closest(self, name: str, version: str, section: str) -> str | None:
        if section == "flags":
            known: Iterable[str] = self._spellings(version)
        elif section == "environment":
            known = self._variables(version)
        elif section == "options":
            known = self._options(version)
        else:
            known = self._names(section, version)
        return closest(name, known)


def closest(name: str, known: Iterable[str]) -> str | None:
    """Return the known name nearest to a misspelt one (a small edit, the same words in another order), or None."""
    import difflib

    candidates = list(known)
    folded: dict[str, str] = {}
    for candidate in candidates:
        folded.setdefault(_folded(candidate), candidate)
    same = folded.get(_folded(name))
    if same is not None:
        return same
    words = sorted(_folded(name).split("-"))
    for candidate in candidates:
        if sorted(_folded(candidate).split("-")) == words:
            return candidate
    near = difflib.get_close_matches(_folded(name), folded, n=1, cutoff=0.8)
    return folded[near[0]] if near else None


def _folded(name: str) -> str:
    return name.lower().replace("_", "-").strip("-")


def _use(
    flag: Flag,
    spelling: str,
    how: Literal["exact", "underscores", "abbreviation", "dotted"],
    value: str | None,
    path: tuple[str, ...] = (),
) -> FlagUse:
    return FlagUse(flag, spelling, how, _negates(flag, spelling), value, path)


def _negates(flag: Flag, spelling: str) -> bool:
    return spelling in flag.negations


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@cache
def load(framework: str) -> Catalog:
    """Return the catalog of a framework, read once.

    Raises UnknownFrameworkError when there is none.
    """
    if framework not in FRAMEWORKS:
        raise UnknownFrameworkError(f"there is no catalog of {framework}; there are {', '.join(FRAMEWORKS)}")
    return Catalog(read_data(f"{framework}.json"))


def read_data(name: str) -> dict[str, Any]:
    """Return one file of `schemas/catalogs/`."""
    data: dict[str, Any] = json.loads((data_folder() / name).read_bytes())
    return data


def data_folder() -> Path:
    """Return the folder of the catalog files, which are shipped as files of the package."""
    return Path(str(catalogs.__file__)).parent


def names_in(catalog: Catalog, group: str, versions: Sequence[str]) -> frozenset[str]:
    """Return the names of a group that at least one of the versions has."""
    return frozenset(name for version in versions for name in catalog.names(group, version))

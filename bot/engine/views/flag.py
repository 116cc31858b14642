"""Options of a server's command line, judged by the versions that the image may have."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from botlint.catalogs.catalog import Catalog, FlagUse
from botlint.catalogs.versions import version_key
from botlint.core.span import Span
from botlint.engine.analysis import options
from botlint.engine.analysis.command import WRAPPED, Option
from botlint.engine.analysis.options import Frame
from botlint.engine.analysis.places import option_place, start_place
from botlint.engine.context import Context
from botlint.engine.views.base import Anchor, Chain, Core, Fact, FactValue, View
from botlint.engine.views.server import ServerSource
from botlint.plan.model import Word
from botlint.plan.servers import identify

MAX_CHOICES = 200
"""Choices of an option that a record holds."""


def frame_of(source: ServerSource) -> Frame | None:
    """By what a server's options are judged; None where the image's versions are not known."""
    catalog, image = source.catalog, source.image
    if catalog is None or image.framework != catalog.framework or not image.versions:
        return None
    wrapped = source.server.framework in WRAPPED or "--omni" in source.argv
    return _frame(catalog, image.versions, wrapped, image.certainty == "certain", image.custom)


def _later_frame(source: ServerSource) -> Frame | None:
    """The oldest version of the catalog, for an image that is older than that."""
    catalog, image = source.catalog, source.image
    if catalog is None or image.framework != catalog.framework or image.version is None or image.versions:
        return None
    mine, oldest = version_key(image.version), version_key(catalog.versions[0])
    if mine is None or oldest is None or mine >= oldest:
        return None
    return Frame(catalog, catalog.versions[:1], source.server.framework in WRAPPED, False, image.custom, later=True)


@lru_cache(maxsize=1_000)
def _frame(catalog: Catalog, versions: tuple[str, ...], wrapped: bool, certain: bool, custom: bool) -> Frame:
    return Frame(catalog, versions, wrapped, certain, custom)


def _interned(_context: Context) -> dict[object, Core]:
    return {}


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    source = chain[-1].source
    if not isinstance(source, ServerSource):
        return
    frame = frame_of(source) or _later_frame(source)
    known = context.once(_interned)
    argv, found = source.argv, source.options
    catalog = source.catalog if _is_plain(source) else None
    if not found:
        return
    ends = [*(option.index for option in found[1:]), len(argv)]
    free = _takes_model(frame) and not _model_words(argv[: found[0].index])
    given: dict[str, Option] = {}
    for option, end in zip(found, ends, strict=True):
        word = argv[option.index]
        joined = isinstance(word, str) and "=" in word
        after = option.index + 1 + (0 if joined else len(option.values))
        stray: tuple[Word, ...] = ()
        if after < end and frame is not None and not frame.wrapped and option.flag is not None:
            stray = tuple(argv[after:end])
            if free:
                stray, free = stray[1:], False
        name = option.name
        earlier = given.get(name)
        given[name] = option
        by = frame or (catalog.framework if catalog is not None else None)
        key = (by, option.spelling, option.values, joined, stray, earlier and earlier.text, earlier is None)
        core = known.get(key)
        if core is None:
            core = known[key] = _core(option, joined, stray, frame, earlier, catalog)
            if core.values.get("never") is True and option.spelling in context.once(_declared):
                core.values = {**core.values, "never": False}
        yield core


_OPTION = re.compile(r"""add_argument\(\s{0,200}(?:["']-\w["'],\s{0,200})?["'](--?[A-Za-z][\w-]{0,100})["']""")

MAX_SOURCES = 4_000
"""Python files in which options are looked for."""


def _declared(context: Context) -> frozenset[str]:
    """The options that Python files of the repository declare: what no release takes may be the repository's own."""
    found: set[str] = set()
    for path in [path for path in context.files.paths() if path.endswith(".py")][:MAX_SOURCES]:
        source = context.files.text(path)
        if source is not None and "add_argument" in source.text:
            found.update(_OPTION.findall(source.text))
    return frozenset(found)


def _is_plain(source: ServerSource) -> bool:
    """Whether a server has the engine's own options only: no wrapper's, plug-in's or sub-command's."""
    argv, found = source.argv, source.options
    if source.server.framework in WRAPPED or "--omni" in argv or not found:
        return False
    if identify([word if isinstance(word, str) else None for word in argv]) not in (source.engine, None):
        # One of several roles may start another programme than the others.
        return False
    return source.engine == "vllm" or not _model_words(argv[: found[0].index])


def _takes_model(frame: Frame | None) -> bool:
    """Whether the server takes one word of its own, the model."""
    return frame is not None and frame.catalog.framework == "vllm"


def _model_words(start: Sequence[Word]) -> list[Word]:
    """The words before the first option, without what is started."""
    words = list(start[1:])
    if "-m" in words:
        words = words[words.index("-m") + 2 :]
    return [word for word in words if word != "serve"]


def _core(
    option: Option,
    joined: bool,
    stray: Sequence[Word],
    frame: Frame | None,
    earlier: Option | None,
    catalog: Catalog | None,
) -> Core:
    values: dict[str, FactValue] = {
        "name": option.name,
        "spelling": option.spelling,
        "given": bool(option.values),
        "joined": joined,
        "again": earlier is not None,
    }
    # A word that is not known may come to nothing.
    left = [word for word in stray if isinstance(word, str)]
    values["stray"] = " ".join(left) if len(left) == len(stray) else ""
    texts = [one for one in option.values if isinstance(one, str)]
    plain = len(texts) == len(option.values)
    text = option.text
    if plain and text is not None:
        values["value"] = text
    if earlier is not None and (before := earlier.text) is not None:
        values["earlier"] = before
    if frame is not None:
        values |= _by_versions(option.spelling, frame)
        if plain and option.values and not frame.later:
            _judge_value(values, texts, options.uses(option.spelling, frame))
            if frame.each:
                values["value_gone_in"] = _value_gone_in(option.spelling, tuple(texts), frame)
    elif catalog is not None:
        values |= _by_releases(option.spelling, catalog)
    if plain and text is not None:
        at, around = options.line_break(text)
        values |= {"break_at": at, "break_text": around}
    spelling = option.spelling

    def name(context: Context, chain: Chain) -> Span | None:
        return option_place(context, chain, spelling, texts)

    def place(context: Context, chain: Chain) -> Span | None:
        return name(context, chain) or start_place(chain)

    anchors: dict[str, Anchor] = {"flag": place}
    if values.get("correction"):
        anchors["correction"] = name
    return Core(option.name, values, anchors)


@lru_cache(maxsize=20_000)
def _by_versions(spelling: str, frame: Frame) -> Mapping[str, FactValue]:
    """What the versions of a frame say about an option, whatever its value."""
    values: dict[str, FactValue] = {"release": frame.release, "certain": frame.certain, "custom": frame.custom}
    read = options.uses(spelling, frame)
    if frame.later:
        return values | {"gone": not read and not frame.wrapped}
    if read or not frame.wrapped or frame.catalog.ever(options.spelled(spelling, frame)):
        values["known"] = bool(read)
    if not read:
        _absent(values, spelling, frame)
        return values
    last = read[-1].flag
    everywhere = len(read) == len(frame.versions)
    if frame.each and not everywhere:
        values |= _lasting(spelling, frame)
    return (
        {"replaced_by": last.instead or ""}
        | values
        | {
            "everywhere": everywhere,
            "how": read[-1].how,
            "main": last.name,
            "kind": last.kind,
            "type": last.type,
            "wants_value": all(_wants(use) for use in read),
            "takes_value": any(use.flag.takes_value or use.path for use in read),
            "repeats": any(use.flag.repeats for use in read),
            "deprecated": everywhere and all(use.flag.deprecated is not None for use in read),
            "dotted": bool(read[-1].path),
        }
    )


def _lasting(spelling: str, frame: Frame) -> Mapping[str, FactValue]:
    """Which of the versions that have to do without exception brought an option, and which removed it for good."""
    taking = [version for version in frame.versions if frame.catalog.read_flag(spelling, version) is not None]
    gone = options.gone_after(frame, taking)
    return {
        "oldest": frame.versions[0],
        "brought_in": "" if taking[0] == frame.versions[0] else taking[0],
        "gone_in": gone,
        "replaced_by": options.successor(options.spelled(spelling, frame), frame)[0] if gone else "",
    }


@lru_cache(maxsize=20_000)
def _by_releases(spelling: str, catalog: Catalog) -> Mapping[str, FactValue]:
    """What the catalog as a whole says about an option of a server whose version is not known."""
    ends = _frame(catalog, catalog.versions, False, False, False)
    if options.uses(spelling, _frame(catalog, catalog.versions[-1:], False, False, False)):
        return {"gone_in": "", "never": False}
    values: dict[str, FactValue] = {"release": ends.release}
    _absent(values, spelling, ends)
    return values | {
        "gone_in": values["removed_in"],
        "never": not values["ever"] and not options.uses(spelling, ends),
    }


def _judge_value(values: dict[str, FactValue], texts: Sequence[str], read: Sequence[FlagUse]) -> None:
    """What the parsers make of a value."""
    if not read or read[-1].path:
        return
    values["accepted"] = any(options.takes(use.flag, texts) for use in read)
    values["familiar"] = any(options.familiar(use.flag, texts) for use in read)
    values["parses"] = any(options.reads(use.flag, texts) for use in read)
    last = read[-1].flag
    choices = last.choices if last.choices is not None else last.values or ()
    values["choices"] = list(choices[:MAX_CHOICES])
    if choices and not (values["accepted"] and values["familiar"]):
        values["closest_value"] = options.nearest(texts[0], choices)
    if len(texts) == 1 and all(use.flag.type == "json" for use in read):
        values["json_fault"] = options.json_fault(texts[0])


@lru_cache(maxsize=20_000)
def _value_gone_in(spelling: str, texts: tuple[str, ...], frame: Frame) -> str:
    """The version from which on a value is not among those that an option takes, though an older one has it."""
    uses = {version: frame.catalog.read_flag(spelling, version) for version in frame.versions}
    if uses[frame.newest] is None:
        return ""
    taking = [
        version
        for version, use in uses.items()
        if use is not None and options.takes(use.flag, texts) and options.familiar(use.flag, texts)
    ]
    return options.gone_after(frame, taking)


def _wants(use: FlagUse) -> bool:
    return use.flag.takes_value and use.flag.nargs not in ("?", "*") and not use.path


def _absent(values: dict[str, FactValue], spelling: str, frame: Frame) -> None:
    """What is known about an option that no version of the image takes."""
    name = options.spelled(spelling, frame)
    absence = frame.catalog.absence(name, frame.newest)
    closest = frame.catalog.closest(spelling, frame.newest)
    near = closest is not None and options.misspelt(spelling, closest)
    values |= {
        "ever": frame.catalog.ever(name),
        "removed_in": absence.removed_in or "",
        "added_in": absence.added_in or "",
        "replaced_by": options.successor(name, frame)[0],
        "closest": closest or "",
        "near": near,
        "correction": closest.lstrip("-")
        if closest is not None and near and _dashes(closest) == _dashes(spelling)
        else "",
    }


def _dashes(name: str) -> int:
    return len(name) - len(name.lstrip("-"))


VIEW = View(
    name="flag",
    doc="An option of a server's command line, as often as it is given.",
    facts=(
        Fact("name", "string", "canonical name without dashes, as tensor_parallel_size"),
        Fact("spelling", "string", "the option as it is given"),
        Fact("value", "string", "its value (true or false for an option without one), the words joined by spaces"),
        Fact("given", "bool", "a value is given"),
        Fact("joined", "bool", "the value is given in the same word, after `=`"),
        Fact("stray", "string", "words after it that neither it nor the server's parser takes"),
        Fact("again", "bool", "the option was given before"),
        Fact("earlier", "string", "the value that it was given before"),
        Fact("known", "bool", "a version that the image may have takes it (left out for a wrapper's own options)"),
        Fact("gone", "bool", "the image is older than the catalog, whose oldest version does not take it"),
        Fact("everywhere", "bool", "all versions that the image may have take it"),
        Fact("ever", "bool", "some version of the framework takes it"),
        Fact("removed_in", "string", "version up to the image's that removed it, empty if there is none"),
        Fact("added_in", "string", "version after the image's that adds it, empty if an earlier one removed it"),
        Fact("replaced_by", "string", "what took its place, empty if that is not known"),
        Fact("closest", "string", "the nearest option of the version, empty if none is near"),
        Fact("near", "bool", "the nearest option differs only by a slip"),
        Fact("correction", "string", "the nearest option without dashes if the option is a slip of it, else empty"),
        Fact("release", "string", "the framework with the versions that the image may have, as vLLM 0.27.1"),
        Fact("certain", "bool", "the image's tag says the version for sure"),
        Fact("custom", "bool", "the image was built from a branch and may know what no release has"),
        Fact("how", "string", "exact, underscores, abbreviation or dotted"),
        Fact("main", "string", "the option's main spelling"),
        Fact("kind", "string", "switch, toggle or value"),
        Fact("type", "string", "type that the parser reads"),
        Fact("takes_value", "bool", "a value may follow"),
        Fact("wants_value", "bool", "a value must follow"),
        Fact("repeats", "bool", "it may be given several times"),
        Fact("deprecated", "bool", "all versions that the image may have call it deprecated"),
        Fact("dotted", "bool", "one key of a JSON option is given, as --config.key"),
        Fact("accepted", "bool", "the parser of some version has the value among its choices"),
        Fact("familiar", "bool", "the engine of some version knows the value; plug-ins may bring others"),
        Fact("parses", "bool", "the value has the type that the parser reads"),
        Fact("choices", "list<string>", "values that are taken, empty where any is"),
        Fact("closest_value", "string", "the choice nearest to the value, empty if none is near"),
        Fact("json_fault", "string", "what is wrong with the JSON text, empty if nothing is"),
        Fact("break_at", "int", "character at which a line break cuts a text inside of JSON in two, 0 if none does"),
        Fact("break_text", "string", "what stands around that line break"),
        Fact(
            "gone_in",
            "string",
            "release that removed it for good (only where no version is known, or only the oldest), else empty",
        ),
        Fact("value_gone_in", "string", "version that dropped the value for good (where each has to do), else empty"),
        Fact(
            "brought_in", "string", "version that brought it, if the oldest that has to do does not take it, else empty"
        ),
        Fact("oldest", "string", "the oldest version that has to do, where not all that have to do take the option"),
        Fact("never", "bool", "no release takes it (only where the version is not known)"),
    ),
    anchors={
        "flag": "where the script or recipe gives the option, else the server",
        "correction": "the name without dashes that is a slip of another",
    },
    build=_build,
    parent="server",
)

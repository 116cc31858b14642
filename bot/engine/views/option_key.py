"""Keys of a server's JSON options, judged by the configuration classes that take them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from botlint.catalogs.catalog import Option as Setting
from botlint.core.span import Span
from botlint.engine.analysis import options
from botlint.engine.analysis.command import Option, read_json
from botlint.engine.analysis.options import Frame
from botlint.engine.analysis.places import option_place, start_place
from botlint.engine.context import Context
from botlint.engine.views.base import Chain, Core, Fact, FactValue, View
from botlint.engine.views.flag import frame_of
from botlint.engine.views.server import ServerSource

MAX_DEPTH = 6
MAX_KEYS = 300
"""Keys of one JSON value that are looked at."""

_PLUGIN = "kv_connector_module_path"


def _interned(_context: Context) -> dict[object, tuple[Core, ...]]:
    return {}


def _build(context: Context, chain: Chain) -> Iterator[Core]:
    source = chain[-1].source
    if not isinstance(source, ServerSource) or source.catalog is None or source.catalog.framework != "vllm":
        return
    frame = frame_of(source)
    if frame is None:
        return
    known = context.once(_interned)
    for option in source.options:
        if option.flag is None or option.flag.config is None:
            continue
        text = option.text
        if text is None:
            continue
        key = (frame, option.spelling, text)
        found = known.get(key)
        if found is None:
            found = known[key] = tuple(_keys(option, text, frame))
        yield from found


def _keys(option: Option, text: str, frame: Frame) -> Iterator[Core]:
    """The keys of one option, those of nested configurations with dots."""
    config = option.flag.config if option.flag is not None else None
    value: object = read_json(text)
    if option.path:
        # One key alone: what a text means depends on its type.
        value = text
        for part in reversed(option.path):
            value = {part: value}
    if config is None or not isinstance(value, Mapping):
        return
    waiting: list[tuple[str, str, Mapping[object, object]]] = [("", config, value)]
    count = 0
    while waiting and count < MAX_KEYS:
        prefix, config, mapping = waiting.pop()
        if not any(frame.catalog.keys_of(config, version) for version in frame.versions):
            continue
        for name, inner in mapping.items():
            if not isinstance(name, str):
                continue
            count += 1
            settings = _settings(config, name, frame)
            path = f"{prefix}{name}"
            yield _core(option, config, path, name, inner, settings, frame, _PLUGIN in mapping)
            nested = settings[-1].config if settings else None
            if isinstance(inner, Mapping) and nested is not None and path.count(".") < MAX_DEPTH:
                waiting.append((f"{path}.", nested, inner))


def _settings(config: str, name: str, frame: Frame) -> list[Setting]:
    found = (frame.catalog.option(config, name, version) for version in frame.versions)
    return [one for one in found if one is not None]


def _core(
    option: Option,
    config: str,
    path: str,
    name: str,
    value: object,
    settings: list[Setting],
    frame: Frame,
    plugin: bool,
) -> Core:
    values: dict[str, FactValue] = {
        "flag": option.spelling,
        "config": config,
        "path": path,
        "release": frame.release,
        "certain": frame.certain,
        "custom": frame.custom,
        "plugin": plugin,
        "known": bool(settings),
    }
    text = _text(value)
    if text is not None:
        values["value"] = text
    if settings:
        last = settings[-1]
        values["deprecated"] = len(settings) == len(frame.versions) and all(one.deprecated for one in settings)
        values["replaced_by"] = last.instead or ""
        if text is not None:
            values["accepted"] = any(_takes(one, one.choices, value, text) for one in settings)
            values["familiar"] = any(_takes(one, one.values, value, text) for one in settings)
            choices = last.choices or last.values or ()
            values["choices"] = list(choices)
            if not (values["accepted"] and values["familiar"]):
                values["closest_value"] = options.nearest(text, choices)
        if frame.each:
            values["gone_in"] = _gone_in(config, name, value, text, frame)
    else:
        _absent(values, config, name, frame)
    spelling = option.spelling

    def place(context: Context, chain: Chain) -> Span | None:
        return option_place(context, chain, spelling, [str(one) for one in option.values]) or start_place(chain)

    return Core(f"{option.name}.{path}", values, {"option_key": place})


def _gone_in(config: str, name: str, value: object, text: str | None, frame: Frame) -> str:
    """The version that dropped a key or its value for good."""
    settings = {version: frame.catalog.option(config, name, version) for version in frame.versions}
    taking = [
        version
        for version, one in settings.items()
        if one is not None
        and (text is None or (_takes(one, one.choices, value, text) and _takes(one, one.values, value, text)))
    ]
    return options.gone_after(frame, taking)


def _absent(values: dict[str, FactValue], config: str, name: str, frame: Frame) -> None:
    full = f"{config}.{name}"
    absence = frame.catalog.absence(full, frame.newest)
    values |= {
        "ever": frame.catalog.ever(full),
        "removed_in": absence.removed_in or "",
        "added_in": absence.added_in or "",
        "replaced_by": (frame.catalog.replacement(full) or "").removeprefix(f"{config}."),
        "closest": options.nearest(name, frame.catalog.keys_of(config, frame.newest)),
    }


def _text(value: object) -> str | None:
    """A single value as text; None for lists, mappings and nothing."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str | int | float) else None


def _takes(setting: Setting, known: tuple[str, ...] | None, value: object, text: str) -> bool:
    """Whether the value is one of the known ones; numbers stand for members of an enumeration."""
    if known is None or text == "":
        return True
    if setting.type == "enum":
        return not isinstance(value, str) or text.isdigit() or text.upper() in {name.upper() for name in known}
    return text in known or setting.type not in ("literal", "str")


VIEW = View(
    name="option_key",
    doc="A key of a JSON option of vLLM, also of one that is given alone (--config.key).",
    facts=(
        Fact("flag", "string", "the option as it is given"),
        Fact("path", "string", "the key, behind those of the configurations around it"),
        Fact("config", "string", "class that takes the key"),
        Fact("value", "string", "its value, left out for lists and mappings"),
        Fact("release", "string", "the framework with the versions that the image may have, as vLLM 0.27.1"),
        Fact("certain", "bool", "the image's tag says the version for sure"),
        Fact("custom", "bool", "the image was built from a branch and may know what no release has"),
        Fact("known", "bool", "a version that the image may have takes the key"),
        Fact("ever", "bool", "some version of the framework takes it"),
        Fact("removed_in", "string", "version up to the image's that removed it, empty if there is none"),
        Fact("added_in", "string", "version after the image's that adds it, empty if an earlier one removed it"),
        Fact(
            "gone_in", "string", "version that dropped it or its value for good (only where each has to do), else empty"
        ),
        Fact("replaced_by", "string", "what took its place, empty if that is not known"),
        Fact("closest", "string", "the nearest key of the class, empty if none is near"),
        Fact("deprecated", "bool", "all versions that the image may have call it deprecated"),
        Fact("accepted", "bool", "some version has the value among its choices, or there are none"),
        Fact("familiar", "bool", "some version knows the value; plug-ins may bring others"),
        Fact("plugin", "bool", "the mapping names a module from which a connector comes"),
        Fact("choices", "list<string>", "values that are taken, empty where any is"),
        Fact("closest_value", "string", "the choice nearest to the value, empty if none is near"),
    ),
    anchors={"option_key": "where the option is given, else the server"},
    build=_build,
    parent="server",
)

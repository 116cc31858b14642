"""Launch commands of a pull request's description, held against what the changed files really launch."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from botlint.catalogs.catalog import FRAMEWORKS, load
from botlint.core.span import Span
from botlint.engine.analysis.command import CATALOGS, MAX_JSON, read_command
from botlint.engine.analysis.serving import flags_of
from botlint.engine.context import Context
from botlint.engine.views.base import whole_line
from botlint.layouts.base import Job
from botlint.layouts.commands import is_described
from botlint.plan.model import LaunchPlan, Server, word_text

MAX_DIFFERENCES = 12
"""Differences beyond which a command is another one than what the files launch, not the same one told otherwise."""

MAX_LAUNCHES = 3_000
"""Launches that one command is held against."""

MAX_VALUE = 80
"""Characters of a value that is told."""

_OWN = frozenset({"host", "port", "model", "model_path", "served_model_name", "trust_remote_code", "log_level"})
"""Options that a reader gives as it suits, whatever is launched."""

_PREFIXES = ("VLLM_", "SGLANG_", "SGL_", "ATOM_", "AITER_")
"""Variables that say what an engine does."""


@dataclass(frozen=True, slots=True)
class Described:
    """A command of the description, with the launch of the changed files that is nearest to it."""

    name: str
    job: Job
    path: str
    span: Span
    differences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Told:
    """A server's options and variables as far as they are known; `open` names those that are there but not known."""

    engine: str
    model: str
    flags: Mapping[str, str]
    env: Mapping[str, str]
    open: frozenset[str]


def described(context: Context) -> Iterator[Described]:
    """The commands of the description that start what the changed files launch; none outside of a review."""
    pull = context.pull
    if pull is None:
        return
    changed = frozenset(pull.changed)
    launches = list(_launches(context, changed))
    for job, plan in context.described:
        server = plan.launch.server
        told = None if server is None else _told(server)
        if told is None:
            continue
        near: tuple[int, Described] | None = None
        for other, path, place, real in launches[:MAX_LAUNCHES]:
            if real.engine != told.engine or not _same_model(told.model, real.model):
                continue
            found = tuple(_differences(told, real))
            if near is None or len(found) < near[0]:
                near = len(found), Described(job.entry, other, path, place, found)
        if near is not None and 0 < near[0] <= MAX_DIFFERENCES:
            yield near[1]


def _launches(context: Context, changed: frozenset[str]) -> Iterator[tuple[Job, str, Span, _Told]]:
    """The servers that changed files start: scripts first; configs where no script that starts one changed."""
    by_config: list[tuple[Job, str, Span, _Told]] = []
    by_script = False
    for job, plan in zip(context.every_job, context.every_plan, strict=True):
        if is_described(job.entry):
            continue
        for path, server in _servers(plan):
            told = _told(server)
            if told is None:
                continue
            place = whole_line(server.path, server.line)
            if {path, server.path} & changed:
                by_script = True
                yield job, server.path, place, told
            elif {job.config.path, job.arm.path} & changed:
                by_config.append((job, job.arm.path, job.arm, told))
    if not by_script:
        yield from by_config


def _servers(plan: LaunchPlan) -> Iterator[tuple[str, Server]]:
    for launch in (plan.launch, *plan.others):
        if launch.server is not None and not launch.server.roles:
            yield launch.recipe or launch.server.path, launch.server


@lru_cache(maxsize=4_000)
def _read(argv: tuple[object, ...], engine: str) -> tuple[Mapping[str, str], frozenset[str]]:
    catalog = load(engine)
    flags, unknown = flags_of(read_command(argv, catalog, catalog.newest), engine)  # type: ignore[arg-type]
    return _flat(flags), frozenset(unknown)


def _told(server: Server) -> _Told | None:
    engine = CATALOGS.get(server.framework, "")
    if engine not in FRAMEWORKS:
        return None
    flags, unknown = _read(server.argv, engine)
    env = {name: word_text(word) for name, word in server.env.items() if isinstance(word, str)}
    open_env = frozenset(server.env.keys() - env.keys())
    model = flags.get("model") or flags.get("model_path") or ""
    following = server.argv[2:3]
    if not model and engine == "vllm" and following and isinstance(following[0], str):
        model = "" if following[0].startswith("-") else following[0]
    return _Told(engine, model, flags, env, unknown | open_env)


def _flat(flags: Mapping[str, str]) -> dict[str, str]:
    """Options with each key of a JSON value as an option of its own, as `--config.key` gives it too."""
    found: dict[str, str] = {}
    for name, text in flags.items():
        value = _json(text)
        if isinstance(value, dict) and value:
            found.update((f"{name}.{key}", _shown(inner)) for key, inner in value.items())
        else:
            found[name] = text
    return found


def _json(text: str) -> object | None:
    if not text.startswith("{") or len(text) > MAX_JSON:
        return None
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _shown(value: object) -> str:
    if isinstance(value, str):
        return value.replace("\n", "")
    return json.dumps(value, sort_keys=True).replace("\\n", "")


def _same_model(one: str, other: str) -> bool:
    """Whether two names may be the same model: by the last part, as a path may stand for a name."""
    first, second = (name.rstrip("/").rpartition("/")[2].lower() for name in (one, other))
    return not first or not second or first == second


def _differences(told: _Told, real: _Told) -> Iterator[str]:
    for name in dict.fromkeys((*told.flags, *real.flags)):
        if name in _OWN or name.partition(".")[0] in (told.open | real.open):
            continue
        head, dot, key = name.partition(".")
        spelled = f"--{head.replace('_', '-')}{dot}{key}"
        yield from _difference(spelled, " ", told.flags.get(name), real.flags.get(name))
    for name in dict.fromkeys((*told.env, *real.env)):
        if name.startswith(_PREFIXES) and name not in told.open | real.open:
            yield from _difference(name, "=", told.env.get(name), real.env.get(name))


def _difference(name: str, sign: str, told: str | None, real: str | None) -> Iterator[str]:
    if told == real:
        return
    if real is None:
        yield f"{_with_value(name, sign, told)} is only in the description"
    elif told is None:
        yield f"{_with_value(name, sign, real)} is only in what is launched"
    else:
        yield f"{_with_value(name, sign, told)} in the description, {real[:MAX_VALUE] or 'empty'} in what is launched"


def _with_value(name: str, sign: str, value: str | None) -> str:
    return name if value in (None, "true") and sign == " " else f"{name}{sign}{(value or '')[:MAX_VALUE]}"

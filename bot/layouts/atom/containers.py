"""What the steps before a launch step leave to it: variables for later steps, and a container with its own variables.

Nothing is run: assignments with known values, lines that are written for later steps, and the options with which a
container is started are read from the text of a step.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from botlint.core.span import Span
from botlint.core.unknown import Unknown
from botlint.documents.expressions import Partial, to_text
from botlint.documents.workflow import Step
from botlint.documents.yaml import Scalar
from botlint.layouts.base import Word

MAX_TEXT = 400_000
"""Characters of a step's script that are read."""

UNKNOWN = "\ufffd"
"""Stands in a text for what is not known."""

_CONTAINER_RUN = re.compile(r"\brun[ \t]+-\w*d\w*\b")
_SET_FOR_LATER = re.compile(
    r"""echo[ \t]{1,9}"([A-Za-z_]\w{0,99})=([^"\n]{0,500})"[ \t]{0,9}>>[ \t]{0,9}["']?\$\{?GITHUB_ENV\b"""
)
_ASSIGNED = re.compile(
    r"""^[ \t]*([A-Za-z_]\w{0,99})=(?:"([^"\n]{0,400})"|'([^'\n]{0,400})'|([^\s"';&|$`]{0,400}))[ \t]*$""", re.MULTILINE
)
_PARAMETER = re.compile(r"\$\{([A-Za-z_]\w{0,99})(?::-([^{}$]{0,200}))?\}|\$([A-Za-z_]\w{0,99})")
_OPTION = re.compile(
    r"""(?<![\w-])-e[ \t]+([A-Za-z_]\w{0,99})=("(?:[^"\\\n]|\\.){0,400}"|'[^'\n]{0,400}'|[^\s"']{0,400})"""
)
_QUOTED_LINE = re.compile(r"""^[ \t]*"([A-Za-z_]\w{0,99})=([^"$\n]{0,400})"[ \t]*\\?$""", re.MULTILINE)
_GUARD = re.compile(r"""^[ \t]*\[+[ \t]*"?\$\{?(\w{1,100})\}?"?[ \t]*==?[ \t]*"?([\w.-]{0,100})"?[ \t]*\]+[ \t]*&&""")
_LINE = re.compile(r"[A-Za-z_]\w*=.*")
_ENGINES = frozenset({"docker", "podman", "nerdctl"})


@dataclass(frozen=True, slots=True)
class Inside:
    """A variable that a container gets: by an option of its command line, or in its file of variables."""

    value: Word
    place: Span | None = None
    by_option: bool = False


@dataclass(frozen=True, slots=True)
class Effect:
    """What a step leaves to later ones: variables with the values that they may have, and a container."""

    later: Mapping[str, Sequence[Word]]
    inside: Mapping[str, Inside] | None


def script_of(step: Step) -> str:
    """The script of a step as it is written; empty without one."""
    return step.run.node.text if step.run is not None and isinstance(step.run.node, Scalar) else ""


def matters(step: Step) -> bool:
    """Whether a step may do something to later ones."""
    text = script_of(step)
    return "GITHUB_ENV" in text or ("--name" in text and _CONTAINER_RUN.search(text) is not None)


class Effects:
    """What steps leave to later ones; steps that see the same have the same effect."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Effect] = {}
        self._steps: dict[int, tuple[Step, tuple[str, ...]]] = {}

    def of(self, step: Step, contexts: Mapping[str, Any], places: tuple[tuple[str, str, Span], ...]) -> Effect:
        """The effect of a step; `places` says where variables of the container are written."""
        env = contexts["env"]
        own = {pair.name: to_text(pair.evaluate(contexts)) for pair in step.env}
        template = step.run.template if step.run is not None else None
        values = [to_text(one.evaluate(contexts)) for one in (template.expressions if template is not None else ())]
        # The step is kept with what is known of it, so that no other one can get its identity.
        names = self._steps.get(id(step))
        if names is None:
            found = _PARAMETER.finditer(script_of(step))
            names = self._steps[id(step)] = (step, tuple(dict.fromkeys(one[1] or one[3] for one in found)))
        key = (id(step), places, *values, *own.values(), *map(env.get, names[1]))
        effect = self._known.get(key)
        if effect is None:
            text = _rendered(step, contexts)
            runs = _CONTAINER_RUN.search(text) is not None and "--name" in text
            seen = {**env, **own}
            inside = _inside(step, text, contexts, seen, places) if runs else None
            effect = self._known[key] = Effect(_set_for_later(text, seen), inside)
        return effect


def _rendered(step: Step, contexts: Mapping[str, Any]) -> str:
    """A step's script with its expressions replaced, with a mark for what is not known."""
    template = step.run.template if step.run is not None else None
    return "" if template is None else _shown(template.text(contexts))[:MAX_TEXT]


def _shown(text: object) -> str:
    parts = text.parts if isinstance(text, Partial) else (text,)
    return "".join(part if isinstance(part, str) else UNKNOWN for part in parts)


def _set_for_later(text: str, env: Mapping[str, Any]) -> dict[str, list[Word]]:
    """What a step's script writes to the file of variables for later steps, each with all values that it may have."""
    found: dict[str, list[Word]] = {}
    if "GITHUB_ENV" not in text:
        return found
    own: dict[str, set[str]] = {}
    for name, *values in _ASSIGNED.findall(text):
        own.setdefault(name, set()).add(next((one for one in values if one), ""))
    single = {name: next(iter(values)) for name, values in own.items() if len(values) == 1}
    literal = {name: value for name, value in single.items() if "$" not in value and "`" not in value}
    for name, value in _SET_FOR_LATER.findall(text):
        found.setdefault(name, []).append(_expanded(value, {**env, **dict.fromkeys(own, None), **literal}))
    return found


def _expanded(text: str, env: Mapping[str, Any]) -> Word:
    """A text with its variables replaced, where all of them are known."""
    if re.search(r"\$\(|`|\$\{[^}]*[^\w}:-]", text):
        return Unknown(text)
    unknown: list[str] = [UNKNOWN] if UNKNOWN in text else []

    def value(match: re.Match[str]) -> str:
        name, default = match[1] or match[3], match[2]
        known = env.get(name, default)
        if not isinstance(known, str) or UNKNOWN in known:
            unknown.append(name)
            return ""
        return known or default or ""

    replaced = _PARAMETER.sub(value, text)
    return Unknown(unknown[0] if unknown[0] != UNKNOWN else "a part of it") if unknown else replaced


def chosen(name: str, values: Sequence[Word]) -> Word:
    """The value of a variable that earlier steps set: known only if what they find on the machine hardly matters.

    That is so for one value, for the name of a container engine, and for a model that is named with or without the
    directory in which it may lie: then the plain name counts.
    """
    known = [value for value in values if isinstance(value, str)]
    unknown = len(known) < len(values)
    if not known:
        return Unknown(f"{name}, set by an earlier step")
    if not unknown and len(set(known)) == 1:
        return known[0]
    if not unknown and set(known) <= _ENGINES:
        return known[-1]
    shortest = min(known, key=len)
    if "/" in shortest and all(one.endswith(shortest) for one in known):
        return shortest
    return Unknown(f"{name}, set by an earlier step")


def _inside(
    step: Step,
    text: str,
    contexts: Mapping[str, Any],
    env: Mapping[str, Any],
    variables: tuple[tuple[str, str, Span], ...],
) -> dict[str, Inside]:
    """The variables that a step gives the container which it starts."""
    found: dict[str, Inside] = {}
    places = {name: span for name, _, span in variables}
    given = [str(env[name]) for name in {pair.name for pair in step.env} if f"printenv {name}" in text]
    template = step.run.template if step.run is not None else None
    for expression in template.expressions if template is not None else ():
        value = expression.evaluate(contexts)
        given.extend([value] if isinstance(value, str) else [])
    for one in given:
        lines = [line.strip() for line in one.split("\n") if line.strip()]
        if lines and all(_LINE.fullmatch(line) for line in lines):
            for line in lines:
                name, _, value = line.partition("=")
                found[name] = Inside(value, places.get(name))
    for name, value in _QUOTED_LINE.findall(text):
        found[name] = Inside(value)
    mentioned = dict.fromkeys(match[1] or match[3] for match in _PARAMETER.finditer(text))
    options = [_shown(env[name]) for name in mentioned if name in env]
    joined = text.replace("\\\n", " ")
    for line in (*joined.split("\n"), *options):
        guard = _GUARD.match(line)
        if guard is not None and isinstance(env.get(guard[1]), str) and env[guard[1]] != guard[2]:
            continue
        for name, written in _OPTION.findall(line):
            bare = written[1:-1] if written[:1] in ("'", '"') else written
            value = bare if written.startswith("'") else _expanded(bare, env)
            own = env.get(name)
            # The reason that the job's own variable has says more than that a part is not known.
            found[name] = Inside(
                own if isinstance(value, Unknown) and isinstance(own, Unknown) else value, by_option=True
            )
    return found

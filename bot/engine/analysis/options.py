"""What a server's parser makes of an option, over every version that the image may have."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

from botlint.catalogs.catalog import Catalog, Flag, FlagUse, closest
from botlint.engine.analysis.command import MAX_JSON

NONE_WORDS = frozenset({"", "None"})
"""Values that vLLM's optional settings read as nothing (`optional_type` of vllm/engine/arg_utils.py)."""

MIN_WORDS = 4
"""Words of a name of which one may be missing."""

MIN_LETTERS = 8
"""Letters of a name of which some may be wrong."""

MAX_EDITS = 2
AROUND = 16
"""Characters on each side of a place that is shown."""

MAX_SUCCESSORS = 4
MAX_NAME = 200

_DIGITS = re.compile(r"[+-]?\d+(?:_\d+)*")


@dataclass(frozen=True)
class Frame:
    """By what an option or variable is judged: a catalog, and the versions of it that the image may have."""

    catalog: Catalog
    versions: tuple[str, ...]
    wrapped: bool = False
    """The server has options of its own besides those of the engine."""
    certain: bool = True
    """The image's tag says the version for sure."""
    custom: bool = False
    """The image was built from a branch and may know what no release has."""
    later: bool = False
    """The image is older than the versions, which are the first that the catalog has."""

    @cached_property
    def _hash(self) -> int:
        return hash((self.catalog.framework, self.versions, self.wrapped, self.certain, self.custom, self.later))

    def __hash__(self) -> int:
        return self._hash

    @property
    def newest(self) -> str:
        return self.versions[-1]

    @property
    def each(self) -> bool:
        """Whether the server has to run with each of several versions, not with one of them that nobody knows."""
        return self.certain and len(self.versions) > 1

    @property
    def release(self) -> str:
        """The framework and its versions for people."""
        first, last = self.versions[0], self.versions[-1]
        return f"{self.catalog.title} {first}" + (f" to {last}" if first != last else "")


def gone_after(frame: Frame, taking: Sequence[str]) -> str:
    """The version that dropped what the versions `taking` take; empty where the newest takes it, or none does."""
    if not frame.each or not taking or taking[-1] == frame.newest:
        return ""
    return frame.versions[frame.versions.index(taking[-1]) + 1]


@lru_cache(maxsize=20_000)
def uses(name: str, frame: Frame) -> tuple[FlagUse, ...]:
    """How each version that knows an option reads it."""
    found = (frame.catalog.read_flag(name, version) for version in frame.versions)
    return tuple(use for use in found if use is not None)


def spelled(name: str, frame: Frame) -> str:
    """The option's spelling as the catalog has it: for some frameworks underscores are dashes."""
    dashed = name.replace("_", "-")
    return name if dashed == name or frame.catalog.ever(name) or not frame.catalog.ever(dashed) else dashed


def successor(name: str, frame: Frame) -> tuple[str, bool]:
    """What took the place of a name, and whether every version that the image may have knows it.

    What took its place may itself have been replaced since.
    """
    found = ""
    for _ in range(MAX_SUCCESSORS):
        after = frame.catalog.replacement(name)
        if not after:
            return found, False
        found = name = after
        if everywhere(found, frame):
            return found, True
    return found, False


def everywhere(name: str, frame: Frame) -> bool:
    """Whether every version that the image may have knows a variable or option."""
    catalog = frame.catalog
    if name.startswith("-"):
        return all(catalog.flag(name, version) is not None for version in frame.versions)
    return all(catalog.variable(name, version) is not None for version in frame.versions)


def takes(flag: Flag, values: Sequence[str]) -> bool:
    """Whether the parser's choices have all of the values (true where it has no choices)."""
    if flag.choices is None:
        return True
    return all(flag.accepts(value) is not False or (flag.none and value in NONE_WORDS) for value in values)


def familiar(flag: Flag, values: Sequence[str]) -> bool:
    """Whether the engine itself knows all of the values; plug-ins may bring others."""
    return flag.values is None or all(flag.accepts(value) is not False for value in values)


def reads(flag: Flag, values: Sequence[str]) -> bool:
    """Whether the values have the type that the parser wants; types that are not looked at take anything."""
    return all(_reads(flag, value) for value in values)


def _reads(flag: Flag, value: str) -> bool:
    if value in NONE_WORDS:
        return True
    if flag.type == "int":
        return _DIGITS.fullmatch(value.strip()) is not None
    if flag.type == "float":
        try:
            float(value)
        except ValueError:
            return False
    return True


def json_fault(text: str) -> str:
    """What is wrong with the text of a JSON value; empty if nothing is, or it is too long to look at."""
    if len(text) > MAX_JSON:
        return ""
    if line_break(text)[0]:
        return ""
    try:
        json.loads(text)
    except ValueError as error:
        return str(error)
    except RecursionError:
        return "nested too deep"
    return ""


@lru_cache(maxsize=5_000)
def line_break(text: str) -> tuple[int, str]:
    """The character, from 1, at which a line break cuts a text inside of JSON in two, and what is around it.

    0 where nothing but such breaks is wrong, or something else is.
    """
    if not text.startswith(("{", "[")) or "\n" not in text or len(text) > MAX_JSON:
        return 0, ""
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        fault = error
    except (ValueError, RecursionError):
        return 0, ""
    else:
        return 0, ""
    at = fault.pos
    try:
        json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return 0, ""
    if text[at : at + 1] not in ("\n", "\r"):
        return 0, ""
    return at + 1, f"{text[max(0, at - AROUND) : at]}⏎{text[at + 1 : at + 1 + AROUND]}".replace("\n", "⏎")


def nearest(name: str, known: Sequence[str]) -> str:
    """The known name nearest to a misspelt one, empty if none is near."""
    return closest(name, known) or ""


def slip(name: str, known: str) -> bool:
    """Whether a name has the letters of the known one, but for one of them, or its words in another order."""
    mine, other = words(name), words(known)
    return sorted(mine) == sorted(other) or _edits("".join(mine), "".join(other)) <= 1


def misspelt(name: str, known: str) -> bool:
    """Whether a name is a slip of the known one: case and separators, word order, one word too many, two letters."""
    mine, other = words(name), words(known)
    if mine == other or sorted(mine) == sorted(other) or "".join(mine) == "".join(other):
        return True
    if one_word_off(mine, other):
        return True
    first, second = "-".join(mine), "-".join(other)
    # A digit more or less makes another name (`mxfp4`, `mxfp8`).
    if re.sub(r"\D", "", first) != re.sub(r"\D", "", second):
        return False
    return min(len(first), len(second)) >= MIN_LETTERS and _edits(first, second) <= MAX_EDITS


@lru_cache(maxsize=10_000)
def words(name: str) -> tuple[str, ...]:
    """The words of an option's or variable's name."""
    return tuple(word for word in re.split(r"[-_.]+", name.lower()) if word)


def one_word_off(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether one of two names has one word more than the other; short names have too few to tell."""
    if len(first) < MIN_WORDS or len(second) < MIN_WORDS:
        return False
    return _one_more(first, second) or _one_more(second, first)


def _one_more(long: Sequence[str], short: Sequence[str]) -> bool:
    """Whether a name has one word more than another."""
    return len(long) == len(short) + 1 and any((*long[:i], *long[i + 1 :]) == tuple(short) for i in range(len(long)))


def _edits(first: str, second: str) -> int:
    """Letters to insert, drop, replace or swap; more than the limit where the lengths differ too much."""
    if abs(len(first) - len(second)) > MAX_EDITS or max(len(first), len(second)) > MAX_NAME:
        return MAX_EDITS + 1
    before: list[int] = []
    above = list(range(len(second) + 1))
    for row, letter in enumerate(first, 1):
        line = [row]
        for column, other in enumerate(second, 1):
            cost = min(above[column] + 1, line[-1] + 1, above[column - 1] + (letter != other))
            if row > 1 and column > 1 and letter == second[column - 2] and first[row - 2] == other:
                cost = min(cost, before[column - 2] + 1)
            line.append(cost)
        before, above = above, line
    return above[-1]

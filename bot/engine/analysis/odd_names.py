"""Names of variables, options and their values that one place writes otherwise than all others, by a slip of the pen.

What no catalog knows, for it belongs to a build from a branch or to another programme, use knows: a long name that
stands once in the whole repository, and is a swap or a letter away from one that several files write.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from botlint.catalogs.catalog import FRAMEWORKS, load
from botlint.core.span import Span
from botlint.engine.analysis.scripts import is_archived, scripts
from botlint.engine.context import Context
from botlint.engine.watch import small_value

_NAME = re.compile(r"(?<![\w$-])(?:--[a-z][a-z0-9]*(?:[-_][a-z0-9]+)*|\$?\{?[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)(?![\w-])")
_VALUE = re.compile(r"(?<![\w-])--[a-z][\w-]*[ =][\"']?([a-z][a-z0-9]*(?:_[a-z0-9]+)*)(?![\w./:$-])")
_READ = re.compile(r"\$\{?#?!?([A-Z][A-Z0-9_]+)")

MIN_LENGTH = 8
"""Letters of a name in which a slip can be told from a name of its own."""

MIN_WORD = 3
"""Letters of the word in which two neighbours are swapped: two letters are an abbreviation of its own."""

MIN_FILES_SWAPPED = 2
MIN_FILES = 3
"""Files that write a name from which another one differs by two swapped letters, and by a letter more or less."""

MAX_NAMES = 20_000
"""Names of one file that are looked at."""


@dataclass(frozen=True, slots=True)
class OddName:
    """A name that stands once, and the usual one of which it is a slip, with the number of files that write that."""

    path: str
    name: str
    usual: str
    files: int
    before: bool
    """Whether the base wrote the usual name in this file, and does no more."""
    span: Span


@dataclass(slots=True)
class _Table:
    files: dict[str, list[str]] = field(default_factory=dict)
    """The files that write each name."""
    counts: Counter[str] = field(default_factory=Counter)


def odd_names(context: Context) -> Iterator[OddName]:
    """The odd names of scripts, those that only the base tells included."""
    table = context.once(_table)
    by_letters = context.once(_by_letters)
    for name, paths in table.files.items():
        if table.counts[name] != 1 or len(name) < MIN_LENGTH:
            continue
        path = paths[0]
        usual, before = _usual(name, table, by_letters), False
        if not usual:
            usual, before = _usual_before(context, path, name, table), True
        if usual and not _is_known(name):
            found = _span(context, path, name)
            if found is not None:
                yield OddName(path, name, usual, len(table.files.get(usual, ())), before, found)


def _usual(name: str, table: _Table, by_letters: Mapping[str, str]) -> str:
    for other in swaps(name):
        if len(table.files.get(other, ())) >= MIN_FILES_SWAPPED:
            return other
    for other in (name, *without_a_letter(name)):
        found = other if other != name and len(table.files.get(other, ())) >= MIN_FILES else by_letters.get(other, "")
        if found and found != name:
            return found
    return ""


def _usual_before(context: Context, path: str, name: str, table: _Table) -> str:
    before = context.value_of_base(_names_at, path)
    if not before or name in before:
        return ""
    return next((other for other in swaps(name) if other in before and other not in table.files), "")


def swaps(name: str) -> Iterator[str]:
    """The names that differ by two neighbouring letters of one of its words, swapped."""
    for match in re.finditer(rf"[A-Za-z]{{{MIN_WORD},}}", name):
        for k in range(match.start(), match.end() - 1):
            if name[k] != name[k + 1]:
                yield name[:k] + name[k + 1] + name[k] + name[k + 2 :]


def without_a_letter(name: str) -> Iterator[str]:
    """The names that lack one letter of a word, other than its first or last: plurals are names of their own."""
    for match in re.finditer(rf"[A-Za-z]{{{MIN_WORD + 1},}}", name):
        for k in range(match.start() + 1, match.end() - 1):
            yield name[:k] + name[k + 1 :]


def _by_letters(context: Context) -> Mapping[str, str]:
    """The names that several files write, by each text that lacks one letter of them."""
    table = context.once(_table)
    usual = (name for name, paths in table.files.items() if len(paths) >= MIN_FILES and len(name) >= MIN_LENGTH)
    return {short: name for name in usual for short in without_a_letter(name)}


def _table(context: Context) -> _Table:
    table = _Table()
    for path in scripts(context).by_path:
        if is_archived(path):
            continue
        for name, count in (context.of_file("names", path, _names) or {}).items():
            table.files.setdefault(name, []).append(path)
            table.counts[name] += count
    return table


@small_value
def _names_at(context: Context, path: str) -> tuple[str, ...]:
    """The names that a file writes, sorted."""
    return tuple(sorted(context.of_file("names", path, _names) or {}))


def _names(text: str, _path: str) -> Mapping[str, int]:
    """How often a script writes each name; full-line comments do not count."""
    lines = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#"))
    found = Counter(match[0].lstrip("${") for match in islice(_NAME.finditer(lines), MAX_NAMES))
    found.update(match[1] for match in islice(_VALUE.finditer(lines), MAX_NAMES))
    # A name that is read counts as written somewhere: what reads it is another rule's matter.
    found.update(match[1] for match in islice(_READ.finditer(lines), MAX_NAMES))
    return found


def _is_known(name: str) -> bool:
    return any(load(framework).ever(name) for framework in FRAMEWORKS)


def _span(context: Context, path: str, name: str) -> Span | None:
    facts = scripts(context).by_path[path]
    match = re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", facts.code)
    return None if match is None else facts.span(*match.span())

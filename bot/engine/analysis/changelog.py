"""The performance changelog: its entries, its bytes, and what a change does to it.

What a change may do is what the repository's own validator takes (SemiAnalysisAI/InferenceX 843c6254f,
utils/validate_perf_changelog.py and utils/process_changelog.py): entries are appended, history stays byte for byte, and
the only correction of history is that of a pr-link.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.documents import yaml
from botlint.engine.analysis.shapes import CHANGELOG
from botlint.layouts.inferencex.configs import first_line

if TYPE_CHECKING:
    from botlint.engine.context import Context

BYTE_CHECK = "utils/validate_perf_changelog.py"
"""Where the revision compares bytes; before it was there, only deleted lines were refused."""

_CANONICAL = re.compile(r"https://github\.com/[\w.-]+/[\w.-]+/pull/\d+")
_PLACEHOLDER = re.compile(r"(?:https://github\.com/[\w.-]+/[\w.-]+/pull/)?X{3,}", re.IGNORECASE)
_START = re.compile(rb"(?m)^- config-keys:[^\r\n]*\n")
_LINK_LINE = re.compile(rb"  pr-link:")
MAX_PATTERN = 200


@dataclass(frozen=True, slots=True, eq=False)
class ChangelogEntry:
    """One entry: its keys with their places, and its other fields as they are written."""

    number: int
    node: yaml.Node
    keys: tuple[tuple[str, Span], ...]
    fields: dict[str, object]

    @property
    def span(self) -> Span:
        return first_line(self.node.span)

    def place(self, name: str) -> Span:
        """Where a field is written."""
        key = self.node.key_node(name) if isinstance(self.node, yaml.Mapping) else None
        return self.span if key is None else key.span

    def flag(self, name: str) -> bool:
        return self.fields.get(name) is True

    @property
    def link(self) -> str:
        return str(self.fields.get("pr-link") or "")


def entries(context: Context) -> tuple[ChangelogEntry, ...]:
    """The entries of the changelog in written order; none where it cannot be read as a list."""
    document = context.yaml(CHANGELOG)
    root = document.root if document is not None else None
    if not isinstance(root, yaml.Sequence):
        return ()
    found: list[ChangelogEntry] = []
    for number, node in enumerate(root.items, 1):
        plain = yaml.to_plain(node)
        listed = yaml.find(node, ("config-keys",))
        items = listed.items if isinstance(listed, yaml.Sequence) else ()
        keys = tuple((item.text, item.span) for item in items if isinstance(item, yaml.Scalar))
        found.append(ChangelogEntry(number, node, keys, plain if isinstance(plain, dict) else {}))
    return tuple(found)


def added(context: Context) -> tuple[ChangelogEntry, ...] | None:
    """The entries that the change adds; None without a base."""
    if context.base is None:
        return None
    here, before = context.once(entries), context.base.once(entries)
    known = [one.fields for one in before]
    if [one.fields for one in here[: len(before)]] == known:
        return here[len(before) :]
    return tuple(one for one in here if one.fields not in known)


def link_form(link: str) -> str:
    """`pull-request`, `placeholder` or `other`."""
    if _CANONICAL.fullmatch(link):
        return "pull-request"
    return "placeholder" if _PLACEHOLDER.fullmatch(link) else "other"


def matches(key: str, names: Iterable[str]) -> list[str]:
    """The entries of master configs that a key of the changelog stands for; `*` stands for anything."""
    if "*" not in key:
        return [name for name in names if name == key]
    if len(key) > MAX_PATTERN:
        return []
    pieces = key.split("*")
    return [name for name in names if _fits(name, pieces)]


def _fits(name: str, pieces: list[str]) -> bool:
    """Whether a name is the pieces in order with anything between them."""
    first, *middle, last = pieces
    if len(name) < len(first) + len(last) or not name.startswith(first) or not name.endswith(last):
        return False
    at, end = len(first), len(name) - len(last)
    for piece in middle:
        found = name.find(piece, at, end)
        if found < 0:
            return False
        at = found + len(piece)
    return True


# --------------------------------------------------------------------------------------------------------------- bytes


@dataclass(frozen=True, slots=True)
class Bytes:
    """What the characters of the file are like; a place is a line from 1, 0 where there is none."""

    final_newline: bool
    lines: int
    carriage_return: int
    tab: int
    nul: int
    starts: int


def read_bytes(context: Context) -> Bytes | None:
    """The file's bytes as the validator looks at them; None if there is no changelog."""
    raw = context.files.read(CHANGELOG)
    if raw is None:
        return None
    return Bytes(
        final_newline=raw.endswith(b"\n"),
        lines=raw.count(b"\n") + (not raw.endswith(b"\n")),
        carriage_return=_line_of(raw, b"\r"),
        tab=_line_of(raw, b"\t"),
        nul=_line_of(raw, b"\0"),
        starts=sum(line.startswith(b"- config-keys:") for line in raw.split(b"\n")),
    )


def _line_of(raw: bytes, letter: bytes) -> int:
    at = raw.find(letter)
    return 0 if at < 0 else raw.count(b"\n", 0, at) + 1


@dataclass(frozen=True, slots=True)
class Change:
    """What a change does to the file: `fault` is empty where the validator takes it."""

    fault: str
    line: int
    base_line: int
    added: int
    strict: bool
    before: str = field(default="")
    after: str = field(default="")


def compare(context: Context) -> Change | None:
    """The change of the changelog from the base; None without one or without the file in both."""
    if context.base is None:
        return None
    old, new = context.base.files.read(CHANGELOG), context.files.read(CHANGELOG)
    if old is None or new is None:
        return None
    strict = context.files.is_file(BYTE_CHECK)
    count = len(context.once(entries)) - len(context.base.once(entries))
    if old == new:
        return Change("", 0, 0, 0, strict)
    if strict and context.base.files.is_file(BYTE_CHECK):
        return _strict(old, new, count)
    return _deletions(old, new, count)


def _first_difference(old: bytes, new: bytes) -> tuple[int, str, str]:
    """The first line that differs, from 1, with both texts."""
    before, after = old.split(b"\n"), new.split(b"\n")
    for number, (one, other) in enumerate(zip(before, after, strict=False), 1):
        if one != other:
            return number, _shown(one), _shown(other)
    number = min(len(before), len(after))
    last = before[number] if len(before) > number else b""
    return number, _shown(last), _shown(after[number] if len(after) > number else b"")


def _shown(line: bytes) -> str:
    text = line.decode("utf-8", "replace").strip()
    return text if len(text) <= 100 else text[:97] + "..."


def _strict(old: bytes, new: bytes, count: int) -> Change:
    line, before, after = _first_difference(old, new)
    if new.startswith(old):
        return _appended(old, new, count)
    if count < 0:
        return Change("deleted", line, line, count, True, before, after)
    if count > 0:
        fault = "inserted" if _only_inserted(old, new) else "history-changed"
        return Change(fault, line, line, count, True, before, after)
    return _corrected(old, new, line, before, after)


def _only_inserted(old: bytes, new: bytes) -> bool:
    """Whether the old text is all there, with one new piece of lines in it."""
    before, after = old.split(b"\n"), new.split(b"\n")
    alike = next((n for n, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), len(before))
    rest = len(before) - alike
    return len(after) >= len(before) and before[alike:] == after[len(after) - rest :]


def _appended(old: bytes, new: bytes, count: int) -> Change:
    line = old.count(b"\n") + 1
    rest = new[len(old) :]
    if count <= 0:
        # Blank lines or comments behind the last entry.
        return Change("formatting", line, line, count, True, "", _shown(rest))
    wanted = b"- config-keys:" if old.endswith(b"\n\n") else b"\n- config-keys:"
    if not rest.startswith(wanted):
        return Change("separator", line, line, count, True, "", _shown(rest.lstrip(b"\n")))
    starts = [match.start() for match in _START.finditer(new)][-count:]
    for start in starts[1:]:
        head = new[:start]
        if not head.endswith(b"\n\n") or head.endswith(b"\n\n\n"):
            return Change("separator", head.count(b"\n") + 1, 0, count, True, "", "- config-keys:")
    if new.endswith(b"\n\n"):
        return Change("trailing-blank", new.count(b"\n"), 0, count, True)
    return Change("", line, 0, count, True)


def _corrected(old: bytes, new: bytes, line: int, before: str, after: str) -> Change:
    """History with as many entries as before: only pr-link lines may differ."""
    ours, theirs = old.splitlines(keepends=True), new.splitlines(keepends=True)
    if len(ours) == len(theirs):
        changed = [(one, other) for one, other in zip(ours, theirs, strict=True) if one != other]
        if all(_LINK_LINE.match(one) and _LINK_LINE.match(other) for one, other in changed):
            return Change("", line, line, 0, True, before, after)
    return Change("history-changed", line, line, 0, True, before, after)


def _deletions(old: bytes, new: bytes, count: int) -> Change:
    """Before bytes were compared: a diff may not delete lines that are not blank."""
    if new.startswith(old):
        return Change("", old.count(b"\n") + 1, 0, count, False)
    remaining = new.split(b"\n")
    at = 0
    for number, one in enumerate(old.split(b"\n"), 1):
        if not one.strip():
            continue
        while at < len(remaining) and remaining[at] != one:
            at += 1
        if at == len(remaining):
            line, before, after = _first_difference(old, new)
            return Change("history-changed", line, number, count, False, before or _shown(one), after)
        at += 1
    return Change("", 0, 0, count, False)

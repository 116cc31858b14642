"""The model of `sort` (coreutils 9) in the C locale."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from itertools import zip_longest
from typing import Any

from botlint.shell.commands.base import (
    Call,
    Options,
    Output,
    Unmodelled,
    join_lines,
    read_options,
    split_lines,
    to_bytes,
)

_KEY = re.compile(r"([0-9]{1,6})(?:\.([0-9]{1,6}))?([a-zA-Z]*)(?:,([0-9]{1,6})(?:\.([0-9]{1,6}))?([a-zA-Z]*))?")
_NUMBER = re.compile(r"[ \t]*(-?)([0-9]*)(?:\.([0-9]*))?")
_HUMAN = re.compile(r"[ \t]*(-?)([0-9]*)(?:\.([0-9]*))?([KkMGTPEZY]?)")
_LONG = {
    "numeric-sort": "n",
    "reverse": "r",
    "unique": "u",
    "key": "k",
    "field-separator": "t",
    "version-sort": "V",
    "ignore-case": "f",
    "ignore-leading-blanks": "b",
    "human-numeric-sort": "h",
    "stable": "s",
}


@dataclass(frozen=True, slots=True)
class _Key:
    """A part of the line and how it compares; `end_field` 0 is the line's end."""

    start_field: int
    start_character: int
    end_field: int
    end_character: int
    skip_start: bool
    skip_end: bool
    kind: str
    fold: bool
    reverse: bool


def sort(call: Call) -> Output:
    """The lines in order."""
    options = read_options(call.args, "nruk:t:Vfbhs", _LONG)
    if any(operand.startswith("+") for operand in options.operands):
        raise Unmodelled("an old key of sort")
    separator = options.last("t")
    if separator == "\\0" or (separator is not None and len(separator) != 1):
        return 2, ""
    keys = _keys(options)
    if keys is None:
        return 2, ""
    whole_only = not options.given or all(name == "r" for name, _ in options.given)
    pieces = [call.text([operand]) for operand in options.operands or ("-",)]
    lines = [line for piece in pieces for line in split_lines(piece)]
    if whole_only:
        return 0, join_lines(sorted(lines, key=to_bytes, reverse=options.has("r")))
    if not options.has("u") and not options.has("s"):
        lines.sort(key=to_bytes, reverse=options.has("r"))
    # Sorting is stable: the last key first, the one that counts most last.
    for key in reversed(keys):
        lines.sort(key=_sort_key(key, separator), reverse=key.reverse)
    if options.has("u"):
        values = [[_value(_extract(line, key, separator), key) for key in keys] for line in lines]
        lines = [
            line for index, line in enumerate(lines) if not index or not _same(keys, values[index - 1], values[index])
        ]
    return 0, join_lines(lines)


def _sort_key(key: _Key, separator: str | None) -> Callable[[str], Any]:
    if key.kind == "V":
        compare = cmp_to_key(_compare_versions)
        return lambda line: compare(_extract(line, key, separator))
    return lambda line: _value(_extract(line, key, separator), key)


def _same(keys: Sequence[_Key], left: Sequence[object], right: Sequence[object]) -> bool:
    return all(
        _compare_versions(str(one), str(other)) == 0 if key.kind == "V" else one == other
        for key, one, other in zip(keys, left, right, strict=True)
    )


def _keys(options: Options) -> list[_Key] | None:
    letters = {name for name, _ in options.given}
    kind = _kind(letters)
    if kind is None:
        return None
    general = _Key(1, 1, 0, 0, "b" in letters, "b" in letters, kind, "f" in letters, "r" in letters)
    keys: list[_Key] = []
    for text in options.every("k"):
        found = _KEY.fullmatch(text)
        if found is None:
            return None
        start, start_character = int(found[1]), int(found[2] or 1)
        end, end_character = int(found[4] or 0), int(found[5] or 0)
        if not start or not start_character or (found[4] and not end):
            return None
        own = set(found[3] + (found[6] or ""))
        if own - set("nrVfbh"):
            raise Unmodelled("an ordering of sort")
        if own:
            own_kind = _kind(own)
            if own_kind is None:
                return None
            key = _Key(
                start,
                start_character,
                end,
                end_character,
                "b" in found[3],
                "b" in (found[6] or ""),
                own_kind,
                "f" in own,
                "r" in own,
            )
        else:
            # A key without letters of its own takes the general ones.
            key = _Key(
                start,
                start_character,
                end,
                end_character,
                general.skip_start,
                general.skip_end,
                kind,
                general.fold,
                general.reverse,
            )
        keys.append(key)
    return keys or [general]


def _kind(letters: set[str]) -> str | None:
    kinds = letters & set("nVh")
    return None if len(kinds) > 1 else next(iter(kinds), "")


def _extract(line: str, key: _Key, separator: str | None) -> str:
    if (key.start_field, key.start_character, key.end_field) == (1, 1, 0) and not key.skip_start:
        return line
    start = _field_start(line, key.start_field, separator)
    if key.skip_start:
        start = _skip_blanks(line, start)
    start = min(start + key.start_character - 1, len(line))
    if not key.end_field:
        return line[start:]
    if key.end_character:
        end = _field_start(line, key.end_field, separator)
        if key.skip_end:
            end = _skip_blanks(line, end)
        end = min(end + key.end_character, len(line))
    else:
        end = _field_end(line, key.end_field, separator)
    return line[start : max(start, end)]


def _skip_blanks(line: str, at: int) -> int:
    while at < len(line) and line[at] in " \t":
        at += 1
    return at


def _skip_field(line: str, at: int) -> int:
    at = _skip_blanks(line, at)
    while at < len(line) and line[at] not in " \t":
        at += 1
    return at


def _field_start(line: str, field: int, separator: str | None) -> int:
    at = 0
    for _ in range(field - 1):
        if at >= len(line):
            break
        if separator is None:
            at = _skip_field(line, at)
        else:
            found = line.find(separator, at)
            at = len(line) if found < 0 else found + 1
    return at


def _field_end(line: str, field: int, separator: str | None) -> int:
    at = _field_start(line, field, separator)
    if separator is None:
        return _skip_field(line, at)
    found = line.find(separator, at)
    return len(line) if found < 0 else found


def _value(text: str, key: _Key) -> object:
    match key.kind:
        case "n":
            return _numeric(_NUMBER.match(text))
        case "h":
            found = _HUMAN.match(text)
            number = _numeric(found)
            suffix = " KMGTPEZY".find(found[4].upper()) if found and found[4] else 0
            # Any value with a larger suffix is larger, whatever its digits are.
            return (suffix if number > (0, "") else -suffix if number < (0, "") else 0, number)
        case "V":
            return text
        case _:
            return to_bytes(text.upper() if key.fold and text.isascii() else text)


def _whole(digits: str) -> int:
    if len(digits) > 4_000:
        raise Unmodelled("a number of sort")
    return int(digits or 0)


def _numeric(found: re.Match[str] | None) -> tuple[int, str]:
    """A number that compares exactly: its whole part and the digits after the point."""
    if found is None:
        return 0, ""
    whole, part = _whole(found[2]), (found[3] or "").rstrip("0")
    if found[1]:
        # Below zero a longer fraction is smaller: compare the digits' complement.
        if not part:
            return -whole, ""
        return -whole - 1, "".join(str(9 - int(digit)) for digit in part[:-1]) + str(10 - int(part[-1]))
    return whole, part


def _version_order(character: str) -> int:
    if character == "~":
        return -2
    if character.isdigit() or not character:
        return -1
    return ord(character) if character.isalpha() else ord(character) + 256


def _compare_versions(left: str, right: str) -> int:
    """Gnulib's filevercmp."""
    if left == right:
        return 0
    special: tuple[Callable[[str], bool], ...] = (
        lambda text: text == "",
        lambda text: text == ".",
        lambda text: text == "..",
        lambda text: text.startswith("."),
    )
    for test in special:
        if test(left) != test(right):
            return -1 if test(left) else 1
        if test(left):
            if test is special[3]:
                left, right = left[1:], right[1:]
            break
    suffix = re.compile(r"(?:\.[A-Za-z~][A-Za-z0-9~]*)*\Z")
    first, second = suffix.sub("", left, count=1), suffix.sub("", right, count=1)
    result = _compare_parts(left, right) if first == second else _compare_parts(first, second)
    return result or (left > right) - (left < right)


def _compare_parts(left: str, right: str) -> int:
    parts = re.compile(r"([^0-9]*)([0-9]*)")
    for (text, digits), (other_text, other_digits) in zip_longest(
        parts.findall(left), parts.findall(right), fillvalue=("", "")
    ):
        for one, other in zip_longest(text, other_text, fillvalue=""):
            first, second = _version_order(one), _version_order(other)
            if first != second:
                return first - second
        number, other_number = _whole(digits), _whole(other_digits)
        if number != other_number:
            return 1 if number > other_number else -1
    return 0

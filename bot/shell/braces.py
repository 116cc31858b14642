"""Brace expansion on a word whose quoted parts and expansions are opaque pieces (`braces.c` of bash 5.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TypeVar

from botlint.shell.values import Budget

MAX_WORDS = 10_000
MAX_DEPTH = 50

Piece = TypeVar("Piece")


class BraceError(Budget):
    """The expansion gives more words than the limit, or is nested too deeply."""


def expand_braces(pieces: Sequence[str | Piece]) -> list[list[str | Piece]]:
    """The words that a word gives; strings are unquoted text, all else is opaque. Raises BraceError over the limit.

    Each result is a list of pieces without empty or adjacent strings.
    """
    if not any(isinstance(piece, str) and "{" in piece for piece in pieces):
        return [list(pieces)]
    atoms: list[str | Piece] = []
    for piece in pieces:
        if isinstance(piece, str):
            atoms.extend(piece)
        else:
            atoms.append(piece)
    return [_joined(word) for word in _expand(atoms, 0)]


def _joined(atoms: list[str | Piece]) -> list[str | Piece]:
    result: list[str | Piece] = []
    text: list[str] = []
    for atom in atoms:
        if isinstance(atom, str):
            text += atom
            continue
        if text:
            result.append("".join(text))
            text.clear()
        result.append(atom)
    if text:
        result.append("".join(text))
    return result


def _expand(atoms: list[str | Piece], depth: int) -> list[list[str | Piece]]:
    if depth > MAX_DEPTH:
        raise BraceError("brace expansion is nested too deeply")
    words: list[list[str | Piece]] = [[]]
    at = 0
    while True:
        found = _first_braces(atoms, at)
        if found is None:
            return _product(words, [atoms[at:]])
        start, end = found
        inside = atoms[start + 1 : end]
        if "," in inside:
            middle = [word for part in _parts(inside) for word in _expand(part, depth + 1)]
        else:
            sequence = _sequence(inside)
            # A range that does not count stays as text, braces included.
            middle = [atoms[start : end + 1]] if sequence is None else [[item] for item in sequence]
        words = _product(_product(words, [atoms[at:start]]), middle)
        at = end + 1


def _product(left: list[list[str | Piece]], right: list[list[str | Piece]]) -> list[list[str | Piece]]:
    if len(left) * len(right) > MAX_WORDS:
        raise BraceError("brace expansion gives too many words")
    return [before + after for before in left for after in right]


def _first_braces(atoms: list[str | Piece], at: int) -> tuple[int, int] | None:
    """The first `{` whose braces hold a comma or a range, and its `}`."""
    attempts = 0
    for start in range(at, len(atoms)):
        if atoms[start] != "{" or (start == 0 and atoms[1:2] == ["}"]):
            continue
        attempts += 1
        if attempts > 200:
            raise BraceError("brace expansion has too many braces")
        end = _closing(atoms, start + 1)
        if end is not None:
            return start, end
    return None


def _closing(atoms: list[str | Piece], at: int) -> int | None:
    level = 0
    separated = False
    for index in range(at, len(atoms)):
        atom = atoms[index]
        if atom == "{":
            level += 1
        elif atom == "}":
            if level:
                level -= 1
            elif separated:
                return index
        elif level == 0 and not separated:
            range_here = atom == "." and atoms[index + 1 : index + 2] == ["."] and atoms[index + 2 : index + 3] != ["}"]
            separated = atom == "," or range_here
    return None


def _parts(atoms: list[str | Piece]) -> list[list[str | Piece]]:
    parts: list[list[str | Piece]] = [[]]
    level = 0
    for atom in atoms:
        if atom == "," and level == 0:
            parts.append([])
            continue
        if atom == "{":
            level += 1
        elif atom == "}" and level:
            level -= 1
        parts[-1].append(atom)
    return parts


_NUMBERS = re.compile(r"([-+]?[0-9]{1,18})\.\.([-+]?[0-9]{1,18})(?:\.\.([-+]?[0-9]{1,18}))?")
_LETTERS = re.compile(r"([A-Za-z])\.\.([A-Za-z])(?:\.\.([-+]?[0-9]{1,18}))?")


def _sequence(atoms: list[str | Piece]) -> list[str] | None:
    if not all(isinstance(atom, str) for atom in atoms):
        return None
    text = "".join(atom for atom in atoms if isinstance(atom, str))
    if found := _NUMBERS.fullmatch(text):
        low, high, step = found.groups()
        padded = any(re.match(r"-?0[0-9]", number) for number in (low, high))
        width = max(len(low), len(high)) if padded else 0
        return [f"{number:0{width}d}" for number in _range(int(low), int(high), int(step or 1))]
    if found := _LETTERS.fullmatch(text):
        low, high, step = found.groups()
        # Between the cases of the alphabet stands a backslash, which quote removal takes away.
        return [chr(code).replace("\\", "") for code in _range(ord(low), ord(high), int(step or 1))]
    return None


def _range(low: int, high: int, step: int) -> range:
    step = abs(step) or 1
    if abs(high - low) // step >= MAX_WORDS:
        raise BraceError("brace expansion gives too many words")
    return range(low, high + 1, step) if low <= high else range(low, high - 1, -step)

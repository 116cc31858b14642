"""Bash patterns (globs, extended globs), pattern substitution, case conversion, and the expressions of `[[ =~ ]]`.

Patterns arrive with their quoted parts escaped by backslash. Classes and ranges are those of the C locale.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal as OneOf

from botlint.shell.regex import compile_regex
from botlint.shell.regex_nodes import (
    ANY,
    MAX_DEPTH,
    MAX_PATTERN,
    Chars,
    Choice,
    Literal,
    Node,
    Not,
    PatternError,
    Star,
    optional,
    read_bracket,
    sequence,
)
from botlint.shell.regex_sets import PositionSets

__all__ = [
    "PatternError",
    "change_case",
    "ere_match",
    "has_pattern",
    "literal_text",
    "match_prefix_longest",
    "match_prefix_shortest",
    "match_suffix_longest",
    "match_suffix_shortest",
    "matches",
    "quote_pattern",
    "substitute",
]

MAX_RESULT = 1 << 20
SubstituteMode = OneOf["first", "all", "prefix", "suffix"]
CaseOperator = OneOf["^", "^^", ",", ",,", "~", "~~"]

_SPECIAL = re.compile(r"[*?\[\]\\+@!()|^-]")


def quote_pattern(text: str) -> str:
    """Escapes a text so that as a pattern it matches only itself."""
    return _SPECIAL.sub(r"\\\g<0>", text)


class _Parser:
    def __init__(self, text: str, *, extglob: bool) -> None:
        self.text = text
        self.at = 0
        self.extglob = extglob

    def branch(self, depth: int) -> Node:
        items: list[Node] = []
        text = self.text
        while self.at < len(text):
            character = text[self.at]
            if depth and character in "|)":
                break
            if self.extglob and character in "?*+@!" and text.startswith("(", self.at + 1):
                group = self.group(character, depth)
                if group is not None:
                    items.append(group)
                    continue
            self.at += 1
            if character == "*":
                if not items or items[-1] != Star(ANY):
                    items.append(Star(ANY))
            elif character == "?":
                items.append(ANY)
            elif character == "[" and (bracket := read_bracket(text, self.at - 1, glob=True)) is not None:
                items.append(bracket[0])
                self.at = bracket[1]
            elif character == "\\" and self.at < len(text):
                items.append(Literal(text[self.at]))
                self.at += 1
            else:
                items.append(Literal(character))
        return sequence(items)

    def group(self, operator: str, depth: int) -> Node | None:
        """The group whose operator stands here; None, with nothing read, when its parenthesis does not close."""
        if depth >= MAX_DEPTH:
            raise PatternError("the pattern is nested too deeply")
        begin = self.at
        alternatives: list[Node] = []
        self.at += 1
        while True:
            self.at += 1
            alternatives.append(self.branch(depth + 1))
            if self.at >= len(self.text):
                # The rest holds no closing parenthesis either, so a later attempt would only repeat this work.
                self.at, self.extglob = begin, False
                return None
            if self.text[self.at] == ")":
                break
        self.at += 1
        item = Choice(tuple(alternatives))
        match operator:
            case "?":
                return optional(item)
            case "*":
                return Star(item)
            case "+":
                return sequence([item, Star(item)])
            case "!":
                return Not(item)
            case _:
                return item


class _Pattern:
    """A read pattern with the quick forms that most patterns have."""

    def __init__(self, node: Node, *, ignore_case: bool) -> None:
        self.node = node
        self.ignore_case = ignore_case
        self.literal: str | None = None
        self.full: re.Pattern[str] | None = None
        items = node.items if hasattr(node, "items") and not isinstance(node, Choice) else (node,)
        if not items:
            self.literal = ""
        elif len(items) == 1 and isinstance(items[0], Literal) and not ignore_case:
            self.literal = items[0].text
        self.full = _linear(items, ignore_case)

    def sets(self, text: str) -> PositionSets:
        return PositionSets(text, ignore_case=self.ignore_case)


def _linear(items: tuple[Node, ...], ignore_case: bool) -> re.Pattern[str] | None:
    """The pattern as one expression that never backtracks far: a part between stars takes its first place for good."""
    parts: list[str] = [""]
    for item in items:
        if item == Star(ANY):
            parts.append("")
        elif isinstance(item, Literal):
            parts[-1] += re.escape(item.text)
        elif isinstance(item, Chars):
            parts[-1] += item.source
        else:
            return None
    source = parts[0]
    if len(parts) > 1:
        source += "".join(f"(?>.*?{part})" for part in parts[1:-1]) + ".*" + parts[-1]
    return re.compile(source, re.DOTALL | (re.IGNORECASE if ignore_case else 0))


@lru_cache(maxsize=4096)
def _compile(pattern: str, extglob: bool, ignore_case: bool) -> _Pattern:
    if len(pattern) > MAX_PATTERN:
        raise PatternError("the pattern is too long")
    return _Pattern(_Parser(pattern, extglob=extglob).branch(0), ignore_case=ignore_case)


def literal_text(pattern: str, *, extglob: bool = True) -> str | None:
    """The only text that the pattern matches, or None when it has an active special character."""
    return _compile(pattern, extglob, False).literal


def has_pattern(pattern: str, *, extglob: bool = True) -> bool:
    """True when the pattern has an unquoted special character that is active."""
    return literal_text(pattern, extglob=extglob) is None


def matches(pattern: str, text: str, *, extglob: bool = True, ignore_case: bool = False) -> bool:
    """True when the pattern matches the whole text; raises PatternError when that costs too much."""
    compiled = _compile(pattern, extglob, ignore_case)
    if compiled.literal is not None:
        return compiled.literal == text
    if compiled.full is not None:
        return compiled.full.fullmatch(text) is not None
    sets = compiled.sets(text)
    return bool(sets.ends(compiled.node, 1) >> sets.size & 1)


def _prefix_ends(pattern: str, text: str, extglob: bool) -> int:
    compiled = _compile(pattern, extglob, False)
    if compiled.literal is not None:
        return 1 << len(compiled.literal) if text.startswith(compiled.literal) else 0
    return compiled.sets(text).ends(compiled.node, 1)


def _suffix_starts(pattern: str, text: str, extglob: bool) -> int:
    compiled = _compile(pattern, extglob, False)
    if compiled.literal is not None:
        return 1 << (len(text) - len(compiled.literal)) if text.endswith(compiled.literal) else 0
    return compiled.sets(text).starts(compiled.node, 1 << len(text))


def match_prefix_longest(pattern: str, text: str, *, extglob: bool = True) -> int | None:
    """The length of the longest beginning that matches (`##`), or None; raises PatternError if it costs too much."""
    ends = _prefix_ends(pattern, text, extglob)
    return ends.bit_length() - 1 if ends else None


def match_prefix_shortest(pattern: str, text: str, *, extglob: bool = True) -> int | None:
    """The length of the shortest beginning that matches (`#`), or None; raises PatternError if it costs too much."""
    ends = _prefix_ends(pattern, text, extglob)
    return (ends & -ends).bit_length() - 1 if ends else None


def match_suffix_longest(pattern: str, text: str, *, extglob: bool = True) -> int | None:
    """Where the longest end that matches begins (`%%`), or None; raises PatternError when that costs too much."""
    starts = _suffix_starts(pattern, text, extglob)
    return (starts & -starts).bit_length() - 1 if starts else None


def match_suffix_shortest(pattern: str, text: str, *, extglob: bool = True) -> int | None:
    """Where the shortest end that matches begins (`%`), or None; raises PatternError when that costs too much."""
    starts = _suffix_starts(pattern, text, extglob)
    return starts.bit_length() - 1 if starts else None


def substitute(
    text: str,
    pattern: str,
    replacement: str,
    mode: SubstituteMode,
    *,
    extglob: bool = True,
    ampersand: bool = False,
) -> str:
    """The text with matches replaced as `${x/p/r}` (first), `//` (all), `/#` (prefix) or `/%` (suffix) do.

    With `ampersand` an unquoted `&` of the replacement is the matched text and a backslash quotes it
    (`patsub_replacement` of bash 5.2). Raises PatternError when matching costs too much or the result is too long.
    """
    compiled = _compile(pattern, extglob, False)
    if not text and pattern and not pattern.startswith("*" if mode != "suffix" else ("*", "?(", "!(")):
        # In an empty text bash looks only for patterns that begin so.
        return text
    if compiled.literal is not None and not ampersand and compiled.literal:
        result = _substitute_literal(text, compiled.literal, replacement, mode)
    elif mode in ("prefix", "suffix"):
        if mode == "prefix":
            start, end = 0, match_prefix_longest(pattern, text, extglob=extglob)
        else:
            begin = match_suffix_longest(pattern, text, extglob=extglob)
            start, end = begin or 0, None if begin is None else len(text)
        if end is None:
            return text
        result = text[:start] + _insert(replacement, text[start:end], ampersand) + text[end:]
    elif compiled.literal == "":
        return text
    else:
        result = _substitute_scan(text, compiled, replacement, mode == "all", ampersand)
    if len(result) > MAX_RESULT:
        raise PatternError("the result is too long")
    return result


def _substitute_literal(text: str, literal: str, replacement: str, mode: SubstituteMode) -> str:
    match mode:
        case "first":
            return text.replace(literal, replacement, 1)
        case "all":
            if text.count(literal) * len(replacement) > MAX_RESULT:
                raise PatternError("the result is too long")
            return text.replace(literal, replacement)
        case "prefix":
            return replacement + text[len(literal) :] if text.startswith(literal) else text
        case _:
            return text[: len(text) - len(literal)] + replacement if text.endswith(literal) else text


def _substitute_scan(text: str, compiled: _Pattern, replacement: str, every: bool, ampersand: bool) -> str:
    sets = compiled.sets(text)
    starts = sets.starts(compiled.node, sets.everywhere)
    pieces: list[str] = []
    size = at = 0
    while at < len(text) or not text:
        left = starts >> at
        if not left:
            break
        start = at + (left & -left).bit_length() - 1
        if start == len(text) and text:
            break
        end = sets.ends(compiled.node, 1 << start).bit_length() - 1
        pieces += [text[at:start], _insert(replacement, text[start:end], ampersand)]
        size += len(pieces[-1])
        if size > MAX_RESULT:
            raise PatternError("the result is too long")
        at = end
        if not every or not text:
            break
        if start == end:
            pieces.append(text[at])
            at += 1
    return "".join(pieces) + text[at:]


_AMPERSAND = re.compile(r"\\[\\&]|&")


def _insert(replacement: str, matched: str, ampersand: bool) -> str:
    if not ampersand:
        return replacement
    return _AMPERSAND.sub(lambda found: matched if found[0] == "&" else found[0][1], replacement)


def change_case(text: str, operator: CaseOperator, pattern: str = "", *, extglob: bool = True) -> str:
    """The text with its first (`^ , ~`) or all (`^^ ,, ~~`) characters that match the pattern in the other case."""
    convert = {"^": _upper, ",": _lower, "~": _toggle}[operator[0]]
    end = len(text) if len(operator) == 2 else 1
    if not pattern or pattern == "?":
        return "".join(map(convert, text[:end])) + text[end:]
    return (
        "".join(
            convert(character) if matches(pattern, character, extglob=extglob) else character
            for character in text[:end]
        )
        + text[end:]
    )


def _upper(character: str) -> str:
    upper = character.upper()
    return upper if len(upper) == 1 else character


def _lower(character: str) -> str:
    lower = character.lower()
    return lower if len(lower) == 1 else character


def _toggle(character: str) -> str:
    return _upper(character) if character.islower() else _lower(character)


def ere_match(regex: str, text: str, *, ignore_case: bool = False) -> list[str] | None:
    """What `[[ text =~ regex ]]` leaves in BASH_REMATCH, or None; raises PatternError on a bad expression."""
    found = compile_regex(regex, extended=True, ignore_case=ignore_case).search(text)
    if found is None:
        return None
    return [found.group(index) for index in range(len(found.spans) + 1)]

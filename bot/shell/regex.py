"""POSIX regular expressions: a search that gives the leftmost-longest match, and never runs away.

Alternation takes the longest match as POSIX says (IEEE Std 1003.1, 9.1), which Python's `re` does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from botlint.shell.regex_nodes import (
    MAX_PATTERN,
    MAX_TEXT,
    TEXT_END,
    TEXT_START,
    Anchor,
    BackReference,
    Chars,
    Choice,
    Group,
    Literal,
    Node,
    Not,
    PatternError,
    Sequence,
    Star,
)
from botlint.shell.regex_reader import ExpressionReader
from botlint.shell.regex_sets import Budget, PositionSets

_MAX_PYTHON_COST = 50_000


@dataclass(frozen=True, slots=True)
class Found:
    """A match: its span and the spans of its groups (None where a group took no part)."""

    text: str
    start: int
    end: int
    spans: tuple[tuple[int, int] | None, ...]

    def group(self, index: int) -> str:
        """The text of a group (0 is all), empty when it took no part."""
        if index == 0:
            return self.text[self.start : self.end]
        span = self.spans[index - 1] if index <= len(self.spans) else None
        return "" if span is None else self.text[span[0] : span[1]]


class Scanner:
    """Searches one text repeatedly with one expression."""

    def __init__(self, regex: Regex, text: str, budget: Budget | None = None) -> None:
        self._regex = regex
        self._text = text
        self._budget = budget or Budget()
        self._sets: PositionSets | None = None
        self._starts = ""

    def search(self, position: int = 0) -> Found | None:
        """The leftmost-longest match that begins at or after `position`; raises PatternError when it costs too much."""
        regex = self._regex
        self._budget.spend(1 + (len(self._text) - position) // 256)
        if regex.required and self._text.find(regex.required, position) < 0:
            return None
        cost = regex.python_cost(self._text)
        if cost <= _MAX_PYTHON_COST and (self._sets is None or regex.is_greedy):
            self._budget.spend(cost // 2_000)
            found = regex.python_search(self._text, position)
            if found is None or regex.is_greedy:
                return found
        if regex.has_back_reference:
            raise PatternError("the text is too long for a back reference")
        if self._sets is None:
            self._sets = PositionSets(self._text, ignore_case=regex.ignore_case, budget=self._budget)
            self._starts = bin(self._sets.starts(regex.node, self._sets.everywhere))[:1:-1]
        start = self._starts.find("1", position)
        if start < 0:
            return None
        end = self._sets.ends(regex.node, 1 << start).bit_length() - 1
        found_groups: dict[int, tuple[int, int]] = {}
        if regex.group_count:
            self._sets.follow(regex.node, start, 1 << end, found_groups)
        return Found(self._text, start, end, tuple(found_groups.get(index + 1) for index in range(regex.group_count)))


class Regex:
    """A compiled POSIX expression."""

    def __init__(self, node: Node, group_count: int, *, ignore_case: bool) -> None:
        """Raises PatternError when a back reference stands in an expression that may blow up."""
        self.node = node
        self.group_count = group_count
        self.ignore_case = ignore_case
        self._shape = shape = _Shape()
        shape.visit(node, inside=False)
        self.has_back_reference = shape.back_reference
        parts = node.items if isinstance(node, Sequence) else (node,)
        self._begins = parts[:1] == (TEXT_START,)
        # Where only single characters repeat and nothing else is a choice, taking most first is taking the longest:
        # from a later place the rest of the expression never ends earlier. With `$` last there is only one end.
        self.is_greedy = shape.back_reference or not shape.choices or parts[-1:] == (TEXT_END,)
        self.required = "" if ignore_case else _required(node)
        self._python: re.Pattern[str] | None = None
        if shape.back_reference and (shape.nested or shape.stars > 3):
            raise PatternError("a back reference in so complex an expression is not matched")
        if not shape.nested and shape.stars <= 4 and shape.branches <= 10:
            self._python = _compile_python(node, re.DOTALL | (re.IGNORECASE if ignore_case else 0))

    def python_cost(self, text: str) -> int:
        """A bound on the steps of Python's matcher."""
        if self._python is None:
            return MAX_TEXT * MAX_TEXT
        steps: int = (len(text) + 1) ** (self._shape.stars + (not self._begins))
        return steps << self._shape.branches

    def python_search(self, text: str, position: int) -> Found | None:
        """The match that Python's matcher finds: for a greedy expression the longest one, else just a proof."""
        found = None if self._python is None else self._python.search(text, position)
        if found is None:
            return None
        spans = tuple(None if span == (-1, -1) else span for span in found.regs[1:])
        return Found(text, found.start(), found.end(), spans)

    def search(self, text: str, position: int = 0, budget: Budget | None = None) -> Found | None:
        """The leftmost-longest match that begins at or after `position`; raises PatternError when it costs too much."""
        return Scanner(self, text, budget).search(position)


def _required(node: Node) -> str:
    """A text that every match holds, or nothing."""
    match node:
        case Literal(text):
            return text
        case Group(_, item):
            return _required(item)
        case Sequence(items):
            return max(map(_required, items), key=len, default="")
        case _:
            return ""


class _Shape:
    """Counts what makes a backtracking match slow, or different from the longest one."""

    def __init__(self) -> None:
        self.stars = 0
        self.choices = 0
        self.branches = 0
        self.nested = False
        self.groups: set[int] = set()
        self.back_reference = False

    def visit(self, node: Node, *, inside: bool) -> None:
        match node:
            case Star(item):
                self.stars += 1
                self.nested |= inside or not isinstance(item, Chars | Literal)
                self.visit(item, inside=True)
            case Sequence(items):
                for item in items:
                    self.visit(item, inside=inside)
            case Choice((Chars() | Literal(), Sequence(()))):
                self.branches += 1
            case Choice(items):
                self.choices += 1
                self.branches += len(items) - 1
                for item in items:
                    self.visit(item, inside=inside)
            case Group(index, item):
                # An interval repeats its group: Python numbers groups by their place.
                self.nested |= index in self.groups
                self.groups.add(index)
                self.visit(item, inside=inside)
            case BackReference():
                self.back_reference = True
            case _:
                return


def _compile_python(node: Node, flags: int) -> re.Pattern[str]:
    try:
        return re.compile(_python(node), flags)
    except (re.error, OverflowError, RecursionError) as error:
        raise PatternError(str(error)) from error


def _python(node: Node) -> str:
    match node:
        case Literal(text):
            return re.escape(text)
        case Chars(source) | Anchor(source):
            return source
        case Sequence(items):
            return "".join(_python(item) for item in items)
        case Choice(items):
            return "(?:" + "|".join(_python(item) for item in items) + ")"
        case Star(item):
            return f"(?:{_python(item)})*"
        case Group(_, item):
            return f"({_python(item)})"
        case BackReference(index):
            return f"(?:\\{index})"
        case Not():
            raise PatternError("a negated pattern has no expression")


@lru_cache(maxsize=2048)
def compile_regex(pattern: str, *, extended: bool, ignore_case: bool = False, bracket_escapes: bool = False) -> Regex:
    """Compiles a POSIX extended or basic expression with the GNU escapes; raises PatternError on a bad one."""
    if len(pattern) > MAX_PATTERN:
        raise PatternError("the expression is too long")
    parser = ExpressionReader(pattern, extended=extended, bracket_escapes=bracket_escapes)
    node = parser.choice(0)
    return Regex(node, parser.groups, ignore_case=ignore_case)

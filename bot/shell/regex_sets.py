"""Matching without backtracking: a set of places in a text is the bits of a number.

Work grows with pattern size times text size, never exponentially, so a hostile pattern is an error and not a hang.
"""

from __future__ import annotations

import re
from functools import lru_cache

from botlint.shell.regex_nodes import (
    MAX_TEXT,
    Anchor,
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

MAX_WORK = 300_000


class Budget:
    """How much matching a caller may still do; a unit is about a microsecond."""

    __slots__ = ("left",)

    def __init__(self, left: int = MAX_WORK) -> None:
        self.left = left

    def spend(self, amount: int) -> None:
        """Raises PatternError when nothing is left."""
        self.left -= amount
        if self.left < 0:
            raise PatternError("matching takes too many steps")


class PositionSets:
    """Answers, for one text, from which positions a node leads to which; bit `i` is the place before character `i`."""

    def __init__(self, text: str, *, ignore_case: bool = False, budget: Budget | None = None) -> None:
        """Raises PatternError when the text is longer than the limit."""
        if len(text) > MAX_TEXT:
            raise PatternError("the text is too long to match")
        self.text = text
        self.size = len(text)
        self.everywhere = (1 << (self.size + 1)) - 1
        self._flags = re.DOTALL | (re.IGNORECASE if ignore_case else 0)
        self._ignore_case = ignore_case
        self._masks: dict[Node, int] = {}
        self._budget = budget or Budget()
        self._cost = 1 + self.size // 4096

    def _mask(self, node: Literal | Chars | Anchor) -> int:
        known = self._masks.get(node)
        if known is not None:
            return known
        self._budget.spend(2 + self.size // 32)
        bits = bytearray(b"0") * (self.size + 1)
        if isinstance(node, Literal) and not self._ignore_case:
            at = self.text.find(node.text)
            while at >= 0:
                bits[self.size - at] = 49
                at = self.text.find(node.text, at + 1)
        else:
            source = f"(?={re.escape(node.text)})" if isinstance(node, Literal) else node.source
            for found in _class(source, self._flags).finditer(self.text):
                bits[self.size - found.start()] = 49
        mask = int(bits, 2)
        self._masks[node] = mask
        return mask

    def ends(self, node: Node, starts: int) -> int:
        """The positions that the node can reach from any of `starts`."""
        self._budget.spend(self._cost)
        if not starts:
            return 0
        match node:
            case Literal(text):
                return (starts & self._mask(node)) << len(text)
            case Chars():
                return (starts & self._mask(node)) << 1
            case Anchor():
                return starts & self._mask(node)
            case Sequence(items):
                for item in items:
                    starts = self.ends(item, starts)
                    if not starts:
                        break
                return starts
            case Choice(items):
                reached = 0
                for item in items:
                    reached |= self.ends(item, starts)
                return reached
            case Star(Chars(".")):
                return self.everywhere & -(starts & -starts)
            case Star(Chars() as item):
                mask = self._mask(item)
                # A carry runs through each block of set bits: the sum moves every start to the end of its run.
                return (((starts & mask) + mask) ^ mask) | starts
            case Star(item):
                reached = fresh = starts
                while fresh:
                    fresh = self.ends(item, fresh) & ~reached
                    reached |= fresh
                return reached
            case Group(_, item):
                return self.ends(item, starts)
            case Not(item):
                reached = 0
                while starts:
                    self._budget.spend(self._cost)
                    bit = starts & -starts
                    starts ^= bit
                    reached |= (self.everywhere & -bit) & ~self.ends(item, bit)
                return reached
            case _:
                raise PatternError("a back reference needs the other matcher")

    def starts(self, node: Node, ends: int) -> int:
        """The positions from which the node can reach any of `ends`."""
        self._budget.spend(self._cost)
        if not ends:
            return 0
        match node:
            case Literal(text):
                return (ends >> len(text)) & self._mask(node)
            case Chars():
                return (ends >> 1) & self._mask(node)
            case Anchor():
                return ends & self._mask(node)
            case Sequence(items):
                for item in reversed(items):
                    ends = self.starts(item, ends)
                    if not ends:
                        break
                return ends
            case Choice(items):
                reached = 0
                for item in items:
                    reached |= self.starts(item, ends)
                return reached
            case Star(Chars(".")):
                return (1 << ends.bit_length()) - 1
            case Star(Chars() as item):
                return _run_starts(self._mask(item), ends)
            case Star(item):
                reached = fresh = ends
                while fresh:
                    fresh = self.starts(item, fresh) & ~reached
                    reached |= fresh
                return reached
            case Group(_, item):
                return self.starts(item, ends)
            case Not():
                reached, bit = 0, 1
                for _ in range(ends.bit_length()):
                    self._budget.spend(self._cost)
                    if self.ends(node, bit) & ends:
                        reached |= bit
                    bit <<= 1
                return reached
            case _:
                raise PatternError("a back reference needs the other matcher")

    def follow(self, node: Node, start: int, allowed: int, found: dict[int, tuple[int, int]]) -> int:
        """Fills `found` with the group spans on the node's first way from `start` to one of `allowed`; gives its end.

        Earlier alternatives and further repetitions come first, as in glibc once the end of the whole match is fixed.
        """
        match node:
            case Group(index, item):
                end = self.follow(item, start, allowed, found)
                found[index] = (start, end)
                return end
            case Sequence(items) if items:
                wanted = [allowed]
                for item in reversed(items[1:]):
                    wanted.append(self.starts(item, wanted[-1]))
                for item, ends in zip(items, reversed(wanted), strict=True):
                    start = self.follow(item, start, ends, found)
                return start
            case Choice((item, Sequence(()))) if allowed >> start & 1:
                # An optional part is not entered for nothing.
                further = allowed & ~(1 << start)
                return self.follow(item, start, further, found) if self.ends(item, 1 << start) & further else start
            case Choice(items):
                for item in items:
                    if self.ends(item, 1 << start) & allowed:
                        return self.follow(item, start, allowed, found)
                return start
            case Star(item) if _has_group(item):
                again = self.starts(node, allowed)
                while (further := again & ~(1 << start)) and self.ends(item, 1 << start) & further:
                    start = self.follow(item, start, further, found)
                return start
            case _:
                return (self.ends(node, 1 << start) & allowed).bit_length() - 1


def _run_starts(mask: int, ends: int) -> int:
    """The positions from which a run of set bits leads to an end; the width doubles each time."""
    width = 1
    while mask:
        ends |= (ends >> width) & mask
        mask &= mask >> width
        width *= 2
    return ends


@lru_cache(maxsize=4096)
def _class(source: str, flags: int) -> re.Pattern[str]:
    return re.compile(source, flags)


@lru_cache(maxsize=1024)
def _has_group(node: Node) -> bool:
    match node:
        case Group():
            return True
        case Sequence(items) | Choice(items):
            return any(_has_group(item) for item in items)
        case Star(item):
            return _has_group(item)
        case _:
            return False

"""POSIX regular expressions and shell patterns matched without backtracking: a set of places is the bits of a number.

Work grows with pattern size times text size, never exponentially, so a hostile pattern is an error and not a hang.
Alternation takes the leftmost-longest match as POSIX says (IEEE Std 1003.1, 9.1), which Python's `re` does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

MAX_PATTERN = 10_000
MAX_TEXT = 1 << 20
MAX_REPEAT = 255
MAX_NODES = 5_000
MAX_DEPTH = 50
MAX_WORK = 300_000
_MAX_PYTHON_COST = 50_000

POSIX_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7f",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}


class PatternError(Exception):
    """A pattern that its tool would refuse, or one whose match costs more than the budget."""


@dataclass(frozen=True, slots=True)
class Literal:
    """A run of characters that stand for themselves."""

    text: str


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set, written as a Python character class."""

    source: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """A condition on a position, written as a Python zero-width expression."""

    source: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """Parts that follow each other."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several alternatives."""

    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Star:
    """Zero or more repetitions."""

    item: Node


@dataclass(frozen=True, slots=True)
class Group:
    """A numbered part whose text is reported."""

    index: int
    item: Node


@dataclass(frozen=True, slots=True)
class Not:
    """Any text that the item does not match as a whole (`!(...)`)."""

    item: Node


@dataclass(frozen=True, slots=True)
class BackReference:
    """The text that an earlier group matched."""

    index: int


Node = Literal | Chars | Anchor | Sequence | Choice | Star | Group | Not | BackReference

ANY = Chars(".")
EMPTY = Sequence(())


def optional(item: Node) -> Node:
    """The item or nothing."""
    return Choice((item, EMPTY))


def sequence(items: list[Node]) -> Node:
    """The items in order, with adjacent literals joined."""
    joined: list[Node] = []
    for item in items:
        last = joined[-1] if joined else None
        if isinstance(item, Literal) and isinstance(last, Literal):
            joined[-1] = Literal(last.text + item.text)
        else:
            joined.append(item)
    return joined[0] if len(joined) == 1 else Sequence(tuple(joined))


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
        self._begins = parts[:1] == (_START,)
        # Where only single characters repeat and nothing else is a choice, taking most first is taking the longest:
        # from a later place the rest of the expression never ends earlier. With `$` last there is only one end.
        self.is_greedy = shape.back_reference or not shape.choices or parts[-1:] == (_END,)
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


def read_bracket(text: str, start: int, *, glob: bool = False, escapes: bool = False) -> tuple[Chars, int] | None:
    """Reads the bracket expression whose `[` is at `start`: the set and the place after it, or None (no end)."""
    at = start + 1
    negated = text[at : at + 1] in (("^", "!") if glob else ("^",)) and at < len(text)
    at += negated
    first = at
    pieces: list[str] = []
    while at < len(text) and (text[at] != "]" or at == first):
        if text.startswith("[:", at):
            close = text.find(":]", at + 2)
            if close >= 0 and text[at + 2 : close] in POSIX_CLASSES:
                pieces.append(POSIX_CLASSES[text[at + 2 : close]])
                at = close + 2
                continue
            if close >= 0 and text[at + 2 : close].isalpha():
                if not glob:
                    raise PatternError("invalid character class")
                at = close + 2
                continue
        low, at = _bracket_character(text, at, glob or escapes)
        if text[at : at + 1] == "-" and at + 1 < len(text) and text[at + 1] != "]":
            high, at = _bracket_character(text, at + 1, glob or escapes)
            if low <= high:
                pieces.append(f"{_in_class(low)}-{_in_class(high)}")
            elif not glob:
                raise PatternError("invalid range end")
        else:
            pieces.append(_in_class(low))
    if at >= len(text):
        return None
    inside = "".join(pieces)
    if not inside:
        return Chars("." if negated else "[^\\s\\S]"), at + 1
    return Chars(f"[{'^' if negated else ''}{inside}]"), at + 1


def _bracket_character(text: str, at: int, escapes: bool) -> tuple[str, int]:
    if escapes and text[at] == "\\" and at + 1 < len(text):
        return text[at + 1], at + 2
    if text[at] == "[" and text[at + 1 : at + 2] in ("=", ".") and text[at + 3 : at + 5] == text[at + 1 : at + 2] + "]":
        return text[at + 2], at + 5
    return text[at], at + 1


def _in_class(character: str) -> str:
    return f"\\U{ord(character):08x}" if not character.isalnum() or not character.isascii() else character


_GNU_ESCAPES: dict[str, Node] = {
    "w": Chars("[0-9A-Za-z_]"),
    "W": Chars("[^0-9A-Za-z_]"),
    "s": Chars("[ \\t\\n\\r\\f\\v]"),
    "S": Chars("[^ \\t\\n\\r\\f\\v]"),
    "b": Anchor("(?a:\\b)"),
    "B": Anchor("(?a:\\B)"),
    "<": Anchor("(?a:\\b(?=\\w))"),
    ">": Anchor("(?a:\\b(?<=\\w))"),
    "`": Anchor("\\A"),
    "'": Anchor("\\Z"),
}
_START = Anchor("\\A")
_END = Anchor("\\Z")


class _Parser:
    """Reads an extended (`extended=True`) or basic expression as GNU regcomp does."""

    def __init__(self, text: str, *, extended: bool, bracket_escapes: bool) -> None:
        self.text = text
        self.at = 0
        self.extended = extended
        self.bracket_escapes = bracket_escapes
        self.groups = 0
        self.closed: set[int] = set()
        self.nodes = 0

    def operator(self, name: str) -> bool:
        """True when the operator `name` stands here (`\\(` in basic expressions is `(` in extended ones)."""
        return self.text.startswith(name if self.extended else "\\" + name, self.at)

    def skip(self, name: str) -> None:
        self.at += len(name) if self.extended else len(name) + 1

    def choice(self, depth: int) -> Node:
        if depth > MAX_DEPTH:
            raise PatternError("the expression is nested too deeply")
        items = [self.branch(depth)]
        while self.at < len(self.text) and self.operator("|"):
            self.skip("|")
            items.append(self.branch(depth))
        return items[0] if len(items) == 1 else Choice(tuple(items))

    def branch(self, depth: int) -> Node:
        items: list[Node] = []
        begin = self.at
        while self.at < len(self.text):
            if self.operator("|") or (self.operator(")") and depth > 0):
                break
            item = self.atom(depth, begin, items)
            items.append(self.repeats(item))
            self.nodes += 1
            if self.nodes > MAX_NODES:
                raise PatternError("the expression is too large")
        return sequence(items)

    def atom(self, depth: int, begin: int, before: list[Node]) -> Node:
        text, at = self.text, self.at
        character = text[at]
        if self.operator("("):
            self.skip("(")
            self.groups += 1
            index = self.groups
            item = self.choice(depth + 1)
            if self.at >= len(text) or not self.operator(")"):
                raise PatternError("Unmatched ( or \\(")
            self.skip(")")
            self.closed.add(index)
            return Group(index, item)
        if not self.extended and self.operator(")"):
            raise PatternError("Unmatched ) or \\)")
        self.at += 1
        if character == "[":
            bracket = read_bracket(text, at, escapes=self.bracket_escapes)
            if bracket is None:
                raise PatternError("Unmatched [, [^, [:, [., or [=")
            self.at = bracket[1]
            return bracket[0]
        if character == ".":
            return ANY
        if character == "\\":
            return self.escape()
        if character == "^" and (self.extended or at == begin):
            return _START
        if character == "$" and (self.extended or self.ends_branch()):
            return _END
        if self.extended and character in "*+?{" and (not before or before[-1] in (_START, _END)):
            raise PatternError("Invalid preceding regular expression")
        return Literal(character)

    def ends_branch(self) -> bool:
        return self.at >= len(self.text) or self.text.startswith(("\\)", "\\|"), self.at)

    def escape(self) -> Node:
        if self.at >= len(self.text):
            raise PatternError("Trailing backslash")
        character = self.text[self.at]
        self.at += 1
        if character in _GNU_ESCAPES:
            return _GNU_ESCAPES[character]
        if character in "123456789":
            if int(character) not in self.closed:
                raise PatternError("Invalid back reference")
            return BackReference(int(character))
        if not self.extended and character in "{+?":
            raise PatternError("Invalid preceding regular expression")
        return Literal(character)

    def repeats(self, item: Node) -> Node:
        literal_star = not self.extended and item == _START
        while self.at < len(self.text):
            if self.text[self.at] == "*" and not literal_star:
                self.at += 1
                item = item if isinstance(item, Star) else Star(item)
            elif self.operator("+"):
                self.skip("+")
                item = item if isinstance(item, Star) else Sequence((item, Star(item)))
            elif self.operator("?"):
                self.skip("?")
                item = optional(item)
            elif self.operator("{"):
                self.skip("{")
                item = self.interval(item)
            else:
                break
        return item

    def interval(self, item: Node) -> Node:
        close = "}" if self.extended else "\\}"
        found = re.compile(r"([0-9]{0,6})(,?)([0-9]{0,6})" + re.escape(close)).match(self.text, self.at)
        if found is None or found.group(0) == close:
            raise PatternError("Invalid content of \\{\\}")
        self.at = found.end()
        low = int(found.group(1) or 0)
        high = int(found.group(3)) if found.group(3) else (None if found.group(2) else low)
        if low > MAX_REPEAT or (high or 0) > MAX_REPEAT or (high is not None and high < low):
            raise PatternError("Invalid content of \\{\\}")
        self.nodes += (low if high is None else high) * _weight(item)
        if self.nodes > MAX_NODES:
            raise PatternError("the expression is too large")
        items: list[Node] = [item] * low
        if high is None:
            items.append(Star(item))
        else:
            items += [optional(item)] * (high - low)
        return Sequence(tuple(items))


def _weight(node: Node) -> int:
    match node:
        case Sequence(items) | Choice(items):
            return 1 + sum(_weight(item) for item in items)
        case Star(item) | Group(_, item) | Not(item):
            return 1 + _weight(item)
        case _:
            return 1


@lru_cache(maxsize=2048)
def compile_regex(pattern: str, *, extended: bool, ignore_case: bool = False, bracket_escapes: bool = False) -> Regex:
    """Compiles a POSIX extended or basic expression with the GNU escapes; raises PatternError on a bad one."""
    if len(pattern) > MAX_PATTERN:
        raise PatternError("the expression is too long")
    parser = _Parser(pattern, extended=extended, bracket_escapes=bracket_escapes)
    node = parser.choice(0)
    return Regex(node, parser.groups, ignore_case=ignore_case)

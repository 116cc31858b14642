"""Reads basic and extended POSIX expressions with GNU's additions, as regcomp does."""

from __future__ import annotations

import re

from botlint.shell.regex_nodes import (
    ANY,
    MAX_DEPTH,
    MAX_NODES,
    MAX_REPEAT,
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
    optional,
    read_bracket,
    sequence,
)

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


class ExpressionReader:
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
            return TEXT_START
        if character == "$" and (self.extended or self.ends_branch()):
            return TEXT_END
        if self.extended and character in "*+?{" and (not before or before[-1] in (TEXT_START, TEXT_END)):
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
        literal_star = not self.extended and item == TEXT_START
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

"""awk's values, fields and variables."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from functools import lru_cache

from botlint.shell.commands.base import MAX_STEPS, MAX_TEXT, Unmodelled
from botlint.shell.regex import Regex, Scanner, compile_regex
from botlint.shell.regex_nodes import PatternError
from botlint.shell.regex_sets import Budget


class Input(str):
    """A text that came from the input: it counts as a number where it looks like one."""

    __slots__ = ()


Value = float | str | None

Expression = Callable[["Machine"], Value]

Statement = Callable[["Machine"], None]

_NUMBER = re.compile(r"[ \t\n\f\r\v]*([-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)")

_STRANGE_NUMBER = re.compile(r"[ \t\n]*[-+]?(?:0[xX][0-9a-fA-F]|inf|nan)", re.IGNORECASE)

MAX_INTEGER = 2.0**31 - 1


def to_number(value: Value) -> float:
    """The number at the start of a value; raises Unmodelled where awks differ."""
    if value is None:
        return 0.0
    if isinstance(value, float):
        return value
    found = _NUMBER.match(value)
    if _STRANGE_NUMBER.match(value):
        raise Unmodelled("a number that awks read in different ways")
    number = float(found[1]) if found else 0.0
    if math.isinf(number):
        raise Unmodelled("a number that is too large")
    return number


def number_text(value: float, form: str) -> str:
    """The text of a number; raises Unmodelled where awks differ."""
    if not math.isfinite(value) or (value == 0 and math.copysign(1, value) < 0):
        raise Unmodelled("a number that awks write in different ways")
    if value == int(value):
        if abs(value) > MAX_INTEGER:
            raise Unmodelled("a number that awks write in different ways")
        return str(int(value))
    if form != "%.6g":
        raise Unmodelled("a changed number format")
    return f"{value:.6g}"


def looks_numeric(value: Value) -> bool:
    """True for numbers, and for input that looks like one."""
    if value is None or isinstance(value, float):
        return True
    if not isinstance(value, Input):
        return False
    if _STRANGE_NUMBER.match(value):
        raise Unmodelled("a number that awks read in different ways")
    found = _NUMBER.match(value)
    return found is not None and not value[found.end() :].strip(" \t\n\f\r\v")


@lru_cache(maxsize=512)
def regex_of(source: str) -> Regex:
    """An expression with awk's escapes; refuses what mawk and gawk take differently (intervals, GNU escapes)."""
    pieces: list[str] = []
    at = 0
    while at < len(source):
        character = source[at]
        if character == "{":
            raise Unmodelled("an interval in an expression")
        if character == "\\" and at + 1 < len(source):
            following = source[at + 1]
            at += 2
            if following in '/"':
                pieces.append(following)
            elif following in _STRING_ESCAPES:
                pieces.append(_STRING_ESCAPES[following] if following != "\\" else "\\\\")
            elif following.isalnum():
                raise Unmodelled("an escape in an expression")
            else:
                pieces.append("\\" + following)
            continue
        pieces.append(character)
        at += 1
    try:
        return compile_regex("".join(pieces), extended=True, bracket_escapes=True)
    except PatternError as error:
        raise Unmodelled(str(error)) from error


_STRING_ESCAPES = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "\\": "\\",
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "v": "\v",
}


def unescaped(text: str) -> str:
    """A string's text; a backslash before any other character stays."""

    def replace(found: re.Match[str]) -> str:
        character = found[1]
        if character == '"':
            return character
        if character.isdigit() or character == "/":
            raise Unmodelled("an escape that awks read in different ways")
        return _STRING_ESCAPES.get(character, "\\" + character)

    return re.sub(r"\\(.)", replace, text, flags=re.DOTALL)


class Machine:
    """The state of a running program."""

    def __init__(self, lines: Iterator[str]) -> None:
        self.lines = lines
        self.variables: dict[str, Value] = {
            "FS": " ",
            "OFS": " ",
            "ORS": "\n",
            "RS": "\n",
            "SUBSEP": "\x1c",
            "CONVFMT": "%.6g",
            "OFMT": "%.6g",
            "NR": 0.0,
            "FNR": 0.0,
            "RSTART": 0.0,
            "RLENGTH": -1.0,
        }
        self.arrays: dict[str, dict[str, Value]] = {}
        self.record = ""
        self.fields: list[str] | None = []
        self.stale = False
        self.out: list[str] = []
        self.size = 0
        self.steps = 0
        self.budget = Budget()
        self.status = 0

    def step(self, amount: int = 1) -> None:
        self.steps += amount
        if self.steps > MAX_STEPS:
            raise Unmodelled("the program takes too many steps")

    def emit(self, text: str) -> None:
        self.size += len(text)
        if self.size > MAX_TEXT:
            raise Unmodelled("the output is too long")
        self.out.append(text)

    def text(self, value: Value) -> str:
        if value is None:
            return ""
        if isinstance(value, float):
            return number_text(value, str(self.variables["CONVFMT"]))
        if len(value) > MAX_TEXT:
            raise Unmodelled("a text is too long")
        return value

    def truth(self, value: Value) -> bool:
        return to_number(value) != 0 if looks_numeric(value) else value != ""

    def split_record(self) -> list[str]:
        if self.fields is None:
            self.fields = self.split(self.record, self.text(self.variables["FS"]))
        return self.fields

    def split(self, text: str, separator: str) -> list[str]:
        self.step(1 + len(text) // 64)
        if separator == " ":
            return [piece for piece in re.split("[ \t\n]+", text) if piece]
        if not text:
            return []
        if not separator:
            return list(text)
        if len(separator) == 1 and separator not in "\\|.*+?^$()[]":
            return text.split(separator)
        if separator in ("|", "."):
            return text.split(separator)
        pieces: list[str] = []
        scanner = Scanner(regex_of(separator), text, self.budget)
        at = start = 0
        while at <= len(text) and (found := scanner.search(at)) is not None:
            self.step()
            if found.start == found.end:
                at = found.end + 1
                continue
            pieces.append(text[start : found.start])
            at = start = found.end
        return [*pieces, text[start:]]

    def set_record(self, text: str) -> None:
        self.record, self.fields, self.stale = text, None, False

    def whole(self) -> str:
        if self.stale and self.fields is not None:
            self.record = self.text(self.variables["OFS"]).join(self.fields)
            self.stale = False
        return self.record

    def get_field(self, index: int) -> Value:
        if index == 0:
            return Input(self.whole())
        fields = self.split_record()
        return Input(fields[index - 1]) if index <= len(fields) else None

    def set_field(self, index: int, value: Value) -> None:
        if index == 0:
            self.set_record(self.text(value))
            return
        self.whole()
        fields = self.split_record()
        if index > 10_000:
            raise Unmodelled("too many fields")
        fields += [""] * (index - len(fields))
        fields[index - 1] = self.text(value)
        self.stale = True

    def get(self, name: str) -> Value:
        if name == "NF":
            return float(len(self.split_record()))
        if name in ("ENVIRON", "ARGV", "ARGC", "FILENAME", "PROCINFO", "RT"):
            raise Unmodelled(f"the variable {name}")
        return self.variables.get(name)

    def set(self, name: str, value: Value) -> None:
        if name in self.arrays:
            raise Unmodelled("an array used as a variable")
        if name == "NF":
            self.whole()
            fields = self.split_record()
            count = int(to_number(value))
            if not 0 <= count <= 10_000:
                raise Unmodelled("too many fields")
            self.fields = (fields + [""] * (count - len(fields)))[:count]
            self.stale = True
            return
        if name in ("NR", "FNR", "RS", "OFMT", "CONVFMT") and self.steps:
            raise Unmodelled(f"a change of {name}")
        if name == "FS":
            # The record in hand keeps its separator.
            self.split_record()
        self.variables[name] = value

    def array(self, name: str) -> dict[str, Value]:
        if name in self.variables or name in ("ENVIRON", "ARGV", "PROCINFO", "NF"):
            raise Unmodelled(f"the array {name}")
        return self.arrays.setdefault(name, {})

    def next_record(self) -> bool:
        line = next(self.lines, None)
        if line is None:
            return False
        self.step()
        self.set_record(line)
        for name in ("NR", "FNR"):
            self.variables[name] = to_number(self.variables[name]) + 1
        return True

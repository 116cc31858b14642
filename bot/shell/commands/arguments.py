"""Models of commands about numbers with units and about argument lists: `numfmt`, and `xargs` around another model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from botlint.shell.commands.base import (
    Call,
    Options,
    Output,
    Unmodelled,
    join_lines,
    read_options,
    split_lines,
    whole_number,
)

MAX_RUNS = 2_000
MAX_ARGUMENTS = 100_000

_SUFFIXES = "KMGTPEZY"


def numfmt(call: Call) -> Output:
    """Whole numbers converted from or to units, rounded away from zero as numfmt does."""
    source, target, numbers = _numfmt_options(call.args)
    lines = list(numbers) or split_lines(call.text())
    return 0, join_lines([_converted(line, source, target) for line in lines])


def _numfmt_options(args: Sequence[str]) -> tuple[str, str, list[str]]:
    given = {"--from": "none", "--to": "none"}
    numbers: list[str] = []
    for arg in args:
        name, equals, value = arg.partition("=")
        if equals and name in given and value in ("none", "si", "iec", "iec-i"):
            given[name] = value
        elif arg.startswith("-"):
            raise Unmodelled(f"option {arg}")
        else:
            numbers.append(arg)
    return given["--from"], given["--to"], numbers


def _converted(text: str, source: str, target: str) -> str:
    found = re.fullmatch(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?([KMGTPE]?)(i?)", text)
    if found is None or (found[3] and source == "none") or bool(found[4]) != (bool(found[3]) and source == "iec-i"):
        raise Unmodelled("a number of numfmt")
    base = 1000 if source == "si" else 1024
    value = Fraction(f"{found[1]}.{found[2] or 0}") * base ** (_SUFFIXES.find(found[3]) + 1 if found[3] else 0)
    if target == "none":
        if value.denominator != 1 or value >= 10**18:
            raise Unmodelled("a number of numfmt")
        return str(value)
    base = 1000 if target == "si" else 1024
    power = 0
    while value >= base and power < len(_SUFFIXES):
        value /= base
        power += 1
    if power == 0:
        if value.denominator != 1:
            raise Unmodelled("a number of numfmt")
        return str(value)
    scaled = -(-value * 10 // 1) if value < 10 else -(-value // 1) * 10
    if scaled >= 10 * base:
        scaled, power = Fraction(10), power + 1
    tenths = int(scaled)
    shown = str(-(-tenths // 10)) if tenths >= 100 else f"{tenths // 10}.{tenths % 10}"
    return f"{shown}{_SUFFIXES[power - 1]}{'i' if target == 'iec-i' else ''}"


def xargs(call: Call) -> Output:
    """What another command writes for the words of the input."""
    options = read_options(
        call.args, "rn:I:0d:tL:P:x", {"no-run-if-empty": "r", "max-args": "n", "null": "0"}, permute=False
    )
    if any(options.has(letter) for letter in "tLPxd0"):
        raise Unmodelled("an option of xargs")
    command = options.operands or ("echo",)
    batches = _batches(call.text(), options, command[1:])
    if len(batches) > MAX_RUNS:
        raise Unmodelled("too many runs")
    pieces: list[str] = []
    status = 0
    for batch in batches:
        result = call.run(command[0], batch)
        if result is None:
            raise Unmodelled(f"the command {command[0]}")
        pieces.append(result[1])
        status = 123 if result[0] else status
    return status, "".join(pieces)


def _batches(text: str, options: Options, fixed: Sequence[str]) -> list[list[str]]:
    """The arguments of each run of the command."""
    mark = options.last("I")
    if mark is not None:
        if options.has("n") or not mark or any(quote in text for quote in "'\"\\"):
            raise Unmodelled("quotes or counts with -I")
        lines = [line.lstrip(" \t") for line in split_lines(text) if line.strip(" \t")]
        return [[word.replace(mark, line) for word in fixed] for line in lines]
    words = _words(text)
    size = whole_number(options.last("n") or str(len(words) or 1))
    if not size or sum(map(len, words)) > MAX_ARGUMENTS:
        raise Unmodelled("the size of xargs")
    chunks = [words[at : at + size] for at in range(0, len(words), size)]
    if not chunks and not options.has("r"):
        chunks = [[]]
    return [[*fixed, *chunk] for chunk in chunks]


_WORD = re.compile(r"""(?:[^\s"'\\]|\\[\s\S]|"[^"\n]*"|'[^'\n]*')+""")


def _words(text: str) -> list[str]:
    """Words separated by blanks and newlines; quotes and backslashes keep characters."""
    if not re.search(r"""['"\\]""", text):
        return [word for word in re.split("[ \t\n]+", text) if word]
    words: list[str] = []
    at = 0
    while True:
        while at < len(text) and text[at] in " \t\n":
            at += 1
        if at >= len(text):
            return words
        found = _WORD.match(text, at)
        if found is None or (found.end() < len(text) and text[found.end()] not in " \t\n"):
            raise Unmodelled("quotes that do not match")
        at = found.end()
        words.append(
            re.sub(r"""\\([\s\S])|"([^"]*)"|'([^']*)'""", lambda part: "".join(filter(None, part.groups())), found[0])
        )

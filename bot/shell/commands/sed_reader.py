"""Reads a sed script into commands."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import lru_cache

from botlint.shell.commands.base import Unmodelled
from botlint.shell.regex import Regex, compile_regex
from botlint.shell.regex_nodes import PatternError

MAX_SCRIPT = 20_000

MAX_COMMANDS = 1_000


@dataclass(frozen=True, slots=True)
class Address:
    """`kind` is line, last, regex, step (`first~step`), plus (`,+n`), multiple (`,~n`)."""

    kind: str
    number: int = 0
    step: int = 0
    regex: Regex | None = None


@dataclass(frozen=True, slots=True)
class _Substitution:
    regex: Regex | None
    replacement: tuple[str | int, ...]
    number: int
    every: bool
    show: bool


@dataclass(frozen=True, slots=True)
class Command:
    """One command with its addresses; `target` is a place in the script or an exit status."""

    name: str
    addresses: tuple[Address, ...]
    negated: bool
    text: str = ""
    target: int = 0
    substitution: _Substitution | None = None
    table: dict[str, str] = field(default_factory=dict)


class _Reader:
    """Reads a script into a flat list of commands; `{` jumps behind its `}`."""

    def __init__(self, script: str, *, extended: bool) -> None:
        self.script = script
        self.at = 0
        self.extended = extended
        self.commands: list[Command] = []
        self.labels: dict[str, int] = {}

    def read(self) -> tuple[Command, ...]:
        open_blocks: list[int] = []
        while True:
            self.skip(" \t\n;")
            if self.at >= len(self.script):
                break
            if len(self.commands) > MAX_COMMANDS:
                raise Unmodelled("the script is too long")
            if self.peek() == "#":
                self.line()
                continue
            addresses = self.addresses()
            self.skip(" \t")
            negated = False
            while self.peek() == "!":
                negated = True
                self.at += 1
                self.skip(" \t")
            name = self.peek()
            self.at += 1
            if name == "}":
                if not open_blocks or addresses:
                    raise Unmodelled("an unexpected }")
                start = open_blocks.pop()
                block = self.commands[start]
                self.commands[start] = Command("{", block.addresses, block.negated, target=len(self.commands))
                self.end()
            elif name == "{":
                open_blocks.append(len(self.commands))
                self.commands.append(Command("{", addresses, negated))
            elif name == ":":
                self.skip(" \t")
                self.labels[self.line(";").strip()] = len(self.commands)
            else:
                self.commands.append(self.command(name, addresses, negated))
        if open_blocks:
            raise Unmodelled("an unmatched {")
        return tuple(self.resolved(command) for command in self.commands)

    def resolved(self, command: Command) -> Command:
        if command.name not in ("b", "t", "T"):
            return command
        if command.text and command.text not in self.labels:
            raise Unmodelled("a missing label")
        target = self.labels[command.text] if command.text else len(self.commands)
        return Command(command.name, command.addresses, command.negated, target=target)

    def peek(self) -> str:
        return self.script[self.at : self.at + 1]

    def skip(self, characters: str) -> None:
        while self.at < len(self.script) and self.script[self.at] in characters:
            self.at += 1

    def line(self, stops: str = "") -> str:
        """The rest of the line, up to one of `stops`."""
        start = self.at
        while self.at < len(self.script) and self.script[self.at] not in "\n" + stops:
            self.at += 1
        return self.script[start : self.at]

    def end(self) -> None:
        """A command ends here: at a separator, a `}`, a comment or the end."""
        self.skip(" \t")
        if self.peek() not in ("", "\n", ";", "}", "#"):
            raise Unmodelled("extra characters after a command")

    def number(self) -> int | None:
        found = re.compile("[0-9]{1,9}").match(self.script, self.at)
        if found is None:
            return None
        self.at = found.end()
        return int(found[0])

    def addresses(self) -> tuple[Address, ...]:
        first = self.address()
        if first is None:
            return ()
        self.skip(" \t")
        if self.peek() != ",":
            if first.kind == "line" and not first.number:
                raise Unmodelled("line 0")
            return (first,)
        self.at += 1
        self.skip(" \t")
        if self.peek() in ("+", "~"):
            kind = "plus" if self.peek() == "+" else "multiple"
            self.at += 1
            amount = self.number()
            if amount is None:
                raise Unmodelled("an address")
            return first, Address(kind, amount)
        second = self.address()
        if second is None or (first.kind == "line" and not first.number and second.kind != "regex"):
            raise Unmodelled("an address")
        return first, second

    def address(self) -> Address | None:
        number = self.number()
        if number is not None:
            if self.peek() != "~":
                return Address("line", number)
            self.at += 1
            return Address("step", number, self.number() or 0)
        character = self.peek()
        if character == "$":
            self.at += 1
            return Address("last")
        if character == "\\":
            self.at += 1
            character = self.peek()
        elif character != "/":
            return None
        self.at += 1
        source = self.delimited(character, regex=True, brackets=True)
        ignore_case = False
        while self.peek() in ("I", "M"):
            if self.peek() == "M":
                raise Unmodelled("an address flag")
            ignore_case = True
            self.at += 1
        return Address("regex", regex=self.regex(source, ignore_case=ignore_case))

    def delimited(self, delimiter: str, *, regex: bool, brackets: bool = False) -> str:
        """The text up to the delimiter, which a backslash quotes, and brackets too in an expression."""
        if delimiter in ("", "\n", "\\"):
            raise Unmodelled("a delimiter")
        pieces: list[str] = []
        while True:
            character = self.peek()
            self.at += 1
            if not character or (character == "\n" and regex):
                raise Unmodelled("an unterminated command")
            if character == delimiter:
                return "".join(pieces)
            if character == "[" and brackets:
                pieces.append(self.bracket())
                continue
            if character == "\\":
                following = self.peek()
                self.at += 1
                if following == "n" and regex:
                    pieces.append("\n")
                elif following == delimiter and not (following == "&" and not regex):
                    # A delimiter that is special in expressions would change its meaning here.
                    if regex and following in "*.[]^$+?(){}|":
                        pieces.append(_literal(following, extended=self.extended))
                    else:
                        pieces.append(following)
                else:
                    pieces.append("\\" + following)
            else:
                pieces.append(character)

    def bracket(self) -> str:
        """A bracket expression whose `[` has been read: a backslash is a plain character there, but for `\\n`."""
        found = _BRACKET.match(self.script, self.at)
        if found is None:
            raise Unmodelled("an unterminated command")
        self.at = found.end()
        return "[" + found[0].replace("\\n", "\n")

    def regex(self, source: str, *, ignore_case: bool) -> Regex | None:
        """The expression; None for the empty one, which repeats the last."""
        if not source:
            return None
        return compile_regex(_plain_regex(source), extended=self.extended, ignore_case=ignore_case)

    def command(self, name: str, addresses: tuple[Address, ...], negated: bool) -> Command:
        if name in ("a", "i", "c"):
            return Command(name, addresses, negated, text=self.text())
        if name == "s":
            substitution = self.substitution()
            self.end()
            return Command(name, addresses, negated, substitution=substitution)
        if name == "y":
            delimiter = self.peek()
            self.at += 1
            old = _y_characters(self.delimited(delimiter, regex=True))
            new = _y_characters(self.delimited(delimiter, regex=True))
            if len(old) != len(new):
                raise Unmodelled("strings of y with different lengths")
            self.end()
            return Command(name, addresses, negated, table=dict(zip(reversed(old), reversed(new), strict=True)))
        if name in ("b", "t", "T"):
            self.skip(" \t")
            return Command(name, addresses, negated, text=self.line(";}").strip())
        if name in ("q", "Q"):
            self.skip(" \t")
            status = self.number() or 0
            self.end()
            return Command(name, addresses, negated, target=status & 255)
        if name in tuple("=dDgGhHnNpPxz"):
            self.end()
            return Command(name, addresses, negated)
        raise Unmodelled(f"the command {name}")

    def text(self) -> str:
        """The text of a, i and c: one line, continued by a backslash at its end."""
        self.skip(" \t")
        if self.peek() == "\\":
            self.at += 1
            start = self.at
            self.skip(" \t")
            if self.peek() == "\n":
                self.at += 1
            else:
                self.at = start
        if self.at >= len(self.script):
            raise Unmodelled("a missing text")
        pieces: list[str] = []
        while self.at < len(self.script) and self.script[self.at] != "\n":
            character = self.script[self.at]
            self.at += 1
            if character == "\\":
                following = self.peek()
                self.at += 1
                if following in "dox" or following == "c":
                    raise Unmodelled("an escape in a text")
                pieces.append(_CONTROLS.get(following, following))
            else:
                pieces.append(character)
        return "".join(pieces) + "\n"

    def substitution(self) -> _Substitution:
        delimiter = self.peek()
        self.at += 1
        source = self.delimited(delimiter, regex=True, brackets=True)
        replacement = _replacement(self.delimited(delimiter, regex=False))
        number, every, show, ignore_case = 1, False, False, False
        while True:
            flag = self.peek()
            if flag == "g":
                every = True
            elif flag == "p":
                show = True
            elif flag in ("i", "I"):
                ignore_case = True
            elif flag.isdigit():
                number = self.number() or 0
                if not number:
                    raise Unmodelled("a flag 0")
                continue
            elif flag in ("m", "M", "e", "w"):
                raise Unmodelled(f"the flag {flag}")
            else:
                break
            self.at += 1
        regex = self.regex(source, ignore_case=ignore_case)
        groups = max((item for item in replacement if isinstance(item, int)), default=0)
        if regex is not None and groups > regex.group_count:
            raise Unmodelled("a reference to a missing group")
        return _Substitution(regex, replacement, number, every, show)


_BRACKET = re.compile(r"\^?\]?(?>\[:[a-z]+:\]|\[=.=\]|\[\..\.\]|[^\]\n])*+\]")

_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def _literal(character: str, *, extended: bool) -> str:
    if character in "+?(){}|":
        return "\\" + character if extended else character
    return "\\" + character


def _plain_regex(source: str) -> str:
    """The expression with sed's own escapes turned into the characters they stand for."""

    def replace(found: re.Match[str]) -> str:
        if found[1] is not None:
            return _hexadecimal(found[1])
        letter = found[2]
        if letter in "cdox":
            raise Unmodelled("an escape in an expression")
        return _CONTROLS[letter] if letter in "afrtv" else found[0]

    return re.sub(r"\\(?:x([0-9a-fA-F]{2})|(.))", replace, source, flags=re.DOTALL)


def _hexadecimal(digits: str) -> str:
    """The character of `\\xHH`; versions differ on whether a special one stays special."""
    character = chr(int(digits, 16))
    if not character.isascii() or character in "\0\n&\\/^$*.[]+?(){}|":
        raise Unmodelled("an escape that versions read in different ways")
    return character


def _y_characters(text: str) -> list[str]:
    characters: list[str] = []
    at = 0
    while at < len(text):
        if text[at] == "\\" and at + 1 < len(text):
            if text[at + 1] != "\\" and text[at + 1] not in _CONTROLS:
                raise Unmodelled("an escape in y")
            characters.append(_CONTROLS.get(text[at + 1], "\\"))
            at += 2
        else:
            characters.append(text[at])
            at += 1
    return characters


def _replacement(text: str) -> tuple[str | int, ...]:
    """Texts, group numbers, and case marks (a backslash with its letter)."""
    items: list[str | int] = []
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == "&":
            items.append(0)
        elif character == "\\" and at < len(text):
            character = text[at]
            at += 1
            if character.isdigit():
                items.append(int(character))
            elif character in "LUluE":
                items.append("\\" + character)
            elif character == "x" and (digits := re.compile("[0-9a-fA-F]{2}").match(text, at)):
                _append_text(items, _hexadecimal(digits[0]))
                at = digits.end()
            elif character in "cdox":
                raise Unmodelled("an escape in a replacement")
            elif character == "\\":
                items.append("\\\\")
            else:
                _append_text(items, _CONTROLS.get(character, character))
        else:
            _append_text(items, character)
    return tuple(items)


def _append_text(items: list[str | int], character: str) -> None:
    """Adds to the last text; a case mark, which is a backslash with a letter, stays apart."""
    last = items[-1] if items else 0
    if isinstance(last, str) and not last.startswith("\\"):
        items[-1] = last + character
    else:
        items.append(character)


@lru_cache(maxsize=256)
def read_script(script: str, extended: bool) -> tuple[Command, ...]:
    """The commands of a script; raises Unmodelled on what is not read."""
    if len(script) > MAX_SCRIPT:
        raise Unmodelled("the script is too long")
    try:
        return _Reader(script, extended=extended).read()
    except PatternError as error:
        raise Unmodelled(str(error)) from error

"""The model of `sed` (GNU sed 4.9): scripts that only transform their input."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from botlint.shell.commands.base import MAX_STEPS, MAX_TEXT, Call, Output, Unmodelled, read_options, split_lines
from botlint.shell.regex import Budget, Found, PatternError, Regex, Scanner, compile_regex

MAX_SCRIPT = 20_000
MAX_COMMANDS = 1_000

_LONG = {
    "quiet": "n",
    "silent": "n",
    "expression": "e",
    "regexp-extended": "E",
    "separate": "s",
    "unbuffered": "u",
}


@dataclass(frozen=True, slots=True)
class _Address:
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
class _Command:
    name: str
    addresses: tuple[_Address, ...]
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
        self.commands: list[_Command] = []
        self.labels: dict[str, int] = {}

    def read(self) -> tuple[_Command, ...]:
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
                self.commands[start] = _Command("{", block.addresses, block.negated, target=len(self.commands))
                self.end()
            elif name == "{":
                open_blocks.append(len(self.commands))
                self.commands.append(_Command("{", addresses, negated))
            elif name == ":":
                self.skip(" \t")
                self.labels[self.line(";").strip()] = len(self.commands)
            else:
                self.commands.append(self.command(name, addresses, negated))
        if open_blocks:
            raise Unmodelled("an unmatched {")
        return tuple(self.resolved(command) for command in self.commands)

    def resolved(self, command: _Command) -> _Command:
        if command.name not in ("b", "t", "T"):
            return command
        if command.text and command.text not in self.labels:
            raise Unmodelled("a missing label")
        target = self.labels[command.text] if command.text else len(self.commands)
        return _Command(command.name, command.addresses, command.negated, target=target)

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

    def addresses(self) -> tuple[_Address, ...]:
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
            return first, _Address(kind, amount)
        second = self.address()
        if second is None or (first.kind == "line" and not first.number and second.kind != "regex"):
            raise Unmodelled("an address")
        return first, second

    def address(self) -> _Address | None:
        number = self.number()
        if number is not None:
            if self.peek() != "~":
                return _Address("line", number)
            self.at += 1
            return _Address("step", number, self.number() or 0)
        character = self.peek()
        if character == "$":
            self.at += 1
            return _Address("last")
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
        return _Address("regex", regex=self.regex(source, ignore_case=ignore_case))

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

    def command(self, name: str, addresses: tuple[_Address, ...], negated: bool) -> _Command:
        if name in ("a", "i", "c"):
            return _Command(name, addresses, negated, text=self.text())
        if name == "s":
            substitution = self.substitution()
            self.end()
            return _Command(name, addresses, negated, substitution=substitution)
        if name == "y":
            delimiter = self.peek()
            self.at += 1
            old = _y_characters(self.delimited(delimiter, regex=True))
            new = _y_characters(self.delimited(delimiter, regex=True))
            if len(old) != len(new):
                raise Unmodelled("strings of y with different lengths")
            self.end()
            return _Command(name, addresses, negated, table=dict(zip(reversed(old), reversed(new), strict=True)))
        if name in ("b", "t", "T"):
            self.skip(" \t")
            return _Command(name, addresses, negated, text=self.line(";}").strip())
        if name in ("q", "Q"):
            self.skip(" \t")
            status = self.number() or 0
            self.end()
            return _Command(name, addresses, negated, target=status & 255)
        if name in tuple("=dDgGhHnNpPxz"):
            self.end()
            return _Command(name, addresses, negated)
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


def _replaced(items: Sequence[str | int], found: Found) -> str:
    pieces: list[str] = []
    case = once = ""
    for item in items:
        if isinstance(item, str) and item.startswith("\\"):
            if item[1] in "LU":
                case = item[1]
            elif item[1] == "E":
                case = once = ""
            elif item[1] in "lu":
                once = item[1]
            else:
                pieces.append("\\")
                once = ""
            continue
        text = found.group(item) if isinstance(item, int) else item
        if not text:
            continue
        if case:
            text = text.upper() if case == "U" else text.lower()
        if once:
            text = (text[0].upper() if once == "u" else text[0].lower()) + text[1:]
            once = ""
        pieces.append(text)
    return "".join(pieces)


class _Machine:
    """Runs a script over the lines of a text."""

    def __init__(self, commands: tuple[_Command, ...], text: str, *, silent: bool) -> None:
        self.commands = commands
        self.lines = split_lines(text)
        self.ended = text.endswith("\n")
        self.silent = silent
        self.next = 0
        self.space = ""
        self.hold = ""
        self.out: list[str] = []
        self.size = 0
        self.missing = False
        self.queue: list[str] = []
        self.last_regex: Regex | None = None
        self.range_ends: dict[int, int | None] = {}
        self.closed: set[int] = set()
        self.steps = 0
        self.budget = Budget()
        self.status = 0

    def step(self, amount: int = 1) -> None:
        self.steps += amount
        if self.steps > MAX_STEPS:
            raise Unmodelled("the script takes too many steps")

    def emit(self, text: str, *, unfinished: bool = False) -> None:
        if self.missing:
            self.out.append("\n")
        self.missing = unfinished
        self.out.append(text)
        self.size += len(text) + 1
        if self.size > MAX_TEXT:
            raise Unmodelled("the output is too long")

    def show(self, text: str) -> None:
        unfinished = self.next == len(self.lines) and not self.ended
        self.emit(text if unfinished else text + "\n", unfinished=unfinished)

    def finish_cycle(self, *, show: bool) -> None:
        if show and not self.silent:
            self.show(self.space)
        for text in self.queue:
            self.emit(text)
        self.queue.clear()

    def run(self) -> Output:
        keep = False
        while keep or self.next < len(self.lines):
            if not keep:
                self.space = self.lines[self.next]
                self.next += 1
            outcome = self.cycle()
            keep = outcome == "again"
            self.finish_cycle(show=outcome in ("end", "quit"))
            if outcome in ("quit", "silent quit"):
                break
        return self.status, "".join(self.out)

    def cycle(self) -> str:
        """Runs the commands once: end, deleted, again (D), quit, silent quit."""
        at = 0
        substituted = False
        while at < len(self.commands):
            self.step(1 + len(self.space) // 64)
            command = self.commands[at]
            at += 1
            if self.selects(at - 1, command) == command.negated:
                at = command.target if command.name == "{" else at
                continue
            match command.name:
                case "s":
                    substituted = self.substitute(command) or substituted
                case "b":
                    at = command.target
                case "t":
                    at, substituted = (command.target, False) if substituted else (at, False)
                case "T":
                    at, substituted = (at, False) if substituted else (command.target, False)
                case _:
                    outcome = self.simple(at - 1, command)
                    if outcome:
                        return outcome
        return "end"

    def simple(self, index: int, command: _Command) -> str:
        match command.name:
            case "p":
                self.show(self.space)
            case "P":
                first, newline, _ = self.space.partition("\n")
                if newline:
                    self.emit(first + "\n")
                else:
                    self.show(first)
            case "=":
                self.emit(f"{self.next}\n")
            case "a":
                self.queue.append(command.text)
            case "i":
                self.emit(command.text)
            case "c":
                if len(command.addresses) < 2 or command.negated or index not in self.range_ends:
                    self.emit(command.text)
                return "deleted"
            case "y":
                self.space = "".join(command.table.get(character, character) for character in self.space)
            case "z":
                self.space = ""
            case "g":
                self.space = self.hold
            case "G":
                self.space += "\n" + self.hold
            case "h":
                self.hold = self.space
            case "H":
                self.hold += "\n" + self.space
            case "x":
                self.space, self.hold = self.hold, self.space
            case _:
                return self.flow(command)
        if len(self.space) + len(self.hold) > MAX_TEXT:
            raise Unmodelled("the pattern space is too long")
        return ""

    def flow(self, command: _Command) -> str:
        match command.name:
            case "d":
                return "deleted"
            case "D":
                head, newline, rest = self.space.partition("\n")
                del head
                self.space = rest
                return "again" if newline else "deleted"
            case "n":
                if self.next >= len(self.lines):
                    return "quit"
                self.finish_cycle(show=True)
                self.space = self.lines[self.next]
                self.next += 1
            case "N":
                if self.next >= len(self.lines):
                    return "quit"
                for text in self.queue:
                    self.emit(text)
                self.queue.clear()
                self.space += "\n" + self.lines[self.next]
                self.next += 1
            case "q" | "Q":
                self.status = command.target
                return "quit" if command.name == "q" else "silent quit"
        return ""

    def selects(self, index: int, command: _Command) -> bool:
        match command.addresses:
            case ():
                return True
            case (only,):
                return self.matches(only)
            case _:
                return self.in_range(index, *command.addresses)

    def matches(self, address: _Address) -> bool:
        match address.kind:
            case "line":
                return self.next == address.number
            case "last":
                return self.next == len(self.lines)
            case "step":
                if address.step <= 0:
                    return self.next == address.number
                return self.next >= address.number and (self.next - address.number) % address.step == 0
            case _:
                return self.regex(address.regex).search(self.space, budget=self.budget) is not None

    def in_range(self, index: int, first: _Address, second: _Address) -> bool:
        if index in self.range_ends:
            return self.continues(index, second)
        if first.kind == "line":
            if index in self.closed or self.next < first.number:
                return False
            self.closed.add(index)
            if not first.number:
                self.range_ends[index] = None
                return self.continues(index, second)
            if self.next > first.number and second.kind == "line" and self.next > second.number:
                return False
        elif not self.matches(first):
            return False
        match second.kind:
            case "line":
                end: int | None = second.number
            case "plus":
                end = self.next + second.number
            case "multiple":
                end = -(-self.next // second.number) * second.number if second.number else self.next
            case "last":
                end = len(self.lines)
            case _:
                end = None
        if end is None or end > self.next:
            self.range_ends[index] = end
        return True

    def continues(self, index: int, second: _Address) -> bool:
        end = self.range_ends[index]
        if end is None:
            if self.matches(second):
                del self.range_ends[index]
            return True
        if self.next >= end:
            del self.range_ends[index]
        return self.next <= end

    def regex(self, regex: Regex | None) -> Regex:
        used = regex or self.last_regex
        if used is None:
            raise Unmodelled("no previous expression")
        self.last_regex = used
        return used

    def substitute(self, command: _Command) -> bool:
        rule = command.substitution
        if rule is None:
            return False
        scanner = Scanner(self.regex(rule.regex), self.space, self.budget)
        pieces: list[str] = []
        at = count = 0
        copied = 0
        previous_end = -1
        replaced = False
        while at <= len(self.space) and (found := scanner.search(at)) is not None:
            self.step()
            empty = found.start == found.end
            if not (empty and found.start == previous_end):
                count += 1
                if count >= rule.number:
                    pieces += [self.space[copied : found.start], _replaced(rule.replacement, found)]
                    self.step(len(pieces[-1]) // 64)
                    copied = found.end
                    replaced = True
                    if not rule.every:
                        break
            previous_end = found.end
            at = found.end + 1 if empty else found.end
        if not replaced:
            return False
        self.space = "".join(pieces) + self.space[copied:]
        if len(self.space) > MAX_TEXT:
            raise Unmodelled("the pattern space is too long")
        if rule.show:
            self.show(self.space)
        return True


@lru_cache(maxsize=256)
def _script(script: str, extended: bool) -> tuple[_Command, ...]:
    if len(script) > MAX_SCRIPT:
        raise Unmodelled("the script is too long")
    try:
        return _Reader(script, extended=extended).read()
    except PatternError as error:
        raise Unmodelled(str(error)) from error


def sed(call: Call) -> Output:
    """The input transformed by a script; files are read as one stream, `-i` is the caller's affair."""
    options = read_options(call.args, "ne:Ersu", _LONG)
    scripts, operands = options.every("e"), list(options.operands)
    if not scripts:
        if not operands:
            return 1, ""
        scripts = [operands.pop(0)]
    if options.has("s") and len(operands) > 1:
        raise Unmodelled("separate files")
    script = "\n".join(scripts)
    commands = _script(script, options.has("E") or options.has("r"))
    silent = options.has("n") or script.startswith("#n\n") or script == "#n"
    try:
        return _Machine(commands, call.text(operands), silent=silent).run()
    except PatternError as error:
        raise Unmodelled(str(error)) from error


def split_in_place(args: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """For a call that edits files in place: the arguments that make the script, and the files; else None."""
    kept: list[str] = []
    files: list[str] = []
    in_place = script = ended = False
    queue = list(args)
    while queue:
        arg = queue.pop(0)
        if ended or not arg.startswith("-") or arg == "-":
            files.append(arg)
        elif arg == "--":
            ended = True
        elif arg == "--in-place" or arg.startswith(("-i", "--in-place=")):
            in_place = True
        elif found := re.fullmatch(r"-([nErsu]*)([ei].*)?", arg, re.DOTALL):
            rest = found[2] or ""
            kept += ["-" + found[1]] if found[1] else []
            in_place = in_place or rest.startswith("i")
            if rest.startswith("e"):
                script = True
                kept += ["-e", rest[1:] if len(rest) > 1 else queue.pop(0) if queue else ""]
        elif arg.startswith("--expression"):
            script = True
            kept += ["-e", arg.partition("=")[2] if "=" in arg else queue.pop(0) if queue else ""]
        else:
            kept.append(arg)
    if not in_place:
        return None
    if not script and files:
        kept += ["-e", files.pop(0)]
    return tuple(kept), tuple(files)

"""The model of `sed` (GNU sed 4.9): scripts that only transform their input."""

from __future__ import annotations

import re
from collections.abc import Sequence

from botlint.shell.commands.base import MAX_STEPS, MAX_TEXT, Call, Output, Unmodelled, read_options, split_lines
from botlint.shell.commands.sed_reader import Address, Command, read_script
from botlint.shell.regex import Found, Regex, Scanner
from botlint.shell.regex_nodes import PatternError
from botlint.shell.regex_sets import Budget

_LONG = {
    "quiet": "n",
    "silent": "n",
    "expression": "e",
    "regexp-extended": "E",
    "separate": "s",
    "unbuffered": "u",
}


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

    def __init__(self, commands: tuple[Command, ...], text: str, *, silent: bool) -> None:
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

    def simple(self, index: int, command: Command) -> str:
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

    def flow(self, command: Command) -> str:
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

    def selects(self, index: int, command: Command) -> bool:
        match command.addresses:
            case ():
                return True
            case (only,):
                return self.matches(only)
            case _:
                return self.in_range(index, *command.addresses)

    def matches(self, address: Address) -> bool:
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

    def in_range(self, index: int, first: Address, second: Address) -> bool:
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

    def continues(self, index: int, second: Address) -> bool:
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

    def substitute(self, command: Command) -> bool:
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
    commands = read_script(script, options.has("E") or options.has("r"))
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

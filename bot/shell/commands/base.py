"""What the models of external commands share: their inputs, option reading, lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

MAX_TEXT = 1 << 20
MAX_STEPS = 200_000
MAX_DEPTH = 60

Output = tuple[int, str]
Files = Callable[[str], str | None]
Run = Callable[[str, Sequence[str]], Output | None]


class Unmodelled(Exception):  # noqa: N818 (not an error)
    """The command does something that its model does not know."""


def no_files(path: str) -> str | None:
    """Knows no file."""
    del path
    return None


def no_commands(name: str, args: Sequence[str]) -> Output | None:
    """Runs nothing."""
    del name, args
    return None


@dataclass(frozen=True, slots=True)
class Call:
    """One run of a command: its arguments without the name, what it reads, and how it reads files and runs others."""

    args: Sequence[str]
    stdin: str | None
    files: Files
    run: Run = no_commands

    def text(self, operands: Sequence[str] = ()) -> str:
        """The text of the operands (`-`, or no operand, is standard input); raises Unmodelled when it is not known."""
        pieces: list[str] = []
        for operand in operands or ("-",):
            piece = self.stdin if operand == "-" else self.files(operand)
            if piece is None:
                raise Unmodelled(f"the text of {operand} is not known")
            pieces.append(piece)
        text = "".join(pieces)
        if len(text) > MAX_TEXT:
            raise Unmodelled("the input is too long")
        return text


Implementation = Callable[[Call], Output]


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a call in order, each as (letter, value), and its operands."""

    given: tuple[tuple[str, str], ...]
    operands: tuple[str, ...]

    def has(self, letter: str) -> bool:
        """True when the option was given."""
        return any(name == letter for name, _ in self.given)

    def last(self, letter: str) -> str | None:
        """The last value of an option."""
        return next((value for name, value in reversed(self.given) if name == letter), None)

    def every(self, letter: str) -> list[str]:
        """All values of an option."""
        return [value for name, value in self.given if name == letter]


def read_options(
    args: Sequence[str], letters: str, long: dict[str, str] | None = None, *, permute: bool = True
) -> Options:
    """Reads options as getopt does: `letters` is its option string, `long` maps long names to letters.

    Raises Unmodelled on an option that is not listed.
    """
    takes = {letter: letters[index + 1 : index + 2] == ":" for index, letter in enumerate(letters) if letter != ":"}
    given: list[tuple[str, str]] = []
    operands: list[str] = []
    queue = list(args)
    queue.reverse()
    while queue:
        arg = queue.pop()
        if arg == "--":
            operands += reversed(queue)
            break
        if arg.startswith("--"):
            name, equals, value = arg[2:].partition("=")
            letter = (long or {}).get(name)
            if letter is None or (equals and not takes[letter]):
                raise Unmodelled(f"option {arg}")
            if takes[letter] and not equals:
                value = _value(queue, arg)
            given.append((letter, value))
        elif arg.startswith("-") and len(arg) > 1:
            at = 1
            while at < len(arg):
                letter = arg[at]
                at += 1
                if letter not in takes:
                    raise Unmodelled(f"option {arg}")
                if takes[letter]:
                    given.append((letter, arg[at:] or _value(queue, arg)))
                    break
                given.append((letter, ""))
        else:
            operands.append(arg)
            if not permute:
                operands += reversed(queue)
                break
    return Options(tuple(given), tuple(operands))


def _value(queue: list[str], option: str) -> str:
    if not queue:
        raise Unmodelled(f"option {option} without a value")
    return queue.pop()


def split_lines(text: str) -> list[str]:
    """The lines without their newlines; an unfinished last line counts."""
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def join_lines(lines: Sequence[str]) -> str:
    """Every line with its newline."""
    return "".join(line + "\n" for line in lines)


def whole_number(text: str) -> int:
    """A non-negative decimal number; raises Unmodelled on anything else (such as a size suffix)."""
    if not (text.isascii() and text.isdigit()) or len(text) > 9:
        raise Unmodelled(f"the number {text}")
    return int(text)


def to_bytes(text: str) -> bytes:
    """The bytes behind a text."""
    return text.encode("utf-8", "surrogateescape")


def to_text(data: bytes) -> str:
    """The text of some bytes; those that are not UTF-8 stay as they are."""
    return data.decode("utf-8", "surrogateescape")

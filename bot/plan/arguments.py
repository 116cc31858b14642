"""A server's command line as its programme, positional words and options with their values."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from botlint.plan.model import Word, word_text
from botlint.plan.servers import PROGRAMMES

_OPTION = re.compile(r"--?[A-Za-z][\w.-]*")
_PYTHON = re.compile(r"python(?:3(?:\.\d+)?)?")
_BARE = re.compile(r"[\w@%+=:,./<>-]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Argument:
    """An option with the words that follow it, or (without a name) words before the first option.

    `joined` says that name and value are one word (`--name=value`).
    """

    name: str
    words: tuple[Word, ...]
    joined: bool = False


def read_arguments(argv: Sequence[Word]) -> list[Argument]:
    """The command line of a server in order: what is started, then one item per option.

    The words after an option are shown with it: which of them the option takes, only the framework knows.
    """
    done: list[Argument] = []
    name, words = "", list(argv[:1])
    index = 1
    module = bool(argv) and isinstance(argv[0], str) and _PYTHON.fullmatch(argv[0].rpartition("/")[2]) is not None
    while index < len(argv):
        word = argv[index]
        option = option_name(word)
        if module and not name and word == "-m":
            words.extend(argv[index : index + 2])
            index, module = index + 2, False
            continue
        if option is None and not (name and isinstance(word, str) and word in PROGRAMMES):
            words.append(word)
        else:
            if words or name:
                done.append(Argument(name, tuple(words)))
            name, words = "", []
            if option is None:
                words = [word]
            elif (value := _joined_value(word)) is not None:
                done.append(Argument(option, (value,), True))
            else:
                name = option
        index += 1
    if words or name:
        done.append(Argument(name, tuple(words)))
    return done


def option_name(word: Word) -> str | None:
    """The name of the option that a word is or begins with (`--name=value`); None for every other word."""
    start = word if isinstance(word, str) else word[0] if word else ""
    if not isinstance(start, str) or not start.startswith("-"):
        return None
    match = _OPTION.match(start)
    if match is None:
        return None
    rest = start[match.end() :]
    return match[0] if rest.startswith("=") or (not rest and isinstance(word, str)) else None


def _joined_value(word: Word) -> Word | None:
    if isinstance(word, str):
        _, separator, value = word.partition("=")
        return value if separator else None
    value = word_text(word[:1]).partition("=")[2]
    return (value, *word[1:]) if value else word[1:]


def quoted(word: Word) -> str:
    """A word as a shell would be given it; unknown parts as `<reason>`."""
    text = word_text(word)
    return text if _BARE.fullmatch(text) else shlex.quote(text)


def argument_words(argument: Argument) -> list[str]:
    """The words of an argument for people, quoted where a shell needs it."""
    words = [quoted(word) for word in argument.words]
    if argument.joined:
        return [f"{argument.name}={words[0]}"]
    return [argument.name, *words] if argument.name else words

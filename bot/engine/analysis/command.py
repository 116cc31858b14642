"""A server's command line as its own parser would read it, by the catalog of its framework."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from botlint.catalogs.catalog import Catalog, Flag, FlagUse
from botlint.plan.arguments import option_name
from botlint.plan.model import Word

CATALOGS = {
    "vllm": "vllm",
    "dynamo-vllm": "vllm",
    "sglang": "sglang",
    "dynamo-sglang": "sglang",
    "atom": "atom",
}
"""The catalog that knows the options of a framework's server."""

WRAPPED = frozenset({"dynamo-vllm", "dynamo-sglang"})
"""Servers that add options of their own to those of the engine."""

MAX_JSON = 100_000
"""Characters of a JSON value that are read."""


@dataclass(frozen=True, slots=True)
class Option:
    """One option of a command line.

    `flag` is what the catalog says, None where it does not know the option (`known` is then False) or there is no
    catalog (`known` is None). `value` is None where the option has none, or where a value was expected and is missing.
    """

    spelling: str
    index: int
    known: bool | None
    flag: Flag | None = None
    how: str = ""
    negated: bool = False
    path: tuple[str, ...] = ()
    value: Word | None = None
    values: tuple[Word, ...] = ()

    @property
    def name(self) -> str:
        """The option's own name, whatever its spelling: dashes and underscores are one, leading dashes are left out."""
        base = (self.flag.name if self.flag is not None else self.spelling).lstrip("-").replace("-", "_")
        return ".".join((base, *self.path))

    @property
    def text(self) -> str | None:
        """The value as text: `true` or `false` for an option without one; None where it is not wholly known."""
        if self.flag is not None and not self.flag.takes_value and not self.values:
            return "false" if self.negated else "true"
        if not self.values:
            return "true"
        if all(isinstance(word, str) for word in self.values):
            return " ".join(str(word) for word in self.values)
        return None


def read_command(argv: Sequence[Word], catalog: Catalog | None, version: str | None) -> list[Option]:
    """The options of a server's command line in order."""
    return list(_options(argv, catalog if version is not None else None, version or ""))


def _options(argv: Sequence[Word], catalog: Catalog | None, version: str) -> Iterator[Option]:
    index = _first(argv)
    while index < len(argv):
        word = argv[index]
        spelling = option_name(word)
        if spelling is None or _is_number(spelling):
            index += 1
            continue
        use: FlagUse | None = None
        if catalog is not None:
            use = catalog.read_flag(word if isinstance(word, str) else spelling, version)
        start = index
        index += 1
        joined = _joined(word)
        values: tuple[Word, ...] = ()
        if joined is not None:
            values = (joined,)
        elif use is None or use.flag.takes_value:
            limit = _limit(use.flag if use is not None else None)
            while index < len(argv) and len(values) < limit and not _is_option(argv[index]):
                values = (*values, argv[index])
                index += 1
        yield Option(
            spelling,
            start,
            None if catalog is None else use is not None,
            use.flag if use is not None else None,
            use.how if use is not None else "",
            use.negated if use is not None else False,
            use.path if use is not None else (),
            values[0] if values else None,
            values,
        )


def _first(argv: Sequence[Word]) -> int:
    """Where the server's own words begin: after `python -m MODULE`."""
    for index, word in enumerate(argv[:-1]):
        if word == "-m":
            return index + 2
        if index and not (isinstance(word, str) and word.startswith("-")):
            break
    return 1


def _limit(flag: Flag | None) -> int:
    if flag is None or flag.nargs in (None, "?"):
        return 1
    return flag.nargs if isinstance(flag.nargs, int) else 1000


def _is_number(text: str) -> bool:
    return text[1:2].isdigit()


def _is_option(word: Word) -> bool:
    name = option_name(word)
    return name is not None and not _is_number(name)


def _joined(word: Word) -> Word | None:
    if isinstance(word, str):
        _, equals, value = word.partition("=")
        return value if equals else None
    head = word[0] if word else ""
    if isinstance(head, str) and "=" in head:
        rest = head.partition("=")[2]
        return (rest, *word[1:]) if rest else word[1:]
    return None


def read_json(text: str | None) -> object | None:
    """The value of a JSON option, None if it is not known or not JSON."""
    if text is None or len(text) > MAX_JSON:
        return None
    try:
        # A line break inside of a text is a fault of its own; what is around it can still be read.
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value

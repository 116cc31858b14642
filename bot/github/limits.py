"""How much GitHub takes of a text, and how a longer one is cut: between its parts, with a word on what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

MAX_BODY = 60_000
"""UTF-16 units of a comment or of a check's summary; GitHub refuses more than 65,535."""

MAX_TITLE = 255
"""UTF-16 units of a title."""


def units(text: str) -> int:
    """How long GitHub counts a text: in UTF-16 units, so that an emoji is two."""
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


def fit(parts: Iterable[str], limit: int, more: Callable[[int], str]) -> list[str]:
    """The first parts whose lines fit, and what `more` says of the number of those that do not."""
    listed = list(parts)
    sizes = [units(part) + 1 for part in listed]
    if sum(sizes) <= limit:
        return listed
    left = limit - units(more(len(listed))) - 1
    kept: list[str] = []
    for part, size in zip(listed, sizes, strict=True):
        if size > left:
            break
        left -= size
        kept.append(part)
    return [*kept, more(len(listed) - len(kept))]


def cut(text: str, limit: int) -> str:
    """A text of at most `limit` units; a longer one ends with an ellipsis."""
    if units(text) <= limit:
        return text
    shown = text.encode("utf-16-le", "surrogatepass")[: 2 * (limit - 1)]
    # Half of a character at the end is left out.
    return shown.decode("utf-16-le", "ignore") + "…"


def joined(*sections: Sequence[str]) -> str:
    """Sections of lines with an empty line between; sections without any are left out."""
    return "\n\n".join("\n".join(lines) for lines in sections if lines)

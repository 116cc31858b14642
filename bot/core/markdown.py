"""Text of a repository in GitHub-flavoured Markdown: it can neither make markup nor ping anyone.

Punctuation is escaped, and what GitHub links after Markdown was read (mentions, numbers of issues, addresses) is cut
by an empty comment.
"""

from __future__ import annotations

import re

from botlint.core.visible import visible

MAX_TEXT = 2_000

_CUT = "<!-- -->"
_SPECIAL = re.compile(r"[\\`*_{}\[\]<>&#~|$!@]|://|\bwww\.|\bgh-|^[-+=]|^\d{1,9}(?=[.)])", re.IGNORECASE)
_ENTITIES = {"<": "&lt;", ">": "&gt;", "&": "&amp;"}


def prose(text: str, limit: int = MAX_TEXT) -> str:
    """A text as Markdown that shows exactly its characters, on one line."""

    return _SPECIAL.sub(_escaped, visible(text, limit))


def _escaped(match: re.Match[str]) -> str:
    found = match.group()
    if found in _ENTITIES:
        return _ENTITIES[found]
    if found == "@":
        return f"@{_CUT}"
    if found == "#":
        return f"\\#{_CUT}"
    if found == "://":
        return f":{_CUT}//"
    if len(found) > 1 and not found.isdecimal():
        return f"{found[:-1]}{_CUT}{found[-1]}"
    return f"{found}{_CUT}" if found.isdecimal() else f"\\{found}"


def code(text: str, limit: int = MAX_TEXT) -> str:
    """A text as an inline code span, whatever backticks it has."""
    shown = visible(text, limit)
    ticks = "`" * (1 + max((len(run) for run in re.findall("`+", shown)), default=0))
    pad = " " if not shown.strip() or shown[0] in "` " or shown[-1] in "` " else ""
    return f"{ticks}{pad}{shown}{pad}{ticks}" if shown else ""


def block(lines: list[str]) -> list[str]:
    """Lines as a fenced block that no line of them can end."""
    fence = "`" * max(3, 1 + max((len(run) for line in lines for run in re.findall("`+", line)), default=0))
    return [fence, *lines, fence]

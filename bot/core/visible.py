"""Text of a repository made harmless to print: nothing in it can move a cursor, change a colour or hide a character."""

from __future__ import annotations

import re
import unicodedata

# Control characters, what orders text anew (bidirectional marks: "Trojan Source", CVE-2021-42574), invisible
# characters, line separators, half surrogate pairs, and characters that no XML 1.0 document may have.
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u115f\u1160\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\ud800-\udfff\U000e0000-\U000e0fff]"
)
_NAMES = {"\t": "\\t", "\n": "\\n", "\r": "\\r"}

# A runner of GitHub takes a line of any output for a command if it begins with `::`, spaces left out, or has `##[name`
# anywhere (actions/runner, `src/Runner.Common/ActionCommand.cs`).
_COMMAND = re.compile(r"^([^\S\n]*):(?=:[A-Za-z])|(?<=#)#(?=\[[A-Za-z-]{4,}[ \]])", re.MULTILINE)

ELLIPSIS = "…"


def visible(text: str, limit: int = 0) -> str:
    """The text on one line with every character that cannot be seen written as an escape.

    With a `limit`, a longer text is cut there and ends with an ellipsis.
    """
    if limit and len(text) > limit:
        text = text[: limit - 1]
        return _HIDDEN.sub(_escape, text) + ELLIPSIS
    return _HIDDEN.sub(_escape, text)


def without_commands(text: str) -> str:
    """Output, of any lines, in which a runner of workflows finds no command; what would begin one is an escape."""
    if "::" not in text and "##[" not in text:
        return text
    return _COMMAND.sub(lambda match: "\\x23" if match[1] is None else f"{match[1]}\\x3a", text)


def told(message: str) -> str:
    """A message beside the output, which may quote a repository: its lines stay, and nothing in them can do harm."""
    return without_commands("\n".join(visible_lines(message)))


def visible_lines(text: str, limit: int = 0) -> list[str]:
    """The lines of a text that may have several, each made visible."""
    return [visible(line.removesuffix("\r"), limit) for line in text.split("\n")]


def _escape(match: re.Match[str]) -> str:
    character = match.group()
    known = _NAMES.get(character)
    if known is not None:
        return known
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def width(text: str) -> int:
    """How many columns of a terminal a visible text takes."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(character) else 2 if unicodedata.east_asian_width(character) in "WF" else 1
        for character in text
    )

"""Text of a repository as HTML: every character is shown, none is obeyed."""

from __future__ import annotations

import html
import json
import re
from typing import Any
from urllib.parse import quote

from botlint.core.visible import visible, visible_lines

MAX_TEXT = 2_000
"""Characters of one text."""

_URL = re.compile(r"https://[A-Za-z0-9.-]+(?::\d+)?(?:/[!-;=?-~]*)?")


def text(value: object, limit: int = MAX_TEXT) -> str:
    """A text on one line, for an element or a quoted attribute."""
    return escaped(visible(str(value), limit))


def escaped(shown: str) -> str:
    """Visible text as HTML, in which a runner of workflows finds no command either."""
    return html.escape(shown).replace("::", "&#58;:").replace("##[", "##&#91;")


def lines(value: str, limit: int = MAX_TEXT) -> str:
    """A text of several lines."""
    return "<br>".join(escaped(line) for line in visible_lines(value, limit))


def data(value: Any) -> str:
    """JSON for a script element, whose content ends at nothing that a text holds."""
    shown = json.dumps(value, ensure_ascii=False, check_circular=False, separators=(",", ":"))
    for character, code in (("<", "003c"), (">", "003e"), ("&", "0026"), ("\u2028", "2028"), ("\u2029", "2029")):
        shown = shown.replace(character, f"\\u{code}")
    return shown.replace("##[", "##\\u005b")


def safe_url(url: str) -> str:
    """An address that may be followed, or nothing."""
    return url if _URL.fullmatch(url) else ""


def file_url(prefix: str, path: str, line: int) -> str:
    """The address of a line behind a prefix; nothing without one."""
    if not safe_url(prefix) or not path:
        return ""
    name = quote(path.encode("utf-8", "surrogatepass"), safe="/")
    return f"{prefix}{name}#L{line}" if line else f"{prefix}{name}"


def place(path: str, line: int, prefix: str = "") -> str:
    """A line of a file, which leads there if there is such an address."""
    shown = text(f"{path}:{line}" if line else path, 400)
    url = file_url(prefix, path, line)
    if not url:
        return f'<span class="place">{shown}</span>'
    return f'<a class="place" href="{html.escape(url)}" rel="noopener noreferrer">{shown}</a>'


def tag(kind: str, words: str = "") -> str:
    """A word with its colour: a severity or an outcome."""
    return f'<span class="tag {kind}">{words or kind}</span>'

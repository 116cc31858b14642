"""What is really in a Markdown text, by a reader of GitHub's dialect: links, HTML and plain text."""

from __future__ import annotations

from dataclasses import dataclass, field

from markdown_it import MarkdownIt
from markdown_it.token import Token


@dataclass
class Rendered:
    """The parts of a text: `text` is what stands outside of code, piece by piece."""

    links: list[str] = field(default_factory=list)
    images: list[str] = field(default_factory=list)
    html: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    code: list[str] = field(default_factory=list)
    fences: list[tuple[str, str]] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    rows: int = 0
    cells: int = 0


def read(text: str) -> Rendered:
    """Reads a text."""
    found = Rendered()
    _walk(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(text), found)
    return found


def _walk(tokens: list[Token], found: Rendered) -> None:
    for token in tokens:
        kind = token.type
        if kind == "link_open":
            found.links.append(str(token.attrs["href"]))
        elif kind == "image":
            found.images.append(str(token.attrs["src"]))
        elif kind in ("html_inline", "html_block"):
            found.html.append(token.content)
        elif kind == "text":
            found.text.append(token.content)
        elif kind == "code_inline":
            found.code.append(token.content)
        elif kind in ("fence", "code_block"):
            found.fences.append((token.info, token.content))
        elif kind == "heading_open":
            found.headings.append(token.tag)
        elif kind == "tr_open":
            found.rows += 1
        elif kind in ("td_open", "th_open"):
            found.cells += 1
        _walk(token.children or [], found)

"""The comments of YAML files and shell scripts: what stands in a string, a here-document or a block text is none."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from botlint.core.span import Problem, Span
from botlint.documents.bash import BashSyntaxError, Source
from botlint.documents.bash_commands import CommandReader
from botlint.documents.yaml import Mapping, Node, Scalar, Sequence, load_yaml_all

_YAML_COMMENT = re.compile(r"(?:^|(?<=[ \t]))#", re.MULTILINE)
_TOP_LEVEL = re.compile(r"^[^\s#]", re.MULTILINE)
_UNREADABLE = frozenset({"yaml-syntax", "yaml-depth", "yaml-size"})


@dataclass(frozen=True, slots=True)
class Comment:
    """One comment, from its `#` to the end of the line; `alone` says that nothing stands before it."""

    span: Span
    text: str
    alone: bool


def shell_comments(text: str, path: str) -> list[Comment]:
    """The comments of a script; those after a syntax error are not known to be any, and are left out."""
    source = Source(text, path)
    found: set[int] = set()

    class Recorder(CommandReader):
        """Notes where the reader skips a comment; readers of other texts inside the script do not count."""

        __slots__ = ()

        def blank(self) -> None:
            start = self.i
            super().blank()
            if self.source is source and self.i > start:
                at = text.find("#", start, self.i)
                if at >= 0:
                    found.add(at)

    reader = Recorder(source)
    end = len(text)
    try:
        while reader.complete_command() is not None:
            pass
    except BashSyntaxError as error:
        end = error.offset
    except RecursionError:
        end = reader.i
    return [_comment(source, at) for at in sorted(found) if at < end]


def _comment(source: Source, at: int) -> Comment:
    text = source.text
    end = text.find("\n", at)
    written = text[at : len(text) if end < 0 else end].rstrip()
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return Comment(source.span(at, at + len(written)), written, not before.strip())


def yaml_comments(text: str, path: str) -> list[Comment]:
    """The comments of all documents of a file; those of a block that cannot be read are left out."""
    documents = load_yaml_all(text, path)
    problems = documents[0].problems if documents else []
    if any(problem.kind in _UNREADABLE for problem in problems) and any(one.root is None for one in documents):
        return []
    source = Source(text, path)
    taken = sorted([*_texts(one.root for one in documents), *_unread(text, problems)], key=lambda stretch: stretch[0])
    starts = [start for start, _ in taken]
    found: list[Comment] = []
    end_of_last = -1
    for match in _YAML_COMMENT.finditer(text):
        at = match.start()
        index = bisect_right(starts, at) - 1
        if at < end_of_last or (index >= 0 and at < taken[index][1]):
            continue
        found.append(_comment(source, at))
        line_end = text.find("\n", at)
        end_of_last = len(text) if line_end < 0 else line_end
    return found


def _texts(roots: Iterator[Node | None]) -> Iterator[tuple[int, int]]:
    """Where quoted and block texts stand; the line that begins a block text may have a comment."""
    seen: set[int] = set()
    todo: list[Node] = [root for root in roots if root is not None]
    while todo:
        node = todo.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Scalar):
            if node.style:
                header = node.source.find("\n") if node.style in "|>" else 0
                yield node.start + max(0, header), node.end
        elif isinstance(node, Sequence):
            todo.extend(node.items)
        elif isinstance(node, Mapping):
            for key, value in node.own_items:
                todo += (key, value)


def _unread(text: str, problems: list[Problem]) -> Iterator[tuple[int, int]]:
    """The top-level blocks in which the reader may have stopped: it can notice an open bracket at the next block."""
    lines = [problem.span.line for problem in problems if problem.kind in _UNREADABLE]
    if not lines:
        return
    blocks = [match.start() for match in _TOP_LEVEL.finditer(text)]
    starts = [0, *(match.end() for match in re.finditer("\n", text))]
    for line in lines:
        at = starts[min(line, len(starts)) - 1]
        first, last = bisect_right(blocks, max(0, at - 1)) - 1, bisect_right(blocks, at)
        yield blocks[first] if first >= 0 else 0, blocks[last] if last < len(blocks) else len(text)

"""Changed texts as a unified diff that `git apply` and `patch` take."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping

from botlint.core.visible import visible

CONTEXT = 3


def unified_diff(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[str]:
    """The diff in lines with their ends; files in `after` that are the same, or not in `before`, are left out."""
    for path, new in sorted(after.items()):
        old = before.get(path)
        if old is None or old == new:
            continue
        name = _quoted(path)
        yield f"--- {name.format('a/')}\n"
        yield f"+++ {name.format('b/')}\n"
        yield from _hunks(_lines(old), _lines(new))


def shown_diff(before: Mapping[str, str], after: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The diff for a terminal: kind (`file`, `place`, `add`, `remove`, `same`) and a line without hidden characters."""
    for line in unified_diff(before, after):
        text = line.removesuffix("\n").removesuffix("\r")
        kinds = {"+": "add", "-": "remove", "@": "place"}
        is_file = line.startswith(("--- ", "+++ "))
        yield "file" if is_file else kinds.get(line[:1], "same"), visible(text.replace("\t", "    "))


def _lines(text: str) -> list[str]:
    # Not splitlines: a form feed or U+2028 inside a line is no end of it.
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]]
    return [*ended, lines[-1]] if lines[-1] else ended


def _quoted(path: str) -> str:
    """A template of the name in a diff's header, quoted as git does where it has control characters or quotes."""
    template = path.replace("{", "{{").replace("}", "}}")
    if visible(path) == path and '"' not in path and "\\" not in path:
        return "{}" + template
    octal = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:03o}"
        for byte in path.encode("utf-8", "surrogateescape")
    )
    return '"{}' + octal.replace("{", "{{").replace("}", "}}") + '"'


def _hunks(old: list[str], new: list[str]) -> Iterator[str]:
    # Most of a file is untouched: only the part between the equal ends is compared.
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    start = max(0, head - CONTEXT)
    left = old[start : len(old) - max(0, tail - CONTEXT)]
    right = new[start : len(new) - max(0, tail - CONTEXT)]
    for group in difflib.SequenceMatcher(None, left, right, autojunk=False).get_grouped_opcodes(CONTEXT):
        first, last = group[0], group[-1]
        yield f"@@ -{_range(start, first[1], last[2])} +{_range(start, first[3], last[4])} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_line(" ", line) for line in left[i1:i2])
                continue
            yield from (_line("-", line) for line in left[i1:i2])
            yield from (_line("+", line) for line in right[j1:j2])


def _range(base: int, start: int, end: int) -> str:
    count = end - start
    # An empty range names the line before it.
    first = base + start + (1 if count else 0)
    return str(first) if count == 1 else f"{first},{count}"


def _line(mark: str, line: str) -> str:
    return f"{mark}{line}" if line.endswith("\n") else f"{mark}{line}\n\\ No newline at end of file\n"

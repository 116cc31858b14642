"""`read` and `mapfile`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.shell import formatting, variables
from botlint.shell.marks import Marks, words_of
from botlint.shell.names import ELEMENT, NAME
from botlint.shell.process import Variable
from botlint.shell.signals import (
    Status,
    Undecided,
)
from botlint.shell.streams import In
from botlint.shell.values import Text, Value, concat, derive, hole

if TYPE_CHECKING:
    from botlint.shell.interpreter import Shell


def _take_line(shell: Shell, source: In, delimiter: str) -> tuple[str | None, bool]:
    """(line, whether it ended with the delimiter); None when the input is unknown."""
    value = source.value
    if value is None:
        return None, True
    text = shell.concrete(value)
    if text is None:
        source.value = ""
        source.pos = 0
        return None, True
    source.value = text
    rest = text[source.pos :]
    line, found, _ = rest.partition(delimiter) if delimiter else (rest, "", "")
    source.pos += len(line) + len(found)
    return line, bool(found)


def read(shell: Shell, args: list[Value]) -> Status:
    """`read`."""
    raw = False
    array: str | None = None
    delimiter = "\n"
    count: int | None = None
    exact = False
    fd = 0
    at = 0
    while at < len(args):
        word = args[at]
        text = word if isinstance(word, str) else None
        if text is None or not text.startswith("-") or text == "-":
            break
        at += 1
        if text == "--":
            break
        letters = text[1:]
        while letters:
            letter, letters = letters[0], letters[1:]
            if letter == "r":
                raw = True
            elif letter in "es":
                continue
            elif letter in "adniNptu":
                operand: Value
                if letters:
                    operand, letters = letters, ""
                else:
                    operand = args[at] if at < len(args) else ""
                    at += 1
                known = shell.concrete(operand) or ""
                if letter == "a":
                    array = known
                elif letter == "d":
                    delimiter = known[:1] if known else "\0"
                elif letter in "nN":
                    count = int(known) if known.isdigit() else None
                    exact = letter == "N"
                elif letter == "u":
                    fd = int(known) if known.isdigit() else 0
            else:
                shell.complain(f"read: -{letter}: invalid option")
                return 2
    names = [shell.concrete(a) or "" for a in args[at:]]
    for name in names:
        if not NAME.fullmatch(name) and not ELEMENT.fullmatch(name):
            shell.complain(f"read: `{name}': not a valid identifier")
            return 1
    source = shell.fds.get(fd)
    if not isinstance(source, In):
        return 1
    if (isinstance(source.value, Text) and not source.value.known) or source.value is None:
        return _read_partly(shell, source, names, array, _Form(delimiter, count, exact, raw))
    line, ended = _read_text(shell, source, delimiter, count, exact, raw)
    status: Status = 0 if ended else 1
    _store_read(shell, line, names, array, raw, exact, Marks())
    return status


@dataclass(frozen=True, slots=True)
class _Form:
    """How `read` takes its characters."""

    delimiter: str
    count: int | None
    exact: bool
    raw: bool


def _read_partly(shell: Shell, source: In, names: list[str], array: str | None, form: _Form) -> Status:
    """Reads from an input of which a part is not known."""
    delimiter, count, exact, raw = form.delimiter, form.count, form.exact, form.raw
    if isinstance(source.value, Text) and not source.pos and delimiter == "\n" and count is None:
        begun = _begin_line(shell, source.value, raw)
        if begun is not None:
            line, source.value, marks = begun
            _store_read(shell, line, names, array, raw, exact, marks)
            return 0
    found = words_of(shell, source.value) if isinstance(source.value, Text) and not source.pos else None
    if found is None or count is not None:
        return _read_unknown(shell, source, names, array, delimiter)
    source.value, marks = found
    line, ended = _read_text(shell, source, delimiter, count, exact, raw)
    source.value, source.pos = marks.unmark(source.value[source.pos :]), 0
    _store_read(shell, line, names, array, raw, exact, marks)
    return 0 if ended else 1


def _read_text(shell: Shell, source: In, delimiter: str, count: int | None, exact: bool, raw: bool) -> tuple[str, bool]:
    """The characters of one `read`, with backslash-protected ones marked by a leading backslash unless raw."""
    out: list[str] = []
    taken = 0
    while True:
        text = shell.concrete(source.value or "")
        assert text is not None
        source.value = text
        if count is not None:
            if taken >= count:
                return "".join(out), True
            if source.pos >= len(text):
                return "".join(out), False
            character = text[source.pos]
            source.pos += 1
            if character == delimiter and not exact:
                return "".join(out), True
            if character == "\\" and not raw:
                following = text[source.pos : source.pos + 1]
                source.pos += 1
                if following == "\n":
                    continue
                out.append("\\" + following)
            else:
                out.append(character)
            taken += 1
            continue
        line, found = _take_line(shell, source, delimiter)
        assert line is not None
        out.append(line)
        if not raw and found and delimiter == "\n" and re.search(r"(?<!\\)(?:\\\\)*\\$", line):
            out[-1] = line[:-1]
            continue
        return "".join(out), found


def _begin_line(shell: Shell, value: Text, raw: bool) -> tuple[str, Value, Marks] | None:
    """The first line of a text, what follows, and what its characters stand for; only that line is looked at.

    None where the line has no end that is known, goes on in the next, or has a part that is not one word.
    """
    line, rest = _first_line(value)
    found = words_of(shell, line) if isinstance(line, Text) else None
    if found is None:
        return None if not isinstance(line, str) or (not raw and line.endswith("\\")) else (line, rest, Marks())
    text, marks = found
    first, _, more = text.partition("\n")
    if not raw and first.endswith("\\"):
        return None
    return first, concat([marks.unmark(more), "\n", rest]) if "\n" in text else rest, marks


def _read_unknown(shell: Shell, source: In, names: list[str], array: str | None, delimiter: str) -> Status:
    """A line of an input that is not wholly known: its known first line if it has one, else a hole."""
    value = source.value
    if isinstance(value, Text) and delimiter == "\n":
        line, rest = _first_line(value)
        if line is not None:
            source.value = rest
            _store_values(shell, line, names, array)
            return 0
    reason = "input"
    if isinstance(value, Text):
        from botlint.shell.values import reason_of

        reason = reason_of(value)
    source.value = ""
    source.pos = 0
    _store_values(shell, hole(reason), names, array)
    return Undecided(f"read from {reason}")


def _first_line(value: Text) -> tuple[Value | None, Value]:
    for number, piece in enumerate(value.pieces):
        if isinstance(piece, str) and "\n" in piece:
            head, _, tail = piece.partition("\n")
            line = concat([*[p if isinstance(p, str) else Text((p,)) for p in value.pieces[:number]], head])
            rest = concat([tail, *[p if isinstance(p, str) else Text((p,)) for p in value.pieces[number + 1 :]]])
            return line, rest
    return None, value


def _store_values(shell: Shell, value: Value, names: list[str], array: str | None) -> None:
    if array is not None:
        shell.put(array, Variable({0: value}, kind="array", place=shell.place(), guard=shell.guard))
        return
    targets = names or ["REPLY"]
    for number, name in enumerate(targets):
        shell.assign(name, value if number == 0 else (hole(variables.hole_name(value)) if len(targets) > 1 else ""))
    if len(targets) > 1:
        shell.assign(targets[0], hole(variables.hole_name(value)))


def _store_read(
    shell: Shell, line: str, names: list[str], array: str | None, raw: bool, exact: bool, marks: Marks
) -> None:
    ifs = variables.ifs_of(shell)
    if array is not None:
        cells: dict[int, Value] = dict(enumerate(map(marks.unmark, _read_fields(line, ifs, raw, None))))
        shell.put(
            array,
            Variable(cells, kind="array", place=shell.place(), guard=shell.guard),
        )
        return
    if not names:
        shell.assign("REPLY", marks.unmark(line if raw else re.sub(r"\\(.)", r"\1", line, flags=re.DOTALL)))
        return
    if exact:
        shell.assign(names[0], line if raw else re.sub(r"\\(.)", r"\1", line, flags=re.DOTALL))
        for name in names[1:]:
            shell.assign(name, "")
        return
    pieces = _read_fields(line, ifs, raw, len(names))
    for number, name in enumerate(names):
        shell.assign(name, marks.unmark(pieces[number]) if number < len(pieces) else "")


def _read_fields(line: str, ifs: str, raw: bool, limit: int | None) -> list[str]:
    """Splits a line as `read` does: the last name takes the rest."""
    if not ifs and (raw or "\\" not in line):
        return [line] if line else []
    marked: list[tuple[str, bool]] = []
    i = 0
    while i < len(line):
        if line[i] == "\\" and not raw and i + 1 < len(line):
            marked.append((line[i + 1], True))
            i += 2
        elif line[i] == "\\" and not raw:
            i += 1
        else:
            marked.append((line[i], False))
            i += 1
    space = {c for c in ifs if c in " \t\n"}
    other = {c for c in ifs if c not in " \t\n"}

    def is_space(k: int) -> bool:
        return marked[k][0] in space and not marked[k][1]

    def is_other(k: int) -> bool:
        return marked[k][0] in other and not marked[k][1]

    n = len(marked)
    at = 0
    while at < n and is_space(at):
        at += 1
    out: list[str] = []
    while at < n:
        if limit is not None and len(out) == limit - 1:
            end = n
            while end > at and is_space(end - 1):
                end -= 1
            # A separator that only ends the last field is dropped.
            word = at
            while word < n and not is_space(word) and not is_other(word):
                word += 1
            after = word
            seen = False
            while after < n and (is_space(after) or (is_other(after) and not seen)):
                seen = seen or is_other(after)
                after += 1
            out.append("".join(c for c, _ in marked[at : word if after >= n else end]))
            return out
        end = at
        while end < n and not is_space(end) and not is_other(end):
            end += 1
        out.append("".join(c for c, _ in marked[at:end]))
        at = end
        seen = False
        while at < n and (is_space(at) or (is_other(at) and not seen)):
            seen = seen or is_other(at)
            at += 1
    return out


def mapfile(shell: Shell, args: list[Value]) -> Status:
    """`mapfile` and `readarray`."""
    strip = False
    delimiter = "\n"
    limit = 0
    every, callback = 5000, ""
    origin = 0
    skip = 0
    keep = False
    name = "MAPFILE"
    fd = 0
    at = 0
    while at < len(args):
        text = shell.concrete(args[at]) or ""
        at += 1
        if text.startswith("-") and len(text) > 1:
            letter = text[1]
            if letter == "t":
                strip = True
                continue
            operand = text[2:]
            if not operand:
                operand = shell.concrete(args[at]) or "" if at < len(args) else ""
                at += 1
            if letter == "d":
                delimiter = operand[:1] or "\0"
            elif letter == "n":
                limit = int(operand or 0)
            elif letter == "O":
                origin, keep = int(operand or 0), True
            elif letter == "s":
                skip = int(operand or 0)
            elif letter == "u":
                fd = int(operand or 0)
            elif letter == "c":
                every = int(operand or 1)
            elif letter == "C":
                callback = operand
        else:
            name = text
    source = shell.fds.get(fd)
    if not isinstance(source, In):
        return 1
    value = source.value
    text_value = None if value is None else shell.concrete(value)
    old = shell.vars.get(shell.target(name))
    cells = variables.cells_of(old) if keep else {}
    if text_value is None:
        lines: list[Value] = _known_lines(value)
        source.value, source.pos = "", 0
    else:
        rest = text_value[source.pos :]
        pieces = rest.split(delimiter)
        ended = [p + delimiter for p in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])
        ended = ended[skip:]
        if limit:
            ended = ended[:limit]
        source.pos = len(text_value) if not limit else source.pos + sum(map(len, ended))
        lines = [p[:-1] if strip and p.endswith(delimiter) else p for p in ended]
    for number, line in enumerate(lines):
        if callback and (number + 1) % every == 0:
            shell.run_text(
                concat([f"{callback} {origin + number} ", derive(formatting.shell_quote, line)]), shell.place()
            )
        cells[origin + number] = line
    base = old if old is not None and keep else Variable(None)
    shell.put(shell.target(name), base.changed(value=cells, kind="array", place=shell.place(), guard=shell.guard))
    return 0


def _known_lines(value: Value | None) -> list[Value]:
    """Lines of an input that is partly unknown; a hole is taken to be one line."""
    if value is None:
        return [hole("input")]
    lines: list[Value] = []
    rest: Value = value
    while isinstance(rest, Text):
        line, following = _first_line(rest)
        if line is None:
            lines.append(rest)
            return lines
        lines.append(line)
        rest = following
    lines.extend(rest.split("\n") if not rest.endswith("\n") else rest[:-1].split("\n")) if rest else None
    return lines

"""Commands of scripts that are no commands: flags, assignments with blanks, lines that end too early or too late."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from botlint.documents import bash
from botlint.engine.analysis.scripts_walk import CHECKS_NAMES, Call, ScriptFacts

_FLAG = re.compile(r"--?[A-Za-z]")
_NUMBER = re.compile(r"[0-9.]+\Z|[\"']")
_NAME = re.compile(r"[A-Za-z_]\w*\Z")
_VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*\Z")
_LATE = re.compile(r"[ \t]*\\\n(?P<what>[ \t]*(?:#|\n|\Z))")
_MAYBE_LATE = re.compile(r"\\[ \t]+(?:\n|\Z)|\\\n[ \t]*(?:#|\n|\Z)|\\\Z")
_MAYBE_JOINED = re.compile(r"\S\\\n\S")
_AT_END = re.compile(r"(?<!\\)(?:\\\\)*\\\n*\Z")
_JOINED = re.compile(r"[^\s\"'`]+\\\n[^\s\"'`]+\Z")
_BLANK = re.compile(r"\\[ \t]+\Z")


@dataclass(frozen=True, slots=True)
class Slip:
    """A place where a line is not what it looks like.

    `kind` is `flag`, `name` or `redirection` (the line before has no backslash at its end), `assignment` (blanks around
    `=`), or of the backslash at a line's end: `blank` (a blank follows it), `end-of-file`, `empty-line`, `comment`,
    `joined` (none around it, so that two words become one).
    """

    kind: str
    text: str
    start: int
    end: int
    before: str = ""
    before_end: int = -1
    """The command before and the offset at which its last line ends, if only blanks stand between."""


def slips(facts: ScriptFacts) -> Iterator[Slip]:
    """The slips of a script, in the order of its commands."""
    last: Call | None = None
    text = facts.text
    late = _MAYBE_LATE.search(text) is not None
    joined = _MAYBE_JOINED.search(text) is not None
    for call in facts.calls:
        kind = _kind(facts, call)
        if kind is None and last is not None and call.words[0].text.isupper():
            kind = _named(last, call)
        if kind is not None:
            end = call.word_start(0) + len(call.words[0].text) if kind == "flag" else call.end
            yield Slip(kind, text[call.start : end], call.start, end, *_before(facts, last, call.start))
        if joined:
            yield from _glued(call)
        if late:
            yield from _late(facts, call)
        if last is None or call.end > last.end:
            last = call
    yield from _redirections(facts)


def _kind(facts: ScriptFacts, call: Call) -> str | None:
    words = call.command.words
    first = words[0]
    text = first.text
    if text.startswith("-"):
        return "flag" if _FLAG.match(text) else None
    if len(words) > 1:
        second = words[1].text
        if second.startswith("=") and not second.startswith("==") and _NAME.match(text):
            return "assignment"
    assigns = call.command.assigns
    if assigns and assigns[-1].value is not None and not assigns[-1].value.text and _NUMBER.match(text):
        return "assignment"
    if first.literal is None and text[-2:-1] == "}":
        name = _whole_array(first)
        if name is not None and _holds_flags(facts, name):
            return "flag"
    return None


def _named(last: Call | None, call: Call) -> str | None:
    """Names of variables on a line of their own after a call that checks names: they belong to that call."""
    if last is None or not CHECKS_NAMES.match(last.name) or call.place != "plain":
        return None
    return "name" if all(_VARIABLE.match(word.text) for word in call.words) else None


def _whole_array(word: bash.Word) -> str | None:
    """The array that a word expands and nothing else."""
    parts = word.parts
    if len(parts) == 1 and isinstance(parts[0], bash.DoubleQuoted):
        parts = parts[0].parts
    if len(parts) == 1 and isinstance(parts[0], bash.Param) and parts[0].index == "@" and not parts[0].op:
        return parts[0].name
    return None


def _holds_flags(facts: ScriptFacts, name: str) -> bool:
    """Whether every value that the script gives an array starts with a flag, and some value does."""
    values = facts.assigned.get(name, [])
    firsts = [one.assign.array[0][2].text for one in values if one.assign.array]
    return bool(firsts) and name not in facts.set_names and all(_FLAG.match(text) for text in firsts)


def _before(facts: ScriptFacts, last: Call | None, start: int) -> tuple[str, int]:
    if last is None or last.end > start:
        return "", -1
    between = facts.text[last.end : start]
    words = " ".join(word.text for word in last.words[:3])
    return words, last.end if not between.strip() else -1


def _glued(call: Call) -> Iterator[Slip]:
    for number, word in enumerate(call.words):
        if "\\\n" in word.text and _JOINED.search(word.text):
            start = call.word_start(number)
            yield Slip("joined", word.text.replace("\\\n", ""), start, start + len(word.text))


def _late(facts: ScriptFacts, call: Call) -> Iterator[Slip]:
    text = facts.text
    last = call.words[-1].text
    if call.end >= len(text.rstrip("\n")) and _AT_END.search(text):
        at = text.rindex("\\")
        yield Slip("end-of-file", last.rstrip("\\\n"), at, at + 1)
    elif last[-1:] in (" ", "\t") and _BLANK.search(last) and text[call.end : call.end + 1] in ("\n", ""):
        yield Slip("blank", last, call.end - len(last), call.end)
    elif text[call.end : call.end + 2].strip(" \t")[:1] in ("\\", ""):
        found = _LATE.match(text, call.end)
        if found:
            what = found["what"].strip(" \t")
            kind = "comment" if what == "#" else "empty-line" if what == "\n" else "end-of-file"
            at = text.index("\\", call.end)
            yield Slip(kind, "", at, at + 1)


def _redirections(facts: ScriptFacts) -> Iterator[Slip]:
    """Lines of redirections alone that run in the background: the command that they were meant for is above."""
    for start, end in facts.bare_redirections:
        before = [call for call in facts.calls if call.end <= start]
        last = max(before, key=lambda call: call.end) if before else None
        yield Slip("redirection", facts.text[start:end], start, end, *_before(facts, last, start))

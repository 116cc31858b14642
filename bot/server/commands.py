"""What people tell the App in comments: `/botlint ...` at the start of a line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from botlint.core.visible import visible

Verb = Literal["check", "explain", "ignore", "smoke", "help"]

MOST = 5
"""How many commands of one comment are done."""

_ENDS = re.compile("\r\n|\n|\r")
"""What ends a line in Markdown. Other separators do not: behind them, a quotation goes on."""

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_COMMIT = re.compile(r"[0-9a-f]{7,40}")
_SELECTOR = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.=:,*?/-]{0,99}")
"""A word that names jobs: an entry or a glob of some, a condition, the id of a job."""

_MOST_WORDS = 8
_JOB = 16
"""Characters of a job's id, which is no commit."""

_RULE = re.compile(r"[A-Za-z0-9][A-Za-z0-9-]{0,79}")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")
_LONGEST = 65_536
_LINE = 2_000
_REASON = 300


@dataclass(frozen=True, slots=True)
class Command:
    """One command; `help` stands for all that is not understood.

    Of `smoke`, the subject is a commit and the reason names jobs; both may be empty.
    """

    verb: Verb
    subject: str = ""
    reason: str = ""

    def body(self) -> dict[str, str]:
        """The command as a small mapping, to be kept."""
        return {"verb": self.verb, "subject": self.subject, "reason": self.reason}


def read(text: str) -> list[Command]:
    """The commands of a comment, first ones first; none where they are quoted, indented or in a code block."""
    commands: list[Command] = []
    fence = ""
    for line in _ENDS.split(text[:_LONGEST]):
        mark = _FENCE.match(line)
        if fence:
            if mark and mark[1].startswith(fence) and not mark[2].strip():
                fence = ""
            continue
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            fence = mark[1]
            continue
        words = line[:_LINE].split(maxsplit=3) if line.startswith("/botlint") else [""]
        if words[0] == "/botlint":
            verb, subject, rest = (*words[1:], "", "", "")[:3]
            commands.append(_command(verb, subject, rest.rstrip()))
            if len(commands) == MOST:
                break
    return commands


def _command(verb: str, subject: str, rest: str) -> Command:
    match verb.lower():
        case "check" if not subject:
            return Command("check")
        case "smoke":
            return _smoke([subject, *rest.split()] if subject else [])
        case "explain" if _RULE.fullmatch(subject) and not rest:
            return Command("explain", subject)
        case "ignore" if _FINGERPRINT.fullmatch(subject.lower()) and rest:
            return Command("ignore", subject.lower(), visible(rest, _REASON))
        case _:
            return Command("help")


def _smoke(words: list[str]) -> Command:
    """`smoke [COMMIT] [JOBS...]`: the commit that somebody looked at, and which jobs to start."""
    commit = ""
    if words and _COMMIT.fullmatch(words[0].lower()) and len(words[0]) != _JOB:
        commit, *words = words
    if len(words) > _MOST_WORDS or not all(_SELECTOR.fullmatch(word) for word in words):
        return Command("help")
    return Command("smoke", commit.lower(), " ".join(words))


def from_body(body: Mapping[str, Any]) -> Command:
    """The command that `Command.body` wrote; `help` where it is none."""
    verb = body.get("verb")
    if verb not in ("check", "explain", "ignore", "smoke"):
        return Command("help")
    return Command(verb, str(body.get("subject", "")), str(body.get("reason", "")))

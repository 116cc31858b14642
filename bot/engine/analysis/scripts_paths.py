"""The path that a word of a script leads to, for the usual ways in which scripts find their own folder."""

from __future__ import annotations

import re
from dataclasses import dataclass

from botlint.documents import bash
from botlint.engine.analysis.scripts_walk import ScriptFacts
from botlint.repo.files import Files, join_path

MAX_DEPTH = 6

ROOTS = ("GITHUB_WORKSPACE",)
_MOUNTS = ("/workspace", "/ix")
_OWN = (
    "$0",
    "${0}",
    "$BASH_SOURCE",
    "${BASH_SOURCE}",
    "${BASH_SOURCE[0]}",
    "${BASH_SOURCE:-$0}",
    "${BASH_SOURCE[0]:-$0}",
)
_FOLDER = re.compile(
    r"""\$\(\s*
    (?:(?:CDPATH=\s+)?(?:builtin\s+)?cd\s+(?:-P\s+)?(?:--\s+)?"?)?
    (?:\$\(\s*)?
    dirname\s+(?:--\s+)?["']?
    (?:\$\(\s*(?:readlink\s+-[efm]+|realpath(?:\s+-\w+)?)\s+(?:--\s+)?["']?)?
    (?P<own>\$0|\$\{0\}|\$BASH_SOURCE|\$\{BASH_SOURCE(?:\[0\])?(?::-\$\{?0\}?)?\})
    ["']?\s*\)?["']?
    (?:\s*\))?
    (?P<more>(?:/\.\.|/[\w.-]+)*)["']?
    \s*(?:(?:&&|;)\s*pwd(?:\s+-[LP])?)?(?:\s*2?>[&/\w]+)*\s*\)?\s*\Z""",
    re.VERBOSE,
)
_CUT = re.compile(r"\$\{(?:0|BASH_SOURCE(?:\[0\])?)%/\*\}\Z")
_TOP = re.compile(r"\$\(\s*git\s+rev-parse\s+--show-toplevel[^()]*\)\Z")
_WORKING = re.compile(r"\$\(pwd\)\Z|\$\{?PWD\}?\Z")


@dataclass(frozen=True, slots=True)
class Path:
    """A path from the root of the repository; `anchored` if it does not depend on the working directory."""

    text: str
    anchored: bool


class Paths:
    """Evaluates words of scripts as paths; nothing is run."""

    def __init__(self, files: Files) -> None:
        self.files = files

    def evaluate(self, word: bash.Word, facts: ScriptFacts) -> Path | None:
        """The path within the repository, None where it is not known or outside."""
        text = self._word(word, facts, 0)
        if text is None:
            return None
        for mount in _MOUNTS:
            if text.startswith(mount + "/"):
                joined = join_path("", text[len(mount) + 1 :])
                # What such a folder holds besides the repository is not known.
                return Path(joined, True) if joined is not None and self.files.is_file(joined) else None
        if text.startswith("\0"):
            joined = join_path("", text[1:].lstrip("/"))
            return None if joined is None else Path(joined, True)
        if text.startswith(("/", "~")):
            return None
        joined = join_path("", text)
        return None if joined is None else Path(joined, False)

    def _word(self, word: bash.Word, facts: ScriptFacts, depth: int) -> str | None:
        """The text of a word, where a leading NUL stands for the root of the repository."""
        if word.literal is not None:
            return word.literal
        if depth > MAX_DEPTH:
            return None
        out = ""
        parts: list[bash.Part] = []
        for part in word.parts:
            parts.extend(part.parts if isinstance(part, bash.DoubleQuoted) else (part,))
        for number, part in enumerate(parts):
            piece: str | None
            if isinstance(part, str):
                piece = part
            elif isinstance(part, bash.Quoted):
                piece = part.text
            elif isinstance(part, bash.Param):
                piece = self._param(part, facts, depth)
            elif isinstance(part, bash.CommandSub):
                piece = self._substitution(word, facts)
            else:
                piece = None
            if piece is None or (number and piece.startswith("\0")):
                return None
            out += piece
        return out

    def _param(self, part: bash.Param, facts: ScriptFacts, depth: int) -> str | None:
        if (
            part.name in ("0", "BASH_SOURCE")
            and part.op in ("%", "%%")
            and part.arg is not None
            and part.arg.text == "/*"
        ):
            return self._own_folder(facts)
        if part.op in (":-", "-") and part.arg is not None and part.name not in facts.assigned:
            return "\0" if part.name in ROOTS else None
        if part.op not in ("", ":-", "-", "?", ":?") or part.index is not None or part.length or part.indirect:
            return None
        if part.name in ROOTS:
            return "\0"
        values = facts.assigned.get(part.name, [])
        if part.name in facts.set_names or len(values) != 1 or values[0].guards:
            return None
        value = values[0].assign.value
        return None if value is None or values[0].assign.append else self._word(value, facts, depth + 1)

    def _substitution(self, word: bash.Word, facts: ScriptFacts) -> str | None:
        """A command substitution of a word, by its text: one of the idioms for the own folder or the root."""
        text = word.text
        start = text.find("$(")
        end = _closing(text, start + 1)
        if start < 0 or end is None:
            return None
        inner = text[start : end + 1]
        if _TOP.match(inner):
            return "\0"
        match = _FOLDER.match(inner)
        if match is None:
            return None
        folder = self._own_folder(facts)
        return None if folder is None else folder + match.group("more")

    @staticmethod
    def _own_folder(facts: ScriptFacts) -> str:
        folder = facts.path.rpartition("/")[0]
        return "\0" + (folder or ".")


def _closing(text: str, start: int) -> int | None:
    """The offset of the parenthesis that closes the one at `start`."""
    depth = 0
    for offset in range(start, len(text)):
        if text[offset] == "(":
            depth += 1
        elif text[offset] == ")":
            depth -= 1
            if depth == 0:
                return offset
    return None

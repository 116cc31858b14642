"""What the comment above an arm says about its topology: `# 2 prefill workers at DEP8 and 1 decode worker at DEP32`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from botlint.core.span import Span
from botlint.engine.analysis.arms import ROLES, EntryArm

if TYPE_CHECKING:
    from botlint.engine.context import Context

_SAID = re.compile(r"\b(DEP|TEP)[ -]?(\d{1,4})\b")
_OTHER = re.compile(r"\b(?:TP|EP|DP|DCP|PCP|PP)[ -]?\d{1,4}\b")
MAX_LINES = 6
MAX_LENGTH = 300


@dataclass(frozen=True, slots=True)
class Said:
    """What a comment gives for a role: `DEP8` is attention and experts over 8 GPUs."""

    role: str
    kind: str
    size: int
    comment: str
    span: Span


def said(context: Context, arm: EntryArm) -> tuple[Said, ...]:
    """What the lines of comment right above an arm say: only if they name exactly one kind for each of both roles."""
    place = arm.span
    source = context.files.text(place.path)
    if source is None or not all(isinstance(arm.values.get(role), dict) for role in ROLES):
        return ()
    lines = context.once(_lines).setdefault(place.path, []) or _read(context, place.path, source.text)
    number = place.line - 1
    for _ in range(MAX_LINES):
        if number < 1 or not lines[number - 1].lstrip().startswith("#"):
            return ()
        text = lines[number - 1]
        found = _SAID.findall(text[:MAX_LENGTH])
        if found:
            if len(found) != len(ROLES) or _OTHER.search(text):
                return ()
            column = len(text) - len(text.lstrip()) + 1
            span = Span(place.path, number, column, number, len(text) + 1)
            return tuple(
                Said(role, kind, int(size), text.strip(), span) for role, (kind, size) in zip(ROLES, found, strict=True)
            )
        number -= 1
    return ()


def _lines(_context: Context) -> dict[str, list[str]]:
    return {}


def _read(context: Context, path: str, text: str) -> list[str]:
    found = context.once(_lines)[path] = text.split("\n")
    return found

"""How botlint knows its comments again: a hidden last line, which counts only in comments of its own account.

What a comment quotes of a pull request stands above that line, so that a quoted marker is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TypeVar

from botlint.github.models import Identity, IssueComment, ReviewComment

SUMMARY = "<!-- botlint:v1 summary -->"
FIRST_CONTACT = "<!-- botlint:v1 first-contact -->"
DUPLICATE = "<!-- botlint:v1 duplicate -->"
MENDED = "<!-- botlint:v1 mended -->"
"""In the line above the marker of a finding that is no longer there."""

_FINDING = re.compile(r"<!-- botlint:v1 fp=([0-9a-f]{16}) -->")

Comment = TypeVar("Comment", IssueComment, ReviewComment)


def finding_marker(fingerprint: str) -> str:
    """The marker of a finding's comment."""
    return f"<!-- botlint:v1 fp={fingerprint} -->"


def fingerprint_of(body: str) -> str | None:
    """The fingerprint in the marker of a comment; None if it is no finding's."""
    match = _FINDING.fullmatch(_last(body, 1))
    return None if match is None else match[1]


def is_mended(body: str) -> bool:
    """Whether a finding's comment says that the finding is gone."""
    return _last(body, 2) == MENDED


def has_marker(body: str, marker: str) -> bool:
    """Whether a comment ends with a marker."""
    return _last(body, 1) == marker


def own(comments: Iterable[Comment], me: Identity) -> list[Comment]:
    """The comments of an account, oldest first; names change, its id does not."""
    return sorted((one for one in comments if one.author.id == me.id), key=lambda one: one.id)


def _last(body: str, number: int) -> str:
    lines = [line.strip() for line in body.rstrip().rsplit("\n", number)]
    return lines[-number] if len(lines) >= number else ""

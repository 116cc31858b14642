"""Markers: the last line, in a comment of the own account only."""

from __future__ import annotations

import pytest

from botlint.github.limits import cut, fit, joined, units
from botlint.github.markers import (
    DUPLICATE,
    MENDED,
    SUMMARY,
    finding_marker,
    fingerprint_of,
    has_marker,
    is_mended,
    own,
)
from botlint.github.models import Identity, IssueComment

FP = "0123456789abcdef"
MARK = finding_marker(FP)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        (f"text\n\n{MARK}", FP),
        (f"text\r\n\r\n{MARK}\r\n", FP),
        (f"text\n{MARK}  \n\n", FP),
        (MARK, FP),
        # Quoted in the text, not alone on the line, or not last, it is none.
        (f"> {MARK}", None),
        (f"`{MARK}`", None),
        (f"{MARK}\ntext", None),
        (f"{MARK} text", None),
        ("<!-- botlint:v1 fp=0123456789ABCDEF -->", None),
        ("<!-- botlint:v1 fp=0123 -->", None),
        ("<!-- botlint:v2 fp=0123456789abcdef -->", None),
        (SUMMARY, None),
        ("", None),
    ],
)
def test_fingerprints(body: str, found: str | None) -> None:
    assert fingerprint_of(body) == found


@pytest.mark.parametrize(
    ("body", "mended"),
    [(f"x\n{MENDED}\n{MARK}", True), (f"x\n{MENDED}\n\n{MARK}", False), (f"{MENDED}\nx\n{MARK}", False), (MARK, False)],
)
def test_mended(body: str, mended: bool) -> None:
    assert is_mended(body) is mended


def test_other_markers() -> None:
    assert has_marker(f"x\n{SUMMARY}\n", SUMMARY)
    assert not has_marker(f"x\n{DUPLICATE}", SUMMARY)
    assert not has_marker(f"{SUMMARY}\nx", SUMMARY)


def test_only_the_own_account_counts() -> None:
    def comment(number: int, author: int, login: str) -> IssueComment:
        return IssueComment(number, f"n{number}", Identity(author, login), SUMMARY, "")

    comments = [comment(3, 7, "renamed[bot]"), comment(1, 7, "botlint[bot]"), comment(2, 8, "botlint[bot]")]
    assert [one.id for one in own(comments, Identity(7, "botlint[bot]"))] == [1, 3]


@pytest.mark.parametrize(("text", "number"), [("abc", 3), ("é", 1), ("中文", 2), ("😀", 2), ("\ud800", 1), ("", 0)])
def test_lengths_are_utf16(text: str, number: int) -> None:
    assert units(text) == number


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("😀😀", 4, "😀😀"), ("😀😀😀", 4, "😀…"), ("a😀😀", 4, "a😀…")],
)
def test_a_long_text_is_cut(text: str, limit: int, shown: str) -> None:
    assert cut(text, limit) == shown
    assert units(shown) <= limit


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (100, ["aaaa", "bbbb", "cccc"]),
        (15, ["aaaa", "bbbb", "cccc"]),
        (14, ["aaaa", "bbbb", "+1"]),
        (12, ["aaaa", "+2"]),
        (7, ["+3"]),
    ],
)
def test_parts_are_left_out_whole(limit: int, kept: list[str]) -> None:
    assert fit(["aaaa", "bbbb", "cccc"], limit, lambda number: f"+{number}") == kept


def test_sections() -> None:
    assert joined(["a", "b"], [], ["c"]) == "a\nb\n\nc"

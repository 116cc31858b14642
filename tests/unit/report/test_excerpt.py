"""Excerpts: which lines are shown and what is marked."""

from __future__ import annotations

import pytest

from botlint.core.span import Span
from botlint.core.visible import visible, width
from botlint.report.excerpt import MAX_WIDTH, Row, excerpt

LINES = ["\tindented", "模型 = 1", "", "  plain  ", *(f"line {n}" for n in range(5, 21))]


def rows(line: int, column: int, end_line: int, end_column: int) -> list[Row]:
    return excerpt(Span("f", line, column, end_line, end_column), lambda path: LINES if path == "f" else None)


@pytest.mark.parametrize(
    ("span", "expected"),
    [
        ((1, 2, 1, 10), [Row(1, "    indented", "    ^^^^^^^^")]),
        ((1, 1, 1, 2), [Row(1, "    indented", "^^^^")]),
        ((2, 1, 2, 3), [Row(2, "模型 = 1", "^^^^")]),
        ((2, 6, 2, 7), [Row(2, "模型 = 1", "       ^")]),
        ((3, 1, 3, 1), [Row(3, "", "^")]),
        ((4, 1, 4, 1), [Row(4, "  plain", "  ^^^^^")]),
        ((4, 3, 4, 3), [Row(4, "  plain", "  ^")]),
        ((4, 90, 4, 95), [Row(4, "  plain", "         ^")]),
        ((4, 1, 5, 1), [Row(4, "  plain", "^^^^^^^")]),
        ((5, 1, 6, 3), [Row(5, "line 5", "^^^^^^"), Row(6, "line 6", "")]),
        ((0, 1, 1, 1), []),
        ((21, 1, 21, 1), []),
        ((20, 1, 99, 1), [Row(20, "line 20", "^^^^^^^")]),
    ],
)
def test_excerpt(span: tuple[int, int, int, int], expected: list[Row]) -> None:
    assert rows(*span) == expected


def test_long_spans_have_a_gap() -> None:
    assert [row.number for row in rows(5, 1, 20, 3)] == [5, 6, 7, 8, 0, 20]


@pytest.mark.parametrize("start", [0, 10, 500, 995])
def test_long_lines_are_shown_around_the_span(start: int) -> None:
    line = "a" * start + "BAD" + "z" * (997 - start)
    (row,) = excerpt(Span("f", 1, start + 1, 1, start + 4), lambda _: [line])
    assert len(row.text) <= MAX_WIDTH + 2
    at = row.mark.index("^")
    assert row.text[at : at + len(row.mark.strip())] == "BAD"


def test_a_span_longer_than_the_shown_part() -> None:
    (row,) = excerpt(Span("f", 1, 1, 1, 1000), lambda _: ["a" * 999])
    assert row.mark == "^" * MAX_WIDTH
    assert row.text == "a" * MAX_WIDTH + "…"


def test_absent_files_have_no_excerpt() -> None:
    assert excerpt(Span("absent", 1, 1, 1, 1), lambda _: None) == []
    assert excerpt(Span("", 1, 1, 1, 1), lambda _: LINES) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain é 模", "plain é 模"),
        ("a\tb\nc\r", "a\\tb\\nc\\r"),
        ("\x1b[0m\x9b\x00", "\\x1b[0m\\x9b\\x00"),
        ("\u202eabc\u2066\ufeff\u200b", "\\u202eabc\\u2066\\ufeff\\u200b"),
        ("\ud800\ufffe\U000e0041", "\\ud800\\ufffe\\U000e0041"),
    ],
)
def test_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_visible_cuts() -> None:
    assert visible("abcdef", 4) == "abc…"
    assert visible("abcd", 4) == "abcd"


@pytest.mark.parametrize(("text", "columns"), [("abc", 3), ("模型", 4), ("e\u0301", 1), ("", 0)])
def test_width(text: str, columns: int) -> None:
    assert width(text) == columns

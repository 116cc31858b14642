"""Fixes as suggestions, and when there can be none."""

from __future__ import annotations

import pytest
from review_samples import changed, diff_of, finding, lines_of, patch_of

from botlint.core.finding import Edit
from botlint.core.span import Span
from botlint.github.patches import Diff, read_diff
from botlint.github.placing import place_all
from botlint.github.suggestions import Suggestion, shown_fix, suggest

OLD = "".join(f"line {number}\n" for number in range(1, 41))
NEW = OLD.replace("line 10\n", "  ten\n  eleven\n").replace("line 30\n", "thirty")
TEXT = NEW


def edit(line: int, column: int, end_line: int, end_column: int, text: str, path: str = "a.sh") -> Edit:
    return Edit(Span(path, line, column, end_line, end_column), text)


def offered(
    *edits: Edit, line: int = 10, end: int = 0, new: str = NEW, diff: Diff | None = None, old: str = OLD
) -> Suggestion | None:
    texts = {"a.sh": new, "b.sh": new}
    one = finding("a.sh", line, end=end, edits=edits)
    used = diff or diff_of({"a.sh": old}, {"a.sh": new})
    (placement,) = place_all([one], used, lines_of(texts))
    return suggest(placement, used, texts.get)


@pytest.mark.parametrize(
    ("edits", "where", "lines"),
    [
        ([edit(10, 3, 10, 6, "TEN")], (10, 10), ["  TEN"]),
        ([edit(10, 3, 10, 6, "TEN"), edit(11, 3, 11, 9, "ELEVEN")], (10, 11), ["  TEN", "  ELEVEN"]),
        # The comment grows to the lines of the fix, also to unchanged ones of the hunk.
        ([edit(12, 1, 12, 8, "x")], (10, 12), ["  ten", "  eleven", "x"]),
        ([edit(8, 1, 8, 7, "x")], (8, 10), ["x", "line 9", "  ten"]),
        # A whole line goes, with its line end.
        ([edit(10, 1, 11, 1, "")], (10, 10), []),
        # Lines that are put in before and behind.
        ([edit(10, 1, 10, 1, "new\n")], (10, 10), ["new", "  ten"]),
        ([edit(10, 6, 10, 6, "\n  more")], (10, 10), ["  ten", "  more"]),
        ([edit(11, 1, 11, 1, "new\n")], (10, 11), ["  ten", "new", "  eleven"]),
    ],
)
def test_suggestions(edits: list[Edit], where: tuple[int, int], lines: list[str]) -> None:
    found = offered(*edits)
    assert found is not None
    assert (found.anchor.first, found.anchor.last) == where
    assert found.anchor.side == "RIGHT"
    assert list(found.lines) == lines


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([edit(20, 1, 20, 5, "x")], "outside of the hunk"),
        ([edit(32, 1, 32, 5, "x")], "in another hunk"),
        ([edit(10, 3, 10, 6, "ten")], "nothing changes"),
        ([edit(10, 3, 10, 6, "x", path="b.sh")], "in another file"),
        ([edit(10, 3, 10, 6, "x"), edit(10, 3, 10, 6, "x", path="b.sh")], "in two files"),
        ([edit(10, 3, 10, 6, "x\u202ey")], "a character that turns the text around"),
        ([edit(10, 3, 10, 6, "x\u200by")], "a character that is not seen"),
        ([edit(10, 3, 10, 6, "x\x1b[31m")], "a control character"),
        ([edit(10, 3, 10, 6, "x" * 7_000)], "too long"),
        ([edit(10, 3, 10, 60, "x")], "a place that is not there"),
        ([edit(10, 3, 10, 5, "x"), edit(10, 4, 10, 6, "y")], "overlapping edits"),
        ([edit(9, 1, 99, 1, "x")], "more lines than the file has"),
        ([], "no edit"),
    ],
)
def test_no_suggestion(edits: list[Edit], why: str) -> None:
    assert offered(*edits) is None, why


def test_the_last_line_without_an_end() -> None:
    found = offered(edit(1, 1, 1, 4, "two"), line=1, old="a\n", new="one")
    assert found is not None
    assert found.lines == ("two",)
    assert offered(edit(1, 4, 1, 4, "\n"), line=1, old="a\n", new="one") is None
    found = offered(edit(2, 1, 2, 1, "two\n"), line=1, old="a\n", new="one\n")
    assert found is not None
    assert found.lines == ("one", "two")


def test_no_suggestion_on_deleted_lines_or_a_file() -> None:
    diff = read_diff([changed("a.sh", "@@ -1,2 +1,1 @@\n a\n-export KV_NAME=1")])
    one = finding("a.sh", 9, message="KV_NAME is not set", edits=[edit(1, 1, 1, 2, "b")])
    (placement,) = place_all([one], diff, lines_of({"a.sh": "a\n"}))
    assert placement.anchor is not None
    assert placement.anchor.side == "LEFT"
    assert suggest(placement, diff, {"a.sh": "a\n"}.get) is None
    assert offered(edit(25, 1, 25, 2, "x"), line=25) is None


def test_no_suggestion_for_carriage_returns() -> None:
    new = NEW.replace("\n", "\r\n")
    diff = read_diff([changed("a.sh", patch_of(OLD, NEW).replace("ten", "ten\r").replace("eleven", "eleven\r"))])
    assert offered(edit(10, 3, 10, 6, "TEN"), new=new, diff=diff) is None


def test_no_suggestion_on_lines_that_changed_since() -> None:
    diff = diff_of({"a.sh": OLD}, {"a.sh": NEW})
    assert offered(edit(10, 3, 10, 6, "TEN"), new=NEW.replace("ten", "pushed since"), diff=diff) is None


def test_no_suggestion_for_a_text_that_is_not_read() -> None:
    diff = diff_of({"a.sh": OLD}, {"a.sh": NEW})
    (placement,) = place_all([finding("a.sh", 10, edits=[edit(10, 3, 10, 6, "x")])], diff, lines_of({}))
    assert suggest(placement, diff, {}.get) is None


@pytest.mark.parametrize(
    ("lines", "block"),
    [
        ((), ["```suggestion", "```"]),
        (("  a",), ["```suggestion", "  a", "```"]),
        (("```",), ["````suggestion", "```", "````"]),
        (("echo `x` ````",), ["`````suggestion", "echo `x` ````", "`````"]),
    ],
)
def test_a_fence_that_no_line_ends(lines: tuple[str, ...], block: list[str]) -> None:
    found = offered(edit(10, 3, 10, 6, "TEN"))
    assert found is not None
    assert Suggestion(found.anchor, lines).markdown == block


def test_a_fix_is_shown_as_a_diff() -> None:
    one = finding("a.sh", 20, edits=[edit(20, 1, 20, 5, "LI\u202eNE"), edit(1, 1, 1, 5, "x", path="gone.sh")])
    assert shown_fix(one, {"a.sh": NEW}.get) == []
    one = finding("a.sh", 20, edits=[edit(20, 1, 20, 5, "LI\u202eNE")])
    shown = shown_fix(one, {"a.sh": NEW}.get)
    assert shown[:3] == ["--- a/a.sh", "+++ b/a.sh", "@@ -17,7 +17,7 @@"]
    assert "+LI\\u202eNE 19" in shown

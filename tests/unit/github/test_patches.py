"""Patches as GitHub gives them, and those that are made here where it gives none."""

from __future__ import annotations

import pytest
from review_samples import NEW_SCRIPT, OLD_SCRIPT, PATCH, changed, patch_of

from botlint.github.patches import Diff, FileDiff, compare, parse_patch, read_diff


def shown(lines: object) -> list[str]:
    marks = {"context": " ", "added": "+", "removed": "-"}
    return [f"{marks[one.kind]}{one.old or ''}:{one.new or ''}@{one.hunk} {one.text}" for one in lines]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("patch", "lines"),
    [
        ("@@ -1,2 +1,2 @@\n a\n-b\n+c", [" 1:1@0 a", "-2:@0 b", "+:2@0 c"]),
        ("@@ -1 +1 @@ def f():\n-b\n+c\n", ["-1:@0 b", "+:1@0 c"]),
        ("@@ -0,0 +1,2 @@\n+a\n+b", ["+:1@0 a", "+:2@0 b"]),
        ("@@ -4,2 +0,0 @@\n-a\n-b", ["-4:@0 a", "-5:@0 b"]),
        (
            "@@ -1,1 +1,2 @@\n a\n+b\n@@ -9,2 +10,1 @@\n c\n-d",
            [" 1:1@0 a", "+:2@0 b", " 9:10@1 c", "-10:@1 d"],
        ),
        # A line that looks like a header or a comment of the diff is content.
        (
            "@@ -1,2 +1,3 @@\n @@ -1 +1 @@\n---- a\n++++ b\n+\\ c",
            [" 1:1@0 @@ -1 +1 @@", "-2:@0 --- a", "+:2@0 +++ b", "+:3@0 \\ c"],
        ),
        (
            "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n\\ No newline at end of file",
            ["-1:@0 a", "+:1@0 a"],
        ),
        # An empty context line whose space was lost.
        ("@@ -1,3 +1,3 @@\n a\n\n-b\n+c", [" 1:1@0 a", " 2:2@0 ", "-3:@0 b", "+:3@0 c"]),
        ("", []),
    ],
)
def test_patches_are_read(patch: str, lines: list[str]) -> None:
    found, whole = parse_patch(patch)
    assert shown(found) == lines
    assert whole


@pytest.mark.parametrize(
    ("patch", "count"),
    [
        ("Binary files differ", 0),
        ("@@ -1,3 +1,3 @@\n a\n-b", 2),
        ("@@ -1,1 +1,1 @@\n a\n b", 1),
        ("@@ -1,1 +1,2 @@\n a\n-b", 1),
        ("@@ -1,2 +1,2 @@\n a\n?b", 1),
        ("@@ -x +y @@\n a", 0),
        ("@@ -1,99999999999 +1 @@\n a", 0),
    ],
)
def test_patches_that_break_off_keep_what_is_sure(patch: str, count: int) -> None:
    found, whole = parse_patch(patch)
    assert len(found) == count
    assert not whole


def test_carriage_returns_are_told_and_left_out() -> None:
    found, _ = parse_patch("@@ -1 +1 @@\n-a\r\n+b\r")
    assert [(one.text, one.carriage) for one in found] == [("a", True), ("b", True)]


def test_local_comparison_is_what_the_patch_says() -> None:
    found = compare(OLD_SCRIPT, NEW_SCRIPT)
    assert found is not None
    parsed, whole = parse_patch(patch_of(OLD_SCRIPT, NEW_SCRIPT))
    assert whole
    assert shown(found) == shown(parsed)


@pytest.mark.parametrize(
    ("old", "new", "lines"),
    [
        ("", "a\nb\n", ["+:1@0 a", "+:2@0 b"]),
        ("a\nb\n", "", ["-1:@0 a", "-2:@0 b"]),
        ("a", "a\n", ["-1:@0 a", "+:1@0 a"]),
        ("a\r\n", "a\n", ["-1:@0 a", "+:1@0 a"]),
        ("a\n", "a\n", []),
    ],
)
def test_texts_are_compared(old: str, new: str, lines: list[str]) -> None:
    found = compare(old, new)
    assert found is not None
    assert shown(found) == lines


def test_texts_that_differ_too_much_are_not_compared() -> None:
    assert compare("".join(f"a{n}\n" for n in range(3000)), "".join(f"b{n}\n" for n in range(3000))) is None


def one(diff: Diff) -> FileDiff:
    (found,) = diff.files.values()
    return found


def test_commentable_lines() -> None:
    found = one(read_diff([changed("a.sh", PATCH)]))
    assert min(found.right) == 6
    assert max(found.right) == 16
    assert sorted(found.removed) == [8, 9, 10, 13]


@pytest.mark.parametrize(
    ("status", "previous", "changes", "right", "removed", "known"),
    [
        ("added", None, 1, [1, 2, 3], [], True),
        ("removed", None, 1, [], [1, 2, 3], True),
        ("modified", None, 1, [2], [2], True),
        ("renamed", "old.sh", 1, [2], [2], True),
        ("renamed", "old.sh", 0, [], [], True),
    ],
)
def test_a_file_without_a_patch_is_compared_here(
    status: str, previous: str | None, changes: int, right: list[int], removed: list[int], known: bool
) -> None:
    base = {"a.sh" if previous is None else previous: "1\n2\n3\n"}
    head = {"a.sh": "1\nx\n3\n"}
    found = one(read_diff([changed("a.sh", None, status, previous, changes)], base.get, head.get))  # type: ignore[arg-type]
    # Of lines compared here only the changed ones are sure to be in git's hunks.
    assert sorted(found.right) == right
    assert sorted(found.removed) == removed
    assert found.known is known


@pytest.mark.parametrize(("base", "head"), [({}, {"a.sh": "x"}), ({"a.sh": "x"}, {})])
def test_a_file_that_is_not_read_has_no_lines(base: dict[str, str], head: dict[str, str]) -> None:
    diff = read_diff([changed("a.sh", None)], base.get, head.get)
    # Texts are read, and lines are missed, where lines are asked for.
    assert diff.unknown == ()
    assert not one(diff).right
    assert diff.unknown == ("a.sh",)


def test_texts_are_read_for_files_without_a_patch_only_when_needed() -> None:
    asked: list[str] = []
    diff = read_diff([changed("a.sh", None), changed("b.sh", PATCH), changed("c.sh", None)], asked.append, asked.append)
    assert asked == []
    assert diff.files["b.sh"].right
    assert not diff.files["a.sh"].lines
    assert not diff.files["a.sh"].known
    assert asked == ["a.sh", "a.sh"]


def test_no_texts_no_lines() -> None:
    assert not one(read_diff([changed("a.sh", None)])).known

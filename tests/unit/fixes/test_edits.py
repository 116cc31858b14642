"""Edits by span: what changes, what stays to the byte, and what is refused."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from botlint.core.finding import Edit, Fix
from botlint.core.span import Span
from botlint.fixes.diff import shown_diff, unified_diff
from botlint.fixes.edits import RefusedEdit, apply_edits, apply_fixes, compatible


def edit(line: int, column: int, end_line: int, end_column: int, text: str, path: str = "f") -> Edit:
    return Edit(Span(path, line, column, end_line, end_column), text)


@pytest.mark.parametrize(
    ("text", "edits", "expected"),
    [
        ("a: 1\nb: 2\n", [edit(2, 4, 2, 5, "3")], "a: 1\nb: 3\n"),
        ("a\nb\nc\n", [edit(2, 1, 3, 1, "")], "a\nc\n"),
        ("a\nb\nc\n", [edit(1, 1, 1, 1, "x\n"), edit(3, 2, 3, 2, "!")], "x\na\nb\nc!\n"),
        ("a\nb", [edit(2, 1, 3, 1, "")], "a\n"),
        ("a\nb", [edit(2, 2, 2, 2, "c")], "a\nbc"),
        ("a\nb\n", [edit(3, 1, 3, 1, "c\n")], "a\nb\nc\n"),
        ("a\r\nb\r\nc", [edit(2, 1, 2, 2, "x\ny")], "a\r\nx\r\ny\r\nc"),
        ("a\r\nb", [edit(2, 2, 2, 2, "\nc")], "a\r\nb\r\nc"),
        ("a\nb\r\n", [edit(1, 1, 1, 2, "x\ny")], "x\ny\nb\r\n"),
        ("\ufeffa: 1\n", [edit(1, 2, 1, 3, "b")], "\ufeffb: 1\n"),
        ("é模: 𝟙\u2028x\f\n", [edit(1, 5, 1, 6, "1")], "é模: 1\u2028x\f\n"),
        ("abc", [edit(1, 1, 1, 2, "x"), edit(1, 2, 1, 3, "y")], "xyc"),
        ("abc", [edit(1, 1, 1, 2, "x"), edit(1, 1, 1, 2, "x")], "xbc"),
        ("", [edit(1, 1, 1, 1, "x\n")], "x\n"),
        ("a\n", [], "a\n"),
    ],
)
def test_apply(text: str, edits: list[Edit], expected: str) -> None:
    assert apply_edits(text, edits) == expected
    assert apply_edits(text, reversed(edits)) == expected


@pytest.mark.parametrize(
    ("edits", "why"),
    [
        ([edit(1, 1, 1, 3, ""), edit(1, 2, 1, 4, "")], "overlap in line 1"),
        ([edit(1, 1, 3, 1, ""), edit(2, 1, 2, 2, "x")], "overlap in line 2"),
        ([edit(2, 1, 2, 1, "x"), edit(2, 1, 2, 1, "y")], "overlap in line 2"),
        ([edit(1, 1, 1, 2, "x"), edit(1, 1, 1, 2, "y")], "overlap"),
        ([edit(1, 2, 1, 2, "x"), edit(1, 2, 1, 3, "y")], "overlap"),
        ([edit(9, 1, 9, 1, "x")], "no line 9"),
        ([edit(0, 1, 1, 1, "x")], "no line 0"),
        ([edit(1, 0, 1, 1, "x")], "column 0"),
        ([edit(1, 6, 1, 6, "x")], "line 1 has no column 6"),
        ([edit(2, 1, 1, 1, "x")], "ends before it starts"),
    ],
)
def test_refused(edits: list[Edit], why: str) -> None:
    with pytest.raises(RefusedEdit, match=why):
        apply_edits("abcd\nabcd\n", edits)


def test_fixes_of_several_files() -> None:
    texts = {"a": "1\n", "b": "2\n", "c": "3\n"}
    fixes = [
        Fix("one", True, (edit(1, 1, 1, 2, "x", "a"), edit(1, 1, 1, 2, "y", "b"))),
        Fix("same", True, (edit(1, 1, 1, 2, "3", "c"),)),
    ]
    assert apply_fixes(texts, fixes) == {"a": "x\n", "b": "y\n"}


@pytest.mark.parametrize("path", ["absent", "../a", "/etc/passwd", ".git/config", "a\x00b"])
def test_fixes_outside_are_refused(path: str) -> None:
    texts = {path: "x\n"} if path != "absent" else {}
    with pytest.raises(RefusedEdit, match="to edit"):
        apply_fixes(texts, [Fix("f", True, (edit(1, 1, 1, 2, "y", path),))])


def test_fixes_that_do_not_fit_together_wait() -> None:
    texts = {"a": "abc\n", "b": "abc\n"}
    first = Fix("first", True, (edit(1, 1, 1, 3, "x", "a"),))
    overlaps = Fix("second", True, (edit(1, 2, 1, 4, "y", "a"), edit(1, 1, 1, 2, "z", "b")))
    third = Fix("third", True, (edit(1, 1, 1, 2, "q", "b"),))
    lost = Fix("lost", True, (edit(1, 1, 1, 2, "q", "absent"),))
    kept, refused = compatible(texts, [first, overlaps, third, lost])
    assert kept == [first, third]
    assert [(fix.title, why) for fix, why in refused] == [
        ("second", "edits overlap in line 1"),
        ("lost", "no file 'absent' to edit"),
    ]


# --- the diff


def test_diff() -> None:
    before = {"a.sh": "".join(f"{n}\n" for n in range(1, 21)), "b": "x\n", "same": "x"}
    after = {"a.sh": before["a.sh"].replace("3\n", "three\n", 1).replace("20\n", "20"), "b": "x\ny\n", "same": "x"}
    assert "".join(unified_diff(before, after)) == (
        "--- a/a.sh\n+++ b/a.sh\n@@ -1,6 +1,6 @@\n 1\n 2\n-3\n+three\n 4\n 5\n 6\n"
        "@@ -17,4 +17,4 @@\n 17\n 18\n 19\n-20\n+20\n\\ No newline at end of file\n"
        "--- a/b\n+++ b/b\n@@ -1 +1,2 @@\n x\n+y\n"
    )


def test_a_shown_diff_hides_nothing() -> None:
    lines = list(shown_diff({"a": "x\x1b[31m\n\tb\r\n"}, {"a": "x\x1b[32m\n\tb\r\n"}))
    assert lines == [
        ("file", "--- a/a"),
        ("file", "+++ b/a"),
        ("place", "@@ -1,2 +1,2 @@"),
        ("remove", "-x\\x1b[31m"),
        ("add", "+x\\x1b[32m"),
        ("same", "     b"),
    ]


TEXTS = st.lists(st.sampled_from(["a", "b", "é", "\r", "\f", "\u2028", "--- x", ""]), max_size=12).flatmap(
    lambda lines: st.sampled_from(["\n".join(lines), "\n".join(lines) + "\n"])
)


@pytest.mark.parametrize("path", ["plain", "with space/é.sh", 'qu"ote\\{x}'])
@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nb"),
        ("", "a\n"),
        ("a\n", ""),
        ("a\u2028b\f\nc\n", "a\u2028b\f\nd\n"),
    ],
)
def test_git_applies_the_diff(old: str, new: str, path: str, tmp_path: Path) -> None:
    target = tmp_path / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(old.encode())
    diff = "".join(unified_diff({path: old}, {path: new})).encode()
    command = ["git", "apply", "--whitespace=nowarn", "-"]
    done = subprocess.run(command, input=diff, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert target.read_bytes().decode() == new


def _patched(old: str, diff: list[str]) -> str:
    """What a reader of unified diffs makes of the old text."""
    lines = old.split("\n")
    source = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    made: list[str] = []
    at = 0
    for number, line in enumerate(diff[2:], 2):
        if line.startswith("@@ "):
            first, _, count = line.split()[1][1:].partition(",")
            start = int(first) - (0 if count == "0" else 1)
            made += source[at:start]
            at = start
            continue
        text = line[1:].removesuffix("\n\\ No newline at end of file\n")
        assert number
        if line[0] in " -":
            assert source[at] == text
            at += 1
        if line[0] in " +":
            made.append(text)
    return "".join([*made, *source[at:]])


@given(TEXTS, TEXTS)
def test_any_diff_leads_to_the_new_text(old: str, new: str) -> None:
    diff = list(unified_diff({"f": old}, {"f": new}))
    assert (_patched(old, diff) if diff else old) == new

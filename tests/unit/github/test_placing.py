"""Where findings are told."""

from __future__ import annotations

import pytest
from review_samples import (
    CONFIG,
    EXITS,
    HEAD,
    HEADS,
    MASTER,
    OLD_SCRIPT,
    SCRIPT,
    changed,
    diff_of,
    finding,
    lines_of,
)
from timing import within

from botlint.core.finding import Finding
from botlint.github.patches import Diff, read_diff
from botlint.github.placing import Anchor, place_all

BASE = {SCRIPT: OLD_SCRIPT, CONFIG: MASTER}
SEED = diff_of(BASE, HEAD)


def told(one: Finding, diff: Diff = SEED, head: dict[str, str] | None = None) -> str:
    (placement,) = place_all([one], diff, lines_of(head or dict(HEAD)))
    anchor = placement.anchor
    if anchor is None:
        return f"{placement.kind} {placement.path} ({placement.reason})"
    lines = str(anchor.first) if anchor.first == anchor.last else f"{anchor.first}-{anchor.last}"
    assert placement.kind == "inline"
    assert placement.path == anchor.path
    return f"{anchor.side} {anchor.path}:{lines} ({placement.reason})"


def test_the_removed_guard_and_the_removed_branch() -> None:
    assert told(HEADS) == f"RIGHT {SCRIPT}:23 (span)"
    # The branch `lmcache)` is gone: what the arm asks for stood in that deleted line.
    assert told(EXITS) == f"LEFT {SCRIPT}:9 (cause)"


def test_a_guard_that_is_removed_with_nothing_in_its_place() -> None:
    old = 'export LAYOUT=1\nif [ "$TP" -ne 4 ]; then export SHUFFLE_LAYOUT=0; fi\nserve\n'
    diff = diff_of({"a.sh": old}, {"a.sh": "export LAYOUT=1\nserve\n"})
    one = finding("a.sh", 1, message="SHUFFLE_LAYOUT is not set for tp 2")
    assert told(one, diff, {"a.sh": "export LAYOUT=1\nserve\n"}) == "LEFT a.sh:2 (cause)"


LONG = "".join(f"line {number}\n" for number in range(1, 101))
EDITED = LONG.replace("line 20\n", "one\ntwo\nthree\n").replace("line 60\n", "").replace("line 80\n", "eighty\n")
FAR = diff_of({"a.sh": LONG, "b.yaml": LONG}, {"a.sh": EDITED, "b.yaml": LONG.replace("line 5\n", "five\n")})
NEXT = {"a.sh": EDITED, "b.yaml": LONG.replace("line 5\n", "five\n")}


@pytest.mark.parametrize(
    ("one", "place"),
    [
        (finding("a.sh", 21), "RIGHT a.sh:21 (span)"),
        (finding("a.sh", 20, end=22), "RIGHT a.sh:20-22 (span)"),
        # Unchanged lines of a hunk can be commented, others cannot.
        (finding("a.sh", 25), "RIGHT a.sh:25 (span)"),
        (finding("a.sh", 26), "file a.sh (file)"),
        (finding("a.sh", 17), "RIGHT a.sh:17 (span)"),
        (finding("a.sh", 16), "file a.sh (file)"),
        # A span that sticks out of its hunk, or reaches into another one, is cut to one.
        (finding("a.sh", 15, end=21), "RIGHT a.sh:20-21 (span)"),
        (finding("a.sh", 24, end=82), "RIGHT a.sh:81 (span)"),
        # A long one is commented where it is new.
        (finding("a.sh", 1, end=100), "RIGHT a.sh:20-22 (span)"),
        # The related place is taken where the own one is not in the diff.
        (finding("c.sh", 1, related=[("b.yaml", 5, "the arm")]), "RIGHT b.yaml:5 (related)"),
        (finding("c.sh", 1, related=[("b.yaml", 6, "the arm")]), "RIGHT b.yaml:6 (related)"),
        (finding("c.sh", 1, related=[("b.yaml", 6, "x"), ("a.sh", 21, "y")]), "RIGHT a.sh:21 (related)"),
        (finding("a.sh", 50, related=[("b.yaml", 5, "the arm")]), "RIGHT b.yaml:5 (related)"),
        (finding("c.sh", 1, related=[("b.yaml", 50, "the arm")]), "file b.yaml (file)"),
        (finding("c.sh", 1, steps=("b.yaml:5  tp: 4  (tp: 4)",)), "RIGHT b.yaml:5 (step)"),
        (finding("c.sh", 1, steps=("b.yaml:6  tp: 4  (tp: 4)", "no place")), "summary  (outside)"),
        (finding("c.sh", 1), "summary  (outside)"),
        (finding("", 0), "summary  (outside)"),
        (finding("../../a.sh", 21), "summary  (outside)"),
    ],
)
def test_places(one: Finding, place: str) -> None:
    assert told(one, FAR, NEXT) == place


@pytest.mark.parametrize(
    ("message", "place"),
    [
        # A name that only deleted lines of another file had.
        ("KV_BACKEND is read, and nothing sets it", "LEFT lib.sh:2 (cause)"),
        # One that the file still has elsewhere is not missing.
        ("KV_SIZE is read, and nothing sets it", "summary  (outside)"),
        # Plain words count only if a related line has them.
        ("the export is gone", "summary  (outside)"),
    ],
)
def test_what_is_missing_is_told_where_it_was(message: str, place: str) -> None:
    old = "start\nexport KV_BACKEND=1\nexport KV_SIZE=2\n" + LONG + "use KV_SIZE\n"
    new = "start\n" + LONG + "use KV_SIZE\n"
    diff = diff_of({"lib.sh": old}, {"lib.sh": new})
    assert told(finding("recipe.sh", 7, message=message), diff, {"lib.sh": new, "recipe.sh": LONG}) == place


def test_a_deleted_file_has_only_old_lines() -> None:
    diff = diff_of({"benchmarks/x.sh": "a\nb\n"}, {})
    one = finding("runners/launch.sh", 7, message="there is no script benchmarks/x.sh")
    assert told(one, diff, {"runners/launch.sh": LONG}) == "LEFT benchmarks/x.sh:1 (cause)"


def test_a_renamed_file() -> None:
    pure = read_diff([changed("new/x.sh", None, "renamed", "old/x.sh", 0)])
    assert told(finding("new/x.sh", 1), pure) == "file new/x.sh (file)"
    one = finding("runners/launch.sh", 7, message="there is no script old/x.sh")
    assert told(one, pure) == "file new/x.sh (cause)"
    edited = read_diff([changed("new/x.sh", "@@ -1,2 +1,2 @@\n a\n-KV_NAME=1\n+b", "renamed", "old/x.sh")])
    assert told(finding("new/x.sh", 2), edited) == "RIGHT new/x.sh:2 (span)"
    # Deleted lines of a renamed file are told by its new name.
    one = finding("recipe.sh", 1, message="KV_NAME is not set")
    assert told(one, edited, {"new/x.sh": "a\nb\n"}) == "LEFT new/x.sh:2 (cause)"


def test_a_binary_file_is_told_on_the_file() -> None:
    assert told(finding("a.bin", 3), read_diff([changed("a.bin", None)])) == "file a.bin (file)"


def test_worst_first_and_the_rest_in_the_summary() -> None:
    some = [
        finding("a.sh", 20, severity="info", message="1"),
        finding("a.sh", 20, severity="warning", message="2"),
        finding("a.sh", 20, severity="error", certainty="possible", message="3"),
        finding("a.sh", 22, message="4"),
        finding("a.sh", 20, message="5"),
        finding("a.sh", 25, message="6", jobs=HEADS.jobs),
        finding("c.sh", 1, message="7", jobs=HEADS.jobs),
        finding("a.sh", 20, message="8", suppressed="it is right"),
    ]
    placed = place_all(reversed(some), FAR, lines_of(NEXT), limit=4)
    assert [(one.finding.message, one.kind, one.reason) for one in placed] == [
        ("6", "inline", "span"),
        ("7", "summary", "outside"),
        ("5", "inline", "span"),
        ("4", "inline", "span"),
        ("3", "inline", "span"),
        ("2", "summary", "capped"),
        ("1", "summary", "capped"),
    ]
    assert placed == place_all(some, FAR, lines_of(NEXT), limit=4)


def test_every_anchor_is_in_one_hunk_of_the_diff() -> None:
    for first in range(1, 101):
        for last in range(first, min(first + 30, 101)):
            (placement,) = place_all([finding("a.sh", first, end=last)], FAR, lines_of(NEXT))
            anchor = placement.anchor
            if anchor is None:
                continue
            assert anchor == Anchor("a.sh", "RIGHT", anchor.first, anchor.last)
            found = FAR.files["a.sh"].right
            assert len({found[number].hunk for number in range(anchor.first, anchor.last + 1)}) == 1


def test_only_files_that_may_tell_something_are_read() -> None:
    read: list[str] = []

    def lines(path: str) -> list[str]:
        read.append(path)
        return []

    files = [changed(f"f{number}.sh", f"@@ -1,2 +1,1 @@\n a\n-export KV_{number}=1") for number in range(50)]
    one = finding("recipe.sh", 3, message="KV_7 is not set")
    (placement,) = place_all([one], read_diff([*files, changed("huge.bin", None)]), lines)
    assert placement.anchor == Anchor("f7.sh", "LEFT", 2, 2)
    assert set(read) == {"recipe.sh", "f7.sh"}


@pytest.mark.parametrize("word", ["a" * 200_000, "1" * 200_000, "a" + "." * 200_000, "Ab" * 100_000])
def test_a_very_long_word_is_looked_at_once(word: str) -> None:
    with within(2):
        told(finding("a.sh", 1, message=f"{word} is not set"), FAR, NEXT)

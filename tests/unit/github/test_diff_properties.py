"""What holds for every diff: comments are on its lines, and a suggestion does what the fix does."""

from __future__ import annotations

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from review_samples import changed, diff_of, finding, lines_of, patch_of

from botlint.core.finding import Edit
from botlint.core.span import Span
from botlint.fixes.edits import RefusedEdit, apply_edits
from botlint.github.patches import compare, parse_patch, read_diff
from botlint.github.placing import MAX_RANGE, place_all
from botlint.github.suggestions import suggest

LINES = st.lists(
    st.sampled_from(["a", "b", "KV_A=1", "KV_B=2 KV_A", "", "  c", "-d", "+e", "@@ -1 +1 @@"]), max_size=40
)
QUICK = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def text(lines: list[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


@QUICK
@given(LINES, LINES)
def test_patches_name_the_lines_of_both_texts(old: list[str], new: list[str]) -> None:
    found, whole = parse_patch(patch_of(text(old), text(new)))
    compared = compare(text(old), text(new))
    assert whole
    assert compared is not None
    for lines in (found, compared):
        for line in lines:
            assert line.old is None or old[line.old - 1] == line.text
            assert line.new is None or new[line.new - 1] == line.text
        # What is left of the old text without the deleted lines, with the added ones, is the new text.
        removed = {line.old for line in lines if line.kind == "removed"}
        added = {line.new for line in lines if line.kind == "added"}
        kept = [line for number, line in enumerate(old, 1) if number not in removed]
        assert kept == [line for number, line in enumerate(new, 1) if number not in added]


@QUICK
@given(
    LINES,
    LINES,
    st.integers(1, 45),
    st.integers(0, 20),
    st.sampled_from(["KV_A is not set", "KV_B", "a b"]),
    st.booleans(),
)
def test_anchors_are_in_one_hunk(
    old: list[str], new: list[str], line: int, more: int, message: str, local: bool
) -> None:
    before, after = {"x.sh": text(old)}, {"x.sh": text(new)}
    diff = read_diff([changed("x.sh", None)], before.get, after.get) if local else diff_of(before, after)
    one = finding("x.sh", line, end=line + more if more else 0, message=message)
    (placement,) = place_all([one], diff, lines_of(after))
    anchor = placement.anchor
    if anchor is None:
        return
    lines = diff.files["x.sh"].right if anchor.side == "RIGHT" else diff.files["x.sh"].removed
    hunks = {lines[number].hunk for number in range(anchor.first, anchor.last + 1)}
    assert len(hunks) == 1
    assert anchor.last - anchor.first < MAX_RANGE
    if anchor.side == "LEFT":
        assert anchor.first == anchor.last


@QUICK
@given(LINES, LINES, st.data())
def test_a_suggestion_does_what_the_fix_does(old: list[str], new: list[str], data: st.DataObject) -> None:
    before, after = {"x.sh": text(old)}, {"x.sh": text(new)}
    edits = []
    for _ in range(data.draw(st.integers(1, 2))):
        line = data.draw(st.integers(1, len(new) + 1))
        end = data.draw(st.integers(line, min(line + 2, len(new) + 1)))
        columns = sorted(data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=2)))
        edits.append(
            Edit(Span("x.sh", line, columns[0], end, columns[1]), data.draw(st.sampled_from(["", "x", "y\nz", "\n"])))
        )
    diff = diff_of(before, after)
    (placement,) = place_all([finding("x.sh", edits[0].span.line, edits=edits)], diff, lines_of(after))
    found = suggest(placement, diff, after.get)
    if found is None:
        return
    try:
        fixed = apply_edits(after["x.sh"], edits)
    except RefusedEdit:
        raise AssertionError("a fix that cannot be applied was suggested") from None
    anchor = found.anchor
    assert text([*new[: anchor.first - 1], *found.lines, *new[anchor.last :]]) == fixed
    hunks = {diff.files["x.sh"].right[number].hunk for number in range(anchor.first, anchor.last + 1)}
    assert len(hunks) == 1

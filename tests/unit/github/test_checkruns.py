"""Check runs: conclusions, identity, annotations and their batches."""

from __future__ import annotations

from dataclasses import replace

import pytest
from review_samples import CONFIG, EVIL, EXITS, SCRIPT, WEB, finding
from test_summary import reviewed

from botlint.core.finding import Finding
from botlint.core.span import Span
from botlint.github.checkruns import (
    MAX_ANNOTATIONS,
    NAME,
    annotations_of,
    conclusion,
    external_id,
    failed_output,
    output,
)
from botlint.github.limits import units
from botlint.github.links import Links
from botlint.github.markers import SUMMARY
from botlint.github.models import Conclusion
from botlint.github.summary import Reviewed
from botlint.github.wording import ZH

LINKS = Links(WEB, "a" * 40, "b" * 40)


@pytest.mark.parametrize(
    ("one", "closed", "expected"),
    [
        (reviewed([finding()]), False, "failure"),
        (reviewed([finding(certainty="possible")]), False, "neutral"),
        (reviewed([finding(severity="warning")]), False, "neutral"),
        (reviewed([finding(severity="info")]), False, "success"),
        (reviewed([finding(suppressed="yes")]), False, "success"),
        (reviewed([finding(baselined="2026-01-01")]), False, "success"),
        (reviewed(), False, "success"),
        (reviewed(relevant=False), False, "success"),
        # A fault of botlint blocks nobody, unless that is asked for; what is certain blocks in any case.
        (reviewed(failures=["x"]), False, "neutral"),
        (reviewed(failures=["x"]), True, "failure"),
        (reviewed([finding()], failures=["x"]), False, "failure"),
        (reviewed([finding(severity="warning")]), True, "neutral"),
        (reviewed(), True, "success"),
        # A fail level of warnings.
        (reviewed([finding(severity="warning")], fails=True), False, "failure"),
    ],
)
def test_conclusions(one: Reviewed, closed: bool, expected: Conclusion) -> None:
    assert conclusion(one, fail_closed=closed) == expected


def test_the_name_never_changes() -> None:
    assert NAME == "botlint"


def test_identity() -> None:
    one = external_id("12", "a" * 40, {"b": 1, "a": [2]})
    assert one == external_id("12", "a" * 40, {"a": [2], "b": 1})
    assert one.startswith(f"12:{'a' * 40}:")
    assert (
        len(
            {
                one,
                *(external_id(*parts) for parts in (("13", "a" * 40, {}), ("12", "c" * 40, {}), ("12", "a" * 40, {}))),
            }
        )
        == 4
    )


def test_what_it_shows() -> None:
    found = output(reviewed([EXITS]), LINKS, ("en", "zh"))
    assert found.title == "1 error"
    assert found.summary.startswith("## botlint: 1 error")
    assert "简体中文" in found.summary
    # The check is no comment: its text is not looked for.
    assert SUMMARY not in found.summary
    (one,) = found.annotations
    assert (one.path, one.start_line, one.end_line, one.level, one.title) == (SCRIPT, 15, 15, "failure", "job-exits")
    assert one.message.split("\n") == [
        EXITS.message,
        f"{CONFIG}:8: an arm that ends so",
        f"{CONFIG}:2: its entry",
        f"2 jobs: {EXITS.entries[0]}",
        "Remedy: handle what the arm asks for in the script, or drop the arm",
    ]
    assert one.raw_details.startswith(f"1. {CONFIG}:8  - {{ tp: 4")


def test_chinese_first() -> None:
    found = output(reviewed([EXITS]), LINKS, ("zh",))
    assert found.title == "1 个错误"
    assert "处理方法： handle" in found.annotations[0].message


def test_a_fault_is_told_without_its_text() -> None:
    found = failed_output()
    assert found.title == "botlint could not finish"
    assert failed_output(ZH).title == "botlint 未能完成检查"


@pytest.mark.parametrize(
    ("one", "told"),
    [
        (finding("a.sh", 3, severity="warning"), ("a.sh", 3, 3, "warning", "some-rule")),
        (finding("a.sh", 3, severity="info"), ("a.sh", 3, 3, "notice", "some-rule")),
        (finding("a.sh", 3, certainty="possible"), ("a.sh", 3, 3, "failure", "some-rule (possible)")),
        (finding("a.sh", 3, end=6), ("a.sh", 3, 6, "failure", "some-rule")),
        (finding("a.sh", 3, suppressed="x"), None),
        (finding("", 0), None),
        (finding("gone.sh", 3), None),
    ],
)
def test_annotations(one: Finding, told: tuple[object, ...] | None) -> None:
    found = [
        (note.path, note.start_line, note.end_line, note.level, note.title)
        for note in annotations_of([one], {"a.sh"}.__contains__)
    ]
    assert found == ([] if told is None else [told])


def test_a_span_that_ends_before_a_line_ends_above_it() -> None:
    one = replace(finding("a.sh", 3), span=Span("a.sh", 3, 1, 5, 1))
    (note,) = annotations_of([one])
    assert (note.start_line, note.end_line) == (3, 4)


def test_the_worst_have_an_annotation() -> None:
    some = [finding("a.sh", 1, severity="warning")] * 500 + [finding("a.sh", 9)]
    found = list(annotations_of(some))
    assert len(found) == MAX_ANNOTATIONS
    assert found[0].level == "failure"


@pytest.mark.parametrize("text", [EVIL, "😀" * 90_000, "x\n" * 90_000, "\x00" * 90_000])
def test_no_annotation_is_too_long_or_hides_anything(text: str) -> None:
    one = finding(
        "a.sh", 1, message=text, steps=(text,) * 50, remedy=text, related=[("b.sh", 1, text)] * 50, rule="r" * 400
    )
    (note,) = annotations_of([one])
    assert len(note.message.encode()) < 64 * 1024
    assert len(note.raw_details.encode()) < 64 * 1024
    assert units(note.title) <= 255
    for shown in (note.message, note.raw_details):
        assert not set(shown) & set("\x00\x1b\u202e\u200b\ufeff\r")

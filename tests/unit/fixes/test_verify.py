"""Fixes that help are kept, those that do not are withdrawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pytest

from botlint.core.finding import Edit, Finding, Fix
from botlint.core.span import Span
from botlint.fixes.verify import MAX_CHECKS, judge, problems, unread, verified


def finding(
    rule: str = "rule", path: str = "f.sh", subject: str = "", line: int = 1, text: str | None = None
) -> Finding:
    span = Span(path, line, 1, line, 2)
    fix = None if text is None else Fix("fix", True, (Edit(span, text),))
    return Finding(rule, "error", "certain", "m", span, fix=fix)


def words(bad: str) -> object:
    """A check that reports each line with a word of `bad`, named after the word."""

    def check(texts: Mapping[str, str]) -> Sequence[Finding]:
        return [
            finding(word, path, line=number)
            for path, text in texts.items()
            for number, line in enumerate(text.split("\n"), 1)
            for word in bad.split()
            if word in line
        ]

    return check


@pytest.mark.parametrize(
    ("before", "after", "mended", "reason"),
    [
        ("a b", "b", "a", None),
        ("a b", "", "a", None),
        ("a a", "a", "a", None),
        ("a a", "a a", "a", "the finding stays: a"),
        ("a", "a", "a", "the finding stays: a"),
        ("a", "b", "a", "a finding appears: b"),
        ("a b", "b b", "a", "a finding appears: b"),
        ("", "", "", None),
    ],
)
def test_judge(before: str, after: str, mended: str, reason: str | None) -> None:
    def made(text: str) -> list[Finding]:
        return [finding(name) for name in text.split()]

    said = [one.reason for one in judge(made(before), made(after), made(mended))]
    assert said == ([] if reason is None else [f"{reason} in f.sh"])


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.yaml", "a: 1\na: 2\n", ["duplicate-key"]),
        ("a.yml", "a: [1\n", ["yaml-syntax"]),
        ("a.yaml", "a: 1\n---\nb: 1\nb: 2\n", ["duplicate-key"]),
        ("a.yaml", "", []),
        ("a.sh", "if true; then\n", ["syntax error: unexpected end of file"]),
        ("a.sh", "echo a\n", []),
        ("run", "#!/bin/bash\n)\n", ["syntax error near unexpected token `)'"]),
        ("a.txt", ") { [", []),
    ],
)
def test_problems(path: str, text: str, expected: list[str]) -> None:
    assert problems(path, text) == expected


def test_unread() -> None:
    before = {"a.yaml": "a: 1\na: 2\n", "b.sh": "echo\n"}
    assert unread(before, {"a.yaml": "a: 1\na: 3\n"}) == []
    assert unread(before, {"a.yaml": "a: 1\n"}) == []
    (fault,) = unread(before, {"b.sh": "(\n"})
    assert fault.reason == "b.sh would no longer read well: syntax error: unexpected end of file"


def test_good_fixes_are_kept_and_bad_ones_withdrawn() -> None:
    texts = {"f.sh": "x\ny\nz\nx\n"}
    check = words("x y z bad")
    before = check(texts)  # type: ignore[operator]
    chosen = [
        finding("x", line=1, text="ok"),
        finding("y", line=2, text="bad"),
        finding("z", line=3, text="("),
        finding("x", line=4, text="ok"),
        finding("x", line=1, text="other"),
        finding("y", line=2),
    ]
    outcome = verified(texts, before, chosen, check)  # type: ignore[arg-type]
    assert outcome.changed == {"f.sh": "ok\ny\nz\nok\n"}
    assert [one.span.line for one in outcome.mended] == [1, 4]
    assert {one.reason for one in outcome.withdrawn} == {
        "edits overlap in line 1",
        "a finding appears: bad in f.sh",
        "f.sh would no longer read well: syntax error: unexpected end of file",
    }


def test_a_finding_that_stays_withdraws_its_fix() -> None:
    texts = {"f.sh": "x\n"}
    outcome = verified(texts, [finding("x")], [finding("x", text="y")], lambda _: [finding("x")])
    assert (outcome.changed, outcome.mended) == ({}, ())
    assert outcome.withdrawn[0].reason == "the finding stays: x in f.sh"


def test_one_check_is_enough_when_all_is_well() -> None:
    texts = {f"{n}.sh": "x\n" for n in range(50)}
    calls = []

    def check(changed: Mapping[str, str]) -> Sequence[Finding]:
        calls.append(1)
        return []

    found = [finding("x", path, text="y") for path in texts]
    assert len(verified(texts, found, found, check).mended) == 50
    assert len(calls) == 1


def test_few_checks_find_the_bad_fixes() -> None:
    texts = {f"{n}.sh": "x\n" for n in range(64)}
    calls = []

    def check(changed: Mapping[str, str]) -> Sequence[Finding]:
        calls.append(1)
        stays = [finding("x", path) for path, text in changed.items() if path == "7.sh" and text != "x\n"]
        new = [finding("new", path) for path, text in changed.items() if path == "30.sh" and text != "x\n"]
        return [*stays, *new]

    found = [finding("x", path, text="y") for path in texts]
    outcome = verified(texts, found, found, check)
    assert {one.finding.span.path: one.reason for one in outcome.withdrawn} == {
        "7.sh": "the finding stays: x in 7.sh",
        "30.sh": "a finding appears: new in 30.sh",
    }
    assert len(outcome.mended) == 62
    assert len(calls) == 4


def test_checks_are_bounded() -> None:
    texts = {f"{n}.sh": "x\n" for n in range(50)}
    calls = []

    def check(changed: Mapping[str, str]) -> Sequence[Finding]:
        calls.append(1)
        return [finding("new")]

    found = [finding("x", path, text="y") for path in texts]
    outcome = verified(texts, found, found, check)
    assert (outcome.changed, len(outcome.withdrawn)) == ({}, 50)
    assert len(calls) == MAX_CHECKS

"""Comments that allow findings: which they reach, and what is said of the comments themselves."""

from __future__ import annotations

import pytest
from timing import within

from botlint.core.finding import Finding, Related
from botlint.core.ruleinfo import RuleInfo
from botlint.core.span import Span
from botlint.engine.suppressions import MAX_DIRECTIVES, read_suppressions, suppress, suppressions_of
from botlint.fixes.edits import apply_fixes
from botlint.repo.memory import MemoryFiles

RULES = [
    RuleInfo("BL1", "one", "first", "error", aliases=("uno",)),
    RuleInfo("BL2", "two", "first", "error"),
    RuleInfo("BL3", "three", "second", "error"),
]
RAN = {"one", "two", "three"}


def at(line: int, rule: str = "one", path: str = "f.sh", last: int = 0) -> Finding:
    return Finding(rule, "error", "certain", "m", Span(path, line, 1, last or line, 5))


def allowed(text: str, path: str = "f.sh", rule: str = "one") -> list[int]:
    """The lines of a text on which a finding is suppressed."""
    suppressions = suppressions_of(text, path)
    found = [at(line, rule, path) for line in range(1, text.count("\n") + 2)]
    return [one.span.line for one in suppress(found, suppressions, RULES, ran=None) if one.suppressed is not None]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a  # botlint: ignore[one]\nb\n", [1]),
        ("a  #botlint:ignore[ one ]--why\nb\n", [1]),
        ("a\n# botlint: ignore[one]\nb\nc\n", [3]),
        ("# botlint: ignore[one]\n\n# more\nb\nc\n", [4]),
        ("# botlint: ignore[one]\n# botlint: ignore[two]\nb\n", [3]),
        ("a  # as `# botlint: ignore[one]` does\n# '# botlint: ignore[one]'\nb\n", []),
        ("a\n# botlint: ignore-file[one]\nb", [1, 2, 3]),
        ("a\n# botlint: begin-ignore[one]\nb\nc\n# botlint: end-ignore\nd\n", [2, 3, 4, 5]),
        ("a  # see 12 # botlint: ignore[one]\nb\n", [1]),
        ("# botlint: ignore[one]\na \\\n  b \\\n  c\nd\n", [2, 3, 4]),
        ("a \\\n  b  # botlint: ignore[one]\nc\n", [1, 2]),
        ("a \\\\\nb  # botlint: ignore[one]\n", [2]),
        ("a  # botlint: ignore[one]\r\nb\r\n", [1]),
        ("a\n# botlint: ignore[one]", [2]),
        ("echo '# botlint: ignore[one]'\n", []),
        ('x="\n# botlint: ignore-file[one]\n"\n', []),
        ("cat <<EOF\n# botlint: ignore-file[one]\nEOF\n", []),
        ("a  # botlint: ignore[two]\n", []),
        ("a  # botlint: ignore\n", []),
        ("a  # botlint: ignore[one] because\n", []),
    ],
)
def test_lines_of_a_script(text: str, lines: list[int]) -> None:
    assert allowed(text) == lines


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("a: 1  # botlint: ignore[one]\nb: 2\n", [1]),
        ("# botlint: ignore[one]\na: 1\nb: 2\n", [2]),
        ("a: '# botlint: ignore-file[one]'\n", []),
        ("a: |\n  # botlint: ignore-file[one]\n  x\nb: 1\n", []),
        ("a: x \\\nb: 1  # botlint: ignore[one]\n", [2]),
    ],
)
def test_lines_of_yaml(text: str, lines: list[int]) -> None:
    assert allowed(text, "f.yaml") == lines


@pytest.mark.parametrize("name", ["one", "BL1", "uno", "first", "two, one", "nonsense,one"])
def test_names(name: str) -> None:
    assert allowed(f"a  # botlint: ignore[{name}]\n") == [1]


@pytest.mark.parametrize(
    ("path", "text", "number"),
    [
        ("run", "#!/usr/bin/env bash\na # botlint: ignore[one]\n", 1),
        ("run", "#!/usr/bin/env python3\n# botlint: ignore[one]\n", 0),
        ("a.py", "# botlint: ignore[one]\n", 0),
        ("a.md", "# botlint: ignore[one]\n", 0),
    ],
)
def test_kinds_of_files(path: str, text: str, number: int) -> None:
    assert len(suppressions_of(text, path)) == number


def test_any_span_of_a_finding_counts() -> None:
    suppressions = suppressions_of("a\nb  # botlint: ignore[one] -- why\nc\n", "f.sh")
    spans = [at(1, last=3), at(1), at(3)]
    related = Finding("one", "error", "certain", "m", Span("g", 9, 1, 9, 2), related=(Related(at(2).span, "here"),))
    up_to = Finding("one", "error", "certain", "m", Span("f.sh", 1, 1, 2, 1))
    done = suppress([*spans, related, up_to], suppressions, RULES, ran=None)
    assert {(one.span.path, one.span.line, one.span.end_line): one.suppressed for one in done} == {
        ("f.sh", 1, 3): "why",
        ("f.sh", 1, 1): None,
        ("f.sh", 3, 3): None,
        ("f.sh", 1, 2): None,
        ("g", 9, 9): "why",
    }


def test_a_given_reason_wins() -> None:
    text = "# botlint: ignore-file[first]\na  # botlint: ignore[one] -- because\n"
    (one,) = suppress([at(2)], suppressions_of(text, "f.sh"), RULES, ran=None)
    assert one.suppressed == "because"


# --- findings about comments


def about(text: str, findings: list[Finding], path: str = "f.sh", **options: object) -> list[Finding]:
    arguments: dict[str, object] = {"ran": RAN, **options}
    done = suppress(findings, suppressions_of(text, path), RULES, **arguments)  # type: ignore[arg-type]
    return [one for one in done if one.rule not in RAN]


@pytest.mark.parametrize(
    ("text", "rules", "fixed"),
    [
        ("a  # botlint: ignore[one] -- x\nb\n", [], None),
        ("a\n# botlint: ignore[one]\nb\n", ["unused-suppression"], "a\nb\n"),
        ("a\nb  # botlint: ignore[two] -- x\n", ["unused-suppression"], "a\nb\n"),
        ("a # botlint: ignore[one, two]\n", ["unused-suppression"], "a # botlint: ignore[one]\n"),
        ("a # botlint: ignore[one,two,BL3] -- x\n", ["unused-suppression"], "a # botlint: ignore[one] -- x\n"),
        ("a # note # botlint: ignore[two]\n", ["unused-suppression"], "a # note\n"),
        ("a\n# note # botlint: ignore[two]\nb\n", ["unused-suppression"], "a\n# note\nb\n"),
        ("a\n# botlint: begin-ignore[two]\nb\n# botlint: end-ignore\nc\n", ["unused-suppression"], "a\nb\nc\n"),
        ("a\r\n# botlint: ignore[two]\r\nb\r\n", ["unused-suppression"], "a\r\nb\r\n"),
        ("a\n# botlint: ignore[two]", ["unused-suppression"], "a\n"),
        ("a # botlint: ignore[oen]\n", ["unknown-suppression"], "a\n"),
        ("a # botlint: ignore[one, oen]\n", ["unknown-suppression"], "a # botlint: ignore[one]\n"),
        ("a # botlint: ignore\n", ["unknown-suppression"], "a\n"),
        ("a # botlint: ignore[]\n", ["unknown-suppression"], "a\n"),
        ("a # botlint: ignore[one] no dashes\n", ["unknown-suppression"], "a\n"),
        ("a # botlint: ignroe[one]\n", ["unknown-suppression"], "a\n"),
        ("a # botlint: disable-ignore[one]\n", ["unknown-suppression"], "a\n"),
        ("# botlint: begin-ignore[one]\na\n", ["unknown-suppression"], "a\n"),
        ("a\n# botlint: end-ignore\n", ["unknown-suppression"], "a\n"),
        ("a # botlint: checks this file\n", [], None),
        (
            "a # botlint: ignore[one]\n# botlint: ignore-file[suppression]\n",
            ["unused-suppression"],
            "a # botlint: ignore[one]\n",
        ),
    ],
)
def test_findings_about_comments(text: str, rules: list[str], fixed: str | None) -> None:
    found = about(text, [at(1)])
    assert [one.rule for one in found] == rules
    assert all(one.fingerprint and one.fix is not None and one.fix.safe for one in found)
    if fixed is not None:
        assert apply_fixes({"f.sh": text}, [one.fix for one in found if one.fix])["f.sh"] == fixed


def test_a_name_close_to_a_rule_is_offered() -> None:
    (one,) = about("a # botlint: ignore[oen]\n", [])
    assert one.message == "no rule or family is called 'oen' (did you mean 'one'?)"
    assert (one.span.column, one.span.end_column) == (21, 24)


def test_comments_for_rules_that_did_not_run_are_left_alone() -> None:
    text = "a # botlint: ignore[one]\nb # botlint: ignore[first]\n"
    assert about(text, [], ran={"two"}) == []
    assert about(text, [], ran=None) == []
    assert [one.span.line for one in about(text, [], ran={"one"})] == [1]


def test_an_unused_comment_can_be_allowed() -> None:
    text = "# botlint: ignore-file[unused-suppression] -- later\na # botlint: ignore[one]\n"
    (one,) = about(text, [])
    assert (one.rule, one.suppressed) == ("unused-suppression", "later")


def test_reasons_are_demanded() -> None:
    text = "a # botlint: ignore[one]\nb # botlint: ignore[one] -- why\nc # botlint: ignore[one, suppression] --\n"
    found = about(text, [at(1), at(2), at(3)], require_reason=True)
    missing = [one for one in found if one.rule == "suppression-without-reason"]
    assert [(one.span.line, one.suppressed, one.severity) for one in missing] == [
        (1, None, "error"),
        (3, None, "error"),
    ]


def test_all_files_of_a_revision_are_read() -> None:
    files = MemoryFiles(
        {
            "a.sh": "a # botlint: ignore[one]\n",
            "b/c.yml": "a: 1 # botlint: ignore[one]\n",
            "d.txt": "# botlint: ignore[one]\n",
            "run": "#!/bin/sh\n# botlint: ignore[one]\n",
            "latin.sh": "# é\na # botlint: ignore[one]\n".encode("latin-1"),
        }
    )
    assert [one.span.path for one in read_suppressions(files)] == ["a.sh", "b/c.yml", "latin.sh"]
    assert [one.span.path for one in read_suppressions(files, ["run", "absent"])][-1] == "run"


def test_findings_about_one_comment_have_fingerprints_of_their_own() -> None:
    text = "a # botlint: ignore[one, two, suppression, nonsense]\nb # botlint: ignore[one, two]\n"
    found = about(text, [])
    assert len(found) == 3
    assert len({one.fingerprint for one in found}) == 3


@pytest.mark.parametrize(
    "text",
    [
        "# botlint: ignore[one]\n" * 900 + "#\n" * 100_000 + "a\n",
        "# botlint: ignore[one]\n" * 900 + "a \\\n" * 100_000,
        "a  # botlint: ignore[one]\n" * 900 + "b\n" * 100_000,
    ],
    ids=["comments", "a long command", "code"],
)
def test_many_comments_take_little_time(text: str) -> None:
    with within(3):
        assert len(suppressions_of(text, "f.sh")) == 900


def test_comments_beyond_the_limit_are_told() -> None:
    beyond = MAX_DIRECTIVES + 1
    comments = suppressions_of("a  # botlint: ignore[one]\n" * (beyond + 5), "f.sh")
    found = suppress([at(1), at(beyond)], comments, RULES, ran=RAN)
    assert [one.span.line for one in found if one.rule == "one" and one.suppressed is None] == [beyond]
    assert [one.span.line for one in found if one.rule == "unknown-suppression"] == [beyond]

"""What settings, comments and the baseline make of findings, for a revision and for a change."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date

import pytest

from botlint.core.errors import UsageError
from botlint.core.finding import Report
from botlint.engine.baseline import accept, write_baseline
from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.policy import Policy, make_policy
from botlint.engine.rules import builtin_rules
from botlint.engine.settings import read_settings
from botlint.repo.memory import MemoryFiles

RULE = """\
id: XY001
name: source-missing
severity: error
scope: file
view: source_statement
require: "false"
message: "there is no {source_statement.target}"
why: The script ends here.
sources: []
fix: {title: remove the line, safe: true, edits: [{at: path, text: "", line: true}]}
examples:
  - {name: silent, files: {benchmarks/a.sh: "echo"}}
"""
ARM = "benchmarks/a.sh"
SCRIPT = "#!/usr/bin/env bash\nsource benchmarks/lost.sh\necho\n"


def policy(files: MemoryFiles, **options: bool) -> Policy:
    return make_policy(files, read_settings(files), [], list, **options)


def checked(head: Mapping[str, str], base: Mapping[str, str] | None = None, settings: str = "version: 1\n") -> Report:
    shared = {".botlint/rules/source-missing.yaml": RULE, ".botlint.yaml": settings}
    before = None if base is None else Context(MemoryFiles({**shared, **base}), lambda planner, jobs: [])
    files = MemoryFiles({**shared, **head})
    made = policy(files)
    return check(Context(files, lambda planner, jobs: [], before), made.rules, made.adjust)


def told(report: Report) -> list[tuple[str, str, bool]]:
    return [(one.rule, one.severity, one.counts) for one in report.findings]


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ("version: 1\n", [("source-missing", "error", True)]),
        ("version: 1\nrules: {source-missing: info}\n", [("source-missing", "info", True)]),
        ("version: 1\nrules: {custom: warning}\n", [("source-missing", "warning", True)]),
        ("version: 1\nrules: {XY001: off}\n", []),
        ("version: 1\npaths: {exclude: [benchmarks]}\n", []),
        ("version: 1\npaths: {exclude: [runners]}\n", [("source-missing", "error", True)]),
    ],
)
def test_settings(settings: str, expected: list[tuple[str, str, bool]]) -> None:
    assert told(checked({ARM: SCRIPT}, settings=settings)) == expected


def test_a_comment_and_the_count() -> None:
    report = checked({ARM: SCRIPT.replace("lost.sh", "lost.sh  # botlint: ignore[XY001] -- made later")})
    assert [one.suppressed for one in report.findings] == ["made later"]
    assert (report.summary.errors, report.summary.suppressed) == (0, 1)


def test_findings_about_comments_have_levels_too() -> None:
    script = "echo  # botlint: ignore[XY001]\n"
    assert told(checked({ARM: script})) == [("unused-suppression", "warning", True)]
    assert told(checked({ARM: script}, settings="version: 1\nrules: {suppression: error}\n")) == [
        ("unused-suppression", "error", True)
    ]
    assert told(checked({ARM: script}, settings="version: 1\nrules: {unused-suppression: off}\n")) == []
    # A rule that is off says nothing about its comments.
    assert told(checked({ARM: script}, settings="version: 1\nrules: {XY001: off}\n")) == []


def test_the_baseline() -> None:
    whole = checked({ARM: SCRIPT})
    baseline = "".join(write_baseline(accept(whole.findings, {}, date(2026, 1, 31))))
    files = {ARM: "#!/usr/bin/env bash\n\n\nsource benchmarks/lost.sh\n", ".botlint/baseline.json": baseline}
    report = checked(files)
    assert [one.baselined for one in report.findings] == ["2026-01-31"]
    assert (report.summary.errors, report.summary.baselined) == (0, 1)
    again = MemoryFiles({**files, ".botlint/rules/r.yaml": RULE})
    made = policy(again, with_baseline=False)
    plain = check(Context(again, lambda planner, jobs: []), made.rules, made.adjust)
    assert [one.baselined for one in plain.findings] == [None]


ALLOWED = SCRIPT.replace("lost.sh", "lost.sh  # botlint: ignore[XY001] -- made later")


@pytest.mark.parametrize(
    ("base", "head", "expected"),
    [
        (SCRIPT, SCRIPT, []),
        ("echo\n", SCRIPT, [("source-missing", "error", True)]),
        (ALLOWED, ALLOWED, []),
        # The change takes away what allowed the finding.
        (ALLOWED, SCRIPT, [("source-missing", "error", True)]),
        (SCRIPT, ALLOWED, []),
        ("echo\n", ALLOWED, [("source-missing", "error", False)]),
        # A comment that was of no use before is not brought by the change.
        ("echo # botlint: ignore[XY001]\n", "echo # botlint: ignore[XY001]\necho\n", []),
        (ALLOWED, "echo\n# botlint: ignore[XY001]\necho\n", [("unused-suppression", "warning", True)]),
    ],
)
def test_a_change(base: str, head: str, expected: list[tuple[str, str, bool]]) -> None:
    assert told(checked({ARM: head}, {ARM: base})) == expected


def test_names_in_the_settings_must_exist() -> None:
    with pytest.raises(UsageError, match="did you mean 'source-missing'"):
        checked({ARM: SCRIPT}, settings="version: 1\nrules: {source-mising: off}\n")


def test_a_broken_custom_rule_is_wrong_usage() -> None:
    with pytest.raises(UsageError, match="custom rules cannot be used"):
        policy(MemoryFiles({".botlint/rules/x.yaml": "id: XY001\n"}))


@pytest.mark.parametrize(
    ("layout", "settings", "runs"),
    [
        ("inferencex", "", True),
        ("plain", "", False),
        ("plain", "rules: {policy: warning}\n", True),
        ("inferencex", "rules: {policy: off}\n", False),
    ],
)
def test_rules_of_one_layout_are_off_elsewhere(layout: str, settings: str, runs: bool) -> None:
    files = MemoryFiles({".botlint.yaml": f"version: 1\nlayout: {layout}\n{settings}"})
    known = builtin_rules()
    made = make_policy(files, read_settings(files), known, list)
    families = {rule.family for rule in made.rules}
    assert ("policy" in families) is runs
    assert {"catalog", "environment", "launch"} <= families

"""The head is judged by the settings, rules and baseline of its base."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from botlint.engine.baseline import SCHEMA
from botlint.github.analysis import MAX_BASES, Analysis, Kept, analyse
from botlint.repo.memory import MemoryFiles

EXAMPLES = Path(__file__).resolve().parents[3] / "examples"


def folder(root: Path) -> dict[str, str]:
    return {
        path.relative_to(root).as_posix(): path.read_text()
        for path in root.rglob("*")
        if path.is_file() and "demo" not in path.relative_to(root).parts[:1]
    }


BROKEN = folder(EXAMPLES)
HEALTHY = BROKEN | folder(EXAMPLES / "demo" / "healthy")
KEPT = Kept()


def run(
    head: Mapping[str, str | None] | None = None, base: Mapping[str, str] | None = None, **options: Mapping[str, str]
) -> Analysis:
    """Analyses the change that breaks the examples, with other files laid over both revisions."""
    under = MemoryFiles(HEALTHY | dict(base or {}), label=f"base {sorted((base or {}).items())}")
    return analyse(under, MemoryFiles(BROKEN | dict(base or {}) | dict(head or {}), label="head"), KEPT, **options)


def rules(analysis: Analysis) -> set[str]:
    return {one.rule for one in analysis.report.findings if one.counts and one.severity == "error"}


PLANTED = {"shuffled-kv-heads", "job-exits"}


def test_findings_plan_diff_and_verdict() -> None:
    analysis = run()
    assert rules(analysis) == PLANTED
    assert analysis.failing
    assert analysis.diff is not None
    assert analysis.diff.changed == 5
    assert analysis.report.summary.jobs > 5
    assert set(analysis.rules) >= PLANTED


@pytest.mark.parametrize(
    "head",
    [
        {".botlint.yaml": "version: 1\nrules: {shuffled-kv-heads: off, job-exits: off}\n"},
        {".botlint.yaml": "version: 1\npaths: {exclude: ['**']}\n"},
        {".botlint.yaml": "version: 1\nfail-level: nonsense\n"},
        {".botlint.yaml": "&a [" * 5000},
        {".botlint/rules/x.yaml": "id: nonsense"},
    ],
)
def test_settings_and_rules_of_the_head_do_not_count(head: Mapping[str, str]) -> None:
    analysis = run(head)
    assert rules(analysis) >= PLANTED
    assert analysis.failing
    assert analysis.broken is None


def test_a_baseline_of_the_head_does_not_count() -> None:
    found = run().report.findings
    grown = json.dumps(
        {
            "schema": SCHEMA,
            "findings": [
                {"fingerprint": one.fingerprint, "rule": one.rule, "path": one.span.path, "since": "2026-01-01"}
                for one in found
            ],
        }
    )
    assert rules(run({".botlint/baseline.json": grown})) >= PLANTED
    assert not rules(run(base={".botlint/baseline.json": grown}))


def test_settings_of_the_base_count() -> None:
    base = {".botlint.yaml": "version: 1\nrules: {shuffled-kv-heads: off}\nlanguages: [en, zh]\n"}
    analysis = run({".botlint.yaml": None}, base)
    assert rules(analysis) == PLANTED - {"shuffled-kv-heads"}
    assert analysis.settings.languages == ("en", "zh")


@pytest.mark.parametrize(
    "base",
    [
        {".botlint.yaml": "version: 1\nnonsense: 1\n"},
        {".botlint/rules/x.yaml": "id: nonsense"},
        {".botlint/baseline.json": "{"},
    ],
)
def test_a_base_whose_settings_are_wrong_is_said_to_be(base: Mapping[str, str]) -> None:
    analysis = run(base=base)
    assert analysis.broken is not None
    assert ".botlint" in analysis.broken
    assert analysis.report.findings == ()


def test_what_a_maintainer_allowed_does_not_count() -> None:
    (one,) = [finding for finding in run().report.findings if finding.rule == "job-exits"]
    analysis = run(ignored={one.fingerprint: "known"})
    assert rules(analysis) == PLANTED - {"job-exits"}
    assert analysis.report.summary.suppressed == 1


def test_a_base_is_analysed_once_and_forgotten_in_time() -> None:
    kept = Kept()
    bases = [MemoryFiles({"configs/a-master.yaml": "{}"}, label=f"b{number}") for number in range(MAX_BASES + 1)]
    for base in (bases[0], bases[0], *bases):
        analyse(base, MemoryFiles({}, label="h"), kept)
    assert list(kept.bases) == [base.label for base in bases[1:]]


def test_lines_end_where_spans_say() -> None:
    analysis = analyse(MemoryFiles({}, label="b"), MemoryFiles({"a.sh": "x\r\ny\x0cz\n"}, label="h"))
    assert analysis.lines("a.sh") == ["x\r", "y\x0cz", ""]
    assert analysis.lines("b.sh") is None
    assert analysis.base_text("a.sh") is None

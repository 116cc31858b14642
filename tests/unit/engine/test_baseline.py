"""The baseline: what it accepts, keeps and drops."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import jsonschema
import pytest

from botlint.core.errors import UsageError
from botlint.core.finding import Finding, Summary, summarize, with_fingerprints
from botlint.core.span import Span
from botlint.engine.baseline import accept, apply_baseline, parse_baseline, prune, read_baseline, write_baseline
from botlint.repo.memory import MemoryFiles

ROOT = Path(__file__).resolve().parents[3]
DAY = date(2026, 1, 31)
LATER = date(2026, 3, 1)


def found(*lines: int, rule: str = "rule", path: str = "f.sh", subject: str = "") -> list[Finding]:
    return [Finding(rule, "error", "certain", f"line {n}", Span(path, n, 1, n, 2), subject) for n in lines]


def written(findings: list[Finding], day: date = DAY) -> str:
    return "".join(write_baseline(accept(findings, {}, day)))


def test_written_and_read_again() -> None:
    findings = with_fingerprints([*found(1, 5), *found(2, rule="é", path="ü.sh")])
    text = written(findings)
    baseline = parse_baseline(text, "b.json")
    assert baseline == accept(findings, {}, DAY)
    assert text.count("\n") == 5
    schema = json.loads((ROOT / "schemas" / "baseline.schema.json").read_text(encoding="utf-8"))
    for one in (text, written([])):
        jsonschema.Draft202012Validator(schema).validate(json.loads(one))
    assert parse_baseline(written([]), "b.json") == {}


def test_moved_lines_and_new_words_stay_accepted() -> None:
    baseline = accept(with_fingerprints(found(1, 5)), {}, DAY)
    moved = with_fingerprints([replace(one, message="other words") for one in found(11, 25)])
    assert [one.baselined for one in apply_baseline(moved, baseline)] == ["2026-01-31", "2026-01-31"]
    more = with_fingerprints(found(1, 5, 9))
    assert [one.baselined for one in apply_baseline(more, baseline)] == ["2026-01-31", "2026-01-31", None]


def test_suppressed_findings_need_no_baseline() -> None:
    plain, other = with_fingerprints([*found(1), *found(2, subject="x")])
    allowed = replace(other, suppressed="why")
    assert set(accept([plain, allowed], {}, DAY)) == {plain.fingerprint}
    baseline = accept([plain, other], {}, DAY)
    assert [one.baselined for one in apply_baseline([plain, allowed], baseline)] == ["2026-01-31", None]
    kept, dropped = prune(baseline, [plain, allowed])
    assert (list(kept), [one.fingerprint for one in dropped]) == ([plain.fingerprint], [other.fingerprint])


def test_old_entries_keep_their_day() -> None:
    first, second = with_fingerprints([*found(1), *found(2, subject="x")])
    old = accept([first], {}, DAY)
    new = accept([first, second], old, LATER)
    assert (new[first.fingerprint].since, new[second.fingerprint].since) == ("2026-01-31", "2026-03-01")
    summary = summarize(apply_baseline([first, second], new), Summary(), ())
    assert (summary.errors, summary.baselined, summary.oldest_baselined) == (0, 2, "2026-01-31")


ENTRY = '{"fingerprint": "0123456789abcdef", "rule": "r", "path": "p", "since": "2026-01-31"}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "b.json:1: not JSON"),
        ("{\n]", "b.json:2: not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", '"botlint.baseline/1"'),
        (f'{{"schema": {"9" * 5_000}}}', "a number that is too long"),
        ('{"schema": "botlint.baseline/2", "findings": []}', '"botlint.baseline/1"'),
        ('{"schema": "botlint.baseline/1"}', '"findings"'),
        ('{"schema": "botlint.baseline/1", "findings": [1]}', "finding 1 needs"),
        (f'{{"schema": "botlint.baseline/1", "findings": [{ENTRY}, {{}}]}}', "finding 2 needs"),
        *(
            (f'{{"schema": "botlint.baseline/1", "findings": [{ENTRY.replace(*change)}]}}', "finding 1 needs")
            for change in [
                ("0123", "XYZ"),
                ("2026-01-31", "2026-02-31"),
                ("2026-01-31", "yesterday"),
                ('"p"', "1"),
                ('"r"', '""'),
                ('"path"', '"file"'),
            ]
        ),
    ],
)
def test_what_is_no_baseline(text: str, message: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_baseline(text, "b.json")
    assert message in str(caught.value)


def test_a_revision_without_one() -> None:
    assert read_baseline(MemoryFiles({}), "b.json") == {}
    text = f'{{"schema": "botlint.baseline/1", "findings": [{ENTRY}]}}'
    for mark in ("", "\ufeff"):
        assert list(read_baseline(MemoryFiles({"b.json": mark + text}), "b.json")) == ["0123456789abcdef"]

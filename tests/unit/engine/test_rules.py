"""The rules that ship: their form, their examples, their pages."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from botlint.engine.examples import run_examples
from botlint.engine.pages import all_pages
from botlint.engine.rules import Rule, builtin_files, builtin_rules, load_rule
from botlint.fixes.edits import apply_fix

DOCS = Path(__file__).parents[3] / "docs" / "rules"
RULES = {path: load_rule(file.read_text(encoding="utf-8"), path, family) for family, path, file in builtin_files()}


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_examples(rule: Rule) -> None:
    assert [f"{one.example}: {one.message}" for one in run_examples(rule, apply_fix)] == []


@pytest.mark.parametrize("rule", RULES.values(), ids=lambda rule: rule.name)
def test_form(rule: Rule) -> None:
    assert Path(rule.path).stem == rule.name
    marks = [f"expect: {rule.name}" in str(example) or bool(example.get("expect")) for example in rule.examples]
    assert any(marks), "an example that fires"
    assert not all(marks), "an example that is silent"
    assert rule.why


def test_ids_and_names_are_unique() -> None:
    counted = Counter(key for rule in RULES.values() for key in (rule.id, rule.name, *rule.aliases))
    assert [key for key, number in counted.items() if number > 1] == []


def test_rules_load_the_same_with_and_without_checks() -> None:
    assert sorted(rule.name for rule in builtin_rules()) == sorted(rule.name for rule in RULES.values())


def test_pages_are_up_to_date() -> None:
    pages = all_pages(builtin_rules())
    assert {path.name: path.read_bytes().decode("utf-8") for path in DOCS.glob("*.md")} == pages, "run `make docs`"

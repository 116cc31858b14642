"""What a finding points at beside its place."""

from __future__ import annotations

from botlint.engine.examples import check_texts, example_files
from botlint.engine.rules import builtin_rules

SCRIPT = """NAME="missing_$FRAMEWORK"



bash "benchmarks/$NAME.sh" || exit 2
"""


def test_the_lines_on_the_way_to_an_exit_are_related() -> None:
    rule = next(rule for rule in builtin_rules() if rule.name == "job-exits")
    texts = example_files({"arm": {"tp": 8}}) | {"benchmarks/single_node/recipe.sh": SCRIPT}
    (one,), failures = check_texts(rule, texts, None)
    assert failures == []
    assert one.span.line == 5
    here = [(related.span.line, related.message) for related in one.related if related.span.path == one.span.path]
    assert (1, "NAME=missing_vllm") in here

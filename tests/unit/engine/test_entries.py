"""Findings about lines of a config say of which entry they are."""

from __future__ import annotations

from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.examples import example_files, plan_all
from botlint.engine.rules import builtin_rules
from botlint.repo.memory import MemoryFiles

CONFIG = """\
first-fp8-b200-vllm: &first
  image: vllm/vllm-openai:v0.27.1
  model: demo/model
  model-prefix: first
  runner: b200
  framework: vllm
  multinode: false
  scenarios: {agentic-coding: [{search-space: [{tp: 8, conc-list: [4]}]}]}
# what follows is another entry
second-fp8-b200-vllm:
  <<: *first
  model-prefix: second
  precision: fp8
  colour: blue
"""


def test_what_is_wrong_with_an_entry_names_it() -> None:
    rules = [rule for rule in builtin_rules() if rule.name in ("missing-field", "unknown-field", "yaml-parse-error")]
    report = check(Context(MemoryFiles({"configs/demo-master.yaml": CONFIG}), plan_all), rules)
    assert {(one.rule, one.entries) for one in report.findings} == {
        ("missing-field", ("first-fp8-b200-vllm",)),
        ("unknown-field", ("second-fp8-b200-vllm",)),
    }
    broken = check(Context(MemoryFiles({"configs/demo-master.yaml": CONFIG + "x: [\n"}), plan_all), rules)
    assert [one.entries for one in broken.findings if one.rule == "yaml-parse-error"] == [()]


def test_what_is_wrong_with_a_recipe_names_who_runs_it() -> None:
    rules = [rule for rule in builtin_rules() if rule.name in ("job-exits", "assignment-with-spaces")]
    files = example_files({"recipe": 'MODEL_ARGS = 1\nvllm serve "$MODEL"\n'})
    report = check(Context(MemoryFiles(files), plan_all), rules)
    assert [(one.rule, len(one.entries), one.jobs) for one in report.findings] == [("assignment-with-spaces", 1, ())]

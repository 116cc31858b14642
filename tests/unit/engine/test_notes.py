"""What could not be looked at is counted and listed, kind by kind."""

from __future__ import annotations

import pytest

from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.examples import CONFIG, RECIPE, example_files, plan_all
from botlint.engine.rules import builtin_rules
from botlint.repo.memory import MemoryFiles

RULES = [rule for rule in builtin_rules() if rule.name == "job-exits"]
SERVE = 'vllm serve "$MODEL" --port "$PORT"\n'


@pytest.mark.parametrize(
    ("example", "wanted"),
    [
        ({"recipe": SERVE, "entry": {"model": "openai/gpt-oss-120b"}}, {}),
        ({"recipe": SERVE, "entry": {"model": "nobody/unknown-model"}}, {"model": CONFIG}),
        (
            {"recipe": SERVE, "entry": {"model": "openai/gpt-oss-120b", "image": "private/vllm-thing:latest"}},
            {"version": CONFIG},
        ),
        ({"recipe": 'trtllm-serve "$MODEL"\n'}, {"framework": CONFIG}),
        ({"recipe": "while true; do x=$x.; done\n" + SERVE}, {"budget": RECIPE}),
        ({"recipe": 'bash "$(pick-a-script)"\n'}, {"undecided": RECIPE}),
        (
            {"recipe": SERVE, "entry": {"model": "openai/gpt-oss-120b"}, "files": {CONFIG: "a: [1\nb: {\n"}},
            {"unread": CONFIG},
        ),
    ],
)
def test_each_kind_is_counted_and_listed(example: dict[str, object], wanted: dict[str, str]) -> None:
    context = Context(MemoryFiles(example_files(example)), plan_all)
    report = check(context, RULES)
    assert report.failures == ()
    assert {note.kind: note.path for note in report.notes} == wanted
    assert dict(report.summary.notes).keys() == wanted.keys()

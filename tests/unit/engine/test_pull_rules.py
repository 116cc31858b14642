"""Pull requests as rules see them: what is read for which rule, what is kept, and what a change cannot allow itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from botlint.engine.check import check
from botlint.engine.context import Context
from botlint.engine.examples import plan_all
from botlint.engine.keep import KeptParts
from botlint.engine.policy import make_policy
from botlint.engine.pull import Pull, needed
from botlint.engine.rules import builtin_rules
from botlint.engine.settings import parse_settings, read_settings
from botlint.repo.memory import MemoryFiles

RULES = {rule.name: rule for rule in builtin_rules()}
PULL = Pull(7, "[WIP] Tune", "", "ann", "https://github.com/acme/bench/pull/7")


@pytest.mark.parametrize(
    ("names", "parts"),
    [
        ([], set()),
        (
            ["job-exits", "settings-weakened", "work-in-progress", "conflicting-with-base", "checklist-unfinished"],
            set(),
        ),
        (["changelog-link-other"], set()),
        (["behind-base"], {"behind"}),
        (["commit-not-signed-off"], {"commits"}),
        (["sign-off-missing", "sign-off-by-other"], {"said"}),
        (["depends-on-open"], {"dependencies"}),
    ],
)
def test_what_rules_need(names: list[str], parts: set[str]) -> None:
    assert needed(RULES[name] for name in names) == parts


def test_nobody_asked_means_that_nothing_is_read_but_what_the_author_names() -> None:
    files = MemoryFiles({})
    policy = make_policy(files, read_settings(files), tuple(RULES.values()), lambda known: known)
    assert needed(policy.rules) == {"dependencies"}
    settings = parse_settings("version: 1\nrules: {pull-request: warning}\n")
    policy = make_policy(files, settings, tuple(RULES.values()), lambda known: known)
    assert needed(policy.rules) == {"dependencies", "commits", "behind", "said"}


def test_what_depends_on_a_pull_request_is_not_kept() -> None:
    files = MemoryFiles({"README.md": "text\n"})
    rule = RULES["work-in-progress"]
    parts = KeptParts()
    for pull in (None, PULL, Pull(8, "Tune", "", "ann", "https://github.com/acme/bench/pull/8"), PULL, None):
        context = Context(files, plan_all, Context(files, plan_all), pull=pull)
        found = check(context, [rule], None, parts).findings
        assert len(found) == (pull is PULL)
        assert all(one.span.path == "" for one in found)


BASE = {".botlint.yaml": "version: 1\nfail-level: info\nrequire-suppression-reason: true\n"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {".botlint.yaml": "# botlint: ignore-file[settings-weakened] -- trust me\nversion: 1\n"},
        {".botlint.yaml": "version: 1 # botlint: ignore[pull-request, BL1310] -- trust me\n"},
        {".botlint.yaml": "version: 1\npaths: {exclude: ['**']}\nrules: {settings-weakened: off}\n"},
    ],
)
def test_a_change_cannot_allow_itself_to_weaken_settings(changes: Mapping[str, str]) -> None:
    base = MemoryFiles(BASE)
    head = MemoryFiles({**BASE, **changes})
    policy = make_policy(base, read_settings(base), tuple(RULES.values()), lambda known: known, accepted=base)
    context = Context(head, plan_all, Context(base, plan_all), pull=PULL)
    guards = [rule for rule in policy.rules if rule.view == "weakened_setting"]
    found = check(context, guards, policy.adjust).findings
    told = [one for one in found if one.rule == "settings-weakened" and one.counts]
    assert any("fail-level from info to error" in one.message for one in told) is bool(changes)
    assert bool(told) is bool(changes)

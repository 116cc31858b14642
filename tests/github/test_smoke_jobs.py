"""The jobs that a reviewing process picks for a smoke run, from the pull request with the planted defects."""

from __future__ import annotations

from typing import Any

import pytest
from fakehub import FakeGitHub
from fakehub.seed import Seed, healthy_files, plant
from reviewing import Bot, install

from botlint.core.errors import UsageError
from botlint.engine.settings import Settings, SmokeSettings
from botlint.github.analysis import Kept
from botlint.github.smoke import read_picked, read_rules
from botlint.github.smokejobs import rules_form
from botlint.server.reviewing import Reviewing

SETTINGS = 'version: 1\nlanguages: [zh, en]\nsmoke: {runners: ["*mi355x*"], timeout: 20, automatic: true}\n'


@pytest.fixture
def seed(hub: FakeGitHub) -> Seed:
    hub.holds_answers = False
    return plant(hub, base={**healthy_files(), ".botlint.yaml": SETTINGS})


@pytest.fixture
def bot(hub: FakeGitHub, seed: Seed, kept: Kept) -> Bot:
    return install(hub, seed.repository, kept)


def work(bot: Bot, kind: str, **options: Any) -> Any:
    return Reviewing().work(bot.client(), kind, {"number": 1, **options})


def test_what_the_base_says_and_which_jobs_deserve_a_run(hub: FakeGitHub, bot: Bot, seed: Seed) -> None:
    rules = read_rules(work(bot, "smoke rules"))
    assert rules is not None
    assert (rules.workflow, rules.label, rules.timeout, rules.automatic) == (
        "botlint-smoke.yml", "botlint-smoke", 20, True,
    )  # fmt: skip
    assert rules.languages == ("zh", "en")
    head = seed.pull.head_sha
    picked = read_picked(work(bot, "smoke jobs", head=head, words=[]))
    assert picked.base == seed.pull.merge_base
    assert 1 <= len(picked.jobs) <= 2
    assert any("VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT" in text for job in picked.jobs for text in job.shows)
    assert all("minimaxm3" in job.text for job in picked.jobs)
    assert any("it starts no server" in why for _, why in picked.left)
    hub.forget()
    reviewing = Reviewing()
    by_id = reviewing.work(bot.client(), "smoke jobs", {"number": 1, "head": head, "words": [picked.jobs[0].id]})
    assert [job.id for job in read_picked(by_id).jobs] == [picked.jobs[0].id]
    by_name = reviewing.work(bot.client(), "smoke jobs", {"number": 1, "head": head, "words": ["tp=2", "minimax*"]})
    assert len(read_picked(by_name).jobs) == 1
    assert hub.writes() == [] or all(call.operation == "graphql" for call in hub.writes())
    with pytest.raises(UsageError):
        reviewing.work(bot.client(), "smoke jobs", {"number": 1, "head": head, "words": ["=x"]})


def test_settings_that_ask_for_none() -> None:
    assert rules_form(Settings()) is None
    assert read_rules(None) is None
    rules = read_rules(rules_form(Settings(smoke=SmokeSettings(label=""))))
    assert rules is not None
    assert rules.label == ""


@pytest.mark.parametrize("change", [{"workflow": "../x.yml"}, {"timeout": "5"}, {"timeout": 0}, {"label": 5}])
def test_rules_of_another_form_are_refused(change: dict[str, Any]) -> None:
    form = rules_form(Settings(smoke=SmokeSettings()))
    assert form is not None
    with pytest.raises(ValueError, match="no "):
        read_rules({**form, **change})

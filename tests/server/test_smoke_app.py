"""A smoke run by the App as a process: from a command to a verdict, across a kill."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from app_process import AppProcess
from fakehub import App, CheckRun, FakeGitHub
from fakehub.seed import Seed, plant
from fakehub.state import Workflow
from soak import PERMISSIONS, small_files
from test_app import wait_for

from botlint.github.smoke import NAME
from botlint.server.events import WEBHOOK
from botlint.smoke.model import JobName, Verdict
from botlint.smoke.result import ARTIFACT, MEMBER, JobResult, Result, result_form

SETTINGS = 'version: 1\nsmoke: {runners: ["*mi355x*"]}\n'
INPUTS = ["pr", "head_sha", "base_sha", "jobs", "nonce"]


class World:
    def __init__(self, hub: FakeGitHub, folder: Path) -> None:
        self.hub = hub
        self.seed: Seed = plant(hub, base={**small_files(), ".botlint.yaml": SETTINGS})
        repository = self.seed.repository
        self.workflow: Workflow = repository.workflow(
            ".github/workflows/botlint-smoke.yml", "botlint smoke", INPUTS, "botlint smoke #{pr} {head_sha} {nonce}"
        )
        self.app: App = hub.app(permissions={**PERMISSIONS, "actions": "write"})
        hub.install(self.app, repository)
        self.process = AppProcess(hub, self.app, str(folder / "botlint.db"), folder / "app", "--smoke")
        self.app.webhook_url = f"{self.process.url}{WEBHOOK}"

    def check(self, name: str = NAME) -> CheckRun | None:
        runs = self.seed.repository.runs(self.seed.pull.head_sha, name)
        return runs[-1] if runs else None

    def concluded(self, name: str = NAME) -> str | None:
        check = self.check(name)
        return None if check is None else check.conclusion

    def summary(self) -> str:
        """The one summary comment."""
        (found,) = [one.body for one in self.seed.pull.comments if one.body.endswith("<!-- botlint:v1 summary -->")]
        return found


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with FakeGitHub() as hub:
        hub.holds_answers = False
        made = World(hub, tmp_path)
        try:
            yield made
        finally:
            made.process.kill()
        assert hub.violations == []
        kept = (tmp_path / "botlint.db").read_bytes().decode("latin-1") + made.process.logged()
        assert not [secret for secret in (*hub.tokens, made.app.webhook_secret) if secret in kept]


@pytest.mark.slow
def test_a_smoke_run_from_a_command_to_a_verdict(world: World) -> None:
    hub, pull = world.hub, world.seed.pull
    world.process.start()
    wait_for(lambda: world.concluded("botlint"), "a review")
    hub.deliver(world.app, "issue_comment", hub.events.issue_comment(pull.comment("/botlint smoke", "alice")))
    wait_for(lambda: world.workflow.runs and (check := world.check()) and check.details_url, "a run")
    wait_for(lambda: any("smoke-reply=" in one.body for one in pull.comments), "an answer")
    (run,) = world.workflow.runs
    jobs = str(run.inputs["jobs"]).split(",")
    assert run.inputs["head_sha"] == pull.head_sha
    assert all(len(one) == 16 for one in jobs)

    # What it knows of the run stands on GitHub: a process that is killed goes on with it.
    world.process.kill()
    run.begin()
    verdict = Verdict("fail", "the flag is unknown", JobName("one", "fixed", 0, 4), "vllm", stage="parse")
    found = tuple(JobResult(one, verdict) for one in jobs)
    result = Result(str(run.inputs["nonce"]), pull.head_sha, None, found)
    run.upload(ARTIFACT, {MEMBER: json.dumps(result_form(result)).encode()})
    run.end("failure")
    world.process.start()
    hub.deliver(world.app, "workflow_run", hub.events.workflow_run(run))
    wait_for(world.concluded, "a conclusion")
    check = world.check()
    assert check is not None
    assert (check.conclusion, check.title) == ("failure", "Failed: the flag is unknown")
    assert "the flag is unknown" in world.summary()

    # The next review of the same head keeps it, a push voids it.
    hub.deliver(world.app, "pull_request", hub.events.pull_request(pull, "reopened"))
    wait_for(lambda: world.process.logged().count('"reason": "reopened"') > 0, "another review")
    assert "botlint / smoke: Failed" in world.summary()
    world.seed.mend_layout()
    hub.deliver(world.app, "pull_request", hub.events.pull_request(pull, "synchronize"))
    wait_for(lambda: world.concluded() == "action_required", "a word on the new head")
    wait_for(lambda: world.concluded("botlint"), "its review")
    assert "botlint / smoke: Failed" not in world.summary()

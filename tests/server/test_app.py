"""The App as a process, from a delivery to what stands on GitHub."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx
import pytest
from app_process import AppProcess
from fakehub import App, CheckRun, FakeGitHub, Pull
from fakehub.seed import Seed, plant
from soak import PERMISSIONS, live, small_files

from botlint.github.markers import is_mended
from botlint.server.events import WEBHOOK

LAYOUT, BACKEND = "shuffled-kv-heads", "job-exits"


def wait_for(condition: Callable[[], object], what: str, seconds: float = 60.0) -> None:
    until = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < until, f"it did not happen in time: {what}"
        time.sleep(0.02)


def planted(pull: Pull) -> set[str]:
    """The rules of the planted defects that the App has a comment about."""
    bodies = [one.body for one in pull.inline if one.user.login == "botlint[bot]" and not is_mended(one.body)]
    return {rule for rule in (LAYOUT, BACKEND) if any(f"botlint explain {rule}" in body for body in bodies)}


@dataclass
class World:
    hub: FakeGitHub
    app: App
    seed: Seed
    process: AppProcess

    def check(self, head: str | None = None) -> CheckRun | None:
        runs = self.seed.repository.runs(head or self.seed.pull.head_sha)
        return runs[-1] if runs else None

    def concluded(self, head: str | None = None) -> str:
        """Waits for the check of a head, and gives its conclusion."""
        wait_for(lambda: (run := self.check(head)) is not None and run.status == "completed", "a conclusion")
        run = self.check(head)
        assert run is not None
        return str(run.conclusion)

    def deliver(self, event: str, payload: object, **how: bool) -> int:
        assert isinstance(payload, dict)
        return self.hub.deliver(self.app, event, payload, **how).status_code

    def idle(self) -> None:
        """Waits until all tasks of the pull request are done: a later one of it can only run after them."""
        done = self.process.logged().count('"task done"')
        self.deliver("pull_request", self.hub.events.pull_request(self.seed.pull, "reopened"))
        wait_for(lambda: self.process.logged().count('"reason": "reopened"') > 0, "a task", 60)
        wait_for(lambda: self.process.logged().count('"task done"') > done, "a task")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with FakeGitHub() as hub:
        seed = plant(hub, base=small_files())
        seed.repository.grant("tom", "read")
        app = hub.app(permissions=PERMISSIONS)
        hub.install(app, seed.repository)
        process = AppProcess(hub, app, str(tmp_path / "botlint.db"), tmp_path / "app", "--url", "http://127.0.0.1:9")
        app.webhook_url = f"{process.url}{WEBHOOK}"
        try:
            yield World(hub, app, seed, process)
        finally:
            process.kill()
        assert hub.violations == []
        kept = (tmp_path / "botlint.db").read_bytes().decode("latin-1") + process.logged()
        assert not [secret for secret in (*hub.tokens, app.webhook_secret) if secret in kept]


def test_from_a_delivery_to_a_review_and_back(world: World) -> None:
    hub, pull = world.hub, world.seed.pull
    world.process.start()
    # At the start it looks for heads without a check, so nothing has to be delivered.
    assert world.concluded() == "failure"
    assert planted(pull) == {LAYOUT, BACKEND}
    world.seed.mend_layout()
    hub.forget()
    began = time.monotonic()
    assert world.deliver("pull_request", hub.events.pull_request(pull, "synchronize")) == 202
    assert time.monotonic() - began < 10  # GitHub waits no longer
    assert world.concluded() == "failure"
    assert planted(pull) == {BACKEND}
    calls = [call for call in hub.calls if call.operation != "apps/create-installation-access-token"]
    assert len(calls) <= 25, hub.counts()

    run = world.check()
    assert run is not None
    address = f"{world.process.url}/details/{str(run.details_url).rpartition('/')[2]}"
    wait_for(lambda: httpx.get(address).status_code == 200, "the page, which is made after the check")
    page = httpx.get(address)
    assert "minimaxm3" in page.text
    assert page.headers["content-security-policy"].startswith("default-src 'none'")

    world.seed.mend_backend()
    world.deliver("pull_request", hub.events.pull_request(pull, "synchronize"))
    assert world.concluded() in ("success", "neutral")
    assert not planted(pull)

    group, _ = world.seed.repository.merge_group(pull)
    head = world.seed.repository.branches.get(group, group)
    world.deliver("merge_group", hub.events.merge_group(world.seed.repository, group, head))
    assert world.concluded(head) in ("success", "neutral")
    assert world.process.stop() == 0


def test_commands_of_those_who_may_write(world: World) -> None:
    hub, pull = world.hub, world.seed.pull
    world.process.start()
    assert world.concluded() == "failure"
    world.idle()
    before = len(pull.comments)
    for author in ("tom", "eve"):
        world.deliver("issue_comment", hub.events.issue_comment(pull.comment("/botlint explain job-exits", author)))
    asked = pull.comment("Why?\n/botlint explain job-exits\n/botlint smoke", "alice")
    for _ in range(2):
        world.deliver("issue_comment", hub.events.issue_comment(asked))
    wait_for(lambda: len(pull.comments) == before + 4, "an answer")
    answer = pull.comments[-1]
    assert answer.user.login == "botlint[bot]"
    assert "job-exits" in answer.body
    assert "not set up" in answer.body
    assert not any(line.startswith("/botlint") for line in answer.body.splitlines())

    assert world.deliver("issue_comment", hub.events.issue_comment(answer)) == 202
    fingerprints = live(pull)
    for fingerprint in fingerprints:
        said = pull.comment(f"/botlint ignore {fingerprint} they are replaced next week", "alice")
        world.deliver("issue_comment", hub.events.issue_comment(said))
    wait_for(lambda: not live(pull), "ignored findings")
    wait_for(lambda: (run := world.check()) is not None and run.conclusion != "failure", "another conclusion")
    assert len(world.seed.repository.runs(pull.head_sha)) == 1

    run = world.check()
    assert run is not None
    hub.forget()
    world.deliver("check_run", hub.events.check_run(run))
    wait_for(lambda: hub.count("checks/update"), "a second run")
    assert len([one for one in pull.comments if "reply=" in one.body]) == 1 + len(fingerprints)


@pytest.mark.slow  # the soak does the same, and more
def test_what_came_while_it_was_away_is_caught_up_with(world: World) -> None:
    hub, pull = world.hub, world.seed.pull
    world.process.start()
    assert world.concluded() == "failure"
    world.idle()
    world.process.kill()
    world.seed.mend_layout()
    assert world.deliver("pull_request", hub.events.pull_request(pull, "synchronize")) == 0
    world.process.start()
    assert world.concluded() == "failure"
    assert planted(pull) == {BACKEND}
    assert hub.count("apps/redeliver-webhook-delivery") == 1


def test_told_to_stop_it_ends_what_it_does_and_goes_on_later(world: World) -> None:
    hub, pull = world.hub, world.seed.pull
    world.process.start()
    assert world.concluded() == "failure"
    world.idle()
    hub.latency = 0.1
    world.seed.mend_layout()
    world.deliver("pull_request", hub.events.pull_request(pull, "synchronize"))
    wait_for(lambda: world.check() is not None, "the review's begin")
    assert world.process.stop() == 0
    run = world.check()
    assert run is not None
    assert run.status == "completed", "the review that had begun came to its end"
    hub.latency = 0
    world.process.start()
    world.idle()
    assert len(world.seed.repository.runs(pull.head_sha)) == 1


def test_a_database_file_is_for_one_process(world: World, tmp_path: Path) -> None:
    world.process.start()
    other = AppProcess(world.hub, world.app, str(tmp_path / "botlint.db"), tmp_path / "other")
    other.start(wait=False)
    assert other.wait(30) == 2
    assert "another process uses this database file" in other.logged()

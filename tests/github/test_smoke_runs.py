"""Smoke runs from a comment to a verdict, on the fake: who may, which commit, what ends one, what is evidence."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fakehub import CheckRun, FakeGitHub, Fault, Pull, faults
from fakehub.state import Run, Workflow
from reviewing import PERMISSIONS

from botlint.github.client import Client
from botlint.github.models import Identity
from botlint.github.port import GitHub
from botlint.github.smoke import NAME
from botlint.server import events
from botlint.server.events import Task
from botlint.server.metrics import Metrics
from botlint.server.smoke import SmokeRuns
from botlint.server.tasks import Reviewed, Tasks
from botlint.smoke.model import Change, Figures, JobName, Log, Spread, Verdict
from botlint.smoke.result import ARTIFACT, MEMBER, JobResult, Result, result_form

FILE = ".github/workflows/botlint-smoke.yml"
INPUTS = ["pr", "head_sha", "base_sha", "jobs", "nonce"]
RUN_NAME = "botlint smoke #{pr} {head_sha} {nonce}"
IDS = ["1" * 16, "2" * 16]
RULES: dict[str, Any] = {
    "workflow": "botlint-smoke.yml",
    "label": "botlint-smoke",
    "automatic": False,
    "queue_timeout": 60,
    "timeout": 30,
    "fail_closed": False,
    "languages": ["en"],
}
FIGURES = Figures(
    "chat", 1000.0, 1000.0, 4, 8, 10.0, 8000, 4.95, 5075.6, 10144.5, Spread(150, 149, 300), Spread(9.4, 9.37, 11), None
)


@dataclass
class Picking:
    """Reviews nothing, and picks the same jobs for every head."""

    rules: dict[str, Any] | None
    base: str
    jobs: list[str] = field(default_factory=lambda: list(IDS))
    left: list[dict[str, str]] = field(default_factory=list)
    asked: list[tuple[str, Sequence[str]]] = field(default_factory=list)

    def smoke_rules(self, github: GitHub, number: int) -> object:
        return self.rules

    def smoke_jobs(self, github: GitHub, number: int, head: str, words: Sequence[str]) -> object:
        self.asked.append((head, words))
        jobs = [{"id": one, "text": f"entry-{one[:2]} (tp 2)", "gpus": 2, "shows": ["changed: X"]} for one in self.jobs]
        return {"base": self.base, "jobs": jobs, "left": self.left}

    def review(self, github: GitHub, number: int, *, force: bool) -> Reviewed:
        return "closed" if github.pull(number).state == "closed" else "reviewed"

    def discussed(self, github: GitHub, number: int) -> Reviewed:
        return "unchanged"

    def group(self, github: GitHub, head: str, base: str) -> Reviewed:
        return "reviewed"

    def languages(self, github: GitHub, number: int) -> Any:
        return ["en"]

    def give_up(self, github: GitHub, head: str, number: int, base: str) -> None:
        raise AssertionError("not here")


class World:
    """The App's tasks over the fake, done one after another as the queue would, in a time that tests set."""

    def __init__(self, hub: FakeGitHub) -> None:
        self.hub = hub
        hub.holds_answers = False  # the first test holds them, and it takes long
        self.repository = hub.repository("acme/bench", {"f": "x\n"})
        self.repository.grant("ada", "write")
        self.repository.grant("tom", "read")
        self.repository.grant("tess", "triage")
        self.workflow: Workflow = self.repository.workflow(FILE, "botlint smoke", INPUTS, RUN_NAME)
        self.repository.commit("topic", {"f": "y\n"}, author="ada")
        self.pull = self.repository.open_pull("topic", author="ada")
        self.app = hub.app(permissions={**PERMISSIONS, "actions": "write"})
        self.installation = hub.install(self.app, self.repository)
        self.picking = Picking(dict(RULES), self.repository.branches["main"])
        self.later: list[tuple[str, Task, float]] = []
        self.done: set[str] = set()
        self.ahead = timedelta()
        self.smoke = SmokeRuns(self.app.id, self.picking, self._submit, lambda: datetime.now(UTC) + self.ahead)
        self.tasks = Tasks(
            app=self.app.id,
            clients=lambda *who: self._client(PERMISSIONS),
            reviewer=self.picking,
            submit=self._submit,
            repositories=lambda _: 0,
            metrics=Metrics(),
            smoke=self.smoke,
            smoke_clients=lambda *who: self._client({**PERMISSIONS, "actions": "write"}),
        )
        self.deliveries = 0

    @contextmanager
    def _client(self, permissions: dict[str, str]) -> Iterator[GitHub]:
        have = self.installation.permissions
        if any(have.get(area) != level for area, level in permissions.items() if area != "metadata"):
            from botlint.github.port import Forbidden

            raise Forbidden("not accepted")
        token = self.hub.installation_token(self.installation, permissions)
        me = Identity(self.app.bot.id, self.app.bot.login, bot=True)
        client = Client("acme/bench", token.text, base_url=self.hub.api, identity=me, sleep=lambda _: None)
        yield client
        client.close()

    def _submit(self, identifier: str, task: Task, delay: float) -> str:
        if identifier in self.done or any(identifier == one[0] for one in self.later):
            return "known"
        self.later.append((identifier, task, delay))
        return "new"

    def deliver(self, event: str, payload: dict[str, Any]) -> list[str]:
        """Does what an event asks for, and all that follows at once; the outcomes."""
        task = events.read(event, payload, self.app.id)
        if not isinstance(task, Task):
            return [task.reason]
        self.deliveries += 1
        outcome = self.tasks.run(f"d-{self.deliveries}", task.body())["outcome"]
        return [str(outcome), *self.at_once()]

    def at_once(self, within: float = 0.0) -> list[str]:
        """Does the tasks that wait for no time, or for no more than so many seconds."""
        outcomes = []
        while due := [one for one in self.later if one[2] <= within]:
            self.later.remove(due[0])
            self.done.add(due[0][0])
            outcomes.append(str(self.tasks.run(due[0][0], due[0][1].body())["outcome"]))
        return outcomes

    def poll(self) -> list[str]:
        """Does the looks that wait, as two minutes later."""
        self.ahead += timedelta(minutes=2)
        waiting = list(self.later)
        self.later.clear()
        outcomes = []
        for identifier, task, _ in waiting:
            self.done.add(identifier)
            outcomes.append(str(self.tasks.run(identifier, task.body())["outcome"]))
        return outcomes

    def say(self, text: str, who: str = "ada", pull: Pull | None = None) -> list[str]:
        comment = (pull or self.pull).comment(text, who)
        return self.deliver("issue_comment", self.hub.events.issue_comment(comment))

    def label(self, name: str = "botlint-smoke", who: str = "ada", pull: Pull | None = None) -> list[str]:
        label = {"name": name}
        return self.deliver(
            "pull_request", self.hub.events.pull_request(pull or self.pull, "labeled", sender=who, label=label)
        )

    def push(self, text: str = "z\n", pull: Pull | None = None) -> list[str]:
        which = pull or self.pull
        which.push({"f": text})
        return self.deliver("pull_request", self.hub.events.pull_request(which, "synchronize"))

    def tell(self, run: Run, action: str = "completed") -> list[str]:
        return self.deliver("workflow_run", self.hub.events.workflow_run(run, action))

    def checks(self, head: str | None = None) -> list[CheckRun]:
        return self.repository.runs(head or self.pull.head_sha, NAME)

    @property
    def check(self) -> CheckRun:
        return self.checks()[-1]

    @property
    def run(self) -> Run:
        return self.workflow.runs[-1]

    def answers(self, pull: Pull | None = None) -> list[str]:
        return [one.body for one in (pull or self.pull).comments if "smoke-reply=" in one.body]

    def summaries(self) -> list[str]:
        return [one.body for one in self.pull.comments if one.body.endswith("<!-- botlint:v1 summary -->")]

    def verdict(self, verdict: Any = "pass", reason: str = "it answers", **more: Any) -> Verdict:
        return Verdict(verdict, reason, JobName("entry-11", "fixed", 0, 4), "vllm", figures=(FIGURES,), **more)

    def result(self, *verdicts: Verdict, **changes: Any) -> Result:
        found = verdicts or (self.verdict(), self.verdict())
        jobs = tuple(JobResult(name, one) for name, one in zip(IDS, found, strict=False))
        return replace(Result(str(self.run.inputs["nonce"]), self.pull.head_sha, None, jobs), **changes)

    def finish(self, result: Result | bytes | None = None, conclusion: str = "success") -> list[str]:
        """The run ends with a result, and GitHub tells."""
        made = self.result() if result is None else result
        content = made if isinstance(made, bytes) else json.dumps(result_form(made)).encode()
        self.run.begin()
        self.run.upload(ARTIFACT, {MEMBER: content})
        self.run.end(conclusion)
        return self.tell(self.run)


@pytest.fixture
def world(hub: FakeGitHub) -> World:
    return World(hub)


# From a comment to a verdict


def test_from_a_comment_to_a_verdict(world: World) -> None:
    world.hub.holds_answers = True
    assert world.say("/botlint smoke") == ["answered", "started"]
    head = world.pull.head_sha
    run = world.run
    assert (run.ref, run.event) == ("main", "workflow_dispatch")
    assert run.inputs == {
        "pr": "1", "head_sha": head, "base_sha": world.picking.base, "jobs": ",".join(IDS),
        "nonce": run.inputs["nonce"],
    }  # fmt: skip
    assert len(run.inputs["nonce"]) == 16
    check = world.check
    assert (check.status, check.title) == ("queued", "Smoke run of 2 jobs")
    assert str(run.id) in check.external_id
    assert str(run.id) in str(check.details_url)
    assert "entry-11 (tp 2)" in str(check.summary)
    (answer,) = world.answers()
    assert "Smoke run of 2 jobs" in answer
    run.begin()
    assert world.tell(run, "in_progress") == ["runs"]
    assert check.status == "in_progress"
    assert world.finish() == ["success"]
    assert (check.status, check.conclusion, check.title) == ("completed", "success", "Passed")
    assert "| chat | 1000/1000 | 4 | 4.950 | 10,144.5 | 5,075.6 | 149.0 | 9.40/9.37/11.00 | - |" in str(check.summary)
    assert [one for one, _ in check.history] == ["queued", "queued", "in_progress", "completed"]
    (summary,) = world.summaries()
    assert f"<!-- botlint:v1 smoke={head} -->" in summary
    assert "botlint / smoke: Passed" in summary
    assert world.poll() == ["nothing to see"]
    assert world.later == []
    assert len(world.workflow.runs) == 1


def test_words_name_jobs(world: World) -> None:
    world.say(f"/botlint smoke {world.pull.head_sha[:9]} entry* tp=8")
    assert world.picking.asked == [(world.pull.head_sha, ["entry*", "tp=8"])]
    assert len(world.workflow.runs) == 1


def test_a_label_asks_for_a_run(world: World) -> None:
    assert world.label() == ["reviewed", "started"]
    assert world.label("bug") == ["reviewed", "another label"]
    assert world.label("BOTLINT-Smoke") == ["reviewed", "started"]
    assert world.answers() == []


def test_a_rerequested_smoke_check_is_another_run(world: World) -> None:
    world.say("/botlint smoke")
    world.finish()
    payload = world.hub.events.check_run(world.check, sender="ada")
    assert world.deliver("check_run", payload) == ["started"]
    assert len(world.workflow.runs) == 2
    assert [one.status for one in world.checks()] == ["completed", "queued"]
    assert world.deliver("check_run", world.hub.events.check_run(world.check, sender="tom")) == ["not allowed"]


def test_by_itself_only_where_the_settings_say_so_and_never_for_forks(world: World) -> None:
    pull, payload = world.pull, world.hub.events.pull_request
    assert world.deliver("pull_request", payload(pull, "opened", sender="ada")) == ["reviewed", "not automatic"]
    assert world.picking.rules is not None
    world.picking.rules["automatic"] = True
    assert world.deliver("pull_request", payload(pull, "opened", sender="tom")) == ["reviewed", "not allowed"]
    assert world.deliver("pull_request", payload(pull, "opened", sender="ada")) == ["reviewed", "started"]
    world.push()
    assert world.checks()[-1].status == "queued"
    assert [one.conclusion for one in world.checks()] == [None], "nobody is asked to ask again"
    fork = forked(world)
    assert world.deliver("pull_request", payload(fork, "opened", sender="ada")) == ["reviewed", "not automatic"]
    pull.draft = True
    assert world.deliver("pull_request", payload(pull, "reopened", sender="ada")) == ["reviewed", "not automatic"]


def forked(world: World) -> Pull:
    fork = world.hub.fork(world.repository, "stranger")
    fork.commit("topic", {"f": "evil\n"}, author="stranger")
    return world.repository.open_pull("topic", source=fork, author="stranger")


# Who may


@pytest.mark.parametrize("who", ["tom", "tess", "nobody"])
def test_who_may_not_write_starts_nothing_and_gets_no_answer(world: World, who: str) -> None:
    assert world.say("/botlint smoke", who) == ["not allowed"]
    assert world.label(who=who)[1:] == ["not allowed"]
    assert world.workflow.runs == []
    assert world.checks() == []
    assert world.answers() == []


def test_the_permission_is_asked_when_the_run_is_started(world: World) -> None:
    """Between the comment and its task, somebody may have lost it."""
    world.hub.then("issues/create-comment", lambda: None)
    comment = world.pull.comment("/botlint smoke", "ada")
    task = events.read("issue_comment", world.hub.events.issue_comment(comment), world.app.id)
    assert isinstance(task, Task)
    assert world.tasks.run("d-1", task.body())["outcome"] == "answered"
    world.repository.grant("ada", "read")
    assert world.at_once() == ["not allowed"]
    assert world.workflow.runs == []


def test_where_github_does_not_say_nothing_is_started(world: World) -> None:
    world.hub.fail("repos/get-collaborator-permission-level", faults.bad_gateway(times=20))
    assert world.say("/botlint smoke") == ["postponed"]
    assert world.workflow.runs == []


def test_a_bot_starts_nothing(world: World) -> None:
    world.repository.grant("helper[bot]", "admin")
    world.hub.user("helper[bot]", "Bot")
    assert world.say("/botlint smoke", "helper[bot]") == ["said by a bot"]
    assert world.label(who="helper[bot]") == ["reviewed", "not allowed"]
    assert world.workflow.runs == []


# Which commit


def test_a_fork_is_started_for_the_commit_that_is_named_only(world: World) -> None:
    pull = forked(world)
    for text in ("/botlint smoke", f"/botlint smoke {pull.head_sha[:12]}", f"/botlint smoke {'0' * 40}"):
        assert world.say(text, pull=pull) == ["answered", "another commit"]
    assert world.workflow.runs == []
    assert f"botlint smoke {pull.head_sha}" in world.answers(pull)[0]
    assert not any(line.startswith("/botlint") for body in world.answers(pull) for line in body.splitlines())
    assert world.say(f"/botlint smoke {pull.head_sha}", pull=pull) == ["answered", "started"]
    assert world.run.inputs["head_sha"] == pull.head_sha


def test_a_push_between_the_look_and_the_run_starts_nothing(world: World) -> None:
    pull = forked(world)
    seen = pull.head_sha
    pull.push({"f": "worse\n"})
    assert world.say(f"/botlint smoke {seen}", pull=pull) == ["answered", "another commit"]
    payload = world.hub.events.pull_request(pull, "labeled", sender="ada", label={"name": "botlint-smoke"})
    pull.push({"f": "worst\n"})
    assert world.deliver("pull_request", payload) == ["reviewed", "another commit"]
    assert world.workflow.runs == []
    (asked,) = world.checks(pull.head_sha)
    assert (asked.status, asked.conclusion) == ("completed", "action_required")


def test_a_push_voids_a_run_and_asks_to_be_asked_again(world: World) -> None:
    world.say("/botlint smoke")
    old, run = world.check, world.run
    run.begin()
    assert world.push() == ["reviewed", "cancelled", "not automatic"]
    assert (run.status, run.conclusion) == ("completed", "cancelled")
    assert (old.status, old.conclusion, old.title) == ("completed", "cancelled", "A newer commit was pushed")
    again = world.check
    assert again.head == world.pull.head_sha
    assert (again.conclusion, again.title) == ("action_required", "There is a newer commit")
    assert world.pull.head_sha in str(again.summary)
    world.push("more\n")
    assert world.check.conclusion == "action_required", "as long as nobody asks"
    assert world.say("/botlint smoke")[-1] == "started"
    assert world.check.status == "queued"


def test_a_verdict_that_comes_after_a_push_counts_for_nothing(world: World) -> None:
    world.say("/botlint smoke")
    old, run = world.check, world.run
    result = json.dumps(result_form(world.result())).encode()
    run.begin()
    run.upload(ARTIFACT, {MEMBER: result})
    run.end()
    world.pull.push({"f": "other\n"})
    assert world.tell(run) == ["cancelled"]
    assert (old.conclusion, world.summaries()) == ("cancelled", [])


@pytest.mark.parametrize("action", ["closed", "converted_to_draft"])
def test_a_run_of_a_pull_request_that_is_closed_or_a_draft_is_cancelled(world: World, action: str) -> None:
    world.say("/botlint smoke")
    if action == "closed":
        world.pull.close()
    else:
        world.pull.draft = True
    world.deliver("pull_request", world.hub.events.pull_request(world.pull, action))
    assert world.run.conclusion == "cancelled"
    assert world.check.conclusion == "cancelled"


def test_a_lost_push_is_noticed_by_the_next_look(world: World) -> None:
    world.say("/botlint smoke")
    old, run = world.check, world.run
    world.pull.push({"f": "lost\n"})
    assert world.poll() == ["cancelled"]
    assert (old.conclusion, run.conclusion) == ("cancelled", "cancelled")


def test_asked_again_the_first_run_is_cancelled(world: World) -> None:
    world.say("/botlint smoke")
    first, run = world.check, world.run
    world.say("/botlint smoke tp=2")
    assert (first.conclusion, first.title, run.conclusion) == ("cancelled", "It was asked for again", "cancelled")
    assert world.check.status == "queued"
    assert len(world.workflow.runs) == 2


# Nothing twice, nothing lost


@pytest.mark.parametrize(
    "operation",
    ["actions/create-workflow-dispatch", "checks/create", "checks/update", "issues/create-comment"],
)
@pytest.mark.parametrize("done", [True, False])
def test_what_is_cut_off_is_gone_on_with(world: World, operation: str, done: bool) -> None:
    world.hub.fail(operation, faults.dropped(done=done, times=1))
    outcomes = world.say("/botlint smoke") + world.at_once(60)
    assert outcomes[-1] in ("started", "started before")
    assert len(world.checks()) == 1
    assert len(world.workflow.runs) == 1
    assert len(world.answers()) == 1
    assert str(world.run.id) in world.check.external_id
    assert world.finish() == ["success"]


def test_a_delivery_that_comes_twice_starts_one_run(world: World) -> None:
    comment = world.pull.comment("/botlint smoke", "ada")
    task = events.read("issue_comment", world.hub.events.issue_comment(comment), world.app.id)
    assert isinstance(task, Task)
    for _ in range(3):
        world.tasks.run("d-1", task.body())
        world.at_once()
        world.done.clear()
    assert len(world.workflow.runs) == 1
    assert len(world.checks()) == 1
    assert len(world.answers()) == 1


def test_an_older_server_does_not_say_which_run_it_made(world: World) -> None:
    world.hub.run_details = False
    world.say("/botlint smoke")
    assert ":0:" in world.check.external_id
    assert world.at_once(20) == ["waits"]
    assert f":{world.run.id}:" in world.check.external_id
    assert world.finish() == ["success"]


def test_a_run_of_somebody_else_with_the_same_title_is_not_taken_for_ours(world: World) -> None:
    world.hub.run_details = False
    world.say("/botlint smoke")
    ours = world.run
    forged = Run(
        world.hub.next_id(), world.workflow, "main", ours.head, world.hub.user("ada"), ours.inputs, ours.title,
        ours.created,
    )  # fmt: skip
    world.workflow.runs.append(forged)
    world.at_once(20)
    assert f":{ours.id}:" in world.check.external_id
    assert world.tell(forged) == ["nothing to see"]


@pytest.mark.parametrize("event", ["requested", "in_progress", "completed"])
def test_events_of_other_runs_ask_for_nothing(world: World, event: str) -> None:
    other = world.repository.workflow(".github/workflows/ci.yml", "ci", [], "build")
    run = Run(world.hub.next_id(), other, "main", world.repository.branches["main"], world.hub.user("ada"), {}, "x", 0)
    assert world.tell(run, event) == ["a run of another workflow"]
    run.title = f"botlint smoke #1 {world.pull.head_sha} {'0' * 16}"
    run.event = "pull_request"
    assert world.tell(run, event) == ["a run of another workflow"]
    run.event = "workflow_dispatch"
    assert world.tell(run, event) == ["nothing to see"]


def test_a_lost_event_is_made_good_by_looking(world: World) -> None:
    world.say("/botlint smoke")
    assert world.poll() == ["waits"]
    world.run.begin()
    assert world.poll() == ["runs"]
    world.run.upload(ARTIFACT, {MEMBER: json.dumps(result_form(world.result())).encode()})
    world.run.end()
    assert world.poll() == ["success"]
    assert world.later == []


# Runs that come to nothing


def test_no_runner_came(world: World) -> None:
    world.say("/botlint smoke")
    world.ahead = timedelta(minutes=57)
    assert world.poll() == ["waits"]
    world.ahead = timedelta(minutes=61)
    assert world.poll() == ["neutral"]
    assert (world.check.conclusion, world.check.title) == ("neutral", "No runner was free for 60 minutes")
    assert world.run.conclusion == "cancelled", "or it would take a node when nobody waits any more"


def test_where_not_to_know_blocks_it_does(world: World) -> None:
    assert world.picking.rules is not None
    world.picking.rules["fail_closed"] = True
    world.say("/botlint smoke")
    world.ahead = timedelta(minutes=61)
    assert world.poll() == ["action_required"]


def test_a_run_that_waits_for_approval_has_a_day(world: World) -> None:
    world.say("/botlint smoke")
    world.run.wait()
    world.ahead = timedelta(hours=23)
    assert world.poll() == ["waits"]
    world.ahead = timedelta(hours=25)
    assert world.poll() == ["neutral"]
    assert world.check.title == "Nobody approved the run"


def test_the_time_for_a_runner_begins_when_it_is_approved(world: World) -> None:
    world.say("/botlint smoke")
    world.run.wait()
    world.ahead = timedelta(hours=3)
    world.hub.shift = 3 * 3600
    world.run.approve()
    assert world.poll() == ["waits"]
    world.ahead = timedelta(hours=4, minutes=5)
    assert world.poll() == ["neutral"]
    assert world.check.title == "No runner was free for 60 minutes"


def test_a_run_that_takes_too_long_is_ended(world: World) -> None:
    world.say("/botlint smoke")
    world.ahead = timedelta(minutes=40)
    world.hub.shift = 40 * 60
    world.run.begin()
    world.ahead = timedelta(minutes=65)
    assert world.poll() == ["runs"], "its time begins when a runner takes it"
    world.ahead = timedelta(minutes=75)
    assert world.poll() == ["timed_out"]
    assert world.run.conclusion == "cancelled"


@pytest.mark.parametrize(
    ("conclusion", "wanted", "title"),
    [
        ("cancelled", "cancelled", "The run was cancelled"),
        ("timed_out", "timed_out", "The run took too long"),
        ("failure", "neutral", "The run ended without a verdict"),
        ("success", "neutral", "The run ended without a verdict"),
        ("startup_failure", "neutral", "The run ended before a runner took it"),
        ("action_required", "neutral", "The run ended without a verdict"),
    ],
)
def test_a_run_that_ends_without_a_verdict(world: World, conclusion: str, wanted: str, title: str) -> None:
    world.say("/botlint smoke")
    world.run.begin()
    world.run.end(conclusion)
    assert world.tell(world.run) == [wanted]
    assert (world.check.conclusion, world.check.title) == (wanted, title)


def test_a_run_that_no_runner_took(world: World) -> None:
    world.say("/botlint smoke")
    world.run.end("failure")
    world.tell(world.run)
    assert world.check.title == "The run ended before a runner took it"


def test_a_run_that_is_gone(world: World) -> None:
    world.say("/botlint smoke")
    world.workflow.runs.clear()
    assert world.poll() == ["neutral"]
    assert world.check.title == "The run is gone"


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("missing", "no workflow `botlint-smoke.yml` that can be started"),
        ("disabled", "GitHub did not start the workflow"),
        ("inputs", "GitHub did not start the workflow"),
    ],
)
def test_a_workflow_that_cannot_be_started(world: World, what: str, said: str) -> None:
    if what == "missing":
        world.repository.workflows.clear()
    elif what == "disabled":
        world.workflow.enabled = False
    else:
        world.workflow.inputs = ("pr",)
    assert world.say("/botlint smoke") == ["answered", "refused"]
    assert world.check.conclusion == "neutral"
    assert said in world.answers()[0]
    assert said in str(world.check.summary)


def test_an_app_that_may_not_start_workflows_says_so(world: World) -> None:
    world.installation.permissions = dict(PERMISSIONS)
    assert world.say("/botlint smoke") == ["answered", "gone"]
    assert "*Actions: read and write*" in world.answers()[0]
    assert world.checks() == []


def test_a_repository_that_asks_for_no_smoke_jobs(world: World) -> None:
    world.picking.rules = None
    assert world.say("/botlint smoke") == ["answered", "not set up"]
    assert "not set up" in world.answers()[0]
    assert world.label() == ["reviewed", "not set up"]
    assert len(world.answers()) == 1


def test_nothing_to_start_is_said(world: World) -> None:
    world.picking.jobs = []
    assert world.say("/botlint smoke") == ["answered", "nothing to start"]
    assert (world.check.conclusion, world.check.title) == ("success", "Nothing to start")
    world.picking.left = [{"text": "changed: @everyone <b>", "why": "its runner is b200"}]
    world.say("/botlint smoke")
    assert world.check.conclusion == "neutral"
    assert "@everyone" not in world.answers()[1]
    assert "its runner is b200" in world.answers()[1]


# What counts as evidence


@pytest.mark.parametrize(
    ("verdicts", "ended", "wanted", "title"),
    [
        (["pass", "pass"], "success", "success", "Passed"),
        (["pass", "fail"], "failure", "failure", "Failed: bad flag"),
        (["fail", "infrastructure"], "failure", "failure", "Failed: bad flag"),
        (["pass", "infrastructure"], "failure", "neutral", "The node is not fit for it"),
        (["pass", "inconclusive"], "failure", "neutral", "Undecided"),
        (["pass"], "success", "neutral", "1 of 2 jobs have no verdict"),
        (["pass", "pass"], "failure", "neutral", "Passed, but the run failed after that"),
        ([], "success", "neutral", "Undecided"),
    ],
)
def test_what_verdicts_come_to(world: World, verdicts: list[str], ended: str, wanted: str, title: str) -> None:
    world.say("/botlint smoke")
    found = [world.verdict(one, "bad flag" if one == "fail" else "it answers") for one in verdicts]
    result = world.result(*found) if found else world.result(jobs=())
    assert world.finish(result, ended) == [wanted]
    assert (world.check.conclusion, world.check.title) == (wanted, title)


@pytest.mark.parametrize(
    ("changes", "title"),
    [
        ({"nonce": "f" * 16}, "The verdict is that of another run"),
        ({"head": "e" * 40}, "The verdict is that of another run"),
    ],
)
def test_a_verdict_of_another_run_or_commit_counts_for_nothing(
    world: World, changes: dict[str, str], title: str
) -> None:
    world.say("/botlint smoke")
    assert world.finish(world.result(**changes)) == ["neutral"]
    assert world.check.title == title


@pytest.mark.parametrize("what", ["path", "branch", "event"])
def test_a_run_of_another_workflow_branch_or_event_is_no_evidence(world: World, what: str) -> None:
    world.say("/botlint smoke")
    run = world.run
    if what == "path":
        run.workflow.path = ".github/workflows/evil.yml"
    elif what == "branch":
        run.ref = "topic"
    else:
        run.event = "push"
    run.begin()
    run.upload(ARTIFACT, {MEMBER: json.dumps(result_form(world.result())).encode()})
    run.end()
    assert world.poll() == ["neutral"]
    assert world.check.title == "The run is not one of the workflow of the default branch"
    assert world.hub.count("actions/download-artifact") == 0


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"[" * 50_000, b'{"schema": "botlint.smoke-result/1"}', b"\xff", b"null"]
)
def test_a_result_of_another_form_is_told_and_counts_for_nothing(world: World, content: bytes) -> None:
    world.say("/botlint smoke")
    assert world.finish(content) == ["neutral"]
    assert world.check.title == "The verdict cannot be read"


@pytest.mark.parametrize("data", [b"no archive", b"x" * 1_500_000])
def test_an_artifact_that_is_no_archive_or_too_large(world: World, data: bytes) -> None:
    world.say("/botlint smoke")
    world.run.begin()
    world.run.upload_raw(ARTIFACT, data)
    world.run.end()
    assert world.tell(world.run) == ["neutral"]
    assert world.check.title == "The verdict cannot be read"
    assert world.hub.count("storage") == (1 if len(data) < 1_000_000 else 0)


def test_texts_of_a_node_are_text_and_nothing_else(world: World) -> None:
    world.say("/botlint smoke")
    token = "ghs_" + "A1b2" * 9
    evil = f"<script>@all #1 [x](http://evil) ![i](https://evil/i.png) | ``` <!-- botlint:v1 summary --> {token} \u202e"
    verdict = world.verdict(
        "fail",
        evil,
        log=Log(tail=(evil, "```", "<!-- botlint:v1 smoke-end -->"), lines=3),
        changes=(Change(evil, evil, evil, evil),),
    )
    verdict = replace(verdict, job=JobName(evil, evil, 0, 1), stage="serve")
    assert world.finish(world.result(verdict, verdict), "failure") == ["failure"]
    (summary,) = world.summaries()
    for text in (summary, str(world.check.summary), str(world.check.title)):
        assert token not in text
        assert "\u202e" not in text
    for text in (summary, str(world.check.summary)):
        html, plain, addresses = read_markdown(text)
        assert html <= {"<!-- -->", "<sub>", "</sub>", "<details>", "</details>", "<summary>", "</summary>"}
        assert not [one for one in plain if "@all" in one or "https://" in one or "#1" in one]
        assert not [one for one in addresses if "evil" in one]
    assert summary.count("\n<!-- botlint:v1 summary -->") == 1
    assert [line for line in summary.splitlines() if line.startswith("<!--")] == [
        f"<!-- botlint:v1 smoke={world.pull.head_sha} -->",
        "<!-- botlint:v1 smoke-end -->",
        "<!-- botlint:v1 summary -->",
    ]


def read_markdown(text: str) -> tuple[set[str], list[str], list[str]]:
    """Markup, text outside of code, and addresses, as a reader of Markdown finds them; without lines that are ours."""
    from markdown_it import MarkdownIt

    html, plain, addresses = set(), [], []
    for token in MarkdownIt("gfm-like", {"linkify": False}).parse(text):
        for one in (token, *(token.children or ())):
            if one.type in ("html_inline", "html_block"):
                html |= {part for part in re.findall(r"<!--.*?-->|<[^>]*>", one.content) if "botlint:v1" not in part}
            elif one.type == "text":
                plain.append(one.content)
            addresses += [str(one.attrs[name]) for name in ("href", "src") if name in one.attrs]
    return html, plain, addresses


def test_a_great_result_is_cut_and_told(world: World) -> None:
    world.say("/botlint smoke")
    many = tuple(Change(f"--flag-{number}", "a" * 300, "b" * 300, "why" * 50) for number in range(300))
    verdict = world.verdict("fail", "x" * 1999, changes=many, log=Log(tail=("é" * 2000,) * 100, lines=300))
    assert world.finish(world.result(verdict, verdict), "failure") == ["failure"]
    assert len(str(world.check.summary)) < 65_000
    assert len(world.summaries()[0]) < 8_000


# The summary comment


def test_a_later_review_keeps_what_the_run_said_of_this_head(world: World) -> None:
    from botlint.github.smoke import carried, section_of

    world.say("/botlint smoke")
    world.finish()
    (summary,) = world.summaries()
    head = world.pull.head_sha
    with world._client(PERMISSIONS) as github:
        comments, me = github.issue_comments(1), github.me()
    new = "## botlint: 1 error\n\nMore.\n\n<!-- botlint:v1 summary -->"
    kept = carried(new, comments, me, head)
    assert kept.startswith("## botlint: 1 error\n\nMore.\n\n<!-- botlint:v1 smoke=")
    assert section_of(kept, head) == section_of(summary, head) != ""
    assert kept.endswith("\n\n<!-- botlint:v1 summary -->")
    assert carried(new, comments, me, "f" * 40) == new, "of another head it says nothing"
    stranger = [replace(one, author=Identity(1, "eve")) for one in comments]
    assert carried(new, stranger, me, head) == new


def test_a_second_verdict_takes_the_place_of_the_first(world: World) -> None:
    world.say("/botlint smoke")
    world.finish()
    world.say("/botlint smoke")
    bad = world.verdict("fail", "bad flag")
    world.finish(world.result(bad, bad), "failure")
    (summary,) = world.summaries()
    assert "Failed" in summary
    assert "Passed" not in summary


def test_a_repository_of_another_language(world: World) -> None:
    assert world.picking.rules is not None
    world.picking.rules["languages"] = ["zh", "en"]
    world.say("/botlint smoke")
    assert "冒烟测试" in str(world.check.title)
    world.finish()
    assert world.check.title == "通过"


# What the App may do


def test_only_tasks_about_smoke_runs_may_write_actions(world: World) -> None:
    world.say("/botlint smoke")
    world.finish()
    for call in world.hub.calls:
        wide = call.token is not None and "actions" in call.token.permissions
        if call.operation.startswith("actions/"):
            assert wide
    reviews = world.deliver("pull_request", world.hub.events.pull_request(world.pull, "edited", changes={"title": {}}))
    assert reviews[0] == "reviewed"
    assert "actions" not in world.hub.calls[-1].token.permissions  # type: ignore[union-attr]


def test_what_a_reviewing_process_may_ask_for_starts_nothing() -> None:
    from botlint.server.pool import METHODS

    assert not METHODS & {"dispatch_workflow", "cancel_run", "artifact", "workflow_run"}


@pytest.mark.parametrize(
    "picked",
    [
        None,
        {"base": "main", "jobs": [], "left": []},
        {"base": "a" * 40, "jobs": [{"id": "$(reboot)", "text": "", "gpus": 1, "shows": []}], "left": []},
        {"base": "a" * 40, "jobs": [{"id": "1" * 16, "text": "", "gpus": 1, "shows": []}] * 9, "left": []},
        {"base": "a" * 40, "jobs": "x", "left": []},
    ],
)
def test_a_reviewing_process_that_was_taken_over_gets_nothing_started(world: World, picked: Any) -> None:
    world.picking.smoke_jobs = lambda *_: picked  # type: ignore[method-assign]
    assert world.say("/botlint smoke")[-1] == "postponed"
    assert world.workflow.runs == []


def test_the_fault_of_a_storage_is_tried_again(world: World) -> None:
    world.say("/botlint smoke")
    world.hub.fail("actions/download-artifact", Fault(status=502))
    assert world.finish() == ["postponed"]
    assert world.at_once(10) == ["success"]

"""Deliveries and the tasks that they ask for."""

from __future__ import annotations

import json
from typing import Any

import pytest
from deliveries import APP, BASE, HEAD, issue_comment, payload, pull_request

from botlint.server.commands import Command
from botlint.server.events import Ignored, Task, account, from_body, read

BOT = {"id": 9, "login": "botlint[bot]", "type": "Bot"}


@pytest.mark.parametrize(
    "action",
    [
        "opened",
        "reopened",
        "synchronize",
        "closed",
        "ready_for_review",
        "converted_to_draft",
        "labeled",
        "unlabeled",
    ],
)
def test_a_pull_request_is_reviewed(action: str) -> None:
    task = read("pull_request", pull_request(action), APP)
    assert isinstance(task, Task)
    assert (task.kind, task.number, task.head, task.lane) == ("review", 7, HEAD, "1001#7")
    assert (task.installation, task.repository) == (77, "acme/bench")


@pytest.mark.parametrize(
    ("changes", "reviewed"),
    [
        ({"base": {"ref": {"from": "main"}, "sha": {"from": BASE}}}, True),
        ({"title": {"from": "[WIP] x"}}, True),
        ({"body": {"from": ""}}, True),
        ({"something": {}}, False),
        ({}, False),
        (None, False),
    ],
)
def test_an_edit_counts_where_a_review_reads_it(changes: Any, reviewed: bool) -> None:
    assert isinstance(read("pull_request", pull_request("edited", changes=changes), APP), Task) is reviewed


def test_a_pull_request_of_a_bot_is_reviewed_too() -> None:
    assert isinstance(read("pull_request", pull_request("opened", sender=BOT), APP), Task)


def _rerequested(what: str, app: int = APP, pulls: Any = (), head: Any = HEAD) -> dict[str, Any]:
    return payload(action="rerequested", **{what: {"app": {"id": app}, "head_sha": head, "pull_requests": list(pulls)}})


@pytest.mark.parametrize("what", ["check_run", "check_suite"])
@pytest.mark.parametrize(
    ("pulls", "number"), [([{"number": 7}], 7), ([], 0), ([{"number": 7}, {"number": 8}], 0), ([None], 0)]
)
def test_a_rerequested_check_runs_again(what: str, pulls: Any, number: int) -> None:
    task = read(what, _rerequested(what, pulls=pulls), APP)
    assert isinstance(task, Task)
    assert (task.kind, task.head, task.number) == ("rerun", HEAD, number)
    assert task.lane == ("1001#7" if number else f"1001@{HEAD}")


def test_a_merge_group_gets_its_check() -> None:
    group = {"head_sha": HEAD, "base_sha": BASE, "head_ref": "refs/heads/gh-readonly-queue/main/pr-7"}
    task = read("merge_group", payload(action="checks_requested", merge_group=group), APP)
    assert isinstance(task, Task)
    assert (task.kind, task.head, task.base, task.number) == ("group", HEAD, BASE, 0)


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("issue_comment", issue_comment("/botlint check")),
        (
            "pull_request_review_comment",
            payload(
                action="created",
                pull_request={"number": 7, "state": "open"},
                comment={"id": 9001, "body": "/botlint check", "user": {"login": "ada", "type": "User"}},
            ),
        ),
        (
            "pull_request_review",
            payload(
                action="submitted",
                pull_request={"number": 7, "state": "open"},
                review={"id": 9001, "body": "/botlint check", "user": {"login": "ada", "type": "User"}},
            ),
        ),
    ],
)
def test_commands_come_in_comments_of_three_kinds(event: str, told: dict[str, Any]) -> None:
    task = read(event, told, APP)
    assert isinstance(task, Task)
    assert (task.kind, task.actor, task.comment, task.commands) == ("command", "ada", 9001, (Command("check"),))
    assert task.inline is (event == "pull_request_review_comment")
    assert from_body(json.loads(json.dumps(task.body()))) == task


def test_words_that_a_rule_may_wait_for_ask_for_a_look() -> None:
    task = read("issue_comment", issue_comment("I checked every box"), APP)
    assert isinstance(task, Task)
    assert (task.kind, task.number) == ("discussed", 7)
    edited = read("issue_comment", issue_comment("/botlint check", action="edited"), APP)
    assert isinstance(edited, Task)
    assert edited.kind == "discussed", "a command counts once, when it is written"


@pytest.mark.parametrize(
    ("event", "told"),
    [
        ("issue_comment", issue_comment("/botlint check", sender=BOT)),
        ("issue_comment", issue_comment("/botlint check", login="other[bot]")),
        ("issue_comment", issue_comment("/botlint check", login="eve")),
        ("issue_comment", {**issue_comment("/botlint check"), "issue": {"number": 7, "state": "open"}}),
        ("issue_comment", {**issue_comment("x"), "issue": {"number": 7, "state": "closed", "pull_request": {}}}),
        (
            "issue_comment",
            payload(
                action="created",
                issue={"number": 7, "pull_request": {}},
                comment={
                    "body": "/botlint check",
                    "user": {"login": "ada"},
                    "performed_via_github_app": {"id": APP},
                },
            ),
        ),
        ("pull_request_review_comment", payload(action="created", pull_request={"number": 7}, comment={"body": "no"})),
        ("check_run", _rerequested("check_run", app=1)),
        ("check_run", {**_rerequested("check_run"), "action": "created"}),
        ("check_run", _rerequested("check_run", head="HEAD")),
        ("check_suite", {**_rerequested("check_suite"), "action": "requested"}),
        ("merge_group", payload(action="destroyed", merge_group={"head_sha": HEAD})),
        ("merge_group", payload(action="checks_requested", merge_group={"head_sha": "../x"})),
        ("pull_request", pull_request("assigned")),
        ("pull_request", {"action": "opened"}),
        ("pull_request", {**pull_request("opened"), "installation": None}),
        ("pull_request", {**pull_request("opened"), "installation": {"id": "77"}}),
        ("pull_request", {**pull_request("opened"), "repository": {"id": 1, "full_name": "../etc/passwd"}}),
        ("pull_request", {**pull_request("opened"), "repository": {"id": 1, "full_name": "acme/.."}}),
        ("pull_request", {**pull_request("opened"), "repository": {"id": True, "full_name": "acme/x"}}),
        ("pull_request", pull_request("opened", number=-1)),
        ("push", payload(ref="refs/heads/main")),
        ("workflow_run", payload(action="completed")),
        ("ping", {"zen": "Keep it logically awesome."}),
        ("installation", {"action": "deleted", "installation": {"id": 1}, "repositories": []}),
        ("installation_repositories", {"action": "removed", "installation": {"id": 1}, "repositories_added": []}),
        ("pull_request", None),
        ("pull_request", []),
        ("pull_request", "text"),
        ("", {}),
    ],
)
def test_all_else_asks_for_nothing(event: str, told: Any) -> None:
    assert isinstance(read(event, told, APP), Ignored)


@pytest.mark.parametrize(
    ("event", "action", "key"),
    [
        ("installation", "created", "repositories"),
        ("installation_repositories", "added", "repositories_added"),
    ],
)
def test_new_repositories_are_looked_through(event: str, action: str, key: str) -> None:
    told = {"action": action, "installation": {"id": 77, "account": {"login": "Acme"}}, key: [{"full_name": "acme/x"}]}
    task = read(event, told, APP)
    assert isinstance(task, Task)
    assert (task.kind, task.installation) == ("repositories", 77)
    assert account(told) == "acme"


def test_a_task_is_kept_small_and_whole() -> None:
    task = read("pull_request", pull_request("synchronize"), APP)
    assert isinstance(task, Task)
    body = task.body()
    assert len(json.dumps(body)) < 300
    assert from_body(json.loads(json.dumps(body))) == task
    assert account(pull_request("opened")) == "acme"


# Smoke runs

NONCE = "f" * 16


def _smoke_check(external_id: str, **parts: Any) -> dict[str, Any]:
    check = {"app": {"id": APP}, "head_sha": HEAD, "name": "botlint / smoke", "external_id": external_id}
    return payload(action="rerequested", check_run={**check, "pull_requests": [], **parts})


@pytest.mark.parametrize("external_id", [f"smoke:7:{HEAD}:{NONCE}:5:2", f"smoke-again:7:{HEAD}"])
def test_a_smoke_check_is_run_again_for_who_pressed_the_button(external_id: str) -> None:
    task = read("check_run", _smoke_check(external_id), APP)
    assert isinstance(task, Task)
    assert (task.kind, task.number, task.head, task.actor) == ("smoke", 7, HEAD, "ada")
    assert task.lane == "1001#7"


@pytest.mark.parametrize(
    "told",
    [
        _smoke_check("7:pending"),
        _smoke_check(""),
        _smoke_check(f"smoke:7:{HEAD}:{NONCE}:5:2", app={"id": 1}),
        {**_smoke_check(f"smoke:7:{HEAD}:{NONCE}:5:2"), "sender": {"login": "../x"}},
    ],
)
def test_a_smoke_check_of_nothing_asks_for_nothing(told: Any) -> None:
    assert isinstance(read("check_run", told, APP), Ignored)


def _workflow_run(action: str = "completed", **parts: Any) -> dict[str, Any]:
    run = {"id": 5, "display_title": f"botlint smoke #7 {HEAD} {NONCE}", "event": "workflow_dispatch", **parts}
    return payload(action=action, workflow_run=run)


@pytest.mark.parametrize("action", ["requested", "in_progress", "completed"])
def test_a_run_of_the_workflow_of_smoke_jobs_is_looked_at(action: str) -> None:
    task = read("workflow_run", _workflow_run(action), APP)
    assert isinstance(task, Task)
    assert (task.kind, task.number, task.head, task.run, task.lane) == ("smoke-look", 7, HEAD, 5, "1001#7")
    assert from_body(json.loads(json.dumps(task.body()))) == task


@pytest.mark.parametrize(
    "told",
    [
        _workflow_run("deleted"),
        _workflow_run(display_title="Fix botlint smoke"),
        _workflow_run(display_title=f"botlint smoke #7 {HEAD} {NONCE} x"),
        _workflow_run(display_title=f"botlint smoke #0 {HEAD} {NONCE}"),
        _workflow_run(display_title=None),
        _workflow_run(event="pull_request"),
        _workflow_run(id="5"),
        payload(action="completed"),
    ],
)
def test_other_runs_of_workflows_are_ignored(told: Any) -> None:
    assert isinstance(read("workflow_run", told, APP), Ignored)


def test_a_label_and_a_push_say_what_they_are_about() -> None:
    labelled = read("pull_request", pull_request("labeled", label={"name": "x" * 500}), APP)
    assert isinstance(labelled, Task)
    assert (labelled.label, labelled.actor) == ("x" * 100, "ada")
    pushed = read("pull_request", pull_request("synchronize", before=BASE), APP)
    assert isinstance(pushed, Task)
    assert (pushed.before, pushed.label) == (BASE, "")
    by_bot = read("pull_request", pull_request("labeled", label={"name": "x"}, sender={"login": "x[bot]"}), APP)
    assert isinstance(by_bot, Task)
    assert by_bot.actor == ""

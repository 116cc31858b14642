"""GitHub's own examples of deliveries, and what they lack: forks, comments on pull requests, another base."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from botlint.server.events import Ignored, Task, read

SAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parents[1] / "github" / "data" / "webhooks.json").read_text(encoding="utf-8")
)

WANTED: dict[str, str | None] = {
    "check_run.rerequested": "rerun",
    "check_suite.rerequested": "rerun",
    "installation.created": "repositories",
    "installation_repositories.added": "repositories",
    "issue_comment.created": None,  # on an issue
    "merge_group.checks_requested": "group",
    "ping": None,
    "pull_request.opened": "review",
    "pull_request.synchronize": "review",
    "pull_request_review_comment.created": None,  # no command
    "workflow_run.completed": None,
}


def app_of(payload: dict[str, Any]) -> int:
    for what in ("check_run", "check_suite"):
        if what in payload:
            found: int = payload[what]["app"]["id"]
            return found
    return 4242


def sample(name: str) -> Any:
    return copy.deepcopy(SAMPLES[name])


def test_every_example_is_told_about() -> None:
    assert set(WANTED) == set(SAMPLES)


@pytest.mark.parametrize("name", sorted(WANTED))
def test_an_example_of_github(name: str) -> None:
    payload = sample(name)
    task = read(name.partition(".")[0], payload, app_of(payload))
    assert (task.kind if isinstance(task, Task) else None) == WANTED[name], task
    if isinstance(task, Task):
        assert task.installation
        assert len(json.dumps(task.body())) < 500


@pytest.mark.parametrize("name", ["check_run.rerequested", "check_suite.rerequested"])
def test_a_check_of_another_app_is_left_to_it(name: str) -> None:
    assert isinstance(read(name.partition(".")[0], sample(name), 1), Ignored)


@pytest.mark.parametrize("name", ["check_run.rerequested", "check_suite.rerequested"])
def test_a_check_of_a_fork_names_no_pull_request(name: str) -> None:
    payload = sample(name)
    payload[name.partition(".")[0]]["pull_requests"] = []
    task = read(name.partition(".")[0], payload, app_of(payload))
    assert isinstance(task, Task)
    assert (task.number, bool(task.head)) == (0, True)


def test_a_pull_request_of_a_fork_belongs_to_the_base() -> None:
    payload = sample("pull_request.synchronize")
    payload["pull_request"]["head"]["repo"] = None  # the fork is gone
    payload["pull_request"]["head"]["user"] = None
    task = read("pull_request", payload, 4242)
    assert isinstance(task, Task)
    assert task.repository == payload["repository"]["full_name"]


def test_another_base_branch() -> None:
    payload = sample("pull_request.synchronize")
    payload["action"] = "edited"
    payload["changes"] = {"base": {"ref": {"from": "main"}, "sha": {"from": "0" * 40}}}
    task = read("pull_request", payload, 4242)
    assert isinstance(task, Task)
    assert task.reason == "base edited"


def test_a_comment_on_a_pull_request() -> None:
    payload = sample("issue_comment.created")
    payload["issue"]["pull_request"] = {"url": "https://api.github.com/repos/o/r/pulls/1"}
    payload["issue"]["state"] = "open"
    payload["comment"]["body"] = "/botlint check"
    payload["comment"]["user"] = {**payload["sender"], "type": "User"}
    payload["sender"] = dict(payload["comment"]["user"])
    payload.setdefault("installation", {"id": 1})
    task = read("issue_comment", payload, 4242)
    assert isinstance(task, Task)
    assert (task.kind, task.actor) == ("command", payload["sender"]["login"])


@pytest.mark.parametrize("name", sorted(WANTED))
def test_an_example_with_anything_missing_or_of_another_type_is_read_too(name: str) -> None:
    """Every value of an example, to the third level, left out or replaced: a task or a reason, never an error."""
    event, app = name.partition(".")[0], app_of(SAMPLES[name])
    for path in paths(SAMPLES[name], 3):
        for value in (None, "text", -1, [], {}, True, 1 << 80):
            payload = sample(name)
            place = payload
            for key in path[:-1]:
                place = place[key]
            place[path[-1]] = value
            assert isinstance(read(event, payload, app), (Task, Ignored))


def paths(value: Any, depth: int) -> list[tuple[str, ...]]:
    if depth == 0 or not isinstance(value, dict):
        return []
    return [(key, *rest) for key, inner in value.items() for rest in ((), *paths(inner, depth - 1))]

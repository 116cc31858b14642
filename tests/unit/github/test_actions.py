"""Reviews by a job of GitHub Actions: events, tokens that may only read, exit statuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import pytest
from port_samples import Hub
from test_review import Found, finding, hub

from botlint.core.errors import CannotFinish, UsageError
from botlint.github.actions import Event, Surroundings, parse_event, read_event, run, surroundings
from botlint.github.port import Forbidden, GitHub, RateLimited
from botlint.github.review import Options

SHA = "a" * 40
PULL = {"pull_request": {"number": 4}, "repository": {"full_name": "acme/bench"}}


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("pull_request", PULL, Event("pull_request", "acme/bench", 4)),
        ("pull_request_target", PULL, Event("pull_request_target", "acme/bench", 4)),
        ("issue_comment", {"issue": {"number": 5, "pull_request": {"url": "x"}}}, Event("issue_comment", "o/r", 5)),
        (
            "merge_group",
            {"merge_group": {"head_sha": SHA, "base_sha": SHA}},
            Event("merge_group", "o/r", None, SHA, SHA),
        ),
        ("issue_comment", {"issue": {"number": 5}}, None),
        ("pull_request", {}, None),
        ("pull_request", {"pull_request": {"number": "4"}}, None),
        ("pull_request", {"pull_request": [4]}, None),
        ("merge_group", {"merge_group": {"head_sha": "main", "base_sha": SHA}}, None),
        ("push", {"after": SHA}, None),
        ("", PULL, None),
    ],
)
def test_events(name: str, data: dict[str, Any], expected: Event | None) -> None:
    if expected is None:
        with pytest.raises(UsageError):
            parse_event(name, data, "o/r")
    else:
        assert parse_event(name, data, "o/r") == expected


@pytest.mark.parametrize("content", [None, b"", b"{", b"[1]", b"[" * 200_000, b"\xff"])
def test_events_that_cannot_be_read(content: bytes | None, tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(UsageError):
        read_event(Surroundings("t", event_path=str(path), event_name="pull_request"))


def test_the_environment_of_a_job(tmp_path: Path) -> None:
    path = tmp_path / "event.json"
    path.write_text(json.dumps(PULL))
    known = surroundings(
        {
            "GITHUB_TOKEN": "t",
            "GITHUB_API_URL": "https://ghes.test/api/v3/",
            "GITHUB_SERVER_URL": "https://ghes.test",
            "GITHUB_EVENT_PATH": str(path),
            "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_REPOSITORY": "acme/bench",
        }
    )
    assert (known.api, known.web, known.in_actions) == ("https://ghes.test/api/v3", "https://ghes.test", True)
    assert read_event(known).number == 4
    assert surroundings({"GH_TOKEN": "t"}) == Surroundings("t")
    with pytest.raises(UsageError):
        read_event(Surroundings("t"))


def act(
    github: Hub, found: Found, known: Surroundings | None = None, event: Event | None = None, **options: Any
) -> tuple[int, str]:
    said: list[str] = []
    event = event or Event("pull_request", "acme/bench", 1)
    known = known or Surroundings("t", event_name="pull_request")
    status = run(event, cast(GitHub, github), Options(analyse=found), known, said.append, **options)
    return status, "".join(said)


@pytest.mark.parametrize(
    ("more", "status"), [({}, 1), ({"severity": "warning"}, 0), ({"certainty": "possible"}, 0), (None, 0)]
)
def test_the_exit_status_is_the_verdict(more: dict[str, str] | None, status: int) -> None:
    github = hub()
    found = Found() if more is None else Found(finding(3, **more))
    assert act(github, found)[0] == status
    assert len(github.review) == (more is not None)
    assert github.runs == []


def test_a_token_that_may_only_read(tmp_path: Path) -> None:
    github = hub()

    def forbid(*_: object) -> None:
        raise Forbidden("Resource not accessible by integration")

    github.faults = {name: [forbid] for name in ("create_review", "create_issue_comment")}
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    known = Surroundings("t", event_name="pull_request", summary_path=str(summary))
    status, said = act(github, Found(finding(3)), known)
    assert status == 1
    assert said.startswith("::error file=benchmarks/run.sh,line=3")
    assert summary.read_text().startswith("before\n## botlint: 1 error")
    assert "bad 3" in summary.read_text()
    assert (github.review, github.issue) == ([], [])


def test_comments_are_not_told_once_more_as_annotations(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    known = Surroundings("t", event_name="pull_request", summary_path=str(summary))
    status, said = act(hub(), Found(finding(3)), known)
    assert status == 1
    assert "::error" not in said
    assert "bad 3" in said
    assert "bad 3" in summary.read_text()


def test_a_merge_group_is_told_in_the_job() -> None:
    github = hub()
    event = Event("merge_group", "acme/bench", None, "c" * 40, "b" * 40)
    status, said = act(github, Found(finding(3)), event=event)
    assert status == 1
    assert said.startswith("::error")
    assert (github.review, github.issue, github.runs) == ([], [], [])


def test_limits_are_waited_for_if_that_is_not_long() -> None:
    github = hub()
    waits: list[float] = []
    limits = [RateLimited("slow down", 60.0), RateLimited("slow down", 70.0)]

    def limit(*_: object) -> None:
        if limits:
            raise limits.pop(0)

    github.faults["create_review"] = [limit]
    assert act(github, Found(finding(3)), sleep=waits.append)[0] == 1
    assert waits == [60.0, 70.0]
    assert len(github.review) == 1
    limits.append(RateLimited("slow down", 4000.0))
    github.review.clear()
    with pytest.raises(RateLimited):
        act(github, Found(finding(3)), sleep=waits.append)


def test_what_did_not_finish_is_no_verdict() -> None:
    found = Found(finding(3, severity="warning"))
    found.failures = ("rule x: ValueError",)
    with pytest.raises(CannotFinish):
        act(hub(), found)
    found.fault = ValueError("x")
    with pytest.raises(CannotFinish):
        act(hub(), found)


@pytest.mark.parametrize(
    "found",
    [Found(finding(3)), Found(fail_closed=True), Found(finding(3), fail_closed=True)],
    ids=["sure", "set", "both"],
)
def test_a_fault_of_ours_lets_nothing_through_that_is_certain(found: Found) -> None:
    found.failures = ("rule x: ValueError",)
    assert act(hub(), found)[0] == 1


def test_a_summary_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    known = Surroundings("t", event_name="pull_request", summary_path=str(tmp_path))
    assert act(hub(), Found(), known)[0] == 0

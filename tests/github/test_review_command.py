"""`botlint review` as it is called: from a terminal, in a job, with a token that may only read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from fakehub import FakeGitHub, Token
from fakehub.seed import Seed, plant

from botlint.cli import main

NUMBER = "1"


@pytest.fixture
def seed(hub: FakeGitHub) -> Seed:
    return plant(hub, fork="mallory")


@pytest.fixture(autouse=True)
def _no_job(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TOKEN", "EVENT_PATH", "EVENT_NAME", "REPOSITORY", "STEP_SUMMARY", "API_URL", "SERVER_URL"):
        monkeypatch.delenv(f"GITHUB_{name}", raising=False)
    monkeypatch.delenv("GH_TOKEN", raising=False)
    monkeypatch.setenv("NO_COLOR", "1")


def surround(monkeypatch: pytest.MonkeyPatch, hub: FakeGitHub, token: Token, more: Mapping[str, str]) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", token.text)
    monkeypatch.setenv("GITHUB_API_URL", hub.api)
    monkeypatch.setenv("GITHUB_SERVER_URL", hub.web)
    for name, value in more.items():
        monkeypatch.setenv(name, value)


def job(tmp_path: Path, event: str = "pull_request_target") -> dict[str, str]:
    path = tmp_path / "event.json"
    path.write_text(json.dumps({"pull_request": {"number": 1}, "repository": {"full_name": "acme/bench"}}))
    return {
        "GITHUB_EVENT_PATH": str(path),
        "GITHUB_EVENT_NAME": event,
        "GITHUB_REPOSITORY": "acme/bench",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
    }


def test_a_dry_run_prints_what_a_run_would_send(
    hub: FakeGitHub, seed: Seed, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    surround(monkeypatch, hub, hub.actions_token(seed.repository), {})
    assert main(["review", "--repo", "acme/bench", "--pr", NUMBER, "--dry-run"]) == 1
    assert (seed.pull.inline, seed.pull.comments, hub.writes()) == ([], [], [])
    shown = capsys.readouterr().out
    requests = [line for line in shown.splitlines() if line.startswith(("POST ", "PATCH "))]
    path = f"{hub.api}/repos/acme/bench"
    assert requests == [f"POST {path}/pulls/1/reviews", f"POST {path}/issues/1/comments"]
    body = json.loads(shown.split("\n", 1)[1].split("\nPOST ")[0])
    assert [one["path"] for one in body["comments"]] == [body["comments"][0]["path"]] * 2
    assert len(hub.calls) <= 25

    assert main(["review", "--repo", "acme/bench", "--pr", NUMBER]) == 1
    assert sorted(one.body for one in seed.pull.inline) == sorted(one["body"] for one in body["comments"])


def test_a_job_comments_on_the_pull_request_of_a_fork(
    hub: FakeGitHub, seed: Seed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    surround(monkeypatch, hub, hub.actions_token(seed.repository), job(tmp_path))
    for _ in range(2):
        assert main(["review"]) == 1
    assert (len(seed.pull.inline), len(seed.pull.comments), seed.repository.runs()) == (2, 1, [])
    assert {one.user.login for one in seed.pull.inline} == {"github-actions[bot]"}
    assert "::error" not in capsys.readouterr().out
    assert "2 errors" in (tmp_path / "summary.md").read_text()


def test_a_token_that_may_only_read_leaves_annotations(
    hub: FakeGitHub, seed: Seed, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    token = hub.actions_token(seed.repository, {"contents": "read", "metadata": "read", "pull_requests": "read"})
    surround(monkeypatch, hub, token, job(tmp_path, "pull_request"))
    assert main(["review"]) == 1
    assert (seed.pull.inline, seed.pull.comments) == ([], [])
    told = capsys.readouterr()
    assert told.out.count("::error file=") == 2
    assert token.text not in told.out + told.err
    assert "2 errors" in (tmp_path / "summary.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "more", "said"),
    [
        ([], {"GITHUB_TOKEN": "t"}, "--repo"),
        (["--repo", "acme/bench"], {"GITHUB_TOKEN": "t"}, "--pr"),
        (["--pr", "1"], {"GITHUB_TOKEN": "t"}, "--repo"),
        (["--repo", "acme/bench", "--pr", "1"], {}, "GITHUB_TOKEN"),
        (["--repo", "acme/bench", "--pr", "0"], {"GITHUB_TOKEN": "t"}, "pr"),
        ([], {"GITHUB_TOKEN": "t", "GITHUB_EVENT_NAME": "push", "GITHUB_EVENT_PATH": "/dev/null"}, "event"),
    ],
)
def test_wrong_use(
    arguments: list[str],
    more: dict[str, str],
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, value in more.items():
        monkeypatch.setenv(name, value)
    assert main(["review", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_a_server_that_is_not_there(
    hub: FakeGitHub, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    repository = hub.repository("acme/empty", {"README.md": "x"})
    surround(monkeypatch, hub, hub.actions_token(repository), {})
    assert main(["review", "--repo", "acme/empty", "--pr", "5"]) == 3
    told = capsys.readouterr().err
    assert "404" in told
    assert "acme" not in told

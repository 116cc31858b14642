"""The workflows and the action of this repository: what they run, and what their tokens may do."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
ACTION = ROOT / ".github" / "actions" / "botlint" / "action.yml"
REVIEW = ROOT / ".github" / "workflows" / "botlint-review.yml"
DOCUMENTED = re.findall(r"```yaml\n(# \.github/workflows.*?)```", (ROOT / "docs" / "review.md").read_text(), re.DOTALL)


def load(text: str) -> dict[Any, Any]:
    found = yaml.safe_load(text)
    assert isinstance(found, dict)
    return found


def steps(document: dict[Any, Any]) -> Iterator[dict[str, Any]]:
    yield from document.get("runs", {}).get("steps", ())
    for job in document.get("jobs", {}).values():
        yield from job.get("steps", ())


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION], ids=lambda path: path.name)
def test_everything_that_is_used_is_pinned_and_no_text_gets_into_a_script(path: Path) -> None:
    for step in steps(load(path.read_text())):
        used = step.get("uses", "./")
        assert used.startswith("./") or re.fullmatch(r"[^@]+@[0-9a-f]{40}", used), used
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("text", [REVIEW.read_text(), *DOCUMENTED], ids=["own", "documented"])
def test_a_review_of_forks_checks_nothing_out_and_may_only_comment(text: str) -> None:
    document = load(text)
    assert set(document[True]) == {"pull_request_target", "merge_group"}
    assert {"opened", "reopened", "synchronize", "edited", "ready_for_review"} <= set(
        document[True]["pull_request_target"]["types"]
    )
    assert document["permissions"] == {}
    (job,) = document["jobs"].values()
    assert job["permissions"] == {"contents": "read", "pull-requests": "write"}
    used = [step.get("uses", "") for step in job["steps"]]
    assert not any(word in one for one in used for word in ("checkout", "cache"))
    assert "secrets." not in text
    assert "pull_request.head" not in text


def test_the_action_hands_on_the_token_only_to_the_step_that_needs_it() -> None:
    action = load(ACTION.read_text())
    assert action["runs"]["using"] == "composite"
    with_token = [step["name"] for step in steps(action) if "GITHUB_TOKEN" in step.get("env", {})]
    assert with_token == ["Review"]
    for step in steps(action):
        assert "run" not in step or step["shell"] == "bash"


@pytest.mark.parametrize(
    ("status", "closed", "expected"),
    [(0, "false", 0), (1, "false", 1), (2, "false", 2), (3, "false", 0), (3, "true", 3), (4, "true", 4)],
)
def test_what_the_action_makes_of_an_exit_status(status: int, closed: str, expected: int, tmp_path: Path) -> None:
    (script,) = [step["run"] for step in steps(load(ACTION.read_text())) if step.get("name") == "Review"]
    botlint = tmp_path / "botlint" / "bin" / "botlint"
    botlint.parent.mkdir(parents=True)
    botlint.write_text(f'#!/bin/sh\necho "$@"\nexit {status}\n')
    botlint.chmod(0o755)
    ran = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", "-c", script],
        env={"PATH": os.environ["PATH"], "RUNNER_TEMP": str(tmp_path), "FAIL_CLOSED": closed},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    assert ran.returncode == expected
    assert ran.stdout.startswith("review --verbose")
    assert ("::warning" in ran.stdout) == (status == 3 and closed == "false")

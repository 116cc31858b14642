"""The workflow of smoke jobs: what it may do, and what its scripts make of inputs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from botlint.cli import main
from botlint.cli.init import TEMPLATE, with_smoke
from botlint.engine.settings import SmokeSettings, parse_settings
from botlint.github.smoke import Mark, inputs, marked_title
from botlint.smoke.result import ARTIFACT, MEMBER
from botlint.smoke.workflow import PATH, workflow_text

ROOT = Path(__file__).parents[2]
OWN = ROOT / PATH
GOOD = {
    "PR": "7", "HEAD_SHA": "a" * 40, "BASE_SHA": "b" * 40, "JOBS": f"{'1' * 16},{'2' * 16}", "NONCE": "f" * 16,
}  # fmt: skip


def document() -> dict[Any, Any]:
    found = yaml.safe_load(workflow_text())
    assert isinstance(found, dict)
    return found


def job() -> dict[str, Any]:
    (found,) = document()["jobs"].values()
    assert isinstance(found, dict)
    return found


def script(name: str) -> str:
    (found,) = [step["run"] for step in job()["steps"] if step.get("name") == name]
    assert isinstance(found, str)
    return found


def run(text: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
        env={"PATH": os.environ["PATH"], "HOME": str(folder), **environment},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_our_own_is_the_one_that_is_written() -> None:
    assert OWN.read_text() == workflow_text(install=".")


def test_what_it_may_do() -> None:
    whole, only = document(), job()
    assert list(whole[True]) == ["workflow_dispatch"], "nothing of a stranger starts it"
    assert whole["permissions"] == {}
    assert only["permissions"] == {"contents": "read"}
    assert only["environment"] == "botlint-smoke"
    assert only["runs-on"] == ["self-hosted", "botlint-smoke"]
    assert only["if"] == "github.ref_name == github.event.repository.default_branch"
    assert 0 < only["timeout-minutes"] <= 120
    assert whole["concurrency"] == {"group": "botlint-smoke-${{ inputs.pr }}", "cancel-in-progress": True}
    text = workflow_text()
    assert not re.search(r"secrets\s*[.\[]", "".join(line for line in text.splitlines() if not line.startswith("#")))
    assert "pull_request" not in text
    with_token = [step["name"] for step in only["steps"] if "github.token" in str(step)]
    assert with_token == ["Fetch both commits, as objects"]
    checkouts = [step for step in only["steps"] if "checkout" in step.get("uses", "")]
    assert [step["with"] for step in checkouts] == [{"persist-credentials": False}], "of the default branch"


def test_inputs_are_data() -> None:
    whole, only = document(), job()
    declared = whole[True]["workflow_dispatch"]["inputs"]
    given = inputs(Mark(7, "a" * 40, "f" * 16), "b" * 40, ["1" * 16])
    assert set(declared) == set(given)
    assert len(declared) <= 25
    assert all(one["type"] == "string" and one["required"] for one in declared.values())
    for step in only["steps"]:
        assert "${{" not in step.get("run", "")
        assert not re.search(r"inputs\.", str(step))
    assert {value for value in only["env"].values() if "inputs" in value} == {
        f"${{{{ inputs.{name} }}}}" for name in declared
    }


def test_its_title_names_the_run() -> None:
    title = document()["run-name"]
    mark = Mark(7, "a" * 40, "f" * 16)
    for name, value in inputs(mark, "b" * 40, []).items():
        title = title.replace(f"${{{{ inputs.{name} }}}}", value)
    assert title == mark.title
    found = marked_title(title)
    assert found is not None
    assert (found.number, found.head, found.nonce) == (7, "a" * 40, "f" * 16)


def test_what_it_hands_back_is_what_is_read() -> None:
    (upload,) = [step for step in job()["steps"] if "upload-artifact" in step.get("uses", "")]
    assert upload["with"]["name"] == ARTIFACT
    assert upload["with"]["path"] == f"${{{{ runner.temp }}}}/{MEMBER}"
    assert "always()" in upload["if"]
    assert f'--output "$RUNNER_TEMP/{MEMBER}"' in script("Start the jobs")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PR", ""), ("PR", "0"), ("PR", "7; reboot"), ("PR", "7\n8"), ("PR", "$(touch x)"), ("PR", "-1"),
        ("HEAD_SHA", "a" * 39), ("HEAD_SHA", "main"), ("HEAD_SHA", "A" * 40), ("HEAD_SHA", "--upload-pack=touch x"),
        ("BASE_SHA", ""), ("BASE_SHA", "a" * 40 + "\n"), ("JOBS", ""), ("JOBS", "x"), ("JOBS", "1" * 16 + ","),
        ("JOBS", ",".join(["1" * 16] * 9)), ("JOBS", "`touch x`"), ("NONCE", "f" * 17), ("NONCE", "../" * 5 + "f"),
    ],
)  # fmt: skip
def test_inputs_of_another_form_end_the_job(tmp_path: Path, name: str, value: str) -> None:
    text = script("Look at the inputs")
    assert run(text, tmp_path, **GOOD).returncode == 0
    assert run(text, tmp_path, **{**GOOD, name: value}).returncode != 0
    assert list(tmp_path.iterdir()) == []


def git(folder: Path, *words: str) -> str:
    command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.invalid", "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def test_only_the_newest_commit_of_the_pull_request_is_fetched(tmp_path: Path) -> None:
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    git(origin, "config", "uploadpack.allowAnySHA1InWant", "true")
    commits = []
    for text in ("base", "first", "second"):
        (origin / "f").write_text(text)
        git(origin, "add", "f")
        git(origin, "commit", "-q", "-m", text)
        commits.append(git(origin, "rev-parse", "HEAD"))
    base, first, second = commits
    git(origin, "update-ref", "refs/pull/7/head", second)
    git(origin, "reset", "-q", "--hard", base)
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", "clone")
    given = {**GOOD, "BASE_SHA": base, "TOKEN": "ghs_x", "GITHUB_SERVER_URL": "https://github.example"}
    late = run(script("Fetch both commits, as objects"), clone, **{**given, "HEAD_SHA": first})
    assert late.returncode == 1
    assert "::error" in late.stdout
    done = run(script("Fetch both commits, as objects"), clone, **{**given, "HEAD_SHA": second})
    assert done.returncode == 0, done.stderr
    assert git(clone, "cat-file", "-t", second) == git(clone, "cat-file", "-t", base) == "commit"
    assert (clone / "f").read_text() == "base", "what is checked out stays that of the default branch"
    assert "ghs_x" not in (clone / ".git" / "config").read_text()


def test_the_jobs_are_started_by_botlint_alone(tmp_path: Path) -> None:
    botlint = tmp_path / "botlint" / "bin" / "botlint"
    botlint.parent.mkdir(parents=True)
    botlint.write_text('#!/bin/sh\nfor word in "$@"; do echo "<$word>"; done\nexit 3\n')
    botlint.chmod(0o755)
    given = {
        **GOOD, "RUNNER_TEMP": str(tmp_path), "GITHUB_WORKSPACE": "/w", "GITHUB_RUN_ID": "5", "GITHUB_RUN_ATTEMPT": "1",
        "OPTIONS": "--engine slurm --srun --partition=compute",
    }  # fmt: skip
    ran = run(script("Start the jobs"), tmp_path, **given)
    assert ran.returncode == 3
    words = ran.stdout.split("\n")
    assert words[:2] == ["<smoke>", "<jobs>"]
    assert {"<--srun>", "<--partition=compute>", f"<{GOOD['JOBS']}>", f"<{GOOD['HEAD_SHA']}>"} <= set(words)
    assert run(script("Start the jobs"), tmp_path, **{**given, "OPTIONS": ""}).returncode == 3
    assert run(script("Clear away what is left"), tmp_path, **given).returncode == 0


# botlint init --smoke


def test_init_writes_the_workflow_and_settings_that_ask_for_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--smoke", str(tmp_path)]) == 0
    assert (tmp_path / PATH).read_text() == workflow_text()
    settings = (tmp_path / ".botlint.yaml").read_text()
    assert settings == with_smoke(TEMPLATE)
    assert parse_settings(settings).smoke == SmokeSettings()
    (tmp_path / "run.sh").write_text("echo\n")
    assert main(["check", str(tmp_path), "--no-cache"]) == 0
    assert main(["init", "--smoke", str(tmp_path)]) == 2
    assert "--force replaces it" in capsys.readouterr().err


def test_init_leaves_settings_that_are_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / ".botlint.yaml").write_text("version: 1\n")
    assert main(["init", "--smoke", str(tmp_path)]) == 0
    assert (tmp_path / ".botlint.yaml").read_text() == "version: 1\n"
    assert "smoke: {}" in capsys.readouterr().err
    assert main(["init", "--smoke", "-o", "-"]) == 0
    assert capsys.readouterr().out == workflow_text()


@pytest.mark.parametrize("link", [".github", ".github/workflows", PATH])
def test_init_follows_no_link(tmp_path: Path, link: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    place = tmp_path / "r" / link
    place.parent.mkdir(parents=True)
    place.symlink_to(outside if link != PATH else outside / "file")
    assert main(["init", "--smoke", "--force", str(tmp_path / "r")]) == 2
    assert list(outside.iterdir()) == []

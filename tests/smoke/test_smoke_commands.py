"""`botlint smoke select` and `botlint smoke jobs` on the miniature repository, from a change to a result."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from botlint.cli import main
from botlint.smoke.jsonform import read_request, verdict_form
from botlint.smoke.model import JobName, Verdict
from botlint.smoke.result import read_result

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
NONCE = "0123456789abcdef"
SETTINGS = 'version: 1\nsmoke: {runners: ["*mi355x*"], max-jobs: 2}\n'

_DOCKER = """\
#!/bin/sh
# A container engine that only leaves a verdict behind.
echo "$@" >> "$0.log"
[ "$1" = run ] || exit 0
while [ "$1" != --volume ]; do shift; done
cp "$(dirname "$0")/verdict.json" "${2%%:*}/verdict.json"
"""


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.invalid", "-c", "commit.gpgsign=false"]
    command = ["git", "-C", str(folder), *identity, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base without the planted defects, a head with them; what is checked out is the base."""
    folder = tmp_path_factory.mktemp("repository")
    shutil.copytree(EXAMPLES, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("demo"))
    shutil.copytree(EXAMPLES / "demo" / "healthy", folder, dirs_exist_ok=True)
    (folder / ".botlint.yaml").write_text(SETTINGS)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "base")
    git(folder, "checkout", "-q", "-b", "topic")
    for name in ("benchmarks", "perf-changelog.yaml"):
        source = EXAMPLES / name
        if source.is_dir():
            shutil.copytree(source, folder / name, dirs_exist_ok=True)
        else:
            shutil.copy(source, folder / name)
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "head")
    git(folder, "checkout", "-q", "main")
    return folder


def selected(repository: Path, capsys: pytest.CaptureFixture[str], *more: str) -> dict[str, Any]:
    words = ["smoke", "select", "main", "topic", "--repo", str(repository), "--no-cache", "--format", "json", *more]
    assert main(words) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture(scope="module")
def ids(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    target = tmp_path_factory.mktemp("selected") / "jobs.json"
    words = ["smoke", "select", "main", "topic", "--repo", str(repository), "--no-cache", "--format", "json"]
    assert main([*words, "--output", str(target)]) == 0
    return [job["id"] for job in json.loads(target.read_text())["jobs"]]


def test_the_jobs_of_a_change(repository: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    found = selected(repository, capsys, "--requests", str(tmp_path / "out"))
    schema = json.loads((ROOT / "schemas" / "smoke-selection.schema.json").read_text())
    jsonschema.Draft202012Validator(schema).validate(found)
    assert 1 <= len(found["jobs"]) <= 2
    assert all("mi355x" in job["runners"][0] for job in found["jobs"])
    assert any("VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT" in text for job in found["jobs"] for text in job["shows"])
    assert any("it starts no server" in left["why"] for left in found["left"]), "those jobs exit, which needs no run"
    files = sorted((tmp_path / "out").iterdir())
    assert [one.stem for one in files] == sorted(job["id"] for job in found["jobs"])
    asked = read_request(files[0].read_text())
    assert (asked.head, asked.base) == (found["head"], found["base"])
    one = selected(repository, capsys, "minimaxm3*", "tp=2", "--max-jobs", "1")["jobs"]
    assert [job["job"]["tp"] for job in one] == [2]
    assert main(["smoke", "select", "main", "topic", "--repo", str(repository), "--no-cache"]) == 0
    assert found["jobs"][0]["id"] in capsys.readouterr().out


def test_nothing_deserves_a_run(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["smoke", "select", "main", "main", "--repo", str(repository), "--no-cache"]) == 4
    wrong = ["smoke", "select", "main", "topic", "--repo", str(repository), "--no-cache", "--runner", "h100"]
    assert main(wrong) == 4
    assert "its runner is" in capsys.readouterr().out


def jobs(repository: Path, ids: list[str], *more: str) -> list[str]:
    head, base = git(repository, "rev-parse", "topic"), git(repository, "rev-parse", "main")
    return [
        "smoke", "jobs", "--repo", str(repository), "--head", head, "--base", base, "--jobs", ",".join(ids),
        "--nonce", NONCE, "--no-cache", *more,
    ]  # fmt: skip


def test_a_dry_run_prints_the_commands(repository: Path, ids: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    for engine, first in (("docker", "docker run"), ("slurm", "srun "), ("enroot", "enroot import")):
        assert main(jobs(repository, ids, "--engine", engine, "--dry-run", "--no-compare")) == 0
        out = capsys.readouterr().out
        assert out.count(f"\n{first}") == len(ids)
        assert "smoke run request.json" in out


def test_jobs_of_an_engine_that_leaves_verdicts(
    repository: Path, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "docker").write_text(_DOCKER)
    (tmp_path / "docker").chmod(0o755)
    verdict = Verdict("pass", "it answers", JobName("x", "y"), "vllm")
    (tmp_path / "verdict.json").write_text(json.dumps(verdict_form(verdict)))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    output = tmp_path / "smoke.json"
    more = ["--engine", "docker", "--work", str(tmp_path / "work"), "--output", str(output)]
    assert main(jobs(repository, ids, *more)) == 0
    result = read_result(output.read_bytes())
    assert [one.id for one in result.jobs] == ids
    assert {one.verdict.head for one in result.jobs} == {git(repository, "rev-parse", "topic")}
    assert (result.nonce, result.verdict) == (NONCE, "pass")
    assert (tmp_path / "work" / ids[0] / "base.json").is_file(), "the base starts something else"
    log = (tmp_path / "docker.log").read_text()
    assert log.count("rm --force") == len(ids)
    # A job that there is not leaves open what it would have shown.
    more[3] = str(tmp_path / "again")
    assert main(jobs(repository, [*ids[:1], "f" * 16], *more)) == 3
    assert read_result(output.read_bytes()).unstarted[0].reason == "no job of this revision has this id"


def test_jobs_without_a_container(
    repository: Path, ids: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole way, with the real run at its end: this machine has no such engine, which is no fault of the change."""
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}/usr/bin{os.pathsep}/bin")
    monkeypatch.setenv("TMPDIR", str(tmp_path))  # the folder of runs is one for each machine
    output = tmp_path / "smoke.json"
    more = ["--engine", "none", "--no-compare", "--work", str(tmp_path / "work"), "--output", str(output)]
    assert main(jobs(repository, ids[:1], *more)) == 3
    (one,) = read_result(output.read_bytes()).jobs
    assert one.verdict.verdict in ("infrastructure", "inconclusive")
    assert "no verdict" not in one.verdict.reason, "the run itself says why"
    assert one.verdict.job.entry.startswith("minimaxm3")


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("--head", "main"), ("--head", "A" * 40), ("--base", "HEAD~1"), ("--nonce", "x"), ("--nonce", "$(reboot)"),
        ("--jobs", "../x"), ("--jobs", "a b"), ("--jobs", ",".join(["f" * 16] * 9)), ("--wheels", "x;y"),
        ("--srun", "-p x"), ("--package", "evil"), ("--folder", "/a:/b"),
    ],
)  # fmt: skip
def test_inputs_of_another_form_are_refused(
    repository: Path, ids: list[str], option: str, value: str, tmp_path: Path
) -> None:
    words = jobs(repository, ids, "--engine", "docker", "--dry-run", option, value)
    assert main(words) in (2, 4)
    assert not (tmp_path / "work").exists()


def test_the_settings_are_those_that_are_checked_out(
    repository: Path, ids: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """A pull request cannot give itself more runners, images or GPUs."""
    git(repository, "checkout", "-q", "-b", "evil", "topic")
    (repository / ".botlint.yaml").write_text('version: 1\nsmoke: {images: ["*"]}\n')
    git(repository, "commit", "-q", "-am", "more")
    git(repository, "checkout", "-q", "main")
    (repository / ".botlint.yaml").write_text('version: 1\nsmoke: {images: ["other/*"]}\n')
    try:
        words = jobs(repository, ids, "--engine", "docker", "--dry-run")
        words[words.index("--head") + 1] = git(repository, "rev-parse", "evil")
        assert main(words) == 4
        assert "its image is none of those that may run here" in capsys.readouterr().out
    finally:
        git(repository, "checkout", "-q", "--", ".botlint.yaml")
        git(repository, "branch", "-q", "-D", "evil")

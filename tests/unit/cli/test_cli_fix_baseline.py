"""`botlint fix` and `botlint baseline` on small repositories with a rule of their own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from botlint.cli import main

RULE = """\
id: XY001
name: source-missing
severity: error
scope: file
view: source_statement
require: "false"
message: "there is no {source_statement.target}"
why: The script ends here.
sources: []
fix: {title: remove the line, safe: SAFE, edits: [{at: path, text: "TEXT", line: LINE}]}
examples:
  - {name: silent, files: {benchmarks/a.sh: "echo"}}
"""
SCRIPT = "#!/usr/bin/env bash\n# é 模\nsource benchmarks/lost.sh\necho"
FIXED = "#!/usr/bin/env bash\n# é 模\necho"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    write(tmp_path, "benchmarks/a.sh", SCRIPT)
    rule(tmp_path)
    return tmp_path


def write(repo: Path, path: str, text: str) -> Path:
    target = repo / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(text.encode())
    return target


def rule(repo: Path, safe: bool = True, text: str = "", line: bool = True) -> None:
    made = RULE.replace("SAFE", str(safe).lower()).replace("TEXT", text).replace("LINE", str(line).lower())
    write(repo, ".botlint/rules/source-missing.yaml", made)


def read(repo: Path, path: str = "benchmarks/a.sh") -> str:
    return (repo / path).read_bytes().decode()


def run(command: str, repo: Path, *arguments: str) -> int:
    return main([*command.split(), "--repo", str(repo), "--no-cache", *arguments])


# --- fix


def test_fix_shows_a_diff_and_changes_nothing(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fix", repo) == 1
    captured = capsys.readouterr()
    assert captured.out == (
        "--- a/benchmarks/a.sh\n+++ b/benchmarks/a.sh\n@@ -1,4 +1,3 @@\n #!/usr/bin/env bash\n # é 模\n"
        "-source benchmarks/lost.sh\n echo\n\\ No newline at end of file\n"
    )
    assert "1 finding can be mended" in captured.err
    assert read(repo) == SCRIPT


def test_fix_applies(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    target = repo / "benchmarks" / "a.sh"
    target.chmod(0o755)
    assert run("fix", repo, "--apply") == 0
    assert read(repo) == FIXED
    assert target.stat().st_mode & 0o777 == 0o755
    assert "1 finding mended" in capsys.readouterr().err
    assert run("fix", repo, "--apply") == 0
    assert "nothing to mend" in capsys.readouterr().err
    assert [one.name for one in target.parent.iterdir()] == ["a.sh"]


def test_unsafe_fixes_wait_to_be_asked_for(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule(repo, safe=False)
    assert run("fix", repo, "--apply") == 1
    assert "1 more fix may change what a job means (--unsafe)" in capsys.readouterr().err
    assert read(repo) == SCRIPT
    assert run("fix", repo, "--apply", "--unsafe") == 0
    assert read(repo) == FIXED


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("benchmarks/also-lost.sh", "a finding appears"),
        ("benchmarks/./lost.sh", "the finding stays"),
        ("'", "benchmarks/a.sh would no longer read well"),
    ],
)
def test_fixes_that_do_not_help_are_withdrawn(
    repo: Path, text: str, reason: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rule(repo, text=text, line=False)
    assert run("fix", repo, "--apply") == 1
    captured = capsys.readouterr()
    assert (captured.out, read(repo)) == ("", SCRIPT)
    assert f"is withdrawn: {reason}" in captured.err


def test_a_check_tells_of_wrong_options_of_the_layout(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "serve.sh", "vllm serve org/model --tensor-parallel-size $TP\n")
    write(tmp_path, ".botlint.yaml", "version: 1\nlayout: plain\nlayout-options:\n  matrices: {TP: [1]}\n")
    assert main(["check", str(tmp_path)]) == 0
    assert ".botlint.yaml:4: the layout `plain` has no option 'matrices'" in capsys.readouterr().err
    write(tmp_path, ".botlint.yaml", "version: 1\nlayout: plain\nlayout-options:\n  matrix: {TP: [1]}\n")
    assert main(["check", str(tmp_path)]) == 0
    assert capsys.readouterr().err == ""


def test_fix_of_some_rules(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo, "benchmarks/a.sh", SCRIPT + " # botlint: ignore[XY001]")
    assert run("fix", repo, "suppression", "--apply") == 1
    assert read(repo) == SCRIPT
    assert run("fix", repo, "nonsense") == 2
    assert "no such rule or family: nonsense (`botlint rules list` shows all)" in capsys.readouterr().err
    assert run("fix", repo, "job-exit") == 2
    assert "did you mean 'job-exits'?" in capsys.readouterr().err


def test_a_shown_diff_on_a_terminal_hides_nothing(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    write(repo, "benchmarks/a.sh", "echo \x1b[2J\nsource benchmarks/lost.sh\n")
    run("fix", repo)
    output = capsys.readouterr().out
    assert "\x1b[2J" not in output
    assert "\\x1b[2J" in output
    assert "\x1b[31m-source benchmarks/lost.sh\x1b[0m\n" in output


def test_fix_follows_no_link(repo: Path) -> None:
    outside = write(repo.parent, "outside.sh", SCRIPT)
    (repo / "benchmarks" / "a.sh").unlink()
    (repo / "benchmarks" / "a.sh").symlink_to(outside)
    run("fix", repo, "--apply")
    assert outside.read_bytes().decode() == SCRIPT


# --- baseline


def test_baseline_accepts_what_is_there(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", str(repo), "--no-cache"]) == 1
    assert run("baseline write", repo) == 0
    assert "1 accepted finding: 1 new, 0 gone" in capsys.readouterr().err
    document = json.loads(read(repo, ".botlint/baseline.json"))
    assert [(one["rule"], one["path"]) for one in document["findings"]] == [("source-missing", "benchmarks/a.sh")]
    write(repo, "benchmarks/a.sh", SCRIPT.replace("# é", "#\n# é"))
    assert main(["check", str(repo), "--no-cache"]) == 0
    assert "no findings, 1 baselined (oldest " in capsys.readouterr().out
    assert run("baseline show", repo) == 0
    assert "0 days  source-missing  benchmarks/a.sh" in capsys.readouterr().out


def test_baseline_prune_drops_what_is_gone(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run("baseline write", repo)
    write(repo, "benchmarks/b.sh", SCRIPT)
    before = read(repo, ".botlint/baseline.json")
    assert run("baseline prune", repo) == 0
    assert "0 entries removed, 1 left" in capsys.readouterr().err
    assert read(repo, ".botlint/baseline.json") == before
    write(repo, "benchmarks/a.sh", FIXED)
    assert run("baseline prune", repo, "-v") == 0
    captured = capsys.readouterr().err
    assert "gone: source-missing in benchmarks/a.sh" in captured
    assert "1 entry removed, 0 left" in captured
    assert main(["check", str(repo), "--no-cache"]) == 1


def test_baseline_where_there_is_none(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("baseline show", repo) == 4
    assert run("baseline prune", repo) == 4
    assert capsys.readouterr().err.count("there is no baseline in .botlint/baseline.json") == 2
    write(repo, ".botlint/baseline.json", "{}")
    assert run("baseline show", repo) == 2
    assert main(["check", str(repo), "--no-cache"]) == 2


def test_baseline_to_another_place(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo, ".botlint.yaml", "version: 1\nbaseline: ci/accepted.json\n")
    assert run("baseline write", repo) == 0
    assert (repo / "ci" / "accepted.json").is_file()
    assert run("baseline write", repo, "-o", str(repo / "copy.json")) == 0
    assert read(repo, "copy.json") == read(repo, "ci/accepted.json")
    (repo / "ci" / "accepted.json").unlink()
    (repo / "ci" / "accepted.json").symlink_to(repo / "target.json")
    assert run("baseline write", repo) == 2
    assert not (repo / "target.json").exists()
    assert "symbolic link" in capsys.readouterr().err


# --- check


def test_check_with_settings(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(repo, ".botlint.yaml", "version: 1\nfail-level: error\nrules: {XY001: warning}\n")
    assert main(["check", str(repo), "--no-cache"]) == 0
    assert "1 warning" in capsys.readouterr().out
    write(repo, ".botlint.yaml", "version: 1\nfail-level: warning\nrules: {XY001: warning}\n")
    assert main(["check", str(repo), "--no-cache"]) == 1
    write(repo, ".botlint.yaml", "version: 1\nfail-levle: warning\n")
    assert main(["check", str(repo), "--no-cache"]) == 2
    assert ".botlint.yaml:2:1: there is no setting 'fail-levle'" in capsys.readouterr().err


def test_check_of_a_folder_with_nothing_to_check(tmp_path: Path) -> None:
    assert main(["check", str(tmp_path), "--no-cache"]) == 4
    write(tmp_path, "README.md", "# Not a benchmark\n")
    write(tmp_path, ".botlint.yaml", "version: 1\n")
    for command in ("fix", "baseline write"):
        assert run(command, tmp_path) == 4
    write(tmp_path, "run.sh", "echo\n")
    assert main(["check", str(tmp_path), "--no-cache"]) == 0


def test_findings_beyond_the_limit_are_noted(
    repo: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(repo, "benchmarks/a.sh", "source benchmarks/lost.sh\nsource benchmarks/more.sh\n")
    monkeypatch.setattr("botlint.engine.evaluate.MAX_FINDINGS", 1)
    assert main(["check", str(repo), "--no-cache", "-v"]) == 1
    out = capsys.readouterr().out
    assert "source-missing: only 1 findings of a rule are kept" in out
    assert "1 error" in out
    assert "1 exceeded budget" in out


def test_a_link_that_leads_out_is_counted(repo: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repo / "benchmarks" / "b.sh").symlink_to("/etc/passwd")
    (repo / "benchmarks" / "c.sh").symlink_to("a.sh")
    assert main(["check", str(repo), "--no-cache", "-v"]) == 1
    out = capsys.readouterr().out
    assert "note[unread] benchmarks/b.sh:1: the link leads to nothing in the repository" in out
    assert "1 file not fully read" in out
    assert "root:" not in out


# --- what the commands write is right


def test_the_settings_that_init_writes_are_no_finding(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "run.sh", "echo\n")
    assert main(["init", str(tmp_path)]) == 0
    assert main(["check", str(tmp_path), "--no-cache"]) == 0
    assert capsys.readouterr().out == "no findings\n"


def test_a_new_rule_passes_its_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "new", "own-rule", "--folder", str(tmp_path)]) == 0
    assert main(["rules", "test", str(tmp_path / "own-rule.yaml")]) == 0
    assert "1 rule, 3 examples, 0 failed" in capsys.readouterr().out


def test_a_rule_that_is_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "own-rule.yaml").write_bytes(b"id: \xff")
    assert main(["rules", "test", str(tmp_path / "own-rule.yaml")]) == 2
    assert "cannot read" in capsys.readouterr().err

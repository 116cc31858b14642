"""The working tree and a git revision as files: the same answers, nothing followed, run or fetched, all bounded."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from timing import within

from botlint.core.errors import CannotFinish, UsageError
from botlint.repo.files import Files, is_safe_path, join_path
from botlint.repo.git import GitRevision, merge_base, resolve_revision
from botlint.repo.open import open_files
from botlint.repo.worktree import Worktree

IDENTITY = ("-c", "user.name=Dana", "-c", "user.email=dana@example.org", "-c", "init.defaultBranch=main")


def git(repo: Path, *arguments: str, stdin: bytes = b"") -> str:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(
        ["git", *IDENTITY, "-C", str(repo), *arguments], input=stdin, capture_output=True, check=True, env=environment
    )
    return done.stdout.decode().strip()


def commit(repo: Path, message: str = "Change") -> str:
    git(repo, "add", "-A")
    git(repo, "commit", "-q", "--allow-empty", "-m", message)
    return git(repo, "rev-parse", "HEAD")


def write(root: Path, path: str, content: str | bytes) -> Path:
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(content if isinstance(content, bytes) else content.encode())
    return place


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    root = tmp_path / "repo"
    root.mkdir()
    git(root, "init", "-q")
    write(root, "configs/demo-master.yaml", "entry:\n  tp: 2\n")
    write(root, "configs-old/demo.yaml", "{}\n")
    write(root, "runners/launch_one.sh", "echo one\n").chmod(0o755)
    write(root, "runners/é ü.sh", "echo two\n")
    write(root, "README.md", "# demo\n")
    (root / "runners/launch_two.sh").symlink_to("launch_one.sh")
    (root / "runners/hop.sh").symlink_to("../runners/./launch_two.sh")
    (root / "latest").symlink_to("configs")
    (root / "outside").symlink_to("../../etc/passwd")
    (root / "absolute").symlink_to("/etc/passwd")
    (root / "dangling").symlink_to("nowhere.sh")
    (root / "loop-a").symlink_to("loop-b")
    (root / "loop-b").symlink_to("loop-a")
    commit(root)
    return root


@pytest.fixture(params=["working tree", "revision"])
def files(request: pytest.FixtureRequest, repo: Path) -> Iterator[Files]:
    with open_files(repo, None if request.param == "working tree" else "HEAD") as opened:
        yield opened


def kinds(files: Files) -> list[str]:
    return [problem.kind for problem in files.problems]


# --- both kinds


def test_paths_are_sorted_regular_files(files: Files) -> None:
    assert list(files.paths()) == [
        "README.md",
        "configs-old/demo.yaml",
        "configs/demo-master.yaml",
        "runners/launch_one.sh",
        "runners/é ü.sh",
    ]
    assert list(files.paths("configs")) == ["configs/demo-master.yaml"]
    assert list(files.paths("configs/")) == ["configs/demo-master.yaml"]
    assert list(files.paths("conf")) == []
    assert files.problems == []


def test_content_and_facts(files: Files) -> None:
    assert files.read("README.md") == b"# demo\n"
    assert files.read("runners/é ü.sh") == b"echo two\n"
    text = files.text("configs/demo-master.yaml")
    assert text is not None
    assert (text.text, text.encoding, text.bom, text.crlf) == ("entry:\n  tp: 2\n", "utf-8", False, False)
    assert files.mode("runners/launch_one.sh") == 0o755
    assert files.mode("README.md") == 0o644
    assert (files.mode("configs"), files.mode("runners/launch_two.sh")) == (None, None)
    assert (files.is_file("README.md"), files.is_file("configs"), files.is_file("latest")) == (True, False, False)
    assert (files.is_dir(""), files.is_dir("configs"), files.is_dir("README.md")) == (True, True, False)
    assert (files.is_dir("latest"), files.is_dir("conf")) == (False, False)


@pytest.mark.parametrize(
    "path",
    [
        "",
        ".",
        "/etc/passwd",
        "../repo/README.md",
        "configs/../README.md",
        "./README.md",
        "configs//demo-master.yaml",
        "README.md/",
        "configs",
        "absent",
        "configs\\demo-master.yaml",
        ".git/config",
        ".GIT/config",
        "README.md\x00",
        "runners/launch_two.sh",
        "latest/demo-master.yaml",
        "outside",
        "absolute",
        "\ud800",
        "x" * 100_000,
    ],
)
def test_other_paths_are_not_there(files: Files, path: str) -> None:
    assert files.read(path) is None
    assert files.text(path) is None
    assert not files.is_file(path)
    assert files.mode(path) is None


def test_links_are_facts_and_lead_to_files_of_the_repository_only(files: Files) -> None:
    assert files.symlink_target("runners/launch_two.sh") == "launch_one.sh"
    assert files.symlink_target("absolute") == "/etc/passwd"
    assert files.symlink_target("README.md") is None
    assert files.links() == {
        "runners/hop.sh": "runners/launch_one.sh",
        "runners/launch_two.sh": "runners/launch_one.sh",
    }
    bad = {problem.span.path for problem in files.problems if problem.kind == "bad-link"}
    assert {"absolute", "dangling", "outside", "loop-a"} <= bad
    assert not bad & {"latest", "runners/hop.sh"}


def test_a_folder_of_links_is_a_way(tmp_path: Path) -> None:
    (tmp_path / "links").mkdir()
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.sh").write_text("echo")
    (tmp_path / "links" / "b.sh").symlink_to("../real/a.sh")
    assert open_files(tmp_path).links() == {"links/b.sh": "real/a.sh"}


@pytest.mark.parametrize(
    ("path", "target"),
    [
        ("README.md", "README.md"),
        ("./configs/../README.md", "README.md"),
        ("runners/launch_two.sh", "runners/launch_one.sh"),
        ("runners/hop.sh", "runners/launch_one.sh"),
        ("latest", "configs"),
        ("latest/demo-master.yaml", "configs/demo-master.yaml"),
        ("latest/../README.md", "README.md"),
        ("absent/../README.md", None),
        ("outside", None),
        ("absolute", None),
        ("dangling", None),
        ("loop-a", None),
        ("../README.md", None),
        ("/README.md", None),
        ("absent", None),
    ],
)
def test_links_are_resolved_inside_the_repository(files: Files, path: str, target: str | None) -> None:
    assert files.resolve_link(path) == target


@pytest.mark.parametrize("rev", [None, "HEAD"])
@pytest.mark.parametrize(("length", "found"), [(8, True), (9, False)])
def test_at_most_eight_links_are_followed(repo: Path, rev: str | None, length: int, found: bool) -> None:
    (repo / "chain-0").symlink_to("README.md")
    for number in range(1, length):
        (repo / f"chain-{number}").symlink_to(f"chain-{number - 1}")
    commit(repo)
    with open_files(repo, rev) as files:
        assert files.resolve_link(f"chain-{length - 1}") == ("README.md" if found else None)


@pytest.mark.parametrize("rev", [None, "HEAD"])
@pytest.mark.parametrize(
    ("content", "text", "encoding", "bom", "crlf", "problems"),
    [
        (b"", "", "utf-8", False, False, []),
        (b"a\r\nb\n", "a\r\nb\n", "utf-8", False, True, []),
        (b"a\rb", "a\rb", "utf-8", False, False, []),
        (b"\xef\xbb\xbfa", "\ufeffa", "utf-8", True, False, []),
        ("日本\n".encode(), "日本\n", "utf-8", False, False, []),
        (b"one\ncaf\xe9\n", "one\ncafé\n", "latin-1", False, False, [("not-utf-8", 2)]),
        (b"\x00\xff", "\x00ÿ", "latin-1", False, False, [("not-utf-8", 1)]),
        (b"a\x00b", "a\x00b", "utf-8", False, False, []),
    ],
)
def test_decoding(
    repo: Path,
    rev: str | None,
    content: bytes,
    text: str,
    encoding: str,
    bom: bool,
    crlf: bool,
    problems: list[tuple[str, int]],
) -> None:
    write(repo, "file", content)
    git(repo, "config", "core.autocrlf", "false")
    commit(repo)
    with open_files(repo, rev) as files:
        for _ in range(2):  # a problem is noted once
            read = files.text("file")
            assert read is not None
            assert (read.text, read.encoding, read.bom, read.crlf) == (text, encoding, bom, crlf)
        assert [(problem.kind, problem.span.line) for problem in files.problems] == problems


@pytest.mark.parametrize("rev", [None, "HEAD"])
def test_a_huge_file_is_a_problem_and_costs_little(repo: Path, rev: str | None) -> None:
    with (repo / "huge.sh").open("wb") as file:
        file.truncate(50_000_000)
    commit(repo)
    with open_files(repo, rev) as files:
        files.paths()
        with within(1):
            assert files.read("huge.sh") is None
            assert files.text("huge.sh") is None
        assert kinds(files) == ["too-large"]
        assert "50000000" in files.problems[0].message
        assert files.problems[0].span.path == "huge.sh"
        assert files.read("README.md") == b"# demo\n"


def open_limited(kind: str, repo: Path, size: int, paths: int) -> Files:
    if kind == "revision":
        return GitRevision(repo, "HEAD", max_file_size=size, max_paths=paths)
    return Worktree(repo, max_file_size=size, max_paths=paths)


@pytest.mark.parametrize("kind", ["working tree", "revision"])
def test_limits_are_exact(repo: Path, kind: str) -> None:
    write(repo, "eight", "12345678")
    write(repo, "nine", "123456789")
    commit(repo)
    with open_limited(kind, repo, size=8, paths=1000) as files:
        assert (files.read("eight"), files.read("nine")) == (b"12345678", None)
        assert kinds(files) == ["too-large"]


@pytest.mark.parametrize("kind", ["working tree", "revision"])
def test_the_number_of_paths_is_bounded(repo: Path, kind: str) -> None:
    for number in range(50):
        write(repo, f"many/{number}", "x")
    commit(repo)
    with open_limited(kind, repo, size=100, paths=20) as files:
        assert len(files.paths()) <= 20
        assert kinds(files) == ["too-many-paths"]


@pytest.mark.parametrize("rev", [None, "HEAD"])
def test_paths_that_no_file_should_have_are_left_out(repo: Path, rev: str | None) -> None:
    for name in (b"back\\slash", b"new\nline", b"not-\xff-utf8", b"tab\there"):
        descriptor = os.open(os.fsencode(repo) + b"/" + name, os.O_CREAT | os.O_WRONLY)
        os.close(descriptor)
    commit(repo)
    with open_files(repo, rev) as files:
        assert len(files.paths()) == 5
        assert kinds(files) == ["bad-path"] * 4
        for problem in files.problems:
            problem.message.encode()
            problem.span.path.encode()


@pytest.mark.parametrize("rev", [None, "HEAD"])
def test_submodules_are_facts(repo: Path, tmp_path: Path, rev: str | None) -> None:
    head = git(repo, "rev-parse", "HEAD")
    git(repo, "update-index", "--add", "--cacheinfo", f"160000,{head},third/party")
    write(repo, ".gitmodules", '[submodule "x"]\n\tpath = third/party\n\turl = ../x\n')
    git(repo, "add", ".gitmodules")
    git(repo, "commit", "-q", "-m", "Add a submodule")
    with open_files(repo, rev) as files:
        assert list(files.submodules()) == ["third/party"]
        assert not files.is_file("third/party")
        assert files.read("third/party") is None


# --- the working tree


def test_nested_repositories_environments_and_caches_are_left_out(repo: Path) -> None:
    write(repo, "nested/.git/HEAD", "ref: refs/heads/main\n")
    write(repo, "nested/deep/script.sh", "x")
    write(repo, "module/.git", "gitdir: ../elsewhere\n")
    write(repo, "module/script.sh", "x")
    write(repo, "env/pyvenv.cfg", "home = /usr\n")
    write(repo, "env/lib/thing.py", "x")
    write(repo, "cache/CACHEDIR.TAG", "x")
    write(repo, "utils/__pycache__/x.pyc", "x")
    write(repo, "new-and-untracked.sh", "x")
    files = Worktree(repo)
    assert set(files.paths()) - set(GitRevision(repo, "HEAD").paths()) == {"new-and-untracked.sh"}
    assert list(files.submodules()) == ["module", "nested"]
    assert files.label == "working tree"


def test_pipes_are_not_read(repo: Path) -> None:
    os.mkfifo(repo / "pipe.sh")
    files = Worktree(repo)
    assert not files.is_file("pipe.sh")
    assert [(one.kind, one.span.path) for one in files.problems] == [("special", "pipe.sh")]


def test_a_file_that_changes_after_it_was_listed(repo: Path) -> None:
    files = Worktree(repo)
    files.paths()
    (repo / "README.md").unlink()
    assert files.read("README.md") is None
    assert files.problems == []
    (repo / "README.md").symlink_to("/etc/passwd")
    assert files.read("README.md") is None
    (repo / "README.md").unlink()
    os.mkfifo(repo / "README.md")
    assert files.read("README.md") is None


def test_files_are_opened_only_when_they_are_read(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    real = os.open

    def recorded(path: str, *arguments: int) -> int:
        opened.append(path)
        return real(path, *arguments)

    monkeypatch.setattr(os, "open", recorded)
    files = Worktree(repo)
    assert len(files.paths()) == 5
    assert files.is_file("README.md")
    assert opened == []
    files.read("README.md")
    assert len(opened) == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_unreadable_folders_and_files_are_problems(repo: Path) -> None:
    write(repo, "locked/file", "x")
    write(repo, "secret", "x").chmod(0)
    (repo / "locked").chmod(0)
    files = Worktree(repo)
    assert files.read("secret") is None
    (repo / "locked").chmod(0o755)
    assert sorted(kinds(files)) == ["unreadable", "unreadable"]


# --- git revisions


def test_a_revision_is_read_without_a_checkout(repo: Path) -> None:
    first = git(repo, "rev-parse", "HEAD")
    write(repo, "README.md", "# changed\n")
    write(repo, "new.sh", "x")
    second = commit(repo)
    write(repo, "README.md", "# not committed\n")
    with GitRevision(repo, "HEAD~1") as old, GitRevision(repo, "main") as new:
        assert (old.read("README.md"), new.read("README.md")) == (b"# demo\n", b"# changed\n")
        assert (old.is_file("new.sh"), new.is_file("new.sh")) == (False, True)
        assert (old.commit, new.commit) == (first, second)
        assert (old.label, new.label) == ("HEAD~1", "main")


def test_content_comes_raw_without_filters_or_line_end_conversion(repo: Path) -> None:
    write(repo, ".gitattributes", "*.sh text eol=crlf filter=evil diff=evil working-tree-encoding=UTF-16\n")
    git(repo, "config", "filter.evil.smudge", f"touch {repo}/ran")
    git(repo, "config", "diff.evil.textconv", f"touch {repo}/ran")
    git(repo, "add", ".gitattributes")
    git(repo, "commit", "-q", "-m", "Add attributes")
    with GitRevision(repo, "HEAD") as files:
        assert files.read("runners/launch_one.sh") == b"echo one\n"
    assert not (repo / "ran").exists()


def test_settings_of_the_repository_start_nothing(repo: Path) -> None:
    write(repo, "hook", f"#!/bin/sh\ntouch {repo}/ran\n").chmod(0o755)
    for name in ("core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "core.gitProxy", "gpg.program"):
        git(repo, "config", name, str(repo / "hook"))
    git(repo, "config", "core.hooksPath", str(repo))
    git(repo, "config", "alias.ls-tree", "!touch ran")
    with GitRevision(repo, "HEAD") as files:
        assert len(files.paths()) == 5
        assert files.read("README.md") is not None
    assert merge_base(repo, "HEAD", "HEAD") is not None
    assert not (repo / "ran").exists()


def test_variables_of_git_do_not_reach_it(repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "nonsense")
    monkeypatch.setenv("GIT_OBJECT_DIRECTORY", str(tmp_path))
    monkeypatch.setenv("GIT_TRACE", "1")
    with GitRevision(repo, "HEAD") as files:
        assert files.read("README.md") == b"# demo\n"


def test_replaced_objects_are_not_looked_at(repo: Path) -> None:
    blob = git(repo, "rev-parse", "HEAD:README.md")
    other = git(repo, "hash-object", "-w", "--stdin", stdin=b"replaced\n")
    git(repo, "replace", blob, other)
    with GitRevision(repo, "HEAD") as files:
        assert files.read("README.md") == b"# demo\n"


def test_a_tree_with_paths_that_git_would_not_check_out(repo: Path) -> None:
    blob = git(repo, "hash-object", "-w", "--stdin", stdin=b"x")
    inner = git(repo, "mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    names = [f"040000 tree {inner}\t{name}" for name in ("..", ".git", ".GIT", "git~1", ".git ", ".")]
    listing = "\n".join([*names, f"100644 blob {blob}\tfine", f"100664 blob {blob}\told-mode"]) + "\n"
    tree = git(repo, "mktree", stdin=listing.encode())
    made = git(repo, "commit-tree", tree, "-m", "Odd")
    with GitRevision(repo, made) as files:
        assert list(files.paths()) == ["fine", "old-mode"]
        assert set(kinds(files)) == {"bad-path"}


def test_a_folder_inside_a_repository_is_its_own_root(repo: Path) -> None:
    write(repo, "examples/demo/configs/a.yaml", "a: 1\n")
    commit(repo)
    with GitRevision(repo / "examples/demo", "HEAD") as files:
        assert list(files.paths()) == ["configs/a.yaml"] == list(Worktree(repo / "examples/demo").paths())
        assert files.read("configs/a.yaml") == b"a: 1\n"
    with pytest.raises(UsageError, match="has no folder 'examples/demo'"):
        GitRevision(repo / "examples/demo", "HEAD~1")


def test_a_bare_repository_has_revisions_and_no_working_tree(repo: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare.git"
    git(tmp_path, "clone", "-q", "--bare", str(repo), str(bare))
    with open_files(bare, "main") as files:
        assert files.read("README.md") == b"# demo\n"
    with pytest.raises(UsageError, match="bare"):
        open_files(bare)


def test_a_linked_worktree_is_read(repo: Path, tmp_path: Path) -> None:
    git(repo, "worktree", "add", "-q", str(tmp_path / "linked"), "HEAD")
    with open_files(tmp_path / "linked", "HEAD") as revision, open_files(tmp_path / "linked") as tree:
        assert list(revision.paths()) == list(tree.paths())


def partial_clone(repo: Path, tmp_path: Path, what: str) -> Path:
    git(repo, "config", "uploadpack.allowFilter", "true")
    clone = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--no-checkout", f"--filter={what}", repo.as_uri(), str(clone))
    return clone


def test_a_partial_clone_fetches_nothing(repo: Path, tmp_path: Path) -> None:
    clone = partial_clone(repo, tmp_path, "blob:none")
    with GitRevision(clone, "HEAD") as files:
        assert files.is_file("README.md")
        assert files.read("README.md") is None
        assert files.read("README.md") is None
        assert files.symlink_target("latest") is None
        assert kinds(files) == ["missing-object", "missing-object"]
    missing = git(clone, "rev-list", "--objects", "--missing=print", "HEAD")
    assert "?" in missing


def test_missing_folders_are_a_problem(repo: Path, tmp_path: Path) -> None:
    clone = partial_clone(repo, tmp_path, "tree:0")
    with GitRevision(clone, "HEAD") as files:
        assert list(files.paths()) == []
        assert kinds(files) == ["missing-object"]


def test_a_damaged_object_is_a_problem_and_the_others_are_read(repo: Path) -> None:
    blob = git(repo, "rev-parse", "HEAD:README.md")
    place = repo / ".git/objects" / blob[:2] / blob[2:]
    place.chmod(0o644)
    place.write_bytes(b"not an object")
    with GitRevision(repo, "HEAD") as files:
        assert files.read("README.md") is None
        assert kinds(files) == ["missing-object"]
        assert files.read("runners/launch_one.sh") == b"echo one\n"


def test_one_process_serves_all_reads_and_close_ends_it(repo: Path) -> None:
    files = GitRevision(repo, "HEAD")
    assert files._process is None
    files.read("README.md")
    process = files._process
    assert process is not None
    files.read("runners/launch_one.sh")
    assert files._process is process
    files.close()
    assert process.poll() is not None
    files.close()
    assert files.read("README.md") == b"# demo\n"
    files.close()


def test_a_process_that_dies_is_replaced(repo: Path) -> None:
    with GitRevision(repo, "HEAD") as files:
        files.read("README.md")
        assert files._process is not None
        files._process.kill()
        files._process.wait()
        files.read("README.md")
        assert files.read("runners/launch_one.sh") == b"echo one\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no fork")
def test_a_forked_child_has_its_own_process(repo: Path) -> None:
    with GitRevision(repo, "HEAD") as files:
        files.read("README.md")
        child = os.fork()
        if child == 0:
            good = files.read("runners/launch_one.sh") == b"echo one\n"
            files.close()
            os._exit(0 if good else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        assert files.read("README.md") == b"# demo\n"


@pytest.mark.parametrize(
    "rev",
    [
        "",
        "-n",
        "--help",
        "--output=x",
        "nowhere",
        "HEAD~99",
        "HEAD:README.md",
        "HEAD..HEAD",
        "a\nb",
        "a\x00b",
        "HEAD^{tree}",
        "x" * 9000,
    ],
)
def test_names_that_are_no_commit_are_wrong_use(repo: Path, rev: str) -> None:
    with pytest.raises(UsageError):
        open_files(repo, rev)
    with pytest.raises(UsageError):
        resolve_revision(repo, rev)


@pytest.mark.parametrize("rev", [None, "HEAD"])
def test_places_that_are_no_directory_are_wrong_use(repo: Path, tmp_path: Path, rev: str | None) -> None:
    for place in (tmp_path / "absent", repo / "README.md"):
        with pytest.raises(UsageError, match="not a directory"):
            open_files(place, rev)


def test_a_folder_that_is_no_repository_has_no_revisions(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="git repository"):
        open_files(tmp_path, "HEAD")


def test_without_git_a_revision_cannot_be_read(repo: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(CannotFinish, match="git is not installed"):
        open_files(repo, "HEAD")
    assert open_files(repo).is_file("README.md")


def test_resolve_revision_and_merge_base(repo: Path) -> None:
    base = commit(repo, "Base")
    git(repo, "checkout", "-q", "-b", "side")
    side = commit(repo, "Side")
    git(repo, "checkout", "-q", "main")
    main = commit(repo, "Main")
    git(repo, "tag", "-a", "v1", "-m", "One", side)
    assert resolve_revision(repo, "v1") == side
    assert resolve_revision(repo, main[:12]) == main
    assert merge_base(repo, "main", "side") == base
    assert merge_base(repo, "main", "main") == main
    orphan = git(repo, "commit-tree", git(repo, "rev-parse", "HEAD^{tree}"), "-m", "Alone")
    assert merge_base(repo, "main", orphan) is None
    with pytest.raises(UsageError):
        merge_base(repo, "main", "nowhere")


# --- paths


@pytest.mark.parametrize(
    ("path", "safe"),
    [
        ("a", True),
        ("a/b c/é.sh", True),
        (".github/workflows/x.yml", True),
        (".gitmodules", True),
        ("a/...", True),
        ("..a", True),
        ("a.git/b", True),
        ("", False),
        ("/a", False),
        ("a/", False),
        ("a//b", False),
        ("./a", False),
        ("a/./b", False),
        ("../a", False),
        ("a/..", False),
        ("a\\b", False),
        ("a\x00", False),
        ("a\n", False),
        (".git", False),
        ("a/.git/config", False),
        (".GiT/config", False),
        (".git ./config", False),
        (".git::$INDEX_ALLOCATION/config", False),
        ("GIT~1/config", False),
        ("\udcff", False),
        ("a/" * 3000 + "b", False),
    ],
)
def test_safe_paths(path: str, safe: bool) -> None:
    assert is_safe_path(path) is safe


@pytest.mark.parametrize(
    ("directory", "path", "joined"),
    [
        ("", "a/b", "a/b"),
        ("benchmarks/x", "../lib.sh", "benchmarks/lib.sh"),
        ("benchmarks", "./x//y/", "benchmarks/x/y"),
        ("a", "..", ""),
        ("a", "../..", None),
        ("", "../a", None),
        ("a", "/etc/passwd", None),
        ("a", ".git/config", None),
        ("a", "b\\c", None),
        ("a", "x" * 5000, None),
    ],
)
def test_join_path(directory: str, path: str, joined: str | None) -> None:
    assert join_path(directory, path) == joined


# --- speed


@pytest.mark.parametrize("make", [Worktree, lambda root: GitRevision(root, "HEAD")], ids=["working tree", "revision"])
def test_listing_a_thousand_files_is_fast(repo: Path, make: Callable[[Path], Files]) -> None:
    for number in range(1200):
        write(repo, f"benchmarks/{number % 40}/recipe-{number}.sh", "x")
    commit(repo)
    with make(repo) as files, within(1):
        assert len(files.paths()) == 1205

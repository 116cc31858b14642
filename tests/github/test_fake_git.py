"""The fake's git: the same names as git's own, and diffs that mean the same."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from fakehub.diffs import Limits, anchors, changed_files, hunk_until, mapped_line, patch
from fakehub.git import Content, Executable, Link, Objects, Submodule, read_folder

FILES: dict[str, Content] = {
    "README.md": "Hello\n",
    "a/b/c.txt": "x\n",
    "a.txt": "before a/ for git, since `.` is less than `/`\n",
    "a-b": "",
    "run.sh": "#!/bin/sh\n",
    "tool": Executable(b"\x7fELF\0"),
    "link": Link("a/b/c.txt"),
    "caf\u00e9/\u4e2d.yaml": "k: v\n",
}


def git(folder: Path, *words: str, data: bytes | None = None) -> str:
    return subprocess.run(
        ["git", "-C", str(folder), *words], input=data, capture_output=True, check=True
    ).stdout.decode()


def test_names_are_those_of_git(tmp_path: Path) -> None:
    objects = Objects()
    tree = objects.changed(None, FILES)
    git(tmp_path, "init", "-q")
    for path, content in FILES.items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, Link):
            file.symlink_to(content.target)
            continue
        data = content.content if isinstance(content, Executable) else content
        file.write_bytes(data.encode() if isinstance(data, str) else data)
        file.chmod(0o755 if isinstance(content, Executable) or path == "run.sh" else 0o644)
    git(tmp_path, "add", "-A")
    assert git(tmp_path, "write-tree").strip() == tree
    assert objects.changed(None, read_folder(tmp_path)) == tree
    commit = objects.commit(tree, (), "Begin\n", "A <a@example.invalid>")
    raw = f"tree {tree}\nauthor A <a@example.invalid> {commit.time} +0000\n"
    raw += f"committer A <a@example.invalid> {commit.time} +0000\n\nBegin\n"
    assert git(tmp_path, "hash-object", "-t", "commit", "--stdin", data=raw.encode()).strip() == commit.sha


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("", "one\ntwo\n"),
        ("one\ntwo\n", ""),
        ("a\nb\nc\n", "a\nB\nc\n"),
        ("a\nb", "a\nb\n"),
        ("a\nb\n", "a\nc"),
        ("\n" * 40, "\n" * 20 + "x\n" + "\n" * 20),
        ("".join(f"{n}\n" for n in range(60)), "".join(f"{n}\n" for n in range(60) if n not in (5, 40)) + "end\n"),
        ("a\r\nb\r\n", "a\r\nc\r\n"),
        ("f()\n" + "  x\n" * 9, "f()\n" + "  x\n" * 5 + "  y\n" + "  x\n" * 4),
    ],
)
def test_patches_apply_with_git(tmp_path: Path, old: str, new: str) -> None:
    objects = Objects()
    before, after = objects.changed(None, {"f": old}), objects.changed(None, {"f": new})
    (one,) = changed_files(objects, before, after, Limits())
    git(tmp_path, "init", "-q")
    (tmp_path / "f").write_bytes(old.encode())
    assert one.patch is not None
    whole = f"--- a/f\n+++ b/f\n{one.patch}\n"
    git(tmp_path, "-c", "core.autocrlf=false", "apply", "-", data=whole.encode())
    assert (tmp_path / "f").read_bytes() == new.encode()


def test_a_heading_names_the_function() -> None:
    old = ["def f():\n", *("    x\n" for _ in range(8))]
    assert patch(old, [*old[:7], "    y\n", *old[7:]]).startswith("@@ -5,5 +5,6 @@ def f():\n")


def test_kinds_of_change() -> None:
    objects = Objects()
    long = "".join(f"line {n}\n" for n in range(30))
    before = objects.changed(
        None,
        {"kept": "k", "gone": "g\n", "edited": "e\n", "moved": long, "same": long + "s\n", "bin": b"\0", "mode": "m"},
    )
    after = objects.changed(
        before,
        {
            "gone": None,
            "edited": "E\n",
            "moved": None,
            "there/moved": long + "more\n",
            "same": None,
            "there/same": long + "s\n",
            "bin": b"\0\1",
            "mode": Executable("m"),
            "new": "n\n",
            "link": Link("kept"),
            "sub": Submodule("1" * 40),
        },
    )
    found = {one.path: (one.status, one.previous, one.patch) for one in changed_files(objects, before, after, Limits())}
    assert found == {
        "bin": ("modified", None, None),
        "edited": ("modified", None, "@@ -1 +1 @@\n-e\n+E"),
        "gone": ("removed", None, "@@ -1 +0,0 @@\n-g"),
        "link": ("added", None, "@@ -0,0 +1 @@\n+kept\n\\ No newline at end of file"),
        "mode": ("changed", None, None),
        "new": ("added", None, "@@ -0,0 +1 @@\n+n"),
        "sub": ("added", None, f"@@ -0,0 +1 @@\n+Subproject commit {'1' * 40}"),
        "there/moved": ("renamed", "moved", "@@ -28,3 +28,4 @@ line 26\n line 27\n line 28\n line 29\n+more"),
        "there/same": ("renamed", "same", None),
    }


def test_patches_over_the_limit_are_left_out() -> None:
    objects = Objects()
    before, after = objects.changed(None, {"f": "a\n" * 50}), objects.changed(None, {"f": "b\n" * 50})
    (one,) = changed_files(objects, before, after, Limits(patch_lines=99))
    assert (one.patch, one.additions, one.deletions) == (None, 50, 50)


def test_anchors_are_the_lines_of_hunks() -> None:
    text = "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n@@ -10,2 +10,3 @@ f\n x\n+y\n z\n\\ No newline at end of file"
    found = anchors(text)
    assert found.left == {1: 1, 2: 1, 3: 1, 10: 2, 11: 2}
    assert found.right == {1: 1, 2: 1, 3: 1, 10: 2, 11: 2, 12: 2}
    assert hunk_until(text, "LEFT", 2) == "@@ -1,3 +1,3 @@\n a\n-b"
    assert hunk_until(text, "RIGHT", 11) == "@@ -10,2 +10,3 @@ f\n x\n+y"


def test_lines_move_with_what_is_above_them() -> None:
    old = ["a\n", "b\n", "c\n", "d\n"]
    new = ["a\n", "x\n", "y\n", "c\n", "d\n"]
    assert [mapped_line(old, new, line) for line in (1, 2, 3, 4)] == [1, None, 4, 5]


def test_merge_base_and_what_is_between() -> None:
    objects = Objects()
    tree = objects.changed(None, {"f": "1"})
    root = objects.commit(tree, (), "root").sha
    left = objects.commit(tree, (root,), "left").sha
    right = objects.commit(tree, (root,), "right").sha
    merged = objects.commit(tree, (right, left), "merge").sha
    alone = objects.commit(tree, (), "alone").sha
    assert objects.merge_base(left, right) == root
    assert objects.merge_base(left, merged) == left
    assert objects.merge_base(left, alone) is None
    assert [one.message for one in objects.between(left, merged)] == ["right", "merge"]
    assert objects.between(merged, left) == []

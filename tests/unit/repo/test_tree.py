"""Files of a tree whose contents are asked for in large parts."""

from __future__ import annotations

import hashlib
import pickle
from collections.abc import Mapping
from dataclasses import dataclass

from botlint.repo.tree import TreeFiles


@dataclass(frozen=True)
class Item:
    path: str
    mode: str
    sha: str
    size: int | None


class Store:
    def __init__(self) -> None:
        self.contents: dict[str, bytes] = {}
        self.asked: list[set[str]] = []

    def item(self, path: str, content: bytes, mode: str = "100644", size: int | None = -1) -> Item:
        sha = hashlib.sha1(content, usedforsecurity=False).hexdigest()
        self.contents[sha] = content
        return Item(path, mode, sha, len(content) if size == -1 else size)

    def read(self, wanted: Mapping[str, int]) -> Mapping[str, bytes]:
        self.asked.append(set(wanted))
        return {sha: self.contents[sha] for sha in wanted if self.contents[sha] != b"lost"}


def test_the_first_content_brings_all_that_is_likely_to_be_needed() -> None:
    store = Store()
    files = TreeFiles(
        [
            store.item("configs/a.yaml", b"a: 1\n"),
            store.item("benchmarks/run.sh", b"#!/bin/bash\n", "100755"),
            store.item("Dockerfile", b"FROM x\n"),
            store.item("runners/link.sh", b"../benchmarks/run.sh", "120000"),
            Item("sub", "160000", "f" * 40, None),
            Item("configs", "040000", "e" * 40, None),
            store.item("plots/a.png", b"png"),
            store.item("plots/b.png", b"other"),
            store.item("plots/text.md", b"other"),
        ],
        store.read,
        "c0ffee",
    )
    assert store.asked == []
    assert list(files.paths("configs")) == ["configs/a.yaml"]
    assert store.asked == []
    assert files.read("configs/a.yaml") == b"a: 1\n"
    assert files.links() == {"runners/link.sh": "benchmarks/run.sh"}
    assert files.mode("benchmarks/run.sh") == 0o755
    assert files.read("Dockerfile") == b"FROM x\n"
    assert files.submodules() == ["sub"]
    assert files.read("sub") is None
    assert files.read("runners/link.sh") is None
    assert files.symlink_target("runners/link.sh") == "../benchmarks/run.sh"
    assert len(store.asked) == 1
    assert files.read("plots/a.png") == b"png"
    assert files.read("plots/b.png") == b"other"
    assert len(store.asked) == 2
    assert files.problems == []


def test_what_is_too_large_or_gone_is_a_problem_and_not_asked_for() -> None:
    store = Store()
    large = store.item("large.yaml", b"x" * 200)
    liar = store.item("liar.yaml", b"y" * 200, size=None)
    files = TreeFiles(
        [large, liar, store.item("lost.yaml", b"lost"), store.item("long", b"z" * 5000, "120000")],
        store.read,
        "c0ffee",
        max_file_size=100,
    )
    assert [files.read(path) for path in ("large.yaml", "liar.yaml", "lost.yaml")] == [None, None, None]
    assert files.symlink_target("long") is None
    assert {(one.kind, one.span.path) for one in files.problems} == {
        ("too-large", "large.yaml"),
        ("too-large", "liar.yaml"),
        ("too-large", "long"),
        ("missing-object", "lost.yaml"),
    }
    assert large.sha not in set().union(*store.asked)


def test_paths_that_lead_elsewhere_are_not_there() -> None:
    store = Store()
    paths = ["../x.yaml", "/etc/x.yaml", "a/../../b.yaml", ".git/config", "a\\b.yaml", "new\nline.yaml", "a//b.yaml"]
    files = TreeFiles([store.item(path, b"a") for path in paths], store.read, "c0ffee", complete=False)
    assert list(files.paths()) == []
    assert {one.kind for one in files.problems} == {"bad-path", "missing-object"}


def test_a_pickled_one_has_what_it_had() -> None:
    store = Store()
    files = TreeFiles([store.item("a.yaml", b"a"), store.item("b.png", b"b")], store.read, "c0ffee")
    files.prefetch()
    copy: TreeFiles = pickle.loads(pickle.dumps(files))
    assert copy.label == "c0ffee"
    assert copy.read("a.yaml") == b"a"
    assert copy.read("b.png") is None
    assert [one.kind for one in copy.problems] == ["missing-object"]
    other: TreeFiles = pickle.loads(pickle.dumps(files))
    other.read_with(store.read)
    assert other.read("b.png") == b"b"

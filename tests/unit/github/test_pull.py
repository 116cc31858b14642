"""Reading a revision by tree and blob."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from botlint.github.client import blob_id
from botlint.github.models import Tree, TreeEntry
from botlint.github.port import GitHub
from botlint.github.pull import MAX_TREES, BlobCache, read_revision, read_tree


class Trees:
    """A repository by its paths, whose trees are cut when they have more than `limit` entries."""

    def __init__(self, texts: Mapping[str, bytes], limit: int = 1_000) -> None:
        self.texts = texts
        self.limit = limit
        self.trees: list[tuple[str, bool]] = []
        self.blob_requests: list[set[str]] = []

    def tree(self, sha: str, recursive: bool) -> Tree:
        self.trees.append((sha, recursive))
        prefix = "" if sha == "c" else sha + "/"
        entries: dict[str, TreeEntry] = {}
        for path, text in self.texts.items():
            if not path.startswith(prefix):
                continue
            below = path[len(prefix) :]
            name, slash, _ = below.partition("/")
            if slash and not recursive:
                entries[name] = TreeEntry(name, "040000", "tree", prefix + name, None)
            else:
                entries[below] = TreeEntry(below, "100644", "blob", blob_id(text), len(text))
        return Tree("t", tuple(entries.values())[: self.limit], len(entries) > self.limit)

    def blobs(self, shas: Iterable[str], sizes: Mapping[str, int] | None = None) -> Mapping[str, bytes]:
        wanted = set(shas)
        self.blob_requests.append(wanted)
        return {sha: text for text in self.texts.values() if (sha := blob_id(text)) in wanted}


def test_a_second_revision_asks_only_for_what_changed() -> None:
    cache = BlobCache()
    before = Trees({"configs/a.yaml": b"a", "run.sh": b"r"})
    after = Trees({"configs/a.yaml": b"b", "run.sh": b"r"})
    assert read_revision(cast(GitHub, before), "c", cache).read("run.sh") == b"r"
    files = read_revision(cast(GitHub, after), "c", cache)
    assert (files.read("configs/a.yaml"), files.read("run.sh")) == (b"b", b"r")
    assert after.blob_requests == [{blob_id(b"b")}]


def test_a_tree_that_is_cut_is_listed_by_folders_of_interest_first() -> None:
    texts = {f"configs/{number}.yaml": b"c" for number in range(8)}
    texts |= {f"results/{day}/{number}.json": b"r" for day in range(3) for number in range(6)}
    texts["README.md"] = b"x"
    github = Trees(texts, limit=10)
    tree = read_tree(cast(GitHub, github), "c")
    assert {entry.path for entry in tree.entries if entry.kind == "blob"} == set(texts)
    assert not tree.truncated
    assert github.trees[:3] == [("c", True), ("c", False), ("configs", True)]


def test_what_cannot_be_listed_in_time_is_said_to_be_missing() -> None:
    texts = {f"f{number}/{inner}/x.yaml": b"c" for number in range(100) for inner in range(2)}
    github = Trees(texts, limit=150)
    files = read_revision(cast(GitHub, github), "c", BlobCache())
    assert files.paths()
    assert [one.kind for one in files.problems] == ["missing-object"]
    assert len(github.trees) == MAX_TREES + 1


def test_the_cache_forgets_what_was_not_used() -> None:
    cache = BlobCache(max_bytes=10)
    cache.add({"a": b"1234", "b": b"1234"})
    assert cache.get(["a"]) == {"a": b"1234"}
    cache.add({"c": b"1234", "d": b"x" * 11})
    assert set(cache.get("abcd")) == {"a", "c"}
    assert (cache.size, len(cache)) == (8, 2)

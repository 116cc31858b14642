"""Where findings are told: on the lines, sides and files that GitHub takes, with suggestions that really mend."""

from __future__ import annotations

import re

import pytest
from fakehub import Executable, FakeGitHub, Pull, ReviewComment
from fakehub.git import Content
from fakehub.seed import RECIPE, Seed, healthy_files, plant
from reviewing import MARKER, Bot, install, open_findings

from botlint.github.analysis import Kept

SCRIPT = "benchmarks/serve.sh"
HEAD = "#!/usr/bin/env bash\nset -e\n" + "".join(f"echo step {number}\n" for number in range(1, 31))
RIGHT = "vllm serve m \\\n    --no-enable-prefix-caching \\\n    --tensor-parallel-size 2\n"
WRONG = RIGHT.replace("parallel", "paralel")


def reviewed(
    hub: FakeGitHub, kept: Kept, base: dict[str, Content], changes: dict[str, Content | None]
) -> tuple[Bot, Pull]:
    repo = hub.repository("acme/bench", {"README.md": "Hello\n", **base})
    repo.commit("change", changes)
    pull = repo.open_pull("change")
    bot = install(hub, repo, kept)
    assert bot.review(pull) == "reviewed"
    return bot, pull


def suggestion(comment: ReviewComment) -> str | None:
    """The lines that a comment suggests instead of those that it is on."""
    match = re.search(r"^(`{3,})suggestion\n(.*?)^\1$", comment.body, re.MULTILINE | re.DOTALL)
    return None if match is None else match[2]


def accept(pull: Pull, comment: ReviewComment) -> None:
    """Commits a suggestion, as the button does: the lines of the comment are replaced."""
    text = suggestion(comment)
    assert text is not None
    assert comment.side == "RIGHT"
    objects = pull.repository.objects
    entry = objects.flat(objects.commits[pull.head_sha].tree)[comment.path]
    lines = objects.blobs[entry.sha].decode().split("\n")
    assert comment.line is not None
    first = comment.start_line or comment.line
    lines[first - 1 : comment.line] = text.removesuffix("\n").split("\n") if text else []
    pull.push({comment.path: "\n".join(lines)}, "Apply suggestion")


def test_a_suggestion_mends(hub: FakeGitHub, kept: Kept) -> None:
    bot, pull = reviewed(hub, kept, {SCRIPT: HEAD}, {SCRIPT: HEAD + WRONG})
    found = [one for one in bot.mine(pull) if suggestion(one) is not None]
    assert found, [one.body for one in bot.mine(pull)]
    assert suggestion(found[0]) == "    --tensor-parallel-size 2\n"
    accept(pull, found[0])
    bot.review(pull)
    assert open_findings(bot.mine(pull)) == {}
    assert bot.conclusion(pull) == "success"


def test_one_fault_is_told_once(hub: FakeGitHub, kept: Kept) -> None:
    """Two rules may see the same fault; each line has one comment about it."""
    bot, pull = reviewed(hub, kept, {SCRIPT: HEAD}, {SCRIPT: HEAD + WRONG})
    places = [(one.path, one.line) for one in bot.mine(pull)]
    assert len(places) == len(set(places)), [one.body.split("\n")[0] for one in bot.mine(pull)]


def test_a_renamed_file(hub: FakeGitHub, kept: Kept) -> None:
    bot, pull = reviewed(hub, kept, {SCRIPT: HEAD + RIGHT}, {SCRIPT: None, "benchmarks/renamed.sh": HEAD + WRONG})
    assert [one.status for one in pull.files()] == ["renamed"]
    assert bot.mine(pull)
    assert {(one.path, one.side, one.line) for one in bot.mine(pull)} == {("benchmarks/renamed.sh", "RIGHT", 35)}


def test_only_renamed(hub: FakeGitHub, kept: Kept) -> None:
    """A file that is only moved brings nothing, wherever its lines are."""
    bot, pull = reviewed(hub, kept, {SCRIPT: HEAD + WRONG}, {SCRIPT: None, "benchmarks/renamed.sh": HEAD + WRONG})
    assert bot.conclusion(pull) in ("success", "failure")
    assert all(one.subject == "file" for one in bot.mine(pull))


def test_faults_of_old_are_not_told(hub: FakeGitHub, kept: Kept) -> None:
    bot, pull = reviewed(hub, kept, {SCRIPT: HEAD + WRONG}, {SCRIPT: HEAD + WRONG + "echo done\n"})
    assert (bot.mine(pull), bot.summaries(pull)) == ([], [])
    assert bot.conclusion(pull) == "success"


def test_a_deleted_file(hub: FakeGitHub, kept: Kept) -> None:
    """What is missing now is told where it was, on the left side."""
    repo = hub.repository("acme/bench", healthy_files())
    repo.commit("gone", {RECIPE: None})
    pull = repo.open_pull("gone")
    bot = install(hub, repo, kept)
    bot.review(pull)
    assert bot.conclusion(pull) == "failure"
    assert {one.side for one in bot.mine(pull)} <= {"LEFT", None}
    assert "No such file or directory" in "".join(one.body for one in [*bot.mine(pull), *bot.summaries(pull)])


@pytest.mark.parametrize("ending", ["\r\n", "\n"], ids=["crlf", "lf"])
def test_line_endings(hub: FakeGitHub, kept: Kept, ending: str) -> None:
    """A suggestion in a file with carriage returns would mix them, so there is none."""
    old, new = (text.replace("\n", ending) for text in (HEAD, HEAD + WRONG))
    bot, pull = reviewed(hub, kept, {SCRIPT: Executable(old)}, {SCRIPT: Executable(new)})
    if ending == "\r\n":
        assert not [one for one in bot.mine(pull) if suggestion(one) is not None]
    assert bot.conclusion(pull) == "failure"


def test_without_a_newline_at_the_end(hub: FakeGitHub, kept: Kept) -> None:
    bot, pull = reviewed(hub, kept, {SCRIPT: HEAD}, {SCRIPT: (HEAD + WRONG).rstrip("\n")})
    assert {one.line for one in bot.mine(pull)} == {35}
    for one in bot.mine(pull):
        if suggestion(one) is not None:
            accept(pull, one)
            break
    bot.review(pull)
    assert bot.conclusion(pull) == "success"


def test_far_from_the_change(hub: FakeGitHub, kept: Kept) -> None:
    """A change that makes an untouched line wrong: told on the changed line, or on the file, and never lost."""
    seed = plant(hub)
    old = seed.repository.branches["main"]
    objects = seed.repository.objects
    config = objects.blobs[objects.flat(objects.commits[old].tree)["configs/amd-master.yaml"].sha].decode()
    assert "name: lmcache" in config
    changed = config.replace("name: lmcache", "name: mooncake")
    seed.repository.commit("far", {"configs/amd-master.yaml": changed}, onto=old)
    pull = seed.repository.open_pull("far")
    bot = install(hub, seed.repository, kept)
    bot.review(pull)
    assert bot.conclusion(pull) == "failure"
    line = changed[: changed.index("name: mooncake")].count("\n") + 1
    assert ("configs/amd-master.yaml", "RIGHT", line) in {(one.path, one.side, one.line) for one in bot.mine(pull)}


def test_links_lead_to_lines_at_the_head(hub: FakeGitHub, kept: Kept) -> None:
    seed: Seed = plant(hub)
    bot = install(hub, seed.repository, kept)
    bot.review(seed.pull)
    said = "".join(one.body for one in [*bot.mine(seed.pull), *bot.summaries(seed.pull)])
    links = re.findall(r"\]\((http[^)]+)\)", said)
    assert links
    root = re.escape(f"{hub.web}/acme/bench")
    for link in links:
        match = re.fullmatch(rf"{root}/(blob|commit)/([0-9a-f]{{40}})(?:/([^#]+))?(?:#L(\d+)(?:-L\d+)?)?", link)
        assert match, link
        kind, commit, path, line = match.groups()
        objects = seed.repository.objects
        assert commit in objects.commits
        if kind == "blob":
            entry = objects.flat(objects.commits[commit].tree)[path]
            assert line is None or 1 <= int(line) <= len(objects.blobs[entry.sha].split(b"\n"))
    assert MARKER.search(said)

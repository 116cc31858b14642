"""The seed's pull request, reviewed through the real client: what is said, where, and only once."""

from __future__ import annotations

import pytest
from fakehub import FakeGitHub, IssueComment, ReviewComment
from fakehub.seed import CHANGELOG, CONFIG, LAYOUT, RECIPE, Seed, healthy_files, line_of, plant
from reviewing import MAX_CALLS, PERMISSIONS, Bot, install, open_findings

from botlint.github.analysis import Kept
from botlint.github.review import review_group


@pytest.fixture
def seed(hub: FakeGitHub) -> Seed:
    return plant(hub)


@pytest.fixture
def bot(hub: FakeGitHub, seed: Seed, kept: Kept) -> Bot:
    return install(hub, seed.repository, kept)


def by_rule(comments: list[ReviewComment]) -> dict[str, ReviewComment]:
    found = {}
    for one in comments:
        for rule in ("shuffled-kv-heads", "job-exits"):
            if f"botlint explain {rule}" in one.body:
                assert rule not in found
                found[rule] = one
    return found


def test_two_comments_at_the_right_lines(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    assert bot.review(seed.pull) == "reviewed"
    assert len(hub.calls) <= MAX_CALLS, hub.counts()
    assert hub.count("pulls/create-review") == 1
    found = by_rule(seed.pull.inline)
    assert len(seed.pull.inline) == 2

    layout = found["shuffled-kv-heads"]
    assert (layout.path, layout.side, layout.line) == (RECIPE, "RIGHT", seed.line(RECIPE, LAYOUT))
    assert f"{CONFIG}#L{seed.line(CONFIG, 'tp: 2,')}" in layout.body
    healthy = healthy_files()[RECIPE]
    assert isinstance(healthy, bytes | str) or hasattr(healthy, "content")
    backend = found["job-exits"]
    before = seed.repository.objects.blobs[
        seed.repository.objects.flat(seed.repository.objects.commits[seed.pull.merge_base].tree)[RECIPE].sha
    ].decode()
    assert (backend.path, backend.side, backend.line) == (RECIPE, "LEFT", line_of(before, "    lmcache)"))
    assert f"{CONFIG}#L{seed.line(CONFIG, 'lmcache')}" in backend.body
    # Both halves of the contradiction, at the head.
    assert all(f"/blob/{seed.pull.head_sha}/" in one.body for one in seed.pull.inline)

    (summary,) = bot.summaries(seed.pull)
    assert "2 errors" in summary.body
    assert "Of 63 jobs, 5 changed" in summary.body
    assert "`serves` → `exits 1`" in summary.body
    (run,) = bot.runs(seed.pull)
    assert (run.name, run.conclusion, len(run.annotations)) == ("botlint", "failure", 2)
    assert run.history[0] == ("in_progress", None)


def test_again_and_nothing_new(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    hub.forget()
    assert bot.review(seed.pull) == "unchanged"
    assert hub.writes() == []
    assert bot.review(seed.pull, force=True) == "reviewed"
    assert [one.operation for one in hub.writes() if one.operation != "graphql"] == ["checks/update"]
    assert (len(seed.pull.inline), len(bot.summaries(seed.pull)), len(bot.runs(seed.pull))) == (2, 1, 1)
    assert len(bot.runs(seed.pull)[0].annotations) == 2


def test_mend_one_then_both(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    first = by_rule(seed.pull.inline)
    sha = seed.mend_layout()
    hub.forget()
    bot.review(seed.pull)
    assert len(hub.calls) <= MAX_CALLS, hub.counts()
    assert hub.count("pulls/create-review.*") == 0
    assert first["shuffled-kv-heads"].body.startswith(f"**Mended in [`{sha[:7]}`]")
    assert list(open_findings(seed.pull.inline).values()) == [first["job-exits"]]
    assert bot.conclusion(seed.pull) == "failure"
    assert "1 error" in bot.summaries(seed.pull)[0].body

    sha = seed.mend_backend()
    hub.forget()
    bot.review(seed.pull)
    assert hub.count("pulls/create-review.*") == 0
    assert first["job-exits"].body.startswith(f"**Mended in [`{sha[:7]}`]")
    assert bot.conclusion(seed.pull) == "success"
    assert [run.conclusion for run in seed.repository.runs()] == ["failure", "failure", "success"]
    (summary,) = bot.summaries(seed.pull)
    assert "No findings" in summary.body
    assert "5 changed" not in summary.body
    assert len(seed.pull.inline) == 2


def test_a_finding_that_comes_back(seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    broken = seed.recipe
    seed.mend_layout()
    bot.review(seed.pull)
    seed.pull.push({RECIPE: broken}, "As it was")
    bot.review(seed.pull)
    assert len(open_findings(seed.pull.inline)) == 2
    assert bot.conclusion(seed.pull) == "failure"


def test_lines_that_move_are_not_told_again(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    bodies = [one.body for one in seed.pull.inline]
    text = seed.recipe
    seed.pull.push({RECIPE: text.replace("\nDRAFT_MODEL=", "\n# One.\n# Two.\nDRAFT_MODEL=")}, "Say something above")
    hub.forget()
    bot.review(seed.pull)
    assert hub.count("pulls/create-review.*") == 0
    assert hub.count("pulls/update-review-comment") == 0
    assert [one.body for one in seed.pull.inline] == bodies


def test_a_force_push_starts_afresh(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    seed.pull.force_push({RECIPE: seed.recipe + "# end\n", CHANGELOG: seed.text(CHANGELOG)})
    bot.review(seed.pull)
    assert len(open_findings(seed.pull.inline)) == 2
    assert len(bot.summaries(seed.pull)) == 1
    assert bot.conclusion(seed.pull) == "failure"
    assert len(seed.repository.runs()) == 2


def test_another_base(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    # On a base that has the defects already the change brings nothing.
    repo = seed.repository
    repo.commit("broken", {RECIPE: seed.recipe}, onto=repo.branches["main"])
    repo.move("tune", repo.commit("scratch", {RECIPE: seed.recipe + "# end\n"}, onto=repo.branches["broken"]))
    seed.pull.retarget("broken")
    hub.forget()
    assert bot.review(seed.pull) == "reviewed"
    assert bot.conclusion(seed.pull) == "success"
    assert open_findings(seed.pull.inline) == {}


def test_a_base_that_moved_on_counts_from_where_it_was_left(seed: Seed, bot: Bot) -> None:
    seed.repository.commit("main", {CONFIG: "", "benchmarks/new.sh": "#!/bin/bash\n"}, "Something else")
    bot.review(seed.pull)
    assert len(seed.pull.inline) == 2
    assert "0 removed" in bot.summaries(seed.pull)[0].body


# People


def test_nothing_that_was_answered_is_deleted(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    answer = seed.pull.reply(seed.pull.inline[0], "But the image no longer needs it.")
    seed.mend_layout()
    bot.review(seed.pull)
    assert hub.count("pulls/delete-review-comment") == hub.count("issues/delete-comment") == 0
    assert answer in seed.pull.inline
    assert answer.body == "But the image no longer needs it."
    assert seed.pull.inline[0].body.startswith("**Mended")


RESOLVING = {**PERMISSIONS, "contents": "write"}
RESOLVE = ".botlint.yaml", "version: 1\nreview:\n  resolve-threads: true\n"


@pytest.mark.parametrize(
    ("setting", "permissions", "answered", "resolved"),
    [
        (False, RESOLVING, False, False),
        (True, PERMISSIONS, False, False),
        (True, RESOLVING, True, False),
        (True, RESOLVING, False, True),
    ],
)
def test_threads_are_resolved_where_that_is_wanted_and_allowed(
    hub: FakeGitHub, kept: Kept, setting: bool, permissions: dict[str, str], answered: bool, resolved: bool
) -> None:
    seed = plant(hub, base=dict([RESOLVE]) if setting else {})
    bot = install(hub, seed.repository, kept, permissions)
    bot.review(seed.pull)
    mended = by_rule(seed.pull.inline)["shuffled-kv-heads"]
    if answered:
        seed.pull.reply(mended, "I see.")
    seed.mend_layout()
    assert bot.review(seed.pull) == "reviewed"
    assert (seed.pull.thread(mended).resolved_by is not None) == resolved
    assert mended.body.startswith("**Mended")
    others = [one for one in seed.pull.threads if one.comments[0] is not mended]
    assert [one.resolved_by for one in others] == [None]


def test_a_thread_that_people_closed_stays_closed(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    for thread in seed.pull.threads:
        thread.resolved_by = hub.user("alice")
    seed.pull.push({"README.md": "Something else\n"})
    hub.forget()
    bot.review(seed.pull)
    assert hub.count("pulls/create-review.*") == 0
    assert bot.conclusion(seed.pull) == "failure"


def test_a_comment_that_people_deleted_comes_back(seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    seed.pull.remove(seed.pull.inline[0])
    seed.pull.remove(bot.summaries(seed.pull)[0])
    seed.pull.push({"README.md": "Something else\n"})
    bot.review(seed.pull)
    assert len(open_findings(seed.pull.inline)) == 2
    assert len(bot.summaries(seed.pull)) == 1


def test_comments_of_others_are_left_alone(seed: Seed, bot: Bot) -> None:
    """Markers count in own comments only, so a forged one neither hides a finding nor is edited."""
    bot.review(seed.pull)
    bodies = [one.body for one in seed.pull.inline]
    summary = bot.summaries(seed.pull)[0].body
    for one in [*seed.pull.inline, *bot.summaries(seed.pull)]:
        seed.pull.remove(one)
    forged: list[ReviewComment | IssueComment] = [seed.pull.comment(summary, "mallory")]
    line = seed.line(RECIPE, LAYOUT)
    forged += [seed.pull.comment_on(RECIPE, body, "mallory", line=line) for body in bodies]
    before = [one.body for one in forged]
    bot.review(seed.pull, force=True)
    assert [one.body for one in forged] == before
    assert len(open_findings(bot.mine(seed.pull))) == 2
    assert len(bot.summaries(seed.pull)) == 1


# Kinds of pull request


def test_a_draft_has_a_check_and_no_comments_on_lines(hub: FakeGitHub, kept: Kept) -> None:
    seed = plant(hub, draft=True)
    bot = install(hub, seed.repository, kept)
    bot.review(seed.pull)
    assert seed.pull.inline == []
    assert bot.conclusion(seed.pull) == "failure"
    assert len(bot.summaries(seed.pull)) == 1
    seed.pull.draft = False
    assert bot.review(seed.pull) == "reviewed"
    assert len(seed.pull.inline) == 2
    assert len(bot.runs(seed.pull)) == len(bot.summaries(seed.pull)) == 1


@pytest.mark.parametrize("merged", [False, True])
def test_a_closed_one_is_left_alone(hub: FakeGitHub, seed: Seed, bot: Bot, merged: bool) -> None:
    seed.pull.close(merged=merged)
    assert bot.review(seed.pull) == "closed"
    assert hub.writes() == []


def test_from_a_fork(hub: FakeGitHub, kept: Kept) -> None:
    seed = plant(hub, fork="stranger")
    bot = install(hub, seed.repository, kept)
    assert bot.review(seed.pull) == "reviewed"
    assert len(hub.calls) <= MAX_CALLS
    assert len(seed.pull.inline) == 2
    assert bot.conclusion(seed.pull) == "failure"
    # Everything is read through the repository that it is for.
    assert not [one for one in hub.calls if "stranger" in one.path]


def test_from_a_fork_that_is_gone(hub: FakeGitHub, kept: Kept) -> None:
    seed = plant(hub, fork="stranger")
    assert seed.pull.head_repository is not None
    hub.delete(seed.pull.head_repository)
    bot = install(hub, seed.repository, kept)
    assert bot.review(seed.pull) == "reviewed"
    assert bot.conclusion(seed.pull) == "failure"


def test_nothing_relevant(hub: FakeGitHub, kept: Kept) -> None:
    repo = hub.repository("acme/bench", healthy_files())
    bot = install(hub, repo, kept)
    repo.commit("words", {"README.md": "Other words\n", "docs/a.md": "a\n"})
    pull = repo.open_pull("words")
    assert bot.review(pull) == "reviewed"
    assert (bot.conclusion(pull), pull.inline, pull.comments) == ("success", [], [])
    assert len(hub.calls) <= MAX_CALLS


def test_a_merge_group(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    _, sha = seed.repository.merge_group(seed.pull)
    base = seed.repository.objects.commits[sha].parents[0]
    from botlint.github.review import Options

    options = Options(kept=bot.kept, app=bot.app.id)
    assert review_group(bot.client(), sha, base, options) == "reviewed"
    (run,) = seed.repository.runs(sha)
    assert (run.status, run.conclusion) == ("completed", "failure")
    assert (seed.pull.inline, seed.pull.comments) == ([], [])
    assert review_group(bot.client(), sha, base, options) == "unchanged"


def test_in_two_languages(hub: FakeGitHub, kept: Kept) -> None:
    seed = plant(hub, base={".botlint.yaml": "version: 1\nlanguages: [en, zh]\n"})
    bot = install(hub, seed.repository, kept)
    bot.review(seed.pull)
    (summary,) = bot.summaries(seed.pull)
    assert "2 errors" in summary.body
    assert any("\u4e00" <= letter <= "\u9fff" for letter in summary.body)
    bot.review(seed.pull, force=True)
    assert len(bot.summaries(seed.pull)) == 1


def test_another_apps_check_is_not_ours(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    other = hub.app("impostor")
    from fakehub import CheckRun

    suite = seed.repository.suite(other, seed.pull.head_sha)
    forged = CheckRun(
        hub.next_id(),
        seed.repository,
        other,
        suite,
        "botlint",
        seed.pull.head_sha,
        "completed",
        "success",
        "",
        None,
        0,
        0,
    )
    bot.review(seed.pull)
    forged.external_id = bot.runs(seed.pull)[0].external_id
    seed.repository.check_runs.clear()
    seed.repository.check_runs[forged.id] = forged
    assert bot.review(seed.pull) == "reviewed"
    assert [one.conclusion for one in bot.runs(seed.pull) if one.app is bot.app] == ["failure"]

"""When GitHub does not do as it is asked: whatever happened, after the next review everything is there, and once."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from fakehub import FakeGitHub, Fault, Limit, Pull, faults
from fakehub.seed import CHANGELOG, LAYOUT, RECIPE, Seed, healthy_files, plant
from reviewing import MAX_CALLS, PERMISSIONS, Analyses, Bot, install, open_findings

from botlint.github.analysis import Analysis, Kept, analyse
from botlint.github.port import Ambiguous, Forbidden, GitHubError, RateLimited
from botlint.repo.files import Files

WRITES = r"(pulls|issues|checks)/(create|update).*"


@pytest.fixture
def seed(hub: FakeGitHub) -> Seed:
    return plant(hub)


class Posting(Bot):
    """Reviews whose analysis is known."""

    analyses: Analyses

    def review(self, pull: Pull, **options: Any) -> Any:
        return super().review(pull, analyse=self.analyses, **options)


@pytest.fixture
def bot(hub: FakeGitHub, seed: Seed, kept: Kept, analyses: Analyses) -> Bot:
    made = install(hub, seed.repository, kept)
    posting = Posting(**vars(made))
    posting.analyses = analyses
    return posting


def settled(bot: Bot, pull: Pull, conclusion: str = "failure", findings: int = 2) -> None:
    """Everything is there, and once."""
    assert len(open_findings(bot.mine(pull))) == findings
    assert len(bot.summaries(pull)) == 1
    assert bot.conclusion(pull) == conclusion
    notes = bot.runs(pull)[0].annotations
    assert len({(one["path"], one["start_line"], one["message"]) for one in notes}) == len(notes) == findings


def persist(bot: Bot, pull: Pull, times: int = 3) -> int:
    """Reviews until it works, as the queue does; how many attempts that took."""
    for attempt in range(1, times + 1):
        try:
            assert bot.review(pull) in ("reviewed", "unchanged")
        except GitHubError:
            continue
        return attempt
    pytest.fail("it never worked")


# Writes whose answer is lost, or that fail

OPERATIONS = ["pulls/create-review", "issues/create-comment", "checks/create", "checks/update"]


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("make", [faults.bad_gateway, faults.dropped], ids=["502", "dropped"])
def test_a_write_that_may_have_happened(
    hub: FakeGitHub, seed: Seed, bot: Bot, operation: str, done: bool, make: Callable[..., Fault]
) -> None:
    fault = hub.fail(operation, make(done=done))
    persist(bot, seed.pull)
    assert fault.happened == 1
    settled(bot, seed.pull)


@pytest.mark.parametrize("operation", ["pulls/update-review-comment", "issues/update-comment", "checks/update"])
@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_an_edit_that_may_have_happened(hub: FakeGitHub, seed: Seed, bot: Bot, operation: str, done: bool) -> None:
    bot.review(seed.pull)
    seed.mend_layout()
    fault = hub.fail(operation, faults.bad_gateway(done=done))
    persist(bot, seed.pull)
    assert fault.happened == 1
    settled(bot, seed.pull, findings=1)


def test_posts_are_sent_once(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    """The HTTP layer repeats no POST: what may have happened is looked for first."""
    hub.fail("pulls/create-review", faults.bad_gateway(done=True))
    bot.review(seed.pull)
    assert hub.count("pulls/create-review") == 1
    assert hub.count("pulls/list-review-comments") == 2
    settled(bot, seed.pull)


@pytest.mark.parametrize("done", [False, True], ids=["before", "after"])
def test_cut_off_anywhere(hub: FakeGitHub, seed: Seed, bot: Bot, done: bool) -> None:
    """The process may end at any write, its effect there or not: the next review ends it."""
    last = None
    for number in range(20):
        for one in [*seed.pull.inline, *seed.pull.comments]:
            seed.pull.remove(one)
        seed.repository.check_runs.clear()
        hub.faults.clear()
        # From the n-th write on nothing reaches GitHub any more, or its answer does not come back.
        first = hub.fail(WRITES, faults.dropped(done=done, after=number))
        hub.fail(WRITES, faults.dropped(times=-1, after=number))
        with suppress(GitHubError):
            bot.review(seed.pull)
        hub.faults.clear()
        persist(bot, seed.pull, 1)
        settled(bot, seed.pull)
        if not first.happened:
            last = number
            break
    assert last == 4


# Limits


@pytest.mark.parametrize(
    ("make", "wait"),
    [
        (lambda: faults.secondary_limit(7), 7),
        (lambda: faults.secondary_limit(), 60),
        (lambda: faults.secondary_limit(7, status=429), 7),
        (lambda: faults.secondary_limit(status=429), 60),
        (lambda: faults.abuse(), 60),
    ],
    ids=["403 after 7", "403", "429 after 7", "429", "422 abuse"],
)
@pytest.mark.parametrize("operation", ["pulls/create-review", "issues/create-comment", "checks/update"])
def test_limits_of_what_is_written(
    hub: FakeGitHub, seed: Seed, bot: Bot, make: Callable[[], Fault], wait: float, operation: str
) -> None:
    fault = hub.fail(operation, make())
    told = None
    try:
        bot.review(seed.pull)
    except RateLimited as error:
        told = error.wait_seconds
    assert fault.happened == 1
    # Either it was waited for, or the caller is told how long to wait.
    assert told == wait or any(one >= wait for one in bot.slept)
    persist(bot, seed.pull)
    settled(bot, seed.pull)
    assert hub.count("pulls/create-review", 200) == 1


@pytest.mark.parametrize("operation", ["pulls/get", "pulls/list-files", "git/get-tree", "graphql"])
@pytest.mark.parametrize(
    "make",
    [
        lambda: faults.secondary_limit(3),
        lambda: faults.secondary_limit(3, status=429),
        faults.bad_gateway,
        faults.dropped,
    ],
    ids=["403", "429", "502", "dropped"],
)
def test_reads_are_repeated(hub: FakeGitHub, seed: Seed, bot: Bot, operation: str, make: Callable[[], Fault]) -> None:
    if operation == "graphql":
        bot.review(seed.pull)
        seed.mend_layout()
        bot.slept.clear()
    fault = hub.fail(operation, make())
    bot.review(seed.pull)
    assert fault.happened == 1
    assert len(bot.slept) == 1
    settled(bot, seed.pull, findings=1 if operation == "graphql" else 2)


def test_the_hourly_limit_is_waited_for_by_the_caller(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    hub.fail("pulls/list-files", faults.primary_limit(hub.now() + 1_800))
    with pytest.raises(RateLimited) as error:
        bot.review(seed.pull)
    assert 1_700 < error.value.wait_seconds < 1_900
    persist(bot, seed.pull)
    settled(bot, seed.pull)


def test_a_server_that_stays_down(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    hub.fail("pulls/list-files", faults.bad_gateway(times=-1))
    with pytest.raises(GitHubError) as error:
        bot.review(seed.pull)
    assert "acme" not in str(error.value)
    assert 2 <= hub.count("pulls/list-files") <= 6
    hub.faults.clear()
    persist(bot, seed.pull)
    settled(bot, seed.pull)


def test_slow_answers_are_waited_for(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    hub.latency = 0.02
    hub.fail("git/get-tree", faults.slow(0.3))
    bot.review(seed.pull)
    settled(bot, seed.pull)


# Comments that GitHub does not take


def refuses(line: int) -> Callable[[Any], bool]:
    return lambda body: any(one["line"] == line for one in body.get("comments", [body]) if "line" in one)


def refused(line: int, **more: Any) -> Fault:
    errors = ["Line could not be resolved"]
    body = {"message": "Unprocessable Entity", "errors": errors, "documentation_url": "https://docs", "status": "422"}
    return Fault(status=422, body=body, times=-1, if_body=refuses(line), **more)


def test_one_bad_anchor_does_not_lose_the_rest(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    line = seed.line(RECIPE, LAYOUT)
    hub.fail("pulls/create-review(-comment)?", refused(line))
    bot.review(seed.pull)
    settled(bot, seed.pull)
    # The one is told on the file instead.
    assert sorted((one.subject, one.side) for one in bot.mine(seed.pull)) == [("file", None), ("line", "LEFT")]
    assert len(hub.calls) <= MAX_CALLS, hub.counts()
    hub.faults.clear()
    hub.forget()
    bot.review(seed.pull, force=True)
    assert hub.count("pulls/create-review.*") == 0


def test_nothing_can_be_placed(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    body = {"message": "Validation Failed", "errors": [], "documentation_url": "https://docs", "status": "422"}
    hub.fail("pulls/create-review(-comment)?", Fault(status=422, body=body, times=-1))
    bot.review(seed.pull)
    assert bot.mine(seed.pull) == []
    (summary,) = bot.summaries(seed.pull)
    assert "KV\\_OFFLOAD\\_BACKEND=lmcache is not supported here" in summary.body
    assert "4 key-value heads" in summary.body
    assert bot.conclusion(seed.pull) == "failure"


def test_the_head_moves_meanwhile(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    """What was found of the old head is about nothing that is there: nothing is posted, and its check is concluded."""
    old = seed.pull.head_sha
    hub.then("git/get-tree", lambda: seed.mend_layout() and None)
    assert bot.review(seed.pull) == "superseded"
    assert (bot.mine(seed.pull), bot.summaries(seed.pull)) == ([], [])
    (run,) = seed.repository.runs(old)
    assert (run.status, run.conclusion) == ("completed", "cancelled")
    assert bot.review(seed.pull) == "reviewed"
    settled(bot, seed.pull, findings=1)


def test_a_comment_is_deleted_meanwhile(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    bot.review(seed.pull)
    seed.mend_layout()
    hub.then("pulls/list-review-comments", lambda: seed.pull.remove(bot.mine(seed.pull)[0]))
    bot.review(seed.pull)
    assert bot.conclusion(seed.pull) == "failure"


def test_a_locked_conversation(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    seed.pull.locked = True
    with pytest.raises(Forbidden):
        bot.review(seed.pull)
    seed.pull.locked = False
    persist(bot, seed.pull)
    settled(bot, seed.pull)


# Tokens and names


def test_a_token_that_ends_meanwhile(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    client = bot.client()
    hub.then("pulls/list-review-comments", lambda: setattr(hub, "shift", 3_700))
    with pytest.raises(Forbidden):
        bot.review(seed.pull, client=client)
    persist(bot, seed.pull)
    settled(bot, seed.pull)


def test_what_is_kept_outlives_the_token(hub: FakeGitHub, kept: Kept) -> None:
    """A base that is kept reads what is still missing with the token of the review that is running."""
    seed = plant(hub, base={"assets/one.bin": "1", "other/two.bin": "2"})
    bot = install(hub, seed.repository, kept)
    read: list[bytes | None] = []

    def reading(path: str) -> Any:
        def made(base: Files, head: Files, **how: Any) -> Analysis:
            found = analyse(base, head, bot.kept, **how)
            read.append(base.read(path))
            return found

        return made

    bot.review(seed.pull, analyse=reading("assets/one.bin"))
    hub.shift = 7_200
    bot.review(seed.pull, analyse=reading("other/two.bin"), force=True)
    assert read == [b"1", b"2"]


def test_a_renamed_repository(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    client = bot.client()
    hub.rename(seed.repository, "acme/renamed")
    assert bot.review(seed.pull, client=client) == "reviewed"
    settled(bot, seed.pull)
    assert hub.count("redirect") >= 1
    # It is asked for under its new name as soon as that is known.
    assert hub.count("redirect") <= 3
    assert "/acme/renamed/blob/" in bot.mine(seed.pull)[0].body


def test_renamed_in_the_middle(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    hub.then("pulls/list-files", lambda: hub.rename(seed.repository, "acme/renamed"))
    assert bot.review(seed.pull) == "reviewed"
    settled(bot, seed.pull)


def test_without_the_permission_for_checks(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    token = bot.token({**PERMISSIONS, "checks": "read"})
    with pytest.raises(Forbidden):
        bot.review(seed.pull, client=bot.client(token))


# Large ones


def test_many_comments_of_others(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    line = seed.line(RECIPE, LAYOUT)
    for number in range(230):
        seed.pull.comment(f"comment {number}")
        seed.pull.comment_on(RECIPE, f"remark {number}", line=line)
    bot.review(seed.pull)
    for number in range(120):
        seed.pull.comment_on(RECIPE, f"later {number}", line=line)
    settled(bot, seed.pull)
    seed.mend_layout()
    hub.forget()
    bot.review(seed.pull)
    assert len(hub.calls) <= MAX_CALLS, hub.counts()
    settled(bot, seed.pull, findings=1)


def test_a_tree_that_is_cut(hub: FakeGitHub, seed: Seed, kept: Kept) -> None:
    seed.repository.tree_entries = 12
    bot = install(hub, seed.repository, kept)
    bot.review(seed.pull)
    settled(bot, seed.pull)


def test_patches_that_are_missing(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    seed.repository.limits = type(seed.repository.limits)(patch_lines=2)
    hub.violations.clear()
    bot.review(seed.pull)
    # GitHub shows no lines of such a file, so it takes no comment on one.
    assert {one.subject for one in bot.mine(seed.pull)} <= {"file"}
    told = "".join(one.body for one in [*bot.mine(seed.pull), *bot.summaries(seed.pull)])
    assert "key-value heads" in told
    assert bot.conclusion(seed.pull) == "failure"


def test_more_files_than_are_listed(hub: FakeGitHub, kept: Kept) -> None:
    repo = hub.repository("acme/bench", healthy_files())
    repo.commit("many", {f"aaa/{number:04}.txt": "x\n" for number in range(3_005)})
    seed = Seed(repo, repo.open_pull("many"))
    whole = plant(hub, "acme/other")
    seed.pull.push({path: whole.text(path) for path in (RECIPE, CHANGELOG)})
    bot = install(hub, repo, kept)
    bot.review(seed.pull)
    assert bot.mine(seed.pull) == []
    (summary,) = bot.summaries(seed.pull)
    assert "key-value heads" in summary.body
    assert "more files than GitHub lists" in summary.body
    assert bot.conclusion(seed.pull) == "failure"


def test_a_limit_on_comments_does_not_stop_a_review(hub: FakeGitHub, seed: Seed, bot: Bot) -> None:
    hub.limit = Limit(1, 60, lambda: faults.secondary_limit(5))
    for _ in range(12):
        try:
            bot.review(seed.pull)
            break
        except (RateLimited, Ambiguous):
            hub.shift += 61
    settled(bot, seed.pull)

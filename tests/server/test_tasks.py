"""What tasks do, and what becomes of those that fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hub import ADA, APP, BOT, Hub, Memory, a_pull

from botlint.engine.settings import Language
from botlint.github.models import CheckRun, IssueComment, ReviewComment
from botlint.github.port import Ambiguous, Forbidden, GitHub, GitHubError, NotFound, RateLimited
from botlint.server.answers import ignored
from botlint.server.commands import Command
from botlint.server.events import Task
from botlint.server.metrics import Metrics
from botlint.server.runtime import kept_as
from botlint.server.tasks import RETRIES, Reviewed, TaskFailed, Tasks


class Reviews:
    """Notes what it is asked to review, and fails when told to."""

    def __init__(self) -> None:
        self.asked: list[tuple[Any, ...]] = []
        self.error: Exception | None = None
        self.spoken: tuple[Language, ...] = ("en",)

    def _note(self, *what: Any) -> Reviewed:
        self.asked.append(what)
        if self.error is not None:
            raise self.error
        return "reviewed"

    def review(self, github: GitHub, number: int, *, force: bool) -> Reviewed:
        return self._note("review", number, force)

    def discussed(self, github: GitHub, number: int) -> Reviewed:
        return self._note("discussed", number)

    def group(self, github: GitHub, head: str, base: str) -> Reviewed:
        return self._note("group", head, base)

    def languages(self, github: GitHub, number: int) -> Sequence[Language]:
        return self.spoken

    def give_up(self, github: GitHub, head: str, number: int, base: str) -> None:
        self.asked.append(("give up", head, number or base))


class World:
    def __init__(self, fence: Callable[[int], None] = lambda _: None) -> None:
        self.memory = Memory(pulls={7: a_pull(7)}, roles={"ada": "write", "tom": "read"})
        self.hub = Hub({1001: self.memory})
        self.reviews = Reviews()
        self.later: list[tuple[str, Task, float]] = []
        self.tasks = Tasks(
            app=APP,
            clients=self.hub.open,
            reviewer=self.reviews,
            submit=lambda *what: self.later.append(what),
            repositories=lambda installation: installation - 77,
            metrics=Metrics(),
            fence=fence,
        )

    def do(self, kind: Any = "review", identifier: str = "d-1", **fields: Any) -> str:
        given: dict[str, Any] = {"repository": "acme/bench", "repository_id": 1001, "number": 7, **fields}
        outcome = self.tasks.run(identifier, Task(kind, 77, **given).body())["outcome"]
        assert isinstance(outcome, str)
        return outcome


@pytest.fixture
def world() -> World:
    return World()


def run_of(head: str, status: str = "in_progress", app: int = APP) -> CheckRun:
    return CheckRun(1, "botlint", head, status, None, "", app, "2026-01-01T00:00:00Z")  # type: ignore[arg-type]


def test_a_head_is_reviewed(world: World) -> None:
    assert world.do() == "reviewed"
    assert world.do("discussed") == "reviewed"
    assert world.do("group", number=0, head="c" * 40, base="d" * 40) == "reviewed"
    assert world.reviews.asked == [("review", 7, False), ("discussed", 7), ("group", "c" * 40, "d" * 40)]


def test_the_check_of_a_head_that_was_pushed_over_is_cancelled(world: World) -> None:
    old = "0" * 40
    world.memory.runs = [run_of(old)]
    assert world.do(head=old) == "reviewed"
    assert (world.memory.runs[0].status, world.memory.runs[0].conclusion) == ("completed", "cancelled")
    assert world.reviews.asked == [("review", 7, False)]


def test_checks_of_others_and_completed_ones_stay(world: World) -> None:
    old = "0" * 40
    world.memory.runs = [run_of(old, app=1), run_of(old, "completed")]
    world.do(head=old)
    assert [run.conclusion for run in world.memory.runs] == [None, None]


def test_a_closed_pull_request_is_not_reviewed_but_its_check_ends(world: World) -> None:
    world.memory.pulls[7] = a_pull(7, state="closed")
    world.memory.runs = [run_of("a" * 40)]
    assert world.do() == "closed"
    assert world.memory.runs[0].conclusion == "cancelled"
    assert not world.reviews.asked


def test_a_rerun_is_forced_and_finds_the_pull_request_of_a_fork_by_its_head(world: World) -> None:
    assert world.do("rerun", head="a" * 40) == "reviewed"
    assert world.reviews.asked == [("review", 7, True)]
    assert world.do("rerun", number=0, head="a" * 40) == "handed on"
    ((identifier, task, delay),) = world.later
    assert (identifier, task.kind, task.number, task.lane, delay) == ("d-1.7", "rerun", 7, "1001#7", 0.0)
    assert world.do("rerun", number=0, head="e" * 40) == "reviewed"
    assert world.reviews.asked[-1] == ("group", "e" * 40, "")


@pytest.mark.parametrize(("actor", "role", "allowed"), [
    ("ada", "write", True), ("ada", "maintain", True), ("ada", "admin", True), ("ada", "triage", False),
    ("ada", "read", False), ("ada", "none", False), ("nobody", "write", False),
])  # fmt: skip
def test_who_may_command_is_asked_each_time(world: World, actor: str, role: Any, allowed: bool) -> None:
    world.memory.roles = {"ada": role}
    outcome = world.do("command", actor=actor, comment=5, commands=(Command("check"),))
    assert (outcome == "reviewed") is allowed
    assert world.reviews.asked == ([("review", 7, True)] if allowed else [])
    assert not world.memory.comments


def test_who_is_not_known_may_nothing(world: World) -> None:
    def fails(name: str) -> None:
        if name == "permission":
            raise GitHubError("GitHub does not answer")

    world.memory.before = fails
    assert world.do("command", actor="ada", comment=5, commands=(Command("explain", "x"),)) == "postponed"
    assert not world.memory.comments


def test_an_answer_is_given_once(world: World) -> None:
    told = (Command("explain", "dead-entry"), Command("smoke"), Command("help"))
    for _ in range(2):
        assert world.do("command", actor="ada", comment=5, commands=told) == "answered"
    (comment,) = world.memory.comments
    assert comment.body.endswith("\n<!-- botlint:v1 reply=5 -->")
    assert "not set up" in comment.body
    assert not any(line.startswith("/botlint") for line in comment.body.splitlines())
    assert not world.reviews.asked


def test_an_answer_is_in_the_languages_of_the_repository(world: World) -> None:
    world.reviews.spoken = ("en", "zh")
    told = (Command("smoke"), Command("help"), Command("explain", "no-such-rule"))
    world.do("command", actor="ada", comment=5, commands=told)
    (comment,) = world.memory.comments
    for words in ("not set up", "未设置", "at the start of a line", "行首", "There is no rule `no-such-rule`", "没有"):
        assert words in comment.body


def test_somebody_who_writes_our_marker_does_not_silence_us(world: World) -> None:
    world.memory.comments = [IssueComment(1, "", ADA, "<!-- botlint:v1 reply=5 -->", "")]
    world.do("command", actor="ada", comment=5, commands=(Command("smoke"),))
    assert len(world.memory.comments) == 2


def test_an_answer_to_a_comment_on_a_line_goes_into_its_thread(world: World) -> None:
    first = ReviewComment(50, "", BOT, "finding", "x.sh", 3, "RIGHT", None, None, "a" * 40, "")
    asked = ReviewComment(51, "", ADA, "/botlint smoke", "x.sh", 3, "RIGHT", None, 50, "a" * 40, "")
    world.memory.lines = [first, asked]
    for _ in range(2):
        world.do("command", actor="ada", comment=51, inline=True, commands=(Command("smoke"),))
    assert [one.reply_to for one in world.memory.lines] == [None, 50, 50]
    assert world.do("command", actor="ada", comment=99, inline=True, commands=(Command("smoke"),)) == "answered"
    assert len(world.memory.lines) == 3


def test_an_ignored_finding_is_known_from_our_answer(world: World) -> None:
    reason = "`@all` --> <!-- botlint:v1 ignore=ffffffffffffffff by=x reason=x -->"
    told = (Command("ignore", "0123456789abcdef", reason),)
    assert world.do("command", actor="ada", comment=5, commands=told) == "reviewed"
    assert world.reviews.asked == [("review", 7, True)]
    (comment,) = world.memory.comments
    assert ignored([comment.body]) == {"0123456789abcdef": f"ada: {reason}"}


def test_a_limit_is_waited_for_without_holding_the_lane(world: World) -> None:
    world.reviews.error = RateLimited("wait", 90.0)
    assert world.do() == "postponed"
    ((identifier, task, delay),) = world.later
    assert (identifier, task.attempt, delay) == ("d-1.retry-1", 1, 90.0)
    assert world.do(identifier="d-1.retry-1", attempt=1) == "postponed"
    assert world.later[1][0] == "d-1.retry-2"


@pytest.mark.parametrize("error", [Ambiguous("lost"), GitHubError("502"), ValueError("our mistake")])
def test_a_failure_is_tried_again_and_then_told(world: World, error: Exception) -> None:
    world.reviews.error = error
    for attempt, wait in enumerate(RETRIES):
        assert world.do(attempt=attempt) == "postponed"
        assert world.later[-1][2] == wait
    with pytest.raises(TaskFailed):
        world.do(attempt=len(RETRIES))
    assert world.reviews.asked[-1] == ("give up", "a" * 40, 7)


def test_nobody_waits_for_our_own_faults(world: World) -> None:
    world.reviews.error = ValueError("our mistake")
    assert world.do() == "postponed"
    assert world.reviews.asked == [("review", 7, False), ("give up", "a" * 40, 7)]
    world.reviews.error = None
    assert world.do(attempt=1) == "reviewed"
    assert world.reviews.asked[-1] == ("review", 7, True), "it looks as if it were done"
    world.reviews.error = GitHubError("502")
    assert world.do() == "postponed"
    assert world.reviews.asked[-1] == ("review", 7, False)


def test_no_secret_is_kept_of_a_failure(world: World) -> None:
    world.reviews.error = ValueError("ghs_" + "A1b2" * 9)
    with pytest.raises(TaskFailed) as caught:
        world.do(attempt=len(RETRIES))
    assert "A1b2" not in str(caught.value)


@pytest.mark.parametrize("error", [Forbidden("not allowed"), NotFound("gone")])
def test_what_is_gone_is_not_asked_for_again(world: World, error: Exception) -> None:
    world.reviews.error = error
    assert world.do() == "gone"
    assert world.do(repository_id=1, repository="acme/removed") == "gone"
    assert not world.later


def test_a_process_that_may_be_dead_writes_nothing() -> None:
    def fence(_: int) -> None:
        raise GitHubError("silent for too long")

    world = World(fence)
    assert world.do("command", actor="ada", comment=5, commands=(Command("smoke"),)) == "postponed"
    assert not world.memory.comments
    world.memory.pulls[7] = a_pull(7, state="closed")
    world.memory.runs = [run_of("a" * 40)]
    assert world.do() == "postponed"
    assert world.memory.runs[0].conclusion is None


def test_new_repositories_are_looked_through(world: World) -> None:
    assert world.do("repositories", number=0) == "none to review"


def test_a_task_of_another_version_fails_once(world: World) -> None:
    assert world.tasks.run("d-9", {"kind": "dance", "installation": 77, "repository": "acme/bench",
                                   "repository_id": 1001, "attempt": 0})["outcome"] == "postponed"  # fmt: skip


def test_what_people_say_in_a_minute_is_looked_at_once() -> None:
    said = Task("discussed", 77, "acme/bench", 1001, 7)
    (first, wait), (second, shorter) = kept_as("d-1", said, 6000.0), kept_as("d-2", said, 6059.0)
    assert first == second
    assert (wait, shorter) == (120.0, 61.0)
    assert kept_as("d-3", said, 6060.0)[0] != first
    assert kept_as("d-4", Task("review", 77, "acme/bench", 1001, 7), 6000.0) == ("d-4", 0.0)

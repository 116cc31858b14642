"""What a task does: it reads from GitHub how things are now, and makes the App's part of it as it should be.

A task may be done twice, or half and then again: everything is found again by its marker or its external id, so doing
it once more changes nothing. The payload that a task came from is a hint only.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, cast

from botlint.core.redact import redact
from botlint.engine.settings import Language
from botlint.github.models import CheckOutput, Conclusion
from botlint.github.port import Actions, Forbidden, GitHub, GitHubError, NotFound, RateLimited, Unprocessable
from botlint.server import answers
from botlint.server.engine import Body
from botlint.server.events import Task, from_body
from botlint.server.metrics import Metrics
from botlint.server.smoke import MAY_COMMAND, SmokeRuns

CHECK = "botlint"
"""The name of the check run, which branch protection waits for: it never changes."""

RETRIES = (5.0, 30.0, 120.0, 600.0, 1800.0)
"""Seconds until a task that failed is tried again, and how often."""

LONGEST_WAIT = 3600.0

Reviewed = Literal["reviewed", "unchanged", "superseded", "closed", "failed"]

log = logging.getLogger("botlint.tasks")


class TaskFailed(Exception):  # noqa: N818 (it ends a task for good)
    """A task that was tried often enough; its text is kept, so it holds no secret."""


class Reviewer(Protocol):
    """Reviews: the only thing here that knows what a finding is."""

    def review(self, github: GitHub, number: int, *, force: bool) -> Reviewed:
        """Bring comments, summary and check run of a pull request's head up to date.

        With `force` also where they seem to be so already.
        """
        ...

    def discussed(self, github: GitHub, number: int) -> Reviewed:
        """Review again where a rule waits for what people say."""
        ...

    def group(self, github: GitHub, head: str, base: str) -> Reviewed:
        """Conclude the check run of a merge group's head; `base` is empty where it is not known."""
        ...

    def languages(self, github: GitHub, number: int) -> Sequence[Language]:
        """The languages that the settings of the base ask for."""
        ...

    def give_up(self, github: GitHub, head: str, number: int, base: str) -> None:
        """Conclude the check run of a head that could not be reviewed: that of a pull request, or of a merge group."""
        ...


Clients = Callable[[int, str, int], AbstractContextManager[GitHub]]
"""A client for a repository, by the ids of the installation, the name and the id of the repository."""


@dataclass(frozen=True, slots=True)
class Tasks:
    """Does tasks. `submit` keeps another one, `repositories` looks through those of an installation.

    Before every write `fence` is called with the installation: it waits, and raises where this process must not write
    any more. `settled` waits until it may again.
    """

    app: int
    clients: Clients
    reviewer: Reviewer
    submit: Callable[[str, Task, float], object]
    repositories: Callable[[int], int]
    metrics: Metrics
    fence: Callable[[int], None] = lambda _installation: None
    settled: Callable[[], None] = lambda: None
    retries: tuple[float, ...] = RETRIES
    smoke: SmokeRuns | None = None
    """None where the App starts no smoke runs; else there are `smoke_clients` too, which may start workflows."""
    smoke_clients: Clients | None = None

    def run(self, identifier: str, body: Body) -> Body:
        """Do the task that was kept under this id; what fails is kept again for later, or fails for good."""
        began = time.monotonic()
        task = from_body(body)
        about = {"task": identifier, "kind": task.kind, "lane": task.lane}
        try:
            outcome = self._attempt(identifier, task, about)
        except TaskFailed:
            self.metrics.done(task.kind, "failed", time.monotonic() - began)
            raise
        seconds = round(time.monotonic() - began, 3)
        self.metrics.done(task.kind, outcome, seconds)
        log.info("task done", extra={**about, "outcome": outcome, "seconds": seconds, "reason": task.reason})
        return {"outcome": outcome}

    def _attempt(self, identifier: str, task: Task, about: Mapping[str, Any]) -> str:
        try:
            return self._do(identifier, task)
        except RateLimited as error:
            wait = min(max(error.wait_seconds, 1.0), LONGEST_WAIT)
            return self._later(identifier, task, wait, about, error)
        except (Forbidden, NotFound) as error:
            # Uninstalled, deleted, made private, or never allowed: it is no use to ask again.
            log.warning("not possible", extra={**about, "error": redact(str(error))})
            return "gone"
        except Exception as error:  # whatever it was, the delivery was accepted
            if task.attempt < len(self.retries):
                if not isinstance(error, GitHubError):
                    # Our own fault, which may well come again: nobody shall wait for us until it does not.
                    self._give_up(task)
                return self._later(identifier, task, self.retries[task.attempt], about, error)
            log.exception("task failed for good", extra=dict(about))
            self._give_up(task)
            raise TaskFailed(_told(error)) from None

    def _later(self, identifier: str, task: Task, wait: float, about: Mapping[str, Any], error: Exception) -> str:
        known = isinstance(error, GitHubError)
        log.warning(
            "task postponed",
            extra={
                **about,
                "seconds": wait,
                "attempt": task.attempt,
                "error": redact(f"{type(error).__name__}: {error}"),
            },
            exc_info=None if known else error,
        )
        self.settled()
        # A limit is not the task's failure, but it must not be asked for ever either.
        if task.attempt >= 4 * len(self.retries):
            raise TaskFailed(_told(error))
        self.submit(f"{_origin(identifier)}.retry-{task.attempt + 1}", replace(task, attempt=task.attempt + 1), wait)
        return "postponed"

    def _give_up(self, task: Task) -> None:
        if task.kind not in ("review", "rerun", "group"):
            return
        try:
            with self._client(task) as github:
                head = github.pull(task.number).head.sha if task.number else task.head
                self.reviewer.give_up(github, head, task.number, task.base)
        except Exception:  # it is reported already, and the reaper looks after open check runs
            log.warning("could not conclude the check run", exc_info=True)

    def _do(self, identifier: str, task: Task) -> str:
        if task.kind == "repositories":
            return f"{'some' if self.repositories(task.installation) else 'none'} to review"
        if task.kind in ("smoke", "smoke-look"):
            return self._smoke(identifier, task)
        with self._client(task) as github:
            match task.kind:
                case "review":
                    return self._reviewed(github, identifier, task)
                case "discussed":
                    return self.reviewer.discussed(github, task.number)
                case "rerun":
                    return self._rerun(github, identifier, task)
                case "group":
                    return self.reviewer.group(github, task.head, task.base)
                case "command":
                    return self._command(github, identifier, task)
        raise TaskFailed(f"no such task: {task.kind!r}"[:100])

    @contextmanager
    def _client(self, task: Task) -> Iterator[GitHub]:
        with self.clients(task.installation, task.repository, task.repository_id) as github:
            yield fenced(github, lambda: self.fence(task.installation))

    def _smoke(self, identifier: str, task: Task) -> str:
        """What is about smoke runs, with a token that may start workflows: no other task has one."""
        runs, clients = self.smoke, self.smoke_clients
        if runs is None or clients is None:
            return "not set up"
        try:
            with clients(task.installation, task.repository, task.repository_id) as github:
                actions = cast(Actions, fenced(github, lambda: self.fence(task.installation)))
                return (
                    runs.start(actions, _origin(identifier), task) if task.kind == "smoke" else runs.look(actions, task)
                )
        except Forbidden:
            if task.kind == "smoke":
                with self._client(task) as github:
                    runs.tell_no_permission(github, task)
            raise

    def _reviewed(self, github: GitHub, identifier: str, task: Task) -> str:
        outcome = self._review(github, task, force=False)
        if self.smoke is not None:
            for number, more in enumerate(self.smoke.follow(task, outcome)):
                self.submit(f"{_origin(identifier)}.smoke-{number}", more, 0.0)
        return outcome

    def _review(self, github: GitHub, task: Task, *, force: bool) -> str:
        pull = github.pull(task.number)
        if task.head and task.head != pull.head.sha:
            # The head that was pushed over, by force perhaps: its check run would say "in progress" for two weeks.
            close_runs(github, task.head, self.app, "A newer commit was pushed")
        if pull.state == "closed":
            close_runs(github, pull.head.sha, self.app, "The pull request is closed")
            return "closed"
        # What an earlier attempt gave up looks as if it were done.
        return self.reviewer.review(github, task.number, force=force or task.attempt > 0)

    def _rerun(self, github: GitHub, identifier: str, task: Task) -> str:
        if task.number:
            return self._review(github, task, force=True)
        numbers = [pull.number for pull in github.open_pulls() if pull.head.sha == task.head]
        for number in numbers:
            # Not done here: only the lane of a pull request keeps two reviews of it apart.
            self.submit(f"{identifier}.{number}", replace(task, number=number), 0.0)
        return "handed on" if numbers else self.reviewer.group(github, task.head, "")

    def _command(self, github: GitHub, identifier: str, task: Task) -> str:
        if github.permission(task.actor) not in MAY_COMMAND:
            # No answer either: a stranger shall not make the App write comments.
            log.info("command not allowed", extra={"lane": task.lane, "actor": task.actor})
            return "not allowed"
        self._answer(github, task)
        for command in task.commands:
            if command.verb == "smoke" and self.smoke is not None:
                asked = replace(task, kind="smoke", commands=(), head=command.subject, words=command.reason)
                self.submit(f"{_origin(identifier)}.smoke", asked, 0.0)
        if any(command.verb in ("check", "ignore") for command in task.commands):
            return self._review(github, task, force=True)
        return "answered"

    def _answer(self, github: GitHub, task: Task) -> None:
        # A smoke run has an answer of its own, when it is known what became of it.
        told = [one for one in task.commands if one.verb != "smoke" or self.smoke is None]
        if all(command.verb == "check" for command in told):
            return
        languages = self.reviewer.languages(github, task.number)
        text = answers.answer(task.comment, task.actor, told, answers.explained, languages)
        if text is None:
            return
        answers.give(github, task, text, answers.reply_marker(task.comment))


def _origin(identifier: str) -> str:
    """The id of the task of which this is another attempt."""
    return identifier.partition(".retry-")[0]


def _told(error: Exception) -> str:
    return redact(f"{type(error).__name__}: {error}")[:500]


def close_runs(github: GitHub, head: str, app: int, title: str, conclusion: Conclusion = "cancelled") -> int:
    """Conclude the App's check runs of a commit that are not concluded yet, and say how many there were."""
    try:
        runs = github.check_runs(head, CHECK)
    except (NotFound, Unprocessable):  # a commit that was collected after a push by force
        return 0
    still_open = [run for run in runs if run.app_id == app and run.status != "completed"]
    for run in still_open:
        github.update_check_run(
            run.id, status="completed", conclusion=conclusion, output=CheckOutput(title=title, summary=f"{title}.")
        )
    return len(still_open)


_WRITES = frozenset(
    (
        "create_review",
        "create_review_comment",
        "create_file_comment",
        "edit_review_comment",
        "reply",
        "create_issue_comment",
        "edit_issue_comment",
        "resolve_thread",
        "minimize",
        "create_check_run",
        "update_check_run",
        "dispatch_workflow",
        "cancel_run",
    )
)


class _Fenced:
    """A client that asks before every write whether this process may still write."""

    def __init__(self, github: GitHub, fence: Callable[[], None]) -> None:
        self._github = github
        self._fence = fence

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._github, name)
        if name not in _WRITES:
            return found

        def write(*arguments: Any, **options: Any) -> Any:
            self._fence()
            return found(*arguments, **options)

        return write


def fenced(github: GitHub, fence: Callable[[], None]) -> GitHub:
    """The same client, which writes only while `fence` does not raise."""
    return cast(GitHub, _Fenced(github, fence))

"""What the App does without being asked: it looks for deliveries that were lost, and for heads without a check.

A pull request whose check never comes cannot be merged where the check is required, so nothing here relies on having
been told: all is read from GitHub.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Protocol

from botlint.github.app import Delivery, Installation, Repository
from botlint.github.models import CheckRun, PullRequest
from botlint.github.port import GitHub, GitHubError
from botlint.github.smoke import NAME, about
from botlint.server.events import SMOKE, SUBSCRIBED, Task
from botlint.server.smoke import POLLED
from botlint.server.tasks import CHECK

STALE = 1800.0
"""Seconds after which a check run that is still open has nobody who will conclude it."""

CATCH_UP = timedelta(days=2, hours=23)
"""How far back lost deliveries are looked for: GitHub redelivers those of the last three days."""

MOST_ATTEMPTS = 5
MOST_REDELIVERED = 500
MOST_REVIEWS = 100
"""Heads of one repository that a pass asks reviews for; the next pass goes on."""

log = logging.getLogger("botlint.upkeep")


class Hub(Protocol):
    """What is asked of GitHub as the App itself."""

    def installations(self) -> Sequence[Installation]:
        """All installations."""
        ...

    def repositories(self, installation: int) -> Sequence[Repository]:
        """The repositories that an installation reaches."""
        ...

    def deliveries(self, newer_than: datetime) -> Sequence[Delivery]:
        """Deliveries since a time, newest first."""
        ...

    def redeliver(self, delivery: int) -> None:
        """Ask for a delivery again."""
        ...


@dataclass(frozen=True, slots=True)
class Upkeep:
    """The passes; each may be done at any time, by any process, twice as well as once."""

    app: int
    hub: Hub
    clients: Callable[[int, str, int], AbstractContextManager[GitHub]]
    submit: Callable[[str, Task, float], object]
    accounts: frozenset[str] = frozenset()
    stale: float = STALE
    smoke: bool = False

    def catch_up(self, reach: timedelta = CATCH_UP) -> int:
        """Ask GitHub for the deliveries again that never arrived, and say how many there were."""
        lost = undelivered(self.hub.deliveries(datetime.now(UTC) - reach))[:MOST_REDELIVERED]
        for delivery in lost:
            self.hub.redeliver(delivery.id)
        if lost:
            log.warning("asked for lost deliveries again", extra={"count": len(lost)})
        return len(lost)

    def reconcile(self) -> int:
        """Review the open pull requests of all installations whose head has no check, or one left open."""
        count = 0
        for installation in self.hub.installations():
            if not installation.suspended and (not self.accounts or installation.account.lower() in self.accounts):
                count += self.look_through(installation.id)
        return count

    def look_through(self, installation: int) -> int:
        """Review the open pull requests of one installation whose head has no check, or one left open."""
        count = 0
        for repository in self.hub.repositories(installation):
            try:
                count += self._repository(installation, repository)
            except GitHubError as error:  # one that is archived, disabled or gone does not keep the others waiting
                log.warning("not looked through", extra={"installation": installation, "error": str(error)})
        return count

    def _repository(self, installation: int, repository: Repository) -> int:
        count = 0
        with self.clients(installation, repository.name, repository.id) as github:
            for pull in github.open_pulls():
                if self.smoke:
                    self._look_at_smoke(github, installation, repository, pull)
                reason = self._reason(github, pull)
                if reason is None:
                    continue
                # The id of the task is that of the head: while it is tried, no pass asks a second time.
                task = Task(
                    "review", installation, repository.name, repository.id, pull.number, pull.head.sha, reason=reason
                )
                day = int(time.time() // 86_400)
                self.submit(f"reconcile-{repository.id}-{pull.number}-{pull.head.sha}-{day}", task, 0.0)
                count += 1
                if count >= MOST_REVIEWS:
                    break
        return count

    def _look_at_smoke(self, github: GitHub, installation: int, repository: Repository, pull: PullRequest) -> None:
        """Go on with the looks at a smoke run which somehow ended before it did."""
        now = datetime.now(UTC).timestamp()
        for run in github.check_runs(pull.head.sha, NAME):
            ours = run.app_id == self.app and about(run.external_id) == pull.number
            if ours and run.status != "completed" and now - _started(run) > self.stale:
                look = Task("smoke-look", installation, repository.name, repository.id, pull.number, pull.head.sha)
                self.submit(f"smoke-{run.id}-{int(now // 3_600)}", replace(look, reason=POLLED), 0.0)

    def _reason(self, github: GitHub, pull: PullRequest) -> str | None:
        own = [run for run in github.check_runs(pull.head.sha, CHECK) if run.app_id == self.app]
        if not own:
            return "no check run"
        now = datetime.now(UTC).timestamp()
        left = [run for run in own if run.status != "completed" and now - _started(run) > self.stale]
        return "a check run left open" if left else None


def undelivered(deliveries: Iterable[Delivery]) -> list[Delivery]:
    """Of every event that no attempt has brought here, the newest attempt; none that was tried often enough."""
    attempts: dict[str, list[Delivery]] = defaultdict(list)
    for delivery in deliveries:
        attempts[delivery.guid].append(delivery)
    wanted = (*SUBSCRIBED, *SMOKE, "installation")
    lost = [
        max(tries, key=lambda one: one.id)
        for tries in attempts.values()
        if not any(one.arrived for one in tries) and len(tries) < MOST_ATTEMPTS and tries[0].event in wanted
    ]
    return sorted(lost, key=lambda one: one.id)


def _started(run: CheckRun) -> float:
    try:
        found = datetime.fromisoformat(run.started_at)
    except ValueError:
        return 0.0
    return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).timestamp()


@dataclass(frozen=True, slots=True)
class Duty:
    """Something that one of all processes does every so many seconds."""

    name: str
    period: float
    do: Callable[[], object]


def attempt(duty: Duty) -> None:
    """Do a duty; what goes wrong is told, and tried again when it is due again."""
    began = time.monotonic()
    try:
        result = duty.do()
    except GitHubError as error:
        log.warning("duty not done", extra={"duty": duty.name, "error": str(error)})
    except Exception:  # a duty that fails must not end the others
        log.exception("duty failed", extra={"duty": duty.name})
    else:
        seconds = round(time.monotonic() - began, 3)
        log.info("duty done", extra={"duty": duty.name, "result": result, "seconds": seconds})


def run(duties: Sequence[Duty], take: Callable[[str, float], bool], stop: threading.Event, pause: float = 5.0) -> None:
    """Do duties when they are due until told to stop."""
    while not stop.is_set():
        for duty in duties:
            if stop.is_set():
                return
            try:
                due = take(duty.name, duty.period)
            except Exception as error:  # the database may be away for a while
                log.warning("no duty taken up", extra={"duty": duty.name, "error": type(error).__name__})
                continue
            if due:
                attempt(duty)
        stop.wait(pause)

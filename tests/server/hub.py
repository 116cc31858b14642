"""A GitHub in memory for tests of tasks and upkeep: as much of the port as they use."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, cast

from botlint.github.app import Delivery, Installation, Repository
from botlint.github.models import (
    CheckOutput,
    CheckRun,
    Conclusion,
    Identity,
    IssueComment,
    Permission,
    PullRequest,
    Ref,
    ReviewComment,
)
from botlint.github.port import Forbidden, GitHub, NotFound

BOT = Identity(900, "botlint[bot]", bot=True)
ADA = Identity(5, "ada")
APP = 4242
NAME = "acme/bench"


def a_pull(number: int = 7, head: str = "a" * 40, **changes: Any) -> PullRequest:
    return replace(
        PullRequest(
            number=number,
            title="Title",
            body="",
            author=ADA,
            state="open",
            draft=False,
            merged=False,
            head=Ref(head, "topic", NAME),
            base=Ref("b" * 40, "main", NAME),
            labels=(),
            mergeable_state="clean",
            node_id=f"PR{number}",
        ),
        **changes,
    )


@dataclass
class Memory:
    """One repository."""

    pulls: dict[int, PullRequest] = field(default_factory=dict)
    runs: list[CheckRun] = field(default_factory=list)
    comments: list[IssueComment] = field(default_factory=list)
    lines: list[ReviewComment] = field(default_factory=list)
    roles: dict[str, Permission] = field(default_factory=dict)
    before: Callable[[str], None] = lambda _name: None
    """Called before each method with its name; what it raises, the method raises."""
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(10_000))
    repository: str = NAME
    web: str = f"https://github.example/{NAME}"

    def port(self) -> GitHub:
        return cast(GitHub, self)

    def me(self) -> Identity:
        return BOT

    def pull(self, number: int) -> PullRequest:
        self.before("pull")
        if number not in self.pulls:
            raise NotFound("no such pull request")
        return self.pulls[number]

    def open_pulls(self) -> Sequence[PullRequest]:
        self.before("open_pulls")
        return [pull for pull in self.pulls.values() if pull.state == "open"]

    def check_runs(self, sha: str, name: str) -> Sequence[CheckRun]:
        self.before("check_runs")
        return [run for run in reversed(self.runs) if (run.head, run.name) == (sha, name)]

    def create_check_run(self, name: str, head: str, external_id: str, **options: Any) -> CheckRun:
        self.before("create_check_run")
        conclusion: Conclusion | None = options.get("conclusion")
        status = "completed" if conclusion else "in_progress"
        started = datetime.now(UTC).isoformat()
        run = CheckRun(next(self.ids), name, head, status, conclusion, external_id, APP, started)  # type: ignore[arg-type]
        self.runs.append(run)
        return run

    def update_check_run(
        self, run: int, *, status: Any = None, conclusion: Any = None, output: CheckOutput | None = None, **_: Any
    ) -> None:
        self.before("update_check_run")
        index = next(index for index, one in enumerate(self.runs) if one.id == run)
        self.runs[index] = replace(
            self.runs[index], status="completed" if conclusion else status or self.runs[index].status,
            conclusion=conclusion or self.runs[index].conclusion,
        )  # fmt: skip

    def permission(self, login: str) -> Permission:
        self.before("permission")
        return self.roles.get(login, "none")

    def issue_comments(self, number: int) -> Sequence[IssueComment]:
        self.before("issue_comments")
        return list(self.comments)

    def review_comments(self, number: int) -> Sequence[ReviewComment]:
        self.before("review_comments")
        return list(self.lines)

    def create_issue_comment(self, number: int, body: str) -> IssueComment:
        self.before("create_issue_comment")
        comment = IssueComment(next(self.ids), "IC", BOT, body, "")
        self.comments.append(comment)
        return comment

    def reply(self, number: int, comment: int, body: str) -> ReviewComment:
        self.before("reply")
        first = next(one for one in self.lines if one.id == comment)
        found = replace(first, id=next(self.ids), author=BOT, body=body, reply_to=comment)
        self.lines.append(found)
        return found


@dataclass
class Hub:
    """The App's view: installation 77 of `acme` with some repositories."""

    repos: dict[int, Memory] = field(default_factory=dict)
    sent: list[Delivery] = field(default_factory=list)
    again: list[int] = field(default_factory=list)
    suspended: bool = False

    def installations(self) -> list[Installation]:
        return [Installation(77, "Acme", self.suspended)]

    def repositories(self, installation: int) -> list[Repository]:
        return [Repository(identifier, memory.repository) for identifier, memory in self.repos.items()]

    def deliveries(self, newer_than: datetime) -> list[Delivery]:
        return [one for one in self.sent if datetime.fromisoformat(one.delivered_at) >= newer_than]

    def redeliver(self, delivery: int) -> None:
        self.again.append(delivery)

    @contextmanager
    def open(self, installation: int, repository: str, repository_id: int) -> Iterator[GitHub]:
        if repository_id not in self.repos:
            raise Forbidden("not installed there")
        yield self.repos[repository_id].port()

"""Webhook payloads, read leniently, and the task that each asks for.

Only the few fields that are needed are read, each of the type that it must have: payloads gain fields all the time, and
old shapes stay in use (GitHub Enterprise Server). A payload is a hint, not a fact: a task asks GitHub again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from botlint.github import smoke
from botlint.server import commands

Kind = Literal["review", "rerun", "group", "command", "discussed", "repositories", "smoke", "smoke-look"]

WEBHOOK = "/webhook"
"""Where deliveries go."""

SUBSCRIBED = (
    "check_run",
    "check_suite",
    "installation_repositories",
    "issue_comment",
    "merge_group",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
)
"""The events that the App asks for; `installation` and `ping` come to every App."""

SMOKE = ("workflow_run",)
"""The events that it asks for where it starts smoke runs."""

_REVIEWED = {
    "opened": "opened",
    "reopened": "reopened",
    "synchronize": "pushed",
    "ready_for_review": "ready for review",
    "converted_to_draft": "converted to a draft",
    "closed": "closed",
    # Rules may read labels.
    "labeled": "labels changed",
    "unlabeled": "labels changed",
}
_REPOSITORY = re.compile(r"(?!\.{1,2}/)[A-Za-z0-9_.-]{1,100}/(?!\.{1,2}$)[A-Za-z0-9_.-]{1,100}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?")
_MOST_REPOSITORIES = 500
_LABEL = 100


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do for a repository; fields that its kind does not need are empty.

    `number` is a pull request; `comment` is the id of the comment that a command came in, `actor` who wrote it (or
    did what the task is about), and `inline` says that it stands on the diff; `base` and `head` are commits of a merge
    group, `head` that of a rerun. `before` is the head that was pushed over, `label` one that was added; `words` name
    jobs, `run` is a run of a workflow.
    """

    kind: Kind
    installation: int
    repository: str
    repository_id: int
    number: int = 0
    head: str = ""
    base: str = ""
    reason: str = ""
    actor: str = ""
    comment: int = 0
    inline: bool = False
    commands: tuple[commands.Command, ...] = ()
    attempt: int = 0
    before: str = ""
    label: str = ""
    words: str = ""
    run: int = 0

    @property
    def lane(self) -> str:
        """Tasks of one lane are never done at the same time: those of a pull request, those of a merge group."""
        if self.number:
            return f"{self.repository_id}#{self.number}"
        return f"{self.repository_id}@{self.head}" if self.head else f"{self.repository_id}"

    def body(self) -> dict[str, Any]:
        """The task as a small mapping, to be kept."""
        body: dict[str, Any] = {
            name: value
            for name in Task.__dataclass_fields__
            if name != "commands" and (value := getattr(self, name)) not in ("", 0, False)
        }
        if self.commands:
            body["commands"] = [command.body() for command in self.commands]
        return body


def from_body(body: Mapping[str, Any]) -> Task:
    """The task that `Task.body` wrote."""
    known = {name: body[name] for name in Task.__dataclass_fields__ if name in body and name != "commands"}
    told = tuple(commands.from_body(item) for item in body.get("commands", ()))
    return Task(commands=told, **known)


@dataclass(frozen=True, slots=True)
class Ignored:
    """A delivery that asks for nothing, and why."""

    reason: str


def read(event: str, payload: object, app: int) -> Task | Ignored:
    """The task that a delivery asks of the App with this id."""
    data = payload if isinstance(payload, dict) else {}
    action = _text(data, "action")
    match event:
        case "pull_request":
            return _pull_request(data, action)
        case "issue_comment" | "pull_request_review_comment" | "pull_request_review":
            return _said(event, data, action, app)
        case "check_run" if action == "rerequested":
            return _rerequested(data, "check_run", app)
        case "check_suite" if action == "rerequested":
            return _rerequested(data, "check_suite", app)
        case "merge_group" if action == "checks_requested":
            head, base = _sha(data, "merge_group", "head_sha"), _sha(data, "merge_group", "base_sha")
            return _task(data, "group", head=head, base=base, reason="merge group") if head else Ignored("no commit")
        case "workflow_run" if action in ("requested", "in_progress", "completed"):
            return _workflow_run(data, action)
        case "installation" if action in ("created", "unsuspend", "new_permissions_accepted"):
            return _repositories(data, "repositories", "installed")
        case "installation_repositories" if action == "added":
            return _repositories(data, "repositories_added", "repositories added")
        case "ping":
            return Ignored("ping")
    return Ignored(f"nothing to do for {event} {action}".rstrip())


def account(payload: object) -> str:
    """The login of the account that a delivery comes from, in lower case; empty where it names none."""
    data = payload if isinstance(payload, dict) else {}
    found = _text(data, "repository", "owner", "login") or _text(data, "installation", "account", "login")
    return found.lower()


def _pull_request(data: Mapping[str, Any], action: str) -> Task | Ignored:
    number = _number(data, "pull_request", "number") or _number(data, "number")
    reason = _REVIEWED.get(action, "")
    if action == "edited":
        # Another base branch comes as `edited`, not as `synchronize`; title and body are what pull-request rules read.
        changes = data.get("changes")
        changed = [name for name in ("base", "title", "body") if isinstance(changes, dict) and name in changes]
        reason = f"{' and '.join(changed)} edited" if changed else ""
    if not reason:
        return Ignored(f"nothing to do for pull_request {action}".rstrip())
    if not number:
        return Ignored("no pull request")
    actor, label = _text(data, "sender", "login"), _text(data, "label", "name")
    return _task(
        data,
        "review",
        number=number,
        head=_sha(data, "pull_request", "head", "sha"),
        reason=reason,
        actor=actor if _LOGIN.fullmatch(actor) and not actor.endswith("[bot]") else "",
        before=_sha(data, "before") if action == "synchronize" else "",
        label=label[:_LABEL] if action == "labeled" else "",
    )


def _said(event: str, data: Mapping[str, Any], action: str, app: int) -> Task | Ignored:
    """A comment or a review: commands in it, or words that a rule may wait for. Never our own, nor another bot's."""
    place, created = ("review", "submitted") if event == "pull_request_review" else ("comment", "created")
    if event == "issue_comment":
        if not isinstance(_at(data, "issue", "pull_request"), dict):
            return Ignored("a comment on an issue")
        number = _number(data, "issue", "number")
        state = _text(data, "issue", "state")
    else:
        number = _number(data, "pull_request", "number")
        state = _text(data, "pull_request", "state")
    if not number:
        return Ignored("no pull request")
    for who in (("sender",), (place, "user")):
        if _text(data, *who, "type") == "Bot" or _text(data, *who, "login").endswith("[bot]"):
            return Ignored("said by a bot")
    if app and _number(data, place, "performed_via_github_app", "id") == app:
        return Ignored("said by the App")
    if state == "closed":
        return Ignored("the pull request is closed")
    text = _text(data, place, "body")
    told = commands.read(text) if action == created else []
    if not told:
        # Only a review or a comment as a whole can be what a rule waits for.
        if event == "pull_request_review_comment" or action not in (created, "edited", "deleted", "dismissed"):
            return Ignored(f"nothing to do for {event} {action}".rstrip())
        return _task(data, "discussed", number=number, reason="discussed")
    actor = _text(data, "sender", "login")
    if not _LOGIN.fullmatch(actor) or actor.lower() != _text(data, place, "user", "login").lower():
        return Ignored("a command whose author is not its sender")
    return _task(
        data,
        "command",
        number=number,
        reason="command",
        actor=actor,
        comment=_number(data, place, "id"),
        inline=event == "pull_request_review_comment",
        commands=tuple(told),
    )


def _rerequested(data: Mapping[str, Any], what: str, app: int) -> Task | Ignored:
    if _number(data, what, "app", "id") != app:
        return Ignored(f"a {what} of another App")
    head = _sha(data, what, "head_sha")
    if not head:
        return Ignored("no commit")
    # Pull requests of forks are not named here: the task looks them up by their head.
    pulls = _at(data, what, "pull_requests")
    numbers = (
        {_number(pull, "number") for pull in pulls if isinstance(pull, dict)} if isinstance(pulls, list) else set()
    )
    number = numbers.pop() if len(numbers) == 1 else 0
    if _text(data, what, "name") == smoke.NAME:
        # Only who pressed the button may be asked for; the number is in the id that we gave the check.
        mark = smoke.about(_text(data, what, "external_id"))
        actor = _text(data, "sender", "login")
        if mark is None or not _LOGIN.fullmatch(actor):
            return Ignored("a smoke check of nothing")
        return _task(data, "smoke", number=mark, head=head, actor=actor, reason="rerequested")
    return _task(data, "rerun", number=number, head=head, reason="rerequested")


def _workflow_run(data: Mapping[str, Any], action: str) -> Task | Ignored:
    """A run of the workflow of smoke jobs, by its title; whether it is ours is looked up."""
    mark = smoke.marked_title(_text(data, "workflow_run", "display_title"))
    run = _number(data, "workflow_run", "id")
    if mark is None or not run or _text(data, "workflow_run", "event") != "workflow_dispatch":
        return Ignored("a run of another workflow")
    return _task(data, "smoke-look", number=mark.number, head=mark.head, run=run, reason=f"run {action}")


def _repositories(data: Mapping[str, Any], key: str, reason: str) -> Task | Ignored:
    installation = _number(data, "installation", "id")
    listed = data.get(key)
    if not installation or not isinstance(listed, list):
        return Ignored("no repositories")
    if not any(isinstance(item, dict) for item in listed[:_MOST_REPOSITORIES]):
        return Ignored("no repositories")
    return Task("repositories", installation, "", installation, reason=reason)


def _task(data: Mapping[str, Any], kind: Kind, **fields: Any) -> Task | Ignored:
    installation = _number(data, "installation", "id")
    repository = _text(data, "repository", "full_name")
    identifier = _number(data, "repository", "id")
    if not installation:
        return Ignored("no installation")
    if not identifier or not _REPOSITORY.fullmatch(repository):
        return Ignored("no repository")
    return Task(kind, installation, repository, identifier, **fields)


def _at(data: object, *path: str) -> object:
    for key in path:
        if not isinstance(data, dict):
            return None
        data = data.get(key)
    return data


def _text(data: object, *path: str) -> str:
    found = _at(data, *path)
    return found if isinstance(found, str) else ""


def _number(data: object, *path: str) -> int:
    found = _at(data, *path)
    return found if isinstance(found, int) and not isinstance(found, bool) and 0 < found < 1 << 63 else 0


def _sha(data: object, *path: str) -> str:
    found = _text(data, *path)
    return found if _SHA.fullmatch(found) else ""

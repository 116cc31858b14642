"""The pull request as rules see it: only what active rules look at is asked of GitHub."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from botlint.engine.analysis.descriptions import dependencies, says
from botlint.engine.policy import Policy
from botlint.engine.pull import Pull, PullCommit, Said, State, needed
from botlint.github.models import ChangedFile, Commit, IssueComment, PullRequest, ReviewComment
from botlint.github.port import Forbidden, GitHub, NotFound, Unprocessable

MAX_PEOPLE = 20
"""People whose permission is asked for; those who say the words of a sign-off are few."""

MAX_DEPENDENCIES = 10

OWN = "<!-- botlint:v1 "
"""What comments of botlint end with, whatever account posted them: a reminder quotes the words of a sign-off."""

T = TypeVar("T")

log = logging.getLogger("botlint.review")


def read_pull(
    github: GitHub,
    pull: PullRequest,
    files: Sequence[ChangedFile],
    comments: Sequence[IssueComment],
    policy: Policy,
) -> Pull:
    """What the rules of a policy look at. What the token may not read is not known, and nobody's permission is `none`.

    Raises the other errors of the port.
    """
    parts = needed(policy.rules)
    url = pull.url or f"{github.web}/pull/{pull.number}"
    commits = _allowed(partial(github.commits, pull.number)) if "commits" in parts else None
    about = Pull(
        number=pull.number,
        title=pull.title,
        body=pull.body,
        author=pull.author.login,
        url=url,
        draft=pull.draft,
        labels=pull.labels,
        mergeable_state=pull.mergeable_state,
        changed=tuple(path for one in files for path in (one.path, one.previous_path) if path),
        review=policy.settings.review,
        commits=None if commits is None else tuple(map(_commit, commits)),
        behind=_allowed(partial(github.behind, pull.base.name, pull.head.sha)) if "behind" in parts else None,
        said=_said(github, pull, comments, policy) if "said" in parts else None,
    )
    return _with_states(github, about) if "dependencies" in parts else about


def _commit(one: Commit) -> PullCommit:
    login, bot = ("", False) if one.author is None else (one.author.login, one.author.bot)
    return PullCommit(one.sha, one.message, login, bot, one.verified)


def _said(
    github: GitHub, pull: PullRequest, comments: Sequence[IssueComment], policy: Policy
) -> tuple[Said, ...] | None:
    """The comments and reviews of people that have the words of the sign-off; None where they cannot be read."""
    demand = policy.settings.review.sign_off
    if demand is None or pull.draft:
        return None
    on_lines = _allowed(partial(github.review_comments, pull.number))
    reviews = _allowed(partial(github.reviews, pull.number))
    if on_lines is None or reviews is None:
        return None
    every: list[IssueComment | ReviewComment] = [*comments, *on_lines, *reviews]
    meant = [one for one in every if not one.author.bot and OWN not in one.body and says(one.body, demand.phrase)]
    logins = list(dict.fromkeys(one.author.login for one in meant if one.author.id != pull.author.id))[:MAX_PEOPLE]
    permissions = {login: _allowed(partial(github.permission, login)) or "none" for login in logins}
    return tuple(Said(one.author.login, one.body, permissions.get(one.author.login, "none")) for one in meant)


def _with_states(github: GitHub, about: Pull) -> Pull:
    """The pull request with the states of those of the same repository on which it depends."""
    wanted = {
        one.number
        for one in dependencies(about.body)
        if one.repository.lower() in ("", about.repository.lower()) and one.number != about.number
    }
    states: dict[int, State] = {}
    for number in sorted(wanted)[:MAX_DEPENDENCIES]:
        found = _allowed(partial(github.pull, number))
        if found is not None:
            states[number] = "merged" if found.merged else found.state
    return replace(about, states=states)


def _allowed(read: Callable[[], T]) -> T | None:
    """What is read; None where the token may not, or there is no such thing."""
    try:
        return read()
    except (Forbidden, NotFound, Unprocessable) as error:
        log.warning("not known of the pull request: %s", error)
        return None

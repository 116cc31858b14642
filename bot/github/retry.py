"""What to do about an answer that is no success: wait and ask again, follow a renamed repository, or give up, and how.

Only what changes nothing when it is sent twice is sent twice.
"""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self
from urllib.parse import urlsplit

from github.GithubRetry import GithubRetry
from urllib3.connectionpool import ConnectionPool
from urllib3.response import BaseHTTPResponse
from urllib3.util.retry import Retry

from botlint.github.payloads import refusals
from botlint.github.port import (
    Ambiguous,
    Conflict,
    Forbidden,
    GitHubError,
    NotFound,
    RateLimited,
    Unprocessable,
)

ATTEMPTS = 5
SECONDARY_WAIT = 60.0
"""Seconds that GitHub asks to wait for after a secondary limit that names no time."""

_MOVED = frozenset({301, 307, 308})
_PRIMARY = "api rate limit exceeded"
_SECONDARY = ("secondary rate limit", "retry your request again later", "wait a few minutes before you try again")


@dataclass(frozen=True, slots=True)
class Wait:
    """Ask again after so many seconds."""

    seconds: float


class Moved(Exception):  # noqa: N818 (an answer, which the client follows)
    """The repository has another name, or was transferred: ask again at `location`; nothing was done."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


@dataclass(frozen=True, slots=True)
class Failed:
    """Give up with this error."""

    error: GitHubError


class OnlyRedirects(GithubRetry):
    """Sends nothing again below the client, and lets no redirect be followed without its query, as PyGithub would."""

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:  # noqa: ARG002
        return status_code in _MOVED

    def increment(
        self,
        method: str | None = None,
        url: str | None = None,
        response: BaseHTTPResponse | None = None,
        error: Exception | None = None,
        _pool: ConnectionPool | None = None,
        _stacktrace: object = None,
    ) -> Self:
        if response is not None and response.status in _MOVED:
            raise Moved(response.headers.get("Location", ""))
        return Retry.increment(self, method, url, response, error, _pool, _stacktrace)  # type: ignore[arg-type]


def judge(
    what: str,
    status: int,
    headers: Mapping[str, str],
    body: object,
    *,
    repeatable: bool,
    attempt: int,
    patience: float,
    now: float,
) -> Wait | Moved | Failed:
    """What an answer of 300 or more means for the request `what`, which may be repeated or not.

    `attempt` counts from 1; `patience` is the longest wait in seconds; `headers` have names in small letters.
    """
    message = _message(body)
    if status in _MOVED:
        return Moved(headers.get("location", ""))
    limited = _limit(status, headers, message, body, now)
    if limited is not None:
        if repeatable and limited <= patience and attempt < ATTEMPTS:
            return Wait(limited)
        return Failed(RateLimited(f"GitHub asks to wait {limited:.0f} seconds ({what})", limited))
    if status >= 500 or status in (408, 425):
        if not repeatable:
            return Failed(Ambiguous(f"GitHub answered {status}, and may have done it ({what})"))
        if attempt < ATTEMPTS:
            return Wait(pause(attempt))
        return Failed(GitHubError(f"GitHub answered {status} {attempt} times ({what})"))
    if status in (401, 403):
        return Failed(Forbidden(f"GitHub does not allow it: {status} ({what})"))
    if status in (404, 410):
        return Failed(NotFound(f"GitHub does not know it: {status} ({what})"))
    if status == 409:
        return Failed(Conflict(f"GitHub says that it is no longer possible: 409 ({what})"))
    if status == 422:
        named = refusals(body)
        said = "; ".join(one.message or f"{one.field} {one.code}" for one in named) or message
        return Failed(Unprocessable(f"GitHub refused it: {said[:300]} ({what})", named))
    return Failed(GitHubError(f"GitHub answered {status} ({what})"))


def pause(attempt: int) -> float:
    """Seconds before the next attempt: half a second, doubled each time, and up to a quarter more."""
    return float(min(8.0, 0.5 * 2 ** (attempt - 1)) * (1 + random.random() / 4))  # noqa: S311 (no secret)


def _limit(status: int, headers: Mapping[str, str], message: str, body: object, now: float) -> float | None:
    """Seconds to wait if the answer is about a limit of requests or of content, else None."""
    lower = message.lower()
    if status == 422 and any(one.code == "abuse" for one in refusals(body)):
        return SECONDARY_WAIT
    if status not in (403, 429):
        return None
    after = _seconds(headers.get("retry-after"))
    if after is not None:
        return after
    if headers.get("x-ratelimit-remaining") == "0" or lower.startswith(_PRIMARY):
        reset = _seconds(headers.get("x-ratelimit-reset"))
        # One second more, for it is not said when in that second.
        return SECONDARY_WAIT if reset is None else max(0.0, reset - now) + 1
    if status == 429 or any(words in lower for words in _SECONDARY):
        return SECONDARY_WAIT
    return None


def _seconds(value: str | None) -> float | None:
    try:
        return None if value is None else max(0.0, float(value))
    except ValueError:
        return None


def _message(body: object) -> str:
    found = body.get("message") if isinstance(body, Mapping) else None
    return found if isinstance(found, str) else ""


def read_json(text: str) -> object:
    """The JSON of an answer; None where it is none."""
    try:
        return json.loads(text) if text else None
    except ValueError:
        return None


def moved_root(location: str, origin: str, prefix: str) -> str | None:
    """The new root (`/repositories/1` or `/repos/owner/name`) in a redirect that stays on the server, else None."""
    parts = urlsplit(location)
    if parts.netloc and f"{parts.scheme}://{parts.netloc}".lower() != origin.lower():
        return None
    path = parts.path.removeprefix(prefix)
    names = path.split("/")
    if len(names) >= 3 and names[1] == "repositories" and names[2].isdecimal():
        return "/".join(names[:3])
    if len(names) >= 4 and names[1] == "repos" and all(names[2:4]) and ".." not in names[2:4]:
        return "/".join(names[:4])
    return None

"""What goes wrong between a client and GitHub, for tests to ask for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

_LIMITS = "https://docs.github.com/rest/using-the-rest-api/rate-limits-for-the-rest-api"


@dataclass(eq=False)
class Fault:
    """An answer instead of the right one, or a right one late."""

    operation: str = ""
    """The id of an operation, or `graphql`; a pattern."""
    status: int | None = None
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    times: int = 1
    """How often; -1 is for ever."""
    after: int = 0
    """How many requests are answered rightly before."""
    done: bool = False
    """Whether the request is carried out all the same."""
    drop: bool = False
    """Whether the connection breaks instead of an answer."""
    seconds: float = 0.0
    """How late the answer comes."""
    if_body: Callable[[Any], bool] | None = None
    """For requests with such a body only."""
    happened: int = 0


def bad_gateway(*, done: bool = False, **more: Any) -> Fault:
    """502 with a page instead of JSON; with `done` after doing what was asked."""
    page = "<html><head><title>502 Bad Gateway</title></head></html>"
    return Fault(status=502, body=page, headers={"Content-Type": "text/html"}, done=done, **more)


def dropped(*, done: bool = False, **more: Any) -> Fault:
    """The connection breaks; with `done` after doing what was asked."""
    return Fault(drop=True, done=done, **more)


def slow(seconds: float, **more: Any) -> Fault:
    """A right answer that is late."""
    return Fault(seconds=seconds, **more)


def secondary_limit(retry_after: int | None = None, status: int = 403, **more: Any) -> Fault:
    """The secondary rate limit: 403 or 429, with or without `Retry-After`."""
    message = (
        "You have exceeded a secondary rate limit. Please wait a few minutes before you try again. If you reach out to"
        " GitHub Support for help, please include the request ID."
    )
    headers = {} if retry_after is None else {"Retry-After": str(retry_after)}
    body = {"message": message, "documentation_url": f"{_LIMITS}#about-secondary-rate-limits", "status": str(status)}
    return Fault(status=status, body=body, headers=headers, **more)


def primary_limit(reset: float, **more: Any) -> Fault:
    """The hourly limit, which ends at `reset` (seconds since 1970)."""
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(reset)), "X-RateLimit-Limit": "5000"}
    body = {"message": "API rate limit exceeded for installation ID 1.", "documentation_url": _LIMITS, "status": "403"}
    return Fault(status=403, body=body, headers=headers, **more)


def abuse(**more: Any) -> Fault:
    """What reviews and replies answer when too much was written: 422, and not a fault of the request."""
    errors = [{"resource": "PullRequestReview", "code": "abuse", "field": "base"}]
    body = {
        "message": "Validation Failed: was submitted too quickly",
        "errors": errors,
        "documentation_url": _LIMITS,
        "status": "422",
    }
    return Fault(status=422, body=body, **more)


def read_only(**more: Any) -> Fault:
    """What the token of a workflow on a fork's pull request is told when it writes."""
    body = {
        "message": "Resource not accessible by integration",
        "documentation_url": "https://docs.github.com/rest",
        "status": "403",
    }
    return Fault(status=403, body=body, **more)

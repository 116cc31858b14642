"""A GitHub App: it proves who it is with a key, and gets tokens that reach one repository and hold for an hour."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from time import sleep as _sleep
from typing import Any

from github import Auth

from botlint.github import payloads, requests
from botlint.github.client import API, MAX_PAGES, Client, Transport
from botlint.github.models import Identity
from botlint.github.port import GitHubError
from botlint.github.requests import PAGE, Request

PERMISSIONS: Mapping[str, str] = {
    "metadata": "read",
    "contents": "read",
    "pull_requests": "write",
    "checks": "write",
}
"""What a review needs."""

SMOKE_PERMISSIONS: Mapping[str, str] = {"actions": "write"}
"""What a smoke run needs besides."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token of an installation; it is never shown."""

    secret: str
    expires: datetime

    def __repr__(self) -> str:
        return f"Token(expires={self.expires.isoformat()})"


@dataclass(frozen=True, slots=True)
class Installation:
    """An installation of the App."""

    id: int
    account: str
    suspended: bool


@dataclass(frozen=True, slots=True)
class Repository:
    """A repository that an installation reaches; its name (`owner/name`) may change."""

    id: int
    name: str


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery of a webhook as GitHub remembers it; redeliveries of one event have its `guid`."""

    id: int
    guid: str
    event: str
    action: str
    status_code: int
    delivered_at: str
    redelivery: bool
    installation: int
    repository: int

    @property
    def arrived(self) -> bool:
        """Whether the receiver answered with a success."""
        return 200 <= self.status_code < 300


class App:
    """Calls that only the App itself may make. Raises the errors of `botlint.github.port`."""

    def __init__(
        self,
        app_id: int,
        private_key: str,
        *,
        base_url: str = API,
        web_url: str | None = None,
        timeout: float = 20,
        patience: float = 90,
        sleep: Callable[[float], None] = _sleep,
    ) -> None:
        self.app_id = app_id
        self._base_url = base_url
        self._web_url = web_url
        self._timeout = timeout
        self._patience = patience
        self._sleep = sleep
        self._transport = Transport(
            Auth.AppAuth(app_id, private_key), base_url=base_url, timeout=timeout, patience=patience, sleep=sleep
        )

    def close(self) -> None:
        """Ends connections."""
        self._transport.close()

    def slug(self) -> str:
        """The name of the App in addresses; its comments are by `SLUG[bot]`."""
        return payloads.text(self._object(Request("GET", "/app")), "slug")

    def installation_of(self, repository: str) -> int:
        """The installation for a repository (`owner/name`)."""
        return payloads.number(self._object(Request("GET", f"/repos/{repository}/installation")), "id")

    def installations(self) -> list[Installation]:
        """All installations."""
        return [
            Installation(
                payloads.number(one, "id"),
                payloads.text(one.get("account") or {}, "login"),
                bool(one.get("suspended_at")),
            )
            for one in self._pages("/app/installations")
        ]

    def token(
        self,
        installation: int,
        *,
        repository: str | None = None,
        repository_id: int | None = None,
        permissions: Mapping[str, str] = PERMISSIONS,
    ) -> Token:
        """A new token of an installation, for one repository only where that is given, by name or id.

        Raises Unprocessable where the installation has not been given one of the permissions.
        """
        body: dict[str, Any] = {"permissions": dict(permissions)}
        if repository_id is not None:
            body["repository_ids"] = [repository_id]
        elif repository is not None:
            body["repositories"] = [repository.rpartition("/")[2]]
        # A token that is not received is of no use to anyone: asking again does no harm.
        request = Request("POST", f"/app/installations/{installation}/access_tokens", body=body)
        data = self._object(request)
        secret = payloads.text(data, "token")
        if not secret:
            raise GitHubError("GitHub gave no token")
        return Token(secret, _time(payloads.text(data, "expires_at")))

    def client(
        self, installation: int, repository: str, *, identity: Identity | None = None, write_pause: float = 0
    ) -> Client:
        """A client for one repository, with a token that reaches no other."""
        return Client(
            repository,
            self.token(installation, repository=repository).secret,
            base_url=self._base_url,
            web_url=self._web_url,
            identity=identity,
            timeout=self._timeout,
            patience=self._patience,
            write_pause=write_pause,
            sleep=self._sleep,
        )

    def repositories(self, installation: int) -> list[Repository]:
        """The repositories that an installation reaches."""
        token = self.token(installation, permissions={"metadata": "read"})
        transport = Transport(
            Auth.Token(token.secret),
            base_url=self._base_url,
            timeout=self._timeout,
            patience=self._patience,
            sleep=self._sleep,
        )
        try:
            return [
                Repository(payloads.number(one, "id"), payloads.text(one, "full_name"))
                for one in _pages(transport, "/installation/repositories", "repositories")
            ]
        finally:
            transport.close()

    def deliveries(self, newer_than: datetime) -> list[Delivery]:
        """The deliveries of the App's webhook since a time, newest first."""
        found: list[Delivery] = []
        cursor: dict[str, object] = {}
        for _ in range(MAX_PAGES):
            headers, listed = self._transport.send(requests.read("/app/hook/deliveries", per_page=PAGE, **cursor))
            for one in listed if isinstance(listed, list) else ():
                delivery = _delivery(one)
                if _time(delivery.delivered_at) < newer_than:
                    return found
                found.append(delivery)
            following = requests.next_cursor(headers.get("link", ""))
            if following is None:
                break
            cursor = {"cursor": following}
        return found

    def redeliver(self, delivery: int) -> None:
        """Asks GitHub to deliver again; it gets the same `guid`."""
        self._transport.send(requests.create(f"/app/hook/deliveries/{delivery}/attempts", {}))

    def _object(self, request: Request) -> Mapping[str, Any]:
        answer = self._transport.send(request)[1]
        if not isinstance(answer, Mapping):
            raise GitHubError(f"the answer of GitHub is no object ({request.what})")
        return answer

    def _pages(self, path: str) -> Iterator[Mapping[str, Any]]:
        return _pages(self._transport, path, None)


def _pages(transport: Transport, path: str, within: str | None) -> Iterator[Mapping[str, Any]]:
    for page in range(1, MAX_PAGES + 1):
        headers, answer = transport.send(requests.read(path, per_page=PAGE, page=page))
        items = answer.get(within) if within is not None and isinstance(answer, Mapping) else answer
        if not isinstance(items, list):
            raise GitHubError(f"the answer of GitHub is no list (GET {path})")
        yield from items
        if not requests.has_next(headers.get("link", "")):
            return


def _delivery(data: Mapping[str, Any]) -> Delivery:
    return Delivery(
        id=payloads.number(data, "id"),
        guid=payloads.text(data, "guid"),
        event=payloads.text(data, "event"),
        action=payloads.text(data, "action"),
        status_code=payloads.number(data, "status_code"),
        delivered_at=payloads.text(data, "delivered_at"),
        redelivery=data.get("redelivery") is True,
        installation=payloads.number(data, "installation_id"),
        repository=payloads.number(data, "repository_id"),
    )


def _time(text: str) -> datetime:
    """A time of GitHub; one that is none is now."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return datetime.now(UTC)
    return found if found.tzinfo is not None else found.replace(tzinfo=UTC)

"""Clients of GitHub for tasks: each reaches one repository, with a token that is kept until shortly before it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

from botlint.github.app import PERMISSIONS, App, Token
from botlint.github.client import Client
from botlint.github.models import Identity
from botlint.github.port import Forbidden, GitHub, NotFound, Unprocessable
from botlint.server.metrics import Metrics

_BEFORE = timedelta(minutes=10)
"""How long before its end a token is not used any more: longer than a task takes."""

_MOST = 2_000


class AppClients:
    """Makes clients for the App; tokens are kept in memory, never anywhere else."""

    def __init__(
        self,
        app: App,
        metrics: Metrics,
        make: Callable[[str, str, Identity | None], Client],
        permissions: Mapping[str, str] = PERMISSIONS,
    ) -> None:
        """`make` makes a client of a repository's name, a token and our own identity, where it is known already."""
        self._app = app
        self._metrics = metrics
        self._make = make
        self._permissions = permissions
        self._tokens: dict[tuple[int, int], Token] = {}
        self._me: Identity | None = None
        self._lock = threading.Lock()

    @contextmanager
    def open(self, installation: int, repository: str, repository_id: int) -> Iterator[GitHub]:
        """A client for one repository, closed at the end; raises Forbidden where the App may not work there."""
        client = self._make(repository, self._token(installation, repository_id), self._me)
        try:
            if self._me is None:
                self._me = client.me()
            yield client
        except Forbidden:
            self._forget(installation, repository_id)  # taken back before its time, or permissions have changed
            raise
        finally:
            self._metrics.called(client.calls)
            client.close()

    def _token(self, installation: int, repository: int) -> str:
        key = (installation, repository)
        with self._lock:
            known = self._tokens.get(key)
            if known is not None and known.expires - _BEFORE > datetime.now(UTC):
                return known.secret
        try:
            token = self._app.token(installation, repository_id=repository, permissions=self._permissions)
        except Unprocessable:
            raise Forbidden("the App is not installed there, or has not got the permissions that it needs") from None
        except NotFound:
            raise Forbidden("the App is not installed there") from None
        with self._lock:
            if len(self._tokens) >= _MOST:
                self._tokens.clear()
            self._tokens[key] = token
        return token.secret

    def _forget(self, installation: int, repository: int) -> None:
        with self._lock:
            self._tokens.pop((installation, repository), None)

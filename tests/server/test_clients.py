"""Tokens for tasks: kept until shortly before they end, for one repository each."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest

from botlint.github.app import App, Token
from botlint.github.client import Client
from botlint.github.models import Identity
from botlint.github.port import Forbidden, NotFound, Unprocessable
from botlint.server.clients import AppClients
from botlint.server.metrics import Metrics


class Asked:
    """Gives tokens, and notes for what."""

    def __init__(self, lifetime: float = 3600) -> None:
        self.asked: list[tuple[int, int, dict[str, str]]] = []
        self.lifetime = lifetime
        self.error: Exception | None = None

    def token(self, installation: int, *, repository_id: int, permissions: dict[str, str]) -> Token:
        if self.error is not None:
            raise self.error
        self.asked.append((installation, repository_id, permissions))
        return Token(f"ghs_{len(self.asked)}", datetime.now(UTC) + timedelta(seconds=self.lifetime))


class Made:
    """A client that knows its token and counts."""

    calls = 3

    def __init__(self, repository: str, token: str, identity: Identity | None) -> None:
        self.repository, self.token, self.identity = repository, token, identity
        self.closed = False

    def me(self) -> Identity:
        return Identity(9, "botlint[bot]", True)

    def close(self) -> None:
        self.closed = True


def clients(asked: Asked, **options: Any) -> AppClients:
    return AppClients(cast(App, asked), Metrics(), lambda *given: cast(Client, Made(*given)), **options)


def use(given: AppClients, repository: int = 1001, error: Exception | None = None) -> Made:
    with given.open(77, f"acme/r{repository}", repository) as client:
        made = cast(Made, client)
        if error is not None:
            raise error
    return made


def test_a_token_is_used_again_for_its_repository_only() -> None:
    asked = Asked()
    given = clients(asked)
    assert [use(given).token, use(given).token, use(given, 1002).token] == ["ghs_1", "ghs_1", "ghs_2"]
    assert [(installation, repository) for installation, repository, _ in asked.asked] == [(77, 1001), (77, 1002)]
    assert asked.asked[0][2]["contents"] == "read"
    assert use(given).closed


def test_a_token_that_ends_soon_is_not_used() -> None:
    asked = Asked(lifetime=300)
    given = clients(asked)
    assert [use(given).token, use(given).token] == ["ghs_1", "ghs_2"]


def test_a_token_that_was_taken_back_is_forgotten() -> None:
    given = clients(Asked())
    with pytest.raises(Forbidden):
        use(given, error=Forbidden("bad credentials"))
    assert use(given).token == "ghs_2"


@pytest.mark.parametrize("error", [Unprocessable("not granted"), NotFound("not installed")])
def test_where_the_app_may_not_work_is_told(error: Exception) -> None:
    asked = Asked()
    asked.error = error
    with pytest.raises(Forbidden):
        use(clients(asked))


def test_who_we_are_is_asked_once() -> None:
    given = clients(Asked())
    assert [use(given).identity, use(given).identity] == [None, Identity(9, "botlint[bot]", True)]


def test_contents_are_written_only_if_that_is_asked_for() -> None:
    asked = Asked()
    use(clients(asked, permissions={"contents": "write"}))
    assert asked.asked[0][2] == {"contents": "write"}

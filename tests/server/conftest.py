"""Databases of both kinds."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster import Cluster, programs
from dbos import DBOS

from botlint.server.database import Database


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    if programs() is None:
        pytest.skip("PostgreSQL is not installed")
    cluster = Cluster()
    yield cluster
    cluster.close()


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "botlint.db")
    found: Cluster = request.getfixturevalue("cluster")
    return found.database()


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    found = Database(url)
    found.prepare()
    yield found
    found.close()


@pytest.fixture
def engines() -> Iterator[None]:
    """Ends what queue a test has left open."""
    yield
    DBOS.destroy(destroy_registry=True)

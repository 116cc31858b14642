"""A fake GitHub for each test; what a client does against GitHub's description fails the test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from fakehub import FakeGitHub
from reviewing import Analyses

from botlint.github.analysis import Kept


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    """A fake whose violations are looked at when the test ends; one that provokes some clears them."""
    with FakeGitHub() as fake:
        yield fake
        assert fake.violations == []


@pytest.fixture(scope="session")
def kept() -> Kept:
    """Contents and plans, which all tests share."""
    return Kept()


@pytest.fixture(scope="session")
def analyses(kept: Kept) -> Analyses:
    """Analyses, which tests of what is posted share."""
    return Analyses(kept)

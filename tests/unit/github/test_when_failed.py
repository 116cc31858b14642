"""What the App concludes of a head whose review ended by a fault of botlint: the base says whether that blocks."""

from __future__ import annotations

from typing import Any, cast

import pytest
from port_samples import APP, BASE, HEAD, Hub

from botlint.core.errors import CannotFinish
from botlint.github.port import GitHub
from botlint.server.pool import Pool
from botlint.server.reviewing import Reviewing
from botlint.server.runtime import PoolReviewer

CLOSED = b"version: 1\nreview: {fail-closed: true}\n"


class SamePool:
    """A pool that works in this process, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self._reviewing = Reviewing()
        self._error = error

    def work(self, github: Any, kind: str, options: dict[str, Any], extra: object) -> object:
        if self._error is not None:
            raise self._error
        return self._reviewing.work(github, kind, options)


@pytest.mark.parametrize("subject", [(1, ""), (0, BASE)], ids=["pull request", "merge group"])
@pytest.mark.parametrize(
    ("settings", "error", "conclusion"),
    [
        (CLOSED, None, "failure"),
        (b"version: 1\n", None, "neutral"),
        (b"version: 1\nreview: [\n", None, "neutral"),
        # Where not even the settings can be read, nobody asked for anything.
        (CLOSED, CannotFinish("a reviewing process ended"), "neutral"),
    ],
)
def test_the_base_says_whether_a_fault_blocks(
    subject: tuple[int, str], settings: bytes, error: Exception | None, conclusion: str
) -> None:
    github = Hub({".botlint.yaml": settings}, {".botlint.yaml": CLOSED}, [])
    github.create_check_run("botlint", HEAD, f"1:{HEAD}:pending")
    reviewer = PoolReviewer(cast(Pool, SamePool(error)), APP, None)
    reviewer.give_up(cast(GitHub, github), HEAD, *subject)
    assert [(one.status, one.conclusion) for one in github.runs] == [("completed", conclusion)]


def test_without_a_base_a_fault_blocks_nobody() -> None:
    github = Hub({}, {}, [])
    github.create_check_run("botlint", HEAD, f"group:{HEAD}:pending")
    PoolReviewer(cast(Pool, SamePool()), APP, None).give_up(cast(GitHub, github), HEAD, 0, "")
    assert [one.conclusion for one in github.runs] == ["neutral"]

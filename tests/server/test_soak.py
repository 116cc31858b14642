"""The soak with few deliveries; `make soak` runs the long one."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest
from cluster import Cluster
from soak import Soak, Variants


@functools.cache
def variants() -> Variants:
    found = Variants()
    found.judge()
    return found


def test_nothing_is_lost_and_nothing_done_twice_on_a_file(tmp_path: Path) -> None:
    Soak(str(tmp_path / "botlint.db"), tmp_path, deliveries=24, pulls=3, kills=2, seed=3).run(variants())


@pytest.mark.postgres
def test_nothing_is_lost_and_nothing_done_twice_with_two_workers(tmp_path: Path, cluster: Cluster) -> None:
    Soak(cluster.database(), tmp_path, deliveries=24, pulls=3, kills=2, workers=2, seed=4).run(variants())

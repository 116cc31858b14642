"""Scripts that ask a scheduler for nodes."""

from __future__ import annotations

import pytest
from shell_fixtures import ends, solve, world_of

GRANTED = "grep -oP 'Granted job allocation \\K[0-9]+'"


@pytest.mark.parametrize(
    "asked",
    [
        f"$(salloc --nodes=2 --no-shell 2>&1 | {GRANTED})",
        f"$(salloc --nodes=2 --no-shell 2>&1 | tee /dev/stderr | {GRANTED})",
        "$(salloc --no-shell)",
    ],
)
def test_what_an_allocation_prints_is_not_known(asked: str) -> None:
    world = world_of({"run.sh": f'set -eo pipefail\nJOB={asked}\n[ -n "$JOB" ] || exit 3\nserve x\n'})
    assert ends(solve(world, "run.sh", {})) == ["serve x", 'exit 3 if 3 not: [ -n "$JOB" ]']

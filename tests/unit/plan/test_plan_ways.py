"""Values that an undecided test sets in one of two ways, of which the first is not known either."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_fixtures import RECIPE, make_repository, plans_of

UNKNOWN = "n=$(nproc)\n"


@pytest.mark.parametrize(
    ("recipe", "expected"),
    [
        pytest.param('x=3; if [ "$n" -gt 0 ]; then x=$n; fi; vllm serve "$x"', [None, "3"], id="argument"),
        pytest.param("x=3; if (( n > 0 )); then x=$n; fi; vllm serve $x", [None, "3"], id="argument that is split"),
        pytest.param("x=3; if test $n; then x=$n; fi; vllm serve $((x + 1))", [None, "4"], id="arithmetic"),
        pytest.param(
            'x=3; if [ "$n" -gt 0 ]; then x=$n; fi; y=a; [ "$x" = 3 ] && y=b; vllm serve "$y"',
            ["a", "b"],
            id="a test of it",
        ),
        pytest.param('f() { x=3; if [ "$n" ]; then x=$n; fi; echo $x; }; vllm serve "$(f)"', [None, "3"], id="output"),
    ],
)
def test_both_ways_are_followed(tmp_path: Path, recipe: str, expected: list[str | None]) -> None:
    launch = plans_of(make_repository(tmp_path / "r", {RECIPE: UNKNOWN + recipe + "\n"}), limit=1)[0].launch
    servers = [launch.server, *(other.server for other in launch.possible)]
    words = [server.argv[2] for server in servers if server is not None]
    assert sorted((w if isinstance(w, str) else "") for w in words) == sorted(w or "" for w in expected)

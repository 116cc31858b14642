"""Who puts a variable into the server's environment: a script, or what starts the script."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_fixtures import LAUNCHER, RECIPE, make_repository, plans_of

SERVE = '\nvllm serve "$MODEL" --port "$PORT"\n'
START = f"""\
srun --jobid=1 --container-image=i.sqsh --container-mounts="$GITHUB_WORKSPACE:/workspace/" \\
    --container-workdir=/workspace/ --export=ALL,PORT=8888,{{more}} bash "{RECIPE}"
"""


@pytest.mark.parametrize(
    ("more", "recipe", "by_script", "by_runtime"),
    [
        pytest.param("A=1", "", {}, {"A": "1", "PORT": "8888"}, id="only the scheduler"),
        pytest.param("A=1", "A=${A:-1}", {}, {"A": "1"}, id="assigned again, not exported"),
        pytest.param("A=1", "A=2", {}, {"A": "2"}, id="changed, exported by the scheduler only"),
        pytest.param("A=1", 'export A="${A:-1}"', {"A": "1"}, {}, id="exported again"),
        pytest.param("A=1", "export A=2", {"A": "2"}, {}, id="changed and exported"),
        pytest.param("A=1", "export A; A=2", {"A": "2"}, {}, id="exported, then changed"),
        pytest.param("A=1", "declare -x A=2", {"A": "2"}, {}, id="declared as exported"),
        pytest.param("A=1", "set -a; A=2", {"A": "2"}, {}, id="all that is assigned is exported"),
        pytest.param("A=1", "unset A; A=2", {}, {}, id="unset before"),
        pytest.param("TP=64", "", {}, {"TP": "64"}, id="a variable of the job"),
        pytest.param("TP=64", "TP=32", {"TP": "32"}, {}, id="a variable of the job, changed"),
        pytest.param("A=1", 'bash -c "A=3; exec vllm serve x"', {}, {"A": "3"}, id="changed in a script below"),
    ],
)
def test_givers(tmp_path: Path, more: str, recipe: str, by_script: dict[str, str], by_runtime: dict[str, str]) -> None:
    launcher = START.format(more=more)
    repository = make_repository(tmp_path / "r", {LAUNCHER: launcher, RECIPE: recipe + SERVE})
    server = plans_of(repository, limit=1)[0].launch.server
    assert server is not None
    for given, expected in ((server.env, by_script), (server.runtime_env, by_runtime)):
        names = {name for name in ("A", "TP") if name in given} | set(expected)
        assert {name: given.get(name) for name in names} == expected

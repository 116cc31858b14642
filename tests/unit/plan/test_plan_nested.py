"""Nested repositories: a checkout has their directory, what is in it is not known."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_fixtures import RECIPE, make_repository, plans_of

MODULES = '[submodule "client"]\n\tpath = tools/deep/client\n\turl = https://example.org/client.git\n'


@pytest.mark.parametrize(
    ("test", "expected"),
    [
        pytest.param("[ -d tools/deep/client ]", ["yes"], id="its directory"),
        pytest.param("[[ ! -d tools/deep ]]", ["no"], id="a directory above it"),
        pytest.param("[ -f tools/deep/client ]", ["no"], id="no file"),
        pytest.param("[ -e tools/deep/client/setup.py ]", ["no", "yes"], id="a file in it"),
        pytest.param("[ -e tools/deep/clients ]", ["no"], id="another name that begins alike"),
        pytest.param("cd tools/deep/client", ["yes"], id="going there"),
        pytest.param('x=(tools/deep/*); [ "${x[*]}" = tools/deep/client ]', ["yes"], id="names beside it"),
        pytest.param('x=(tools/deep/client/*); [ "${x[0]}" = tools/deep/client/a ]', ["no", "yes"], id="names in it"),
        pytest.param("cp -r tools /tmp/t; [ -d /tmp/t/deep/client ]", ["yes"], id="a copy"),
        pytest.param("cp -r tools /tmp/t; [ -e /tmp/t/deep/client/setup.py ]", ["no", "yes"], id="a file of the copy"),
        pytest.param(
            "touch tools/deep/x; cp -r tools/deep /tmp/t; [ -e /tmp/t/client/setup.py ]",
            ["no", "yes"],
            id="a file of a copy of changed files",
        ),
    ],
)
def test_what_is_there(tmp_path: Path, test: str, expected: list[str]) -> None:
    recipe = f'if {test}; then x=yes; else x=no; fi; vllm serve "$x"\n'
    launch = plans_of(make_repository(tmp_path / "r", {".gitmodules": MODULES, RECIPE: recipe}), limit=1)[0].launch
    servers = [launch.server, *(other.server for other in launch.possible)]
    assert sorted(str(server.argv[2]) for server in servers if server is not None) == expected

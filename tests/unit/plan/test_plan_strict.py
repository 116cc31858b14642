"""Exits that hang on tests which nobody can decide: bare ones under `set -e`, those inside subshells and scripts."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_fixtures import RECIPE, make_repository, plans_of

from botlint.plan.model import Launch

UNKNOWN = "set -e\nn=$(nproc)\n"


def _launch(folder: Path, recipe: str) -> Launch:
    return plans_of(make_repository(folder / "r", {RECIPE: f"{UNKNOWN}{recipe}\n"}), limit=1)[0].launch


@pytest.mark.parametrize(
    ("recipe", "exits"),
    [
        pytest.param('test "$n" = 3; vllm serve m', [(1, 'not: test "$n" = 3')], id="test"),
        pytest.param('[ "$n" = 3 ]; vllm serve m', [(1, 'not: [ "$n" = 3 ]')], id="bracket"),
        pytest.param("[[ $n = 3 ]]; vllm serve m", [(1, "not: [[ $n = 3 ]]")], id="double bracket"),
        pytest.param("((n == 3)); vllm serve m", [(1, "not: ((n == 3))")], id="arithmetic"),
        pytest.param("f() { [[ $n = 3 ]]; }; f; vllm serve m", [(1, "not: [[ $n = 3 ]]")], id="in a function"),
        pytest.param("for i in 1 2 3; do [[ $n = 3 ]]; done; vllm serve m", [(1, "not: [[ $n = 3 ]]")], id="in a loop"),
        pytest.param("set +e; [[ $n = 3 ]]; vllm serve m", [], id="not strict"),
        pytest.param("[[ $n = 3 ]] || true; vllm serve m", [], id="a condition"),
        pytest.param("! [[ $n = 3 ]]; vllm serve m", [], id="negated"),
        pytest.param("curl -f http://localhost; vllm serve m", [], id="a plain command is taken to succeed"),
        pytest.param("([[ $n = 3 ]]); vllm serve m", [(1, "not: [[ $n = 3 ]]")], id="in a subshell"),
        pytest.param("([[ $n = 3 ]] || exit 4); vllm serve m", [(4, "not: [[ $n = 3 ]]")], id="exit of a subshell"),
        pytest.param("( ([[ $n = 3 ]] || exit 4) ); vllm serve m", [(4, "not: [[ $n = 3 ]]")], id="two subshells"),
        pytest.param("([[ $n = 3 ]] || exit 0); vllm serve m", [], id="a good exit of a subshell"),
        pytest.param("([[ $n = 3 ]] && exit; exit 4); vllm serve m", [(4, "not: [[ $n = 3 ]]")], id="or a bad one"),
        pytest.param(
            "(if [[ $n = 3 ]]; then exit; else exit 4; fi); vllm serve m", [(4, "not: [[ $n = 3 ]]")], id="if"
        ),
        pytest.param("(if [[ $n = 3 ]]; then exit 4; fi); vllm serve m", [(4, "[[ $n = 3 ]]")], id="if of a bad exit"),
        pytest.param("([[ $n = 3 ]] || exit 4; exit 5); vllm serve m", None, id="both bad"),
        pytest.param("x=$([[ $n = 3 ]] || exit 4; echo m); vllm serve $x", [(4, "not: [[ $n = 3 ]]")], id="output"),
        pytest.param("([[ $n = 3 ]] || exit 4) || :; vllm serve m", [], id="a subshell as a condition"),
        pytest.param("([[ $n = 3 ]] || exit 4) | cat; vllm serve m", [], id="a pipeline"),
        pytest.param(
            "set -o pipefail; ([[ $n = 3 ]] || exit 4) | cat; vllm serve m", [(4, "not: [[ $n = 3 ]]")], id="pipefail"
        ),
        pytest.param(
            "([[ $n = 3 ]] || exit 4) & wait $!; vllm serve m", [(4, "not: [[ $n = 3 ]]")], id="a background job"
        ),
        pytest.param(
            "bash -c '[[ $(nproc) = 3 ]] || exit 4'; vllm serve m", [(4, "not: [[ $(nproc) = 3 ]]")], id="script"
        ),
        pytest.param(
            "bash -c '[[ $(nproc) = 3 ]] && exit; exit 4'; vllm serve m",
            [(4, "not: [[ $(nproc) = 3 ]]")],
            id="script that may succeed",
        ),
        pytest.param("bash -c '[[ $(nproc) = 3 ]] || exit 4' || :; vllm serve m", [], id="a script as a condition"),
        pytest.param("bash -c '[[ $(nproc) = 3 ]] || exit 4' | cat; vllm serve m", [], id="a script in a pipeline"),
    ],
)
def test_exits_that_are_possible(tmp_path: Path, recipe: str, exits: list[tuple[int, str]] | None) -> None:
    launch = _launch(tmp_path, recipe)
    if exits is None:
        assert launch.outcome == "exits"
        return
    assert launch.outcome == "serves"
    found = [(one.exit.code, one.when[0].partition(": ")[2]) for one in launch.possible if one.exit is not None]
    assert found == exits
    assert len(launch.possible) == len(exits)


@pytest.mark.parametrize("condition", ["([[ $n = 3 ]] || exit 4)", "bash -c '[[ $(nproc) = 3 ]] || exit 4'"])
def test_its_status_chooses_the_server(tmp_path: Path, condition: str) -> None:
    launch = _launch(tmp_path, f"if {condition}; then vllm serve a; else vllm serve b; fi")
    servers = [launch.server, *(one.server for one in launch.possible)]
    assert [str(server.argv[2]) for server in servers if server is not None] == ["a", "b"]

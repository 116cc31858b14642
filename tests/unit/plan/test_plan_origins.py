"""Where the values of a plan are written: the same places that an explanation comes by."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_fixtures import AGENTIC, AGENTIC_RECIPE, CONFIG, ENTRY, LAUNCHER, RECIPE, make_repository, plans_of

from botlint.plan.build import Planner
from botlint.plan.explain import Explainer
from botlint.plan.model import Server
from botlint.plan.origins import Mark, row_places
from botlint.repo.open import open_files

TEMPLATE = ".github/workflows/benchmark-tmpl.yml"
SERVE = 'vllm serve "$MODEL" --port "$PORT"'


def server_of(repository: Path, entry: str = ENTRY, number: int = 0) -> Server:
    server = plans_of(repository, entry)[number].launch.server
    assert server is not None
    return server


def in_recipe(tmp_path: Path, script: str, serve: str = SERVE) -> Server:
    return server_of(make_repository(tmp_path / "r", {RECIPE: f"{script}\n{serve}\n"}))


def shown(marks: tuple[Mark, ...], path: str = RECIPE) -> list[str]:
    return [f"{kind} {line or where}" for kind, where, line in marks if kind == "row" or where == path]


def test_every_value_of_the_examples_is_written_where_an_explanation_ends(tmp_path: Path) -> None:
    checked = 0
    with open_files(make_repository(tmp_path / "r")) as files:
        planner = Planner(files, with_origins=True)
        explainer = Explainer(planner)
        for job in planner.jobs:
            launch = planner.plan(job).launch
            server = launch.server
            if server is None or server.roles:
                continue
            assert {*server.env, *server.runtime_env} <= server.origins.keys()
            for name, marks in server.origins.items():
                if not name or (name not in server.env and not name.startswith("-")):
                    continue
                steps = explainer.explain(job, name, launch.runners[0]).steps
                places = {(step.span.path, step.span.line) for step in steps}
                assert marks, name
                assert {mark[1:] for mark in marks if mark[0] == "maybe"} & places or marks[-1][1:] in places, name
                checked += 1
    assert checked > 100


def test_from_the_row_to_the_guarded_line(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r", healthy=True)
    server = server_of(repository, AGENTIC, 6)
    lines = (repository / AGENTIC_RECIPE).read_text().splitlines()
    test, export = (
        marks[1:] for marks in server.origins["VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT"] if marks[1] == AGENTIC_RECIPE
    )
    assert "-eq 4" in lines[int(test[1]) - 1]
    assert "export VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=0" in lines[int(export[1]) - 1]


SCRIPTS = {
    "a plain export": ("export A=1", ["script 1"]),
    "a value of the row": ('export A="x$CONC"', ["row conc", "script 1"]),
    "a value by way of others": ("B=$((CONC * 2))\nexport A=${B}k", ["row conc", "script 2"]),
    "under tests": (
        'if [ "$CONC" = 4 ]; then\n  if [ "$TP" = 1 ]; then\n    export A=1\n  fi\nfi',
        ["test 1", "test 2", "script 3"],
    ),
    "two values": ("export A=$TP-$CONC", ["row tp", "row conc", "script 1"]),
}


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_variables(tmp_path: Path, name: str) -> None:
    script, expected = SCRIPTS[name]
    assert shown(in_recipe(tmp_path, script).origins["A"]) == expected


OPTIONS = {
    "on the command": ("", 'vllm serve "$MODEL" --port 1 --max-num-seqs "$CONC"', ["row conc", "script 2"]),
    "on the command and elsewhere": (
        'echo "--max-num-seqs 9"',
        'vllm serve "$MODEL" --port 1 --max-num-seqs 8',
        ["script 2"],
    ),
    "in an array": (
        'ARGS=(--max-num-seqs "$CONC")',
        'vllm serve "$MODEL" --port 1 "${ARGS[@]}"',
        ["row conc", "script 1"],
    ),
    "one of two": (
        'if [ "$CONC" = 4 ]; then A="--max-num-seqs 1"; else\nA="--max-num-seqs 2"; fi',
        'vllm serve "$MODEL" --port 1 $A',
        ["maybe 1", "maybe 2"],
    ),
    "not a longer one": (
        'A="--max-num-seqs-x 1"',
        'vllm serve "$MODEL" --port 1 --max-num-seqs=3',
        ["script 2"],
    ),
}


@pytest.mark.parametrize("name", sorted(OPTIONS))
def test_options(tmp_path: Path, name: str) -> None:
    script, serve, expected = OPTIONS[name]
    assert shown(in_recipe(tmp_path, script, serve).origins["--max-num-seqs"]) == expected


def test_variables_of_a_launcher_and_the_workflow(tmp_path: Path) -> None:
    server = server_of(make_repository(tmp_path / "r"))
    assert {mark[1] for marks in server.origins.values() for mark in marks} >= {RECIPE, LAUNCHER, TEMPLATE, "tp"}


def test_moved_lines_make_no_other_server(tmp_path: Path) -> None:
    one = in_recipe(tmp_path / "a", "export A=1")
    other = in_recipe(tmp_path / "b", "# a comment\n\nexport A=1")
    assert one.origins != other.origins
    assert (one.argv, one.env) == (other.argv, other.env)


def test_rows(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    with open_files(repository) as files:
        job = next(job for job in Planner(files).jobs if job.entry == AGENTIC)
        places = row_places(job)
    lines = (repository / CONFIG).read_text().splitlines()
    assert {path for path, _ in places.values()} == {CONFIG}
    assert f"tp: {job.row['tp']}" in lines[places["tp"][1] - 1]
    assert "image:" in lines[places["image"][1] - 1]
    assert "exp-name" in places
    assert "run-eval" not in places


def test_roles_of_a_recipe_and_of_servers_side_by_side(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    found = 0
    with open_files(repository) as files:
        planner = Planner(files, with_origins=True)
        for job in planner.jobs:
            server = planner.plan(job).launch.server
            for role in () if server is None else server.roles:
                for name, marks in server.origins.items():
                    owner, _, option = name.partition(" ")
                    if owner == role.name and option.startswith("--"):
                        path, line = marks[-1][1:]
                        text = (repository / path).read_text().splitlines()[line - 1]
                        assert option.lstrip("-").replace("-", "_") in text.replace("-", "_"), name
                        found += 1
    assert found > 10

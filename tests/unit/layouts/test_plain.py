"""Repositories of scripts: jobs by a matrix in the settings or in a file, and without one."""

from __future__ import annotations

import pytest

from botlint.core.span import Span
from botlint.documents.plain import load_plain
from botlint.layouts.choose import Choice, layout_of
from botlint.layouts.plain import MAX_JOBS, load
from botlint.plan.build import Planner
from botlint.plan.model import word_text
from botlint.repo.memory import MemoryFiles

SERVE = 'vllm serve "$MODEL" -tp "$TP" ${EXTRA:-}\n'
SCRIPT = "serve/start.sh"


def planned(options: str, **files: str) -> tuple[list[tuple[str, dict[str, object], str]], list[str]]:
    """Entry, row and command line of each job, and what was wrong."""
    texts = {SCRIPT: SERVE, ".botlint.yaml": f"version: 1\nlayout: plain\nlayout-options: {options}\n"}
    texts |= {name.replace("__", "."): text for name, text in files.items()}
    loaded = load_plain(options)
    planner = Planner(MemoryFiles(texts), layout=Choice("plain", loaded))
    jobs = []
    for plan in planner.plans():
        server = plan.launch.server
        assert server is not None, plan.launch
        jobs.append((plan.entry, dict(plan.job), " ".join(map(word_text, server.argv[2:]))))
    assert not planner.failures
    return jobs, [problem.message for problem in planner.problems]


@pytest.mark.parametrize(
    ("options", "files", "expected"),
    [
        ("{matrix: {MODEL: a/b, TP: [2, 4]}}", {}, ["a/b -tp 2", "a/b -tp 4"]),
        ("{matrix: {MODEL: [a/b, c/d], TP: [1, 2]}}", {}, ["a/b -tp 1", "a/b -tp 2", "c/d -tp 1", "c/d -tp 2"]),
        ("{matrix: [{MODEL: a/b, TP: 2}, {MODEL: c/d, TP: 4, EXTRA: --async-scheduling}]}", {},
         ["a/b -tp 2", "c/d -tp 4 --async-scheduling"]),
        ("{matrix-file: m.json}", {"m__json": '[{"model": "a/b", "tp": 2}]'}, ["a/b -tp 2"]),
        ("{matrix-file: m.yaml, rows: x.y}", {"m__yaml": "x: {y: [{model: a/b, tp: 8}]}"}, ["a/b -tp 8"]),
        ("{matrix-file: m.yaml}", {"m__yaml": "one: {model: a/b, tp: 2}\ntwo: {model: c/d, tp: 4}"},
         ["a/b -tp 2", "c/d -tp 4"]),
        ("{matrix-file: m.json, environment: {MODEL: path, TP: gpus}}", {"m__json": '[{"path": "a/b", "gpus": 2}]'},
         ["a/b -tp 2"]),
        ("{matrix: {MODEL: a/b, TP: 2}, arguments: ['--x={TP}', y z]}",
         {"serve/start__sh": 'vllm serve "$MODEL" "$@"\n'}, ["a/b --x=2 y z"]),
        ("{matrix: [{MODEL: a/b, TP: 2, run: ./serve/start.sh}], script-field: run}", {}, ["a/b -tp 2"]),
        ("{}", {}, ["<nothing in the settings gives $MODEL> -tp <nothing in the settings gives $TP>"]),
        ("{scripts: 'on/*.sh'}", {"on/a__sh": "bash serve/start.sh", "on/b__sh": "TP=2\nsource serve/start.sh"},
         [" -tp ", " -tp 2"]),
    ],
)  # fmt: skip
def test_jobs(options: str, files: dict[str, str], expected: list[str]) -> None:
    jobs, problems = planned(options, **files)
    assert not problems
    assert [text for _, _, text in jobs] == expected


@pytest.mark.parametrize(
    ("options", "files", "expected"),
    [
        ("{scripts: no.sh}", {}, "no file of the repository"),
        ("{matrix: 3}", {}, "values per variable"),
        ("{matrix-file: no.json}", {}, "no file 'no.json'"),
        ("{matrix-file: m.json}", {"m__json": "3"}, "no rows"),
        ("{matrix-file: m.json}", {"m__json": "[3]"}, "a row is a mapping"),
        ("{matrx: {}}", {}, "no option 'matrx'"),
        ("{facts: {tp: [1]}}", {}, "a mapping of names"),
        ("{matrix: {MODEL: a, run: b.sh}, script-field: run}", {}, "no script 'b.sh'"),
        (
            "{matrix: {A: [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], B: [1, 2, 3, 4, 5, 6, 7, 8, 9, 0],"
            " C: [1, 2, 3, 4, 5, 6, 7, 8, 9, 0], MODEL: [a, b, c, d, e, f], TP: 8}}",
            {},
            "more than 5,000 jobs",
        ),
    ],
)
def test_what_is_wrong_is_told(options: str, files: dict[str, str], expected: str) -> None:
    texts = {SCRIPT: SERVE, **{name.replace("__", "."): text for name, text in files.items()}}
    planner = Planner(MemoryFiles(texts), layout=Choice("plain", load_plain(options)))
    assert any(expected in problem.message for problem in planner.problems)


def test_places_and_facts() -> None:
    text = "version: 1\nlayout: plain\nlayout-options:\n  matrix:\n    MODEL: a/b\n    TP_SIZE: [2, 4]\n"
    files = MemoryFiles({SCRIPT: SERVE, ".botlint.yaml": text})
    options = load_plain(text)["layout-options"]
    first, second = Planner(files, layout=Choice("plain", options)).jobs
    assert (first.entry, second.arm_index) == (SCRIPT, 1)
    assert second.origin("TP_SIZE") == Span(".botlint.yaml", 6, 18, 6, 19) == second.origin("tp")
    assert (second.facts["model"], second.facts["tp"]) == ("a/b", 4)
    assert second.row == {"MODEL": "a/b", "TP_SIZE": 4}


@pytest.mark.parametrize(
    ("texts", "layout"),
    [
        ({SCRIPT: SERVE}, "plain"),
        ({"a.sh": "echo\n"}, "inferencex"),
        ({".github/a.sh": SERVE}, "inferencex"),
        ({SCRIPT: SERVE, "configs/demo-master.yaml": "a: {}\n"}, "inferencex"),
        ({}, "inferencex"),
    ],
)
def test_how_it_is_known(texts: dict[str, str], layout: str) -> None:
    assert layout_of(MemoryFiles(texts)) == layout


def test_products_are_bounded() -> None:
    values = ", ".join(f"V{number}: [{', '.join(map(str, range(90)))}]" for number in range(10))
    options: dict[str, object] = load_plain(f"{{matrix: {{{values}}}}}")
    files = MemoryFiles({SCRIPT: SERVE, ".botlint.yaml": "version: 1\nlayout: plain\n"})
    loaded = load(files, options)
    assert len(loaded.jobs) == MAX_JOBS
    assert [problem.message for problem in loaded.problems] == ["more than 5,000 jobs: the others are left out"]

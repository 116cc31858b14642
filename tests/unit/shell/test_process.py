"""Jobs that differ only in what no test looks at share one interpretation; what is looked at separates them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import pytest
from shell_fixtures import Given, end, ends, environment, process_of, solve, world_of
from timing import within

from botlint.core.unknown import Unknown

NAMES = ("MODEL", "TP", "CONC")


def _jobs() -> list[dict[str, Given]]:
    """Every combination of some values: 2 models, 3 sizes, 2 loads."""
    values = (("m1", "m2"), ("1", "4", "8"), ("16", "32"))
    return [dict(zip(NAMES, row, strict=True)) for row in itertools.product(*values)]


CHILD = 'serve "$MODEL" --tp "$TP"\n'

SHARED = {
    "nothing is looked at": ({"run.sh": 'serve "$MODEL" --tp "$TP" --conc "$CONC"\n'}, 1),
    "values are put into others": ({"run.sh": 'NAME="${MODEL}_$TP"\nexport X="$NAME-$CONC"\nserve "$NAME"\n'}, 1),
    "a number is computed": ({"run.sh": 'serve "$((TP * CONC))" "$MODEL"\n'}, 1),
    "a test with two outcomes": (
        {"run.sh": 'if [ "$TP" -gt 2 ]; then A=--big; else A=--small; fi\nserve "$MODEL" $A --tp "$TP"\n'},
        2,
    ),
    "a test of the same outcome": ({"run.sh": '[ "$TP" -lt 100 ] || exit 1\nserve "$MODEL" "$TP"\n'}, 1),
    "the same test again": (
        {"run.sh": '[ "$TP" = 4 ] && A=--four\n[ "$TP" = 4 ] && B=--again\nserve "$MODEL" $A $B\n'},
        2,
    ),
    "tests of two values": (
        {"run.sh": '[ "$TP" = 4 ] && A=--four\n[ "$CONC" = 16 ] && B=--few\nserve "$MODEL" $A $B\n'},
        4,
    ),
    "a case over a value": (
        {"run.sh": 'case "$TP" in 1) A=one ;; 4 | 8) A=more ;; esac\nserve "$A" "$MODEL"\n'},
        # Each pattern is a test of its own.
        3,
    ),
    "a test on one way only": (
        {"run.sh": 'if [ "$TP" = 1 ]; then\n  [ "$CONC" = 16 ] && A=--few\nfi\nserve "$MODEL" "$TP" $A\n'},
        3,
    ),
    "an exit": ({"run.sh": '[ "$TP" = 8 ] && { echo "$MODEL: too many" >&2; exit 3; }\nserve "$TP"\n'}, 2),
    "another script": ({"run.sh": "export MODEL TP\nbash child.sh\n", "child.sh": CHILD}, 2),
    "another script with a test": (
        {"run.sh": "bash child.sh\n", "child.sh": '[ "$TP" = 4 ] && A=--four\nserve "$MODEL" $A\n'},
        # The child for each outcome; what starts it does not look.
        3,
    ),
    "a script for each model": (
        {"run.sh": 'bash "$MODEL.sh"\n', "m1.sh": "serve one $CONC\n", "m2.sh": "serve two $CONC\n"},
        3,
    ),
    "a script for each model, where one is missing": (
        {"run.sh": 'bash "$MODEL.sh"\n', "m1.sh": "serve one $CONC\n"},
        3,
    ),
    "a child that reads a file of its caller": (
        {"run.sh": 'echo "$TP" > tp.txt\nbash child.sh\n', "child.sh": 'serve "$MODEL" "$(cat tp.txt)"\n'},
        4,
    ),
}


def _alone(files: Mapping[str, str], given: Mapping[str, Given]) -> tuple[list[str], dict[str, str]]:
    """How one job ends when nothing is shared with others."""
    solved = solve(world_of(files), "run.sh", given)
    return ends(solved), environment(solved)


@pytest.mark.parametrize("name", SHARED)
def test_jobs_share_interpretations(name: str) -> None:
    files, runs = SHARED[name]
    world = world_of(files)
    for given in _jobs():
        solved = solve(world, "run.sh", given)
        assert (ends(solved), environment(solved)) == _alone(files, given)
    assert world.runs == runs


@pytest.mark.parametrize("name", SHARED)
def test_the_order_of_jobs_does_not_matter(name: str) -> None:
    files, runs = SHARED[name]
    world = world_of(files)
    for given in reversed(_jobs()):
        assert ends(solve(world, "run.sh", given)) == _alone(files, given)[0]
    assert world.runs == runs


def test_a_job_is_interpreted_once() -> None:
    world = world_of({"run.sh": '[ "$TP" = 4 ] && A=--four\nserve "$MODEL" $A\n'})
    for _ in range(3):
        assert end(solve(world, "run.sh", {"MODEL": "m", "TP": "4"})) == "serve m --four"
    assert world.runs == 1


@pytest.mark.parametrize(
    ("first", "second", "shares"),
    [
        ({"A": "1"}, {"A": "2"}, True),
        ({"A": "1"}, {"A": ""}, True),
        ({"A": "1"}, {"A": "1", "B": "2"}, False),
        ({"A": "1"}, {}, False),
        ({"A": "1"}, {"A": Unknown("why")}, False),
        ({"A": Unknown("why")}, {"A": Unknown("another reason")}, True),
    ],
)
def test_names_and_what_is_unknown_tell_processes_apart(
    first: dict[str, Given], second: dict[str, Given], shares: bool
) -> None:
    world = world_of({"run.sh": "serve x\n"})
    one, _ = process_of(world, "run.sh", first)
    other, _ = process_of(world, "run.sh", second)
    assert (one is other) is shares


def test_unknown_values_are_told_by_the_reason_of_each_job() -> None:
    world = world_of({"run.sh": 'serve "$A-1"\n'})
    assert end(solve(world, "run.sh", {"A": Unknown("the machine")})) == "serve <the machine>-1"
    assert end(solve(world, "run.sh", {"A": Unknown("the user")})) == "serve <the user>-1"
    assert world.runs == 1


READ = """
while IFS='=' read -r name value; do
  case "$name" in DROP_*) unset "$name" ;; MODEL) found="$value" ;; esac
done < <(env)
serve "$found" "${DROP_ME-gone}"
"""


def test_each_line_of_an_input_is_looked_at_once() -> None:
    world = world_of({"run.sh": READ})
    job: dict[str, Given] = {f"V{number}": Unknown("v", True) for number in range(150)}
    job |= {f"K{number}": f"k{number}" for number in range(150)}
    with within(1):
        process, inputs = process_of(world, "run.sh", {**job, "DROP_ME": "1", "MODEL": "m=1"})
        solved = process.solve(world, inputs)
    assert end(solved) == "serve m=1 gone"
    # Once as the line's text, and once for each pattern.
    assert _depth(process.root) < 6 * len(job)


def test_a_line_that_goes_on_in_the_next_is_read_whole() -> None:
    text = 'read one two < <(printf "%s\\\\\\\\\\nb c\\\\n%s\\\\n" "$A" "$MAYBE")\nserve "$one" "$two"\n'
    solved = solve(world_of({"run.sh": text}), "run.sh", {"A": "a", "MAYBE": Unknown("maybe", True)})
    assert end(solved) == "serve ab c"


def _depth(children: Mapping[object, object]) -> int:
    count = 0
    while children:
        (node,) = children.values()
        children = getattr(node, "children", {})
        count += 1
    return count

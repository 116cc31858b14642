"""Undecided tests: both outcomes are tried; what they have in common goes on once, the rest is listed as possible."""

from __future__ import annotations

import pytest
from shell_fixtures import MAYBE, ends, solve, world_of

from botlint.shell import choice

ASKED = '[ "$MAYBE" = 1 ]'
YES, NO = ASKED, f"not: {ASKED}"

JOINS = {
    "outcomes that do the same": ("if ASKED; then echo a; else echo b; fi; serve x", ["serve x"], 1),
    "a value that nobody looks at": ("if ASKED; then A=1; else A=2; fi; serve x", ["serve x"], 1),
    "a value in an argument": (
        'if ASKED; then A=1; else A=2; fi; serve "$A"',
        ["serve 1", f"serve 2 if 1 {NO}"],
        2,
    ),
    "a value in an unquoted argument": (
        "if ASKED; then A=1; else A=2; fi; serve $A",
        ["serve 1", f"serve 2 if 1 {NO}"],
        2,
    ),
    "a value of which another is made that nobody looks at": (
        'if ASKED; then A=1; else A=2; fi; B="tp-$A"; C=$B; serve x',
        ["serve x"],
        1,
    ),
    "a value of which an argument is made": (
        'if ASKED; then A=1; else A=2; fi; B="tp-$A"; C=${B%-*}=${B#*-}; serve "$C"',
        ["serve tp=1", f"serve tp=2 if 1 {NO}"],
        2,
    ),
    "a value that a test looks at": (
        'if ASKED; then A=1; else A=2; fi; if [ "$A" = 2 ]; then serve two; fi; serve one',
        ["serve one", f"serve two if 1 {NO}"],
        2,
    ),
    "a value that the server's environment has": (
        "if ASKED; then export A=1; else export A=2; fi; serve x",
        ["serve x", f"serve x if 1 {NO}"],
        2,
    ),
    "a variable that only one outcome exports": (
        "if ASKED; then export A=1; fi; serve x",
        ["serve x", f"serve x if 1 {NO}"],
        2,
    ),
    "a table that nobody looks at": ("A=(--a); if ASKED; then A+=(--b); fi; serve x", ["serve x"], 1),
    "a table of arguments": (
        'A=(--a); if ASKED; then A+=(--b); fi; serve "${A[@]}"',
        ["serve --a --b", f"serve --a if 1 {NO}"],
        2,
    ),
    "output that nobody looks at": ("A=$(if ASKED; then echo 1; else echo 2; fi); serve x", ["serve x"], 1),
    "output that an argument has": (
        "A=$(echo a; if ASKED; then echo 1; else echo 2; fi); serve \"${A//$'\\n'/}\"",
        ["serve a1", f"serve a2 if 1 {NO}"],
        2,
    ),
    "a value set to the same on both ways": ("if ASKED; then A=1; else A=1; fi; serve $A", ["serve 1"], 1),
    "an option of the shell": ("if ASKED; then set -u; fi; serve x", ["serve x", f"serve x if 1 {NO}"], 2),
    "one test after another": (
        'if ASKED; then A=1; else A=2; fi\nif [ "$MAYBE" = 2 ]; then B=1; else B=2; fi\nserve $A $B',
        ["serve 1 1", f"serve 2 1 if 1 {NO}", 'serve 1 2 if 2 not: [ "$MAYBE" = 2 ]'],
        3,
    ),
    "a case": (
        'case "$MAYBE" in a) A=1 ;; *) A=2 ;; esac; serve $A',
        ["serve 1", 'serve 2 if 1 not: "$MAYBE" is a'],
        2,
    ),
}


@pytest.mark.parametrize("name", JOINS)
def test_outcomes_that_go_on_the_same_way_join(name: str) -> None:
    script, expected, runs = JOINS[name]
    world = world_of({"run.sh": script.replace("ASKED", ASKED)})
    assert ends(solve(world, "run.sh", MAYBE)) == expected
    assert world.runs == runs


ENDS = {
    "an exit where the test holds": (
        "if ASKED; then echo 'no model' >&2; exit 3; fi; serve x",
        ["serve x", f"exit 3: no model if 1 {YES}"],
    ),
    "an exit where it does not hold": ("ASKED || exit 3; serve x", ["serve x", f"exit 3 if 1 {NO}"]),
    "an exit inside an exit": (
        'if ASKED; then\n  if [ "$MAYBE" = 2 ]; then exit 2; fi\n  exit 4\nfi\nserve x',
        ["serve x", f'exit 2 if 1 {YES}, 2 [ "$MAYBE" = 2 ]', f"exit 4 if 1 {YES}"],
    ),
    "an exit in a branch of a branch": (
        'if ASKED; then\n  if [ "$MAYBE" = 2 ]; then exit 2; fi\nfi\nserve x',
        ["serve x", f'exit 2 if 1 {YES}, 2 [ "$MAYBE" = 2 ]'],
    ),
    "an exit in a function": ("die() { exit 5; }; if ASKED; then die; fi; serve x", ["serve x", f"exit 5 if 1 {YES}"]),
    "exits both ways": ("if ASKED; then exit 2; else exit 3; fi; serve x", ["exit 2", f"exit 3 if 1 {NO}"]),
    "an exit of a subshell": ("( if ASKED; then exit 3; fi ); serve x", ["serve x"]),
    "a server one way, an exit the other": (
        "if ASKED; then serve x; fi; exit 9",
        ["serve x", f"exit 9 if 1 {NO}"],
    ),
    "an exit first, a server the other way": (
        "if ASKED; then A=1; else A=2; fi; if [ $A = 1 ]; then exit 6; fi; serve x",
        ["serve x", f"exit 6 if 1 {YES}"],
    ),
    "a failing return under set -e": (
        "set -e\nf() {\n  if ASKED; then echo bad >&2; return 7; fi\n  A=2\n}\nA=1\nf\nserve $A",
        ["serve 2", f"exit 7: bad if 3 {YES}"],
    ),
    "a failing return where set -e does not count": (
        "set -e\nf() {\n  if ASKED; then return 7; fi\n  A=2\n}\nA=1\nf || true\nserve $A",
        ["serve 1", f"serve 2 if 3 {NO}"],
    ),
    "a failing return without set -e": (
        "f() {\n  if ASKED; then return 7; fi\n  A=2\n}\nA=1\nf\nserve $A",
        ["serve 1", f"serve 2 if 2 {NO}"],
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_an_outcome_that_ends_the_script_is_only_possible(name: str) -> None:
    script, expected = ENDS[name]
    world = world_of({"run.sh": script.replace("ASKED", ASKED)})
    assert ends(solve(world, "run.sh", MAYBE)) == expected


HOISTED = {
    "return": (
        "f() {\n  if ASKED; then return; fi\n  A=2\n}\nA=1\nf\nserve USED",
        ["serve 1", f"serve 2 if 2 {NO}"],
    ),
    "return in a loop of the function": (
        "f() {\n  for i in 1 2; do\n    if ASKED; then return; fi\n    A=$i\n  done\n}\nA=0\nf\nserve USED",
        ["serve 0", f"serve 2 if 3 {NO}"],
    ),
    "break": (
        "A=0\nfor i in 1 2 3; do\n  if ASKED; then A=9; break; fi\n  A=$i\ndone\nserve USED",
        ["serve 9", f"serve 3 if 3 {NO}"],
    ),
    "continue": (
        "A=0\nfor i in 1 2 3; do\n  if ASKED; then continue; fi\n  A=$i\ndone\nserve USED",
        ["serve 0", f"serve 3 if 3 {NO}"],
    ),
    "status of a function": (
        "f() {\n  if ASKED; then return 0; fi\n  return 1\n}\nif f; then A=1; else A=2; fi\nserve USED",
        ["serve 1", "serve 2 if 5 not: f"],
    ),
}


@pytest.mark.parametrize("name", HOISTED)
@pytest.mark.parametrize("used", [True, False])
def test_a_way_out_of_a_function_or_loop_is_tried_around_all_of_it(name: str, used: bool) -> None:
    script, expected = HOISTED[name]
    world = world_of({"run.sh": script.replace("ASKED", ASKED).replace("USED", "$A" if used else "x")})
    assert ends(solve(world, "run.sh", MAYBE)) == (expected if used else ["serve x"])
    assert world.runs == (2 if used else 1)


def test_tests_inside_tests_are_tried_up_to_a_bound() -> None:
    depth = choice.MAX_TRIALS + 3
    opened = "".join(f'if [ "$MAYBE" = {k} ]; then A{k}=1; ' for k in range(depth))
    world = world_of({"run.sh": f"{opened}{'fi; ' * depth}serve x"})
    solved = solve(world, "run.sh", MAYBE)
    assert ends(solved) == ["serve x"]
    assert solved.leaf.truncated


def test_many_tests_are_tried_up_to_a_bound() -> None:
    count = choice.MAX_TRIED + 5
    world = world_of({"run.sh": "\n".join(f"if {ASKED}; then A{k}=1; fi" for k in range(count)) + "\nserve x"})
    solved = solve(world, "run.sh", MAYBE)
    assert ends(solved) == ["serve x"]
    assert solved.leaf.truncated

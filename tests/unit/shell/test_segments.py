"""What a library does is taken over by the next script that sources it, as if it had been interpreted again."""

from __future__ import annotations

from collections.abc import Mapping
from unittest import mock

import pytest
from shell_fixtures import Given, ends, environment, solve, world_of

from botlint.core.unknown import Unknown
from botlint.shell import segments

Jobs = list[tuple[str, Mapping[str, Given]]]


def _jobs(*scripts: str, **given: Given) -> Jobs:
    """One job for each script; each job's model has another name."""
    return [(script, {"MODEL": f"m{number}", **given}) for number, script in enumerate(scripts)]


RECIPES = ("a.sh", "b.sh", "c.sh")

SHARED: dict[str, tuple[dict[str, str], Jobs]] = {
    "variables": (
        {
            "lib.sh": 'PORT=${PORT:-8000}\nexport HOST=0.0.0.0\nNAME="$MODEL-served"\nARGS=(--port "$PORT")\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\nserve "$NAME" "${ARGS[@]}"\n'),
        },
        _jobs(*RECIPES),
    ),
    "a variable that the library reads": (
        {
            "lib.sh": 'if [ "$TP" -gt 4 ]; then MODE=large; else MODE=small; fi\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\nserve "$MODEL" "$MODE"\n'),
        },
        [*_jobs(*RECIPES, TP="2"), *_jobs(*RECIPES, TP="8"), *_jobs(*RECIPES, TP="4")],
    ),
    "a variable that the script sets before": (
        {
            "lib.sh": "LEN=${LEN:-10}\nTOTAL=$((LEN + 1))\n",
            "a.sh": '. ./lib.sh\nserve "$TOTAL"\n',
            "b.sh": 'LEN=20\n. ./lib.sh\nserve "$TOTAL"\n',
            "c.sh": '. ./lib.sh\nserve "$TOTAL" c\n',
        },
        _jobs(*RECIPES),
    ),
    "a function with arguments": (
        {
            "lib.sh": 'need() {\n  for n in "$@"; do\n    [ -n "${!n}" ] || { echo "no $n" >&2; exit 2; }\n  done\n}\n',
            "a.sh": '. ./lib.sh\nneed MODEL TP\nserve "$MODEL"\n',
            "b.sh": '. ./lib.sh\nneed MODEL TP\nserve --other "$MODEL"\n',
            "c.sh": '. ./lib.sh\nneed MODEL\nserve "$MODEL"\n',
        },
        [*_jobs(*RECIPES), *_jobs(*RECIPES, TP="1"), *_jobs(*RECIPES, TP="")],
    ),
    "a function that sets what it was given": (
        {
            "lib.sh": 'put() { local old=$OUT; OUT="$old[$1]"; }\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\nput "$MODEL"\nput "$TP"\nserve "$OUT"\n'),
        },
        _jobs(*RECIPES, TP="4"),
    ),
    "options of the shell": (
        {
            "lib.sh": "set -e\nshopt -s nullglob\n",
            **dict.fromkeys(RECIPES, '. ./lib.sh\nfiles=(*.none)\nfalse\nserve "${#files[@]}"\n'),
        },
        _jobs(*RECIPES),
    ),
    "an undecided test of the library": (
        {
            "lib.sh": 'if [ "$MAYBE" = 1 ]; then FLAG=--one; else FLAG=--two; fi\n',
            "a.sh": '. ./lib.sh\nserve "$MODEL" "$FLAG"\n',
            "b.sh": '. ./lib.sh\nserve "$FLAG"\n',
            "c.sh": '. ./lib.sh\nserve "$MODEL"\n',
        },
        _jobs(*RECIPES, MAYBE=Unknown("maybe")),
    ),
    "a possible exit of the library": (
        {
            "lib.sh": 'check() { if [ "$MAYBE" = 1 ]; then echo "bad $MODEL" >&2; exit 4; fi; }\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\ncheck\nserve "$MODEL"\n'),
        },
        _jobs(*RECIPES, MAYBE=Unknown("maybe")),
    ),
    "an array that an undecided test changes": (
        {
            "lib.sh": 'ARGS=(--a)\n[ "$MAYBE" = 1 ] && ARGS+=(--b)\n',
            "a.sh": '. ./lib.sh\nserve "${ARGS[@]}"\n',
            "b.sh": '. ./lib.sh\nserve "$MODEL"\n',
            "c.sh": '. ./lib.sh\nserve c "${ARGS[@]}"\n',
        },
        _jobs(*RECIPES, MAYBE=Unknown("maybe")),
    ),
    "a file that the library makes": (
        {
            "lib.sh": 'echo "port: $TP" > settings.yaml\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\nserve "$(cat settings.yaml)"\n'),
        },
        [*_jobs(*RECIPES, TP="1"), *_jobs(*RECIPES, TP="2")],
    ),
    "a file that the script made": (
        {
            "lib.sh": "if [ -f settings.yaml ]; then MODE=given; else MODE=plain; fi\n",
            "a.sh": '. ./lib.sh\nserve "$MODE"\n',
            "b.sh": 'touch settings.yaml\n. ./lib.sh\nserve "$MODE"\n',
            "c.sh": '. ./lib.sh\nserve "$MODE" c\n',
        },
        _jobs(*RECIPES),
    ),
    "a status": (
        {
            "lib.sh": "last=$?\nfails() { return 3; }\n",
            "a.sh": '. ./lib.sh\nfails\nserve "$? $last"\n',
            "b.sh": '(exit 5)\n. ./lib.sh\nfails\nserve "$? $last"\n',
            "c.sh": 'true\n. ./lib.sh\nfails || serve "$? $last"\n',
        },
        _jobs(*RECIPES),
    ),
    "a failure under set -e": (
        {
            "lib.sh": 'check() { [ -n "$TP" ]; }\n',
            "a.sh": "set -e\n. ./lib.sh\ncheck\nserve a\n",
            "b.sh": "set -e\n. ./lib.sh\nif check; then serve b; fi\nserve none\n",
            "c.sh": ". ./lib.sh\ncheck\nserve c\n",
        },
        [*_jobs(*RECIPES, TP=""), *_jobs(*RECIPES, TP="1")],
    ),
    "the working directory and traps": (
        {
            "lib.sh": 'enter() { cd "$1"; }\nguard() { trap "echo bye" EXIT; }\n',
            "dir/x": "",
            **dict.fromkeys(RECIPES, '. ./lib.sh\nguard\nenter dir\n[ -f x ] && serve "$MODEL"\n'),
        },
        _jobs(*RECIPES),
    ),
    "a function that the script replaces": (
        {
            "lib.sh": "tune() { echo lib; MODE=lib; }\nrun() { tune; }\n",
            "a.sh": '. ./lib.sh\nrun\nserve "$MODE"\n',
            "b.sh": '. ./lib.sh\ntune() { MODE=own; }\nrun\nserve "$MODE"\n',
            "c.sh": '. ./lib.sh\nrun\nserve c "$MODE"\n',
        },
        _jobs(*RECIPES),
    ),
    "output that somebody reads": (
        {
            "lib.sh": 'name() { echo "$MODEL-$TP"; }\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\nname\nserve "$(name)"\n'),
        },
        _jobs(*RECIPES, TP="3"),
    ),
    "a library of a library": (
        {
            "lib.sh": '. ./base.sh\nNAME="$BASE/$MODEL"\n',
            "base.sh": "BASE=${ROOT:-/models}\n",
            "a.sh": '. ./lib.sh\nserve "$NAME"\n',
            "b.sh": '. ./base.sh\nserve "$BASE"\n',
            "c.sh": 'ROOT=/data\n. ./lib.sh\nserve "$NAME"\n',
        },
        [*_jobs(*RECIPES), *_jobs(*RECIPES, ROOT="/mnt")],
    ),
    "a library that asks who sourced it": (
        {
            "lib.sh": 'WHO=$(basename "$0")\nFROM=${BASH_SOURCE[1]}\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\nserve "$WHO" "$FROM"\n'),
        },
        _jobs(*RECIPES),
    ),
    "variables that become read-only, local or unset": (
        {
            "lib.sh": 'readonly KEEP=1\nunset TP\nf() { local TP=9 KEPT; KEPT=$TP; OUT="$KEPT${TP}"; }\n',
            **dict.fromkeys(RECIPES, '. ./lib.sh\nf\nKEEP=2\nserve "$OUT" "${TP-unset}" "$KEEP"\n'),
        },
        _jobs(*RECIPES, TP="3"),
    ),
}


def _plans(files: dict[str, str], jobs: Jobs, *, shared: bool) -> list[object]:
    world = world_of(files)
    if not shared:
        world.segments = None
    return [(ends(solved), environment(solved)) for solved in (solve(world, path, given) for path, given in jobs)]


@pytest.mark.parametrize("name", SHARED)
def test_effects_that_are_taken_over_change_no_plan(name: str) -> None:
    files, jobs = SHARED[name]
    expected = _plans(files, jobs, shared=False)
    assert _plans(files, jobs, shared=True) == expected
    # Whichever script comes first is the one that is recorded.
    assert _plans(files, jobs[::-1], shared=True) == expected[::-1]


def _taken_over(files: dict[str, str], jobs: Jobs) -> int:
    with mock.patch.object(segments, "_take_over", wraps=segments._take_over) as taken:
        _plans(files, jobs, shared=True)
    return taken.call_count


@pytest.mark.parametrize(
    "name",
    [
        "variables",
        "a variable that the library reads",
        "a function with arguments",
        "a function that sets what it was given",
        "options of the shell",
        "an undecided test of the library",
        "a possible exit of the library",
        "an array that an undecided test changes",
        "a file that the library makes",
    ],
)
def test_what_a_library_does_is_interpreted_once(name: str) -> None:
    assert _taken_over(*SHARED[name]) > 0


ONCE = {
    "the same value": ('. ./lib.sh\nserve "$TP"\n', "TP=4\n", 1),
    "a value that the library does not read": ('OTHER=x\n. ./lib.sh\nserve "$TP"\n', "TP=4\n", 1),
    "another value of what it reads": ('TP=2\n. ./lib.sh\nserve "$TP"\n', "TP=${TP:-4}\n", 0),
    "another option of the shell": ('set -e\n. ./lib.sh\nserve "$TP"\n', "TP=4\n", 0),
    "a subshell": ('( . ./lib.sh )\nserve "$TP"\n', "TP=4\n", 0),
    "its output is read": ('x=$(. ./lib.sh)\nserve "$TP"\n', "TP=4\n", 0),
    "it asks for the status before": ('. ./lib.sh\nserve "$TP"\n', "TP=$?\n", 0),
}


@pytest.mark.parametrize("name", ONCE)
def test_an_effect_fits_where_all_that_it_depends_on_is_the_same(name: str) -> None:
    script, library, times = ONCE[name]
    files = {"lib.sh": library, "first.sh": '. ./lib.sh\nserve first "$TP"\n', "second.sh": script}
    assert _taken_over(files, [("first.sh", {}), ("second.sh", {})]) == times


CAPTURED = {
    "a function whose output is read": ('. ./lib.sh\nserve "$(name)"\n', 'name() { echo "$MODEL-$TP"; }\n', 2),
    "one that prints in one outcome only": (
        '. ./lib.sh\nserve "$(name)"\n',
        'name() { if [ -d /opt/x ]; then echo "$MODEL"; else echo other; fi; }\n',
        5,
    ),
    "messages that are captured too": ('. ./lib.sh\nserve "$(name 2>&1)"\n', 'name() { echo "$MODEL" >&2; }\n', 2),
    "a library under a path that is given": ('. "$HERE/lib.sh"\nserve "$NAME"\n', "NAME=$MODEL-$TP\n", 1),
}


@pytest.mark.parametrize("name", CAPTURED)
def test_what_a_library_prints_is_taken_over(name: str) -> None:
    script, library, times = CAPTURED[name]
    files = {"lib.sh": library, "a.sh": script, "b.sh": script}
    jobs: Jobs = [
        ("a.sh", {"MODEL": "m", "TP": "1", "HERE": "."}),
        ("b.sh", {"MODEL": "n", "TP": "2", "HERE": "."}),
    ]
    assert _plans(files, jobs, shared=True) == _plans(files, jobs, shared=False)
    assert _taken_over(files, jobs) == times


def test_a_turned_test_leaves_what_a_library_does_later() -> None:
    files = {
        "lib.sh": "f() { A=$1; B=$TP; }\n",
        "a.sh": '. ./lib.sh\nif [ -d /opt/x ]; then W=1; else W=2; fi\nf a\nf b\nserve "$W" "$A" "$B"\n',
    }
    jobs: Jobs = [("a.sh", {"TP": "1"})]
    assert _plans(files, jobs, shared=True) == _plans(files, jobs, shared=False)
    assert _taken_over(files, jobs) == 3

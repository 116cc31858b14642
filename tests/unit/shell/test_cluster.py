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


STARTED = """\
printf '%s\\n' A=1 "B=$B" > /variables
docker run -d --env-file /variables -e C=3 -v "$PWD":/w -w /w --name c image
"""


@pytest.mark.parametrize(
    ("entered", "argv"),
    [
        ("docker exec c bash -c 'serve \"$A$B$C$D\"'", "serve 123"),
        ("docker exec -e A=9 -e D=4 c bash -c 'serve \"$A$B$C$D\"'", "serve 9234"),
        ("echo 'serve \"$A$B$C$D\"' | docker exec -i c bash -l", "serve 123"),
    ],
)
def test_a_command_in_a_container_has_the_variables_with_which_it_was_started(entered: str, argv: str) -> None:
    world = world_of({"run.sh": f"{STARTED}D=5\nexport D\n{entered}\n"})
    assert ends(solve(world, "run.sh", {"B": "2"}))[0] == argv


def test_words_that_python_splits_as_a_shell_does_are_known() -> None:
    script = (
        "while IFS= read -r -d '' word; do words+=(\"$word\"); done < <(TEXT=\"$TEXT\" python3 - <<'PY'\n"
        "import os\nimport shlex\nimport sys\n"
        'for word in shlex.split(os.environ["TEXT"]):\n    sys.stdout.write(word)\n    sys.stdout.write("\\0")\n'
        'PY\n)\nserve "${words[@]}"\n'
    )
    world = world_of({"run.sh": script})
    assert ends(solve(world, "run.sh", {"TEXT": "-a 'b  c' d"})) == ["serve -a b  c d"]

"""Files that nobody should write: each job still gets a plan, with a reason, in bounded time."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_fixtures import CONFIG, ENTRY, LAUNCHER, LIBRARY, RECIPE, make_repository
from timing import within

from botlint.plan.build import Planner
from botlint.plan.jsonform import document
from botlint.plan.model import Launch
from botlint.repo.open import open_files

SECONDS = 10.0
"""Processor time that the plan of one job may take, whatever its files hold."""

SERVE = '\nvllm serve "$MODEL" --port "$PORT"\n'

NEVER_ENDS = {
    "endless loop": "while true; do :; done",
    "endless loop that counts": "i=0; while true; do i=$((i + 1)); done",
    "until that never holds": "until false; do sleep 1; done",
    "C-style loop without a condition": "for ((;;)); do :; done",
    "C-style loop that counts": "for ((i = 0; i >= 0; i++)); do x=$i; done",
    "recursion": "f() { f; }; f",
    "mutual recursion": "f() { g; }; g() { f; }; f",
    "recursion in a substitution": "f() { echo $(f); }; x=$(f)",
    "fork bomb": ":() { : | : & }; :",
    "a script that starts itself": 'bash "$0"',
    "a script that sources itself": 'source "$0"',
    "a text that doubles": "x=aaaaaaaa; while true; do x=$x$x; done",
    "an array that doubles": 'x=(a b c d); while true; do x+=("${x[@]}"); done',
    "eval of itself": 't=\'eval "$t"\'; eval "$t"',
    "eval that grows": 't=\'t="$t$t"; eval "$t"\'; eval "$t"',
    "a trap that exits with a trap": "trap 'f' EXIT; f() { trap f EXIT; exit 1; }; exit 2",
    "nested loops": "for a in {1..4000}; do for b in {1..4000}; do x=$a$b; done; done",
    "a brace expansion": "x=({1..100000000})",
    "brace expansions in each other": "x=(" + "{a,b}" * 20 + ")",
    "seq": "for i in $(seq 1 1000000000); do x=$i; done",
    "a wide field": "x=$(printf '%1000000000s' a)",
    "a large power": "x=$((9 ** 999999999999)); y=$((10**10**10**10))",
    "a large shift": "x=$((1 << 99999999999999999999))",
    "a costly expression": "[[ aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa! =~ ^(a+)+$ ]]",
    "a costly pattern": f"x={'a' * 50}b; [[ $x == {'*a' * 17}*c ]]",
    "a costly extended pattern": "shopt -s extglob; x=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab; [[ $x == +(+(+(a)))c ]]",
    "many undecided tests": "\n".join(f'if curl "host{n}"; then x=$x{n}; export V{n}=1; fi' for n in range(400)),
    "undecided tests in loops": "for i in {1..300}; do if curl $i; then export A$i=1; else export B$i=2; fi; done",
    "undecided loops": "while curl a; do while curl b; do while curl c; do x=$x.; done; done; done",
    "undecided returns": "f() { curl a || return 1; curl b || return 2; f; }; f",
    "namerefs in a circle": "declare -n a=b b=a; a=1; echo $b",
    "an arithmetic circle": "a=b; b=a; x=$((a))",
    "a deep expression": "x=$((" + "(" * 5000 + "1" + ")" * 5000 + "))",
    "deep substitutions": "x=" + "$(echo " * 400 + "a" + ")" * 400,
    "deep braces": "x=" + "${a:-" * 3000 + "b" + "}" * 3000,
    "deep groups": "{ " * 3000 + ":; " + "}; " * 3000,
    "deep subshells": "( " * 3000 + ":" + " )" * 3000,
    "deep ifs": "if true; then " * 2000 + ":; " + "fi; " * 2000,
    "a long pipeline": " | ".join(["cat"] * 3000),
    "a long list": " && ".join(["true"] * 20000),
    "a long word": "x=" + "a" * 2_000_000,
    "a long line of assignments": "x=$x" * 100_000,
    "awk without end": "x=$(echo a | awk '{ while (1) i++ }')",
    "sed without end": "x=$(echo a | sed ':a; s/a/aa/; ta')",
    "jq without end": "x=$(echo '{}' | jq '[recurse(.)]')",
    "mapfile of a large text": "mapfile -t x < <(yes); echo ${#x[@]}",
    "read without end": "while read -r line; do x=$line; done < /dev/zero",
}

REFUSED = {
    "a syntax error": 'if then fi "',
    "an open quote": 'echo "abc',
    "an open here-document": "cat <<EOF\nabc",
    "an open parenthesis": "x=$(echo",
    "a case without esac": 'case "$x" in a) :',
    "control characters": "echo \x01\x02\x7f\x1b[0m",
    "unpaired surrogates": "echo \ufffe\uffff",
}


def one_plan(repository: Path, entry: str = ENTRY) -> Launch:
    """The first plan of an entry, after a check of its form and of the time that it took."""
    with within(SECONDS), open_files(repository) as files:
        planner = Planner(files)
        job = next(job for job in planner.jobs if job.entry == entry)
        plan = planner.plan(job)
        document([plan], planner.problems)
    launch = plan.launch
    if launch.outcome == "serves":
        assert launch.server is not None
    elif launch.outcome == "exits":
        assert launch.exit is not None
    else:
        assert launch.reason
    return launch


@pytest.mark.parametrize("name", sorted(NEVER_ENDS))
def test_a_recipe_that_never_ends_or_grows_gets_a_plan(name: str, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r", {RECIPE: f"#!/bin/bash\n{NEVER_ENDS[name]}\n{SERVE}"})
    one_plan(repository)


@pytest.mark.parametrize("name", ["endless loop", "recursion", "a script that starts itself", "a brace expansion"])
def test_a_launcher_or_library_that_never_ends_gets_a_plan(name: str, tmp_path: Path) -> None:
    for path in (LAUNCHER, LIBRARY):
        launch = one_plan(make_repository(tmp_path / path.replace("/", "-"), {path: f"{NEVER_ENDS[name]}\n"}))
        assert launch.outcome != "serves"


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_text_that_is_not_bash_counts_from_where_it_stands(name: str, tmp_path: Path) -> None:
    after = one_plan(make_repository(tmp_path / "after", {RECIPE: f"{SERVE}{REFUSED[name]}\n"}))
    assert after.outcome == "serves"
    one_plan(make_repository(tmp_path / "before", {RECIPE: f"{REFUSED[name]}\n{SERVE}"}))


def test_a_missing_launcher_exits_at_the_line_of_the_workflow(tmp_path: Path) -> None:
    launch = one_plan(make_repository(tmp_path / "r", {LAUNCHER: None}))
    assert launch.exit is not None
    assert launch.exit.code == 127
    assert launch.exit.path == ".github/workflows/benchmark-tmpl.yml"
    assert launch.exit.message == f"{LAUNCHER}: No such file or directory"


def test_a_missing_recipe_exits_at_the_line_of_the_launcher(tmp_path: Path) -> None:
    launch = one_plan(make_repository(tmp_path / "r", {RECIPE: None}))
    assert launch.exit is not None
    assert (launch.exit.code, launch.exit.path) == (127, LAUNCHER)
    assert launch.exit.message == f"{RECIPE}: No such file or directory"
    assert launch.recipe == RECIPE


def test_a_missing_library_only_matters_where_it_is_used(tmp_path: Path) -> None:
    used = one_plan(make_repository(tmp_path / "used", {LIBRARY: None}))
    assert used.outcome in ("serves", "exits")
    unused = one_plan(
        make_repository(tmp_path / "unused", {LIBRARY: None, RECIPE: f"source missing.sh || true\n{SERVE}"})
    )
    assert unused.outcome == "serves"


@pytest.mark.parametrize(
    ("content", "outcomes"),
    [
        (b"", {"exits"}),
        (b"\x7fELF\x02\x01\x01" + bytes(range(256)) * 40, {"exits", "undecided"}),
        (b"\xff\xfe\x00#\x00!\x00", {"exits", "undecided"}),
        ("# caf\u00e9\n".encode("latin-1") + SERVE.encode(), {"serves"}),
        (b"\xef\xbb\xbf" + SERVE.encode(), {"serves", "exits"}),
        (f"set -e{SERVE}".replace("\n", "\r\n").encode(), {"serves", "exits"}),
        (SERVE.encode() + b"\x00" * 1000, {"serves", "exits", "undecided"}),
        (b"# " + b"x" * 9_000_000 + SERVE.encode(), {"exits", "undecided"}),
        (b"#\n" * 10_000 + SERVE.encode(), {"serves"}),
        (b"export A=1\n" * 10_000 + SERVE.encode(), {"serves"}),
        (b'x="$(basename "/a/b/$CONC")"\n' * 10_000 + SERVE.encode(), {"serves", "undecided"}),
    ],
    ids=[
        "empty",
        "binary",
        "utf-16",
        "latin-1",
        "byte order mark",
        "carriage returns",
        "zero bytes",
        "9 MB",
        "10,000 comments",
        "10,000 exports",
        "10,000 substitutions",
    ],
)
def test_content_of_a_recipe(content: bytes, outcomes: set[str], tmp_path: Path) -> None:
    assert one_plan(make_repository(tmp_path / "r", {RECIPE: content})).outcome in outcomes


def test_links_and_folders_in_the_place_of_a_recipe(tmp_path: Path) -> None:
    outside = tmp_path / "outside.sh"
    outside.write_text(SERVE)
    for number, target in enumerate([str(outside), "../../../../outside.sh", RECIPE.rpartition("/")[2], "missing.sh"]):
        repository = make_repository(tmp_path / str(number), {RECIPE: None})
        (repository / RECIPE).symlink_to(target)
        assert one_plan(repository).outcome == "exits"
    repository = make_repository(tmp_path / "folder", {RECIPE: None})
    (repository / RECIPE).mkdir()
    (repository / RECIPE / "file").write_text("x")
    assert one_plan(repository).outcome in ("exits", "undecided")


BROKEN_YAML = {
    "not a mapping": b"- a\n- b\n",
    "not YAML": b"a: [b\nc: }\n",
    "tabs": b"a:\n\tb: 1\n",
    "binary": bytes(range(256)),
    "alias bomb": b"a: &a [x,x,x,x,x,x,x,x,x]\n"
    + b"".join(b"%c: &%c [%s]\n" % (c + 1, c + 1, b",".join([b"*%c" % c] * 9)) for c in range(ord("a"), ord("j"))),
    "deep": b"a: " + b"[" * 50_000,
    "large": b"# " + b"x" * 50_000_000,
    "empty": b"",
    "recursive": b"a: &a\n  b: *a\n",
}


@pytest.mark.parametrize("name", sorted(BROKEN_YAML))
def test_a_master_config_that_cannot_be_read_leaves_the_others(name: str, tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r", {"configs/broken-master.yaml": BROKEN_YAML[name]})
    with within(SECONDS), open_files(repository) as files:
        planner = Planner(files)
        assert any(job.entry == ENTRY for job in planner.jobs)
        problems = [*planner.problems, *files.problems]
    if name not in ("empty", "not a mapping", "recursive"):
        assert any(problem.span.path == "configs/broken-master.yaml" for problem in problems)


def test_an_entry_that_cannot_be_read_says_why(tmp_path: Path) -> None:
    text = (make_repository(tmp_path / "r") / CONFIG).read_text()
    broken = text.replace("  model: openai/gpt-oss-120b\n", "  model: [1, {}]\n", 1)
    (tmp_path / "r" / CONFIG).write_text(broken)
    with open_files(tmp_path / "r") as files:
        planner = Planner(files)
        assert any(ENTRY in problem.message for problem in planner.problems)
        assert any(job.entry != ENTRY for job in planner.jobs)


@pytest.mark.parametrize(
    "workflow",
    [
        "",
        "- a",
        "jobs: 1",
        "on: [push]\njobs:\n  a:\n    steps:\n    - run: ${{ fromJson('{') }}\n",
        "jobs: {a: {uses: ./x.yml}}",
    ],
)
def test_workflows_that_start_nothing_are_undecided_jobs(workflow: str, tmp_path: Path) -> None:
    changes = {f".github/workflows/{name}.yml": workflow for name in ("run-sweep", "e2e-tests")}
    launch = one_plan(make_repository(tmp_path / "r", changes))
    assert launch.outcome == "undecided"
    assert launch.reason

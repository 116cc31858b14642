"""Where a value comes from: the steps from the config to the line of the script, and the tests on the way."""

from __future__ import annotations

from pathlib import Path

import pytest
from plan_fixtures import AGENTIC, AGENTIC_RECIPE, CONFIG, ENTRY, LAUNCHER, RECIPE, make_repository

from botlint.plan.build import Planner
from botlint.plan.explain import Explainer, Explanation
from botlint.plan.model import word_text
from botlint.repo.open import open_files

TEMPLATE = ".github/workflows/benchmark-tmpl.yml"
SWEEP = ".github/workflows/run-sweep.yml"
SERVE = 'vllm serve "$MODEL" --port "$PORT"'


def explained(repository: Path, name: str, entry: str = ENTRY, number: int = 0) -> Explanation:
    with open_files(repository) as files:
        planner = Planner(files)
        job = [job for job in planner.jobs if job.entry == entry][number]
        return Explainer(planner).explain(job, name, planner.plan(job).launch.runners[0])


def of_script(explanation: Explanation, path: str = RECIPE) -> list[tuple[int, str, str]]:
    return [(step.span.line, step.text, step.note) for step in explanation.steps if step.span.path == path]


def in_recipe(tmp_path: Path, script: str, name: str) -> Explanation:
    return explained(make_repository(tmp_path / "r", {RECIPE: f"{script}\n{SERVE}\n"}), name)


def test_from_the_arm_to_the_guarded_line(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r", healthy=True)
    explanation = explained(repository, "VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT", AGENTIC, 6)
    assert (explanation.state, explanation.value, explanation.elsewhere) == ("set", "0", ())
    assert [(step.kind, step.span.path, step.text, step.note) for step in explanation.steps] == [
        (
            "config",
            CONFIG,
            "- { tp: 2, kv-offloading: none, conc-list: [1, 2, 5], spec-decoding: mtp }",
            "tp: 2",
        ),
        (
            "workflow",
            SWEEP,
            "matrix.config.tp = 2, from config: "
            "${{ fromJson(needs.setup.outputs.search-space-config).single_node['agentic'] }}",
            "",
        ),
        ("workflow", SWEEP, "tp: ${{ matrix.config.tp }}", ""),
        ("workflow", TEMPLATE, "input tp: string, required", ""),
        ("workflow", TEMPLATE, "TP: ${{ inputs.tp }}", "TP=2"),
        ("test", AGENTIC_RECIPE, '[ "$TP" -eq 4 ]', "false with TP=2"),
        (
            "script",
            AGENTIC_RECIPE,
            "export VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=0",
            "VLLM_ROCM_SHUFFLE_KV_CACHE_LAYOUT=0",
        ),
        ("server", AGENTIC_RECIPE, '"${SERVER_CMD[@]}" > "$SERVER_LOG" 2>&1 &', "the server starts"),
    ]
    lines = (repository / CONFIG).read_text().splitlines()
    span = explanation.steps[0].span
    assert lines[span.line - 1][span.column - 1 : span.end_column - 1] == "2"


SCRIPTS = {
    "a plain export": ("export A=1", ["export A=1|A=1"]),
    "a value from the job": ('export A="x$CONC"', ['export A="x$CONC"|A=x4']),
    "exported later": ("A=1\nexport A", ["A=1|A=1", "export A|A=1"]),
    "through other variables": (
        "B=$((CONC * 2))\nC=${B}k\nexport A=$C",
        ["B=$((CONC * 2))|B=8", "C=${B}k|C=8k", "export A=$C|A=8k"],
    ),
    "overwritten": ("B=1\nB=2\nexport A=$B", ["B=2|B=2", "export A=$B|A=2"]),
    "appended": ("export A=1\nA+=2", ["export A=1|A=1", "A+=2|A=12"]),
    "if": ('if [ "$CONC" -gt 2 ]; then\n  export A=1\nfi', ['[ "$CONC" -gt 2 ]|true with CONC=4', "export A=1|A=1"]),
    "else": (
        "if [[ $CONC == 8 ]]; then export A=1\nelse export A=2; fi",
        ["[[ $CONC == 8 ]]|false with CONC=4", "else export A=2; fi|A=2"],
    ),
    "elif": (
        "if ((CONC > 99)); then\n  A=1\nelif ((CONC > 2)); then\n  export A=2\nfi",
        ["((CONC > 99))|false with CONC=4", "((CONC > 2))|true with CONC=4", "export A=2|A=2"],
    ),
    "case": (
        'case "$CONC" in\n  1 | 4)\n    export A=1 ;;\nesac',
        ['case "$CONC" in|takes 1|4) with CONC=4', "export A=1 ;;|A=1"],
    ),
    "and": ('[ "$CONC" = 4 ] && export A=1', ['[ "$CONC" = 4 ]|true with CONC=4', '[ "$CONC" = 4 ] && export A=1|A=1']),
    "or": ('[ "$CONC" = 5 ] ||\n  export A=1', ['[ "$CONC" = 5 ]|false with CONC=4', "export A=1|A=1"]),
    "nested": (
        'if [ "$CONC" = 4 ]; then\n  if [ "$TP" = 1 ]; then\n    export A=1\n  fi\nfi',
        ['[ "$CONC" = 4 ]|true with CONC=4', '[ "$TP" = 1 ]|true with TP=1', "export A=1|A=1"],
    ),
    "in a function": (
        'f() {\n  export A=$1\n}\nf "$CONC"',
        ["export A=$1|A=4"],
    ),
    "a local behind another variable": (
        'B=1\nf() { local B=2; echo "$B"; }\nf\nexport A=$B',
        ["B=1|B=1", "export A=$B|A=1"],
    ),
    "a loop": (
        "for x in 1 $CONC; do\n  export A=$x\ndone",
        ["for x in 1 $CONC; do|x=4", "export A=$x|A=4"],
    ),
    "read": ('read -r A _ <<< "$CONC x"\nexport A', ['read -r A _ <<< "$CONC x"|A=4', "export A|A=4"]),
    "printf -v": ("printf -v A '%02d' \"$CONC\"\nexport A", ["printf -v A '%02d' \"$CONC\"|A=04", "export A|A=04"]),
    "a command substitution": ('export A=$(basename "/x/$CONC")', ['export A=$(basename "/x/$CONC")|A=4']),
    "before the command": ("A=1 exec " + SERVE, ["A=1 exec " + SERVE + "|A=1"]),
    "env": ("env A=1 " + SERVE, ["env A=1 " + SERVE + "|A=1"]),
    "a nameref": ("declare -n r=A\nr=$CONC\nexport A", ["r=$CONC|A=4", "export A|A=4"]),
}


@pytest.mark.parametrize("name", sorted(SCRIPTS))
def test_lines_of_a_script(name: str, tmp_path: Path) -> None:
    script, expected = SCRIPTS[name]
    explanation = in_recipe(tmp_path, script, "A")
    assert explanation.state == "set"
    steps = [f"{text}|{note}" for _, text, note in of_script(explanation) if note != "the server starts"]
    assert steps == expected
    from_config = [step.note for step in explanation.steps if step.kind == "config"]
    reads_conc = "CONC" in script and name != "appended"
    assert ("conc: 4" in from_config) is reads_conc


ABSENT = {
    "never set": ("", "the server is started without A", [], []),
    "unset": (
        "export A=1\nunset A",
        "A is unset before the server starts",
        ["unset A|A is unset"],
        ["export A=1"],
    ),
    "not exported": ("A=1", "A is set but not exported", ["A=1|A=1"], []),
    "in a branch": (
        'if [ "$CONC" = 8 ]; then\n  export A=1\nfi',
        "the server is started without A",
        [],
        ["export A=1"],
    ),
}


@pytest.mark.parametrize("name", sorted(ABSENT))
def test_a_variable_that_the_server_does_not_get(name: str, tmp_path: Path) -> None:
    script, remark, steps, places = ABSENT[name]
    explanation = in_recipe(tmp_path, script, "A")
    assert (explanation.state, explanation.value, explanation.remark) == ("unset", None, remark)
    assert [f"{text}|{note}" for _, text, note in of_script(explanation) if note != "the server starts"] == steps
    assert [step.text for step in explanation.elsewhere if step.span.path == RECIPE] == places


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ('if [ "$CONC" = 8 ]; then\n  export A=1\nfi', 'would set it; [ "$CONC" = 8 ] is false with CONC=4'),
        ('if [ "$CONC" = 4 ]; then\n  :\nelse\n  export A=1\nfi', 'would set it; [ "$CONC" = 4 ] is true with CONC=4'),
        ("case $CONC in\n  8) export A=1 ;;\n  4) ;;\nesac", "would set it; not taken: case $CONC in 8) with CONC=4"),
        ("if false; then if [ x = y ]; then export A=1; fi; fi", "would set it; under false; under [ x = y ]"),
        ("f() { export A=1; }", "would set it"),
    ],
)
def test_why_a_line_does_not_count(script: str, note: str, tmp_path: Path) -> None:
    (step,) = in_recipe(tmp_path, script, "A").elsewhere
    assert step.note == note


def test_a_variable_that_a_container_does_not_get(tmp_path: Path) -> None:
    launcher = (
        f'docker run --rm -e MODEL -e PORT=9999 -v "$GITHUB_WORKSPACE:/workspace" -w /workspace image bash {RECIPE}\n'
    )
    repository = make_repository(tmp_path / "r", {RECIPE: f"{SERVE}\n", LAUNCHER: launcher})
    lost = explained(repository, "CONC")
    assert (lost.state, lost.remark) == ("unset", "CONC is set, and not passed on")
    assert [step.kind for step in lost.steps if step.span.path == LAUNCHER] == ["call"]
    given = explained(repository, "PORT")
    assert [(step.text, step.note) for step in given.steps if step.span.path == LAUNCHER] == [
        (launcher.strip(), "PORT=9999")
    ]
    assert explained(repository, "MODEL").steps[0].note == "model: openai/gpt-oss-120b"


FLAGS = {
    "in the command": (
        'vllm serve x --a "$TP" --n "$CONC"',
        "--n",
        "4",
        ['vllm serve x --a "$TP" --n "$CONC"|'],
        ["conc: 4"],
    ),
    "joined": ('vllm serve x --n="$CONC"', "--n", "4", ['vllm serve x --n="$CONC"|'], ["conc: 4"]),
    "in an array": ('X=(--n "$CONC")\nvllm serve x "${X[@]}"', "--n", "4", ['X=(--n "$CONC")|in X'], ["conc: 4"]),
    "appended to an array": (
        'X=(--a)\nif [ "$TP" = 1 ]; then\n  X+=(--n 7)\nfi\nX+=(--b)\nvllm serve x "${X[@]}"',
        "--n",
        "7",
        ['[ "$TP" = 1 ]|true with TP=1', "X+=(--n 7)|in X"],
        ["tp: 1"],
    ),
    "in a text": ('X="--n $CONC --b"\nvllm serve x $X', "--n", "4", ['X="--n $CONC --b"|in X'], ["conc: 4"]),
    "without a value": ("vllm serve x --n", "--n", "", ["vllm serve x --n|"], []),
}


@pytest.mark.parametrize("name", sorted(FLAGS))
def test_options(name: str, tmp_path: Path) -> None:
    script, flag, value, steps, config = FLAGS[name]
    explanation = in_recipe(tmp_path, script, flag)
    assert explanation.state == "set"
    assert explanation.value is not None
    assert word_text(explanation.value) == value
    assert [f"{text}|{note}" for _, text, note in of_script(explanation) if note != "the server starts"] == steps
    assert [step.note for step in explanation.steps if step.kind == "config"] == config


def test_an_option_that_is_not_given(tmp_path: Path) -> None:
    explanation = in_recipe(tmp_path, 'if [ "$CONC" = 8 ]; then\n  X=(--n 1)\nfi', "--n")
    assert (explanation.state, explanation.remark) == ("unset", "the server is started without --n")
    assert [(step.text, step.note) for step in explanation.elsewhere] == [
        ("X=(--n 1)", 'would set it; [ "$CONC" = 8 ] is false with CONC=4')
    ]


def test_an_exit_and_the_tests_around_it(tmp_path: Path) -> None:
    repository = make_repository(tmp_path / "r")
    explanation = explained(repository, "VLLM_ROCM_USE_AITER", AGENTIC, 9)
    assert explanation.state == "no server"
    assert explanation.remark.startswith(f"no server starts: exits 1 at {AGENTIC_RECIPE}:")
    assert [(text, note) for _, text, note in of_script(explanation, AGENTIC_RECIPE)] == [
        ('case "${KV_OFFLOAD_BACKEND:-}" in', "takes *) with KV_OFFLOAD_BACKEND=lmcache"),
        ("exit 1", "ends here"),
    ]
    assert explanation.steps[0].note == "kv-offload-backend.name: lmcache"


def test_a_job_that_nothing_takes(tmp_path: Path) -> None:
    changes = dict.fromkeys((SWEEP, ".github/workflows/e2e-tests.yml"), "")
    explanation = explained(make_repository(tmp_path / "r", changes), "A")
    assert (explanation.state, explanation.steps) == ("no server", ())
    assert explanation.remark


def test_a_test_that_only_the_machine_decides(tmp_path: Path) -> None:
    explanation = in_recipe(tmp_path, "if curl -s host; then\n  export A=1\nelse\n  export A=2\nfi", "A")
    notes = [note for _, text, note in of_script(explanation) if text == "curl -s host"]
    assert notes
    assert notes[0].startswith("not known before the run; taken to be ")


@pytest.mark.parametrize(
    ("script", "steps"),
    [
        (
            'NAME="missing_$FRAMEWORK"\nset -e\nbash "benchmarks/$NAME.sh"\n',
            [(1, "NAME=missing_vllm"), (3, "ends here")],
        ),
        (
            'NAME=missing\nif [ "$TP" = 99 ]; then NAME=other; fi\nbash "benchmarks/$NAME.sh" || exit 3\n',
            [(1, "NAME=missing"), (3, "false with NAME=missing"), (3, "ends here")],
        ),
        ("echo no >&2\nexit 4\n", [(2, "ends here")]),
    ],
)
def test_what_ends_a_job_comes_from_somewhere(tmp_path: Path, script: str, steps: list[tuple[int, str]]) -> None:
    repository = make_repository(tmp_path / "r", {RECIPE: script})
    with open_files(repository) as files:
        planner = Planner(files)
        job = next(job for job in planner.jobs if job.entry == ENTRY)
        found = Explainer(planner).ending(job, planner.plan(job).launch.runners[0])
    assert [(step.span.line, step.note) for step in found if step.span.path == RECIPE] == steps

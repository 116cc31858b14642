"""Scripts of a revision: which there are, where `source` leads, whose names nothing gives, which flags servers get."""

from __future__ import annotations

import pytest
from timing import within

from botlint.engine.analysis.scripts import script_paths, scripts
from botlint.engine.analysis.scripts_names import Spellings, closest_name, names
from botlint.engine.analysis.scripts_servers import prefix_caching, scenario, servers, size_guards, size_options
from botlint.engine.analysis.scripts_shellcheck import shell_findings
from botlint.engine.analysis.scripts_slips import slips
from botlint.engine.analysis.scripts_status import masked
from botlint.engine.context import Context
from botlint.engine.examples import plan_all
from botlint.repo.memory import MemoryFiles


def context(files: dict[str, str], base: dict[str, str] | None = None, **options: object) -> Context:
    before = None if base is None else Context(MemoryFiles(base), plan_all)
    return Context(MemoryFiles(files), plan_all, before, options)


def one(text: str, path: str = "benchmarks/demo.sh") -> Context:
    return context({path: text})


def test_scripts_are_those_of_runs() -> None:
    files = dict.fromkeys(
        (
            "benchmarks/a.sh",
            "benchmarks/b.slurm",
            "runners/launch_c.sh",
            "launch_d.sh",
            "tests/e.sh",
            "benchmarks/tests/f.sh",
            "utils/g.sh",
            "benchmarks/notes.md",
        ),
        "echo\n",
    )
    files["benchmarks/run"] = "#!/usr/bin/env bash\necho\n"
    files["benchmarks/data"] = "echo\n"
    assert script_paths(context(files)) == [
        "benchmarks/a.sh",
        "benchmarks/b.slurm",
        "benchmarks/run",
        "launch_d.sh",
        "runners/launch_c.sh",
    ]


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ('source "$(dirname "$0")/../lib.sh"', "benchmarks/lib.sh"),
        ('source "$(dirname "${BASH_SOURCE[0]}")/x.sh"', "benchmarks/one/x.sh"),
        ('. "$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)/x.sh"', "benchmarks/one/x.sh"),
        ('HERE="$(cd "$(dirname "$0")/.." && pwd)"\nsource "$HERE/lib.sh"', "benchmarks/lib.sh"),
        ('source "${BASH_SOURCE%/*}/x.sh"', "benchmarks/one/x.sh"),
        ('source "$(dirname "$(readlink -f "$0")")/x.sh"', "benchmarks/one/x.sh"),
        ('source "$(git rev-parse --show-toplevel)/lib.sh"', "lib.sh"),
        ('source "$GITHUB_WORKSPACE/benchmarks/lib.sh"', "benchmarks/lib.sh"),
        ("source benchmarks/lib.sh", "benchmarks/lib.sh"),
        ("source /workspace/benchmarks/lib.sh", "benchmarks/lib.sh"),
        ("source /opt/lib.sh", None),
        ('source "$ELSEWHERE/lib.sh"', None),
        ('if x; then HERE=a; else HERE=b; fi\nsource "$HERE/lib.sh"', None),
        ('source "$(find . -name lib.sh)"', None),
    ],
)
def test_where_a_source_leads(text: str, target: str | None) -> None:
    found = scripts(context({"benchmarks/one/a.sh": text, "benchmarks/lib.sh": "f() { :; }\n"}))
    assert [call.target for call in found.sources["benchmarks/one/a.sh"]] == [target]


def unset(files: dict[str, str]) -> list[tuple[str, str, str]]:
    return [(use.facts.path, use.name, use.closest) for use in names(context(files)).unset]


def test_a_name_that_nothing_gives() -> None:
    assert unset({"benchmarks/a.sh": "serve $GONE\n"}) == [("benchmarks/a.sh", "GONE", "")]


def test_a_library_sees_the_names_of_those_who_source_it() -> None:
    lib = 'use() { serve "$SERVER_LOG" "$OTHER"; }\n'
    user = 'SERVER_LOG=x\nsource "$(dirname "$0")/lib.sh"\n'
    assert unset({"benchmarks/lib.sh": lib, "benchmarks/a.sh": user}) == [("benchmarks/lib.sh", "OTHER", "")]


@pytest.mark.parametrize(
    "giver",
    [
        {".github/workflows/a.yml": "env:\n  NAME: 1\n"},
        {".github/workflows/a.yml": "jobs:\n  a:\n    steps:\n      - run: echo NAME=1 >> $GITHUB_ENV\n"},
        {"runners/launch_a.sh": "export NAME=1\n"},
        {"runners/launch_a.sh": "NAME=1 bash benchmarks/a.sh\n"},
        {"runners/launch_a.sh": "docker run -e NAME image\n"},
        {"runners/launch_a.sh": "srun --export=ALL,NAME=1 bash x\n"},
        {"configs/a.yaml": 'x: ["NAME=1"]\n'},
        {"benchmarks/a.py": 'print("NAME=1")\n'},
    ],
)
def test_who_gives_a_name(giver: dict[str, str]) -> None:
    assert unset({"benchmarks/a.sh": "serve $NAME\n", **giver}) == []


@pytest.mark.parametrize("text", ["serve $SLURM_JOB_ID $HOME", 'eval "$(python3 -c "print(\'NAME=1\')")"\nserve $NAME'])
def test_names_of_the_machine_and_of_computed_text(text: str) -> None:
    assert unset({"benchmarks/a.sh": text + "\n"}) == []


@pytest.mark.parametrize(
    ("name", "known", "closest"),
    [
        ("port", {"PORT"}, ("PORT", True)),
        ("EP_SZIE", {"EP_SIZE"}, ("EP_SIZE", False)),
        ("EPSIZE", {"EP_SIZE"}, ("EP_SIZE", False)),
        ("MODLE", {"MODEL"}, ("MODEL", False)),
        ("SERVER_LO", {"SERVER_LOG"}, ("SERVER_LOG", False)),
        ("NODE1", {"NODE2"}, ("", False)),
        ("TP", {"PP"}, ("", False)),
        ("RESULT", {"MODEL"}, ("", False)),
    ],
)
def test_the_closest_name(name: str, known: set[str], closest: tuple[str, bool]) -> None:
    assert closest_name(name, Spellings(known)) == closest


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("serve a\n  --flag\n", ["flag"]),
        ("serve a \\\n  --flag\n", []),
        ("serve a \\\n  # note\n  --flag\n", ["comment", "flag"]),
        ("serve a \\ \n--flag\n", ["blank", "flag"]),
        ("serve a\\\n--flag\n", ["joined"]),
        ('serve "a\\\nb"\n', []),
        ("TP = 8\n", ["assignment"]),
        ("TP= 8\n", ["assignment"]),
        ("IFS= read x\n", []),
        ("echo a\\\n", ["end-of-file"]),
        ("echo 'a\\'\n", []),
        ("serve\n> log 2>&1 &\n", ["redirection"]),
        ("check_env_vars A\nB_C\n", ["name"]),
        ("check_env_vars A\nserve\n", []),
        ("cat <<EOF\n--flag\nEOF\n", []),
    ],
)
def test_slips_of_lines(text: str, kinds: list[str]) -> None:
    found = scripts(one(text)).by_path["benchmarks/demo.sh"]
    assert [slip.kind for slip in slips(found)] == kinds


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("srun bash benchmarks/a.sh\nscancel 1\n", ["cleanup"]),
        ("set -e\nsrun bash benchmarks/a.sh\nscancel 1\n", []),
        ("#!/bin/bash -e\nsrun bash benchmarks/a.sh\nscancel 1\n", []),
        ("srun bash benchmarks/a.sh\nrc=$?\nscancel 1\nexit $rc\n", []),
        ('S=benchmarks/a.sh\nsrun bash "$S"\nrm -rf x\n', ["cleanup"]),
        ("srun bash benchmarks/a.sh | tee log\n", ["pipe"]),
        ("set -o pipefail\nsrun bash benchmarks/a.sh | tee log\n", []),
        ("srun bash benchmarks/a.sh || true\n", ["ignored"]),
        ("srun bash benchmarks/a.sh || exit 1\n", []),
        ("srun bash -c 'ls'\nscancel 1\n", []),
        ("trap 'rm x; exit 0' EXIT\n", ["trap"]),
        ("trap 'rc=$?; rm x; exit $rc' EXIT\n", []),
    ],
)
def test_masked_statuses(text: str, kinds: list[str]) -> None:
    found = scripts(one(text, "runners/launch_a.sh")).by_path["runners/launch_a.sh"]
    assert [status.kind for status in masked(found)] == kinds


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("vllm serve m", "on"),
        ("vllm serve m --no-enable-prefix-caching", "off"),
        ("A=(--no-enable-prefix-caching)\nvllm serve m ${A[@]}", "off"),
        ("A=()\nif x; then A=(--no-enable-prefix-caching); fi\nvllm serve m ${A[@]}", "sometimes"),
        ("vllm serve m $VLLM_EXTRA_ARGS", "unknown"),
        ("cat > c.yaml <<EOF\nno-enable-prefix-caching: true\nEOF\nvllm serve m --config c.yaml", "off"),
        ("python3 -m sglang.launch_server --disable-radix-cache", "off"),
        ("export SGLANG_RADIX_FORCE_MISS=1\nsglang serve", "off"),
        ("export SGLANG_RADIX_FORCE_MISS=0\nsglang serve", "on"),
        ("CMD=(numactl vllm serve m --no-enable-prefix-caching)\n${CMD[@]} &", "off"),
        ("docker run --entrypoint=vllm i serve m --no-enable-prefix-caching", "off"),
        ("trtllm-serve m", "unknown"),
    ],
)
def test_prefix_caching(text: str, state: str) -> None:
    made = one(text + "\n")
    assert [prefix_caching(made, server) for server in servers(made).servers()] == [state]


def test_the_flag_of_an_array_has_its_place() -> None:
    made = one('ARGS=(\n  --a\n  --enable-expert-parallel\n)\nvllm serve m "${ARGS[@]}"\n')
    server = next(servers(made).servers())
    token = server.flags()["--enable-expert-parallel"]
    assert (token.sure, token.via, server.facts.line(token.start)) == (True, "ARGS", 3)


@pytest.mark.parametrize(
    ("path", "text", "kind"),
    [
        ("benchmarks/single_node/agentic/a.sh", "vllm serve", "agentic"),
        ("benchmarks/single_node/a.sh", "run_benchmark_serving", "fixed"),
        ("benchmarks/multi_node/a.sh", "run_benchmark_serving", "multi"),
        ("benchmarks/single_node/study/a.sh", "vllm serve", "other"),
        ("launch_a.sh", "vllm serve", "fixed"),
    ],
)
def test_what_a_script_measures(path: str, text: str, kind: str) -> None:
    assert scenario(scripts(one(text + "\n", path)).by_path[path]) == kind


@pytest.mark.parametrize(
    ("text", "variables"),
    [
        ('if [ "$EP_SIZE" -ge 1 ]; then\n  A=1\nfi', ["EP_SIZE"]),
        ("if (( TP > 0 )); then\n  A=1\nfi", ["TP"]),
        ('if [ "$EP_SIZE" -gt 1 ]; then\n  A=1\nfi', []),
        ('if [ "$RETRIES" -ge 1 ]; then\n  A=1\nfi', []),
        ('if [ "$TP" -ge 1 ]; then\n  echo fine\n  exit 0\nfi', []),
        ('# if [ "$EP_SIZE" -ge 1 ]; then', []),
    ],
)
def test_guards_that_always_hold(text: str, variables: list[str]) -> None:
    found = scripts(one(text + "\n")).by_path["benchmarks/demo.sh"]
    assert [guard.variable for guard in size_guards(found)] == variables


def test_shellcheck_looks_at_changes_only() -> None:
    old = {"benchmarks/a.sh": "#!/bin/bash\nlocal x=1\n", "benchmarks/b.sh": "#!/bin/bash\nlocal x=1\n"}
    new = {**old, "benchmarks/a.sh": "#!/bin/bash\nlocal x=1\nlocal y=2\n"}
    assert [(found.path, found.code, found.span.line) for found in shell_findings(context(new, old))] == [
        ("benchmarks/a.sh", 2168, 3)
    ]
    assert shell_findings(context(new)) == []
    assert shell_findings(context(new, old, shellcheck="off")) == []
    assert len(shell_findings(context(new, shellcheck="all"))) == 3


def test_scripts_beyond_the_bounds_are_noted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("botlint.engine.analysis.scripts.MAX_SCRIPT", 100)
    monkeypatch.setattr("botlint.engine.analysis.scripts.MAX_TEXT", 150)
    files = {f"benchmarks/{name}.sh": "#" * size for name, size in (("a", 101), ("b", 90), ("c", 80), ("d", 70))}
    found = context(files)
    assert list(scripts(found).by_path) == ["benchmarks/c.sh", "benchmarks/d.sh"]
    assert [(note.kind, note.path) for note in found.notes] == [
        ("budget", "benchmarks/b.sh"),
        ("budget", "benchmarks/a.sh"),
    ]


def test_a_script_with_many_servers_takes_little_time() -> None:
    found = one('if [ "$A" ]; then python3 -m vllm serve --tp 8 "$MODEL"; fi\n' * 3_000)
    with within(4):
        assert sum(1 for _ in size_options(servers(found))) == 0
        assert {scenario(server.facts) for server in servers(found).servers()} == {"fixed"}

"""What is read from one script: names, commands, and how their status is used."""

from __future__ import annotations

import pytest

from botlint.documents.bash import parse_script
from botlint.engine.analysis.scripts_walk import ScriptFacts, walk


def facts(text: str, path: str = "benchmarks/demo.sh") -> ScriptFacts:
    return walk(parse_script(text, path), path)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ('vllm serve "$MODEL" --port=$PORT', [("MODEL", "argument"), ("PORT", "argument")]),
        ("X=$Y", [("Y", "value")]),
        ('[ "$TP" -gt 1 ]', [("TP", "test")]),
        ("[[ $TP == 8 ]]", [("TP", "test")]),
        ("case $TP in 8) ;; esac", [("TP", "test")]),
        ("echo $TP", [("TP", "print")]),
        ("serve $(( CONC * 10 ))", [("CONC", "arithmetic")]),
        ("(( TP > 1 ))", [("TP", "arithmetic")]),
        ('serve "${X:-$Y}"', [("X", "default"), ("Y", "fallback")]),
        ("serve ${#LIST[@]} ${!NAME}", [("LIST", "argument"), ("NAME", "argument")]),
        ('serve "$(cat "$FILE")"', [("FILE", "argument")]),
        ("cat <<EOF\n$TP\nEOF\n", [("TP", "print")]),
        ("cat <<'EOF'\n$TP\nEOF\n", []),
        ("serve '$TP' \\$TP", []),
        ("serve ${!PREFIX*}", []),
    ],
)
def test_reads(text: str, reads: list[tuple[str, str]]) -> None:
    assert [(read.name, read.use) for read in facts(text).reads] == reads


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("A=1 B=(1 2)", {"A", "B"}),
        ("export A=1 B", {"A", "B"}),
        ("local x y=1", {"x", "y"}),
        ("read -r a b <<< x", {"a", "b"}),
        ("mapfile -t lines < file", {"lines"}),
        ("for node in a b; do :; done", {"node"}),
        ("printf -v text '%s' x", {"text"}),
        ("while getopts ab opt; do :; done", {"opt"}),
        (": ${A:=1}", {"A"}),
        ("(( i = 1, j++ ))", {"i", "j"}),
        ("exec {lock}> file", {"lock"}),
        ("let n=1", {"n"}),
    ],
)
def test_names_that_get_a_value(text: str, names: set[str]) -> None:
    assert facts(text).names() >= names


def test_required_names() -> None:
    found = facts('check_env_vars \\\n  MODEL \\\n  TP\n: "${PORT:?}"\ncheck_disk A\n')
    assert set(found.required) == {"MODEL", "TP", "PORT"}
    assert found.line(found.required["TP"]) == 3


def test_tested_and_defaulted_names() -> None:
    found = facts('[ -n "$A" ] && x\n[[ -z $B ]]\n[[ -v C ]]\nserve "${D:-1}"\n')
    assert found.tested >= {"A", "B", "C"}
    assert found.defaulted == {"D"}


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("run", "plain"),
        ("run || true", "alternative"),
        ("run && x", "condition"),
        ("run | tee log", "piped"),
        ("if run; then :; fi", "condition"),
        ("run &", "background"),
        ("! run", "condition"),
    ],
)
def test_how_a_status_is_used(text: str, place: str) -> None:
    call = next(call for call in facts(text).calls if call.name == "run")
    assert call.place == place


def test_guards_and_functions() -> None:
    found = facts('f() {\n  if [ "$A" = 1 ]; then\n    run\n  fi\n}\n[ -f x ] && other\n')
    run = next(call for call in found.calls if call.name == "run")
    other = next(call for call in found.calls if call.name == "other")
    assert (run.function, run.guards) == ("f", ('[ "$A" = 1 ]',))
    assert (other.function, other.guards) == ("", ("[ -f x ]",))


def test_a_read_is_found_in_its_text() -> None:
    found = facts('serve \\\n  --model "$MODEL" \\\n  --port $PORT\n')
    span = found.find_read(found.reads[1])
    assert (span.line, span.column, span.end_column) == (3, 10, 15)


def test_a_read_in_a_here_document_has_its_place() -> None:
    found = facts("x\ncat <<EOF\nfirst\n  $TP\nEOF\n")
    assert found.find_read(found.reads[0]).line == 4


def test_what_follows_a_syntax_error_is_not_known() -> None:
    found = facts("A=1\nfi\nB=2\n")
    assert found.names() == {"A"}
    assert found.script.problem is not None

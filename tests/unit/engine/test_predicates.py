"""Expressions: typed when they are compiled, three-valued when they are evaluated."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from timing import within

from botlint.engine.predicates import MAX_MEMORY, ExpressionError, Meter, RuleFault, Vocabulary, compile_template
from botlint.engine.views.base import Fact

FACTS = {
    "job.tp": Fact("tp", "int", ""),
    "server.env": Fact("env", "map<string,string>", ""),
    "model.kv_heads": Fact("kv_heads", "int", ""),
    "server.names": Fact("names", "list<string>", ""),
}
WORDS = Vocabulary(FACTS)
NONE: dict[str, frozenset[str]] = {}


@pytest.mark.parametrize(
    ("text", "values", "unknown", "wanted"),
    [
        ("job.tp == 2", {"job.tp": 2}, NONE, True),
        ("job.tp == 2", {}, NONE, None),
        ("job.tp == 2 || true", {}, NONE, True),
        ("job.tp == 2 && false", {}, NONE, False),
        ("model.kv_heads % job.tp == 0", {"job.tp": 4}, NONE, None),
        ("server.env.?A.orValue('') == '1'", {"server.env": {}}, NONE, False),
        ("server.env.?A.orValue('') == '1'", {"server.env": {}}, {"server.env": frozenset({"A"})}, None),
        ("server.env.?A.orValue('') == '1'", {"server.env": {}}, {"server.env": frozenset({"B"})}, False),
        ("server.env['A'] == '1'", {"server.env": {}}, {"server.env": frozenset({"A"})}, None),
        ("'A' in server.env", {"server.env": {}}, {"server.env": frozenset({"A"})}, True),
        (
            "server.env.?A.orValue('') == '1' || job.tp > 1",
            {"server.env": {}, "job.tp": 2},
            {"server.env": frozenset({"A"})},
            True,
        ),
        ("server.env.A == '1'", {"server.env": {}}, NONE, None),
        ("server.names.exists(n, n == 'x')", {"server.names": ["x"]}, NONE, True),
        ("job.tp == 1 ? 'one' : 'more'", {"job.tp": 1}, NONE, "one"),
    ],
)
def test_evaluate(text: str, values: dict[str, object], unknown: dict[str, frozenset[str]], wanted: object) -> None:
    assert WORDS.compile(text).evaluate(values, unknown) == wanted


@pytest.mark.parametrize(
    ("text", "column", "part"),
    [
        ("job.tq == 1", 4, "undeclared reference"),
        ("job.tp == '1'", 8, "no matching overload"),
        ("server.env.A == 1", 14, "no matching overload"),
        ("job.tp ==", 10, "yntax error"),
        ("job.tp + 1", 1, "must be a bool"),
        ("'" + "x" * 5000 + "' == ''", 1, "longer than"),
    ],
)
def test_errors_have_their_place(text: str, column: int, part: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        WORDS.compile(text, "bool")
    assert (caught.value.line, caught.value.column) == (1, column)
    assert part in caught.value.message


def test_a_fault_is_not_an_unknown() -> None:
    with pytest.raises(RuleFault, match="divide by zero"):
        WORDS.compile("job.tp / 0 == 1").evaluate({"job.tp": 1}, NONE)


def test_a_rule_cannot_run_for_long() -> None:
    text = "server.names.all(a, server.names.all(b, server.names.all(c, a + b + c != '')))"
    with pytest.raises(RuleFault, match=r"(?i)budget"):
        WORDS.compile(text).evaluate({"server.names": [str(n) for n in range(300)]}, NONE)


BINDINGS = "".join(f"cel.bind({new}, {'+'.join(old * 10)}, " for old, new in pairwise("abcdefghijk"))
GROWS = [
    f"cel.bind(a, 'xxxxxxxxxx', {BINDINGS} k != '')" + ")" * 10,
    f"cel.bind(a, [1, 2, 3, 4, 5], {BINDINGS} size(k) > 1)" + ")" * 10,
    "'xxxxxxxxxx'" + ".replace('x', 'xxxxxxxxxx')" * 12 + " != ''",
]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system tells no process its size")
@pytest.mark.parametrize("text", GROWS)
def test_a_custom_rule_gets_little_memory(text: str) -> None:
    meter = Meter()
    with within(10), pytest.raises(RuleFault, match="MiB of memory"):
        WORDS.compile(text).measured_by(meter).evaluate({}, NONE)
    with pytest.raises(RuleFault, match="all of them may take"):
        WORDS.compile("true").measured_by(meter).evaluate({}, NONE)
    assert len("x" * (MAX_MEMORY * 2)) == MAX_MEMORY * 2  # the limit is gone


def test_custom_rules_get_little_time() -> None:
    meter = Meter(0.2)
    expression = WORDS.compile("server.names.all(a, server.names.all(b, a + b != ''))").measured_by(meter)
    values = {"server.names": [str(n) for n in range(90)]}
    with pytest.raises(RuleFault, match="all of them may take"):
        all(expression.evaluate(values, NONE) for _ in range(10_000))


@pytest.mark.parametrize("text", ["{optional.of(1)}", "{[optional.none()]}"])
def test_values_that_no_text_can_show(text: str) -> None:
    with pytest.raises(RuleFault, match="no value that a rule can use"):
        compile_template(text, WORDS.compile).render({}, NONE)


def test_a_long_text_is_cut() -> None:
    text = compile_template("x" * 3_000 + "{server.env['A']}", WORDS.compile).render(
        {"server.env": {"A": "y" * 9_000}}, NONE
    )
    assert text == "x" * 3_000 + "y" * 1_000 + "…"


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("tp {job.tp}", "tp 2"),
        ("{{literal}} {job.tp + 1}", "{literal} 3"),
        ("{server.env.?A.orValue('}')}", "}"),
        ("{model.kv_heads} heads", "? heads"),
        ("{job.tp == 2}", "true"),
        ("", ""),
    ],
)
def test_templates(text: str, wanted: str) -> None:
    template = compile_template(text, WORDS.compile)
    assert template.render({"job.tp": 2, "server.env": {}}, NONE) == wanted


def test_a_template_says_where_it_is_wrong() -> None:
    with pytest.raises(ExpressionError) as caught:
        compile_template("first line\nand {job.tq}", WORDS.compile)
    assert (caught.value.line, caught.value.column) == (2, 6)

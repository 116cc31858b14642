"""The expression language of GitHub workflows: values, coercions, what is not known, what is refused."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from timing import within

from botlint.core.span import Span
from botlint.core.unknown import Unknown
from botlint.documents.expressions import (
    MAX_DEPTH,
    MAX_LENGTH,
    Context,
    Expression,
    Failure,
    Partial,
    SyntaxProblem,
    compile_condition,
    compile_expression,
    compile_template,
    parse_number,
    to_json,
    to_text,
)

CONTEXTS: dict[str, Any] = {
    "inputs": {"tp": "8", "flag": True, "off": False, "Mixed-Case": "yes", "none": None, "number": 4},
    "matrix": {
        "config": {
            "tp": 4,
            "dp-attn": False,
            "conc": [1, 2, 4],
            "backend": {"name": "cache", "version": "1.2"},
            "prefill": {"num-worker": 2, "settings": ["A=1", "B=2"]},
            "rows": [{"n": 1}, {"n": 2, "tags": ["x", "y"]}, {"other": 3}],
        }
    },
    "github": Context("github", {"event": Context("github.event", {"labels": [{"name": "Full"}, {"name": "fast"}]})}),
    "env": {"WORD": "text", "EMPTY": ""},
    "runner": {"name": Partial(("gpu_", Unknown("index")))},
}


def evaluate(text: str) -> Any:
    expression = compile_expression(text)
    assert isinstance(expression, Expression), expression
    return expression.evaluate(CONTEXTS)


def span_of(start: int, end: int) -> Span:
    return Span("w.yml", 1, start + 1, 1, end + 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("711", 711),
        ("-9.2", -9.2),
        ("0xff", 255),
        ("0o17", 15),
        ("-2.99e-2", -0.0299),
        (".5", 0.5),
        ("+3", 3),
        ("Infinity", math.inf),
        ("-Infinity", -math.inf),
        ("'It''s open source!'", "It's open source!"),
        ("''", ""),
        (" ( 'x' ) ", "x"),
    ],
)
def test_literals(text: str, value: Any) -> None:
    result = evaluate(text)
    assert result == value
    assert type(result) is type(value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("matrix.config.tp", 4),
        ("matrix.config['tp']", 4),
        ("MATRIX.Config.TP", 4),
        ("inputs.mixed-case", "yes"),
        ("matrix.config.conc[0]", 1),
        ("matrix.config.conc['1']", 2),
        ("matrix.config.conc[1.9]", 2),
        ("matrix.config.conc[9]", None),
        ("matrix.config.conc[-1]", None),
        ("matrix.config.missing.deeper[0].x", None),
        ("matrix.config.tp.x", None),
        ("inputs[format('t{0}', 'p')]", "8"),
        ("matrix.config.backend.*", ["cache", "1.2"]),
        ("matrix.config.rows.*.n", [1, 2]),
        ("matrix.config.rows[*].n", [1, 2]),
        ("matrix.config.rows.*.tags.*", ["x", "y"]),
        ("matrix.config.rows.*.tags[1]", ["y"]),
        ("matrix.config.tp.*", []),
        ('fromJson(\'[[{"a": 1}], [{"a": 2}]]\').*.*.a', [1, 2]),
    ],
)
def test_properties(text: str, value: Any) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 == 1.0", True),
        ("1 == '1'", True),
        ("'1.0' == 1", True),
        ("'0x10' == 16", True),
        ("'' == 0", True),
        ("' ' == 0", True),
        ("null == 0", True),
        ("null == ''", True),
        ("null == false", True),
        ("true == 1", True),
        ("true == 'true'", False),
        ("false == 'false'", False),
        ("true == '1'", True),
        ("'x' == 0", False),
        ("'x' != 0", True),
        ("NaN == NaN", False),
        ("NaN != NaN", True),
        ("'ABC' == 'abc'", True),
        ("'straße' == 'STRASSE'", False),
        ("'b' > 'A'", True),
        ("'_' > 'a'", True),
        ("2 < 10", True),
        ("'2' < '10'", False),
        ("'2' < 10", True),
        ("true > false", True),
        ("null <= 0", True),
        ("'x' >= 0", False),
        ("matrix.config.conc == matrix.config.conc", True),
        ("matrix.config.conc == fromJson('[1, 2, 4]')", False),
        ("matrix.config.backend == 'Object'", False),
        ("matrix.config.backend == null", False),
        ("!''", True),
        ("!'false'", False),
        ("!NaN", True),
        ("!matrix.config.missing", True),
        ("!matrix.config.conc", False),
        ("!!'x'", True),
    ],
)
def test_comparison_and_not(text: str, value: bool) -> None:
    assert evaluate(text) is value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("'a' && 'b'", "b"),
        ("'' && 'b'", ""),
        ("0 || ''", ""),
        ("'a' || 'b'", "a"),
        ("null || false || 'x' || 'y'", "x"),
        ("true && 0 || 'other'", "other"),
        ("inputs.flag && '1' || '0'", "1"),
        ("inputs.off && '1' || '0'", "0"),
        ("false && true || true", True),
        ("true || true && false", True),
        ("1 < 2 == true", True),
        ("!false && false", False),
        (
            "matrix.config.backend && toJson(matrix.config.backend) || ''",
            '{\n  "name": "cache",\n  "version": "1.2"\n}',
        ),
        ("matrix.config.router && toJson(matrix.config.router) || ''", ""),
    ],
)
def test_logic_returns_values(text: str, value: Any) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("contains('Hello world', 'LLO')", True),
        ("contains('Hello', '')", True),
        ("contains(null, 'x')", False),
        ("contains(123, 2)", True),
        ("contains(matrix.config.conc, '4')", True),
        ("contains(matrix.config.conc, 3)", False),
        ("contains(matrix.config.backend, 'name')", False),
        ("contains(github.event.labels.*.name, 'full')", True),
        ("contains('x', matrix.config.conc)", False),
        ("startsWith('Hello', 'he')", True),
        ("endsWith('Hello', 'LO')", True),
        ("STARTSWITH(12, 1)", True),
        ("startsWith(matrix.config.conc, 'A')", False),
        ("format('{0} {1} {0}', 'a', 1)", "a 1 a"),
        ("format('{{0}} {0}', true)", "{0} true"),
        ("format('plain')", "plain"),
        ("format('{0}|{1}|{2}', null, matrix.config.conc, matrix.config.backend)", "|Array|Object"),
        ("join(matrix.config.conc, ' ')", "1 2 4"),
        ("join(matrix.config.conc)", "1,2,4"),
        ("join('x', ' ')", "x"),
        ("join(fromJson('[]'), ' ')", ""),
        ("join(matrix.config.backend)", ""),
        ("join(fromJson('[true, null, 1.50, {}]'), '-')", "true--1.5-Object"),
        ("join(fromJson('[\"A=1\", \"B=2\"]'), ' ')", "A=1 B=2"),
        ('fromJson(\'{"a": [1, {"b": null}]}\').a[1].b', None),
        ("fromJson(' 12 ')", 12),
        ("fromJson('\"x\"')", "x"),
        ("always()", True),
        ("success() && !failure() && !cancelled()", True),
        ("case(false, 1, true, 2, 3)", 2),
        ("case(false, 1, 3)", 3),
        ("toJson('a\"b\\c')", '"a\\"b\\\\c"'),
        ("toJson(null)", "null"),
    ],
)
def test_functions(text: str, value: Any) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.0, "1"),
        ("é\t\u2028\x1f", '"é\\t\\u2028\\u001f"'),
        ([], "[]"),
        ({}, "{}"),
        ([1, "a", []], '[\n  1,\n  "a",\n  []\n]'),
        (
            {"name": "x", "list": [{"a": 1}, {}], "n": None},
            '{\n  "name": "x",\n  "list": [\n    {\n      "a": 1\n    },\n    {}\n  ],\n  "n": null\n}',
        ),
    ],
)
def test_json_layout(value: Any, text: str) -> None:
    assert to_json(value) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        (True, "true"),
        (1, "1"),
        (1.0, "1"),
        (0.8, "0.8"),
        (0.1 + 0.2, "0.3"),
        (123456789012345, "123456789012345"),
        (1234567890123456, "1.23456789012346E+15"),
        (1e-5, "1E-05"),
        (0.0001, "0.0001"),
        (-math.inf, "-Infinity"),
        (10**400, "Infinity"),
        ({"a": 1}, "Object"),
        ([1], "Array"),
        ("text", "text"),
    ],
)
def test_text_of_values(value: Any, text: str) -> None:
    assert to_text(value) == text


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("", 0),
        (" 12 ", 12),
        ("1e3", 1000),
        ("0o10", 8),
        ("0xffffffff", -1),
        ("Infinity", math.inf),
        (".5", 0.5),
        ("5.", 5),
    ],
)
def test_numbers_from_strings(text: str, number: float) -> None:
    assert parse_number(text) == number


@pytest.mark.parametrize("text", ["x", "1x", "1,000", "0b1", "+Infinity", "١", "1e", "0x", "0x123456789"])
def test_not_a_number(text: str) -> None:
    assert math.isnan(parse_number(text))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("secrets.TOKEN", Unknown("secrets.TOKEN")),
        ("github.sha", Unknown("github.sha")),
        ("github.event.number", Unknown("github.event.number")),
        ("github.event.a.*.b", Unknown("github.event.a.*.b")),
        ("needs.setup.outputs['x-y']", Unknown("needs.setup.outputs.x-y")),
        ("github.sha == 'x'", Unknown("github.sha")),
        ("github.sha && 'a' || 'b'", Unknown("github.sha")),
        ("github.sha == 'x' && false", False),
        ("github.sha && false", Unknown("github.sha")),
        ("github.sha == 'x' || true", True),
        ("false && github.sha", False),
        ("'a' || github.sha", "a"),
        ("(github.sha && '') || 'b'", "b"),
        ("!(github.sha && false)", True),
        ("contains(github.event.labels.*.name, github.sha)", Unknown("github.sha")),
        ("fromJson(needs.a.outputs.b).x['y']", Unknown("fromJSON(needs.a.outputs.b).x.y")),
        ("format('p-{0}', github.sha)", Partial(("p-", Unknown("github.sha")))),
        ('join(fromJson(\'["a", "b"]\'), github.sha)', Partial(("a", Unknown("github.sha"), "b"))),
        ("toJson(github)", Unknown("toJSON(github)")),
        ("hashFiles('**/lock')", Unknown("hashFiles(**/lock)")),
        ("runner.name == 'cpu_1'", False),
        ("runner.name == 'gpu_1'", Unknown("index")),
        ("startsWith(runner.name, 'GPU_')", True),
        ("startsWith(runner.name, 'gpu_1')", Unknown("the rest of a partly known text")),
        ("runner.name && 'yes'", "yes"),
        ("runner.name == ''", False),
    ],
)
def test_what_is_not_known(text: str, value: Any) -> None:
    assert evaluate(text) == value


@pytest.mark.parametrize(
    "text",
    ["fromJson('')", "fromJson('{')", "format('{1}', 'a')", "format('{x}')", "format('}')", "case('x', 1, 2)"],
)
def test_failures_are_values(text: str) -> None:
    assert isinstance(evaluate(text), Failure)


@pytest.mark.parametrize(
    ("text", "message", "at"),
    [
        ("", "empty", 0),
        ("  ", "empty", 0),
        ("inputs.", "end of the expression", 7),
        ('"x"', "single quotes", 0),
        ("'x", "not closed", 0),
        ("runer.name", "unknown context 'runer'", 0),
        ("TRUE", "unknown context 'TRUE'", 0),
        ("1 + 1", "unexpected '+'", 2),
        ("a == ", "unknown context 'a'", 0),
        ("inputs.a ==", "end of the expression", 11),
        ("inputs.a inputs.b", "unexpected 'inputs'", 9),
        ("split('a')", "unknown function", 0),
        ("contains('a')", "number of arguments", 0),
        ("case(true, 1)", "case takes pairs", 0),
        ("(1", "end of the expression", 2),
        ("1x", "not a number", 0),
        ("inputs[*", "end of the expression", 8),
        ("&& true", "unexpected '&&'", 0),
        ("'a' 'b'", "unexpected", 4),
    ],
)
def test_syntax_problems(text: str, message: str, at: int) -> None:
    problem = compile_expression(text)
    assert isinstance(problem, SyntaxProblem)
    assert message in problem.message
    assert problem.start == at


def test_bounds() -> None:
    deep = "(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1)
    for text in (deep, "!" * 5000 + "1", "inputs" + ".a" * 5000, "1 " + "|| 1 " * MAX_LENGTH):
        assert isinstance(compile_expression(text), SyntaxProblem)
    assert evaluate("true && " * 1000 + "'x'") == "x"
    grow = "format('" + "{0}" * 60 + "', 'aaaaaaaaaa')"
    for _ in range(4):
        grow = "format('" + "{0}" * 60 + f"', {grow})"
    assert isinstance(evaluate(grow), Failure)
    assert isinstance(evaluate(grow.replace("'aaaaaaaaaa'", "github.sha")), Failure)
    assert isinstance(evaluate("fromJson('" + "[" * 20_000 + "')"), Failure)
    nested: list[Any] = []
    for _ in range(500):
        nested = [nested]
    assert isinstance(to_json(nested), Failure)


def test_static_references() -> None:
    expression = compile_expression("inputs.a && matrix.config['b'].c[inputs.d] || toJson(env.E).*.f")
    assert isinstance(expression, Expression)
    assert expression.references == (
        ("inputs", "a"),
        ("matrix", "config", "b", "c"),
        ("inputs", "d"),
        ("env", "E"),
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("plain", "plain"),
        ("${{ matrix.config.tp }}", "4"),
        ("tp${{ matrix.config.tp }}-${{ inputs.tp }}", "tp4-8"),
        ("${{ 'a}}b' }}!", "a}}b!"),
        ("${{ matrix.config.missing }}", ""),
        ("${{ matrix.config.missing }}${{ inputs.none }}", ""),
        ("a-${{ secrets.X }}-b", Partial(("a-", Unknown("secrets.X"), "-b"))),
        ("${{ secrets.X }}", Unknown("secrets.X")),
        ("${{ runner.name }}_${{ inputs.tp }}", Partial(("gpu_", Unknown("index"), "_8"))),
        ("$ {{ x }} }} {", "$ {{ x }} }} {"),
    ],
)
def test_templates(text: str, value: Any) -> None:
    template = compile_template(text, span_of)
    assert not template.problems
    assert template.text(CONTEXTS) == value


def test_a_single_expression_keeps_its_value() -> None:
    template = compile_template("${{ matrix.config.conc }}", span_of)
    assert template.evaluate(CONTEXTS) == [1, 2, 4]
    assert template.single is not None
    assert compile_template(" ${{ 1 }}", span_of).single is None


def test_a_broken_expression_is_a_problem_in_its_place() -> None:
    template = compile_template("x-${{ inputs.tp }}-${{ runer.name }}-y", span_of)
    (problem,) = template.problems
    assert problem.kind == "expression"
    assert "unknown context 'runer'" in problem.message
    assert (problem.span.column, problem.span.end_column) == (24, 29)
    assert template.text(CONTEXTS) == Failure("unknown context 'runer'")
    (unclosed,) = compile_template("${{ 'a }} b", span_of).problems
    assert "not closed" in unclosed.message


@pytest.mark.parametrize(
    ("text", "truth"),
    [
        ("inputs.flag", True),
        ("${{ inputs.off }}", False),
        ("${{ inputs.off }} && ${{ inputs.off }}", True),
        ("always() && github.sha == 'x'", None),
    ],
)
def test_conditions(text: str, truth: bool | None) -> None:
    template = compile_condition(text, span_of)
    if template.single is not None:
        assert template.single.truth(CONTEXTS) is truth
    else:
        assert bool(template.text(CONTEXTS)) is truth


def test_position_in_a_bare_condition() -> None:
    (problem,) = compile_condition("!runer.x", span_of).problems
    assert problem.span.column == 2


@given(st.text(alphabet="'ab.[]()!&|=<>0x1*,{}$ \n-_\"", max_size=60))
def test_nothing_raises(text: str) -> None:
    template = compile_template("${{" + text + "}}" + text, span_of)
    template.text(CONTEXTS)
    for expression in template.expressions:
        expression.truth(CONTEXTS)


def test_speed_of_the_common_expression() -> None:
    template = compile_template("${{ matrix.config.tp }}", span_of)
    with within(0.5):
        for _ in range(10_000):
            template.evaluate(CONTEXTS)

"""Arithmetic compared with real bash, and its bounds."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from real_tools import expect_same, lines, run_scripts, words
from timing import within

from botlint.shell.arithmetic import (
    ArithmeticError_,
    Assign,
    Binary,
    Num,
    Var,
    apply_binary,
    apply_unary,
    evaluate,
    parse_arithmetic,
    variables,
)

CASES = lines("""
1+2*3
-2**2
2**3**2
010
0x1F
16#ff
64#_
36#Z
37#Z
08
1/0
1%0
7/-2
-7%3
-7/2
9223372036854775807+1
-9223372036854775808/-1
9223372036854775808
1<<63
1<<64
1>>65
-1>>1
!5
!!5
~5
a=5,a+1
a=b=3,a*b
a+=2
a++ + ++a
+++a
a+++b
a--
--a
- -5
--5
5++3
5++
1?2:3
0?2:3
1?2
1?:3
1?2:
1 ? 2 : 3 ? 4 : 5
1?0?7:8:9
1+
*3
1.5
a b
1 2
x = 5
5=x
(a)=3
1+a=5
a?b:c=3
1,2,3
3>2>1
3&1
6^3
6|1
1&&0||1
0&&(a=9),a
1||(a=9),a
2**-1
2#12
65#1
1#1
10#
10#08
0x
1==1==1
a=1?5:6
k
k[1]
k[1]=4,k[1]
k[a-2]
n
n*2
deep
+5
+-+5
! 0
~~5
a<<=2
a%=0
a/=0
u
u+1
x++ + x
++x + ++x
(((5)))
5 % 3 * 2
2 * 3 % 4
1 << 2 + 1

a ++
++ a
-a**2
1-1-1
2**0
0**0
@
1@
,
,1
()
a[
1 +	2
5 - -3
a=(1,2),a
a = b += 2
1<2==1
7&3==3
~0
-1 >>1
2 ** 63
3 ** 50
""")
SETUP = "a=3; b=-4; c=100; n='a+1'; deep=n; k=(5 6 7)"


def check(cases: list[str]) -> None:
    scripts = [
        f"{SETUP}; E={shlex.quote(case)}; exec 2>&1; eval 'r=$(( '\"$E\"' ))'; echo \"$r a=$a b=$b\"" for case in cases
    ]
    real = [output for _, output in run_scripts(scripts)]
    ours = [outcome(case) for case in cases]
    # An error is compared by its words: bash also shows the place.
    shown = [
        mine if mine.startswith("error: ") and f"{mine[7:]} (error token" in text else text
        for mine, text in zip(ours, real, strict=True)
    ]
    expect_same(cases, ours, shown)


def outcome(case: str) -> str:
    values = {"a": "3", "b": "-4", "c": "100", "n": "a+1", "deep": "n"}
    items = {0: "5", 1: "6", 2: "7"}

    def get(name: str, index: str | None) -> str:
        if name != "k":
            return values.get(name, "")
        return items.get(evaluate(parse_arithmetic(index or "0"), get, put), "")

    def put(name: str, index: str | None, value: int) -> None:
        if name == "k":
            items[evaluate(parse_arithmetic(index or "0"), get, put)] = str(value)
        else:
            values[name] = str(value)

    try:
        result = evaluate(parse_arithmetic(case), get, put)
    except ArithmeticError_ as error:
        return f"error: {error}"
    return f"{result} a={values['a']} b={values['b']}\n"


def test_expressions_as_in_bash() -> None:
    check(CASES)


_leaves = st.sampled_from(
    ["0", "1", "7", "010", "0x1f", "9223372036854775807", "a", "b", "c", "n", "3#21", "u", "a++", "--b"]
)
_binary = words("+ - * / % << >> < <= > >= == != & ^ | && || ,")
_expressions = st.recursive(
    _leaves,
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(_binary), inner).map(" ".join),
        st.tuples(st.sampled_from(["- ", "+ ", "~", "!"]), inner).map("".join),
        inner.map(lambda text: f"({text})"),
        st.tuples(inner, inner, inner).map(lambda parts: f"({parts[0]} ? {parts[1]} : {parts[2]})"),
        st.tuples(st.sampled_from(["=", "+=", "-=", "*=", "|=", "<<="]), inner).map(
            lambda parts: f"(a{parts[0]}{parts[1]})"
        ),
        inner.map(lambda text: f"({text}) ** 3"),
    ),
    max_leaves=8,
)


@given(st.lists(_expressions, min_size=80, max_size=80))
@settings(max_examples=5, deadline=None, derandomize=True, phases=[Phase.generate])
def test_random_expressions_as_in_bash(cases: list[str]) -> None:
    check(cases)


def test_nodes() -> None:
    assert parse_arithmetic("x[i+1] += 2") == Assign(Var("x", "i+1"), "+=", Num(2))
    assert parse_arithmetic("a*2") == Binary("*", Var("a"), Num(2))
    assert parse_arithmetic("") == Num(0)
    assert variables(parse_arithmetic("a = b ? c++ : -d, e && 1")) == {"a", "b", "c", "d", "e"}
    assert apply_unary("!", 0) == 1
    assert apply_binary("<<", 1, 63) == -(1 << 63)


@pytest.mark.parametrize(
    "text", ["(" * 1_000, "1" + "+1" * 6_000, "- " * 4_000 + "1", "1?" * 500, "a=" * 500 + "1", "2**" * 500 + "1"]
)
def test_oversized_expressions_end(text: str) -> None:
    with within(1), pytest.raises(ArithmeticError_):
        evaluate(parse_arithmetic(text), lambda name, index: "", lambda name, index, value: None)


@pytest.mark.parametrize(
    "values", [{"a": "a"}, {"a": "b+b", "b": "a+a"}, {"a": "b+b+b", "b": "c+c+c", "c": "d*d*d", "d": "a"}]
)
def test_values_that_mention_themselves_end(values: dict[str, str]) -> None:
    with pytest.raises(ArithmeticError_, match="recursion level exceeded"):
        evaluate(parse_arithmetic("a"), lambda name, index: values[name], lambda name, index, value: None)

"""Brace expansion compared with real bash, on pieces, and its bounds."""

from __future__ import annotations

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from real_tools import expect_same, run_scripts, words
from timing import within

from botlint.shell.braces import BraceError, expand_braces

CASES = words("""
{a,b} {1..5} {1..10..2} {a..e} {01..10} x{a,b}y{c,d}z {a,{b,c}d,e} {} {a} {a,} {,a} {,} {a,b a,b} {a{b,c}} a{b{c,d}
{a}b,c} {1..} {..1} {1..2..} {5..1} {5..1..2} {1..5..-2} {-3..3} {-03..3} {a..z..5} {z..a..5} {a..1} {1..a}
{1..2..x} {1..2}{a,b} {1..3}x{ {}{a,b} {{a,b},{c,d}} {a..c}{1..2} {A..C} {1..1} {0..0..0} {1,2..4} {x{a,b}..y}
{a,b}} {{a,b} {,,} {a,,b} x{}y{a,b} {+1..3} {1..+3} {001..3} {1..003} {-1..-003} {Y..b} {a.b,c} {1...3} {1.5..3}
{{1..3},x} {aa..b} {a..bb} plain --tp={1,2,4} {{{a,b}}}
""")


def check(cases: list[str]) -> None:
    results = run_scripts([f"set -f; printf '<%s>' x{case}" for case in cases])
    ours = ["".join(f"<{''.join(map(str, word))}>" for word in expand_braces([f"x{case}"])) for case in cases]
    expect_same(cases, ours, [output for _, output in results])


def test_braces_as_in_bash() -> None:
    check([case for case in CASES if "Y.." not in case])


def test_backslash_between_the_cases_goes_away() -> None:
    assert expand_braces(["{Y..b}"])[3:5] == [[], ["]"]]


@given(
    st.lists(
        st.lists(st.sampled_from(["{", "{", "}", "}", ",", ",", "a", "1", "..", "03"]), min_size=2, max_size=12).map(
            "".join
        ),
        min_size=100,
        max_size=100,
    )
)
@settings(max_examples=5, deadline=None, derandomize=True, phases=[Phase.generate])
def test_random_braces_as_in_bash(cases: list[str]) -> None:
    check(cases)


def test_opaque_pieces_take_no_part() -> None:
    quoted = 7
    assert expand_braces(["{a,", quoted, "b}"]) == [["a"], [quoted, "b"]]
    assert expand_braces(["{", quoted, "}"]) == [["{", quoted, "}"]]
    assert expand_braces([quoted, "{1..2}", quoted]) == [[quoted, "1", quoted], [quoted, "2", quoted]]
    assert expand_braces(["{1..", quoted, "}"]) == [["{1..", quoted, "}"]]
    assert expand_braces([quoted]) == [[quoted]]
    assert expand_braces([]) == [[]]


@pytest.mark.parametrize(
    "text",
    [
        "{1..999999999}",
        "{1..200}{1..200}",
        "{a,b}" * 40,
        "{" * 5_000,
        "{a," * 200 + "}" * 200,
        "{a..z}" * 6,
        "{1..99999}" * 3,
    ],
)
def test_oversized_braces_end(text: str) -> None:
    with within(1), pytest.raises(BraceError):
        expand_braces([text])

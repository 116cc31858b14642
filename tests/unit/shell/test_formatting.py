"""printf, echo and quoting compared with real bash."""

from __future__ import annotations

import re
import shlex

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from real_tools import expect_same, run_scripts, words
from timing import within

from botlint.shell.formatting import (
    ansi_c_unquote,
    bash_printf,
    declare_form,
    echo_escapes,
    quote_at_Q,
    shell_quote,
)

ARGUMENTS = [
    "",
    "a",
    "12",
    "-7",
    "010",
    "0x1f",
    "12abc",
    "abc",
    "'a",
    "3.14159",
    "1e3",
    ".5",
    "-0",
    "hello world",
    "a'b",
    "\\n",
    "a\\tb\\c d",
    "x\\0101y",
    'it\'s $x "q"',
    "2.675",
    "1.005",
    "123456",
    "1234567",
    "0.0001",
    "0.00001",
    "inf",
    "-nan",
    "~",
    "#x",
    "a=~b",
    "a\nb",
    "é",
    "\x1b[0m",
    "\x7f",
    "*?[]",
    "{a,b}",
    "+5",
    " 7",
    "1e-5",
    "0x1p4",
    "9223372036854775807",
    "'",
    '"é',
    "-9223372036854775808",
    "08",
    "0x",
    "1.5.2",
    "\\",
    "\\'",
    "99999999999.5",
    "0.1",
    "1e100",
]
FORMATS = words(r"""
%s %d %i %u %x %X %o %f %e %g %c %b %q %% %5s %-5s| %05d %+d %#x %#o %.2f %.0f %10.3e %G %.3s %-10q| %.5d %8.3d \n
\t \x41 \101 \0101 \u00e9 \\ \q \" \' \? \c x %ld %hd %#g %#.0f %+.1f %010.2f %-010d| %.0d %.0e %E %y % \8 \x %.1b
%6b| %Q %.2q %.f %3c| %.20f %+.3e %'d %zd
""")
STARRED = [("%*d", "5"), ("%-*s|", "6"), ("%.*f", "1"), ("%*.*f", "8"), ("%*s|", "-4"), ("%.*d", "-1")]


def check(cases: list[tuple[str, list[str]]]) -> None:
    scripts = [f"printf -- {shlex.quote(form)} {' '.join(map(shlex.quote, args))}" for form, args in cases]
    printed = [bash_printf(form, args) for form, args in cases]
    ours = [None if result is None else (result.status, result.text) for result in printed]
    expect_same(cases, ours, run_scripts(scripts))


def test_printf_as_in_bash() -> None:
    check([(f"{form}|", [argument]) for form in FORMATS for argument in ARGUMENTS])


def test_printf_counts_as_in_bash() -> None:
    check([(form, [star, "3", "12.5"]) for form, star in STARRED])
    check([("%s-%s\n", ["a", "b", "c"]), ("%s", []), ("%d %s|", []), ("x", ["a"]), ("%%", ["a", "b"]), ("", ["a"])])
    check([("%d,", ["1", "2", "x", "4"]), ("[%b]", ["a\\c", "b"]), ("a %y b", ["1"]), ("%s %", ["1"]), ("%5%|", ["1"])])


_formats = st.lists(st.sampled_from([*FORMATS, " "]), min_size=1, max_size=4).map("".join)


@given(st.lists(st.tuples(_formats, st.lists(st.sampled_from(ARGUMENTS), max_size=4)), min_size=100, max_size=100))
@settings(max_examples=4, deadline=None, derandomize=True, phases=[Phase.generate])
def test_random_printf_as_in_bash(cases: list[tuple[str, list[str]]]) -> None:
    check(cases)


@pytest.mark.parametrize("form", ["%(%Y)T", "%n", "%a", "%9999999d", "%.9999999f", "%.5000f", "%1048576s%1048576s"])
def test_printf_that_is_not_known(form: str) -> None:
    assert bash_printf(form, ["1", "2"]) is None


@pytest.mark.parametrize("argument", ["1e99999", "1e-99999", "9" * 5_000, "0x" + "f" * 5_000, "1e400", "9" * 100])
def test_printf_of_huge_numbers_ends(argument: str) -> None:
    with within(1):
        for form in ("%f", "%d", "%g", "%.900e"):
            bash_printf(form, [argument])


ESCAPED = [
    *ARGUMENTS,
    "\\x41\\x",
    "\\1",
    "\\01",
    "\\0",
    "\\07777",
    "\\u41",
    "\\u",
    "\\U1F600",
    "\\e",
    "\\E[",
    "\\'",
    '\\"',
    "\\?",
    "\\cA",
    "x\\cy",
    "\\\\",
    "\\xc3\\xa9",
    "\\ca",
    "\\c?",
    "\\c\\\\x",
    "\\x{41}",
    "\\777",
    "\\z",
    "\\a\\b\\f\\v\\r",
]


def test_echo_escapes_as_in_bash() -> None:
    for text, (_, output) in zip(
        ESCAPED, run_scripts([f"echo -ne {shlex.quote(text)}" for text in ESCAPED]), strict=True
    ):
        assert (text, echo_escapes(text)[0]) == (text, output)
    assert echo_escapes("a\\cb") == ("a", True)


def test_dollar_quotes_as_in_bash() -> None:
    cases = [text for text in ESCAPED if "'" not in text.replace("\\'", "") and not re.search(r"(?<!\\)\\$", text)]
    for text, (_, output) in zip(cases, run_scripts([f"printf %s $'{text}'" for text in cases]), strict=True):
        assert (text, ansi_c_unquote(text)) == (text, output)


def test_quoting_as_in_bash() -> None:
    texts = [*ESCAPED, *(chr(code) * 2 + "a" + chr(code) for code in range(1, 128) if code not in (0x1D, 0x1E))]
    texts += ["a:~b", "a=~", "~a", "a~b", "a#b", "\u00a0", "\u2028", "日本"]
    script = 'x={}; printf "%s\\037%q\\037%s\\037" "${{x@Q}}" "$x" "$(declare -p x)"'
    for text, (_, output) in zip(texts, run_scripts([script.format(shlex.quote(text)) for text in texts]), strict=True):
        if "\x1f" in text:
            continue
        ours = [quote_at_Q(text), shell_quote(text), declare_form("x", "", text)]
        assert (text, ours) == (text, output.split("\x1f")[:-1])


KEYS = [
    "a",
    "a b",
    "a:b",
    "a=b",
    "a/b",
    "~a",
    "#a",
    "a#b",
    "a~",
    "a,b",
    "a+b",
    "a-b",
    "a@b",
    "@",
    "*",
    "a'",
    "$x",
    "{}",
    "a:~b",
    "a;b",
    "a!",
    "^",
    "a%b",
    "a.b",
    "a\nb",
    "[x",
]


def test_declare_as_in_bash() -> None:
    scripts = [f"declare -A m=([{shlex.quote(key)}]='v w'); declare -p m" for key in KEYS]
    for key, (_, output) in zip(KEYS, run_scripts(scripts), strict=True):
        assert (key, declare_form("m", "A", {key: "v w"}) + "\n") == (key, output)
    forms: list[tuple[str, str]] = [
        ("x=(1 'b c' '$d'); declare -p x", declare_form("x", "a", {0: "1", 1: "b c", 2: "$d"})),
        ("x=(); declare -p x", declare_form("x", "a", {})),
        ("declare -a x; declare -p x", declare_form("x", "a", None)),
        ("declare -rx y=1; declare -p y", declare_form("y", "rx", "1")),
        ("declare -i z=5; declare -p z", declare_form("z", "i", "5")),
    ]
    for (_, ours), (_, output) in zip(forms, run_scripts([script for script, _ in forms]), strict=True):
        assert ours + "\n" == output

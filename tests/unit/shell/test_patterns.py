"""Patterns and expressions compared with real bash, and their bounds."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from real_tools import run_scripts, words
from timing import within

from botlint.shell import patterns
from botlint.shell.patterns import PatternError

PATTERNS = [
    "",
    *words(r"""
* ? a* *a a?c [abc] [!a]* [^a] []a] [!]a] [a-c]* [c-a] [a-] [-a] [a a] [ [[:digit:]] [[:alpha:]]* [[:upper:]x]
[![:space:]] [[:nope:]] [[.a.]] \* \a a\\ \ [\]a] [a\-c] ** *a*b* a**b ?(a) *(a) +(a) @(a|b) !(a) !(a|b)c *(a|bc)
+([0-9]) @(a @(a| !(*a) !(*) ?(a|b)?(c) a@(b|)c *(ab|*(c)) +(!(a)) x|y (a) a) *.yaml */ /* */* --* *[0-9]
@(vllm|sglang)* *(*(*(a)))b [a-c][!a-c] *(?) @(@(a|b)|c) [*] [?]a \[a] [!] [] [a]b] a*(b)c !(a)b !(ab)* ?*(b)
"""),
]
TEXTS = [
    "",
    " ",
    "a b",
    *words(r"""
a b c ab abc aXbYc ] [ [a - * \ a\ aa aab 0 123 a1 A x x|y (a) a) a.yaml dir/a.yaml /x/y/z --flag vllm-0 sglang @(a
@(a| ac bc abab [] [a] [!] a]b] ]b] ?a
"""),
]


def check_patterns(cases: list[tuple[str, str]]) -> None:
    """Compares a full match and the four removals of each (pattern, text) with bash."""
    script = (
        "shopt -s extglob; p={p}; t={t}; [[ $t == $p ]]; "
        'printf \'%s\\n\' $? "${{t#$p}}" "${{t##$p}}" "${{t%$p}}" "${{t%%$p}}"'
    )
    results = run_scripts([script.format(p=shlex.quote(p), t=shlex.quote(t)) for p, t in cases])
    for (pattern, text), (_, output) in zip(cases, results, strict=True):
        short, long = patterns.match_prefix_shortest(pattern, text), patterns.match_prefix_longest(pattern, text)
        near, far = patterns.match_suffix_shortest(pattern, text), patterns.match_suffix_longest(pattern, text)
        ours = [
            str(int(not patterns.matches(pattern, text))),
            text[short or 0 :],
            text[long or 0 :],
            text[:near] if near is not None else text,
            text[:far] if far is not None else text,
        ]
        assert (pattern, text, ours) == (pattern, text, output.split("\n")[:-1])


def test_patterns_as_in_bash() -> None:
    check_patterns([(pattern, text) for pattern in PATTERNS for text in TEXTS])


def _group(operators: str, inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    branch = st.lists(inner, min_size=1, max_size=2).map("".join)
    branches = st.lists(branch, min_size=1, max_size=3).map("|".join)
    return st.tuples(st.sampled_from(operators), branches).map(lambda group: f"{group[0]}({group[1]})")


# No star before a group: there bash takes empty and negated groups in ways of its own.
_atoms = st.sampled_from(["a", "b", "?", "[ab]", "[!a]", "\\*"])
_alternatives = st.recursive(_atoms, lambda inner: _group("@*+?", inner), max_leaves=6)
_patterns = st.tuples(
    st.lists(_alternatives | _group("!", _atoms), max_size=4).map("".join), st.sampled_from(["", "*"])
).map("".join)


_texts = st.text("ab*|", max_size=6)


@given(st.lists(st.tuples(_patterns, _texts), min_size=60, max_size=60))
@settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])
def test_random_patterns_as_in_bash(cases: list[tuple[str, str]]) -> None:
    check_patterns(cases)


SUBSTITUTIONS = [
    (text, pattern, replacement)
    for text in ("", "abcabc", "a/b/c", "bab", "aaa", "a.b*c", "xay")
    for pattern in (
        "",
        "a",
        "b*",
        "*",
        "[ab]",
        "*(a)",
        "+(a)",
        "?",
        "/",
        r"\*",
        ".",
        "a*c",
        "!(a)",
        "abc",
        "@(a|bc)",
        "c",
        "z",
    )
    for replacement in ("", "-", "<x>")
]


def test_substitution_as_in_bash() -> None:
    script = (
        "shopt -s extglob; shopt -u patsub_replacement 2>/dev/null; t={t}; p={p}; r={r}; "
        'printf "%s\\n" "${{t/$p/$r}}" "${{t//$p/$r}}" "${{t/#$p/$r}}" "${{t/%$p/$r}}"'
    )
    results = run_scripts(
        [script.format(t=shlex.quote(t), p=shlex.quote(p), r=shlex.quote(r)) for t, p, r in SUBSTITUTIONS]
    )
    for (text, pattern, replacement), (_, output) in zip(SUBSTITUTIONS, results, strict=True):
        ours = [patterns.substitute(text, pattern, replacement, mode) for mode in ("first", "all", "prefix", "suffix")]
        assert (text, pattern, ours) == (text, pattern, output.split("\n")[:-1])


def test_ampersand_only_on_request() -> None:
    assert patterns.substitute("abc", "b", "<&>", "first") == "a<&>c"
    assert patterns.substitute("abc", "b", r"<&\&>", "first", ampersand=True) == "a<b&>c"
    assert patterns.substitute("abab", "a", "[&]", "all", ampersand=True) == "[a]b[a]b"


def test_case_conversion_as_in_bash() -> None:
    cases = [
        (text, operator, pattern)
        for text in ("", "hello World", "ABC", "aBcD", "éa", "1a")
        for operator in ("^", "^^", ",", ",,", "~", "~~")
        for pattern in ("", "?", "[a-c]", "l", "[!a]")
    ]
    results = run_scripts([f't={shlex.quote(t)}; printf %s "${{t{op}{p}}}"' for t, op, p in cases])
    for (text, operator, pattern), (_, output) in zip(cases, results, strict=True):
        assert (text, operator, pattern, patterns.change_case(text, operator, pattern)) == (
            text,
            operator,
            pattern,
            output,
        )


def test_quoting_and_literals() -> None:
    for text in ("a*b", "[x]", "@(a|b)", "\\", "", "a-b!^"):
        assert patterns.matches(patterns.quote_pattern(text), text)
        assert patterns.literal_text(patterns.quote_pattern(text)) == text
    assert patterns.has_pattern("a*")
    assert not patterns.has_pattern(r"a\*")
    assert patterns.has_pattern("@(a)")
    assert not patterns.has_pattern("@(a)", extglob=False)
    assert patterns.matches("ABC*", "abcd", ignore_case=True)
    assert not patterns.matches("ABC*", "abcd")


EXPRESSIONS = [
    "",
    *words(r"""
a ^a a$ ^$ a|b (a|ab)(c|bcd)(d*) (a*)(ab)*(b*) a+ a?b a{2} a{2,} a{1,2} a{,2} [a-c]+ [^a] []a] [[:digit:]]+
^([a-z]+)-([0-9]+)(x)?$ (a)|(b) ((a)|(b))* (a|b)*c () (|a)b \. a\|b . .* ^.*/ ([0-9]+)\.([0-9]+) (x)(y)?(z)* a** a+?
[a (a a) *a + a{ a{x} a{2,1} \w+ \bfoo\b \<b (foo|foobar)(bar)? ^(vllm|sglang) [\\] [a\] a^b a$b (^a) (a$) x*
([a-z])([a-z]*) (a+)+$ [[:alpha:]_][[:alnum:]_]* [a-] ([^,]*),(.*) (a{1,2}){2} (.)\1 ^[0-9]+(\.[0-9]+)*$ [.] [[.-.]]
"""),
]
SUBJECTS = [
    "",
    "foo bar",
    *words(r"""
a b ab abcd aab abc-123 abc-12x aaa 3.14 a.b a|b foobar vllm xyzz ] \ /x/y/z a,b,c _x1 a) a+ a{ baa 1.2.3 xx -
"""),
]


def check_expressions(cases: list[tuple[str, str]]) -> None:
    script = 't={t}; r={r}; [[ $t =~ $r ]]; s=$?; printf "%s\\037" "$s" "${{BASH_REMATCH[@]}}"'
    results = run_scripts([script.format(t=shlex.quote(t), r=shlex.quote(r)) for r, t in cases])
    for (expression, text), (_, output) in zip(cases, results, strict=True):
        status, *groups = output.split("\x1f")[:-1]
        try:
            found = patterns.ere_match(expression, text)
        except PatternError:
            assert (expression, status) == (expression, "2")
            continue
        assert (expression, text, status) == (expression, text, "1" if found is None else "0")
        if found is not None:
            assert (expression, text, found) == (expression, text, groups)


def test_expressions_as_in_bash() -> None:
    check_expressions([(expression, text) for expression in EXPRESSIONS for text in SUBJECTS])


_expression_pieces = st.sampled_from(["a", "b", ".", "*", "+", "?", "(", ")", "|", "[ab]", "^", "$", "{1,2}"])


@given(
    st.lists(
        st.tuples(st.lists(_expression_pieces, max_size=6).map("".join), st.text("ab", max_size=5)),
        min_size=60,
        max_size=60,
    )
)
@settings(max_examples=6, deadline=None, derandomize=True, phases=[Phase.generate])
def test_random_expressions_match_as_in_bash(cases: list[tuple[str, str]]) -> None:
    script = 't={t}; r={r}; [[ $t =~ $r ]]; printf "%s\\037" "$?" "$BASH_REMATCH"'
    results = run_scripts([script.format(t=shlex.quote(t), r=shlex.quote(r)) for r, t in cases])
    for (expression, text), (_, output) in zip(cases, results, strict=True):
        status, whole = output.split("\x1f")[:2]
        try:
            found = patterns.ere_match(expression, text)
        except PatternError:
            continue
        # glibc is lenient in a few places where we refuse; where both read it they agree.
        if status != "2":
            assert (expression, text, None if found is None else found[0]) == (
                expression,
                text,
                None if status == "1" else whole,
            )


def outcome(call: Callable[[str, str], object], pattern: str, text: str) -> object:
    """What the call gives, or why it gave up; never late."""
    with within(2):
        try:
            result = call(pattern, text)
        except PatternError as error:
            result = f"gave up: {error}"
    return result


@pytest.mark.parametrize(
    "pattern",
    ["+(+(+(a|aa)))b", "*(a|b|*(c|a))*(a|aa)x", "*a*a*a*a*a*a*a*a*b", "+(a)+(a)+(a)+(a)+(a)b", "*(*(*(*(a))))b"],
)
@pytest.mark.parametrize("size", [30, 1_000, 60_000])
def test_hostile_patterns_end(pattern: str, size: int) -> None:
    for call in (patterns.matches, patterns.match_prefix_longest, patterns.match_suffix_shortest):
        assert outcome(call, pattern, "a" * size) in (False, None, "gave up: matching takes too many steps")
    assert outcome(patterns.matches, "!(!(!(a*)b*)c*)d", "a" * size) in (
        False,
        "gave up: matching takes too many steps",
    )


@pytest.mark.parametrize(
    "expression", ["(a+)+b", "(a|aa)+b", "(a*)*b", "((a?){20}){5}b", "(.*)(.*)(.*)(.*)b", "(x+x+)+y"]
)
@pytest.mark.parametrize("size", [30, 5_000, 100_000])
def test_hostile_expressions_end(expression: str, size: int) -> None:
    assert outcome(patterns.ere_match, expression, "a" * size) in (None, "gave up: matching takes too many steps")


@pytest.mark.parametrize(
    "expression",
    [
        "(" * 5_000,
        "(" * 200 + ")" * 200,
        "a{255}" * 200,
        "a" * 20_000,
        "((((a{200}){200}){200}))",
        r"(a*)*\1",
        "[" * 500,
    ],
)
def test_oversized_expressions_are_refused(expression: str) -> None:
    with pytest.raises(PatternError):
        patterns.ere_match(expression, "aaa")


def test_oversized_patterns_are_refused() -> None:
    for pattern in ("@(" * 100 + ")" * 100, "a" * 20_000):
        with pytest.raises(PatternError):
            patterns.matches(pattern, "a")
    with pytest.raises(PatternError):
        patterns.substitute("a" * 10_000, "a", "b" * 1_000, "all")
    assert patterns.matches("@(" * 40, "@(" * 40)

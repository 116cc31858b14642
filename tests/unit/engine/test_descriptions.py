"""What people write about pull requests, and who owns paths."""

from __future__ import annotations

import pytest
from timing import within

from botlint.engine.analysis.codeowners import may_speak_for, owners_of, parse_owners
from botlint.engine.analysis.descriptions import (
    Reference,
    boxes,
    dependencies,
    in_progress,
    is_signed_off,
    plain_lines,
    says,
)


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a\n```\nb\n```\nc", ["a", "c"]),
        ("a\n````\n```\nb\n````\nc", ["a", "c"]),
        ("a\n~~~ yaml\nb\n~~~\nc", ["a", "c"]),
        ("a\n```\nnever closed", ["a"]),
        ("a `b` c ``d ` e``", ["a  c "]),
        ("> quoted\nown", ["own"]),
        ("a<!-- b\nc -->d", ["ad"]),
        ("a<!-- never closed\nb", ["a"]),
        ("a\r\nb", ["a", "b"]),
    ],
)
def test_what_says_something(text: str, left: list[str]) -> None:
    assert list(plain_lines(text)) == left


def test_boxes_know_their_headings() -> None:
    text = "# One\n- [ ] a\n ##  Two ##\n  1. [x] b\n* [X] c\n# Three\n+ [ ]\n- [y] no\n[ ] no\n"
    assert [(one.text, one.done, one.headings) for one in boxes(text)] == [
        ("a", False, ("One",)),
        ("b", True, ("One", "Two")),
        ("c", True, ("One", "Two")),
        ("", False, ("Three",)),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Depends on #12 and #13", [Reference(12), Reference(13)]),
        ("depends-on: https://github.com/acme/bench/pull/4", [Reference(4, "acme/bench")]),
        ("This depends on vllm-project/vllm#9.", [Reference(9, "vllm-project/vllm")]),
        ("It depends on the weather, see\n#12", []),
        ("#12 depends on nothing", []),
        ("`depends on #12`", []),
        ("depends on &#39;", []),
    ],
)
def test_dependencies(text: str, found: list[Reference]) -> None:
    assert dependencies(text) == found


@pytest.mark.parametrize(
    ("title", "said"),
    [
        ("[WIP] Tune", True),
        ("[AMD][wip] Tune", True),
        ("WIP: Tune", True),
        ("(do not merge) Tune", True),
        ("Draft: tune", True),
        ("Draft model for the recipe", False),
        ("Wipe the cache", False),
        ("Swip: x", False),
        ("Tune [WIPED]", False),
    ],
)
def test_titles_of_unfinished_work(title: str, said: bool) -> None:
    assert in_progress(title) is said


@pytest.mark.parametrize(
    ("message", "signed"),
    [
        ("Tune\n\nSigned-off-by: A <a@example.com>", True),
        ("Tune\r\n\r\nsigned-off-by: A <a@example.com>\r\nReviewed-by: B", True),
        ("Tune\n\nSigned-off-by:", False),
        ("Tune\n\nSigned-off-by: A", False),
        ("Tune, not Signed-off-by: A <a@example.com>", False),
    ],
)
def test_signed_off(message: str, signed: bool) -> None:
    assert is_signed_off(message) is signed


def test_a_phrase_is_said_in_plain_words() -> None:
    phrase = "As a PR reviewer and CODEOWNER"
    assert says("Hi!\nAs a PR\nreviewer  and CODEOWNER, I", phrase)
    assert not says(f"> {phrase}", phrase)
    assert not says(f"`{phrase}`", phrase)
    assert not says(f"<!-- {phrase} -->", phrase)


@pytest.mark.parametrize(
    "text",
    [
        "`" * 60_000,
        "<!--" * 20_000,
        "- [ ] " * 20_000,
        "depends on " * 9_000,
        "[(" * 40_000,
        "depends on" + ".-" * 45_000,
    ],
)
def test_hostile_texts_take_no_time(text: str) -> None:
    with within(5):
        boxes(text)
        dependencies(text)
        in_progress(text)
        is_signed_off(text + "Signed-off-by:" * 1_000)


OWNERS = r"""
# everything
* @acme/core
*.md @writer # all of them
/configs/ @config someone@example.com
docs/* @docs
apps @apps
/build/logs/** @logs
file\ with\ blanks @blank
/configs/free.yaml
!negated @nobody
[ab].txt @nobody
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("x/y.py", ("@acme/core",)),
        ("x/README.md", ("@writer",)),
        ("configs/a.yaml", ("@config", "someone@example.com")),
        ("sub/configs/a.yaml", ("@acme/core",)),
        ("configs/free.yaml", ()),
        ("docs/a.txt", ("@docs",)),
        ("docs/deep/a.txt", ("@acme/core",)),
        ("x/apps/y/z.py", ("@apps",)),
        ("build/logs/a/b.txt", ("@logs",)),
        ("file with blanks", ("@blank",)),
        ("a.txt", ("@acme/core",)),
    ],
)
def test_the_last_line_that_takes_a_path_counts(path: str, owners: tuple[str, ...]) -> None:
    assert owners_of(path, parse_owners(OWNERS)) == owners


@pytest.mark.parametrize(
    ("login", "owners", "may"),
    [
        ("Ann", ["@ann", "@bob"], True),
        ("eve", ["@ann", "@bob"], False),
        ("eve", ["@acme/core"], True),
        ("eve", ["ann@example.com"], True),
        ("eve", [], True),
    ],
)
def test_who_may_speak(login: str, owners: list[str], may: bool) -> None:
    assert may_speak_for(login, owners) is may

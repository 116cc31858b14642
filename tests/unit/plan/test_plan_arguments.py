"""Command lines of servers as options with their values."""

from __future__ import annotations

import pytest

from botlint.core.unknown import Unknown
from botlint.plan.arguments import argument_words, option_name, quoted, read_arguments
from botlint.plan.model import Word

JOB = Unknown("JOB_ID")


@pytest.mark.parametrize(
    ("argv", "lines"),
    [
        ([], []),
        (["vllm"], ["vllm"]),
        (
            ["vllm", "serve", "m", "--port", "1", "-tp", "2", "--eager"],
            ["vllm serve m", "--port 1", "-tp 2", "--eager"],
        ),
        (["vllm", "serve", "--a=1", "m", "--b=", "--c"], ["vllm serve", "--a=1", "m", "--b=''", "--c"]),
        (["python3", "-m", "x.y", "--a", "-1", "b"], ["python3 -m x.y", "--a -1 b"]),
        (["/usr/bin/python3.12", "-m", "x"], ["/usr/bin/python3.12 -m x"]),
        (["python3", "--a", "-m", "x"], ["python3", "--a", "-m x"]),
        (["mpirun", "-n", "4", "--x", "trtllm-serve", "m", "--y"], ["mpirun", "-n 4", "--x", "trtllm-serve m", "--y"]),
        (["a", "--x", "it's", "", "a b"], ["a", "--x 'it'\"'\"'s' '' 'a b'"]),
        (
            ["a", "--x", ("/tmp/", JOB), ("--y=", JOB), ("--z", JOB)],
            ["a", "--x /tmp/<JOB_ID>", "--y=<JOB_ID>", "--z<JOB_ID>"],
        ),
        (["a", "-", "--", "--x.y", "-1.5"], ["a - --", "--x.y -1.5"]),
    ],
)
def test_arguments(argv: list[Word], lines: list[str]) -> None:
    assert [" ".join(argument_words(argument)) for argument in read_arguments(argv)] == lines


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("--port", "--port"),
        ("-tp", "-tp"),
        ("--a.b_c=1", "--a.b_c"),
        ("-1", None),
        ("--", None),
        ("a", None),
        ("", None),
        ((), None),
        (("--a=", JOB), "--a"),
        (("--a", JOB), None),
        ((JOB, "--a"), None),
        ("--a b", None),
    ],
)
def test_option_name(word: Word, name: str | None) -> None:
    assert option_name(word) == name


@pytest.mark.parametrize(
    ("word", "text"), [("a-b", "a-b"), ("a b", "'a b'"), ("", "''"), (("a", JOB), "a<JOB_ID>"), ("é", "'é'")]
)
def test_quoted(word: Word, text: str) -> None:
    assert quoted(word) == text

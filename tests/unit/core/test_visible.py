"""Texts of a repository in output that a runner of workflows reads."""

from __future__ import annotations

import pytest

from botlint.core.visible import told, without_commands


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("plain: text::here", "plain: text::here"),
        ("::error::boom", "\\x3a:error::boom"),
        ("a\n  ::add-mask::b\n\u2003::c::", "a\n  \\x3a:add-mask::b\n\u2003\\x3a:c::"),
        ("a\n\n\n::x::", "a\n\n\n\\x3a:x::"),
        (" ::: path.sh:1:1  here", " ::: path.sh:1:1  here"),
        ("a ##[add-mask]b ##[ERROR x]", "a #\\x23[add-mask]b #\\x23[ERROR x]"),
        ("${x##[0-9]} ${x##[a-z]} ${x##[[:space:]]}", "${x##[0-9]} ${x##[a-z]} ${x##[[:space:]]}"),
    ],
)
def test_no_line_is_a_command(text: str, wanted: str) -> None:
    assert without_commands(text) == wanted


def test_what_is_told_keeps_its_lines_and_nothing_else() -> None:
    assert told("error: a\x1b[2J\r\n::stop-commands::x/a.yaml:1:1: \u202eb") == (
        "error: a\\x1b[2J\n\\x3a:stop-commands::x/a.yaml:1:1: \\u202eb"
    )

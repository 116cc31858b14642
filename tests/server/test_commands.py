"""Commands in comments."""

from __future__ import annotations

import pytest
from timing import within

from botlint.server.commands import MOST, Command, from_body, read

HELP = Command("help")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("/botlint check", [Command("check")]),
        ("/botlint check  ", [Command("check")]),
        ("/botlint CHECK", [Command("check")]),
        ("Thanks!\r\n/botlint check\r\nbye", [Command("check")]),
        ("/botlint explain dead-entry", [Command("explain", "dead-entry")]),
        ("/botlint explain BL1201", [Command("explain", "BL1201")]),
        ("/botlint ignore 0123456789abcdef not ours", [Command("ignore", "0123456789abcdef", "not ours")]),
        ("/botlint ignore 0123456789ABCDEF why", [Command("ignore", "0123456789abcdef", "why")]),
        ("/botlint smoke", [Command("smoke")]),
        ("/botlint smoke tp=8 conc=4", [Command("smoke", "", "tp=8 conc=4")]),
        ("/botlint smoke minimax*-vllm", [Command("smoke", "", "minimax*-vllm")]),
        ("/botlint smoke 0123456789abcdef", [Command("smoke", "", "0123456789abcdef")]),
        ("/botlint smoke 0123ABC", [Command("smoke", "0123abc")]),
        (f"/botlint smoke {'a' * 40} tp=8", [Command("smoke", "a" * 40, "tp=8")]),
        ("/botlint smoke $(reboot)", [HELP]),
        ("/botlint smoke `x`", [HELP]),
        ("/botlint smoke --all", [HELP]),
        ("/botlint smoke ../../x", [HELP]),
        ("/botlint smoke " + " x" * 9, [HELP]),
        ("/botlint smoke " + "x" * 101, [HELP]),
        ("/botlint check\n/botlint explain x", [Command("check"), Command("explain", "x")]),
        # Not understood: the answer says what there is.
        ("/botlint", [HELP]),
        ("/botlint help", [HELP]),
        ("/botlint check everything", [HELP]),
        ("/botlint ignore 0123456789abcdef", [HELP]),
        ("/botlint ignore everything because", [HELP]),
        ("/botlint explain ../../etc/passwd", [HELP]),
        ("/botlint explain `x`", [HELP]),
        # No commands: not at the start of a line, quoted, or another word.
        ("please /botlint check", []),
        (" /botlint check", []),
        ("    /botlint check", []),
        ("> /botlint check", []),
        ("`/botlint check`", []),
        ("/botlintcheck", []),
        ("/botlint-check", []),
        ("/BOTLINT check", []),
        ("", []),
        ("```\n/botlint check\n```", []),
        ("~~~ bash\n/botlint check\n~~~~\n/botlint explain x", [Command("explain", "x")]),
        ("````\n```\n/botlint check\n````", []),
        ("```\n/botlint check", []),
        ("``` not `a fence\n/botlint check", [Command("check")]),
        ("/botlint check\n" * 50, [Command("check")] * MOST),
        # What is no end of a line in Markdown does not end a quotation of somebody else's words.
        *((f"> said{end}/botlint ignore 0123456789abcdef mine", []) for end in "\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"),
        ("> said\r/botlint check", [Command("check")]),
    ],
)  # fmt: skip
def test_commands(text: str, wanted: list[Command]) -> None:
    assert read(text) == wanted


def test_a_reason_is_short_and_harmless() -> None:
    (command,) = read("/botlint ignore 0123456789abcdef a\u202eb" + "x" * 1000)
    assert "\u202e" not in command.reason
    assert len(command.reason) < 400


@pytest.mark.parametrize("command", [Command("check"), Command("explain", "x"), Command("ignore", "0" * 16, "because")])
def test_a_command_is_kept_whole(command: Command) -> None:
    assert from_body(command.body()) == command


def test_what_was_kept_by_another_version_is_no_command() -> None:
    assert from_body({"verb": "delete", "subject": "everything"}) == HELP


def test_a_very_long_comment_is_read_at_once() -> None:
    with within(1):
        assert read("/botlint " + " " * 100_000 + "\n" + "`" * 100_000) == [HELP]
        assert read("/botlint ignore 0123456789abcdef " + " x" * 50_000)[0].verb == "ignore"
        assert read("`" * 65_536) == []
        assert read("~~~\n" * 20_000) == []

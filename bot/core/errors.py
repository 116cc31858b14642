"""Errors about us and our use, each with the exit code that every command gives for it.

A finding about code is never an error.
"""

from __future__ import annotations


class BotlintError(Exception):
    """Base of all errors that end a command; the message is shown to the user without a stack trace."""

    exit_code = 3


class UsageError(BotlintError):
    """Wrong usage or settings."""

    exit_code = 2


class CannotFinish(BotlintError):  # noqa: N818 (named after what the user is told)
    """The work could not be finished (a broken repository, an unreadable revision)."""

    exit_code = 3


class NothingToCheck(BotlintError):  # noqa: N818 (named after what the user is told)
    """There is nothing that the command could look at."""

    exit_code = 4

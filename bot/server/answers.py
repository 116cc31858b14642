"""What the App says to commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from urllib.parse import quote, unquote

from botlint.core.markdown import code
from botlint.github.limits import cut
from botlint.server.commands import Command

LONGEST = 60_000

_IGNORE = re.compile(r"<!-- botlint:v1 ignore=([0-9a-f]{16}) by=([^ ]*) reason=([^ ]*) -->")

USAGE = """\
What I understand, at the start of a line of a comment:

| command | what it does |
| --- | --- |
| `botlint check` | reviews this pull request again |
| `botlint explain RULE` | shows what a rule finds, why, and what to do |
| `botlint ignore FINGERPRINT reason` | leaves a finding of this pull request out of the verdict |

Each begins with a slash."""

NO_SMOKE = "Smoke jobs are not set up here."


def reply_marker(comment: int) -> str:
    """The last line of the answer to a comment, by which it is not answered twice."""
    return f"<!-- botlint:v1 reply={comment} -->"


def ignore_marker(fingerprint: str, actor: str, reason: str) -> str:
    """The line of an answer by which a finding is known to be ignored; it counts in comments of our own only."""
    return f"<!-- botlint:v1 ignore={fingerprint} by={quote(actor, safe='')} reason={quote(reason, safe='')} -->"


def ignored(bodies: Iterable[str]) -> dict[str, str]:
    """The fingerprints that own comments say are ignored, with by whom and why.

    Only the last lines of a comment count, which are ours alone.
    """
    found: dict[str, str] = {}
    for body in bodies:
        for line in reversed(body.rstrip().splitlines()):
            if not line.startswith("<!-- botlint:v1 "):
                break
            if match := _IGNORE.fullmatch(line.strip()):
                found[match[1]] = f"{unquote(match[2])}: {unquote(match[3])}"
    return found


def answer(comment: int, actor: str, told: Iterable[Command], page: Callable[[str], str | None]) -> str | None:
    """The answer to the commands of a comment, None where doing them is answer enough."""
    parts: list[str] = []
    markers: list[str] = []
    for command in told:
        match command.verb:
            case "explain":
                parts.append(_explained(command.subject, page))
            case "ignore":
                # No mention: the one who asked knows.
                parts.append(
                    f"Finding {code(command.subject)} is left out of the verdict, as {code(actor)} asks: "
                    f"{code(command.reason)}"
                )
                markers.append(ignore_marker(command.subject, actor, command.reason))
            case "smoke":
                parts.append(NO_SMOKE)
            case "help":
                parts.append(USAGE)
            case "check":
                pass
    if not parts:
        return None
    text = "\n\n---\n\n".join(dict.fromkeys(parts))
    return "\n".join((cut(text, LONGEST), "", *markers, reply_marker(comment)))


def explained(rule: str) -> str | None:
    """The page of a rule that botlint brings, by its name or id; None where there is none."""
    from botlint.engine.pages import NOTICE, rule_page
    from botlint.engine.rules import builtin_rules

    for one in builtin_rules():
        if rule in (one.name, one.id, *one.aliases):
            return rule_page(one).removeprefix(f"{NOTICE}\n\n")
    return None


def _explained(rule: str, page: Callable[[str], str | None]) -> str:
    found = page(rule)
    if found is not None:
        return found.strip()
    close = _close(rule)
    return f"There is no rule {code(rule)} among those that botlint brings" + (f"; {code(close)}?" if close else ".")


def _close(rule: str) -> str | None:
    from botlint.engine.rules import builtin_rules

    names = [name for one in builtin_rules() for name in (one.name, one.id)]
    return next(iter(get_close_matches(rule, names, 1)), None)

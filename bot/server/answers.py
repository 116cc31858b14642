"""What the App says to commands."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from urllib.parse import quote, unquote

from botlint.core.markdown import code
from botlint.engine.settings import Language
from botlint.github.limits import cut
from botlint.github.markers import has_marker, own
from botlint.github.port import GitHub
from botlint.github.smokewords import words_of
from botlint.server.commands import Command
from botlint.server.events import Task

LONGEST = 60_000

_IGNORE = re.compile(r"<!-- botlint:v1 ignore=([0-9a-f]{16}) by=([^ ]*) reason=([^ ]*) -->")


@dataclass(frozen=True, slots=True)
class _Words:
    """The sentences of one language."""

    usage: str
    ignored: str
    no_rule: str


_WORDS: dict[Language, _Words] = {
    "en": _Words(
        usage="""\
What I understand, at the start of a line of a comment:

| command | what it does |
| --- | --- |
| `botlint check` | reviews this pull request again |
| `botlint explain RULE` | shows what a rule finds, why, and what to do |
| `botlint ignore FINGERPRINT reason` | leaves a finding of this pull request out of the verdict |
| `botlint smoke [COMMIT] [JOBS]` | starts jobs of this pull request for some minutes, where that is set up |

Each begins with a slash.""",
        ignored="Finding {fingerprint} is left out of the verdict, as {actor} asks: {reason}",
        no_rule="There is no rule {rule} among those that botlint brings.",
    ),
    "zh": _Words(
        usage="""\
我能识别的命令（写在评论的行首）：

| 命令 | 作用 |
| --- | --- |
| `botlint check` | 重新审查此拉取请求 |
| `botlint explain RULE` | 说明一条规则检查什么、为什么、如何处理 |
| `botlint ignore FINGERPRINT 原因` | 在结论中不计入此拉取请求的某个问题 |
| `botlint smoke [COMMIT] [JOBS]` | 启动此拉取请求的任务数分钟（须已设置） |

每条命令都以斜杠开头。""",
        ignored="问题 {fingerprint} 不计入结论，由 {actor} 提出，原因：{reason}",
        no_rule="botlint 自带的规则中没有 {rule}。",
    ),
}


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


def answer(
    comment: int,
    actor: str,
    told: Iterable[Command],
    page: Callable[[str], str | None],
    languages: Sequence[Language] = ("en",),
) -> str | None:
    """The answer to the commands of a comment, None where doing them is answer enough."""
    parts: list[str] = []
    markers: list[str] = []
    words = [_WORDS[language] for language in languages] or [_WORDS["en"]]
    for command in told:
        match command.verb:
            case "explain":
                parts.append(_explained(command.subject, page, words))
            case "ignore":
                # No mention: the one who asked knows.
                given = {"fingerprint": command.subject, "actor": actor, "reason": command.reason}
                shown = {name: code(value) for name, value in given.items()}
                parts.append("\n\n".join(one.ignored.format(**shown) for one in words))
                markers.append(ignore_marker(command.subject, actor, command.reason))
            case "smoke":
                parts.append("\n\n".join(one.not_set_up for one in words_of(languages)))
            case "help":
                parts.append("\n\n".join(one.usage for one in words))
            case "check":
                pass
    if not parts:
        return None
    text = "\n\n---\n\n".join(dict.fromkeys(parts))
    return "\n".join((cut(text, LONGEST), "", *markers, reply_marker(comment)))


def give(github: GitHub, task: Task, text: str, marker: str) -> None:
    """Post the answer to a comment, in its thread where it stands on the diff; once, as the marker at its end tells."""
    me = github.me()
    if task.inline:
        comments = github.review_comments(task.number)
        asked = next((one for one in comments if one.id == task.comment), None)
        if asked is None:  # deleted in the meantime: nobody waits for the answer
            return
        if not any(has_marker(one.body, marker) for one in own(comments, me)):
            github.reply(task.number, asked.reply_to or asked.id, text)
    elif not any(has_marker(one.body, marker) for one in own(github.issue_comments(task.number), me)):
        github.create_issue_comment(task.number, text)


def explained(rule: str) -> str | None:
    """The page of a rule that botlint brings, by its name or id; None where there is none."""
    from botlint.engine.pages import NOTICE, rule_page
    from botlint.engine.rules import builtin_rules

    for one in builtin_rules():
        if rule in (one.name, one.id, *one.aliases):
            return rule_page(one).removeprefix(f"{NOTICE}\n\n")
    return None


def _explained(rule: str, page: Callable[[str], str | None], words: Iterable[_Words]) -> str:
    found = page(rule)
    if found is not None:
        return found.strip()
    close = _close(rule)
    return "\n\n".join(one.no_rule.format(rule=code(rule)) for one in words) + (f" → {code(close)}?" if close else "")


def _close(rule: str) -> str | None:
    from botlint.engine.rules import builtin_rules

    names = [name for one in builtin_rules() for name in (one.name, one.id)]
    return next(iter(get_close_matches(rule, names, 1)), None)

"""What is read of a pull request for the rules that are on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, cast

import pytest
from port_samples import HEAD, ME, SOMEBODY, Hub
from review_samples import changed

from botlint.engine.policy import Policy, make_policy
from botlint.engine.pull import Pull
from botlint.engine.rules import builtin_rules
from botlint.engine.settings import parse_settings
from botlint.github.facts import read_pull
from botlint.github.models import Commit, Identity, IssueComment, Permission, PullRequest, ReviewComment
from botlint.github.port import Forbidden, GitHub, NotFound
from botlint.github.review import first_contact_text
from botlint.repo.memory import MemoryFiles

ANN, BOB = Identity(20, "ann"), Identity(21, "bob")
PHRASE = "I have reviewed this"
RULES = tuple(builtin_rules())


def policy(text: str = "") -> Policy:
    settings = parse_settings(f"version: 1\n{text}")
    return make_policy(MemoryFiles({}), settings, RULES, lambda known: known)


class Asked(Hub):
    """Says what is asked; `faults` raise."""

    def __init__(self) -> None:
        super().__init__({}, {}, [changed("configs/a.yaml", None, "renamed", "configs/b.yaml")])
        self.raising: dict[str, Exception] = {}
        self.others: dict[int, PullRequest] = {}

    def _ask(self, name: str) -> None:
        self.calls.append(name)
        if name in self.raising:
            raise self.raising[name]

    def commits(self, number: int) -> Sequence[Commit]:
        self._ask("commits")
        return [
            Commit("1" * 40, "Tune", ANN, True),
            Commit("2" * 40, "Bump", ME, False),
            Commit("3" * 40, "x", None, False),
        ]

    def behind(self, base: str, head: str) -> int:
        self._ask("behind")
        assert (base, head) == ("main", HEAD)
        return 4

    def permission(self, login: str) -> Permission:
        self._ask(f"permission {login}")
        return "write"

    def pull(self, number: int) -> PullRequest:
        self._ask(f"pull {number}")
        return self.others[number]

    def read(self, settings: str = "", **how: Any) -> Pull:
        self.request = replace(self.request, **how)
        return read_pull(cast(GitHub, self), self.request, self.changed, self.issue, policy(settings))


@pytest.fixture
def hub() -> Asked:
    return Asked()


def said(number: int, author: Identity, body: str) -> IssueComment:
    return IssueComment(number, "", author, body, "")


def test_nothing_is_asked_for_without_need(hub: Asked) -> None:
    found = hub.read(body="Tune.")
    assert hub.calls == []
    assert (found.commits, found.behind, found.said, found.states) == (None, None, None, {})
    assert found.changed == ("configs/a.yaml", "configs/b.yaml")
    assert (found.url, found.repository) == ("https://github.test/acme/bench/pull/1", "acme/bench")


def test_commits_and_how_far_behind(hub: Asked) -> None:
    found = hub.read("rules: {behind-base: warning}\nreview: {require-dco: true}\n")
    assert hub.calls == ["commits", "behind"]
    assert [(one.author, one.bot, one.verified) for one in found.commits or ()] == [
        ("ann", False, True),
        (ME.login, True, False),
        ("", False, False),
    ]
    assert found.behind == 4


SIGN_OFF = f"review: {{sign-off: {{phrase: {PHRASE}}}}}\n"


def test_only_people_who_say_the_words_are_asked_about(hub: Asked) -> None:
    hub.issue = [
        said(1, ANN, "Nice."),
        said(2, ME, PHRASE),
        said(3, SOMEBODY, PHRASE),
        said(4, BOB, f"> {PHRASE}"),
        said(5, BOB, f"Say: {PHRASE}\n\n<!-- botlint:v1 first-contact -->"),
    ]
    hub.review = [ReviewComment(6, "", ANN, f"{PHRASE}.", "a", 1, "RIGHT", None, None, HEAD, "")]
    hub.reviewed = [said(7, ANN, PHRASE), said(8, BOB, "")]
    found = hub.read(SIGN_OFF)
    assert hub.calls == ["review_comments", "reviews", "permission ann"]
    assert [(one.author, one.permission) for one in found.said or ()] == [
        (SOMEBODY.login, "none"),
        ("ann", "write"),
        ("ann", "write"),
    ]


def test_nobody_is_asked_about_a_draft(hub: Asked) -> None:
    assert hub.read(SIGN_OFF, draft=True).said is None
    assert hub.calls == []


@pytest.mark.parametrize("error", [Forbidden("no"), NotFound("no")])
def test_what_a_token_may_not_read_is_not_known(hub: Asked, error: Exception) -> None:
    hub.raising = dict.fromkeys(("commits", "behind", "permission ann", "pull 2"), error)
    hub.issue = [said(1, ANN, PHRASE)]
    found = hub.read(f"rules: {{behind-base: warning}}\n{SIGN_OFF[:-2]}, require-dco: true}}\n", body="Depends on #2")
    assert (found.commits, found.behind, found.states) == (None, None, {})
    assert [one.permission for one in found.said or ()] == ["none"]


def test_other_pull_requests(hub: Asked) -> None:
    hub.others = {
        number: replace(hub.request, number=number, state=state, merged=merged)
        for number, state, merged in ((2, "open", False), (3, "closed", True), (4, "closed", False))
    }
    body = (
        "Depends on #2, #3\nDepends-On: https://github.test/Acme/bench/pull/4\nDepends on #1\n"
        "Depends on vllm-project/vllm#5\nDepends-On: https://evil.example/acme/other/pull/6"
    )
    assert hub.read(body=body).states == {2: "open", 3: "merged", 4: "closed"}
    assert hub.calls == ["pull 2", "pull 3", "pull 4"]


def test_only_so_many_are_asked_for(hub: Asked) -> None:
    hub.others = dict.fromkeys(range(2, 1000), hub.request)
    hub.read(body="\n".join(f"Depends on #{number}" for number in range(2, 400)))
    assert len(hub.calls) == 10
    hub.calls.clear()
    hub.issue = [said(number, Identity(number, f"p{number}"), PHRASE) for number in range(100, 200)]
    hub.read(SIGN_OFF, body="")
    assert len(hub.calls) == 22


@pytest.mark.parametrize(
    ("setting", "text"),
    [
        ("Welcome!", "Welcome!"),
        ("Welcome!\nsay.md", "Welcome!\nsay.md"),
        (" say.md\n", "From the file."),
        ("missing.md", ""),
        ("../say.md", "../say.md"),
        ("Thanks.", "Thanks."),
    ],
)
def test_what_is_said_first(setting: str, text: str) -> None:
    texts: Callable[[str], str | None] = {"say.md": "From the file."}.get
    assert first_contact_text(setting, texts) == text

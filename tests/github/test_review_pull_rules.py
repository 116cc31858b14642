"""What reviews say of the pull request itself, and what it takes of GitHub to know it."""

from __future__ import annotations

import pytest
from fakehub import FakeGitHub, Fault, Pull, faults
from fakehub.git import Content
from fakehub.seed import CONFIG, healthy_files
from reviewing import MAX_CALLS, Bot, install

from botlint.github.analysis import Kept

PHRASE = "As a PR reviewer and CODEOWNER"
FIRST_CONTACT = "<!-- botlint:v1 first-contact -->"
WORDS = f"Thanks! Have a code owner fill in the checklist, with the words\n{PHRASE}, I have reviewed this and have\n"
SETTINGS = f"""\
version: 1
rules: {{behind-base: warning, work-in-progress: warning}}
review:
  first-contact: .github/first-contact.md
  sign-off: {{phrase: {PHRASE}}}
  checklist: Checklist
  require-dco: true
"""
OWN: dict[str, Content] = {
    ".botlint.yaml": SETTINGS,
    ".github/first-contact.md": WORDS,
    ".github/CODEOWNERS": f"* @acme/core\n{CONFIG} @ann\n",
}


def text_of(path: str) -> str:
    found = healthy_files()[path]
    content = getattr(found, "content", found)
    return content.decode() if isinstance(content, bytes) else str(content)


def opened(hub: FakeGitHub, kept: Kept, changes: dict[str, Content | None], body: str, **how: str) -> tuple[Bot, Pull]:
    """A pull request of a contributor, in a repository whose settings ask for everything."""
    repo = hub.repository("acme/bench", {**healthy_files(), **OWN})
    for login, role in (("ann", "write"), ("bob", "maintain"), ("eve", "read")):
        repo.grant(login, role)
    fork = hub.fork(repo, "carl")
    fork.commit("topic", changes, author="carl", message=how.pop("message", "Tune"))
    pull = repo.open_pull("topic", source=fork, author="carl", body=body, **how)
    return install(hub, repo, kept), pull


def greetings(pull: Pull) -> list[str]:
    return [one.body for one in pull.comments if FIRST_CONTACT in one.body]


def test_everything_that_the_settings_ask_for(hub: FakeGitHub, kept: Kept) -> None:
    changed = text_of(CONFIG) + "# A remark.\n"
    body = "Depends on #1.\n\n## Type\n- [ ] Bug fix\n\n## Checklist\n- [x] tested\n- [ ] `MODELS.md` is right\n"
    repo = hub.repository("acme/bench", {**healthy_files(), **OWN})
    repo.commit("other", {"README.md": "New.\n"})
    repo.open_pull("other", author="ann")
    for login, role in (("ann", "write"), ("bob", "maintain"), ("eve", "read")):
        repo.grant(login, role)
    fork = hub.fork(repo, "carl")
    fork.commit("topic", {CONFIG: changed}, author="carl")
    pull = repo.open_pull("topic", source=fork, author="carl", body=body, title="[WIP] Tune")
    repo.commit("main", {"README.md": "Newer.\n"})
    bot = install(hub, repo, kept)

    assert bot.review(pull) == "reviewed"
    assert len(hub.calls) <= MAX_CALLS, hub.counts()
    (summary,) = bot.summaries(pull)
    rules = (
        "sign-off-missing", "checklist-unfinished", "depends-on-open", "work-in-progress", "behind-base",
        "commit-not-signed-off",
    )  # fmt: skip
    assert [rule for rule in rules if f"({rule})" not in summary.body] == []
    assert "Bug fix" not in summary.body
    assert bot.conclusion(pull) == "failure"
    assert greetings(pull) == [f"{WORDS.strip()}\n\n{FIRST_CONTACT}"]
    assert bot.mine(pull) == []

    # Said by the bot, by a reader, by the author, in a quote, and by the owner of other files.
    pull.comment(f"{PHRASE}, I have reviewed this", user="eve")
    pull.comment(f"{PHRASE}, I have reviewed this", user="carl")
    pull.comment(f"> {PHRASE}", user="ann")
    pull.review("bob", f"{PHRASE}, I have reviewed this", "APPROVED")
    hub.forget()
    bot.review(pull, force=True)
    assert len(hub.calls) <= MAX_CALLS, hub.counts()
    assert hub.count("repos/get-collaborator-permission-level") == 2
    (summary,) = bot.summaries(pull)
    assert "sign-off-missing" not in summary.body
    assert f"does not count for {CONFIG}, whose code owners are" in summary.body
    assert len(greetings(pull)) == 1

    # The owner says it on a line; everything else is done too.
    pull.comment_on(CONFIG, f"{PHRASE}, I have reviewed this", "ann", line=changed.count("\n"))
    signed = "Tune\n\nSigned-off-by: Carl <carl@example.com>"
    fork.commit("topic", {CONFIG: changed}, signed, author="carl", onto=repo.branches["main"])
    pull.title, pull.body = "Tune", body.replace("[ ]", "[x]").replace("Depends", "Dependent")
    bot.review(pull, force=True)
    (summary,) = bot.summaries(pull)
    assert [rule for rule in (*rules, "sign-off-by-other") if f"({rule})" in summary.body] == []
    assert bot.conclusion(pull) == "success"


def test_nobody_is_asked_what_nobody_wants_to_know(hub: FakeGitHub, kept: Kept) -> None:
    repo = hub.repository("acme/bench", healthy_files())
    repo.commit("topic", {CONFIG: text_of(CONFIG) + "# A remark.\n"}, author="ann")
    pull = repo.open_pull("topic", author="ann", title="[WIP] Tune", body="- [ ] tested\n")
    bot = install(hub, repo, kept)
    assert bot.review(pull) == "reviewed"
    for operation in ("pulls/list-commits", "pulls/list-reviews", "repos/get-collaborator-permission-level"):
        assert hub.count(operation) == 0
    assert (bot.summaries(pull), pull.comments, bot.conclusion(pull)) == ([], [], "success")


def test_a_pull_request_cannot_let_itself_off(hub: FakeGitHub, kept: Kept) -> None:
    changes: dict[str, Content | None] = {
        ".botlint.yaml": "# botlint: ignore-file[settings-weakened] -- trust me\nversion: 1\n"
        "rules: {pull-request: off, settings-weakened: off}\n",
        ".github/first-contact.md": "Merge this at once.\n",
        ".github/CODEOWNERS": "* @carl\n",
    }
    bot, pull = opened(hub, kept, {**changes, CONFIG: text_of(CONFIG) + "# A remark.\n"}, "Trust me.")
    bot.review(pull)
    told = [one.body for one in bot.mine(pull)]
    assert any("weakens the settings of botlint" in body and "pull-request" in body for body in told)
    assert any("review.sign-off" in body for body in told)
    assert greetings(pull) == [f"{WORDS.strip()}\n\n{FIRST_CONTACT}"]
    (summary,) = bot.summaries(pull)
    assert "(sign-off-missing)" in summary.body
    assert bot.conclusion(pull) == "failure"


def test_drafts_are_not_greeted_before_they_are_ready(hub: FakeGitHub, kept: Kept) -> None:
    repo = hub.repository("acme/bench", {**healthy_files(), **OWN})
    repo.commit("topic", {CONFIG: text_of(CONFIG) + "# A remark.\n"}, author="ann")
    pull = repo.open_pull("topic", author="ann", draft=True)
    bot = install(hub, repo, kept)
    bot.review(pull)
    assert greetings(pull) == []
    pull.draft = False
    bot.review(pull)
    bot.review(pull, force=True)
    assert len(greetings(pull)) == 1


@pytest.mark.parametrize("done", [True, False])
def test_an_answer_that_was_lost_greets_nobody_twice(hub: FakeGitHub, kept: Kept, done: bool) -> None:
    bot, pull = opened(hub, kept, {CONFIG: text_of(CONFIG) + "# A remark.\n"}, "")
    hub.fail("issues/create-comment", faults.bad_gateway(done=done))
    assert bot.review(pull) == "reviewed"
    assert (len(greetings(pull)), len(bot.summaries(pull))) == (1, 1)


def test_permissions_that_cannot_be_asked_are_none(hub: FakeGitHub, kept: Kept) -> None:
    bot, pull = opened(hub, kept, {CONFIG: text_of(CONFIG) + "# A remark.\n"}, "")
    pull.comment(f"{PHRASE}, I have reviewed this", user="ann")
    no = {"message": "Resource not accessible by integration"}
    hub.fail("repos/get-collaborator-permission-level", Fault(status=403, body=no, times=-1))
    assert bot.review(pull) == "reviewed"
    (summary,) = bot.summaries(pull)
    assert "(sign-off-by-other)" in summary.body
    hub.faults.clear()
    bot.review(pull, force=True)
    (summary,) = bot.summaries(pull)
    assert "(sign-off-by-other)" not in summary.body


def test_commands_of_the_description(hub: FakeGitHub, kept: Kept) -> None:
    repo = hub.repository("acme/bench", {**healthy_files(), "docs/serving.md": "Hello\n"})
    document = "```bash\nvllm serve demo/model --tensor-parallel-size 8 --block-size 64\n```\n"
    repo.commit("topic", {"docs/serving.md": document})
    body = (
        "Server command\r\n\r\nVLLM_USE_V1=1 \\\r\nvllm serve demo/model \\\r\n    --tensor-parallel-size 8 \\\r\n"
        '    --block-size 128 \\\r\n    --additional-config \'{"layers": ["block_\r\nmoe"]}\'\r\n'
    )
    pull = repo.open_pull("topic", author="ann", body=body)
    bot = install(hub, repo, kept)

    assert bot.review(pull) == "reviewed"
    (summary,) = bot.summaries(pull)
    told = summary.body + "".join(one.body for one in bot.mine(pull))
    assert "cuts the JSON of --additional-config in two at character 20" in told
    assert "has no effect from vLLM 0.11.1 on" in told
    assert "--block-size 128 in the description, 64 in what is launched" in told
    # What a description shows is told, and blocks nothing.
    assert bot.conclusion(pull) == "neutral"

"""Every call of the client and of the App, once through: nothing that GitHub's description does not know."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from fakehub import Executable, FakeGitHub, Link, Repository, Submodule
from fakehub.spec import load_spec
from reviewing import PERMISSIONS, Bot, install

from botlint.github.analysis import Kept
from botlint.github.app import App
from botlint.github.client import Client
from botlint.github.models import Annotation, CheckOutput, NewComment
from botlint.github.port import Forbidden, NotFound, Unprocessable

LINES = "".join(f"line {number}\n" for number in range(1, 31))
USED = frozenset(
    "apps/create-installation-access-token apps/get-authenticated apps/get-repo-installation apps/list-installations"
    " apps/list-repos-accessible-to-installation apps/list-webhook-deliveries apps/redeliver-webhook-delivery"
    " checks/create checks/list-annotations checks/list-for-ref checks/update git/get-blob git/get-tree graphql"
    " issues/create-comment issues/list-comments issues/update-comment pulls/create-reply-for-review-comment"
    " pulls/create-review pulls/create-review-comment pulls/get pulls/list pulls/list-commits pulls/list-files"
    " pulls/list-review-comments pulls/update-review-comment repos/compare-commits-with-basehead"
    " repos/get-collaborator-permission-level".split()
)
"""What the round trip has to touch."""


@pytest.fixture
def repository(hub: FakeGitHub) -> Repository:
    made = hub.repository(
        "acme/bench", {"f": LINES, "deep/er/h": "h\n", "bin": b"\0\1", "l": Link("f"), "s": Submodule("1" * 40)}
    )
    made.grant("alice", "maintain")
    return made


@pytest.fixture
def bot(hub: FakeGitHub, repository: Repository, kept: Kept) -> Bot:
    return install(hub, repository, kept, {**PERMISSIONS, "contents": "write"})


def test_a_full_round_trip(hub: FakeGitHub, repository: Repository, bot: Bot) -> None:
    base = repository.branches["main"]
    fork = hub.fork(repository, "stranger")
    fork.commit("topic", {"f": LINES.replace("line 5\n", "LINE 5\nmore\n").replace("line 25\n", ""), "r.sh": "#!x\n"})
    pull = repository.open_pull("topic", source=fork, author="stranger", body=None)
    repository.commit("main", {"deep/er/h": "H\n"})
    head = pull.head_sha

    app = App(bot.app.id, bot.app.private_key, base_url=hub.api, sleep=bot.slept.append)
    assert app.slug() == "botlint"
    (installed,) = app.installations()
    assert app.installation_of("acme/bench") == installed.id == bot.installation.id
    assert [one.name for one in app.repositories(installed.id)] == ["acme/bench"]
    permissions = {**PERMISSIONS, "contents": "write"}
    by_id = app.token(installed.id, repository_id=repository.id, permissions=permissions)
    assert by_id.expires > datetime.now(UTC) + timedelta(minutes=50)
    client = Client("acme/bench", by_id.secret, base_url=hub.api, sleep=bot.slept.append)

    # Reading.
    assert (client.me().id, client.me().login) == (bot.app.bot.id, "botlint[bot]")
    found = client.pull(1)
    assert (found.number, found.from_fork, found.head.sha, found.base.repository) == (1, True, head, "acme/bench")
    assert [one.number for one in client.open_pulls()] == [1]
    assert [(one.path, one.status) for one in client.files(1)] == [("f", "modified"), ("r.sh", "added")]
    assert [one.sha for one in client.commits(1)] == [head]
    assert (client.merge_base("main", head), client.behind("main", head)) == (base, 1)
    tree = client.tree(head, True)
    entries = {one.path: one for one in tree.entries if one.kind != "tree"}
    assert (entries["r.sh"].mode, entries["l"].mode, entries["s"].kind) == ("100755", "120000", "commit")
    shas = {path: one.sha for path, one in entries.items() if one.kind == "blob"}
    blobs = client.blobs(shas.values())
    assert (blobs[shas["bin"]], blobs[shas["deep/er/h"]], blobs[shas["l"]]) == (b"\0\1", b"h\n", b"f")
    hub.user("stranger")
    assert [client.permission(login) for login in ("alice", "stranger", "nobody")] == ["maintain", "read", "none"]

    # Comments.
    comments = [
        NewComment("f", "new", 5, "RIGHT"),
        NewComment("f", "old", 25, "LEFT"),
        NewComment("f", "```suggestion\nx\n```", 6, "RIGHT", 5, "RIGHT"),
    ]
    client.create_review(1, head, "", comments)
    client.create_review_comment(1, head, NewComment("r.sh", "one", 1, "RIGHT"))
    client.create_file_comment(1, head, "r.sh", "whole")
    said = client.review_comments(1)
    assert [(one.line, one.side, one.start_line) for one in said[:4]] == [
        (5, "RIGHT", None),
        (25, "LEFT", None),
        (6, "RIGHT", 5),
        (1, "RIGHT", None),
    ]
    assert (said[4].line, {one.author.id for one in said}) == (None, {bot.app.bot.id})
    assert client.reply(1, said[0].id, "answer").reply_to == said[0].id
    client.edit_review_comment(said[0].id, "edited")
    with pytest.raises(Unprocessable) as refused:
        client.create_review(1, head, "", [NewComment("f", "x", 15, "RIGHT"), NewComment("f", "y", 5, "RIGHT")])
    assert [one.message for one in refused.value.refusals] == ["Line could not be resolved"]
    threads = client.threads(1)
    assert [len(one.comments) for one in threads] == [2, 1, 1, 1, 1]
    assert threads[0].comments[0] == said[0].id
    assert set(threads[0].authors) == {bot.app.bot.id}
    assert client.resolve_thread(threads[0].node_id)
    client.minimize(said[1].node_id, "OUTDATED")
    first = client.create_issue_comment(1, "summary")
    client.edit_issue_comment(first.id, "summary 2")
    assert [one.body for one in client.issue_comments(1)] == ["summary 2"]
    assert (pull.inline[0].body, pull.inline[2].minimized or pull.inline[1].minimized) == ("edited", "OUTDATED")
    narrow = Client("acme/bench", app.token(installed.id, repository="acme/bench").secret, base_url=hub.api)
    with pytest.raises(Forbidden):
        narrow.resolve_thread(threads[1].node_id)
    with pytest.raises(NotFound):
        client.edit_review_comment(1, "x")

    # The check run, with more annotations than a request takes.
    notes = tuple(Annotation("f", n, n, "warning", f"note {n}", "rule", "1. step") for n in range(1, 121))
    run = client.create_check_run("botlint", head, "1:head:0")
    assert [one.id for one in client.check_runs(head, "botlint")] == [run.id]
    output = CheckOutput("120 warnings", "Summary", "Text", notes)
    client.update_check_run(run.id, conclusion="neutral", details_url="https://app.example.invalid/x", output=output)
    (kept,) = repository.runs(head)
    assert (kept.conclusion, len(kept.annotations), kept.text) == ("neutral", 120, "Text")
    assert [len(one.body["output"]["annotations"]) for one in hub.made("checks/update")] == [50, 50, 20]
    client.update_check_run(run.id, conclusion="success", output=output)
    assert (kept.conclusion, len(kept.annotations)) == ("success", 120)

    # Deliveries that did not arrive.
    hub.deliver(bot.app, "pull_request", hub.events.pull_request(pull, "opened"), lost=True)
    (delivery,) = app.deliveries(datetime.now(UTC) - timedelta(hours=1))
    assert (delivery.event, delivery.action, delivery.arrived) == ("pull_request", "opened", False)
    app.redeliver(delivery.id)

    assert set(hub.counts()) >= USED
    assert bot.slept == []


def test_an_enterprise_server(kept: Kept) -> None:
    """Its API has a prefix, for GraphQL another one."""
    with FakeGitHub(prefix="/api/v3") as hub:
        repository = hub.repository("acme/bench", {"f": Executable("f\n")})
        repository.commit("topic", {"f": "g\n"})
        pull = repository.open_pull("topic")
        bot = install(hub, repository, kept)
        client = Client("acme/bench", bot.token().text, base_url=hub.api, web_url=hub.web)
        assert client.pull(1).head.sha == pull.head_sha
        assert client.me().login == "botlint[bot]"
        client.create_review(1, pull.head_sha, "", [NewComment("f", "x", 1, "RIGHT")])
        assert len(client.threads(1)) == 1
        assert hub.violations == []


def test_all_that_is_used_is_described() -> None:
    assert set(load_spec().operations()) >= USED - {"graphql"}

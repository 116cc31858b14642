"""The fake behaves as GitHub does, above all where bots trip."""

from __future__ import annotations

import time
import zipfile
from collections.abc import Callable
from io import BytesIO
from typing import Any

import httpx
import jwt
import pytest
from fakehub import FakeGitHub, Limit, Link, Pull, Repository, Submodule, Token, faults
from fakehub.seed import ENTRY, LAYOUT, RECIPE, plant

LINES = "".join(f"line {n}\n" for n in range(1, 41))
CHANGED = LINES.replace("line 5\n", "LINE 5\n").replace("line 30\n", "").replace("line 38\n", "line 38\nmore\n")


class Client:
    """Raw requests with a token."""

    def __init__(self, hub: FakeGitHub, token: str, kind: str = "Bearer") -> None:
        self.hub = hub
        self.http = httpx.Client(
            base_url=hub.api,
            headers={"Authorization": f"{kind} {token}", "X-GitHub-Api-Version": "2022-11-28"},
            timeout=10,
        )

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> httpx.Response:
        return self.http.request(method, path, json=body, params=query or None)

    def get(self, path: str, **query: Any) -> Any:
        answer = self.ask("GET", path, **query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path: str, body: Any, status: int = 201) -> Any:
        answer = self.ask("POST", path, body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def graphql(self, query: str, **variables: Any) -> Any:
        body = {"query": query, "variables": variables}
        return self.http.post(self.hub.graphql_url, json=body).json()


@pytest.fixture
def repo(hub: FakeGitHub) -> Repository:
    made = hub.repository("acme/bench", {"f": LINES, "g": "g\n", "deep/er/h": "h\n", "link": Link("g")})
    made.grant("alice", "write")
    return made


@pytest.fixture
def pull(repo: Repository) -> Pull:
    repo.commit("change", {"f": CHANGED, "new": "n\n"})
    return repo.open_pull("change", title="Change f")


@pytest.fixture
def client(hub: FakeGitHub, repo: Repository) -> Client:
    return Client(hub, hub.actions_token(repo).text)


@pytest.fixture
def app_client(hub: FakeGitHub, repo: Repository) -> Client:
    return Client(hub, hub.installation_token(hub.install(hub.app(), repo)).text)


PULL = "/repos/acme/bench/pulls/1"
ISSUE = "/repos/acme/bench/issues/1"


def comment(line: int, body: str = "b", path: str = "f", side: str = "RIGHT", **more: Any) -> dict[str, Any]:
    return {"path": path, "line": line, "side": side, "body": body, **more}


def review(pull: Pull, *comments: dict[str, Any], body: str = "") -> dict[str, Any]:
    return {"commit_id": pull.head_sha, "event": "COMMENT", "body": body, "comments": list(comments)}


# Reading


def test_a_pull_request(client: Client, pull: Pull) -> None:
    found = client.get(PULL)
    assert (found["title"], found["changed_files"], found["additions"], found["deletions"]) == ("Change f", 2, 3, 2)
    assert found["head"]["sha"] == pull.head_sha
    assert found["base"]["sha"] == pull.merge_base
    files = client.get(f"{PULL}/files")
    assert [one["filename"] for one in files] == ["f", "new"]
    assert files[1]["patch"] == "@@ -0,0 +1 @@\n+n"
    assert [one["sha"] for one in client.get(f"{PULL}/commits")] == [pull.head_sha]
    assert [one["number"] for one in client.get("/repos/acme/bench/pulls", state="open")] == [1]
    assert client.get("/repos/acme/bench/pulls", state="closed") == []


def test_the_base_may_move_on(client: Client, repo: Repository, pull: Pull) -> None:
    before = repo.branches["main"]
    after = repo.commit("main", {"g": "G\n"})
    assert client.get(PULL)["base"]["sha"] == before
    assert client.get(f"/repos/acme/bench/compare/{after}...{pull.head_sha}")["merge_base_commit"]["sha"] == before
    assert [one["filename"] for one in client.get(f"{PULL}/files")] == ["f", "new"]
    repo.strict = True
    assert client.get(PULL)["mergeable_state"] == "behind"


def test_trees_and_blobs(client: Client, repo: Repository, pull: Pull) -> None:
    whole = client.get(f"/repos/acme/bench/git/trees/{pull.head_sha}", recursive="1")
    assert not whole["truncated"]
    assert {one["path"]: one["mode"] for one in whole["tree"]} == {
        "deep": "040000",
        "deep/er": "040000",
        "deep/er/h": "100644",
        "f": "100644",
        "g": "100644",
        "link": "120000",
        "new": "100644",
    }
    repo.tree_entries = 3
    cut = client.get(f"/repos/acme/bench/git/trees/{pull.head_sha}", recursive="1")
    assert (cut["truncated"], len(cut["tree"])) == (True, 3)
    folder = next(one for one in whole["tree"] if one["path"] == "deep/er")
    inside = client.get(f"/repos/acme/bench/git/trees/{folder['sha']}")
    assert [one["path"] for one in inside["tree"]] == ["h"]
    blob = client.get(f"/repos/acme/bench/git/blobs/{inside['tree'][0]['sha']}")
    assert (blob["content"].strip(), blob["size"]) == ("aAo=", 2)
    assert client.get("/repos/acme/bench/contents/deep/er/h", ref="change")["content"].strip() == "aAo="
    assert client.get("/repos/acme/bench/contents/link")["target"] == "g"
    assert [one["path"] for one in client.get("/repos/acme/bench/contents/deep")] == ["deep/er"]
    assert client.ask("GET", "/repos/acme/bench/git/blobs/" + "1" * 40).status_code == 404


def test_lists_have_pages(client: Client, pull: Pull) -> None:
    for number in range(5):
        pull.comment(f"comment {number}")
    answer = client.ask("GET", f"{ISSUE}/comments", per_page=2)
    assert [one["body"] for one in answer.json()] == ["comment 0", "comment 1"]
    assert 'rel="next"' in answer.headers["link"]
    assert 'rel="last"' in answer.headers["link"]
    found = [one["body"] for one in answer.json()]
    while "next" in answer.links:
        answer = client.http.get(answer.links["next"]["url"])
        found += [one["body"] for one in answer.json()]
    assert found == [f"comment {number}" for number in range(5)]


def test_no_more_files_than_the_limit(client: Client, repo: Repository) -> None:
    repo.commit("many", {f"n/{number:04}": "x\n" for number in range(3_010)})
    repo.open_pull("many")
    found, page = [], 1
    while batch := client.get(f"{PULL}/files", per_page=100, page=page):
        found += batch
        page += 1
    assert len(found) == 3_000
    assert client.get(PULL)["changed_files"] == 3_010


def test_a_fork(hub: FakeGitHub, client: Client, repo: Repository) -> None:
    fork = hub.fork(repo, "stranger")
    fork.commit("mine", {"g": "theirs\n"}, author="stranger")
    pull = repo.open_pull("mine", source=fork, author="stranger")
    found = client.get(PULL)
    assert found["head"]["repo"]["full_name"] == "stranger/bench"
    assert found["author_association"] == "NONE"
    # What is in the fork can be read through the repository.
    blob = next(one["sha"] for one in client.get(f"{PULL}/files"))
    assert client.get(f"/repos/acme/bench/git/blobs/{blob}")["size"] == 7
    hub.delete(fork)
    assert client.get(PULL)["head"]["repo"] is None
    assert client.get(PULL)["head"]["sha"] == pull.head_sha


def test_permission_of_an_account(hub: FakeGitHub, client: Client, repo: Repository) -> None:
    repo.grant("mona", "maintain")
    hub.user("stranger")
    found = client.get("/repos/acme/bench/collaborators/mona/permission")
    assert (found["permission"], found["role_name"]) == ("write", "maintain")
    assert client.get("/repos/acme/bench/collaborators/stranger/permission")["permission"] == "read"
    assert client.ask("GET", "/repos/acme/bench/collaborators/nobody/permission").status_code == 404


# Writing


def test_a_review(client: Client, pull: Pull) -> None:
    body = review(
        pull,
        comment(5, "new line"),
        comment(30, "old line", side="LEFT"),
        comment(39, "range", start_line=37, start_side="RIGHT"),
        body="Hello",
    )
    assert client.post(f"{PULL}/reviews", body, 200)["state"] == "COMMENTED"
    found = client.get(f"{PULL}/comments")
    assert [(one["line"], one["side"], one["start_line"]) for one in found] == [
        (5, "RIGHT", None),
        (30, "LEFT", None),
        (39, "RIGHT", 37),
    ]
    assert found[0]["user"]["login"] == "github-actions[bot]"
    assert found[0]["diff_hunk"].endswith("-line 5\n+LINE 5")
    assert len(client.get(f"{PULL}/reviews")) == 1


@pytest.mark.parametrize(
    ("bad", "told"),
    [
        (comment(1), "Line could not be resolved"),
        (comment(5, path="g"), "Path could not be resolved"),
        (comment(39, start_line=5, start_side="RIGHT"), "Start line must be part of the same hunk as the line."),
        (comment(5, start_line=5, start_side="RIGHT"), "Start line must precede the end line."),
        (comment(5, start_line=1, start_side="RIGHT"), "Start line could not be resolved"),
        (comment(38, side="LEFT", path="new"), "Line could not be resolved"),
    ],
)
def test_one_bad_anchor_loses_the_review(client: Client, pull: Pull, bad: dict[str, Any], told: str) -> None:
    answer = client.ask("POST", f"{PULL}/reviews", review(pull, comment(5), bad))
    assert (answer.status_code, answer.json()["errors"]) == (422, [told])
    assert pull.inline == []
    assert pull.reviews == []


def test_text_has_a_limit_in_utf16(client: Client, pull: Pull) -> None:
    assert client.ask("POST", f"{ISSUE}/comments", {"body": "x" * 65_536}).status_code == 201
    answer = client.ask("POST", f"{ISSUE}/comments", {"body": "\U0001f600" * 32_769})
    assert answer.status_code == 422
    assert "too long" in answer.json()["errors"][0]["message"]
    assert client.ask("POST", f"{PULL}/reviews", review(pull, comment(5, "x" * 65_537))).status_code == 422
    assert client.ask("POST", f"{ISSUE}/comments", {"body": " "}).status_code == 422


def test_comments_one_by_one(client: Client, pull: Pull) -> None:
    one = client.post(f"{PULL}/comments", {**comment(5), "commit_id": pull.head_sha})
    whole = client.post(
        f"{PULL}/comments", {"path": "new", "body": "b", "subject_type": "file", "commit_id": pull.head_sha}
    )
    assert (one["line"], whole["line"], whole["subject_type"]) == (5, None, "file")
    reply = client.post(f"{PULL}/comments/{one['id']}/replies", {"body": "answer"})
    assert (reply["in_reply_to_id"], reply["line"]) == (one["id"], 5)
    assert reply["pull_request_review_id"] != one["pull_request_review_id"]
    bad = client.ask("POST", f"{PULL}/comments", {**comment(1), "commit_id": pull.head_sha})
    assert bad.json()["errors"][0]["field"] == "pull_request_review_thread.line"
    assert client.ask("PATCH", f"/repos/acme/bench/pulls/comments/{one['id']}", {"body": "edited"}).status_code == 200
    assert pull.inline[0].body == "edited"
    assert client.ask("DELETE", f"/repos/acme/bench/pulls/comments/{whole['id']}").status_code == 204
    assert len(pull.inline) == 2


def test_an_answer_to_an_answer_is_refused(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    reply = pull.reply(pull.comment_on("f", "b", line=5), "answer")
    assert client.ask("POST", f"{PULL}/comments/{reply.id}/replies", {"body": "x"}).status_code == 422
    assert hub.violations.pop().startswith("pulls/create-reply-for-review-comment:")


def test_comments_outlive_pushes(client: Client, pull: Pull) -> None:
    kept = pull.comment_on("f", "kept", line=5)
    lost = pull.comment_on("f", "lost", line=39)
    first = pull.head_sha
    pull.push({"f": "top\n" + CHANGED.replace("more\n", "")})
    found = {one["body"]: one for one in client.get(f"{PULL}/comments")}
    assert (found["kept"]["line"], found["kept"]["original_line"], found["kept"]["commit_id"]) == (6, 5, pull.head_sha)
    assert (found["lost"]["line"], found["lost"]["original_line"], found["lost"]["commit_id"]) == (None, 39, first)
    assert (kept.place(), lost.place()) == ((6, None), (None, None))


def test_a_force_push_takes_commits_away(client: Client, pull: Pull) -> None:
    first = pull.head_sha
    pull.comment_on("f", "b", line=5)
    pull.force_push({"f": LINES.replace("line 5\n", "Line 5\n")})
    assert [one["sha"] for one in client.get(f"{PULL}/commits")] == [pull.head_sha]
    assert pull.head_sha != first
    assert client.get(f"{PULL}/comments")[0]["line"] is None


def test_only_own_comments_are_edited(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    theirs = pull.comment("mine")
    answer = client.ask("PATCH", f"/repos/acme/bench/issues/comments/{theirs.id}", {"body": "x"})
    assert (answer.status_code, theirs.body) == (403, "mine")
    assert hub.violations.pop() == "issues/update-comment: of what somebody else wrote"


def test_reactions_and_labels(client: Client, pull: Pull) -> None:
    asked = pull.comment("/botlint check")
    url = f"/repos/acme/bench/issues/comments/{asked.id}/reactions"
    client.post(url, {"content": "eyes"})
    client.post(url, {"content": "eyes"}, 200)
    assert [content for _, _, content in asked.reactions] == ["eyes"]
    client.post(f"{ISSUE}/labels", {"labels": ["bug"]}, 200)
    assert pull.labels == ["bug"]
    assert client.ask("DELETE", f"{ISSUE}/labels/bug").status_code == 200
    assert client.ask("DELETE", f"{ISSUE}/labels/bug").status_code == 404


# Checks


def note(number: int) -> dict[str, Any]:
    level = "warning"
    return {"path": "f", "start_line": number, "end_line": number, "annotation_level": level, "message": "m"}


def test_check_runs(hub: FakeGitHub, app_client: Client, repo: Repository, pull: Pull) -> None:
    url = "/repos/acme/bench/check-runs"
    output = {"title": "t", "summary": "s", "annotations": [note(n) for n in range(1, 51)]}
    made = app_client.post(
        url,
        {"name": "botlint", "head_sha": pull.head_sha, "status": "in_progress", "external_id": "x", "output": output},
    )
    more = {"output": {**output, "annotations": [note(51)]}, "conclusion": "failure"}
    assert app_client.ask("PATCH", f"{url}/{made['id']}", more).json()["status"] == "completed"
    assert len(app_client.get(f"{url}/{made['id']}/annotations", per_page=100)) == 51
    found = app_client.get(f"/repos/acme/bench/commits/{pull.head_sha}/check-runs", check_name="botlint")
    assert [(one["conclusion"], one["external_id"]) for one in found["check_runs"]] == [("failure", "x")]
    assert app_client.get(f"/repos/acme/bench/commits/{pull.head_sha}/check-suites")["total_count"] == 1
    (run,) = repo.runs()
    assert run.history == [("in_progress", None), ("completed", "failure")]
    app_client.post(url, {"name": "botlint", "head_sha": pull.head_sha})
    latest = app_client.get(f"/repos/acme/bench/commits/{pull.head_sha}/check-runs")
    assert [one["status"] for one in latest["check_runs"]] == ["queued"]
    every = app_client.get(f"/repos/acme/bench/commits/{pull.head_sha}/check-runs", filter="all")
    assert every["total_count"] == 2


@pytest.mark.parametrize(
    "output",
    [
        {"title": "t" * 256, "summary": "s"},
        {"title": "t", "summary": "s" * 65_536},
        {"title": "t", "summary": "s", "annotations": [{**note(2), "start_line": 3}]},
        {"title": "t", "summary": "s", "annotations": [{**note(2), "end_line": 3, "start_column": 1}]},
        {"title": "t", "summary": "s", "annotations": [{**note(2), "message": ""}]},
    ],
)
def test_limits_of_check_runs(
    hub: FakeGitHub, app_client: Client, repo: Repository, pull: Pull, output: dict[str, Any]
) -> None:
    body = {"name": "botlint", "head_sha": pull.head_sha, "output": output}
    assert app_client.ask("POST", "/repos/acme/bench/check-runs", body).status_code == 422
    assert repo.runs() == []
    # GitHub's description knows some of these limits.
    hub.violations.clear()


def test_51_annotations_are_a_violation(hub: FakeGitHub, app_client: Client, pull: Pull) -> None:
    output = {"title": "t", "summary": "s", "annotations": [note(n) for n in range(1, 52)]}
    body = {"name": "botlint", "head_sha": pull.head_sha, "output": output}
    assert app_client.ask("POST", "/repos/acme/bench/check-runs", body).status_code == 422
    assert "is too long" in hub.violations.pop()


def test_a_run_belongs_to_its_app(hub: FakeGitHub, app_client: Client, repo: Repository, pull: Pull) -> None:
    other = Client(hub, hub.installation_token(hub.install(hub.app("other"), repo)).text)
    made = other.post("/repos/acme/bench/check-runs", {"name": "botlint", "head_sha": pull.head_sha})
    answer = app_client.ask("PATCH", f"/repos/acme/bench/check-runs/{made['id']}", {"conclusion": "success"})
    assert answer.status_code == 403
    assert hub.violations.pop() == "checks/update: of another App's run"


# Who may


def test_permissions_of_tokens(hub: FakeGitHub, repo: Repository, pull: Pull) -> None:
    reading = Client(hub, hub.actions_token(repo, {"contents": "read", "pull_requests": "read"}).text)
    assert reading.get(PULL)["number"] == 1
    answer = reading.ask("POST", f"{ISSUE}/comments", {"body": "x"})
    assert (answer.status_code, answer.json()["message"]) == (403, "Resource not accessible by integration")
    writing = Client(hub, hub.actions_token(repo, {"pull_requests": "write"}).text)
    writing.post(f"{ISSUE}/comments", {"body": "x"})
    body = {"name": "botlint", "head_sha": pull.head_sha}
    assert writing.ask("POST", "/repos/acme/bench/check-runs", body).status_code == 403
    person = Client(hub, hub.personal_token("stranger").text)
    person.post(f"{ISSUE}/comments", {"body": "x"})
    assert person.ask("POST", "/repos/acme/bench/check-runs", body).status_code == 403
    assert person.get("/user")["login"] == "stranger"
    assert reading.ask("GET", "/user").status_code == 403


def test_a_private_repository_is_not_there_for_others(hub: FakeGitHub, repo: Repository) -> None:
    private = hub.repository("acme/secret", {"f": "f\n"}, private=True)
    other = Client(hub, hub.actions_token(repo).text)
    assert other.ask("GET", "/repos/acme/secret").status_code == 404
    assert Client(hub, hub.actions_token(private).text).get("/repos/acme/secret")["private"]
    assert other.graphql('{ repository(owner: "acme", name: "secret") { id } }')["errors"][0]["type"] == "NOT_FOUND"


def test_tokens_end(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    assert client.get(PULL)
    hub.shift = 3_601
    answer = client.ask("GET", PULL)
    assert (answer.status_code, answer.json()["message"]) == (401, "Bad credentials")


def test_without_a_token(hub: FakeGitHub, pull: Pull) -> None:
    assert httpx.get(hub.api + PULL, headers={"X-GitHub-Api-Version": "2022-11-28"}).status_code == 401
    assert hub.violations.pop() == "pulls/get: without a token"


def test_an_app_signs_with_its_key(hub: FakeGitHub, repo: Repository) -> None:
    app, other = hub.app(), hub.app("other")
    installed = hub.install(app, repo, hub.repository("acme/more", {"f": "f"}))

    def signed(key: str, issuer: int, life: float = 300) -> Client:
        now = int(time.time())
        claims = {"iat": now - 60, "exp": now + int(life), "iss": str(issuer)}
        return Client(hub, jwt.encode(claims, key, algorithm="RS256"))

    right = signed(app.private_key, app.id)
    assert right.get("/app")["slug"] == "botlint"
    assert [one["id"] for one in right.get("/app/installations")] == [installed.id]
    assert right.get("/repos/acme/bench/installation")["id"] == installed.id
    for wrong in (signed(other.private_key, app.id), signed(app.private_key, app.id, 900), signed(app.private_key, 1)):
        assert wrong.ask("GET", "/app").status_code == 401

    url = f"/app/installations/{installed.id}/access_tokens"
    whole = right.post(url, {})
    narrow = right.post(url, {"repository_ids": [repo.id], "permissions": {"contents": "read"}})
    assert Client(hub, whole["token"]).get("/installation/repositories")["total_count"] == 2
    small = Client(hub, narrow["token"])
    assert [one["name"] for one in small.get("/installation/repositories")["repositories"]] == ["bench"]
    assert small.ask("POST", "/repos/acme/bench/check-runs", {"name": "x", "head_sha": "1"}).status_code == 403
    assert right.ask("POST", url, {"permissions": {"administration": "write"}}).status_code == 422
    assert right.ask("POST", url, {"repository_ids": [1]}).status_code == 422
    installed.suspended = True
    assert right.ask("POST", url, {}).status_code == 403


# GraphQL

THREADS = """query($number: Int!) { repository(owner: "acme", name: "bench") { pullRequest(number: $number) {
  reviewThreads(first: 2) { pageInfo { hasNextPage endCursor } nodes { id isResolved isOutdated
    comments(first: 10) { nodes { fullDatabaseId author { login ... on Bot { databaseId } } } } } } } } }"""
RESOLVE = "mutation($id: ID!) { resolveReviewThread(input: {threadId: $id}) { thread { id isResolved } } }"
MINIMIZE = """mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) {
  minimizedComment { isMinimized minimizedReason } } }"""


def test_threads(hub: FakeGitHub, repo: Repository, client: Client, pull: Pull) -> None:
    for line in (5, 4, 6):
        pull.comment_on("f", "b", hub.actions.bot, line=line)
    pull.reply(pull.inline[0], "hm")
    found = client.graphql(THREADS, number=1)["data"]["repository"]["pullRequest"]["reviewThreads"]
    assert found["pageInfo"]["hasNextPage"]
    first = found["nodes"][0]
    assert [one["author"]["login"] for one in first["comments"]["nodes"]] == ["github-actions", "alice"]
    assert first["comments"]["nodes"][0]["fullDatabaseId"] == str(pull.inline[0].id)

    refused = client.graphql(RESOLVE, id=first["id"])
    assert (refused["data"], refused["errors"][0]["type"]) == ({"resolveReviewThread": None}, "FORBIDDEN")
    allowed = Client(hub, hub.actions_token(repo, {"contents": "write", "pull_requests": "write"}).text)
    assert allowed.graphql(RESOLVE, id=first["id"])["data"]["resolveReviewThread"]["thread"]["isResolved"]
    assert pull.threads[0].resolved_by is hub.actions.bot
    assert client.graphql(RESOLVE, id="nothing")["errors"][0]["type"] == "NOT_FOUND"


def test_folding_comments(client: Client, pull: Pull) -> None:
    for one in (pull.comment("c"), pull.comment_on("f", "b", line=5), pull.reviews[0]):
        found = client.graphql(MINIMIZE, id=one.node_id)["data"]["minimizeComment"]["minimizedComment"]
        assert found == {"isMinimized": True, "minimizedReason": "outdated"}
        assert one.minimized == "OUTDATED"


def test_blobs_in_one_query(hub: FakeGitHub, client: Client, repo: Repository, pull: Pull) -> None:
    texts: dict[str, bytes] = {"a": b"text\r\n", "b": b"\0", "c": "caf\u00e9".encode("latin-1"), "d": b"x" * 600_000}
    repo.commit("change", dict(texts))
    shas = {name: repo.objects.blob(data) for name, data in texts.items()}
    fields = "... on Blob { text isTruncated isBinary byteSize oid }"
    parts = [f'{name}: object(oid: "{sha}") {{ {fields} }}' for name, sha in shas.items()]
    parts.append('e: object(expression: "change:a") { oid }')
    parts.append(f'f: object(oid: "{"1" * 40}") {{ oid }}')
    query = f'{{ repository(owner: "acme", name: "bench") {{ {" ".join(parts)} }} }}'
    found = client.graphql(query)["data"]["repository"]
    assert (found["a"]["text"], found["a"]["byteSize"]) == ("text\r\n", 6)
    assert (found["b"]["text"], found["b"]["isBinary"]) == (None, True)
    assert repo.objects.blob(found["c"]["text"].encode()) != shas["c"]
    assert (found["d"]["isTruncated"], len(found["d"]["text"])) == (True, 512_000)
    assert (found["e"]["oid"], found["f"]) == (shas["a"], None)


OF_PULL = '{ repository(owner: "acme", name: "bench") { pullRequest(number: 1) { %s } } }'
DATABASE_ID = "reviewThreads(first: 1) { nodes { comments(first: 1) { nodes { databaseId } } } }"


@pytest.mark.parametrize(
    ("query", "told"),
    [
        ("{ viewer { name } }", "Cannot query field 'name'"),
        (OF_PULL % "reviewThreads { totalCount }", "without first or last"),
        (OF_PULL % "comments(first: 200) { totalCount }", "more than 100"),
        (OF_PULL % DATABASE_ID, "deprecated"),
        ("{", "Syntax Error"),
    ],
)
def test_wrong_queries_are_violations(hub: FakeGitHub, client: Client, pull: Pull, query: str, told: str) -> None:
    client.graphql(query)
    assert told in hub.violations.pop()
    assert hub.violations == []


# What goes wrong


def test_violations_are_kept(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    assert client.ask("POST", f"{PULL}/reviews", review(pull, comment(5, startLine=1))).status_code == 422
    assert hub.violations == ["pulls/create-review: body /comments/0/startLine: unknown property"]
    hub.violations.clear()
    assert client.ask("GET", "/repos/acme/bench/nothing").status_code == 404
    assert hub.violations == ["GET /repos/acme/bench/nothing: no operation that is known here"]
    hub.violations.clear()
    client.http.headers["X-GitHub-Api-Version"] = "2026-03-10"
    client.get(PULL)
    assert hub.violations == ["pulls/get: X-GitHub-Api-Version is not 2022-11-28"]
    hub.violations.clear()


def test_a_token_in_a_body_is_a_violation(hub: FakeGitHub, client: Client, repo: Repository, pull: Pull) -> None:
    client.post(f"{ISSUE}/comments", {"body": f"my token is {hub.actions_token(repo).text}"})
    assert hub.violations == ["issues/create-comment: a token in the request"]
    hub.violations.clear()


@pytest.mark.parametrize(
    ("fault", "status", "headers"),
    [
        (lambda: faults.secondary_limit(), 403, {}),
        (lambda: faults.secondary_limit(7), 403, {"retry-after": "7"}),
        (lambda: faults.secondary_limit(status=429), 429, {}),
        (lambda: faults.secondary_limit(3, status=429), 429, {"retry-after": "3"}),
        (lambda: faults.primary_limit(5), 403, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "5"}),
        (lambda: faults.abuse(), 422, {}),
        (lambda: faults.bad_gateway(), 502, {"content-type": "text/html"}),
        (lambda: faults.read_only(), 403, {}),
    ],
)
def test_faults(
    hub: FakeGitHub,
    client: Client,
    pull: Pull,
    fault: Callable[[], faults.Fault],
    status: int,
    headers: dict[str, str],
) -> None:
    hub.fail("issues/create-comment", fault())
    answer = client.ask("POST", f"{ISSUE}/comments", {"body": "b"})
    assert answer.status_code == status
    assert headers.items() <= answer.headers.items()
    assert "retry-after" in headers or "retry-after" not in answer.headers
    assert pull.comments == []
    client.post(f"{ISSUE}/comments", {"body": "b"})
    assert len(pull.comments) == 1


def test_done_and_then_failed(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    hub.fail("issues/create-comment", faults.bad_gateway(done=True, after=1))
    client.post(f"{ISSUE}/comments", {"body": "1"})
    assert client.ask("POST", f"{ISSUE}/comments", {"body": "2"}).status_code == 502
    assert [one.body for one in pull.comments] == ["1", "2"]


@pytest.mark.parametrize("done", [False, True])
def test_the_connection_breaks(hub: FakeGitHub, client: Client, pull: Pull, done: bool) -> None:
    hub.fail("issues/create-comment", faults.dropped(done=done))
    with pytest.raises(httpx.TransportError):
        client.ask("POST", f"{ISSUE}/comments", {"body": "b"})
    assert len(pull.comments) == int(done)
    client.post(f"{ISSUE}/comments", {"body": "b"})


def test_slow_answers(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    hub.fail("pulls/get", faults.slow(0.2))
    begun = time.monotonic()
    client.get(PULL)
    assert time.monotonic() - begun >= 0.2
    client.http.timeout = httpx.Timeout(0.1)
    hub.fail("pulls/get", faults.slow(0.4))
    with pytest.raises(httpx.ReadTimeout):
        client.get(PULL)


def test_a_fault_for_some_bodies(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    refused = faults.Fault(status=422, body={"message": "no"}, times=-1, if_body=lambda body: "bad" in body["body"])
    hub.fail("issues/.*", refused)
    client.post(f"{ISSUE}/comments", {"body": "good"})
    assert client.ask("POST", f"{ISSUE}/comments", {"body": "bad"}).status_code == 422
    assert client.ask("POST", f"{ISSUE}/comments", {"body": "bad"}).status_code == 422
    assert refused.happened == 2


def test_a_limit_on_writing(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    hub.limit = Limit(2, 60, lambda: faults.secondary_limit(1))
    codes = [client.ask("POST", f"{ISSUE}/comments", {"body": "b"}).status_code for _ in range(3)]
    assert codes == [201, 201, 403]
    hub.shift = 61
    client.post(f"{ISSUE}/comments", {"body": "b"})


def test_the_hourly_limit(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    hub.rate_limit = 2
    assert client.ask("GET", PULL).headers["x-ratelimit-remaining"] == "1"
    client.get(PULL)
    answer = client.ask("GET", PULL)
    assert (answer.status_code, answer.headers["x-ratelimit-remaining"]) == (403, "0")


def test_a_renamed_repository(hub: FakeGitHub, client: Client, repo: Repository, pull: Pull) -> None:
    hub.rename(repo, "acme/renamed")
    answer = client.ask("GET", PULL)
    assert (answer.status_code, answer.headers["location"]) == (301, f"{hub.api}/repositories/{repo.id}/pulls/1")
    assert client.http.get(answer.headers["location"]).json()["base"]["repo"]["full_name"] == "acme/renamed"
    answer = client.ask("POST", f"{ISSUE}/comments", {"body": "b"})
    assert answer.status_code == 307
    assert pull.comments == []
    assert client.http.post(answer.headers["location"], json={"body": "b"}).status_code == 201
    assert client.graphql('{ repository(owner: "acme", name: "bench") { nameWithOwner } }')["data"]["repository"] == {
        "nameWithOwner": "acme/renamed"
    }


# Webhooks and workflows


def test_deliveries(hub: FakeGitHub, repo: Repository, pull: Pull) -> None:
    app = hub.app()
    hub.install(app, repo)
    payload = hub.events.pull_request(pull, "opened")
    assert payload["installation"]["id"] == app.installations[0].id
    lost = hub.deliver(app, "pull_request", payload, lost=True)
    for _ in range(3):
        hub.deliver(app, "ping", hub.events.ping(app), lost=True)
    now = int(time.time())
    token = jwt.encode({"iat": now, "exp": now + 60, "iss": str(app.id)}, app.private_key, algorithm="RS256")
    client = Client(hub, token)
    answer = client.ask("GET", "/app/hook/deliveries", per_page=3)
    assert [one["event"] for one in answer.json()] == ["ping"] * 3
    rest = client.http.get(answer.links["next"]["url"])
    assert [(one["guid"], one["status_code"]) for one in rest.json()] == [(lost.guid, 0)]
    assert "next" not in rest.links
    assert client.get(f"/app/hook/deliveries/{lost.id}")["request"]["payload"]["action"] == "opened"
    assert client.ask("POST", f"/app/hook/deliveries/{lost.id}/attempts").status_code == 202


def test_payloads_are_of_use(hub: FakeGitHub, repo: Repository, pull: Pull) -> None:
    app = hub.app()
    hub.install(app, repo)
    branch, sha = repo.merge_group(pull)
    assert repo.objects.merge_base(sha, pull.head_sha) == pull.head_sha
    group = hub.events.merge_group(repo, branch, sha)["merge_group"]
    assert group["base_sha"] == repo.branches["main"]
    asked = hub.events.issue_comment(pull.comment("/botlint check"))
    assert asked["issue"]["pull_request"]["url"].endswith("/pulls/1")
    assert asked["sender"]["type"] == "User"
    before = pull.head_sha
    pull.push({"g": "x\n"})
    pushed = hub.events.pull_request(pull, "synchronize")
    assert (pushed["before"], pushed["after"]) == (before, pull.head_sha)
    repo.commit("release", {"g": "y\n"}, onto=repo.branches["main"])
    pull.retarget("release")
    assert hub.events.retargeted(pull, "main", before)["changes"]["base"]["ref"] == {"from": "main"}
    assert hub.events.check_suite(repo, app, pull.head_sha)["check_suite"]["head_sha"] == pull.head_sha


def test_workflows(hub: FakeGitHub, repo: Repository) -> None:
    client = Client(hub, hub.actions_token(repo, {"actions": "write"}).text)
    workflow = repo.workflow(".github/workflows/smoke.yml", "smoke", ["pr", "nonce"])
    url = "/repos/acme/bench/actions/workflows/smoke.yml"
    assert client.get(url)["id"] == workflow.id
    asked = {"ref": "main", "inputs": {"pr": "1", "nonce": "n"}}
    assert client.ask("POST", f"{url}/dispatches", asked).status_code == 204
    made = client.post(f"{url}/dispatches", {**asked, "return_run_details": True}, 200)
    assert client.ask("POST", f"{url}/dispatches", {**asked, "inputs": {"x": "1"}}).status_code == 422
    assert client.ask("POST", f"{url}/dispatches", {"ref": "nowhere"}).status_code == 422
    assert client.get(f"{url}/runs", event="workflow_dispatch")["total_count"] == 2
    run = workflow.runs[1]
    assert (made["workflow_run_id"], run.title) == (run.id, "smoke 1 n")

    data = BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        archive.writestr("smoke.json", "{}")
    run.artifacts["botlint-smoke"] = (hub.next_id(), data.getvalue())
    (listed,) = client.get(f"/repos/acme/bench/actions/runs/{run.id}/artifacts")["artifacts"]
    answer = client.ask("GET", f"/repos/acme/bench/actions/artifacts/{listed['id']}/zip")
    assert answer.status_code == 302
    got = httpx.get(answer.headers["location"])
    assert zipfile.ZipFile(BytesIO(got.content)).namelist() == ["smoke.json"]
    assert client.ask("POST", f"/repos/acme/bench/actions/runs/{run.id}/cancel").status_code == 202
    assert client.get(f"/repos/acme/bench/actions/runs/{run.id}")["conclusion"] == "cancelled"
    assert client.ask("POST", f"/repos/acme/bench/actions/runs/{run.id}/cancel").status_code == 409


# The record


def test_calls_are_kept(hub: FakeGitHub, client: Client, pull: Pull) -> None:
    client.get(PULL)
    client.post(f"{ISSUE}/comments", {"body": "b"})
    assert hub.counts() == {"pulls/get": 1, "issues/create-comment": 1}
    assert hub.count("issues/.*", 201) == 1
    (call,) = hub.writes()
    assert (call.body, call.path, call.status) == ({"body": "b"}, f"{ISSUE}/comments", 201)
    assert isinstance(call.token, Token)


def test_the_seed(hub: FakeGitHub) -> None:
    seed = plant(hub)
    files = {one.path: one for one in seed.pull.files()}
    assert list(files) == [RECIPE, "perf-changelog.yaml"]
    assert f"+{LAYOUT}" in (files[RECIPE].patch or "")
    assert ENTRY in seed.text("configs/amd-master.yaml")
    seed.mend_layout()
    seed.mend_backend()
    assert len(seed.pull.commits()) == 3
    assert "lmcache)" in seed.recipe


def test_an_enterprise_server_has_a_prefix() -> None:
    with FakeGitHub(prefix="/api/v3") as hub:
        repo = hub.repository("acme/bench", {"f": "f\n", "sub": Submodule("1" * 40)})
        client = Client(hub, hub.actions_token(repo).text)
        assert client.get("/repos/acme/bench")["url"] == f"{hub.web}/api/v3/repos/acme/bench"
        assert client.graphql("{ viewer { login databaseId } }")["data"]["viewer"]["login"] == "github-actions[bot]"
        assert hub.violations == []

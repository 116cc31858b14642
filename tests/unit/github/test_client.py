"""What the client sends, sends again and never sends again; and what it makes of GitHub's answers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import Any

import pytest
from answering import Answer, Asked, Server, serving

from botlint.github.client import Client, blob_id
from botlint.github.models import Annotation, CheckOutput, NewComment
from botlint.github.port import (
    Ambiguous,
    Forbidden,
    GitHubError,
    NotFound,
    RateLimited,
    Unprocessable,
)

SHA = "a" * 40
TOKEN = "ghs_" + "x" * 36
PULL = {
    "number": 7,
    "title": "T",
    "body": None,
    "state": "open",
    "user": None,
    "head": {"sha": SHA, "ref": "f", "repo": None},
    "base": {"sha": "b" * 40, "ref": "main", "repo": {"full_name": "acme/bench"}},
}


def client(server: Server, waits: list[float] | None = None, **options: Any) -> Client:
    sleep = (waits if waits is not None else []).append
    return Client("acme/bench", TOKEN, base_url=server.url, sleep=sleep, **options)


def read(one: Client) -> object:
    return one.pull(7)


def comment(one: Client) -> object:
    return one.create_issue_comment(7, "hello")


def edit(one: Client) -> object:
    return one.edit_issue_comment(3, "hello")


LIMITED = Answer(403, {"message": "API rate limit exceeded for installation"}, {"X-RateLimit-Remaining": "0"})


@pytest.mark.parametrize(
    ("call", "answers", "error", "asked"),
    [
        (read, [Answer(502), Answer(200, PULL)], None, 2),
        (read, [Answer(None), Answer(200, PULL)], None, 2),
        (read, [Answer(500)], GitHubError, 5),
        (read, [Answer(404, {"message": "Not Found"})], NotFound, 1),
        (read, [Answer(403, {"message": "Resource not accessible by integration"})], Forbidden, 1),
        (read, [Answer(401, {"message": "Bad credentials"})], Forbidden, 1),
        (read, [Answer(429), Answer(200, PULL)], None, 2),
        (read, [Answer(429, None, {"Retry-After": "2"}), Answer(200, PULL)], None, 2),
        (read, [Answer(403, {"message": "x"}, {"Retry-After": "2"}), Answer(200, PULL)], None, 2),
        (read, [Answer(403, {"message": "You have exceeded a secondary rate limit"}), Answer(200, PULL)], None, 2),
        (read, [Answer(403, None, {"Retry-After": "4000"})], RateLimited, 1),
        (read, [Answer(429)], RateLimited, 5),
        (comment, [Answer(502), Answer(201, {})], Ambiguous, 1),
        (comment, [Answer(None), Answer(201, {})], Ambiguous, 1),
        (comment, [Answer(429, None, {"Retry-After": "1"}), Answer(201, {})], RateLimited, 1),
        (comment, [LIMITED], RateLimited, 1),
        (comment, [Answer(422, {"message": "V", "errors": [{"code": "abuse"}]})], RateLimited, 1),
        (comment, [Answer(422, {"message": "V", "errors": [{"message": "line must be"}]})], Unprocessable, 1),
        (edit, [Answer(502), Answer(200, {})], None, 2),
        (edit, [Answer(None), Answer(200, {})], None, 2),
    ],
)
def test_what_is_sent_again(
    call: Callable[[Client], object], answers: list[Answer], error: type[Exception] | None, asked: int
) -> None:
    waits: list[float] = []
    with serving(answers) as server:
        one = client(server, waits)
        if error is None:
            call(one)
        else:
            with pytest.raises(error) as raised:
                call(one)
            assert type(raised.value) is error
            assert "acme" not in str(raised.value)
        assert len(server.asked) == asked == one.calls
    assert len(waits) == asked - 1


def test_waits_as_long_as_github_says() -> None:
    waits: list[float] = []
    reset = Answer(
        403,
        {"message": "API rate limit exceeded"},
        {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(time.time()) + 10)},
    )
    with serving([reset, Answer(403, {}, {"Retry-After": "7"}), Answer(429), Answer(200, PULL)]) as server:
        client(server, waits).pull(7)
    assert 8 < waits[0] < 12
    assert waits[1:] == [7, 60]


def test_nothing_was_sent_where_no_connection_was_made() -> None:
    with serving([]) as server:
        pass
    with pytest.raises(GitHubError) as raised:
        client(server).create_issue_comment(7, "x")
    assert type(raised.value) is GitHubError


@pytest.mark.parametrize("status", [301, 307, 308])
@pytest.mark.parametrize("root", ["/repositories/42", "/repos/new/name"])
def test_a_renamed_repository_is_followed_for_reads_and_writes(status: int, root: str) -> None:
    def answer(asked: Asked) -> Answer:
        if asked.path.startswith("/repos/acme/bench"):
            return Answer(status, {}, {"Location": server.url + asked.path.replace("/repos/acme/bench", root)})
        if asked.method == "POST":
            return Answer(201, {"id": 5, "body": "x"})
        more = {"Link": f'<{server.url}{root}/x?page=2>; rel="next"'} if "page=2" not in asked.path else {}
        return Answer(200, [{"id": 1, "body": asked.path}], more)

    with serving(answer) as server:
        one = client(server)
        assert len(one.issue_comments(7)) == 2
        assert one.create_issue_comment(7, "x").id == 5
        assert [asked.path for asked in server.asked][1:] == [
            f"{root}/issues/7/comments?per_page=100",
            f"{root}/issues/7/comments?page=2&per_page=100",
            f"{root}/issues/7/comments",
        ]


@pytest.mark.parametrize(
    "location", ["https://evil.test/repositories/1/pulls/7", "", "/repos/a", "/other", "/repos/../x/pulls/7"]
)
def test_no_redirect_leads_elsewhere(location: str) -> None:
    with serving([Answer(301, {}, {"Location": location})]) as server:
        with pytest.raises(GitHubError):
            client(server).pull(7)
        assert len(server.asked) == 1


def test_redirects_end() -> None:
    with serving(lambda asked: Answer(307, {}, {"Location": f"/repositories/{len(server.asked)}/x"})) as server:
        with pytest.raises(GitHubError):
            client(server).create_issue_comment(7, "x")
        assert len(server.asked) == 3


def test_headers_and_bodies_of_writes() -> None:
    with serving([Answer(200, {})]) as server:
        one = client(server)
        one.create_review(
            7, SHA, "", [NewComment("a", "b", 3, "RIGHT", 3, "RIGHT"), NewComment("a", "c", 3, "RIGHT", 1, "RIGHT")]
        )
        one.create_file_comment(7, SHA, "a", "b")
        review, file = server.asked
    assert review.headers["x-github-api-version"] == "2022-11-28"
    assert review.headers["authorization"] == f"token {TOKEN}"
    assert review.body == {
        "commit_id": SHA,
        "event": "COMMENT",
        "comments": [
            {"path": "a", "body": "b", "line": 3, "side": "RIGHT"},
            {"path": "a", "body": "c", "line": 3, "side": "RIGHT", "start_line": 1, "start_side": "RIGHT"},
        ],
    }
    assert file.body == {"commit_id": SHA, "path": "a", "body": "b", "subject_type": "file"}


def annotations(count: int) -> tuple[Annotation, ...]:
    return tuple(Annotation("a", line, line, "failure", "m", "t") for line in range(1, count + 1))


def test_annotations_are_sent_by_fifty_and_none_twice() -> None:
    have: list[dict[str, Any]] = []
    lost = [True]

    def answer(asked: Asked) -> Answer:
        if asked.method == "GET":
            return Answer(200, have)
        have.extend((asked.body.get("output") or {}).get("annotations") or ())
        if asked.method == "PATCH" and lost and len(have) > 50:
            lost.clear()
            return Answer(502)
        return Answer(200, {"id": 9})

    output = CheckOutput("t", "s", annotations=annotations(120))
    with serving(answer) as server:
        one = client(server)
        run = one.create_check_run("botlint", SHA, "x")
        one.update_check_run(run.id, conclusion="failure", output=output)
        assert len(have) == 120
        assert [asked.method for asked in server.asked] == ["POST", "PATCH", "PATCH", "GET", "PATCH"]
        assert [asked.body.get("conclusion") for asked in server.asked if asked.body] == [None, None, None, "failure"]
        one.update_check_run(run.id, conclusion="failure", output=output)
        assert len(have) == 120
        again = one.create_check_run("botlint", SHA, "y", conclusion="failure", output=output)
        assert again.id == 9


def test_blobs_are_verified_and_read_one_by_one_where_a_query_does_not_do() -> None:
    contents = {blob_id(text): text for text in (b"one\n", b"two\r\n", b"\xff\xfe binary", "schön".encode(), b"lost")}
    wrong = blob_id(b"two\r\n")

    def answer(asked: Asked) -> Answer:
        if asked.path == "/graphql":
            repository: dict[str, Any] = {}
            for line in asked.body["query"].splitlines():
                if "object(oid" in line:
                    name, sha = line.split(":")[0].strip(), line.split('"')[1]
                    try:
                        text: str | None = contents[sha].decode().replace("\r", "")
                    except UnicodeDecodeError:
                        text = None
                    repository[name] = None if text == "lost" else {"text": text, "isTruncated": False}
            return Answer(200, {"data": {"repository": repository}})
        sha = asked.path.rpartition("/")[2]
        if contents[sha] == b"lost":
            return Answer(404, {"message": "Not Found"})
        import base64

        return Answer(200, {"content": base64.encodebytes(contents[sha]).decode(), "encoding": "base64"})

    with serving(answer) as server:
        found = client(server).blobs(contents)
        assert found == {sha: text for sha, text in contents.items() if text != b"lost"}
        assert len(server.asked) == 4
        assert wrong in found


def test_a_query_that_is_too_much_is_split() -> None:
    contents = {blob_id(text): text for text in (b"%d" % number for number in range(60))}

    def answer(asked: Asked) -> Answer:
        asked_for = [line.split('"')[1] for line in asked.body["query"].splitlines() if "object(oid" in line]
        if len(asked_for) > 20:
            return Answer(502)
        found = {f"b{place}": {"text": contents[sha].decode()} for place, sha in enumerate(asked_for)}
        return Answer(200, {"data": {"repository": found}})

    with serving(answer) as server:
        assert client(server).blobs(contents) == contents
        assert {asked.path for asked in server.asked} == {"/graphql"}
        assert len([one for one in server.asked if one.body["query"].count("object(oid") <= 20]) == 4


@pytest.mark.parametrize("sha", ["main", "../../x", "a" * 39, "a" * 40 + "\n", ""])
def test_only_ids_get_into_an_address(sha: str) -> None:
    with serving([Answer(200, {})]) as server:
        one = client(server)
        for call in (lambda: one.tree(sha, True), lambda: one.blobs([sha]), lambda: one.check_runs(sha, "x")):
            with pytest.raises(GitHubError):
                call()
        assert server.asked == []


@pytest.mark.parametrize("name", ["acme", "acme/bench/x", "../bench", "acme/..", "a b/c", "acme/bench?x"])
def test_names_of_repositories(name: str) -> None:
    with pytest.raises(GitHubError):
        Client(name, None)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (Answer(200, {"permission": "write", "role_name": "maintain"}), "maintain"),
        (Answer(200, {"permission": "write", "role_name": "custom-role"}), "write"),
        (Answer(200, {"permission": "odd"}), "none"),
        (Answer(404, {"message": "Not Found"}), "none"),
    ],
)
def test_permission(answer: Answer, expected: str) -> None:
    with serving([answer]) as server:
        assert client(server).permission("a/../b") == expected
        assert server.asked[0].path == "/repos/acme/bench/collaborators/a%2F..%2Fb/permission"


@pytest.mark.parametrize(
    ("errors", "error"),
    [
        ([{"type": "FORBIDDEN", "message": "acme/bench"}], Forbidden),
        ([{"type": "NOT_FOUND"}], NotFound),
        ([{"type": "RATE_LIMITED"}], RateLimited),
        ([{"message": "Something went wrong"}], GitHubError),
    ],
)
def test_errors_of_graphql(errors: list[dict[str, str]], error: type[Exception]) -> None:
    with serving([Answer(200, {"data": None, "errors": errors})]) as server, pytest.raises(error) as raised:
        client(server).resolve_thread("PRRT_1")
    assert type(raised.value) is error


def test_no_token_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with serving([Answer(201, {"token": TOKEN})]) as server:
        client(server).create_issue_comment(7, TOKEN)
    logging.getLogger("github.Requester").warning("%s", TOKEN)
    assert TOKEN not in caplog.text
    assert "[redacted]" in caplog.text

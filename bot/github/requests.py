"""The requests that a review makes, as data: sent by the client, printed by a dry run.

Paths are relative to the repository. No text of a pull request gets into a path, except a login, which is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal
from urllib.parse import quote, unquote

from botlint.github.models import Annotation, CheckOutput, CheckStatus, Classifier, Conclusion, NewComment

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]

ANNOTATIONS = 50
"""The most annotations that GitHub takes in a request."""

PAGE = 100

_NEXT = re.compile(r'<([^>]*)>\s*;\s*rel="?next"?')
_CURSOR = re.compile(r"[?&]cursor=([^&]+)")


@dataclass(frozen=True, slots=True)
class Request:
    """A request below `/repos/OWNER/NAME`."""

    method: Method
    path: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    body: Mapping[str, Any] | None = None
    repeatable: bool = True
    """Whether it may be sent twice: it only reads, or sets something to a value."""

    @property
    def what(self) -> str:
        """The request in a few words, without the repository."""
        return f"{self.method} {self.path}"


def read(path: str, **parameters: object) -> Request:
    """A request that only reads."""
    return Request("GET", path, parameters)


def create(path: str, body: Mapping[str, Any]) -> Request:
    """A request that makes something new: sent once."""
    return Request("POST", path, body=body, repeatable=False)


def edit(path: str, body: Mapping[str, Any]) -> Request:
    """A request that sets something to a value."""
    return Request("PATCH", path, body=body)


def create_review(number: int, head: str, body: str, comments: Sequence[NewComment]) -> Request:
    """A review of one or more comments, which neither approves nor asks for changes."""
    content: dict[str, Any] = {
        "commit_id": head,
        "event": "COMMENT",
        "comments": [new_comment(one) for one in comments],
    }
    if body:
        content["body"] = body
    return create(f"/pulls/{number}/reviews", content)


def create_review_comment(number: int, head: str, comment: NewComment) -> Request:
    """One comment on lines."""
    return create(f"/pulls/{number}/comments", {"commit_id": head, **new_comment(comment)})


def create_file_comment(number: int, head: str, path: str, body: str) -> Request:
    """One comment on a file."""
    return create(f"/pulls/{number}/comments", {"commit_id": head, "path": path, "body": body, "subject_type": "file"})


def new_comment(comment: NewComment) -> dict[str, Any]:
    """The body of a comment on lines; a range of one line is not one."""
    found: dict[str, Any] = {
        "path": comment.path,
        "body": comment.body,
        "line": comment.line,
        "side": comment.side,
    }
    if comment.start_line is not None and comment.start_line < comment.line:
        found["start_line"] = comment.start_line
        found["start_side"] = comment.start_side or comment.side
    return found


def create_check_run(
    name: str,
    head: str,
    external_id: str,
    status: CheckStatus,
    conclusion: Conclusion | None,
    details_url: str | None,
    output: CheckOutput | None,
) -> Request:
    """A new check run; one with a conclusion is completed."""
    body: dict[str, Any] = {"name": name, "head_sha": head, "external_id": external_id}
    return create("/check-runs", body | _check(status, conclusion, details_url, output))


def update_check_run(
    run: int,
    external_id: str | None,
    status: CheckStatus | None,
    conclusion: Conclusion | None,
    details_url: str | None,
    output: CheckOutput | None,
) -> Request:
    """A change of a check run; with annotations it is sent once, for they are added to those that are there."""
    body = _check(status, conclusion, details_url, output)
    if external_id is not None:
        body["external_id"] = external_id
    return Request("PATCH", f"/check-runs/{run}", body=body, repeatable=not (output is not None and output.annotations))


def _check(
    status: CheckStatus | None, conclusion: Conclusion | None, details_url: str | None, output: CheckOutput | None
) -> dict[str, Any]:
    body: dict[str, Any] = {}
    if conclusion is not None:
        body["status"] = "completed"
        body["conclusion"] = conclusion
    elif status is not None:
        body["status"] = status
    if details_url:
        body["details_url"] = details_url
    if output is not None:
        body["output"] = _output(output)
    return body


def _output(output: CheckOutput) -> dict[str, Any]:
    found: dict[str, Any] = {"title": output.title, "summary": output.summary}
    if output.text:
        found["text"] = output.text
    if output.annotations:
        found["annotations"] = [_annotation(one) for one in output.annotations[:ANNOTATIONS]]
    return found


def _annotation(one: Annotation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "path": one.path,
        "start_line": one.start_line,
        "end_line": one.end_line,
        "annotation_level": one.level,
        "message": one.message,
        "title": one.title,
    }
    if one.raw_details:
        found["raw_details"] = one.raw_details
    return found


def permission(login: str) -> Request:
    """What an account may do."""
    return read(f"/collaborators/{quote(login, safe='')}/permission")


def compare(base: str, head: str) -> Request:
    """Two revisions; only the facts about both are of use, not the lists."""
    return read(f"/compare/{quote(base, safe='/')}...{quote(head, safe='/')}", per_page=1)


def dispatch(workflow: str, ref: str, inputs: Mapping[str, str], *, details: bool) -> Request:
    """The start of a workflow; with `details` GitHub says which run that made, which older servers refuse."""
    body: dict[str, Any] = {"ref": ref, "inputs": dict(inputs)}
    if details:
        body["return_run_details"] = True
    return create(f"/actions/workflows/{quote(workflow, safe='')}/dispatches", body)


def cancel_run(run: int) -> Request:
    """The end of a run; to ask twice is to ask once."""
    return Request("POST", f"/actions/runs/{run}/cancel")


def has_next(link: str) -> bool:
    """Whether a header `Link` names another page."""
    return _NEXT.search(link) is not None


def next_cursor(link: str) -> str | None:
    """The cursor of the next page in a header `Link`, None on the last one."""
    found = _NEXT.search(link)
    cursor = None if found is None else _CURSOR.search(found[1])
    return None if cursor is None else unquote(cursor[1])


# --------------------------------------------------------------------------------------------------------- GraphQL

VIEWER = "query { viewer { login databaseId } }"

_AUTHOR = "... on User { databaseId } ... on Bot { databaseId }"
THREADS = f"""query ($owner: String!, $name: String!, $number: Int!, $after: String) {{
  repository(owner: $owner, name: $name) {{
    pullRequest(number: $number) {{
      reviewThreads(first: 100, after: $after) {{
        pageInfo {{ hasNextPage endCursor }}
        nodes {{
          id isResolved
          comments(first: 50) {{ totalCount nodes {{ fullDatabaseId author {{ login {_AUTHOR} }} }} }}
        }}
      }}
    }}
  }}
}}"""

RESOLVE = (
    "mutation ($input: ResolveReviewThreadInput!) { resolveReviewThread(input: $input) { thread { id isResolved } } }"
)
MINIMIZE = (
    "mutation ($input: MinimizeCommentInput!) { minimizeComment(input: $input) { minimizedComment { isMinimized } } }"
)


def blobs_query(shas: Sequence[str]) -> str:
    """A query for several blobs, called `b0`, `b1` and so on."""
    fields = "... on Blob { text isBinary isTruncated byteSize }"
    asked = "\n".join(f'    b{place}: object(oid: "{sha}") {{ {fields} }}' for place, sha in enumerate(shas))
    return f"query ($owner: String!, $name: String!) {{\n  repository(owner: $owner, name: $name) {{\n{asked}\n  }}\n}}"


def resolve_input(node_id: str) -> dict[str, Any]:
    """The input that resolves a thread."""
    return {"threadId": node_id}


def minimize_input(node_id: str, classifier: Classifier) -> dict[str, Any]:
    """The input that folds a comment away."""
    return {"subjectId": node_id, "classifier": classifier}

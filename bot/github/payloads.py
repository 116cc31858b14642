"""From GitHub's JSON to our data: only the fields that are used are looked at, and what is missing is empty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from botlint.github.models import (
    Annotation,
    AnnotationLevel,
    Artifact,
    ChangedFile,
    CheckRun,
    CheckStatus,
    Commit,
    Conclusion,
    FileStatus,
    Identity,
    IssueComment,
    PullRequest,
    Ref,
    Refusal,
    ReviewComment,
    Thread,
    Tree,
    TreeEntry,
    WorkflowJob,
    WorkflowRun,
)

Json = Mapping[str, Any]
NOBODY = Identity(0, "ghost")
"""Whose account is gone."""


def identity(data: object) -> Identity:
    """An account; of one that was deleted, GitHub's own name for it."""
    found = _map(data)
    if not found:
        return NOBODY
    login = text(found, "login")
    return Identity(number(found, "id"), login, text(found, "type") == "Bot" or login.endswith("[bot]"))


def pull_request(data: Json) -> PullRequest:
    """A pull request of the list or by its number."""
    return PullRequest(
        number=number(data, "number"),
        title=text(data, "title"),
        body=text(data, "body"),
        author=identity(data.get("user")),
        state="closed" if text(data, "state") == "closed" else "open",
        draft=data.get("draft") is True,
        merged=data.get("merged") is True or bool(data.get("merged_at")),
        head=_ref(_map(data.get("head"))),
        base=_ref(_map(data.get("base"))),
        labels=tuple(text(_map(label), "name") for label in _list(data, "labels")),
        mergeable_state=text(data, "mergeable_state"),
        node_id=text(data, "node_id"),
        url=text(data, "html_url"),
        default_branch=text(_map(_map(data.get("base")).get("repo")), "default_branch"),
    )


def _ref(data: Json) -> Ref:
    repository = _map(data.get("repo"))
    return Ref(text(data, "sha"), text(data, "ref"), text(repository, "full_name") or None)


def changed_file(data: Json) -> ChangedFile:
    """A file of a pull request's diff."""
    patch = data.get("patch")
    return ChangedFile(
        path=text(data, "filename"),
        previous_path=text(data, "previous_filename") or None,
        status=cast(FileStatus, text(data, "status") or "modified"),
        patch=patch if isinstance(patch, str) else None,
        additions=number(data, "additions"),
        deletions=number(data, "deletions"),
        sha=text(data, "sha"),
    )


def commit(data: Json) -> Commit:
    """A commit of a pull request."""
    inner = _map(data.get("commit"))
    author = data.get("author")
    return Commit(
        sha=text(data, "sha"),
        message=text(inner, "message"),
        author=identity(author) if _map(author) else None,
        verified=_map(inner.get("verification")).get("verified") is True,
    )


def tree(data: Json) -> Tree:
    """A tree, with the kinds of entries that git has."""
    entries = []
    for one in map(_map, _list(data, "tree")):
        size = one.get("size")
        kind = text(one, "type")
        if kind in ("blob", "tree", "commit"):
            entries.append(
                TreeEntry(
                    text(one, "path"),
                    text(one, "mode"),
                    cast(Any, kind),
                    text(one, "sha"),
                    size if isinstance(size, int) and not isinstance(size, bool) and size >= 0 else None,
                )
            )
    return Tree(text(data, "sha"), tuple(entries), data.get("truncated") is True)


def review_comment(data: Json) -> ReviewComment:
    """A comment on lines or on a file; an outdated one has no line any more."""
    return ReviewComment(
        id=number(data, "id"),
        node_id=text(data, "node_id"),
        author=identity(data.get("user")),
        body=text(data, "body"),
        path=text(data, "path"),
        line=number(data, "line") or None,
        side="LEFT" if text(data, "side") == "LEFT" else "RIGHT",
        start_line=number(data, "start_line") or None,
        reply_to=number(data, "in_reply_to_id") or None,
        commit=text(data, "commit_id"),
        url=text(data, "html_url"),
    )


def issue_comment(data: Json) -> IssueComment:
    """A comment on the whole pull request."""
    return IssueComment(
        number(data, "id"),
        text(data, "node_id"),
        identity(data.get("user")),
        text(data, "body"),
        text(data, "html_url"),
    )


def thread(data: Json) -> Thread:
    """A thread of GraphQL's list; whoever wrote what is not listed counts as somebody unknown (0)."""
    comments = _map(data.get("comments"))
    nodes = [_map(node) for node in _list(comments, "nodes")]
    authors = [number(_map(node.get("author")), "databaseId") for node in nodes]
    if number(comments, "totalCount") > len(nodes):
        authors.append(0)
    return Thread(
        text(data, "id"),
        data.get("isResolved") is True,
        tuple(_big(node, "fullDatabaseId") for node in nodes),
        tuple(authors),
    )


def check_run(data: Json) -> CheckRun:
    """A check run."""
    return CheckRun(
        id=number(data, "id"),
        name=text(data, "name"),
        head=text(data, "head_sha"),
        status=cast(CheckStatus, text(data, "status") or "queued"),
        conclusion=cast("Conclusion | None", text(data, "conclusion") or None),
        external_id=text(data, "external_id"),
        app_id=number(_map(data.get("app")), "id"),
        started_at=text(data, "started_at"),
    )


def annotation(data: Json) -> Annotation:
    """An annotation of a check run."""
    return Annotation(
        path=text(data, "path"),
        start_line=number(data, "start_line"),
        end_line=number(data, "end_line"),
        level=cast(AnnotationLevel, text(data, "annotation_level")),
        message=text(data, "message"),
        title=text(data, "title"),
        raw_details=text(data, "raw_details"),
    )


def workflow_run(data: Json) -> WorkflowRun:
    """A run of a workflow; GitHub may name its file with the commit behind an at sign."""
    return WorkflowRun(
        id=number(data, "id"),
        title=text(data, "display_title"),
        event=text(data, "event"),
        path=text(data, "path").partition("@")[0],
        branch=text(data, "head_branch"),
        status=text(data, "status"),
        conclusion=text(data, "conclusion"),
        created_at=text(data, "created_at"),
        url=text(data, "html_url"),
        actor=identity(data.get("actor")),
        updated_at=text(data, "updated_at"),
    )


def workflow_job(data: Json) -> WorkflowJob:
    """A job of a run."""
    return WorkflowJob(
        text(data, "name"),
        text(data, "status"),
        text(data, "conclusion"),
        text(data, "runner_name"),
        text(data, "started_at"),
    )


def artifact(data: Json) -> Artifact:
    """What a run left behind."""
    return Artifact(
        number(data, "id"), text(data, "name"), number(data, "size_in_bytes"), data.get("expired") is not False
    )


def refusals(data: object) -> tuple[Refusal, ...]:
    """What GitHub names as wrong with a request; an entry may be a text instead of an object."""
    errors = _map(data).get("errors")
    found = []
    for one in errors if isinstance(errors, list) else [errors] if errors else []:
        if isinstance(one, str):
            found.append(Refusal(one))
        elif isinstance(one, Mapping):
            found.append(Refusal(text(one, "message"), text(one, "code"), text(one, "field"), text(one, "resource")))
    return tuple(found)


def text(data: Json, key: str) -> str:
    """A text, empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, str) else ""


def number(data: Json, key: str) -> int:
    """A whole number, 0 where there is none."""
    value = data.get(key)
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _big(data: Json, key: str) -> int:
    """A whole number that GraphQL writes as a text, for it may be a large one."""
    value = text(data, key)
    return int(value) if value.isdecimal() else number(data, key)


def _map(data: object) -> Json:
    return data if isinstance(data, Mapping) else {}


def _list(data: Json, key: str) -> Sequence[object]:
    """A list, empty where there is none."""
    value = data.get(key)
    return value if isinstance(value, list) else ()

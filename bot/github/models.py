"""What GitHub says and is told, as plain data: everything that decides works on these, and only the client on JSON."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Side = Literal["LEFT", "RIGHT"]
"""The base (`LEFT`: lines that are deleted) or the head (`RIGHT`: added lines and context) of a diff."""

FileStatus = Literal["added", "removed", "modified", "renamed", "copied", "changed", "unchanged"]
Conclusion = Literal["success", "failure", "neutral", "cancelled", "skipped", "timed_out", "action_required", "stale"]
CheckStatus = Literal["queued", "in_progress", "completed"]
AnnotationLevel = Literal["notice", "warning", "failure"]
Permission = Literal["admin", "maintain", "write", "triage", "read", "none"]
Classifier = Literal["OUTDATED", "RESOLVED", "DUPLICATE"]


@dataclass(frozen=True, slots=True)
class Identity:
    """An account, of a person or of an App's bot; logins change, ids do not."""

    id: int
    login: str
    bot: bool = False


@dataclass(frozen=True, slots=True)
class Ref:
    """One end of a pull request; `repository` (`owner/name`) is None where a fork was deleted."""

    sha: str
    name: str
    repository: str | None


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A pull request as it is now; `default_branch` is that of the repository that it is for."""

    number: int
    title: str
    body: str
    author: Identity
    state: Literal["open", "closed"]
    draft: bool
    merged: bool
    head: Ref
    base: Ref
    labels: tuple[str, ...]
    mergeable_state: str
    node_id: str
    url: str = ""
    default_branch: str = ""

    @property
    def from_fork(self) -> bool:
        """Whether the head is in another repository than the base (or in one that is gone)."""
        return self.head.repository is None or self.head.repository.lower() != (self.base.repository or "").lower()


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file of the pull request's diff; a large or binary one, and one that is only renamed, has no patch."""

    path: str
    previous_path: str | None
    status: FileStatus
    patch: str | None
    additions: int
    deletions: int
    sha: str


@dataclass(frozen=True, slots=True)
class TreeEntry:
    """An entry of a git tree: `mode` is 100644, 100755, 120000 (link), 160000 (submodule) or 040000 (tree)."""

    path: str
    mode: str
    kind: Literal["blob", "tree", "commit"]
    sha: str
    size: int | None


@dataclass(frozen=True, slots=True)
class Tree:
    """A git tree; GitHub leaves entries out of a recursive one that is too large (`truncated`)."""

    sha: str
    entries: tuple[TreeEntry, ...]
    truncated: bool


@dataclass(frozen=True, slots=True)
class ReviewComment:
    """A comment on a line or a file of the diff; `line` is None on a file and where the comment is outdated."""

    id: int
    node_id: str
    author: Identity
    body: str
    path: str
    line: int | None
    side: Side
    start_line: int | None
    reply_to: int | None
    commit: str
    url: str


@dataclass(frozen=True, slots=True)
class IssueComment:
    """A comment on the whole pull request."""

    id: int
    node_id: str
    author: Identity
    body: str
    url: str


@dataclass(frozen=True, slots=True)
class Thread:
    """A thread of review comments: ids of its comments, first one first, and of who wrote each."""

    node_id: str
    resolved: bool
    comments: tuple[int, ...]
    authors: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CheckRun:
    """A check run of a commit."""

    id: int
    name: str
    head: str
    status: CheckStatus
    conclusion: Conclusion | None
    external_id: str
    app_id: int
    started_at: str


@dataclass(frozen=True, slots=True)
class Commit:
    """A commit of a pull request; `author` is None where GitHub knows no account for it."""

    sha: str
    message: str
    author: Identity | None
    verified: bool


@dataclass(frozen=True, slots=True)
class NewComment:
    """A comment to post on lines of the diff; `start_line` only where it is above `line`, in the same hunk."""

    path: str
    body: str
    line: int
    side: Side
    start_line: int | None = None
    start_side: Side | None = None


@dataclass(frozen=True, slots=True)
class Annotation:
    """A line of a check run's list; GitHub takes at most 50 in a request."""

    path: str
    start_line: int
    end_line: int
    level: AnnotationLevel
    message: str
    title: str
    raw_details: str = ""


@dataclass(frozen=True, slots=True)
class CheckOutput:
    """What a check run shows; more annotations than 50 are sent by as many requests as it takes."""

    title: str
    summary: str
    text: str = ""
    annotations: tuple[Annotation, ...] = ()


@dataclass(frozen=True, slots=True)
class Refusal:
    """One entry of `errors` in GitHub's answer 422."""

    message: str
    code: str = ""
    field: str = ""
    resource: str = ""


@dataclass(frozen=True, slots=True)
class WorkflowRun:
    """A run of a workflow: `title` is what its `run-name` made, `path` its file, `branch` that of its commit."""

    id: int
    title: str
    event: str
    path: str
    branch: str
    status: str
    conclusion: str
    created_at: str
    url: str
    actor: Identity
    updated_at: str = ""


@dataclass(frozen=True, slots=True)
class Dispatched:
    """The run that a dispatch made, and the address of its page."""

    run: int
    url: str


@dataclass(frozen=True, slots=True)
class WorkflowJob:
    """A job of a run; `runner` is empty where none took it."""

    name: str
    status: str
    conclusion: str
    runner: str
    started_at: str = ""


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a run left behind; `size` is in bytes, of the archive."""

    id: int
    name: str
    size: int
    expired: bool


@dataclass(frozen=True, slots=True)
class Comments:
    """Everything that is said on a pull request."""

    review: tuple[ReviewComment, ...] = ()
    issue: tuple[IssueComment, ...] = ()
    threads: tuple[Thread, ...] = field(default=())

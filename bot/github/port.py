"""What a review needs of GitHub, for one repository; the client, the dry run and tests provide it.

A read that fails for good raises one of the errors below. A write is sent once: `Ambiguous` says that it may have
happened, so the caller reads again what is there and goes on from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from botlint.core.errors import CannotFinish
from botlint.github.models import (
    Artifact,
    ChangedFile,
    CheckOutput,
    CheckRun,
    CheckStatus,
    Classifier,
    Commit,
    Conclusion,
    Dispatched,
    Identity,
    IssueComment,
    NewComment,
    Permission,
    PullRequest,
    Refusal,
    ReviewComment,
    Thread,
    Tree,
    WorkflowJob,
    WorkflowRun,
)


class GitHubError(CannotFinish):
    """GitHub could not be asked, or did not do what it was asked; the text names no repository."""


class Forbidden(GitHubError):
    """The token may not do this (401 or 403)."""


class NotFound(GitHubError):
    """There is no such thing, or the token may not know of it (404 or 410)."""


class Unprocessable(GitHubError):
    """GitHub understood and refused (422), for the `refusals` that it named."""

    def __init__(self, message: str, refusals: Sequence[Refusal] = ()) -> None:
        super().__init__(message)
        self.refusals = tuple(refusals)


class Conflict(GitHubError):
    """What the thing is by now does not allow it (409): a run that has ended cannot be cancelled."""


class Ambiguous(GitHubError):
    """A write that may have happened: the answer was lost, or was an error of the server."""


class TooLarge(GitHubError):
    """What GitHub has is larger than is read."""


class RateLimited(GitHubError):
    """GitHub asks to wait for `wait_seconds`, longer than is waited here; nothing was done."""

    def __init__(self, message: str, wait_seconds: float) -> None:
        super().__init__(message)
        self.wait_seconds = wait_seconds


class GitHub(Protocol):
    """One repository of GitHub, seen by one account.

    Every method may raise `Forbidden`, `NotFound`, `RateLimited` or `GitHubError`; those that write also
    `Unprocessable` and `Ambiguous`.
    """

    @property
    def repository(self) -> str:
        """The repository, as `owner/name`."""
        ...

    @property
    def web(self) -> str:
        """The address of the repository's pages, without a slash at the end."""
        ...

    def me(self) -> Identity:
        """The account whose comments are our own."""
        ...

    def pull(self, number: int) -> PullRequest:
        """A pull request as it is now."""
        ...

    def open_pulls(self) -> Sequence[PullRequest]:
        """All open pull requests."""
        ...

    def files(self, number: int) -> Sequence[ChangedFile]:
        """The files of the diff, at most 3,000."""
        ...

    def commits(self, number: int) -> Sequence[Commit]:
        """The commits of a pull request, at most 250."""
        ...

    def merge_base(self, base: str, head: str) -> str:
        """The commit that both have in common; `head` may be in a fork."""
        ...

    def behind(self, base: str, head: str) -> int:
        """How many commits of `base` are missing in `head`."""
        ...

    def tree(self, sha: str, recursive: bool) -> Tree:
        """The tree of a commit, or a tree by its own id."""
        ...

    def blobs(self, shas: Iterable[str], sizes: Mapping[str, int] | None = None) -> Mapping[str, bytes]:
        """The contents of blobs, each verified by its id; one that cannot be read is left out.

        Known sizes make requests of a good size.
        """
        ...

    def review_comments(self, number: int) -> Sequence[ReviewComment]:
        """All comments on lines and files, replies too."""
        ...

    def issue_comments(self, number: int) -> Sequence[IssueComment]:
        """All comments on the whole pull request."""
        ...

    def reviews(self, number: int) -> Sequence[IssueComment]:
        """What all reviews say as a whole; comments on lines are not among it."""
        ...

    def threads(self, number: int) -> Sequence[Thread]:
        """All threads of review comments."""
        ...

    def create_review(self, number: int, head: str, body: str, comments: Sequence[NewComment]) -> None:
        """Post comments on lines at once; GitHub refuses all of them for one bad line."""
        ...

    def create_review_comment(self, number: int, head: str, comment: NewComment) -> ReviewComment:
        """Post one comment on lines."""
        ...

    def create_file_comment(self, number: int, head: str, path: str, body: str) -> ReviewComment:
        """Post one comment on a file of the diff as a whole."""
        ...

    def edit_review_comment(self, comment: int, body: str) -> None:
        """Replace the text of an own comment on lines or a file."""
        ...

    def reply(self, number: int, comment: int, body: str) -> ReviewComment:
        """Answer a comment in its thread; `comment` is the first of the thread."""
        ...

    def create_issue_comment(self, number: int, body: str) -> IssueComment:
        """Post a comment on the whole pull request."""
        ...

    def edit_issue_comment(self, comment: int, body: str) -> None:
        """Replace the text of an own comment on the whole pull request."""
        ...

    def resolve_thread(self, node_id: str) -> bool:
        """Resolve a thread and say whether GitHub did; it takes the permission to write contents."""
        ...

    def minimize(self, node_id: str, classifier: Classifier) -> None:
        """Fold a comment away."""
        ...

    def check_runs(self, sha: str, name: str) -> Sequence[CheckRun]:
        """The check runs of that name on a commit, of any App, newest first."""
        ...

    def create_check_run(
        self,
        name: str,
        head: str,
        external_id: str,
        *,
        status: CheckStatus = "in_progress",
        conclusion: Conclusion | None = None,
        details_url: str | None = None,
        output: CheckOutput | None = None,
    ) -> CheckRun:
        """Create a check run; one with a conclusion is completed. More than 50 annotations take more requests."""
        ...

    def update_check_run(
        self,
        run: int,
        *,
        external_id: str | None = None,
        status: CheckStatus | None = None,
        conclusion: Conclusion | None = None,
        details_url: str | None = None,
        output: CheckOutput | None = None,
    ) -> None:
        """Change a check run; annotations that it does not have yet are added, and none can be removed."""
        ...

    def permission(self, login: str) -> Permission:
        """What an account may do in the repository; a stranger has `none`."""
        ...


class Actions(GitHub, Protocol):
    """The same with workflows, which takes the permission to write actions; nothing that reviews has it."""

    def dispatch_workflow(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> Dispatched | None:
        """Start the workflow of this file on a branch; None where GitHub does not say which run that made."""
        ...

    def workflow_runs(self, workflow: str, branch: str) -> Sequence[WorkflowRun]:
        """The newest runs of a workflow that were dispatched on a branch, newest first."""
        ...

    def workflow_run(self, run: int) -> WorkflowRun:
        """A run as it is now."""
        ...

    def workflow_jobs(self, run: int) -> Sequence[WorkflowJob]:
        """The jobs of a run's newest attempt."""
        ...

    def cancel_run(self, run: int) -> bool:
        """Cancel a run and say whether there was still something to cancel."""
        ...

    def artifacts(self, run: int, name: str) -> Sequence[Artifact]:
        """What a run left behind under a name, newest first."""
        ...

    def artifact(self, artifact: int, limit: int) -> bytes:
        """The archive of an artifact. Raises TooLarge for one of more than `limit` bytes, without reading the rest."""
        ...

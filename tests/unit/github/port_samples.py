"""GitHub in memory: what a review reads and writes, with faults where a test asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from botlint.github.client import blob_id
from botlint.github.models import (
    ChangedFile,
    CheckOutput,
    CheckRun,
    CheckStatus,
    Classifier,
    Commit,
    Conclusion,
    Identity,
    IssueComment,
    NewComment,
    Permission,
    PullRequest,
    Ref,
    ReviewComment,
    Thread,
    Tree,
    TreeEntry,
)
from botlint.github.port import Unprocessable

ME = Identity(7, "botlint[bot]", True)
SOMEBODY = Identity(8, "mallory")
APP = 77
BASE, HEAD = "b" * 40, "c" * 40


class Hub:
    """`faults` are called before a write, by the method's name, and may raise; `after` once it was done."""

    repository = "acme/bench"
    web = "https://github.test/acme/bench"

    def __init__(self, base: Mapping[str, bytes], head: Mapping[str, bytes], files: Sequence[ChangedFile]) -> None:
        self.texts = {BASE: dict(base), HEAD: dict(head)}
        self.changed = list(files)
        self.request = PullRequest(
            1, "Tune", "", SOMEBODY, "open", False, False, Ref(HEAD, "tune", "acme/bench"),
            Ref("d" * 40, "main", "acme/bench"), (), "clean", "PR_1",
        )  # fmt: skip
        self.review: list[ReviewComment] = []
        self.issue: list[IssueComment] = []
        self.reviewed: list[IssueComment] = []
        self.runs: list[CheckRun] = []
        self.outputs: list[CheckOutput | None] = []
        self.resolved: list[str] = []
        self.calls: list[str] = []
        self.faults: dict[str, list[Callable[..., None]]] = {}
        self.after: dict[str, list[Exception]] = {}
        self._next = 100

    # reading

    def me(self) -> Identity:
        return ME

    def pull(self, number: int) -> PullRequest:
        self.calls.append("pull")
        return self.request

    def open_pulls(self) -> Sequence[PullRequest]:
        return [self.request]

    def files(self, number: int) -> Sequence[ChangedFile]:
        self.calls.append("files")
        return list(self.changed)

    def commits(self, number: int) -> Sequence[Commit]:
        return []

    def merge_base(self, base: str, head: str) -> str:
        return BASE

    def behind(self, base: str, head: str) -> int:
        return 0

    def tree(self, sha: str, recursive: bool) -> Tree:
        entries = [
            TreeEntry(path, "100644", "blob", blob_id(text), len(text)) for path, text in self.texts[sha].items()
        ]
        return Tree(sha, tuple(entries), False)

    def blobs(self, shas: Iterable[str], sizes: Mapping[str, int] | None = None) -> Mapping[str, bytes]:
        known = {blob_id(text): text for texts in self.texts.values() for text in texts.values()}
        return {sha: known[sha] for sha in shas}

    def review_comments(self, number: int) -> Sequence[ReviewComment]:
        self.calls.append("review_comments")
        return list(self.review)

    def issue_comments(self, number: int) -> Sequence[IssueComment]:
        self.calls.append("issue_comments")
        return list(self.issue)

    def reviews(self, number: int) -> Sequence[IssueComment]:
        self.calls.append("reviews")
        return list(self.reviewed)

    def threads(self, number: int) -> Sequence[Thread]:
        return [Thread(f"T{one.id}", f"T{one.id}" in self.resolved, (one.id,), (one.author.id,)) for one in self.review]

    def check_runs(self, sha: str, name: str) -> Sequence[CheckRun]:
        self.calls.append("check_runs")
        return [one for one in reversed(self.runs) if (one.head, one.name) == (sha, name)]

    def permission(self, login: str) -> Permission:
        return "none"

    # writing

    def _write(self, name: str, *arguments: Any) -> None:
        self.calls.append(name)
        for fault in self.faults.get(name, ()):
            fault(*arguments)

    def _done(self, name: str) -> None:
        if self.after.get(name):
            raise self.after[name].pop(0)

    def _id(self) -> int:
        self._next += 1
        return self._next

    def _add(self, path: str, body: str, line: int | None, side: Any, start: int | None = None) -> ReviewComment:
        number = self._id()
        one = ReviewComment(number, f"N{number}", ME, body, path, line, side, start, None, HEAD, f"https://c/{number}")
        self.review.append(one)
        return one

    def create_review(self, number: int, head: str, body: str, comments: Sequence[NewComment]) -> None:
        self._write("create_review", comments)
        for one in comments:
            self._add(one.path, one.body, one.line, one.side, one.start_line)
        self._done("create_review")

    def create_review_comment(self, number: int, head: str, comment: NewComment) -> ReviewComment:
        self._write("create_review_comment", [comment])
        return self._add(comment.path, comment.body, comment.line, comment.side, comment.start_line)

    def create_file_comment(self, number: int, head: str, path: str, body: str) -> ReviewComment:
        self._write("create_file_comment", path)
        return self._add(path, body, None, "RIGHT")

    def edit_review_comment(self, comment: int, body: str) -> None:
        self._write("edit_review_comment", comment)
        self.review = [replace(one, body=body) if one.id == comment else one for one in self.review]

    def reply(self, number: int, comment: int, body: str) -> ReviewComment:
        raise AssertionError("a review answers nobody")

    def create_issue_comment(self, number: int, body: str) -> IssueComment:
        self._write("create_issue_comment", body)
        one = IssueComment(self._id(), "I", ME, body, "https://i")
        self.issue.append(one)
        self._done("create_issue_comment")
        return one

    def edit_issue_comment(self, comment: int, body: str) -> None:
        self._write("edit_issue_comment", comment)
        self.issue = [replace(one, body=body) if one.id == comment else one for one in self.issue]

    def resolve_thread(self, node_id: str) -> bool:
        self._write("resolve_thread", node_id)
        self.resolved.append(node_id)
        return True

    def minimize(self, node_id: str, classifier: Classifier) -> None:
        self._write("minimize", node_id)

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
        self._write("create_check_run")
        run = CheckRun(self._id(), name, head, status, conclusion, external_id, APP, "")
        self.runs.append(run)
        self._done("create_check_run")
        return run

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
        self._write("update_check_run", run)
        self.outputs.append(output)
        self.runs = [
            replace(
                one,
                status="completed" if conclusion else status or one.status,
                conclusion=conclusion,
                external_id=external_id or one.external_id,
            )
            if one.id == run
            else one
            for one in self.runs
        ]

    # what tests ask

    @property
    def inline(self) -> list[tuple[str, int | None]]:
        return [(one.path, one.line) for one in self.review]

    def refuse_lines(self, *bad: int) -> None:
        """Refuses comments on these lines as GitHub does: all of a review for one of them."""

        def fault(comments: Sequence[NewComment]) -> None:
            if any(one.line in bad for one in comments):
                raise Unprocessable("a line is not in the diff")

        self.faults["create_review"] = [fault]
        self.faults["create_review_comment"] = [fault]

"""What the fake knows: accounts, Apps, repositories, pull requests and everything that is said on them.

These are the handles of tests, too: people push, comment and retarget through the methods here, while the program under
test goes through HTTP.
"""

from __future__ import annotations

import io
import secrets
import uuid
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from fakehub.diffs import Anchors, Changed, Limits, anchors, changed_files, mapped_line, text_lines
from fakehub.git import Commit, Content, Objects

if TYPE_CHECKING:
    from fakehub.server import FakeGitHub

ROLES = ("none", "read", "triage", "write", "maintain", "admin")


@dataclass(eq=False)
class User:
    """An account; `Bot` is one of an App."""

    id: int
    login: str
    kind: str = "User"

    @property
    def node_id(self) -> str:
        return f"{'BOT' if self.kind == 'Bot' else 'U'}_{self.id}"


@dataclass(eq=False)
class App:
    """A GitHub App with its key; `bot` is who its comments are by."""

    id: int
    slug: str
    owner: User
    bot: User
    permissions: dict[str, str]
    events: list[str]
    private_key: str = field(repr=False)
    public_key: Any = field(repr=False)
    webhook_url: str | None = None
    webhook_secret: str = "it is a secret"
    deliveries: list[Delivery] = field(default_factory=list)
    installations: list[Installation] = field(default_factory=list)


@dataclass(eq=False)
class Installation:
    """An App on an account; `repositories` are those that were selected."""

    id: int
    app: App
    account: User
    permissions: dict[str, str]
    repositories: list[Repository]
    suspended: bool = False


@dataclass(eq=False)
class Delivery:
    """One attempt to deliver an event to an App."""

    id: int
    guid: str
    event: str
    payload: dict[str, Any]
    at: float
    redelivery: bool
    status_code: int
    seconds: float
    installation: int | None
    repository: int | None


@dataclass(eq=False)
class Token:
    """What a token may do: of a person (`user`), of an installation, or of a workflow (`actions`)."""

    text: str = field(repr=False)
    kind: str
    user: User
    app: App | None = None
    permissions: Mapping[str, str] = field(default_factory=dict)
    repositories: frozenset[int] | None = None
    expires: float | None = None
    used: int = 0
    writes: list[float] = field(default_factory=list)


@dataclass(eq=False)
class IssueComment:
    """A comment on the whole pull request."""

    id: int
    pull: Pull
    user: User
    body: str
    created: float
    updated: float
    app: App | None = None
    minimized: str | None = None
    reactions: list[tuple[int, User, str]] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return f"IC_{self.id}"


@dataclass(eq=False)
class ReviewComment:
    """A comment on lines or on a file, where it was posted; `place` says where it is now."""

    id: int
    pull: Pull
    review: Review
    user: User
    body: str
    path: str
    commit: str
    side: str | None
    line: int | None
    start_side: str | None
    start_line: int | None
    reply_to: ReviewComment | None
    hunk: str
    created: float
    updated: float
    minimized: str | None = None
    reactions: list[tuple[int, User, str]] = field(default_factory=list)

    @property
    def node_id(self) -> str:
        return f"PRRC_{self.id}"

    @property
    def subject(self) -> str:
        return "file" if self.line is None else "line"

    def place(self) -> tuple[int | None, int | None]:
        """Line and start line in the diff as it is now; None where the comment is outdated, or on a file."""
        if self.line is None:
            return None, None
        return self.pull.moved(self, self.line), None if self.start_line is None else self.pull.moved(
            self, self.start_line
        )


@dataclass(eq=False)
class Thread:
    """A comment with its replies."""

    id: int
    comments: list[ReviewComment]
    resolved_by: User | None = None

    @property
    def node_id(self) -> str:
        return f"PRRT_{self.id}"


@dataclass(eq=False)
class Review:
    """A review; a reply has one of its own."""

    id: int
    pull: Pull
    user: User
    body: str
    state: str
    commit: str
    submitted: float
    minimized: str | None = None

    @property
    def node_id(self) -> str:
        return f"PRR_{self.id}"


@dataclass(eq=False)
class CheckRun:
    """A check run of a commit."""

    id: int
    repository: Repository
    app: App
    suite: int
    name: str
    head: str
    status: str
    conclusion: str | None
    external_id: str
    details_url: str | None
    started: float
    completed: float | None
    title: str | None = None
    summary: str | None = None
    text: str | None = None
    annotations: list[dict[str, Any]] = field(default_factory=list)
    history: list[tuple[str, str | None]] = field(default_factory=list)
    """Every status and conclusion that it was given, in order."""


@dataclass(eq=False)
class Run:
    """A run of a workflow."""

    id: int
    workflow: Workflow
    ref: str
    head: str
    actor: User
    inputs: dict[str, Any]
    title: str
    created: float
    event: str = "workflow_dispatch"
    status: str = "queued"
    conclusion: str | None = None
    artifacts: dict[str, tuple[int, bytes]] = field(default_factory=dict)
    runner: str = ""
    """The name of the runner that took its job; empty as long as none did."""
    started: float = 0.0
    updated: float = 0.0

    def approve(self) -> None:
        """The reviewers of its environment let it go on."""
        self.status, self.updated = "queued", self.workflow.repository.hub.now()

    def begin(self, runner: str = "node-1") -> None:
        """A runner takes it."""
        self.status, self.runner = "in_progress", runner
        self.started = self.workflow.repository.hub.now()

    def wait(self) -> None:
        """Somebody has to approve it."""
        self.status = "waiting"

    def end(self, conclusion: str = "success") -> None:
        """It comes to its end."""
        self.status, self.conclusion = "completed", conclusion

    def upload(self, name: str, files: Mapping[str, bytes]) -> None:
        """Leaves an artifact behind."""
        packed = io.BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for path, content in files.items():
                archive.writestr(path, content)
        self.upload_raw(name, packed.getvalue())

    def upload_raw(self, name: str, data: bytes) -> None:
        """Leaves something behind that may be no archive."""
        self.artifacts[name] = (self.workflow.repository.hub.next_id(), data)


@dataclass(eq=False)
class Workflow:
    """A workflow file of a repository."""

    id: int
    repository: Repository
    path: str
    name: str
    inputs: tuple[str, ...] | None = None
    """The inputs that its `workflow_dispatch` declares; None if it has no such trigger."""
    run_name: str = ""
    """Its `run-name`, in which `{input}` stands for an input; without one, its name and all inputs."""
    enabled: bool = True
    runs: list[Run] = field(default_factory=list)


class Repository:
    """A repository; forks share the git objects of their parent."""

    def __init__(
        self, hub: FakeGitHub, owner: User, name: str, parent: Repository | None = None, *, private: bool = False
    ) -> None:
        self.hub = hub
        self.id = hub.next_id()
        self.owner = owner
        self.name = name
        self.parent = parent
        self.private = private
        self.objects: Objects = parent.objects if parent is not None else Objects()
        self.default_branch: str = parent.default_branch if parent is not None else "main"
        self.branches: dict[str, str] = dict(parent.branches) if parent is not None else {}
        self.roles: dict[str, str] = {owner.login.lower(): "admin"}
        self.pulls: dict[int, Pull] = {}
        self.issue_comments: dict[int, IssueComment] = {}
        self.review_comments: dict[int, ReviewComment] = {}
        self.check_runs: dict[int, CheckRun] = {}
        self.suites: dict[tuple[int, str], int] = {}
        self.workflows: list[Workflow] = []
        self.limits = Limits()
        self.tree_entries = 100_000
        """A recursive tree with more entries than these is cut."""
        self.strict = False
        """Whether branches must be up to date before they are merged."""
        self.linear_commits = 0

    @property
    def full_name(self) -> str:
        return f"{self.owner.login}/{self.name}"

    def commit(
        self,
        branch: str,
        changes: Mapping[str, Content | None],
        message: str = "Change something",
        *,
        author: User | str = "alice",
        onto: str | None = None,
        also: Iterable[str] = (),
        verified: bool = False,
        raw_author: str | None = None,
    ) -> str:
        """Commits on top of a branch (new ones start at the default branch), or instead of it on `onto`; the sha."""
        with self.hub.lock:
            tip = onto or self.branches.get(branch) or self.branches.get(self.default_branch)
            tree = self.objects.changed(self.objects.commits[tip].tree if tip else None, changes)
            user = self.hub.user(author) if isinstance(author, str) else author
            name = raw_author or f"{user.login} <{user.id}+{user.login}@users.noreply.example.invalid>"
            parents = (*((tip,) if tip else ()), *also)
            self.linear_commits += 1
            commit = self.objects.commit(
                tree, parents, message, name, 1_790_000_000 + 60 * self.linear_commits, verified
            )
            self.move(branch, commit.sha)
            return commit.sha

    def move(self, branch: str, sha: str) -> None:
        """Sets a branch to a commit, by force if need be; pull requests from it follow."""
        with self.hub.lock:
            self.branches[branch] = sha
            for pull in self.hub.all_pulls():
                if pull.head_repository is self and pull.head_ref == branch and pull.state == "open":
                    pull.head_sha = sha
                    pull.base_seen = pull.base_sha
                    pull.updated = self.hub.now()

    def open_pull(
        self,
        branch: str,
        *,
        title: str = "Change something",
        body: str | None = "",
        author: User | str = "alice",
        base: str | None = None,
        source: Repository | None = None,
        draft: bool = False,
    ) -> Pull:
        """Opens a pull request from a branch of this repository or of a fork (`source`)."""
        with self.hub.lock:
            user = self.hub.user(author) if isinstance(author, str) else author
            pull = Pull(self, title, body, user, source or self, branch, base or self.default_branch, draft)
            self.pulls[pull.number] = pull
            return pull

    def role(self, login: str) -> str:
        """What an account may do."""
        return self.roles.get(login.lower(), "none" if self.private else "read")

    def grant(self, login: str, role: str) -> User:
        """Gives an account a role."""
        assert role in ROLES
        self.roles[login.lower()] = role
        return self.hub.user(login)

    def suite(self, app: App, head: str) -> int:
        """The check suite of an App for a commit."""
        return self.suites.setdefault((app.id, head), self.hub.next_id())

    def runs(self, head: str | None = None, name: str | None = None) -> list[CheckRun]:
        """Check runs, oldest first."""
        return [
            one
            for one in self.check_runs.values()
            if (head is None or one.head == head) and (name is None or one.name == name)
        ]

    def workflow(self, path: str, name: str, inputs: Iterable[str] | None = (), run_name: str = "") -> Workflow:
        """Adds a workflow that may be dispatched with these inputs."""
        declared = None if inputs is None else tuple(inputs)
        self.workflows.append(Workflow(self.hub.next_id(), self, path, name, declared, run_name=run_name))
        return self.workflows[-1]

    def merge_group(self, pull: Pull) -> tuple[str, str]:
        """Queues a pull request: the group's branch and the sha of its merge commit."""
        with self.hub.lock:
            base = self.branches[pull.base_ref]
            branch = f"gh-readonly-queue/{pull.base_ref}/pr-{pull.number}-{base}"
            changes: dict[str, Content | None] = {}
            for one in pull.files():
                if one.previous:
                    changes[one.previous] = None
                changes[one.path] = None if one.new is None else self._content(one)
            return branch, self.commit(
                branch, changes, f"Merge pull request #{pull.number}", onto=base, also=(pull.head_sha,)
            )

    def _content(self, one: Changed) -> Content:
        from fakehub.git import Executable, Link, Submodule

        assert one.new is not None
        if one.new.kind == "commit":
            return Submodule(one.new.sha)
        data = self.objects.blobs[one.new.sha]
        if one.new.mode == "120000":
            return Link(data.decode())
        return Executable(data) if one.new.mode == "100755" else data


class Pull:
    """A pull request."""

    def __init__(
        self,
        repository: Repository,
        title: str,
        body: str | None,
        author: User,
        source: Repository,
        branch: str,
        base: str,
        draft: bool,
    ) -> None:
        hub = repository.hub
        self.repository = repository
        self.hub = hub
        self.id = hub.next_id()
        self.number = max((0, *repository.pulls)) + 1
        self.title = title
        self.body = body
        self.author = author
        self.head_repository: Repository | None = source
        self.head_owner = source.owner
        self.head_ref = branch
        self.head_sha = source.branches[branch]
        self.base_ref = base
        self.base_seen = repository.branches[base]
        """The tip of the base branch when the head last moved: what the API tells."""
        self.state = "open"
        self.draft = draft
        self.merged = False
        self.locked = False
        self.mergeable_state: str | None = None
        """Overrides what would be computed."""
        self.labels: list[str] = []
        self.created = self.updated = hub.now()
        self.closed: float | None = None
        self.comments: list[IssueComment] = []
        self.reviews: list[Review] = []
        self.threads: list[Thread] = []
        self.pushed: list[str] = [self.head_sha]

    @property
    def node_id(self) -> str:
        return f"PR_{self.id}"

    @property
    def base_sha(self) -> str:
        return self.repository.branches[self.base_ref]

    @property
    def merge_base(self) -> str:
        found = self.repository.objects.merge_base(self.base_sha, self.head_sha)
        assert found is not None
        return found

    @property
    def inline(self) -> list[ReviewComment]:
        """All review comments, oldest first."""
        return sorted((one for thread in self.threads for one in thread.comments), key=lambda one: one.id)

    def files(self, head: str | None = None) -> list[Changed]:
        """The diff, of the newest head or of an earlier one, against where it left the base branch."""
        objects = self.repository.objects
        sha = head or self.head_sha
        base = objects.merge_base(self.base_sha, sha)
        old = None if base is None else objects.commits[base].tree
        key = (old, objects.commits[sha].tree, self.repository.limits)
        return self.hub.kept(
            key, lambda: changed_files(objects, old, objects.commits[sha].tree, self.repository.limits)
        )

    def commits(self) -> list[Commit]:
        """Its commits, oldest first."""
        return self.repository.objects.between(self.base_sha, self.head_sha)

    def anchors(self, path: str, head: str | None = None) -> Anchors | None:
        """The lines of a file that take a comment; None if the file is not in the diff."""
        found = self.changed(path, head)
        return None if found is None else anchors(found.patch)

    def changed(self, path: str, head: str | None = None) -> Changed | None:
        """A file of the diff."""
        return next((one for one in self.files(head) if one.path == path), None)

    def moved(self, comment: ReviewComment, line: int) -> int | None:
        """Where a line that was commented on is in the newest diff; None if it is not there any more."""
        now = self.changed(comment.path)
        if now is None:
            return None
        if comment.commit != self.head_sha:
            then = self.changed(comment.path, comment.commit)
            side = "old" if comment.side == "LEFT" else "new"
            before, after = getattr(then, side, None), getattr(now, side)
            if before is None or after is None:
                return None
            texts = [text_lines(self.repository.objects, one) for one in (before, after)]
            if texts[0] is None or texts[1] is None:
                return None
            place = mapped_line(texts[0], texts[1], line)
            if place is None:
                return None
            line = place
        return line if line in anchors(now.patch).side(comment.side or "RIGHT") else None

    def push(self, changes: Mapping[str, Content | None], message: str = "Push", **how: Any) -> str:
        """Pushes a commit on top of the head; its sha."""
        assert self.head_repository is not None
        sha = self.head_repository.commit(self.head_ref, changes, message, **{"author": self.author, **how})
        self.pushed.append(sha)
        return sha

    def force_push(
        self, changes: Mapping[str, Content | None], message: str = "Again", *, onto: str | None = None
    ) -> str:
        """Replaces all commits by one on the merge base (or on `onto`); its sha."""
        return self.push(changes, message, onto=onto or self.merge_base)

    def retarget(self, base: str) -> None:
        """Changes the base branch."""
        self.base_ref = base
        self.base_seen = self.base_sha
        self.updated = self.hub.now()

    def close(self, *, merged: bool = False) -> None:
        """Closes or merges it."""
        self.state = "closed"
        self.merged = merged
        self.closed = self.updated = self.hub.now()

    def comment(self, body: str, user: User | str = "alice", app: App | None = None) -> IssueComment:
        """A comment on the whole pull request, by a person."""
        with self.hub.lock:
            by = self.hub.user(user) if isinstance(user, str) else user
            now = self.hub.now()
            made = IssueComment(self.hub.next_comment_id(), self, by, body, now, now, app)
            self.comments.append(made)
            self.repository.issue_comments[made.id] = made
            return made

    def review(self, user: User | str, body: str = "", state: str = "COMMENTED", commit: str | None = None) -> Review:
        """A review without comments."""
        with self.hub.lock:
            by = self.hub.user(user) if isinstance(user, str) else user
            made = Review(self.hub.next_id(), self, by, body, state, commit or self.head_sha, self.hub.now())
            self.reviews.append(made)
            return made

    def comment_on(
        self,
        path: str,
        body: str,
        user: User | str = "alice",
        *,
        line: int | None = None,
        side: str = "RIGHT",
        start_line: int | None = None,
        start_side: str | None = None,
        commit: str | None = None,
        review: Review | None = None,
    ) -> ReviewComment:
        """A comment on lines, or without `line` on a file."""
        from fakehub.diffs import hunk_until

        with self.hub.lock:
            by = self.hub.user(user) if isinstance(user, str) else user
            sha = commit or self.head_sha
            changed = self.changed(path, sha)
            hunk = "" if line is None or changed is None else hunk_until(changed.patch, side, line)
            now = self.hub.now()
            made = ReviewComment(
                self.hub.next_comment_id(),
                self,
                review or self.review(by, commit=sha),
                by,
                body,
                path,
                sha,
                None if line is None else side,
                line,
                None if start_line is None else start_side or side,
                start_line,
                None,
                hunk,
                now,
                now,
            )
            self.threads.append(Thread(self.hub.next_id(), [made]))
            self.repository.review_comments[made.id] = made
            return made

    def reply(self, to: ReviewComment, body: str, user: User | str = "alice") -> ReviewComment:
        """An answer in a thread."""
        with self.hub.lock:
            by = self.hub.user(user) if isinstance(user, str) else user
            thread = self.thread(to)
            root = thread.comments[0]
            now = self.hub.now()
            review = self.review(by)
            made = ReviewComment(
                self.hub.next_comment_id(),
                self,
                review,
                by,
                body,
                root.path,
                root.commit,
                root.side,
                root.line,
                root.start_side,
                root.start_line,
                root,
                root.hunk,
                now,
                now,
            )
            thread.comments.append(made)
            self.repository.review_comments[made.id] = made
            return made

    def thread(self, comment: ReviewComment) -> Thread:
        """The thread of a comment."""
        return next(one for one in self.threads if comment in one.comments)

    def remove(self, comment: ReviewComment | IssueComment) -> None:
        """Deletes a comment."""
        if isinstance(comment, IssueComment):
            self.comments.remove(comment)
            del self.repository.issue_comments[comment.id]
            return
        thread = self.thread(comment)
        thread.comments.remove(comment)
        if not thread.comments:
            self.threads.remove(thread)
        del self.repository.review_comments[comment.id]

    def merge_state(self) -> tuple[bool | None, str]:
        """`mergeable` and `mergeable_state`."""
        if self.mergeable_state is not None:
            return {"dirty": False, "unknown": None}.get(self.mergeable_state, True), self.mergeable_state
        if self.draft:
            return True, "draft"
        behind = self.repository.objects.between(self.head_sha, self.base_sha)
        return True, "behind" if self.repository.strict and behind else "clean"


@cache
def make_key(number: int) -> tuple[str, Any]:
    """A private key in PEM and its public half; those of one number are made once."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    pem = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )
    return pem.decode(), key.public_key()


def token_text(prefix: str) -> str:
    """The text of a new token, as GitHub's look."""
    return prefix + secrets.token_hex(18)


def stamp(seconds: float) -> str:
    """A time as the API writes it."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def new_guid() -> str:
    """The id of a delivery."""
    return str(uuid.uuid4())

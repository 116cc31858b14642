"""Payloads of webhooks, made from what the fake knows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fakehub.state import App, CheckRun, Installation, IssueComment, Pull, Repository, ReviewComment, Run, User, stamp

if TYPE_CHECKING:
    from fakehub.server import FakeGitHub

Json = dict[str, Any]


class Events:
    """One method for each event: its payload, as it is delivered to the App that is installed there."""

    def __init__(self, hub: FakeGitHub) -> None:
        self.hub = hub

    def _shared(self, repository: Repository, sender: User | str, app: App | None = None) -> Json:
        user = self.hub.user(sender) if isinstance(sender, str) else sender
        shared: Json = {
            "repository": self.hub.bodies.repository(repository),
            "sender": self.hub.bodies.user(user),
        }
        installation = self._installation(repository, app)
        if installation is not None:
            shared["installation"] = {"id": installation.id, "node_id": f"MDIz{installation.id}"}
        return shared

    def _installation(self, repository: Repository, app: App | None) -> Installation | None:
        return next(
            (
                one
                for known in self.hub.apps
                if app in (None, known)
                for one in known.installations
                if repository in one.repositories
            ),
            None,
        )

    def pull_request(
        self, pull: Pull, action: str, sender: User | str | None = None, app: App | None = None, **more: Any
    ) -> Json:
        """`opened`, `synchronize` (give `before`), `edited` (give `changes`), `labeled` (give `label`), ..."""
        return {
            "action": action,
            "number": pull.number,
            "pull_request": self.hub.bodies.whole_pull(pull),
            **({"after": pull.head_sha, "before": pull.pushed[-2:][0]} if action == "synchronize" else {}),
            **more,
            **self._shared(pull.repository, sender or pull.author, app),
        }

    def retargeted(self, pull: Pull, before: str, sha: str, app: App | None = None) -> Json:
        """`edited`, because the base branch was changed from `before`."""
        changes = {"base": {"ref": {"from": before}, "sha": {"from": sha}}}
        return self.pull_request(pull, "edited", app=app, changes=changes)

    def check_run(self, run: CheckRun, action: str = "rerequested", sender: User | str = "alice") -> Json:
        """`rerequested` goes to the App that made the run."""
        return {
            "action": action,
            "check_run": self.hub.bodies.check_run(run),
            **self._shared(run.repository, sender, run.app),
        }

    def check_suite(
        self, repository: Repository, app: App, head: str, action: str = "rerequested", sender: User | str = "alice"
    ) -> Json:
        """`requested` for a push, `rerequested` by a person."""
        suite = self.hub.bodies.suite(repository, app, head, repository.suite(app, head))
        return {"action": action, "check_suite": suite, **self._shared(repository, sender, app)}

    def issue_comment(self, comment: IssueComment, action: str = "created", app: App | None = None) -> Json:
        """A comment on a pull request: its `issue` has `pull_request`."""
        pull = comment.pull
        url = f"{self.hub.bodies.url(pull.repository)}/pulls/{pull.number}"
        issue = {
            "id": pull.id,
            "number": pull.number,
            "title": pull.title,
            "state": pull.state,
            "user": self.hub.bodies.user(pull.author),
            "body": pull.body,
            "draft": pull.draft,
            "author_association": self.hub.bodies.association(pull.repository, pull.author),
            "pull_request": {"url": url, "html_url": f"{self.hub.web}/{pull.repository.full_name}/pull/{pull.number}"},
        }
        return {
            "action": action,
            "issue": issue,
            "comment": self.hub.bodies.issue_comment(comment),
            **self._shared(pull.repository, comment.user, app),
        }

    def review_comment(self, comment: ReviewComment, action: str = "created", app: App | None = None) -> Json:
        """A comment on lines."""
        return {
            "action": action,
            "comment": self.hub.bodies.review_comment(comment),
            "pull_request": self.hub.bodies.pull(comment.pull),
            **self._shared(comment.pull.repository, comment.user, app),
        }

    def merge_group(
        self, repository: Repository, branch: str, sha: str, action: str = "checks_requested", app: App | None = None
    ) -> Json:
        """A group of the merge queue."""
        commit = repository.objects.commits[sha]
        return {
            "action": action,
            "merge_group": {
                "head_sha": sha,
                "head_ref": f"refs/heads/{branch}",
                "base_sha": commit.parents[0],
                "base_ref": f"refs/heads/{repository.default_branch}",
                "head_commit": {
                    "id": sha,
                    "tree_id": commit.tree,
                    "message": commit.message,
                    "timestamp": stamp(commit.time),
                    "author": {"name": "someone", "email": "someone@example.invalid"},
                    "committer": {"name": "someone", "email": "someone@example.invalid"},
                },
            },
            **self._shared(repository, repository.owner, app),
        }

    def installation(self, one: Installation, action: str = "created") -> Json:
        """An App was installed, removed, suspended."""
        return {
            "action": action,
            "installation": self.hub.bodies.installation(one),
            "repositories": [self._small(repository) for repository in one.repositories],
            "sender": self.hub.bodies.user(one.account),
        }

    def installation_repositories(self, one: Installation, added: list[Repository]) -> Json:
        """Repositories were added to an installation."""
        return {
            "action": "added",
            "installation": self.hub.bodies.installation(one),
            "repository_selection": "selected",
            "repositories_added": [self._small(repository) for repository in added],
            "repositories_removed": [],
            "requester": None,
            "sender": self.hub.bodies.user(one.account),
        }

    def workflow_run(self, run: Run, action: str = "completed", app: App | None = None) -> Json:
        """A run of a workflow changed; for forks its `pull_requests` is empty."""
        return {
            "action": action,
            "workflow_run": self.hub.bodies.run(run),
            "workflow": self.hub.bodies.workflow(run.workflow),
            **self._shared(run.workflow.repository, run.actor, app),
        }

    def push(self, repository: Repository, branch: str, before: str, app: App | None = None) -> Json:
        """Commits were pushed to a branch."""
        return {
            "ref": f"refs/heads/{branch}",
            "before": before,
            "after": repository.branches[branch],
            "commits": [],
            **self._shared(repository, repository.owner, app),
        }

    def ping(self, app: App) -> Json:
        """The first delivery of all."""
        return {"zen": "Practicality beats purity.", "hook_id": app.id, "hook": {"type": "App", "id": app.id}}

    def _small(self, repository: Repository) -> Json:
        return {
            "id": repository.id,
            "node_id": f"R_{repository.id}",
            "name": repository.name,
            "full_name": repository.full_name,
            "private": repository.private,
        }

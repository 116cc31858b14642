"""The JSON that the API answers with: every object whole, and every address at the fake itself."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from fakehub.diffs import Changed
from fakehub.git import Commit, Entry
from fakehub.state import (
    App,
    CheckRun,
    Delivery,
    Installation,
    IssueComment,
    Pull,
    Repository,
    Review,
    ReviewComment,
    Run,
    Token,
    User,
    Workflow,
    stamp,
)

if TYPE_CHECKING:
    from fakehub.server import FakeGitHub

Json = dict[str, Any]

_USER_PARTS = {
    "followers_url": "followers",
    "following_url": "following{/other_user}",
    "gists_url": "gists{/gist_id}",
    "starred_url": "starred{/owner}{/repo}",
    "subscriptions_url": "subscriptions",
    "organizations_url": "orgs",
    "repos_url": "repos",
    "events_url": "events{/privacy}",
    "received_events_url": "received_events",
}
_REPOSITORY_PARTS = {
    "archive": "{archive_format}{/ref}",
    "assignees": "assignees{/user}",
    "blobs": "git/blobs{/sha}",
    "branches": "branches{/branch}",
    "collaborators": "collaborators{/collaborator}",
    "comments": "comments{/number}",
    "commits": "commits{/sha}",
    "compare": "compare/{base}...{head}",
    "contents": "contents/{+path}",
    "contributors": "contributors",
    "deployments": "deployments",
    "downloads": "downloads",
    "events": "events",
    "forks": "forks",
    "git_commits": "git/commits{/sha}",
    "git_refs": "git/refs{/sha}",
    "git_tags": "git/tags{/sha}",
    "hooks": "hooks",
    "issue_comment": "issues/comments{/number}",
    "issue_events": "issues/events{/number}",
    "issues": "issues{/number}",
    "keys": "keys{/key_id}",
    "labels": "labels{/name}",
    "languages": "languages",
    "merges": "merges",
    "milestones": "milestones{/number}",
    "notifications": "notifications{?since,all,participating}",
    "pulls": "pulls{/number}",
    "releases": "releases{/id}",
    "stargazers": "stargazers",
    "statuses": "statuses/{sha}",
    "subscribers": "subscribers",
    "subscription": "subscription",
    "tags": "tags",
    "teams": "teams",
    "trees": "git/trees{/sha}",
}


class Bodies:
    """The JSON of everything that the fake knows."""

    def __init__(self, hub: FakeGitHub) -> None:
        self.hub = hub

    def user(self, user: User) -> Json:
        url = f"{self.hub.api}/users/{user.login}"
        return {
            "login": user.login,
            "id": user.id,
            "node_id": user.node_id,
            "avatar_url": f"{self.hub.web}/avatars/{user.id}",
            "gravatar_id": "",
            "url": url,
            "html_url": f"{self.hub.web}/{user.login}",
            **{name: f"{url}/{part}" for name, part in _USER_PARTS.items()},
            "type": user.kind,
            "user_view_type": "public",
            "site_admin": False,
        }

    def whole_user(self, user: User) -> Json:
        empty = dict.fromkeys(["bio", "blog", "company", "email", "hireable", "location", "name"])
        return {
            **self.user(user),
            **empty,
            **dict.fromkeys(["followers", "following", "public_gists", "public_repos"], 0),
            "created_at": stamp(0),
            "updated_at": stamp(0),
        }

    def app(self, app: App) -> Json:
        return {
            "id": app.id,
            "slug": app.slug,
            "node_id": f"A_{app.id}",
            "owner": self.user(app.owner),
            "name": app.slug,
            "description": None,
            "external_url": "https://app.example.invalid",
            "html_url": f"{self.hub.web}/apps/{app.slug}",
            "created_at": stamp(0),
            "updated_at": stamp(0),
            "permissions": app.permissions,
            "events": app.events,
        }

    def installation(self, one: Installation) -> Json:
        url = f"{self.hub.api}/app/installations/{one.id}"
        return {
            "id": one.id,
            "app_id": one.app.id,
            "app_slug": one.app.slug,
            "target_id": one.account.id,
            "target_type": one.account.kind,
            "single_file_name": None,
            "repository_selection": "selected",
            "access_tokens_url": f"{url}/access_tokens",
            "html_url": f"{self.hub.web}/settings/installations/{one.id}",
            "repositories_url": f"{self.hub.api}/installation/repositories",
            "events": one.app.events,
            "account": self.user(one.account),
            "permissions": one.permissions,
            "created_at": stamp(0),
            "updated_at": stamp(0),
            "suspended_by": None,
            "suspended_at": stamp(0) if one.suspended else None,
        }

    def installation_token(self, token: Token, repositories: list[Repository] | None) -> Json:
        assert token.expires is not None
        found: Json = {
            "token": token.text,
            "expires_at": stamp(token.expires),
            "permissions": dict(token.permissions),
            "repository_selection": "selected",
        }
        if repositories is not None:
            found["repositories"] = [self.repository(one) for one in repositories]
        return found

    def repository(self, one: Repository) -> Json:
        url = self.url(one)
        web = f"{self.hub.web}/{one.full_name}"
        counts = "forks forks_count open_issues open_issues_count size stargazers_count watchers watchers_count".split()
        return {
            "id": one.id,
            "node_id": f"R_{one.id}",
            "name": one.name,
            "full_name": one.full_name,
            "private": one.private,
            "owner": self.user(one.owner),
            "html_url": web,
            "description": None,
            "fork": one.parent is not None,
            "url": url,
            **{f"{name}_url": f"{url}/{part}" for name, part in _REPOSITORY_PARTS.items()},
            "clone_url": f"{web}.git",
            "git_url": f"{web}.git",
            "ssh_url": f"{web}.git",
            "svn_url": web,
            "mirror_url": None,
            "homepage": None,
            "language": None,
            "license": None,
            "default_branch": one.default_branch,
            **dict.fromkeys(counts, 0),
            "has_issues": True,
            **dict.fromkeys(["has_projects", "has_wiki", "has_pages", "has_downloads", "has_discussions"], False),
            **dict.fromkeys(["archived", "disabled"], False),
            "visibility": "private" if one.private else "public",
            "topics": [],
            **dict.fromkeys(["created_at", "pushed_at", "updated_at"], stamp(0)),
        }

    def whole_repository(self, one: Repository) -> Json:
        found = {**self.repository(one), "network_count": 0, "subscribers_count": 0}
        if one.parent is not None:
            found["parent"] = found["source"] = self.repository(one.parent)
        return found

    def pull(self, pull: Pull) -> Json:
        url = f"{self.url(pull.repository)}/pulls/{pull.number}"
        issue = f"{self.url(pull.repository)}/issues/{pull.number}"
        web = f"{self.hub.web}/{pull.repository.full_name}/pull/{pull.number}"
        statuses = f"{self.url(pull.repository)}/statuses/{pull.head_sha}"
        closed = None if pull.closed is None else stamp(pull.closed)
        return {
            "id": pull.id,
            "node_id": pull.node_id,
            "number": pull.number,
            "state": pull.state,
            "title": pull.title,
            "body": pull.body,
            "user": self.user(pull.author),
            "draft": pull.draft,
            "locked": pull.locked,
            "labels": [self.label(pull.repository, name) for name in pull.labels],
            "head": self._end(pull.head_repository, pull.head_owner, pull.head_ref, pull.head_sha),
            "base": self._end(pull.repository, pull.repository.owner, pull.base_ref, pull.base_seen),
            "assignee": None,
            "assignees": [],
            "requested_reviewers": [],
            "requested_teams": [],
            "milestone": None,
            "auto_merge": None,
            "active_lock_reason": None,
            "author_association": self.association(pull.repository, pull.author),
            "merge_commit_sha": None,
            "created_at": stamp(pull.created),
            "updated_at": stamp(pull.updated),
            "closed_at": closed,
            "merged_at": closed if pull.merged else None,
            "url": url,
            "html_url": web,
            "diff_url": f"{web}.diff",
            "patch_url": f"{web}.patch",
            "issue_url": issue,
            "commits_url": f"{url}/commits",
            "comments_url": f"{issue}/comments",
            "review_comments_url": f"{url}/comments",
            "review_comment_url": f"{self.url(pull.repository)}/pulls/comments{{/number}}",
            "statuses_url": statuses,
            "_links": {
                "self": {"href": url},
                "html": {"href": web},
                "issue": {"href": issue},
                "comments": {"href": f"{issue}/comments"},
                "commits": {"href": f"{url}/commits"},
                "review_comments": {"href": f"{url}/comments"},
                "review_comment": {"href": f"{self.url(pull.repository)}/pulls/comments{{/number}}"},
                "statuses": {"href": statuses},
            },
        }

    def whole_pull(self, pull: Pull) -> Json:
        files = pull.files()
        mergeable, state = pull.merge_state()
        return {
            **self.pull(pull),
            "merged": pull.merged,
            "merged_by": self.user(pull.repository.owner) if pull.merged else None,
            "mergeable": mergeable,
            "mergeable_state": state,
            "rebaseable": mergeable,
            "maintainer_can_modify": False,
            "comments": len(pull.comments),
            "review_comments": len(pull.inline),
            "commits": len(pull.commits()),
            "additions": sum(one.additions for one in files),
            "deletions": sum(one.deletions for one in files),
            "changed_files": len(files),
        }

    def _end(self, repository: Repository | None, owner: User, ref: str, sha: str) -> Json:
        return {
            "label": f"{owner.login}:{ref}",
            "ref": ref,
            "sha": sha,
            "user": self.user(owner),
            "repo": None if repository is None else self.repository(repository),
        }

    def small_pull(self, pull: Pull) -> Json:
        def end(repository: Repository, ref: str, sha: str) -> Json:
            small = {"id": repository.id, "url": self.url(repository), "name": repository.name}
            return {"ref": ref, "sha": sha, "repo": small}

        return {
            "id": pull.id,
            "number": pull.number,
            "url": f"{self.url(pull.repository)}/pulls/{pull.number}",
            "head": end(pull.head_repository or pull.repository, pull.head_ref, pull.head_sha),
            "base": end(pull.repository, pull.base_ref, pull.base_seen),
        }

    def file(self, pull_or_repository: Repository, sha: str, one: Changed) -> Json:
        url = self.url(pull_or_repository)
        web = f"{self.hub.web}/{pull_or_repository.full_name}"
        entry = one.new or one.old
        assert entry is not None
        found: Json = {
            "sha": entry.sha,
            "filename": one.path,
            "status": one.status,
            "additions": one.additions,
            "deletions": one.deletions,
            "changes": one.additions + one.deletions,
            "blob_url": f"{web}/blob/{sha}/file",
            "raw_url": f"{web}/raw/{sha}/file",
            "contents_url": f"{url}/contents/file?ref={sha}",
        }
        if one.previous is not None:
            found["previous_filename"] = one.previous
        if one.patch is not None:
            found["patch"] = one.patch
        return found

    def commit(self, repository: Repository, commit: Commit) -> Json:
        url = f"{self.url(repository)}/commits/{commit.sha}"
        name, _, mail = commit.author.partition(" <")
        who = {"name": name, "email": mail.rstrip(">"), "date": stamp(commit.time)}
        author = self.hub.known(name)
        return {
            "sha": commit.sha,
            "node_id": f"C_{commit.sha}",
            "url": url,
            "html_url": f"{self.hub.web}/{repository.full_name}/commit/{commit.sha}",
            "comments_url": f"{url}/comments",
            "author": None if author is None else self.user(author),
            "committer": None if author is None else self.user(author),
            "parents": [
                {
                    "sha": parent,
                    "url": f"{self.url(repository)}/commits/{parent}",
                    "html_url": f"{self.hub.web}/{repository.full_name}/commit/{parent}",
                }
                for parent in commit.parents
            ],
            "commit": {
                "url": f"{self.url(repository)}/git/commits/{commit.sha}",
                "author": who,
                "committer": who,
                "message": commit.message,
                "tree": {"sha": commit.tree, "url": f"{self.url(repository)}/git/trees/{commit.tree}"},
                "comment_count": 0,
                "verification": {
                    "verified": commit.verified,
                    "reason": "valid" if commit.verified else "unsigned",
                    "payload": None,
                    "signature": None,
                    "verified_at": None,
                },
            },
        }

    def label(self, repository: Repository, name: str) -> Json:
        return {
            "id": sum(name.encode()),
            "node_id": f"LA_{sum(name.encode())}",
            "url": f"{self.url(repository)}/labels/{sum(name.encode())}",
            "name": name,
            "color": "ededed",
            "default": False,
            "description": None,
        }

    def issue_comment(self, one: IssueComment) -> Json:
        repository = one.pull.repository
        return {
            "id": one.id,
            "node_id": one.node_id,
            "url": f"{self.url(repository)}/issues/comments/{one.id}",
            "html_url": f"{self.hub.web}/{repository.full_name}/pull/{one.pull.number}#issuecomment-{one.id}",
            "issue_url": f"{self.url(repository)}/issues/{one.pull.number}",
            "user": self.user(one.user),
            "body": one.body,
            "author_association": self.association(repository, one.user),
            "created_at": stamp(one.created),
            "updated_at": stamp(one.updated),
            "performed_via_github_app": None if one.app is None else self.app(one.app),
        }

    def review(self, one: Review) -> Json:
        url = f"{self.url(one.pull.repository)}/pulls/{one.pull.number}"
        web = f"{self.hub.web}/{one.pull.repository.full_name}/pull/{one.pull.number}#pullrequestreview-{one.id}"
        return {
            "id": one.id,
            "node_id": one.node_id,
            "user": self.user(one.user),
            "body": one.body,
            "state": one.state,
            "commit_id": one.commit,
            "submitted_at": stamp(one.submitted),
            "html_url": web,
            "pull_request_url": url,
            "_links": {"html": {"href": web}, "pull_request": {"href": url}},
            "author_association": self.association(one.pull.repository, one.user),
        }

    def review_comment(self, one: ReviewComment) -> Json:
        repository = one.pull.repository
        url = f"{self.url(repository)}/pulls/comments/{one.id}"
        pull = f"{self.url(repository)}/pulls/{one.pull.number}"
        web = f"{self.hub.web}/{repository.full_name}/pull/{one.pull.number}#discussion_r{one.id}"
        line, start = one.place()
        found: Json = {
            "id": one.id,
            "node_id": one.node_id,
            "url": url,
            "html_url": web,
            "pull_request_url": pull,
            "pull_request_review_id": one.review.id,
            "path": one.path,
            "diff_hunk": one.hunk,
            "commit_id": one.commit if line is None else one.pull.head_sha,
            "original_commit_id": one.commit,
            "position": None if line is None else 1,
            "original_position": 1,
            "line": line,
            "original_line": one.line,
            "start_line": start,
            "original_start_line": one.start_line,
            "side": one.side or "RIGHT",
            "start_side": one.start_side,
            "subject_type": one.subject,
            "user": self.user(one.user),
            "body": one.body,
            "author_association": self.association(repository, one.user),
            "created_at": stamp(one.created),
            "updated_at": stamp(one.updated),
            "_links": {"self": {"href": url}, "html": {"href": web}, "pull_request": {"href": pull}},
        }
        if one.reply_to is not None:
            found["in_reply_to_id"] = one.reply_to.id
        return found

    def reaction(self, number: int, user: User, content: str) -> Json:
        return {
            "id": number,
            "node_id": f"REA_{number}",
            "user": self.user(user),
            "content": content,
            "created_at": stamp(self.hub.now()),
        }

    def check_run(self, run: CheckRun) -> Json:
        url = f"{self.url(run.repository)}/check-runs/{run.id}"
        web = f"{self.hub.web}/{run.repository.full_name}/runs/{run.id}"
        return {
            "id": run.id,
            "node_id": f"CR_{run.id}",
            "head_sha": run.head,
            "external_id": run.external_id,
            "url": url,
            "html_url": web,
            "details_url": run.details_url or web,
            "status": run.status,
            "conclusion": run.conclusion,
            "started_at": stamp(run.started),
            "completed_at": None if run.completed is None else stamp(run.completed),
            "name": run.name,
            "check_suite": {"id": run.suite},
            "app": self.app(run.app),
            "pull_requests": self._pulls_of(run.repository, run.head),
            "output": {
                "title": run.title,
                "summary": run.summary,
                "text": run.text,
                "annotations_count": len(run.annotations),
                "annotations_url": f"{url}/annotations",
            },
        }

    def _pulls_of(self, repository: Repository, head: str) -> list[Json]:
        """The open pull requests of a commit; GitHub leaves out those from forks."""
        return [
            self.small_pull(one)
            for one in repository.pulls.values()
            if one.head_sha == head and one.head_repository is repository and one.state == "open"
        ]

    def annotation(self, run: CheckRun, one: Json) -> Json:
        return {
            "path": one["path"],
            "blob_href": f"{self.hub.web}/{run.repository.full_name}/blob/{run.head}/file",
            "start_line": one["start_line"],
            "end_line": one["end_line"],
            "start_column": one.get("start_column"),
            "end_column": one.get("end_column"),
            "annotation_level": one["annotation_level"],
            "title": one.get("title"),
            "message": one["message"],
            "raw_details": one.get("raw_details"),
        }

    def suite(self, repository: Repository, app: App, head: str, number: int) -> Json:
        runs = [one for one in repository.check_runs.values() if one.suite == number]
        done = bool(runs) and all(one.status == "completed" for one in runs)
        commit = repository.objects.commits[head]
        name, _, mail = commit.author.partition(" <")
        who = {"name": name, "email": mail.rstrip(">")}
        url = f"{self.url(repository)}/check-suites/{number}"
        return {
            "id": number,
            "node_id": f"CS_{number}",
            "head_branch": next((one for one, sha in repository.branches.items() if sha == head), None),
            "head_sha": head,
            "status": "completed" if done else "queued" if not runs else "in_progress",
            "conclusion": runs[-1].conclusion if done else None,
            "url": url,
            "before": None,
            "after": head,
            "app": self.app(app),
            "pull_requests": self._pulls_of(repository, head),
            "repository": self.repository(repository),
            "created_at": stamp(self.hub.now()),
            "updated_at": stamp(self.hub.now()),
            "latest_check_runs_count": len(runs),
            "check_runs_url": f"{url}/check-runs",
            "head_commit": {
                "id": head,
                "tree_id": commit.tree,
                "message": commit.message,
                "timestamp": stamp(commit.time),
                "author": who,
                "committer": who,
            },
        }

    def tree(self, repository: Repository, sha: str, entries: list[tuple[str, Entry]], truncated: bool) -> Json:
        url = self.url(repository)
        found = []
        for path, entry in entries:
            one: Json = {"path": path, "mode": entry.mode, "type": entry.kind, "sha": entry.sha}
            if entry.kind == "blob":
                one["size"] = len(repository.objects.blobs[entry.sha])
            if entry.kind != "commit":
                one["url"] = f"{url}/git/{entry.kind}s/{entry.sha}"
            found.append(one)
        return {"sha": sha, "url": f"{url}/git/trees/{sha}", "tree": found, "truncated": truncated}

    def blob(self, repository: Repository, sha: str, data: bytes) -> Json:
        return {
            "sha": sha,
            "node_id": f"B_{repository.id}_{sha}",
            "url": f"{self.url(repository)}/git/blobs/{sha}",
            "size": len(data),
            "encoding": "base64",
            "content": base64.encodebytes(data).decode(),
        }

    def content(self, repository: Repository, ref: str, path: str, entry: Entry, whole: bool = True) -> Json:
        from urllib.parse import quote

        url = f"{self.url(repository)}/contents/{quote(path)}?ref={quote(ref)}"
        web = f"{self.hub.web}/{repository.full_name}/blob/{quote(ref)}/{quote(path)}"
        kind = {"120000": "symlink", "160000": "submodule", "040000": "dir"}.get(entry.mode, "file")
        data = repository.objects.blobs.get(entry.sha, b"")
        git = f"{self.url(repository)}/git/{entry.kind}s/{entry.sha}"
        found: Json = {
            "type": kind,
            "name": path.rpartition("/")[2],
            "path": path,
            "sha": entry.sha,
            "size": len(data),
            "url": url,
            "html_url": web,
            "git_url": git,
            "download_url": web if kind in ("file", "symlink") else None,
            "_links": {"self": url, "git": git, "html": web},
        }
        if kind == "file" and whole:
            small = len(data) <= 1_000_000
            found["encoding"] = "base64" if small else "none"
            found["content"] = base64.encodebytes(data).decode() if small else ""
        if kind == "symlink" and whole:
            found["target"] = data.decode("utf-8", "replace")
        if kind == "submodule" and whole:
            found["submodule_git_url"] = None
        return found

    def delivery(self, one: Delivery) -> Json:
        return {
            "id": one.id,
            "guid": one.guid,
            "delivered_at": stamp(one.at),
            "redelivery": one.redelivery,
            "duration": one.seconds,
            "status": "OK"
            if 200 <= one.status_code < 300
            else "Timed out"
            if one.status_code == 0
            else "Invalid HTTP Response",
            "status_code": one.status_code,
            "event": one.event,
            "action": one.payload.get("action"),
            "installation_id": one.installation,
            "repository_id": one.repository,
            "throttled_at": None,
        }

    def whole_delivery(self, one: Delivery) -> Json:
        return {
            **self.delivery(one),
            "request": {
                "headers": {"X-GitHub-Delivery": one.guid, "X-GitHub-Event": one.event},
                "payload": one.payload,
            },
            "response": {"headers": {}, "payload": None},
        }

    def workflow(self, one: Workflow) -> Json:
        url = f"{self.url(one.repository)}/actions/workflows/{one.id}"
        return {
            "id": one.id,
            "node_id": f"W_{one.id}",
            "name": one.name,
            "path": one.path,
            "state": "active",
            "created_at": stamp(0),
            "updated_at": stamp(0),
            "url": url,
            "html_url": f"{self.hub.web}/{one.repository.full_name}/blob/main/{one.path}",
            "badge_url": f"{self.hub.web}/{one.repository.full_name}/workflows/badge.svg",
        }

    def run(self, run: Run) -> Json:
        repository = run.workflow.repository
        url = f"{self.url(repository)}/actions/runs/{run.id}"
        commit = repository.objects.commits[run.head]
        name, _, mail = commit.author.partition(" <")
        who = {"name": name, "email": mail.rstrip(">")}
        suite = repository.suite(self.hub.actions, run.head)
        return {
            "id": run.id,
            "node_id": f"WFR_{run.id}",
            "name": run.workflow.name,
            "display_title": run.title,
            "head_branch": run.ref,
            "head_sha": run.head,
            "run_number": 1,
            "run_attempt": 1,
            "event": run.event,
            "path": run.workflow.path,
            "status": run.status,
            "conclusion": run.conclusion,
            "workflow_id": run.workflow.id,
            "check_suite_id": suite,
            "actor": self.user(run.actor),
            "triggering_actor": self.user(run.actor),
            "created_at": stamp(run.created),
            "updated_at": stamp(run.updated or run.created),
            "run_started_at": stamp(run.created),
            "url": url,
            "html_url": f"{self.hub.web}/{repository.full_name}/actions/runs/{run.id}",
            "pull_requests": [],
            "referenced_workflows": [],
            "previous_attempt_url": None,
            "jobs_url": f"{url}/jobs",
            "logs_url": f"{url}/logs",
            "artifacts_url": f"{url}/artifacts",
            "cancel_url": f"{url}/cancel",
            "rerun_url": f"{url}/rerun",
            "check_suite_url": f"{self.url(repository)}/check-suites/{suite}",
            "workflow_url": f"{self.url(repository)}/actions/workflows/{run.workflow.id}",
            "repository": self.repository(repository),
            "head_repository": self.repository(repository),
            "head_commit": {
                "id": run.head,
                "tree_id": commit.tree,
                "message": commit.message,
                "timestamp": stamp(commit.time),
                "author": who,
                "committer": who,
            },
        }

    def job(self, run: Run) -> Json:
        """The one job of a run."""
        number = run.id + 1_000_000
        url = f"{self.url(run.workflow.repository)}/actions"
        done = run.status == "completed"
        return {
            "id": number,
            "run_id": run.id,
            "run_url": f"{url}/runs/{run.id}",
            "node_id": f"CR_{number}",
            "head_sha": run.head,
            "url": f"{url}/jobs/{number}",
            "html_url": f"{self.hub.web}/{run.workflow.repository.full_name}/actions/runs/{run.id}/job/{number}",
            "status": run.status,
            "conclusion": run.conclusion,
            "created_at": stamp(run.created),
            "started_at": stamp(run.started or run.created),
            "completed_at": stamp(run.created) if done else None,
            "name": "smoke",
            "steps": [],
            "check_run_url": f"{self.url(run.workflow.repository)}/check-runs/{number}",
            "labels": ["self-hosted", "botlint-smoke"],
            "runner_id": 1 if run.runner else None,
            "runner_name": run.runner or None,
            "runner_group_id": 1 if run.runner else None,
            "runner_group_name": "smoke" if run.runner else None,
            "workflow_name": run.workflow.name,
            "head_branch": run.ref,
        }

    def artifact(self, run: Run, name: str) -> Json:
        number, data = run.artifacts[name]
        url = f"{self.url(run.workflow.repository)}/actions/artifacts/{number}"
        return {
            "id": number,
            "node_id": f"MDg6QXJ0aWZhY3Q{number}",
            "name": name,
            "size_in_bytes": len(data),
            "url": url,
            "archive_download_url": f"{url}/zip",
            "expired": False,
            "created_at": stamp(run.created),
            "updated_at": stamp(run.created),
            "expires_at": stamp(run.created + 7 * 86400),
        }

    def association(self, repository: Repository, user: User) -> str:
        """GitHub's word for who wrote something; private members show as strangers, so it decides nothing."""
        if user is repository.owner:
            return "OWNER"
        return "COLLABORATOR" if repository.role(user.login) in ("write", "maintain", "admin") else "NONE"

    def url(self, repository: Repository) -> str:
        return f"{self.hub.api}/repos/{repository.full_name}"

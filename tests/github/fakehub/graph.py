"""The GraphQL calls in use, executed against a cut of GitHub's own schema."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLSchema, build_schema, execute, parse, validate
from graphql.validation import NoDeprecatedCustomRule

from fakehub.git import Entry, Objects
from fakehub.spec import DATA
from fakehub.state import IssueComment, Pull, Repository, Review, ReviewComment, Thread, Token, User, stamp

if TYPE_CHECKING:
    from fakehub.server import FakeGitHub

Node = dict[str, Any]
_MAX_INT = 2**31 - 1
_FORBIDDEN = "Resource not accessible by integration"


@cache
def load_schema() -> GraphQLSchema:
    """The schema in data/."""
    return build_schema((DATA / "schema.graphql").read_text(encoding="utf-8"))


class _ProblemError(GraphQLError):
    """An error with GitHub's `type`."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message, extensions={"type": kind})


class Graph:
    """Executes queries for a token."""

    def __init__(self, hub: FakeGitHub) -> None:
        self.hub = hub

    def execute(self, text: str, variables: Mapping[str, Any] | None, token: Token) -> Node:
        """The answer to a query."""
        try:
            document = parse(text)
        except GraphQLError as error:
            self.hub.violation(f"graphql: {error.message}")
            return {"errors": [{"message": error.message}]}
        faults = validate(load_schema(), document)
        for fault in (*faults, *validate(load_schema(), document, [NoDeprecatedCustomRule])):
            self.hub.violation(f"graphql: {fault.message}")
        if faults:
            return {"errors": [self._error(one) for one in faults]}
        result = execute(
            load_schema(), document, _Root(self.hub, token).fields(), variable_values=dict(variables or {})
        )
        answer: Node = {"data": result.data}  # type: ignore[union-attr]
        if result.errors:  # type: ignore[union-attr]
            answer["errors"] = [self._error(one) for one in result.errors]  # type: ignore[union-attr]
            for one in result.errors:  # type: ignore[union-attr]
                if "type" not in (one.extensions or {}):
                    self.hub.violation(f"graphql: {one.message}")
        return answer

    def _error(self, error: GraphQLError) -> Node:
        found: Node = {"message": error.message, "locations": [one.formatted for one in error.locations or ()]}
        if error.path:
            found["path"] = error.path
        kind = (error.extensions or {}).get("type")
        if kind:
            found["type"] = kind
        return found


class _Root:
    """The fields of Query and Mutation for one token."""

    def __init__(self, hub: FakeGitHub, token: Token) -> None:
        self.hub = hub
        self.token = token

    def fields(self) -> Node:
        return {
            "node": lambda info, **given: self.node(given["id"]),
            "nodes": lambda info, ids: [self.node(one) for one in ids],
            "rateLimit": lambda info, **given: self.rate(),
            "repository": lambda info, owner, name, **given: self.repository(owner, name, given["followRenames"]),
            "viewer": lambda info: {"__typename": "User", **self.user(self.token.user, rest_login=True)},
            "minimizeComment": lambda info, **given: self.minimize(**_input(given)),
            "unminimizeComment": lambda info, **given: self.minimize(**_input(given)),
            "resolveReviewThread": lambda info, **given: self.resolve(given["input"]["threadId"], True),
            "unresolveReviewThread": lambda info, **given: self.resolve(given["input"]["threadId"], False),
        }

    def repository(self, owner: str, name: str, follow: bool) -> Node:
        key = f"{owner}/{name}".lower()
        found = self.hub.repositories.get(key) or (self.hub.renamed.get(key) if follow else None)
        if found is None or not self.may_read(found):
            raise _ProblemError("NOT_FOUND", f"Could not resolve to a Repository with the name '{owner}/{name}'.")
        return self.show_repository(found)

    def may_read(self, repository: Repository) -> bool:
        if not repository.private:
            return True
        if self.token.kind == "user":
            return repository.role(self.token.user.login) != "none"
        return self.token.repositories is None or repository.id in self.token.repositories

    def may(self, repository: Repository, area: str) -> bool:
        """Whether the token may write there."""
        if self.token.kind == "user":
            return repository.role(self.token.user.login) in ("write", "maintain", "admin")
        inside = self.token.repositories is None or repository.id in self.token.repositories
        return inside and "write" in [self.token.permissions.get(one) for one in area.split("|")]

    def show_repository(self, one: Repository) -> Node:
        return {
            "__typename": "Repository",
            "id": f"R_{one.id}",
            "databaseId": one.id,
            "name": one.name,
            "nameWithOwner": one.full_name,
            "isFork": one.parent is not None,
            "isPrivate": one.private,
            "owner": {"__typename": "User", **self.user(one.owner)},
            "object": lambda info, oid=None, expression=None: self.object(one, oid, expression),
            "pullRequest": lambda info, number: self.pull(one, number),
        }

    def object(self, repository: Repository, oid: str | None, expression: str | None) -> Node | None:
        objects = repository.objects
        if oid is not None:
            if not re.fullmatch(r"[0-9a-f]{40}", oid):
                raise _ProblemError("BAD", f"'{oid}' is not a git object id")
            sha = oid
        else:
            name, colon, path = (expression or "").partition(":")
            sha = repository.branches.get(name.removeprefix("refs/heads/"), name)
            if colon:
                commit = objects.commits.get(sha)
                if commit is None:
                    return None
                entry: Entry | None = Entry("040000", commit.tree)
                for part in path.strip("/").split("/") if path.strip("/") else ():
                    entry = objects.trees.get(entry.sha, {}).get(part) if entry else None
                if entry is None:
                    return None
                sha = entry.sha
        return self.git(repository, objects, sha)

    def git(self, repository: Repository, objects: Objects, sha: str) -> Node | None:
        shared = {
            "oid": sha,
            "id": f"O_{sha}",
            "abbreviatedOid": sha[:7],
            "repository": lambda info: self.show_repository(repository),
        }
        if sha in objects.blobs:
            data = objects.blobs[sha]
            binary = b"\0" in data[:8000]
            cut = len(data) > self.hub.max_graphql_text
            # Other encodings are guessed, and come as something that is not the content.
            try:
                text = data.decode()
            except UnicodeDecodeError:
                text = data.decode("latin-1")
            return {
                "__typename": "Blob",
                **shared,
                "byteSize": len(data),
                "isBinary": binary,
                "isTruncated": cut,
                "text": None if binary else text[: self.hub.max_graphql_text] if cut else text,
            }
        if sha in objects.trees:
            return {
                "__typename": "Tree",
                **shared,
                "entries": lambda info: [self.entry(repository, objects, *one) for one in objects.trees[sha].items()],
            }
        if sha in objects.commits:
            commit = objects.commits[sha]
            return {
                "__typename": "Commit",
                **shared,
                "message": commit.message,
                "authoredDate": stamp(commit.time),
                "committedDate": stamp(commit.time),
                "tree": lambda info: self.git(repository, objects, commit.tree),
            }
        return None

    def entry(self, repository: Repository, objects: Objects, name: str, entry: Entry) -> Node:
        return {
            "name": name,
            "path": name,
            "mode": int(entry.mode, 8),
            "oid": entry.sha,
            "type": entry.kind,
            "size": len(objects.blobs.get(entry.sha, b"")),
            "object": lambda info: None if entry.kind == "commit" else self.git(repository, objects, entry.sha),
        }

    def pull(self, repository: Repository, number: int) -> Node:
        pull = repository.pulls.get(number)
        if pull is None:
            raise _ProblemError("NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}.")
        return self.show_pull(pull)

    def show_pull(self, pull: Pull) -> Node:
        return {
            "__typename": "PullRequest",
            "id": pull.node_id,
            "number": pull.number,
            "title": pull.title,
            "headRefOid": pull.head_sha,
            "baseRefOid": pull.base_seen,
            "isDraft": pull.draft,
            "merged": pull.merged,
            "state": "MERGED" if pull.merged else pull.state.upper(),
            "reviewThreads": lambda info, **page: self.page("reviewThreads", pull.threads, self.thread, page),
            "comments": lambda info, **page: self.page("comments", pull.comments, self.issue_comment, page),
        }

    def page(self, name: str, values: Sequence[Any], show: Callable[[Any], Node], page: Node) -> Node:
        """A part of a connection; GitHub insists on a bound of at most 100."""
        first, last = page.get("first"), page.get("last")
        if first is None and last is None:
            self.hub.violation(f"graphql: {name} without first or last")
            raise _ProblemError(
                "MISSING_PAGINATION_BOUNDARIES",
                f"You must provide a `first` or `last` value to properly paginate the `{name}` connection.",
            )
        if max(first or 0, last or 0) > 100:
            self.hub.violation(f"graphql: more than 100 {name} at once")
            raise _ProblemError("EXCESSIVE_PAGINATION", f"Requesting more than 100 records on the `{name}` connection.")
        start, end = 0, len(values)
        if page.get("after"):
            start = int(base64.b64decode(page["after"])) + 1
        if page.get("before"):
            end = int(base64.b64decode(page["before"]))
        if first is not None:
            end = min(end, start + first)
        if last is not None:
            start = max(start, end - last)
        some = values[start:end]
        return {
            "totalCount": len(values),
            "nodes": [show(one) for one in some],
            "pageInfo": {
                "hasNextPage": end < len(values),
                "hasPreviousPage": start > 0,
                "startCursor": _cursor(start) if some else None,
                "endCursor": _cursor(end - 1) if some else None,
            },
        }

    def thread(self, one: Thread) -> Node:
        root = one.comments[0]
        line, _ = root.place()
        repository = root.pull.repository
        return {
            "__typename": "PullRequestReviewThread",
            "id": one.node_id,
            "path": root.path,
            "isResolved": one.resolved_by is not None,
            "isCollapsed": one.resolved_by is not None,
            "isOutdated": root.subject == "line" and line is None,
            "resolvedBy": None if one.resolved_by is None else self.user(one.resolved_by),
            "line": line,
            "originalLine": root.line,
            "startLine": root.place()[1],
            "originalStartLine": root.start_line,
            "diffSide": root.side or "RIGHT",
            "startDiffSide": root.start_side,
            "subjectType": root.subject.upper(),
            "viewerCanReply": True,
            "viewerCanResolve": self.may(repository, "contents") and one.resolved_by is None,
            "viewerCanUnresolve": self.may(repository, "contents") and one.resolved_by is not None,
            "pullRequest": lambda info: self.show_pull(root.pull),
            "repository": lambda info: self.show_repository(repository),
            "comments": lambda info, skip=None, **page: self.page("comments", one.comments, self.review_comment, page),
        }

    def review_comment(self, one: ReviewComment) -> Node:
        line, _ = one.place()
        return {
            "__typename": "PullRequestReviewComment",
            **self._comment(one),
            "path": one.path,
            "line": line,
            "originalLine": one.line,
            "outdated": one.subject == "line" and line is None,
            "diffHunk": one.hunk,
            "state": "SUBMITTED",
            "url": f"{self.hub.web}/{one.pull.repository.full_name}/pull/{one.pull.number}#discussion_r{one.id}",
            "replyTo": lambda info: None if one.reply_to is None else self.review_comment(one.reply_to),
            "pullRequest": lambda info: self.show_pull(one.pull),
        }

    def issue_comment(self, one: IssueComment) -> Node:
        return {
            "__typename": "IssueComment",
            **self._comment(one),
            "url": f"{self.hub.web}/{one.pull.repository.full_name}/pull/{one.pull.number}#issuecomment-{one.id}",
            "pullRequest": lambda info: self.show_pull(one.pull),
        }

    def _comment(self, one: ReviewComment | IssueComment) -> Node:
        return {
            "id": one.node_id,
            "databaseId": one.id if one.id <= _MAX_INT else None,
            "fullDatabaseId": str(one.id),
            "author": self.actor(one.user),
            "body": one.body,
            "createdAt": stamp(one.created),
            "isMinimized": one.minimized is not None,
            "minimizedReason": None if one.minimized is None else one.minimized.lower(),
            "viewerCanMinimize": True,
            "viewerDidAuthor": one.user is self.token.user,
        }

    def review(self, one: Review) -> Node:
        return {
            "__typename": "PullRequestReview",
            "id": one.node_id,
            "databaseId": one.id,
            "fullDatabaseId": str(one.id),
            "author": self.actor(one.user),
            "body": one.body,
            "state": one.state,
            "isMinimized": one.minimized is not None,
            "minimizedReason": None if one.minimized is None else one.minimized.lower(),
            "viewerCanMinimize": True,
        }

    def actor(self, user: User) -> Node:
        return {"__typename": "Bot" if user.kind == "Bot" else "User", **self.user(user)}

    def user(self, user: User, rest_login: bool = False) -> Node:
        # GraphQL calls the bot of an App by the App's name alone.
        login = user.login if rest_login else user.login.removesuffix("[bot]")
        return {"id": user.node_id, "databaseId": user.id, "login": login, "url": f"{self.hub.web}/{login}"}

    def rate(self) -> Node:
        used = self.token.used
        return {
            "cost": 1,
            "limit": self.hub.rate_limit,
            "nodeCount": 0,
            "used": used,
            "remaining": self.hub.rate_limit - used,
            "resetAt": stamp(self.hub.now() + 3600),
        }

    # Nodes by their id

    def find(self, node_id: str) -> Any:
        for pull in self.hub.all_pulls():
            if pull.node_id == node_id:
                return pull
            some: list[Any] = [*pull.comments, *pull.reviews, *pull.threads, *pull.inline]
            for one in some:
                if one.node_id == node_id:
                    return one
        return next((one for one in self.hub.repositories.values() if f"R_{one.id}" == node_id), None)

    def node(self, node_id: str) -> Node:
        one = self.find(node_id)
        show: dict[type, Callable[[Any], Node]] = {
            Pull: self.show_pull,
            IssueComment: self.issue_comment,
            ReviewComment: self.review_comment,
            Review: self.review,
            Thread: self.thread,
            Repository: self.show_repository,
        }
        if one is None or not self.may_read(_repository_of(one)):
            raise _ProblemError("NOT_FOUND", f"Could not resolve to a node with the global id of '{node_id}'")
        return show[type(one)](one)

    def minimize(self, node_id: str, classifier: str | None = None) -> Node:
        one = self.find(node_id)
        if not isinstance(one, IssueComment | ReviewComment | Review):
            raise _ProblemError("NOT_FOUND", f"Could not resolve to a node with the global id of '{node_id}'")
        if not self.may(one.pull.repository, "pull_requests|issues"):
            raise _ProblemError("FORBIDDEN", _FORBIDDEN)
        one.minimized = classifier
        shown = self.node(node_id)
        return {"minimizedComment": shown, "unminimizedComment": shown, "clientMutationId": None}

    def resolve(self, node_id: str, resolved: bool) -> Node:
        one = self.find(node_id)
        if not isinstance(one, Thread):
            raise _ProblemError("NOT_FOUND", f"Could not resolve to a node with the global id of '{node_id}'")
        # To write pull requests is not enough for this one.
        if not self.may(one.comments[0].pull.repository, "contents"):
            raise _ProblemError("FORBIDDEN", _FORBIDDEN)
        one.resolved_by = self.token.user if resolved else None
        return {"thread": self.thread(one), "clientMutationId": None}


def _repository_of(one: Any) -> Repository:
    if isinstance(one, Repository):
        return one
    pull = one if isinstance(one, Pull) else one.comments[0].pull if isinstance(one, Thread) else one.pull
    found: Repository = pull.repository
    return found


def _input(given: Node) -> Node:
    found = {"node_id": given["input"]["subjectId"]}
    return {**found, **({"classifier": given["input"]["classifier"]} if "classifier" in given["input"] else {})}


def _cursor(index: int) -> str:
    return base64.b64encode(str(index).encode()).decode()

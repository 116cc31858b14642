"""What each REST operation does."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlencode

from fakehub.diffs import changed_files
from fakehub.git import Entry
from fakehub.spec import Match
from fakehub.state import (
    App,
    CheckRun,
    Installation,
    IssueComment,
    Pull,
    Repository,
    Review,
    ReviewComment,
    Run,
    Token,
    Workflow,
)

if TYPE_CHECKING:
    from fakehub.server import FakeGitHub

T = TypeVar("T")
Json = dict[str, Any]
Result = tuple[int, Any, dict[str, str]]

MAX_BODY = 65_536
_MAX_CHECK_TEXT = 65_535
_MAX_TITLE = 255
_MAX_ANNOTATION = 65_536
_DOCS = "https://docs.github.com/rest"

# Area of the permission; `|` means that either is enough.
_AREAS = (
    (r"actions/.*", "actions"),
    (r"checks/.*", "checks"),
    (r"git/.*|repos/(get-content|compare-commits-with-basehead|get-commit)", "contents"),
    (r"pulls/.*|reactions/create-for-pull-request-review-comment", "pull_requests"),
    (r"issues/.*|reactions/.*", "issues|pull_requests"),
    (r".*", "metadata"),
)


class AnswerError(Exception):
    """An answer that is not the right one."""

    def __init__(
        self,
        status: int,
        message: str = "",
        errors: list[Any] | None = None,
        headers: Mapping[str, str] | None = None,
        whole: Any = None,
        **more: Any,
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.headers = dict(headers or {})
        self.body = whole
        if whole is None:
            self.body = {"message": message, "documentation_url": _DOCS, "status": str(status), **more}
            if errors is not None:
                self.body["errors"] = errors


class Asked:
    """A request that fits the description, with who asks for what."""

    def __init__(
        self,
        hub: FakeGitHub,
        match: Match,
        query: Mapping[str, str],
        body: Any,
        token: Token | None,
        app: App | None,
    ) -> None:
        self.hub = hub
        self.match = match
        self.parameters = match.parameters
        self.query = query
        self.body: Json = body if isinstance(body, dict) else {}
        self.token = token
        self.app = app
        self.repository: Repository | None = None
        if "owner" in self.parameters:
            name = f"{self.parameters['owner']}/{self.parameters['repo']}".lower()
            self.repository = hub.repositories.get(name)
            if self.repository is None:
                raise AnswerError(404, "Not Found")

    @property
    def repo(self) -> Repository:
        assert self.repository is not None
        return self.repository

    @property
    def who(self) -> Token:
        assert self.token is not None
        return self.token

    def number(self, name: str) -> int:
        """A path parameter that is a number."""
        return int(self.parameters[name])

    def pull(self, name: str = "pull_number") -> Pull:
        return found(self.repo.pulls.get(self.number(name)))


def permission_for(asked: Asked) -> tuple[str, str]:
    """The area and the level that an operation takes."""
    area = next(area for pattern, area in _AREAS if re.fullmatch(pattern, asked.match.operation))
    return area, "read" if asked.match.method == "get" else "write"


def perform(asked: Asked) -> Result:
    """Does what was asked."""
    handler = HANDLERS.get(asked.match.operation)
    if handler is None:
        raise AnswerError(501, f"{asked.match.operation} is not in the fake")
    return handler(asked)


def found(value: T | None) -> T:
    """A thing that must be there, else 404."""
    if value is None:
        raise AnswerError(404, "Not Found")
    return value


def _page(asked: Asked, values: Iterable[T], default: int = 30) -> tuple[list[T], dict[str, str]]:
    """One page of a list, and the `Link` header."""
    some = list(values)
    size = min(100, max(1, int(asked.query.get("per_page", default))))
    page = max(1, int(asked.query.get("page", 1)))
    last = max(1, -(-len(some) // size))
    links = []
    for relation, number, wanted in (
        ("prev", page - 1, page > 1),
        ("next", page + 1, page < last),
        ("last", last, page < last),
        ("first", 1, page > 1),
    ):
        if wanted:
            query = {**asked.query, "per_page": str(size), "page": str(number)}
            links.append(f'<{asked.hub.api}{_path(asked)}?{urlencode(query)}>; rel="{relation}"')
    return some[(page - 1) * size : page * size], {"Link": ", ".join(links)} if links else {}


def _path(asked: Asked) -> str:
    path = asked.match.route
    for name, text in asked.parameters.items():
        path = path.replace("{" + name + "}", text)
    if asked.repository is not None:
        path = path.replace(
            f"/repos/{asked.parameters['owner']}/{asked.parameters['repo']}", f"/repositories/{asked.repo.id}", 1
        )
    return path


def _list(asked: Asked, values: Iterable[T], show: Callable[[T], Json]) -> Result:
    page, headers = _page(asked, values)
    return 200, [show(one) for one in page], headers


def _named_list(asked: Asked, name: str, values: Iterable[T], show: Callable[[T], Json]) -> Result:
    some = list(values)
    page, headers = _page(asked, some)
    return 200, {"total_count": len(some), name: [show(one) for one in page]}, headers


# Apps


def _get_app(asked: Asked) -> Result:
    assert asked.app is not None
    return 200, asked.hub.bodies.app(asked.app), {}


def _installations(asked: Asked) -> Result:
    assert asked.app is not None
    return _list(asked, asked.app.installations, asked.hub.bodies.installation)


def _installation(asked: Asked) -> Installation:
    assert asked.app is not None
    number = asked.number("installation_id")
    return found(next((one for one in asked.app.installations if one.id == number), None))


def _get_installation(asked: Asked) -> Result:
    return 200, asked.hub.bodies.installation(_installation(asked)), {}


def _repository_installation(asked: Asked) -> Result:
    assert asked.app is not None
    one = found(next((one for one in asked.app.installations if asked.repo in one.repositories), None))
    return 200, asked.hub.bodies.installation(one), {}


def _create_token(asked: Asked) -> Result:
    one = _installation(asked)
    if one.suspended:
        raise AnswerError(403, "This installation has been suspended")
    repositories = None
    if "repository_ids" in asked.body or "repositories" in asked.body:
        ids, names = asked.body.get("repository_ids", []), asked.body.get("repositories", [])
        repositories = [repo for repo in one.repositories if repo.id in ids or repo.name in names]
        if len(repositories) != len(ids) + len(names):
            raise AnswerError(
                422,
                "There is at least one repository that does not exist or is not accessible to the parent installation.",
            )
    wanted = asked.body.get("permissions")
    for area, level in (wanted or {}).items():
        have = one.permissions.get(area, "read" if area == "metadata" else None)
        if have is None or (level == "write" and have != "write"):
            raise AnswerError(422, "The permissions requested are not granted to this installation.")
    token = asked.hub.installation_token(one, wanted, repositories)
    return 201, asked.hub.bodies.installation_token(token, repositories), {}


def _accessible(asked: Asked) -> Result:
    ids = asked.who.repositories
    if ids is None:
        raise AnswerError(403, "You must authenticate with an installation access token")
    repos = [one for one in asked.hub.repositories.values() if one.id in ids]
    return _named_list(asked, "repositories", repos, asked.hub.bodies.repository)


def _deliveries(asked: Asked) -> Result:
    assert asked.app is not None
    some = sorted(asked.app.deliveries, key=lambda one: -one.id)
    status = asked.query.get("status")
    if status:
        some = [one for one in some if (200 <= one.status_code < 300) == (status == "success")]
    size = min(100, int(asked.query.get("per_page", 30)))
    cursor = asked.query.get("cursor")
    if cursor:
        some = [one for one in some if one.id <= int(cursor.removeprefix("v1_"))]
    headers = {}
    if len(some) > size:
        query = {**asked.query, "per_page": str(size), "cursor": f"v1_{some[size].id}"}
        headers["Link"] = f'<{asked.hub.api}/app/hook/deliveries?{urlencode(query)}>; rel="next"'
    return 200, [asked.hub.bodies.delivery(one) for one in some[:size]], headers


def _delivery(asked: Asked) -> Any:
    assert asked.app is not None
    number = asked.number("delivery_id")
    return found(next((one for one in asked.app.deliveries if one.id == number), None))


def _get_delivery(asked: Asked) -> Result:
    return 200, asked.hub.bodies.whole_delivery(_delivery(asked)), {}


def _redeliver(asked: Asked) -> Result:
    one = _delivery(asked)
    assert asked.app is not None
    asked.hub.redeliver(asked.app, one)
    return 202, {}, {}


# Repositories, accounts, limits


def _get_repository(asked: Asked) -> Result:
    return 200, asked.hub.bodies.whole_repository(asked.repo), {}


def _me(asked: Asked) -> Result:
    if asked.who.kind != "user":
        raise AnswerError(403, "Resource not accessible by integration")
    return 200, asked.hub.bodies.whole_user(asked.who.user), {}


def _get_user(asked: Asked) -> Result:
    return 200, asked.hub.bodies.whole_user(found(asked.hub.known(asked.parameters["username"]))), {}


def _rate_limit(asked: Asked) -> Result:
    one = {
        "limit": asked.hub.rate_limit,
        "used": asked.who.used,
        "remaining": max(0, asked.hub.rate_limit - asked.who.used),
        "reset": int(asked.hub.now()) + 3600,
    }
    return 200, {"rate": one, "resources": {"core": one, "search": one, "graphql": one}}, {}


def _permission(asked: Asked) -> Result:
    user = found(asked.hub.known(asked.parameters["username"]))
    role = asked.repo.role(user.login)
    if role == "none":
        raise AnswerError(404, f"{user.login} is not a user")
    simple = {"maintain": "write", "triage": "read"}.get(role, role)
    shown = {**asked.hub.bodies.user(user), "role_name": role}
    return 200, {"permission": simple, "role_name": role, "user": shown}, {}


# Git


def _commit_of(asked: Asked, name: str) -> str:
    """The commit that a branch, a tag or a sha means, also a fork's as `owner:branch`."""
    repository = asked.repo
    if ":" in name:
        owner, _, name = name.partition(":")
        for one in asked.hub.repositories.values():
            if one.owner.login.lower() == owner.lower() and one.objects is asked.repo.objects:
                repository = one
    name = name.removeprefix("refs/").removeprefix("heads/")
    sha = repository.branches.get(name, name)
    if sha not in repository.objects.commits:
        match = re.fullmatch(r"pull/(\d+)/head", name)
        if match and int(match[1]) in asked.repo.pulls:
            return asked.repo.pulls[int(match[1])].head_sha
        raise AnswerError(404, "Not Found")
    return sha


def _get_tree(asked: Asked) -> Result:
    name, _, folder = asked.parameters["tree_sha"].partition(":")
    objects = asked.repo.objects
    sha = name if name in objects.trees else objects.commits[_commit_of(asked, name)].tree
    for part in folder.split("/") if folder else ():
        sha = found(objects.trees[sha].get(part)).sha
    # Any value means yes, `0` and `false` too.
    if "recursive" in asked.query:
        entries = list(objects.walk(sha))
        cut = len(entries) > asked.repo.tree_entries
        entries = entries[: asked.repo.tree_entries]
    else:
        entries, cut = list(objects.trees[sha].items()), False
    return 200, asked.hub.bodies.tree(asked.repo, sha, entries, cut), {}


def _get_blob(asked: Asked) -> Result:
    sha = asked.parameters["file_sha"]
    return 200, asked.hub.bodies.blob(asked.repo, sha, found(asked.repo.objects.blobs.get(sha))), {}


def _get_content(asked: Asked) -> Result:
    ref = asked.query.get("ref", asked.repo.default_branch)
    objects = asked.repo.objects
    entry = Entry("040000", objects.commits[_commit_of(asked, ref)].tree)
    path = asked.parameters["path"].strip("/")
    for part in path.split("/"):
        entry = found(objects.trees.get(entry.sha, {}).get(part))
    if entry.kind == "tree":
        inside = objects.trees[entry.sha].items()
        show = asked.hub.bodies.content
        return 200, [show(asked.repo, ref, f"{path}/{name}", one, whole=False) for name, one in inside], {}
    return 200, asked.hub.bodies.content(asked.repo, ref, path, entry), {}


def _get_commit(asked: Asked) -> Result:
    objects = asked.repo.objects
    commit = objects.commits[_commit_of(asked, asked.parameters["ref"])]
    old = objects.commits[commit.parents[0]].tree if commit.parents else None
    files = changed_files(objects, old, commit.tree, asked.repo.limits)
    page, headers = _page(asked, files[:3000], 300)
    body = asked.hub.bodies.commit(asked.repo, commit)
    body["files"] = [asked.hub.bodies.file(asked.repo, commit.sha, one) for one in page]
    body["stats"] = {
        "additions": sum(one.additions for one in files),
        "deletions": sum(one.deletions for one in files),
        "total": sum(one.additions + one.deletions for one in files),
    }
    return 200, body, headers


def _compare(asked: Asked) -> Result:
    left, dots, right = asked.parameters["basehead"].partition("...")
    if not dots:
        raise AnswerError(404, "Not Found")
    objects = asked.repo.objects
    base, head = _commit_of(asked, left), _commit_of(asked, right)
    common = objects.merge_base(base, head)
    if common is None:
        raise AnswerError(404, f"No common ancestor between {left} and {right}.")
    ahead, behind = objects.between(base, head), objects.between(head, base)
    bodies = asked.hub.bodies
    page, headers = _page(asked, ahead, 250)
    web = f"{asked.hub.web}/{asked.repo.full_name}/compare/{base}...{head}"
    body = {
        "url": f"{bodies.url(asked.repo)}/compare/{base}...{head}",
        "html_url": web,
        "permalink_url": web,
        "diff_url": f"{web}.diff",
        "patch_url": f"{web}.patch",
        "base_commit": bodies.commit(asked.repo, objects.commits[base]),
        "merge_base_commit": bodies.commit(asked.repo, objects.commits[common]),
        "status": ("diverged" if behind else "ahead") if ahead else "behind" if behind else "identical",
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [bodies.commit(asked.repo, one) for one in page],
    }
    # Files come with the first page of commits only, and no more than 300.
    if int(asked.query.get("page", 1)) == 1:
        some = changed_files(objects, objects.commits[common].tree, objects.commits[head].tree, asked.repo.limits)
        body["files"] = [bodies.file(asked.repo, head, one) for one in some[:300]]
    return 200, body, headers


# Pull requests


def _list_pulls(asked: Asked) -> Result:
    state = asked.query.get("state", "open")
    some = [
        one
        for one in asked.repo.pulls.values()
        if state in ("all", one.state)
        and asked.query.get("base", one.base_ref) == one.base_ref
        and asked.query.get("head", "").lower() in ("", f"{one.head_owner.login}:{one.head_ref}".lower())
    ]
    down = asked.query.get("direction", "desc") == "desc"
    key = (lambda one: one.updated) if asked.query.get("sort") == "updated" else (lambda one: one.number)
    return _list(asked, sorted(some, key=key, reverse=down), asked.hub.bodies.pull)


def _get_pull(asked: Asked) -> Result:
    return 200, asked.hub.bodies.whole_pull(asked.pull()), {}


def _list_files(asked: Asked) -> Result:
    pull = asked.pull()
    files = pull.files()[: pull.repository.limits.files]
    return _list(asked, files, lambda one: asked.hub.bodies.file(asked.repo, pull.head_sha, one))


def _list_commits(asked: Asked) -> Result:
    return _list(asked, asked.pull().commits()[:250], lambda one: asked.hub.bodies.commit(asked.repo, one))


def _list_reviews(asked: Asked) -> Result:
    return _list(asked, asked.pull().reviews, asked.hub.bodies.review)


def _create_review(asked: Asked) -> Result:
    pull = asked.pull()
    body = asked.body.get("body") or ""
    commit = _commit_on(pull, asked.body.get("commit_id") or pull.head_sha)
    comments: list[Json] = asked.body.get("comments") or []
    event = asked.body["event"]
    _check_length(body, "PullRequestReview")
    if not body and not comments:
        raise AnswerError(422, "Unprocessable Entity", ["Body is too short (minimum is 1 character)"])
    if event != "COMMENT" and pull.author is asked.who.user:
        raise AnswerError(422, "Unprocessable Entity", ["Can not approve your own pull request"])
    # One bad comment, and nothing is posted.
    for one in comments:
        _check_length(one["body"], "PullRequestReview")
        problem = _place_problem(pull, commit, one)
        if problem:
            raise AnswerError(422, "Unprocessable Entity", [problem])
    state = {"COMMENT": "COMMENTED", "APPROVE": "APPROVED", "REQUEST_CHANGES": "CHANGES_REQUESTED"}[event]
    review = pull.review(asked.who.user, body, state, commit)
    for one in comments:
        pull.comment_on(
            one["path"],
            one["body"],
            asked.who.user,
            line=one["line"],
            side=one.get("side", "RIGHT"),
            start_line=one.get("start_line"),
            start_side=one.get("start_side"),
            commit=commit,
            review=review,
        )
    return 200, asked.hub.bodies.review(review), {}


def _commit_on(pull: Pull, sha: str) -> str:
    objects = pull.repository.objects
    if sha not in objects.commits or sha not in objects.ancestors(pull.head_sha) | set(pull.pushed):
        raise AnswerError(422, "Unprocessable Entity", [f"No commit found for SHA: {sha}"])
    return sha


def _place_problem(pull: Pull, commit: str, comment: Mapping[str, Any]) -> str | None:
    """Why a comment cannot be where it is asked for."""
    lines = pull.anchors(comment["path"], commit)
    if lines is None:
        return "Path could not be resolved"
    side = comment.get("side", "RIGHT")
    line = comment.get("line")
    if line is None or line not in lines.side(side):
        return "Line could not be resolved"
    if "start_line" not in comment:
        return None
    start_side, start = comment.get("start_side", side), comment["start_line"]
    if start not in lines.side(start_side):
        return "Start line could not be resolved"
    if start >= line and start_side == side:
        return "Start line must precede the end line."
    if lines.side(start_side)[start] != lines.side(side)[line]:
        return "Start line must be part of the same hunk as the line."
    return None


def _check_length(text: str, resource: str) -> None:
    if len(text.encode("utf-16-le")) // 2 > MAX_BODY:
        message = f"body is too long (maximum is {MAX_BODY} characters)"
        if resource == "PullRequestReview":
            raise AnswerError(422, "Unprocessable Entity", [message.capitalize()])
        raise AnswerError(
            422, "Validation Failed", [{"resource": resource, "code": "custom", "field": "body", "message": message}]
        )


def _review(asked: Asked) -> Review:
    number = asked.number("review_id")
    return found(next((one for one in asked.pull().reviews if one.id == number), None))


def _update_review(asked: Asked) -> Result:
    review = _review(asked)
    _only_author(asked, review.user.id)
    review.body = asked.body["body"]
    return 200, asked.hub.bodies.review(review), {}


def _dismiss_review(asked: Asked) -> Result:
    review = _review(asked)
    if review.state == "COMMENTED":
        raise AnswerError(422, "Can not dismiss a commented pull request review")
    review.state = "DISMISSED"
    return 200, asked.hub.bodies.review(review), {}


def _review_comments_of(asked: Asked) -> Result:
    review = _review(asked)

    def show(one: ReviewComment) -> Json:
        dropped = ("subject_type", "line", "side", "start_side", "start_line", "original_line", "original_start_line")
        return {key: value for key, value in asked.hub.bodies.review_comment(one).items() if key not in dropped}

    return _list(asked, [one for one in asked.pull().inline if one.review is review], show)


def _list_review_comments(asked: Asked) -> Result:
    some = asked.pull().inline
    if asked.query.get("direction") == "desc" and "sort" in asked.query:
        some = some[::-1]
    return _list(asked, some, asked.hub.bodies.review_comment)


def _create_review_comment(asked: Asked) -> Result:
    pull, body = asked.pull(), asked.body
    _check_length(body["body"], "PullRequestReviewComment")
    if "in_reply_to" in body:
        return 201, asked.hub.bodies.review_comment(_reply_to(asked, body["in_reply_to"])), {}
    commit = _commit_on(pull, body["commit_id"])
    if body.get("subject_type") == "file":
        if "line" in body or pull.changed(body["path"], commit) is None:
            raise _bad_place("path")
        made = pull.comment_on(body["path"], body["body"], asked.who.user, commit=commit)
        return 201, asked.hub.bodies.review_comment(made), {}
    problem = _place_problem(pull, commit, body)
    if problem:
        raise _bad_place("path" if problem.startswith("Path") else "pull_request_review_thread.line")
    made = pull.comment_on(
        body["path"],
        body["body"],
        asked.who.user,
        line=body["line"],
        side=body.get("side", "RIGHT"),
        start_line=body.get("start_line"),
        start_side=body.get("start_side"),
        commit=commit,
    )
    return 201, asked.hub.bodies.review_comment(made), {}


def _bad_place(field: str) -> AnswerError:
    message = "is invalid" if field == "path" else "must be part of the diff"
    error = {"resource": "PullRequestReviewComment", "code": "custom", "field": field, "message": f"{field} {message}"}
    return AnswerError(422, "Validation Failed", [error])


def _create_reply(asked: Asked) -> Result:
    return 201, asked.hub.bodies.review_comment(_reply_to(asked, asked.number("comment_id"))), {}


def _reply_to(asked: Asked, number: int) -> ReviewComment:
    _check_length(asked.body["body"], "PullRequestReviewComment")
    target = found(next((one for one in asked.pull().inline if one.id == number), None))
    if target.reply_to is not None:
        asked.hub.violation(f"{asked.match.operation}: {number} is a reply itself; answer the first of its thread")
        raise AnswerError(
            422,
            "Validation Failed",
            [{"resource": "PullRequestReviewComment", "code": "invalid", "field": "in_reply_to"}],
        )
    return asked.pull().reply(target, asked.body["body"], asked.who.user)


def _review_comment(asked: Asked) -> ReviewComment:
    return found(asked.repo.review_comments.get(asked.number("comment_id")))


def _get_review_comment(asked: Asked) -> Result:
    return 200, asked.hub.bodies.review_comment(_review_comment(asked)), {}


def _edit_review_comment(asked: Asked) -> Result:
    comment = _review_comment(asked)
    _only_author(asked, comment.user.id)
    _check_length(asked.body["body"], "PullRequestReviewComment")
    comment.body, comment.updated = asked.body["body"], asked.hub.now()
    return 200, asked.hub.bodies.review_comment(comment), {}


def _delete_review_comment(asked: Asked) -> Result:
    comment = _review_comment(asked)
    _only_author(asked, comment.user.id)
    comment.pull.remove(comment)
    return 204, None, {}


def _only_author(asked: Asked, author: int) -> None:
    token = asked.who
    if token.user.id != author and not (
        token.kind == "user" and asked.repo.role(token.user.login) in ("write", "maintain", "admin")
    ):
        asked.hub.violation(f"{asked.match.operation}: of what somebody else wrote")
        raise AnswerError(403, "Resource not accessible by integration")


def _list_issue_comments(asked: Asked) -> Result:
    return _list(asked, asked.pull("issue_number").comments, asked.hub.bodies.issue_comment)


def _create_issue_comment(asked: Asked) -> Result:
    pull = asked.pull("issue_number")
    if pull.locked:
        raise AnswerError(403, "Unable to create comment because issue is locked.")
    _check_length(asked.body["body"], "IssueComment")
    if not asked.body["body"].strip():
        raise AnswerError(
            422, "Validation Failed", [{"resource": "IssueComment", "code": "missing_field", "field": "body"}]
        )
    made = pull.comment(asked.body["body"], asked.who.user, asked.who.app)
    return 201, asked.hub.bodies.issue_comment(made), {}


def _issue_comment(asked: Asked) -> IssueComment:
    return found(asked.repo.issue_comments.get(asked.number("comment_id")))


def _edit_issue_comment(asked: Asked) -> Result:
    comment = _issue_comment(asked)
    _only_author(asked, comment.user.id)
    _check_length(asked.body["body"], "IssueComment")
    comment.body, comment.updated = asked.body["body"], asked.hub.now()
    return 200, asked.hub.bodies.issue_comment(comment), {}


def _delete_issue_comment(asked: Asked) -> Result:
    comment = _issue_comment(asked)
    _only_author(asked, comment.user.id)
    comment.pull.remove(comment)
    return 204, None, {}


def _react(asked: Asked) -> Result:
    comment = _issue_comment(asked) if asked.match.operation.endswith("issue-comment") else _review_comment(asked)
    content = asked.body["content"]
    for number, user, before in comment.reactions:
        if user is asked.who.user and before == content:
            return 200, asked.hub.bodies.reaction(number, user, content), {}
    number = asked.hub.next_id()
    comment.reactions.append((number, asked.who.user, content))
    return 201, asked.hub.bodies.reaction(number, asked.who.user, content), {}


def _labels(asked: Asked) -> Result:
    return _list(asked, asked.pull("issue_number").labels, lambda one: asked.hub.bodies.label(asked.repo, one))


def _add_labels(asked: Asked) -> Result:
    pull = asked.pull("issue_number")
    for one in asked.body.get("labels", []):
        name = one if isinstance(one, str) else one["name"]
        if name not in pull.labels:
            pull.labels.append(name)
    return 200, [asked.hub.bodies.label(asked.repo, one) for one in pull.labels], {}


def _remove_label(asked: Asked) -> Result:
    pull = asked.pull("issue_number")
    if asked.parameters["name"] not in pull.labels:
        raise AnswerError(404, "Label does not exist")
    pull.labels.remove(asked.parameters["name"])
    return 200, [asked.hub.bodies.label(asked.repo, one) for one in pull.labels], {}


# Checks


def _create_check(asked: Asked) -> Result:
    head = asked.body["head_sha"]
    if head not in asked.repo.objects.commits:
        raise AnswerError(422, f"No commit found for SHA: {head}")
    app = asked.who.app
    assert app is not None
    now = asked.hub.now()
    run = CheckRun(
        asked.hub.next_id(),
        asked.repo,
        app,
        asked.repo.suite(app, head),
        asked.body["name"],
        head,
        "queued",
        None,
        asked.body.get("external_id", ""),
        None,
        now,
        None,
    )
    _change_check(asked, run)
    asked.repo.check_runs[run.id] = run
    return 201, asked.hub.bodies.check_run(run), {}


def _update_check(asked: Asked) -> Result:
    run = found(asked.repo.check_runs.get(asked.number("check_run_id")))
    if asked.who.app is not run.app:
        asked.hub.violation("checks/update: of another App's run")
        raise AnswerError(403, "Invalid app_id - check run can only be modified by the GitHub App that created it.")
    _change_check(asked, run)
    return 200, asked.hub.bodies.check_run(run), {}


def _change_check(asked: Asked, run: CheckRun) -> None:
    body = asked.body
    output = body.get("output")
    if output is not None:
        _check_output(output)
    conclusion = body.get("conclusion")
    status = "completed" if conclusion else body.get("status", run.status)
    if status == "completed" and not (conclusion or run.conclusion):
        raise AnswerError(422, "Invalid request.\n\nconclusion is missing.")
    run.status = status
    run.conclusion = conclusion if status == "completed" else None
    run.completed = asked.hub.now() if status == "completed" else None
    run.history.append((run.status, run.conclusion))
    run.name = body.get("name", run.name)
    run.external_id = body.get("external_id", run.external_id)
    run.details_url = body.get("details_url", run.details_url)
    if output is not None:
        run.title = output.get("title", run.title)
        run.summary = output.get("summary", run.summary)
        run.text = output.get("text", run.text)
        # Added to those that are there, never instead of them.
        run.annotations.extend(output.get("annotations", []))


def _check_output(output: Json) -> None:
    for name, most in (("title", _MAX_TITLE), ("summary", _MAX_CHECK_TEXT), ("text", _MAX_CHECK_TEXT)):
        if len(output.get(name) or "") > most:
            raise AnswerError(
                422, f"Invalid request.\n\nOnly {most} characters are allowed; {len(output[name])} were supplied."
            )
    for one in output.get("annotations", []):
        if one["start_line"] > one["end_line"] or one["start_line"] < 1:
            raise AnswerError(422, "Invalid request.\n\nstart_line must not be after end_line.")
        if ("start_column" in one or "end_column" in one) and one["start_line"] != one["end_line"]:
            raise AnswerError(422, "Invalid request.\n\ncolumns need start_line and end_line to be the same.")
        for name, most in (("title", _MAX_TITLE), ("message", _MAX_ANNOTATION), ("raw_details", _MAX_ANNOTATION)):
            if len((one.get(name) or "").encode()) > most:
                raise AnswerError(422, f"Invalid request.\n\n{name} is too long.")
        if not one["message"]:
            raise AnswerError(422, "Invalid request.\n\nmessage is missing.")


def _get_check(asked: Asked) -> Result:
    return 200, asked.hub.bodies.check_run(found(asked.repo.check_runs.get(asked.number("check_run_id")))), {}


def _annotations(asked: Asked) -> Result:
    run = found(asked.repo.check_runs.get(asked.number("check_run_id")))
    return _list(asked, run.annotations, lambda one: asked.hub.bodies.annotation(run, one))


def _list_checks(asked: Asked) -> Result:
    head = _commit_of(asked, asked.parameters["ref"])
    some = [
        one
        for one in asked.repo.runs(head)
        if asked.query.get("check_name", one.name) == one.name
        and asked.query.get("status", one.status) == one.status
        and asked.query.get("app_id", str(one.app.id)) == str(one.app.id)
    ][::-1]
    if asked.query.get("filter", "latest") == "latest":
        latest: dict[tuple[int, str], CheckRun] = {}
        for one in some:
            latest.setdefault((one.app.id, one.name), one)
        some = list(latest.values())
    return _named_list(asked, "check_runs", some, asked.hub.bodies.check_run)


def _list_suites(asked: Asked) -> Result:
    head = _commit_of(asked, asked.parameters["ref"])
    some = [
        (app, number)
        for (app_id, sha), number in asked.repo.suites.items()
        for app in asked.hub.apps
        if sha == head and app.id == app_id and asked.query.get("app_id", str(app_id)) == str(app_id)
    ]
    return _named_list(
        asked, "check_suites", some, lambda one: asked.hub.bodies.suite(asked.repo, one[0], head, one[1])
    )


# Workflows


def _workflow(asked: Asked) -> Workflow:
    name = asked.parameters["workflow_id"]
    return found(
        next((one for one in asked.repo.workflows if name in (str(one.id), one.path.rpartition("/")[2])), None)
    )


def _get_workflow(asked: Asked) -> Result:
    return 200, asked.hub.bodies.workflow(_workflow(asked)), {}


def _dispatch(asked: Asked) -> Result:
    workflow = _workflow(asked)
    ref = asked.body["ref"].removeprefix("refs/heads/")
    if ref not in asked.repo.branches:
        raise AnswerError(422, f"No ref found for: {asked.body['ref']}")
    inputs = asked.body.get("inputs") or {}
    if "return_run_details" in asked.body and not asked.hub.run_details:
        raise AnswerError(422, 'Invalid request.\n\n"return_run_details" is not a permitted key.')
    if not workflow.enabled:
        raise AnswerError(422, "Cannot trigger a 'workflow_dispatch' on a disabled workflow")
    if workflow.inputs is None:
        raise AnswerError(422, "Workflow does not have 'workflow_dispatch' trigger")
    unknown = sorted(set(inputs) - set(workflow.inputs))
    if unknown:
        raise AnswerError(422, f"Unexpected inputs provided: {unknown}")
    run = Run(
        asked.hub.next_id(),
        workflow,
        ref,
        asked.repo.branches[ref],
        asked.who.user,
        inputs,
        _run_title(workflow, inputs),
        asked.hub.now(),
    )
    workflow.runs.append(run)
    if not asked.body.get("return_run_details"):
        return 204, None, {}
    shown = asked.hub.bodies.run(run)
    return 200, {"workflow_run_id": run.id, "run_url": shown["url"], "html_url": shown["html_url"]}, {}


def _run_title(workflow: Workflow, inputs: Json) -> str:
    if not workflow.run_name:
        return " ".join([workflow.name, *map(str, inputs.values())])
    title = workflow.run_name
    for name in workflow.inputs or ():
        title = title.replace("{" + name + "}", str(inputs.get(name, "")))
    return title


def _list_runs(asked: Asked) -> Result:
    some = [
        one
        for one in _workflow(asked).runs
        if asked.query.get("event", one.event) == one.event
        and asked.query.get("branch", one.ref) == one.ref
        and asked.query.get("status", one.status) in (one.status, one.conclusion)
        and asked.query.get("head_sha", one.head) == one.head
    ]
    return _named_list(asked, "workflow_runs", some[::-1], asked.hub.bodies.run)


def _run(asked: Asked) -> Run:
    number = asked.number("run_id")
    return found(next((run for one in asked.repo.workflows for run in one.runs if run.id == number), None))


def _get_run(asked: Asked) -> Result:
    return 200, asked.hub.bodies.run(_run(asked)), {}


def _cancel_run(asked: Asked) -> Result:
    run = _run(asked)
    if run.status == "completed":
        raise AnswerError(409, "Cannot cancel a workflow run that is completed.")
    run.status, run.conclusion = "completed", "cancelled"
    return 202, {}, {}


def _list_artifacts(asked: Asked) -> Result:
    run = _run(asked)
    names = [one for one in run.artifacts if asked.query.get("name", one) == one]
    return _named_list(asked, "artifacts", names, lambda one: asked.hub.bodies.artifact(run, one))


def _download(asked: Asked) -> Result:
    number = asked.number("artifact_id")
    runs = [run for one in asked.repo.workflows for run in one.runs]
    if not any(number == one for run in runs for one, _ in run.artifacts.values()):
        raise AnswerError(404, "Not Found")
    return 302, None, {"Location": f"{asked.hub.storage}/{number}?sig=signed-{number}"}


def _list_jobs(asked: Asked) -> Result:
    run = _run(asked)
    jobs = [] if run.conclusion == "startup_failure" else [run]
    return _named_list(asked, "jobs", jobs, asked.hub.bodies.job)


HANDLERS: dict[str, Callable[[Asked], Result]] = {
    "actions/cancel-workflow-run": _cancel_run,
    "actions/create-workflow-dispatch": _dispatch,
    "actions/download-artifact": _download,
    "actions/get-workflow": _get_workflow,
    "actions/get-workflow-run": _get_run,
    "actions/list-jobs-for-workflow-run": _list_jobs,
    "actions/list-workflow-run-artifacts": _list_artifacts,
    "actions/list-workflow-runs": _list_runs,
    "apps/create-installation-access-token": _create_token,
    "apps/get-authenticated": _get_app,
    "apps/get-installation": _get_installation,
    "apps/get-repo-installation": _repository_installation,
    "apps/get-webhook-delivery": _get_delivery,
    "apps/list-installations": _installations,
    "apps/list-repos-accessible-to-installation": _accessible,
    "apps/list-webhook-deliveries": _deliveries,
    "apps/redeliver-webhook-delivery": _redeliver,
    "checks/create": _create_check,
    "checks/get": _get_check,
    "checks/list-annotations": _annotations,
    "checks/list-for-ref": _list_checks,
    "checks/list-suites-for-ref": _list_suites,
    "checks/update": _update_check,
    "git/get-blob": _get_blob,
    "git/get-tree": _get_tree,
    "issues/add-labels": _add_labels,
    "issues/create-comment": _create_issue_comment,
    "issues/delete-comment": _delete_issue_comment,
    "issues/list-comments": _list_issue_comments,
    "issues/list-labels-on-issue": _labels,
    "issues/remove-label": _remove_label,
    "issues/update-comment": _edit_issue_comment,
    "pulls/create-reply-for-review-comment": _create_reply,
    "pulls/create-review": _create_review,
    "pulls/create-review-comment": _create_review_comment,
    "pulls/delete-review-comment": _delete_review_comment,
    "pulls/dismiss-review": _dismiss_review,
    "pulls/get": _get_pull,
    "pulls/get-review-comment": _get_review_comment,
    "pulls/list": _list_pulls,
    "pulls/list-comments-for-review": _review_comments_of,
    "pulls/list-commits": _list_commits,
    "pulls/list-files": _list_files,
    "pulls/list-review-comments": _list_review_comments,
    "pulls/list-reviews": _list_reviews,
    "pulls/update-review": _update_review,
    "pulls/update-review-comment": _edit_review_comment,
    "rate-limit/get": _rate_limit,
    "reactions/create-for-issue-comment": _react,
    "reactions/create-for-pull-request-review-comment": _react,
    "repos/compare-commits-with-basehead": _compare,
    "repos/get": _get_repository,
    "repos/get-collaborator-permission-level": _permission,
    "repos/get-commit": _get_commit,
    "repos/get-content": _get_content,
    "users/get-authenticated": _me,
    "users/get-by-username": _get_user,
}

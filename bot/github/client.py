"""GitHub's API through PyGithub: one repository, one account, every answer turned into our data or a typed error.

PyGithub authenticates, connects and speaks; what is sent again, followed and counted is decided here. Its objects are
not used: they ask for more than they are asked, and follow addresses from the bodies of answers.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast
from urllib.parse import quote, urlsplit

import github
import httpx
import requests as http
from github import Auth

from botlint import __version__
from botlint.core.redact import Secret, quiet_libraries
from botlint.github import payloads, requests
from botlint.github.models import (
    Annotation,
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
    ReviewComment,
    Thread,
    Tree,
    WorkflowJob,
    WorkflowRun,
)
from botlint.github.port import (
    Ambiguous,
    Conflict,
    Forbidden,
    GitHubError,
    NotFound,
    RateLimited,
    TooLarge,
    Unprocessable,
)
from botlint.github.requests import ANNOTATIONS, PAGE, Request
from botlint.github.retry import (
    ATTEMPTS,
    SECONDARY_WAIT,
    Failed,
    Moved,
    OnlyRedirects,
    judge,
    moved_root,
    pause,
    read_json,
)

API = "https://api.github.com"
API_VERSION = "2022-11-28"
"""Later versions leave fields out that older servers give."""

MAX_PAGES = 60
MAX_MOVES = 3
BATCH = 200
BATCH_BYTES = 2_000_000
"""Blobs of a GraphQL request, and their bytes: larger answers of it take too long."""

SMALL_BATCH = 10
"""So few blobs are read one by one if GraphQL fails to give them together."""

LONE_BYTES = 400_000
"""A blob that is larger is read by REST: GraphQL cuts long texts."""

DOWNLOAD_TIME = 60.0
"""Seconds that an artifact may take to come."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_NAME = re.compile(r"[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+")
_ROLES: frozenset[str] = frozenset(("admin", "maintain", "write", "triage", "read", "none"))


class Transport:
    """Sends requests and judges the answers; `calls` counts every one that was sent."""

    def __init__(
        self,
        auth: Auth.Auth | None,
        *,
        base_url: str = API,
        timeout: float = 20,
        patience: float = 90,
        write_pause: float = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """`patience` is the longest wait for a limit, `write_pause` the time between two writes, in seconds."""
        quiet_libraries()
        self._github = github.Github(
            auth=auth,
            base_url=base_url,
            timeout=cast(int, timeout),
            user_agent=f"botlint/{__version__}",
            retry=OnlyRedirects(total=0),
            seconds_between_requests=None,
            seconds_between_writes=None,
            lazy=True,
            api_version=API_VERSION,
        )
        parts = urlsplit(base_url)
        self.origin = f"{parts.scheme}://{parts.netloc}"
        self.prefix = parts.path.rstrip("/")
        self.calls = 0
        self._patience = patience
        self._write_pause = write_pause
        self._last_write: float | None = None
        self._sleep = sleep

    @property
    def graphql_url(self) -> str:
        """The address of GraphQL."""
        return self._github.requester.graphql_url

    def close(self) -> None:
        """Ends connections."""
        self._github.close()

    def send(self, request: Request, root: str = "") -> tuple[Mapping[str, str], Any]:
        """The headers and the JSON of an answer that is a success; raises `Moved` or an error of the port."""
        return self._exchange(request, root + request.path)

    def graphql(self, query: str, variables: Mapping[str, Any], *, what: str, repeatable: bool = True) -> Any:
        """The data of a GraphQL answer, with gaps where single things were not found."""
        body = {"query": query, "variables": dict(variables)}
        request = Request("POST", what, body=body, repeatable=repeatable)
        address = self.graphql_url
        for attempt in range(1, ATTEMPTS + 1):
            _, answer = self._exchange(request, address)
            found = answer if isinstance(answer, Mapping) else {}
            data, errors = found.get("data"), found.get("errors")
            if not errors:
                return data or {}
            kinds = {one.get("type") for one in errors if isinstance(one, Mapping)}
            if "RATE_LIMITED" in kinds:
                raise RateLimited(f"GitHub asks to wait ({what})", SECONDARY_WAIT)
            if "FORBIDDEN" in kinds or "INSUFFICIENT_SCOPES" in kinds:
                raise Forbidden(f"GitHub does not allow it ({what})")
            if kinds <= {"NOT_FOUND"}:
                if data and any(data.values()):
                    return data
                raise NotFound(f"GitHub does not know it ({what})")
            if kinds - {None, "SERVICE_UNAVAILABLE", "INTERNAL"} or any("locations" in one for one in errors):
                # It does not understand the query, and will not the next time.
                raise GitHubError(f"GitHub cannot answer the query: {sorted(map(str, kinds))} ({what})")
            if not repeatable:
                raise Ambiguous(f"GitHub failed, and may have done it ({what})")
            if attempt < ATTEMPTS:
                self._sleep(pause(attempt))
        raise GitHubError(f"GitHub failed to answer the query {ATTEMPTS} times ({what})")

    def _exchange(self, request: Request, path: str) -> tuple[Mapping[str, str], Any]:
        attempt = 0
        while True:
            attempt += 1
            self._space(request)
            self.calls += 1
            try:
                status, headers, text = self._github.requester.requestJson(
                    request.method,
                    path,
                    parameters=dict(request.parameters) or None,
                    input=request.body,
                )
            except http.exceptions.RequestException as error:
                # Where no connection was made, nothing was sent.
                sent = not _unconnected(error)
                if sent and not request.repeatable:
                    raise Ambiguous(f"the answer of GitHub was lost ({request.what})") from None
                if attempt >= ATTEMPTS:
                    raise GitHubError(f"GitHub cannot be reached: {type(error).__name__} ({request.what})") from None
                self._sleep(pause(attempt))
                continue
            body = read_json(text)
            if status < 300:
                if body is None and text:
                    raise (GitHubError if request.repeatable else Ambiguous)(
                        f"the answer of GitHub is no JSON ({request.what})"
                    )
                return headers, body
            verdict = judge(
                request.what,
                status,
                headers,
                body,
                repeatable=request.repeatable,
                attempt=attempt,
                patience=self._patience,
                now=time.time(),
            )
            if isinstance(verdict, Failed):
                raise verdict.error
            if isinstance(verdict, Moved):
                raise verdict
            self._sleep(verdict.seconds)

    def _space(self, request: Request) -> None:
        """Keeps writes apart: GitHub counts those of a minute."""
        if request.method == "GET" or not self._write_pause:
            return
        if self._last_write is not None:
            rest = self._last_write + self._write_pause - time.monotonic()
            if rest > 0:
                self._sleep(rest)
        self._last_write = time.monotonic()


class Client:
    """The port `GitHub` over the API, and `Actions` with a token that may.

    `token` is one of a person, of `GITHUB_TOKEN`, or of an App's installation. `identity` is whose comments are our
    own, where it is known; else GitHub is asked. Raises GitHubError for a repository that has no such name.
    """

    def __init__(
        self,
        repository: str,
        token: str | None,
        *,
        base_url: str = API,
        web_url: str | None = None,
        identity: Identity | None = None,
        timeout: float = 20,
        patience: float = 90,
        write_pause: float = 0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        if _NAME.fullmatch(repository) is None or {".", ".."} & set(repository.split("/")):
            raise GitHubError("a repository is OWNER/NAME")
        self._transport = Transport(
            Auth.Token(token) if token else None,
            base_url=base_url,
            timeout=timeout,
            patience=patience,
            write_pause=write_pause,
            sleep=sleep,
        )
        self._token = Secret(token or "")
        self._timeout = timeout
        self._repository = repository
        self._root = f"/repos/{repository}"
        self._web = web_url or _web(self._transport.origin)
        self._me = identity
        self._compared: dict[tuple[str, str], Mapping[str, Any]] = {}
        self._made: set[int] = set()

    @property
    def repository(self) -> str:
        return self._repository

    @property
    def web(self) -> str:
        return f"{self._web}/{self._repository}"

    @property
    def calls(self) -> int:
        """How many requests were sent."""
        return self._transport.calls

    def close(self) -> None:
        """Ends connections."""
        self._transport.close()

    # ------------------------------------------------------------------------------------------------------ reading

    def me(self) -> Identity:
        if self._me is None:
            data = self._transport.graphql(requests.VIEWER, {}, what="viewer")
            viewer = data.get("viewer") or {}
            found = Identity(payloads.number(viewer, "databaseId"), payloads.text(viewer, "login"))
            if not found.id:
                raise GitHubError("GitHub does not say whose token it is")
            self._me = replace(found, bot=found.login.endswith("[bot]"))
        return self._me

    def pull(self, number: int) -> PullRequest:
        found = payloads.pull_request(self._read(requests.read(f"/pulls/{number}")))
        if found.base.repository and found.base.repository != self._repository:
            self._repository = found.base.repository
        return found

    def open_pulls(self) -> Sequence[PullRequest]:
        return [payloads.pull_request(one) for one in self._pages("/pulls", state="open")]

    def files(self, number: int) -> Sequence[ChangedFile]:
        return [payloads.changed_file(one) for one in self._pages(f"/pulls/{number}/files")]

    def commits(self, number: int) -> Sequence[Commit]:
        return [payloads.commit(one) for one in self._pages(f"/pulls/{number}/commits")]

    def merge_base(self, base: str, head: str) -> str:
        found = payloads.text(self._compare(base, head).get("merge_base_commit") or {}, "sha")
        if not found:
            raise GitHubError("the base and the head have no commit in common")
        return found

    def behind(self, base: str, head: str) -> int:
        return payloads.number(self._compare(base, head), "behind_by")

    def _compare(self, base: str, head: str) -> Mapping[str, Any]:
        key = (base, head)
        if key not in self._compared:
            self._compared[key] = self._read(requests.compare(base, head))
        return self._compared[key]

    def tree(self, sha: str, recursive: bool) -> Tree:
        # GitHub takes any value of `recursive` for true.
        parameters = {"recursive": 1} if recursive else {}
        return payloads.tree(self._read(requests.read(f"/git/trees/{_checked(sha)}", **parameters)))

    def blobs(self, shas: Iterable[str], sizes: Mapping[str, int] | None = None) -> Mapping[str, bytes]:
        known = sizes or {}
        wanted = [_checked(sha) for sha in dict.fromkeys(shas)]
        found: dict[str, bytes] = {}
        for batch in _batches([sha for sha in wanted if known.get(sha, 0) <= LONE_BYTES], known):
            if len(batch) > 1 or len(wanted) == 1:
                found.update(self._many(batch))
        for sha in wanted:
            if sha not in found:
                content = self._blob(sha)
                if content is not None:
                    found[sha] = content
        return found

    def _many(self, shas: Sequence[str]) -> dict[str, bytes]:
        """Blobs by one GraphQL query; those whose text is not exactly their content are left out."""
        try:
            data = self._graphql(requests.blobs_query(shas), {}, what="blobs")
        except RateLimited:
            raise
        except (Forbidden, NotFound):
            return {}
        except GitHubError:
            # A query that takes too long fails every time; its halves may not.
            if len(shas) <= SMALL_BATCH:
                return {}
            middle = len(shas) // 2
            return {**self._many(shas[:middle]), **self._many(shas[middle:])}
        repository = data.get("repository") or {}
        found = {}
        for place, sha in enumerate(shas):
            text = (repository.get(f"b{place}") or {}).get("text")
            if isinstance(text, str):
                content = text.encode("utf-8", "surrogatepass")
                if blob_id(content, len(sha)) == sha:
                    found[sha] = content
        return found

    def _blob(self, sha: str) -> bytes | None:
        try:
            data = self._read(requests.read(f"/git/blobs/{sha}"))
        except (NotFound, Unprocessable, Forbidden):
            return None
        text = payloads.text(data, "content")
        if payloads.text(data, "encoding") == "base64":
            try:
                content = base64.b64decode(text)
            except (binascii.Error, ValueError):
                return None
        else:
            content = text.encode("utf-8", "surrogatepass")
        return content if blob_id(content, len(sha)) == sha else None

    def review_comments(self, number: int) -> Sequence[ReviewComment]:
        return [payloads.review_comment(one) for one in self._pages(f"/pulls/{number}/comments")]

    def issue_comments(self, number: int) -> Sequence[IssueComment]:
        return [payloads.issue_comment(one) for one in self._pages(f"/issues/{number}/comments")]

    def reviews(self, number: int) -> Sequence[IssueComment]:
        return [payloads.issue_comment(one) for one in self._pages(f"/pulls/{number}/reviews")]

    def threads(self, number: int) -> Sequence[Thread]:
        found: list[Thread] = []
        after: str | None = None
        for _ in range(MAX_PAGES):
            data = self._graphql(requests.THREADS, {"number": number, "after": after}, what="reviewThreads")
            pull = (data.get("repository") or {}).get("pullRequest") or {}
            threads = pull.get("reviewThreads") or {}
            found.extend(payloads.thread(node) for node in threads.get("nodes") or () if node)
            page = threads.get("pageInfo") or {}
            after = payloads.text(page, "endCursor") or None
            if not page.get("hasNextPage") or after is None:
                break
        return found

    def check_runs(self, sha: str, name: str) -> Sequence[CheckRun]:
        path = f"/commits/{_checked(sha)}/check-runs"
        listed = [payloads.check_run(one) for one in self._pages(path, "check_runs", check_name=name, filter="all")]
        return sorted(listed, key=lambda run: run.id, reverse=True)

    def permission(self, login: str) -> Permission:
        try:
            data = self._read(requests.permission(login))
        except NotFound:
            return "none"
        role, permission = payloads.text(data, "role_name"), payloads.text(data, "permission")
        return cast(Permission, next((one for one in (role, permission) if one in _ROLES), "none"))

    # ------------------------------------------------------------------------------------------------------ writing

    def create_review(self, number: int, head: str, body: str, comments: Sequence[NewComment]) -> None:
        self._write(requests.create_review(number, head, body, comments))

    def create_review_comment(self, number: int, head: str, comment: NewComment) -> ReviewComment:
        return payloads.review_comment(self._write(requests.create_review_comment(number, head, comment)))

    def create_file_comment(self, number: int, head: str, path: str, body: str) -> ReviewComment:
        return payloads.review_comment(self._write(requests.create_file_comment(number, head, path, body)))

    def edit_review_comment(self, comment: int, body: str) -> None:
        self._write(requests.edit(f"/pulls/comments/{comment}", {"body": body}))

    def reply(self, number: int, comment: int, body: str) -> ReviewComment:
        path = f"/pulls/{number}/comments/{comment}/replies"
        return payloads.review_comment(self._write(requests.create(path, {"body": body})))

    def create_issue_comment(self, number: int, body: str) -> IssueComment:
        return payloads.issue_comment(self._write(requests.create(f"/issues/{number}/comments", {"body": body})))

    def edit_issue_comment(self, comment: int, body: str) -> None:
        self._write(requests.edit(f"/issues/comments/{comment}", {"body": body}))

    def resolve_thread(self, node_id: str) -> bool:
        data = self._mutate(requests.RESOLVE, requests.resolve_input(node_id), "resolveReviewThread")
        return ((data.get("resolveReviewThread") or {}).get("thread") or {}).get("isResolved") is True

    def minimize(self, node_id: str, classifier: Classifier) -> None:
        self._mutate(requests.MINIMIZE, requests.minimize_input(node_id, classifier), "minimizeComment")

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
        many = output is not None and len(output.annotations) > ANNOTATIONS
        first: CheckStatus = "in_progress" if many else status
        ending = None if many else conclusion
        request = requests.create_check_run(name, head, external_id, first, ending, details_url, output)
        run = payloads.check_run(self._write(request))
        if many:
            self.update_check_run(run.id, status=status, conclusion=conclusion, output=output)
        elif output is None or not output.annotations:
            self._made.add(run.id)
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
        last = output
        if output is not None and output.annotations:
            missing = self._missing(run, output.annotations)
            for _ in range(2 + len(missing) // ANNOTATIONS):
                if len(missing) <= ANNOTATIONS:
                    break
                missing = self._add(run, replace(output, annotations=tuple(missing[:ANNOTATIONS])), missing)
            last = replace(output, annotations=tuple(missing[:ANNOTATIONS]))
        request = requests.update_check_run(run, external_id, status, conclusion, details_url, last)
        try:
            self._write(request)
        except Ambiguous:
            if output is None:
                raise
            left = self._missing(run, output.annotations)
            last = replace(output, annotations=tuple(left[:ANNOTATIONS]))
            self._write(requests.update_check_run(run, external_id, status, conclusion, details_url, last))

    def _add(self, run: int, output: CheckOutput, missing: Sequence[Annotation]) -> Sequence[Annotation]:
        """Adds annotations and gives those that are still missing."""
        try:
            self._write(requests.update_check_run(run, None, None, None, None, output))
        except Ambiguous:
            return self._missing(run, missing)
        return missing[len(output.annotations) :]

    def _missing(self, run: int, wanted: Sequence[Annotation]) -> Sequence[Annotation]:
        """The annotations that a run does not have; one that was just made has none."""
        if run in self._made:
            self._made.discard(run)
            return wanted
        have = {payloads.annotation(one) for one in self._pages(f"/check-runs/{run}/annotations")}
        return [one for one in wanted if one not in have]

    # --------------------------------------------------------------------------------------------------- workflows

    def dispatch_workflow(self, workflow: str, ref: str, inputs: Mapping[str, str]) -> Dispatched | None:
        try:
            answer = self._write(requests.dispatch(workflow, ref, inputs, details=True))
        except Unprocessable as error:
            if "return_run_details" not in str(error):
                raise
            answer = self._write(requests.dispatch(workflow, ref, inputs, details=False))
        run = payloads.number(answer, "workflow_run_id")
        return Dispatched(run, payloads.text(answer, "html_url")) if run else None

    def workflow_runs(self, workflow: str, branch: str) -> Sequence[WorkflowRun]:
        path = f"/actions/workflows/{quote(workflow, safe='')}/runs"
        answer = self._read(requests.read(path, event="workflow_dispatch", branch=branch, per_page=PAGE))
        listed = answer.get("workflow_runs")
        found = [payloads.workflow_run(one) for one in listed if isinstance(one, Mapping)] if listed else []
        return sorted(found, key=lambda run: run.id, reverse=True)

    def workflow_run(self, run: int) -> WorkflowRun:
        return payloads.workflow_run(self._read(requests.read(f"/actions/runs/{run}")))

    def workflow_jobs(self, run: int) -> Sequence[WorkflowJob]:
        return [payloads.workflow_job(one) for one in self._pages(f"/actions/runs/{run}/jobs", "jobs")]

    def cancel_run(self, run: int) -> bool:
        try:
            self._write(requests.cancel_run(run))
        except Conflict:
            return False
        return True

    def artifacts(self, run: int, name: str) -> Sequence[Artifact]:
        answer = self._read(requests.read(f"/actions/runs/{run}/artifacts", name=name, per_page=PAGE))
        listed = answer.get("artifacts")
        found = [payloads.artifact(one) for one in listed if isinstance(one, Mapping)] if listed else []
        return sorted((one for one in found if one.name == name), key=lambda one: one.id, reverse=True)

    def artifact(self, artifact: int, limit: int) -> bytes:
        url = f"{self._transport.origin}{self._transport.prefix}{self._root}/actions/artifacts/{artifact}/zip"
        self._transport.calls += 1
        return download(url, self._token.reveal(), limit, self._timeout)

    # ---------------------------------------------------------------------------------------------------- requests

    def _read(self, request: Request) -> Mapping[str, Any]:
        answer = self._send(request)[1]
        if not isinstance(answer, Mapping):
            raise GitHubError(f"the answer of GitHub is no object ({request.what})")
        return answer

    def _write(self, request: Request) -> Mapping[str, Any]:
        """What GitHub answers to a request that changes something."""
        answer = self._send(request)[1]
        return answer if isinstance(answer, Mapping) else {}

    def _mutate(self, mutation: str, variables: Mapping[str, Any], what: str) -> Mapping[str, Any]:
        """What GitHub answers to a mutation that sets something to a value."""
        found = self._transport.graphql(mutation, {"input": variables}, what=what)
        return found if isinstance(found, Mapping) else {}

    def _graphql(self, query: str, variables: Mapping[str, Any], *, what: str) -> Mapping[str, Any]:
        owner, _, name = self._repository.partition("/")
        found = self._transport.graphql(query, {"owner": owner, "name": name, **variables}, what=what)
        return found if isinstance(found, Mapping) else {}

    def _pages(self, path: str, within: str | None = None, **parameters: object) -> Iterator[Mapping[str, Any]]:
        """The items of a list, or of the list `within` an object, over all its pages."""
        for page in range(1, MAX_PAGES + 1):
            more = {"page": page} if page > 1 else {}
            headers, answer = self._send(requests.read(path, **parameters, per_page=PAGE, **more))
            items = answer.get(within) if within is not None and isinstance(answer, Mapping) else answer
            if not isinstance(items, list):
                raise GitHubError(f"the answer of GitHub is no list (GET {path})")
            yield from items
            if not requests.has_next(headers.get("link", "")):
                return

    def _send(self, request: Request) -> tuple[Mapping[str, str], Any]:
        """Sends a request, also where the repository has another name by now."""
        for _ in range(MAX_MOVES):
            try:
                return self._transport.send(request, self._root)
            except Moved as moved:
                root = moved_root(moved.location, self._transport.origin, self._transport.prefix)
                if root is None or root == self._root:
                    raise GitHubError(f"GitHub leads nowhere that is followed ({request.what})") from None
                self._root = root
        raise GitHubError(f"GitHub leads from one place to another ({request.what})")


def download(url: str, token: str, limit: int, timeout: float) -> bytes:
    """What GitHub keeps at another host: it is led there once, by HTTPS, and without the token.

    Raises TooLarge for more than `limit` bytes, of which no more is read, and an error of the port for all else.
    """
    headers = {"Authorization": f"Bearer {token}", "X-GitHub-Api-Version": API_VERSION}
    # Not packed again on the way: what is counted is what is read.
    agent = {"User-Agent": f"botlint/{__version__}", "Accept-Encoding": "identity"}
    until = time.monotonic() + DOWNLOAD_TIME
    try:
        with httpx.Client(timeout=timeout, follow_redirects=False, trust_env=True) as client:
            led = client.get(url, headers=headers | agent)
            if led.status_code in (401, 403):
                raise Forbidden("GitHub does not allow it (artifact)")
            if led.status_code in (404, 410):
                raise NotFound("GitHub does not know it (artifact)")
            place = led.headers.get("location", "")
            if led.status_code != 302 or not _may_lead(url, place):
                raise GitHubError(f"GitHub leads to no artifact: {led.status_code}")
            with client.stream("GET", place, headers=agent) as answer:
                if answer.status_code != 200:
                    raise GitHubError(f"an artifact cannot be read: {answer.status_code}")
                found = bytearray()
                for chunk in answer.iter_raw(64 * 1024):
                    found += chunk
                    if len(found) > limit:
                        raise TooLarge(f"an artifact is larger than {limit} bytes")
                    if time.monotonic() > until:
                        raise GitHubError("an artifact takes too long to come")
                return bytes(found)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise GitHubError(f"an artifact cannot be read: {type(error).__name__}") from None


def _may_lead(origin: str, place: str) -> bool:
    """Whether an address may be followed: by HTTPS, unless the server itself is not reached by it."""
    return place.startswith("https://") or (origin.startswith("http://") and place.startswith("http://"))


def blob_id(content: bytes, length: int = 40) -> str:
    """The id that git gives to a content, of SHA-1 (40 digits) or SHA-256."""
    digest = hashlib.sha256() if length == 64 else hashlib.sha1(usedforsecurity=False)
    digest.update(b"blob %d\0" % len(content) + content)
    return digest.hexdigest()


def _batches(shas: Sequence[str], sizes: Mapping[str, int]) -> Iterator[list[str]]:
    batch: list[str] = []
    size = 0
    for sha in shas:
        grown = size + sizes.get(sha, 20_000)
        if batch and (len(batch) == BATCH or grown > BATCH_BYTES):
            yield batch
            batch, grown = [], sizes.get(sha, 20_000)
        batch.append(sha)
        size = grown
    if batch:
        yield batch


def _checked(sha: str) -> str:
    """An id as git has them, so that nothing else gets into an address or a query."""
    if _SHA.fullmatch(sha) is None:
        raise GitHubError("that is no id of a git object")
    return sha


def _unconnected(error: BaseException) -> bool:
    """Whether a request failed before it was sent."""
    if isinstance(error, http.exceptions.ConnectTimeout | http.exceptions.InvalidURL):
        return True
    return "NewConnectionError" in repr(error) or "NameResolutionError" in repr(error)


def _web(origin: str) -> str:
    """The address of the pages of a server whose API is at `origin`."""
    return "https://github.com" if origin == API else origin

"""The fake itself: HTTP in, state changed, JSON out; every request held against GitHub's description."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import re
import socket
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import httpx
import jwt
import uvicorn
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from fakehub.bodies import Bodies
from fakehub.events import Events
from fakehub.faults import Fault
from fakehub.git import Content
from fakehub.graph import Graph
from fakehub.operations import AnswerError, Asked, perform, permission_for
from fakehub.spec import Match, load_spec
from fakehub.state import (
    App,
    Delivery,
    Installation,
    Pull,
    Repository,
    Token,
    User,
    make_key,
    new_guid,
    token_text,
)

T = TypeVar("T")

API_VERSION = "2022-11-28"
ACTIONS_APP = 15368
ACTIONS_BOT = 41898282
_DOCS = "https://docs.github.com/rest"
_REPOSITORY_ID = re.compile(r"/repositories/(\d+)(/.*)?")
_ALL_WRITE = {"checks": "write", "contents": "read", "issues": "write", "metadata": "read", "pull_requests": "write"}


@dataclass(frozen=True, slots=True)
class Call:
    """One request and what it was answered."""

    operation: str
    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    body: Any
    status: int
    token: Token | None
    at: float

    @property
    def writes(self) -> bool:
        """Whether it is one of those that may change something."""
        return self.method != "GET" and not (self.operation == "graphql" and "mutation" not in str(self.body))


@dataclass(eq=False)
class Limit:
    """A secondary limit on what is written: so many requests in a time, then `answer`."""

    count: int
    seconds: float
    answer: Callable[[], Fault]


@dataclass
class _Raw:
    """A request as it came."""

    method: str
    path: str
    query: tuple[tuple[str, str], ...]
    headers: Mapping[str, str]
    body: bytes
    asked: Any = None
    token: Token | None = None
    operation: str = "?"
    faults: list[Fault] = field(default_factory=list)


class FakeGitHub:
    """A GitHub of its own on a port of this machine. `with FakeGitHub() as hub:` starts and stops it."""

    def __init__(self, prefix: str = "") -> None:
        self.lock = threading.RLock()
        self.prefix = prefix
        self.calls: list[Call] = []
        self.violations: list[str] = []
        self.faults: list[Fault] = []
        self.hooks: list[tuple[str, Callable[[], None]]] = []
        self.limit: Limit | None = None
        self.latency = 0.0
        """Seconds before every answer."""
        self.shift = 0.0
        """Seconds that the fake's clock is ahead."""
        self.spent = 0.0
        """Processor seconds that its answers took."""
        self.holds_answers = True
        """Whether answers are held against the description, too; for large ones that takes long."""
        self.rate_limit = 5_000
        self.run_details = True
        """Whether a dispatch says which run it made; older servers do not know that."""
        self.max_graphql_text = 512_000
        """GraphQL cuts the text of a larger blob."""
        self.renamed: dict[str, Repository] = {}
        self.users: dict[str, User] = {}
        self.apps: list[App] = []
        self.tokens: dict[str, Token] = {}
        self.repositories: dict[str, Repository] = {}
        self.bodies = Bodies(self)
        self.events = Events(self)
        self._graph = Graph(self)
        self._ids = 1_000
        # Those of real comments have long outgrown 32 bits.
        self._comment_ids = 3_000_000_000
        self._kept: dict[Any, Any] = {}
        self._port = 0
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None
        self._senders: list[threading.Thread] = []
        self.actions = self._make_app("github-actions", self.user("github"), _ALL_WRITE, [], ACTIONS_APP, ACTIONS_BOT)

    # Starting and stopping

    def __enter__(self) -> Self:
        sock = socket.socket()
        sock.bind(("127.0.0.1", 0))
        self._port = sock.getsockname()[1]
        config = uvicorn.Config(
            self._serve,
            log_level="critical",
            interface="asgi3",
            proxy_headers=False,
            lifespan="off",
            timeout_keep_alive=60,
        )
        self._server = uvicorn.Server(config)
        server = self._server
        self._thread = threading.Thread(target=lambda: server.run(sockets=[sock]), daemon=True)
        self._thread.start()
        while not server.started:
            time.sleep(0.005)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server is not None
        for sender in self._senders:
            sender.join(timeout=30)
        self._server.should_exit = True
        self._server.force_exit = True
        # It ends within a tenth of a second, for which nobody need wait.

    @property
    def web(self) -> str:
        """The address of the pages."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def api(self) -> str:
        """The address of the REST API."""
        return self.web + self.prefix

    @property
    def graphql_url(self) -> str:
        """The address of the GraphQL API."""
        return self.web + ("/api/graphql" if self.prefix else "/graphql")

    # What there is

    def now(self) -> float:
        return time.time() + self.shift

    def next_id(self) -> int:
        self._ids += 1
        return self._ids

    def next_comment_id(self) -> int:
        self._comment_ids += 1
        return self._comment_ids

    def kept(self, key: Any, make: Callable[[], T]) -> T:
        """Something that is worked out once."""
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found

    def user(self, login: str, kind: str = "User") -> User:
        """The account of that name, made if there is none."""
        return self.users.setdefault(login.lower(), User(self.next_id(), login, kind))

    def known(self, login: str) -> User | None:
        """The account of that name."""
        return self.users.get(login.lower())

    def repository(
        self,
        full_name: str,
        files: Mapping[str, Content] | None = None,
        *,
        private: bool = False,
        message: str = "Begin",
    ) -> Repository:
        """A new repository, with a first commit if files are given."""
        with self.lock:
            owner, _, name = full_name.partition("/")
            made = Repository(self, self.user(owner, "Organization"), name, private=private)
            self.repositories[full_name.lower()] = made
            if files is not None:
                made.commit(made.default_branch, files, message, author=owner)
            return made

    def fork(self, parent: Repository, owner: str) -> Repository:
        """A fork in another account."""
        with self.lock:
            made = Repository(self, self.user(owner), parent.name, parent, private=parent.private)
            self.repositories[made.full_name.lower()] = made
            return made

    def delete(self, repository: Repository) -> None:
        """Deletes a repository; pull requests from it stay, without their head repository."""
        with self.lock:
            del self.repositories[repository.full_name.lower()]
            for pull in self.all_pulls():
                if pull.head_repository is repository:
                    pull.head_repository = None

    def rename(self, repository: Repository, full_name: str) -> None:
        """Renames or transfers a repository; its old name leads to the new one."""
        with self.lock:
            self.renamed[repository.full_name.lower()] = self.repositories.pop(repository.full_name.lower())
            owner, _, repository.name = full_name.partition("/")
            repository.owner = self.user(owner, "Organization")
            self.repositories[full_name.lower()] = repository

    def all_pulls(self) -> Iterator[Pull]:
        """The pull requests of all repositories."""
        for repository in list(self.repositories.values()):
            yield from repository.pulls.values()

    # Apps and tokens

    def app(
        self,
        slug: str = "botlint",
        *,
        permissions: Mapping[str, str] | None = None,
        events: Sequence[str] = (),
        webhook_url: str | None = None,
        owner: str = "acme",
    ) -> App:
        """Registers an App."""
        wanted = dict(permissions or _ALL_WRITE)
        made = self._make_app(
            slug, self.user(owner, "Organization"), wanted, list(events), self.next_id(), self.next_id()
        )
        made.webhook_url = webhook_url
        return made

    def _make_app(
        self, slug: str, owner: User, permissions: dict[str, str], events: list[str], number: int, bot_id: int
    ) -> App:
        private, public = make_key(len(self.apps))
        bot = User(bot_id, f"{slug}[bot]", "Bot")
        self.users[bot.login.lower()] = bot
        self.apps.append(App(number, slug, owner, bot, permissions, events, private, public))
        return self.apps[-1]

    def install(
        self, app: App, *repositories: Repository, permissions: Mapping[str, str] | None = None
    ) -> Installation:
        """Installs an App on repositories of one account."""
        made = Installation(
            self.next_id(), app, repositories[0].owner, dict(permissions or app.permissions), list(repositories)
        )
        app.installations.append(made)
        return made

    def installation_token(
        self,
        installation: Installation,
        permissions: Mapping[str, str] | None = None,
        repositories: Sequence[Repository] | None = None,
        lifetime: float = 3600.0,
    ) -> Token:
        """A token of an installation, as `POST access_tokens` gives it."""
        made = Token(
            token_text("ghs_"),
            "installation",
            installation.app.bot,
            installation.app,
            {"metadata": "read", **(permissions if permissions is not None else installation.permissions)},
            frozenset(one.id for one in (repositories if repositories is not None else installation.repositories)),
            self.now() + lifetime,
        )
        self.tokens[made.text] = made
        return made

    def actions_token(
        self, repository: Repository, permissions: Mapping[str, str] | None = None, *, lifetime: float = 3600.0
    ) -> Token:
        """The `GITHUB_TOKEN` of a workflow run; without permissions the one that may comment."""
        wanted = (
            {"contents": "read", "issues": "write", "pull_requests": "write"} if permissions is None else permissions
        )
        made = Token(
            token_text("ghs_"),
            "actions",
            self.actions.bot,
            self.actions,
            {"metadata": "read", **wanted},
            frozenset({repository.id}),
            self.now() + lifetime,
        )
        self.tokens[made.text] = made
        return made

    def personal_token(self, login: str) -> Token:
        """A token of a person, who may do with it what their role allows."""
        made = Token(token_text("ghp_"), "user", self.user(login))
        self.tokens[made.text] = made
        return made

    # Faults and the record

    def fail(self, operation: str, fault: Fault) -> Fault:
        """Lets requests of an operation (a pattern) meet a fault."""
        fault.operation = operation
        with self.lock:
            self.faults.append(fault)
        return fault

    def then(self, operation: str, action: Callable[[], None]) -> None:
        """Does something once, after the next request of an operation (a pattern) was carried out."""
        with self.lock:
            self.hooks.append((operation, action))

    def count(self, operation: str | None = None, status: int | None = None) -> int:
        """How many requests of an operation (a pattern) there were."""
        return len(self.made(operation, status))

    def made(self, operation: str | None = None, status: int | None = None) -> list[Call]:
        """The requests of an operation (a pattern)."""
        with self.lock:
            return [
                one
                for one in self.calls
                if (operation is None or re.fullmatch(operation, one.operation))
                and (status is None or one.status == status)
            ]

    def counts(self) -> dict[str, int]:
        """The requests by operation, for messages."""
        with self.lock:
            return dict(Counter(one.operation for one in self.calls))

    def writes(self) -> list[Call]:
        """The requests that may have changed something, tokens apart."""
        with self.lock:
            return [one for one in self.calls if one.writes and not one.path.endswith("/access_tokens")]

    def forget(self) -> None:
        """Empties the record of requests."""
        with self.lock:
            self.calls.clear()

    def violation(self, text: str) -> None:
        """Notes what a client did that it must not."""
        with self.lock:
            self.violations.append(text)

    # Webhooks

    def deliver(
        self,
        app: App,
        event: str,
        payload: dict[str, Any],
        *,
        guid: str | None = None,
        redelivery: bool = False,
        signature: str | None = None,
        lost: bool = False,
    ) -> Delivery:
        """Delivers an event to an App and waits for the answer; `lost` ones never arrive and count as timed out."""
        guid = guid or new_guid()
        body = json.dumps(payload).encode()
        status, begun = 0, time.monotonic()
        if app.webhook_url is not None and not lost:
            headers = self.webhook_headers(app, event, body, guid)
            if signature is not None:
                headers["X-Hub-Signature-256"] = signature
            with suppress(httpx.HTTPError):
                status = httpx.post(app.webhook_url, content=body, headers=headers, timeout=10).status_code
        installation = payload.get("installation") or {}
        made = Delivery(
            self.next_id(),
            guid,
            event,
            payload,
            self.now(),
            redelivery,
            status,
            round(time.monotonic() - begun, 2),
            installation.get("id"),
            (payload.get("repository") or {}).get("id"),
        )
        with self.lock:
            app.deliveries.append(made)
        return made

    def webhook_headers(self, app: App, event: str, body: bytes, guid: str) -> dict[str, str]:
        """The headers of a delivery, signed."""
        digest = hmac.new(app.webhook_secret.encode(), body, hashlib.sha256).hexdigest()
        return {
            "Accept": "*/*",
            "Content-Type": "application/json",
            "User-Agent": "GitHub-Hookshot/fake",
            "X-GitHub-Delivery": guid,
            "X-GitHub-Event": event,
            "X-GitHub-Hook-Installation-Target-ID": str(app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
            "X-Hub-Signature-256": f"sha256={digest}",
        }

    def redeliver(self, app: App, one: Delivery) -> None:
        """Delivers again, in the background, under the same guid."""
        sender = threading.Thread(
            target=lambda: self.deliver(app, one.event, one.payload, guid=one.guid, redelivery=True), daemon=True
        )
        self._senders.append(sender)
        sender.start()

    # HTTP

    async def _serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        # The path as it was written: `%2F` is not a slash.
        path = scope["raw_path"].decode("latin-1").partition("?")[0]
        query = tuple(parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True))
        raw = _Raw(request.method, path, query, dict(request.headers), await request.body())
        begun = time.thread_time()
        with self.lock:
            answer = self._answer(raw)
            self.spent += time.thread_time() - begun
        late = self.latency + sum(one.seconds for one in raw.faults)
        if late:
            await asyncio.sleep(late)
        if any(one.drop for one in raw.faults):
            # Uvicorn's `send` belongs to the request, which knows its connection.
            send.__self__.transport.abort()  # type: ignore[attr-defined]
            await asyncio.sleep(0.01)
            return
        await answer(scope, receive, send)

    def _answer(self, raw: _Raw) -> Response:
        with suppress(ValueError):
            raw.asked = json.loads(raw.body) if raw.body else None
        try:
            status, body, headers = self._handle(raw)
        except AnswerError as answer:
            status, body, headers = answer.status, answer.body, answer.headers
        except Exception:
            self.violation(f"{raw.method} {raw.path}: the fake failed: {traceback.format_exc()}")
            status, body, headers = 418, {"message": "the fake failed"}, {}
        for hook in [one for one in self.hooks if re.fullmatch(one[0], raw.operation)]:
            self.hooks.remove(hook)
            hook[1]()
        failing = [one for one in raw.faults if one.status is not None]
        if failing:
            status, body, headers = failing[0].status or 500, failing[0].body, dict(failing[0].headers)
        token = raw.token
        self.calls.append(
            Call(raw.operation, raw.method, unquote(raw.path), raw.query, raw.asked, status, token, self.now())
        )
        used = token.used if token is not None else 0
        content = body.encode() if isinstance(body, str) else body
        if not isinstance(content, bytes):
            content = b"" if body is None else json.dumps(body).encode()
        return Response(
            content,
            status,
            {
                "Content-Type": "application/json; charset=utf-8",
                "X-GitHub-Request-Id": f"FAKE:{len(self.calls)}",
                "X-GitHub-Media-Type": "github.v3; format=json",
                "X-RateLimit-Limit": str(self.rate_limit),
                "X-RateLimit-Remaining": str(max(0, self.rate_limit - used)),
                "X-RateLimit-Used": str(used),
                "X-RateLimit-Reset": str(int(self.now()) + 3600),
                "X-RateLimit-Resource": "core",
                **headers,
            },
        )

    def _handle(self, raw: _Raw) -> tuple[int, Any, dict[str, str]]:
        if raw.path.startswith("/storage/"):
            return self._storage(raw)
        path = raw.path
        if path in ("/graphql", "/api/graphql") and self.web + path == self.graphql_url:
            return self._handle_graphql(raw)
        if not path.startswith(self.prefix + "/"):
            self.violation(f"{raw.method} {path}: outside of the API")
            raise AnswerError(404, "Not Found")
        path = path[len(self.prefix) :]
        path = self._by_name(raw, path)
        match = load_spec().match(raw.method, path)
        if match is None:
            self.violation(f"{raw.method} {path}: no operation that is known here")
            raise AnswerError(404, "Not Found")
        raw.operation = match.operation
        self._note_secrets(raw)
        self._meet_faults(raw)
        faults = load_spec().request_faults(match, raw.query, raw.body)
        for fault in faults:
            self.violation(f"{match.operation}: {fault}")
        if "user-agent" not in raw.headers:
            self.violation(f"{match.operation}: no User-Agent")
        if raw.headers.get("x-github-api-version") != API_VERSION:
            self.violation(f"{match.operation}: X-GitHub-Api-Version is not {API_VERSION}")
        app = self._app_of(raw) if self._wants_app(match) else None
        raw.token = None if app is not None else self._token_of(raw)
        asked = Asked(self, match, dict(raw.query), raw.asked, raw.token, app)
        self._limit(raw)
        if faults:
            raise AnswerError(422, f"Invalid request.\n\n{faults[0]}")
        self._permit(asked)
        try:
            status, body, headers = perform(asked)
        except AnswerError as answer:
            self._hold(match, answer.status, answer.body)
            raise
        self._hold(match, status, body if not isinstance(body, bytes) else None)
        return status, body, headers

    def _hold(self, match: Match, status: int, body: Any) -> None:
        for fault in load_spec().response_faults(match, status, body) if self.holds_answers else ():
            self.violation(f"the fake's {match.operation}: {fault}")

    def _by_name(self, raw: _Raw, path: str) -> str:
        """The path with the repository's own name; one that was renamed is redirected to its number."""
        by_id = _REPOSITORY_ID.fullmatch(path)
        if by_id:
            for one in self.repositories.values():
                if one.id == int(by_id[1]):
                    return f"/repos/{one.full_name}{by_id[2] or ''}"
            raise AnswerError(404, "Not Found")
        parts = path.split("/", 4)
        if len(parts) >= 4 and parts[1] == "repos":
            moved = self.renamed.get(f"{parts[2]}/{parts[3]}".lower())
            if moved is not None:
                raw.operation = "redirect"
                rest = f"/{parts[4]}" if len(parts) > 4 else ""
                query = f"?{urlencode(raw.query)}" if raw.query else ""
                location = f"{self.api}/repositories/{moved.id}{rest}{query}"
                status = 301 if raw.method in ("GET", "HEAD") else 307
                message = "Moved Permanently" if status == 301 else "Temporary Redirect"
                raise AnswerError(status, message, headers={"Location": location}, url=location)
        return path

    def _wants_app(self, match: Match) -> bool:
        return match.operation.startswith("apps/") and match.operation != "apps/list-repos-accessible-to-installation"

    def _app_of(self, raw: _Raw) -> App:
        """The App whose JWT this is, checked by its key."""
        kind, _, text = raw.headers.get("authorization", "").partition(" ")
        if kind.lower() != "bearer" or text.count(".") != 2:
            raise AnswerError(401, "A JSON web token could not be decoded")
        for app in self.apps:
            with suppress(jwt.PyJWTError):
                claims = jwt.decode(text, app.public_key, algorithms=["RS256"], options={"verify_exp": False})
                now = self.now()
                if str(claims.get("iss")) != str(app.id):
                    raise AnswerError(401, "Integration not found")
                if claims["exp"] > now + 600 + 5:
                    raise AnswerError(401, "'Expiration time' claim ('exp') is too far in the future")
                if claims["exp"] < now:
                    raise AnswerError(
                        401, "'Expiration time' claim ('exp') must be a numeric value representing the future"
                    )
                if claims["iat"] > now + 5:
                    raise AnswerError(
                        401, "'Issued at' claim ('iat') must be an Integer representing a time in the past"
                    )
                return app
        raise AnswerError(401, "A JSON web token could not be decoded")

    def _token_of(self, raw: _Raw) -> Token:
        kind, _, text = raw.headers.get("authorization", "").partition(" ")
        token = self.tokens.get(text)
        if not text:
            self.violation(f"{raw.operation}: without a token")
            raise AnswerError(401, "Requires authentication")
        if kind.lower() not in ("bearer", "token") or token is None:
            raise AnswerError(401, "Bad credentials")
        if token.expires is not None and token.expires <= self.now():
            raise AnswerError(401, "Bad credentials")
        token.used += 1
        if token.used > self.rate_limit:
            raise AnswerError(
                403, "API rate limit exceeded for installation ID 1.", headers={"X-RateLimit-Remaining": "0"}
            )
        return token

    def _permit(self, asked: Asked) -> None:
        token = asked.token
        if token is None or asked.repository is None:
            return
        repository = asked.repository
        area, level = permission_for(asked)
        if token.kind == "user":
            role = repository.role(token.user.login)
            if role == "none":
                raise AnswerError(404, "Not Found")
            if level == "write" and not area.endswith("pull_requests") and role not in ("write", "maintain", "admin"):
                raise AnswerError(403, "Resource not accessible by personal access token")
            if area == "checks" and level == "write":
                raise AnswerError(403, "You must authenticate via a GitHub App.")
            return
        inside = token.repositories is None or repository.id in token.repositories
        if not inside and (repository.private or level == "write"):
            raise (
                AnswerError(403, "Resource not accessible by integration")
                if not repository.private
                else AnswerError(404, "Not Found")
            )
        have = [token.permissions.get(one) for one in area.split("|")]
        enough = "write" in have or (level == "read" and ("read" in have or not repository.private))
        if not enough:
            raise AnswerError(403, "Resource not accessible by integration")

    def _limit(self, raw: _Raw) -> None:
        """The secondary limit on what is written."""
        token = raw.token
        reads = raw.method == "GET" or (raw.operation == "graphql" and "mutation" not in str(raw.asked))
        if self.limit is None or token is None or reads:
            return
        since = self.now() - self.limit.seconds
        token.writes = [one for one in token.writes if one > since]
        token.writes.append(self.now())
        if len(token.writes) > self.limit.count:
            fault = self.limit.answer()
            fault.happened += 1
            raise AnswerError(fault.status or 403, whole=fault.body, headers=dict(fault.headers))

    def _meet_faults(self, raw: _Raw) -> None:
        for fault in self.faults:
            if fault.times == 0 or not re.fullmatch(fault.operation, raw.operation):
                continue
            if fault.if_body is not None and not fault.if_body(raw.asked):
                continue
            if fault.after > 0:
                fault.after -= 1
                continue
            fault.times -= 1
            fault.happened += 1
            raw.faults.append(fault)
            if not fault.done and (fault.status is not None or fault.drop):
                raise AnswerError(fault.status or 500, whole=fault.body, headers=dict(fault.headers))

    def _note_secrets(self, raw: _Raw) -> None:
        """A token has no business anywhere but in its header."""
        told = raw.body + raw.path.encode() + repr(raw.query).encode()
        if any(text.encode() in told for text in self.tokens) or b"PRIVATE KEY" in told:
            self.violation(f"{raw.operation}: a token in the request")

    def _handle_graphql(self, raw: _Raw) -> tuple[int, Any, dict[str, str]]:
        raw.operation = "graphql"
        self._note_secrets(raw)
        self._meet_faults(raw)
        raw.token = self._token_of(raw)
        self._limit(raw)
        if raw.method != "POST" or not isinstance(raw.asked, dict) or not isinstance(raw.asked.get("query"), str):
            self.violation("graphql: neither a POST nor a query")
            raise AnswerError(400, "Problems parsing JSON")
        return 200, self._graph.execute(raw.asked["query"], raw.asked.get("variables"), raw.token), {}

    def _storage(self, raw: _Raw) -> tuple[int, Any, dict[str, str]]:
        """Where artifacts are downloaded from: another host in the real world, which must not see the token."""
        raw.operation = "storage"
        if "authorization" in raw.headers:
            self.violation("storage: a token was sent to another host")
        number = int(raw.path.rpartition("/")[2])
        for repository in self.repositories.values():
            for workflow in repository.workflows:
                for run in workflow.runs:
                    for one, data in run.artifacts.values():
                        if one == number:
                            return 200, data, {"Content-Type": "application/zip"}
        raise AnswerError(404, "Not Found")

    @property
    def storage(self) -> str:
        """The address of that other host."""
        return f"http://localhost:{self._port}/storage"


def path_of(url: str) -> str:
    """The path of an address."""
    return urlsplit(url).path

"""The App as a whole: the parts put together, started, and stopped so that nothing is lost."""

from __future__ import annotations

import fcntl
import hashlib
import hmac
import logging
import os
import secrets
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import sqlalchemy as sa
import uvicorn

from botlint.core.errors import CannotFinish, UsageError
from botlint.engine.settings import Language
from botlint.github.app import PERMISSIONS, SMOKE_PERMISSIONS, App
from botlint.github.client import API, Client
from botlint.github.models import Identity
from botlint.github.port import GitHub
from botlint.server.beats import DEAD, Beats
from botlint.server.clients import AppClients
from botlint.server.database import PAGES, Database
from botlint.server.engine import Engine, Submitted
from botlint.server.events import Task
from botlint.server.metrics import Metrics
from botlint.server.pace import Pace
from botlint.server.pool import Pool
from botlint.server.receiver import Receiver
from botlint.server.smoke import SmokeRuns
from botlint.server.tasks import Reviewed, Tasks
from botlint.server.upkeep import CATCH_UP, Duty, Upkeep, attempt, run

GRACE = 60.0
"""Seconds that running tasks get to come to their end when the process is told to stop."""

KEEP_TASKS = 14 * 86_400.0
KEEP_PAGES = 60 * 86_400.0
_CAUGHT_UP = 300.0
_RECONCILED = 3_600.0
_CLEANED = 6 * 3_600.0
_LARGEST_PAGE = 8 * 1024 * 1024

log = logging.getLogger("botlint.runtime")


@dataclass(frozen=True, slots=True)
class Config:
    """How the App runs. Secrets are not shown."""

    app: int
    private_key: str = field(repr=False)
    webhook_secrets: tuple[str, ...] = field(repr=False)
    database: str = field(repr=False)
    api: str = API
    url: str = ""
    """The public address of the App, for links to details pages; there are none without."""
    accounts: frozenset[str] = frozenset()
    slots: int = 4
    """Tasks at once: most of the time they wait for GitHub."""
    processes: int = 2
    """Reviewing processes."""
    poll: float = 0.1
    grace: float = GRACE
    keep_tasks: float = KEEP_TASKS
    keep_pages: float = KEEP_PAGES
    patience: float = 60.0
    """Seconds that a request waits for a limit before its task is put aside."""
    resolve_threads: bool = False
    """Whether tokens may write contents, without which GitHub resolves no thread; nothing else is written with that."""
    smoke: bool = False
    """Whether it starts smoke runs; only tokens of tasks about them may write actions."""
    upkeep: bool = True
    silence: float = DEAD
    """Seconds without a beat after which a process is taken for dead."""


class Pages:
    """Details pages: kept in the database, found by an address that cannot be guessed."""

    def __init__(self, database: Database, url: str, secret: str) -> None:
        self._database = database
        self._url = url.rstrip("/")
        self._secret = hmac.new(secret.encode(), b"botlint details pages", hashlib.sha256).digest()

    def address(self, repository: str, head: str) -> str:
        """Where the page of a head is, or will be."""
        return f"{self._url}/details/{self._key(repository, head)}"

    def keep(self, repository: str, head: str, page: bytes) -> None:
        """Keep a page (compressed HTML); a second one of a head takes the place of the first."""
        if not isinstance(page, bytes) or len(page) > _LARGEST_PAGE:
            log.warning("a page is too large to be kept", extra={"head": head})
            return
        key = self._key(repository, head)
        with self._database.begin() as connection:
            now = self._database.seconds(connection)
            connection.execute(sa.delete(PAGES).where(PAGES.c.key == key))
            connection.execute(sa.insert(PAGES).values(key=key, created=now, body=page))

    def _key(self, repository: str, head: str) -> str:
        subject = f"{repository.lower()}@{head}".encode()
        return hmac.new(self._secret, subject, hashlib.sha256).hexdigest()[:40]

    def find(self, key: str) -> bytes | None:
        """The page with this key."""
        with self._database.begin() as connection:
            found = connection.execute(sa.select(PAGES.c.body).where(PAGES.c.key == key)).scalar()
        return None if found is None else bytes(found)

    def forget(self, older_than: float) -> int:
        """Delete pages that are older than so many seconds, and say how many."""
        with self._database.begin() as connection:
            now = self._database.seconds(connection)
            return connection.execute(sa.delete(PAGES).where(PAGES.c.created < now - older_than)).rowcount


class PoolReviewer:
    """Reviews in reviewing processes."""

    def __init__(self, pool: Pool, app: int, pages: Pages | None) -> None:
        self._pool = pool
        self._app = app
        self._pages = pages

    def review(self, github: GitHub, number: int, *, force: bool) -> Reviewed:
        """Bring comments, summary and check run of a pull request's head up to date."""
        return self._work(github, "review", number=number, force=force)

    def discussed(self, github: GitHub, number: int) -> Reviewed:
        """Review again where a rule waits for what people say."""
        return self._work(github, "discussed", number=number)

    def group(self, github: GitHub, head: str, base: str) -> Reviewed:
        """Conclude the check run of a merge group's head."""
        return self._work(github, "group", head=head, base=base)

    def languages(self, github: GitHub, number: int) -> Sequence[Language]:
        """The languages that the settings of the base ask for."""
        asked = str(self._pool.work(github, "languages", {"number": number}, {})).split(",")
        known: tuple[Language, ...] = ("en", "zh")
        return [language for language in known if language in asked]

    def give_up(self, github: GitHub, head: str, number: int, base: str) -> None:
        """Conclude the check run of a head that could not be reviewed, as the settings of its base say."""
        from botlint.github.review import give_up  # it brings everything that analyses, which this process never needs

        closed = False
        if number or base:
            try:
                closed = self._pool.work(github, "when failed", {"number": number, "base": base}, {}) == "failure"
            except Exception:  # it may be what cannot be reviewed
                log.warning("the settings of the base cannot be read", exc_info=True)
        give_up(github, head, self._app, "failure" if closed else "neutral")

    def smoke_rules(self, github: GitHub, number: int) -> object:
        """What the settings of the base say about smoke runs."""
        return self._pool.work(github, "smoke rules", {"number": number}, {})

    def smoke_jobs(self, github: GitHub, number: int, head: str, words: Sequence[str]) -> object:
        """The jobs of a head that deserve a smoke run."""
        return self._pool.work(github, "smoke jobs", {"number": number, "head": head, "words": list(words)}, {})

    def _work(self, github: GitHub, kind: str, **options: Any) -> Reviewed:
        extra: dict[str, Callable[..., Any]] = {}
        pages = self._pages
        if pages is not None:
            extra["keep_page"] = lambda head, page: pages.keep(github.repository, str(head), page)
            extra["page_address"] = lambda head: pages.address(github.repository, str(head))
        given = {**options, "app": self._app, "details": pages is not None}
        result = self._pool.work(github, kind, given, extra)
        outcomes: Sequence[Reviewed] = ("reviewed", "unchanged", "superseded", "closed", "failed")
        for outcome in outcomes:
            if result == outcome:
                return outcome
        raise CannotFinish("a reviewing process said something else")


class Runtime:
    """One process of the App: it receives, it works, or both."""

    def __init__(self, config: Config, *, works: bool = True, receives: bool = True) -> None:
        """Raises UsageError where the database cannot be used."""
        self.config = config
        self.metrics = Metrics()
        self._works = works
        self._receives = receives
        self._stop = threading.Event()
        self._database = Database(config.database)
        self._lock = None if self._database.shared else _lock(self._database.url)
        # A process that shares the database is another one at each start: what the last one left is taken over by the
        # janitor of any. On a file there is only one, which goes on with what it left at once.
        unique = f"{socket.gethostname()}-{os.getpid()}-{secrets.token_hex(4)}"
        self.executor = unique if self._database.shared else "file"
        self._engine = Engine(self._database.url, self.executor, slots=config.slots, poll=config.poll, works=works)
        self._beats = Beats(
            self._database, self.executor, beat=config.silence / 6, dead=config.silence, doubt=config.silence * 2 / 3
        )
        self._pages = Pages(self._database, config.url, config.webhook_secrets[0])
        self._pool = Pool(config.processes)
        self._hub = App(config.app, config.private_key, base_url=config.api, patience=config.patience)
        permissions = {**PERMISSIONS, **({"contents": "write"} if config.resolve_threads else {})}
        self._clients = AppClients(self._hub, self.metrics, self._client, permissions)
        self._smoke_clients = AppClients(self._hub, self.metrics, self._client, {**PERMISSIONS, **SMOKE_PERMISSIONS})
        self._upkeep = Upkeep(
            config.app,
            self._hub,
            self._clients.open,
            self._submit_for,
            accounts=config.accounts,
            smoke=config.smoke,
        )
        self._pace = Pace()
        self._threads: list[threading.Thread] = []

    def start(self) -> None:
        """Open the queue and work from now on."""
        self._database.prepare()
        self._beats.beat()
        reviewer = PoolReviewer(self._pool, self.config.app, self._pages if self.config.url else None)
        smoke = SmokeRuns(self.config.app, reviewer, self._submit_for) if self.config.smoke else None
        tasks = Tasks(
            app=self.config.app,
            clients=self._clients.open,
            reviewer=reviewer,
            smoke=smoke,
            smoke_clients=self._smoke_clients.open if self.config.smoke else None,
            submit=self._submit_for,
            repositories=self._upkeep.look_through,
            metrics=self.metrics,
            fence=self._fence,
            settled=self._settle,
        )
        self._engine.start(tasks.run)
        self.metrics.watch("botlint_queue_waiting", "Tasks that wait, at most 1,000 are counted", self._engine.waiting)
        self.metrics.watch("botlint_tasks_running", "Tasks that this process is doing", self._engine.running)
        self._thread("beats", lambda: self._beats.run(self._engine, self._stop))
        if self._works:
            self._thread("warm", self._warm)
        if self.config.upkeep:
            self._thread("upkeep", self._keep_up)
        log.info("started", extra={"executor": self.executor, "works": self._works})

    def receiver(self) -> Receiver:
        """What answers over HTTP."""
        return Receiver(
            self.config.app,
            tuple(secret.encode() for secret in self.config.webhook_secrets),
            self._submit,
            self._pages.find,
            self.problems,
            self.metrics,
            self.config.accounts,
        )

    def problems(self) -> list[str]:
        """What is wrong, if anything is."""
        self._database.ping()
        problems = []
        if self._stop.is_set():
            problems.append("stopping")
        elif not self._beats.fresh():
            problems.append("no beat: the database did not answer for a while")
        problems += [
            f"{thread.name} ended" for thread in self._threads if not thread.is_alive() and thread.name != "warm"
        ]
        return problems

    def stop(self) -> bool:
        """Take no more tasks, let those that run come to their end, hand over the rest; whether there was no rest."""
        log.info("stopping", extra={"running": self._engine.running()})
        self._stop.set()
        finished = self._engine.stop(self.config.grace)
        self._pool.close()
        with suppress(Exception):  # the others find out without being told
            self._beats.leave()
        self._hub.close()
        self._database.close()
        if self._lock is not None:
            self._lock.close()
        log.info("stopped", extra={"finished": finished})
        return finished

    def _keep_up(self) -> None:
        if self._receives:
            # What came while nobody listened is asked for at once, whenever that was done last.
            attempt(Duty("catch up at start", 0, lambda: self._upkeep.catch_up(CATCH_UP)))
        run(self._duties(), self._database.take, self._stop)

    def _duties(self) -> list[Duty]:
        keep_tasks, keep_pages = self.config.keep_tasks, self.config.keep_pages
        return [
            Duty("catch up", _CAUGHT_UP, lambda: self._upkeep.catch_up(CATCH_UP)),
            Duty("reconcile", _RECONCILED, self._upkeep.reconcile),
            Duty("forget tasks", _CLEANED, lambda: self._engine.forget(keep_tasks)),
            Duty("forget pages", _CLEANED, lambda: self._pages.forget(keep_pages)),
        ]

    def _client(self, repository: str, token: str, identity: Identity | None) -> Client:
        return Client(
            repository,
            token,
            base_url=self.config.api,
            identity=identity,
            patience=self.config.patience,
        )

    def _submit(self, delivery: str, task: Task) -> Submitted:
        identifier, delay = kept_as(delivery, task, time.time())
        return self._engine.submit(identifier, task.lane, task.body(), delay=delay)

    def _submit_for(self, identifier: str, task: Task, delay: float) -> Submitted:
        return self._engine.submit(identifier, task.lane, task.body(), delay=delay)

    def _fence(self, installation: int) -> None:
        self._pace.wait(installation)
        if self._database.shared:  # on a file there is nobody else
            self._beats.ensure()

    def _settle(self) -> None:
        while self._database.shared and not self._beats.fresh() and not self._stop.wait(0.5):
            pass

    def _warm(self) -> None:
        with suppress(CannotFinish):
            self._pool.warm()

    def _thread(self, name: str, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, name=name, daemon=True)
        self._threads.append(thread)
        thread.start()


def kept_as(delivery: str, task: Task, now: float) -> tuple[str, float]:
    """The id under which a delivery's task is kept, and the seconds until it is done."""
    if task.kind != "discussed":
        return delivery, 0.0
    # People say much in a short time: one look, when the minute after it is over, is enough for all of it.
    minute = int(now // 60)
    return f"discussed-{task.lane}-{minute}", (minute + 2) * 60 - now


def _lock(url: sa.URL) -> IO[bytes]:
    """Hold the lock beside an SQLite file. Raises UsageError where another process has it."""
    path = Path(f"{url.database}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        held = path.open("ab")
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UsageError("another process uses this database file; several processes need PostgreSQL") from None
    except OSError as error:
        raise UsageError(f"cannot use the database file: {error.strerror}") from None
    return held


class _Server(uvicorn.Server):
    """A server that leaves signals to us."""

    def install_signal_handlers(self) -> None:
        """Leave them."""

    def capture_signals(self) -> Any:
        from contextlib import nullcontext

        return nullcontext()


def serve(runtime: Runtime, host: str, port: int, ready: Callable[[int], None] = lambda _port: None) -> bool:
    """Receive until SIGTERM or SIGINT, then stop; whether nothing was left to others. `ready` gets the port."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), backlog=512, family=family)
    except OSError as error:
        raise UsageError(f"cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}") from None
    asked = _signals()
    config = uvicorn.Config(
        runtime.receiver().routes(),
        log_config=None,
        access_log=False,
        lifespan="off",
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=15,
        limit_concurrency=500,
        h11_max_incomplete_event_size=64 * 1024,
    )
    server = _Server(config)
    runtime.start()
    thread = threading.Thread(target=lambda: server.run(sockets=[listener]), name="receiver", daemon=True)
    thread.start()
    ready(listener.getsockname()[1])
    while not asked.wait(1.0) and thread.is_alive():
        pass
    # First no more deliveries: GitHub is refused, and asked for what it could not bring at the next start.
    server.should_exit = True
    thread.join(20)
    return runtime.stop()


def work(runtime: Runtime, ready: Callable[[], None] = lambda: None) -> bool:
    """Work until SIGTERM or SIGINT, then stop; whether nothing was left to others."""
    asked = _signals()
    runtime.start()
    ready()
    asked.wait()
    return runtime.stop()


def _signals() -> threading.Event:
    asked = threading.Event()

    def ask(_number: int, _frame: object) -> None:
        asked.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    return asked

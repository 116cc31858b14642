"""Many deliveries, some twice, late, forged or lost, while processes are killed: nothing is lost, nothing done twice.

`python -m soak --deliveries 500` runs the long one by itself, on SQLite and on PostgreSQL with two workers.
"""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
from app_process import AppProcess
from cluster import Cluster, dump
from fakehub import App, Executable, FakeGitHub, Pull, Repository
from fakehub.seed import CONFIG, ENTRY, RECIPE, healthy_files, planted_files, with_backend, with_guard
from fakehub.state import Delivery

from botlint.github.client import Client
from botlint.github.markers import fingerprint_of, is_mended
from botlint.github.review import Options, review
from botlint.server.database import Database

PERMISSIONS = {"checks": "write", "contents": "read", "metadata": "read", "pull_requests": "write"}
FORGED = "sha256=" + "0" * 64


def small_files() -> dict[str, Any]:
    """The miniature repository with the one entry that pull requests change, so that a review is quick."""
    files = dict(healthy_files())
    kept: list[str] = []
    inside = False
    for line in _text(files[CONFIG]).splitlines(keepends=True):
        if line[:1] not in (" ", "\n", "#"):
            inside = line.startswith(f"{ENTRY}:")
        if inside:
            kept.append(line)
    files[CONFIG] = "".join(kept)
    return files


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a pull request with certain files must end with: findings, and the conclusion of the check."""

    findings: frozenset[str]
    conclusion: str


class Variants:
    """Heads that a pull request may have, and what each must end with."""

    def __init__(self) -> None:
        files = small_files()
        planted = planted_files()
        both = _text(planted[RECIPE])
        self.base = files
        recipes = {
            "both": both,
            "layout": with_backend(both),
            "backend": with_guard(both),
            "none": with_guard(with_backend(both)),
        }
        self.changes: dict[str, dict[str, Any]] = {
            name: {**planted, RECIPE: Executable(recipe.encode())} for name, recipe in recipes.items()
        }
        self.wanted: dict[str, Wanted] = {}

    def judge(self) -> None:
        """Find out what each must end with, by one review of each with nothing in its way."""
        with FakeGitHub() as hub:
            repository = hub.repository("acme/bench", self.base)
            app = hub.app(permissions=PERMISSIONS)
            installation = hub.install(app, repository)
            for name, changes in self.changes.items():
                repository.commit(name, changes, author="alice")
                pull = repository.open_pull(name, author="alice")
                token = hub.installation_token(installation)
                client = Client("acme/bench", token.text, base_url=hub.api)
                review(client, pull.number, Options(app=app.id))
                (run,) = repository.runs(pull.head_sha)
                self.wanted[name] = Wanted(frozenset(live(pull)), str(run.conclusion))
        assert len({wanted.findings for wanted in self.wanted.values()}) == len(self.wanted), self.wanted


def _text(content: Any) -> str:
    raw = content.content if isinstance(content, Executable) else content
    return raw.decode() if isinstance(raw, bytes) else str(raw)


def live(pull: Pull) -> list[str]:
    """The fingerprints of the comments of the App that are not marked as mended."""
    bodies = [comment.body for comment in pull.inline if comment.user.login == "botlint[bot]"]
    return sorted(found for body in bodies if not is_mended(body) and (found := fingerprint_of(body)) is not None)


@dataclass
class Soak:
    """One run: who works, how much is delivered, and how often something is killed."""

    database: str
    folder: Path
    deliveries: int
    pulls: int = 6
    kills: int = 8
    workers: int = 0
    seed: int = 1
    seconds: float = 900.0
    silence: float = 3.0
    say: Callable[[str], None] = lambda _text: None
    sent: Counter[str] = field(default_factory=Counter)
    refused: list[int] = field(default_factory=list)

    def run(self, variants: Variants) -> None:
        """Deliver, kill, wait, and look at what there is. Raises AssertionError where something is lost or twice."""
        with FakeGitHub() as hub:
            self._run(hub, variants)

    def _run(self, hub: FakeGitHub, variants: Variants) -> None:
        chance = random.Random(self.seed)
        repository = hub.repository("acme/bench", variants.base)
        repository.grant("alice", "write")
        app = hub.app(permissions=PERMISSIONS)
        hub.install(app, repository)
        hub.latency = 0.01
        processes = self._processes(hub, app)
        for process in processes:
            process.start(wait=False)
        for process in processes:
            process.wait_until_up()
        app.webhook_url = f"{processes[0].url}/webhook"
        stop = threading.Event()
        killer = threading.Thread(target=self._kill, args=(processes, stop, random.Random(self.seed)))
        began = time.monotonic()
        killer.start()
        try:
            states = self._deliver(hub, app, repository, variants, chance)
            killer.join()
            self.say(f"delivered after {time.monotonic() - began:.1f} s: {dict(self.sent)}")
            self._bring_the_rest(hub, app)
            self._settle(hub, repository, states, variants)
        finally:
            stop.set()
            killer.join()
            for process in processes:
                process.kill()
        took = sorted(one.seconds for one in app.deliveries if one.status_code == 202)
        shown = ", ".join(f"{share:.0%} {took[int(share * (len(took) - 1))]:.2f} s" for share in (0.5, 0.99, 1.0))
        self.say(f"{len(took)} deliveries acknowledged: {shown}")
        self.say(f"settled after {time.monotonic() - began:.1f} s, {len(hub.calls)} requests")
        self._no_secrets(hub, app, processes)
        assert set(self.refused) <= {401}, f"forged deliveries were answered {self.refused}"
        assert not hub.violations, hub.violations[:5]

    def _processes(self, hub: FakeGitHub, app: App) -> list[AppProcess]:
        common = ("--silence", str(self.silence), "--log-level", "info", "--grace", "5")
        if not self.workers:
            return [AppProcess(hub, app, self.database, self.folder / "serve", *common)]
        names = [f"worker{number}" for number in range(self.workers)]
        return [
            AppProcess(hub, app, self.database, self.folder / "serve", "--receive-only", *common),
            *(
                AppProcess(hub, app, self.database, self.folder / name, "--processes", "1", *common, command="worker")
                for name in names
            ),
        ]

    def _kill(self, processes: list[AppProcess], stop: threading.Event, chance: random.Random) -> None:
        for _ in range(self.kills):
            if stop.wait(chance.uniform(0.3, 2.5)):
                return
            victim = chance.choice(processes)
            victim.kill()
            self.sent["killed"] += 1
            victim.start(wait=False)
            victim.wait_until_up()

    def _deliver(
        self, hub: FakeGitHub, app: App, repository: Repository, variants: Variants, chance: random.Random
    ) -> dict[int, str]:
        """Make pull requests, push to them, and deliver what GitHub would; the state that each was left in."""
        states: dict[int, str] = {}
        pulls: list[Pull] = []
        late: list[tuple[str, dict[str, Any], str]] = []
        names = sorted(variants.changes)
        with ThreadPoolExecutor(8) as senders:
            for _ in range(self.deliveries):
                if len(pulls) < self.pulls:
                    name = chance.choice(names)
                    branch = f"topic-{len(pulls)}"
                    repository.commit(branch, variants.changes[name], author="alice")
                    pull = repository.open_pull(branch, author="alice")
                    pulls.append(pull)
                    states[pull.number] = name
                    event, payload = "pull_request", hub.events.pull_request(pull, "opened")
                else:
                    pull = chance.choice(pulls)
                    event, payload = self._act(hub, app, pull, states, variants, chance, names)
                self._send(hub, app, event, payload, chance, late, senders)
                time.sleep(chance.uniform(0, 0.05))
            for event, payload, guid in chance.sample(late, len(late)):
                senders.submit(hub.deliver, app, event, payload, guid=guid)
                self.sent["late"] += 1
        return states

    def _act(
        self,
        hub: FakeGitHub,
        app: App,
        pull: Pull,
        states: dict[int, str],
        variants: Variants,
        chance: random.Random,
        names: list[str],
    ) -> tuple[str, dict[str, Any]]:
        """Something that happens to a pull request, and the event of it."""
        what = chance.choices(("push", "force", "comment", "rerun", "edit", "reopen"), (40, 20, 10, 10, 10, 10))[0]
        self.sent[what] += 1
        match what:
            case "push" | "force":
                name = chance.choice(names)
                states[pull.number] = name
                changes = variants.changes[name]
                if what == "push":
                    pull.push({**changes, "notes.txt": str(chance.random())}, "Push")
                else:
                    pull.force_push({**changes, "notes.txt": str(chance.random())})
                return "pull_request", hub.events.pull_request(pull, "synchronize")
            case "comment":
                comment = pull.comment("/botlint check", "alice")
                return "issue_comment", hub.events.issue_comment(comment)
            case "rerun":
                runs = pull.repository.runs(pull.head_sha)
                if runs:
                    return "check_run", hub.events.check_run(runs[-1])
                return "check_suite", hub.events.check_suite(pull.repository, app, pull.head_sha)
            case "edit":
                return "pull_request", hub.events.pull_request(pull, "edited", changes={"body": {"from": ""}})
        pull.close()
        pull.state = "open"
        return "pull_request", hub.events.pull_request(pull, "reopened")

    def _send(
        self,
        hub: FakeGitHub,
        app: App,
        event: str,
        payload: dict[str, Any],
        chance: random.Random,
        late: list[tuple[str, dict[str, Any], str]],
        senders: ThreadPoolExecutor,
    ) -> None:
        guid = f"soak-{self.seed}-{sum(self.sent.values())}-{chance.randrange(10**9)}"
        fate = chance.random()
        self.sent["events"] += 1
        if fate < 0.1:
            late.append((event, payload, guid))
            return
        if fate < 0.15:
            self.sent["forged"] += 1
            senders.submit(self._forge, hub, app, {**payload, "number": 1, "action": "closed"}, f"evil-{guid}")
        if fate < 0.2:
            self.sent["lost"] += 1
            hub.deliver(app, event, payload, guid=guid, lost=True)
            return
        senders.submit(hub.deliver, app, event, payload, guid=guid)
        if fate > 0.85:
            self.sent["twice"] += 1
            senders.submit(hub.deliver, app, event, payload, guid=guid)

    def _forge(self, hub: FakeGitHub, app: App, payload: dict[str, Any], guid: str) -> None:
        """Somebody else's delivery; GitHub does not know of it."""
        body = json.dumps(payload).encode()
        headers = {**hub.webhook_headers(app, "pull_request", body, guid), "X-Hub-Signature-256": FORGED}
        with suppress(httpx.TransportError):
            status = httpx.post(str(app.webhook_url), content=body, headers=headers, timeout=10).status_code
            self.refused.append(status)

    def _bring_the_rest(self, hub: FakeGitHub, app: App) -> None:
        """What no delivery brought is brought as a person would, who presses `Redeliver`, or as the catch-up does."""
        for _ in range(3):
            lost = _lost(app.deliveries)
            self.sent["brought"] += len(lost)
            for one in lost:
                hub.deliver(app, one.event, one.payload, guid=one.guid, redelivery=True)
            if not lost:
                return

    def _settle(self, hub: FakeGitHub, repository: Repository, states: Mapping[int, str], variants: Variants) -> None:
        """Wait until everything is as it must be and stays so."""
        until = time.monotonic() + self.seconds
        stable = 0
        while stable < 3:
            with hub.lock:
                problems = list(self._problems(repository, states, variants))
            stable = 0 if problems else stable + 1
            assert time.monotonic() < until, "\n".join([*problems, *self._last_words()])
            time.sleep(0.7)

    def _last_words(self) -> Iterable[str]:
        """What the processes logged last."""
        for path in sorted(self.folder.glob("*/log")):
            yield f"--- {path.parent.name}"
            yield path.read_text(errors="replace")[-3000:]

    def _problems(self, repository: Repository, states: Mapping[int, str], variants: Variants) -> Iterable[str]:
        """What is not as it must be."""
        for number, name in states.items():
            pull = repository.pulls[number]
            wanted = variants.wanted[name]
            have = live(pull)
            if have != sorted(wanted.findings):
                yield f"#{number} ({name}) has comments {have}, not {sorted(wanted.findings)}"
            own = [one for one in pull.comments if one.user.login == "botlint[bot]"]
            # Who never had a finding is not told that there is none.
            if len(own) > 1 or (wanted.findings and not own):
                yield f"#{number} has {len(own)} summaries"
            runs = [run for run in repository.runs(pull.head_sha) if run.name == "botlint"]
            found = [(run.status, run.conclusion) for run in runs]
            if found != [("completed", wanted.conclusion)]:
                yield f"#{number} ({name}) has check runs {found}, not one of {wanted.conclusion}"
        for run in repository.runs():
            if run.status != "completed":
                yield f"the check run of {run.head[:7]} is {run.status}"

    def _no_secrets(self, hub: FakeGitHub, app: App, processes: Sequence[AppProcess]) -> None:
        """No token, key or secret in what was logged or kept."""
        secrets = [*hub.tokens, app.webhook_secret, app.private_key.splitlines()[1]]
        texts = {str(process.log): process.logged() for process in processes}
        database = Database(self.database)
        texts["database"] = dump(database)
        database.close()
        assert "soak-" in texts["database"]
        for where, text in texts.items():
            assert not any(secret in text for secret in secrets), f"a secret is in {where}"
        for process in processes:
            wrong = [line for line in process.logged().splitlines() if "Traceback" in line]
            assert not wrong, f"{process.log} has {len(wrong)} exceptions, the first one {wrong[0][-3000:]}"


def _lost(deliveries: Iterable[Delivery]) -> list[Delivery]:
    last: dict[str, Delivery] = {}
    arrived: set[str] = set()
    for one in deliveries:
        last[one.guid] = one
        if one.status_code == 202:
            arrived.add(one.guid)
    return [one for guid, one in last.items() if guid not in arrived]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deliveries", type=int, default=500)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--pulls", type=int, default=10)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--seconds", type=float, default=900.0, help="how long to wait for the end of all tasks")
    parser.add_argument("--only", choices=("sqlite", "postgres"))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    variants = Variants()
    variants.judge()
    for kind in ("sqlite", "postgres"):
        if given.only not in (None, kind):
            continue
        with tempfile.TemporaryDirectory() as folder:
            cluster = Cluster() if kind == "postgres" else None
            try:
                Soak(
                    cluster.database() if cluster else str(Path(folder) / "botlint.db"),
                    Path(folder),
                    given.deliveries,
                    given.pulls,
                    given.kills,
                    workers=2 if cluster else 0,
                    seed=given.seed,
                    seconds=given.seconds,
                    say=lambda text, kind=kind: print(f"{kind}: {text}", flush=True),  # type: ignore[misc]
                ).run(variants)
            finally:
                if cluster:
                    cluster.close()
        print(f"{kind}: nothing lost, nothing twice", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())

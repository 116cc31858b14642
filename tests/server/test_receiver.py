"""What the App answers over HTTP."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest
from deliveries import APP, SECRET, headers, issue_comment, pull_request, signature
from starlette.testclient import TestClient

from botlint.server import receiver
from botlint.server.engine import Submitted
from botlint.server.events import WEBHOOK, Task
from botlint.server.metrics import Metrics
from botlint.server.receiver import LARGEST, Receiver, signed

OLD_SECRET = b"the secret before"


@dataclass
class Kept:
    """Keeps tasks in memory; fails or dawdles when told to."""

    tasks: dict[str, Task] = field(default_factory=dict)
    error: Exception | None = None
    seconds: float = 0.0
    problems: list[str] = field(default_factory=list)

    def submit(self, delivery: str, task: Task) -> Submitted:
        time.sleep(self.seconds)
        if self.error is not None:
            raise self.error
        known = delivery in self.tasks
        self.tasks.setdefault(delivery, task)
        return "known" if known else "new"


@pytest.fixture
def kept() -> Kept:
    return Kept()


def client_for(kept: Kept, **options: Any) -> TestClient:
    def page(key: str) -> bytes | None:
        return gzip.compress(b"<p>plans</p>") if key == "right" else None

    metrics = Metrics()
    metrics.watch("botlint_queue_waiting", "Tasks that wait", lambda: 3)
    app = Receiver(APP, (SECRET, OLD_SECRET), kept.submit, page, lambda: kept.problems, metrics, **options)
    return TestClient(app.routes())


@pytest.fixture
def client(kept: Kept) -> Iterator[TestClient]:
    with client_for(kept) as client:
        yield client


def deliver(
    client: TestClient, event: str, payload: Any, delivery: str = "d-000001", changed: Mapping[str, str] | None = None
) -> Any:
    raw = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
    return client.post(WEBHOOK, content=raw, headers={**headers(raw, event, delivery), **(changed or {})})


def test_a_delivery_is_kept_and_then_acknowledged(client: TestClient, kept: Kept) -> None:
    answer = deliver(client, "pull_request", pull_request("opened"))
    assert (answer.status_code, answer.json()) == (202, {"task": "review", "kept": "new"})
    again = deliver(client, "pull_request", pull_request("opened"))
    assert (again.status_code, again.json()["kept"]) == (202, "known")
    assert [task.lane for task in kept.tasks.values()] == ["1001#7"]


def test_a_delivery_without_a_task_is_acknowledged(client: TestClient, kept: Kept) -> None:
    answer = deliver(client, "push", pull_request("x"))
    assert answer.status_code == 202
    assert "nothing to do" in answer.json()["ignored"]
    assert not kept.tasks


@pytest.mark.parametrize(
    "wrong",
    [
        {"X-Hub-Signature-256": ""},
        {"X-Hub-Signature-256": "sha256="},
        {"X-Hub-Signature-256": "sha256=" + "0" * 64},
        {"X-Hub-Signature-256": signature(b"another payload")},
        {"X-Hub-Signature-256": "ü"},
    ],
)
def test_a_bad_signature_is_refused_before_anything_is_read(
    client: TestClient, kept: Kept, wrong: dict[str, str]
) -> None:
    changed = {name: value.encode() for name, value in wrong.items()}
    for raw in (json.dumps(pull_request("opened")).encode(), b"no json at all"):
        given: dict[Any, Any] = {**headers(raw, "pull_request", "d-000001"), **changed}
        assert client.post(WEBHOOK, content=raw, headers=given).status_code == 401
    assert not kept.tasks


def test_the_secret_before_counts_while_it_is_changed(client: TestClient) -> None:
    raw = json.dumps(pull_request("opened")).encode()
    answer = client.post(WEBHOOK, content=raw, headers=headers(raw, "pull_request", "d-000001", OLD_SECRET))
    assert answer.status_code == 202


def test_an_empty_secret_is_none() -> None:
    assert not signed(b"x", signature(b"x", b""), [b""])
    assert not signed(b"x", signature(b"x"), [])
    assert signed(b"x", signature(b"x"), [b"", SECRET])


@pytest.mark.parametrize(
    ("changed", "status"),
    [
        ({"X-GitHub-Delivery": ""}, 400),
        ({"X-GitHub-Delivery": "../../../etc/passwd"}, 400),
        ({"X-GitHub-Delivery": "x" * 200}, 400),
        ({"X-GitHub-Event": "Pull Request"}, 400),
        ({"Content-Type": "application/x-www-form-urlencoded"}, 415),
    ],
)
def test_odd_deliveries_are_refused(client: TestClient, kept: Kept, changed: dict[str, str], status: int) -> None:
    assert deliver(client, "pull_request", pull_request("opened"), changed=changed).status_code == status
    assert not kept.tasks


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a":' * 50_000])
def test_what_is_no_json_is_refused(client: TestClient, raw: bytes) -> None:
    assert deliver(client, "pull_request", raw).status_code == 400


def test_a_payload_that_is_too_large_is_refused(client: TestClient, kept: Kept) -> None:
    announced = client.post(WEBHOOK, content=b"x", headers={"Content-Length": str(LARGEST + 1)})
    assert announced.status_code == 413

    def chunks() -> Iterator[bytes]:
        for _ in range(26):
            yield b" " * 1024 * 1024

    assert client.post(WEBHOOK, content=chunks()).status_code == 413
    assert not kept.tasks


def test_a_delivery_that_cannot_be_kept_is_not_acknowledged(
    client: TestClient, kept: Kept, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    kept.error = RuntimeError("postgresql://botlint:hunter2@db/botlint is away")
    answer = deliver(client, "pull_request", pull_request("opened"))
    assert answer.status_code == 503
    assert "hunter2" not in answer.text + caplog.text
    kept.error, kept.seconds = None, 2
    monkeypatch.setattr(receiver, "STORING", 0.05)
    began = time.monotonic()
    assert deliver(client, "pull_request", pull_request("opened")).status_code == 503
    assert time.monotonic() - began < 2


def test_only_accounts_that_are_named_are_served(kept: Kept) -> None:
    with client_for(kept, accounts=frozenset({"acme"})) as client:
        assert deliver(client, "pull_request", pull_request("opened"), "d-000001").json()["kept"] == "new"
        other = pull_request("opened", repository={"id": 2, "full_name": "eve/x", "owner": {"login": "eve"}})
        assert "ignored" in deliver(client, "pull_request", other, "d-000002").json()
    assert list(kept.tasks) == ["d-000001"]


def test_deliveries_do_not_wait_for_each_other(client: TestClient, kept: Kept) -> None:
    kept.seconds = 0.5
    began = time.monotonic()
    threads = [
        threading.Thread(target=deliver, args=(client, "issue_comment", issue_comment("/botlint check"), f"d-{n:06}"))
        for n in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept.tasks) == 8
    assert time.monotonic() - began < 8 * 0.5


def test_health_says_what_is_wrong(client: TestClient, kept: Kept) -> None:
    assert client.get("/healthz").json() == {"status": "ok", "problems": []}
    kept.problems.append("no beat for 20 seconds")
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["problems"]) == (503, ["no beat for 20 seconds"])


def test_metrics_are_for_prometheus(client: TestClient) -> None:
    deliver(client, "pull_request", pull_request("opened"))
    deliver(client, "an_event_of_next_year", pull_request("opened"))
    text = client.get("/metrics").text
    assert 'botlint_deliveries_total{event="pull_request",result="accepted"} 1.0' in text
    assert 'botlint_deliveries_total{event="other",result="ignored"} 1.0' in text
    assert "botlint_queue_waiting 3.0" in text
    assert "botlint_delivery_seconds_bucket" in text


def test_a_details_page_needs_its_address_and_may_load_nothing(client: TestClient) -> None:
    page = client.get("/details/right")
    assert (page.status_code, page.text) == (200, "<p>plans</p>")
    assert page.headers["content-security-policy"].startswith("default-src 'none'")
    assert page.headers["referrer-policy"] == "no-referrer"
    assert client.get("/details/wrong").status_code == 404
    assert client.get("/details/right", headers={"Accept-Encoding": "identity"}).status_code == 406


def test_nothing_else_is_there(client: TestClient) -> None:
    assert client.get(WEBHOOK).status_code == 405
    assert client.get("/").text.startswith("This is botlint")
    assert client.get("/admin").status_code == 404
    assert client.get("/details/../metrics").status_code in (200, 404)

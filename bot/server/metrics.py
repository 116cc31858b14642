"""What the App counts, for Prometheus."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from botlint import __version__

_REMEMBERED = 5.0


class Metrics:
    """The counters of one process."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._deliveries = Counter(
            "botlint_deliveries", "Webhook deliveries, by event and what became of them", ("event", "result"),
            registry=self._registry,
        )  # fmt: skip
        self._answers = Histogram(
            "botlint_delivery_seconds", "Time from a delivery's arrival to its acknowledgement", registry=self._registry
        )
        self._tasks = Counter(
            "botlint_tasks", "Tasks that ended here, by kind and outcome", ("kind", "outcome"), registry=self._registry
        )
        self._times = Histogram(
            "botlint_task_seconds", "Time that tasks took", ("kind",), registry=self._registry,
            buckets=(0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64, 128),
        )  # fmt: skip
        self._calls = Counter("botlint_github_requests", "Requests to GitHub's API", registry=self._registry)
        version = Gauge("botlint_build", "Which botlint this is", ("version",), registry=self._registry)
        version.labels(__version__).set(1)

    def delivered(self, event: str, result: str) -> None:
        """Count a delivery; events that the App does not know count together."""
        from botlint.server.events import SMOKE, SUBSCRIBED

        known = event in (*SUBSCRIBED, *SMOKE, "installation", "ping", "unknown")
        self._deliveries.labels(event if known else "other", result).inc()

    def done(self, kind: str, outcome: str, seconds: float) -> None:
        """Count a task that came to its end."""
        self._tasks.labels(kind, outcome).inc()
        self._times.labels(kind).observe(seconds)

    def called(self, number: int) -> None:
        """Count requests to GitHub."""
        self._calls.inc(number)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Measure the answer to a delivery."""
        with self._answers.time():
            yield

    def watch(self, name: str, text: str, read: Callable[[], float]) -> None:
        """Show a number that is read when it is asked for, at most every few seconds; NaN where it cannot be."""
        last = (0.0, float("nan"))

        def remembered() -> float:
            nonlocal last
            if not last[0] or time.monotonic() - last[0] > _REMEMBERED:
                try:
                    last = (time.monotonic(), float(read()))
                except Exception:  # a database that is away must not take the other numbers with it
                    last = (time.monotonic(), float("nan"))
            return last[1]

        Gauge(name, text, registry=self._registry).set_function(remembered)

    def render(self) -> tuple[bytes, str]:
        """All numbers in Prometheus' text form, and its media type."""
        return generate_latest(self._registry), CONTENT_TYPE_LATEST

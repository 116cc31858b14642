"""What the App answers over HTTP: webhooks, details pages, and how it does.

A delivery is verified, kept for good and then acknowledged, in that order: what GitHub was told to be accepted is in
the queue. GitHub waits 10 seconds and never tries again by itself.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import logging
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from botlint.server import events
from botlint.server.engine import Submitted
from botlint.server.metrics import Metrics

LARGEST = 25 * 1024 * 1024
"""GitHub sends no larger payload (docs.github.com, "Webhook events and payloads")."""

STORING = 8.0
"""Seconds that a delivery may take to be kept; after 10 GitHub counts it as failed, and the catch-up asks for it."""

_DELIVERY = re.compile(r"[0-9A-Za-z-]{8,72}")
_EVENT = re.compile(r"[a-z_]{1,64}")
_PAGE_HEADERS = {
    "Cache-Control": "private, max-age=300",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}

log = logging.getLogger("botlint.receiver")

Submit = Callable[[str, events.Task], Submitted]
Page = Callable[[str], bytes | None]
Health = Callable[[], Sequence[str]]


@dataclass(frozen=True, slots=True)
class Receiver:
    """What the receiver needs: how to keep a task, find a page (compressed HTML) and ask how the App does.

    `secrets` may be several while they are changed; `accounts`, in lower case, are those that are served, all of them
    where there are none.
    """

    app: int
    secrets: Sequence[bytes]
    submit: Submit
    page: Page
    health: Health
    metrics: Metrics
    accounts: frozenset[str] = frozenset()

    def routes(self) -> Starlette:
        """The ASGI application."""
        return Starlette(
            routes=[
                Route(events.WEBHOOK, self._webhook, methods=["POST"]),
                Route("/details/{key}", self._details, methods=["GET"]),
                Route("/", self._home, methods=["GET"]),
                Route("/healthz", self._healthz, methods=["GET"]),
                Route("/metrics", self._metrics, methods=["GET"]),
            ]
        )

    async def _webhook(self, request: Request) -> Response:
        with self.metrics.answering():
            return await self._receive(request)

    async def _receive(self, request: Request) -> Response:
        try:
            raw = await _body(request)
        except ClientDisconnect:
            return self._refused("unknown", 400, "the delivery broke off")
        if raw is None:
            return self._refused("unknown", 413, "the payload is too large")
        # Nothing of a delivery is looked at before its signature is.
        if not signed(raw, request.headers.get("x-hub-signature-256", ""), self.secrets):
            return self._refused("unknown", 401, "the signature is missing or wrong")
        event, delivery = request.headers.get("x-github-event", ""), request.headers.get("x-github-delivery", "")
        if not _EVENT.fullmatch(event) or not _DELIVERY.fullmatch(delivery):
            return self._refused("unknown", 400, "the delivery has no event or no id")
        if not request.headers.get("content-type", "").startswith("application/json"):
            return self._refused(event, 415, "the webhook's content type has to be application/json")
        try:
            payload = await asyncio.to_thread(json.loads, raw)
        except (ValueError, RecursionError):
            return self._refused(event, 400, "the payload is no JSON")
        if self.accounts and events.account(payload) not in self.accounts:
            return self._ignored(event, delivery, "an account that is not served")
        task = events.read(event, payload, self.app)
        if isinstance(task, events.Ignored):
            return self._ignored(event, delivery, task.reason)
        return await self._keep(event, delivery, task)

    async def _keep(self, event: str, delivery: str, task: events.Task) -> Response:
        try:
            async with asyncio.timeout(STORING):
                kept = await asyncio.to_thread(self.submit, delivery, task)
        except Exception as error:  # whatever the database raises: GitHub shall know that the delivery failed
            log.error("delivery not kept", extra={"delivery": delivery, "event": event, "error": type(error).__name__})
            return self._refused(event, 503, "the delivery could not be kept")
        self.metrics.delivered(event, "accepted" if kept != "known" else "duplicate")
        log.info("delivery kept", extra={"delivery": delivery, "event": event, "kept": kept, "lane": task.lane})
        return JSONResponse({"task": task.kind, "kept": kept}, status_code=202)

    def _ignored(self, event: str, delivery: str, reason: str) -> Response:
        self.metrics.delivered(event, "ignored")
        log.debug("delivery ignored", extra={"delivery": delivery, "event": event, "reason": reason})
        return JSONResponse({"ignored": reason}, status_code=202)

    def _refused(self, event: str, status: int, reason: str) -> Response:
        self.metrics.delivered(event, f"refused-{status}")
        log.warning("delivery refused", extra={"event": event, "status": status, "reason": reason})
        return JSONResponse({"error": reason}, status_code=status)

    async def _details(self, request: Request) -> Response:
        page = await asyncio.to_thread(self.page, request.path_params["key"])
        if page is None:
            text = "There is no such page, or not yet, or no longer: `/botlint check` in a comment makes a new one.\n"
            return PlainTextResponse(text, status_code=404)
        if "gzip" not in request.headers.get("accept-encoding", ""):
            return PlainTextResponse("this page is sent compressed (gzip) only\n", status_code=406)
        headers = {**_PAGE_HEADERS, "Content-Encoding": "gzip"}
        return Response(page, media_type="text/html", headers=headers)

    async def _home(self, _request: Request) -> Response:
        return PlainTextResponse("This is botlint, a GitHub App: it reviews pull requests of benchmark repositories.\n")

    async def _healthz(self, _request: Request) -> Response:
        try:
            async with asyncio.timeout(STORING):
                problems = list(await asyncio.to_thread(self.health))
        except Exception as error:  # not to know is to be unwell
            problems = [f"the database does not answer ({type(error).__name__})"]
        body = {"status": "unwell" if problems else "ok", "problems": problems}
        return JSONResponse(body, status_code=503 if problems else 200)

    async def _metrics(self, _request: Request) -> Response:
        text, kind = await asyncio.to_thread(self.metrics.render)
        return Response(text, media_type=kind)


def signed(raw: bytes, signature: str, secrets: Sequence[bytes]) -> bool:
    """Whether a delivery was signed (HMAC-SHA256 of the raw bytes) with one of the secrets; never with none or ""."""
    given = signature.encode("utf-8", "replace")
    good = False
    for secret in secrets:
        wanted = b"sha256=" + hmac.new(secret, raw, hashlib.sha256).hexdigest().encode()
        good |= bool(secret) and hmac.compare_digest(wanted, given)  # all are tried: time tells nothing
    return good


async def _body(request: Request) -> bytes | None:
    """The raw body, None if it is larger than a payload may be, by its announcement or in truth."""
    announced = request.headers.get("content-length", "")
    if announced.isdecimal() and int(announced) > LARGEST:
        return None
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > LARGEST:
            return None
    return bytes(raw)

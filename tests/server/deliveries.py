"""Webhook payloads, as small as the fields that are read, and as whole as GitHub's own examples elsewhere."""

from __future__ import annotations

import copy
import hashlib
import hmac
from typing import Any

APP = 4242
SECRET = b"a secret of the tests"
HEAD = "a" * 40
BASE = "b" * 40

_BASE: dict[str, Any] = {
    "installation": {"id": 77},
    "repository": {"id": 1001, "full_name": "acme/bench", "owner": {"login": "Acme"}},
    "sender": {"id": 5, "login": "ada", "type": "User"},
}


def payload(**parts: Any) -> dict[str, Any]:
    """A payload with what every delivery has."""
    return {**copy.deepcopy(_BASE), **parts}


def pull_request(action: str, number: int = 7, head: str = HEAD, **parts: Any) -> dict[str, Any]:
    base = {"sha": BASE, "ref": "main"}
    pull = {"number": number, "state": "open", "draft": False, "head": {"sha": head}, "base": base}
    return payload(action=action, number=number, pull_request=pull, **parts)


def issue_comment(
    body: str, number: int = 7, action: str = "created", login: str = "ada", **parts: Any
) -> dict[str, Any]:
    comment = {"id": 9001, "body": body, "user": {"id": 5, "login": login, "type": "User"}}
    issue = {"number": number, "state": "open", "pull_request": {"url": "https://api.example/pulls/7"}}
    return payload(action=action, issue=issue, comment=comment, **parts)


def signature(raw: bytes, secret: bytes = SECRET) -> str:
    return "sha256=" + hmac.new(secret, raw, hashlib.sha256).hexdigest()


def headers(raw: bytes, event: str, delivery: str, secret: bytes = SECRET) -> dict[str, str]:
    """What GitHub sends with a delivery."""
    return {
        "Content-Type": "application/json",
        "User-Agent": "GitHub-Hookshot/0000000",
        "X-GitHub-Delivery": delivery,
        "X-GitHub-Event": event,
        "X-GitHub-Hook-ID": "1",
        "X-GitHub-Hook-Installation-Target-ID": str(APP),
        "X-GitHub-Hook-Installation-Target-Type": "integration",
        "X-Hub-Signature": "sha1=0000000000000000000000000000000000000000",
        "X-Hub-Signature-256": signature(raw, secret),
    }

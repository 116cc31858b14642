"""What the App asks for when it is registered: events and permissions, the fewest that its tasks need.

The form is GitHub's (docs.github.com, "Registering a GitHub App from a manifest").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from botlint.server.events import SUBSCRIBED, WEBHOOK

PERMISSIONS: Final[Mapping[str, str]] = {
    "checks": "write",
    "contents": "read",
    "merge_queues": "read",
    "metadata": "read",
    "pull_requests": "write",
}


def manifest(url: str, name: str = "botlint") -> dict[str, Any]:
    """The manifest of an App that is reached at this address."""
    root = url.rstrip("/")
    return {
        "name": name,
        "url": root,
        "description": "Shows what a pull request makes a benchmark repository launch, and what is wrong with it.",
        "public": False,
        "hook_attributes": {"url": f"{root}{WEBHOOK}", "active": True},
        "default_permissions": dict(PERMISSIONS),
        "default_events": [event for event in SUBSCRIBED if event != "installation_repositories"],
    }

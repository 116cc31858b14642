"""What the App asks for when it is registered: events and permissions, the fewest that its tasks need.

The form is GitHub's (docs.github.com, "Registering a GitHub App from a manifest").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from botlint.github.app import SMOKE_PERMISSIONS
from botlint.server.events import SMOKE, SUBSCRIBED, WEBHOOK

PERMISSIONS: Final[Mapping[str, str]] = {
    "checks": "write",
    "contents": "read",
    "merge_queues": "read",
    "metadata": "read",
    "pull_requests": "write",
}


def manifest(url: str, name: str = "botlint", *, smoke: bool = False) -> dict[str, Any]:
    """The manifest of an App that is reached at this address, and that starts `smoke` runs or not."""
    root = url.rstrip("/")
    return {
        "name": name,
        "url": root,
        "description": "Shows what a pull request makes a benchmark repository launch, and what is wrong with it.",
        "public": False,
        "hook_attributes": {"url": f"{root}{WEBHOOK}", "active": True},
        "default_permissions": {**PERMISSIONS, **(SMOKE_PERMISSIONS if smoke else {})},
        "default_events": [
            event for event in (*SUBSCRIBED, *(SMOKE if smoke else ())) if event != "installation_repositories"
        ],
    }

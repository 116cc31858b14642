"""A client that reads, and prints the exact requests that it would write with."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from botlint.github.client import Client
from botlint.github.requests import Request


class DryRun(Client):
    """`show` gets each request as a text: method and address, then its JSON."""

    def __init__(self, repository: str, token: str | None, *, show: Callable[[str], None], **options: Any) -> None:
        super().__init__(repository, token, **options)
        self._show = show

    def _write(self, request: Request) -> Mapping[str, Any]:
        self._show(
            shown(
                f"{request.method} {self._transport.origin}{self._transport.prefix}{self._root}{request.path}",
                request.body,
            )
        )
        body = request.body or {}
        return {**body, "id": 0, "commit_id": body.get("commit_id", ""), "conclusion": body.get("conclusion")}

    def _mutate(self, mutation: str, variables: Mapping[str, Any], what: str) -> Mapping[str, Any]:
        self._show(shown(f"POST {self._transport.graphql_url}", {"query": mutation, "variables": {"input": variables}}))
        if what == "resolveReviewThread":
            return {what: {"thread": {"id": variables.get("threadId"), "isResolved": True}}}
        return {}


def shown(line: str, body: Mapping[str, Any] | None) -> str:
    """A request as it is printed; JSON escapes whatever a terminal could take for more than text."""
    return line + "\n" + json.dumps(body, indent=2, ensure_ascii=True)

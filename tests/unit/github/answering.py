"""A server on this machine that answers requests from a list, and remembers what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """An answer; without a status the connection is closed instead."""

    status: int | None = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    method: str
    path: str
    body: Any
    headers: dict[str, str]


class Server:
    """`answers` are given in turn, the last one again and again; or a function makes them from what is asked."""

    def __init__(self, answers: list[Answer] | Callable[[Asked], Answer]) -> None:
        self.asked: list[Asked] = []
        self._answers = answers
        owner = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _reply(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                raw = self.rfile.read(length)
                asked = Asked(
                    self.command,
                    self.path,
                    json.loads(raw) if raw else None,
                    {k.lower(): v for k, v in self.headers.items()},
                )
                answer = owner.answer(asked)
                if answer.status is None:
                    self.close_connection = True
                    self.connection.close()
                    return
                content = b"" if answer.body is None else json.dumps(answer.body).encode()
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = _reply  # noqa: N815

            def log_message(self, *arguments: object) -> None:
                """Nothing is printed."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    def answer(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        if callable(self._answers):
            return self._answers(asked)
        return self._answers[min(len(self.asked), len(self._answers)) - 1]

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def serving(answers: list[Answer] | Callable[[Asked], Answer]) -> Iterator[Server]:
    server = Server(answers)
    server.start()
    try:
        yield server
    finally:
        server.stop()

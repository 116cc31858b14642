"""The App as a process of its own, as it is really started, for tests that talk to it and kill it."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
from fakehub import App as FakeApp
from fakehub import FakeGitHub

_COMMAND = (sys.executable, "-c", "from botlint.cli import run; run()")


def free_port() -> int:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        port: int = sock.getsockname()[1]
        return port


class AppProcess:
    """`botlint serve` or `botlint worker`, started again on the same port and database after it was killed."""

    def __init__(
        self, hub: FakeGitHub, app: FakeApp, database: str, folder: Path, *options: str, command: str = "serve"
    ) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)
        (folder / "key.pem").write_text(app.private_key)
        (folder / "secret").write_text(app.webhook_secret)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "log"
        self._arguments = (
            command, "--app-id", str(app.id), "--private-key", str(folder / "key.pem"), "--webhook-secret",
            str(folder / "secret"), "--database", database, "--api", hub.api, "--port", str(self.port), *options,
        )  # fmt: skip
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, wait: bool = True, **environment: str) -> None:
        log = self.log.open("ab")
        self._process = subprocess.Popen(
            [*_COMMAND, *self._arguments],
            start_new_session=True,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**os.environ, **environment},
        )
        log.close()
        if wait:
            self.wait_until_up()

    def wait_until_up(self, seconds: float = 30.0) -> None:
        until = time.monotonic() + seconds
        while True:
            assert self._process is not None
            if self._process.poll() is not None or time.monotonic() > until:
                raise AssertionError(f"the App did not start:\n{self.log.read_text()[-4000:]}")
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.url}/healthz", timeout=2).status_code == 200:
                    return
            time.sleep(0.05)

    def kill(self) -> None:
        """`kill -9` of the process and of all that it started."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self._process = None

    def stop(self, seconds: float = 60.0) -> int:
        """SIGTERM; the exit status."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        status = self._process.wait(seconds)
        self._process = None
        return status

    def wait(self, seconds: float) -> int:
        """The exit status of a process that ends by itself."""
        assert self._process is not None
        return self._process.wait(seconds)

    def metrics(self) -> str:
        return httpx.get(f"{self.url}/metrics", timeout=5).text

    def number(self, name: str) -> float:
        """The value of a metric, its labels included in the name; 0 where there is none."""
        found = [line.rsplit(" ", 1)[1] for line in self.metrics().splitlines() if line.rsplit(" ", 1)[0] == name]
        return float(found[0]) if found else 0.0

    def logged(self) -> str:
        return self.log.read_text(errors="replace")

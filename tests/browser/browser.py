"""A headless Chromium, driven over the DevTools protocol; it tells what a page asked for and complained about."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.sync.client import ClientConnection, connect

NAMES = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")

SECONDS = 60
"""Longest time that anything may take."""


def find() -> str | None:
    """The Chromium of this machine."""
    return os.environ.get("BOTLINT_CHROMIUM") or next((path for name in NAMES if (path := shutil.which(name))), None)


class Tab:
    """One page: `requests` are what it asked for, `complaints` all errors, warnings and refusals that it told."""

    def __init__(self, socket: ClientConnection) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._session: str | None = None
        self._loaded = False
        self.requests: list[str] = []
        self.complaints: list[str] = []
        # What one page stores, no other one sees.
        self._context = self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=self._context)["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """The result of one method of the protocol."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        self._socket.send(json.dumps(message))
        while True:
            answer = self._next()
            if answer.get("id") == number:
                assert "error" not in answer, f"{method}: {answer['error']}"
                return answer["result"]

    def _next(self) -> Any:
        message = json.loads(self._socket.recv(timeout=SECONDS))
        if message.get("sessionId", self._session) != self._session:
            return {}
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(str(parameters["exceptionDetails"]))
        elif method == "Runtime.consoleAPICalled":
            self.complaints.append(str(parameters["args"]))
        elif method == "Log.entryAdded":
            self.complaints.append(parameters["entry"]["text"])
        elif method == "Page.javascriptDialogOpening":
            self.complaints.append(f"dialog: {parameters['message']}")
        elif method == "Page.loadEventFired":
            self._loaded = True
        return message

    def close(self) -> None:
        """Close the page."""
        self._session = None
        self.call("Target.disposeBrowserContext", browserContextId=self._context)

    def open(self, url: str) -> float:
        """Load a page; how many seconds that took."""
        start = time.perf_counter()
        self._loaded = False
        self.call("Page.navigate", url=url)
        while not self._loaded:
            self._next()
        return time.perf_counter() - start

    def js(self, expression: str) -> Any:
        """The value of an expression, which may be a promise."""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def wait(self, expression: str) -> Any:
        """The value of an expression as soon as it is true."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            value = self.js(f"((value) => (value instanceof Node ? true : value))({expression})")
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"never true: {expression}")

    def press(self, *keys: str) -> None:
        """Press keys one after another, as a keyboard does."""
        for key in keys:
            shown = {"text": "\r"} if key == "Enter" else {"text": key} if len(key) == 1 else {}
            code = {"Enter": 13, "Escape": 27, "Tab": 9, " ": 32}.get(key, ord(key[0].upper()))
            event = {"key": key, "windowsVirtualKeyCode": code}
            self.call("Input.dispatchKeyEvent", type="keyDown", **event, **shown)
            self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def size(self, width: int, height: int, *, phone: bool = False) -> None:
        """Show the page at another size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def media(self, kind: str = "screen", **features: str) -> None:
        """Show the page to a reader with other wishes: `prefers_color_scheme="dark"`."""
        named = [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]
        self.call("Emulation.setEmulatedMedia", media=kind, features=named)

    def screenshot(self, path: Path, *, whole: bool = False) -> None:
        """A picture of what is shown, or of the whole page."""
        picture = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(picture["data"]))

    def roles(self) -> list[tuple[str, str]]:
        """Role and name of everything that assistive technology is told of."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            (str(node["role"]["value"]), str(node.get("name", {}).get("value", "")))
            for node in nodes
            if not node.get("ignored")
        ]

    def pdf(self) -> bytes:
        """The page on paper."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=True)["data"])


@contextmanager
def chromium(path: str) -> Iterator[ClientConnection]:
    """The connection to a fresh Chromium, which is ended with the block."""
    # As root it starts without its sandbox only.
    arguments = ["--no-sandbox"] if os.geteuid() == 0 else []
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        process = subprocess.Popen(
            [
                path,
                "--headless=new",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "--remote-debugging-port=0",
                f"--user-data-dir={folder}",
                *arguments,
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=_environment(folder),
        )
        try:
            with connect(_address(Path(folder) / "DevToolsActivePort", process), max_size=None) as socket:
                yield socket
        finally:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _environment(folder: str) -> Mapping[str, str]:
    return {**os.environ, "HOME": folder, "XDG_CONFIG_HOME": folder, "XDG_CACHE_HOME": folder}


def _address(file: Path, process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + SECONDS
    while time.monotonic() < end and process.poll() is None:
        if file.is_file() and len(lines := file.read_text().splitlines()) == 2:
            return f"ws://127.0.0.1:{lines[0]}{lines[1]}"
        time.sleep(0.02)
    raise AssertionError(f"Chromium did not start (exit status {process.poll()})")

"""Reviewing processes: the work of a review is done beside the App, so that it neither slows nor harms it.

A process that takes too long, needs too much memory or breaks is replaced; the task that it had is tried again.
"""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, BinaryIO, Final, cast

from botlint.core.errors import CannotFinish
from botlint.github.port import GitHub
from botlint.server.wire import WireError, packed, receive, send, unpacked

TIME = 300.0
"""Seconds that a review may take, requests to GitHub included."""

MEMORY = 6 * 1024**3
"""Bytes of address space of one process."""

MOST_CALLS = 5_000

METHODS: Final = frozenset(name for name in vars(GitHub) if not name.startswith("_")) - {"repository", "web"}
"""What a reviewing process may ask for: the port, nothing else."""

_KEPT_VARIABLES = (
    "PATH", "LANG", "LC_ALL", "TZ", "HOME", "XDG_CACHE_HOME", "PYTHONPATH", "VIRTUAL_ENV", "TMPDIR", "BOTLINT_LOG_LEVEL"
)  # fmt: skip

log = logging.getLogger("botlint.pool")


class _Process:
    """One reviewing process."""

    def __init__(self, command: tuple[str, ...], memory: int) -> None:
        environment = {name: os.environ[name] for name in _KEPT_VARIABLES if name in os.environ}
        self._process = subprocess.Popen(  # noqa: S603 (our own module, with our own interpreter)
            [*command, str(memory)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=environment,
            process_group=0,  # it starts others, which have to end with it
        )
        self.incoming = cast(BinaryIO, self._process.stdout)
        self.outgoing = cast(BinaryIO, self._process.stdin)
        self.repository = ""
        self.used = 0.0
        self._ended = threading.Lock()

    def end(self) -> None:
        if not self._ended.acquire(blocking=False):
            return  # the number of a process that was waited for may be another's
        with suppress(OSError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self.incoming, self.outgoing):
            with suppress(OSError):
                stream.close()


class Pool:
    """At most `size` reviewing processes; each keeps what it read, so a repository goes to the one that knows it."""

    def __init__(
        self,
        size: int,
        *,
        memory: int = MEMORY,
        seconds: float = TIME,
        command: tuple[str, ...] = (sys.executable, "-P", "-m", "botlint.server.child"),
    ) -> None:
        self._size = size
        self._memory = memory
        self._seconds = seconds
        self._command = command
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._starting = 0
        self._free = threading.Condition()
        self._closed = False

    def warm(self) -> None:
        """Start one process, so that the first review does not wait for it."""
        process = self._take("")
        self._give(process)

    def work(
        self, github: GitHub, kind: str, options: Mapping[str, Any], extra: Mapping[str, Callable[..., Any]]
    ) -> Any:
        """Do one kind of review with this client in a process, and return what came of it.

        `extra` are functions that the process may call besides the port's. Raises the errors of the port as they
        happened, CannotFinish where the process failed.
        """
        process = self._take(github.repository)
        watch = threading.Timer(self._seconds, process.end)
        watch.daemon = True
        watch.start()
        began = time.monotonic()
        whole = False
        try:
            result = self._talk(process, github, kind, options, extra)
            whole = True
            return result
        except EOFError:
            if time.monotonic() - began >= self._seconds:
                raise CannotFinish(f"a review took more than {self._seconds:.0f} seconds") from None
            raise CannotFinish("a reviewing process ended in the middle of a review") from None
        except _Told as told:
            whole = told.name != "MemoryError" and told.name != WireError.__name__
            raise unpacked(told.name, told.text, told.extra) from None
        finally:
            watch.cancel()
            self._give(process, whole)

    def _talk(
        self,
        process: _Process,
        github: GitHub,
        kind: str,
        options: Mapping[str, Any],
        extra: Mapping[str, Callable[..., Any]],
    ) -> Any:
        send(process.outgoing, (kind, github.repository, github.web, dict(options)))
        for _ in range(MOST_CALLS):
            message = receive(process.incoming)
            match message:
                case ("done", result):
                    return result
                case ("failed", str(name), str(text), more):
                    raise _Told(name, text, more)
                case ("call", str(name), tuple(arguments), dict(named)):
                    method = extra.get(name) or (getattr(github, name) if name in METHODS else None)
                    if method is None:
                        raise WireError(f"a reviewing process asked for {name!r}")
                    send(process.outgoing, _answer(method, arguments, named, github))
                case _:
                    raise WireError("a reviewing process sent something else")
        raise WireError("a reviewing process asked for too much")

    def _take(self, repository: str) -> _Process:
        """An idle process, the one that knows the repository if there is one, or a new one."""
        with self._free:
            while True:
                if self._closed:
                    raise CannotFinish("the App is stopping")
                knowing = [one for one in self._idle if one.repository == repository]
                room = len(self._idle) + len(self._busy) + self._starting < self._size
                if not knowing and room:
                    self._starting += 1
                    break
                if self._idle:
                    process = min(knowing or self._idle, key=lambda one: one.used)
                    self._idle.remove(process)
                    self._busy.add(process)
                    process.repository = repository
                    return process
                self._free.wait()
        return self._start(repository)

    def _start(self, repository: str) -> _Process:
        process: _Process | None = None
        ready = False
        try:
            process = _Process(self._command, self._memory)
            ready = receive(process.incoming) == ("ready",)
        except (OSError, EOFError):
            log.warning("a reviewing process did not start")
        finally:
            with self._free:
                self._starting -= 1
                if process is not None and ready:
                    process.repository = repository
                    self._busy.add(process)
                self._free.notify()
        if process is None or not ready:
            if process is not None:
                process.end()
            raise CannotFinish("a reviewing process did not start")
        return process

    def _give(self, process: _Process, whole: bool = True) -> None:
        process.used = time.monotonic()
        with self._free:
            self._busy.discard(process)
            keep = whole and not self._closed
            if keep:
                self._idle.append(process)
            self._free.notify()
        if not keep:
            log.info("a reviewing process is replaced")
            process.end()

    def close(self) -> None:
        """End all processes, those that work too."""
        with self._free:
            self._closed = True
            ending = [*self._idle, *self._busy]
            self._idle.clear()
            self._free.notify_all()
        for process in ending:
            process.end()


class _Told(Exception):  # noqa: N818 (a message)
    """What a process says that went wrong."""

    def __init__(self, name: str, text: str, extra: object) -> None:
        super().__init__(text)
        self.name = name
        self.text = text
        self.extra = extra


def _answer(
    method: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any], github: GitHub
) -> tuple[object, ...]:
    try:
        result = method(*arguments, **named)
    except Exception as error:
        return ("raise", *packed(error))
    plain = dict(result) if isinstance(result, Mapping) else result
    return ("value", plain, github.repository)

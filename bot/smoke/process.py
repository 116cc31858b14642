"""Processes of a run: each in a session of its own, its output in bounded memory, and an end that is certain.

A process that leaves its group is still found: by its parents, as long as the run lives (which takes orphans in), and
by a mark in its environment, which children inherit.
"""

from __future__ import annotations

import ctypes
import os
import re
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from botlint.core.errors import CannotFinish
from botlint.smoke.model import Log

MARK = "BOTLINT_SMOKE_RUN"
"""The variable that every process of a run has."""

TERM_SECONDS = 2.0
"""How long a process may take to end after it was asked to."""

KILL_SECONDS = 2.0
"""How long a killed process may take to be gone: with `TERM_SECONDS` less than the 5 that a limit may be passed by."""

MAX_LOG = 50_000_000
"""Bytes of output after which a server is said to flood its log; a start writes less than one million."""

_HEAD_LINES = 200
_TAIL_LINES = 400
_TELLING_LINES = 400
_LINE = 4_000
_CHUNK = 65_536
_AFTER_FLOOD = 4_096
_READ_ON = 0.2
"""Seconds for which output is still read after the end."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36

# Runs before the programme itself: the kernel ends it with the run (prctl(2), PR_SET_PDEATHSIG), and it leaves no core.
_PRELUDE = (
    "import ctypes,os,resource,sys\n"
    "parent=int(sys.argv[1])\n"
    "try:\n"
    f" ctypes.CDLL(None).prctl({_PR_SET_PDEATHSIG},9,0,0,0)\n"
    "except (AttributeError,OSError):\n"
    " pass\n"
    "if os.getppid()!=parent: os._exit(125)\n"
    "resource.setrlimit(resource.RLIMIT_CORE,(0,0))\n"
    "os.execv(sys.argv[2],sys.argv[3:])\n"
)

_TELLING = re.compile(
    r"error|exception|traceback|fatal|critical|assert|killed|abort|out of memory|refused|denied|failed|unsupported"
    r"|not supported|no space|invalid|unrecognized",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Seen:
    """A process as /proc shows it; `start` is in clock ticks after boot, which tells it from a later one."""

    pid: int
    parent: int
    group: int
    session: int
    start: int
    zombie: bool


class Output(threading.Thread):
    """Reads what a process writes until it is told to stop, and keeps the start, the end and what tells of trouble."""

    def __init__(self, descriptor: int) -> None:
        super().__init__(daemon=True, name="smoke-output")
        self._descriptor = descriptor
        self._ending = threading.Event()
        self._lock = threading.Lock()
        self._head: list[str] = []
        self._tail: deque[str] = deque(maxlen=_TAIL_LINES)
        self._telling: list[tuple[int, str]] = []
        self._rest = b""
        self._skip = False
        self._lines = 0
        self._bytes = 0
        self._cut = False
        self._until = 0.0

    def run(self) -> None:
        os.set_blocking(self._descriptor, False)
        with selectors.DefaultSelector() as selector:
            selector.register(self._descriptor, selectors.EVENT_READ)
            while True:
                ready = selector.select(0.1)
                if not ready and self._ending.is_set():
                    break
                if ready:
                    data = self._read()
                    if data == b"":
                        break
                    if data is not None:
                        self._take(data)
                if self._ending.is_set() and time.monotonic() > self._until:
                    break
        with self._lock:
            if self._rest:
                self._line(self._rest)
                self._rest = b""
        os.close(self._descriptor)

    def finish(self) -> None:
        """Stop reading once nothing is left to read; a process that still writes is not waited for."""
        self._until = time.monotonic() + _READ_ON
        self._ending.set()
        self.join(2 * _READ_ON)

    @property
    def flooded(self) -> bool:
        """Whether more was written than any honest server writes."""
        return self._bytes > MAX_LOG

    @property
    def lines(self) -> int:
        """Lines so far."""
        return self._lines

    def telling(self, since: int = 0) -> list[str]:
        """Lines that may tell of trouble, after the first `since` lines, in order."""
        with self._lock:
            return [line for number, line in self._telling if number >= since]

    def kept(self) -> list[str]:
        """Every line that was kept: the first, those that tell of trouble, and the last."""
        with self._lock:
            return [*self._head, *(line for number, line in self._telling if number >= _HEAD_LINES), *self._tail]

    def log(self, lines: int = 60) -> Log:
        """The last lines, and how much there was."""
        with self._lock:
            tail = tuple(self._tail)[-lines:] if self._tail else tuple(self._head[-lines:])
            if self._tail and len(tail) < lines:
                tail = (*self._head[-(lines - len(tail)) :], *tail)
            return Log(tail, self._lines, self._bytes, self._cut)

    def _read(self) -> bytes | None:
        try:
            return os.read(self._descriptor, _CHUNK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _take(self, data: bytes) -> None:
        with self._lock:
            self._bytes += len(data)
            if self._bytes > MAX_LOG:
                # Only drained from here on: reading a flood line by line would take a processor.
                self._cut = True
                data = data[-_AFTER_FLOOD:]
            *whole, self._rest = (self._rest + data).split(b"\n")
            for line in whole:
                if self._skip:
                    self._skip = False
                    continue
                self._line(line)
            if len(self._rest) > _LINE:
                if not self._skip:
                    self._line(self._rest)
                self._skip, self._cut, self._rest = True, True, b""

    def _line(self, data: bytes) -> None:
        self._cut = self._cut or len(data) > _LINE
        # A progress bar draws over itself: what it showed last counts.
        text = data.rstrip(b"\r").rpartition(b"\r")[2][:_LINE].decode("utf-8", "replace")
        number = self._lines
        self._lines += 1
        if number < _HEAD_LINES:
            self._head.append(text)
        else:
            self._tail.append(text)
        if len(self._telling) < _TELLING_LINES and _TELLING.search(text):
            self._telling.append((number, text))


@dataclass(slots=True)
class Child:
    """A programme that was started: its process, the mark of its run, and what it writes."""

    popen: subprocess.Popen[bytes]
    token: str
    start: int
    output: Output

    @property
    def pid(self) -> int:
        """Its process id, which is that of its session and group too."""
        return self.popen.pid

    def status(self) -> int | None:
        """Its exit status (negative: the signal that ended it), None while it runs."""
        return self.popen.poll()


@dataclass(frozen=True, slots=True)
class End:
    """How a programme ended: whether it had to be killed, and the processes that even that did not end."""

    killed: bool
    left: tuple[int, ...]


def start(argv: Sequence[str], env: Mapping[str, str], folder: Path, token: str, stdin: bytes | None = None) -> Child:
    """Start a programme (`argv[0]` is the path of its file) in a session of its own.

    Raises CannotFinish if that cannot be done.
    """
    command = [sys.executable, "-I", "-S", "-c", _PRELUDE, str(os.getpid()), argv[0], *argv]
    reading, writing = os.pipe()
    try:
        popen = subprocess.Popen(  # noqa: S603 (what is started was checked by `adapt`)
            command,
            env={**env, MARK: token},
            cwd=folder,
            stdin=subprocess.DEVNULL if stdin is None else subprocess.PIPE,
            stdout=writing,
            stderr=writing,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        os.close(reading)
        raise CannotFinish(f"cannot start {argv[0]}: {error}") from error
    finally:
        os.close(writing)
    output = Output(reading)
    output.start()
    if stdin is not None and popen.stdin is not None:
        with suppress(BrokenPipeError):
            popen.stdin.write(stdin)
        with suppress(BrokenPipeError):
            popen.stdin.close()
    seen = look(popen.pid)
    return Child(popen, token, seen.start if seen else 0, output)


def end(child: Child) -> End:
    """End a programme and everything that it started: asked first, killed then. Takes less than 5 seconds."""
    killed = False
    left = running(child.token, child.pid, child.start)
    if left:
        for pid in left:
            _send(pid, signal.SIGTERM)
        left = _gone(child, TERM_SECONDS, None)
    if left:
        killed = True
        left = _gone(child, KILL_SECONDS, signal.SIGKILL)
    with suppress(subprocess.TimeoutExpired):
        child.popen.wait(0.2)
    child.output.finish()
    return End(killed, tuple(left))


def end_marked(token: str, leader: Seen | None) -> int:
    """End what an earlier run left: processes with its mark, and its leader with the leader's group; how many."""
    everyone: set[int] = set()
    deadline = time.monotonic() + KILL_SECONDS
    while time.monotonic() < deadline:
        found = set(running(token, None))
        if leader is not None and (seen := look(leader.pid)) is not None and seen.start == leader.start:
            found |= set(running(token, leader.pid))
        if not found:
            break
        everyone |= found
        for pid in found:
            _send(pid, signal.SIGKILL)
        time.sleep(0.05)
    return len(everyone)


def running(token: str, leader: int | None, since: int | None = None) -> list[int]:
    """Processes of a run that have not ended: in the leader's session or group, below it, or with the run's mark.

    With `since`, the leader's start, so are orphans that came to this process later.
    """
    seen = {one.pid: one for one in _everyone()}
    mark = f"{MARK}={token}".encode()
    roots = (set() if leader is None else {leader}) | (set() if since is None else _orphans(since, seen))
    found = {
        one.pid
        for one in seen.values()
        if not one.zombie
        and one.pid != os.getpid()
        and (
            not roots.isdisjoint((one.pid, one.group, one.session))
            or _below(one, roots, seen)
            or _has_mark(one.pid, mark)
        )
    }
    return sorted(found)


def look(pid: int) -> Seen | None:
    """A process, None if there is none (or no /proc)."""
    try:
        text = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    # The name of the programme, in parentheses, may hold anything: proc(5).
    fields = text.rpartition(b")")[2].split()
    if len(fields) < 20:
        return None
    return Seen(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), fields[0] in (b"Z", b"X"))


def take_orphans() -> None:
    """Make this process the parent of descendants whose own is gone, so that they can be found (prctl(2))."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def _everyone() -> list[Seen]:
    try:
        names = [path.name for path in Path("/proc").iterdir()]
    except OSError:
        return []
    return [seen for name in names if name.isdecimal() and (seen := look(int(name))) is not None]


def _orphans(since: int, seen: Mapping[int, Seen]) -> set[int]:
    """Processes of other sessions that came to us after a leader was started: their own parent is gone."""
    us = seen.get(os.getpid())
    if us is None:
        return set()
    return {
        one.pid
        for one in seen.values()
        if one.parent == us.pid and one.start >= since and one.session not in (us.session, one.parent)
    }


def _below(one: Seen, roots: Collection[int], seen: Mapping[int, Seen]) -> bool:
    for _ in range(100 if roots else 0):
        if one.parent in roots:
            return True
        parent = seen.get(one.parent)
        if parent is None or parent.pid == one.pid:
            return False
        one = parent
    return False


def _has_mark(pid: int, mark: bytes) -> bool:
    try:
        return mark in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return False


def _gone(child: Child, seconds: float, number: signal.Signals | None) -> list[int]:
    """Wait until no process of a run is left, sending a signal again and again; those that are left."""
    deadline = time.monotonic() + seconds
    while True:
        child.popen.poll()
        left = running(child.token, child.pid, child.start)
        for pid in left:
            if number is not None:
                _send(pid, number)
            _reap(pid, child.pid)
        if not left or time.monotonic() >= deadline:
            return left
        time.sleep(0.05)


def _reap(pid: int, leader: int) -> None:
    """Take the status of an orphan that came to us; the leader's is taken elsewhere."""
    if pid != leader:
        with suppress(OSError):
            os.waitpid(pid, os.WNOHANG)


def _send(pid: int, number: signal.Signals) -> None:
    with suppress(OSError):
        os.kill(pid, number)

"""The folder of a run: one run at a time, and what an earlier one left is cleared away first.

A run that is killed cannot clear up. Its state file says which processes and which folder were its own; the start
time of a process tells it from a later one with the same number.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from botlint.core.errors import CannotFinish
from botlint.smoke.process import Child, Seen, end_marked

STATE = "state.json"
LOCK = "lock"

MAX_STATE = 10_000

_TOKEN = re.compile(r"[0-9a-f]{16}")
_SCRATCH = "botlint-smoke-"


@dataclass(slots=True)
class WorkFolder:
    """A run's own folders: `scratch` is short, as sockets in it have long names (unix(7): 108 bytes in all)."""

    path: Path
    token: str
    scratch: Path
    cleared: str = ""
    _child: dict[str, Any] = field(default_factory=dict)

    def note(self, child: Child, port: int) -> None:
        """Write down a server, so that a later run can end it."""
        self._child = {"pid": child.pid, "start": child.start, "port": port}
        self.write()

    def write(self) -> None:
        """Write the state, whole or not at all."""
        state = {
            "token": self.token,
            "scratch": str(self.scratch),
            "boot": _boot(),
            "owner": os.getpid(),
            **self._child,
        }
        new = self.path / f"{STATE}.new"
        new.write_text(json.dumps(state), encoding="utf-8")
        new.replace(self.path / STATE)

    def clear(self) -> list[str]:
        """Remove the scratch folder and the state; what could not be removed."""
        left: list[str] = []
        shutil.rmtree(self.scratch, onerror=lambda _, path, __: left.append(str(path)))
        (self.path / STATE).unlink(missing_ok=True)
        return left


@contextmanager
def work_folder(path: Path) -> Iterator[WorkFolder]:
    """The folder of one run, cleared of an earlier one, and cleared again at the end.

    Raises CannotFinish if another run has it, or if it cannot be written.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if path.stat().st_uid != os.getuid():
            raise CannotFinish(f"the folder {path} is somebody else's")
        lock = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotFinish(f"cannot use the folder {path}: {error.strerror}") from error
    try:
        try:
            # The kernel lets go of it when the process ends, however it ends.
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise CannotFinish(f"another smoke run uses {path}") from error
        cleared = _clear_earlier(path)
        scratch = Path(tempfile.mkdtemp(prefix=_SCRATCH))
        folder = WorkFolder(path, secrets.token_hex(8), scratch, cleared)
        folder.write()
        try:
            yield folder
        finally:
            if (path / STATE).exists():
                folder.clear()
    finally:
        os.close(lock)


def _clear_earlier(path: Path) -> str:
    """End and remove what a killed run left; what that was, in a sentence, or nothing."""
    state = _read(path / STATE)
    if state is None:
        return ""
    leader = None
    if state["boot"] == _boot() and state["pid"] is not None:
        leader = Seen(state["pid"], 0, 0, 0, state["start"], False)
    ended = end_marked(state["token"], leader) if state["boot"] == _boot() else 0
    scratch = Path(state["scratch"])
    if _is_ours(scratch):
        shutil.rmtree(scratch, ignore_errors=True)
    (path / STATE).unlink(missing_ok=True)
    return f"an earlier run was not finished: {ended} of its processes were ended"


def _read(path: Path) -> dict[str, Any] | None:
    """The state of an earlier run; None if there is none, or nothing that can be trusted."""
    try:
        text = path.read_bytes()[:MAX_STATE]
    except OSError:
        return None
    try:
        state = json.loads(text)
    except (ValueError, RecursionError):
        state = None
    if not isinstance(state, dict) or _TOKEN.fullmatch(str(state.get("token"))) is None:
        with suppress(OSError):
            path.unlink()
        return None
    pid, start = state.get("pid"), state.get("start")
    known = isinstance(pid, int) and isinstance(start, int) and pid > 1
    return {
        "token": state["token"],
        "scratch": str(state.get("scratch")),
        "boot": str(state.get("boot")),
        "pid": pid if known else None,
        "start": start if known else 0,
    }


def _is_ours(scratch: Path) -> bool:
    """Whether a folder is one that a run made: where runs make them, by its name, of this user, and no link."""
    if scratch.parent != Path(tempfile.gettempdir()) or not scratch.name.startswith(_SCRATCH):
        return False
    try:
        return scratch.lstat().st_uid == os.getuid() and not scratch.is_symlink()
    except OSError:
        return False


def _boot() -> str:
    """What tells this start of the machine from others; process numbers and start times are of one."""
    try:
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except OSError:
        return ""

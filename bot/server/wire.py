"""How the App and its reviewing processes speak: pickled messages, of which only plain data and GitHub's are read.

A reviewing process reads what strangers wrote. Should one of them find a way to run code in it, it may still do no more
than the port of one repository allows: it has no token, and what it sends cannot make another object here.
"""

from __future__ import annotations

import io
import pickle
import struct
from typing import Any, BinaryIO, Final

from botlint.core.errors import CannotFinish
from botlint.github import models, port

LARGEST: Final = 512 * 1024 * 1024
_HEAD: Final = struct.Struct("!Q")
_SAFE: Final = {("builtins", name) for name in ("set", "frozenset", "bytearray", "complex")}


class WireError(CannotFinish):
    """The other process sent what it must not."""


class _Plain(pickle.Unpickler):
    """Reads plain values and what `botlint.github.models` defines, nothing else."""

    def find_class(self, module: str, name: str) -> Any:
        if module == models.__name__ and isinstance(found := getattr(models, name, None), type):
            return found
        if (module, name) in _SAFE:
            return super().find_class(module, name)
        raise WireError(f"a message holds {module}.{name}")


def send(stream: BinaryIO, message: object) -> None:
    """Send a message. Raises EOFError if the other process is gone."""
    raw = pickle.dumps(message, protocol=5)
    try:
        stream.write(_HEAD.pack(len(raw)))
        stream.write(raw)
        stream.flush()
    except (OSError, ValueError) as error:
        raise EOFError from error


def receive(stream: BinaryIO) -> Any:
    """The next message. Raises WireError if there is none or it is none, EOFError if the other process is gone."""
    head = stream.read(_HEAD.size)
    if len(head) < _HEAD.size:
        raise EOFError
    (size,) = _HEAD.unpack(head)
    if size > LARGEST:
        raise WireError("a message is too large")
    raw = stream.read(size)
    if len(raw) < size:
        raise EOFError
    try:
        return _Plain(io.BytesIO(raw)).load()
    except WireError:
        raise
    except Exception as error:  # unpickling a broken message may raise anything
        raise WireError(f"a message cannot be read ({type(error).__name__})") from error


_SIMPLE: Final = {one.__name__: one for one in (port.Forbidden, port.NotFound, port.Ambiguous, port.GitHubError)}
_KINDS: Final = (*_SIMPLE, port.Unprocessable.__name__, port.RateLimited.__name__)


def packed(error: BaseException) -> tuple[str, str, object]:
    """An error as plain values: its kind, its text, and what else it says."""
    extra: object = None
    if isinstance(error, port.Unprocessable):
        extra = error.refusals
    elif isinstance(error, port.RateLimited):
        extra = error.wait_seconds
    name = next((kind.__name__ for kind in type(error).__mro__ if kind.__name__ in _KINDS), type(error).__name__)
    return name, str(error), extra


def unpacked(name: str, text: str, extra: object) -> Exception:
    """The error that `packed` made plain; one of another kind is a WireError."""
    if name == port.Unprocessable.__name__:
        refusals = extra if isinstance(extra, tuple) else ()
        return port.Unprocessable(text, [one for one in refusals if isinstance(one, models.Refusal)])
    if name == port.RateLimited.__name__:
        return port.RateLimited(text, float(extra) if isinstance(extra, (int, float)) else 60.0)
    kind = _SIMPLE.get(name)
    return kind(text) if kind is not None else WireError(f"{name}: {text}")

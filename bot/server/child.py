"""A reviewing process: it reads pull requests and decides what to say, and asks the App for everything of GitHub.

It has no token, no key and no database; its memory is bounded, and the App ends it when it takes too long. What it
keeps from one review to the next are contents, plans and analysed bases.
"""

from __future__ import annotations

import gc
import itertools
import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, BinaryIO, cast

from botlint.github.port import GitHub
from botlint.server.wire import WireError, packed, receive, send, unpacked

Work = Callable[[GitHub, str, dict[str, Any]], object]
"""Does one kind of review with a client, and says what came of it."""


class Remote:
    """The port of one repository, whose methods are called in the App."""

    def __init__(self, incoming: BinaryIO, outgoing: BinaryIO, repository: str, web: str) -> None:
        self._incoming = incoming
        self._outgoing = outgoing
        self.repository = repository
        self.web = web

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)

        def call(*arguments: Any, **options: Any) -> Any:
            plain = tuple(list(one) if isinstance(one, (map, filter, type({}.keys()))) else one for one in arguments)
            try:
                send(self._outgoing, ("call", name, plain, options))
                answer = receive(self._incoming)
            except EOFError:
                sys.exit()  # the App is gone; no error, for nothing that handles errors shall go on
            if answer[0] == "raise":
                raise unpacked(*answer[1:])
            self.repository = answer[2]
            return answer[1]

        return call


COLLECTED = 25
"""Reviews between two searches for garbage: it walks all plans that are kept, which takes longer than a review."""


def serve(work: Work, incoming: BinaryIO, outgoing: BinaryIO) -> None:
    """Do what the App asks until it is gone."""
    gc.disable()
    with suppress(EOFError):
        send(outgoing, ("ready",))
        for count in itertools.count(1):
            kind, repository, web, options = receive(incoming)
            message = _done(work, cast(GitHub, Remote(incoming, outgoing, repository, web)), kind, options)
            send(outgoing, message)
            if message[0] == "failed" and message[1] in ("MemoryError", WireError.__name__):
                return  # what is half built stays half built: a new process is cleaner
            if count % COLLECTED == 0:
                gc.collect()


def _done(work: Work, github: GitHub, kind: str, options: dict[str, Any]) -> tuple[object, ...]:
    try:
        return "done", work(github, kind, options)
    except MemoryError:
        return "failed", "MemoryError", "there is not enough memory for this pull request", None
    except Exception as error:
        return "failed", *packed(error)


def main() -> None:
    """Serve on stdin and stdout; `argv` says how many bytes of memory there are."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    memory = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.nice(10)  # GitHub waits ten seconds for an acknowledgement, and longer for a review
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not end up between messages
    from botlint.server import logs
    from botlint.server.reviewing import Reviewing

    logs.set_up(os.environ.get("BOTLINT_LOG_LEVEL", "info"))
    serve(Reviewing().work, sys.stdin.buffer, outgoing)


if __name__ == "__main__":
    main()

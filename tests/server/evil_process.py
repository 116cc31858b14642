"""A reviewing process that misbehaves: `python evil_process.py HOW MEMORY`."""

from __future__ import annotations

import os
import pickle
import struct
import sys
import time
from typing import Any

from botlint.server.child import serve
from botlint.server.wire import receive


class Bomb:
    def __reduce__(self) -> Any:
        return (os.system, ("echo broken out > broken-out",))


def raw(content: bytes) -> None:
    out = sys.stdout.buffer
    out.write(struct.pack("!Q", len(content)) + content)
    out.flush()


def work(github: Any, kind: str, options: dict[str, Any]) -> object:
    match kind:
        case "echo":
            return [github.pull(options["number"]), github.permission("ada"), os.environ.get("BOTLINT_PRIVATE_KEY", "")]
        case "error":
            github.create_issue_comment(1, "x")
        case "fault":
            raise ZeroDivisionError("a fault of ours")
        case "memory":
            return len(bytearray(1 << 40))
        case "token":
            return github.token()
        case "attribute":
            return github.__class__.__name__ + str(github._transport)
        case "kept":
            return os.getpid()
    return None


def main() -> None:
    how = sys.argv[1]
    if how == "good":
        serve(work, sys.stdin.buffer, sys.stdout.buffer)
        return
    if how == "silent":
        sys.exit(1)
    raw(pickle.dumps(("ready",)))
    receive(sys.stdin.buffer)
    match how:
        case "bomb":
            raw(pickle.dumps(("done", Bomb())))
        case "garbage":
            raw(b"\x80\x05garbage")
        case "huge":
            sys.stdout.buffer.write(struct.pack("!Q", 1 << 50))
            sys.stdout.buffer.flush()
        case "chatty":
            while True:
                raw(pickle.dumps(("call", "pull", (1,), {})))
                receive(sys.stdin.buffer)
        case "odd":
            raw(pickle.dumps({"done": 1}))
        case "dies":
            sys.exit(1)
    time.sleep(60)


main()

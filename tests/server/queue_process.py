"""A process with a queue, for tests that kill it: `python queue_process.py DATABASE EXECUTOR LOG SECONDS`.

Each task writes a line to LOG when it begins and one when it ends; it takes SECONDS.
"""

from __future__ import annotations

import os
import sys
import threading
import time

from botlint.server.beats import Beats
from botlint.server.database import Database
from botlint.server.engine import Body, Engine


def main() -> None:
    address, executor, path, seconds = sys.argv[1:]
    log = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)

    def run(task: str, body: Body) -> Body:
        os.write(log, f"begin {body['lane']} {body['number']} {executor}\n".encode())
        time.sleep(float(seconds))
        os.write(log, f"end {body['lane']} {body['number']} {executor}\n".encode())
        return {"ok": True}

    database = Database(address)
    database.prepare()
    beats = Beats(database, executor, beat=0.3, dead=2.0, doubt=1.5)
    engine = Engine(database.url, executor, slots=4, poll=0.05)
    beats.beat()
    engine.start(run)
    os.write(log, f"up {executor}\n".encode())
    beats.run(engine, threading.Event())


if __name__ == "__main__":
    main()

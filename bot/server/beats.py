"""Who of several processes is alive, and the janitor that takes up what dead ones left unfinished.

The queue itself takes up only the work of an executor that starts again under its own name.
"""

from __future__ import annotations

import logging
import threading
import time

import sqlalchemy as sa

from botlint.core.errors import CannotFinish
from botlint.server.database import EXECUTORS, Database
from botlint.server.engine import Engine

BEAT = 5.0
"""Seconds between two beats."""

DEAD = 30.0
"""Seconds of silence after which the others take a process for dead."""

DOUBT = 20.0
"""Seconds without a beat after which a process no longer trusts itself to be taken for alive, so it writes nothing."""

log = logging.getLogger("botlint.beats")


class Outlived(CannotFinish):
    """This process may have been taken for dead: another one may be doing its tasks, so it must not write."""


class Beats:
    """The beats of one executor, and its share of the janitor's work."""

    def __init__(
        self, database: Database, executor: str, *, beat: float = BEAT, dead: float = DEAD, doubt: float = DOUBT
    ) -> None:
        self._database = database
        self._executor = executor
        self._beat = beat
        self._dead = dead
        self._doubt = doubt
        self._last = 0.0

    def beat(self) -> None:
        """Say that this executor is alive."""
        asked = time.monotonic()
        with self._database.begin() as connection:
            now = self._database.seconds(connection)
            changed = connection.execute(
                sa.update(EXECUTORS).where(EXECUTORS.c.id == self._executor).values(beat=now)
            ).rowcount
            if not changed:
                connection.execute(sa.insert(EXECUTORS).values(id=self._executor, beat=now))
        self._last = asked

    def ensure(self) -> None:
        """Raise Outlived unless the last beat is young enough that nobody can have taken this executor for dead."""
        if time.monotonic() - self._last > self._doubt:
            raise Outlived("this process was silent for too long; another one goes on")

    def fresh(self) -> bool:
        """Whether the last beat is young."""
        return time.monotonic() - self._last <= self._doubt

    def leave(self) -> None:
        """Say that this executor is gone: what it left may be taken up at once."""
        self._last = 0.0
        with self._database.begin() as connection:
            connection.execute(sa.delete(EXECUTORS).where(EXECUTORS.c.id == self._executor))

    def alive(self) -> set[str]:
        """The executors that were heard lately; those that are silent for long are forgotten."""
        with self._database.begin() as connection:
            now = self._database.seconds(connection)
            connection.execute(sa.delete(EXECUTORS).where(EXECUTORS.c.beat < now - self._dead))
            return set(connection.execute(sa.select(EXECUTORS.c.id)).scalars())

    def sweep(self, engine: Engine) -> set[str]:
        """Put the tasks of all executors that nobody hears of back into the queue, and say whose they were.

        It looks at all unfinished tasks each time, not at deaths: a sweep that failed is made good by the next one.
        """
        owners = engine.owners()
        gone = owners - self.alive() - {self._executor} if owners else set()
        if gone:
            log.warning("taking over the tasks of silent processes", extra={"executors": sorted(gone)})
            engine.take_over(gone)
        lost = engine.take_up_lost() if self._executor in owners else set()
        if lost:
            log.warning("taking up tasks that were lost with the database", extra={"tasks": sorted(lost)})
        return gone

    def run(self, engine: Engine, stop: threading.Event) -> None:
        """Beat and sweep until told to stop; what goes wrong is tried again with the next beat."""
        while not stop.wait(self._beat):
            try:
                self.beat()
                self.sweep(engine)
            except Exception as error:  # the database may be away for a while
                log.warning("no beat", extra={"error": type(error).__name__})

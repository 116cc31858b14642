"""The queue: durable tasks, one at a time for each pull request, each run to its end whatever becomes of the process.

This is the only module that knows DBOS (https://docs.dbos.dev, MIT). What it promises, and `tests/server` tries with
`kill -9`: a task that `submit` accepted is run to its end at least once, also by another process, and tasks with one
`lane` never at the same time. So what a task does to the world has to be the same when it is done twice.
"""

from __future__ import annotations

import contextvars
import logging
import math
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Literal

import sqlalchemy as sa
from dbos import DBOS, DBOSConfig, DBOSPortableJSONSerializer
from dbos._error import DBOSWorkflowIDInUseError

Body = Mapping[str, Any]
"""What is kept of a task: text, numbers and small mappings of them. Never a token, never a file."""

Run = Callable[[str, Body], Body]
"""Does a task, given its id and its body, and returns what is kept of the outcome."""

Submitted = Literal["new", "known", "again"]

# Pending tasks of another version are never taken up again, and the default changes with every edit of the code. To be
# raised only when the steps of a task change, after the queue has been drained.
_VERSION = "1"
_NAME = "botlint"
_QUEUE = "botlint-pull"
_TASK = "task"
_DEATHS = 20
"""How often a task may take its process with it (or be there when it is killed) before it is put aside."""

_LOST_AFTER = 4.0
"""Seconds after which a task without a thread is lost: between its own code and its end in the database is a moment."""

_COUNTED = 1_000
_FAILED = ("ERROR", "CANCELLED", "MAX_RECOVERY_ATTEMPTS_EXCEEDED")
_ENDED = ("SUCCESS", *_FAILED)


class Engine:
    """The queue of one process; there can be only one at a time."""

    def __init__(self, url: sa.URL, executor: str, *, slots: int = 4, poll: float = 0.1, works: bool = True) -> None:
        """Prepare the queue in the database at `url`; it runs up to `slots` tasks at once, none unless it `works`.

        `executor` names the process: no two that live may have the same.
        """
        self.executor = executor
        self._slots = slots
        self._poll = poll
        self._works = works
        self._running: set[str] = set()
        self._idle: dict[str, float] = {}
        """Unfinished tasks of this executor that no thread does, with the time since when."""
        self._last = 0.0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._config = DBOSConfig(
            name=_NAME,
            system_database_url=url.render_as_string(hide_password=False),
            application_version=_VERSION,
            executor_id=executor,
            serializer=DBOSPortableJSONSerializer(),  # not pickle: whoever can write the database runs no code
            enable_otlp=False,
            log_level="WARNING",
            notification_listener_polling_interval_sec=1.0,
        )

    def start(self, run: Run) -> None:
        """Open the queue, take up what this executor left unfinished, and run tasks from now on."""
        logger = logging.getLogger("dbos")
        if not logger.handlers:  # or it writes its own form to stderr
            logger.addHandler(logging.NullHandler())
            logger.propagate = True

        def task(body: Body) -> Body:
            identifier = DBOS.workflow_id
            assert identifier is not None
            with self._lock:
                self._running.add(identifier)
            try:
                outcome: Body = DBOS.run_step({"name": "run"}, run, identifier, body)
                return outcome
            finally:
                with self._lock:
                    self._running.discard(identifier)
                    self._last = time.monotonic()

        DBOS.destroy(destroy_registry=True)
        instance = DBOS(config=self._config)
        DBOS.workflow(name=_TASK, max_recovery_attempts=_DEATHS)(task)
        if not self._works:
            instance.listen_queues([])
        DBOS.launch()
        DBOS.register_queue(
            _QUEUE,
            worker_concurrency=self._slots,
            partition_concurrency=1,
            polling_interval_sec=self._poll,
            on_conflict="always_update",
        )

    def submit(self, task: str, lane: str, body: Body, *, delay: float = 0.0) -> Submitted:
        """Keep a task for good; one whose id is known already is not run again, unless it failed for good."""
        for again in range(10):
            try:
                self._enqueue(f"{task}~{again}" if again else task, lane, body, delay)
                return "again" if again else "new"
            except DBOSWorkflowIDInUseError as error:
                if error.workflow_status not in _FAILED:
                    return "known"
        return "known"

    def _enqueue(self, task: str, lane: str, body: Body, delay: float) -> None:
        options: dict[str, Any] = {
            "workflow_name": _TASK,
            "workflow_id": task,
            "workflow_id_reuse_policy": "reject",
            "queue_name": _QUEUE,
            "queue_partition_key": lane,
            "app_version": _VERSION,
        }
        if delay > 0:
            options["delay_seconds"] = delay
        # A task that submits another one does so as anybody would, not as a step of itself.
        contextvars.Context().run(DBOS.enqueue_workflow_with_options, options, dict(body))  # type: ignore[arg-type]

    def state(self, task: str) -> str | None:
        """What became of a task: `waiting`, `running`, `done`, `failed`, or None for an unknown one."""
        found = DBOS.list_workflows(workflow_ids=[task], load_input=False, load_output=False)
        if not found:
            return None
        status = found[0].status
        return {"PENDING": "running", "SUCCESS": "done"}.get(status, "failed" if status in _FAILED else "waiting")

    def running(self) -> int:
        """How many tasks this process is doing."""
        with self._lock:
            return len(self._running)

    def waiting(self) -> int:
        """How many tasks wait in the queue, those that wait for their time too; no more than 1,000 are counted."""
        return len(self._list(["ENQUEUED", "DELAYED"]))

    def owners(self) -> set[str]:
        """The executors that have unfinished tasks."""
        return {found.executor_id for found in self._list(["PENDING"]) if found.executor_id}

    def take_over(self, executors: Iterable[str]) -> None:
        """Put the unfinished tasks of dead executors back into the queue; those that are taken already stay."""
        dead = sorted(set(executors))
        if dead:
            DBOS._recover_pending_workflows(dead)

    def take_up_lost(self) -> set[str]:
        """Put tasks back into the queue that are this executor's and that nobody does any more, and say which.

        A database that is away when a task begins or ends takes the thread of the task with it: the task stays
        unfinished, and its lane waits. It counts as lost when it was so for some seconds. Call it every now and then.
        """
        mine = {found.workflow_id for found in self._list(["PENDING"]) if found.executor_id == self.executor}
        now = time.monotonic()
        with self._lock:
            idle = mine - self._running
            self._idle = {task: self._idle.get(task, now) for task in idle}
            lost = {task for task, since in self._idle.items() if now - since >= _LOST_AFTER}
        for task in sorted(lost):
            DBOS.resume_workflow(task, queue_name=_QUEUE)
        return lost

    def forget(self, older_than: float) -> int:
        """Delete tasks that ended more than so many seconds ago, and say how many; their ids become new again."""
        before = (datetime.now(UTC) - timedelta(seconds=older_than)).isoformat()
        count = 0
        while not self._stopping.is_set():
            found = DBOS.list_workflows(
                status=list(_ENDED), completed_before=before, limit=500, load_input=False, load_output=False
            )
            if not found:
                break
            DBOS.delete_workflows([workflow.workflow_id for workflow in found])
            count += len(found)
        return count

    def stop(self, grace: float) -> bool:
        """Take no more tasks and wait `grace` seconds for those that run; whether all came to their end.

        The others belong to this executor still, for `take_over` or for its next start.
        """
        self._stopping.set()
        # The outcome of a task is written a moment after its own code has ended.
        busy = self.running() > 0 or time.monotonic() - self._last < 1.0
        DBOS.destroy(workflow_completion_timeout_sec=math.ceil(grace) if busy else 0)
        return self.running() == 0

    def _list(self, status: list[str]) -> list[Any]:
        return DBOS.list_workflows(
            status=status, queue_name=_QUEUE, limit=_COUNTED, load_input=False, load_output=False
        )

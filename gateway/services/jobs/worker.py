"""What takes queued jobs up: at once where this process queues or ends one, else now and then.

DBOS has a thread for each queue that looks at it several times a second, and each look takes
milliseconds. Ours is one thread that sleeps until it is woken, and asks every few seconds in one
cheap query whether anything waits: what a schedule, another replica or an operator has queued.
Who is to run a job that waits needs no word from elsewhere. A job can move when it is queued or
when another one of its queue ends, and the replica where that happens can run it itself.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbos import DBOS
    from dbos._queue import Queue

POLL_SECONDS = 2.0
"""Seconds between two looks for what nobody has said."""
PAUSE_SECONDS = 0.05
"""Seconds that a look is kept from the one before, however often the worker is woken."""
BACKGROUND_SECONDS = 60.0
"""Seconds between two looks of DBOS for delays that have passed; only jobs without budget wait."""


class QueueWorker:
    """Takes jobs from their queues, in the thread in which DBOS would manage its own.

    Args:
        names: the queues that this process can work on, asked at every look.
        loop: where jobs run, also those that are taken up while it pauses; DBOS would run these
            on a loop of its own, in another thread.
    """

    def __init__(
        self,
        names: Callable[[], Collection[str]],
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        self._names = names
        self._loop = loop
        self._woken = threading.Event()
        self._stopped = threading.Event()

    def take_over(self) -> None:
        """Have DBOS, which is not launched yet, leave its queues to this worker."""
        from dbos import _dbos, _workflow_commands

        _dbos.queue_thread = self.run  # type: ignore[attr-defined, assignment]
        _workflow_commands._BACKGROUND_JOBS_INTERVAL_SEC = BACKGROUND_SECONDS

    def wake(self) -> None:
        """Look at once; called from any thread."""
        self._woken.set()

    def stop(self) -> None:
        """End the thread, before DBOS waits for it."""
        self._stopped.set()
        self._woken.set()

    def run(self, _stop: threading.Event, dbos: DBOS) -> None:
        """Take up jobs until :meth:`stop`."""
        dbos._background_event_loop.target_loop = lambda: self._loop  # type: ignore[method-assign]
        self._woken.set()  # what waits from before
        while not self._stopped.is_set():
            self._woken.wait(POLL_SECONDS)
            self._woken.clear()
            try:
                for queue in self._waiting(dbos):
                    self._take_from(queue, dbos)
            except Exception as error:
                dbos.logger.warning("Jobs are not found: %s: %s", type(error).__name__, error)
            self._stopped.wait(PAUSE_SECONDS)

    def _waiting(self, dbos: DBOS) -> list[Queue]:
        """The queues in which something waits that this process can run."""
        from dbos._utils import INTERNAL_QUEUE_NAME
        from sqlalchemy import select

        status = dbos._sys_db.tables.workflow_status.c
        query = select(status.queue_name).where(status.status == "ENQUEUED").distinct()
        with dbos._sys_db.engine.connect() as connection:
            found = set(connection.scalars(query))
        queues = [dbos._sys_db.get_queue(name) for name in found & {*self._names()}]
        if INTERNAL_QUEUE_NAME in found:  # what is resumed passes through it
            queues.append(dbos._registry.get_internal_queue())
        return [queue for queue in queues if queue is not None]

    def _take_from(self, queue: Queue, dbos: DBOS) -> None:
        from dbos._queue import queue_worker_thread

        if not self._stopped.is_set():
            queue_worker_thread(_OneTurn(), dbos, queue)


class _OneTurn(threading.Event):
    """Ends a thread of DBOS's after one look at its queue: the thread waits before each of them."""

    _is_over = False

    def wait(self, timeout: float | None = None) -> bool:
        """Say, without waiting, whether the one look has been."""
        before, self._is_over = self._is_over, True
        return before

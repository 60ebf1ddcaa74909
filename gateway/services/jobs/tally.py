"""How many jobs wait, run and have ended, for metrics and the status of the portal."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

from gateway.toolkit.spans import span

__all__ = ["JobsTally", "Open"]

_STATES = {"ENQUEUED": "waiting", "DELAYED": "waiting", "PENDING": "running"}


class Open(NamedTuple):
    """The jobs of one name that are in one state.

    Attributes:
        number: how many.
        oldest_seconds: how long ago the first of them was queued.
    """

    number: int
    oldest_seconds: float


class JobsTally:
    """Counts jobs: those that end here as they do, those that are open when it is asked.

    Args:
        names: the jobs that this process works on; none before DBOS has opened its database.

    Attributes:
        ended: jobs that this process has ended since it started, by name and outcome: ``done``,
            ``failed``, or ``stopped`` where they were cancelled or this process stops.
        open: the jobs of all replicas, by name and state (``waiting`` or ``running``), as they
            were at the last :meth:`refresh`.
    """

    def __init__(self, names: Collection[str]) -> None:
        self._names = names
        self.ended: Counter[tuple[str, ...]] = Counter()
        self.open: Mapping[tuple[str, str], Open] = {}

    @contextmanager
    def counted(self, name: str) -> Generator[None]:
        """Count what comes of the job that runs within the block, which is a trace of its own."""
        outcome = "done"
        try:
            with span(f"job {name}", {"porch.job": name}, root=True):
                yield
        except asyncio.CancelledError:
            outcome = "stopped"
            raise
        except BaseException:
            outcome = "failed"
            raise
        finally:
            self.ended[name, outcome] += 1

    async def refresh(self) -> None:
        """Ask the jobs' database, which DBOS has opened, which jobs are open."""
        if self._names:
            self.open = await asyncio.to_thread(_open_jobs, list(self._names))


def _open_jobs(names: list[str]) -> dict[tuple[str, str], Open]:
    from dbos._dbos import _get_dbos_instance
    from sqlalchemy import func, select

    database = _get_dbos_instance()._sys_db
    jobs = database.tables.workflow_status.c
    query = (
        select(jobs.name, jobs.status, func.count(), func.min(jobs.created_at))
        .where(jobs.status.in_(_STATES), jobs.name.in_(names))
        .group_by(jobs.name, jobs.status)
    )
    now = time.time()
    found: dict[tuple[str, str], Open] = {}
    with database.engine.connect() as connection:
        for name, status, count, oldest_ms in connection.execute(query):
            key = (name, _STATES[status])
            before = found.get(key, Open(0, 0.0))
            age = max(0.0, now - oldest_ms / 1000)
            found[key] = Open(before.number + count, max(before.oldest_seconds, age))
    return found

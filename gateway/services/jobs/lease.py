"""Which replicas live: each has a lease in the jobs' database and renews it while its loop turns.

A lease that has run out is deleted by whoever sees it first, and with that its replica is dead:
the lease cannot be renewed any more, and what the replica was running is given back to its queue.
A replica that was only paused finds its lease gone and begins again under another name. Who was
cut off for long itself, as all are while the database is away, first lets the others renew. Time
is the database's, so that clocks of replicas may differ.
"""

from __future__ import annotations

import asyncio
import os
import socket
import time
import uuid
from contextlib import suppress
from typing import Any

from gateway.observability.logs import get_logger
from gateway.services.jobs.replica_watch import ReplicaWatch, Seen

__all__ = ["EMBEDDED", "HEARTBEAT_SECONDS", "LEASE_SECONDS", "Lease", "LeaseLost"]

EMBEDDED = "embedded"
"""The name of the one process that works on an embedded database."""
LEASE_SECONDS = 15.0
"""Seconds after which a replica that does not renew its lease is dead."""
HEARTBEAT_SECONDS = 3.0
"""Seconds between two renewals. A dead replica's work is given back this long after its lease
has run out, at most."""
_TIMEOUT_SECONDS = 4.0
"""Seconds that the database has for one renewal, connecting included."""
_LONG_SECONDS = LEASE_SECONDS / 2
"""Seconds without a renewal after which other replicas may have been kept from theirs, too."""
_LENIENT_SECONDS = 3 * HEARTBEAT_SECONDS
"""Seconds that they have to renew then, before any counts as dead."""

_MAKE = """
SELECT pg_advisory_xact_lock(hashtextextended('{schema}.executor_lease', 0));
CREATE TABLE IF NOT EXISTS {schema}.executor_lease (
    executor text PRIMARY KEY, expires_at timestamptz NOT NULL);
ALTER TABLE {schema}.executor_lease ADD COLUMN IF NOT EXISTS place text NOT NULL DEFAULT '';
"""
_TAKE = """
INSERT INTO {schema}.executor_lease (executor, expires_at, place)
VALUES ($1, clock_timestamp() + make_interval(secs => $2), $3)
"""
_RENEW = """
UPDATE {schema}.executor_lease SET expires_at = clock_timestamp() + make_interval(secs => $2)
WHERE executor = $1 RETURNING executor
"""
# A replica takes its lease before it takes a job: whoever has a job and no lease is dead.
_BURY = """
WITH dead AS (
    DELETE FROM {schema}.executor_lease WHERE expires_at <= clock_timestamp()
    RETURNING executor, place)
SELECT executor, place FROM dead
UNION
SELECT executor_id, '' FROM {schema}.workflow_status AS job WHERE status = 'PENDING'
AND NOT EXISTS (SELECT FROM {schema}.executor_lease AS lease WHERE executor = job.executor_id)
"""
_ALL = """
SELECT executor, place, extract(epoch FROM expires_at - clock_timestamp())::float8
FROM {schema}.executor_lease
"""
_RELEASE = "DELETE FROM {schema}.executor_lease WHERE executor = $1"

log = get_logger(__name__)


class LeaseLost(Exception):
    """This replica was taken for dead: what it ran belongs to others now."""


class Lease:
    """The right of this process to work on jobs, under a name that no other life has had.

    Args:
        address: ``sqlite``, whose one process needs no lease, or a ``postgresql://`` URL.
        schema: where the leases are, beside DBOS's tables.

    Attributes:
        executor: the name of this life.
        watch: what the renewals have seen of other replicas.
    """

    def __init__(self, address: str, schema: str) -> None:
        self._address = None if address == "sqlite" else address
        self._schema = schema
        self._connection: Any = None
        self._until = float("inf") if self._address is None else float("-inf")
        self._renewed = asyncio.Event()
        self._renewed_at = _now()
        self._lenient_until = float("-inf")
        self.executor = EMBEDDED
        self.watch = ReplicaWatch(2 * HEARTBEAT_SECONDS)

    @property
    def is_shared(self) -> bool:
        """Whether there may be other replicas."""
        return self._address is not None

    @property
    def is_held(self) -> bool:
        """Whether certainly nobody takes this replica for dead."""
        return _now() < self._until

    async def hold(self) -> None:
        """Wait until the lease is held; a replica that lost it is stopped meanwhile."""
        while not self.is_held:
            self._renewed.clear()
            await self._renewed.wait()

    async def take(self) -> None:
        """Begin a life with a name of its own; DBOS's tables are there already.

        Raises:
            OSError, asyncpg.PostgresError: the database is away.
        """
        if self._address is None:
            return
        self.executor = str(uuid.uuid4())
        connection = await self._connected()
        await connection.execute(self._sql(_MAKE))
        asked = _now()
        place = f"{socket.gethostname()}, process {os.getpid()}"
        await connection.execute(self._sql(_TAKE), self.executor, LEASE_SECONDS, place)
        self._until = asked + LEASE_SECONDS
        self._renewed_at = asked

    async def renew(self) -> dict[str, str]:
        """Renew the lease.

        Returns:
            The executors that are dead and may have left jobs. The value says which replica each
            was, as an admin knows it, where this process is the first to see that it died.

        Raises:
            LeaseLost: it had run out, and somebody saw that.
            OSError, asyncpg.PostgresError: the database is away.
        """
        try:
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                connection = await self._connected()
                # From when the question was asked: the database's answer counts from later on.
                asked = _now()
                lives = await connection.fetch(self._sql(_RENEW), self.executor, LEASE_SECONDS)
                if not lives:
                    self._until = float("-inf")
                    raise LeaseLost("The lease of this replica ran out, and others saw it.")
                self._until = asked + LEASE_SECONDS
                self._renewed.set()
                dead: dict[str, str] = {}
                if self._may_judge(asked):
                    dead = dict(await connection.fetch(self._sql(_BURY)))
                self.watch.look([Seen(*row) for row in await connection.fetch(self._sql(_ALL))])
                return dead
        except LeaseLost:
            raise
        except BaseException:
            self._hang_up()
            raise

    def _may_judge(self, now: float) -> bool:
        """Whether others have had the time to renew, too; a wait that has begun has its end."""
        was_long = now - self._renewed_at > _LONG_SECONDS
        self._renewed_at = now
        if was_long and self._lenient_until == float("-inf"):
            self._lenient_until = now + _LENIENT_SECONDS
        if now < self._lenient_until:
            return False
        self._lenient_until = float("-inf")
        return True

    async def release(self) -> None:
        """End this life, so that others take over at once what it leaves."""
        if self._connection is None:
            return
        self._until = float("-inf")
        with suppress(Exception):
            async with asyncio.timeout(_TIMEOUT_SECONDS):
                await self._connection.execute(self._sql(_RELEASE), self.executor)
        self._hang_up()

    async def _connected(self) -> Any:
        import asyncpg

        if self._connection is None or self._connection.is_closed():
            self._connection = await asyncpg.connect(
                self._url(), timeout=_TIMEOUT_SECONDS, command_timeout=_TIMEOUT_SECONDS
            )
        return self._connection

    def _url(self) -> str:
        return "postgresql://" + (self._address or "").partition("://")[2]

    def _hang_up(self) -> None:
        if self._connection is not None:
            self._connection.terminate()  # a dead line would not let itself be closed
            self._connection = None

    def _sql(self, statement: str) -> str:
        return statement.format(schema=self._schema)


def _now() -> float:
    """Seconds that only grow, also while the machine sleeps where the system can say so."""
    clock = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)
    return time.clock_gettime(clock)

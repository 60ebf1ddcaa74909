"""Leases: one worker per repository at a time, across all processes, and visible to all."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import and_, exists, insert, or_, select, update
from sqlalchemy.exc import IntegrityError

from gateway.contract import Database, is_outage
from gateway.toolkit.background import cancel
from plugins.codegraph.repositories.liveness_lock import LivenessLock
from plugins.codegraph.repositories.repository import WITHDRAWN
from plugins.codegraph.repositories.tables import work
from plugins.codegraph.store.tables import repositories

LEASE_TERM = timedelta(seconds=30)
"""How long a lease lasts without renewal. A killed holder loses it then, or at once when a process
that shares its data directory asks."""
RENEWAL_INTERVAL_S = 1.0
"""Seconds between renewals of a lease."""
_FREE: dict[str, Any] = {"holder": "", "until": None, "done": 0, "total": 0, "message": ""}


class Busy(Exception):
    """Somebody else holds the lease; the message says what they do."""


class Gone(Exception):
    """The repository was removed, or the lease lost to another holder, during the work."""


class Lease:
    """A held lease, with the progress of the work.

    Args:
        message: what is done, until there is progress.
    """

    def __init__(self, message: str) -> None:
        self.done = 0
        self.total = 0
        self.message = message

    def progress(self, done: int, total: int, message: str) -> None:
        """Report progress; returns at once."""
        self.done, self.total, self.message = done, total, message

    def values(self) -> dict[str, Any]:
        """The progress columns that others see."""
        return {"done": self.done, "total": self.total, "message": self.message[:200]}


class Leases:
    """Holds leases on repositories.

    Args:
        database: the plugin's database.
        now: the time, in UTC.
        directory: the directory of the liveness locks.
    """

    def __init__(self, database: Database, now: Callable[[], datetime], directory: Path) -> None:
        self._database = database
        self._now = now
        self._living = LivenessLock(directory)

    @asynccontextmanager
    async def held(
        self, repo: str, holder: str, removed: bool = False, message: str = ""
    ) -> AsyncGenerator[Lease]:
        """Hold the lease on a repository for the duration of the block.

        Args:
            repo: the repository's id.
            holder: identifies the worker; the same one may resume its lease after it was killed.
            removed: whether the work is on a removed repository.
            message: what is done, until the lease is told of progress.

        Raises:
            Busy: somebody else holds it.
            Gone: the repository was removed meanwhile, or the block was suspended for so long that
                somebody else took over the lease. What the block did until then stays.
        """
        with self._living.shown(repo, holder):
            lease = Lease(message)
            await self._take(repo, holder, lease)
            async with self._holding(repo, holder, removed, lease):
                yield lease

    @asynccontextmanager
    async def _holding(
        self, repo: str, holder: str, removed: bool, hold: Lease
    ) -> AsyncGenerator[None]:
        body = asyncio.current_task()
        assert body is not None  # noqa: S101  (always set within a coroutine)
        lost: list[str] = []
        beating = asyncio.create_task(self._beat(repo, holder, hold, removed, (lost, body)))
        try:
            yield
        except asyncio.CancelledError:
            if not lost:
                raise
            body.uncancel()
            raise Gone(lost[0]) from None
        finally:
            await cancel(beating)
            await self._let_go(repo, holder)

    async def free_dead(self, repo: str) -> bool:
        """Release the lease of a holder that is known to be dead; returns whether it was."""
        query = select(work.c.holder, work.c.until).where(work.c.repo == repo)
        async with self._database.read() as connection:
            row = (await connection.execute(query)).first()
        if row is None or not row.holder:
            return False
        if not await asyncio.to_thread(self._living.is_dead, repo, row.holder):
            return False
        # A resumed job has the same holder name, but another expiry.
        same = and_(work.c.repo == repo, work.c.holder == row.holder, work.c.until == row.until)
        return await self._set(same, **_FREE) > 0

    async def request(self, repo: str) -> None:
        """Request an index of a repository; the portal makes it shortly."""
        await self._set(work.c.repo == repo, requested=self._now())

    async def request_stale(self, repo: str, age: timedelta) -> None:
        """Request an index if the last one ended longer ago than ``age``."""
        stale = and_(
            work.c.repo == repo,
            work.c.requested.is_(None),
            work.c.finished < self._now() - age,
        )
        await self._set(stale, requested=self._now())

    async def started(self, repo: str) -> None:
        """Record that an index begins; later requests ask for another one."""
        await self._set(work.c.repo == repo, started=self._now())

    async def finished(self, repo: str, summary: dict[str, Any]) -> None:
        """Record a finished index; requests from before it began are fulfilled."""
        answered = and_(work.c.repo == repo, work.c.requested <= work.c.started)
        await self._set(answered, requested=None)
        query = select(work.c.started, work.c.summary).where(work.c.repo == repo)
        async with self._database.begin() as connection:
            row = (await connection.execute(query.with_for_update())).first()
            told = None if row is None else _since(row.started, (row.summary or {}).get(WITHDRAWN))
            kept = summary if told is None else {**summary, WITHDRAWN: told}
            error = "" if told is None else told["reason"]
            values = {"finished": self._now(), "summary": kept, "error": error, "failures": 0}
            await connection.execute(update(work).where(work.c.repo == repo).values(**values))

    async def failed(self, repo: str, reason: str) -> None:
        """Record a failed index; its request is withdrawn."""
        values = {"error": reason[:2000], "failures": work.c.failures + 1, "requested": None}
        await self._set(work.c.repo == repo, finished=self._now(), **values)

    async def withdrawn(self, repo: str, name: str) -> None:
        """Record that the host lets nobody read a repository by the portal's app any more.

        The next fetch tries all the same: the portal may have a token of its own. Until one
        succeeds, why it fails is told together with this.
        """
        reason = (
            f"The host says that this portal's app may not read {name} any more: it was taken out "
            f"of the app's installation on {self._now():%Y-%m-%d at %H:%M} UTC, or that was ended "
            "or suspended. What was indexed before is served on. Give the app access to it again, "
            f"or have it removed here: porch codegraph remove {name}."
        )
        query = select(work.c.summary).where(work.c.repo == repo)
        async with self._database.begin() as connection:
            summary = (await connection.execute(query.with_for_update())).scalar() or {}
            row = update(work).where(work.c.repo == repo)
            told = {WITHDRAWN: {"reason": reason, "at": self._now().isoformat()}}
            values = {"summary": {**summary, **told}, "error": reason, "finished": self._now()}
            await connection.execute(row.values(**values))

    async def _take(self, repo: str, holder: str, lease: Lease) -> None:
        now = self._now()
        with contextlib.suppress(IntegrityError):  # the row exists already
            async with self._database.begin() as connection:
                known = select(work.c.repo).where(work.c.repo == repo)
                if (await connection.execute(known)).first() is None:
                    await connection.execute(insert(work).values(repo=repo))
        free = or_(work.c.holder.in_(("", holder)), work.c.until.is_(None), work.c.until <= now)
        which, begun = (
            and_(work.c.repo == repo, free),
            {"holder": holder, "until": now + LEASE_TERM, **lease.values()},
        )
        taken = await self._set(which, **{**_FREE, **begun})
        if not taken and await self.free_dead(repo):
            taken = await self._set(which, **{**_FREE, **begun})
        if not taken:
            async with self._database.read() as connection:
                found = select(work.c.message).where(work.c.repo == repo)
                doing = (await connection.execute(found)).scalar() or "indexing"
            raise Busy(f"Somebody else works on this repository just now ({doing}).")

    async def _beat(
        self,
        repo: str,
        holder: str,
        hold: Lease,
        removed: bool,
        stop: tuple[list[str], asyncio.Task[Any]],
    ) -> None:
        mine = and_(work.c.repo == repo, work.c.holder == holder)
        active = exists().where(repositories.c.id == repo, repositories.c.state == "active")
        condition = mine if removed else and_(mine, active)
        while True:
            await asyncio.sleep(RENEWAL_INTERVAL_S)
            try:
                values = {"until": self._now() + LEASE_TERM, **hold.values()}
                held = await self._set(condition, **values)
            except Exception as error:
                if not is_outage(error):
                    raise
                continue  # the database recovers, or the work itself fails
            if held == 0:
                lost, body = stop
                lost.append("The repository was removed, or somebody else took the work over.")
                body.cancel()
                return

    async def _let_go(self, repo: str, holder: str) -> None:
        mine = and_(work.c.repo == repo, work.c.holder == holder)
        with contextlib.suppress(OSError):
            await self._set(mine, **_FREE)

    async def _set(self, which: Any, **values: Any) -> int:
        async with self._database.begin() as connection:
            done = await connection.execute(update(work).where(which).values(**values))
            return int(done.rowcount)


def _since(started: datetime | None, told: dict[str, str] | None) -> dict[str, str] | None:
    """What the host said after an index began, which that index says nothing about; or None."""
    if told is None or started is None or datetime.fromisoformat(told["at"]) < started:
        return None
    return told

"""Writes the table of usage: a row before each request to a provider, completed after it.

Written in this order, no call is lost: a process that dies in between leaves a row that says
``started``, and whoever looks after it should have ended makes it ``unknown``. None is counted
twice: a row is completed by its id. A row that was taken for ``unknown`` and ends after all, as
on a machine that slept, is completed all the same.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any

from gateway.contract.backend_errors import is_outage
from gateway.contract.services import Database
from gateway.observability.logs import get_logger
from gateway.services.models.records import CallEnd, CallStart
from gateway.toolkit.background import background, every
from gateway.toolkit.group_commit import GroupCommit
from gateway.toolkit.retry import backoff

if TYPE_CHECKING:
    from sqlalchemy import Update

__all__ = ["Ledger"]

SWEEP_INTERVAL_SECONDS = 60.0
"""Seconds between two looks for calls whose process has died."""
FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS = 1.0, 30.0
"""Seconds until a row is written again where the database was away: at first, and at most."""
CLOCKS_DIFFER = timedelta(seconds=30)
"""How far the clocks of two replicas may be apart before one takes the other's calls for dead."""

log = get_logger(__name__)


class Ledger:
    """Writes what calls cost.

    Args:
        database: the gateway's share.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._together = GroupCommit(database.begin)
        self._late: set[asyncio.Task[None]] = set()

    async def begin(self, call: CallStart) -> None:
        """Write that a request is about to be made; afterwards no crash loses it."""
        from gateway.services.models.table import model_calls

        row = {**asdict(call), "outcome": "started"}
        await self._together.run(lambda it: it.execute(model_calls.insert(), row))

    async def finish(self, call: CallStart, end: CallEnd) -> None:
        """Complete a row.

        Where the database is away it is tried again behind, for as long as the process lives: the
        answer is there, and its caller need not wait.
        """
        try:
            await self._complete(call, end)
        except Exception as error:
            if not is_outage(error):
                raise
            log.warning("model_call_not_completed", call=call.id, reason=type(error).__name__)
            task = asyncio.create_task(self._complete_later(call, end))
            self._late.add(task)
            task.add_done_callback(self._late.discard)

    async def _complete(self, call: CallStart, end: CallEnd) -> None:
        row = {"call": call.id, **_ended(end)}
        await self._together.run(lambda it: it.execute(_completion(), row))

    async def _complete_later(self, call: CallStart, end: CallEnd) -> None:
        for pause in backoff(FIRST_RETRY_SECONDS, MAX_RETRY_SECONDS):
            await asyncio.sleep(pause)
            try:
                await self._complete(call, end)
                return
            except Exception as error:
                if not is_outage(error):
                    log.error("model_call_lost", call=call.id, exc_info=error)
                    return

    async def sweep(self, now: datetime | None = None) -> int:
        """Make the calls ``unknown`` that have not ended when they should; how many there were.

        Args:
            now: the time, where it is another one.
        """
        from gateway.services.models.table import model_calls as table

        dead = (table.c.outcome == "started") & (table.c.ends_by < (now or datetime.now(UTC)))
        async with self._database.begin() as connection:
            found = await connection.execute(table.update().where(dead).values(outcome="unknown"))
        if found.rowcount:
            log.warning("model_calls_unknown", calls=found.rowcount)
        return found.rowcount

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Look for dead calls for as long as the block lasts."""

        def failed(error: Exception) -> None:
            log.warning("model_calls_not_swept", reason=type(error).__name__)

        try:
            async with background(every(SWEEP_INTERVAL_SECONDS, self.sweep, failed, first_s=0)):
                yield
        finally:
            for task in self._late:
                task.cancel()

    def notices(self) -> Iterator[str]:
        """What an admin should look at."""
        if self._late:
            yield (
                f"services.models: what {len(self._late)} calls cost is not written yet, since the "
                "database is away. It is, once the database is back, if this process lives."
            )


@cache
def _completion() -> Update:
    """Completes a row that is open; compiled once."""
    from sqlalchemy import bindparam

    from gateway.services.models.table import model_calls as table

    open_row = (table.c.id == bindparam("call")) & table.c.outcome.in_(("started", "unknown"))
    return table.update().where(open_row).values({name: bindparam(name) for name in _ENDED})


_ENDED = (
    *("outcome", "latency_ms", "model_answered", "cost_nano_usd", "price_list", "price_date"),
    *("tokens_in", "tokens_out", "tokens_cache_read", "tokens_cache_write"),
)
"""The columns that are known after a call."""


def _ended(end: CallEnd) -> dict[str, Any]:
    tokens = end.tokens
    counted: tuple[int | None, ...] = (None,) * 4
    if tokens is not None:
        counted = (tokens.input, tokens.output, tokens.cache_read, tokens.cache_write)
    paid = (end.cost_nano_usd, end.price_list, end.price_date)
    values = (end.outcome, end.latency_ms, end.model, *paid, *counted)
    return dict(zip(_ENDED, values, strict=True))

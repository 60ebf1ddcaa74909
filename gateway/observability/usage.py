"""Usage by the hour: the sums that the metrics count, kept so that admins see them over time.

Nothing is added to a call: once a minute what the metrics have grown by is added to the rows of the
hour, by every process. A row says how many calls of an item at a tier ended in which way, and how
long they took; it names nobody, so that nothing is to be erased with a person. How many rows an
hour has is bounded, as the metrics' series are.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from gateway.observability.logs import get_logger
from gateway.observability.metrics import Key, Metrics, Sums
from gateway.toolkit.background import background, every, to_its_end

if TYPE_CHECKING:
    from gateway.contract.services import Database

KEEP_INTERVAL_SECONDS = 60.0
"""Seconds between two times at which what was counted is kept."""
KEPT = timedelta(days=92)
"""How long the sums of an hour are kept."""
_CLOSE_TIMEOUT_SECONDS = 5.0
_PURGE_INTERVAL_SECONDS = 24 * 3600.0
_NOTHING = Sums(0, 0.0, 0, ())

log = get_logger(__name__)


class UsageLog:
    """Keeps what the metrics count, by the hour.

    Args:
        database: where it is kept; migrated with the audit log's migrations beforehand.
        metrics: where calls are counted.
        owners: gives whose each item is, by the item's name.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(
        self,
        database: Database,
        metrics: Metrics,
        owners: Callable[[], Mapping[str, str]],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._database, self._metrics, self._owners = database, metrics, owners
        self._clock = clock
        self._kept: Mapping[Key, Sums] = {}
        self._keeping = asyncio.Lock()

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Keep and purge in the background while the block runs; its end keeps what is left."""
        keeping = every(KEEP_INTERVAL_SECONDS, self.keep, _not_kept)
        purging = every(_PURGE_INTERVAL_SECONDS, self.purge, _not_kept, first_s=60.0)
        async with background(keeping, purging):
            yield
        try:
            async with asyncio.timeout(_CLOSE_TIMEOUT_SECONDS):
                await self.keep()
        except Exception as error:
            _not_kept(error)

    async def keep(self) -> None:
        """Add what was counted since the last time to this hour, once; if it fails, next time."""
        await to_its_end(self._keep())

    async def _keep(self) -> None:
        async with self._keeping:
            counted = self._metrics.sums()
            grown = {
                key: sums.minus(self._kept.get(key, _NOTHING))
                for key, sums in counted.items()
                if sums.calls > self._kept.get(key, _NOTHING).calls
            }
            if grown:
                await self._add(grown)
            self._kept = counted

    async def _add(self, grown: Mapping[Key, Sums]) -> None:
        from gateway.observability.usage_table import SLOTS, usage
        from gateway.toolkit.sql import insert_into

        hour = self._clock().replace(minute=0, second=0, microsecond=0)
        owners = self._owners()
        names = [column.name for column in usage.primary_key]
        # In one order, so that two replicas do not wait for each other.
        rows = [_row(hour, owners, key, grown[key], SLOTS) for key in sorted(grown)]
        async with self._database.begin() as connection:
            new = insert_into(connection, usage)
            added = {
                column.name: usage.c[column.name] + new.excluded[column.name]
                for column in usage.c
                if column.name not in names
            }
            await connection.execute(
                new.on_conflict_do_update(index_elements=names, set_=added), rows
            )

    async def purge(self) -> None:
        """Delete the hours that are older than :data:`KEPT`."""
        from sqlalchemy import delete

        from gateway.observability.usage_table import usage

        async with self._database.begin() as connection:
            await connection.execute(delete(usage).where(usage.c.hour < self._clock() - KEPT))


def _row(
    hour: datetime, owners: Mapping[str, str], key: Key, sums: Sums, slots: tuple[str, ...]
) -> dict[str, Any]:
    item, kind, tier, outcome = key
    return {
        "hour": hour,
        "plugin": owners.get(item, ""),
        "item": item,
        "kind": kind,
        "tier": tier,
        "outcome": outcome,
        "calls": sums.calls,
        "milliseconds": sums.seconds * 1000,
        "bytes_out": sums.size,
        **dict(zip(slots, sums.buckets, strict=True)),
    }


def _not_kept(error: Exception) -> None:
    log.warning("usage_not_kept", reason=type(error).__name__)

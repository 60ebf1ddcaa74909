"""Batches of writes, and how far they are."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import batches as portions
from plugins.knowledge.memory.model.outcomes import BatchOperation, BatchStatus, Outcome
from plugins.knowledge.memory.store.tables import batch_entries, batches

OPEN_STATES = ("pending", "processing")


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch.

    Attributes:
        id: the batch's.
        person: who sent it.
        acting: with what rights (``rights/delegation.py``).
        operation: what is to be done with each entry.
        goes_on: whether one that fails does not end it.
        notifies: whether who sent it is told when it ends.
        total: its entries.
        sent: when.
        status: ``completed`` where every entry was tried, ``failed`` where an error ended it.
        done: entries that were tried, which is the place of the next one.
        succeeded: those that were written, or wait for a person.
        failed: those that were not.
        pending: those of the first that wait for a person.
        message: why it waits, or why it ended before its last entry.
        ended: when it ended.
    """

    id: str
    person: str
    acting: Mapping[str, Any]
    operation: BatchOperation
    goes_on: bool
    notifies: bool
    total: int
    sent: datetime
    status: BatchStatus = "pending"
    done: int = 0
    succeeded: int = 0
    failed: int = 0
    pending: int = 0
    message: str | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class BatchItem:
    """One write of a batch.

    Attributes:
        place: which one, from 0.
        entry: the entry's id; of one that is to be made, the id that it gets.
        request: what is asked for, until it was tried.
        outcome: what became of it, once it was tried.
        approval: the id of the request that waits for a person.
        error: why it failed: its ``code``, ``message`` and ``details``.
    """

    place: int
    entry: str
    request: Any = None
    outcome: Outcome | None = None
    approval: str | None = None
    error: Mapping[str, Any] | None = None


def new_batch_id() -> str:
    """An id that nobody can guess."""
    return f"batch_{secrets.token_hex(12)}"


class BatchStore:
    """The batches.

    Args:
        database: the plugin's database, its tables up to date.
        clock: gives the time, with its zone.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database, self._clock = database, clock

    async def add(self, batch: Batch, items: Sequence[BatchItem]) -> None:
        """Keep a new batch whole, or nothing of it."""
        names = [each.name for each in fields(Batch)]
        own = [each.name for each in fields(BatchItem)]
        async with self._database.begin() as connection:
            row = {name: getattr(batch, name) for name in names}
            await connection.execute(sa.insert(batches), [row])
            for some in portions(items):  # the event loop has its turn between them
                rows = [{"batch": batch.id, **{n: getattr(one, n) for n in own}} for one in some]
                await connection.execute(sa.insert(batch_entries), rows)

    async def get(self, id: str) -> Batch | None:
        """A batch by its id."""
        if not (id.isascii() and id.isprintable()):  # not every database takes it
            return None
        async with self._database.read() as connection:
            chosen = await connection.execute(sa.select(batches).where(batches.c.id == id))
            row = chosen.one_or_none()
        return None if row is None else Batch(**row._mapping)

    async def items(self, id: str, start: int, count: int) -> list[BatchItem]:
        """Some writes of a batch, in their order.

        Args:
            id: the batch's.
            start: the place of the first.
            count: how many at most.
        """
        return await self._items(
            batch_entries.c.batch == id, batch_entries.c.place >= start, limit=count
        )

    async def failures(self, id: str, limit: int) -> list[BatchItem]:
        """The first writes of a batch that failed."""
        return await self._items(
            batch_entries.c.batch == id, batch_entries.c.outcome == "failed", limit=limit
        )

    async def count_open(self, person: str) -> int:
        """How many batches of a person are not done."""
        own = sa.select(sa.func.count()).where(
            batches.c.person == person, batches.c.status.in_(OPEN_STATES)
        )
        async with self._database.read() as connection:
            return await connection.scalar(own) or 0

    async def open_batches(self) -> dict[str, int]:
        """How far the batches are that have not ended, by their ids."""
        open_ones = sa.select(batches.c.id, batches.c.done).where(batches.c.status.in_(OPEN_STATES))
        async with self._database.read() as connection:
            return {row.id: row.done for row in await connection.execute(open_ones)}

    async def take(self, connection: AsyncConnection, batch: Batch) -> bool:
        """Have a batch for this transaction; false where it ended, or somebody else went on."""
        ours = await connection.scalar(
            sa.update(batches)
            .where(
                batches.c.id == batch.id,
                batches.c.done == batch.done,
                batches.c.status.in_(OPEN_STATES),
            )
            .values(status="processing", message=sa.null())
            .returning(batches.c.id)
        )
        return ours is not None

    async def record(
        self, connection: AsyncConnection, batch: Batch, tried: Sequence[BatchItem]
    ) -> None:
        """Write down how far a batch is, and what became of some of its writes.

        Args:
            connection: the transaction in which they were done.
            batch: as it is now.
            tried: the writes; what they asked for is forgotten.
        """
        now = {name: getattr(batch, name) for name in _PROGRESS_COLUMNS}
        await connection.execute(sa.update(batches).where(batches.c.id == batch.id).values(now))
        ended = (
            sa.update(batch_entries)
            .where(batch_entries.c.batch == batch.id, batch_entries.c.place == sa.bindparam("at"))
            .values(
                entry=sa.bindparam("id"),
                outcome=sa.bindparam("became"),
                approval=sa.bindparam("asked"),
                error=sa.bindparam("why"),
                request=sa.null(),
            )
        )
        rows = [
            {
                "at": each.place,
                "id": each.entry,
                "became": each.outcome,
                "asked": each.approval,
                "why": each.error,
            }
            for each in tried
        ]
        if rows:
            await connection.execute(ended, rows)
        if batch.ended is not None:  # what was not tried is not kept either
            left = sa.update(batch_entries).where(batch_entries.c.batch == batch.id)
            left = left.where(batch_entries.c.place >= batch.done)
            await connection.execute(left.values(request=sa.null()))

    async def set_message(self, id: str, message: str) -> None:
        """Say why a batch waits."""
        waiting = sa.update(batches).where(batches.c.id == id, batches.c.status.in_(OPEN_STATES))
        async with self._database.begin() as connection:
            await connection.execute(waiting.values(message=message))

    async def remove(self, ids: Sequence[str]) -> None:
        """Forget batches; what they wrote stays."""
        for some in portions(ids):
            async with self._database.begin() as connection:
                items = sa.delete(batch_entries).where(batch_entries.c.batch.in_(some))
                await connection.execute(items)
                await connection.execute(sa.delete(batches).where(batches.c.id.in_(some)))

    async def ids_of(self, person: str) -> list[str]:
        """The ids of a person's batches."""
        return await self._ids(batches.c.person == person)

    async def pending_requests(self, id: str) -> list[Any]:
        """What the writes of a batch ask for that were not tried."""
        items = await self._items(batch_entries.c.batch == id, batch_entries.c.request.is_not(None))
        return [each.request for each in items]

    async def sent_before(self, moment: datetime) -> list[str]:
        """The ids of the batches that were sent before a moment."""
        return await self._ids(batches.c.sent < moment)

    async def _ids(self, condition: Any) -> list[str]:
        chosen = sa.select(batches.c.id).where(condition).order_by(batches.c.id)
        async with self._database.read() as connection:
            return list(await connection.scalars(chosen))

    async def _items(self, *conditions: Any, limit: int | None = None) -> list[BatchItem]:
        shown = [batch_entries.c[each.name] for each in fields(BatchItem)]
        chosen = sa.select(*shown).where(*conditions).order_by(batch_entries.c.place).limit(limit)
        async with self._database.read() as connection:
            return [BatchItem(**row._mapping) for row in await connection.execute(chosen)]


_PROGRESS_COLUMNS = ("status", "done", "succeeded", "failed", "pending", "message", "ended")

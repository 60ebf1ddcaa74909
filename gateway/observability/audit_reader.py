"""Reads the audit log: the newest records, those that come in from now on, and sums of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypedDict

from sqlalchemy import and_, case, func, or_, select

from gateway.observability.audit_record import BATCH_RECORDS, NO_CALLS, AuditRecord
from gateway.observability.audit_table import audit

if TYPE_CHECKING:
    from sqlalchemy import Select

    from gateway.contract.services import Database

__all__ = ["AuditReader", "Place", "Total", "Where"]

FOLLOW_INTERVAL_SECONDS = 1.0
"""Seconds between two looks for new records."""
_OVERLAP_RECORDS = 4 * BATCH_RECORDS
"""Records before the newest that each look reads again: replicas write at the same time, and one
may commit after another that took its numbers later."""

_COLUMNS = audit.c[AuditRecord._fields]


class Where(TypedDict, total=False):
    """What records have in common; what is None or absent does not matter.

    Attributes:
        since: the oldest time, with its time zone.
        until: the time before which they began.
        person: whose calls.
        tier: at which tier.
        item: the item's key.
        outcome: how the call ended.
        anonymous: whether nobody in particular called.
        plugin: whose items.
        failed: whether it ended otherwise than ``ok``.
    """

    since: datetime | None
    until: datetime | None
    person: str | None
    tier: str | None
    item: str | None
    outcome: str | None
    anonymous: bool
    plugin: str | None
    failed: bool


class Place(NamedTuple):
    """Where a page of records ends.

    Attributes:
        at: when the last call of it began.
        id: the number of its record.
    """

    at: datetime
    id: int


class Total(NamedTuple):
    """The sum of some calls.

    Attributes:
        name: the person or the item; None for anonymous callers.
        calls: how many there were.
        failed: how many of them ended otherwise than ``ok``.
        milliseconds: how long they took together.
        bytes_out: the size of their answers together.
        last: when the last of them began.
    """

    name: str | None
    calls: int
    failed: int
    milliseconds: float
    bytes_out: int
    last: datetime


class AuditReader:
    """Reads stored records, beside a portal that writes them or without one.

    Args:
        database: where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    async def newest(self, where: Where, limit: int) -> list[AuditRecord]:
        """The records that match, the newest first."""
        query = _matching(select(*_COLUMNS), where)
        query = query.order_by(audit.c.at.desc(), audit.c.id.desc()).limit(limit)
        return [AuditRecord(*row) for row in await self._rows(query)]

    async def page(
        self, where: Where, limit: int, after: Place | None = None
    ) -> tuple[list[AuditRecord], Place | None]:
        """The records that match, the newest first, a page at a time.

        Args:
            where: what they have in common.
            limit: how many at most.
            after: where the page before ended.

        Returns:
            The records, and where they end; None where there are no more.
        """
        query = _matching(select(audit.c.id, *_COLUMNS), where)
        if after is not None:
            same = and_(audit.c.at == after.at, audit.c.id < after.id)
            query = query.where(or_(audit.c.at < after.at, same))
        order = audit.c.at.desc(), audit.c.id.desc()
        rows = await self._rows(query.order_by(*order).limit(limit + 1))
        shown = rows[:limit]
        end = Place(shown[-1].at, shown[-1].id) if len(rows) > limit else None
        return [AuditRecord(*row[1:]) for row in shown], end

    async def totals(self, by: Literal["person", "item"], where: Where, limit: int) -> list[Total]:
        """Sums of the calls that match, for each person or item, the most first."""
        name, calls = audit.c[by], func.count().label("calls")
        query = select(
            name,
            calls,
            func.sum(case((audit.c.outcome == "ok", 0), else_=1)),
            func.sum(audit.c.milliseconds),
            func.sum(audit.c.bytes_out),
            func.max(audit.c.at, type_=audit.c.at.type),
        )
        query = _matching(query, where).where(audit.c.kind.not_in(NO_CALLS))
        query = query.group_by(name).order_by(calls.desc(), name).limit(limit)
        return [
            Total(who, count, failed, took, int(size), last)
            for who, count, failed, took, size, last in await self._rows(query)
        ]

    async def follow(self, where: Where) -> AsyncIterator[list[AuditRecord]]:
        """The records that match and come in from now on, the oldest first, without end.

        Yields:
            Those of one look; none of them twice.
        """
        floor = await self._newest_id() - _OVERLAP_RECORDS
        seen = {row.id for row in await self._rows(_after(floor))}
        while True:
            query = _matching(_after(floor).add_columns(*_COLUMNS), where)
            rows = [row for row in await self._rows(query) if row.id not in seen]
            if rows:
                yield [AuditRecord(*row[1:]) for row in rows]
            await asyncio.sleep(FOLLOW_INTERVAL_SECONDS)
            floor = max(floor, await self._newest_id() - _OVERLAP_RECORDS)
            seen = {each for each in seen if each > floor} | {row.id for row in rows}

    async def _newest_id(self) -> int:
        (row,) = await self._rows(select(func.coalesce(func.max(audit.c.id), 0)))
        return int(row[0])

    async def _rows(self, query: Select[Any]) -> list[Any]:
        async with self._database.read() as connection:
            return list(await connection.execute(query))


def _after(number: int) -> Select[Any]:
    return select(audit.c.id).where(audit.c.id > number).order_by(audit.c.id)


def _matching(query: Select[Any], where: Where) -> Select[Any]:
    since, until = where.get("since"), where.get("until")
    if since is not None:
        query = query.where(audit.c.at >= since)
    if until is not None:
        query = query.where(audit.c.at < until)
    for name in ("person", "tier", "item", "outcome"):
        if (value := where.get(name)) is not None:
            query = query.where(audit.c[name] == value)
    if where.get("anonymous"):
        query = query.where(audit.c.person.is_(None))
    if (plugin := where.get("plugin")) is not None:
        inside = audit.c.item.startswith(f"{plugin}/", autoescape=True)
        query = query.where(or_(audit.c.item == plugin, inside))
    if where.get("failed"):
        query = query.where(audit.c.outcome != "ok")
    return query

"""Ends requests whose entry went away, or says something else now, inside the caller's transaction.

A request shows what an entry says to those who decide it. It must not outlast what it shows: not
what was forgotten, and not what fewer people may read.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from datetime import datetime

import sqlalchemy as sa
from sqlalchemy import ColumnElement
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.toolkit.sql import batches
from plugins.knowledge.memory.model.policy import ANYONE_KEY
from plugins.knowledge.memory.model.record import Record
from plugins.knowledge.memory.rights.access import caller_keys
from plugins.knowledge.memory.store.approvals import Approval, approval_of
from plugins.knowledge.memory.store.tables import approvals

GONE = "An entry that it is about was removed meanwhile."
"""What a request says that ended so."""
CHANGED = "The entry was changed meanwhile, or fewer may read it. Ask again, if it is still wanted."
"""Likewise."""
_OF_ONE_VERSION = frozenset({"verify", "relate"})


async def end_requests_about(
    connection: AsyncConnection, gone: Collection[str], now: datetime
) -> None:
    """End the requests about entries that are removed, and keep nothing of what these say.

    Args:
        connection: the transaction in which the entries go.
        gone: their ids.
        now: the time.
    """
    for some in batches(sorted(gone)):
        either = sa.or_(approvals.c.entry.in_(some), approvals.c.operation == "relate")
        found = await _pending(connection, either)
        over = {each.id for each in found if each.entry in gone or _target(each) in gone}
        await _end(connection, over, GONE, now)


async def end_outdated_requests(connection: AsyncConnection, record: Record, now: datetime) -> None:
    """End the requests that a new version of an entry leaves without a ground.

    They were about the very version before, or show it to people who may read it no longer.

    Args:
        connection: the transaction that writes the version.
        record: the entry as it is from now on.
        now: the time.
    """
    named = approvals.c.payload.cast(sa.Text).contains(json.dumps(record.id), autoescape=True)
    related = sa.and_(approvals.c.operation == "relate", named)
    found = await _pending(connection, sa.or_(approvals.c.entry == record.id, related))
    over = {
        each.id
        for each in found
        if (each.entry == record.id and _is_outdated(each, record))
        or (_target(each) == record.id and _is_lost(each, record))
    }
    await _end(connection, over, CHANGED, now)


def _is_outdated(one: Approval, record: Record) -> bool:
    """Whether a request about an entry no longer fits its new version."""
    if one.payload is None or one.operation in {"create", "delete", "erase"}:
        return False  # these say nothing of what the entry said before
    covered = ANYONE_KEY in record.readers or record.readers.issuperset(one.payload.readers)
    return one.operation in _OF_ONE_VERSION or one.payload.opens or not covered


def _is_lost(one: Approval, record: Record) -> bool:
    """Whether who asked may no longer read an entry that the request names."""
    if one.payload is None:
        return True
    asker = one.payload.asker.caller(one.requested_by)
    return record.readers.isdisjoint(caller_keys(asker))


def _target(one: Approval) -> str | None:
    return None if one.payload is None else one.payload.target


async def _pending(connection: AsyncConnection, which: ColumnElement[bool]) -> list[Approval]:
    chosen = sa.select(approvals).where(approvals.c.state == "pending", which)
    return [approval_of(row._asdict()) for row in await connection.execute(chosen)]


async def _end(connection: AsyncConnection, ids: Iterable[str], why: str, now: datetime) -> None:
    """Write down that requests failed; neither their content nor the asker's reason stays."""
    for some in batches(sorted(ids)):
        named = sa.update(approvals).where(approvals.c.id.in_(some), approvals.c.state == "pending")
        blank = {"payload": sa.null(), "reason": None}
        await connection.execute(named.values(state="failed", note=why, decided_at=now, **blank))

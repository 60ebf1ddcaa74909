"""Deleting what ended long ago."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from sqlalchemy import Column, ColumnElement, Table, and_, delete, or_, select

from gateway.contract.services import Database
from gateway.identity.stores.tables import (
    api_tokens,
    codes,
    grants,
    refresh_tokens,
    revocations,
    sessions,
    spent,
)

BATCH_ROWS = 10_000
"""Rows that are deleted in one transaction, so that writers get between."""
ENDED_RECORD_RETENTION = timedelta(days=1)
"""How long ended records that nobody sees are kept."""
SHOWN_RECORD_RETENTION = timedelta(days=31)
"""How long API tokens and grants are kept after their end or last use.

An access token, of which nothing is stored, lives at most 30 days (``sign_in.tokens.access``). The
day more is for clocks that differ: no token is good whose grant is forgotten, nor ends for it.
"""


async def purge_all(database: Database, now: datetime) -> int:
    """Delete what ended long before a time; returns how many rows."""
    return sum([await _delete(database, *old) for old in _old(now)])


def _old(now: datetime) -> Iterator[tuple[Column[str], ColumnElement[bool]]]:
    shortly, shown = now - ENDED_RECORD_RETENTION, now - SHOWN_RECORD_RETENTION
    yield spent.c.key, spent.c.until <= now
    yield revocations.c.number, revocations.c.at < shortly
    yield sessions.c.digest, sessions.c.expires < shortly
    yield codes.c.digest, codes.c.expires < shortly
    yield refresh_tokens.c.digest, refresh_tokens.c.expires < shortly
    yield api_tokens.c.id, or_(api_tokens.c.revoked < shown, api_tokens.c.expires < shown)
    never = and_(grants.c.used.is_(None), grants.c.created < shortly, _without(codes))
    unused = and_(grants.c.used < shown, _without(refresh_tokens))
    yield grants.c.id, or_(grants.c.revoked < shown, never, unused)


def _without(table: Table) -> ColumnElement[bool]:
    return ~select(table.c.digest).where(table.c.grant == grants.c.id).exists()


async def _delete(database: Database, key: Column[str], old: ColumnElement[bool]) -> int:
    deleted = 0
    while True:
        batch = select(key).where(old).limit(BATCH_ROWS)
        async with database.begin() as connection:
            result = await connection.execute(delete(key.table).where(key.in_(batch)))
        deleted += result.rowcount
        if result.rowcount < BATCH_ROWS:
            return deleted

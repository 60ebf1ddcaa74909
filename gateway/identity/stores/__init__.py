"""The stores of ``auth.stores`` in the portal's database, SQLite or PostgreSQL.

What must happen once happens once however many replicas try: SQLite has one writer at a time,
and on PostgreSQL a transaction that decides something holds a lock on what it decides about.
Each operation raises ``auth.stores.StoreUnavailable`` where the database does not answer.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from auth.stores import Stores, utc_now

if TYPE_CHECKING:
    from gateway.contract.services import Database

__all__ = ["forgotten_people", "open_stores", "purge"]


def open_stores(database: Database, clock: Callable[[], datetime] = utc_now) -> Stores:
    """Everything that is remembered of people and of their credentials.

    Args:
        database: where it is kept; migrated beforehand (``MIGRATIONS`` of the audit log).
        clock: the time, in UTC; replaced in tests.
    """
    from gateway.identity.stores.api_tokens import SqlApiTokens
    from gateway.identity.stores.connection import Reached
    from gateway.identity.stores.followed_chains import SqlFollowed
    from gateway.identity.stores.grants import SqlGrants
    from gateway.identity.stores.people import SqlPeople
    from gateway.identity.stores.sessions import SqlSessions
    from gateway.identity.stores.spent_values import SqlRevocations, SqlSpent

    reached = Reached(database)
    return Stores(
        people=SqlPeople(reached, clock),
        tokens=SqlApiTokens(reached, clock),
        sessions=SqlSessions(reached, clock),
        grants=SqlGrants(reached, clock),
        spent=SqlSpent(reached, clock),
        revocations=SqlRevocations(reached, clock),
        followed=SqlFollowed(reached),
    )


async def purge(database: Database, now: datetime | None = None) -> int:
    """Delete records that ended long ago; called about once an hour.

    Returns:
        How many rows were deleted, without those that hung on them.
    """
    from gateway.identity.stores.retention import purge_all

    return await purge_all(database, now or utc_now())


async def forgotten_people(database: Database) -> frozenset[str]:
    """The ids of all deleted people.

    Raises:
        StoreUnavailable: the database does not answer.
    """
    from sqlalchemy import select

    from gateway.identity.stores.connection import Reached
    from gateway.identity.stores.tables import forgotten

    async with Reached(database).connect() as connection:
        return frozenset(await connection.scalars(select(forgotten.c.person)))

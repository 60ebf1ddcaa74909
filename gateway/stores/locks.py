"""Transactions that decide something: one at a time."""

from __future__ import annotations

import hashlib

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection


async def alone(connection: AsyncConnection, key: str) -> None:
    """Wait until no other transaction holds the key, and hold it to the end of this one.

    What was committed under the key before is seen by every statement that follows. A writing
    transaction of SQLite is alone anyway.

    Args:
        connection: one of ``Database.begin``.
        key: what is decided about, such as a person's id.
    """
    if connection.dialect.name == "postgresql":
        number = int.from_bytes(hashlib.sha256(key.encode()).digest()[:8], "big", signed=True)
        await connection.execute(select(func.pg_advisory_xact_lock(number)))

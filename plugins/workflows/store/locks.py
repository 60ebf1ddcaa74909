"""Transactions that decide something: one at a time."""

from __future__ import annotations

import hashlib

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncConnection


async def alone(connection: AsyncConnection, key: str, *, shared: bool = False) -> None:
    """Wait until no other transaction holds the key, and hold it to the end of this one.

    What was committed under the key before is seen by every statement that follows. A writing
    transaction of SQLite is alone anyway.

    Args:
        connection: one of ``Database.begin``.
        key: what is decided about, such as a person's folders.
        shared: whether others may hold it in the same way at the same time.
    """
    if connection.dialect.name == "postgresql":
        digest = hashlib.sha256(f"playbook {key}".encode()).digest()
        number = int.from_bytes(digest[:8], "big", signed=True)
        lock = func.pg_advisory_xact_lock_shared if shared else func.pg_advisory_xact_lock
        await connection.execute(select(lock(number)))

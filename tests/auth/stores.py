"""The portal's real stores, in a SQLite file of the test's own."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime
from pathlib import Path

from auth.stores import Stores, utc_now
from gateway.identity.stores import open_stores
from gateway.observability.audit import MIGRATIONS
from gateway.services.database.service import open_database


@asynccontextmanager
async def empty_stores(
    directory: Path, clock: Callable[[], datetime] = utc_now
) -> AsyncIterator[Stores]:
    """Stores that are empty at first."""
    service = open_database("sqlite", directory)
    database = service.for_owner("gateway")
    await database.migrate(MIGRATIONS)
    try:
        yield open_stores(database, clock)
    finally:
        await service.close()

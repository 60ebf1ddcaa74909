"""The database as the stores reach it, and what it means where they cannot."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING

from auth.stores import StoreUnavailable
from gateway.contract.backend_errors import is_outage

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract.services import Database

TRANSACTION_TIMEOUT_SECONDS = 15.0
"""Seconds that a transaction may take: a dead connection may never answer."""


class Reached:
    """Opens connections; raises ``StoreUnavailable`` if the database does not answer.

    Args:
        database: the portal's database.
    """

    def __init__(self, database: Database) -> None:
        self._database = database

    def connect(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A connection that only reads."""
        return _translate_outages(self._database.engine.connect())

    def begin(self) -> AbstractAsyncContextManager[AsyncConnection]:
        """A transaction: committed at the end of the block, rolled back on an error."""
        return _translate_outages(self._database.begin())


@asynccontextmanager
async def _translate_outages(
    opening: AbstractAsyncContextManager[AsyncConnection],
) -> AsyncGenerator[AsyncConnection]:
    try:
        async with asyncio.timeout(TRANSACTION_TIMEOUT_SECONDS), opening as connection:
            yield connection
    except Exception as error:
        if not is_outage(error):
            raise
        raise StoreUnavailable(type(error).__name__) from error

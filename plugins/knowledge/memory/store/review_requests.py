"""For which documents people were asked to look: each once, however many replicas there are."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

import sqlalchemy as sa
from sqlalchemy.ext.asyncio import AsyncConnection

from gateway.contract import Database
from gateway.toolkit.sql import insert_into
from plugins.knowledge.memory.store.tables import review_requests

RETENTION = timedelta(days=730)
"""After how long a document that still wants a look asks again."""
Request = tuple[str, str]
"""A document by its key, and why it asks."""


@dataclass(frozen=True, slots=True)
class ReviewRequests:
    """What was asked.

    Attributes:
        database: the plugin's.
    """

    database: Database

    async def known(self) -> set[Request]:
        """What was asked already."""
        chosen = sa.select(review_requests.c.document, review_requests.c.cause)
        async with self.database.read() as connection:
            return {(row.document, row.cause) for row in await connection.execute(chosen)}

    async def add_in(
        self, connection: AsyncConnection, asked: Collection[Request], at: datetime
    ) -> set[Request]:
        """Write down what is asked, in the transaction that tells of it.

        Args:
            connection: the transaction.
            asked: what is asked.
            at: the time.

        Returns:
            What nobody else had asked yet.
        """
        old = review_requests.c.at < at - RETENTION
        await connection.execute(sa.delete(review_requests).where(old))
        new = set()
        for document, cause in sorted(asked):
            row = insert_into(connection, review_requests).values(
                document=document, cause=cause, at=at
            )
            written = await connection.execute(row.on_conflict_do_nothing())
            if written.rowcount:
                new.add((document, cause))
        return new

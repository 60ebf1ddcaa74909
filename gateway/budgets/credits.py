"""Credits on demand: what an admin adds to an account's budget, or somebody buys, for one month."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy import insert, select

from gateway.budgets.months import month_of
from gateway.budgets.tables import credits
from gateway.identity.stores.connection import Reached
from gateway.observability.audit import insert_records
from gateway.observability.audit_record import GRANT, AuditRecord

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract.services import Database

MAX_NOTE_CHARACTERS = 300
"""Characters of what is noted beside a grant."""


PAID_BY = ("stripe", "chain")
"""Whom credits are by that were bought: how they were paid."""


@dataclass(frozen=True, slots=True)
class Credit:
    """What was granted.

    Attributes:
        id: its own.
        account: to whom.
        month: for which month.
        amount: in billionths of a dollar; less than nothing where a bought one is taken back.
        granted: when.
        by: the id of the admin, ``operator`` at the machine, or one of :data:`PAID_BY`.
        note: why, in their words.
    """

    id: str
    account: str
    month: str
    amount: int
    granted: datetime
    by: str
    note: str


class Credits:
    """Grants them, and knows which there are.

    Args:
        database: where they are kept.
    """

    def __init__(self, database: Database) -> None:
        self._database = Reached(database)

    async def grant(
        self, account: str, amount: int, at: datetime, by: str, note: str = ""
    ) -> Credit:
        """Add to an account's budget for the month of a time; in one transaction with its record.

        Args:
            account: whose.
            amount: in billionths of a dollar; more than nothing.
            at: now.
            by: who grants it.
            note: why.
        """
        if amount <= 0:
            raise ValueError("a credit is more than nothing")
        id, month = f"credit_{secrets.token_hex(10)}", month_of(at)
        made = Credit(id, account, month, amount, at, by, note.strip()[:MAX_NOTE_CHARACTERS])
        item = f"usage/credit:{account}"
        row = AuditRecord(at, id, by, "operator", item, GRANT, "cli", "granted", 0.0, 0)
        async with self._database.begin() as connection:
            await write_credit(connection, made, row)
        return made

    async def of(self, month: str, account: str | None = None) -> Sequence[Credit]:
        """What was granted for a month, the newest first; to one account where it is named."""
        query = select(credits).where(credits.c.month == month)
        if account is not None:
            query = query.where(credits.c.account == account)
        async with self._database.connect() as connection:
            rows = await connection.execute(query.order_by(credits.c.granted.desc(), credits.c.id))
            return [Credit(**row._mapping) for row in rows]


async def write_credit(connection: AsyncConnection, credit: Credit, record: AuditRecord) -> None:
    """Add a credit and the record of it, in a transaction."""
    values = {name: getattr(credit, name) for name in Credit.__slots__}
    await connection.execute(insert(credits).values(values))
    await insert_records(connection, [record])

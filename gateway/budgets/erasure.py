"""What budgets keep of people: handed to them on request, and erased when they leave."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Collection
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from auth.callers import PERSON
from gateway.budgets.reports import COLUMNS, Reports, Span
from gateway.budgets.tables import budget_calls, budgets, credits
from gateway.contract import PersonalData, PersonalFile
from gateway.identity.stores.connection import Reached
from gateway.identity.stores.tables import forgotten

if TYPE_CHECKING:
    from gateway.contract.services import Database

_TABLES = (budgets, budget_calls, credits)
_FIRST, _LAST = datetime(2000, 1, 1, tzinfo=UTC), datetime(2999, 1, 1, tzinfo=UTC)


class BudgetErasure:
    """Exports and erases.

    Args:
        database: where it is kept.
    """

    def __init__(self, database: Database) -> None:
        self._database, self._reports = Reached(database), Reports(database)

    def declaration(self) -> PersonalData:
        """How the portal asks for it."""
        return PersonalData(self.people, self.export, self.erase)

    async def people(self) -> Collection[str]:
        """Everyone who has an account with something on it."""
        found = set[str]()
        async with self._database.connect() as connection:
            for table in _TABLES:
                own = select(table.c.account).where(table.c.account.startswith(PERSON)).distinct()
                found.update(await connection.scalars(own))
        return found

    async def export(self, person: str) -> AsyncIterator[PersonalFile]:
        """A person's calls of models, as CSV."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(COLUMNS)
        async for calls in self._reports.calls(Span(_FIRST, _LAST, person)):
            writer.writerows([each[name] for name in COLUMNS] for each in calls)
        yield PersonalFile("model-calls.csv", out.getvalue().encode())

    async def erase(self, person: str) -> None:
        """Delete what is on a person's account; whose calls they were, the calls' table forgets."""
        async with self._database.begin() as connection:
            for table in _TABLES:
                await connection.execute(delete(table).where(table.c.account == person))

    async def forget(self) -> None:
        """Erase everyone whose account was deleted."""
        gone = select(forgotten.c.person)
        async with self._database.begin() as connection:
            for table in _TABLES:
                await connection.execute(delete(table).where(table.c.account.in_(gone)))

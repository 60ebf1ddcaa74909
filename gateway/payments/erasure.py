"""What payments keep of people: handed to them on request, and erased when they leave."""

from __future__ import annotations

import csv
import io
from collections.abc import AsyncIterator, Collection
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, Table, delete, select, update

from gateway.config.money import exact
from gateway.contract import PersonalData, PersonalFile
from gateway.identity.stores.connection import Reached
from gateway.payments.tables import customers, pages, subscriptions, top_ups, transfers

if TYPE_CHECKING:
    from gateway.payments.payments import Payments

_TABLES = (top_ups, subscriptions, pages, customers)


class PaymentErasure:
    """Exports and erases.

    Args:
        payments: whose.
    """

    def __init__(self, payments: Payments) -> None:
        self._payments = payments
        self._database = Reached(payments.database)

    def declaration(self) -> PersonalData:
        """How the portal asks for it."""
        return PersonalData(self.people, self.export, self.erase)

    async def people(self) -> Collection[str]:
        """Everyone who has paid, or was about to."""
        found = set[str]()
        async with self._database.connect() as connection:
            for table in (*_TABLES, transfers):
                found.update(await connection.scalars(_people(table)))
        return found

    async def export(self, person: str) -> AsyncIterator[PersonalFile]:
        """What a person has paid, as CSV."""
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(("at", "what", "usd", "state"))
        stripe = self._payments.stripe
        if stripe is not None:
            for each in await stripe.top_ups.of(person, most=100_000):
                state = f"{exact(each.refunded)} refunded" if each.refunded else "paid"
                writer.writerow((each.at.isoformat(), "credit", exact(each.paid), state))
            for one in await stripe.subscriptions.of(person):
                what = f"plan {one.plan}, seats {one.seats}"
                writer.writerow((one.created.isoformat(), what, "", one.status))
        chain = self._payments.chain
        for transfer in await chain.of(person, most=100_000) if chain is not None else ():
            at, what = transfer.seen.isoformat(), f"transfer {transfer.id} of {transfer.wallet}"
            writer.writerow((at, what, exact(transfer.worth), "paid"))
        yield PersonalFile("payments.csv", out.getvalue().encode())

    async def erase(self, person: str) -> None:
        """Delete a person as a customer, which ends what they pay, and then what is kept of them.

        Raises:
            ToolFailed: Stripe does not answer; it is tried again.
        """
        stripe = self._payments.stripe
        if stripe is not None:
            customer = await stripe.customers.of(person)
            if customer is not None:
                await stripe.api.forget_customer(customer)
        async with self._database.begin() as connection:
            for table in _TABLES:
                await connection.execute(delete(table).where(table.c.person == person))
            # What was credited stays so, and says no more whose it was.
            await connection.execute(
                update(transfers)
                .where(transfers.c.person == person)
                .values(person=None, account=None, wallet="")
            )


def _people(table: Table) -> Select[Any]:
    return select(table.c.person).where(table.c.person.is_not(None)).distinct()

"""Which customer of Stripe's a person is, and the pages of Stripe's that wait for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from gateway.identity.stores.connection import Reached
from gateway.payments.tables import customers, pages
from gateway.payments.whose import Marks, Whose
from gateway.toolkit.sql import insert_into

if TYPE_CHECKING:
    from gateway.contract.services import Database
    from gateway.payments.stripe_api import Object, StripeApi


@dataclass(frozen=True, slots=True)
class OpenPage:
    """A page of Stripe's that somebody has opened and not used up.

    Attributes:
        id: Stripe's.
        person: for whom.
        account: whose budget it is about.
        title: what it is for.
        url: its address; who has it can pay, and change what is paid.
        until: when it ends.
    """

    id: str
    person: str
    account: str
    title: str
    url: str
    until: datetime


class Customers:
    """Knows people as customers.

    Args:
        database: where it is kept.
        api: Stripe.
        marks: writes whose what is made is.
    """

    def __init__(self, database: Database, api: StripeApi, marks: Marks) -> None:
        self._database, self._api, self._marks = Reached(database), api, marks

    async def of(self, person: str) -> str | None:
        """The customer that a person is; None for one who has never paid."""
        query = select(customers.c.customer).where(customers.c.person == person)
        async with self._database.connect() as connection:
            found: str | None = await connection.scalar(query)
            return found

    async def made(self, whose: Whose) -> str:
        """The same; made at Stripe where there is none."""
        known = await self.of(whose.person)
        if known is not None:
            return known
        made = await self._api.customer(whose.person, self._marks.of(whose))
        async with self._database.begin() as connection:
            row = {"person": whose.person, "customer": made["id"]}
            new = insert_into(connection, customers).values(row)
            await connection.execute(new.on_conflict_do_nothing())
        return await self.of(whose.person) or str(made["id"])

    async def opened(self, whose: Whose, title: str, found: Object, until: datetime) -> OpenPage:
        """Keep a page that Stripe has opened."""
        page = OpenPage(found["id"], whose.person, whose.account, title, found["url"], until)
        values = {name: getattr(page, name) for name in OpenPage.__slots__}
        async with self._database.begin() as connection:
            new = insert_into(connection, pages).values(values)
            await connection.execute(new.on_conflict_do_nothing())
            await connection.execute(delete(pages).where(pages.c.until < datetime.now(UTC)))
        return page

    async def waiting(self, person: str, now: datetime) -> Sequence[OpenPage]:
        """The pages that wait for a person, the newest first."""
        query = (
            select(pages)
            .where(pages.c.person == person, pages.c.until > now)
            .order_by(pages.c.until.desc(), pages.c.id)
            .limit(5)
        )
        async with self._database.connect() as connection:
            return [OpenPage(**row._mapping) for row in await connection.execute(query)]

    async def close(self, page: str) -> None:
        """Forget a page: it was used up, or has ended."""
        async with self._database.begin() as connection:
            await connection.execute(delete(pages).where(pages.c.id == page))

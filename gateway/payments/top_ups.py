"""Credits that were bought by card: what Stripe says of a payment, in the ledger of budgets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert, select, update

from auth.stores import utc_now
from gateway.budgets.credits import Credit, write_credit
from gateway.budgets.ledger import figures_in, take_turn
from gateway.budgets.months import month_of
from gateway.budgets.standings import account_by_id
from gateway.config.money import dollars
from gateway.config.payments import NANOS_PER_CENT
from gateway.identity.stores.connection import Reached
from gateway.observability.audit_record import GRANT, AuditRecord
from gateway.payments.tables import top_ups
from gateway.payments.turns import Moved, in_turn
from gateway.payments.whose import Marks, Whose

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.budgets.budgets import Budgets
    from gateway.contract.services import Database
    from gateway.payments.stripe_api import Object, StripeApi


@dataclass(frozen=True, slots=True)
class TopUp:
    """A payment for credits; amounts are billionths of a dollar.

    Attributes:
        id: that of Stripe's PaymentIntent.
        turn: grows with every change.
        account: whose budget it adds to.
        person: who paid.
        month: the month that the credit is for.
        at: when it was credited.
        paid: what was paid and credited.
        refunded: what of it was refunded.
        taken_back: what of the credit was taken back for that: as far as it was unspent.
    """

    id: str
    turn: int
    account: str
    person: str
    month: str
    at: datetime
    paid: int
    refunded: int
    taken_back: int


class TopUps:
    """Follows payments.

    Args:
        database: where they are kept.
        api: Stripe.
        marks: says whose a payment is.
        budgets: what the credits are for.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(
        self,
        database: Database,
        api: StripeApi,
        marks: Marks,
        budgets: Budgets,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._database, self._api, self._marks = Reached(database), api, marks
        self._budgets, self._clock = budgets, clock

    async def follow(self, id: str) -> bool:
        """Bring the ledger to what Stripe says of a payment now.

        Args:
            id: the PaymentIntent's.

        Returns:
            Whether anything has changed by it.

        Raises:
            ToolFailed: Stripe does not answer.
        """
        return await in_turn(lambda: self._look(id))

    async def get(self, id: str) -> TopUp | None:
        """What is known of a payment."""
        async with self._database.connect() as connection:
            return await _row(connection, id)

    async def of(self, person: str | None = None, most: int = 100) -> Sequence[TopUp]:
        """Payments, the newest first; one person's where they are named."""
        query = select(top_ups).order_by(top_ups.c.at.desc(), top_ups.c.id).limit(most)
        if person is not None:
            query = query.where(top_ups.c.person == person)
        async with self._database.connect() as connection:
            return [TopUp(**row._mapping) for row in await connection.execute(query)]

    async def _look(self, id: str) -> bool:
        before = await self.get(id)
        found = await self._api.payment(id)
        whose = await self._marks.read(found)
        # That of a subscription is no credit: its invoice's PaymentIntent has other metadata.
        if whose is None or (found.get("metadata") or {}).get("for") != "credit":
            return False
        async with self._database.begin() as connection:
            await take_turn(connection, whose.account)
            row = await _row(connection, id)
            if (row and row.turn) != (before and before.turn):
                raise Moved
            return await self._write(connection, row, whose, found)

    async def _write(
        self, connection: AsyncConnection, row: TopUp | None, whose: Whose, found: Object
    ) -> bool:
        paid, refunded = _amounts(found)
        if row is None:
            if not paid:
                return False
            row = await self._credited(connection, found["id"], whose, paid)
        elif refunded <= row.refunded:
            return False
        if refunded > row.refunded:
            await self._take_back(connection, row, refunded)
        return True

    async def _credited(
        self, connection: AsyncConnection, id: str, whose: Whose, paid: int
    ) -> TopUp:
        now = self._clock()
        row = TopUp(id, 1, whose.account, whose.person, month_of(now), now, paid, 0, 0)
        values = {name: getattr(row, name) for name in TopUp.__slots__}
        await connection.execute(insert(top_ups).values(values))
        note = f"{dollars(paid)} bought by {whose.person}"
        await self._ledger(connection, row, f"stripe:{id}", paid, (note, "bought"))
        return row

    async def _take_back(self, connection: AsyncConnection, row: TopUp, refunded: int) -> None:
        """Take back what was refunded, as far as the account has not spent it."""
        unspent = await self._unspent(connection, row)
        taken = min(refunded - row.refunded, unspent, row.paid - row.taken_back)
        if taken > 0:
            note = f"{dollars(refunded)} of {dollars(row.paid)} refunded"
            id = f"stripe:{row.id}:{refunded // NANOS_PER_CENT}"
            await self._ledger(connection, row, id, -taken, (note, "refunded"))
        changed = {"refunded": refunded, "taken_back": row.taken_back + max(0, taken)}
        await connection.execute(
            update(top_ups).where(top_ups.c.id == row.id).values(turn=row.turn + 1, **changed)
        )

    async def _unspent(self, connection: AsyncConnection, row: TopUp) -> int:
        account = await account_by_id(self._budgets, row.account)
        figures = await figures_in(connection, row.account, row.month, self._clock())
        left = None if account is None else figures.left(account.budget)
        # Without a limit, nothing was paid out of a credit.
        return figures.credits if left is None else min(figures.credits, left - figures.held)

    async def _ledger(
        self,
        connection: AsyncConnection,
        row: TopUp,
        id: str,
        amount: int,
        told: tuple[str, str],
    ) -> None:
        note, outcome = told
        now = self._clock()
        credit = Credit(id, row.account, row.month, amount, now, "stripe", note)
        item = f"usage/credit:{row.account}"
        record = AuditRecord(now, id, row.person, "-", item, GRANT, "stripe", outcome, 0.0, 0)
        await write_credit(connection, credit, record)


def _amounts(found: Object) -> tuple[int, int]:
    """What was paid and what was refunded of it, in billionths of a dollar."""
    if found.get("status") != "succeeded" or found.get("currency") != "usd":
        return 0, 0
    charge: Any = found.get("latest_charge") or {}
    refunded = charge.get("amount_refunded", 0) if isinstance(charge, dict) else 0
    received = int(found.get("amount_received") or 0)
    return received * NANOS_PER_CENT, int(refunded) * NANOS_PER_CENT


async def _row(connection: AsyncConnection, id: str) -> TopUp | None:
    found = (await connection.execute(select(top_ups).where(top_ups.c.id == id))).first()
    return None if found is None else TopUp(**found._mapping)

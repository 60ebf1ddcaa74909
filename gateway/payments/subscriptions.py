"""Subscriptions: the plan that somebody pays for every month, for themselves or their team."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, insert, select, update

from auth.stores import utc_now
from gateway.budgets.accounts import Paid
from gateway.budgets.ledger import take_turn
from gateway.identity.stores.connection import Reached
from gateway.observability.audit import insert_records
from gateway.observability.audit_record import GRANT, AuditRecord
from gateway.payments.tables import subscriptions
from gateway.payments.turns import Moved, in_turn
from gateway.payments.whose import Marks, Whose

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract.services import Database
    from gateway.payments.stripe_api import Object, StripeApi

IN_FORCE = ("active", "trialing", "past_due")
"""States in which the plan counts; past_due is while Stripe tries the card again."""
ENDED = ("canceled", "incomplete_expired")
"""States from which a subscription does not come back."""


@dataclass(frozen=True, slots=True)
class Subscription:
    """A subscription as Stripe had it last.

    Attributes:
        id: Stripe's.
        turn: grows with every look that changed it.
        account: whose plan it is.
        person: who pays.
        customer: who that is at Stripe.
        plan: the plan of plans.yaml; empty where its price is none of the portal's.
        seats: for how many seats of a team.
        status: Stripe's word, such as ``active`` or ``past_due``.
        created: when it was made.
        renews: when it is paid for again; None where it has ended.
        ends: when it ends or has ended; None for one that goes on.
    """

    id: str
    turn: int
    account: str
    person: str
    customer: str
    plan: str
    seats: int
    status: str
    created: datetime
    renews: datetime | None
    ends: datetime | None

    @property
    def in_force(self) -> bool:
        """Whether its plan counts now."""
        return self.status in IN_FORCE and bool(self.plan)


class Subscriptions:
    """Follows subscriptions.

    Args:
        database: where they are kept.
        api: Stripe.
        marks: says whose one is.
        prices: Stripe's price of each plan.
        changed: called when a plan has changed by it.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(
        self,
        database: Database,
        api: StripeApi,
        marks: Marks,
        prices: Mapping[str, str],
        changed: Callable[[], None],
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._database, self._api, self._marks = Reached(database), api, marks
        self._plans = {price: plan for plan, price in prices.items()}
        self._changed, self._clock = changed, clock

    async def follow(self, id: str) -> bool:
        """Write down a subscription as Stripe has it now; whether that changed anything.

        Raises:
            ToolFailed: Stripe does not answer.
        """
        changed = await in_turn(lambda: self._look(id))
        if changed:
            self._changed()
        return changed

    async def paid(self, account: str) -> Paid | None:
        """The plan that is paid for: of the newest subscription that is in force."""
        found = await self.current(account)
        return Paid(found.plan, found.seats) if found is not None and found.in_force else None

    async def current(self, account: str) -> Subscription | None:
        """The newest subscription in force of an account; else the newest that may come back."""
        alive = await self._where(
            subscriptions.c.account == account, subscriptions.c.status.not_in(ENDED)
        )
        return next((each for each in alive if each.in_force), alive[0] if alive else None)

    async def get(self, id: str) -> Subscription | None:
        """What is known of one."""
        found = await self._where(subscriptions.c.id == id)
        return found[0] if found else None

    async def of(self, person: str | None = None) -> Sequence[Subscription]:
        """Subscriptions, the newest first; those that one person pays where they are named."""
        if person is None:
            return await self._where()
        return await self._where(subscriptions.c.person == person)

    async def _where(self, *conditions: ColumnElement[bool]) -> Sequence[Subscription]:
        table = subscriptions
        query = select(table).where(*conditions).order_by(table.c.created.desc(), table.c.id)
        async with self._database.connect() as connection:
            return [Subscription(**row._mapping) for row in await connection.execute(query)]

    async def _look(self, id: str) -> bool:
        before = await self.get(id)
        found = await self._api.subscription(id)
        whose = await self._marks.read(found)
        if whose is None:
            return False
        now = self._read(found, whose, 1 if before is None else before.turn + 1)
        async with self._database.begin() as connection:
            await take_turn(connection, f"subscription {id}")
            return await self._write(connection, before, now)

    async def _write(
        self, connection: AsyncConnection, before: Subscription | None, now: Subscription
    ) -> bool:
        table = subscriptions
        turn = await connection.scalar(select(table.c.turn).where(table.c.id == now.id))
        if turn != (before and before.turn):
            raise Moved
        values = {name: getattr(now, name) for name in Subscription.__slots__}
        if before is None:
            await connection.execute(insert(table).values(values))
        elif _same(before, now):
            # Written all the same: an older look that is still under way must not be.
            await connection.execute(
                update(table).where(table.c.id == now.id).values(turn=now.turn)
            )
            return False
        else:
            await connection.execute(update(table).where(table.c.id == now.id).values(values))
        item = f"usage/plan:{now.account}:{now.plan}"
        told = (now.person, "-", item, GRANT, "stripe", now.status, 0.0, 0)
        await insert_records(
            connection, [AuditRecord(self._clock(), f"{now.id}:{now.turn}", *told)]
        )
        return True

    def _read(self, found: Object, whose: Whose, turn: int) -> Subscription:
        item = self._item(found)
        return Subscription(
            id=found["id"],
            turn=turn,
            account=whose.account,
            person=whose.person,
            customer=str(found["customer"]),
            plan=self._plans.get(price_of(item), ""),
            seats=max(1, int(item.get("quantity") or 1)),
            status=found["status"],
            created=_moment(found["created"]) or self._clock(),
            renews=_moment(item.get("current_period_end")),
            ends=_moment(found.get("ended_at") or found.get("cancel_at")),
        )

    def _item(self, found: Object) -> Mapping[str, Any]:
        """The item of a plan; beside it there may be one for the overage."""
        items: Sequence[Mapping[str, Any]] = (found.get("items") or {}).get("data") or ({},)
        return next((each for each in items if price_of(each) in self._plans), items[0])


def price_of(item: Mapping[str, Any]) -> str:
    """The id of an item's price."""
    return str((item.get("price") or {}).get("id", ""))


def _same(before: Subscription, now: Subscription) -> bool:
    return all(
        getattr(before, name) == getattr(now, name)
        for name in Subscription.__slots__
        if name != "turn"
    )


def _moment(seconds: Any) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(int(seconds), UTC)

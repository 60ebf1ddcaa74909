"""What plans with a soft limit have spent beyond their budget, told to a meter of Stripe's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy import select, update

from auth.stores import utc_now
from gateway.budgets.ledger import take_turn
from gateway.budgets.months import month_of
from gateway.budgets.standings import account_by_id
from gateway.config.payments import NANOS_PER_CENT, Overage
from gateway.identity.stores.connection import Reached
from gateway.observability.logs import get_logger
from gateway.payments.tables import overages
from gateway.toolkit.sql import insert_into

if TYPE_CHECKING:
    from gateway.budgets.budgets import Budgets
    from gateway.contract.services import Database
    from gateway.payments.stripe_api import StripeApi
    from gateway.payments.subscriptions import Subscriptions

BACK = timedelta(days=2)
"""How long after its end a month is still looked at: calls may end late."""
CERTAIN = timedelta(hours=20)
"""How long Stripe surely knows an identifier again: it says for at least 24 hours."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Told:
    """What came of an account's overage.

    Attributes:
        account: whose.
        month: in which month.
        cents: the overage of the month, as far as it is told now.
        state: ``told``; ``nobody_pays`` where no subscription with a meter is in force; ``unsure``
            where a process died while it told, too long ago to tell the same again: that part is
            taken as told, so that nobody is charged twice.
    """

    account: str
    month: str
    cents: int
    state: str


class Overages:
    """Tells Stripe of overage; each cent once.

    Args:
        settings: the meter.
        database: where it is kept what was told.
        api: Stripe.
        budgets: what was spent.
        subscriptions: who pays for which account.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(
        self,
        settings: Overage,
        database: Database,
        api: StripeApi,
        budgets: Budgets,
        subscriptions: Subscriptions,
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._settings, self._database, self._api = settings, Reached(database), api
        self._budgets, self._subscriptions, self.clock = budgets, subscriptions, clock

    async def tell(self) -> Sequence[Told]:
        """Tell of what is new, for this month and one that has just ended.

        Raises:
            ToolFailed: Stripe does not answer; what is not told is told the next time.
        """
        found = list[Told]()
        now = self.clock()
        for month in sorted({month_of(now - BACK), month_of(now)}):
            for account, spent in await self._budgets.ledger.accounts(month):
                cents = await self._cents(account, month) if spent else 0
                if cents:
                    found += await self._told(account, month, cents)
        return found

    async def _cents(self, id: str, month: str) -> int:
        """By how many whole cents an account is over its budget; 0 where that costs it nothing."""
        account = await account_by_id(self._budgets, id)
        if account is None or account.terms.limit != "soft":
            return 0
        figures = await self._budgets.ledger.figures(id, month)
        limit = figures.limit(account.budget)
        return 0 if limit is None else max(0, figures.spent - limit) // NANOS_PER_CENT

    async def _told(self, account: str, month: str, cents: int) -> Sequence[Told]:
        paying = await self._subscriptions.current(account)
        if paying is None or not paying.in_force:
            return [Told(account, month, cents, "nobody_pays")]
        told, telling, unsure = await self._begin(account, month, cents)
        if telling > told:
            identifier = f"{account}/{month}/{telling}"
            await self._api.count_overage(
                self._settings.meter, paying.customer, telling - told, identifier
            )
            await self._end(account, month, telling)
        state = "unsure" if unsure else "told"
        if unsure:
            log.warning("overage_unsure", account=account, month=month, cents=unsure)
        return [Told(account, month, telling, state)] if telling > told or unsure else []

    async def _begin(self, account: str, month: str, cents: int) -> tuple[int, int, int]:
        """Write down what will be told before it is: after a crash the same is told again.

        Returns:
            What was told before, what is told now, and what of the first nobody knows for sure.
        """
        now, unsure = self.clock(), 0
        async with self._database.begin() as connection:
            await take_turn(connection, f"overage {account}")
            new = insert_into(connection, overages).values(account=account, month=month, told=0)
            await connection.execute(new.on_conflict_do_nothing())
            mine = (overages.c.account == account, overages.c.month == month)
            row = (await connection.execute(select(overages).where(*mine))).one()
            told, telling = int(row.told), row.telling
            if telling is not None and now - row.since > CERTAIN:
                unsure, told, telling = int(telling) - told, int(telling), None
            if telling is None:
                telling = max(told, cents)
                changed = {"told": told, "telling": telling if telling > told else None}
                await connection.execute(update(overages).where(*mine).values(since=now, **changed))
            return told, int(telling), unsure

    async def _end(self, account: str, month: str, told: int) -> None:
        async with self._database.begin() as connection:
            await connection.execute(
                update(overages)
                .where(overages.c.account == account, overages.c.month == month)
                .where(overages.c.telling == told)
                .values(told=told, telling=None)
            )

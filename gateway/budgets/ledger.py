"""What accounts spend, in the portal's database: held before a call, counted once after it.

All replicas decide by the same rows. On PostgreSQL those who ask for one account take turns, on
SQLite all writers do: so what calls in flight are expected to cost is seen by every later call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Select, func, insert, select, update

from auth.stores import utc_now
from gateway.budgets.credits import PAID_BY
from gateway.budgets.figures import Figures, NothingLeft
from gateway.budgets.tables import budget_calls, budgets, credits
from gateway.identity.stores.connection import Reached
from gateway.toolkit.sql import exclusive, insert_into, lock_number

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from gateway.contract.services import Database

CLOCKS_DIFFER = timedelta(minutes=2)
"""How much longer than it may run a call holds its part: clocks differ, ends are written late."""
_SETTLED_AT_ONCE = 500


class Hold(NamedTuple):
    """What a call asks for before it begins.

    Attributes:
        call: the call's id.
        account: whose budget it counts against.
        month: in which month.
        amount: what it is expected to cost; 0 where nobody knows.
        until: when it has ended, whatever happens.
    """

    call: str
    account: str
    month: str
    amount: int
    until: datetime


class BudgetLedger:
    """The rows.

    Args:
        database: where they are kept.
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = Reached(database)
        self.clock = clock

    async def hold(self, wanted: Hold, budget: int | None, *, hard: bool = True) -> Figures:
        """Let a call begin, and hold what it is expected to cost.

        Args:
            wanted: the call.
            budget: what its account may spend in the month, without credits; None is no limit.
            hard: whether a call is refused where nothing is left.

        Returns:
            The account's figures before the call.

        Raises:
            NothingLeft: it must not begin.
        """
        async with self._database.begin() as connection:
            await take_turn(connection, wanted.account)
            figures = await figures_in(connection, wanted.account, wanted.month, self.clock())
            limit = figures.limit(budget)
            if hard and limit is not None and figures.spent + figures.held >= limit:
                raise NothingLeft(figures)
            call, account, month, amount, until = wanted
            row = {"call": call, "account": account, "month": month, "held": amount}
            await connection.execute(
                insert(budget_calls).values(row | {"until": until + CLOCKS_DIFFER})
            )
            return figures

    async def settle(self, call: str, cost: int) -> None:
        """Count what a call has cost, in place of what it held; a second time corrects the first.

        Args:
            call: the call's id; one that held nothing counts for nobody.
            cost: in billionths of a dollar.
        """
        async with self._database.begin() as connection:
            mine = budget_calls.c.call == call
            found = await connection.execute(
                select(budget_calls.c.account, budget_calls.c.month, budget_calls.c.cost)
                .where(mine)
                .with_for_update()
            )
            row = found.first()
            if row is None or row.cost == cost:
                return
            await connection.execute(update(budget_calls).where(mine).values(cost=cost))
            added = {"account": row.account, "month": row.month, "spent": cost - (row.cost or 0)}
            new = insert_into(connection, budgets).values(added)
            await connection.execute(
                new.on_conflict_do_update(
                    index_elements=[budgets.c.account, budgets.c.month],
                    set_={"spent": budgets.c.spent + new.excluded.spent},
                )
            )

    async def settle_ended(self) -> int:
        """Count the calls whose processes have died before they did; returns how many.

        What the table of calls does not know never began: it cost nothing.
        """
        from gateway.services.models.table import model_calls

        overdue = (budget_calls.c.cost.is_(None), budget_calls.c.until < self.clock())
        query = (
            select(budget_calls.c.call, model_calls.c.cost_nano_usd)
            .select_from(
                budget_calls.outerjoin(model_calls, model_calls.c.id == budget_calls.c.call)
            )
            .where(*overdue, func.coalesce(model_calls.c.outcome, "") != "started")
            .limit(_SETTLED_AT_ONCE)
        )
        async with self._database.connect() as connection:
            found = list(await connection.execute(query))
        for call, cost in found:
            await self.settle(call, cost or 0)
        return len(found)

    async def figures(self, account: str, month: str) -> Figures:
        """What an account has and has spent in a month."""
        async with self._database.connect() as connection:
            return await figures_in(connection, account, month, self.clock())

    async def bought(self, account: str, month: str) -> int:
        """What of an account's credits was bought, less what was refunded."""
        amount = func.coalesce(func.sum(credits.c.amount), 0)
        mine = (credits.c.account == account, credits.c.month == month)
        async with self._database.connect() as connection:
            query = select(amount).where(*mine, credits.c.by.in_(PAID_BY))
            return int(await connection.scalar(query) or 0)

    async def accounts(self, month: str) -> Sequence[tuple[str, int]]:
        """What each account has spent in a month, the most first."""
        query = select(budgets.c.account, budgets.c.spent).where(budgets.c.month == month)
        async with self._database.connect() as connection:
            rows = await connection.execute(query.order_by(budgets.c.spent.desc(), "account"))
            return [(row.account, row.spent) for row in rows]


async def take_turn(connection: AsyncConnection, account: str) -> None:
    """Wait until nobody else decides on an account, to the end of a transaction."""
    await exclusive(connection, lock_number("", f"porch_budget {account}"))


async def figures_in(
    connection: AsyncConnection, account: str, month: str, now: datetime
) -> Figures:
    """What an account has and has spent in a month, as a transaction sees it."""
    # One statement, so that a call which ends meanwhile is seen as held or as spent, never as both.
    row = (await connection.execute(_query(account, month, now))).one()
    return Figures(*map(int, row))


def _query(account: str, month: str, now: datetime) -> Select[Any]:
    spent = select(budgets.c.spent).where(budgets.c.account == account, budgets.c.month == month)
    runs = (
        budget_calls.c.account == account,
        budget_calls.c.month == month,
        budget_calls.c.cost.is_(None),
        budget_calls.c.until >= now,
    )
    held = select(func.coalesce(func.sum(budget_calls.c.held), 0)).where(*runs)
    running = select(func.count()).select_from(budget_calls).where(*runs)
    granted = select(func.coalesce(func.sum(credits.c.amount), 0)).where(
        credits.c.account == account, credits.c.month == month
    )
    return select(
        func.coalesce(spent.scalar_subquery(), 0),
        held.scalar_subquery(),
        running.scalar_subquery(),
        granted.scalar_subquery(),
    )

"""Every night what accounts have spent is held against the table of calls, and made equal to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from sqlalchemy import func, select, update

from gateway.budgets.ledger import BudgetLedger
from gateway.budgets.months import month_of
from gateway.budgets.tables import budget_calls, budgets
from gateway.identity.stores.connection import Reached
from gateway.observability.logs import get_logger

if TYPE_CHECKING:
    from gateway.contract.services import Database

SCHEDULE = "0 5 0 * * *"
"""00:05 UTC every night (issue seed 003, phase 8)."""
_BACK = timedelta(days=2)
"""How long after its end a month is still looked at: calls may end late."""
_AT_ONCE = 500

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Drift:
    """An account whose count was wrong.

    Attributes:
        account: whose.
        month: in which month.
        counted: what was counted, in billionths of a dollar.
        summed: what its calls have cost.
    """

    account: str
    month: str
    counted: int
    summed: int


class Reconciliation:
    """Holds counts against calls.

    Args:
        database: where both are.
        ledger: counts.
    """

    def __init__(self, database: Database, ledger: BudgetLedger) -> None:
        self._database, self._ledger = Reached(database), ledger

    async def run(self) -> Sequence[Drift]:
        """Make every account of this month, and of one that has just ended, equal to its calls.

        Returns:
            Those whose count was wrong; each is in the log too.
        """
        now = self._ledger.clock()
        while await self._ledger.settle_ended():
            pass
        drifts = []
        for month in sorted({month_of(now - _BACK), month_of(now)}):
            await self._settle_others(month)
            for account in await self._accounts(month):
                counted, summed = await self._make_equal(account, month)
                if counted != summed:
                    drifts.append(Drift(account, month, counted, summed))
        for each in drifts:
            log.warning(
                "budget_corrected",
                account=each.account,
                month=each.month,
                counted=each.counted,
                summed=each.summed,
            )
        return drifts

    async def _settle_others(self, month: str) -> None:
        """Count the calls of a month that have ended and were counted otherwise."""
        from gateway.services.models.table import model_calls

        cost = func.coalesce(model_calls.c.cost_nano_usd, 0)
        query = (
            select(budget_calls.c.call, cost)
            .join(model_calls, model_calls.c.id == budget_calls.c.call)
            .where(
                budget_calls.c.month == month,
                model_calls.c.outcome.not_in(("started", "unknown")),
                func.coalesce(budget_calls.c.cost, -1) != cost,
            )
            .limit(_AT_ONCE)
        )
        while True:
            async with self._database.connect() as connection:
                wrong = list(await connection.execute(query))
            for call, amount in wrong:
                await self._ledger.settle(call, amount)
            if len(wrong) < _AT_ONCE:
                return

    async def _accounts(self, month: str) -> Sequence[str]:
        query = select(budget_calls.c.account).where(budget_calls.c.month == month).distinct()
        async with self._database.connect() as connection:
            return sorted(await connection.scalars(query))

    async def _make_equal(self, account: str, month: str) -> tuple[int, int]:
        """What was counted, and what the calls have cost, which is what counts from now on."""
        mine = (budgets.c.account == account, budgets.c.month == month)
        costs = select(func.coalesce(func.sum(budget_calls.c.cost), 0)).where(
            budget_calls.c.account == account, budget_calls.c.month == month
        )
        async with self._database.begin() as connection:
            # Whoever counts a call waits here until this is done: its cost is then in the sum, or
            # added to it afterwards.
            counted = await connection.scalar(
                select(budgets.c.spent).where(*mine).with_for_update()
            )
            summed = int(await connection.scalar(costs) or 0)
            await connection.execute(
                update(budgets).where(*mine).values(spent=summed, reconciled=self._ledger.clock())
            )
            return int(counted or 0), summed

"""What every call of a model passes: it goes on where its plan includes it and pays for it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from datetime import datetime
from typing import TYPE_CHECKING

from auth import Caller
from auth.stores import StoreUnavailable
from gateway.budgets.accounts import Account, Accounts
from gateway.budgets.figures import Figures, NothingLeft
from gateway.budgets.months import month_of
from gateway.budgets.refusals import held_by_others, not_included, reached, too_often
from gateway.config.plans_file import Plans
from gateway.limits.rate_counter import RateCounter, named_rate, seconds_to_wait
from gateway.observability.logs import get_logger
from gateway.services.models.records import CallEnd, CallStart

if TYPE_CHECKING:
    from gateway.budgets.ledger import BudgetLedger

_MOST_EXPECTED = 1024
"""Kinds of calls whose last cost is remembered."""

log = get_logger(__name__)


class PlanBudget:
    """The budget by plans: the port ``Budget`` of the models.

    Args:
        plans: the plans in force.
        accounts: says whose budget a call counts against.
        ledger: makes the ledger at its first use.
        counting: counts calls under the rates of plans.

    Attributes:
        pay: the page on which people buy more; empty where nothing can be bought.
    """

    pay = ""

    def __init__(
        self,
        plans: Callable[[], Plans],
        accounts: Accounts,
        ledger: Callable[[], BudgetLedger],
        counting: RateCounter,
    ) -> None:
        self._plans, self._accounts, self._ledger = plans, accounts, ledger
        self._counting = counting
        self._expected: OrderedDict[tuple[str, str, str], int] = OrderedDict()

    async def before_call(self, caller: Caller | None, call: CallStart) -> None:
        """Let a request to a provider happen, or not.

        Raises:
            ModelFailed: ``budget_reached``, or ``no_model`` where the plan does not include it.
        """
        if not self._plans():
            return
        account = await self._accounts.of(caller)
        if account is None:
            return
        if account.terms.refuses(f"{call.plugin}/{call.operation}", call.role):
            raise not_included(account, call)
        await self._take(account, caller)
        await self._hold(account, call)

    async def after_call(self, call: CallStart, end: CallEnd) -> None:
        """Count what it has cost."""
        if end.cost_nano_usd is not None:
            self._expect(call, end.cost_nano_usd)
        if not self._plans():
            return
        try:
            await self._ledger().settle(call.id, end.cost_nano_usd or 0)
        except StoreUnavailable as error:  # the answer is there; upkeep counts it later
            log.warning("model_call_not_counted", call=call.id, reason=str(error))

    async def figures(self, account: Account, at: datetime) -> Figures:
        """What an account has and has spent in the month of a time."""
        return await self._ledger().figures(account.id, month_of(at))

    async def _take(self, account: Account, caller: Caller | None) -> None:
        calls = account.terms.model_calls
        rate = named_rate(f"models:{account.plan}:{calls}", calls)
        if rate is None or caller is None:
            return
        taken = await self._counting.take(caller, "", (rate,))
        if taken.wait_seconds > 0:
            raise too_often(account, rate, seconds_to_wait(taken))

    async def _hold(self, account: Account, call: CallStart) -> None:
        from gateway.budgets.ledger import Hold

        ledger = self._ledger()
        expected = self._expected.get(_kind(call), 0)
        wanted = Hold(call.id, account.id, month_of(call.at), expected, call.ends_by)
        try:
            await ledger.hold(wanted, account.budget, hard=account.terms.limit == "hard")
        except NothingLeft as nothing:
            figures, limit = nothing.figures, nothing.figures.limit(account.budget)
            if limit is not None and figures.spent < limit:
                raise held_by_others(account, figures) from None
            raise reached(account, figures, wanted.month, ledger.clock(), self.pay) from None

    def _expect(self, call: CallStart, cost: int) -> None:
        """Remember what such a call costs; the next one holds as much."""
        self._expected[_kind(call)] = cost
        self._expected.move_to_end(_kind(call))
        if len(self._expected) > _MOST_EXPECTED:
            self._expected.popitem(last=False)


def _kind(call: CallStart) -> tuple[str, str, str]:
    return call.model, call.plugin, call.operation

"""Budgets, as the portal holds them together."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from auth import Caller
from auth.stores import StoreUnavailable
from gateway.budgets.accounts import Accounts
from gateway.budgets.gate import PlanBudget
from gateway.budgets.statement import Statements
from gateway.config.plans_file import PlansFile
from gateway.identity.authentication import Authentication
from gateway.limits.rate_counter import RateCounter
from gateway.limits.shared_windows import open_windows
from gateway.observability.logs import get_logger
from gateway.toolkit.background import background, every

if TYPE_CHECKING:
    from gateway.budgets.credits import Credits
    from gateway.budgets.erasure import BudgetErasure
    from gateway.budgets.ledger import BudgetLedger
    from gateway.budgets.reconciliation import Reconciliation
    from gateway.budgets.reports import Reports
    from gateway.contract import Database
    from gateway.services.cache.service import CacheService

SETTLE_INTERVAL_SECONDS = 60.0
"""Seconds between two looks for calls whose process died before it counted them."""
FORGET_INTERVAL_SECONDS, FIRST_FORGET_SECONDS = 3600.0, 45.0
"""Seconds between two looks for people who left, and before the first."""

log = get_logger(__name__)


class Budgets:
    """The parts of it; what needs the database is loaded when it is first asked.

    Args:
        file: the plans.
        authentication: says who people are, and judges them.
        database: where it is kept.
        cache: where calls are counted under the rates of plans.

    Attributes:
        file: the plans, followed.
        accounts: says whose budget a call counts against.
        gate: what every call of a model passes.
        statements: what each person sees of their own.
    """

    def __init__(
        self,
        file: PlansFile,
        authentication: Authentication,
        database: Database,
        cache: CacheService,
    ) -> None:
        self.file, self._database = file, database
        people = authentication.stores.people
        self.accounts = Accounts(lambda: file.plans, authentication.resolver, people)
        counting = RateCounter(open_windows(cache))
        self.gate = PlanBudget(lambda: file.plans, self.accounts, lambda: self.ledger, counting)
        self.statements = Statements(
            lambda: file.plans, self.accounts, lambda: self.ledger, lambda: self.reports
        )

    @cached_property
    def ledger(self) -> BudgetLedger:
        """What accounts spend."""
        from gateway.budgets.ledger import BudgetLedger

        return BudgetLedger(self._database)

    @cached_property
    def reports(self) -> Reports:
        """What models were called for."""
        from gateway.budgets.reports import Reports

        return Reports(self._database)

    @cached_property
    def credits(self) -> Credits:
        """What was granted on demand."""
        from gateway.budgets.credits import Credits

        return Credits(self._database)

    @cached_property
    def reconciliation(self) -> Reconciliation:
        """Holds counts against calls."""
        from gateway.budgets.reconciliation import Reconciliation

        return Reconciliation(self._database, self.ledger)

    @cached_property
    def erasure(self) -> BudgetErasure:
        """What is kept of people."""
        from gateway.budgets.erasure import BudgetErasure

        return BudgetErasure(self._database)

    async def calls_of(self, caller: Caller) -> str | None:
        """How many tool calls a caller's plan lets them make, as it is written.

        None where it does not say, or is not known now: then their tier decides.
        """
        if caller.person is None:
            return None
        try:
            account = await self.accounts.of(caller)
        except StoreUnavailable:
            return None
        return None if account is None else account.terms.calls

    def notices(self) -> Iterator[str]:
        """What an admin should look at: what is wrong with plans.yaml as it stands now."""
        yield from map(str, self.file.problems)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None]:
        """Count what dead processes did not, and forget who left, while the block lasts."""
        settling = every(SETTLE_INTERVAL_SECONDS, self._settle, _failed)
        forgetting = every(
            FORGET_INTERVAL_SECONDS, self._forget, _failed, first_s=FIRST_FORGET_SECONDS
        )
        async with background(settling, forgetting):
            yield

    async def _settle(self) -> None:
        if self.file.plans:
            await self.ledger.settle_ended()

    async def _forget(self) -> None:
        await self.erasure.forget()


def _failed(error: Exception) -> None:
    log.warning("budgets_not_kept_up", reason=type(error).__name__)

"""What somebody may still spend on models this month, in a sentence for them and for a model."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, NamedTuple

from auth import Caller
from auth.stores import StoreUnavailable
from gateway.budgets.months import day_in_words, end_of, month_of
from gateway.config.money import dollars

if TYPE_CHECKING:
    from gateway.budgets.budgets import Budgets


class BudgetLeft(NamedTuple):
    """What is left of a budget.

    Attributes:
        left: of it, as people write it: ``$0.12``.
        limit: all of it, likewise.
        resets: when it is new, in words.
        reached: whether nothing is left.
    """

    left: str
    limit: str
    resets: str
    reached: bool

    def __str__(self) -> str:
        if self.reached:
            return f"The month's model budget of {self.limit} is spent. It is new on {self.resets}."
        return f"{self.left} of {self.limit} are left of the month's model budget."


AskBudget = Callable[[Caller], Awaitable[BudgetLeft | None]]
"""``await left(caller)``; None where nothing limits them, or it is not known now."""


def budget_left(budgets: Budgets) -> AskBudget:
    """Says what is left of anybody's budget.

    Args:
        budgets: the portal's.
    """

    async def left(caller: Caller) -> BudgetLeft | None:
        if not budgets.file.plans:
            return None
        try:
            account = await budgets.accounts.of(caller)
            if account is None:
                return None
            now = budgets.ledger.clock()
            figures = await budgets.gate.figures(account, now)
        except StoreUnavailable:
            return None
        limit, rest = figures.limit(account.budget), figures.left(account.budget)
        if limit is None or rest is None:
            return None
        resets = day_in_words(end_of(month_of(now)))
        return BudgetLeft(dollars(rest), dollars(limit), resets, rest <= 0)

    return left

"""What an account has and has spent in a month."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Figures:
    """Amounts of one account in one month, in billionths of a dollar.

    Attributes:
        spent: by calls that have ended.
        held: what the calls that run are expected to cost.
        running: how many these are.
        credits: granted on demand, beyond the plan's budget.
    """

    spent: int = 0
    held: int = 0
    running: int = 0
    credits: int = 0

    def limit(self, budget: int | None) -> int | None:
        """All that may be spent; None where there is no limit."""
        return None if budget is None else budget + self.credits

    def left(self, budget: int | None) -> int | None:
        """What may still be spent, at least nothing; None where there is no limit."""
        limit = self.limit(budget)
        return None if limit is None else max(0, limit - self.spent)


class NothingLeft(Exception):
    """An account may spend no more, or all that is left is held by calls that run.

    Args:
        figures: what it has and has spent.
    """

    def __init__(self, figures: Figures) -> None:
        super().__init__("nothing is left of the budget")
        self.figures = figures

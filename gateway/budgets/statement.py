"""A person's own statement: their plan, what is left of it, and what it was spent on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, Field

from auth.stores import utc_now
from gateway.budgets.accounts import Account, Accounts
from gateway.budgets.figures import Figures
from gateway.budgets.months import begin_of, day_in_words, end_of, month_of
from gateway.budgets.refusals import what_to_do
from gateway.config.money import dollars, exact
from gateway.config.plans_file import Plan, Plans

if TYPE_CHECKING:
    from gateway.budgets.ledger import BudgetLedger
    from gateway.budgets.reports import Line, Reports

MAX_LINES = 31
"""Lines of each kind that a statement has."""
WARNED_PERCENT = 90
"""From how much of the budget on people are told that it comes to its end."""


class UsageLine(BaseModel):
    """The sums of some calls."""

    name: str = Field(description="The day, model, source or operation; empty where there is none.")
    calls: int = Field(description="Requests to models.")
    tokens_in: int = Field(description="Tokens of prompts.")
    tokens_out: int = Field(description="Tokens of answers.")
    cost_usd: str = Field(description="What they cost in US dollars, exactly.")
    cost: str = Field(description="The same for people.")
    percent: int = Field(description="Its part of the dearest line's cost.")


class PlanShown(BaseModel):
    """A plan, as people are told of it."""

    name: str
    title: str
    budget: str = Field(description="For a month, in words.")
    includes: list[str] = Field(description="What else it includes.")
    price: str = Field(description="For a month; empty where nobody says.")


class PayLinks(BaseModel):
    """Where a person pays, in a portal where that is possible."""

    url: str = Field(description="The page on which credits and plans are bought.")
    plans: bool = Field(description="Whether plans can be bought there.")
    manage: bool = Field(description="Whether what is paid is managed from there.")


class Statement(BaseModel):
    """What models cost a person in a month (UTC), and what is left."""

    month: str
    plan: PlanShown | None = Field(None, description="Their plan; nothing where none are set.")
    team: str | None = Field(None, description="The team whose budget they share.")
    spent_usd: str = Field(
        description="What counts against the budget so far: of the whole team where it is one's."
    )
    spent: str
    yours_usd: str = Field(description="What their own calls cost.")
    yours: str
    limit_usd: str | None = Field(None, description="Budget and credits; nothing for no limit.")
    limit: str | None = None
    credits: str | None = Field(None, description="What of it was granted on demand.")
    bought_usd: str | None = Field(
        None, description="What of the limit was bought, less what was refunded."
    )
    bought: str | None = None
    pay: PayLinks | None = Field(None, description="Where credits and plans are bought.")
    percent: int | None = Field(None, description="How much of it is spent, at most 100.")
    state: str = Field(description="open: no limit; fine, low (90 % are spent) or reached.")
    resets: str | None = Field(None, description="When the budget is new, in UTC.")
    note: str = Field(description="What to do, where something is to be done.")
    calls: int
    by_day: list[UsageLine]
    by_model: list[UsageLine]
    by_source: list[UsageLine]
    by_operation: list[UsageLine]
    plans: list[PlanShown] = Field(description="The plans that there are.")


class Statements:
    """Makes statements, each for the person whose it is.

    Args:
        plans: the plans in force.
        accounts: says whose budget somebody's is.
        ledger: makes what knows figures at its first use.
        reports: makes what reads calls at its first use.
        clock: the time, in UTC; replaced in tests.

    Attributes:
        pay: where people pay; None where nothing can be paid.
    """

    pay: PayLinks | None = None

    def __init__(
        self,
        plans: Callable[[], Plans],
        accounts: Accounts,
        ledger: Callable[[], BudgetLedger],
        reports: Callable[[], Reports],
        clock: Callable[[], datetime] = utc_now,
    ) -> None:
        self._plans, self._accounts = plans, accounts
        self._ledger, self._reports, self._clock = ledger, reports, clock

    async def of(self, person: str, month: str | None = None) -> Statement:
        """A person's statement of a month; of this one where none is named.

        Raises:
            ValueError: it is no month.
        """
        from gateway.budgets.reports import Span

        this = month_of(self._clock())
        month = month or this
        span = Span(begin_of(month), end_of(month), person)
        reports, account = self._reports(), await self._accounts.of_person(person)
        mine = await reports.total(span)
        figures = Figures(spent=mine.cost)
        if account is not None:
            figures = await self._ledger().figures(account.id, month)
        days, models, sources, operations = [
            _lines(await reports.by(what, span, MAX_LINES))
            for what in ("day", "model", "source", "operation")
        ]
        return Statement(
            month=month,
            spent_usd=exact(figures.spent),
            spent=dollars(figures.spent),
            yours_usd=exact(mine.cost),
            yours=dollars(mine.cost),
            calls=mine.calls,
            by_day=days,
            by_model=models,
            by_source=sources,
            by_operation=operations,
            plans=self._shown(account),
            **await self._payable(account, month),
            **_standing(account, figures, month, self.pay, is_now=month == this),
        )

    async def _payable(self, account: Account | None, month: str) -> dict[str, Any]:
        """What a statement says of paying, where that is possible."""
        if self.pay is None or account is None:
            return {}
        bought = await self._ledger().bought(account.id, month)
        return {"pay": self.pay, "bought": dollars(bought), "bought_usd": exact(bought)}

    def _shown(self, account: Account | None) -> list[PlanShown]:
        """The plans that somebody is told of: all but the hidden ones that are not theirs."""
        own = "" if account is None else account.plan
        plans = self._plans().plans.items()
        return [shown(name, plan) for name, plan in plans if not plan.hidden or name == own]


def shown(name: str, plan: Plan, seats: int = 1) -> PlanShown:
    """A plan as people read of it.

    Args:
        name: its name.
        plan: what the file says of it.
        seats: how many seats the budget is for.
    """
    each = " for each seat" if plan.per_seat else ""
    budget = "no limit" if plan.budget is None else f"{dollars(plan.budget)} a month{each}"
    if plan.per_seat and seats > 1 and plan.budget is not None:
        budget += f", {dollars(plan.budget * seats)} for {seats} seats"
    price = "" if plan.price is None else f"{dollars(plan.price)} a month{each}"
    return PlanShown(
        name=name, title=plan.title, budget=budget, includes=list(plan.includes), price=price
    )


def _standing(
    account: Account | None,
    figures: Figures,
    month: str,
    pay: PayLinks | None,
    *,
    is_now: bool,
) -> dict[str, Any]:
    """What a statement says of the budget."""
    if account is None:
        return {"state": "open", "note": "No budget is set; this is what models were called for."}
    found: dict[str, Any] = {
        "plan": shown(account.plan, account.terms, account.seats),
        "team": account.team,
        "resets": end_of(month).isoformat(),
        "credits": dollars(figures.credits) if figures.credits else None,
    }
    limit = figures.limit(account.budget)
    if limit is None:
        return found | {"state": "open", "note": ""}
    percent = 100 if figures.spent >= limit else 100 * figures.spent // limit
    state = "reached" if percent == 100 else "low" if percent >= WARNED_PERCENT else "fine"
    return found | {
        "limit_usd": exact(limit),
        "limit": dollars(limit),
        "percent": percent,
        "state": state,
        "note": _note(account, state, month, pay) if is_now else "",
    }


def _note(account: Account, state: str, month: str, pay: PayLinks | None) -> str:
    if state == "fine":
        return ""
    new = f"The budget is new on {day_in_words(end_of(month))}."
    ask = (
        "An admin can grant credits or another plan."
        if account.terms.credits
        else ("An admin can give another plan.")
    )
    if pay is not None:
        ask = f"{what_to_do(account, pay.url)}."
    if state == "low":
        return f"The budget comes to its end. {new} {ask}"
    if account.terms.limit == "soft":
        return f"The budget is spent; models are called all the same. {new}"
    return (
        f"The budget is spent: what needs a model is refused, and jobs wait. {new} {ask} "
        "Everything that needs no model works on."
    )


def _lines(lines: Sequence[Line]) -> list[UsageLine]:
    most = max((each.cost for each in lines), default=0)
    return [
        UsageLine(
            name=each.name,
            calls=each.calls,
            tokens_in=each.tokens_in,
            tokens_out=each.tokens_out,
            cost_usd=exact(each.cost),
            cost=dollars(each.cost),
            percent=100 * each.cost // most if most else 0,
        )
        for each in lines
    ]

"""What is said where a plan does not let a model be called: why, what to do, and until when."""

from __future__ import annotations

import math
from datetime import datetime

from auth.callers import PERSON
from gateway.budgets.accounts import PORTAL, TEAM, Account
from gateway.budgets.figures import Figures
from gateway.budgets.months import day_in_words, end_of
from gateway.config.money import dollars, exact
from gateway.contract.models import ModelFailed
from gateway.limits.rate_counter import times
from gateway.limits.sliding_window import Rate
from gateway.services.models.records import CallStart

REACHED = "Monthly model budget reached"
"""How the failure begins that everybody is told (issue seed 003, phase 8)."""
HELD_SECONDS = 5.0
"""Seconds after which a call that was refused for others that run may be tried again."""


def reached(
    account: Account, figures: Figures, month: str, now: datetime, pay: str = ""
) -> ModelFailed:
    """Nothing is left of the month's budget.

    Args:
        account: whose.
        figures: what it has and has spent.
        month: the month.
        now: the time.
        pay: the page on which more can be bought; empty where nothing can.
    """
    limit, resets = figures.limit(account.budget) or 0, end_of(month)
    whose = "" if account.team is None else f" of the team {account.team}"
    ask = what_to_do(account, pay)
    doubt = (
        " Which plan you have is not known for sure now; it may be another one in a few minutes."
        if account.doubtful
        else ""
    )
    message = (
        f"{REACHED}: {dollars(figures.spent)} of {dollars(limit)}{whose} are spent, on the plan "
        f"{account.terms.title}. It is new on {day_in_words(resets)}. {ask}, or wait until then; "
        f"everything that needs no model works on.{doubt} get_usage says what it was spent on."
    )
    wait = max(1.0, math.ceil((resets - now).total_seconds()))
    failed = ModelFailed("budget_reached", message, wait)
    failed.details |= _details(account, figures) | {"resets": resets.isoformat()}
    if can_pay(account, pay):
        failed.details["pay"] = pay
    return failed


def can_pay(account: Account, pay: str) -> bool:
    """Whether there is somebody who can buy more for an account, at a page that there is."""
    return bool(pay) and account.id.startswith((PERSON, TEAM))


def what_to_do(account: Account, pay: str) -> str:
    """What helps where a budget is spent, as the beginning of a sentence."""
    if can_pay(account, pay):
        what = "credits or another plan" if account.terms.credits else "another plan"
        return f"Buy {what} at {pay}"
    if account.terms.credits:
        return "Ask an admin for credits or another plan"
    return "Ask an admin for another plan"


def held_by_others(account: Account, figures: Figures) -> ModelFailed:
    """All that is left is what calls are expected to cost that run now."""
    calls = "a call that runs" if figures.running == 1 else f"{figures.running} calls that run"
    message = (
        f"The rest of the monthly model budget ({dollars(figures.left(account.budget) or 0)}) is "
        f"held for {calls} now. Try again in {HELD_SECONDS:g} s; what they do not cost is there "
        "then."
    )
    failed = ModelFailed("budget_reached", message, HELD_SECONDS)
    failed.details |= _details(account, figures)
    return failed


def too_often(account: Account, rate: Rate, wait_seconds: int) -> ModelFailed:
    """A person has had models called too often of late, by their plan."""
    message = (
        f"The plan {account.terms.title} has models called {times(rate)} within {rate.seconds:g} "
        f"s. The next call is answered in {wait_seconds} s."
    )
    failed = ModelFailed("budget_reached", message, float(wait_seconds))
    failed.details |= {"plan": account.plan, "limit": rate.limit, "window": rate.seconds}
    return failed


def not_included(account: Account, call: CallStart) -> ModelFailed:
    """The plan leaves out what is asked for."""
    whose = "The portal's own plan" if account.id == PORTAL else "Your plan"
    message = (
        f"{whose}, {account.terms.title}, does not include {call.operation} by a model for "
        f"{call.role} work. Ask an admin for another plan."
    )
    failed = ModelFailed("no_model", message)
    failed.details |= {"plan": account.plan, "operation": call.operation, "role": call.role}
    return failed


def _details(account: Account, figures: Figures) -> dict[str, object]:
    limit = figures.limit(account.budget)
    return {
        "plan": account.plan,
        "budget_usd": None if limit is None else exact(limit),
        "spent_usd": exact(figures.spent),
    }

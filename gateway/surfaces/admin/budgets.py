"""``/admin/budgets`` and ``/admin/credits``: for `porch usage budgets` and `porch usage grant`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from starlette.requests import Request

from auth.stores import utc_now
from gateway.budgets.accounts import Account
from gateway.budgets.budgets import Budgets
from gateway.budgets.standings import Standing, find_account, standings
from gateway.config.money import dollars, exact, nanos_of
from gateway.errors import PortalError
from gateway.identity.person_lookup import PersonLookup
from gateway.surfaces.http.body import read_body
from gateway.surfaces.http.request_context import context_of

MAX_GRANT_BYTES = 4096
"""Bytes of what asks for a credit."""


class BadGrant(PortalError):
    """What is asked for cannot be granted."""

    code = "bad_grant"
    status = 422


@dataclass(frozen=True, slots=True)
class BudgetAdmin:
    """Answers about budgets.

    Attributes:
        budgets: the budgets.
        people: finds who is meant.
    """

    budgets: Budgets
    people: PersonLookup

    async def standing(self, request: Request) -> Any:
        """Answer ``GET /admin/budgets?month=2026-11``: every account with its figures."""
        try:
            month, found = await standings(self.budgets, request.query_params.get("month", ""))
        except ValueError as error:
            raise BadGrant(f"The month {error}.") from None
        return {"month": month, "accounts": [_told(each) for each in found]}

    async def grant(self, request: Request) -> Any:
        """Answer ``POST /admin/credits``, whose body says to whom, how much and why.

        Only the portal's own machine may ask: a browser's session must not be made to.
        """
        context = context_of(request.scope)
        if not context.local:
            raise BadGrant("Credits are granted on the portal's own machine: porch usage grant.")
        raw = await read_body(request.receive, context.headers, MAX_GRANT_BYTES)
        asked = _asked(raw)
        account = await find_account(self.budgets, self.people, asked["account"])
        try:
            amount = nanos_of(asked["amount"])
        except ValueError as error:
            raise BadGrant(f"The amount {error}.") from None
        _check(account, amount)
        credit = await self.budgets.credits.grant(
            account.id, amount, utc_now(), "operator", asked["note"]
        )
        figures = await self.budgets.ledger.figures(account.id, credit.month)
        return _told(Standing(account.id, account, figures)) | {
            "id": credit.id,
            "month": credit.month,
            "granted": dollars(amount),
        }


def _asked(raw: bytes) -> Mapping[str, str]:
    try:
        found = json.loads(raw)
        return {name: str(found.get(name, "")) for name in ("account", "amount", "note")}
    except (ValueError, AttributeError):
        raise BadGrant("The body must be a JSON object of account, amount and note.") from None


def _check(account: Account, amount: int) -> None:
    if amount == 0:
        raise BadGrant("A credit is more than nothing.")
    if account.budget is None:
        raise BadGrant(f"The plan {account.terms.title} has no limit: no credit adds to it.")
    if not account.terms.credits:
        raise BadGrant(
            f"The plan {account.terms.title} takes no credits; plans.yaml says credits: false."
        )


def _told(standing: Standing) -> dict[str, Any]:
    account, figures = standing.account, standing.figures
    limit = None if account is None else figures.limit(account.budget)
    return {
        "account": standing.id,
        "plan": None if account is None else account.plan,
        "seats": None if account is None else account.seats,
        "spent_usd": exact(figures.spent),
        "held_usd": exact(figures.held),
        "credits_usd": exact(figures.credits),
        "limit_usd": None if limit is None else exact(limit),
        "spent": dollars(figures.spent),
        "limit": None if limit is None else dollars(limit),
    }

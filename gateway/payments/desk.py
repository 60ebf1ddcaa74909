"""Opens the pages of Stripe's on which people pay: nobody is charged before they say so there."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from auth.stores import utc_now
from gateway.budgets.accounts import Account
from gateway.config.money import dollars, nanos_of
from gateway.config.payments import NANOS_PER_CENT, StripeSettings
from gateway.contract import ToolFailed
from gateway.payments.customers import Customers, OpenPage
from gateway.payments.whose import Marks, Whose

if TYPE_CHECKING:
    from gateway.budgets.budgets import Budgets
    from gateway.config.plans_file import Plan
    from gateway.payments.stripe_api import StripeApi
    from gateway.payments.subscriptions import Subscription, Subscriptions

CHECKOUT_LIFETIME = timedelta(hours=1)
"""How long somebody may take to pay; Stripe takes half an hour to a day."""
PORTAL_LIFETIME = timedelta(minutes=5)
"""How long a link to the page is shown on which a customer manages what they pay."""
MOST_SEATS = 10_000


class Desk:
    """Opens pages.

    Args:
        settings: what can be bought.
        api: Stripe.
        marks: writes whose what is made is.
        customers: knows people as customers.
        subscriptions: who has which plan already.
        budgets: whose budget a person's is.
        back: where Stripe's pages lead back to.

    Attributes:
        clock: the time, in UTC; replaced in tests.
    """

    def __init__(
        self,
        settings: StripeSettings,
        api: StripeApi,
        marks: Marks,
        customers: Customers,
        subscriptions: Subscriptions,
        budgets: Budgets,
        back: str,
    ) -> None:
        self._settings, self._api, self._marks = settings, api, marks
        self._customers, self._subscriptions, self._budgets = customers, subscriptions, budgets
        self._back = back
        self.clock: Callable[[], datetime] = utc_now

    async def buy_credit(self, person: str, amount: str) -> OpenPage:
        """Open a checkout for credits.

        Args:
            person: who pays.
            amount: how much, in dollars, as the portal sells it.

        Raises:
            ToolFailed: it cannot be bought; or Stripe does not answer.
        """
        account = await self._account(person)
        nanos = self._offered(amount)
        check_takes_credit(account)
        title = f"{dollars(nanos)} of credit for language models"
        line = {
            "quantity": 1,
            "price_data": {
                "currency": "usd",
                "unit_amount": nanos // NANOS_PER_CENT,
                "product_data": {"name": title},
            },
        }
        whose = Whose(person, account.id)
        marks = self._marks.of(whose) | {"for": "credit"}
        given = {"mode": "payment", "line_items": [line], "metadata": marks}
        given["payment_intent_data"] = {"metadata": marks}
        return await self._checkout(whose, title, given)

    async def change_plan(self, person: str, plan: str, seats: int | None) -> OpenPage:
        """Open the page on which a person takes a plan, or exchanges theirs for it.

        Args:
            person: who pays.
            plan: its name.
            seats: how many, for a team's plan.

        Raises:
            ToolFailed: it cannot be bought by them; or Stripe does not answer.
        """
        account = await self._account(person)
        terms, quantity = self._sold(plan, account, seats)
        whose = Whose(person, account.id)
        current = await self._subscriptions.current(account.id)
        title = f"The plan {terms.title}"
        if terms.per_seat:
            title += f" with {quantity} seats"
        if current is not None:
            return await self._exchange(whose, current, (plan, quantity, title))
        lines: list[dict[str, Any]] = [{"price": self._settings.prices[plan], "quantity": quantity}]
        if terms.limit == "soft" and self._settings.overage is not None:
            lines.append({"price": self._settings.overage.price})
        marks = self._marks.of(whose)
        given = {"mode": "subscription", "line_items": lines, "metadata": marks}
        given["subscription_data"] = {"metadata": marks}
        return await self._checkout(whose, title, given)

    async def manage(self, person: str) -> OpenPage:
        """Open the page on which a person sees invoices, changes the card and ends subscriptions.

        Raises:
            ToolFailed: they have paid nothing; or Stripe does not answer.
        """
        account = await self._account(person)
        customer = await self._customers.of(person)
        if customer is None:
            raise ToolFailed(
                "nothing_paid", "You have paid nothing yet: there is nothing to manage."
            )
        whose = Whose(person, account.id)
        return await self._portal(whose, customer, "Invoices, card and subscription", {})

    async def _account(self, person: str) -> Account:
        account = await self._budgets.accounts.of_person(person)
        if account is None:
            text = "There are no plans here: plans.yaml has none, and nothing is limited."
            raise ToolFailed("no_plans", text)
        return account

    def _offered(self, amount: str) -> int:
        offered = self._settings.top_up
        try:
            nanos = nanos_of(amount.strip().removeprefix("$"))
        except ValueError:
            nanos = 0
        if nanos not in offered:
            listed = ", ".join(map(dollars, offered)) or "nothing"
            raise ToolFailed("not_offered", f"Credit is sold here in these amounts: {listed}.")
        return nanos

    def _sold(self, plan: str, account: Account, seats: int | None) -> tuple[Plan, int]:
        """A plan that an account may take, and for how many seats."""
        plans = self._budgets.file.plans.plans
        terms = plans.get(plan)
        sold = sorted(name for name in self._settings.prices if name in plans)
        if terms is None or plan not in sold:
            text = f"The plan {plan} cannot be bought here; these can: {', '.join(sold) or 'none'}."
            raise ToolFailed("not_offered", text)
        if terms.per_seat and account.team is None:
            text = f"The plan {terms.title} is for a team, and an admin says who is one."
            raise ToolFailed("no_team", text)
        if not terms.per_seat:
            if account.team is not None:
                text = (
                    f"You share the budget of the team {account.team}, which takes a plan for "
                    "teams; one of your own would have to come from an admin."
                )
                raise ToolFailed("of_a_team", text)
            return terms, 1
        quantity = seats or max(account.seats, terms.minimum_seats)
        if not terms.minimum_seats <= quantity <= MOST_SEATS:
            text = f"The plan {terms.title} has {terms.minimum_seats} to {MOST_SEATS} seats."
            raise ToolFailed("bad_seats", text)
        return terms, quantity

    async def _exchange(
        self, whose: Whose, current: Subscription, wanted: tuple[str, int, str]
    ) -> OpenPage:
        """Open the page on which a person says yes to another plan in place of theirs."""
        plan, quantity, title = wanted
        if current.person != whose.person:
            text = "Somebody else of your team pays for its plan, and only they can change that."
            raise ToolFailed("not_yours", text)
        if current.in_force and (current.plan, current.seats) == (plan, quantity):
            raise ToolFailed("same_plan", "That is the plan that you pay for already.")
        found = await self._api.subscription(current.id)
        items = (found.get("items") or {}).get("data") or []
        flow: dict[str, Any] = {}
        if len(items) == 1 and current.in_force:  # Stripe confirms a change of a single item alone
            item = {
                "id": items[0]["id"],
                "price": self._settings.prices[plan],
                "quantity": quantity,
            }
            update = {"subscription": current.id, "items": [item]}
            flow = {"type": "subscription_update_confirm", "subscription_update_confirm": update}
        else:
            title = "End the plan that you have, to take another one"
        return await self._portal(whose, current.customer, title, flow)

    async def _checkout(self, whose: Whose, title: str, given: dict[str, Any]) -> OpenPage:
        customer = await self._customers.made(whose)
        until = self.clock() + CHECKOUT_LIFETIME
        params = given | {
            "customer": customer,
            "client_reference_id": whose.person,
            "success_url": f"{self._back}?paid=1",
            "cancel_url": self._back,
            "expires_at": int(until.timestamp()),
        }
        found = await self._api.checkout(params)
        until = datetime.fromtimestamp(int(found["expires_at"]), UTC)
        return await self._customers.opened(whose, title, found, until)

    async def _portal(
        self, whose: Whose, customer: str, title: str, flow: dict[str, Any]
    ) -> OpenPage:
        params: dict[str, Any] = {"customer": customer, "return_url": self._back}
        found = await self._api.portal(params | ({"flow_data": flow} if flow else {}))
        page = dict(found) | {"id": f"{found['id']}_{secrets.token_hex(4)}"}
        return await self._customers.opened(whose, title, page, self.clock() + PORTAL_LIFETIME)


def check_takes_credit(account: Account) -> None:
    """Refuse where a credit would add to nothing.

    Raises:
        ToolFailed: the account's plan has no limit, or takes no credits.
    """
    if account.budget is None:
        text = f"The plan {account.terms.title} has no limit: no credit adds to it."
        raise ToolFailed("no_limit", text)
    if not account.terms.credits:
        text = f"The plan {account.terms.title} takes no credits; another plan may."
        raise ToolFailed("no_credits", text)

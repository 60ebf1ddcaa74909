"""What a person sees of paying: what they have, what they can buy, and what they have bought."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pydantic import BaseModel, Field

from auth.stores import utc_now
from gateway.budgets.accounts import Account
from gateway.budgets.statement import PlanShown, shown
from gateway.config.money import dollars, exact
from gateway.contract import ToolFailed

if TYPE_CHECKING:
    from gateway.payments.customers import OpenPage
    from gateway.payments.payments import Payments
    from gateway.payments.stripe_side import StripeSide
    from gateway.payments.subscriptions import Subscription
    from gateway.payments.top_ups import TopUp
    from gateway.payments.transfers import Transfers


class SubscriptionShown(BaseModel):
    """A subscription, as its account is told of it."""

    plan: str = Field(description="The plan's name.")
    title: str
    seats: int
    status: str = Field(description="Stripe's word, such as active, past_due or unpaid.")
    yours: bool = Field(description="Whether you are who pays.")
    renews: str | None = Field(None, description="When it is paid for again, in UTC.")
    ends: str | None = Field(None, description="When it ends, in UTC, where it does.")
    note: str = Field("", description="What to do, where something is to be done.")


class PageShown(BaseModel):
    """A page of Stripe's that was opened for you and waits."""

    title: str
    url: str = Field(description="Who opens it can pay; it is yours alone.")
    until: str = Field(description="When it ends, in UTC.")


class PaymentShown(BaseModel):
    """Something that you have paid."""

    at: str
    amount_usd: str
    amount: str
    how: str = Field(description="card, or the token.")
    note: str = ""


class TokenShown(BaseModel):
    """How credit is paid by a token."""

    chain: int = Field(description="The chain's id.")
    token: str = Field(description="The contract's address.")
    symbol: str
    receiver: str = Field(description="The wallet to transfer to.")
    worth: str = Field(description="What one token is worth in US dollars.")
    confirmations: int
    wallets: list[str] = Field(description="Your wallets: a transfer from one of them is yours.")


class PlanOffered(PlanShown):
    """A plan that can be bought."""

    per_seat: bool
    minimum_seats: int
    current: bool = Field(description="Whether it is yours now.")


class PaymentState(BaseModel):
    """What you pay, and what you can buy."""

    plan: PlanShown
    team: str | None = None
    subscription: SubscriptionShown | None = None
    top_up: list[str] = Field(description="Amounts of credit that can be bought, in US dollars.")
    no_credit: str = Field("", description="Why no credit can be bought, where none can.")
    plans: list[PlanOffered] = Field(description="Plans that can be bought.")
    token: TokenShown | None = None
    waiting: list[PageShown] = Field(description="Pages on which you can pay now.")
    manage: bool = Field(description="Whether there is something to manage at Stripe.")
    bought: list[PaymentShown]


async def state_of(payments: Payments, person: str) -> PaymentState:
    """What a person sees of paying.

    Raises:
        ToolFailed: there are no plans.
    """
    account = await payments.budgets.accounts.of_person(person)
    if account is None:
        raise ToolFailed("no_plans", "There are no plans here, and nothing is limited.")
    state = PaymentState(
        plan=shown(account.plan, account.terms, account.seats),
        team=account.team,
        top_up=[],
        no_credit=_no_credit(account),
        plans=[],
        waiting=[],
        manage=False,
        bought=[],
    )
    if payments.stripe is not None:
        await _with_stripe(state, payments, payments.stripe, account, person)
    if payments.chain is not None:
        await _with_token(state, payments, payments.chain, person)
    state.bought.sort(key=lambda each: each.at, reverse=True)
    return state


async def _with_stripe(
    state: PaymentState, payments: Payments, stripe: StripeSide, account: Account, person: str
) -> None:
    state.top_up = [exact(each) for each in stripe.settings.top_up]
    state.plans = _offered(payments, stripe, account)
    current = await stripe.subscriptions.current(account.id)
    if current is not None:
        state.subscription = _subscription(payments, current, person)
    waiting = await stripe.customers.waiting(person, utc_now())
    state.waiting = [_page(each) for each in waiting]
    state.manage = await stripe.customers.of(person) is not None
    state.bought = [_paid(each) for each in await stripe.top_ups.of(person)]


async def _with_token(
    state: PaymentState, payments: Payments, chain: Transfers, person: str
) -> None:
    settings = chain.settings
    found = await payments.people.get(person)
    wallets = [each.address for each in found.accounts if each.address] if found else []
    state.token = TokenShown(
        chain=settings.chain,
        token=settings.token,
        symbol=settings.symbol,
        receiver=settings.receiver,
        worth=dollars(settings.price),
        confirmations=settings.confirmations,
        wallets=wallets,
    )
    for each in await chain.of(person):
        at = (each.credited or each.seen).isoformat()
        paid = PaymentShown(
            at=at, amount_usd=exact(each.worth), amount=dollars(each.worth), how=settings.symbol
        )
        state.bought.append(paid)


def _no_credit(account: Account) -> str:
    if account.budget is None:
        return f"The plan {account.terms.title} has no limit: no credit adds to it."
    return "" if account.terms.credits else f"The plan {account.terms.title} takes no credits."


def _offered(payments: Payments, stripe: StripeSide, account: Account) -> list[PlanOffered]:
    plans = payments.budgets.file.plans.plans
    found = list[PlanOffered]()
    for name in stripe.settings.prices:
        terms = plans.get(name)
        if terms is None or terms.per_seat != (account.team is not None):
            continue
        if terms.hidden and name != account.plan:
            continue
        found.append(
            PlanOffered(
                **shown(name, terms).model_dump(),
                per_seat=terms.per_seat,
                minimum_seats=terms.minimum_seats,
                current=name == account.plan,
            )
        )
    return found


def _subscription(payments: Payments, found: Subscription, person: str) -> SubscriptionShown:
    terms = payments.budgets.file.plans.plans.get(found.plan)
    return SubscriptionShown(
        plan=found.plan,
        title=terms.title if terms is not None else found.plan or "unknown",
        seats=found.seats,
        status=found.status,
        yours=found.person == person,
        renews=_day(found.renews) if found.ends is None else None,
        ends=_day(found.ends),
        note=_NOTES.get(found.status, ""),
    )


_NOTES = {
    "past_due": "The last payment has failed and is tried again. Change your card in time.",
    "unpaid": "It is not paid, and its plan is not in force. Pay the invoice, or end it.",
    "incomplete": "The first payment waits for you to confirm it.",
    "paused": "It is paused, and its plan is not in force.",
}


def _page(page: OpenPage) -> PageShown:
    return PageShown(title=page.title, url=page.url, until=page.until.isoformat())


def _paid(found: TopUp) -> PaymentShown:
    note = ""
    if found.refunded:
        note = f"{dollars(found.refunded)} refunded, {dollars(found.taken_back)} of it unspent"
    return PaymentShown(
        at=found.at.isoformat(),
        amount_usd=exact(found.paid),
        amount=dollars(found.paid),
        how="card",
        note=note,
    )


def _day(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()

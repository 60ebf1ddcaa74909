"""Every night what is kept of payments is held against Stripe and the chain, and mended."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from sqlalchemy import func, select

from auth.stores import utc_now
from gateway.budgets.tables import credits
from gateway.config.money import exact
from gateway.identity.stores.connection import Reached
from gateway.observability.logs import get_logger
from gateway.payments.subscriptions import ENDED

if TYPE_CHECKING:
    from gateway.payments.payments import Payments
    from gateway.payments.stripe_side import StripeSide

SCHEDULE = "0 15 0 * * *"
"""00:15 UTC every night, after the budgets' own."""
BACK = timedelta(days=35)
"""How far back payments are held against Stripe."""
_DAY = 86_400
BLOCKS = 20_000
"""How many blocks of the chain are read again."""

log = get_logger(__name__)


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that was not kept as it is.

    Attributes:
        what: ``payment``, ``subscription``, ``transfers``, ``events`` or ``ledger``.
        id: of what.
        was: what was kept.
        now: what it is; what was kept has been mended to it unless that is said.
    """

    what: str
    id: str
    was: str
    now: str


async def reconcile(payments: Payments) -> Sequence[Difference]:
    """Hold everything against Stripe and the chain, and mend what differs.

    Returns:
        What differed; each is in the log too.

    Raises:
        ToolFailed: Stripe does not answer.
        SourceUnavailable: the chain does not.
    """
    found = list[Difference]()
    if payments.stripe is not None:
        found += [each async for each in _stripe(payments.stripe)]
        found += [each async for each in _ledger(payments, payments.stripe)]
    if payments.chain is not None:
        missed = await payments.chain.read_again(BLOCKS)
        await payments.chain.look()
        if missed:
            found.append(Difference("transfers", payments.chain.source, "0", f"{missed} more"))
    for each in found:
        log.warning("payment_differs", **asdict(each))
    return found


async def _stripe(stripe: StripeSide) -> AsyncIterator[Difference]:
    finished = await stripe.events.finish()
    if finished:
        yield Difference("events", "", "not dealt with", f"{finished} dealt with")
    since = int((utc_now() - BACK).timestamp())
    ids = [each["id"] async for each in stripe.api.payments_since(since)]
    for id in ids:
        before = await stripe.top_ups.get(id)
        if await stripe.top_ups.follow(id):
            yield Difference("payment", id, _paid(before), _paid(await stripe.top_ups.get(id)))
    gone = [each.id for each in await stripe.top_ups.of(most=10_000) if each.id not in ids]
    for id in gone:
        kept = await stripe.top_ups.get(id)
        if kept is not None and kept.at.timestamp() > since + _DAY:
            yield Difference("payment", id, _paid(kept), "not at Stripe; left as it is")
    listed = [each["id"] async for each in stripe.api.all_subscriptions(since)]
    alive = [each.id for each in await stripe.subscriptions.of() if each.status not in ENDED]
    for id in dict.fromkeys([*listed, *alive]):
        was = _plan(await stripe.subscriptions.get(id))
        if await stripe.subscriptions.follow(id):
            yield Difference("subscription", id, was, _plan(await stripe.subscriptions.get(id)))


async def _ledger(payments: Payments, stripe: StripeSide) -> AsyncIterator[Difference]:
    """Payments whose credits in the ledger of budgets are not what they should be."""
    sums = select(func.coalesce(func.sum(credits.c.amount), 0))
    for each in await stripe.top_ups.of(most=10_000):
        async with Reached(payments.database).connect() as connection:
            mine = credits.c.id.startswith(f"stripe:{each.id}", autoescape=True)
            credited = int(await connection.scalar(sums.where(mine)) or 0)
        if credited != each.paid - each.taken_back:
            now = f"{exact(each.paid - each.taken_back)} by the payment; left as it is"
            yield Difference("ledger", each.id, exact(credited), now)


def _paid(found: Any) -> str:
    if found is None:
        return "unknown"
    return f"{exact(found.paid)} paid, {exact(found.refunded)} refunded"


def _plan(found: Any) -> str:
    return "unknown" if found is None else f"{found.plan} ({found.seats}), {found.status}"

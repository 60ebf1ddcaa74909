"""What is kept of payments is held against Stripe, and mended."""

from __future__ import annotations

from sqlalchemy import delete

from gateway.budgets.tables import credits
from gateway.payments.payments import Payments
from gateway.payments.reconciliation import reconcile
from gateway.testing import TestPortal
from tests.gateway.payments.conftest import deliver, deliver_all, session_of, told
from tests.servers.stripe_api import StripeServer


def payments_of(portal: TestPortal) -> Payments:
    assert portal.running.payments is not None
    return portal.running.payments


async def test_what_was_paid_and_never_told_is_found(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    payment = stripe.pay(await session_of(portal, "buy_credit", "ann", amount="5"))
    subscription = stripe.pay(await session_of(portal, "change_plan", "ann", plan="pro"))
    stripe.sent.clear()
    found = await reconcile(payments_of(portal))
    assert {(each.what, each.id) for each in found} == {
        ("payment", payment["payment_intent"]),
        ("subscription", subscription["subscription"]),
    }
    usage = await told(portal, "get_usage", "ann")
    assert (usage["bought_usd"], usage["plan"]["name"]) == ("5", "pro")
    assert await reconcile(payments_of(portal)) == []
    stripe.refund(payment["payment_intent"], 500)
    stripe.change(subscription["subscription"], status="canceled")
    stripe.sent.clear()
    (refunded, ended) = await reconcile(payments_of(portal))
    assert (refunded.was, refunded.now) == ("5 paid, 0 refunded", "5 paid, 5 refunded")
    assert ended.now == "pro (1), canceled"


async def test_an_event_that_was_not_dealt_with_is(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    stripe.pay(await session_of(portal, "buy_credit", "ann", amount="5"))
    stripe.fails = [429]
    assert (await deliver(portal, stripe, stripe.sent[0])).status_code == 400
    found = await reconcile(payments_of(portal))
    assert [each.what for each in found] == ["events"]
    assert (await told(portal, "get_usage", "ann"))["bought_usd"] == "5"


async def test_a_payment_that_stripe_does_not_know_and_a_credit_that_is_gone_are_named(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    payment = stripe.pay(await session_of(portal, "buy_credit", "ann", amount="5"))
    await deliver_all(portal, stripe)
    del stripe.objects[payment["payment_intent"]]
    async with payments_of(portal).database.begin() as connection:
        await connection.execute(delete(credits))
    found = {each.what: each.now for each in await reconcile(payments_of(portal))}
    assert found["payment"] == "not at Stripe; left as it is"
    assert found["ledger"] == "5 by the payment; left as it is"

"""What payments keep of people who leave, and what those pay who have left: nothing."""

from __future__ import annotations

import pytest

from gateway.contract import ToolFailed
from gateway.payments.erasure import PaymentErasure
from gateway.testing import TestPortal
from tests.gateway.payments.conftest import deliver_all, session_of, told
from tests.servers.stripe_api import StripeServer


async def test_who_leaves_pays_no_more_and_is_kept_nowhere(
    portal: TestPortal, stripe: StripeServer
) -> None:
    ann = await portal.sign_in("ann")
    await told(portal, "get_payments", "ann")
    stripe.pay(await session_of(portal, "buy_credit", "ann", amount="5"))
    subscription = stripe.pay(await session_of(portal, "change_plan", "ann", plan="pro"))
    await deliver_all(portal, stripe)
    payments = portal.running.payments
    assert payments is not None
    erasure = PaymentErasure(payments)
    (file,) = [each async for each in erasure.export(ann.id)]
    assert b"credit,5,paid" in file.data
    assert b"plan pro" in file.data
    await portal.running.authentication.stores.people.delete(ann.id)
    await erasure.erase(ann.id)
    found = stripe.objects[subscription["subscription"]]
    assert found["status"] == "canceled"
    await deliver_all(portal, stripe)  # Stripe tells of the end
    stripe.change(found["id"])
    await deliver_all(portal, stripe)
    assert ann.id not in await erasure.people()
    await erasure.erase(ann.id)  # twice is no error


async def test_an_erasure_waits_for_stripe(portal: TestPortal, stripe: StripeServer) -> None:
    ann = await portal.sign_in("ann")
    await session_of(portal, "buy_credit", "ann", amount="5")
    payments = portal.running.payments
    assert payments is not None
    erasure = PaymentErasure(payments)
    stripe.fails = [429]
    with pytest.raises(ToolFailed, match="does not answer"):
        await erasure.erase(ann.id)
    assert ann.id in await erasure.people()
    await erasure.erase(ann.id)
    assert ann.id not in await erasure.people()

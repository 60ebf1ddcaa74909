"""What soft plans have spent beyond their budget, as Stripe is told of it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest

from gateway.budgets.ledger import Hold
from gateway.budgets.months import end_of, month_of
from gateway.config.money import nanos_of
from gateway.contract import ToolFailed
from gateway.payments.overage import CERTAIN, Overages
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.payments.conftest import PLANS, deliver_all, session_of, settings
from tests.journeys import garden
from tests.servers.stripe_api import StripeServer


@pytest.fixture
async def portal(stripe: StripeServer) -> AsyncIterator[TestPortal]:
    """A portal in which ann has the plan Flow: $1 a month, and more where she pays for it."""
    overage = {"meter": "models", "price": "price_overage"}
    config = {"payments": {"stripe": settings(stripe, overage=overage)}}
    async with open_test_portal(garden, config=config, plans=PLANS) as found:
        await found.sign_in("ann")
        stripe.pay(await session_of(found, "change_plan", "ann", plan="flow"))
        await deliver_all(found, stripe)
        yield found


def overages_of(portal: TestPortal) -> Overages:
    payments = portal.running.payments
    assert payments is not None
    assert payments.stripe is not None
    assert payments.stripe.overages is not None
    return payments.stripe.overages


async def spend(portal: TestPortal, amount: str, call: str) -> None:
    (ann,) = [each async for each in portal.running.authentication.stores.people.everyone()]
    ledger = portal.running.budgets.ledger
    month = month_of(ledger.clock())
    await ledger.hold(Hold(call, ann.id, month, 0, end_of(month)), None)
    await ledger.settle(call, nanos_of(amount))


def metered(stripe: StripeServer) -> list[str]:
    return [each["payload"]["value"] for each in stripe.meter_events.values()]


async def test_each_cent_beyond_the_budget_is_told_once(
    portal: TestPortal, stripe: StripeServer
) -> None:
    overages = overages_of(portal)
    await spend(portal, "0.99", "one")
    assert await overages.tell() == []
    await spend(portal, "1.515", "two")
    (told,) = await overages.tell()
    assert (told.cents, told.state) == (150, "told")
    assert await overages.tell() == []
    await spend(portal, "0.25", "three")
    assert [each.cents for each in await overages.tell()] == [175]
    assert metered(stripe) == ["150", "25"]
    (identifier, _) = stripe.meter_events
    assert identifier.endswith(f"/{told.month}/150")
    assert {each["payload"]["stripe_customer_id"] for each in stripe.meter_events.values()} == {
        each for each in stripe.objects if each.startswith("cus_")
    }


async def test_what_was_being_told_when_a_process_died_is_told_again_and_counts_once(
    portal: TestPortal, stripe: StripeServer
) -> None:
    overages = overages_of(portal)
    await spend(portal, "2", "one")
    stripe.fails, stripe.keeps = [500, 500, 500], True  # it counts, and nobody hears of it
    with pytest.raises(ToolFailed):
        await overages.tell()
    stripe.fails = []
    await spend(portal, "1", "two")
    await overages.tell()  # the same as before
    await overages.tell()
    assert metered(stripe) == ["100", "100"]


async def test_nobody_is_charged_twice_where_nobody_knows_what_was_counted(
    portal: TestPortal, stripe: StripeServer
) -> None:
    overages = overages_of(portal)
    await spend(portal, "2", "one")
    stripe.fails, stripe.keeps = [429], False
    with pytest.raises(ToolFailed):
        await overages.tell()
    now = overages.clock()
    overages.clock = lambda: now + CERTAIN + timedelta(minutes=1)
    found = await overages.tell()
    assert {each.state for each in found} <= {"unsure"}
    assert metered(stripe) == []


async def test_who_pays_nothing_is_named_and_not_charged(
    portal: TestPortal, stripe: StripeServer
) -> None:
    plans = PLANS.replace("default: free", "default: flow")
    (portal.config_dir / "plans.yaml").write_text(plans)
    budgets = portal.running.budgets
    while budgets.file.plans.default != "flow":
        await _moment()
    for each in list(stripe.objects.values()):
        if each["object"] == "subscription":
            stripe.change(each["id"], status="canceled")
    await deliver_all(portal, stripe)
    await spend(portal, "2", "one")
    (told,) = await overages_of(portal).tell()
    assert (told.cents, told.state) == (100, "nobody_pays")
    assert metered(stripe) == []


async def test_the_job_of_the_night_tells_it(portal: TestPortal, stripe: StripeServer) -> None:
    await spend(portal, "1.10", "one")
    result = await _run(portal)
    assert [each["cents"] for each in result["overage"]] == [10]
    assert metered(stripe) == ["10"]


async def _run(portal: TestPortal) -> Any:
    jobs = portal.running.services.jobs.for_owner("payments")
    id = await jobs.enqueue("nightly", {})
    while (status := await jobs.status(id)) is None or status.state in ("queued", "running"):
        await _moment()
    assert status.state == "done", status.error
    return status.result


async def _moment() -> None:
    import asyncio

    await asyncio.sleep(0.05)

"""Plans that are paid for."""

from __future__ import annotations

from typing import Any

import pytest

from auth.callers import Account
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.payments.conftest import (
    PLANS,
    TEAMMATE,
    deliver,
    deliver_all,
    session_of,
    settings,
    told,
)
from tests.journeys import garden
from tests.servers.stripe_api import StripeServer


async def subscribed(
    portal: TestPortal, stripe: StripeServer, plan: str = "pro", who: str = "ann", **more: Any
) -> str:
    """Sign somebody in and have them take a plan; the subscription."""
    if who == "ann":
        await portal.sign_in(who)
    session = await session_of(portal, "change_plan", who, plan=plan, **more)
    found: str = stripe.pay(session)["subscription"]
    await deliver_all(portal, stripe)
    return found


async def plan_of(portal: TestPortal, who: str = "ann") -> tuple[str, str | None]:
    usage = await told(portal, "get_usage", who)
    return usage["plan"]["name"], usage["limit_usd"]


async def test_the_plan_that_is_paid_for_is_in_force(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    assert await plan_of(portal) == ("free", "0.5")
    session = await session_of(portal, "change_plan", "ann", plan="pro")
    stripe.pay(session)
    await deliver_all(portal, stripe)
    assert await plan_of(portal) == ("pro", "5")
    own = (await told(portal, "get_payments", "ann"))["subscription"]
    assert (own["title"], own["status"], own["yours"]) == ("Pro", "active", True)
    assert own["renews"] is not None


@pytest.mark.parametrize(
    ("status", "plan"),
    [
        ("past_due", "pro"),
        ("trialing", "pro"),
        ("unpaid", "free"),
        ("paused", "free"),
        ("canceled", "free"),
        ("incomplete_expired", "free"),
    ],
)
async def test_a_state_of_a_subscription_decides_whether_its_plan_counts(
    portal: TestPortal, stripe: StripeServer, status: str, plan: str
) -> None:
    found = await subscribed(portal, stripe)
    stripe.change(found, status=status)
    await deliver_all(portal, stripe)
    assert (await plan_of(portal))[0] == plan


async def test_the_end_of_the_period_is_told_before_it_comes(
    portal: TestPortal, stripe: StripeServer
) -> None:
    found = await subscribed(portal, stripe)
    stripe.change(found, cancel_at=1_900_000_000)
    await deliver_all(portal, stripe)
    own = (await told(portal, "get_payments", "ann"))["subscription"]
    assert own["ends"][:10] == "2030-03-17"
    assert "renews" not in own
    assert (await plan_of(portal))[0] == "pro"


async def test_events_that_come_in_the_wrong_order_never_bring_an_older_plan_back(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    session = await session_of(portal, "change_plan", "ann", plan="pro")
    found = stripe.pay(session)["subscription"]
    stripe.change(found, price="price_flow")
    stripe.change(found, status="canceled", ended_at=1_790_000_000)
    for event in reversed(stripe.sent):
        assert (await deliver(portal, stripe, event)).status_code == 200
        assert (await plan_of(portal))[0] == "free"


async def test_an_invoice_that_is_not_paid_has_the_subscription_looked_at(
    portal: TestPortal, stripe: StripeServer
) -> None:
    found = await subscribed(portal, stripe)
    stripe.objects[found]["status"] = "unpaid"  # and of this alone nothing is told
    stripe.invoiced(found, paid=False)
    await deliver_all(portal, stripe)
    assert (await plan_of(portal))[0] == "free"
    stripe.objects[found]["status"] = "active"
    stripe.invoiced(found, paid=True)
    await deliver_all(portal, stripe)
    assert (await plan_of(portal))[0] == "pro"


async def test_a_plan_is_exchanged_on_a_page_that_asks_for_a_yes(
    portal: TestPortal, stripe: StripeServer
) -> None:
    found = await subscribed(portal, stripe)
    await told(portal, "change_plan", "ann", plan="flow")
    request, given = stripe.asked[-1]
    assert request == "POST billing_portal/sessions"
    confirm = given["flow_data"]["subscription_update_confirm"]
    assert confirm["subscription"] == found
    assert confirm["items"][0]["price"] == "price_flow"
    assert (await plan_of(portal))[0] == "pro"  # nothing has changed yet
    same = await portal.call("change_plan", {"plan": "pro"}, tier="ann")
    assert same.is_error


async def test_a_team_pays_by_seats_and_the_rules_say_who_is_in_it(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("tea", Account.of_key(TEAMMATE))
    assert await plan_of(portal, "tea") == ("team", "12")
    found = await subscribed(portal, stripe, "teammax", "tea", seats=5)
    assert await plan_of(portal, "tea") == ("teammax", "100")
    stripe.change(found, seats=7)
    await deliver_all(portal, stripe)
    assert await plan_of(portal, "tea") == ("teammax", "140")
    stripe.change(found, status="canceled")
    await deliver_all(portal, stripe)
    assert await plan_of(portal, "tea") == ("team", "12")


@pytest.mark.parametrize(
    ("who", "plan", "seats"),
    [
        ("ann", "team", 3),
        ("ann", "free", None),
        ("ann", "none", None),
        ("tea", "pro", None),
        ("tea", "teammax", 2),
        ("tea", "teammax", -3),
        ("tea", "teammax", 10**9),
    ],
)
async def test_what_is_not_sold_to_somebody_is_refused(
    portal: TestPortal, who: str, plan: str, seats: int | None
) -> None:
    await portal.sign_in("ann")
    await portal.sign_in("tea", Account.of_key(TEAMMATE))
    given = {"plan": plan} | ({} if seats is None else {"seats": seats})
    answer = await portal.call("change_plan", given, tier=who)
    assert answer.is_error


async def test_only_who_pays_for_a_team_changes_what_it_pays(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("tea", Account.of_key(TEAMMATE))
    found = await subscribed(portal, stripe, "teammax", "tea", seats=3)
    elsewhere = stripe.objects[found]["metadata"]
    ann = await portal.sign_in("ann")
    elsewhere["person"] = ann.id  # as an admin may write it at Stripe
    stripe.change(found)
    await deliver_all(portal, stripe)
    answer = await portal.call("change_plan", {"plan": "team", "seats": 4}, tier="tea")
    assert "Somebody else of your team pays" in answer.text
    state = await told(portal, "get_payments", "tea")
    assert state["subscription"]["yours"] is False


async def test_invoices_and_the_card_are_on_a_page_of_the_persons_own(
    portal: TestPortal, stripe: StripeServer
) -> None:
    found = await subscribed(portal, stripe)
    page = await told(portal, "manage_payment", "ann")
    assert page["url"].startswith(f"{stripe.url}/p/")
    assert stripe.asked[-1][1]["customer"] == stripe.objects[found]["customer"]
    await portal.sign_in("bob")
    answer = await portal.call("manage_payment", {}, tier="bob")
    assert answer.is_error


async def test_a_price_that_is_none_of_the_portals_gives_no_plan(
    portal: TestPortal, stripe: StripeServer
) -> None:
    found = await subscribed(portal, stripe)
    stripe.change(found, price="price_unknown")
    await deliver_all(portal, stripe)
    assert (await plan_of(portal))[0] == "free"


async def test_a_soft_plan_has_the_metered_price_beside_its_own(stripe: StripeServer) -> None:
    overage = {"meter": "models", "price": "price_overage"}
    config = {"payments": {"stripe": settings(stripe, overage=overage)}}
    async with open_test_portal(garden, config=config, plans=PLANS) as portal:
        await subscribed(portal, stripe, "flow")
        assert (await plan_of(portal))[0] == "flow"
        posts = [given for asked, given in stripe.asked if asked == "POST checkout/sessions"]
        assert [each["price"] for each in posts[-1]["line_items"]] == [
            "price_flow",
            "price_overage",
        ]

"""What Stripe sends: signed or refused, in any order, more than once, and to any replica."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.testing import TestPortal, open_test_portal
from tests.conftest import new_database
from tests.examples import examples
from tests.gateway.payments.conftest import (
    PLANS,
    deliver,
    deliver_all,
    session_of,
    told,
)
from tests.gateway.payments.conftest import settings as stripe_settings
from tests.journeys import garden
from tests.servers.stripe_api import SECRET, StripeServer, nested, signature_of


async def posted(portal: TestPortal, body: bytes, signature: str | None) -> int:
    headers = {} if signature is None else {"stripe-signature": signature}
    return (await portal.hook("payments", "stripe", body, headers)).status_code


async def paid(portal: TestPortal, stripe: StripeServer) -> None:
    await portal.sign_in("ann")
    stripe.pay(await session_of(portal, "buy_credit", "ann", amount="5"))


async def has_bought(portal: TestPortal) -> str:
    found: str = (await told(portal, "get_usage", "ann"))["bought_usd"]
    return found


async def test_what_is_not_signed_by_the_secret_is_refused(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await paid(portal, stripe)
    event = stripe.sent[-1]
    body, headers = stripe.signed(event)
    good = headers["stripe-signature"]
    time_, _, marks = good.partition(",")
    forged = [
        None,
        "",
        "nonsense",
        time_,
        f"t=0,{marks}",
        f"t=,{marks}",
        marks,
        f"{time_},v0={marks[3:]}",
        f"{time_},v1={'0' * 64}",
        good.replace("v1=", "v2="),
        f"t=9e9,{marks}",
    ]
    for signature in forged:
        assert await posted(portal, body, signature) == 403, signature
    assert await posted(portal, body + b" ", good) == 403
    assert await posted(portal, b"\xff\xfe", good) == 403
    assert await has_bought(portal) == "0"


@pytest.mark.parametrize("minutes", [-6, 6])
async def test_a_replay_after_five_minutes_is_refused_and_so_is_one_from_the_future(
    portal: TestPortal, stripe: StripeServer, minutes: int
) -> None:
    await paid(portal, stripe)
    answer = await deliver(portal, stripe, stripe.sent[-1], at=time.time() + 60 * minutes)
    assert answer.status_code == 403
    assert await has_bought(portal) == "0"


async def test_while_the_secret_is_replaced_either_signs(
    stripe: StripeServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GARDEN_STRIPE_NEW", "whsec_new")
    both = ["env:GARDEN_STRIPE_NEW", "env:GARDEN_STRIPE_HOOK"]
    config = {"payments": {"stripe": stripe_settings(stripe, webhook_secret=both)}}
    async with open_test_portal(garden, config=config, plans=PLANS) as portal:
        await paid(portal, stripe)
        event = stripe.sent[-1]
        for secrets in ([SECRET], ["whsec_new"], ["whsec_other", "whsec_new"]):
            stripe.secrets = secrets
            assert (await deliver(portal, stripe, event)).status_code == 200
        stripe.secrets = ["whsec_other"]
        assert (await deliver(portal, stripe, event)).status_code == 403


@pytest.mark.parametrize(
    "body",
    ["[]", "null", "{}", "not JSON", '{"id": "evt_1", "type": "x", "created": "y", "data": {}}'],
)
async def test_a_signed_body_that_is_no_event_is_an_error_and_nothing_else(
    portal: TestPortal, stripe: StripeServer, body: str
) -> None:
    moment = int(time.time())
    signature = f"t={moment},v1={signature_of(SECRET, moment, body.encode())}"
    assert await posted(portal, body.encode(), signature) == 400


async def test_an_event_about_nothing_or_of_an_unknown_kind_is_taken_and_does_nothing(
    portal: TestPortal, stripe: StripeServer
) -> None:
    stripe.tell("payment_intent.succeeded", {"id": "pi_gone", "object": "payment_intent"})
    stripe.tell("product.created", {"id": "prod_1", "object": "product"})
    stripe.tell("charge.refunded", {"id": "ch_1", "object": "charge", "payment_intent": None})
    await deliver_all(portal, stripe)


@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
async def test_two_replicas_that_hear_of_a_payment_at_once_credit_it_once(
    stripe: StripeServer, tmp_path: Path, database: str, request: pytest.FixtureRequest
) -> None:
    if database == "sqlite":
        await _by_two("sqlite", tmp_path, stripe)
        return
    async with new_database(request.getfixturevalue("postgres_url")) as address:
        await _by_two(address, tmp_path, stripe)


async def _by_two(address: str, folder: Path, stripe: StripeServer) -> None:
    config = {"services": {"database": address}, "payments": {"stripe": stripe_settings(stripe)}}
    opening: dict[str, Any] = {"config": config, "plans": PLANS, "data_dir": folder}
    async with open_test_portal(garden, **opening) as one:
        async with open_test_portal(garden, **opening) as other:
            await paid(one, stripe)
            events = stripe.sent * 3
            await asyncio.gather(
                *(deliver(each, stripe, event) for event in events for each in (one, other))
            )
            assert await has_bought(one) == "5"


async def test_no_secret_is_in_logs_or_answers(
    portal: TestPortal, stripe: StripeServer, capsys: pytest.CaptureFixture[str]
) -> None:
    await paid(portal, stripe)
    stripe.fails = [500, 500, 500, 500]
    answer = await deliver(portal, stripe, stripe.sent[-1])
    assert answer.status_code == 400
    said = answer.text + "".join(capsys.readouterr())
    assert "sk_test" not in said
    assert "whsec" not in said


def test_the_stand_in_reads_forms_as_they_are_written() -> None:
    pairs = [("a[b][0][c]", "1"), ("a[b][1][c]", "2"), ("d", "3")]
    assert nested(pairs) == {"a": {"b": [{"c": "1"}, {"c": "2"}]}, "d": "3"}


# What was told, in which order and how often, decides nothing.

LIFE = st.lists(
    st.sampled_from(["pay", "refund", "pro", "flow", "past_due", "active", "cancel"]),
    min_size=1,
    max_size=6,
)


@pytest.fixture(scope="module")
def server() -> Any:
    with StripeServer() as found:
        yield found


async def _live(portal: TestPortal, stripe: StripeServer, who: str, life: list[str]) -> str:
    """Have somebody pay, and what they paid change; their id."""
    person = await portal.sign_in(who)
    payment = subscription = ""
    for step in life:
        if step == "pay":
            session = await session_of(portal, "buy_credit", who, amount="5")
            payment = stripe.pay(session)["payment_intent"]
        elif step == "refund" and payment:
            charge = stripe.objects[stripe.objects[payment]["latest_charge"]]
            if charge["amount_refunded"] < charge["amount"]:
                stripe.refund(payment, 100)
        elif step in ("pro", "flow"):
            if not subscription:
                session = await session_of(portal, "change_plan", who, plan=step)
                subscription = stripe.pay(session)["subscription"]
            elif stripe.objects[subscription]["status"] != "canceled":
                stripe.change(subscription, price=f"price_{step}")
        elif subscription and stripe.objects[subscription]["status"] != "canceled":
            status = {"cancel": "canceled"}.get(step, step)
            stripe.change(subscription, status=status)
    return person.id


async def _ends(portal: TestPortal, stripe: StripeServer, who: str) -> tuple[str, str]:
    """What somebody ends with: what they have bought, and their plan."""
    usage = await told(portal, "get_usage", who)
    return usage["bought_usd"], usage["plan"]["name"]


@settings(max_examples=examples(200, ordinary=12))
@given(life=LIFE, data=st.data())
def test_any_order_and_repetition_of_events_ends_with_the_same_credits_and_plan(
    server: StripeServer, life: list[str], data: st.DataObject
) -> None:
    asyncio.run(_in_any_order(server, life, data))


async def _in_any_order(server: StripeServer, life: list[str], data: st.DataObject) -> None:
    config = {"payments": {"stripe": stripe_settings(server)}}
    server.sent.clear()
    async with open_test_portal(garden, config=config, plans=PLANS) as portal:
        await _live(portal, server, "ann", life)
        told_of, server.sent = server.sent, []
        order = data.draw(st.permutations(told_of * 2)) if told_of else []
        lost = data.draw(st.lists(st.booleans(), min_size=len(order), max_size=len(order)))
        late = [event for event, gone in zip(order, lost, strict=True) if gone]
        for event in [each for each, gone in zip(order, lost, strict=True) if not gone] + late:
            assert (await deliver(portal, server, event)).status_code == 200
        portal.running.budgets.accounts.forget()
        assert await _ends(portal, server, "ann") == _expected(server, told_of)


def _expected(server: StripeServer, told_of: list[dict[str, Any]]) -> tuple[str, str]:
    """What Stripe has in the end."""
    about = {
        json.dumps(event["data"]["object"]["id"]): event["data"]["object"] for event in told_of
    }
    objects = [
        server.objects[each["id"]] for each in about.values() if each["id"] in server.objects
    ]
    charges = [each for each in objects if each["object"] == "charge"]
    payments = [each for each in objects if each["object"] == "payment_intent"]
    cents = sum(each["amount_received"] for each in payments)
    cents -= sum(each["amount_refunded"] for each in charges)
    plan = "free"
    for each in objects:
        if each["object"] == "subscription" and each["status"] in ("active", "past_due"):
            plan = each["items"]["data"][0]["price"]["id"].removeprefix("price_")
    return str(cents // 100), plan

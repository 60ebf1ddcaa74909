"""Credits that are bought by card."""

from __future__ import annotations

import pytest

from auth import Caller, Tier
from auth.callers import Account
from gateway.budgets.ledger import Hold
from gateway.budgets.months import end_of, month_of
from gateway.config.money import nanos_of
from gateway.contract import ModelFailed
from gateway.testing import TestPortal
from tests.gateway.budgets.calls import start
from tests.gateway.payments.conftest import (
    TEAMMATE,
    deliver,
    deliver_all,
    session_of,
    told,
)
from tests.servers.stripe_api import StripeServer


async def bought(portal: TestPortal, stripe: StripeServer, who: str = "ann") -> str:
    """Buy $5 of credit; the id of the payment."""
    session = await session_of(portal, "buy_credit", who, amount="5")
    payment: str = stripe.pay(session)["payment_intent"]
    await deliver_all(portal, stripe)
    return payment


async def spend(portal: TestPortal, account: str, amount: str) -> None:
    """Have an account spend something this month."""
    ledger = portal.running.budgets.ledger
    month = month_of(ledger.clock())
    call = f"call-{amount}"
    await ledger.hold(Hold(call, account, month, 0, end_of(month)), None)
    await ledger.settle(call, nanos_of(amount))


async def test_credit_that_is_paid_adds_to_the_budget(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    before = await told(portal, "get_usage", "ann")
    assert (before["limit_usd"], before["bought_usd"]) == ("0.5", "0")
    session = await session_of(portal, "buy_credit", "ann", amount="5")
    (waiting,) = (await told(portal, "get_payments", "ann"))["waiting"]
    assert waiting["url"].endswith(session)
    stripe.pay(session)
    await deliver_all(portal, stripe)
    after = await told(portal, "get_usage", "ann")
    assert (after["limit_usd"], after["bought_usd"]) == ("5.5", "5")
    state = await told(portal, "get_payments", "ann")
    assert state["waiting"] == []
    assert [each["amount"] for each in state["bought"]] == ["$5.00"]


async def test_at_the_limit_one_is_told_where_to_buy_more_and_goes_on_once_it_is_bought(
    portal: TestPortal, stripe: StripeServer
) -> None:
    ann = await portal.sign_in("ann")
    await spend(portal, ann.id, "0.50")
    gate, caller = portal.running.budgets.gate, Caller(ann.id, Tier.PUBLIC)
    call = start(portal.running.budgets.ledger.clock(), ann.id)
    with pytest.raises(ModelFailed, match="Monthly model budget reached") as refused:
        await gate.before_call(caller, call)
    page = "/payments/overview"
    assert refused.value.details["pay"].endswith(page)
    assert f"Buy credits or another plan at {refused.value.details['pay']}" in str(refused.value)
    assert page in (await told(portal, "get_usage", "ann"))["note"]
    await bought(portal, stripe)
    await gate.before_call(caller, call)


async def test_the_same_event_many_times_is_one_credit(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    stripe.pay(await session_of(portal, "buy_credit", "ann", amount="5"))
    for event in [*stripe.sent, *stripe.sent]:
        assert (await deliver(portal, stripe, event)).status_code == 200
    again = await deliver(portal, stripe, stripe.sent[0])
    assert again.json() == {"received": True, "again": True}
    assert (await told(portal, "get_usage", "ann"))["bought_usd"] == "5"


async def test_a_team_that_shares_a_budget_shares_what_one_of_it_buys(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("tea", Account.of_key(TEAMMATE))
    await bought(portal, stripe, "tea")
    usage = await told(portal, "get_usage", "tea")
    assert (usage["team"], usage["limit_usd"]) == ("garden", "17")


async def test_a_refund_takes_the_credit_back(portal: TestPortal, stripe: StripeServer) -> None:
    await portal.sign_in("ann")
    payment = await bought(portal, stripe)
    stripe.refund(payment, 200)
    stripe.refund(payment, 300)
    await deliver_all(portal, stripe)
    assert (await told(portal, "get_usage", "ann"))["limit_usd"] == "0.5"
    (line,) = (await told(portal, "get_payments", "ann"))["bought"]
    assert line["note"] == "$5.00 refunded, $5.00 of it unspent"


async def test_what_is_spent_of_a_credit_is_not_taken_back(
    portal: TestPortal, stripe: StripeServer
) -> None:
    ann = await portal.sign_in("ann")
    payment = await bought(portal, stripe)
    await spend(portal, ann.id, "3.50")  # $0.50 of the plan, $3 of the credit
    stripe.refund(payment, 500)
    await deliver_all(portal, stripe)
    usage = await told(portal, "get_usage", "ann")
    assert (usage["spent_usd"], usage["limit_usd"], usage["bought_usd"]) == ("3.5", "3.5", "3")


async def test_a_refund_that_is_heard_of_before_the_payment_ends_alike(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    session = await session_of(portal, "buy_credit", "ann", amount="5")
    stripe.refund(stripe.pay(session)["payment_intent"], 200)
    stripe.sent.reverse()
    await deliver_all(portal, stripe)
    assert (await told(portal, "get_usage", "ann"))["bought_usd"] == "3"


async def test_the_audit_log_keeps_who_bought_and_what_was_taken_back(
    portal: TestPortal, stripe: StripeServer
) -> None:
    ann = await portal.sign_in("ann")
    stripe.refund(await bought(portal, stripe), 500)
    await deliver_all(portal, stripe)
    rows = await portal.running.audit.read({"person": ann.id}, 50)
    grants = {(row.item, row.outcome) for row in rows if row.kind == "grant"}
    assert grants == {
        (f"usage/credit:{ann.id}", "bought"),
        (f"usage/credit:{ann.id}", "refunded"),
    }


@pytest.mark.parametrize("amount", ["4", "5.001", "-5", "", "five", "1e1"])
async def test_other_amounts_than_those_that_are_sold_are_refused(
    portal: TestPortal, amount: str
) -> None:
    await portal.sign_in("ann")
    answer = await portal.call("buy_credit", {"amount": amount}, tier="ann")
    assert answer.is_error
    assert "$5.00, $10.00" in answer.text


async def test_tokens_of_machines_and_who_is_signed_out_buy_nothing(portal: TestPortal) -> None:
    for tier in ("public", "open"):
        answer = await portal.call("buy_credit", {"amount": "5"}, tier=tier)
        assert answer.is_error


async def test_a_payment_in_another_currency_or_for_something_else_is_no_credit(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    for field in ({"currency": "jpy"}, {"metadata": {"porch": "http://elsewhere"}}):
        session = await session_of(portal, "buy_credit", "ann", amount="5")
        stripe.objects[stripe.pay(session)["payment_intent"]] |= field
        await deliver_all(portal, stripe)
    assert (await told(portal, "get_usage", "ann"))["bought_usd"] == "0"


async def test_stripe_that_is_away_or_throttles_is_told_and_nothing_is_lost(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    session = await session_of(portal, "buy_credit", "ann", amount="5")
    stripe.pay(session)
    stripe.fails = [429]
    answer = await deliver(portal, stripe, stripe.sent[-1])
    assert answer.status_code == 400
    assert "does not answer now" in answer.text
    await deliver_all(portal, stripe)  # it sends again
    assert (await told(portal, "get_usage", "ann"))["bought_usd"] == "5"
    stripe.fails = [429]
    refused = await portal.call("buy_credit", {"amount": "5"}, tier="ann")
    assert "Nothing was charged" in refused.text


async def test_a_key_that_stripe_refuses_is_the_admins_to_mend_and_is_not_told(
    portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ann")
    stripe.fails = [401]
    answer = await portal.call("buy_credit", {"amount": "5"}, tier="ann")
    assert "payments.stripe.secret_key" in answer.text
    assert "sk_test" not in answer.text

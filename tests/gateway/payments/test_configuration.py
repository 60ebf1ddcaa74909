"""What ``portal.yaml`` says of payment: its mistakes are named, and without it there is nothing."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from gateway.errors import ConfigError
from gateway.testing import open_test_portal
from tests.gateway.payments.conftest import PLANS, settings
from tests.journeys import garden
from tests.servers.stripe_api import StripeServer

WALLET = "0x" + "ab" * 20
TOKEN: dict[str, Any] = {
    "chain": 10,
    "token": WALLET,
    "decimals": 6,
    "receiver": WALLET,
    "price": "1.00",
}


async def refused(payments: dict[str, Any], plans: str | None = PLANS, **others: Any) -> str:
    """Why a portal does not open."""
    with pytest.raises(ConfigError) as error:
        async with open_test_portal(garden, config={"payments": payments, **others}, plans=plans):
            pass
    return str(error.value)


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({"secret_key": "sk_live_1"}, "payments.stripe.secret_key: a secret is never written here"),
        ({"webhook_secret": ["whsec_1"]}, "a secret is never written here"),
        ({"webhook_secret": []}, "payments.stripe.webhook_secret"),
        (
            {"prices": {"por": "price_1"}},
            "prices.por: unknown plan; did you mean pro",
        ),
        ({"prices": {"pro": "prod_1"}}, "payments.stripe.prices.pro"),
        ({"top_up": [0.1]}, "must stand in quotes"),
        ({"top_up": ["0.10"]}, "must be at least 0.50"),
        ({"top_up": ["5.001"]}, "must be whole cents"),
        ({"top_up": ["-5"]}, "must be an amount in US dollars"),
        ({"url": "http://stripe.example"}, "must begin with https://"),
        ({"secret_key": "env:GARDEN_NOT_SET"}, "payments.stripe.secret_key: "),
        ({"webhook_secret": "env:GARDEN_NOT_SET"}, "payments.stripe.webhook_secret"),
        ({"overage": {"meter": "models"}}, "payments.stripe.overage.price"),
    ],
)
async def test_each_mistake_is_named_with_its_line(
    stripe: StripeServer, others: dict[str, Any], said: str
) -> None:
    found = await refused({"stripe": settings(stripe, **others)})
    assert said in found
    assert "config/portal.yaml:" in found
    assert "sk_live" not in found


async def test_nothing_is_sold_without_plans(stripe: StripeServer) -> None:
    found = await refused({"stripe": settings(stripe)}, plans=None)
    assert "needs plans.yaml" in found


@pytest.mark.parametrize(
    ("others", "said"),
    [
        ({}, "the chain 10 is not in chains:; listed there: 1"),
        ({"token": "0xabc"}, "payments.chain.token"),
        ({"price": 1.5}, "must stand in quotes"),
        ({"decimals": 77}, "payments.chain.decimals"),
        ({"confirmations": 0}, "payments.chain.confirmations"),
    ],
)
async def test_each_mistake_about_the_token_is_named(others: dict[str, Any], said: str) -> None:
    chains = [{"id": 1, "rpc": ["http://127.0.0.1:1"]}]
    assert said in await refused({"chain": TOKEN | others}, chains=chains)


async def test_without_it_there_is_no_tool_page_or_webhook() -> None:
    async with open_test_portal(garden, plans=PLANS) as portal:
        await portal.sign_in("ann")
        tools = await portal.tools("ann")
        assert {"get_payments", "buy_credit"}.isdisjoint(tools)
        assert (await portal.hook("payments", "stripe", b"{}")).status_code == 404
        assert (await portal.get("/payments/overview", tier="ann")).status_code == 404
        answer = await portal.call("get_usage", {}, tier="ann")
        assert {"pay", "bought", "bought_usd"}.isdisjoint(answer.structured)
        assert portal.running.payments is None


async def test_the_pages_lead_to_where_one_pays(stripe: StripeServer) -> None:
    config = {"payments": {"stripe": settings(stripe)}}
    async with open_test_portal(garden, config=config, plans=PLANS) as portal:
        await portal.sign_in("ann")
        usage = await portal.get("/usage/month?month=", tier="ann")
        assert usage.status_code == 200
        for text in ("Add credit", "Change plan", "Manage payment", "/payments/overview#credit"):
            assert text in usage.text, text
        page = await portal.get("/payments/overview", tier="ann")
        assert page.status_code == 200
        assert "Take Pro" in page.text
        assert "Team Max" not in page.text  # she has no team


async def test_a_plan_that_is_sold_and_is_no_more_is_told_to_admins(stripe: StripeServer) -> None:
    config = {"payments": {"stripe": settings(stripe)}}
    async with open_test_portal(garden, config=config, plans=PLANS) as portal:
        payments = portal.running.payments
        assert payments is not None
        assert [*payments.notices()] == []
        fewer = "\n".join(line for line in PLANS.splitlines() if "  pro:" not in line)
        (portal.config_dir / "plans.yaml").write_text(fewer)
        while not (told := [*payments.notices()]):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        assert "sells the plan pro" in told[0]

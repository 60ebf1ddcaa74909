"""A portal that sells plans and credits, and a stand-in for Stripe."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any

import httpx2
import pytest

from gateway.testing import TestPortal, open_test_portal
from tests.journeys import garden
from tests.servers.stripe_api import KEY, SECRET, StripeServer

TEAMMATE = "0x00000000000000000000000000000000000A11cE"
PLANS = f"""
plans:
  free: {{title: Free, budget: 0.50}}
  pro: {{title: Pro, budget: 5.00, price: 10}}
  flow: {{title: Flow, budget: 1.00, limit: soft}}
  team: {{title: Team, budget: 4.00, per_seat: true, minimum_seats: 3}}
  teammax: {{title: Team Max, budget: 20.00, per_seat: true, minimum_seats: 3}}
assign:
  - {{plan: team, team: garden, seats: 3, to: {{address: "{TEAMMATE}"}}}}
default: free
"""
PRICES = {"pro": "price_pro", "flow": "price_flow", "team": "price_team", "teammax": "price_max"}


def settings(stripe: StripeServer, **others: Any) -> dict[str, Any]:
    """``payments.stripe`` for a stand-in."""
    return {
        "url": stripe.url,
        "secret_key": "env:GARDEN_STRIPE_KEY",
        "webhook_secret": "env:GARDEN_STRIPE_HOOK",
        "prices": PRICES,
        "top_up": [5, 10],
        **others,
    }


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARDEN_STRIPE_KEY", KEY)
    monkeypatch.setenv("GARDEN_STRIPE_HOOK", SECRET)


@pytest.fixture
def stripe() -> Iterator[StripeServer]:
    with StripeServer() as found:
        yield found


@pytest.fixture
async def portal(stripe: StripeServer) -> AsyncIterator[TestPortal]:
    config = {"payments": {"stripe": settings(stripe)}}
    async with open_test_portal(garden, config=config, plans=PLANS) as found:
        yield found


async def deliver(
    portal: TestPortal,
    stripe: StripeServer,
    event: Mapping[str, Any],
    at: float | None = None,
) -> httpx2.Response:
    """Deliver an event to the portal, over HTTP."""
    body, headers = stripe.signed(event, at=at)
    return await portal.hook("payments", "stripe", body, headers)


async def deliver_all(portal: TestPortal, stripe: StripeServer) -> None:
    """Deliver everything that Stripe has to tell, in order, and forget it."""
    events, stripe.sent = stripe.sent, []
    for event in events:
        answer = await deliver(portal, stripe, event)
        assert answer.status_code == 200, answer.text


async def told(portal: TestPortal, tool: str, who: str, **arguments: Any) -> dict[str, Any]:
    """What a tool answers."""
    answer = await portal.call(tool, arguments, tier=who)
    assert not answer.is_error, answer.text
    assert isinstance(answer.structured, dict)
    return answer.structured


async def session_of(portal: TestPortal, tool: str, who: str, **arguments: Any) -> str:
    """The checkout that a tool opens."""
    url: str = (await told(portal, tool, who, **arguments))["url"]
    return url.rpartition("/")[2]

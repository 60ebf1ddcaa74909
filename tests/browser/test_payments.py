"""What one pays, as an app in a client and as a page in Chromium: everybody can read and use it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import pytest
from playwright.async_api import Browser, expect

from gateway.cli.mcp_client import McpClient
from gateway.surfaces.views.apps import APPS
from gateway.testing import TestPortal, open_test_portal
from tests.browser.app_host import show_app
from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.browser.test_views import session
from tests.gateway.payments.conftest import PLANS, deliver_all, session_of, settings
from tests.journeys import garden
from tests.servers.streaming import over_network
from tests.servers.stripe_api import KEY, SECRET, StripeServer

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


@pytest.fixture(autouse=True)
def secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GARDEN_STRIPE_KEY", KEY)
    monkeypatch.setenv("GARDEN_STRIPE_HOOK", SECRET)


@pytest.fixture
def stripe() -> Iterator[StripeServer]:
    with StripeServer() as server:
        yield server


@pytest.fixture
async def portal(stripe: StripeServer, secrets: None) -> AsyncIterator[TestPortal]:
    config = {"payments": {"stripe": settings(stripe)}}
    async with open_test_portal(garden, config=config, plans=PLANS) as found:
        yield found


async def test_the_app_shows_what_one_has_bought(
    browser: Browser, portal: TestPortal, stripe: StripeServer
) -> None:
    await portal.sign_in("ana")
    stripe.pay(await session_of(portal, "buy_credit", "ana", amount="5"))
    await deliver_all(portal, stripe)
    client = McpClient(portal.http("ana"), capabilities=APPS)
    async with opened(browser) as (_, page):
        app, called = await show_app(page, client, "get_payments", {})
        await expect(app.locator("#main.view")).to_be_visible()
        await expect(app.get_by_role("heading", name="Payments")).to_be_visible()
        await expect(app.get_by_text("$5.00").first).to_be_visible()
        assert await violations(page.frames[1]) == []
        assert called == []


@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
async def test_a_credit_is_bought_on_the_page(
    browser: Browser, portal: TestPortal, stripe: StripeServer, viewport: object
) -> None:
    async with over_network(portal) as served, opened(browser, viewport=viewport) as (own, page):
        base = f"http://{served.address}"
        await own.add_cookies(await session(base))
        await page.goto(f"{base}/payments/overview")
        assert [*await violations(page), *await too_wide(page)] == []
        form = page.locator("form", has=page.locator("[name=amount]")).first
        await form.get_by_role("button").first.click()
        link = page.get_by_role("link", name="Go on at Stripe")
        await expect(link).to_have_attribute("href", f"{stripe.url}/c/{_begun(stripe)}")
        assert [*await violations(page), *await too_wide(page)] == []
        stripe.pay(_begun(stripe))
        await deliver_all(portal, stripe)
        await page.goto(f"{base}/payments/overview")
        await expect(link).to_have_count(0)
        await expect(page.get_by_text("$5.00").first).to_be_visible()


def _begun(stripe: StripeServer) -> str:
    """The payment that was begun."""
    return next(each for each in stripe.objects if each.startswith("cs_"))

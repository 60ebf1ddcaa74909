"""Roles on a real chain, as a person sees them on the pages."""

from __future__ import annotations

from collections.abc import Iterator

import anyio
import pytest
from playwright.async_api import Browser, Page, expect

from auth.chain.rpc import Rpc
from auth.fact_sources.hats import HatsSource
from tests.browser.chromium import Wallet
from tests.browser.conftest import Serving
from tests.chain.anvil import HATS, Chain, running

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

HAT = 30 << 224 | 3 << 208 | 1 << 192
RULES = {"members": {"any_of": [{"hat": "30.3.1"}]}}


@pytest.fixture(scope="module")
def chain() -> Iterator[Chain]:
    with running(chain_id=10) as chain:
        yield chain


async def _becomes(page: Page, tier: str) -> None:
    """Load the page again until it says a tier, for as long as a fact may be believed and more."""
    with anyio.fail_after(60):
        while tier not in await page.locator("#tier").inner_text():
            await page.reload()


async def test_a_hat_makes_a_member_and_taking_it_away_unmakes_one(
    browser: Browser, served: Serving, chain: Chain
) -> None:
    wallet = Wallet(chain.wallet(), chain=chain.id)
    rpc = Rpc(chain.id, [chain.url])
    try:
        sources = {"hats": HatsSource(rpc, HATS)}
        async with served(rules=RULES, sources=sources, believed=1) as portal:
            context = await browser.new_context()
            await wallet.install(context)
            page = await context.new_page()
            await page.goto(f"{portal.parts.site.url}/signin")
            await page.get_by_role("button", name="Continue with Test Wallet").click()
            await page.wait_for_url("**/account")
            await expect(page.locator("#tier")).to_contain_text("Public")
            await expect(page.locator("#next")).to_contain_text("wear the hat 30.3.1")
            chain.give_hat(wallet.key.address, HAT)
            await _becomes(page, "Members")
            await expect(page.locator(".reasons")).to_contain_text("wears the hat 30.3.1")
            chain.take_hat(wallet.key.address, HAT)
            await _becomes(page, "Public")
            await context.close()
    finally:
        await rpc.close()

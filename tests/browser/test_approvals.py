"""Approvals in Chromium: on a phone, by keyboard, without scripts, and read by everybody."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from playwright.async_api import Browser, expect

from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.browser.test_views import session
from tests.gateway.approvals.portal import Treasury, open_treasury
from tests.servers.streaming import over_network

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

HIDING = {"to": "ann\u202enotna " * 3, "amount": 1, "note": "a long line of it\n" * 60}


@pytest.fixture(scope="module")
async def opened_treasury() -> AsyncIterator[tuple[Treasury, str]]:
    async with open_treasury() as treasury, over_network(treasury.portal) as served:
        yield treasury, f"http://{served.address}"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
async def test_everybody_can_read_what_waits_and_decide_it(
    browser: Browser, opened_treasury: tuple[Treasury, str], scheme: str, viewport: dict[str, int]
) -> None:
    treasury, base = opened_treasury
    id = await treasury.asked(arguments={**HIDING, "amount": len(scheme) + viewport["width"]})
    problems: list[str] = []
    signed = await session(base)
    async with opened(browser, viewport=viewport, color_scheme=scheme) as (context, page):
        await context.add_cookies(signed)
        for path in ("/approvals", f"/approvals/{id}"):
            answer = await page.goto(base + path)
            assert answer is not None
            assert answer.status == 200, path
            assert len(await answer.body()) < 60_000
            problems += await violations(page) + await too_wide(page)
    assert problems == []


async def test_without_scripts_and_by_keyboard_a_yes_is_given(
    browser: Browser, opened_treasury: tuple[Treasury, str]
) -> None:
    treasury, base = opened_treasury
    arguments = {"to": "the baker", "amount": 7}
    id = await treasury.asked(arguments=arguments)
    signed = await session(base)
    async with opened(browser, viewport=PHONE, java_script_enabled=False) as (context, page):
        await context.add_cookies(signed)
        await page.goto(f"{base}/approvals")
        await page.locator(f'a[href="/approvals/{id}"]').click()
        await expect(page.get_by_text("the baker")).to_be_visible()
        await page.get_by_role("button", name="Approve").focus()
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("status")).to_contain_text("It is approved")
    assert (await treasury.call(arguments=arguments))[0] == "ran"

"""The pages for admins in Chromium: read by everybody, without scripts, and fresh by themselves."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

import pytest
from playwright.async_api import Browser, BrowserContext, Page, expect
from sqlalchemy import insert

from gateway.observability.usage_table import SLOTS, usage
from gateway.testing import TestPortal, open_test_portal
from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.gateway.surfaces.admin_pages.conftest import ADMIN, EVIL, TIERS, Looked
from tests.gateway.surfaces.pages.browser import Browser as Signing
from tests.journeys import garden
from tests.servers.streaming import over_network

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


@dataclass
class Served:
    """A portal on a port, with an admin's cookies.

    Attributes:
        portal: the portal.
        base: its address.
        cookies: of a browser in which an admin is signed in.
        person: the id of somebody with a name that would run.
    """

    portal: TestPortal
    base: str
    cookies: list[Any]
    person: str

    @property
    def paths(self) -> list[str]:
        """Every page, with something on it."""
        return [
            "/admin",
            "/admin/access",
            "/admin/access?below=hidden",
            "/admin/tiers",
            "/admin/explain",
            f"/admin/explain?as={self.person}&item=harvest",
            "/admin/explain?item=nothing",
            "/admin/people",
            f"/admin/people/{self.person}",
            "/admin/health",
            "/admin/usage?over=day",
            "/admin/models",
            "/admin/audit",
        ]


@pytest.fixture
async def served() -> AsyncIterator[Served]:
    async with open_test_portal(garden, tiers=TIERS) as portal:
        person = await Looked(portal).person(EVIL, email="ana@example.org")
        for tier in ("open", "members"):
            await portal.call("water", {"name": "north"}, tier=tier)
        async with over_network(portal) as found:
            base = f"http://{found.address}"
            signing = Signing(portal.app, base)
            await signing.sign_in(ADMIN)
            jar = signing.client.cookies.jar
            cookies = [{"name": c.name, "value": c.value, "url": base} for c in jar]
            yield Served(portal, base, cookies, person.id)
            await signing.aclose()


async def signed_in(context: BrowserContext, served: Served) -> None:
    await context.add_cookies(served.cookies)


async def read(page: Page, served: Served, path: str) -> list[str]:
    """What is wrong with a page, unfolded."""
    answer = await page.goto(served.base + path)
    assert answer is not None
    assert len(await answer.body()) < 60_000
    await page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    return [*await violations(page), *await too_wide(page)]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [PHONE, DESK], ids=["phone", "desk"])
async def test_everybody_can_read_every_page_for_admins(
    browser: Browser, served: Served, scheme: str, viewport: dict[str, int]
) -> None:
    problems: list[str] = []
    asked: set[str] = set()
    async with opened(browser, viewport=viewport, color_scheme=scheme) as (context, page):
        await signed_in(context, served)
        page.on("request", lambda request: asked.add(request.url))
        for path in served.paths:
            problems += await read(page, served, path)
        await page.goto(f"{served.base}/admin/tiers")
        text = await page.get_by_label("A whole tiers.yaml").input_value()
        changed = text.replace("garden/water: public", "garden/water: members\n  garden/x: open")
        await page.get_by_label("A whole tiers.yaml").fill(changed)
        await page.get_by_role("button", name="Say what this would change").click()
        await expect(page.get_by_text("lost by public")).to_be_visible()
        problems += [*await violations(page), *await too_wide(page)]
    assert problems == []
    assert all(url.startswith(served.base) for url in asked)


async def test_without_scripts_everything_is_read_and_filtered(
    browser: Browser, served: Served
) -> None:
    async with opened(browser, viewport=PHONE, java_script_enabled=False) as (context, page):
        await signed_in(context, served)
        await page.goto(f"{served.base}/admin")
        await page.get_by_role("link", name="Access", exact=True).first.click()
        await page.get_by_label("Name", exact=True).fill("harvest")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_text("1 of")).to_be_visible()
        await page.get_by_text("Lines to change").first.click()
        await expect(page.get_by_text("garden/harvest: public", exact=True)).to_be_visible()
        await page.get_by_role("link", name="Explain garden/harvest").click()
        await page.get_by_label("Who").fill("public")
        await page.get_by_role("button", name="Explain").click()
        await expect(page.get_by_text("✗ Unknown to them:")).to_be_visible()


async def test_health_refreshes_itself_and_keeps_the_readers_place(
    browser: Browser, served: Served
) -> None:
    async with opened(browser, viewport=DESK) as (context, page):
        await signed_in(context, served)
        await page.add_init_script("""
          const later = setTimeout;
          window.setTimeout = (what, ms) => later(what, ms === 5000 ? 100 : ms);
        """)
        await page.goto(f"{served.base}/admin/health")
        calls = page.locator("dl.facts dd").first
        before = await calls.inner_text()
        await page.get_by_role("link", name="Usage", exact=True).focus()
        await page.evaluate("scrollTo(0, 300)")
        for _ in range(3):
            await served.portal.call("look", {"name": "north"})
        await expect(calls).not_to_have_text(before)
        assert await page.evaluate("scrollY") == 300
        focused = await page.evaluate("document.activeElement.textContent")
        assert focused == "Usage"


async def test_a_keyboard_alone_finds_why_an_item_is_closed(
    browser: Browser, served: Served
) -> None:
    async with opened(browser) as (context, page):
        await signed_in(context, served)
        await page.goto(f"{served.base}/admin/explain")
        await page.get_by_label("Who").focus()
        await page.keyboard.type("open")
        await page.keyboard.press("Tab")
        await page.keyboard.type("harvest")
        await page.keyboard.press("Enter")
        await expect(page.get_by_role("heading", name="garden/harvest")).to_be_visible()


async def test_a_quarter_of_usage_of_many_tools_stays_small(
    browser: Browser, served: Served
) -> None:
    from datetime import timedelta

    from auth.stores import utc_now

    now = utc_now().replace(minute=0, second=0, microsecond=0)
    row = {"plugin": "garden", "kind": "tool", "tier": "open", "outcome": "ok", "calls": 123_456}
    row |= {"milliseconds": 1.0, "bytes_out": 9_876_543, **dict.fromkeys(SLOTS, 8230)}
    rows = [
        {**row, "hour": now - timedelta(hours=6 * step), "item": f"a_tool_of_some_length_{n}"}
        for step in range(360)
        for n in range(50)
    ]
    async with served.portal.running.services.shared_database.begin() as connection:
        await connection.execute(insert(usage), rows)
    async with opened(browser, viewport=PHONE) as (context, page):
        await signed_in(context, served)
        assert await read(page, served, "/admin/usage?over=quarter") == []

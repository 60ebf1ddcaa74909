"""Every page that there is: read by everybody, on a phone and a desk, light and dark, and without
scripts. The list is the portal's own, so that no new page is left out."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import Browser
from starlette.routing import Route

from gateway.catalog.views import declared_view, is_view
from gateway.testing import TestPortal
from tests.browser.community import Community, open_community
from tests.browser.reading import DESK, PHONE, opened, too_wide, violations
from tests.servers.openai_compatible import OpenAICompatible

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(900)]

NO_PAGES = {
    "/signin/wallet": "the message to sign, for the page /signin",
    "/account/export": "an archive",
    "/admin/models.csv": "a file",
    "/admin/audit.csv": "a file",
    "/chat/{id}/stream": "what the page of a conversation follows",
    "/chat/{id}/export": "a file",
    "/connect/{plugin}/{name}/callback": "leads on to the account",
    "/connect/{plugin}/{name}/client.json": "for authorization servers",
    "/consent": "needs a client; test_pages.py has it",
    "/{page:path}": "views, which are named one by one",
}
"""Routes of the frame of pages that are not looked at here, and why."""
LOOKS: list[tuple[Any, Any]] = [(PHONE, "dark"), (DESK, "light")]


@pytest.fixture(scope="module")
async def community(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Community]:
    with OpenAICompatible() as server:
        async with open_community(Path(tmp_path_factory.mktemp("community")), server) as opened:
            yield opened


def every_page(portal: TestPortal) -> set[str]:
    """The paths of all pages: the portal's own routes, and the views of its plugins."""
    own = {
        route.path
        for route in portal.app.router.routes
        if isinstance(route, Route)
        and "GET" in (route.methods or ())
        and route.endpoint.__module__.startswith("gateway.surfaces.pages")
        and not route.path.startswith("/assets")
    }
    views = {
        f"/{item.plugin}/{declared_view(item).page}"
        for item in portal.running.catalog.items()
        if is_view(item)
    }
    return own | views


async def test_no_page_is_left_out(community: Community) -> None:
    there = every_page(community.portal)
    assert there - community.pages.keys() == set(NO_PAGES) & there
    assert set(community.pages) <= there


@pytest.mark.parametrize(("viewport", "scheme"), LOOKS, ids=["phone-dark", "desk-light"])
async def test_everybody_can_read_every_page(
    browser: Browser, community: Community, viewport: dict[str, int], scheme: str
) -> None:
    problems: list[str] = []
    async with opened(browser, viewport=viewport, color_scheme=scheme) as (context, page):
        await context.add_cookies(community.cookies)
        for path in community.pages.values():
            answer = await page.goto(community.base + path)
            assert answer is not None
            assert answer.status == 200, path
            if len(await answer.body()) >= 60_000:
                problems.append(f"{path} has {len(await answer.body())} bytes")
            problems += await violations(page) + await too_wide(page)
    assert problems == []


async def test_every_page_can_be_read_without_scripts(
    browser: Browser, community: Community
) -> None:
    async with opened(browser, viewport=PHONE, java_script_enabled=False) as (context, page):
        await context.add_cookies(community.cookies)
        for path in community.pages.values():
            answer = await page.goto(community.base + path)
            assert answer is not None
            assert answer.status == 200, path
            heading = page.locator("main h1")
            assert await heading.count() >= 1, path
            assert (await heading.first.inner_text()).strip(), path
            assert await page.locator("noscript").count() == 0, path

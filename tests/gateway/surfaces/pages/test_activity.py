"""What somebody did: their own calls, and nobody else's."""

from __future__ import annotations

import asyncio

from gateway.testing import open_test_portal
from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.views import painted

SIGNED_IN = {"access": {"members": {"any_of": ["signed_in"]}}}


async def test_calls_are_listed_with_how_they_ended_and_without_what_was_in_them() -> None:
    async with open_test_portal(painted, tiers=SIGNED_IN) as portal:
        alice, ben = (Browser(portal.app, "http://localhost") for _ in range(2))
        await alice.sign_in()
        await ben.sign_in()
        await alice.get("/painted/thing?name=chair-of-mine")
        await alice.get("/painted/thing?name=none")
        page = ""
        async with asyncio.timeout(60):  # records are written in batches
            while page.count("painted/show_thing") < 2:
                page = (await alice.get("/account/activity")).text
        assert page.count("painted/show_thing") == 2
        assert "in the browser" in page
        assert "not found" in page
        assert "chair-of-mine" not in page
        assert "Nothing yet." in (await ben.get("/account/activity")).text
        await alice.aclose()
        await ben.aclose()


async def test_who_is_not_signed_in_is_led_to_it(browser: Browser) -> None:
    answer = await browser.get("/account/activity")
    assert answer.status_code == 303
    assert "/signin" in answer.headers["location"]

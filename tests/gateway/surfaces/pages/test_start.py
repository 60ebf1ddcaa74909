"""The start page of somebody who is known: what is connected, what is new, what they lack."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from auth.tiers import Tier
from gateway.testing import open_test_portal
from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.pages.portal import PagesPortal
from tests.gateway.surfaces.views import painted


async def test_before_any_client_has_called_the_page_is_about_connecting(
    portal: PagesPortal, browser: Browser
) -> None:
    await browser.sign_in()
    page = (await browser.get("/")).text
    assert "Your client is connected" not in page
    assert "Connect your client" in page
    assert "The address to paste" in page


async def test_a_client_that_has_called_is_named(portal: PagesPortal, browser: Browser) -> None:
    await browser.sign_in()
    person = await _person(portal, browser)
    await portal.connect_client(person, client_name="Claude <b>Code</b>")
    page = (await browser.get("/")).text
    assert "Your client is connected" in page
    assert "Claude &lt;b&gt;Code&lt;/b&gt;" in page
    assert "Connect another client" in page


async def test_a_token_that_was_never_used_connects_nothing(
    portal: PagesPortal, browser: Browser
) -> None:
    await browser.sign_in()
    person = await _person(portal, browser)
    expires = datetime.now(UTC) + timedelta(days=1)
    await portal.parts.tokens.create(person, "script", ceiling=Tier.PUBLIC, expires=expires)
    assert "Your client is connected" not in (await browser.get("/")).text


async def test_what_somebody_lacks_is_told_with_the_way_to_it(browser: Browser) -> None:
    await browser.sign_in()
    page = (await browser.get("/")).text
    assert "What you do not have yet" in page
    assert "Draft a proposal" in page
    assert "/account#next" in page


async def test_views_at_a_glance_stand_on_the_start_page() -> None:
    async with open_test_portal(painted) as portal:
        page = (await portal.http("open").get("/")).text
    assert 'aria-labelledby="painted-things"' in page
    assert "<h1>all</h1>" in page
    assert "Search everything here" in page


async def test_no_page_asks_for_a_yes_that_its_person_has_not_come_for() -> None:
    waits = {"tier": "open", "approve": {"by": "signed_in"}}
    keys = ("painted/list_things", "painted/show_thing")
    tiers = {"items": dict.fromkeys(keys, waits)}
    async with open_test_portal(painted, tiers=tiers) as portal:
        await portal.sign_in("ann")
        http, store = portal.http("ann"), portal.running.approvals.store
        start = await http.get("/")
        assert start.status_code == 200
        assert 'aria-labelledby="painted-things"' not in start.text
        found = (await http.get("/search", params={"query": "chair"})).text
        assert "Each look at it waits for a person&#39;s yes" in found
        assert 'href="http://localhost/painted/thing?name=chair"' in found
        assert await store.every() == []
        await http.get("/painted/thing?name=chair")
        assert len(await store.every()) == 1, "its own page asks"


async def _person(portal: PagesPortal, browser: Browser) -> str:
    session = await portal.parts.sessions.find(browser.client.cookies["porch_session"])
    assert session is not None
    return session.person

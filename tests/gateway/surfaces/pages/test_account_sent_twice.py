"""A form of the account page that is sent twice is done once."""

from __future__ import annotations

import asyncio

from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.gateway.surfaces.pages.portal import PagesPortal

MAKE = "/account/tokens"
WANTED = {"name": "My script", "ceiling": "public", "days": "30"}


async def test_two_clicks_make_one_token_and_both_show_it(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    (form,) = (each for each in forms((await browser.get("/account")).text) if each.action == MAKE)
    both = await asyncio.gather(*(browser.post(MAKE, {**form.fields, **WANTED}) for _ in range(2)))
    assert "Copy it now" in (await browser.follow(both[1])).text
    assert await _tokens(portal) == 1


async def test_the_form_of_a_page_that_was_loaded_anew_makes_another(
    browser: Browser, portal: PagesPortal
) -> None:
    await browser.sign_in()
    for _ in range(2):
        await browser.get("/account")
        await browser.submit(MAKE, WANTED)
    assert await _tokens(portal) == 2


async def _tokens(portal: PagesPortal) -> int:
    (person,) = [each async for each in portal.stores.people.everyone()]
    return len(await portal.parts.tokens.of(person.id))

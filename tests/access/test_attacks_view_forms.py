"""Attacks on the forms of views, through the browser of somebody who is signed in there."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from tests.access.test_attacks_forms import FORGED
from tests.gateway.surfaces.pages.browser import Browser, forms
from tests.gateway.surfaces.views import painted

BASE = "http://localhost"
THING, ALL = "/painted/thing", "/painted/all/of-them"
SIGNED_IN = {"access": {"members": {"any_of": ["signed_in"]}}}


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    painted.KEPT.clear()
    async with open_test_portal(painted, tiers=SIGNED_IN) as opened:
        yield opened


@pytest.fixture
async def alice(portal: TestPortal) -> AsyncIterator[Browser]:
    browser = Browser(portal.app, BASE)
    await browser.sign_in()
    yield browser
    await browser.aclose()


async def shown(browser: Browser, path: str = THING) -> dict[str, str]:
    """The hidden fields of the form that a page shows a browser."""
    page = await browser.get(f"{path}?name=chair" if path == THING else path)
    return next(
        each.fields
        for each in forms(page.text)
        if each.method == "post" and each.fields and each.action == BASE + path
    )


@pytest.mark.parametrize("how", FORGED)
async def test_no_form_of_a_view_is_taken_from_anywhere_else(alice: Browser, how: str) -> None:
    answer = await alice.post(THING, await shown(alice), {"accept": "text/html", **FORGED[how]})
    assert answer.status_code == 403
    assert "location" not in answer.headers
    assert painted.KEPT == []


async def test_the_mark_is_this_person_s_for_this_page_and_this_tool(
    portal: TestPortal, alice: Browser
) -> None:
    mallory = Browser(portal.app, BASE)
    await mallory.sign_in()
    own, hers = await shown(alice), await shown(mallory)
    other = await shown(alice, ALL)
    for mark in ("", "x", "\u00e9", hers["csrf"], other["csrf"]):
        answer = await alice.post(THING, {**own, "csrf": mark})
        assert (answer.status_code, "location" in answer.headers) == (403, False)
    tool, goal, arguments, here = json.loads(own["request"])
    assert tool == "keep_thing"
    for about in (
        json.dumps(["burn_thing", goal, arguments], separators=(",", ":")),
        json.dumps([tool, "https://evil.example", arguments], separators=(",", ":")),
        json.dumps([tool, goal, {"name": "other"}, here], separators=(",", ":")),
        json.dumps([tool, goal, arguments, {"name": "other"}], separators=(",", ":")),
        "",
        "[]",
    ):
        assert (await alice.post(THING, {**own, "request": about})).status_code == 403
    assert painted.KEPT == []
    await mallory.aclose()


async def test_a_tool_that_the_view_does_not_declare_is_not_called_whoever_marks_it(
    portal: TestPortal, alice: Browser
) -> None:
    from auth.sealer import Sealer

    session = alice.client.cookies["porch_session"]
    sealer = Sealer(portal.running.authentication.key, "csrf")
    for about in ('["burn_thing","show_thing",{}]', '["keep_thing"]', "{}", "7"):
        mark = sealer.mark(f"session:{session}\n{THING}\n{about}")
        fields = {"csrf": mark, "request": about, "name": "chair"}
        assert (await alice.post(THING, fields)).status_code == 409
    assert painted.KEPT == []


async def test_a_form_of_a_view_is_not_taken_by_get_nor_after_signing_out(
    alice: Browser,
) -> None:
    fields = await shown(alice)
    await alice.client.get(THING, params=fields)
    assert painted.KEPT == []
    await alice.get("/account")
    await alice.submit("/signout")
    assert (await alice.post(THING, fields)).status_code == 403
    assert painted.KEPT == []


async def test_a_program_s_token_sends_no_form(portal: TestPortal, alice: Browser) -> None:
    fields: dict[str, Any] = await shown(alice)
    headers = {"origin": BASE, "sec-fetch-site": "same-origin"}
    answer = await portal.http("members").post(THING, data=fields, headers=headers)
    assert answer.status_code == 403
    assert painted.KEPT == []


async def test_no_page_with_a_form_can_be_framed(alice: Browser) -> None:
    answer = await alice.get(f"{THING}?name=chair")
    assert answer.headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert "form-action 'self'" in answer.headers["content-security-policy"]


async def test_a_form_that_is_too_large_is_not_read(alice: Browser) -> None:
    fields = await shown(alice)
    answer = await alice.post(THING, {**fields, "name": "x" * 1_100_000})
    assert answer.status_code == 413
    assert painted.KEPT == []


async def test_a_goal_leads_nowhere_but_to_pages_of_the_plugin(
    portal: TestPortal, alice: Browser
) -> None:
    from auth.sealer import Sealer

    session = alice.client.cookies["porch_session"]
    sealer = Sealer(portal.running.authentication.key, "csrf")
    about = '["keep_thing","//evil.example",{}]'
    mark = sealer.mark(f"session:{session}\n{THING}\n{about}")
    answer = await alice.post(THING, {"csrf": mark, "request": about, "name": "chair"})
    assert answer.headers["location"] == "/"

"""Forms of views: what a person fills in is a call of the tool, from their own page alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from gateway.surfaces.pages import sent_forms
from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from tests.gateway.surfaces.pages.browser import Browser, Form, forms
from tests.gateway.surfaces.views import painted

BASE = "http://localhost"
THING = "/painted/thing"
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


def writing(html: str) -> list[Form]:
    """The forms of a page that change something."""
    return [each for each in forms(html) if each.action == BASE + THING and each.method == "post"]


async def sent(browser: Browser, number: int = 0, /, **typed: Any) -> Any:
    """A form of the page of a chair, as it comes back filled in."""
    form = writing((await browser.get(f"{THING}?name=chair")).text)[number]
    return await browser.post(THING, {**form.fields, **typed})


async def test_a_form_calls_its_tool_and_leads_on_with_what_it_says(alice: Browser) -> None:
    answer = await sent(alice, 0, **{"size": "3", "tags,": "wood, old", "sure": "true"})
    assert [painted.Kept(name="chair", size=3, tags=["wood", "old"], sure=True)] == painted.KEPT
    assert answer.headers["location"] == f"{THING}?name=chair&size=7"
    assert "chair is kept, 3." in (await alice.follow(answer)).text
    assert "is kept" not in (await alice.get(THING)).text


async def test_a_form_that_is_sent_twice_at_once_is_done_once_and_the_page_says_so(
    alice: Browser,
) -> None:
    form = writing((await alice.get(f"{THING}?name=chair")).text)[0]
    fields = {**form.fields, "size": "3"}
    both = await asyncio.gather(*(alice.post(THING, fields) for _ in range(2)))
    assert [each.status_code for each in both] == [303, 303]
    assert len({each.headers["location"] for each in both}) == 1
    assert len(painted.KEPT) == 1
    again = await alice.follow(await alice.post(THING, fields))
    assert "chair is kept, 3. You sent it twice, and it was done once." in again.text
    assert len(painted.KEPT) == 1
    await alice.post(THING, {**fields, "size": "4"})
    assert len(painted.KEPT) == 2, "other words are another form"
    await sent(alice, 0, size="3")
    assert len(painted.KEPT) == 3, "and so is that of a page that was loaded anew"


async def test_two_replicas_do_it_once_and_say_what_happened(alice: Browser) -> None:
    form = writing((await alice.get(f"{THING}?name=chair")).text)[0]
    await alice.post(THING, form.fields)
    with other_replica():
        twice = await alice.post(THING, form.fields)
    assert twice.status_code == 409
    assert "You sent this form twice" in twice.text
    assert "the first one counts" in twice.text
    assert len(painted.KEPT) == 1


@contextmanager
def other_replica() -> Iterator[None]:
    """What this process remembers of forms is not known, as at another replica."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sent_forms, "MOST_KEPT", 1)
        yield


async def test_what_has_failed_may_be_sent_again(alice: Browser) -> None:
    form = writing((await alice.get(f"{THING}?name=chair")).text)[1]
    fields = {**form.fields, "name": "none"}
    for _ in range(2):
        answer = await alice.post(THING, fields)
        assert answer.status_code == 400
        assert "Nobody keeps none." in answer.text
    assert painted.KEPT == []


async def test_a_form_that_says_nothing_else_returns_to_its_page(alice: Browser) -> None:
    answer = await sent(alice, 1, name="table")
    assert painted.KEPT[-1].name == "table"
    assert answer.headers["location"] == f"{THING}?name=chair"


async def test_what_the_tool_refuses_changes_nothing_and_what_was_typed_comes_back(
    alice: Browser,
) -> None:
    answer = await sent(alice, 1, name="none", **{"tags,": "long words <b>of</b> mine"})
    assert answer.status_code == 400
    assert "Nobody keeps none." in answer.text
    assert "long words &lt;b&gt;of&lt;/b&gt; mine" in answer.text
    answer = await sent(alice, size="large")
    assert answer.status_code == 400
    assert "size" in answer.text
    assert painted.KEPT == []


async def test_a_secret_is_taken_out_and_not_repeated(alice: Browser) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" + "k1L2m3N4o5P6q7R8"
    answer = await alice.follow(await sent(alice, 1, name=f"chair {token}"))
    assert token not in painted.KEPT[-1].name
    assert token not in answer.text
    assert "What looked like a secret in it was taken out." in answer.text


async def test_who_may_not_use_the_tool_sees_no_form_and_cannot_send_one(
    portal: TestPortal, alice: Browser
) -> None:
    stranger = Browser(portal.app, BASE)
    page = await stranger.get(f"{THING}?name=chair")
    assert writing(page.text) == []
    own = writing((await alice.get(f"{THING}?name=chair")).text)[0].fields
    mark = await marked(portal, stranger, own["request"])
    answer = await stranger.post(THING, {**own, "csrf": mark})
    assert answer.status_code == 403
    assert "Requires public access" in answer.text
    assert painted.KEPT == []
    await stranger.aclose()


async def marked(portal: TestPortal, browser: Browser, about: str) -> str:
    """The mark that the portal would give to a browser which is not signed in."""
    from auth.sealer import Sealer

    cookie = browser.client.cookies["porch_browser"]
    key = portal.running.authentication.key
    return Sealer(key, "csrf").mark(f"browser:{cookie}\n{THING}\n{about}")


async def test_an_app_s_form_is_a_call_and_has_no_mark(portal: TestPortal) -> None:
    from gateway.cli.mcp_client import McpClient
    from gateway.surfaces.views.apps import APPS, DRAWING_META_KEY

    client = McpClient(portal.http("members"), capabilities=APPS)
    result = await client.call("show_thing", {"name": "chair"})
    html = result["_meta"][DRAWING_META_KEY]["html"]
    form = writing(html)[0]
    assert form.fields == {"name": "chair"}
    assert 'data-write="keep_thing"' in html
    assert "&#34;size&#34;:&#34;integer&#34;" in html

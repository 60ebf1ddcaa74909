"""Views as pages: what the address asks for, drawn for whoever may see it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from xml.etree import ElementTree

import pytest
from eth_account import Account as Key

from gateway.testing import open_test_portal
from gateway.testing.portal import TestPortal
from tests.gateway.surfaces.pages.browser import Browser
from tests.gateway.surfaces.views import painted


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    async with open_test_portal(painted) as opened:
        yield opened


async def page(portal: TestPortal, path: str, tier: str = "open", status: int = 200) -> str:
    """A page of the portal, in which nothing may run or be loaded from elsewhere."""
    answer = await portal.http(tier).get(path)
    assert answer.status_code == status, answer.text
    policy = answer.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert answer.headers["x-frame-options"] == "DENY"
    return answer.text


async def test_a_view_shows_what_its_tool_returns_for_the_arguments_of_the_address(
    portal: TestPortal,
) -> None:
    text = await page(portal, "/painted/thing?name=chair&size=3&tags=wood&tags=old")
    assert "<h1>chair</h1>" in text
    assert '<dd dir="auto">3</dd>' in text
    assert "Nothing" not in text
    link = 'href="http://localhost/painted/thing?name=wood&amp;size=2" data-tool="show_thing"'
    assert link in text


async def test_without_the_arguments_that_the_tool_needs_the_page_asks_for_them(
    portal: TestPortal,
) -> None:
    text = await page(portal, "/painted/thing")
    assert "<h1>" not in text
    assert 'action="http://localhost/painted/thing"' in text
    assert "<h1>all</h1>" in await page(portal, "/painted/all/of-them")


async def test_markup_of_others_is_text(portal: TestPortal) -> None:
    name = painted.EVIL.replace("/", "%2F").replace("<", "%3C").replace('"', "%22")
    text = await page(portal, f"/painted/thing?name={name}")
    assert "<script>alert" not in text
    assert "<img" not in text


async def test_a_view_is_for_whoever_may_use_its_tool(portal: TestPortal) -> None:
    refused = await page(portal, "/painted/secret", status=403)
    assert "takes members access" in refused
    assert 'href="/signin?next=/painted/secret"' in refused
    assert "secret</h1>" in await page(portal, "/painted/secret", "members")
    home = await page(portal, "/")
    assert "/painted/all/of-them" in home
    assert "/painted/secret" not in home


async def test_who_is_known_by_a_credential_is_not_sent_to_sign_in(portal: TestPortal) -> None:
    refused = await page(portal, "/painted/secret", "public", status=403)
    assert "Requires members access. Current: public." in refused
    assert "/signin?next=" not in refused


async def test_whoever_signs_in_for_a_view_comes_back_to_it(portal: TestPortal) -> None:
    browser = Browser(portal.app, "http://localhost")
    there = "/painted/secret?name=chair%20leg"
    refused = await browser.get(there)
    (link,) = re.findall(r'href="(/signin\?next=[^"]*)"', refused.text)
    await browser.get(link)
    signed = await browser.sign(Key.create())
    assert (signed.status_code, signed.headers["location"]) == (303, there)


async def test_a_graph_is_a_picture_whose_boxes_are_links_and_whose_names_are_text(
    portal: TestPortal,
) -> None:
    text = await page(portal, "/painted/thing?name=chair&tags=wood&tags=%3Cscript%3E")
    assert text.count('class="edge"') == 2
    assert 'href="http://localhost/painted/thing?name=wood" data-tool="show_thing"' in text
    assert "<script>" not in text
    assert "<img" not in text
    assert "<figure" not in await page(portal, "/painted/all/of-them")


async def test_a_picture_is_to_be_had_as_a_file_by_whoever_may_see_its_page(
    portal: TestPortal,
) -> None:
    answer = await portal.http("open").get("/painted/thing.svg?name=chair&tags=wood")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert answer.headers["content-disposition"] == 'attachment; filename="painted-thing.svg"'
    root = ElementTree.fromstring(answer.content)
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "var(" not in answer.text  # its colours are its own
    assert "wood" in answer.text
    for path, status in (("thing.svg", 400), ("secret.svg", 404), ("all/of-them.svg", 404)):
        assert (await portal.http("members").get(f"/painted/{path}")).status_code == status


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("/painted/thing?name=none", 404, "There is no none."),
        ("/painted/thing?name=a&size=large", 400, "size"),
        ("/painted/thing?name=a&colour=red", 400, "colour"),
        ("/painted/nothing", 404, ""),
    ],
)
async def test_what_is_wrong_is_said_on_the_page(
    portal: TestPortal, path: str, status: int, said: str
) -> None:
    answer = await portal.http("open").get(path, headers={"accept": "text/html"})
    assert answer.status_code == status
    assert said in answer.text


async def test_what_is_shown_is_on_record(portal: TestPortal) -> None:
    await page(portal, "/painted/thing?name=chair")
    calls = await portal.http("members").get("/metrics")
    assert "show_thing" in calls.text or calls.status_code == 403


async def test_a_page_that_is_asked_for_too_often_is_refused_and_says_when_to_come_again() -> None:
    config = {"limits": {"calls": "2 in 60s"}}
    async with open_test_portal(painted, config=config) as portal:
        pages = [
            await portal.http("open").get(f"/painted/thing?name=chair&size={size}")
            for size in (1, 2, 3)
        ]
        called = await portal.call("show_thing", {"name": "chair"}, tier="open")
    assert [each.status_code for each in pages] == [200, 200, 429]
    assert "<h1>chair</h1>" not in pages[-1].text
    assert re.search(r"Load this page again in \d+ \w+, or sign in", pages[-1].text)
    assert 'href="/signin?next=/painted/thing' in pages[-1].text
    assert 0 < int(pages[-1].headers["retry-after"]) <= 60
    assert called.is_error  # pages and programs have one budget
    assert "which is the limit" in called.text


async def test_whoever_is_signed_in_is_not_told_to_sign_in() -> None:
    async with open_test_portal(painted, config={"limits": {"calls": "1 in 60s"}}) as portal:
        pages = [await portal.http("members").get("/painted/thing?name=a") for _ in range(2)]
    assert pages[-1].status_code == 429
    assert re.search(r"Load this page again in \d+ \w+\.", pages[-1].text)


async def test_who_loads_the_same_page_again_is_in_no_loop() -> None:
    async with open_test_portal(painted, config={"limits": {"repeats": "2 in 60s"}}) as portal:
        pages = [await portal.http("open").get("/painted/thing?name=chair") for _ in range(4)]
    assert [each.status_code for each in pages] == [200] * 4

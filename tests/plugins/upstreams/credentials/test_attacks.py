"""Nobody attaches an account to somebody else, and no server leads the portal astray."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest

from gateway.testing import TestPortal
from tests.plugins.upstreams.credentials.members import Member, member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.portals import until_offered

NOT_BEGUN = "This was not begun by you in this browser"


@pytest.fixture
def guarded() -> Iterator[Guarded]:
    with guarded_server() as guarded:
        yield guarded


async def two(portal: TestPortal) -> tuple[Member, Member]:
    return await member(portal, "ana"), await member(portal, "mallory")


async def test_an_answer_to_another_person_connects_nobody(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana, mallory = await two(portal)
        guarded.user = "mallory-there"
        location = await mallory.arrive(await mallory.leave())
        assert NOT_BEGUN in await ana.back(location)
        assert "not connected" in await ana.account()


async def test_an_answer_in_a_browser_with_anothers_cookie_connects_nobody(
    guarded: Guarded,
) -> None:
    async with portal_of(guarded) as portal:
        ana, mallory = await two(portal)
        location = await mallory.arrive(await mallory.leave())
        planted = str(mallory.browser.client.cookies.get("porch_connecting"))
        ana.browser.client.cookies.set("porch_connecting", planted)
        assert NOT_BEGUN in await ana.back(location)
        assert "not connected" in await ana.account()


async def test_an_answer_is_good_for_once(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        location = await ana.arrive(await ana.leave())
        cookie = str(ana.browser.client.cookies.get("porch_connecting"))
        assert "far is connected." in await ana.back(location)
        ana.browser.client.cookies.set("porch_connecting", cookie)
        assert NOT_BEGUN in await ana.back(location)


async def test_another_state_connects_nobody(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        guarded.answer = {"state": "another"}
        assert "The answer is not to what was begun." in await ana.connect(guarded)


async def test_an_answer_of_another_issuer_connects_nobody(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        guarded.answer = {"iss": "https://attacker.example"}
        assert "The answer does not come from who was asked." in await ana.connect(guarded)


async def test_metadata_about_another_resource_is_not_believed(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        guarded.resource = "https://bank.example/mcp"
        assert await ana.leave() == ""
        assert "is about another resource" in await ana.account()


@pytest.mark.parametrize(
    ("endpoint", "url"),
    [
        ("token_endpoint", "http://169.254.169.254/latest"),
        ("token_endpoint", "http://10.0.0.1/token"),
        ("authorization_endpoint", "javascript:alert(1)"),
        ("authorization_endpoint", "http://192.168.0.1/authorize"),
        ("registration_endpoint", "https://10.1.2.3/register"),
        ("registration_endpoint", "https://169.254.169.254/register"),
    ],
)
async def test_private_addresses_in_metadata_are_not_asked(
    guarded: Guarded, endpoint: str, url: str
) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        guarded.metadata = {endpoint: url}
        assert await ana.leave() == ""
        page = await ana.account()
        assert "far is not connected." in page
        assert "that can be used" in page or "is not found on the public internet" in page


async def test_without_pkce_nobody_is_sent_away(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        guarded.metadata = {"code_challenge_methods_supported": ["plain"]}
        assert await ana.leave() == ""
        assert "PKCE" in await ana.account()


async def test_the_request_names_the_resource_and_a_challenge(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana = await member(portal, "ana")
        asked = parse_qs(urlsplit(await ana.leave()).query)
        assert asked["resource"] == [guarded.url]
        assert asked["code_challenge_method"] == ["S256"]
        assert asked["redirect_uri"] == ["http://localhost/connect/upstreams/far/callback"]


async def test_a_link_works_for_the_person_who_was_given_it_alone(guarded: Guarded) -> None:
    async with portal_of(guarded) as portal:
        ana, mallory = await two(portal)
        await mallory.connect(guarded)
        await until_offered(portal, "far__add", tier="ana")
        link = (await ana.add()).text.partition("Open ")[2].partition(" ")[0]
        path = f"/account?{urlsplit(link).query}"
        shown = await ana.browser.get(path)
        assert "asked for" in shown.text
        refused = await mallory.browser.get(path)
        assert refused.status_code == 403
        assert "This link is for another person" in refused.text

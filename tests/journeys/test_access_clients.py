"""Clients that start their sign-in at an HTTP challenge, and whose tokens soon end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

import pytest
from playwright.async_api import Browser

from tests.access.conftest import Publisher
from tests.access.test_sdk_client import Kept
from tests.chain.anvil import Chain
from tests.journeys.community import community, rpc
from tests.journeys.member import member, tools
from tests.journeys.world import ERAS, MEMBERS, TIERS, World, eventually, refused, settings

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def challenging(
    chain: Chain, publisher: Publisher, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[World]:
    """A portal that challenges by HTTP, and whose access tokens end soon."""
    with rpc(chain.url) as reads:
        config = settings(
            reads,
            challenge="http",
            tokens={"access": "2s"},
            private_hosts=[publisher.host],
        )
        trusted = {"SSL_CERT_FILE": str(publisher.authority)}
        with community(tmp_path_factory.mktemp("other"), config, TIERS, trusted) as portal:
            yield World(portal, chain, reads)


@pytest.mark.parametrize("how", ["document", "registration"])
async def test_a_client_is_told_apart_by_its_document_or_by_nothing(
    browser: Browser, challenging: World, publisher: Publisher, era: str, how: str
) -> None:
    document = publisher.url if how == "document" else None
    kept = Kept()
    async with member(browser, challenging.url, challenging.wearer()) as person:
        address = f"{challenging.url}/members/mcp"
        async with person.connected(address, era, kept, document) as client:
            assert MEMBERS in await tools(client)
    (consent,) = person.consents
    assert person.callback.uri.removeprefix("http://").partition("/")[0] in consent
    if document:
        assert f"{publisher.host} publishes its description" in consent
    else:
        assert "its name is unverified" in consent


async def test_a_client_steps_up_in_the_browser(
    browser: Browser, challenging: World, era: str
) -> None:
    kept = Kept()
    address = f"{challenging.url}/mcp"
    async with member(browser, challenging.url, challenging.wearer()) as person:
        # A session of the legacy era stays with whoever began it, here nobody: once signed in,
        # the client begins another.
        with suppress(*([ExceptionGroup] if era == "legacy" else [])):
            async with person.connected(address, era, kept) as client:
                await client.call_tool("define_term", {"term": "season"})
        assert kept.tokens is not None
        assert kept.tokens.scope == "public"
        async with person.connected(address, era, kept) as client:
            assert not await refused(client)
        assert kept.tokens.scope == "public members"
    assert [asked["scope"] for asked in person.asked] == ["public", "public members"]


async def test_a_client_refreshes_by_itself(browser: Browser, challenging: World, era: str) -> None:
    kept = Kept()
    seen: set[str | None] = set()
    async with member(browser, challenging.url, challenging.wearer()) as person:
        async with person.connected(f"{challenging.url}/members/mcp", era, kept) as client:

            async def refreshed_twice() -> bool:
                assert not await refused(client)
                assert kept.tokens is not None
                seen.add(kept.tokens.refresh_token)
                return len(seen) == 3

            await eventually(refreshed_twice, "the tokens were renewed twice")
    assert len(person.asked) == 1

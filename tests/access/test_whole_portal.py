"""A real MCP client signs a person in at a running portal, in both eras."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import httpx2
import pytest
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from mcp_types import TextContent

from tests.access.conftest import REDIRECT, Publisher
from tests.access.person import Person
from tests.access.test_sdk_client import Kept
from tests.gateway.surfaces.oauth.surface import query_of

pytestmark = pytest.mark.heavy

ERAS = ["legacy", "2026-07-28"]


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class SignsIn:
    """What the client is told about its user: they are at a browser.

    Attributes:
        asked: the parameters of each authorization request.
        auth: the client's OAuth.
    """

    auth: OAuthClientProvider

    def __init__(self, person: Person) -> None:
        self.asked: list[dict[str, str]] = []
        self._person = person
        self._answer = ""

    async def sent_to(self, url: str) -> None:
        self.asked.append(query_of(url))
        self._answer = await self._person.go(url, until=REDIRECT)

    async def came_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(query_of(self._answer))


@asynccontextmanager
async def connected(
    address: str,
    era: str,
    kept: Kept,
    document: str | None = None,
    user: SignsIn | None = None,
) -> AsyncIterator[tuple[Client, SignsIn]]:
    """A client at an address of the portal, whose user is there."""
    if user is None:
        async with Person() as person:
            user = SignsIn(person)
            async with connected(address, era, kept, document, user) as both:
                yield both
        return
    metadata = OAuthClientMetadata.model_validate(
        {"redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none"}
    )
    user.auth = OAuthClientProvider(address, metadata, kept, user.sent_to, user.came_back, document)
    async with httpx2.AsyncClient(auth=user.auth, trust_env=False, timeout=60) as http:
        transport = streamable_http_client(address, http_client=http)
        async with Client(transport, mode=era) as client:
            yield client, user


async def tools(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def test_who_has_not_signed_in_uses_what_is_open(url: str, era: str) -> None:
    async with connected(f"{url}/mcp", era, Kept()) as (client, user):
        assert "look" in await tools(client)
        result = await client.call_tool("look", {"name": "north"})
        assert not result.is_error
    assert user.asked == []


async def test_a_call_above_the_tier_signs_the_person_in_and_then_runs(url: str, era: str) -> None:
    async with connected(f"{url}/mcp", era, Kept()) as (client, user):
        result = await client.call_tool("water", {"name": "north"})
        assert result.content == [TextContent(text="north watered at the tier public")]
    assert [asked["resource"] for asked in user.asked] == [f"{url}/mcp"]


async def test_a_call_above_the_tokens_scope_asks_for_more(url: str, era: str) -> None:
    kept = Kept()
    async with connected(f"{url}/mcp", era, kept) as (client, user):
        await client.call_tool("water", {"name": "north"})
        assert kept.tokens is not None
        assert kept.tokens.scope == "public"
        result = await client.call_tool("harvest")
        assert result.content == [TextContent(text="Harvested.")]
        assert kept.tokens.scope == "public members"
    assert [asked["scope"] for asked in user.asked] == ["public", "public members"]


@pytest.mark.parametrize("how", ["document", "registration"])
async def test_the_members_address_signs_the_person_in_when_the_client_connects(
    url: str, era: str, how: str, publisher: Publisher
) -> None:
    document = publisher.url if how == "document" else None
    kept = Kept()
    async with connected(f"{url}/members/mcp", era, kept, document) as (client, user):
        assert {"look", "water", "harvest"} <= await tools(client)
    assert len(user.asked) == 1
    assert (user.asked[0]["client_id"] == publisher.url) == (how == "document")
    assert kept.tokens is not None
    assert kept.tokens.scope == "public members"


async def test_a_client_refreshes_its_tokens_and_nobody_is_asked(url: str, era: str) -> None:
    kept = Kept()
    async with connected(f"{url}/members/mcp", era, kept) as (client, user):
        await client.call_tool("harvest")
        before = kept.tokens
        user.auth.context.token_expiry_time = 1.0
        assert not (await client.call_tool("harvest")).is_error
    assert len(user.asked) == 1
    assert before is not None
    assert kept.tokens is not None
    assert kept.tokens.refresh_token != before.refresh_token


async def test_the_pages_lead_from_signing_in_to_consent_and_back(url: str) -> None:
    async with Person() as person:
        user = SignsIn(person)
        async with connected(f"{url}/members/mcp", ERAS[1], Kept(), user=user) as (client, _):
            await tools(client)
        assert person.seen == ["/signin", "/consent"]
        # Whoever is signed in is asked for consent alone.
        async with connected(f"{url}/members/mcp", ERAS[1], Kept(), user=user) as (client, _):
            await tools(client)
        assert person.seen == ["/signin", "/consent", "/consent"]

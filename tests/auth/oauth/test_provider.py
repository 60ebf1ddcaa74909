"""What the SDK's handlers ask of the provider; the whole protocol is tested at the surface."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp.server.auth.provider import TokenError
from mcp.shared.auth import OAuthClientInformationFull

from auth.oauth.provider import Provider, scope_of
from auth.tiers import Tier
from tests.gateway.surfaces.oauth.conftest import Client, register
from tests.gateway.surfaces.oauth.surface import BASE, Surface, open_surface


@pytest.fixture
async def surface(tmp_path: Path) -> AsyncIterator[Surface]:
    async with open_surface(tmp_path) as surface:
        yield surface


@pytest.fixture
async def client(surface: Surface) -> AsyncIterator[Client]:
    async with surface.browser() as browser:
        yield await register(browser)


@given(st.lists(st.sampled_from(["public", "members", "open", "openid", "admin", ""])))
def test_a_scope_includes_the_ones_below_it_and_none_above(scopes: list[str]) -> None:
    granted = scope_of(scopes)
    assert granted in {("public",), ("public", "members")}
    known = [each for each in scopes if each in {"public", "members"}]
    assert set(known) <= set(granted)
    if known:
        assert max(map(Tier, granted)) == max(map(Tier, known))


async def known(surface: Surface, client: Client) -> OAuthClientInformationFull:
    found = await surface.clients.get(client.client_id)
    assert found is not None
    return found


async def test_a_code_that_is_spent_between_two_looks_ends_the_grant(
    surface: Surface, client: Client
) -> None:
    provider = Provider(surface.parts, BASE, {})
    oauth_client = await known(surface, client)
    text = await client.code()
    code = await provider.load_authorization_code(oauth_client, text)
    assert code is not None
    assert (await client.exchange(text)).status_code == 200
    with pytest.raises(TokenError) as refused:
        await provider.exchange_authorization_code(oauth_client, code)
    assert refused.value.error == "invalid_grant"
    assert [kind for kind, _ in surface.reused] == ["code"]


async def test_a_refresh_token_that_is_spent_between_two_looks_ends_the_grant(
    surface: Surface, client: Client
) -> None:
    provider = Provider(surface.parts, BASE, {})
    oauth_client = await known(surface, client)
    text = (await client.sign_in())["refresh_token"]
    token = await provider.load_refresh_token(oauth_client, text)
    assert token is not None
    fresh = (await client.refresh(text)).json()
    with pytest.raises(TokenError) as refused:
        await provider.exchange_refresh_token(oauth_client, token, ["public"])
    assert refused.value.error == "invalid_grant"
    assert (await client.refresh(fresh["refresh_token"])).json()["error"] == "invalid_grant"


async def test_a_grant_that_is_revoked_between_two_looks_gives_nothing(
    surface: Surface, client: Client
) -> None:
    provider = Provider(surface.parts, BASE, {})
    oauth_client = await known(surface, client)
    tokens = await client.sign_in()
    token = await provider.load_refresh_token(oauth_client, tokens["refresh_token"])
    code = await provider.load_authorization_code(oauth_client, await client.code())
    assert token is not None
    assert code is not None
    form = {"token": tokens["access_token"]}
    assert (await client.post("/revoke", form)).status_code == 200
    with pytest.raises(TokenError):
        await provider.exchange_refresh_token(oauth_client, token, [])
    await surface.stores.people.delete(surface.alice.id)
    with pytest.raises(TokenError):
        await provider.exchange_authorization_code(oauth_client, code)
    assert surface.reused == []


@pytest.mark.parametrize("token", ["", "porch_unknown", "a.b.c", "a.b", "ü"])
async def test_what_is_no_access_token_of_ours_is_none_to_revoke(
    surface: Surface, token: str
) -> None:
    assert await Provider(surface.parts, BASE, {}).load_access_token(token) is None


async def test_an_access_token_that_has_expired_is_none_to_revoke(
    surface: Surface, client: Client
) -> None:
    token = (await client.sign_in())["access_token"]
    provider = Provider(surface.parts, BASE, {})
    assert await provider.load_access_token(token) is not None
    surface.clock.ahead = 1000
    assert await provider.load_access_token(token) is None

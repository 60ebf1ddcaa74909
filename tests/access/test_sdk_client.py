"""The SDK's own OAuth client signs in at the portal, whatever it brings along."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest
from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)

from tests.gateway.surfaces.oauth.surface import (
    BASE,
    DOCUMENT,
    Surface,
    open_surface,
    query_of,
)

REDIRECT = "http://127.0.0.1:3118/callback"
ERAS = ["2025-11-25", "2026-07-28"]


class Kept:
    """What the client remembers, as its ``TokenStorage``."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


class Person:
    """Sits at the browser, signed in, and agrees to whatever is asked.

    Attributes:
        asked: the parameters of each authorization request.
    """

    def __init__(self, browser: httpx2.AsyncClient) -> None:
        self._browser = browser
        self._answer = ""
        self.asked: list[dict[str, str]] = []

    async def sent_to(self, url: str) -> None:
        self.asked.append(query_of(url))
        location = (await self._browser.get(url)).headers["location"]
        while not location.startswith(REDIRECT):
            location = (await self._browser.get(location)).headers["location"]
        self._answer = location

    async def came_back(self) -> AuthorizationCodeResult:
        return AuthorizationCodeResult.model_validate(query_of(self._answer))


@pytest.fixture
async def surface(tmp_path: Path) -> AsyncIterator[Surface]:
    async with open_surface(tmp_path) as surface:
        yield surface


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def person(surface: Surface) -> AsyncIterator[Person]:
    async with surface.browser() as browser:
        yield Person(browser)


@asynccontextmanager
async def client(
    surface: Surface,
    person: Person,
    era: str,
    kept: Kept,
    *,
    path: str = "/mcp",
    method: str | None = "none",
    document: str | None = None,
) -> AsyncIterator[httpx2.AsyncClient]:
    """The SDK's OAuth client, as MCP's transport would use it."""
    metadata = OAuthClientMetadata.model_validate(
        {
            "client_name": "The SDK",
            "redirect_uris": [REDIRECT],
            "token_endpoint_auth_method": method,
        }
    )
    provider = OAuthClientProvider(
        BASE + path, metadata, kept, person.sent_to, person.came_back, document
    )
    async with surface.browser() as http:
        http.auth = provider
        http.headers["MCP-Protocol-Version"] = era
        yield http


@pytest.mark.parametrize("method", ["none", "client_secret_post", "client_secret_basic", None])
async def test_it_registers_itself(
    surface: Surface, person: Person, era: str, method: str | None
) -> None:
    kept = Kept()
    async with client(surface, person, era, kept, method=method) as http:
        answer = await http.post("/mcp?tier=members")
    assert answer.json() == {"person": surface.alice.id, "tier": "members"}
    assert person.asked[0]["resource"] == f"{BASE}/mcp"
    assert kept.client is not None
    assert (kept.client.client_secret is None) == (method == "none")


async def test_it_is_known_by_its_document(surface: Surface, person: Person, era: str) -> None:
    surface.documents[DOCUMENT] = {
        "client_id": DOCUMENT,
        "client_name": "The SDK",
        "redirect_uris": [REDIRECT],
    }
    async with client(surface, person, era, Kept(), document=DOCUMENT) as http:
        answer = await http.post("/mcp?tier=members")
    assert answer.json()["tier"] == "members"
    assert person.asked[0]["client_id"] == DOCUMENT


@pytest.mark.parametrize("path", ["/mcp", "/mcp/knowledge", "/members/mcp"])
async def test_it_gets_a_token_for_the_address_that_it_uses(
    surface: Surface, person: Person, era: str, path: str
) -> None:
    async with client(surface, person, era, Kept(), path=path) as http:
        assert (await http.post(f"{path}?tier=members")).status_code == 200
    assert person.asked[0]["resource"] == BASE + path


async def test_it_steps_up_when_a_call_needs_more(
    surface: Surface, person: Person, era: str
) -> None:
    async with client(surface, person, era, Kept()) as http:
        assert (await http.post("/mcp?tier=public")).json()["tier"] == "public"
        assert (await http.post("/mcp?tier=members")).json()["tier"] == "members"
    assert [asked["scope"] for asked in person.asked] == ["public", "public members"]


async def test_it_refreshes_and_nobody_is_asked_again(
    surface: Surface, person: Person, era: str
) -> None:
    kept = Kept()
    async with client(surface, person, era, kept) as http:
        await http.post("/mcp?tier=members")
        before = kept.tokens
        http.auth.context.token_expiry_time = 1.0  # type: ignore[union-attr]
        assert (await http.post("/mcp?tier=members")).status_code == 200
    assert len(person.asked) == 1
    assert before is not None
    assert kept.tokens is not None
    assert kept.tokens.refresh_token != before.refresh_token
    assert kept.tokens.access_token != before.access_token


async def test_after_a_revocation_it_signs_in_again(
    surface: Surface, person: Person, era: str
) -> None:
    kept = Kept()
    async with client(surface, person, era, kept) as http:
        await http.post("/mcp?tier=members")
        grants = await surface.stores.grants.of(surface.alice.id)
        await surface.stores.grants.revoke([grant.id for grant in grants])
        await surface.parts.revocations.revoke(*(f"grant:{grant.id}" for grant in grants))
        assert (await http.post("/mcp?tier=members")).status_code == 200
    assert len(person.asked) == 2

"""The surface, and a client that has registered there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest

from gateway.testing import open_test_portal
from tests.gateway.surfaces.oauth.assertions import TIERS, Desk, Machine, Portal, declared
from tests.gateway.surfaces.oauth.surface import (
    BASE,
    REDIRECT,
    Surface,
    open_surface,
    pkce,
    query_of,
)
from tests.servers.identity_provider import IdentityProvider


@pytest.fixture
async def surface(tmp_path: Path) -> AsyncIterator[Surface]:
    async with open_surface(tmp_path) as surface:
        yield surface


@pytest.fixture
async def browser(surface: Surface) -> AsyncIterator[httpx2.AsyncClient]:
    async with surface.browser() as browser:
        yield browser


@dataclass
class Client:
    """An OAuth client's side of the protocol."""

    http: httpx2.AsyncClient
    client_id: str
    secret: str | None = None
    basic: bool = False
    redirect_uri: str = REDIRECT
    verifier: str = ""

    async def authorize(self, **changed: str | None) -> httpx2.Response:
        """Ask for an authorization; None leaves a parameter out."""
        self.verifier, challenge = pkce()
        asked = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "its own",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return await self.http.get("/authorize", params=_without_none({**asked, **changed}))

    async def code(self, **changed: str | None) -> str:
        """A code that the person agreed to."""
        consent = await self.authorize(**changed)
        assert consent.status_code == 302, consent.text
        assert consent.headers["location"].startswith(f"{self.base}/consent?request="), consent
        answer = await self.http.get(consent.headers["location"])
        return query_of(answer.headers["location"])["code"]

    @property
    def base(self) -> str:
        return str(self.http.base_url).rstrip("/")

    async def exchange(self, code: str, **changed: str | None) -> httpx2.Response:
        """Ask for the tokens of a code."""
        asked = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": self.redirect_uri,
            "code_verifier": self.verifier,
        }
        return await self.post("/token", {**asked, **changed})

    async def refresh(self, token: str, **changed: str | None) -> httpx2.Response:
        """Ask for the tokens of a refresh token."""
        asked = {"grant_type": "refresh_token", "refresh_token": token}
        return await self.post("/token", {**asked, **changed})

    async def post(self, path: str, form: Mapping[str, str | None]) -> httpx2.Response:
        """Post a form as this client."""
        if self.basic:
            assert self.secret is not None
            auth = (self.client_id, self.secret)
            return await self.http.post(path, data=_without_none(form), auth=auth)
        own = {"client_id": self.client_id, "client_secret": self.secret}
        return await self.http.post(path, data=_without_none({**own, **form}))

    async def sign_in(self, **changed: str | None) -> dict[str, Any]:
        """All of it: the tokens."""
        answer = await self.exchange(await self.code(**changed))
        assert answer.status_code == 200, answer.text
        tokens: dict[str, Any] = answer.json()
        return tokens

    async def use(self, token: str, path: str = "/mcp") -> httpx2.Response:
        """Use an access token."""
        return await self.http.get(path, headers={"Authorization": f"Bearer {token}"})


async def register(http: httpx2.AsyncClient, **metadata: Any) -> Client:
    """Register a client."""
    asked = {
        "client_name": "Garden Tools",
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        **metadata,
    }
    answer = await http.post("/register", json=asked)
    assert answer.status_code == 201, answer.text
    said = answer.json()
    basic = said["token_endpoint_auth_method"] == "client_secret_basic"
    redirect = said["redirect_uris"][0]
    return Client(http, said["client_id"], said.get("client_secret"), basic, redirect)


@pytest.fixture
async def client(browser: httpx2.AsyncClient) -> Client:
    return await register(browser)


def _without_none(values: Mapping[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


__all__ = ["BASE", "Client", "register"]


@pytest.fixture(scope="module")
def provider() -> Iterator[IdentityProvider]:
    with IdentityProvider() as provider:
        yield provider


@pytest.fixture
async def world(provider: IdentityProvider) -> AsyncIterator[Portal]:
    machine = Machine()
    config = {"sign_in": declared(machine, provider, tier="public")}
    async with open_test_portal(Desk(), config=config, tiers=TIERS) as portal:
        yield Portal(portal, machine, provider)

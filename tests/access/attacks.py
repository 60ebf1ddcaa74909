"""What attacks need: a whole portal in memory, its visitors, and clients that lie."""

from __future__ import annotations

import base64
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import urljoin

import httpx2
import jwt
from eth_account import Account as Key
from sqlalchemy import func, select

from auth import Account, Tier
from auth.stores import Person
from gateway.identity.authentication import Authentication
from gateway.testing import TestPortal, open_test_portal
from gateway.testing.own_tables import portal_metadata
from tests.gateway.surfaces.oauth.surface import pkce, query_of
from tests.gateway.surfaces.pages.browser import NAVIGATES, Browser
from tests.journeys import garden

BASE = "http://localhost"
REDIRECT = "https://client.example/callback"
TIERS = {
    "access": {"members": {"any_of": ["signed_in"]}},
    "default": "members",
    "items": {"garden": "open", "garden/water": "public", "garden/harvest": "members"},
}
PROVES = {"look": "open", "water": "public", "harvest": "members"}
"""The tool that shows a caller's tier by being listed, lowest first."""
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@dataclass
class Attacked:
    """An open portal.

    Attributes:
        portal: the portal.
        base: its address as callers see it.
    """

    portal: TestPortal
    base: str = BASE
    opened: list[Any] = field(default_factory=list)

    @property
    def who(self) -> Authentication:
        """The parts that say who is calling."""
        return self.portal.running.authentication

    def client(self, peer: str = "192.0.2.7") -> httpx2.AsyncClient:
        """A client of HTTP at an address, which keeps cookies and follows nothing."""
        transport = httpx2.ASGITransport(
            self.portal.app, raise_app_exceptions=False, client=(peer, 4711)
        )
        client = httpx2.AsyncClient(transport=transport, base_url=self.base)
        self.opened.append(client)
        return client

    def browser(self) -> Browser:
        """A browser."""
        browser = Browser(self.portal.app, self.base)
        self.opened.append(browser)
        return browser

    async def person(self, account: Account | None = None) -> Person:
        """Someone who has signed in; by default with a wallet of their own."""
        account = account or Account.of_key(Key.create().address)
        return await self.who.accounts.sign_in(account)

    async def api_token(self, person: Person, **limits: Any) -> str:
        """A new API token of a person."""
        expires = datetime.now(UTC) + timedelta(days=1)
        given = {"ceiling": Tier.MEMBERS, "expires": expires, **limits}
        return (await self.who.api_tokens.create(person.id, "a token", **given))[1]

    async def tier(
        self,
        token: str | None = None,
        path: str = "/mcp",
        headers: Mapping[str, str] | None = None,
        query: str = "",
        client: httpx2.AsyncClient | None = None,
    ) -> str:
        """The tier that a caller has at an address, or ``refused`` where it is a 401."""
        message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": META}}
        sent = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/list", **(headers or {})}
        if token is not None:
            sent["authorization"] = f"Bearer {token}"
        answer = await (client or self.client()).post(path + query, json=message, headers=sent)
        if answer.status_code == 401:
            return "refused"
        assert answer.status_code == 200, answer.text
        listed = {tool["name"] for tool in answer.json()["result"]["tools"]}
        return [tier for tool, tier in PROVES.items() if tool in listed][-1]

    async def rows(self) -> dict[str, int]:
        """How many rows each table of the portal has."""
        found = {}
        async with self.portal.running.services.shared_database.engine.connect() as connection:
            for name, table in portal_metadata().tables.items():
                if name.startswith("porch_"):
                    query = select(func.count()).select_from(table)
                    found[name] = (await connection.execute(query)).scalar_one()
        return found


@asynccontextmanager
async def attacked(
    *, base: str = BASE, tiers: Mapping[str, Any] | None = None, **config: Any
) -> AsyncIterator[Attacked]:
    """Open a portal; ``config`` is a part of ``portal.yaml``."""
    if base != BASE:
        config["public_url"] = base
    async with open_test_portal(garden, config=config, tiers=tiers or TIERS) as portal:
        made = Attacked(portal, base)
        try:
            yield made
        finally:
            for each in made.opened:
                await each.aclose()


@dataclass
class OAuthClient:
    """An OAuth client, and the browser of whoever uses it.

    Attributes:
        portal: the portal.
        browser: signed in.
        http: how the client itself calls.
        client_id: its id.
        redirect_uri: where it listens.
        verifier: of its last request.
    """

    portal: Attacked
    browser: Browser
    http: httpx2.AsyncClient
    client_id: str
    redirect_uri: str = REDIRECT
    verifier: str = ""

    def asked(self, **changed: str | None) -> dict[str, str]:
        """The parameters of an authorization request; None leaves one out."""
        self.verifier, challenge = pkce()
        values: dict[str, str | None] = {
            "response_type": "code",
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": "its own",
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return {name: each for name, each in {**values, **changed}.items() if each is not None}

    async def authorize(self, **changed: str | None) -> httpx2.Response:
        """What the browser gets that a client sends to the portal."""
        return await self.browser.client.get(
            "/authorize", params=self.asked(**changed), headers=NAVIGATES
        )

    async def consent(self, **changed: str | None) -> httpx2.Response:
        """The consent page."""
        answer = await self.authorize(**changed)
        assert answer.status_code == 302, answer.text
        return await self.browser.get(answer.headers["location"])

    async def code(self, **changed: str | None) -> str:
        """A code to which the person agreed on the page."""
        page = await self.consent(**changed)
        assert page.status_code == 200, page.text
        answer = await self.browser.submit("/consent", {"answer": "allow"})
        assert answer.status_code == 303, answer.text
        assert answer.headers["location"].startswith(self.redirect_uri)
        return query_of(answer.headers["location"])["code"]

    async def exchange(self, code: str, **changed: str | None) -> httpx2.Response:
        """Ask for the tokens of a code."""
        return await self.post(
            "/token",
            grant_type="authorization_code",
            **{
                "code": code,
                "redirect_uri": self.redirect_uri,
                "code_verifier": self.verifier,
                **changed,
            },
        )

    async def refresh(self, token: str, **changed: str | None) -> httpx2.Response:
        """Ask for new tokens."""
        given = {"grant_type": "refresh_token", "refresh_token": token, **changed}
        return await self.post("/token", **given)

    async def post(self, path: str, **values: str | None) -> httpx2.Response:
        """Post a form as this client."""
        form = {"client_id": self.client_id, **values}
        return await self.http.post(
            path, data={name: each for name, each in form.items() if each is not None}
        )

    async def tokens(self, **changed: str | None) -> dict[str, Any]:
        """All of it."""
        answer = await self.exchange(await self.code(**changed))
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


async def register(
    portal: Attacked, browser: Browser | None = None, **metadata: Any
) -> OAuthClient:
    """A client that has registered, used by someone who signs in with a new wallet."""
    if browser is None:
        browser = portal.browser()
        await browser.sign_in()
    http = portal.client()
    asked = {
        "client_name": "Garden Tools",
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        **metadata,
    }
    answer = await http.post("/register", json=asked)
    assert answer.status_code == 201, answer.text
    said = answer.json()
    return OAuthClient(portal, browser, http, said["client_id"], asked["redirect_uris"][0])


async def person_of(portal: Attacked, browser: Browser) -> Person | None:
    """Who is signed in in a browser, or None; by the cookie itself."""
    cookie = next((c.value for c in browser.client.cookies.jar if c.name in SESSIONS), "")
    session = await portal.who.sessions.find(cookie or "")
    return None if session is None else await portal.who.stores.people.get(session.person)


SESSIONS = {"porch_session", "__Host-porch"}
"""What the cookie of a session is called, by http and by https."""


def elsewhere(answer: httpx2.Response, base: str = BASE) -> bool:
    """Whether an answer leads a browser to another site, as browsers read addresses."""
    location = answer.headers.get("location", "")
    target = urljoin(f"{base}/x", location.replace("\\", "/").strip())
    return not target.startswith(f"{base}/")


TOKEN_NAMES = [
    "grant_type",
    "client_id",
    "client_secret",
    "code",
    "code_verifier",
    "redirect_uri",
    "refresh_token",
    "resource",
    "scope",
    "token",
    "token_type_hint",
]
"""The parameters of requests for tokens and of revocations."""

EVERY_WAY = {
    "github": {"client_id": "portal", "client_secret": "env:PORCH_TEST_SECRET"},
    "oidc": [{"name": "Provider", "issuer": "http://127.0.0.1:9", "client_id": "portal"}],
}
"""Every way to sign in, so that every form is there; nobody answers at these addresses."""


def opened(sealed: str) -> dict[str, Any]:
    """What a sealed request says; it is signed, not secret."""
    body = sealed.partition(".")[0]
    values: dict[str, Any] = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))[1]
    return values


def resealed(sealed: str, **changes: Any) -> str:
    """The request with fields changed, and the signature that it had."""
    body, _, signature = sealed.partition(".")
    until, values = json.loads(base64.urlsafe_b64decode(body + "=" * (-len(body) % 4)))
    text = json.dumps([until, {**values, **changes}], separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode() + "." + signature


def claims_of(token: str) -> dict[str, Any]:
    """What a token says, unchecked."""
    return jwt.decode(token, options={"verify_signature": False})

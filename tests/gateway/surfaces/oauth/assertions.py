"""A portal that takes signed assertions, and those who sign: a machine, an identity provider."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx2
import jwt
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from gateway.contract import Caller, Offer, Plugin, Tool, hookimpl
from gateway.testing import TestPortal
from tests.servers.identity_provider import IdentityProvider, Key

BASE = "http://localhost"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
TIERS = {"items": {"desk/whoami": "open", "desk/secret": "members"}}
HMAC = b"0123456789abcdef0123456789abcdef0123456789abcdef"


class Desk:
    """Says who calls."""

    @hookimpl
    def porch_plugin(self) -> Plugin:
        @asynccontextmanager
        async def opened(config: Any, host: Any) -> AsyncIterator[Offer]:
            async def whoami(*, caller: Caller) -> str:
                """Who calls."""
                return f"{caller.person} {caller.tier} {caller.name}"

            async def secret(*, caller: Caller) -> str:
                """For members."""
                return "a secret"

            yield Offer(tools=[Tool.of(whoami), Tool.of(secret)])

        return Plugin("desk", "Says who calls.", opened)


@dataclass
class Machine:
    """A declared client, as it signs."""

    id: str = "nightly"
    key: Key = field(default_factory=lambda: Key("ES256"))

    def claims(self, **changed: Any) -> dict[str, Any]:
        now = int(time.time())
        claims = {
            "iss": self.id,
            "sub": self.id,
            "aud": BASE,
            "iat": now,
            "exp": now + 60,
            "jti": secrets.token_hex(8),
        }
        return {name: each for name, each in {**claims, **changed}.items() if each is not None}

    def assertion(self, header: Mapping[str, Any] | None = None, **changed: Any) -> str:
        headers = {"typ": "JWT", "kid": self.key.kid, **(header or {})}
        payload = json.dumps(self.claims(**changed)).encode()
        return jwt.api_jws.encode(payload, self.key.private, "ES256", headers)


@dataclass
class Portal:
    """A portal, its one machine, and the identity provider whose word it takes."""

    portal: TestPortal
    machine: Machine
    provider: IdentityProvider

    async def token(self, **said: str | None) -> httpx2.Response:
        """Ask for the machine's own token."""
        asked: dict[str, str | None] = {
            "grant_type": "client_credentials",
            "client_assertion_type": ASSERTION_TYPE,
            "client_assertion": self.machine.assertion(),
            **said,
        }
        form = {name: each for name, each in asked.items() if each is not None}
        return await self.portal.http("open").post("/token", data=form)

    def word(self, header: Mapping[str, Any] | None = None, **changed: Any) -> str:
        """The provider's word about Ana."""
        now = int(time.time())
        claims = {
            "iss": self.provider.issuer,
            "sub": "ana",
            "aud": BASE,
            "client_id": self.machine.id,
            "resource": f"{BASE}/mcp",
            "scope": "public members",
            "iat": now,
            "exp": now + 300,
            "jti": secrets.token_hex(8),
            **changed,
        }
        said = {name: each for name, each in claims.items() if each is not None}
        key = self.provider.signs
        headers = {"typ": "oauth-id-jag+jwt", "kid": key.kid, **(header or {})}
        return jwt.encode(said, key.private, key.algorithm, headers)

    async def for_ana(self, word: str | None = None, **said: str | None) -> httpx2.Response:
        """Ask for a token for Ana."""
        return await self.token(grant_type=JWT_BEARER, assertion=word or self.word(), **said)

    async def whoami(self, answer: httpx2.Response, tool: str = "whoami") -> str:
        """Whom the portal takes the holder of a token for."""
        assert answer.status_code == 200, answer.text
        said = {"authorization": f"Bearer {answer.json()['access_token']}"}
        return (await self.portal.call(tool, {}, tier="open", headers=said)).text


def declared(machine: Machine, provider: IdentityProvider, **more: Any) -> dict[str, Any]:
    client = {"id": machine.id, "name": "Nightly", "jwks": {"keys": [machine.key.jwk]}, **more}
    word = {"issuer": provider.issuer, "jwks_url": f"{provider.issuer}/jwks"}
    only = {"id": "agent", "jwks": {"keys": [Key("ES256").jwk]}}
    return {"clients": [client, only], "identity_assertions": [word]}


def problem(answer: httpx2.Response) -> str:
    assert answer.status_code in (400, 401), answer.text
    assert answer.headers["cache-control"] == "no-store"
    assert "access_token" not in answer.json()
    return str(answer.json()["error"])


class Kept:
    """Where a client of the SDK keeps its tokens."""

    tokens: OAuthToken | None = None
    client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def called_by(portal: TestPortal, auth: httpx2.Auth) -> httpx2.Response:
    """A request for what takes a token, by a client that gets one on the way."""
    transport = httpx2.ASGITransport(portal.app)
    async with httpx2.AsyncClient(transport=transport, base_url=BASE, auth=auth) as http:
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
        return await http.post("/members/mcp", json=message)

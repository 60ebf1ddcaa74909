"""The OAuth routes behind the real door, over real stores, with a person who always agrees."""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from auth import Account, Authenticator, Tier
from auth.document_fetcher import Document, FetchFailed
from auth.facts import Facts
from auth.oauth.authorization_server import AuthorizationServer
from auth.oauth.cimd import ClientDocuments
from auth.oauth.clients import Clients
from auth.oauth.consent import Consents
from auth.portal_addresses import Site
from auth.resolver import Resolver
from auth.revocations import Revocations
from auth.rules import AccessRules
from auth.sealer import Sealer
from auth.stores import Grant, Person, Stores
from auth.tokens.access_tokens import AccessTokens
from auth.tokens.signing_keys import SigningKeys
from gateway.config.addresses import DOORS
from gateway.surfaces.http.challenges import bearer_challenge
from gateway.surfaces.http.cors import Cors
from gateway.surfaces.http.http_guard import HttpGuard
from gateway.surfaces.http.request_context import context_of
from gateway.surfaces.oauth.parts import Limits, OAuthSurface
from gateway.surfaces.oauth.routes import oauth_routes, resources_of
from tests.auth.stores import empty_stores

KEY = b"k" * 32
BASE = "https://porch.example"
REDIRECT = "https://client.example/callback"
DOCUMENT = "https://client.example/client.json"
ALICE = Account.of_key("0x00000000000000000000000000000000000A11cE")


class Clock:
    """The time, as far ahead as the test has put it."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def __call__(self) -> float:
        return time.time() + self.ahead


@dataclass
class Surface:
    """The running surface and its parts.

    Attributes:
        app: the door, with the routes of OAuth, a consent page that agrees at once, and ``/mcp``,
            which says who calls and asks for the tier in the query.
        alice: the person who agrees.
        documents: client metadata documents by address.
        reused: what was presented twice, and the grant.
    """

    app: HttpGuard
    stores: Stores
    alice: Person
    consents: Consents
    clients: Clients
    parts: AuthorizationServer
    clock: Clock
    documents: dict[str, Any] = field(default_factory=dict)
    reused: list[tuple[str, Grant]] = field(default_factory=list)

    def browser(self, base: str = BASE) -> httpx2.AsyncClient:
        """A client of HTTP that does not follow redirections."""
        transport = httpx2.ASGITransport(self.app, client=("192.0.2.7", 4711))
        return httpx2.AsyncClient(transport=transport, base_url=base)


@asynccontextmanager
async def open_surface(
    directory: Path,
    url: str = BASE,
    *,
    local: bool = False,
    limits: Limits | None = None,
    lifetime: float = 900,
) -> AsyncIterator[Surface]:
    """Open the surface; arguments as the parts that they are for take them."""
    clock, site = Clock(), Site(url, local=local, doors=DOORS)
    async with empty_stores(directory) as stores:
        keys = SigningKeys(KEY, clock)
        revocations = Revocations(stores.revocations)
        tokens = AccessTokens(
            keys, site, stores.people, stores.grants, lifetime, clock, 90 * 86_400
        )
        consents = Consents(Sealer(KEY, "consent", clock), stores.grants, clock)
        documents: dict[str, Any] = {}
        clients = Clients(Sealer(KEY, "client"), ClientDocuments(_fetch_from(documents)))
        reused: list[tuple[str, Grant]] = []
        server = AuthorizationServer(
            clients=clients,
            consents=consents,
            grants=stores.grants,
            people=stores.people,
            tokens=tokens,
            revocations=revocations,
            site=site,
            is_resource=resources_of(lambda: {"knowledge"}),
            refresh_lifetime=timedelta(days=30),
            grant_lifetime=timedelta(days=90),
            reused=lambda kind, grant: reused.append((kind, grant)),
            clock=clock,
        )
        parts = OAuthSurface(server, keys, "The Garden", _error_page, limits or Limits())
        alice = await stores.people.signed_in(ALICE)
        members = AccessRules.model_validate({"members": {"any_of": ["signed_in"]}})
        authenticator = Authenticator(Resolver(members, Facts({})), revocations, [tokens])
        routes = [*oauth_routes(parts), *_own_routes(consents, alice)]
        app = _door(routes, authenticator, site)
        yield Surface(app, stores, alice, consents, clients, server, clock, documents, reused)


def _door(routes: list[Route], authenticator: Authenticator, site: Site) -> HttpGuard:
    host = urlsplit(site.url).netloc
    local = {"127.0.0.1:*", "localhost:*"}
    return HttpGuard(
        Starlette(routes=routes), authenticator.caller, site, {host, *local}, Cors({site.url})
    )


def _fetch_from(documents: Mapping[str, Any]) -> Callable[[str], Awaitable[Document]]:
    async def fetch(url: str) -> Document:
        if url not in documents:
            raise FetchFailed("The client's document could not be fetched.")
        return Document(documents[url], None)

    return fetch


def _own_routes(consents: Consents, person: Person) -> list[Route]:
    async def consent(request: Request) -> Response:
        asked = consents.open(request.query_params["request"])
        return RedirectResponse(await consents.approve(asked, person.id), 303)

    async def mcp(request: Request) -> Response:
        context, path = context_of(request.scope), request.url.path
        needed = Tier(request.query_params.get("tier", "open"))
        if context.caller.tier.allows(needed):
            return JSONResponse({"person": context.caller.person, "tier": context.caller.tier})
        anonymous = context.caller.anonymous
        error = None if anonymous else "insufficient_scope"
        name, value = bearer_challenge(context.base, path, error=error, scope=needed)
        headers = {name.decode(): value.decode()}
        return Response(status_code=401 if anonymous else 403, headers=headers)

    paths = ("/mcp", "/mcp/knowledge", "/members/mcp")
    return [Route("/consent", consent), *(Route(p, mcp, methods=["GET", "POST"]) for p in paths)]


def _error_page(request: Request, status: int, title: str, text: str) -> Response:
    return HTMLResponse(f"<h1>{title}</h1><p>{text}</p>", status)


def pkce() -> tuple[str, str]:
    """A code verifier and its S256 challenge."""
    verifier = secrets.token_urlsafe(32)
    digest = hashlib.sha256(verifier.encode()).digest()
    return verifier, base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def query_of(url: str) -> dict[str, str]:
    """The parameters of an address."""
    return dict(parse_qsl(urlsplit(url).query, strict_parsing=True, keep_blank_values=True))

"""What the portal publishes of itself for those who have not connected yet.

A server card says what it is called and where it is reached (SEP-2127, as drafted in
modelcontextprotocol/experimental-ext-server-card), a catalog leads to the card (AI Catalog 1.0),
and a registry takes ``server.json`` (MCP registry, schema 2025-12-11). None lists tools: what there
is depends on who asks.
"""

from __future__ import annotations

import hashlib
import json
from ipaddress import ip_address
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, MODERN_PROTOCOL_VERSIONS
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.config.addresses import CARD_PATH, CATALOG_PATHS, MCP_PATH
from gateway.surfaces.http.request_context import context_of

CARD_TYPE = "application/mcp-server-card+json"
CATALOG_TYPE = "application/ai-catalog+json"
MAX_CHARACTERS = 100
"""The most characters of a title or description, in cards and in registries."""
_SCHEMAS = "https://static.modelcontextprotocol.io/schemas"
_CARD_SCHEMA = f"{_SCHEMAS}/v1/server-card.schema.json"
_REGISTRY_SCHEMA = f"{_SCHEMAS}/2025-12-11/server.schema.json"
_SUMMARY = "Tools and knowledge of a community at one address, for whoever may use them."
_LIFETIME_SECONDS = 3600
_READS = ("GET", "HEAD")


class PublicPortal(NamedTuple):
    """What strangers may know of a portal.

    Attributes:
        title: what it is called.
        version: Porch's version.
        base: its address, without a slash at the end.
    """

    title: str
    version: str
    base: str

    @property
    def host(self) -> str:
        """The host of its address."""
        return urlsplit(self.base).hostname or "localhost"

    @property
    def name(self) -> str:
        """Its name among all servers, after its domain: ``org.example.portal/porch``."""
        try:
            ip_address(self.host)
        except ValueError:
            return f"{'.'.join(reversed(self.host.split('.')))}/porch"
        return "localhost/porch"  # an address is no domain, and only a local portal has none


def server_card(portal: PublicPortal) -> dict[str, Any]:
    """The server card of a portal."""
    remote = {
        "type": "streamable-http",
        "url": portal.base + MCP_PATH,
        "supportedProtocolVersions": [*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS],
    }
    return {"$schema": _CARD_SCHEMA, **_said(portal), "remotes": [remote]}


def ai_catalog(portal: PublicPortal) -> dict[str, Any]:
    """The catalog that leads to the card."""
    entry = {
        "identifier": f"urn:air:{portal.host}:mcp:porch",
        "type": CARD_TYPE,
        "url": portal.base + CARD_PATH,
    }
    return {"specVersion": "1.0", "entries": [entry]}


def registry_entry(portal: PublicPortal, name: str | None = None) -> dict[str, Any]:
    """The ``server.json`` of a portal, for a registry.

    Args:
        portal: the portal.
        name: its name there, ``NAMESPACE/NAME``; after its domain if None.
    """
    remote = {"type": "streamable-http", "url": portal.base + MCP_PATH}
    said = _said(portal) | ({"name": name} if name else {})
    return {"$schema": _REGISTRY_SCHEMA, **said, "remotes": [remote]}


def _said(portal: PublicPortal) -> dict[str, Any]:
    return {
        "name": portal.name,
        "version": portal.version,
        "description": _SUMMARY,
        "title": portal.title[:MAX_CHARACTERS],
        "websiteUrl": f"{portal.base}/",
    }


def discovery_routes(title: str, version: str) -> list[Route]:
    """The routes of the card and of the catalog.

    Args:
        title: what the portal is called.
        version: Porch's version.
    """

    def portal_of(request: Request) -> PublicPortal:
        return PublicPortal(title, version, context_of(request.scope).base)

    async def card(request: Request) -> Response:
        if request.method not in _READS:
            # Taken here, or it would come to the endpoint of a plugin of that name.
            return Response(status_code=405, headers={"Allow": ", ".join(_READS)})
        return _document(request, server_card(portal_of(request)), CARD_TYPE)

    async def catalog(request: Request) -> Response:
        return _document(request, ai_catalog(portal_of(request)), CATALOG_TYPE)

    return [
        Route(CARD_PATH, card, methods=[*_READS, "POST", "PUT", "PATCH", "DELETE"]),
        *(Route(path, catalog, methods=["GET"]) for path in CATALOG_PATHS),
    ]


def _document(request: Request, document: dict[str, Any], media_type: str) -> Response:
    """A document to be kept for an hour, and asked for again by its tag (RFC 9110, 13.1.2)."""
    body = json.dumps(document, ensure_ascii=False).encode()
    tag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
    headers = {"ETag": tag, "Cache-Control": f"public, max-age={_LIFETIME_SECONDS}"}
    known = [each.strip() for each in request.headers.get("if-none-match", "").split(",")]
    if tag in known or "*" in known:
        return Response(status_code=304, headers=headers)
    return Response(body, media_type=media_type, headers=headers)

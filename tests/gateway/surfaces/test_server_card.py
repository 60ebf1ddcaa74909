"""What the portal publishes of itself: the server card and the catalog (SEP-2127)."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator

import httpx2
import pytest

from gateway.surfaces.server_card import PublicPortal, registry_entry
from gateway.testing import open_test_portal
from tests.gateway.surfaces import ticking

CARD = "/mcp/server-card"
CATALOGS = ("/.well-known/ai-catalog.json", "/.well-known/mcp/catalog.json")
ELSEWHERE = {"Origin": "https://inspector.example"}


@pytest.fixture
async def stranger() -> AsyncIterator[httpx2.AsyncClient]:
    """A client that has not connected."""
    async with open_test_portal(ticking) as portal:
        yield portal.http()


async def test_the_card_says_where_to_connect_and_agrees_with_the_server(
    stranger: httpx2.AsyncClient,
) -> None:
    answer = await stranger.get(CARD, headers={"Accept": "application/mcp-server-card+json"})
    assert answer.headers["content-type"] == "application/mcp-server-card+json"
    card = answer.json()
    assert re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", card["name"])
    assert 0 < len(card["description"]) <= 100
    (remote,) = card["remotes"]
    assert (remote["type"], remote["url"]) == (
        "streamable-http",
        f"{stranger.base_url}".rstrip("/") + "/mcp",
    )
    assert {"2025-11-25", "2026-07-28"} <= set(remote["supportedProtocolVersions"])
    message = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "it", "version": "1"},
        },
    }
    accepts = {"Accept": "application/json, text/event-stream"}
    hello = (await stranger.post("/mcp", json=message, headers=accepts)).text
    assert f'"version":"{card["version"]}"' in hello
    assert f'"title":"{card["title"]}"' in hello
    assert card["name"].endswith("/porch")
    assert '"name":"porch"' in hello


@pytest.mark.parametrize("path", CATALOGS)
async def test_the_catalog_leads_to_the_card(stranger: httpx2.AsyncClient, path: str) -> None:
    answer = await stranger.get(path)
    assert answer.headers["content-type"] == "application/ai-catalog+json"
    (entry,) = answer.json()["entries"]
    assert entry["type"] == "application/mcp-server-card+json"
    assert entry["identifier"].startswith("urn:air:")
    assert (await stranger.get(entry["url"])).json()["remotes"]


@pytest.mark.parametrize("path", [CARD, *CATALOGS])
async def test_every_page_may_read_them_and_asks_again_by_their_tag(
    stranger: httpx2.AsyncClient, path: str
) -> None:
    first = await stranger.get(path, headers=ELSEWHERE)
    assert first.headers["access-control-allow-origin"] == "*"
    assert "etag" in first.headers["access-control-expose-headers"].lower()
    assert first.headers["cache-control"] == "public, max-age=3600"
    again = await stranger.get(path, headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    asked = ELSEWHERE | {
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "if-none-match",
    }
    assert (await stranger.options(path, headers=asked)).status_code == 200


@pytest.mark.parametrize("method", ["POST", "DELETE", "PUT"])
async def test_nothing_can_be_sent_to_the_card(stranger: httpx2.AsyncClient, method: str) -> None:
    assert (await stranger.request(method, CARD, json={})).status_code == 405


def test_a_registry_takes_what_the_portal_says() -> None:
    portal = PublicPortal("The Commons", "1.2.3", "https://portal.example.org")
    entry = registry_entry(portal)
    assert entry["$schema"].endswith("/2025-12-11/server.schema.json")
    assert entry["name"] == "org.example.portal/porch"
    assert entry["remotes"] == [
        {"type": "streamable-http", "url": "https://portal.example.org/mcp"}
    ]
    assert portal._replace(base="http://127.0.0.1:8321").name == "localhost/porch"
    assert portal._replace(base="http://[::1]:8321").name == "localhost/porch"
    named = registry_entry(portal, "io.github.commons/portal")
    assert named["name"] == "io.github.commons/portal"
    assert len(registry_entry(portal._replace(title="x" * 300))["title"]) == 100

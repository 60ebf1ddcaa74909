"""A portal with more tools than fit, as the official client of both eras meets it."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation, TextContent

from auth import StaticTokens, Tier
from gateway.app import PortalApp
from gateway.config.portal import load_portal
from tests.gateway.discovery import workshop
from tests.servers.serving import bound, serving

ERAS = ["legacy", "2026-07-28"]
TOKEN = "a-token-of-the-tests"
CONFIG = {
    "services": {"embedding": "none"},
    "limits": {"calls": "none"},
    "tools": {
        "budget": 900,
        "clients": [{"client": "everything please*", "mode": "full"}],
        "favourites": {"pinned": ["order_parts", "repair_safe"]},
    },
}


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a portal that listens on loopback."""
    root = tmp_path_factory.mktemp("portal")
    config = root / "config"
    config.mkdir()
    (config / "portal.yaml").write_text(yaml.safe_dump(CONFIG))
    (config / "tiers.yaml").write_text(workshop.TIERS)
    tokens = StaticTokens({TOKEN: Tier.MEMBERS})
    app = PortalApp(load_portal(config), root / "data", tokens, [workshop.MODULE])
    with serving(app, bound(), lifespan=True) as base:
        yield f"{base}/mcp"


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def connected(
    url: str, era: str, name: str = "a client", token: str | None = None
) -> AsyncGenerator[Client]:
    headers = {"authorization": f"Bearer {token}"} if token else {}
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        transport = streamable_http_client(url, http_client=http)
        info = Implementation(name=name, version="1")
        async with Client(transport, mode=era, client_info=info) as client:
            yield client


async def names(client: Client) -> list[str]:
    return [tool.name for tool in (await client.list_tools()).tools]


def text(result: CallToolResult) -> str:
    (first, *_) = result.content
    assert isinstance(first, TextContent)
    return first.text


async def through(client: Client, name: str, arguments: Any = None) -> CallToolResult:
    return await client.call_tool("call_tool", {"name": name, "arguments": arguments or {}})


async def test_a_client_is_shown_the_favourites_and_the_search(url: str, era: str) -> None:
    async with connected(url, era) as client:
        assert await names(client) == ["find_tools", "call_tool", "order_parts"]
    async with connected(url, era, token=TOKEN) as client:
        shown = await names(client)
        assert shown == ["find_tools", "call_tool", "order_parts", "repair_safe"]


async def test_the_search_says_what_there_is_to_be_found(url: str, era: str) -> None:
    async with connected(url, era) as client:
        described = (await client.list_tools()).tools[0].description or ""
        assert "workshop (41): " in described
        assert "repair" in described
        assert "40 tools of this portal are not in your list" in described


async def test_what_the_search_finds_is_called_through_the_other_tool(url: str, era: str) -> None:
    async with connected(url, era) as client:
        answer = await client.call_tool("find_tools", {"query": "my violin is broken, mend it"})
        (*_,) = found = json.loads(text(answer))["tools"]
        assert "repair_violin" in [each["name"] for each in found]
        assert found[0]["inputSchema"]["properties"]["note"]["description"] == "What to mind."
        done = await through(client, "repair_violin", {"note": "gently"})
        assert text(done) == "repair violin gently"


async def test_a_row_of_the_admins_gives_a_client_the_whole_list(url: str, era: str) -> None:
    async with connected(url, era, "Everything Please 2") as client:
        shown = await names(client)
        assert len(shown) == 41
        assert "find_tools" not in shown


async def test_a_client_that_defers_tools_has_the_favourites_marked(url: str, era: str) -> None:
    async with connected(url, era, "claude-code") as client:
        tools = (await client.list_tools()).tools
        marked = {tool.name for tool in tools if (tool.meta or {}).get("anthropic/alwaysLoad")}
        assert len(tools) == 41
        assert marked == {"order_parts"}


async def test_any_tool_can_be_called_by_its_own_name_too(url: str, era: str) -> None:
    async with connected(url, era) as client:
        assert text(await client.call_tool("weigh_lamp", {})) == "weigh lamp"
    async with connected(url, era, "claude-code") as client:
        assert text(await through(client, "weigh_lamp")) == "weigh lamp"


async def test_a_wrong_name_is_answered_with_the_nearest(url: str, era: str) -> None:
    async with connected(url, era) as client:
        wrong = await through(client, "repair_violine")
        assert wrong.is_error
        assert "repair_violin" in text(wrong)
        hidden = await through(client, "repair_safe")
        assert hidden.is_error
        assert text(hidden).startswith("Unknown tool: repair_safe. Near it: ")
        assert "repair_safe" not in text(hidden).partition(" Near it: ")[2]


async def test_arguments_written_as_a_string_are_taken_all_the_same(url: str, era: str) -> None:
    async with connected(url, era) as client:
        asked = {"name": "order_parts", "arguments": '{"part": "screw", "count": 3}'}
        assert text(await client.call_tool("call_tool", asked)) == "3 x screw"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "name"),
        ({"name": 7}, "name"),
        ({"name": "weigh_lamp", "arguments": "no JSON"}, "arguments"),
        ({"name": "weigh_lamp", "more": 1}, "more"),
        ({"name": "call_tool", "arguments": {"name": "weigh_lamp"}}, "other tools"),
    ],
)
async def test_a_bad_inner_call_says_what_is_wrong(
    url: str, era: str, arguments: dict[str, Any], said: str
) -> None:
    async with connected(url, era) as client:
        answer = await client.call_tool("call_tool", arguments)
        assert answer.is_error
        assert said in text(answer)


async def test_an_inner_failure_is_the_tools_own(url: str, era: str) -> None:
    async with connected(url, era) as client:
        failed = await through(client, "break_down")
        assert (failed.is_error, text(failed)) == (True, "It broke.")
        bad = await through(client, "order_parts", {"count": 1})
        assert bad.is_error
        assert "part" in text(bad)

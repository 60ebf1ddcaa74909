"""The official client of both eras takes work over loopback, does it, and returns it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import httpx2
import pytest
import yaml
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Implementation

from auth import StaticTokens, Tier
from gateway.app import PortalApp
from gateway.config.portal import load_portal
from tests.gateway.work.clerk import Clerk
from tests.servers.serving import bound, serving

TOKEN = "a-token-of-the-tests"
CONFIG = {"services": {"embedding": "none"}, "limits": {"calls": "none"}}


@pytest.fixture
def clerk() -> Clerk:
    return Clerk(publishes=("one",))


@pytest.fixture
def url(clerk: Clerk, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a portal that listens on loopback."""
    root = tmp_path_factory.mktemp("portal")
    (root / "config").mkdir()
    (root / "config" / "portal.yaml").write_text(yaml.safe_dump(CONFIG))
    tokens = StaticTokens({TOKEN: Tier.MEMBERS})
    app = PortalApp(load_portal(root / "config"), root / "data", tokens, [clerk.module()])
    with serving(app, bound(), lifespan=True) as base:
        yield f"{base}/mcp"


@pytest.mark.parametrize("era", ["legacy", "2026-07-28"])
async def test_work_is_taken_done_and_returned(url: str, clerk: Clerk, era: str) -> None:
    headers = {"authorization": f"Bearer {TOKEN}"}
    async with httpx2.AsyncClient(headers=headers, timeout=60, trust_env=False) as http:
        transport = streamable_http_client(url, http_client=http)
        info = Implementation(name="an agent", version="1")
        async with Client(transport, mode=era, client_info=info) as client:
            assert "take_work" in {tool.name for tool in (await client.list_tools()).tools}
            taken: Any = (await client.call_tool("take_work", {})).structured_content
            (item,) = taken["items"]
            wrong = {"id": item["id"], "answer": {"verdict": "well"}, "model": "a model"}
            told = await client.call_tool("return_work", wrong)
            assert told.is_error
            right = {"verdict": "good", "quote": item["context"]["text"]}
            done = await client.call_tool("return_work", {**wrong, "answer": right})
            assert not done.is_error
    async with asyncio.timeout(60):
        while not clerk.accepted:  # noqa: ASYNC110
            await asyncio.sleep(0.02)
    assert clerk.accepted[0].source.client == "an agent"

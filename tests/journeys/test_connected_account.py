"""A member connects their account at another server, from the account page in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx2
import mcp_types
import pytest
from eth_account import Account as Key
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError, UrlElicitationRequiredError
from playwright.async_api import Browser, ConsoleMessage, Page, expect

from auth import Tier
from gateway.cli.mcp_client import McpClient
from gateway.testing import TestPortal
from tests.browser.chromium import Wallet
from tests.plugins.upstreams.credentials.members import member, portal_of
from tests.plugins.upstreams.guarded import Guarded, guarded_server
from tests.plugins.upstreams.login_page import PASSWORD
from tests.plugins.upstreams.portals import answering, until, until_offered
from tests.servers.serving import bound

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


@asynccontextmanager
async def served(guarded: Guarded) -> AsyncGenerator[tuple[TestPortal, str]]:
    """A portal before the server, at a port of its own; and its address."""
    listener = bound()
    async with portal_of(guarded) as portal, answering(portal, listener):
        yield portal, f"http://127.0.0.1:{listener.getsockname()[1]}"


@asynccontextmanager
async def at(browser: Browser, base: str, wallet: Wallet) -> AsyncGenerator[Page]:
    """The account page of somebody who has just signed in."""
    context = await browser.new_context(viewport={"width": 390, "height": 844})
    context.set_default_timeout(45_000)
    page = await context.new_page()
    said: list[str] = []

    def heard(message: ConsoleMessage) -> None:
        if message.location["url"].startswith(base):  # not of the server's own pages
            said.append(message.text)

    page.on("console", heard)
    await wallet.install(context)
    await page.goto(f"{base}/signin")
    await page.get_by_role("button", name="Continue with Test Wallet").click()
    await page.wait_for_url("**/account")
    yield page
    await context.close()
    assert said == []


async def token_of(portal: TestPortal, wallet: Wallet) -> str:
    """An API token of the person with the wallet."""
    who = portal.running.authentication
    person = await who.stores.people.by_subject(f"wallet:{wallet.key.address}")
    assert person is not None
    ends = datetime.now(UTC) + timedelta(days=1)
    _, token = await who.api_tokens.create(person.id, "t", ceiling=Tier.MEMBERS, expires=ends)
    return token


@asynccontextmanager
async def client_of(portal: TestPortal, base: str, wallet: Wallet) -> AsyncGenerator[McpClient]:
    """An MCP client that holds such a token."""
    headers = {"authorization": f"Bearer {await token_of(portal, wallet)}"}
    async with httpx2.AsyncClient(base_url=base, headers=headers, timeout=60) as http:
        yield McpClient(http, "/mcp")


async def test_from_the_account_page_to_a_call_and_back(browser: Browser) -> None:
    wallet = Wallet(Key.create())
    with guarded_server() as guarded:
        guarded.user, guarded.renews = "", False
        async with served(guarded) as (portal, base), at(browser, base, wallet) as page:
            servers = page.get_by_role("region", name="Connected servers")
            await expect(servers).to_contain_text("not connected")
            await servers.get_by_role("button", name="Connect far").click()
            await expect(page.get_by_role("heading", level=1)).to_have_text("Connect far")
            host = guarded.issuer.removeprefix("http://")
            await page.get_by_role("link", name=f"Continue to {host}").click()
            await expect(page).to_have_title("Sign in at Far")
            await page.get_by_label("Name").fill("ana-there")
            await page.get_by_label("Password").fill(PASSWORD)
            await page.get_by_role("button", name="Sign in and allow").click()
            await page.wait_for_url("**/account")
            await expect(page.get_by_role("status").first).to_contain_text("far is connected.")
            await expect(servers).to_contain_text("Good until")
            async with client_of(portal, base, wallet) as client:

                async def is_offered() -> bool:
                    return "far__add" in {each["name"] for each in await client.list("tools")}

                await until(is_offered)
                result = await client.call("far__add", {"a": 40, "b": 2})
                assert result["structuredContent"] == {"sum": 42}
                assert guarded.calls == [("ana-there", "40")]
                await servers.get_by_role("button", name="Disconnect far").click()
                await expect(page.get_by_text("far is disconnected.")).to_be_visible()
                await expect(servers).to_contain_text("not connected")
                refused = await client.call("far__add", {"a": 1, "b": 2})
                assert refused["isError"]
                link = refused["content"][0]["text"].partition("Open ")[2].partition(" ")[0]
                await page.goto(link)
                await expect(servers).to_contain_text("asked for")
                asked_for = page.get_by_role("region", name="Asked for")
                await asked_for.get_by_role("button", name="Connect far").click()
                await expect(page.get_by_role("heading", level=1)).to_have_text("Connect far")
        assert len(guarded.calls) == 1


async def test_the_sdks_client_is_led_there_and_hears_when_it_is_done(browser: Browser) -> None:
    wallet, heard = Wallet(Key.create()), asyncio.Queue[Any]()

    async def hear(message: Any) -> None:
        if isinstance(message, mcp_types.ElicitCompleteNotification):
            await heard.put(message.params.elicitation_id)

    async def never(context: Any, params: Any) -> Any:
        raise AssertionError("a client of this revision is asked by the error")

    with guarded_server() as guarded:
        async with served(guarded) as (portal, base), at(browser, base, wallet) as page:
            ben = await member(portal, "ben")
            await ben.connect(guarded)
            await until_offered(portal, "far__add", tier="ben")
            guarded.user = ""
            headers = {"authorization": f"Bearer {await token_of(portal, wallet)}"}
            async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http:
                transport = streamable_http_client(f"{base}/mcp", http_client=http)
                listening: dict[str, Any] = {"message_handler": hear, "elicitation_callback": never}
                async with Client(transport, mode="legacy", **listening) as client:
                    with pytest.raises(MCPError) as asked:
                        await client.call_tool("far__add", {"a": 1, "b": 2})
                    needed = UrlElicitationRequiredError.from_error(asked.value.error)
                    [question] = needed.elicitations
                    await page.goto(question.url)
                    asked_for = page.get_by_role("region", name="Asked for")
                    await asked_for.get_by_role("button", name="Connect far").click()
                    await page.get_by_role("link", name="Continue to").click()
                    await page.get_by_label("Name").fill("ana-there")
                    await page.get_by_label("Password").fill(PASSWORD)
                    await page.get_by_role("button", name="Sign in and allow").click()
                    await page.wait_for_url("**/account")
                    assert await asyncio.wait_for(heard.get(), 60) == question.elicitation_id
                    result = await client.call_tool("far__add", {"a": 1, "b": 2})
                    assert result.structured_content == {"sum": 3}
                    assert guarded.calls[-1] == ("ana-there", "1")


async def test_who_does_not_agree_there_is_not_connected(browser: Browser) -> None:
    wallet = Wallet(Key.create())
    with guarded_server() as guarded:
        guarded.user = ""
        async with served(guarded) as (_, base), at(browser, base, wallet) as page:
            await page.get_by_role("button", name="Connect far").click()
            await page.get_by_role("link", name="Continue to").click()
            await page.get_by_role("button", name="Deny").click()
            await page.wait_for_url("**/account")
            await expect(page.get_by_role("alert").first).to_contain_text("You did not agree there")
            servers = page.get_by_role("region", name="Connected servers")
            await expect(servers).to_contain_text("not connected")

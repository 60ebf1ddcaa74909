"""A person at Chromium with a wallet, and the MCP client that they connect."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
from mcp import Client
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientMetadata
from mcp_types import CallToolResult
from playwright.async_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.access.test_sdk_client import Kept
from tests.browser.chromium import Wallet
from tests.gateway.surfaces.oauth.surface import query_of
from tests.servers.serving import bound, serving


class Callback:
    """Where an MCP client waits for the browser to come back.

    Attributes:
        uri: the address.
        answers: the addresses that the browser came back with.
    """

    def __init__(self) -> None:
        self.uri = ""
        self.answers: list[str] = []

    async def _answer(self, request: Request) -> PlainTextResponse:
        self.answers.append(str(request.url))
        return PlainTextResponse("You can close this window.")

    @contextmanager
    def serving(self) -> Iterator[Callback]:
        """Listen for as long as the block lasts."""
        with serving(Starlette(routes=[Route("/callback", self._answer)]), bound()) as base:
            self.uri = f"{base}/callback"
            yield self


class Member:
    """A person at a browser.

    Attributes:
        page: the page that is open.
        base: the portal's address.
        asked: the parameters of each authorization request that they were sent to.
        consents: what each consent page said.
    """

    def __init__(self, page: Page, base: str, callback: Callback) -> None:
        self.page = page
        self.base = base
        self.callback = callback
        self.asked: list[dict[str, str]] = []
        self.consents: list[str] = []

    async def sign_in(self, button: str = "Continue with Test Wallet") -> None:
        """Sign in from the first page on."""
        await self.page.goto(self.base)
        await self.page.get_by_role("link", name="Sign in").first.click()
        await self.page.get_by_role("button", name=button).click()
        await self.page.wait_for_url("**/account")

    async def account(self) -> str:
        """What the account page says."""
        await self.page.goto(f"{self.base}/account")
        return await self.page.locator("main").inner_text()

    async def snippet(self, label: str) -> str:
        """A text to paste, as the first page shows it."""
        await self.page.goto(self.base)
        return await self.page.get_by_label(label, exact=True).inner_text()

    async def sent_to(self, url: str) -> None:
        """Go where a client sends them, in a tab of its own, and agree."""
        self.asked.append(query_of(url))
        tab = await self.page.context.new_page()
        await tab.goto(url)
        allow = tab.get_by_role("button", name="Allow")
        wallet = tab.get_by_role("button", name="Continue with Test Wallet")
        await expect(allow.or_(wallet)).to_be_visible()
        if await wallet.is_visible():
            await wallet.click()
        await allow.wait_for()
        self.consents.append(await tab.locator("main").inner_text())
        await allow.click()
        await tab.wait_for_url("**/callback?**")
        await tab.close()

    async def came_back(self) -> AuthorizationCodeResult:
        """What the browser brought back to the client."""
        return AuthorizationCodeResult.model_validate(query_of(self.callback.answers[-1]))

    @asynccontextmanager
    async def connected(
        self, address: str, era: str, kept: Kept, document: str | None = None
    ) -> AsyncGenerator[Client]:
        """The SDK's client at an address, with its own OAuth."""
        metadata = OAuthClientMetadata.model_validate(
            {
                "client_name": "The SDK",
                "redirect_uris": [self.callback.uri],
                "token_endpoint_auth_method": "none",
            }
        )
        auth = OAuthClientProvider(address, metadata, kept, self.sent_to, self.came_back, document)
        async with httpx2.AsyncClient(auth=auth, trust_env=False, timeout=60) as http:
            transport = streamable_http_client(address, http_client=http)
            async with Client(transport, mode=era) as client:
                yield client


@asynccontextmanager
async def member(
    browser: Browser, base: str, wallet: Wallet | None = None, **options: Any
) -> AsyncGenerator[Member]:
    """A person at a browser of their own; no page of the portal may break its own policy."""
    context = await browser.new_context(**options)
    context.set_default_timeout(60_000)
    page = await context.new_page()
    said: list[str] = []

    def is_own(page: Page | None) -> bool:
        return page is not None and page.url.startswith(base)

    context.on("console", lambda line: said.append(line.text) if is_own(line.page) else None)
    context.on("weberror", lambda error: said.append(str(error.error)))
    if wallet is not None:
        await wallet.install(context)
    try:
        with Callback().serving() as callback:
            yield Member(page, base, callback)
    finally:
        await context.close()
    assert said == []


@asynccontextmanager
async def plain_client(address: str, token: str, era: str) -> AsyncGenerator[Client]:
    """A client that sends a token and knows nothing of OAuth."""
    headers = {"authorization": f"Bearer {token}"}
    async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=60) as http:
        async with Client(streamable_http_client(address, http_client=http), mode=era) as client:
            yield client


async def tools(client: Client) -> set[str]:
    """The names of the tools that a client is shown now; else it remembers them for a minute."""
    return {tool.name for tool in (await client.list_tools(cache_mode="refresh")).tools}


def said(result: CallToolResult) -> str:
    """The text of a tool's answer."""
    return "\n".join(getattr(block, "text", "") for block in result.content)

"""A whole portal in memory: the real application, without a port."""

from __future__ import annotations

import asyncio
import base64
import secrets
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
import yaml

from auth import Account, StaticTokens, Tier
from auth.stores import Person
from gateway.app import PortalApp
from gateway.cli.mcp_client import McpClient
from gateway.config.plans_file import PLANS_FILE
from gateway.config.portal import PORTAL_FILE, TIERS_FILE, load_portal
from gateway.open_portal import OpenPortal
from gateway.testing.migrations import replayed_migrations

TierName = str
"""``open``, ``public`` or ``members``; or the name of someone whom ``sign_in`` signed in."""

_HIGHEST = "members"


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a tool call gave.

    Attributes:
        is_error: whether the tool failed in a way that the model can read.
        text: the first text block; the reason, where it failed.
        structured: the structured content, or None.
        content: every content block, as JSON values.
    """

    is_error: bool
    text: str
    structured: Any
    content: Sequence[Mapping[str, Any]]


class TestPortal:
    """A running portal as its callers meet it; made by :func:`open_test_portal`.

    Each method takes the tier of the caller; the request passes the HTTP guard, the tier check and
    the whole pipeline, as one over the network would.

    Attributes:
        app: the ASGI application.
        running: the open portal's parts.
        config_dir: where its ``portal.yaml`` and ``tiers.yaml`` stand; a change to the latter
            comes into force within two seconds.
    """

    __test__ = False

    def __init__(
        self, app: PortalApp, running: OpenPortal, config_dir: Path, tokens: dict[str, str]
    ) -> None:
        self.app = app
        self.running = running
        self.config_dir = config_dir
        self._tokens = tokens
        self._clients: dict[str, httpx2.AsyncClient] = {}

    async def sign_in(self, name: str, *accounts: Account) -> Person:
        """Sign someone in, who from then on calls under their name in place of a tier.

        The rules of ``tiers.yaml`` decide their tier, as for anyone who signs in; without rules
        it is public.

        Args:
            name: what to call them, as in ``portal.call("greet", tier="alice")``.
            accounts: what they have proved to be theirs; a wallet of their own if none is given.
        """
        who = self.running.authentication
        first, *others = accounts or (Account.of_key(f"0x{secrets.token_hex(20)}", name),)
        person = await who.accounts.sign_in(first)
        for account in others:
            await who.accounts.link(person.id, account)
        _, token = await who.api_tokens.create(
            person.id, "test", ceiling=Tier.MEMBERS, expires=datetime.now(UTC) + timedelta(days=1)
        )
        self._tokens[name] = token
        return person

    async def call(
        self,
        tool: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        tier: TierName = _HIGHEST,
        headers: Mapping[str, str] | None = None,
    ) -> CallResult:
        """Call a tool.

        Args:
            tool: its name.
            arguments: its arguments.
            tier: the caller's tier.
            headers: further headers, such as that of an ``UpstreamCredential``.

        Raises:
            RequestRefused: there is no such tool, for this caller.
        """
        result = await self.mcp(tier, headers=headers).call(tool, arguments or {})
        content = result["content"]
        texts = [block["text"] for block in content if block["type"] == "text"]
        return CallResult(
            is_error=bool(result.get("isError")),
            text=texts[0] if texts else "",
            structured=result.get("structuredContent"),
            content=content,
        )

    async def tools(self, tier: TierName = _HIGHEST) -> dict[str, dict[str, Any]]:
        """The tools that a caller is shown, by name."""
        return {each["name"]: each for each in await self.mcp(tier).list("tools")}

    async def prompts(self, tier: TierName = _HIGHEST) -> dict[str, dict[str, Any]]:
        """The prompts that a caller is shown, by name."""
        return {each["name"]: each for each in await self.mcp(tier).list("prompts")}

    async def resources(self, tier: TierName = _HIGHEST) -> dict[str, dict[str, Any]]:
        """The resources that a caller is shown, by URI; templates by their URI template."""
        fixed = await self.mcp(tier).list("resources")
        templates = await self.mcp(tier).list("templates")
        return {each["uri"]: each for each in fixed} | {
            each["uriTemplate"]: each for each in templates
        }

    async def skills(self, tier: TierName = _HIGHEST) -> dict[str, dict[str, Any]]:
        """The skills that a caller is shown, by the URI of their SKILL.md."""
        return {each["uri"]: each for each in await self.mcp(tier).list("skills")}

    async def skill(self, uri: str, *, tier: TierName = _HIGHEST) -> dict[str, Any]:
        """A skill's entry: its frontmatter and its manifest.

        Raises:
            RequestRefused: there is no such skill for this caller.
        """
        entry: dict[str, Any] = (await self.mcp(tier).request("skills/get", {"uri": uri}))["skill"]
        return entry

    async def directory(self, uri: str, *, tier: TierName = _HIGHEST) -> dict[str, dict[str, Any]]:
        """What a directory holds, by URI.

        Raises:
            RequestRefused: there is no such directory for this caller.
        """
        params = {"uri": uri}
        children = await self.mcp(tier).pages("resources/directory/read", "resources", params)
        return {each["uri"]: each for each in children}

    async def prompt(
        self,
        name: str,
        arguments: Mapping[str, str] | None = None,
        *,
        tier: TierName = _HIGHEST,
    ) -> list[dict[str, Any]]:
        """Render a prompt: its messages.

        Raises:
            RequestRefused: there is no such prompt for this caller, or it did not render.
        """
        params = {"name": name, "arguments": dict(arguments or {})}
        result = await self.mcp(tier).request("prompts/get", params)
        messages: list[dict[str, Any]] = result["messages"]
        return messages

    async def read(self, uri: str, *, tier: TierName = _HIGHEST) -> str:
        """Read a resource: its text, or base64 where it is no text.

        Raises:
            RequestRefused: there is no such resource for this caller.
        """
        first = await self._content(uri, tier)
        return str(first["text"] if "text" in first else first["blob"])

    async def read_bytes(self, uri: str, *, tier: TierName = _HIGHEST) -> bytes:
        """Read a resource's raw bytes, such as a skill's digests are of; raises as :meth:`read`."""
        first = await self._content(uri, tier)
        return first["text"].encode() if "text" in first else base64.b64decode(first["blob"])

    async def _content(self, uri: str, tier: TierName) -> dict[str, Any]:
        result = await self.mcp(tier).request("resources/read", {"uri": uri})
        first: dict[str, Any] = result["contents"][0]
        return first

    async def complete(
        self,
        of: str,
        argument: str,
        typed: str,
        others: Mapping[str, str] | None = None,
        *,
        tier: TierName = _HIGHEST,
    ) -> list[str]:
        """Ask for completions.

        Args:
            of: a prompt's name, or a URI template.
            argument: the argument or variable to complete.
            typed: what is typed so far.
            others: the arguments that have a value already.
            tier: the caller's tier.
        """
        is_template = "://" in of
        ref = {"type": "ref/resource", "uri": of} if is_template else _prompt_ref(of)
        params: dict[str, Any] = {"ref": ref, "argument": {"name": argument, "value": typed}}
        if others:
            params["context"] = {"arguments": dict(others)}
        result = await self.mcp(tier).request("completion/complete", params)
        values: list[str] = result["completion"]["values"]
        return values

    async def get(
        self, path: str, *, tier: TierName = "open", headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Send a GET request, to a REST route for example."""
        return await self.http(tier).get(path, headers=dict(headers or {}))

    async def hook(
        self, plugin: str, name: str, body: bytes, headers: Mapping[str, str] | None = None
    ) -> httpx2.Response:
        """Deliver a webhook."""
        path = f"/hooks/{plugin}/{name}"
        return await self.http("open").post(path, content=body, headers=dict(headers or {}))

    async def health(self) -> dict[str, Any]:
        """What ``/readyz`` tells an admin."""
        details: dict[str, Any] = (await self.http("open").get("/readyz")).json()
        return details

    def mcp(
        self,
        tier: TierName = _HIGHEST,
        plugin: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> McpClient:
        """An MCP client of a tier, on ``/mcp`` or on one plugin's own endpoint.

        Args:
            tier: the caller's tier.
            plugin: the plugin whose endpoint to use.
            headers: further headers of every request, such as that of an ``UpstreamCredential``.
        """
        return McpClient(self.http(tier), f"/mcp/{plugin}" if plugin else "/mcp", headers)

    def http(self, tier: TierName = "open") -> httpx2.AsyncClient:
        """An HTTP client of a tier; an open one sends no token."""
        if tier not in self._clients:
            token = self._tokens.get(tier)
            self._clients[tier] = httpx2.AsyncClient(
                transport=_Transport(app=self.app, raise_app_exceptions=False),
                base_url="http://localhost",
                headers={"authorization": f"Bearer {token}"} if token else {},
                timeout=60,
            )
        return self._clients[tier]

    async def aclose(self) -> None:
        """Close the clients."""
        for client in self._clients.values():
            await client.aclose()


class _Transport(httpx2.ASGITransport):
    """Lets others run before each request, as waiting for a network does."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        await asyncio.sleep(0)
        return await super().handle_async_request(request)


def _prompt_ref(name: str) -> dict[str, str]:
    return {"type": "ref/prompt", "name": name}


@asynccontextmanager
async def open_test_portal(
    *modules: Any,
    config: Mapping[str, Any] | None = None,
    tiers: str | Mapping[str, Any] | None = None,
    plans: str | None = None,
    data_dir: Path | None = None,
    wait_ready: bool = True,
    schedules: bool = False,
) -> AsyncGenerator[TestPortal]:
    """Open a portal in memory for as long as the block lasts.

    Its services are embedded, and it has no embedding model, and no limit on tool calls, unless
    ``config`` asks for one.
    Plugins have finished their first work when the block begins.

    Args:
        modules: the plugins' modules; none of them means the installed plugins.
        config: ``portal.yaml`` as a mapping, such as ``{"plugins": {"mine": {...}}}``.
        tiers: ``tiers.yaml`` as text or as a mapping; without it, what plugins suggest holds.
        plans: ``plans.yaml`` as text; without it, models have no budget.
        data_dir: keeps the data after the block; by default it is thrown away.
        wait_ready: whether plugins should finish their first work before the block begins.
        schedules: whether jobs run by their schedules; those that are queued always run.

    Raises:
        ConfigError: ``config`` or ``tiers`` is wrong.
    """
    tokens = {tier: secrets.token_hex(16) for tier in ("public", "members")}
    async with AsyncExitStack() as stack:
        # A thread whose caller was cancelled may still finish a file that it had begun.
        kept = TemporaryDirectory(prefix="porch-test-", ignore_cleanup_errors=True)
        root = Path(stack.enter_context(kept))
        stack.enter_context(replayed_migrations())
        portal = load_portal(_write_config(root / "config", config, tiers, plans))
        app = PortalApp(
            portal,
            data_dir or root / "data",
            StaticTokens({token: Tier(tier) for tier, token in tokens.items()}),
            modules or None,
        )
        running = await stack.enter_async_context(
            app.opened(wait_ready=wait_ready, schedules=schedules)
        )
        test_portal = TestPortal(app, running, portal.directory, tokens)
        stack.push_async_callback(test_portal.aclose)
        yield test_portal


def _write_config(
    directory: Path,
    config: Mapping[str, Any] | None,
    tiers: str | Mapping[str, Any] | None,
    plans: str | None = None,
) -> Path:
    directory.mkdir()
    written = dict(config or {})
    written["services"] = {"embedding": "none", **written.get("services", {})}
    written["limits"] = {"calls": "none", "rest": "none", **written.get("limits", {})}
    (directory / PORTAL_FILE).write_text(yaml.safe_dump(written), "utf-8")
    if tiers is not None:
        text = tiers if isinstance(tiers, str) else yaml.safe_dump(dict(tiers))
        (directory / TIERS_FILE).write_text(text, "utf-8")
    if plans is not None:
        (directory / PLANS_FILE).write_text(plans, "utf-8")
    return directory

"""A member of a portal before a server of the conformance suite, who uses all that it offers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import httpx2
import mcp_types as mcp

from auth import Caller, Tier
from gateway.contract import Connections, Place, ToolFailed
from gateway.testing import TestPortal
from gateway.toolkit.mirrored_headers import mirrored, parameter_headers
from tests.gateway.surfaces.mcp.conftest import Wire
from tests.plugins.upstreams.portals import portal_before, until

NAME = "ana"
MAX_CONNECTING = 3
"""How often a member connects anew in one scenario because a call says so."""
PLACE = Place(
    "https://portal.example/connect/upstreams/far/callback",
    "https://conformance-test.local/client-metadata.json",
)
"""The portal's addresses; the second is that of the suite's own client metadata document."""
ABLE: dict[str, Any] = {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {}}
NOTHING_READ = frozenset({"sep-2640-client-no-prefetch"})
"""Scenarios in which a client lists what there is, and reads none of it."""
PLAIN: Mapping[str, Any] = {"string": "text", "integer": 2, "number": 2.5, "boolean": True}


def arguments_for(schema: Mapping[str, Any], value: Mapping[str, Any]) -> dict[str, Any]:
    """Arguments that a tool takes.

    Args:
        schema: the tool's.
        value: an object, for those that take any.
    """
    properties = schema.get("properties", {})
    return {
        name: PLAIN.get(properties[name].get("type"), value) for name in schema.get("required", ())
    }


def answer_to(question: Mapping[str, Any]) -> dict[str, Any]:
    """What a person answers who leaves the defaults as they are."""
    if question["method"] != "elicitation/create":
        text = {"type": "text", "text": "Paris"}
        return {"role": "assistant", "content": text, "model": "none"}
    fields = question["params"].get("requestedSchema", {}).get("properties", {})
    content = {name: each.get("default", PLAIN.get(each["type"])) for name, each in fields.items()}
    return {"action": "accept", "content": content}


class Member:
    """Someone who is signed in to the portal."""

    def __init__(self, portal: TestPortal, person: str) -> None:
        self.portal = portal
        self.wire = Wire(portal, NAME)
        self._caller = Caller(person=person, tier=Tier.MEMBERS)
        self._connected = 0

    def _connections(self) -> Connections:
        found = self.portal.running.plugins.offers["upstreams"].connections
        assert found is not None
        return found

    async def ask(self, method: str, params: Mapping[str, Any], **more: Any) -> dict[str, Any]:
        """The answer to a request, whatever the server asks first."""
        meta = {mcp.CLIENT_CAPABILITIES_META_KEY: ABLE}
        answer = await self.wire.modern(method, params, meta=meta, **more).reply()
        result: dict[str, Any] = answer.get("result", {})
        if result.get("resultType") != "input_required":
            return answer
        questions: dict[str, Any] = result["inputRequests"]
        if any(each["params"].get("mode") == "url" for each in questions.values()):
            await self.connect()
        answers = {name: answer_to(each) for name, each in questions.items()}
        state = {key: result[key] for key in ("requestState",) if key in result}
        return await self.ask(method, {**params, "inputResponses": answers, **state}, **more)

    async def entries(self, method: str, key: str) -> list[dict[str, Any]]:
        """What the portal lists of the server."""
        listed = (await self.ask(method, {}))["result"][key]
        return [each for each in listed if each.get("name") != "why_missing"]

    async def call(self, tool: Mapping[str, Any], arguments: Mapping[str, Any]) -> None:
        """Call a tool."""
        headers = mirrored(parameter_headers(tool["inputSchema"]), arguments)
        params = {"name": tool["name"], "arguments": dict(arguments)}
        await self.ask("tools/call", params, headers=headers)

    async def connect(self) -> None:
        """Connect an account at the server, as the pages of the portal have it.

        Raises:
            ToolFailed: it cannot be, and why; or it was done too often.
        """
        self._connected += 1
        if self._connected > MAX_CONNECTING:
            raise ToolFailed("no_use", "Connecting does not help.")
        connections = self._connections()
        departure = await connections.begin("far", self._caller, PLACE)
        async with httpx2.AsyncClient(timeout=60, trust_env=False) as browser:
            back = (await browser.get(departure.url)).headers["location"]
        query = dict(parse_qsl(urlsplit(back).query))
        await connections.finish("far", self._caller, PLACE, query, departure.remembered)

    async def until_asked(self) -> None:
        """Wait until the server has said what it offers, and connect anew where it wants that.

        Raises:
            ToolFailed: it does not answer.
        """

        async def is_asked() -> bool:
            connections = await self._connections().listed(self._caller)
            if any(each.status == "expired" for each in connections):
                await self.connect()
            health = self.portal.running.plugins.offers["upstreams"].health
            assert health is not None
            facts: Any = (await health()).facts["servers"]["far"]
            if facts["state"] == "down":
                raise ToolFailed("down", facts["reason"])
            return facts["asked"] is not None

        await until(is_asked)

    async def use_everything(self, calls: Mapping[str, Mapping[str, Any]]) -> None:
        """Call each tool, and read all else.

        Args:
            calls: the arguments of some of them, by the server's names.
        """
        tools = await self.entries("tools/list", "tools")
        for tool in tools:
            schema = tool["inputSchema"]
            other = next((each for each in tools if each is not tool), tool)["inputSchema"]
            given = calls.get(tool["name"].partition("__")[2])
            await self.call(tool, arguments_for(schema, other) if given is None else given)
        for prompt in await self.entries("prompts/list", "prompts"):
            given = {each["name"]: "text" for each in prompt.get("arguments", ())}
            await self.ask("prompts/get", {"name": prompt["name"], "arguments": given})
        for resource in await self.entries("resources/list", "resources"):
            await self.ask("resources/read", {"uri": resource["uri"]})


async def use(
    url: str, scenario: str, context: Mapping[str, Any], *, opening: asyncio.Lock
) -> None:
    """Use a server as a member does, from the first connection on.

    Args:
        url: where it is.
        scenario: what it plays.
        context: what it says beside.
        opening: held while a portal opens, which a process does one at a time.
    """
    more: dict[str, Any] = {"tier": "public"}
    if scenario.startswith("auth/"):
        more["credential"] = {"member_oauth": credential_of(context)}
    async with AsyncExitStack() as stack:
        async with opening:
            portal = await stack.enter_async_context(portal_before(url, **more))
        member = Member(portal, (await portal.sign_in(NAME)).id)
        if "credential" in more:
            await member.connect()
        await member.until_asked()
        if scenario in NOTHING_READ:
            await member.entries("resources/list", "resources")
            return
        calls = {each["name"]: each["arguments"] for each in context.get("toolCalls", ())}
        await member.use_everything(calls)


def credential_of(context: Mapping[str, Any]) -> dict[str, Any]:
    """What an admin writes where the portal was registered by hand."""
    if "client_id" not in context:
        return {}
    return {"client_id": context["client_id"], "client_secret": "env:PORCH_TEST_CLIENT_SECRET"}

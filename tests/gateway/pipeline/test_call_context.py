"""What a tool is told of its caller: which other tools of the plugin they may use."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pydantic import BaseModel

from auth import Tier
from gateway.config.tiers_file import parse_rules
from gateway.contract import (
    Caller,
    Host,
    Job,
    Offer,
    Plugin,
    Prompt,
    Route,
    Tool,
    Webhook,
    hookimpl,
)
from gateway.testing import TestPortal, open_test_portal
from tests.gateway.surfaces.mcp.conftest import Wire
from tests.journeys import garden

TIERS = {"items": {"press": "open", "press/publish": "members", "garden": "open"}}
NAMES = ("ask", "publish", "look", "note", "nothing", "")
"""Tools of its own, another plugin's, a prompt's name, and no tool's."""


class Asked(BaseModel):
    """What is asked about."""

    tool: str


class Answer(BaseModel):
    """Whether the caller may use it."""

    allowed: bool


hosts: list[Host] = []
left_behind: list[asyncio.Task[bool]] = []
worked: asyncio.Queue[bool] = asyncio.Queue()


def _tools(host: Host) -> list[Tool]:
    async def ask(tool: str) -> str:
        """Ask whether the caller may use another tool.

        Args:
            tool: which one.
        """
        return str(host.exchange().allows(tool))

    async def publish() -> str:
        """Publish."""
        return "Published."

    async def leave_behind() -> str:
        """Begin what outlives the call."""

        async def later() -> bool:
            await over.wait()
            return host.exchange().allows("ask")

        over = asyncio.Event()
        left_behind.append(asyncio.create_task(later()))
        asyncio.get_running_loop().call_later(0.05, over.set)
        return str(host.exchange().allows("ask"))

    return [Tool.of(each) for each in (ask, publish, leave_behind)]


@asynccontextmanager
async def _open(config: Any, host: Host) -> AsyncGenerator[Offer]:
    async def route(asked: Asked, caller: Caller) -> Answer:
        return Answer(allowed=host.exchange().allows(asked.tool))

    async def note(args: Any, caller: Caller) -> str:
        return str(host.exchange().allows("publish"))

    async def hook(body: bytes, headers: Mapping[str, str]) -> Mapping[str, Any]:
        return {"allowed": host.exchange().allows("ask")}

    async def work(run: Any, payload: Mapping[str, Any]) -> Any:
        worked.put_nowait(host.exchange().allows("ask"))

    hosts.append(host)
    yield Offer(
        tools=_tools(host),
        prompts=[Prompt("note", "A prompt.", note)],
        routes=[Route("GET", "/ask/{tool}", route, "ask", Asked, Answer, "Ask.")],
        webhooks=[Webhook("push", lambda body, headers: True, hook)],
        jobs=[Job("work", work)],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin("press", "Prints.", _open)


@pytest.fixture(scope="module")
async def portal() -> AsyncGenerator[TestPortal]:
    async with open_test_portal(sys.modules[__name__], garden, tiers=TIERS) as portal:
        yield portal


async def allowed(portal: TestPortal, tier: str, called: str = "ask") -> list[str]:
    """What a caller is said to be allowed, by the tool of that name."""
    answers = {name: (await portal.call(called, {"tool": name}, tier=tier)).text for name in NAMES}
    return [name for name, answer in answers.items() if answer == "True"]


async def test_a_tool_learns_which_tools_of_its_plugin_the_caller_may_use(
    portal: TestPortal,
) -> None:
    assert await allowed(portal, "open") == ["ask"]
    assert await allowed(portal, "public") == ["ask"]
    assert await allowed(portal, "members") == ["ask", "publish"]


async def test_the_legacy_era_and_rest_are_told_the_same(portal: TestPortal) -> None:
    for tier, expected in (("open", False), ("members", True)):
        session = await Wire(portal, tier).begin()
        reply = await session.call("ask", era="2025-11-25", tool="publish").reply()
        assert reply["result"]["content"][0]["text"] == str(expected)
        answer = await portal.get("/api/v1/press/ask/publish", tier=tier)
        assert answer.json() == {"allowed": expected}


async def test_a_prompt_is_told_too(portal: TestPortal) -> None:
    for tier, expected in (("open", "False"), ("members", "True")):
        (message,) = await portal.prompt("note", tier=tier)
        assert message["content"]["text"] == expected


async def test_a_token_for_named_tools_allows_those_alone(portal: TestPortal) -> None:
    who = portal.running.authentication
    person = await portal.sign_in("ana")
    for name, tools in (("one", {"ask"}), ("both", {"ask", "publish"})):
        _, text = await who.api_tokens.create(
            person.id,
            name,
            ceiling=Tier.MEMBERS,
            tools=tools,
            expires=datetime.now(UTC) + timedelta(days=1),
        )
        portal._tokens[name] = text
    assert await allowed(portal, "one") == ["ask"]
    assert await allowed(portal, "both") == ["ask"], "Ana is no member, whatever the token names."


async def test_a_tool_is_asked_for_by_the_name_that_the_plugin_gave_it() -> None:
    config = {"plugins": {"press": {"alias": {"ask": "inquire", "publish": "print"}}}}
    async with open_test_portal(sys.modules[__name__], config=config, tiers=TIERS) as portal:
        assert await allowed(portal, "members", "inquire") == ["ask", "publish"]


async def test_new_rules_count_for_the_next_call() -> None:
    async with open_test_portal(sys.modules[__name__], tiers=TIERS) as portal:
        portal.running.catalog.apply(parse_rules(b"items: {press: open}", "tiers.yaml"))
        assert await allowed(portal, "open") == ["ask", "publish"]


async def test_nothing_is_allowed_outside_of_a_call() -> None:
    async with open_test_portal(sys.modules[__name__], tiers=TIERS) as portal:
        host = hosts[-1]
        assert not host.exchange().allows("ask")
        assert (await portal.hook("press", "push", b"{}")).json() == {"allowed": False}
        await host.jobs.enqueue("work", {})
        async with asyncio.timeout(60):
            assert await worked.get() is False


async def test_what_a_call_leaves_behind_is_allowed_nothing(portal: TestPortal) -> None:
    assert (await portal.call("leave_behind", tier="members")).text == "True"
    assert await left_behind.pop() is False

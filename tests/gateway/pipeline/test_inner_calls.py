"""A tool that calls others for its caller gets no further than its caller would."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

import mcp_types as mcp
import pytest

from gateway.contract import Caller, Offer, Plugin, Tier, Tool, ToolFailed, hookimpl
from gateway.testing import TestPortal, open_test_portal

OBJECT = {"type": "object"}
REACHED = "reached"


class Desk:
    """A plugin whose one tool calls what it is told to, and keeps its exchange."""

    def __init__(self) -> None:
        self.host: Any = None
        self.kept: Any = None

    async def ask(self, args: Mapping[str, Any], caller: Caller) -> Any:
        self.kept = self.host.exchange()
        try:
            return {"answer": dict(await self.kept.call(args["key"], args.get("arguments", {})))}
        except ToolFailed as failed:
            return {"refused": failed.code, "why": failed.message}

    async def twice(self, args: Mapping[str, Any], caller: Caller) -> Any:
        exchange = self.host.exchange()
        both = await asyncio.gather(*(exchange.call("desk/plain", {}) for _ in range(2)))
        return {"answer": [each["content"][0]["text"] for each in both]}

    async def plain(self, args: Mapping[str, Any], caller: Caller) -> str:
        assert not self.host.exchange().can_ask
        return f"{REACHED} for {caller.tier}"

    async def leave(self, args: Mapping[str, Any], caller: Caller) -> Any:
        raise ToolFailed("broken", "It is broken.", {"part": "spring"})

    async def wonder(self, args: Mapping[str, Any], caller: Caller) -> Any:
        return mcp.InputRequiredResult(
            input_requests={
                "who": mcp.ElicitRequest(
                    params=mcp.ElicitRequestFormParams(
                        message="Who?", requested_schema={"type": "object", "properties": {}}
                    )
                )
            }
        )

    def module(self) -> Any:
        @asynccontextmanager
        async def opened(config: Any, host: Any) -> AsyncGenerator[Offer]:
            self.host = host
            runs: list[tuple[Callable[..., Any], Tier]] = [
                (self.ask, Tier.OPEN),
                (self.twice, Tier.OPEN),
                (self.plain, Tier.OPEN),
                (self.leave, Tier.OPEN),
                (self.wonder, Tier.OPEN),
            ]
            tools = [
                Tool(f.__name__, "Does it.", f, input_schema=OBJECT, tier=tier) for f, tier in runs
            ]
            secret = Tool("secret", "Hides.", self.plain, input_schema=OBJECT, tier=Tier.OPEN)
            yield Offer(tools=[*tools, secret])

        module: Any = ModuleType("module_desk")
        module.porch_plugin = hookimpl(lambda: Plugin("desk", "A desk.", opened))
        return module


@asynccontextmanager
async def portal_with(desk: Desk, **config: Any) -> AsyncGenerator[TestPortal]:
    hidden = {"tier": "members", "hidden": True}
    tiers = {"items": {"desk/plain": "public", "desk/secret": hidden}}
    async with open_test_portal(desk.module(), tiers=tiers, config=config) as portal:
        yield portal


async def asked(portal: TestPortal, key: str, tier: str = "public", **more: Any) -> Any:
    answer = await portal.call("ask", {"key": key, **more}, tier=tier)
    assert not answer.is_error, answer.text
    return answer.structured


async def test_a_tool_calls_another_as_its_caller() -> None:
    async with portal_with(Desk()) as portal:
        found = await asked(portal, "desk/plain")
        assert found["answer"]["content"] == [{"type": "text", "text": f"{REACHED} for public"}]
        refused = await asked(portal, "desk/plain", tier="open")
        assert refused["refused"] == "not_allowed"
        assert refused["why"].startswith("Requires public access. Current: open.")


async def test_what_is_hidden_from_the_caller_is_as_if_it_were_not_there() -> None:
    async with portal_with(Desk()) as portal:
        hidden, never = await asked(portal, "desk/secret"), await asked(portal, "desk/nothing")
        assert hidden["refused"] == never["refused"] == "not_found"
        assert hidden["why"].replace("secret", "nothing") == never["why"]
        assert "answer" in await asked(portal, "desk/secret", tier="members")


async def test_each_inner_call_is_in_the_audit_log_and_counts_for_the_callers_rate() -> None:
    async with portal_with(Desk(), limits={"tools": {"plain": "1 in 3600s"}}) as portal:
        assert "answer" in await asked(portal, "desk/plain")
        assert (await asked(portal, "desk/plain"))["refused"] == "rate_limited"
        async with asyncio.timeout(60):
            while len(records := await portal.running.audit.read({"tier": "public"})) < 4:  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        kept = sorted((each.item, each.outcome, each.surface) for each in records)
        assert kept == [
            ("desk/ask", "ok", "mcp"),
            ("desk/ask", "ok", "mcp"),
            ("desk/plain", "ok", "mcp"),
            ("desk/plain", "rate_limited", "mcp"),
        ]


async def test_a_failure_of_the_other_tool_is_told_with_its_code() -> None:
    async with portal_with(Desk()) as portal:
        assert await asked(portal, "desk/leave") == {"refused": "broken", "why": "It is broken."}
        asks = await asked(portal, "desk/wonder")
        assert asks["refused"] == "missing_capability"


@pytest.mark.timeout(300)
async def test_calls_that_wait_for_calls_of_their_own_do_not_hold_the_places_of_these() -> None:
    bulkhead = {"plugins": {"desk": {"bulkhead": {"calls": 1, "queue": 64}}}}
    async with portal_with(Desk(), **bulkhead) as portal:
        several = await asyncio.gather(
            *(portal.call("twice", {}, tier="members") for _ in range(8))
        )
        assert [each.structured for each in several] == [
            {"answer": [f"{REACHED} for members"] * 2}
        ] * 8
        [only] = portal.running.pipeline._bulkheads._plugins.values()
        assert (only.running, len(only.waiting)) == (0, 0)


async def test_a_tool_that_calls_itself_comes_to_an_end() -> None:
    async with portal_with(Desk()) as portal:
        inner: dict[str, Any] = {"key": "desk/plain"}
        for _ in range(5):
            inner = {"key": "desk/ask", "arguments": inner}
        answer = await portal.call("ask", inner, tier="members")
        assert "too_deep" in answer.text
        assert REACHED not in answer.text


async def test_what_outlives_a_call_calls_nothing() -> None:
    desk = Desk()
    async with portal_with(desk) as portal:
        await asked(portal, "desk/plain")
        with pytest.raises(ToolFailed, match="no call runs"):
            await desk.kept.call("desk/plain", {})
        with pytest.raises(ToolFailed, match="no call runs"):
            await desk.host.exchange().call("desk/plain", {})

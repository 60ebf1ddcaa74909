"""A caller who calls too many tools is told to stop, in words that an agent reads."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel

from auth import Caller, Tier
from gateway.config.portal import load_portal
from gateway.config.portal_keys import Limits
from gateway.contract import Offer, Plugin, Prompt, Resource, Route, Tool, hookimpl
from gateway.errors import ConfigError
from gateway.limits import rate_counter as counting_module
from gateway.limits.call_limits import CallLimits, RateLimited
from gateway.limits.rate_counter import RETRY_INTERVAL_SECONDS, TOLD_SECONDS, RateCounter
from gateway.limits.shared_windows import open_windows
from gateway.limits.sliding_window import MemoryWindows, Rate, Taken, Windows
from gateway.services.cache.service import CacheUnavailable
from gateway.testing import RequestRefused, TestPortal, open_test_portal
from tests.gateway.limits.callers import ANA, BEN, STRANGER, allowed, limits


async def test_each_tier_has_its_own_limit() -> None:
    counted = CallLimits(
        limits(calls={"open": 3, "public": "5 in 10s", "members": "none"}),
        RateCounter(MemoryWindows()),
    )
    assert await allowed(counted, STRANGER) == 3
    assert await allowed(counted, BEN) == 5
    assert await allowed(counted, ANA) == 2000


async def test_people_are_told_apart_by_who_they_are_and_strangers_by_where_they_are() -> None:
    counted = CallLimits(limits(calls=2), RateCounter(MemoryWindows()))
    assert await allowed(counted, ANA, peer="a") == 2
    assert await allowed(counted, ANA, peer="b") == 0
    assert await allowed(counted, BEN, peer="a") == 2
    assert await allowed(counted, STRANGER, peer="a") == 2
    assert await allowed(counted, STRANGER, peer="b") == 2


async def test_a_tool_s_own_limit_holds_beside_that_of_all_calls() -> None:
    counted = CallLimits(limits(calls=5, tools={"dig": 2}), RateCounter(MemoryWindows()))
    assert await allowed(counted, ANA, "dig") == 2
    assert await allowed(counted, ANA, "sow") == 3
    assert await allowed(counted, ANA, "dig") == 0


async def test_calls_of_a_tool_without_limit_do_not_count() -> None:
    counted = CallLimits(limits(calls=2, tools={"watch": "none"}), RateCounter(MemoryWindows()))
    assert await allowed(counted, ANA, "watch") == 2000
    assert await allowed(counted, ANA, "sow") == 2


async def test_a_refusal_says_what_happens_and_what_to_do() -> None:
    clock = [0.0]
    counted = CallLimits(
        limits(calls="2 in 60s", tools={"dig": "1 in 10s"}),
        RateCounter(MemoryWindows(lambda: clock[0])),
    )
    await counted.take(ANA, "a", "dig")
    clock[0] = 0.5
    with pytest.raises(RateLimited) as refused:
        await counted.take(ANA, "a", "dig")
    assert refused.value.message.startswith("You have called dig once within 10 s")
    assert refused.value.details == {
        "retryAfterSeconds": 10,
        "limit": 1,
        "window": 10.0,
        "scope": "tool",
        "tool": "dig",
    }
    await counted.take(ANA, "a", "sow")
    with pytest.raises(RateLimited, match=r"called tools 2 times within 60 s") as refused:
        await counted.take(ANA, "a", "sow")
    assert dict(refused.value.headers)[b"retry-after"] == b"60"
    clock[0] = 60
    assert await counted.take(ANA, "a", "sow")


class Away(Windows):
    """A server that answers, refuses or hangs."""

    def __init__(self) -> None:
        self.how = "refuses"
        self.asked = 0

    async def take(self, key: str, rates: Sequence[Rate]) -> Taken:
        self.asked += 1
        if self.how == "refuses":
            raise CacheUnavailable("The cache server cannot be used: it is away.")
        if self.how == "hangs":
            await asyncio.Event().wait()
        return Taken(rates[0], 0.0, 7)


@pytest.mark.parametrize("how", ["refuses", "hangs"])
async def test_without_its_server_a_process_counts_for_itself_and_health_says_so(
    how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counting_module, "ANSWER_TIMEOUT_SECONDS", 0.05)
    clock, server = [0.0], Away()
    server.how = how
    counting = RateCounter(server, lambda: clock[0])
    counted = CallLimits(limits(calls=3), counting)
    assert list(counting.notices()) == []
    assert await allowed(counted, ANA) == 3
    assert server.asked == 1  # nobody else waits for it
    (notice,) = counting.notices()
    assert notice.startswith("Calls are counted in each process alone")
    clock[0] = RETRY_INTERVAL_SECONDS + TOLD_SECONDS
    assert list(counting.notices()) == [], "nobody has called, so nobody knows"
    server.how = "answers"
    taken = await counted.take(ANA, "a", "")
    assert taken is not None
    assert taken.left == 7
    assert list(counting.notices()) == []


async def test_of_many_calls_one_looks_whether_the_server_is_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(counting_module, "ANSWER_TIMEOUT_SECONDS", 0.05)
    clock, server = [0.0], Away()
    counting = RateCounter(server, lambda: clock[0])
    counted = CallLimits(limits(calls=30), counting)
    await counted.take(ANA, "a", "")
    server.how, clock[0] = "hangs", RETRY_INTERVAL_SECONDS
    await asyncio.gather(*(counted.take(ANA, "a", "") for _ in range(20)))
    assert server.asked == 2


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("calls: often", "2: limits.calls: must say how many in which time"),
        ("calls: -1", "2: limits.calls: must say how many in which time"),
        ("calls: true", "2: limits.calls: must say how many in which time"),
        ("calls: {opn: 3}", "2: limits.calls.opn: unknown key; did you mean open?"),
        ("calls:\n    public: 60 per minute", "3: limits.calls.public: must say how many"),
        ("tools:\n    dig: 5 in 0s", "3: limits.tools.dig: must have a time that is longer"),
    ],
)
def test_a_limit_that_means_nothing_is_named_by_its_line(
    tmp_path: Path, text: str, problem: str
) -> None:
    (tmp_path / "portal.yaml").write_text(f"limits:\n  {text}\n")
    with pytest.raises(ConfigError, match="portal.yaml:" + problem):
        load_portal(tmp_path)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (0, "none"),
        ("none", "none"),
        ("0 in 9s", "none"),
        (60, "60 in 60s"),
        ("30 in 1m", "30 in 1m"),
    ],
)
def test_limits_are_written_in_few_words(written: Any, read: str) -> None:
    assert limits(calls=written).calls.members == read
    assert limits(calls={"members": written}).calls.members == read
    assert limits(tools={"dig": written}).tools["dig"] == read


def test_what_is_empty_is_the_default(tmp_path: Path) -> None:
    (tmp_path / "portal.yaml").write_text("limits:\n  calls:\n  tools:\n")
    assert load_portal(tmp_path).config.limits == Limits()


async def dig() -> str:
    """Dig a hole."""
    return "dug"


async def plan() -> str:
    """Plan the garden."""
    return "Plan it."


class Nothing(BaseModel):
    pass


async def _read(*_: Any) -> Any:
    return "soil"


async def _route(*_: Any) -> Nothing:
    return Nothing()


@asynccontextmanager
async def _opened(config: Any, host: Any) -> AsyncIterator[Offer]:
    yield Offer(
        tools=[Tool.of(dig), Tool.of(dig, name="hidden", tier=Tier.MEMBERS)],
        prompts=[Prompt.of(plan)],
        resources=[Resource("soil://bed", "bed", "Soil.", _read)],
        routes=[Route("GET", "/dig", _route, "dig", Nothing, Nothing, "Dig.")],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin(name="garden", summary="A garden.", open=_opened)


GARDEN = SimpleNamespace(porch_plugin=porch_plugin)


@asynccontextmanager
async def limited(calls: Any = 2, **more: Any) -> AsyncIterator[TestPortal]:
    config = {"limits": {"calls": calls, **more}}
    async with open_test_portal(GARDEN, config=config, tiers={"default": "open"}) as portal:
        yield portal


async def post(portal: TestPortal, body: Any, **headers: str) -> httpx2.Response:
    accept = {"accept": "application/json, text/event-stream"}
    return await portal.http("members").post("/mcp", json=body, headers=accept | headers)


async def test_the_refusal_is_a_result_with_headers_beside_it() -> None:
    async with limited() as portal:
        meta = {
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {},
        }
        call = {"name": "dig", "arguments": {}, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        headers = {
            "mcp-protocol-version": "2026-07-28",
            "mcp-method": "tools/call",
            "mcp-name": "dig",
        }
        check_three([await post(portal, body, **headers) for _ in range(3)])


async def test_so_it_is_in_a_session_of_an_older_client() -> None:
    async with limited() as portal:
        params = {"protocolVersion": "2025-11-25", "capabilities": {}}
        params |= {"clientInfo": {"name": "old", "version": "1"}}
        begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}
        session = (await post(portal, begin)).headers["mcp-session-id"]
        headers = {"mcp-session-id": session, "mcp-protocol-version": "2025-11-25"}
        call = {"name": "dig", "arguments": {}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
        check_three([await post(portal, body, **headers) for _ in range(3)])


def check_three(answers: Sequence[httpx2.Response]) -> None:
    assert [each.status_code for each in answers] == [200] * 3
    assert [each.headers["x-ratelimit-remaining"] for each in answers] == ["1", "0", "0"]
    assert {each.headers["x-ratelimit-limit"] for each in answers} == {"2"}
    assert ["retry-after" in each.headers for each in answers] == [False, False, True]
    first, *_, refused = (each.json()["result"] for each in answers)
    assert first["content"][0]["text"] == "dug"
    assert refused["isError"]
    assert "called tools 2 times within 60 s" in refused["content"][0]["text"]
    error = json.loads(refused["content"][-1]["text"])["error"]
    assert error["code"] == "rate_limited"
    assert error["details"]["retryAfterSeconds"] == int(answers[-1].headers["retry-after"])


async def test_a_loop_over_mcp_is_told_in_a_result() -> None:
    async with limited("100 in 60s", repeats=2) as portal:
        for _ in range(2):
            assert not (await portal.call("dig")).is_error
        assert "in a loop" in (await portal.call("dig")).text
        assert not (await portal.call("hidden")).is_error


async def test_only_tool_calls_over_mcp_are_counted() -> None:
    async with limited(1) as portal:
        for _ in range(3):
            assert await portal.tools()
            assert await portal.prompt("plan")
            assert await portal.read("soil://bed") == "soil"
            assert (await portal.get("/api/v1/garden/dig", tier="members")).is_success
        assert not (await portal.call("dig")).is_error
        assert (await portal.call("dig")).is_error
        assert await portal.tools()


async def test_refused_and_unknown_tools_count_too() -> None:
    async with limited(2) as portal:
        assert "Requires members access" in (await portal.call("hidden", tier="open")).text
        with pytest.raises(RequestRefused):
            await portal.call("nothing", tier="open")
        assert "limit" in (await portal.call("nothing", tier="open")).text


async def test_a_limit_of_a_tool_tells_nothing_of_it_to_whoever_may_not_know_it() -> None:
    async with limited("none", tools={"hidden": 1}) as portal:
        for _ in range(3):
            assert "Requires members" in (await portal.call("hidden", tier="open")).text


async def test_audit_and_metrics_count_refusals() -> None:
    async with limited(1) as portal:
        for _ in range(3):
            await portal.call("dig")
        metrics = portal.running.metrics.render().decode()
        assert (
            'porch_calls_total{item="dig",kind="tool",outcome="rate_limited",tier="members"} 2.0'
            in metrics
        )
        recorded = await records(portal)
        assert [each["outcome"] for each in recorded] == ["ok", "rate_limited", "rate_limited"]
        assert {each["item"] for each in recorded} == {"garden/dig"}


async def records(portal: TestPortal) -> list[Mapping[str, Any]]:
    from sqlalchemy import text

    async with asyncio.timeout(60):
        while True:
            async with portal.running.services.shared_database.read() as connection:
                rows = await connection.execute(text("SELECT item, outcome FROM porch_audit"))
                found: list[Mapping[str, Any]] = [dict(row) for row in rows.mappings()]
            if len(found) == 3:
                return found
            await asyncio.sleep(0.05)


async def test_a_limit_of_a_tool_that_is_not_there_is_named() -> None:
    async with limited("none", tools={"dgi": 1}) as portal:
        (notice,) = (await portal.health())["notices"]
        assert "limits.tools.dgi: unknown tool; did you mean dig?" in notice


async def test_a_portal_of_the_testing_kit_has_no_limit_unless_it_is_asked_for() -> None:
    async with open_test_portal(GARDEN, tiers={"default": "open"}) as portal:
        for _ in range(70):
            assert not (await portal.call("dig")).is_error


async def test_replicas_count_together_in_redis(redis_url: str) -> None:
    config = {"limits": {"calls": 6}, "services": {"cache": redis_url}}
    opened = [open_test_portal(GARDEN, config=config, tiers={"default": "open"}) for _ in range(2)]
    async with opened[0] as one, opened[1] as other:
        ana = await one.sign_in("ana")
        counted = [each.running for each in (one, other)]
        limiters = [
            CallLimits(each.portal.config.limits, RateCounter(open_windows(each.services.cache)))
            for each in counted
        ]
        caller = Caller(person=ana.id, tier=Tier.MEMBERS)
        answers = await asyncio.gather(
            *(each.take(caller, "a", "dig") for each in limiters for _ in range(5)),
            return_exceptions=True,
        )
        assert sum(isinstance(each, Taken) for each in answers) == 6
        assert sum(isinstance(each, RateLimited) for each in answers) == 4

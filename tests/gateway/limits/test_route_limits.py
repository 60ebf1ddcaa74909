"""Each REST operation has a limit of its own, which programs read from status and headers."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import httpx2
import pytest
from pydantic import BaseModel
from redis.asyncio import Redis

from auth import Caller, Tier
from gateway.cli.checkup import check_portal
from gateway.config.portal_keys import Limits
from gateway.contract import Offer, Plugin, Route, Tool, hookimpl
from gateway.limits.rate_counter import RateCounter
from gateway.limits.route_limits import RouteLimits, TooManyRequests
from gateway.limits.sliding_window import MemoryWindows, Rate, Taken, Windows
from gateway.limits.sliding_window_redis import RedisWindows
from gateway.testing import TestPortal, open_test_portal

ANA = Caller(person="person:ana", tier=Tier.MEMBERS)
BEN = Caller(person="person:ben", tier=Tier.PUBLIC)
STRANGER = Caller(person=None, tier=Tier.OPEN)


class Bed(BaseModel):
    name: str = "rose"


async def look(name: str = "rose") -> Bed:
    """Look at a bed.

    Args:
        name: which.
    """
    return Bed(name=name)


async def _look(params: Bed, caller: Caller) -> Bed:
    return Bed(name=params.name)


def _route(path: str, method: Any = "GET", **more: Any) -> Route:
    return Route(method, path, _look, "look", Bed, Bed, "Look.", **more)


@asynccontextmanager
async def _opened(config: Any, host: Any) -> AsyncIterator[Offer]:
    yield Offer(
        tools=[Tool.of(look)],
        routes=[
            _route("/beds"),
            _route("/beds/{name}"),
            _route("/water", "POST", rate="2 in 60s", operation="water"),
            _route("/hose", "POST", rate="9 in 60s", operation="water"),
            _route("/free", rate="none"),
        ],
    )


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin(name="garden", summary="A garden.", open=_opened)


GARDEN = SimpleNamespace(porch_plugin=porch_plugin)


@asynccontextmanager
async def garden(**limits: Any) -> AsyncIterator[TestPortal]:
    config = {"limits": limits}
    async with open_test_portal(GARDEN, config=config, tiers={"default": "open"}) as portal:
        yield portal


async def water(portal: TestPortal, path: str = "water") -> httpx2.Response:
    return await portal.http().post(f"/api/v1/garden/{path}", json={})


async def test_a_refusal_is_a_429_that_says_when_to_come_back() -> None:
    async with garden() as portal:
        answers = [await water(portal) for _ in range(3)]
    assert [each.status_code for each in answers] == [200, 200, 429]
    name = '"garden.water"'
    assert {each.headers["ratelimit-policy"] for each in answers} == {f"{name};q=2;w=60"}
    assert [each.headers["ratelimit"].split(";")[:2] for each in answers] == [
        [name, "r=1"],
        [name, "r=0"],
        [name, "r=0"],
    ]
    refused = answers[-1]
    wait = int(refused.headers["retry-after"])
    assert 0 < wait <= 60
    assert refused.headers["ratelimit"].endswith(f";t={wait}")
    error = refused.json()["error"]
    assert error["code"] == "rate_limited"
    assert error["message"].startswith("You have asked for garden.water 2 times within 60 s")
    assert error["details"] == {
        "operation": "garden.water",
        "retryAfterSeconds": wait,
        "limit": 2,
        "window": 60.0,
    }
    assert not any("retry-after" in each.headers for each in answers[:2])


async def test_routes_of_one_operation_are_counted_together_and_others_are_not() -> None:
    async with garden(rest=1) as portal:
        assert (await water(portal)).is_success
        assert (await water(portal, "hose")).is_success
        assert (await water(portal, "hose")).status_code == 429
        assert (await portal.get("/api/v1/garden/beds")).is_success
        assert (await portal.get("/api/v1/garden/beds/rose")).is_success
        assert (await portal.get("/api/v1/garden/beds/tulip")).status_code == 429


async def test_an_admin_may_say_otherwise_of_all_operations_and_of_one() -> None:
    async with garden(rest=1, operations={"garden.water": 1, "get_garden_beds": "none"}) as portal:
        assert (await water(portal)).is_success
        assert (await water(portal)).status_code == 429
        for path in ("beds", "free"):
            answers = [await portal.get(f"/api/v1/garden/{path}") for _ in range(4)]
            assert all(each.is_success for each in answers)
            assert not any("ratelimit" in each.headers for each in answers)


async def test_callers_are_counted_apart_and_tool_calls_not_at_all() -> None:
    async with garden(rest=1) as portal:
        for tier in ("open", "members"):
            answers = [await portal.get("/api/v1/garden/beds", tier=tier) for _ in range(2)]
            assert [each.status_code for each in answers] == [200, 429]
        for _ in range(3):
            assert not (await portal.call("look", tier="open")).is_error


async def test_a_request_that_is_bad_counts_and_says_what_is_left() -> None:
    async with garden() as portal:
        bad = await portal.http().post("/api/v1/garden/water", json={"name": 7})
        assert bad.status_code == 400
        assert bad.headers["ratelimit"].startswith('"garden.water";r=1;')


async def test_the_openapi_document_names_operations_and_their_limits() -> None:
    async with garden(rest="5 in 10s") as portal:
        paths = (await portal.get("/api/v1/openapi.json")).json()["paths"]
    posts = [paths[f"/garden/{path}"]["post"] for path in ("water", "hose")]
    limit = {"operation": "garden.water", "limit": 2, "window": 60.0}
    assert [each["x-rate-limit"] for each in posts] == [limit, limit]
    assert paths["/garden/beds"]["get"]["x-rate-limit"] == {
        "operation": "get_garden_beds",
        "limit": 5,
        "window": 10.0,
    }
    assert "429" in paths["/garden/beds"]["get"]["responses"]
    assert "x-rate-limit" not in paths["/garden/free"]["get"]
    assert "429" not in paths["/garden/free"]["get"]["responses"]


async def test_metrics_count_refusals() -> None:
    async with garden(rest=1) as portal:
        for _ in range(3):
            await portal.get("/api/v1/garden/beds")
        metrics = portal.running.metrics.render().decode()
    refused = 'porch_calls_total{item="look",kind="tool",outcome="rate_limited",tier="open"} 2.0'
    assert refused in metrics


async def test_a_limit_of_an_operation_that_is_not_there_is_named() -> None:
    async with garden(operations={"get_garden_bed": 3}) as portal:
        (notice,) = (await portal.health())["notices"]
        assert "limits.operations.get_garden_bed: unknown operation" in notice
        assert "did you mean get_garden_beds?" in notice
        checked = await check_portal(portal.running.portal)
        assert any("get_garden_bed: unknown operation" in each for each in checked.notes)


async def test_the_operations_that_may_be_limited_are_those_of_the_routes_that_are_served() -> None:
    async with garden(operations={"get_garden_beds": 3, "get_shed_tools": 3}) as portal:
        (notice,) = (await portal.health())["notices"]
        assert "limits.operations.get_shed_tools: unknown operation" in notice
        shed = Offer(routes=[_route("/tools")])
        portal.running.plugins.offers["shed"] = shed  # as a plugin that opens late
        portal.running.plugins.opened_late()
        assert (await portal.health())["notices"] == []


def test_a_route_s_rate_that_means_nothing_is_an_error_of_its_declaration() -> None:
    with pytest.raises(ValueError, match="how many in which time"):
        _route("/beds", rate="often")


async def allowed(limits: RouteLimits, rate: Rate, caller: Caller, peer: str = "a") -> int:
    taken = await asyncio.gather(
        *(limits.take(rate, caller, peer) for _ in range(60)), return_exceptions=True
    )
    assert all(isinstance(each, Taken | TooManyRequests) for each in taken)
    return sum(isinstance(each, Taken) for each in taken)


@pytest.fixture(params=["memory", "redis"])
async def windows(request: pytest.FixtureRequest) -> AsyncIterator[Windows]:
    if request.param == "memory":
        yield MemoryWindows()
        return
    redis = Redis.from_url(request.getfixturevalue("redis_url"))
    yield RedisWindows(lambda: redis)
    await redis.aclose()


async def test_it_is_exact_under_concurrency(windows: Windows) -> None:
    limits = RouteLimits(Limits(), RateCounter(windows))
    rate = limits.rate(f"test.{uuid.uuid4().hex}", "20 in 300s")
    assert rate is not None
    assert await allowed(limits, rate, ANA) == 20
    assert await allowed(limits, rate, BEN) == 20
    assert await allowed(limits, rate, STRANGER, "a") == 20
    assert await allowed(limits, rate, STRANGER, "b") == 20


def test_by_default_an_operation_may_be_asked_for_600_times_in_a_minute() -> None:
    rate = RouteLimits(Limits(), RateCounter(MemoryWindows())).rate("get_garden_beds", "")
    assert rate is not None
    assert (rate.limit, rate.seconds) == (600, 60.0)

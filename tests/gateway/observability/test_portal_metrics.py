"""What a running portal shows of its services and its callers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from prometheus_client.parser import text_string_to_metric_families

from gateway.contract import Health, Offer, Plugin, Tier, Tool, hookimpl
from gateway.testing import TestPortal, open_test_portal

state = Health()


async def dig() -> str:
    """Dig a hole."""
    return "dug"


async def health() -> Health:
    return state


@asynccontextmanager
async def _open(config: Any, host: Any) -> AsyncGenerator[Offer]:
    yield Offer(tools=[Tool.of(dig, tier=Tier.OPEN)], health=health)


@hookimpl
def porch_plugin() -> Plugin:
    return Plugin(name="garden", summary="A garden.", open=_open)


class Garden:
    __name__ = "garden"
    porch_plugin = staticmethod(porch_plugin)


async def scraped(portal: TestPortal) -> Mapping[tuple[str, ...], float]:
    """Each number by its name and the values of its labels."""
    text = (await portal.get("/metrics")).text
    return {
        (sample.name, *sample.labels.values()): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


async def test_calls_that_a_limit_refuses_are_counted_by_the_limit() -> None:
    limited = {"limits": {"calls": {"open": "2 in 60s", "public": "none", "members": "none"}}}
    async with open_test_portal(Garden, config=limited) as portal:
        for _ in range(5):
            last = await portal.call("dig", tier="open")
        assert last.is_error
        found = await scraped(portal)
    assert found["porch_limits_reached_total", "open"] == 3
    assert found["porch_calls_total", "dig", "tool", "ok", "open"] == 2


async def test_how_long_a_plugin_has_been_behind_its_sources_is_shown() -> None:
    global state
    async with open_test_portal(Garden) as portal:
        state = Health()
        assert (await scraped(portal))["porch_index_behind_seconds", "garden"] == 0
        state = Health(behind=True)
        await scraped(portal)
        first = (await scraped(portal))["porch_index_behind_seconds", "garden"]
        second = (await scraped(portal))["porch_index_behind_seconds", "garden"]
        assert 0 < first < second
        state = Health()
        assert (await scraped(portal))["porch_index_behind_seconds", "garden"] == 0


async def test_the_portal_says_whether_it_is_ready_and_what_its_database_does() -> None:
    async with open_test_portal(Garden) as portal:
        found = await scraped(portal)
        assert found["porch_ready",] == 1
        assert found["porch_database_away_seconds",] == 0
        assert found["porch_redis_away",] == 0
        assert found["porch_database_connections_max",] >= 5
        held = (
            found["porch_database_connections", "used"]
            + found["porch_database_connections", "idle"]
        )
        assert 1 <= held <= found["porch_database_connections_max",]
        portal.running.board.stop()
        assert (await scraped(portal))["porch_ready",] == 0

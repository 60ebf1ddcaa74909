"""What one plugin takes, all at once, costs its own callers a typed answer, and others nothing."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import ModuleType
from typing import Any

import pytest

from benchmarks import computing_plugin, unruly_plugin
from benchmarks.peers import adder
from gateway.cli.mcp_client import RequestRefused
from gateway.contract import hookimpl
from gateway.testing import TestPortal, open_test_portal

pytestmark = [pytest.mark.heavy, pytest.mark.timeout(600)]


async def ended(portal: TestPortal, tool: str, **given: Any) -> str:
    try:
        result = await portal.call(tool, given)
    except RequestRefused as refused:
        return f"{tool}: {str(refused).split('.')[0]}"
    said = result.text if len(result.text) < 200 else f"{len(result.text) >> 20} MiB"
    return f"{tool}: {said.split('.')[0]}"


async def test_others_are_served_whatever_a_plugin_does() -> None:
    adding: Any = ModuleType("adding")
    adding.porch_plugin = hookimpl(lambda: adder(1))
    config = {
        "limits": {"call": "15s"},
        "plugins": {
            "rough": {
                "bulkhead": {"bytes": "100MiB", "items": {"hang": {"calls": 50, "queue": 0}}}
            },
            "computing": {"isolation": "process"},
        },
    }
    async with open_test_portal(
        unruly_plugin, computing_plugin, adding, config=config, tiers="default: open\n"
    ) as portal:
        calls = [("shout", 4), ("stumble", 100), ("fall", 10), ("hang", 60)]
        asked = [ended(portal, tool) for tool, count in calls for _ in range(count)]
        working = asyncio.gather(*asked, ended(portal, "compute", seconds=2))
        served = 0
        while not working.done():
            assert (await portal.call("add", {"a": 1, "b": 2})).structured == {"sum": 3}
            served += 1
            await asyncio.sleep(0.05)
        found = Counter(await working)
        assert served > 10
        assert found == {
            "shout: 50 MiB": 4,
            "stumble: Something went wrong here": 100,
            "fall: Something went wrong here": 10,
            "hang: hang took longer than 15 s": 50,
            "hang: rough/hang is busy: 50 calls run and 0 wait": 10,
            "compute: computed": 1,
        }
        assert portal.running.metrics.in_flight == 0

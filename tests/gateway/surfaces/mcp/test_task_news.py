"""How streams tell of tasks, each of its own caller's alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from gateway.surfaces.mcp import task_news
from gateway.testing import TestPortal, open_test_portal
from gateway.testing.tasks import FOLLOWS_TASKS
from tests.gateway.surfaces.mcp.conftest import Wire
from tests.gateway.surfaces.mcp.test_tasks import (
    GARDEN,
    MISSING_CAPABILITY,
    TIERS,
    created,
    gates,
)


@pytest.fixture
async def portal() -> AsyncIterator[TestPortal]:
    gates.clear()
    async with open_test_portal(GARDEN, tiers=TIERS) as opened:
        yield opened


async def test_a_stream_tells_of_a_task_until_it_is_over(
    portal: TestPortal, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(task_news, "LOOK_SECONDS", 0.02)
    gates["slowly"] = asyncio.Event()
    task = await created(portal, "slowly")
    wanted = {"notifications": {"taskIds": [task["taskId"], "never"]}}
    meta = {"io.modelcontextprotocol/clientCapabilities": FOLLOWS_TASKS}
    stream = Wire(portal, "members").modern("subscriptions/listen", wanted, meta=meta)
    first = await stream.event()
    assert first is not None
    assert first["params"]["notifications"] == {"taskIds": [task["taskId"]]}
    gates["slowly"].set()
    told: dict[str, Any] = {}
    while told.get("status") != "completed":
        event = await stream.event()
        assert event is not None
        assert event["method"] == "notifications/tasks"
        told = event["params"]
    assert told["taskId"] == task["taskId"]
    assert told["result"]["structuredContent"]["beds"] == 3
    await stream.leave()


async def test_a_stream_tells_nobody_of_the_tasks_of_others(portal: TestPortal) -> None:
    task = await created(portal, "well")
    wanted = {"notifications": {"taskIds": [task["taskId"]]}}
    meta = {"io.modelcontextprotocol/clientCapabilities": FOLLOWS_TASKS}
    stream = Wire(portal, "public").modern("subscriptions/listen", wanted, meta=meta)
    first = await stream.event()
    assert first is not None
    assert first["params"]["notifications"] == {}
    await stream.leave()
    undeclared = Wire(portal, "members").modern("subscriptions/listen", wanted)
    assert (await undeclared.reply())["error"]["code"] == MISSING_CAPABILITY

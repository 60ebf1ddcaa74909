"""What tests of a portal that works in the background wait for, and look at."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from gateway.testing import TestPortal

DEADLINE = 60.0


async def until(true: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(DEADLINE):
        while not await true():  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def entries(portal: TestPortal, tool: str = "list_skills", **arguments: Any) -> list[Any]:
    """Every entry of a list, with all of its fields, page after page."""
    arguments = {"details": True} | arguments
    tier = arguments.pop("tier", "members")
    found: list[Any] = []
    while True:
        page = (await portal.call(tool, arguments, tier=tier)).structured
        found += page["data"]
        if not page.get("pagination", {}).get("hasMore"):
            return found
        arguments["cursor"] = page["pagination"]["cursor"]


async def names(portal: TestPortal) -> list[str]:
    return [each["name"] for each in await entries(portal, details=False)]


async def told(portal: TestPortal) -> dict[str, Any]:
    how: dict[str, Any] = (await portal.health())["plugins"]["skills_repo"]
    return how

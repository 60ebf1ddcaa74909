"""Portals with the workshop in a process of its own."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from gateway.testing import TestPortal, open_test_portal
from tests.gateway.isolation import workshop

TIERS = {"default": "open", "items": {"workshop/guarded": "members"}}


@asynccontextmanager
async def portal_of(*others: Any, **section: Any) -> AsyncGenerator[TestPortal]:
    config = {"plugins": {"workshop": {"isolation": "process", **section}}}
    async with open_test_portal(workshop, *others, config=config, tiers=TIERS) as portal:
        yield portal


async def eventually(true: Callable[[], Awaitable[Any]]) -> Any:
    async with asyncio.timeout(60):
        while not (found := await true()):  # noqa: ASYNC110
            await asyncio.sleep(0.05)
        return found


async def process_of(portal: TestPortal) -> int:
    process: int = (await portal.call("where")).structured["process"]
    return process


def is_there(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
